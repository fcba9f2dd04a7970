//! The table `[hydrate]` of the configuration.
//!
//! A key that is not known is a warning; a value of the wrong type or range is a problem that names key and file, and the
//! default stands in its place. Who calls decides what a problem means.

mod reader;

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;
use toml::Value;
use url::Url;

use self::reader::{Notes, Reader};

/// Where the files for subagents lie, unless said otherwise: a directory of this user's own, for the first one who makes it
/// keeps all others out.
pub(super) fn default_tmp_dir() -> PathBuf {
    let user = rustix::process::geteuid().as_raw();
    format!("/tmp/claude-hydrator-{user}").into()
}

/// Milliseconds of a whole run.
pub const MAX_BUDGET_MS: u64 = 15_000;

/// How prompts are hydrated: what `[hydrate]` says.
///
/// The schema for editors is made of these types; a test holds it against what [`Settings::read`] takes.
#[derive(Debug, Clone, JsonSchema)]
#[schemars(default, deny_unknown_fields)]
#[schemars(description = "How prompts are hydrated.")]
pub struct Settings {
    /// `false`: the hook answers and does nothing.
    pub enabled: bool,
    /// How the plan reaches the agent.
    pub mode: Mode,
    /// Directory for the files that subagents read; absolute. Default: `/tmp/claude-hydrator-UID`, with the number of the user.
    // The default is that of the user, and so is not in the schema.
    #[schemars(transform = without_default)]
    pub tmp_dir: PathBuf,
    /// Model of the subagent: 1 to 64 letters, digits or `._:/-`.
    pub model: String,
    /// What tasks are tracked in, 1 to 40 letters, digits or `._-`; `none` leaves those steps out.
    pub tracker: String,
    /// Name of the agent's list of tasks, 1 to 40 letters, digits or `._-`.
    pub task_tool: String,
    /// Tokens of each section that is gathered; a token is 4 characters.
    pub budgets: SectionBudgets,
    /// Milliseconds from the start of the process to its end, 1,000 to 15,000.
    #[schemars(range(min = 1000, max = MAX_BUDGET_MS))]
    pub budget_ms: u64,
    /// Items of a plan, 1 to 12.
    #[schemars(range(min = 1, max = 12))]
    pub max_todos: u64,
    /// Directory with the catalogue of workflows, relative to the file. Default: the one in the program.
    pub catalog: Option<PathBuf>,
    /// Packs of further workflows in the catalogue, such as `extended`.
    pub packs: Vec<String>,
    /// Files that replace the templates in the program.
    pub templates: TemplateFiles,
    /// Where remembered text comes from.
    pub memory: MemorySettings,
    /// A language model that may improve the plan. Default: none.
    pub llm: Option<LlmSettings>,
}

/// How the plan reaches the agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// A subagent reads the file and plans.
    Subagent,
    /// The plan itself is the context.
    Inline,
}

/// Tokens of each gathered section.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema)]
#[schemars(deny_unknown_fields, transform = all_optional)]
pub struct SectionBudgets {
    /// Tokens of remembered text, 0 to 4,000. Default: 200.
    #[schemars(range(max = 4000))]
    pub memory: u64,
    /// Tokens about the code base, 0 to 4,000. Default: 150.
    #[schemars(range(max = 4000))]
    pub codebase: u64,
    /// Tokens about the session, 0 to 4,000. Default: 100.
    #[schemars(range(max = 4000))]
    pub session: u64,
}

/// Files that replace the embedded templates.
#[derive(Debug, Clone, Default, PartialEq, Eq, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct TemplateFiles {
    /// Template of the file for the subagent, relative to the configuration file.
    pub context: Option<PathBuf>,
    /// Template of the short instruction, relative to the configuration file.
    pub instruction: Option<PathBuf>,
}

/// Where remembered text comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MemorySettings {
    /// Files of a directory; by default `notes` in the home folder.
    Notes(Option<PathBuf>),
    /// A server that is asked by `POST`.
    Http(Url),
    /// Nowhere.
    Off,
}

