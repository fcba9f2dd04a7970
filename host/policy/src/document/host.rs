//! The section `host`: what components get, with its mounts, URLs, limits and switches.

use std::collections::HashSet;

use url::Url;

use super::field::{Field, Members};
use super::process::{DISCOVERY, Discovery, PROCESS, ProcessRule};
use super::shape::{List, Member, Shape};
use super::{Ceiling, Lined, Listed, prefix};
use crate::error::PolicyError;
use crate::grant::{Confinement, Method};
use crate::limits::{Limits, MAXIMA};
use crate::mount::{https_base, is_mount_point};
use crate::url_prefix::UrlPrefix;
use crate::{Tools, VirtualPath};

/// The section, with the defaults of what it omits.
#[derive(Clone, Debug)]
pub(crate) struct Host {
    pub(crate) mounts: Listed<MountRule>,
    /// Whether the document has `mounts`, be it an empty list: in a tenant or run layer what it omits is then not
    /// mounted.
    pub(crate) lists_mounts: bool,
    pub(crate) net: Listed<NetRule>,
    pub(crate) process: Listed<ProcessRule>,
    pub(crate) discovery: Discovery,
    pub(crate) confinement: Confinement,
    /// As written: absolute, or relative to the directory of the policy file.
    pub(crate) tls_roots: Vec<String>,
    /// What the document omits is the default.
    pub(crate) limits: Limits,
    /// The same limits, where what the document omits is the maximum: it restricts nothing.
    pub(crate) limits_at_most: Limits,
    pub(crate) tools: Tools,
}

/// A mount as written.
#[derive(Clone, Debug)]
pub(crate) struct MountRule {
    pub(crate) at: VirtualPath,
    pub(crate) source: MountSource,
    pub(crate) mode: Mode,
}

/// Where a mount's content comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum MountSource {
    /// A directory, absolute or relative to the directory of the policy file.
    Directory(String),
    /// `"@cli"`: a flag must name it.
    CommandLine,
    /// An https base.
    Https(Url),
}

/// Whether a mount may be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    ReadOnly,
    ReadWrite,
}

/// A rule of `net`.
#[derive(Clone, Debug)]
pub(crate) struct NetRule {
    pub(crate) prefix: UrlPrefix,
    pub(crate) methods: Vec<Method>,
}

/// What the section may have.
pub(super) const HOST: [Member; 8] = [
    Member::optional(
        "mounts",
        Shape::List(List::of(&Shape::Either(
            &MOUNT,
            &[&["dir", "mode"], &["url"]],
        ))),
        "What skills see as files: directories, and at or below `/os` also HTTPS servers. In a tenant or run layer, what \
         the list omits is not mounted.",
    ),
    Member::optional(
        "net",
        Shape::List(List::of(&Shape::Map(&NET))),
        "URLs that skills may fetch. Each must lie below an entry of `capability_ceiling.net`.",
    ),
    Member::optional(
        "process",
        Shape::List(List::of(&Shape::Map(&PROCESS))),
        "Programs that skills may start. Needs `exec: true` in the ceiling.",
    ),
    Member::optional(
        "discovery",
        Shape::Map(&DISCOVERY),
        "Which tools may be run to ask what they do.",
    ),
    Member::optional("jail", Shape::Map(&JAIL), "How processes are confined."),
    Member::optional(
        "tls_roots",
        Shape::List(List::of(&Shape::Text).unique()),
        "PEM files with additional certificate authorities: absolute, or relative to this file.",
    ),
    Member::optional(
        "limits",
        Shape::Map(&Limits::MEMBERS),
        "Limits of a call. What is omitted has its default.",
    ),
    Member::optional(
        "tools",
        Shape::Word(|| names(&TOOLS)),
        "Whether a pinned skill may be started, without any capability, to ask what it is for. Default: describe.",
    ),
];

const MOUNT: [Member; 4] = [
    Member::required(
        "at",
        Shape::AbsolutePath,
        "Where skills see it: `/name` (a-z, 0-9, `_`, `-`), or a path below `/os`.",
    ),
    Member::optional(
        "dir",
        Shape::Text,
        "A directory: absolute, or relative to this file. `@cli`: a flag of the command line must name it.",
    ),
    Member::optional(
        "mode",
        Shape::Word(|| names(&MODES)),
        "Whether it may be read only, or also written.",
    ),
    Member::optional(
        "url",
        Shape::Text,
        "In place of `dir` and `mode`, at or below `/os`: an https URL that ends in `/`. Files are fetched from it.",
    ),
];

const NET: [Member; 2] = [
    Member::required(
        "url",
        Shape::Text,
        "A URL prefix, such as `https://docs.example.org/guide/`: absolute, without query and fragment.",
    ),
    Member::required(
        "methods",
        Shape::List(List::of(&METHODS).filled().unique()),
        "The methods that are allowed.",
    ),
];

const METHODS: Shape = Shape::Word(|| Method::ALL.map(Method::as_str).to_vec());

const JAIL: [Member; 1] = [Member::optional(
    "process",
    Shape::Word(|| names(&CONFINEMENTS)),
    "Whether processes start in the jail, or outside of it, where they can do what you can. Default: required.",
)];

const MODES: [(&str, Mode); 2] = [("ro", Mode::ReadOnly), ("rw", Mode::ReadWrite)];
const CONFINEMENTS: [(&str, Confinement); 2] = [
    ("required", Confinement::Required),
    ("unjailed", Confinement::Unjailed),
];
const TOOLS: [(&str, Tools); 2] = [("describe", Tools::Describe), ("skip", Tools::Skip)];

