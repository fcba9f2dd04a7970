//! The section `host`: what components get, with its mounts, URLs, limits and switches.

use std::collections::HashSet;

use schemars::JsonSchema;
use serde::Deserialize;
use url::Url;

use super::ceiling::Ceiling;
use super::process::{Discovery, ProcessRule};
use super::read::{Lined, Listed, filled_and_unique, unique};
use crate::error::PolicyError;
use crate::grant::{Confinement, Method};
use crate::limits::StatedLimits;
use crate::mount::{https_base, is_mount_point};
use crate::url_prefix::UrlPrefix;
use crate::{Tools, VirtualPath};

/// What is allowed, within the ceiling. Without it skills get nothing.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Host {
    /// What skills see as files: directories, and at or below `/os` also HTTPS servers. In a tenant or run layer, what the list
    /// omits is not mounted.
    pub(crate) mounts: Listed<MountRule>,
    /// Whether the document has `mounts`, be it an empty list.
    #[serde(skip)]
    pub(crate) lists_mounts: bool,
    /// URLs that skills may fetch. Each must lie below an entry of `capability_ceiling.net`.
    pub(crate) net: Listed<NetRule>,
    /// Programs that skills may start. Needs `exec: true` in the ceiling.
    pub(crate) process: Listed<ProcessRule>,
    /// Which tools may be run to ask what they do.
    pub(crate) discovery: Discovery,
    /// How processes are confined.
    pub(crate) jail: Jail,
    /// PEM files with additional certificate authorities: absolute, or relative to this file.
    #[serde(deserialize_with = "unique")]
    #[schemars(extend("uniqueItems" = true))]
    pub(crate) tls_roots: Vec<String>,
    /// Limits of a call. What is omitted has its default.
    pub(crate) limits: StatedLimits,
    /// Whether a pinned skill may be started, without any capability, to ask what it is for. Default: describe.
    pub(crate) tools: Tools,
}

/// How processes are confined.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Jail {
    /// Whether processes start in the jail, or outside of it, where they can do what you can. Default: required.
    pub(crate) process: Confinement,
}

/// A mount as written: with `dir` and `mode`, or with `url`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("oneOf" = [
    {"required": ["dir", "mode"], "properties": {"url": false}},
    {"required": ["url"], "properties": {"dir": false, "mode": false}},
]))]
pub(crate) struct MountRule {
    /// Where skills see it: `/name` (a-z, 0-9, `_`, `-`), or a path below `/os`.
    pub(crate) at: MountPoint,
    /// A directory: absolute, or relative to this file. `@cli`: a flag of the command line must name it.
    #[schemars(with = "String")]
    #[serde(default)]
    dir: Option<String>,
    /// Whether it may be read only, or also written.
    #[schemars(with = "Mode")]
    #[serde(default)]
    mode: Option<Mode>,
    /// In place of `dir` and `mode`, at or below `/os`: an https URL that ends in `/`. Files are fetched from it.
    #[schemars(with = "String")]
    #[serde(default)]
    url: Option<Lined<HttpsBase>>,
}

/// Where a mount's content comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MountSource<'a> {
    /// A directory, absolute or relative to the directory of the policy file.
    Directory(&'a str),
    /// `"@cli"`: a flag must name it.
    CommandLine,
    /// An https base.
    Https(&'a Url),
}

/// Whether a mount may be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
pub(crate) enum Mode {
    #[serde(rename = "ro")]
    ReadOnly,
    #[serde(rename = "rw")]
    ReadWrite,
}

/// Where a mount may be.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(try_from = "String")]
#[schemars(extend("pattern" = "^/"))]
pub(crate) struct MountPoint(#[schemars(with = "String")] pub(crate) VirtualPath);

/// The base of an https mount.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "String")]
struct HttpsBase(Url);

/// A rule of `net`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NetRule {
    /// A URL prefix, such as `https://docs.example.org/guide/`: absolute, without query and fragment.
    pub(crate) url: Lined<UrlPrefix>,
    /// The methods that are allowed.
    #[serde(deserialize_with = "filled_and_unique")]
    #[schemars(length(min = 1), extend("uniqueItems" = true))]
    pub(crate) methods: Vec<Method>,
}

impl TryFrom<String> for MountPoint {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, &'static str> {
        let path = VirtualPath::parse(&text).ok().filter(is_mount_point);
        path.map(Self)
            .ok_or("must be `/name` (a-z, 0-9, `_`, `-`), or a path of plain names below `/os`")
    }
}

