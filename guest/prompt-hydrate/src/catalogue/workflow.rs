//! One workflow file: its front matter, its steps, and what is wrong with it.

use std::collections::BTreeMap;

use kit::yaml;
use serde::{Deserialize, Deserializer, de};
use serde_json::{Map, Value};

use super::index::target;
use super::{Condition, Modifies, Step, StepKind, Workflow, steps};

/// Bytes of a file.
pub(crate) const MAX_FILE_BYTES: u32 = 64 * 1024;
/// Triggers of a workflow, and phrases that exclude it.
const MAX_TRIGGERS: usize = 50;
/// Examples of a workflow.
pub(super) const MAX_EXAMPLES: usize = 500;
/// Steps of a workflow.
pub(super) const MAX_STEPS: usize = 20;
/// Characters of a quality gate.
const MAX_GATE: usize = 60;
/// The gate of a workflow that names none.
const NO_GATE: &str = "Review required";

/// The file is passed over.
pub(super) const NOT_LOADED: &str = "C01";
/// A name that is nowhere, or a reference that leads back.
pub(super) const UNKNOWN_NAME: &str = "C05";
/// What is over a limit is left out.
pub(super) const OVER_LIMIT: &str = "C12";
/// A key is passed over.
pub(super) const UNKNOWN_KEY: &str = "C21";

/// What is wrong with a file.
#[derive(Debug, Clone)]
pub(super) struct Problem {
    /// Counted from 1.
    pub(super) line: usize,
    /// One of the constants above.
    pub(super) code: &'static str,
    pub(super) message: String,
}

/// A file that was read.
#[derive(Debug)]
pub(super) struct Source {
    pub(super) text: String,
    /// `None`: the file is passed over.
    pub(super) workflow: Option<Workflow>,
    /// `enabled: no`.
    pub(super) is_disabled: bool,
    pub(super) problems: Vec<Problem>,
}

/// The front matter of a workflow file. A scalar is its text; a key without a value is absent.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Front {
    id: Line,
    title: Line,
    description: Line,
    category: Line,
    quality_gate: Line,
    guardrails: Lines,
    guardrails_when: Option<BTreeMap<String, Lines>>,
    modifies_files: Option<Modifies>,
    #[serde(deserialize_with = "yes_or_no")]
    needs_task: Option<bool>,
    triggers: Lines,
    not_for: Lines,
    examples: Lines,
    #[serde(deserialize_with = "whole_number")]
    priority: Option<i64>,
    #[serde(deserialize_with = "yes_or_no")]
    enabled: Option<bool>,
    intent: Line,
    summary: Line,
    steps: Option<Vec<StepFront>>,
    #[serde(flatten)]
    unknown: BTreeMap<String, Value>,
}

/// A step: a map, or its name alone.
#[derive(Debug)]
struct StepFront(StepMembers);

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct StepMembers {
    name: Line,
    id: Line,
    description: Line,
    active: Line,
    kind: Option<StepKind>,
    when: Line,
    workflow: Line,
    #[serde(flatten)]
    unknown: BTreeMap<String, Value>,
}

impl<'de> Deserialize<'de> for StepFront {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let members = match Value::deserialize(deserializer)? {
            Value::String(name) => StepMembers {
                name: Line(Some(one_line(&name))),
                ..StepMembers::default()
            },
            value => StepMembers::deserialize(value).map_err(de::Error::custom)?,
        };
        Ok(Self(members))
    }
}

/// A text in one line; absent where it is empty.
#[derive(Debug, Default)]
struct Line(Option<String>);

impl<'de> Deserialize<'de> for Line {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Option::<String>::deserialize(deserializer)?;
        let line = text.map(|text| one_line(&text));
        Ok(Self(line.filter(|line| !line.is_empty())))
    }
}

/// Texts in one line each; a lone text is a list of one, and empty ones are nothing.
#[derive(Debug, Default)]
struct Lines(Vec<String>);

impl<'de> Deserialize<'de> for Lines {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let list = match Value::deserialize(deserializer)? {
            Value::Array(items) => items,
            one => vec![one],
        };
        let lines: Result<Vec<Line>, _> = list.into_iter().map(Line::deserialize).collect();
        let lines = lines.map_err(|_| de::Error::custom("expected a text or a list of texts"))?;
        Ok(Self(lines.into_iter().filter_map(|line| line.0).collect()))
    }
}

