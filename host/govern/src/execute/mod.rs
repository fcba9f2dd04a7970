//! Running the stages of an operation that may run.
//!
//! Whoever calls [`run`] has decided: the grant is live, the budget has room, `capability-call` is on disk. Here values and
//! secrets meet, and nothing else can leave: hosts are those of the operation, redirects are followed hop by hop under
//! the same rules, and what comes back is searched for what went out before anybody sees it.
//!
//! | file | subject |
//! |---|---|
//! | `plan` | the stages, one after another, and what is left of the caps |
//! | `http`, `redirect` | the HTTP stage |
//! | `filter` | json-filter and text-transform |
//! | `local` | println and read-file |
//! | `sandboxed` | sandbox stages |
//! | `output_file` | files of a run |
//! | `captured` | secrets that an operation returns |
//! | `echo` | injected values that come back |
//! | `result` | how an output shows what came back: `json`, `body`, `body-b64` or a file |

mod captured;
mod echo;
mod filter;
mod http;
mod local;
mod output_file;
mod plan;
mod redirect;
mod result;
mod sandboxed;

#[cfg(test)]
mod tests;

use std::path::Path;

use secrecy::SecretString;
use serde_json::Value;

use crate::chain::{Entry, Used};
use crate::config::Config;
use crate::failure::{Code, Failure};
use crate::ports::{Components, Egress, Wire};
use crate::request::{CallFiles, Inputs, Schemas};
use crate::sandbox::{Caps, Sandbox, SandboxEnd, SandboxRun};
use hydrant_plan::JudgedOperation;

pub use captured::Captured;
pub(crate) use captured::reference;
pub(crate) use filter::{check_program, is_built_in};
pub(crate) use output_file::check as check_outputs;
pub use plan::run;

/// Everything that a plan needs.
#[derive(Clone, Copy)]
pub struct Call<'a> {
    /// The skill's id: what a captured secret is named after.
    pub skill_id: &'a str,
    /// The approved operation.
    pub operation: &'a JudgedOperation,
    /// Of [`crate::request::validate`].
    pub inputs: &'a Inputs,
    /// Of [`CallFiles::open`].
    pub files: &'a CallFiles,
    /// Hosts that are denied, private or plain; directories that may be written.
    pub config: &'a Config,
    /// Schemas that were compiled before.
    pub schemas: &'a Schemas,
    /// HTTP.
    pub wire: &'a dyn Wire,
    /// Runs jq programs and text tools.
    pub components: &'a dyn Components,
    /// The proxies of jails.
    pub egress: &'a dyn Egress,
    /// Runs sandbox stages; none: each is refused.
    pub jails: Option<&'a dyn Jails>,
    /// A secret's value for this skill, by its expected name and the `host:port` it is sent to, in a sandbox stage the
    /// empty string. `secret-missing` and `secret-unbound` end the stage.
    pub secrets: &'a dyn Fn(&str, &str) -> Result<SecretString, Failure>,
    /// The bytes of a code file that was given at load, by its digest.
    pub code_file: &'a dyn Fn(&str) -> Option<Vec<u8>>,
    /// What the budget has left.
    pub caps: Caps,
    /// `<state>/outputs/<run>`: made (0700) when the first file is written.
    pub output: &'a Path,
}

/// How a plan ended, and what it left behind either way.
#[derive(Debug)]
pub struct Done {
    /// The output, or the failure of the stage that ended the plan.
    pub end: Result<Output, Failure>,
    /// `secret-injected`, `secret-echo`, `secret-captured`, `redirect-denied`, `egress-denied`, `jail-started`,
    /// `jail-finished`, `budget-exhausted`, in order: with event, subject, outcome and code. The caller adds whose.
    pub entries: Vec<Entry>,
    /// Also of a plan that failed.
    pub used: Used,
    /// Of jails, at its highest.
    pub peak_memory_bytes: u64,
    /// For the caller: what was noticed.
    pub warnings: Vec<String>,
    /// To be staged as pending; the output holds references only.
    pub captured: Vec<Captured>,
}

/// What a plan put out.
#[derive(Debug, Clone, PartialEq)]
pub struct Output {
    /// The `output` member of the result.
    pub value: Value,
    /// The `http-error` member of the result: whether the server answered with a status of 400 or more.
    pub http_error: bool,
}

/// The refusal of a host without a launcher.
pub(crate) fn no_jail() -> Failure {
    Failure::new(
        Code::JailUnavailable,
        "this host makes no jails: `hydrant doctor` says why",
    )
}

/// Where sandbox stages run: a [`Sandbox`].
pub trait Jails: Send + Sync {
    /// Of [`Sandbox::run`].
    ///
    /// # Errors
    ///
    /// Of [`Sandbox::run`].
    fn run(&self, run: &SandboxRun<'_>) -> Result<SandboxEnd, Failure>;

    /// Of [`Sandbox::text_tool`].
    ///
    /// # Errors
    ///
    /// Of [`Sandbox::text_tool`].
    fn text_tool(
        &self,
        tool: &str,
        args: &[String],
        stdin: &[u8],
        caps: Caps,
    ) -> Result<(Vec<u8>, Used), Failure>;
}

impl Jails for Sandbox {
    fn run(&self, run: &SandboxRun<'_>) -> Result<SandboxEnd, Failure> {
        self.run(run)
    }

    fn text_tool(
        &self,
        tool: &str,
        args: &[String],
        stdin: &[u8],
        caps: Caps,
    ) -> Result<(Vec<u8>, Used), Failure> {
        self.text_tool(tool, args, stdin, caps)
    }
}
