//! The policy: the file an operator writes, and the question "may this call do that, and which line says so".
//!
//! A policy is read whole, checked whole and its mounts opened before the first question is answered; what it does not
//! name is denied. Questions are then answered from text alone, through a [`Grant`]: no file system, no network. The
//! document is parsed here, outside of any component, because it is the operator's own.
//!
//! Relies on `granit-parser` for YAML and JSON, on `url` for URLs, on `cap-std` for the handles of mounts.

mod ceiling;
mod denial;
mod document;
mod error;
mod explain;
mod form;
mod grant;
mod layers;
mod limits;
mod load;
mod mount;
mod path;
mod program;
mod signers;
mod text;
mod url_prefix;

use std::collections::BTreeMap;
use std::path::PathBuf;

pub use denial::{Denial, ProgramDenial, Rule};
pub use document::schema;
use document::{Document, ProcessRule};
pub use error::{DocumentFault, Place, PolicyError};
pub use explain::{Explanation, Question, explain};
pub use form::{FormError, component_form, covers, reach_of_declared};
pub use grant::{
    Confinement, Grant, Location, Method, ProgramLeave, Reach, Runner, ToolLeave, WriteLeave,
};
pub use layers::{LayerFiles, Layers};
pub use limits::Limits;
use mount::MountTable;
pub use mount::{AllowedPath, CliMount, MountHandle, MountTarget, OwnMount};
pub use path::{InvalidPath, VirtualPath};
pub use signers::UntrustedSigner;

use hydrant_base::Digest;
use schemars::JsonSchema;
use serde::Deserialize;

/// What messages call it.
const DEFAULT_SOURCE: &str = "the default policy";

/// A policy that was read, checked, and whose mounts are open. `Send` and `Sync`; share it in an `Arc`.
#[derive(Debug)]
pub struct Policy {
    source: String,
    lines: Vec<String>,
    document: Document,
    mounts: MountTable,
    programs: Vec<ProgramRule>,
    runners: BTreeMap<String, Runner>,
    tls_roots: Vec<PathBuf>,
}

/// Whether pinned components may be instantiated to list what they are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Tools {
    /// They may, with an empty grant.
    #[default]
    Describe,
    /// They may not: of a skill that this program was not built with, name and version come from the manifest only.
    Skip,
}

/// A rule of `host.process` and the file its program is.
#[derive(Debug)]
struct ProgramRule {
    line: u64,
    rule: ProcessRule,
    /// Without links; none if the program was not installed when the policy was loaded.
    executable: Option<PathBuf>,
}

impl Policy {
    /// The effective limits of a call under this policy.
    pub fn limits(&self) -> Limits {
        self.document.host.limits.or(Limits::default())
    }

    /// PEM files with roots that `fetch` trusts besides its own.
    pub fn tls_roots(&self) -> &[PathBuf] {
        &self.tls_roots
    }

    /// The file as the operator named it, or `the default policy`.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Whether components may be instantiated to be listed.
    pub fn tools(&self) -> Tools {
        self.document.host.tools
    }

    /// `policy_hash` of the document.
    pub fn hash(&self) -> &Digest {
        &self.document.hash
    }

    /// The signers of which a skill needs one.
    pub fn trusted_signers(&self) -> &[String] {
        &self.document.trusted_signers
    }

    /// A line of this policy as the rule that decided. The default policy has no file to look the line up in.
    fn rule(&self, line: u64, reason: impl Into<String>) -> Rule {
        let index = usize::try_from(line.saturating_sub(1)).ok();
        let text = index
            .and_then(|index| self.lines.get(index))
            .cloned()
            .unwrap_or_default();
        let line = (self.source != DEFAULT_SOURCE).then_some(line);
        Rule {
            source: self.source.clone(),
            line,
            reason: reason.into(),
            text,
        }
    }

    /// The denial by a line of this policy; by the `instruction` it would be allowed.
    fn denial(
        &self,
        capability: String,
        line: u64,
        reason: impl Into<String>,
        instruction: &str,
    ) -> Denial {
        Denial::new(
            capability,
            self.rule(line, reason),
            self.remedy(instruction),
        )
    }

    /// An instruction to change this policy; the default policy has to become a file first.
    fn remedy(&self, instruction: &str) -> String {
        if self.source == DEFAULT_SOURCE {
            format!("write a policy file (--policy FILE) and {instruction}")
        } else {
            instruction.to_owned()
        }
    }
}

#[cfg(test)]
mod tests;
