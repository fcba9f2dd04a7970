//! The codes of section 27, and the failure that carries one (K-37).

use serde::{Serialize, Serializer};

macro_rules! codes {
    ($($variant:ident => $text:literal),* $(,)?) => {
        /// A code of section 27 that this component can give. K-386: there is no other.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Code {
            $(#[doc = concat!("`", $text, "`")] $variant,)*
        }

        impl Code {
            /// Every code.
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            /// As callers see it.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text,)* }
            }
        }
    };
}

codes! {
    // Requests.
    InvalidRequest => "invalid-request",
    Limit => "limit",
    TooLarge => "too-large",
    // Documents.
    NotUtf8 => "not-utf8",
    NotText => "not-text",
    Html => "html",
    FormatUnknown => "format-unknown",
    Yaml => "yaml",
    Json => "json",
    Openapi => "openapi",
    OpenapiVersion => "openapi-version",
    NotASkill => "not-a-skill",
    Schema => "schema",
    UnknownOpKey => "unknown-op-key",
    NameMissing => "name-missing",
    IdInvalid => "id-invalid",
    IdReserved => "id-reserved",
    NoOperations => "no-operations",
    OpCollision => "op-collision",
    // Operations that are unusable.
    OpEmpty => "op-empty",
    ScriptMissing => "script-missing",
    NoBaseUrl => "no-base-url",
    ShellSyntax => "shell-syntax",
    EmptyCommand => "empty-command",
    NotAnOperation => "not-an-operation",
    CurlOptionRefused => "curl-option-refused",
    CurlOptionUnknown => "curl-option-unknown",
    CurlOptionConflict => "curl-option-conflict",
    WgetOptionRefused => "wget-option-refused",
    JqOptionRefused => "jq-option-refused",
    HeaderRefused => "header-refused",
    UrlInvalid => "url-invalid",
    UrlUserinfo => "url-userinfo",
    UrlGlob => "url-glob",
    HostVariable => "host-variable",
    UrlMissing => "url-missing",
    UrlInputSecret => "url-input-secret",
    OpenapiRef => "openapi-ref",
    OpenapiRemoteRef => "openapi-remote-ref",
    OpenapiStyle => "openapi-style",
    OpenapiSecurity => "openapi-security",
    // The op `filter`.
    JsonFilter => "json-filter",
    Transform => "transform",
    // Diagnostics only.
    AliasDropped => "alias-dropped",
    UnknownKey => "unknown-key",
    AuthAssumed => "auth-assumed",
    AuthAmbiguous => "auth-ambiguous",
    ApprovalModeIgnored => "approval-mode-ignored",
    CommandIgnored => "command-ignored",
    FrontmatterYaml => "frontmatter-yaml",
    Stub => "stub",
    AnnotationBoth => "annotation-both",
    AnnotationInvalid => "annotation-invalid",
    Constant => "constant",
    LiteralCredential => "literal-credential",
    SecretName => "secret-name",
    JsonAsForm => "json-as-form",
    ScriptPlaceholder => "script-placeholder",
    OpenapiNewer => "openapi-newer",
    OpenapiIgnored => "openapi-ignored",
    SuspiciousAmpersand => "suspicious-ampersand",
    SchemeMissing => "scheme-missing",
    NoServers => "no-servers",
    BaseAssumed => "base-assumed",
}

impl Serialize for Code {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// Why there is no answer, or why an operation cannot be used (K-37).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, thiserror::Error)]
#[error("{}: {message}", code.as_str())]
pub struct Failure {
    /// Stable.
    pub code: Code,
    /// One line for a person; quotes at most an excerpt of the document and never a credential (K-38).
    pub message: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// Dotted path into the document or the request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Counted from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
}

impl Failure {
    /// A failure without line and path.
    #[must_use]
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            hint: None,
            path: None,
            line: None,
        }
    }

    /// The same with the line, unless it has one.
    #[must_use]
    pub fn at_line(mut self, line: u32) -> Self {
        self.line.get_or_insert(line);
        self
    }

    /// The same with the path, unless it has one.
    #[must_use]
    pub fn at_path(mut self, path: impl Into<String>) -> Self {
        self.path.get_or_insert_with(|| path.into());
        self
    }

    /// The same with a hint.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}