fn names<T>(words: &[(&'static str, T)]) -> Vec<&'static str> {
    words.iter().map(|(word, _)| *word).collect()
}

impl Host {
    /// The section of a document that has none: components get nothing.
    pub(super) fn omitted(line: u64) -> Self {
        Self {
            mounts: Listed::omitted(line),
            lists_mounts: false,
            net: Listed::omitted(line),
            process: Listed::omitted(line),
            discovery: Discovery::omitted(line),
            confinement: Confinement::Required,
            tls_roots: Vec::new(),
            limits: Limits::default(),
            limits_at_most: MAXIMA,
            tools: Tools::Describe,
        }
    }

    pub(super) fn read(field: &Field<'_>, ceiling: &Ceiling) -> Result<Self, PolicyError> {
        let members = field.members()?;
        let mut host = Self::omitted(field.line);
        if let Some(field) = members.get("mounts") {
            host.mounts = listed(field, MountRule::read)?;
            host.lists_mounts = true;
            unique_mount_points(field, &host.mounts)?;
        }
        if let Some(field) = members.get("net") {
            host.net = listed(field, |item| NetRule::read(item, ceiling))?;
        }
        if let Some(field) = members.get("process") {
            host.process = listed(field, |item| ProcessRule::read(item, ceiling))?;
        }
        if let Some(field) = members.get("discovery") {
            host.discovery = Discovery::read(field, ceiling)?;
        }
        if let Some(field) = members.get("jail")
            && let Some(process) = field.members()?.get("process")
        {
            host.confinement = process.word(&CONFINEMENTS)?;
        }
        if let Some(field) = members.get("tls_roots") {
            let files = field.unique_texts()?;
            host.tls_roots = files.into_iter().map(|(file, _)| file.to_owned()).collect();
        }
        if let Some(field) = members.get("limits") {
            host.read_limits(&field.members()?)?;
        }
        if let Some(field) = members.get("tools") {
            host.tools = field.word(&TOOLS)?;
        }
        Ok(host)
    }

    /// Reads limits: each is a positive number, at most the host's maximum.
    fn read_limits(&mut self, members: &Members<'_>) -> Result<(), PolicyError> {
        let mut maxima = MAXIMA;
        for Member { name, .. } in &Limits::MEMBERS {
            let limits = (self.limits.named(name), self.limits_at_most.named(name));
            if let (Some(field), (Some(limit), Some(at_most)), Some(maximum)) =
                (members.get(name), limits, maxima.named(name))
            {
                *limit = field.positive(*maximum)?;
                *at_most = *limit;
            }
        }
        Ok(())
    }
}

impl MountRule {
    fn read(field: &Field<'_>) -> Result<Self, PolicyError> {
        let members = field.members()?;
        let field = members.required("at")?;
        let at = VirtualPath::parse(field.text()?)
            .ok()
            .filter(is_mount_point)
            .ok_or_else(|| {
                field.constraint(
                    "must be `/name` (a-z, 0-9, `_`, `-`), or a path of plain names below `/os`",
                )
            })?;
        let Some(url) = members.get("url") else {
            let source = match members.required("dir")?.text()? {
                "@cli" => MountSource::CommandLine,
                directory => MountSource::Directory(directory.to_owned()),
            };
            return Ok(Self {
                at,
                source,
                mode: members.required("mode")?.word(&MODES)?,
            });
        };
        if members.get("dir").is_some() || members.get("mode").is_some() {
            return Err(url.constraint("is an https mount, which takes neither `dir` nor `mode`"));
        }
        if at.segments().next() != Some("os") {
            return Err(url.constraint("is allowed at or below `/os` only"));
        }
        let base = https_base(url.text()?).map_err(|rule| url.constraint(rule))?;
        Ok(Self {
            at,
            source: MountSource::Https(base),
            mode: Mode::ReadOnly,
        })
    }
}

fn unique_mount_points(field: &Field<'_>, mounts: &Listed<MountRule>) -> Result<(), PolicyError> {
    let mut seen = HashSet::new();
    match mounts
        .items
        .iter()
        .find(|rule| !seen.insert(&rule.value.at))
    {
        Some(rule) => Err(field.constraint(format!(
            "maps `{}` twice, the second time at line {}",
            rule.value.at, rule.line
        ))),
        None => Ok(()),
    }
}

impl NetRule {
    fn read(field: &Field<'_>, ceiling: &Ceiling) -> Result<Self, PolicyError> {
        let members = field.members()?;
        let url = members.required("url")?;
        let prefix = prefix(url.text()?, url)?;
        if !matches!(prefix.scheme(), "http" | "https") {
            return Err(url.constraint(format!("must be http or https: {:?}", prefix.as_str())));
        }
        if !ceiling
            .net
            .items
            .iter()
            .any(|allowed| allowed.value.covers(&prefix))
        {
            return Err(url.constraint(format!(
                "lies outside every prefix of capability_ceiling.net: {:?}",
                prefix.as_str()
            )));
        }
        let list = members.required("methods")?;
        list.filled_list()?;
        let words = Method::ALL.map(|method| (method.as_str(), method));
        let methods: Result<_, _> = list
            .unique_texts()?
            .iter()
            .map(|(_, item)| item.word(&words))
            .collect();
        Ok(Self {
            prefix,
            methods: methods?,
        })
    }
}

pub(super) fn listed<T>(
    field: &Field<'_>,
    read: impl Fn(&Field<'_>) -> Result<T, PolicyError>,
) -> Result<Listed<T>, PolicyError> {
    let mut items = Vec::new();
    for item in field.list()? {
        items.push(Lined {
            line: item.line,
            value: read(&item)?,
        });
    }
    Ok(Listed {
        line: field.line,
        items,
    })
}
