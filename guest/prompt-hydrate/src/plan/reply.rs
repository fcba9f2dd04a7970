//! A language model's reply as a plan.
//!
//! What the planner would have made of the same workflow is the measure: a reply may say it in better words, and may not
//! leave out a guardrail, a CHECKPOINT, the commit or the task. Gate, labels and numbers are set here, not by the reply.

use std::collections::BTreeSet;

use serde::Deserialize;

use super::items::{Item, numbered};
use super::text::{MAX_INTENT, folded, line};
use super::{Failed, MAX_ITEMS, Plan, Settings, build, context};
use crate::catalogue::{Catalogue, StepKind};
use crate::route::{Question, Route, excluded};
use crate::text::token::is_path;

/// Bytes of a reply.
const MAX_BYTES: usize = 256 * 1024;

/// Characters of the id of a workflow.
const MAX_ID: usize = 40;

/// Where the files of workflows are.
const WORKFLOWS: &str = "workflows/";

/// Claims that the work cannot be done.
const CLAIMS: &str = "human only|human-only|only a human|requires a human|done by a human|agent cannot|agent can't|\
    agents cannot|agent is unable|agent is not able|as an ai|ai cannot|i cannot|i can't|i am unable";

/// How an item begins that is an answer in place of the order to answer.
const ANSWERS: [&str; 2] = ["the answer is", "answer:"];

/// How an item begins that opens the task.
const OPENINGS: [&str; 6] = ["create", "open", "file", "add", "start", "register"];
/// Words of an item that closes the task.
const CLOSINGS: [&str; 3] = ["close", "complete", "finish"];
/// The tracker whose tasks a reply may add where none was set.
const DEFAULT_TRACKER: &str = "bd";

/// The members that a reply has, and no others; one that stands twice refuses it too.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Reply {
    intent: String,
    workflow: String,
    guardrails: Vec<String>,
    relevant_context: Vec<String>,
    todos: Vec<ReplyItem>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ReplyItem {
    content: String,
    status: String,
    #[serde(rename = "activeForm")]
    active_form: String,
}

/// Returns a language model's reply as a plan; `gathered` is all text it may take paths from beside the prompt.
///
/// # Errors
/// The checks that failed, for the retry.
pub fn accept(
    reply: &str,
    question: &Question<'_>,
    route: &Route,
    settings: &Settings,
    gathered: &str,
) -> Result<Plan, Failed> {
    let reply = read(reply).map_err(|reason| vec![reason])?;
    let id = line(&reply.workflow, MAX_ID);
    let changed = id != route.workflow;
    let own_route = Route {
        workflow: id,
        refusal: route.refusal && !changed,
        abstained: false,
        ..route.clone()
    };
    let own = build(question, &own_route, settings)?;
    let mut failed = Failed::new();
    let workflow = question.catalogue.get(&own.workflow);
    if let Some(reason) = workflow
        .filter(|_| changed)
        .and_then(|workflow| excluded(question, &route.cues, workflow))
    {
        failed.push(format!("{} is excluded: {reason}", own.workflow));
    }
    let mut plan = Plan {
        intent: line(&reply.intent, MAX_INTENT),
        guardrails: guardrails(reply.guardrails, &own, question, &mut failed),
        relevant_context: context::clean(reply.relevant_context),
        todos: Vec::new(),
        planner: "llm",
        ..own.clone()
    };
    let others = route.alternatives.iter().cloned();
    plan.alternatives = std::iter::once((route.workflow.clone(), route.confidence))
        .chain(others.filter(|(id, _)| *id != route.workflow))
        .filter(|(id, _)| *id != plan.workflow)
        .take(3)
        .collect();
    if plan.intent.is_empty() {
        failed.push("the intent says nothing".to_owned());
    }
    let said = UserWords::new(question, settings);
    let gathered = folded(gathered);
    for path in plan.relevant_context.iter().flat_map(|text| paths(text)) {
        let lower = path.to_lowercase();
        if !said.prompt.contains(&lower) && !gathered.contains(&lower) {
            let path = line(path, 80);
            failed.push(format!(
                "relevant_context names {path:?}, which was not gathered"
            ));
        }
    }
    let items = items(reply.todos, &own, settings, &said, &mut failed);
    for item in &items {
        failed.extend(said.unsaid(&item.text, question, route));
    }
    plan.todos = numbered(items);
    if failed.is_empty() {
        Ok(plan)
    } else {
        failed.truncate(20);
        Err(failed)
    }
}

