//! Table `[govern]` of `hydrant.toml`: what the operator decided beforehand.
//!
//! Written by the operator alone; no skill and no request changes any of it. An unknown key, a host that is none or a value
//! out of range is an error and not a default: what was meant as a restriction must not be lost to a typing error.

mod clients;
mod host;
mod limits;

#[cfg(test)]
mod tests;

use std::path::PathBuf;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer};

pub use clients::{JailedClients, JailedMode};
pub use host::{HostPattern, HostPort, NotAHost};
pub use hydrant_plan::judge::pair_of;
pub use limits::{BudgetPolicy, Budgets, DimensionBudget, Limit, Limits};

/// The capabilities that are built in.
pub const CORE: [&str; 9] = [
    "ccos.network.http-fetch",
    "ccos.json.parse",
    "ccos.text.transform",
    "ccos.io.println",
    "ccos.io.read-file",
    "ccos.sandbox.python",
    "ccos.sandbox.node",
    "ccos.sandbox.go",
    "ccos.sandbox.shell",
];

/// What the operator decided about foreign skills. Each default is the narrow one.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Hosts that skills may be loaded from without approval. Default: none.
    pub source_hosts: Vec<HostPattern>,
    /// Hosts that operations may contact without approval. Default: none.
    pub safe_hosts: Vec<HostPattern>,
    /// Hosts that are never contacted, whatever was approved. Default: none.
    pub deny_hosts: Vec<HostPattern>,
    /// Pairs `host:port` whose addresses need not be public, and that may be spoken to without TLS. Default: none.
    pub allow_private: Vec<HostPort>,
    /// Hosts that may be spoken to without TLS. Default: none.
    pub plain_http_hosts: Vec<HostPattern>,
    /// Directories that the command line may load skills from, relative to the file; `.` is the working directory.
    /// Default: `.`.
    pub skill_roots: Vec<PathBuf>,
    /// Directories that a call may read files from, relative to the file; `.` is the working directory. Default: none.
    pub fs_read: Vec<PathBuf>,
    /// Directories that a document's absolute output paths may lie in, relative to the file; `.` is the working directory.
    /// Default: none.
    pub fs_write: Vec<PathBuf>,
    /// What a caller outside of a `hydrant jail` may not do: one word for all frontends, or a table of words. Default:
    /// `warn` for `cli` and `http`, `secrets` for the others.
    pub jailed_clients: JailedClients,
    /// Tools that are Tier 2 instead of 3 when they run directly. Default: none.
    #[serde(deserialize_with = "names")]
    #[schemars(inner(length(min = 1)))]
    pub known_tools: Vec<String>,
    /// Environment variables that are secrets. Default: none.
    #[serde(deserialize_with = "names")]
    #[schemars(inner(length(min = 1)))]
    pub env_secrets: Vec<String>,
    /// How long a request for approval stays open, such as `24h` or `7days`. Default: 24h.
    #[serde(deserialize_with = "duration")]
    #[schemars(with = "String")]
    pub pending_ttl: Duration,
    /// The least version of Landlock's ABI, 1 to 100; an older one is `jail-unavailable`. Default: 1.
    #[serde(deserialize_with = "abi")]
    #[schemars(range(min = 1, max = MAX_ABI))]
    pub landlock_min_abi: u8,
    /// The most that the jail of an operation may be given. A higher wish is capped, and says so.
    pub limits: Limits,
    /// What a run may use.
    pub budgets: Budgets,
}

const MAX_ABI: u8 = 100;

impl Default for Config {
    fn default() -> Self {
        Self {
            source_hosts: Vec::new(),
            safe_hosts: Vec::new(),
            deny_hosts: Vec::new(),
            allow_private: Vec::new(),
            plain_http_hosts: Vec::new(),
            skill_roots: vec![PathBuf::from(".")],
            fs_read: Vec::new(),
            fs_write: Vec::new(),
            jailed_clients: JailedClients::default(),
            known_tools: Vec::new(),
            env_secrets: Vec::new(),
            pending_ttl: Duration::from_secs(24 * 60 * 60),
            landlock_min_abi: 1,
            limits: Limits::default(),
            budgets: Budgets::default(),
        }
    }
}

/// Why `hydrant.toml` cannot be used; names line and key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("[govern]: {0}")]
pub struct ConfigError(String);

impl Config {
    /// Reads the table `[govern]` of a `hydrant.toml`; the defaults where there is none. Other tables are not looked at.
    ///
    /// # Errors
    ///
    /// Text that is not TOML, and a key or value that the table does not have.
    pub fn from_toml(text: &str) -> Result<Self, ConfigError> {
        #[derive(Deserialize)]
        struct File {
            #[serde(default)]
            govern: Config,
        }
        toml::from_str::<File>(text)
            .map(|file| file.govern)
            .map_err(|error| ConfigError(error.to_string()))
    }

    /// Whether a pair (`host:port`) is never contacted.
    #[must_use]
    pub fn is_denied(&self, pair: &str) -> bool {
        matches(&self.deny_hosts, pair)
    }

    /// Whether a pair needs no approval.
    #[must_use]
    pub fn is_safe(&self, pair: &str) -> bool {
        matches(&self.safe_hosts, pair)
    }

    /// Whether skills may be loaded from a pair.
    #[must_use]
    pub fn is_source(&self, pair: &str) -> bool {
        matches(&self.source_hosts, pair)
    }

    /// Whether the addresses of a pair need not be public.
    #[must_use]
    pub fn may_be_private(&self, pair: &str) -> bool {
        self.allow_private.iter().any(|allowed| allowed.is(pair))
    }

    /// Whether a pair may be spoken to without TLS.
    #[must_use]
    pub fn may_be_plain(&self, pair: &str) -> bool {
        self.may_be_private(pair) || matches(&self.plain_http_hosts, pair)
    }
}

fn matches(patterns: &[HostPattern], pair: &str) -> bool {
    patterns.iter().any(|pattern| pattern.matches(pair))
}

fn names<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    let names = Vec::<String>::deserialize(deserializer)?;
    match names.iter().find(|name| name.trim().is_empty()) {
        Some(_) => Err(serde::de::Error::custom("an empty name")),
        None => Ok(names),
    }
}

fn duration<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
    let text = String::deserialize(deserializer)?;
    match humantime::parse_duration(&text) {
        Ok(duration) if duration.is_zero() => Err(serde::de::Error::custom("must not be zero")),
        Ok(duration) => Ok(duration),
        Err(error) => Err(serde::de::Error::custom(error)),
    }
}

fn abi<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u8, D::Error> {
    match u8::deserialize(deserializer)? {
        abi @ 1..=MAX_ABI => Ok(abi),
        _ => Err(serde::de::Error::custom(format!("must be 1 to {MAX_ABI}"))),
    }
}
