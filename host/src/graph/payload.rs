//! What of a hydration's payload makes a graph.

use serde::Deserialize;

/// The prefix of an error marker.
const ERROR: &str = "ERROR: ";

#[derive(Deserialize)]
pub(super) struct Payload {
    pub(super) metadata: Metadata,
}

#[derive(Deserialize)]
pub(super) struct Metadata {
    pub(super) uri: String,
    pub(super) checksum: Option<String>,
    pub(super) dependencies: Dependencies,
}

#[derive(Deserialize)]
pub(super) struct Dependencies {
    pub(super) skills: Vec<Skill>,
    pub(super) tools: Vec<Tool>,
}

#[derive(Deserialize)]
pub(super) struct Skill {
    pub(super) uri: String,
    pub(super) name: String,
    pub(super) description: String,
    skills: Vec<String>,
    tools: Vec<String>,
    pub(super) checksum: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct Tool {
    pub(super) uri: String,
    pub(super) description: String,
    pub(super) checksum: Option<String>,
}

impl Skill {
    /// Whether a hydration of its own would show more. What failed declares nothing (D-04).
    pub(super) fn declares(&self) -> bool {
        !self.skills.is_empty() || !self.tools.is_empty()
    }
}

/// The code of an error marker. A text that only looks like one is taken for one: it is passed through (H-44).
pub(super) fn code(text: &str) -> Option<&str> {
    let code = text.strip_prefix(ERROR)?;
    let is_code = |byte: u8| byte.is_ascii_uppercase() || byte == b'_';
    (!code.is_empty() && code.bytes().all(is_code)).then_some(code)
}
