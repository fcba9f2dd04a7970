//! What the component is asked. Keys may be written with `_` for `-`.

use kit::SkillError;
use serde::Deserialize;
use serde_json::{Map, Value};

/// A request, by its `op`.
#[derive(Debug, Deserialize)]
#[serde(tag = "op", rename_all = "kebab-case")]
pub(crate) enum Request {
    /// Run a jq program.
    Filter(FilterRequest),
    /// Run a built-in text tool.
    Transform(TransformRequest),
}

/// A jq program, its options and what it reads.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct FilterRequest {
    /// The program.
    pub(crate) path: String,
    /// What it reads, in base64.
    #[serde(alias = "input_b64")]
    pub(crate) input_b64: String,
    /// `-r`
    #[serde(default)]
    pub(crate) raw: bool,
    /// `-s`
    #[serde(default)]
    pub(crate) slurp: bool,
    /// `-c`
    #[serde(default)]
    pub(crate) compact: bool,
    /// `-j`
    #[serde(default)]
    pub(crate) join: bool,
    /// `-n`
    #[serde(default, alias = "null_input")]
    pub(crate) null_input: bool,
    /// `-S`
    #[serde(default, alias = "sort_keys")]
    pub(crate) sort_keys: bool,
    /// `-e`: a last output of `false` or `null`, or none, is an error.
    #[serde(default, alias = "exit_status")]
    pub(crate) exit_status: bool,
    /// `$name` in the program.
    #[serde(default)]
    pub(crate) args: Map<String, Value>,
}

/// A text tool, its arguments and what it reads.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct TransformRequest {
    /// `argv[0]`
    pub(crate) tool: String,
    /// The rest, without files.
    #[serde(default)]
    pub(crate) args: Vec<String>,
    /// What it reads, in base64.
    #[serde(alias = "input_b64")]
    pub(crate) input_b64: String,
}

impl Request {
    /// Reads a request.
    ///
    /// # Errors
    ///
    /// `invalid_request` for anything but one JSON object with a known `op` and the members of that `op`.
    pub(crate) fn parse(request: &[u8]) -> Result<Self, SkillError> {
        kit::request::parse(request)
    }
}

/// The error of a request that cannot be answered.
pub(crate) fn invalid(message: &str) -> SkillError {
    SkillError::new(kit::request::INVALID_REQUEST, message)
}
