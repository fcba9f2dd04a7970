//! Where the first request of an operation goes, by which duplicates are found.

/// What makes two operations one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint {
    /// Upper-case.
    pub method: String,
    /// `scheme://host[:port]/`; none where a relative URL has no base.
    pub origin: Option<String>,
    /// The path, that of the base included; each variable is `{}`.
    pub path: String,
    /// The path as written, of a relative URL.
    pub relative_path: Option<String>,
    /// The last path segment that is literal, decoded.
    pub last_segment: Option<String>,
    /// The last path segment, if it is literal.
    pub final_segment: Option<String>,
}

impl Endpoint {
    /// Same method and same URL, or same method and path where one of the two is relative.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        let written = |endpoint: &Self, path: &str| endpoint.relative_path.as_deref() == Some(path);
        self.method == other.method
            && (self.origin == other.origin && self.path == other.path
                || written(self, &other.path)
                || written(other, &self.path)
                || (self.relative_path.is_some() && self.relative_path == other.relative_path))
    }
}
