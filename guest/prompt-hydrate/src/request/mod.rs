//! What the component is asked: one JSON object with `schema`, `op` and the members of that `op`.
//!
//! A member that the `op` does not take, a name given twice, or a missing or wrong-typed one refuses the request by its
//! name; nothing is ignored.

mod options;

use kit::request::from_members;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::catalogue::{File, Skill};
use crate::respond::Failure;

pub use options::{Budgets, Mode, Options};

/// `schema` of every request.
pub const SCHEMA: &str = "hydrant.hydrate.request/1";

/// A request, by its `op`.
#[derive(Debug, Clone)]
pub enum Request {
    /// `parse`: the JSON of the hook.
    Parse(ParseRequest),
    /// `codebase`: the walk and ranking alone, so that the host can give them a deadline of their own.
    Codebase(CodebaseRequest),
    /// `hook`: plan, file and instruction; `plan`: the plan and its context; `validate`: a plan that a language model wrote.
    Plan(PlanRequest),
    /// `route`: the decision, explained.
    Route(RouteRequest),
    /// `catalog-check`: the findings of a catalogue.
    CatalogCheck(CatalogCheckRequest),
}

/// `parse`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ParseRequest {
    /// All of stdin, as text.
    pub hook_stdin: String,
    /// `enabled` alone matters.
    #[serde(default)]
    pub options: Options,
}

/// `codebase`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CodebaseRequest {
    /// Where to look.
    pub workspace: Tree<WorkspaceMount>,
    /// What the user typed.
    pub prompt: String,
    /// Nothing of it matters.
    #[serde(default)]
    pub options: Options,
}

/// `hook`, `plan` and `validate`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlanRequest {
    /// What the user typed.
    pub prompt: String,
    /// Path of the file that will be written; `hook` needs it, `plan` refuses it, `validate` may have it.
    pub file_path: Option<String>,
    /// Replacements of the default templates.
    #[serde(default)]
    pub templates: Templates,
    /// The end of the transcript, whole lines. Not with `turns`.
    pub transcript_tail: Option<String>,
    /// The session in place of a transcript, oldest first.
    pub turns: Option<Vec<Turn>>,
    /// Absent: the embedded catalogue.
    pub catalog: Option<Tree<CatalogMount>>,
    /// What `codebase` answered. Not with `workspace`.
    pub codebase: Option<Codebase>,
    /// The tree to look through in this call.
    pub workspace: Option<Tree<WorkspaceMount>>,
    /// Passages, best first.
    #[serde(default)]
    pub memory: Vec<Memory>,
    /// Installed skills; absent: nobody knows which there are.
    pub skills: Option<Vec<Skill>>,
    /// Settings of the run.
    #[serde(default)]
    pub options: Options,
    /// `validate`: what the model replied.
    pub plan: Option<String>,
}

/// `route`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RouteRequest {
    /// What the user typed.
    pub prompt: String,
    /// As in [`PlanRequest`].
    pub transcript_tail: Option<String>,
    /// As in [`PlanRequest`].
    pub turns: Option<Vec<Turn>>,
    /// As in [`PlanRequest`].
    pub catalog: Option<Tree<CatalogMount>>,
    /// As in [`PlanRequest`].
    pub skills: Option<Vec<Skill>>,
    /// Settings of the run.
    #[serde(default)]
    pub options: Options,
}

/// `catalog-check`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CatalogCheckRequest {
    /// Absent: the embedded catalogue.
    pub catalog: Option<Tree<CatalogMount>>,
    /// Nothing of it matters.
    #[serde(default)]
    pub options: Options,
}

/// A catalogue or workspace: `{"inline":[{"path","text"}…]}` or `{"mount":"/catalog"}`.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tree<M> {
    /// The files themselves; paths are relative.
    Inline(Vec<File>),
    /// A directory to read through `fs-read`.
    Mount(M),
}

/// The mount that a catalogue may be read from.
#[derive(Debug, Clone, Copy, Deserialize)]
pub enum CatalogMount {
    /// `/catalog`
    #[serde(rename = "/catalog")]
    Catalog,
}

/// The mount that a working tree may be read from.
#[derive(Debug, Clone, Copy, Deserialize)]
pub enum WorkspaceMount {
    /// `/workspace`
    #[serde(rename = "/workspace")]
    Workspace,
}

