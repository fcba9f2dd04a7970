//! `hook`, `plan` and `validate`: from the gathered context to a plan, and to the texts about it.

use std::collections::BTreeSet;

use kit::host::ReadFiles;

use super::{Context, Failure, Response, Warning, catalogue, check_mount, routing, unreadable};
use crate::catalogue::{Catalogue, Skill};
use crate::codebase;
use crate::document::{
    Addressed, Parts, Rendered, codebase_section, file_text, instruction, memory_section,
    model_request, session_section,
};
use crate::hook;
use crate::plan::{self, Plan, Settings};
use crate::redact::cut;
use crate::request::{Codebase, Degraded, Mount, PlanRequest};
use crate::route::{Question, Route, decide};
use crate::session::Facts;
use crate::text::Prompt;

/// characters of a line, and lines of each source.
const LINE_CHARS: usize = 160;
const CODEBASE_LINES: usize = 4;
const MEMORY_LINES: usize = 3;

/// `hook` and `plan`.
pub(super) fn plan(host: &mut impl ReadFiles, request: &PlanRequest) -> Result<Response, Failure> {
    let situation = Situation::of(host, request)?;
    let route = decide(&situation.question(request));
    let plan = situation.build(request, &route)?;
    situation.response(request, &route, plan)
}

/// `validate`: a language model's reply takes the place of the draft, if it passes.
pub(super) fn validate(
    host: &mut impl ReadFiles,
    request: &PlanRequest,
) -> Result<Response, Failure> {
    let situation = Situation::of(host, request)?;
    let route = decide(&situation.question(request));
    let reply = request.plan.as_deref().unwrap_or_default();
    let accepted = plan::accept(
        reply,
        &situation.question(request),
        &route,
        &situation.settings,
        &situation.gathered(),
    );
    match accepted {
        Ok(plan) => situation.response(request, &route, plan),
        Err(failed) => Ok(Response {
            failed: Some(failed),
            warnings: situation.warnings,
            ..Response::default()
        }),
    }
}

/// All that a route and a plan are made from.
struct Situation {
    catalogue: Catalogue,
    session: Facts,
    prompt: Prompt,
    skills: Option<Vec<Skill>>,
    settings: Settings,
    context: Context,
    warnings: Vec<Warning>,
}

impl Situation {
    fn of(host: &mut impl ReadFiles, request: &PlanRequest) -> Result<Self, Failure> {
        let options = &request.options;
        let (catalogue, mut warnings) =
            catalogue::load(host, request.catalog.as_ref(), &options.packs)?;
        let mut degraded: BTreeSet<Degraded> = options.degraded.iter().copied().collect();
        if !warnings.is_empty() {
            degraded.insert(Degraded::Catalog);
        }
        // routed on the arguments of a command; the file keeps the whole prompt.
        let prompt = Prompt::read(hook::routed_text(&request.prompt));
        let codebase = match (&request.codebase, &request.workspace) {
            (Some(codebase), _) => codebase.clone(),
            (None, Some(tree)) => {
                check_mount("workspace", tree, Mount::Workspace)?;
                codebase::look(host, tree, &prompt).unwrap_or_else(|codebase::Unreadable| {
                    warnings.push(unreadable());
                    degraded.insert(Degraded::Codebase);
                    Codebase::default()
                })
            }
            (None, None) => Codebase::default(),
        };
        let session = routing::session(
            request.transcript_tail.as_deref(),
            request.turns.as_deref(),
            &request.prompt,
        );
        let budgets = options.budgets;
        let rendered = Sections {
            session: session_section(&session, &request.prompt, usize::from(budgets.session)),
            memory: memory_section(&request.memory, usize::from(budgets.memory)),
            codebase: codebase_section(&codebase, usize::from(budgets.codebase)),
        };
        let settings = Settings {
            tracker: options.tracker.clone(),
            max_todos: usize::from(options.max_todos),
            test_command: codebase.tests,
            context: rendered.lines(&session, budgets.session > 0),
            degraded: degraded.iter().map(|word| word.name().to_owned()).collect(),
        };
        Ok(Self {
            skills: routing::skills_of(&catalogue, request.skills.as_deref()),
            catalogue,
            session,
            prompt,
            settings,
            context: rendered.context(),
            warnings,
        })
    }

    fn question<'a>(&'a self, request: &'a PlanRequest) -> Question<'a> {
        Question {
            prompt: &self.prompt,
            session: &self.session,
            catalogue: &self.catalogue,
            skills: self.skills.as_deref(),
            workflow: request.options.workflow.as_deref(),
            slash_is_skill: request.options.slash_is_skill,
        }
    }

    /// All text beside the prompt from which a plan may take paths.
    fn gathered(&self) -> String {
        let Context {
            session,
            memory,
            codebase,
        } = &self.context;
        [session, memory, codebase].map(String::as_str).join("\n")
    }

    fn build(&self, request: &PlanRequest, route: &Route) -> Result<Plan, Failure> {
        plan::build(&self.question(request), route, &self.settings)
            .map_err(|failed| Failure::new("planner", &failed.join("; ")))
    }

    fn response(
        mut self,
        request: &PlanRequest,
        route: &Route,
        plan: Plan,
    ) -> Result<Response, Failure> {
        let route_warnings = route.warnings.iter();
        self.warnings
            .extend(route_warnings.map(|warning| Warning::new("route", warning)));
        let parts = Parts {
            prompt: &request.prompt,
            context: &self.context,
            catalogue: &self.catalogue,
            plan: &plan,
            task_tool: &request.options.task_tool,
        };
        let (file_text, instruction) = match &request.file_path {
            Some(path) => {
                let addressed = Addressed {
                    prompt: &request.prompt,
                    path,
                    plan: &plan,
                    options: &request.options,
                };
                let file = file_text(request.templates.context.as_deref(), parts)?;
                let short = instruction(request.templates.instruction.as_deref(), addressed)?;
                (Some(file), Some(short))
            }
            None => (None, None),
        };
        let llm = request.options.llm.then(|| model_request(parts));
        Ok(Response {
            markdown: Some(plan.markdown()),
            plan: Some(plan),
            context: Some(self.context),
            llm,
            file_text,
            instruction,
            warnings: self.warnings,
            ..Response::default()
        })
    }
}

/// The gathered sections.
struct Sections {
    session: Rendered,
    memory: Rendered,
    codebase: Rendered,
}

impl Sections {
    /// Lines for *Relevant Context*, of what stands in the sections.
    fn lines(&self, session: &Facts, with_session: bool) -> Vec<String> {
        // A path that was cut would be a claim about another file.
        let fits = |line: &&String| line.chars().count() <= LINE_CHARS;
        let mut lines: Vec<String> = self
            .codebase
            .lines
            .iter()
            .filter(fits)
            .take(CODEBASE_LINES)
            .cloned()
            .collect();
        let shortened = |line: &String| cut(line, LINE_CHARS.saturating_sub(1), "…");
        lines.extend(self.memory.lines.iter().take(MEMORY_LINES).map(shortened));
        if with_session {
            let current = session
                .tasks
                .as_ref()
                .and_then(|tasks| tasks.current.as_ref());
            let current = current.map(|text| format!("Task in progress: {text}"));
            let last = session.prompts.last();
            let last =
                last.map(|text| format!("Earlier in this session: \"{}\"", cut(text, 100, "…")));
            lines.extend([current, last].iter().flatten().map(shortened));
        }
        lines
    }

    fn context(self) -> Context {
        Context {
            session: self.session.section,
            memory: self.memory.section,
            codebase: self.codebase.section,
        }
    }
}