/// A language model that may improve the plan.
#[derive(Debug, Clone, PartialEq, JsonSchema)]
#[schemars(deny_unknown_fields, transform = all_optional)]
pub struct LlmSettings {
    /// Whether the model is asked without `--llm`; needs `dialect`, `base_url` and `model`. Default: false.
    pub enabled: bool,
    /// When the model is asked. Default: `uncertain`.
    pub when: When,
    /// How the model is asked.
    pub dialect: Dialect,
    /// An https URL, or an http URL of this machine, without a final slash.
    #[schemars(with = "String")]
    pub base_url: Url,
    /// What the server calls the model: 1 to 128 characters without white space.
    #[schemars(length(min = 1, max = 128))]
    pub model: String,
    /// Name of the environment variable that holds the key.
    pub api_key_env: Option<String>,
    /// Tokens of an answer, 1 to 100,000. Default: 1,500.
    #[schemars(range(min = 1, max = 100_000))]
    pub max_output_tokens: u64,
    /// A number from 0 to 2, or `omit`: it is not sent. Default: 0.
    #[schemars(schema_with = "temperature")]
    pub temperature: Option<f64>,
    /// Whether to send the schema of the reply. Default: false.
    pub json_schema: bool,
}

/// When a model is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema)]
#[schemars(rename_all = "lowercase")]
pub enum When {
    /// If the planner abstained or its confidence is low.
    Uncertain,
    /// Each time.
    Always,
}

/// How a model is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema)]
#[schemars(rename_all = "lowercase")]
pub enum Dialect {
    /// `/chat/completions`
    Openai,
    /// `/v1/messages`
    Anthropic,
}

/// Something in the table that does not count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The key, from `hydrate` on.
    pub key: String,
    /// What is wrong, with key and file.
    pub message: String,
    /// A key that is not known, rather than a value that cannot be used.
    pub unknown: bool,
}

impl Problem {
    /// Those that stop the hook, which may not write elsewhere or something else than it was told.
    #[must_use]
    pub fn stops_the_hook(&self) -> bool {
        !self.unknown
            && (self.key == "hydrate.tmp_dir" || self.key.starts_with("hydrate.templates"))
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            enabled: true,
            mode: Mode::Inline,
            tmp_dir: default_tmp_dir(),
            model: "haiku".to_owned(),
            tracker: "none".to_owned(),
            task_tool: "TodoWrite".to_owned(),
            budgets: SectionBudgets {
                memory: 200,
                codebase: 150,
                session: 100,
            },
            budget_ms: MAX_BUDGET_MS,
            max_todos: 12,
            catalog: None,
            packs: Vec::new(),
            templates: TemplateFiles::default(),
            memory: MemorySettings::Notes(None),
            llm: None,
        }
    }
}

impl JsonSchema for MemorySettings {
    fn schema_name() -> Cow<'static, str> {
        "MemorySettings".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "object",
            "properties": {
                "kind": {
                    "description": "Files of a directory (default), a server, or nothing.",
                    "enum": ["notes", "http", "off"],
                },
                "dir": {
                    "description": "Directory whose .md and .txt files are searched, relative to the configuration file. \
                                    Default: `notes` in the home folder.",
                    "type": "string",
                    "minLength": 1,
                },
                "url": {
                    "description": "With `http`: an https URL, or an http URL of this machine, that answers \
                                    `POST {\"query\",\"limit\"}`. The policy has to allow it.",
                    "type": "string",
                },
            },
            "additionalProperties": false,
        })
    }
}

fn temperature(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"anyOf": [{"type": "number", "minimum": 0, "maximum": 2}, {"const": "omit"}]})
}

fn without_default(schema: &mut Schema) {
    schema.remove("default");
}

/// A table may leave any of its keys out.
fn all_optional(schema: &mut Schema) {
    schema.remove("required");
}

impl Settings {
    /// Whether a pack may have this name, which is that of a directory.
    #[must_use]
    pub fn is_pack(name: &str) -> bool {
        is_pack(name)
    }

    /// Reads the table as it stands in `file`. Relative paths in it mean files beside `file`.
    #[must_use]
    pub fn read(value: Option<&Value>, file: &Path) -> (Self, Vec<Problem>) {
        let mut notes = Notes::default();
        let settings = match value {
            Some(value) => Self::read_noting(value, file, &mut notes),
            None => Self::default(),
        };
        (settings, notes.problems)
    }

