//! What the component answers. Members that do not apply to the `op` are absent.

use serde::Serialize;

use crate::catalogue::Finding;
use crate::document::ModelRequest;
use crate::plan::Plan;
use crate::redact;
use crate::request::Codebase;
use crate::route::Explanation;

/// `schema` of every response.
pub const SCHEMA: &str = "hydrant.hydrate.response/1";

/// Characters of an error's detail and of a warning.
const MAX_DETAIL: usize = 400;

/// A response.
#[derive(Debug, Serialize)]
pub(crate) struct Response {
    schema: &'static str,
    /// False exactly when there is an `error`.
    ok: bool,
    #[serde(flatten)]
    answer: Option<Answer>,
    /// What went wrong without ending the call.
    warnings: Vec<Warning>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<Failure>,
}

/// What an `op` answers.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(crate) enum Answer {
    /// `parse`; `skip` is null where the prompt is not skipped.
    Parsed { parsed: Parsed, skip: Option<Skip> },
    /// `codebase`
    Codebase { codebase: Codebase },
    /// `hook`, `plan`, and `validate` of a reply that passes.
    Planned(Box<Planned>),
    /// `validate`: the checks that the reply fails.
    Failed { failed: Vec<String> },
    /// `route`
    Explained { explain: Explanation },
    /// `catalog-check`
    Findings { findings: Vec<Finding> },
}

/// A plan and the texts about it.
#[derive(Debug, Serialize)]
pub(crate) struct Planned {
    /// The plan as an object.
    pub(crate) plan: Plan,
    /// The same in Markdown.
    pub(crate) markdown: String,
    /// The gathered sections as they stand in the file.
    pub(crate) context: Context,
    /// With `options.llm`: what a model is told and asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) llm: Option<ModelRequest>,
    /// Where there is a `file_path`: all of the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) file_text: Option<String>,
    /// Where there is a `file_path`: what the main agent is told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) instruction: Option<String>,
}

/// The fields of the hook's JSON.
#[derive(Debug, Serialize)]
pub(crate) struct Parsed {
    /// Empty: absent.
    pub(crate) session_id: String,
    /// Of the user's session.
    pub(crate) transcript_path: Option<String>,
    /// Root of the codebase.
    pub(crate) cwd: Option<String>,
    /// What the memory source is asked.
    pub(crate) query: String,
    /// What the user typed, verbatim.
    pub(crate) prompt: String,
    /// What the hook called itself, when that is another event; one clean line.
    pub(crate) event_warning: Option<String>,
}

/// Why a prompt is skipped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Skip {
    /// Name of the rule.
    pub rule: &'static str,
}

/// Rendered sections, heading lines and fences included.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Context {
    /// `## Session Context`
    pub session: String,
    /// `## Memory`
    pub memory: String,
    /// `## Codebase`
    pub codebase: String,
}

/// What went wrong without ending the call.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Warning {
    /// `catalog`, `event`, `route`, …: the word after `WARN:`.
    code: &'static str,
    /// One clean line.
    message: String,
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Failure {
    /// `request`, `stdin`, `template`, `catalog` or `planner`.
    pub code: &'static str,
    /// One clean line.
    pub detail: String,
}

impl Failure {
    /// A failure whose detail may quote what a stranger wrote: it is cut to 400 characters and freed of invisible
    /// characters and secrets.
    #[must_use]
    pub fn new(code: &'static str, detail: &str) -> Self {
        let detail = one_line(detail);
        Self { code, detail }
    }
}

impl Warning {
    /// As [`Failure::new`].
    pub(crate) fn new(code: &'static str, message: &str) -> Self {
        let message = one_line(message);
        Self { code, message }
    }
}

/// Returns a text fit for a diagnostic: one line, no secrets.
pub(crate) fn one_line(text: &str) -> String {
    redact::excerpt(text, MAX_DETAIL, "")
}

impl Response {
    /// An answer, and what went wrong on the way to it.
    pub(crate) fn new(answer: Answer, warnings: Vec<Warning>) -> Self {
        Self {
            schema: SCHEMA,
            ok: true,
            answer: Some(answer),
            warnings,
            error: None,
        }
    }
}

impl From<Failure> for Response {
    fn from(failure: Failure) -> Self {
        Self {
            schema: SCHEMA,
            ok: false,
            answer: None,
            warnings: Vec::new(),
            error: Some(failure),
        }
    }
}
