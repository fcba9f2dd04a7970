//! What the component answers. Absent members do not apply to the `op`.

use serde::{Serialize, Serializer};

use crate::catalogue::{Finding, Level};
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
#[derive(Debug, Clone, Serialize)]
pub struct Response {
    pub(super) schema: &'static str,
    /// False exactly when there is an `error`.
    pub ok: bool,
    /// `parse`
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parsed: Option<Parsed>,
    /// `parse`: null where the prompt is not skipped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skip: Option<Option<Skip>>,
    /// `codebase`
    #[serde(skip_serializing_if = "Option::is_none")]
    pub codebase: Option<Codebase>,
    /// The object of Q-162.
    #[serde(
        skip_serializing_if = "Option::is_none",
        serialize_with = "plan_object"
    )]
    pub plan: Option<Plan>,
    /// The same in the form of Q-160.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub markdown: Option<String>,
    /// The gathered sections as they stand in the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<Context>,
    /// `hook` and `plan` with `options.llm`: what a model is told and asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub llm: Option<ModelRequest>,
    /// `hook`: all of the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file_text: Option<String>,
    /// `hook`: what the main agent is told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instruction: Option<String>,
    /// `route` of one prompt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub explain: Option<Explanation>,
    /// `route` of rows: as many, in their order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub routes: Option<Vec<Explanation>>,
    /// `catalog-check`
    #[serde(skip_serializing_if = "Option::is_none")]
    pub findings: Option<Vec<Found>>,
    /// `validate`: the checks that the reply fails.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failed: Option<Vec<String>>,
    /// What went wrong without ending the call.
    pub warnings: Vec<Warning>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) error: Option<Failure>,
}

/// The fields of the hook's JSON.
#[derive(Debug, Clone, Serialize)]
pub struct Parsed {
    /// Empty: absent.
    pub session_id: String,
    /// Of the user's session.
    pub transcript_path: Option<String>,
    /// Root of the codebase.
    pub cwd: Option<String>,
    /// What the memory source is asked.
    pub query: String,
    /// What the user typed, verbatim.
    pub prompt: String,
    /// what the hook called itself, when that is another event; one clean line.
    pub event_warning: Option<String>,
}

/// Why a prompt is skipped (section 4).
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

/// What is wrong with a catalogue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Found {
    /// `error` or `warning`.
    pub level: &'static str,
    /// Path below the catalogue.
    pub file: String,
    /// Counted from 1.
    pub line: usize,
    /// `C01` to `C25`.
    pub code: &'static str,
    /// One line.
    pub message: String,
}

impl From<Finding> for Found {
    fn from(finding: Finding) -> Self {
        Self {
            level: match finding.level {
                Level::Error => "error",
                Level::Warning => "warning",
            },
            file: finding.file,
            line: finding.line,
            code: finding.code,
            message: one_line(&finding.message),
        }
    }
}

fn plan_object<S: Serializer>(plan: &Option<Plan>, serializer: S) -> Result<S::Ok, S::Error> {
    plan.as_ref().map(Plan::object).serialize(serializer)
}

/// What went wrong without ending the call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Warning {
    /// `catalog`, `event`, `route`, …: the word after `WARN:`.
    pub code: &'static str,
    /// One clean line.
    pub message: String,
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
    /// With a detail that may quote what a stranger wrote; it is cut to 400 chars and freed of
    /// invisible characters and secrets.
    #[must_use]
    pub fn new(code: &'static str, detail: &str) -> Self {
        let detail = one_line(detail);
        Self { code, detail }
    }
}

impl Warning {
    /// As [`Failure::new`].
    #[must_use]
    pub fn new(code: &'static str, message: &str) -> Self {
        let message = one_line(message);
        Self { code, message }
    }
}

/// Fit for a diagnostic: one line, no secrets.
fn one_line(text: &str) -> String {
    redact::excerpt(text, MAX_DETAIL, "")
}

impl Default for Response {
    fn default() -> Self {
        Self {
            schema: SCHEMA,
            ok: true,
            parsed: None,
            skip: None,
            codebase: None,
            plan: None,
            markdown: None,
            context: None,
            llm: None,
            file_text: None,
            instruction: None,
            explain: None,
            routes: None,
            findings: None,
            failed: None,
            warnings: Vec::new(),
            error: None,
        }
    }
}

impl From<Failure> for Response {
    fn from(failure: Failure) -> Self {
        Self {
            ok: false,
            error: Some(failure),
            ..Self::default()
        }
    }
}