    fn read_noting(value: &Value, file: &Path, notes: &mut Notes) -> Self {
        let mut settings = Self::default();
        let Some(mut table) = Reader::new("hydrate", value, file, notes) else {
            return settings;
        };
        let folder = file.parent().unwrap_or(Path::new(""));
        let path = |text: &Value| {
            text.as_str()
                .filter(|text| !text.is_empty())
                .map(|text| folder.join(text))
        };
        table.set("enabled", &mut settings.enabled, "true or false", |value| {
            value.as_bool()
        });
        table.set(
            "mode",
            &mut settings.mode,
            "\"subagent\" or \"inline\"",
            |value| match value.as_str()? {
                "subagent" => Some(Mode::Subagent),
                "inline" => Some(Mode::Inline),
                _ => None,
            },
        );
        table.set(
            "tmp_dir",
            &mut settings.tmp_dir,
            "an absolute path",
            |value| {
                let path = PathBuf::from(value.as_str()?);
                path.is_absolute().then_some(path)
            },
        );
        table.set(
            "model",
            &mut settings.model,
            "1 to 64 letters, digits or ._:/-",
            |value| {
                value
                    .as_str()
                    .filter(|name| is_model(name))
                    .map(str::to_owned)
            },
        );
        let name = "1 to 40 letters, digits or ._-";
        table.set("tracker", &mut settings.tracker, name, plain_name);
        table.set("task_tool", &mut settings.task_tool, name, plain_name);
        table.set(
            "budget_ms",
            &mut settings.budget_ms,
            "a whole number from 1000 to 15000",
            |value| whole(value, 1000, MAX_BUDGET_MS),
        );
        table.set(
            "max_todos",
            &mut settings.max_todos,
            "a whole number from 1 to 12",
            |value| whole(value, 1, 12),
        );
        table.set(
            "catalog",
            &mut settings.catalog,
            "the path of a directory",
            |value| Some(Some(path(value)?)),
        );
        table.set("packs", &mut settings.packs, "a list of names", |value| {
            let names = value.as_array()?.iter().map(|name| {
                let name = name.as_str().filter(|name| is_pack(name))?;
                Some(name.to_owned())
            });
            names.collect()
        });
        if let Some(mut budgets) = table.table("budgets") {
            let rule = "a whole number from 0 to 4000";
            let tokens = |value: &Value| whole(value, 0, 4000);
            budgets.set("memory", &mut settings.budgets.memory, rule, tokens);
            budgets.set("codebase", &mut settings.budgets.codebase, rule, tokens);
            budgets.set("session", &mut settings.budgets.session, rule, tokens);
            budgets.end();
        }
        if let Some(mut templates) = table.table("templates") {
            let files = &mut settings.templates;
            let some = |value: &Value| Some(Some(path(value)?));
            templates.set("context", &mut files.context, "the path of a file", some);
            templates.set(
                "instruction",
                &mut files.instruction,
                "the path of a file",
                some,
            );
            templates.end();
        }
        if let Some(memory) = table.table("memory") {
            settings.memory = read_memory(memory, &path);
        }
        if let Some(llm) = table.table("llm") {
            settings.llm = read_llm(llm);
        }
        table.end();
        settings
    }
}

fn read_memory(mut table: Reader<'_>, path: &dyn Fn(&Value) -> Option<PathBuf>) -> MemorySettings {
    #[derive(Clone, Copy)]
    enum Kind {
        Notes,
        Http,
        Off,
    }
    let (mut kind, mut directory, mut url) = (None, None, None);
    table.set(
        "kind",
        &mut kind,
        "\"notes\", \"http\" or \"off\"",
        |value| match value.as_str()? {
            "notes" => Some(Some(Kind::Notes)),
            "http" => Some(Some(Kind::Http)),
            "off" => Some(Some(Kind::Off)),
            _ => None,
        },
    );
    table.set("dir", &mut directory, "the path of a directory", |value| {
        Some(Some(path(value)?))
    });
    table.set(
        "url",
        &mut url,
        "an https URL, or an http URL of this machine",
        |value| Some(Some(endpoint(value.as_str()?)?)),
    );
    let settings = match (kind, url) {
        (Some(Kind::Off), _) => MemorySettings::Off,
        // To name a server is to opt in.
        (Some(Kind::Http) | None, Some(url)) => MemorySettings::Http(url),
        (Some(Kind::Http), None) => {
            table.problem("kind", "\"http\" needs memory.url");
            MemorySettings::Notes(directory)
        }
        (Some(Kind::Notes) | None, _) => MemorySettings::Notes(directory),
    };
    table.end();
    settings
}

