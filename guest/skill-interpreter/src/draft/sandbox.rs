//! Code and tools for the jail.

use super::Template;
use crate::model::{Package, Runtime};

/// K-252 to K-255: how well known a sandbox stage is, which gives its tier and reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trust {
    /// K-229: a runtime that section 9.4 knows. Tier 2, reason `sandbox:R`.
    KnownRuntime,
    /// K-127, K-128, K-177: a tool run directly. Tier 3, or 2 where the operator knows it. Reason `unknown-tool:T`.
    Tool {
        /// `argv[0]`
        name: String,
    },
    /// K-117, K-124: a script for a shell. Tier 3, reason `script`; the constructs that make it one, each once.
    Script {
        /// For a person: `loop`, `command substitution`, `redirection to a file`, …
        constructs: Vec<String>,
    },
    /// K-176: Tier 3, a reason `package:R:N` for each package.
    Installer,
    /// K-175: code is downloaded and run. Tier 3, reason `unknown-tool:T` and one `package:R:N` for each package.
    Download {
        /// `argv[0]`
        name: String,
    },
    /// K-87: a container image with a script. Tier 3, reason `script`.
    Container,
}

/// Text that is run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Code {
    /// The text, literal: nothing is ever spliced into it.
    pub text: String,
    /// Where it begins in the document.
    pub line: u32,
}

/// K-178: a file of code that a command names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CodeFile {
    /// As written.
    pub name: String,
}

/// What is run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Program {
    /// K-127: `argv`, at least one element; no shell.
    Argv(Vec<Template>),
    /// `python -c`, `node -e`, a here-document, a code fence, `script` of a structured operation.
    Code(Code),
    /// `python FILE`, `node FILE`, `go run FILE`, `bash FILE`.
    File(CodeFile),
    /// `python -m`
    Module(String),
    /// A script for a shell, verbatim.
    Script(Code),
}

/// A sandbox stage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SandboxDraft {
    /// Which core capability runs it.
    pub runtime: Runtime,
    /// What is run.
    pub program: Program,
    /// The arguments of code, file or module; empty for `Argv` and for scripts.
    pub args: Vec<Template>,
    /// K-122: its standard input, if it is not the stage before.
    pub stdin: Option<Template>,
    /// How well known it is.
    pub trust: Trust,
    /// K-173, K-175, K-176: what is needed or installed.
    pub packages: Vec<Package>,
    /// K-87: version or image as declared (`python:3.11`, `container:ubuntu:22.04`).
    pub declared_runtime: Option<String>,
    /// K-131: the free variables of a script, in the order of their first use; K-190 tells which are secrets.
    pub free_variables: Vec<String>,
    /// K-128, K-207: files that the command names besides its code; only those the reader is sure of.
    pub files: Vec<String>,
}

impl SandboxDraft {
    /// A stage without arguments, input, packages and variables.
    #[must_use]
    pub fn new(runtime: Runtime, program: Program, trust: Trust) -> Self {
        Self {
            runtime,
            program,
            args: Vec::new(),
            stdin: None,
            trust,
            packages: Vec::new(),
            declared_runtime: None,
            free_variables: Vec::new(),
            files: Vec::new(),
        }
    }
}
