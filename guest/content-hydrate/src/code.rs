//! The codes of §6, as strings of a hydrated document carry them.

/// A soft error: `ERROR: `, a code, and nothing after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Code {
    /// EC-01, EC-02
    FetchFailed,
    /// EC-03, EC-04
    ParseError,
    /// EC-05
    MissingName,
    /// EC-05
    MissingDescription,
    /// EC-06
    NotFound,
    /// EC-07
    PermissionDenied,
    /// EC-08
    ExecutionSkipped,
    /// EC-09
    Timeout,
    /// EC-10
    UnsupportedScheme,
    /// EC-11
    ExecutionFailed,
    /// EC-12
    NoOutput,
    /// EC-13
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
