//! What of a hydration's payload makes a graph.

use serde::Deserialize;

/// The prefix of an error marker.
const ERROR: &str = "ERROR: ";

#[derive(Deserialize)]
pub(crate) struct Payload {
    pub(crate) metadata: Metadata,
}

#[derive(Deserialize)]
pub(crate) struct Metadata {
    pub(crate) uri: String,
    pub(crate) checksum: Option<String>,
    pub(crate) dependencies: Dependencies,
}

#[derive(Deserialize)]
pub(crate) struct Dependencies {
    pub(crate) skills: Vec<Skill>,
    pub(crate) tools: Vec<Tool>,
}

#[derive(Deserialize)]
pub(crate) struct Skill {
    pub(crate) uri: String,
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) skills: Vec<String>,
    pub(crate) tools: Vec<String>,
    pub(crate) checksum: Option<String>,
}

#[derive(Deserialize)]
pub(crate) struct Tool {
    pub(crate) uri: String,
    pub(crate) description: String,
    pub(crate) checksum: Option<String>,
}

impl Skill {
    /// Whether a hydration of its own would show more. What failed declares nothing.
    pub(crate) fn declares(&self) -> bool {
        !self.skills.is_empty() || !self.tools.is_empty()
    }
}

/// The code of an error marker. A text that only looks like one is taken for one: it is passed through.
pub(crate) fn code(text: &str) -> Option<&str> {
    let code = text.strip_prefix(ERROR)?;
    let is_code = |byte: u8| byte.is_ascii_uppercase() || byte == b'_';
    (!code.is_empty() && code.bytes().all(is_code)).then_some(code)
}