/// Returns the guardrails of a reply, each once; it has all that the workflow has, and only registered ones.
fn guardrails(
    names: Vec<String>,
    own: &Plan,
    question: &Question<'_>,
    failed: &mut Failed,
) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for name in names.into_iter().filter(|name| name != "none") {
        // A parameter names a skill, which no reply does by itself.
        let known = own.guardrails.contains(&name)
            || !name.contains(':') && question.catalogue.definition(&name).is_some();
        if !known {
            failed.push(format!("guardrail {:?} is not registered", line(&name, 80)));
        } else if !all.contains(&name) {
            all.push(name);
        }
    }
    let missing = own.guardrails.iter().filter(|name| !all.contains(name));
    failed.extend(missing.map(|name| format!("guardrail {name:?} of the workflow is missing")));
    all
}

/// Returns the items of a reply, by what they are for; they have the CHECKPOINTs, the commit and the task of `own`.
fn items(
    todos: Vec<ReplyItem>,
    own: &Plan,
    settings: &Settings,
    said: &UserWords,
    failed: &mut Failed,
) -> Vec<Item> {
    let mut require = |holds: bool, reason: &str| {
        if !holds {
            failed.push(reason.to_owned());
        }
    };
    let count = todos.len();
    require(
        (1..=MAX_ITEMS).contains(&count),
        "there are not 1 to 12 items",
    );
    let mut items = Vec::new();
    for todo in todos {
        require(
            todo.status == "pending",
            "the status of an item is not \"pending\"",
        );
        let text = todo.content.trim();
        let label = text.split(':').next().unwrap_or_default();
        let kind = if label.eq_ignore_ascii_case("checkpoint") {
            StepKind::Checkpoint
        } else {
            StepKind::Step
        };
        let item = Item::new(kind, text, Some(&todo.active_form));
        require(item.is_some(), "an item says nothing");
        items.extend(item);
    }
    for item in items.iter_mut().filter(|item| item.kind == StepKind::Step) {
        if first_word(&item.text) == "commit" {
            item.kind = StepKind::Commit;
        }
    }
    let different: BTreeSet<_> = items
        .iter()
        .map(|item| (item.kind == StepKind::Checkpoint, item.text.to_lowercase()))
        .collect();
    require(different.len() == items.len(), "two items are equal");
    let tracker = match settings.tracker.to_lowercase() {
        none if none == "none" => DEFAULT_TRACKER.to_owned(),
        tracker => tracker,
    };
    let opens =
        |item: &Item| OPENINGS.contains(&&*first_word(&item.text)) && is_about_task(item, &tracker);
    let closes = |item: &Item| {
        let text = item.text.to_lowercase();
        words(&text).any(|word| CLOSINGS.contains(&word)) && is_about_task(item, &tracker)
    };
    let own_kinds: Vec<StepKind> = own.todos.iter().map(|todo| todo.kind).collect();
    let is_task = |kind: &StepKind| matches!(kind, StepKind::TaskOpen | StepKind::TaskClose);
    if own_kinds.iter().any(is_task) {
        require(
            !own_kinds.first().is_some_and(is_task) || items.first().is_some_and(opens),
            "the first item does not create the task",
        );
        require(
            !own_kinds.last().is_some_and(is_task) || items.last().is_some_and(closes),
            "the last item does not close the task",
        );
    } else {
        let adds = items.iter().any(|item| opens(item) || closes(item));
        require(
            !adds || words(&said.prompt).any(|word| word == tracker),
            "there is a task item where none belongs",
        );
    }
    let count = |kind| items.iter().filter(|item| item.kind == kind).count();
    let own_count = |kind| own_kinds.iter().filter(|own| **own == kind).count();
    let checkpoints = own_count(StepKind::Checkpoint);
    require(
        count(StepKind::Checkpoint) >= checkpoints,
        &format!("there are fewer than {checkpoints} CHECKPOINTs"),
    );
    if own.commit_required {
        require(
            count(StepKind::Commit) > 0,
            "there is no item \"Commit and push\"",
        );
    } else {
        require(
            count(StepKind::Commit) == 0,
            "there is a commit item where none belongs",
        );
    }
    let work = items
        .iter()
        .take_while(|item| item.kind != StepKind::Commit);
    // An answer changes nothing that was checked.
    let answers = |item: &Item| item.kind == StepKind::Step && first_word(&item.text) == "answer";
    let before = work.filter(|item| !answers(item)).last();
    require(
        count(StepKind::Commit) == 0
            || before.is_some_and(|item| item.kind == StepKind::Checkpoint),
        "no CHECKPOINT stands before the commit item",
    );
    items
}

fn first_word(text: &str) -> String {
    let mut words = text.split(|c: char| !c.is_alphanumeric());
    words
        .find(|word| !word.is_empty())
        .unwrap_or_default()
        .to_lowercase()
}

/// The words of a text, among them names such as `my-tracker`.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && !matches!(c, '.' | '_' | '-'))
        .map(|word| word.trim_end_matches('.'))
}

/// Whether an item has to do with a task of the tracker, and is no CHECKPOINT.
fn is_about_task(item: &Item, tracker: &str) -> bool {
    let text = item.text.to_lowercase();
    let has = |wanted: &[&str]| words(&text).any(|word| wanted.contains(&word));
    item.kind != StepKind::Checkpoint && has(&[tracker]) && has(&["task", "issue"])
}

