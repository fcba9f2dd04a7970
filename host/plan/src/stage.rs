//! Stages as they are executed.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{Body, Segments};

/// The runtime of a sandbox stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Runtime {
    /// Python.
    Python,
    /// JavaScript.
    Node,
    /// Go.
    Go,
    /// Anything else: a tool run directly, or a script.
    Shell,
}

impl Runtime {
    /// Its name in `sandbox:<runtime>`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Python => "python",
            Self::Node => "node",
            Self::Go => "go",
            Self::Shell => "shell",
        }
    }

    /// The core capability that runs it.
    #[must_use]
    pub const fn capability(self) -> &'static str {
        match self {
            Self::Python => "ccos.sandbox.python",
            Self::Node => "ccos.sandbox.node",
            Self::Go => "ccos.sandbox.go",
            Self::Shell => "ccos.sandbox.shell",
        }
    }
}

/// Options of a jq program, which are members of the request for it, in the order in which a stage lists them.
pub const FILTER_OPTIONS: [&str; 7] = [
    "raw",
    "join",
    "compact",
    "slurp",
    "null-input",
    "sort-keys",
    "exit-status",
];

/// A stage. Stage n+1 receives the bytes that stage n produced.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Stage {
    /// A request.
    Http(Box<HttpStage>),
    /// A jq program, run by this component (`filter`).
    JsonFilter {
        /// The program.
        program: String,
        /// Command-line options that are set, of [`FILTER_OPTIONS`].
        options: Vec<String>,
        /// `--arg`
        args: BTreeMap<String, Segments>,
        /// `--argjson`
        #[serde(rename = "json-args")]
        json_args: Map<String, Value>,
        /// Of a first stage, what it reads.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        stdin: Option<Segments>,
    },
    /// A text tool, stdin to stdout.
    TextTransform {
        /// Which.
        tool: String,
        /// Its arguments.
        args: Vec<Segments>,
        /// Of a first stage, what it reads.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        stdin: Option<Segments>,
    },
    /// Text, put out.
    Println {
        /// Without a final newline.
        text: Segments,
    },
    /// Files of the `files` of a call, one after another.
    ReadFile(ReadFileStage),
    /// Code or a tool in the jail.
    Sandbox(Box<SandboxStage>),
}

impl Stage {
    /// `maps-to`: the core capability that runs it.
    #[must_use]
    pub fn capability(&self) -> &'static str {
        match self {
            Self::Http(_) => "ccos.network.http-fetch",
            Self::JsonFilter { .. } => "ccos.json.parse",
            Self::TextTransform { .. } => "ccos.text.transform",
            Self::Println { .. } => "ccos.io.println",
            Self::ReadFile(_) => "ccos.io.read-file",
            Self::Sandbox(stage) => stage.runtime.capability(),
        }
    }
}

/// A request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct HttpStage {
    /// A token, upper-case.
    pub method: String,
    /// Scheme, host, port and path; neither query nor fragment. Empty with `url-input`. In `map` it may be relative.
    pub url: Segments,
    /// The input that is the URL, and whose host must be one of `domains`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url_input: Option<String>,
    /// Permitted hosts of `url-input`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub domains: Vec<String>,
    /// In order. A pair with an absent input is left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub query: Vec<Pair>,
    /// In order. A header with an absent input is left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub headers: Vec<HeaderOut>,
    /// Default headers that are not sent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub removed_headers: Vec<String>,
    /// Cookies; one with an absent input is left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cookies: Vec<Pair>,
    /// Basic auth, which is encoded once its halves are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub basic: Option<Basic>,
    /// What kind of auth headers, query, cookies or basic carry; for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub auth: Option<AuthOut>,
    /// The body.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<Body>,
    /// Whether redirects are followed.
    pub follow: bool,
    /// Lower limits than the host's.
    #[serde(default, skip_serializing_if = "HttpLimits::is_default")]
    pub limits: HttpLimits,
    /// Where the response's body goes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_file: Option<OutputFile>,
}

/// A name and a value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pair {
    /// The name, in the encoding of its place.
    pub name: Segments,
    /// The value; none: the name stands without `=`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<Segments>,
}

/// A header.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeaderOut {
    /// As written.
    pub name: String,
    /// Its value.
    pub value: Segments,
}

/// Both halves of basic auth.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Basic {
    /// Before the colon.
    pub user: Segments,
    /// After it.
    pub password: Segments,
}