impl TryFrom<String> for HttpsBase {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        https_base(&text).map(Self)
    }
}

impl MountRule {
    pub(crate) fn source(&self) -> MountSource<'_> {
        match (&self.url, self.dir.as_deref().unwrap_or_default()) {
            (Some(url), _) => MountSource::Https(&url.value.0),
            (None, "@cli") => MountSource::CommandLine,
            (None, directory) => MountSource::Directory(directory),
        }
    }

    pub(crate) fn mode(&self) -> Mode {
        self.mode.unwrap_or(Mode::ReadOnly)
    }

    /// Checks that the members go together.
    fn check(&self, file: &str, line: u64, path: &str) -> Result<(), PolicyError> {
        let Some(url) = &self.url else {
            return match (&self.dir, self.mode) {
                (None, _) => Err(PolicyError::missing(file, line, &format!("{path}.dir"))),
                (_, None) => Err(PolicyError::missing(file, line, &format!("{path}.mode"))),
                _ => Ok(()),
            };
        };
        let rule = if self.dir.is_some() || self.mode.is_some() {
            "is an https mount, which takes neither `dir` nor `mode`"
        } else if !self.at.0.starts_with(&VirtualPath::os()) {
            "is allowed at or below `/os` only"
        } else {
            return Ok(());
        };
        Err(PolicyError::constraint(
            file,
            url.line,
            format!("{path}.url"),
            rule,
        ))
    }
}

impl Host {
    /// Checks the rules between members, and those between this section and the ceiling.
    pub(super) fn check(&self, file: &str, ceiling: &Ceiling) -> Result<(), PolicyError> {
        let broken = |line, member: &str, rule: &str| {
            let member = format!("policy.host.{member}");
            Err(PolicyError::constraint(file, line, member, rule))
        };
        for (index, mount) in self.mounts.value.iter().enumerate() {
            let path = format!("policy.host.mounts[{index}]");
            mount.value.check(file, mount.line, &path)?;
        }
        let mut places = HashSet::new();
        for Lined { line, value } in &self.mounts.value {
            let at = &value.at.0;
            if !places.insert(at) {
                let rule = format!("maps `{at}` twice, the second time at line {line}");
                return broken(self.mounts.line, "mounts", &rule);
            }
        }
        for (index, rule) in self.net.value.iter().enumerate() {
            let Lined { line, value } = &rule.value.url;
            let rule = if !matches!(value.scheme(), "http" | "https") {
                "must be http or https"
            } else if !ceiling
                .net
                .value
                .iter()
                .any(|entry| entry.value.covers(value))
            {
                "lies outside every prefix of capability_ceiling.net"
            } else {
                continue;
            };
            let rule = format!("{rule}: {:?}", value.as_str());
            return broken(*line, &format!("net[{index}].url"), &rule);
        }
        let needs_exec = "needs `exec: true` in capability_ceiling";
        for (index, Lined { line, value }) in self.process.value.iter().enumerate() {
            let path = format!("process[{index}]");
            if !ceiling.exec.value {
                return broken(*line, &path, needs_exec);
            }
            // A pattern for an interpreter is leave to run anything.
            let mut args = value.args.iter().enumerate();
            if let Some((index, pattern)) = args.find(|(_, pattern)| !pattern.value.is_literal())
                && value.program.is_interpreter()
            {
                let rule = format!(
                    "must be literal, without `*` and `...`, because {} runs what its arguments say",
                    value.program.name()
                );
                return broken(pattern.line, &format!("{path}.args[{index}]"), &rule);
            }
        }
        let run = self.discovery.run.line;
        // 0: the document has no `run`.
        if run != 0 && !ceiling.exec.value {
            return broken(run, "discovery.run", needs_exec);
        }
        Ok(())
    }
}
