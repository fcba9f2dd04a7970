//! `hook`, `plan` and `validate`: from the gathered context to a plan, and to the texts about it.

use kit::host::ReadFiles;

use super::{Answer, Context, Failure, Planned, Response, Warning, catalogue, routing, unreadable};
use crate::codebase;
use crate::document::{
    Parts, Rendered, codebase_section, file_text, instruction, memory_section, model_request,
    session_section,
};
use crate::hook;
use crate::plan::{self, Settings};
use crate::redact::cut;
use crate::request::{Codebase, PlanRequest};
use crate::route::{Question, decide};
use crate::session::Facts;
use crate::text::Prompt;

/// Characters of a line of *Relevant Context*, and lines of each source.
const LINE_CHARS: usize = 160;
const CODEBASE_LINES: usize = 4;
const MEMORY_LINES: usize = 3;

/// Plans a prompt. A language model's reply takes the place of the draft, if it passes.
pub(super) fn plan(host: &mut impl ReadFiles, request: &PlanRequest) -> Result<Response, Failure> {
    let options = &request.options;
    let (catalogue, mut warnings) = catalogue::load(host, request.catalog.as_ref(), &options.packs);
    let mut degraded = options.degraded.clone();
    if !warnings.is_empty() {
        degraded.insert("catalog".to_owned());
    }
    // Routed on the arguments of a command; the file keeps the whole prompt.
    let prompt = Prompt::read(hook::routed_text(&request.prompt));
    let codebase = match (&request.codebase, &request.workspace) {
        (Some(codebase), _) => codebase.clone(),
        (None, Some(tree)) => {
            codebase::look(host, tree, &prompt).unwrap_or_else(|codebase::Unreadable| {
                warnings.push(unreadable());
                degraded.insert("codebase".to_owned());
                Codebase::default()
            })
        }
        (None, None) => Codebase::default(),
    };
    let tail = request.transcript_tail.as_deref();
    let session = routing::session(tail, request.turns.as_deref(), &request.prompt);
    let budgets = options.budgets;
    let said = session_section(&session, &request.prompt, budgets.session.into());
    let known = memory_section(&request.memory, budgets.memory.into());
    let files = codebase_section(&codebase, budgets.codebase.into());
    let settings = Settings {
        tracker: options.tracker.clone(),
        max_todos: options.max_todos.into(),
        test_command: codebase.tests,
        context: relevant_context(&files, &known, &session, budgets.session > 0),
        degraded: degraded.into_iter().collect(),
    };
    let context = Context {
        session: said.section,
        memory: known.section,
        codebase: files.section,
    };
    let skills = routing::skills_of(&catalogue, request.skills.as_deref());
    let question = Question {
        prompt: &prompt,
        session: &session,
        catalogue: &catalogue,
        skills: skills.as_deref(),
        workflow: options.workflow.as_deref(),
        slash_is_skill: options.slash_is_skill,
    };
    let route = decide(&question);
    let plan = match &request.plan {
        None => plan::build(&question, &route, &settings)
            .map_err(|failed| Failure::new("planner", &failed.join("; ")))?,
        Some(reply) => {
            // A reply may take paths from what was gathered.
            let gathered = [&*context.session, &context.memory, &context.codebase].join("\n");
            match plan::accept(reply, &question, &route, &settings, &gathered) {
                Ok(plan) => plan,
                Err(failed) => return Ok(Response::new(Answer::Failed { failed }, warnings)),
            }
        }
    };
    let route_warnings = route.warnings.iter();
    warnings.extend(route_warnings.map(|warning| Warning::new("route", warning)));
    let parts = Parts {
        prompt: &request.prompt,
        context: &context,
        catalogue: &catalogue,
        plan: &plan,
        options,
    };
    let templates = &request.templates;
    let (file_text, instruction) = match &request.file_path {
        Some(path) => (
            Some(file_text(templates.context.as_deref(), parts)?),
            Some(instruction(templates.instruction.as_deref(), path, parts)?),
        ),
        None => (None, None),
    };
    let planned = Planned {
        llm: options.llm.then(|| model_request(parts)),
        markdown: plan.markdown(),
        plan,
        context,
        file_text,
        instruction,
    };
    Ok(Response::new(Answer::Planned(Box::new(planned)), warnings))
}

/// Returns the lines of *Relevant Context*, from what stands in the sections.
fn relevant_context(
    files: &Rendered,
    memory: &Rendered,
    session: &Facts,
    with_session: bool,
) -> Vec<String> {
    // A path that was cut would be a claim about another file.
    let fits = |line: &&String| line.chars().count() < LINE_CHARS;
    let files = files.lines.iter().filter(fits).take(CODEBASE_LINES);
    let memory = memory.lines.iter().take(MEMORY_LINES);
    let mut lines: Vec<String> = files.chain(memory).cloned().collect();
    if with_session {
        let current = session
            .tasks
            .as_ref()
            .and_then(|tasks| tasks.current.as_ref());
        lines.extend(current.map(|text| format!("Task in progress: {text}")));
        let last = session.prompts.last().map(|text| cut(text, 100, "…"));
        lines.extend(last.map(|text| format!("Earlier in this session: \"{text}\"")));
    }
    let shortened = lines.iter();
    shortened
        .map(|line| cut(line, LINE_CHARS.saturating_sub(1), "…"))
        .collect()
}
