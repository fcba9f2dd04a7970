//! The capabilities a signed manifest declares, in the form the host compares.

use url::Url;

use crate::VirtualPath;
use crate::program::is_name;
use crate::url_prefix::{Escapes, UrlPrefix};
use hydrant_trust::Capability;

/// The declared capabilities of the kinds a component can use; others allow nothing.
#[derive(Debug, Default)]
pub(super) struct Declared {
    /// `fs.read`.
    read: Vec<VirtualPath>,
    /// `fs.write`.
    written: Vec<VirtualPath>,
    /// `net.http:*`: whatever the policy allows.
    any_url: bool,
    prefixes: Vec<UrlPrefix>,
    /// `exec.safe:*`.
    any_program: bool,
    programs: Vec<String>,
}

impl Declared {
    pub(super) fn new(capabilities: &[Capability]) -> Self {
        let mut declared = Self::default();
        for Capability { kind, value, .. } in capabilities {
            match (kind.as_str(), value.as_str()) {
                ("fs.read", value) => declared.read.extend(VirtualPath::normalise(value)),
                ("fs.write", value) => declared.written.extend(VirtualPath::normalise(value)),
                ("net.http", "*") => declared.any_url = true,
                ("net.http", value) => declared.prefixes.extend(UrlPrefix::parse(value)),
                ("exec.safe", "*") => declared.any_program = true,
                ("exec.safe", value) if is_name(value) => declared.programs.push(value.to_owned()),
                _ => {}
            }
        }
        declared
    }

    /// The widest declared directory that holds `path`.
    pub(super) fn reads(&self, path: &VirtualPath) -> Option<&VirtualPath> {
        path.widest_of(&self.read)
    }

    pub(super) fn writes(&self, path: &VirtualPath) -> bool {
        path.widest_of(&self.written).is_some()
    }

    pub(super) fn fetches(&self, url: &Url) -> bool {
        self.any_url
            || self
                .prefixes
                .iter()
                .any(|prefix| prefix.matches(url, Escapes::Harmless))
    }

    pub(super) fn starts(&self, program: &str) -> bool {
        self.any_program || self.programs.iter().any(|name| name == program)
    }

    /// Tools have no names that a manifest could list, so they take `*`.
    pub(super) fn starts_tools(&self) -> bool {
        self.any_program
    }

    /// The declared values of a kind, for a message.
    pub(super) fn values(&self, kind: &str) -> Vec<&str> {
        let star = |any: bool| any.then_some("*").into_iter();
        match kind {
            "fs.read" => self.read.iter().map(VirtualPath::as_str).collect(),
            "fs.write" => self.written.iter().map(VirtualPath::as_str).collect(),
            "net.http" => star(self.any_url)
                .chain(self.prefixes.iter().map(UrlPrefix::as_str))
                .collect(),
            _ => star(self.any_program)
                .chain(self.programs.iter().map(String::as_str))
                .collect(),
        }
    }
}
