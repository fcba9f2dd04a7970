//! The section `capability_ceiling`: what no grant ever exceeds, in the grammar of the original.

use std::collections::BTreeMap;

use super::field::Field;
use super::shape::{List, Member, Shape};
use super::{Lined, Listed};
use crate::VirtualPath;
use crate::error::PolicyError;
use crate::url_prefix::UrlPrefix;

/// What no grant ever exceeds. An omitted or `null` member denies.
#[derive(Clone, Debug)]
pub(crate) struct Ceiling {
    /// `fs.read`: none for a value that covers nothing, because it has a dot segment.
    pub(crate) read: Listed<Option<VirtualPath>>,
    /// `fs.write`, in the same form.
    pub(crate) write: Listed<Option<VirtualPath>>,
    pub(crate) net: Listed<UrlPrefix>,
    /// Exact names or `*`, by capability kind: `kv.read`, `queue.publish`. For core modules.
    pub(crate) names: BTreeMap<&'static str, Vec<String>>,
    /// For core modules.
    pub(crate) env: Vec<String>,
    pub(crate) exec: Lined<bool>,
    /// For core modules.
    pub(crate) time: bool,
    /// For core modules.
    pub(crate) random: bool,
}

/// What the section may have. An omitted member and one that is `null` deny.
pub(super) const CEILING: [Member; 8] = [
    Member::nullable(
        "fs",
        Shape::Map(&FS),
        "Directories that skills may read and write.",
    ),
    Member::nullable(
        "net",
        Shape::List(List::of(&Shape::Text).unique()),
        "URL prefixes that may be fetched, such as `https://docs.example.org/`: absolute, without query and fragment. \
         A rule of `host.net` is needed besides.",
    ),
    Member::nullable(
        "kv",
        Shape::Map(&KV),
        "Keys of the key-value store. For core modules.",
    ),
    Member::nullable(
        "queue",
        Shape::Map(&QUEUE),
        "Topics of queues. For core modules.",
    ),
    Member::nullable(
        "env",
        Shape::List(List::of(&Shape::Text).unique()),
        "Names of environment variables: capital letters, digits and `_`. For core modules; nothing gives a skill a \
         variable.",
    ),
    Member::nullable(
        "exec",
        Shape::Boolean,
        "Whether rules of `host.process` and `host.discovery` may start processes.",
    ),
    Member::nullable(
        "time",
        Shape::Boolean,
        "Whether core modules may read the clock.",
    ),
    Member::nullable(
        "random",
        Shape::Boolean,
        "Whether core modules get random bytes.",
    ),
];

const FS: [Member; 2] = [
    Member::nullable(
        "read",
        DIRECTORIES,
        "Virtual directories that may be read; `/os` covers all below it.",
    ),
    Member::nullable(
        "write",
        DIRECTORIES,
        "Virtual directories that may be written, in mounts with `mode: rw`; never `/os`.",
    ),
];

const KV: [Member; 2] = [
    Member::nullable("read", NAMES, "Exact names, or `*` for all."),
    Member::nullable("write", NAMES, "Exact names, or `*` for all."),
];

const QUEUE: [Member; 2] = [
    Member::nullable("publish", NAMES, "Exact names, or `*` for all."),
    Member::nullable("consume", NAMES, "Exact names, or `*` for all."),
];

const DIRECTORIES: Shape = Shape::List(List::of(&Shape::AbsolutePath).unique());
const NAMES: Shape = Shape::List(List::of(&Shape::Text).unique());

/// The members with lists of names, and the capability kind of each list.
const NAMED: [(&str, [(&str, &str); 2]); 2] = [
    ("kv", [("read", "kv.read"), ("write", "kv.write")]),
    (
        "queue",
        [("publish", "queue.publish"), ("consume", "queue.consume")],
    ),
];

