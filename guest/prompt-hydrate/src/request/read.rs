//! How a request is read: its members by type, then those of its `op`.

use serde::Deserialize;

use super::{
    CatalogCheckRequest, Codebase, CodebaseRequest, Memory, Options, ParseRequest, PlanRequest,
    Request, RouteRequest, Row, SCHEMA, SkillEntry, Templates, Tree, Turn,
};
use crate::respond::Failure;

/// Prompts of one `route` request.
const MAX_ROWS: usize = 1_000;

/// All members of all requests. They are read into their types at once: a tree of values in between would cost as much as
/// the rest of a call.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Members {
    schema: Option<String>,
    op: Option<String>,
    hook_stdin: Option<String>,
    prompt: Option<String>,
    rows: Option<Vec<Row>>,
    file_path: Option<String>,
    templates: Option<Templates>,
    transcript_tail: Option<String>,
    turns: Option<Vec<Turn>>,
    catalog: Option<Tree>,
    codebase: Option<Codebase>,
    workspace: Option<Tree>,
    memory: Option<Vec<Memory>>,
    skills: Option<Vec<SkillEntry>>,
    plan: Option<String>,
    options: Option<Options>,
}

impl Request {
    /// Reads a request.
    ///
    /// # Errors
    /// `request` for anything but one JSON object with the members of a known `op`, within their bounds.
    pub fn parse(bytes: &[u8]) -> Result<Self, Failure> {
        let members: Members =
            kit::request::parse(bytes).map_err(|error| refused(error.message()))?;
        if members.schema.as_deref() != Some(SCHEMA) {
            return Err(refused(&format!("schema: expected \"{SCHEMA}\"")));
        }
        let request = match members.op.as_deref().unwrap_or_default() {
            "parse" => members.parse(),
            "codebase" => members.codebase(),
            "hook" => members.plan(PlanOp::Hook).map(Self::Hook),
            "plan" => members.plan(PlanOp::Plan).map(Self::Plan),
            "validate" => members.plan(PlanOp::Validate).map(Self::Validate),
            "route" => members.route(),
            "catalog-check" => members.catalog_check(),
            "" => Err(refused("missing field `op`")),
            _ => Err(refused("op: unknown")),
        }?;
        Ok(request)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PlanOp {
    Hook,
    Plan,
    Validate,
}

impl Members {
    /// Refuses members that the op does not take.
    fn only(&self, allowed: &[&str]) -> Result<(), Failure> {
        let given = [
            ("hook_stdin", self.hook_stdin.is_some()),
            ("prompt", self.prompt.is_some()),
            ("rows", self.rows.is_some()),
            ("file_path", self.file_path.is_some()),
            ("templates", self.templates.is_some()),
            ("transcript_tail", self.transcript_tail.is_some()),
            ("turns", self.turns.is_some()),
            ("catalog", self.catalog.is_some()),
            ("codebase", self.codebase.is_some()),
            ("workspace", self.workspace.is_some()),
            ("memory", self.memory.is_some()),
            ("skills", self.skills.is_some()),
            ("plan", self.plan.is_some()),
        ];
        let strange = given
            .iter()
            .find(|(name, given)| *given && !allowed.contains(name));
        if let Some((name, _)) = strange {
            return Err(refused(&format!("unknown field `{name}`")));
        }
        if self.turns.is_some() && self.transcript_tail.is_some() {
            return Err(refused("transcript_tail: not with `turns`"));
        }
        self.options.as_ref().map_or(Ok(()), Options::check)
    }

    fn parse(self) -> Result<Request, Failure> {
        self.only(&["hook_stdin"])?;
        Ok(Request::Parse(ParseRequest {
            hook_stdin: self.hook_stdin.ok_or_else(|| missing("hook_stdin"))?,
            options: self.options.unwrap_or_default(),
        }))
    }

    fn codebase(self) -> Result<Request, Failure> {
        self.only(&["workspace", "prompt"])?;
        Ok(Request::Codebase(CodebaseRequest {
            workspace: self.workspace.ok_or_else(|| missing("workspace"))?,
            prompt: self.prompt.ok_or_else(|| missing("prompt"))?,
            options: self.options.unwrap_or_default(),
        }))
    }

    fn plan(self, op: PlanOp) -> Result<PlanRequest, Failure> {
        let mut allowed = vec![
            "prompt",
            "templates",
            "transcript_tail",
            "turns",
            "catalog",
            "codebase",
            "workspace",
            "memory",
            "skills",
        ];
        match op {
            PlanOp::Hook => allowed.push("file_path"),
            PlanOp::Plan => {}
            PlanOp::Validate => allowed.extend(["file_path", "plan"]),
        }
        self.only(&allowed)?;
        if op == PlanOp::Hook && self.file_path.is_none() {
            return Err(missing("file_path"));
        }
        if op == PlanOp::Validate && self.plan.is_none() {
            return Err(missing("plan"));
        }
        if self.codebase.is_some() && self.workspace.is_some() {
            return Err(refused("codebase: not with `workspace`"));
        }
        Ok(PlanRequest {
            prompt: self.prompt.ok_or_else(|| missing("prompt"))?,
            file_path: self.file_path,
            templates: self.templates.unwrap_or_default(),
            transcript_tail: self.transcript_tail,
            turns: self.turns,
            catalog: self.catalog,
            codebase: self.codebase,
            workspace: self.workspace,
            memory: self.memory.unwrap_or_default(),
            skills: self.skills,
            options: self.options.unwrap_or_default(),
            plan: self.plan,
        })
    }

    fn route(self) -> Result<Request, Failure> {
        self.only(&[
            "prompt",
            "rows",
            "transcript_tail",
            "turns",
            "catalog",
            "skills",
        ])?;
        match (&self.prompt, &self.rows) {
            (None, None) => return Err(missing("prompt")),
            (Some(_), Some(_)) => return Err(refused("rows: not with `prompt`")),
            (None, Some(rows)) if rows.len() > MAX_ROWS => {
                return Err(refused("rows: more than 1000"));
            }
            _ => {}
        }
        Ok(Request::Route(RouteRequest {
            prompt: self.prompt,
            rows: self.rows,
            transcript_tail: self.transcript_tail,
            turns: self.turns,
            catalog: self.catalog,
            skills: self.skills,
            options: self.options.unwrap_or_default(),
        }))
    }

    fn catalog_check(self) -> Result<Request, Failure> {
        self.only(&["catalog"])?;
        Ok(Request::CatalogCheck(CatalogCheckRequest {
            catalog: self.catalog,
            options: self.options.unwrap_or_default(),
        }))
    }
}

fn missing(member: &str) -> Failure {
    refused(&format!("missing field `{member}`"))
}

impl Options {
    /// The ranges of section 26.
    fn check(&self) -> Result<(), Failure> {
        let budgets = [
            self.budgets.memory,
            self.budgets.codebase,
            self.budgets.session,
        ];
        let is_model = |text: &str| {
            let allowed = |c: char| c.is_ascii_alphanumeric() || "._:/-".contains(c);
            (1..=64).contains(&text.len()) && text.chars().all(allowed)
        };
        // A tool or tracker stands in a sentence and in an item of the plan.
        let is_word = |text: &str| {
            let allowed = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
            (1..=40).contains(&text.len()) && text.chars().all(allowed)
        };
        if budgets.iter().any(|budget| *budget > 4_000) {
            Err(refused("options.budgets: over 4000"))
        } else if !(1..=12).contains(&self.max_todos) {
            Err(refused("options.max_todos: not 1 to 12"))
        } else if !is_model(&self.model) {
            Err(refused("options.model: not [A-Za-z0-9._:/-]{1,64}"))
        } else if !is_word(&self.tracker) {
            Err(refused("options.tracker: not [A-Za-z0-9._-]{1,40}"))
        } else if !is_word(&self.task_tool) {
            Err(refused("options.task_tool: not [A-Za-z0-9._-]{1,40}"))
        } else {
            Ok(())
        }
    }
}

fn refused(detail: &str) -> Failure {
    Failure::new("request", detail)
}