/// How a request is authenticated, for people.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuthOut {
    /// `bearer`, `basic`, `header`, `query`, `cookie`.
    pub r#type: String,
    /// The header, query parameter or cookie; not for bearer and basic.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The secret.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub env_var: Option<String>,
    /// Of basic auth: the secrets.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub env_vars: Vec<String>,
}

/// A file in the run's output directory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutputFile {
    /// Its path as the document gives it; the host decides whether it may be.
    pub path: Segments,
}

/// Files that are read, one after another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadFileStage {
    /// Names of `files` of a call.
    pub paths: Vec<String>,
    /// Of `head` and `tail`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub excerpt: Option<Excerpt>,
}

/// Which part of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Excerpt {
    /// `head` or `tail`.
    pub tool: String,
    /// `lines` or `bytes`.
    pub unit: String,
    /// How many, or from which on.
    pub count: u64,
    /// `only`, `all-but`, `from`.
    pub mode: String,
}

/// What a sandbox stage runs, with texts of the kind `T`; the variant is the one key of its JSON.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Program<T = Segments> {
    /// An argument vector; no shell.
    Argv(Vec<T>),
    /// Code for the runtime.
    Code(String),
    /// A file of code, with the digest of the bytes given at load.
    File {
        /// As written.
        name: String,
        /// None: its bytes were not given.
        digest: Option<String>,
    },
    /// A module of the runtime.
    Module(String),
    /// A script for a shell, verbatim.
    Script(String),
}

/// Code or a tool in the jail. Its texts are of the kind `T`: segments, or what a document says before its variables are
/// resolved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct SandboxStage<T = Segments> {
    /// Which runtime.
    pub runtime: Runtime,
    /// What is run.
    pub program: Program<T>,
    /// Its arguments; empty for an argument vector and for scripts.
    pub args: Vec<T>,
    /// Its standard input, if it is not what the stage before put out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stdin: Option<T>,
    /// Inputs that arrive as environment variables, by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub env_inputs: Vec<String>,
    /// Those that the command names, then those that the document declares.
    pub packages: Vec<Package>,
    /// What the command does with the packages that it names.
    #[serde(default, skip_serializing_if = "Fetches::is_nothing")]
    pub fetches: Fetches,
    /// What makes it a script, for people: `loop`, `command substitution`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub constructs: Vec<String>,
    /// Tools that have to be in the jail.
    pub tools: Vec<String>,
    /// The runtime as the document declares it: `python:3.11`, `container:ubuntu:22.04`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub declared_runtime: Option<String>,
}

impl<T> SandboxStage<T> {
    /// A stage without arguments, input, packages and variables.
    #[must_use]
    pub fn new(runtime: Runtime, program: Program<T>) -> Self {
        Self {
            runtime,
            program,
            args: Vec::new(),
            stdin: None,
            env_inputs: Vec::new(),
            packages: Vec::new(),
            fetches: Fetches::Nothing,
            constructs: Vec::new(),
            tools: Vec::new(),
            declared_runtime: None,
        }
    }

    /// Whether a shell runs a script: the program is one, or a file of shell code.
    #[must_use]
    pub fn is_script(&self) -> bool {
        matches!(self.program, Program::Script(_)) || !self.constructs.is_empty()
    }

    /// Whether it runs code in one of the runtimes and needs nothing else: no tool, no download, no shell.
    #[must_use]
    pub fn is_runtime_alone(&self) -> bool {
        self.tools.is_empty() && self.fetches.is_nothing() && !self.is_script()
    }
}

/// What a command does with the packages that it names. Either makes it Tier 3.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fetches {
    /// It fetches none.
    #[default]
    Nothing,
    /// It installs them.
    Installs,
    /// It downloads them and runs one.
    RunsDownloaded,
}

impl Fetches {
    /// Whether it fetches none.
    #[must_use]
    pub fn is_nothing(&self) -> bool {
        *self == Self::Nothing
    }
}

/// Limits that a document lowers; none above the host's own counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct HttpLimits {
    /// The whole request, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total_ms: Option<u64>,
    /// Until the connection stands, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connect_ms: Option<u64>,
    /// The response's body, in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response_bytes: Option<u64>,
    /// Redirects followed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub redirects: Option<u64>,
}

impl HttpLimits {
    /// Whether it lowers nothing.
    #[must_use]
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// A package that a command installs or a document declares; recorded and shown, never installed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Package {
    /// `python`, `node`, `go`, `rust`, `ruby`, `system`, …
    pub runtime: String,
    /// As written.
    pub name: String,
}
