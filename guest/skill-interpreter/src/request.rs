//! What the component is asked. Keys may be written with `_` for `-`.

use std::collections::{BTreeMap, BTreeSet};

use kit::SkillError;
use serde::Deserialize;

/// A request, by its `op`.
#[derive(Debug, Clone, Deserialize)]
#[serde(tag = "op", rename_all = "kebab-case")]
pub enum Request {
    /// Read a skill document.
    Load(LoadRequest),
    /// Say what a command would do.
    Map(MapRequest),
}

/// A skill document, and how it is to be read.
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
    /// The base of relative endpoints.
    #[serde(default, alias = "base_url")]
    pub base_url: Option<String>,
    /// Values for variables, by name.
    #[serde(default)]
    pub constants: BTreeMap<String, String>,
    /// Digests of the code files given, by name.
    #[serde(default)]
    pub files: BTreeMap<String, String>,
    /// The skill id, whatever the document says.
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

/// A command, and what is known of the skill that it stands in.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MapRequest {
    /// The command's text; not with `list`.
    #[serde(default)]
    pub command: String,
    /// Print the registry instead.
    #[serde(default)]
    pub list: bool,
    /// What is known of the skill that it stands in.
    #[serde(default)]
    pub context: MapContext,
}

/// What is known of the skill that a command stands in.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct MapContext {
    /// Its id.
    #[serde(default, alias = "skill_id")]
    pub skill_id: Option<String>,
    /// The base of relative endpoints.
    #[serde(default, alias = "base_url")]
    pub base_url: Option<String>,
    /// Values for variables, by name.
    #[serde(default)]
    pub constants: BTreeMap<String, String>,
    /// Names of declared secrets.
    #[serde(default)]
    pub secrets: Vec<String>,
    /// Domains that the document says.
    #[serde(default)]
    pub domains: Vec<String>,
}

impl Request {
    /// Reads a request.
    ///
    /// # Errors
    ///
    /// `invalid_request` for anything but one JSON object with a known `op` and the members of that `op`.
    pub fn parse(request: &[u8]) -> Result<Self, SkillError> {
        kit::request::parse(request)
    }
}