fn yes_or_no<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<bool>, D::Error> {
    let text = Line::deserialize(deserializer)?.0;
    match text.map(|text| text.to_ascii_lowercase()).as_deref() {
        None => Ok(None),
        Some("yes" | "true") => Ok(Some(true)),
        Some("no" | "false") => Ok(Some(false)),
        Some(_) => Err(de::Error::custom("expected yes or no")),
    }
}

fn whole_number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<i64>, D::Error> {
    let number = Line::deserialize(deserializer)?.0.map(|text| text.parse());
    number
        .transpose()
        .map_err(|_| de::Error::custom("expected a whole number"))
}

/// Whether this may be the id of a workflow: `[a-z][a-z0-9-]{0,39}`.
pub(super) fn is_id(text: &str) -> bool {
    text.len() <= 40
        && text.starts_with(|c: char| c.is_ascii_lowercase())
        && text
            .bytes()
            .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
}

/// Reads `workflows/<stem>.md`.
pub(super) fn read(stem: &str, text: &str) -> Source {
    let mut reader = Reader {
        text,
        is_disabled: false,
        problems: Vec::new(),
    };
    let workflow = reader.read(stem);
    let Reader {
        is_disabled,
        mut problems,
        ..
    } = reader;
    Source {
        text: text.to_owned(),
        is_disabled,
        workflow: workflow.map_err(|problem| problems.push(problem)).ok(),
        problems,
    }
}

struct Reader<'t> {
    text: &'t str,
    is_disabled: bool,
    problems: Vec<Problem>,
}

impl Reader<'_> {
    fn read(&mut self, stem: &str) -> Result<Workflow, Problem> {
        let text = self.text;
        if !is_id(stem) {
            return Err(not_loaded(1, "the file's name is no workflow id"));
        }
        if is_too_long(text) {
            return Err(not_loaded(1, "the file is over 64 KiB"));
        }
        let document = kit::front_matter::split(text);
        let front = document.front_matter.and_then(|range| text.get(range));
        let front = front.ok_or_else(|| not_loaded(1, "there is no front matter"))?;
        let members = front_matter(front)?;
        let front: Front =
            serde_path_to_error::deserialize(Value::Object(members)).map_err(|error| {
                not_loaded(line_of(text, &error.path().to_string()), &error.to_string())
            })?;
        if front.id.0.as_deref().is_some_and(|id| id != stem) {
            return Err(not_loaded(
                line_of(text, "id"),
                "the id is not the file's name",
            ));
        }
        let body = text.get(document.content..).unwrap_or_default();
        let mut workflow = self.workflow(stem, front);
        if workflow.steps.is_empty() {
            workflow.steps = steps::from_headings(body);
        }
        match workflow.steps.len() {
            0 => return Err(not_loaded(1, "there are no steps")),
            1..=MAX_STEPS => {}
            _ => return Err(not_loaded(1, "more than 20 steps")),
        }
        body.trim().clone_into(&mut workflow.body);
        Ok(workflow)
    }

    fn workflow(&mut self, stem: &str, front: Front) -> Workflow {
        self.is_disabled = front.enabled == Some(false);
        for key in front.unknown.keys() {
            self.note(key, UNKNOWN_KEY, "a key that is passed over");
        }
        let gate = front.quality_gate.0.as_deref().unwrap_or(NO_GATE);
        if gate.chars().count() > MAX_GATE {
            self.note("quality_gate", OVER_LIMIT, "over 60 characters");
        }
        let modifies = front.modifies_files.unwrap_or(Modifies::Maybe);
        let conditional = front.guardrails_when.unwrap_or_default().into_iter();
        Workflow {
            id: stem.to_owned(),
            title: front.title.0.unwrap_or_else(|| stem.to_owned()),
            description: front.description.0.unwrap_or_default(),
            category: front.category.0.unwrap_or_default(),
            quality_gate: crate::plan::line(gate, MAX_GATE),
            guardrails: names(front.guardrails),
            guardrails_when: conditional
                .filter_map(|(key, lines)| Some((self.condition(&key)?, names(lines))))
                .collect(),
            modifies,
            needs_task: front.needs_task.unwrap_or(modifies != Modifies::No),
            triggers: self.within("triggers", front.triggers, MAX_TRIGGERS),
            not_for: self.within("not_for", front.not_for, MAX_TRIGGERS),
            examples: self.within("examples", front.examples, MAX_EXAMPLES),
            priority: front.priority.unwrap_or(100),
            intent: front.intent.0,
            summary: front.summary.0,
            steps: front
                .steps
                .unwrap_or_default()
                .into_iter()
                .filter_map(|step| self.step(step))
                .collect(),
            body: String::new(),
        }
    }

    fn note(&mut self, word: &str, code: &'static str, message: &str) {
        self.problems.push(Problem {
            line: line_of(self.text, word),
            code,
            message: format!("{}: {message}", short(word)),
        });
    }

    fn within(&mut self, key: &str, lines: Lines, most: usize) -> Vec<String> {
        let mut lines = lines.0;
        if lines.len() > most {
            self.note(key, OVER_LIMIT, &format!("more than {most}"));
            lines.truncate(most);
        }
        lines
    }

    fn condition(&mut self, name: &str) -> Option<Condition> {
        let condition = Condition::parse(name);
        if condition.is_none() {
            self.note(name, UNKNOWN_NAME, "no such cue");
        }
        condition
    }

    fn step(&mut self, step: StepFront) -> Option<Step> {
        let StepFront(step) = step;
        for key in step.unknown.keys() {
            self.note(key, UNKNOWN_KEY, "a key that is passed over");
        }
        // A step whose condition means nothing is left out with it.
        let when = match step.when.0 {
            Some(name) => Some(self.condition(&name)?),
            None => None,
        };
        let workflow = step.workflow.0.map(|reference| target(&reference));
        let name = step.name.0.or(step.description.0);
        let name = name.or_else(|| Some(format!("Follow {}", workflow.as_deref()?)))?;
        let id = step.id.0.unwrap_or_default();
        Some(Step {
            active: step.active.0,
            when,
            workflow,
            ..steps::from_name(&name, &id, step.kind)?
        })
    }
}

