//! The section `capability_ceiling`: what no grant ever exceeds, in the grammar of the original.

use schemars::{JsonSchema, Schema};
use serde::Deserialize;

use super::read::{Lined, Listed, unique};
use crate::VirtualPath;
use crate::url_prefix::UrlPrefix;

/// The types whose members deny where they are `null`, as if they were absent.
pub(super) const NULLABLE: [&str; 4] = ["Ceiling", "Directories", "Keys", "Topics"];

/// What may be allowed at all. What is omitted or `null` is denied; `{}` denies everything.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(transform = or_null)]
pub(crate) struct Ceiling {
    /// Directories that skills may read and write.
    pub(crate) fs: Directories,
    /// URL prefixes that may be fetched, such as `https://docs.example.org/`: absolute, without query and fragment. A rule of
    /// `host.net` is needed besides.
    #[serde(deserialize_with = "unique")]
    #[schemars(extend("uniqueItems" = true))]
    pub(crate) net: Listed<UrlPrefix>,
    /// Keys of the key-value store. For core modules.
    pub(crate) kv: Keys,
    /// Topics of queues. For core modules.
    pub(crate) queue: Topics,
    /// Names of environment variables: capital letters, digits and `_`. For core modules; nothing gives a skill a variable.
    #[serde(deserialize_with = "unique")]
    #[schemars(extend("uniqueItems" = true))]
    pub(crate) env: Vec<Variable>,
    /// Whether rules of `host.process` and `host.discovery` may start processes.
    pub(crate) exec: Lined<bool>,
    /// Whether core modules may read the clock.
    pub(crate) time: bool,
    /// Whether core modules get random bytes.
    pub(crate) random: bool,
}

/// The directories of the ceiling.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(transform = or_null)]
pub(crate) struct Directories {
    /// Virtual directories that may be read; `/os` covers all below it.
    #[serde(deserialize_with = "unique")]
    #[schemars(extend("uniqueItems" = true))]
    pub(crate) read: Listed<Directory>,
    /// Virtual directories that may be written, in mounts with `mode: rw`; never `/os`.
    #[serde(deserialize_with = "unique")]
    #[schemars(extend("uniqueItems" = true))]
    pub(crate) write: Listed<Directory>,
}

/// The keys of the ceiling.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(transform = or_null)]
pub(crate) struct Keys {
    /// Exact names, or `*` for all.
    #[serde(deserialize_with = "unique")]
    #[schemars(extend("uniqueItems" = true))]
    pub(crate) read: Vec<Name>,
    /// Exact names, or `*` for all.
    #[serde(deserialize_with = "unique")]
    #[schemars(extend("uniqueItems" = true))]
    pub(crate) write: Vec<Name>,
}

/// The topics of the ceiling.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(transform = or_null)]
pub(crate) struct Topics {
    /// Exact names, or `*` for all.
    #[serde(deserialize_with = "unique")]
    #[schemars(extend("uniqueItems" = true))]
    pub(crate) publish: Vec<Name>,
    /// Exact names, or `*` for all.
    #[serde(deserialize_with = "unique")]
    #[schemars(extend("uniqueItems" = true))]
    pub(crate) consume: Vec<Name>,
}

/// A directory of the ceiling: none for a value that covers nothing, because it has a dot segment.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(try_from = "String")]
#[schemars(extend("pattern" = "^/"))]
pub(crate) struct Directory(#[schemars(with = "String")] pub(crate) Option<VirtualPath>);

/// The name of an environment variable, `^[A-Z_][A-Z0-9_]*$`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, JsonSchema)]
#[serde(try_from = "String")]
pub(crate) struct Variable(pub(crate) String);

/// An exact name, or `*` for all.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(try_from = "String")]
pub(crate) struct Name(pub(crate) String);

impl TryFrom<String> for Directory {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        if !text.starts_with('/') {
            return Err(format!("must begin with `/`, not {text:?}"));
        }
        Ok(Self(VirtualPath::normalise(&text).ok()))
    }
}

impl TryFrom<String> for Variable {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        if !is_environment_name(&text) {
            return Err(format!(
                "must be named with capital letters, digits and `_`, not {text:?}"
            ));
        }
        Ok(Self(text))
    }
}

impl TryFrom<String> for Name {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, &'static str> {
        if text.is_empty() {
            return Err("must be a name or `*`, not empty");
        }
        Ok(Self(text))
    }
}

impl TryFrom<String> for UrlPrefix {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let rule = if text.contains('*') {
            "has no wildcards: name each host, such as \"https://a.example.com/\"; a prefix covers every path below it"
        } else {
            match Self::parse(&text) {
                Ok(prefix) => return Ok(prefix),
                Err(rule) => rule,
            }
        };
        Err(format!("{rule}: {text:?}"))
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

/// Lets each member also be `null`.
fn or_null(schema: &mut Schema) {
    let members = schema.get_mut("properties");
    for member in members
        .and_then(|all| all.as_object_mut())
        .into_iter()
        .flatten()
    {
        if let Some(kind) = member.1.get_mut("type") {
            *kind = serde_json::json!([kind.take(), "null"]);
        }
    }
}
