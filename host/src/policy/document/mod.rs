//! The policy document: its members, their types, and the rules that need nothing but the document (TP-04 to TP-38).
//!
//! Every rule keeps the line it came from, because a decision is worth little without the line that made it. No file is
//! opened and no program looked up here.

mod field;
mod host;
mod nearest;
mod process;

use field::Field;
pub(super) use host::{Host, Mode, MountRule, MountSource, NetRule};
pub(super) use process::ProcessRule;

use super::VirtualPath;
use super::error::PolicyError;
use super::text::{self, Node};
use super::url_prefix::UrlPrefix;

/// A value and the line it stands on.
#[derive(Clone, Debug)]
pub(super) struct Lined<T> {
    pub(super) line: u64,
    pub(super) value: T,
}

/// The items of a list and the line of the list's name; of an omitted list, the line of what would hold it.
#[derive(Clone, Debug)]
pub(super) struct Listed<T> {
    pub(super) line: u64,
    pub(super) items: Vec<Lined<T>>,
}

impl<T> Listed<T> {
    fn omitted(line: u64) -> Self {
        Self {
            line,
            items: Vec::new(),
        }
    }
}

/// A whole policy document.
#[derive(Clone, Debug)]
pub(super) struct Document {
    pub(super) trusted_signers: Vec<String>,
    pub(super) ceiling: Ceiling,
    pub(super) host: Host,
}

/// What no grant ever exceeds. The parts for core modules are checked and not kept.
#[derive(Clone, Debug)]
pub(super) struct Ceiling {
    /// `fs.read`: none for a value that covers nothing, because it has a dot segment (TC-01).
    pub(super) read: Listed<Option<VirtualPath>>,
    pub(super) net: Listed<UrlPrefix>,
    pub(super) exec: Lined<bool>,
}

impl Document {
    /// Reads and checks a document; `file` is its name in messages.
    pub(super) fn parse(file: &str, bytes: &[u8]) -> Result<Self, PolicyError> {
        let place = |line| super::Place {
            file: file.to_owned(),
            line,
        };
        let root: Node = text::read(bytes).map_err(|located| PolicyError::Document {
            place: place(located.line),
            fault: located.fault,
        })?;
        let members = Field::root(file, &root).members(&[
            "version",
            "trusted_signers",
            "capability_ceiling",
            "host",
        ])?;
        members.required("version")?.version()?;
        let trusted_signers = trusted_signers(members.required("trusted_signers")?)?;
        let ceiling = Ceiling::read(members.required("capability_ceiling")?)?;
        let host = match members.get("host") {
            Some(host) => Host::read(host, &ceiling)?,
            None => Host::omitted(root.line),
        };
        Ok(Self {
            trusted_signers,
            ceiling,
            host,
        })
    }
}

/// TP-05.
fn trusted_signers(field: &Field<'_>) -> Result<Vec<String>, PolicyError> {
    field.filled_list()?;
    Ok(field
        .unique_texts()?
        .into_iter()
        .map(|(name, _)| name.to_owned())
        .collect())
}

impl Ceiling {
    /// TP-06 to TP-11.
    fn read(field: &Field<'_>) -> Result<Self, PolicyError> {
        let members =
            field.members(&["fs", "net", "kv", "queue", "env", "exec", "time", "random"])?;
        let mut read = Listed::omitted(field.line);
        if let Some(fs) = members.get_unless_null("fs") {
            read.line = fs.line;
            let fs = fs.members(&["read", "write"])?;
            if let Some(field) = fs.get_unless_null("read") {
                read = directories(field)?;
            }
            if let Some(field) = fs.get_unless_null("write") {
                directories(field)?;
            }
        }
        let net = match members.get_unless_null("net") {
            Some(field) => prefixes(field)?,
            None => Listed::omitted(field.line),
        };
        for (member, verbs) in [("kv", ["read", "write"]), ("queue", ["publish", "consume"])] {
            if let Some(field) = members.get_unless_null(member) {
                let named = field.members(&verbs)?;
                for list in verbs.iter().filter_map(|verb| named.get_unless_null(verb)) {
                    names(list)?;
                }
            }
        }
        if let Some(field) = members.get_unless_null("env") {
            for (name, item) in field.unique_texts()? {
                environment_name(name, &item)?;
            }
        }
        let mut exec = Lined {
            line: field.line,
            value: false,
        };
        for switch in ["exec", "time", "random"] {
            if let Some(field) = members.get_unless_null(switch) {
                let value = field.boolean()?;
                if switch == "exec" {
                    exec = Lined {
                        line: field.line,
                        value,
                    };
                }
            }
        }
        Ok(Self { read, net, exec })
    }
}

/// TP-07.
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

/// TP-08.
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

fn prefix(text: &str, field: &Field<'_>) -> Result<UrlPrefix, PolicyError> {
    UrlPrefix::parse(text).map_err(|fault| field.constraint(format!("{fault}: {text:?}")))
}

/// TP-09.
fn names(field: &Field<'_>) -> Result<(), PolicyError> {
    for (text, item) in field.unique_texts()? {
        if text.is_empty() {
            return Err(item.constraint("must be a name or `*`, not empty"));
        }
    }
    Ok(())
}

/// TP-10.
fn environment_name(name: &str, field: &Field<'_>) -> Result<(), PolicyError> {
    let upper = |character: char| character.is_ascii_uppercase() || character == '_';
    let valid = name.starts_with(upper)
        && name
            .chars()
            .all(|character| upper(character) || character.is_ascii_digit());
    if valid {
        Ok(())
    } else {
        Err(field.constraint(format!(
            "must be named with capital letters, digits and `_`, not {name:?}"
        )))
    }
}

#[cfg(test)]
mod tests;