/// Returns names of guardrails; `none` is the empty list.
fn names(lines: Lines) -> Vec<String> {
    let names = lines.0.into_iter();
    names.filter(|name| name != "none").collect()
}

pub(super) fn not_loaded(line: usize, message: &str) -> Problem {
    Problem {
        line,
        code: NOT_LOADED,
        message: message.to_owned(),
    }
}

/// The members of front matter, each scalar as its text; an empty one has none.
pub(super) fn front_matter(text: &str) -> Result<Map<String, Value>, Problem> {
    // The first line of the file is the delimiter.
    let tree = yaml::read_yaml(text, 2).map_err(|error| {
        let line = usize::try_from(error.line()).unwrap_or(1);
        not_loaded(line, &error.to_string())
    })?;
    match tree.root().map(yaml::Node::to_json_texts) {
        Some(Value::Object(members)) => Ok(members),
        None | Some(Value::Null) => Ok(Map::new()),
        Some(_) => Err(not_loaded(2, "the front matter is no mapping")),
    }
}

pub(super) fn is_too_long(text: &str) -> bool {
    u32::try_from(text.len()).map_or(true, |length| length > MAX_FILE_BYTES)
}

/// Returns the line, counted from 1, of the last word of a path of keys: the first on which it is a key, else the first
/// that holds it, else 1.
pub(super) fn line_of(text: &str, path: &str) -> usize {
    let word = path.rsplit(['.', '[']).find(|part| !part.ends_with(']'));
    let word = word.unwrap_or_default();
    let is_key = |line: &str| {
        let after = line.trim_start_matches([' ', '-', '"']).strip_prefix(word);
        after.is_some_and(|after| after.starts_with([':', '"']))
    };
    let position = text.lines().position(is_key);
    let position = position.or_else(|| text.lines().position(|line| line.contains(word)));
    position.unwrap_or_default().saturating_add(1)
}

/// White space runs become one space.
pub(crate) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// At most 40 characters, for a message.
pub(super) fn short(text: &str) -> String {
    text.chars().take(40).collect()
}
