//! The error codes of governed execution, and the failure that carries one.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

macro_rules! codes {
    ($($variant:ident => $text:literal),* $(,)?) => {
        /// An error code. No other reaches a caller.
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
    // Request, frontends.
    InvalidRequest => "invalid-request",
    OperatorOnly => "operator-only",
    Limit => "limit",
    InterpreterLimit => "interpreter-limit",
    InvalidPlan => "invalid-plan",
    StoreUnavailable => "store-unavailable",
    // Address, fetch.
    UrlNotSkill => "url-not-skill",
    UrlScheme => "url-scheme",
    UrlUserinfo => "url-userinfo",
    UrlTweet => "url-tweet",
    FileNotAllowed => "file-not-allowed",
    PathNotAllowed => "path-not-allowed",
    HostApprovalRequired => "host-approval-required",
    HostDenied => "host-denied",
    PrivateAddress => "private-address",
    PlainHttpDenied => "plain-http-denied",
    FetchFailed => "fetch-failed",
    DigestMismatch => "digest-mismatch",
    TooLarge => "too-large",
    // Document.
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
    SkillIdConflict => "skill-id-conflict",
    // Operation (unusable).
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
    UrlGlob => "url-glob",
    HostVariable => "host-variable",
    UrlMissing => "url-missing",
    UrlInputSecret => "url-input-secret",
    OpenapiRef => "openapi-ref",
    OpenapiRemoteRef => "openapi-remote-ref",
    OpenapiStyle => "openapi-style",
    OpenapiSecurity => "openapi-security",
    // Call.
    UnknownSkill => "unknown-skill",
    UnknownOperation => "unknown-operation",
    CapabilityRemoved => "capability-removed",
    ClientNotJailed => "client-not-jailed",
    MissingInput => "missing-input",
    InvalidInput => "invalid-input",
    ToolUnavailable => "tool-unavailable",
    JailUnavailable => "jail-unavailable",
    BudgetExhausted => "budget-exhausted",
    SecretMissing => "secret-missing",
    SecretUnbound => "secret-unbound",
    SecretStorePermissions => "secret-store-permissions",
    AuditUnavailable => "audit-unavailable",
    Interrupted => "interrupted",
    OnboardingRequired => "onboarding-required",
    // Approvals.
    ApprovalRequired => "approval-required",
    ApprovalDenied => "approval-denied",
    ApprovalExpired => "approval-expired",
    ApprovalRevoked => "approval-revoked",
    ApprovalStore => "approval-store",
    ApprovalStale => "approval-stale",
    UnknownApproval => "unknown-approval",
    // Stages.
    Dns => "dns",
    Connect => "connect",
    Tls => "tls",
    Timeout => "timeout",
    ResponseTooLarge => "response-too-large",
    RedirectDenied => "redirect-denied",
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
    AnnotationInvalid => "annotation-invalid",
    Constant => "constant",
    LiteralCredential => "literal-credential",
    MixedScripts => "mixed-scripts",
    SecretName => "secret-name",
    JsonAsForm => "json-as-form",
    ScriptPlaceholder => "script-placeholder",
    OpenapiNewer => "openapi-newer",
    OpenapiIgnored => "openapi-ignored",
    SuspiciousAmpersand => "suspicious-ampersand",
    SchemeMissing => "scheme-missing",
    NoServers => "no-servers",
    BaseAssumed => "base-assumed",
    InsecureIgnored => "insecure-ignored",
}

impl Code {
    /// The code with this text, if there is one.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|code| code.as_str() == text)
    }

    /// The number of the same meaning in HTTP: 404 unknown or removed, 403 denied by governance, 422 request, params or document, 500 the rest.
    #[must_use]
    pub const fn number(self) -> u16 {
        match self {
            Self::UnknownSkill
            | Self::UnknownOperation
            | Self::CapabilityRemoved
            | Self::UnknownApproval => 404,
            Self::OperatorOnly
            | Self::HostApprovalRequired
            | Self::HostDenied
            | Self::PrivateAddress
            | Self::PlainHttpDenied
            | Self::FileNotAllowed
            | Self::PathNotAllowed
            | Self::UrlTweet
            | Self::ClientNotJailed
            | Self::BudgetExhausted
            | Self::SecretMissing
            | Self::SecretUnbound
            | Self::OnboardingRequired
            | Self::ApprovalRequired
            | Self::ApprovalDenied
            | Self::ApprovalExpired
            | Self::ApprovalRevoked
            | Self::ApprovalStale
            | Self::RedirectDenied => 403,
            Self::InterpreterLimit
            | Self::InvalidPlan
            | Self::StoreUnavailable
            | Self::FetchFailed
            | Self::ToolUnavailable
            | Self::JailUnavailable
            | Self::SecretStorePermissions
            | Self::AuditUnavailable
            | Self::Interrupted
            | Self::ApprovalStore
            | Self::Dns
            | Self::Connect
            | Self::Tls
            | Self::Timeout
            | Self::ResponseTooLarge
            | Self::JsonFilter
            | Self::Transform => 500,
            _ => 422,
        }
    }
}

impl Serialize for Code {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for Code {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| serde::de::Error::custom("not an error code"))
    }
}

/// Why something was refused or failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "kebab-case")]
#[error("{}: {message}", code.as_str())]
pub struct Failure {
    /// Stable.
    pub code: Code,
    /// One line for a person. It holds no secret, no header value and at most 120 characters of a document.
    pub message: String,
    /// What to do about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<Box<str>>,
    /// Dotted path into the document or the params.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<Box<str>>,
    /// Counted from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// The request that an operator has to decide.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval_id: Option<Box<str>>,
    /// Inputs or tools that are missing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<String>,
    /// The operation was carried out although this failed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub executed: bool,
}

impl Failure {
    /// A failure with code and message only.
    #[must_use]
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            hint: None,
            path: None,
            line: None,
            approval_id: None,
            missing: Vec::new(),
            executed: false,
        }
    }

    /// The failure `limit`, which names the limit that was exceeded.
    #[must_use]
    pub fn exceeded(what: &str, limit: usize) -> Self {
        Self::new(Code::Limit, format!("{what}: more than {limit}"))
    }

    /// Nobody waits for the answer any more.
    #[must_use]
    pub fn cancelled() -> Self {
        Self::new(Code::Interrupted, "the call was cancelled")
    }

    /// The same with the path, unless it has one.
    #[must_use]
    pub fn at_path(mut self, path: impl Into<Box<str>>) -> Self {
        self.path.get_or_insert_with(|| path.into());
        self
    }

    /// The same with the line, unless it has one.
    #[must_use]
    pub fn at_line(mut self, line: u32) -> Self {
        self.line.get_or_insert(line);
        self
    }

    /// The same with a hint.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<Box<str>>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The same with the approval that is needed.
    #[must_use]
    pub fn with_approval(mut self, id: impl Into<Box<str>>) -> Self {
        self.approval_id = Some(id.into());
        self
    }

    /// The same with what is missing.
    #[must_use]
    pub fn with_missing(mut self, missing: Vec<String>) -> Self {
        self.missing = missing;
        self
    }
}
