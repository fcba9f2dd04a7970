//! The stages of a draft but those with a file of their own.

use serde_json::Value;

use super::{HttpDraft, SandboxDraft, Template};

/// One stage (K-18).
#[derive(Debug, Clone, PartialEq)]
pub enum DraftStage {
    /// A request.
    Http(Box<HttpDraft>),
    /// A jq program.
    JsonFilter(FilterDraft),
    /// K-170: a text tool on what the stage before puts out. Its arguments are not scanned for placeholders by
    /// `assemble`, because programs of sed and awk hold braces.
    TextTransform {
        /// `argv[0]`
        tool: String,
        /// The rest, without files.
        args: Vec<Template>,
    },
    /// K-168: text, put out as it is.
    Println {
        /// Without a final newline.
        text: Template,
    },
    /// K-169: files, one after another.
    ReadFile {
        /// Their names.
        paths: Vec<Template>,
        /// Of `head` and `tail`.
        excerpt: Option<Excerpt>,
    },
    /// Code, or a tool, in the jail.
    Sandbox(Box<SandboxDraft>),
}

/// K-167: a jq program, which is literal.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct FilterDraft {
    /// The program.
    pub program: String,
    /// `-r`
    pub raw: bool,
    /// `-j`
    pub join: bool,
    /// `-c`
    pub compact: bool,
    /// `-s`
    pub slurp: bool,
    /// `-n`
    pub null_input: bool,
    /// `-S`
    pub sort_keys: bool,
    /// `-e`
    pub exit_status: bool,
    /// `--arg`
    pub args: Vec<(String, Template)>,
    /// `--argjson`
    pub json_args: Vec<(String, Value)>,
}

/// Which part of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Excerpt {
    /// From which end.
    pub from_end: bool,
    /// How much.
    pub range: Range,
}

/// How much of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Range {
    /// `-n N`
    Lines(u64),
    /// `-c N`
    Bytes(u64),
    /// `tail -n +N`
    FromLine(u64),
    /// `tail -c +N`
    FromByte(u64),
    /// `head -n -N`
    AllButLines(u64),
    /// `head -c -N`
    AllButBytes(u64),
}