/// The first file of a workflow that a text names: `workflows/` and an id of the catalogue, or a Markdown file.
fn workflow_file<'t>(text: &'t str, catalogue: &Catalogue) -> Option<&'t str> {
    text.match_indices(WORKFLOWS).find_map(|(at, _)| {
        let file = text.get(at..)?;
        let id = words(file.get(WORKFLOWS.len()..)?).next()?;
        let is_file = id.ends_with(".md") || catalogue.get(id).is_some();
        let end = WORKFLOWS.len().saturating_add(id.len());
        file.get(..end).filter(|_| is_file)
    })
}

/// What the user and the session said, folded: an item may say it again.
struct UserWords {
    prompt: String,
    session: String,
}

impl UserWords {
    fn new(question: &Question<'_>, settings: &Settings) -> Self {
        let (prompt, session) = (question.prompt, question.session);
        let pasted = prompt.pasted.iter().map(|(_, text)| text);
        let replies = session.replies.iter().chain(&session.question);
        let session: Vec<String> = replies
            .chain(&settings.test_command)
            .map(|text| folded(text))
            .collect();
        let prompt: Vec<String> = pasted
            .chain([&prompt.main])
            .map(|text| folded(text))
            .collect();
        Self {
            prompt: prompt.join("\n"),
            session: session.join("\n"),
        }
    }

    fn contain(&self, text: &str) -> bool {
        self.prompt.contains(text) || self.session.contains(text)
    }

    /// Why an item may not stand in a plan: it says what the user's own words do not say.
    fn unsaid(&self, text: &str, question: &Question<'_>, route: &Route) -> Option<String> {
        let text = folded(text);
        let claims = CLAIMS.split('|');
        let files = ["workflows.md", "[["].into_iter();
        let answers = ANSWERS.into_iter().filter(|begin| text.starts_with(begin));
        let mut said_by_nobody = claims
            .chain(files)
            .filter(|phrase| text.contains(phrase))
            .chain(answers)
            .chain(workflow_file(&text, question.catalogue))
            .filter(|phrase| !self.contain(phrase));
        if let Some(phrase) = said_by_nobody.next() {
            return Some(format!("an item says {phrase:?}, and the user did not"));
        }
        let listed = question.skills.unwrap_or(&question.catalogue.skills).iter();
        let skills = listed.map(|skill| &skill.name);
        let skills: Vec<&String> = skills
            .chain(route.skill.iter().map(|(name, _)| name))
            .collect();
        let is_skill = |name: &str| skills.iter().any(|known| known.eq_ignore_ascii_case(name));
        // "use the `x` skill", "the workflow `x`"
        let words: Vec<&str> = text.split(' ').collect();
        let named = words.iter().enumerate().find_map(|(at, word)| {
            let name = word.strip_prefix('`')?.split('`').next()?;
            let around = words.get(at.saturating_sub(1)..words.len().min(at + 2))?;
            let beside = |noun: &str| around.iter().any(|word| word.starts_with(noun));
            let unknown = beside("workflow") && question.catalogue.get(name).is_none()
                || beside("skill") && !is_skill(name);
            (unknown && !self.contain(name)).then_some(name)
        });
        named.map(|name| format!("an item names {name:?}, which is not active"))
    }
}

/// Reads one JSON object, optionally in one fence; nothing around it.
fn read(text: &str) -> Result<Reply, String> {
    if text.len() > MAX_BYTES {
        return Err(format!("the reply is over {MAX_BYTES} bytes"));
    }
    let text = text.trim();
    let inside = match text.strip_prefix("```") {
        None => text,
        Some(rest) => rest
            .strip_suffix("```")
            .and_then(|rest| rest.split_once('\n'))
            .filter(|(info, _)| info.trim().chars().all(char::is_alphanumeric))
            .map(|(_, inside)| inside)
            .ok_or("the fence of the reply is not closed")?,
    };
    serde_json::from_str(inside).map_err(|error| {
        // The message names members and positions; what the reply says in between is not repeated.
        format!(
            "the reply is not one JSON object with intent, workflow, guardrails, relevant_context and todos (line {}, column {})",
            error.line(),
            error.column()
        )
    })
}

/// What looks like a path: with a slash, or a name with the ending of a file.
fn paths(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| {
        c.is_whitespace()
            || matches!(
                c,
                '`' | '"' | '\'' | '(' | ')' | '[' | ']' | '<' | '>' | ',' | ';'
            )
    })
    .map(|word| word.trim_end_matches(['.', ':', '!', '?']))
    .map(|word| word.strip_prefix("./").unwrap_or(word))
    .filter(|word| word.contains('\\') || is_path(word))
}