impl Ceiling {
    pub(super) fn read(field: &Field<'_>) -> Result<Self, PolicyError> {
        let members = field.members()?;
        let mut read = Listed::omitted(field.line);
        let mut write = Listed::omitted(field.line);
        if let Some(fs) = members.get("fs") {
            (read.line, write.line) = (fs.line, fs.line);
            let fs = fs.members()?;
            if let Some(field) = fs.get("read") {
                read = directories(field)?;
            }
            if let Some(field) = fs.get("write") {
                write = directories(field)?;
            }
        }
        let net = match members.get("net") {
            Some(field) => prefixes(field)?,
            None => Listed::omitted(field.line),
        };
        let mut names = BTreeMap::new();
        for (member, lists) in NAMED {
            if let Some(field) = members.get(member) {
                let named = field.members()?;
                for (verb, kind) in lists {
                    if let Some(list) = named.get(verb) {
                        names.insert(kind, exact_names(list)?);
                    }
                }
            }
        }
        let mut env = Vec::new();
        if let Some(field) = members.get("env") {
            for (name, item) in field.unique_texts()? {
                environment_name(name, &item)?;
                env.push(name.to_owned());
            }
        }
        let switch = |name| match members.get(name) {
            Some(field) => Ok(Lined {
                line: field.line,
                value: field.boolean()?,
            }),
            None => Ok(Lined {
                line: field.line,
                value: false,
            }),
        };
        Ok(Self {
            read,
            write,
            net,
            names,
            env,
            exec: switch("exec")?,
            time: switch("time")?.value,
            random: switch("random")?.value,
        })
    }
}

/// Reads directories: each must begin with `/`, and none may occur twice.
fn directories(field: &Field<'_>) -> Result<Listed<Option<VirtualPath>>, PolicyError> {
    let mut items = Vec::new();
    for (text, item) in field.unique_texts()? {
        if !text.starts_with('/') {
            return Err(item.constraint(format!("must begin with `/`, not {text:?}")));
        }
        items.push(Lined {
            line: item.line,
            value: VirtualPath::normalise(text).ok(),
        });
    }
    Ok(Listed {
        line: field.line,
        items,
    })
}

/// Reads URL prefixes; none may occur twice.
fn prefixes(field: &Field<'_>) -> Result<Listed<UrlPrefix>, PolicyError> {
    let mut items = Vec::new();
    for (text, item) in field.unique_texts()? {
        items.push(Lined {
            line: item.line,
            value: prefix(text, &item)?,
        });
    }
    Ok(Listed {
        line: field.line,
        items,
    })
}

pub(super) fn prefix(text: &str, field: &Field<'_>) -> Result<UrlPrefix, PolicyError> {
    if text.contains('*') {
        let rule = "has no wildcards: name each host, such as \"https://a.example.com/\"; a prefix covers every path below it";
        return Err(field.constraint(format!("{rule}: {text:?}")));
    }
    UrlPrefix::parse(text).map_err(|fault| field.constraint(format!("{fault}: {text:?}")))
}

/// Reads names or `*`; none may be empty or occur twice.
fn exact_names(field: &Field<'_>) -> Result<Vec<String>, PolicyError> {
    let mut names = Vec::new();
    for (text, item) in field.unique_texts()? {
        if text.is_empty() {
            return Err(item.constraint("must be a name or `*`, not empty"));
        }
        names.push(text.to_owned());
    }
    Ok(names)
}

/// Checks the name of an environment variable.
pub(super) fn environment_name(name: &str, field: &Field<'_>) -> Result<(), PolicyError> {
    if is_environment_name(name) {
        Ok(())
    } else {
        Err(field.constraint(format!(
            "must be named with capital letters, digits and `_`, not {name:?}"
        )))
    }
}

/// Whether a text is the name of a variable, `^[A-Z_][A-Z0-9_]*$`.
pub(crate) fn is_environment_name(name: &str) -> bool {
    let upper = |character: char| character.is_ascii_uppercase() || character == '_';
    name.starts_with(upper)
        && name
            .chars()
            .all(|character| upper(character) || character.is_ascii_digit())
}
