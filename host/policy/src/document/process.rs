//! The rules that start processes: `host.process` and `host.discovery`.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::de::{Error as _, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::ceiling::Variable;
use super::read::{Lined, Listed, filled};
use crate::VirtualPath;
use crate::program::{Arguments, Program};

/// A rule of `process`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ProcessRule {
    /// A bare name, looked up in /usr/local/bin, /usr/bin and /bin when the policy is loaded, or an absolute path.
    pub(crate) program: Program,
    /// Lists of arguments, one of which must match. `*` stands for any characters of that argument, `\*` for a star, a last
    /// `...` for any further arguments. `[]`: no arguments.
    #[serde(deserialize_with = "filled")]
    #[schemars(length(min = 1))]
    pub(crate) args: Vec<Lined<Arguments>>,
    /// Virtual directories; the working directory is one of them or lies below.
    #[serde(deserialize_with = "filled_directories")]
    #[schemars(with = "Vec<Directory>", length(min = 1))]
    pub(crate) cwd: Vec<VirtualPath>,
    /// Variables that are added to the fixed environment; nothing is inherited.
    #[serde(default, deserialize_with = "environment")]
    #[schemars(schema_with = "environment_schema")]
    pub(crate) env: BTreeMap<String, String>,
    /// Whether the program reaches the hosts of `host.net`. Default: false.
    #[serde(default)]
    pub(crate) network: bool,
    /// Directories in mounts with `mode: rw` that it may write below. Default: none.
    #[serde(default, deserialize_with = "directories")]
    #[schemars(with = "Vec<Directory>")]
    pub(crate) writable: Vec<VirtualPath>,
}

/// Which tools may be run to ask what they do.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Discovery {
    /// Virtual directories at or below `/os`. Tools in them are run to ask what they do. Needs `exec: true` in the ceiling.
    pub(crate) run: Listed<ToolDirectory>,
    /// Programs that run tools which are not executable, by the ending of the tool's name.
    pub(crate) runners: Runners,
    /// Whether tools that were fetched over HTTP are asked too. Default: false.
    pub(crate) remote: Lined<bool>,
    /// Variables that are added to the fixed environment; nothing is inherited.
    #[serde(deserialize_with = "environment")]
    #[schemars(schema_with = "environment_schema")]
    pub(crate) env: BTreeMap<String, String>,
}

/// The runners by the endings that they are for.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Runners {
    /// The program, and the arguments before the path of the tool.
    #[serde(rename = ".ts")]
    #[schemars(with = "Vec<String>", length(min = 1))]
    ts: Option<Lined<RunnerRule>>,
    /// The program, and the arguments before the path of the tool.
    #[serde(rename = ".js")]
    #[schemars(with = "Vec<String>", length(min = 1))]
    js: Option<Lined<RunnerRule>>,
    /// The program, and the arguments before the path of the tool.
    #[serde(rename = ".py")]
    #[schemars(with = "Vec<String>", length(min = 1))]
    py: Option<Lined<RunnerRule>>,
    /// The program, and the arguments before the path of the tool.
    #[serde(rename = ".sh")]
    #[schemars(with = "Vec<String>", length(min = 1))]
    sh: Option<Lined<RunnerRule>>,
}

/// A program that runs tools of one ending, and the arguments before the tool's path.
#[derive(Clone, Debug)]
pub(crate) struct RunnerRule {
    pub(crate) program: Program,
    pub(crate) arguments: Vec<String>,
}

/// A virtual directory.
#[derive(Deserialize, JsonSchema)]
#[serde(try_from = "String")]
#[schemars(extend("pattern" = "^/"))]
struct Directory(#[schemars(with = "String")] VirtualPath);

/// A virtual directory at or below `/os`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(try_from = "String")]
#[schemars(extend("pattern" = "^/"))]
pub(crate) struct ToolDirectory(#[schemars(with = "String")] pub(crate) VirtualPath);

impl Runners {
    /// The endings of the runners that the document has, their lines, and what they run.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&'static str, u64, &RunnerRule)> {
        let all = [
            (".ts", &self.ts),
            (".js", &self.js),
            (".py", &self.py),
            (".sh", &self.sh),
        ];
        all.into_iter().filter_map(|(ending, runner)| {
            let Lined { line, value } = runner.as_ref()?;
            Some((ending, *line, value))
        })
    }
}

impl<'de> Deserialize<'de> for RunnerRule {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Words;
        impl<'de> Visitor<'de> for Words {
            type Value = RunnerRule;

            fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.write_str("a program and its arguments")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut words: A) -> Result<RunnerRule, A::Error> {
                let program = words.next_element()?;
                let program = program.ok_or_else(|| A::Error::custom("must be non-empty"))?;
                let mut arguments = Vec::new();
                while let Some(argument) = words.next_element()? {
                    arguments.push(argument);
                }
                Ok(RunnerRule { program, arguments })
            }
        }
        deserializer.deserialize_seq(Words)
    }
}

impl TryFrom<String> for Program {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        Self::parse(&text).map_err(|rule| format!("{rule}, not {text:?}"))
    }
}

impl TryFrom<String> for Directory {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, &'static str> {
        let path = VirtualPath::parse(&text);
        path.map(Self)
            .map_err(|_| "must be a virtual directory such as `/workspace`")
    }
}

impl TryFrom<String> for ToolDirectory {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, &'static str> {
        let path = VirtualPath::parse(&text).ok();
        path.filter(|path| path.starts_with(&VirtualPath::os()))
            .map(Self)
            .ok_or("must be a virtual directory at or below `/os`")
    }
}

/// Reads virtual directories.
fn directories<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<VirtualPath>, D::Error> {
    let directories = Vec::<Directory>::deserialize(deserializer)?;
    Ok(directories
        .into_iter()
        .map(|directory| directory.0)
        .collect())
}

/// Reads at least one virtual directory.
fn filled_directories<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Vec<VirtualPath>, D::Error> {
    let directories: Vec<Directory> = filled(deserializer)?;
    Ok(directories
        .into_iter()
        .map(|directory| directory.0)
        .collect())
}

/// Reads environment variables: capital names and their values.
fn environment<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<BTreeMap<String, String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(try_from = "String")]
    struct Content(String);
    impl TryFrom<String> for Content {
        type Error = &'static str;

        fn try_from(text: String) -> Result<Self, &'static str> {
            let content = Some(text).filter(|text| !text.contains('\0'));
            content.map(Self).ok_or("must not hold a NUL")
        }
    }
    let variables = BTreeMap::<Variable, Content>::deserialize(deserializer)?;
    let variables = variables.into_iter();
    Ok(variables
        .map(|(name, content)| (name.0, content.0))
        .collect())
}

fn environment_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({
        "type": "object",
        "patternProperties": {"^[A-Z_][A-Z0-9_]*$": {"type": "string"}},
        "additionalProperties": false,
    })
}