/// Template texts; absent: the embedded ones.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Templates {
    /// Of the file.
    pub context: Option<String>,
    /// Of the short text.
    pub instruction: Option<String>,
}

/// One turn of a session.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Turn {
    /// Who speaks.
    pub role: Role,
    /// What is said.
    pub text: String,
}

/// Who speaks.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The person.
    User,
    /// The agent.
    #[serde(alias = "agent")]
    Assistant,
}

/// A passage of the memory source.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Memory {
    /// The passage.
    pub text: String,
    /// File or name it comes from.
    pub source: String,
    /// Higher is better; the list is in that order already.
    #[serde(default)]
    pub score: f64,
}

/// What `codebase` answers and the host hands back.
#[derive(Debug, Clone, Default, Deserialize, serde::Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Codebase {
    /// At most 8, best first.
    pub files: Vec<RelevantFile>,
    /// The test command; null: no file tells.
    pub tests: Option<String>,
}

/// A file that exists, and why it is worth naming.
#[derive(Debug, Clone, Deserialize, serde::Serialize)]
#[serde(deny_unknown_fields)]
pub struct RelevantFile {
    /// Relative to the root.
    pub path: String,
    /// A few words.
    pub reason: String,
}

impl Request {
    /// Reads a request.
    ///
    /// # Errors
    /// `request` for anything but one JSON object with the members of a known `op`, within their bounds.
    pub fn parse(bytes: &[u8]) -> Result<Self, Failure> {
        let mut members = kit::members::object(bytes)?;
        if members.shift_remove("schema") != Some(SCHEMA.into()) {
            return Err(refused(&format!("schema: expected \"{SCHEMA}\"")));
        }
        let op = members.shift_remove("op").unwrap_or_default();
        let request = match op.as_str() {
            Some("parse") => Self::Parse(from_members(members)?),
            Some("codebase") => Self::Codebase(from_members(members)?),
            Some("hook") => Self::Plan(plan_request(members, &["file_path"], &["plan"])?),
            Some("plan") => Self::Plan(plan_request(members, &[], &["file_path", "plan"])?),
            Some("validate") => Self::Plan(plan_request(members, &["plan"], &[])?),
            Some("route") => Self::Route(from_members(members)?),
            Some("catalog-check") => Self::CatalogCheck(from_members(members)?),
            _ => return Err(refused("op: missing or unknown")),
        };
        request.check()?;
        Ok(request)
    }

    /// Refuses what the types allow and a request does not.
    fn check(&self) -> Result<(), Failure> {
        let options = match self {
            Self::Parse(request) => &request.options,
            Self::Codebase(request) => &request.options,
            Self::Plan(request) => {
                one_session(request.turns.as_ref(), request.transcript_tail.as_ref())?;
                if request.codebase.is_some() && request.workspace.is_some() {
                    return Err(refused("codebase: not with `workspace`"));
                }
                &request.options
            }
            Self::Route(request) => {
                one_session(request.turns.as_ref(), request.transcript_tail.as_ref())?;
                &request.options
            }
            Self::CatalogCheck(request) => &request.options,
        };
        options.check().map_err(refused)
    }
}

/// Reads the members that `hook`, `plan` and `validate` share, of which each needs and refuses some.
fn plan_request(
    members: Map<String, Value>,
    needed: &[&str],
    unknown: &[&str],
) -> Result<PlanRequest, Failure> {
    let is_given = |name: &&&str| members.get(**name).is_some_and(|value| !value.is_null());
    if let Some(name) = needed.iter().find(|name| !is_given(name)) {
        return Err(refused(&format!("missing field `{name}`")));
    }
    if let Some(name) = unknown.iter().find(is_given) {
        return Err(refused(&format!("unknown field `{name}`")));
    }
    Ok(from_members(members)?)
}

fn one_session(turns: Option<&Vec<Turn>>, tail: Option<&String>) -> Result<(), Failure> {
    match turns.and(tail) {
        Some(_) => Err(refused("transcript_tail: not with `turns`")),
        None => Ok(()),
    }
}

fn refused(detail: &str) -> Failure {
    Failure::new("request", detail)
}

impl From<kit::SkillError> for Failure {
    fn from(error: kit::SkillError) -> Self {
        refused(error.message())
    }
}
