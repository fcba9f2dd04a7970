//! The codes of RFC 0020 §5.5 and some of our own, as strings of a hydrated document carry them.

/// A soft error: `ERROR: `, a code, and nothing after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Code {
    /// It cannot be had.
    FetchFailed,
    /// It is no text, or its front matter no YAML.
    ParseError,
    /// It has no name.
    MissingName,
    /// It has no description.
    MissingDescription,
    /// The tool does not exist.
    NotFound,
    /// The tool may not be run by its user.
    PermissionDenied,
    /// The policy does not let the tool run.
    ExecutionSkipped,
    /// The tool took too long.
    Timeout,
    /// Neither an os nor an https URI.
    UnsupportedScheme,
    /// The tool failed.
    ExecutionFailed,
    /// The tool printed nothing.
    NoOutput,
    /// There are more entries than are listed.
    LimitExceeded,
}

impl Code {
    /// The whole string.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::FetchFailed => "ERROR: FETCH_FAILED",
            Self::ParseError => "ERROR: PARSE_ERROR",
            Self::MissingName => "ERROR: MISSING_NAME",
            Self::MissingDescription => "ERROR: MISSING_DESCRIPTION",
            Self::NotFound => "ERROR: NOT_FOUND",
            Self::PermissionDenied => "ERROR: PERMISSION_DENIED",
            Self::ExecutionSkipped => "ERROR: EXECUTION_SKIPPED",
            Self::Timeout => "ERROR: TIMEOUT",
            Self::UnsupportedScheme => "ERROR: UNSUPPORTED_SCHEME",
            Self::ExecutionFailed => "ERROR: EXECUTION_FAILED",
            Self::NoOutput => "ERROR: NO_OUTPUT",
            Self::LimitExceeded => "ERROR: LIMIT_EXCEEDED",
        }
    }

    /// The string, owned.
    #[must_use]
    pub fn text(self) -> String {
        self.as_str().to_owned()
    }
}
