//! The stages of a draft but those with a file of their own.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::{HttpDraft, SandboxDraft, Template};
use crate::model::Excerpt;

/// One stage.
#[derive(Debug, Clone, PartialEq)]
pub enum DraftStage {
    /// A request.
    Http(Box<HttpDraft>),
    /// A jq program.
    JsonFilter(FilterDraft),
    /// A text tool on what the stage before puts out. Its arguments are not scanned for placeholders, because programs of sed
    /// and awk hold braces.
    TextTransform {
        /// `argv[0]`
        tool: String,
        /// The rest, without files.
        args: Vec<Template>,
    },
    /// Text, put out as it is.
    Println {
        /// Without a final newline.
        text: Template,
    },
    /// Files, one after another.
    ReadFile {
        /// Their names.
        paths: Vec<Template>,
        /// Of `head` and `tail`.
        excerpt: Option<Excerpt>,
    },
    /// Code, or a tool, in the jail.
    Sandbox(Box<SandboxDraft>),
}

/// A jq program, which is literal.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct FilterDraft {
    /// The program.
    pub program: String,
    /// Its options, of [`crate::model::FILTER_OPTIONS`], in any order.
    pub options: Vec<&'static str>,
    /// `--arg`
    pub args: BTreeMap<String, Template>,
    /// `--argjson`
    pub json_args: Map<String, Value>,
}
