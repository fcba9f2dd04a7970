//! The answers of a grant: what exactly was allowed.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Deserialize;
use url::Url;

use crate::url_prefix::names_its_address;
use crate::{AllowedPath, MountHandle, VirtualPath};

/// Where a readable path lies.
#[derive(Clone, Debug)]
pub enum Location {
    /// In a mounted directory.
    Directory(AllowedPath),
    /// Behind an https mount. Reading it is a fetch, which the grant must allow as well.
    Https {
        /// The base and the canonically encoded rest. Never shown.
        url: Url,
    },
}

impl Location {
    /// The same under a rule that names `directory`, which holds the path. What lies behind a URL has no links.
    #[must_use]
    pub(super) fn under(self, directory: &VirtualPath) -> Self {
        match self {
            Self::Directory(path) => Self::Directory(path.under(directory)),
            Self::Https { .. } => self,
        }
    }
}

/// Leave to write a path. That no component of it is a link is for the write itself to ensure.
#[derive(Clone, Debug)]
pub struct WriteLeave {
    /// The mount; everything is opened beneath its handle.
    pub mount: MountHandle,
    /// The path below the mount, without a leading slash; `""` is the mount itself.
    pub relative: String,
}

/// The method of an HTTP request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
pub enum Method {
    /// `GET`
    Get,
    /// `HEAD`
    Head,
    /// `POST`
    Post,
    /// `PUT`
    Put,
    /// `PATCH`
    Patch,
    /// `DELETE`
    Delete,
}

impl Method {
    /// Every method a policy can name.
    pub const ALL: [Self; 6] = [
        Self::Get,
        Self::Head,
        Self::Post,
        Self::Put,
        Self::Patch,
        Self::Delete,
    ];

    /// The method as it is sent and as a policy names it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Head => "HEAD",
            Self::Post => "POST",
            Self::Put => "PUT",
            Self::Patch => "PATCH",
            Self::Delete => "DELETE",
        }
    }
}

impl fmt::Display for Method {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// Which addresses a request may connect to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Public addresses only.
    Public,
    /// The policy names the URL's host as a literal address or `localhost`: what that host is, and only that.
    Named,
    /// The operator's configuration names this very host and port: whatever its name leads to (`allow_private`).
    Any,
}

impl Reach {
    /// What a URL reaches that a prefix covers: a prefix matches its own host only, so it names what the URL names.
    pub(crate) fn of(url: &Url) -> Self {
        if names_its_address(url) {
            Self::Named
        } else {
            Self::Public
        }
    }
}

/// Where a child runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Confinement {
    /// In the jail, or not at all.
    #[default]
    Required,
    /// Outside: the policy says `jail: {process: unjailed}`.
    Unjailed,
}

/// What runs the tools of one ending.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Runner {
    /// The program's file, without links; none if it was not installed when the policy was loaded.
    pub executable: Option<PathBuf>,
    /// What follows `argv[0]`, before the tool's path.
    pub arguments: Vec<String>,
}

/// Leave to ask a tool for its description.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolLeave {
    /// By ending, dot included: `.py`. For tools without an execute bit.
    pub runners: BTreeMap<String, Runner>,
    /// Added to the fixed environment of a tool.
    pub env: BTreeMap<String, String>,
    /// Where it runs. Means nothing for a `.wasm` name, which is described and not started.
    pub confinement: Confinement,
}

impl ToolLeave {
    /// Whether it runs in the jail, or not at all.
    pub fn is_confined(&self) -> bool {
        self.confinement == Confinement::Required
    }
}

/// Leave to start a program.
#[derive(Clone, Debug)]
pub struct ProgramLeave {
    /// The file that was found when the policy was loaded, without links.
    pub executable: PathBuf,
    /// The files of all programs that the policy's rules name, without links: what the child itself may start.
    pub others: Vec<PathBuf>,
    /// The working directory. A child sees all mounts, so this takes the rule's `cwd` and no `fs.read` of the
    /// manifest.
    pub directory: AllowedPath,
    /// Added to the fixed environment.
    pub env: BTreeMap<String, String>,
    /// Whether the child has a network. Unjailed that of the host, in the jail `egress`.
    pub network: bool,
    /// What a jailed child with a network reaches: `host:port`, and whether by plain http. The rules of `host.net` that
    /// cover all of a host, as far as every layer has them; a tunnel has neither paths nor methods.
    pub egress: Vec<(String, bool)>,
    /// Virtual directories the child may write below.
    pub writable: Vec<VirtualPath>,
    /// Where it runs.
    pub confinement: Confinement,
}
