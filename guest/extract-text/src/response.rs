//! The answer, its members in this order.

/// The response.
#[derive(Debug, PartialEq, Eq, serde::Serialize)]
pub(crate) struct Response {
    pub(crate) text: String,
    pub(crate) hints: Hints,
    /// Bytes of `text`.
    pub(crate) bytes: usize,
    pub(crate) truncated: bool,
}

/// What is known besides the text.
#[derive(Debug, PartialEq, Eq, serde::Serialize)]
pub(crate) struct Hints {
    pub(crate) title: Option<String>,
    pub(crate) sections: Vec<Section>,
    pub(crate) pages: Option<u32>,
    /// What is missing in the text, and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) notes: Vec<&'static str>,
}

/// A heading, or an entry of an outline.
#[derive(Debug, PartialEq, Eq, serde::Serialize)]
pub(crate) struct Section {
    pub(crate) level: u32,
    pub(crate) title: String,
    /// The byte of `text` where its line begins.
    pub(crate) start: usize,
    /// From 1; only PDF has pages.
    pub(crate) page: Option<u32>,
}
