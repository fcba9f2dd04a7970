//! What the component is asked (section 2.1). Keys may be written with `_` for `-` (K-06).

use std::collections::{BTreeMap, BTreeSet};

use kit::SkillError;
use serde::Deserialize;
use serde_json::{Map, Value};

/// A request, by its `op`.
#[derive(Debug, Clone)]
pub enum Request {
    /// K-13
    Load(LoadRequest),
    /// K-14
    Map(MapRequest),
    /// K-15
    Filter(FilterRequest),
    /// K-170
    Transform(TransformRequest),
}

/// K-13: read a skill document.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct LoadRequest {
    /// Where it came from: a URL, or `file:` and a path.
    #[serde(alias = "source_url")]
    pub source_url: String,
    /// Its bytes, in base64.
    #[serde(alias = "content_b64")]
    pub content_b64: String,
    /// The media type it was sent with.
    #[serde(default, alias = "content_type")]
    pub content_type: Option<String>,
    /// K-103: the base of relative endpoints.
    #[serde(default, alias = "base_url")]
    pub base_url: Option<String>,
    /// K-195: values for variables, by name.
    #[serde(default)]
    pub constants: BTreeMap<String, String>,
    /// K-178: digests of the code files given, by name.
    #[serde(default)]
    pub files: BTreeMap<String, String>,
    /// K-67: the skill id, whatever the document says.
    #[serde(default, rename = "as")]
    pub as_id: Option<String>,
    /// Of an OpenAPI description only the operations with one of these tags, paths or ids.
    #[serde(default)]
    pub only: Vec<String>,
    /// Names of secrets that a first reading found.
    #[serde(skip)]
    pub found_secrets: BTreeSet<String>,
    /// The origin that nearly all operations share, as a first reading found.
    #[serde(skip)]
    pub shared_origin: Option<String>,
}

/// K-14: say what a command would do.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MapRequest {
    /// The command's text; not with `list`.
    #[serde(default)]
    pub command: String,
    /// Print the registry instead (K-24).
    #[serde(default)]
    pub list: bool,
    /// What is known of the skill that it stands in.
    #[serde(default)]
    pub context: MapContext,
}

/// K-14: what is known of the skill that a command stands in.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct MapContext {
    /// K-192
    #[serde(default, alias = "skill_id")]
    pub skill_id: Option<String>,
    /// K-103
    #[serde(default, alias = "base_url")]
    pub base_url: Option<String>,
    /// K-195
    #[serde(default)]
    pub constants: BTreeMap<String, String>,
    /// K-190: names of declared secrets.
    #[serde(default)]
    pub secrets: Vec<String>,
    /// K-74
    #[serde(default)]
    pub domains: Vec<String>,
}

/// K-15: run a jq program over bytes.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct FilterRequest {
    /// The program.
    pub path: String,
    /// What it reads, in base64.
    #[serde(alias = "input_b64")]
    pub input_b64: String,
    /// `-r`
    #[serde(default)]
    pub raw: bool,
    /// `-s`
    #[serde(default)]
    pub slurp: bool,
    /// `-c`
    #[serde(default)]
    pub compact: bool,
    /// `-j`
    #[serde(default)]
    pub join: bool,
    /// `-n`
    #[serde(default, alias = "null_input")]
    pub null_input: bool,
    /// `-S`
    #[serde(default, alias = "sort_keys")]
    pub sort_keys: bool,
    /// `-e`: a last output of `false` or `null`, or none, is an error.
    #[serde(default, alias = "exit_status")]
    pub exit_status: bool,
    /// `$name` in the program.
    #[serde(default)]
    pub args: Map<String, Value>,
}

/// K-170: run a built-in text tool over bytes.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct TransformRequest {
    /// `argv[0]`
    pub tool: String,
    /// The rest, without files.
    #[serde(default)]
    pub args: Vec<String>,
    /// What it reads, in base64.
    #[serde(alias = "input_b64")]
    pub input_b64: String,
}

impl Request {
    /// Reads a request.
    ///
    /// # Errors
    ///
    /// `invalid_request` for anything but one JSON object with a known `op` and the members of that `op`.
    pub fn parse(request: &[u8]) -> Result<Self, SkillError> {
        // TB-17: no name twice in any object, nesting at most 128.
        let Value::Object(mut members) = kit::members::parse(request)? else {
            return Err(invalid("the request is not a JSON object"));
        };
        // `shift_remove` keeps the order of the rest, so that a message names the first unknown member.
        let op = members.shift_remove("op");
        let members = Value::Object(members);
        match op.as_ref().and_then(Value::as_str) {
            Some("load") => read(members).map(Self::Load),
            Some("map") => read(members).map(Self::Map),
            Some("filter") => read(members).map(Self::Filter),
            Some("transform") => read(members).map(Self::Transform),
            Some(other) => Err(invalid(&format!(
                "op: unknown {}",
                crate::diagnostic::excerpt(other)
            ))),
            None => Err(invalid("op: expected string")),
        }
    }
}

fn read<T: serde::de::DeserializeOwned>(members: Value) -> Result<T, SkillError> {
    T::deserialize(members).map_err(|error| invalid(&error.to_string()))
}

fn invalid(message: &str) -> SkillError {
    SkillError::new(kit::request::INVALID_REQUEST, message)
}