fn read_llm(mut table: Reader<'_>) -> Option<LlmSettings> {
    let mut enabled = false;
    let (mut when, mut dialect, mut base_url) = (When::Uncertain, None, None);
    let (mut model, mut api_key_env) = (None, None);
    let (mut max_output_tokens, mut temperature, mut json_schema) = (1500, Some(0.0), false);
    table.set("enabled", &mut enabled, "true or false", Value::as_bool);
    table.set(
        "when",
        &mut when,
        "\"uncertain\" or \"always\"",
        |value| match value.as_str()? {
            "uncertain" => Some(When::Uncertain),
            "always" => Some(When::Always),
            _ => None,
        },
    );
    table.set(
        "dialect",
        &mut dialect,
        "\"openai\" or \"anthropic\"",
        |value| match value.as_str()? {
            "openai" => Some(Some(Dialect::Openai)),
            "anthropic" => Some(Some(Dialect::Anthropic)),
            _ => None,
        },
    );
    table.set(
        "base_url",
        &mut base_url,
        "an https URL, or an http URL of this machine",
        |value| Some(Some(endpoint(value.as_str()?)?)),
    );
    table.set(
        "model",
        &mut model,
        "1 to 128 characters without white space",
        |value| {
            let name = value.as_str()?;
            let fits = (1..=128).contains(&name.len())
                && name.chars().all(|character| character.is_ascii_graphic());
            fits.then(|| Some(name.to_owned()))
        },
    );
    table.set(
        "api_key_env",
        &mut api_key_env,
        "the name of a variable",
        |value| {
            let name = value.as_str()?;
            let fits = name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
                && name.len() <= 128
                && name
                    .chars()
                    .all(|character| character.is_ascii_alphanumeric() || character == '_');
            fits.then(|| Some(name.to_owned()))
        },
    );
    table.set(
        "max_output_tokens",
        &mut max_output_tokens,
        "a whole number from 1 to 100000",
        |value| whole(value, 1, 100_000),
    );
    table.set(
        "temperature",
        &mut temperature,
        "a number from 0 to 2, or \"omit\"",
        |value| match value {
            Value::String(text) if text == "omit" => Some(None),
            Value::Integer(number @ 0..=2) => Some(Some(f64::from(i32::try_from(*number).ok()?))),
            Value::Float(number) if (0.0..=2.0).contains(number) => Some(Some(*number)),
            _ => None,
        },
    );
    table.set(
        "json_schema",
        &mut json_schema,
        "true or false",
        Value::as_bool,
    );
    let settings = match (dialect, base_url, model) {
        (Some(dialect), Some(base_url), Some(model)) => Some(LlmSettings {
            enabled,
            when,
            dialect,
            base_url,
            model,
            api_key_env,
            max_output_tokens,
            temperature,
            json_schema,
        }),
        _ if enabled => {
            table.problem("enabled", "true needs dialect, base_url and model");
            None
        }
        _ => None,
    };
    table.end();
    settings
}

/// Whether a text can be the name of a model.
fn is_model(name: &str) -> bool {
    (1..=64).contains(&name.len())
        && name
            .chars()
            .all(|character| character.is_ascii_alphanumeric() || "._:/-".contains(character))
}

fn is_pack(name: &str) -> bool {
    (1..=40).contains(&name.len())
        && name
            .chars()
            .all(|character| character.is_ascii_lowercase() || "-_".contains(character))
}

fn plain_name(value: &Value) -> Option<String> {
    let name = value.as_str()?;
    let fits = (1..=40).contains(&name.len())
        && name
            .chars()
            .all(|character| character.is_ascii_alphanumeric() || "._-".contains(character));
    fits.then(|| name.to_owned())
}

fn whole(value: &Value, least: u64, most: u64) -> Option<u64> {
    let number = u64::try_from(value.as_integer()?).ok()?;
    (least..=most).contains(&number).then_some(number)
}

/// Where the host may send anything at all; the policy is asked besides.
fn endpoint(text: &str) -> Option<Url> {
    let url = Url::parse(text).ok()?;
    let is_loopback = match url.host()? {
        url::Host::Domain(name) => name == "localhost",
        url::Host::Ipv4(address) => address.is_loopback(),
        url::Host::Ipv6(address) => address.is_loopback(),
    };
    let fits = match url.scheme() {
        "https" => true,
        "http" => is_loopback,
        _ => false,
    };
    let plain = url.username().is_empty() && url.password().is_none() && url.fragment().is_none();
    (fits && plain).then_some(url)
}

#[cfg(test)]
mod tests;
