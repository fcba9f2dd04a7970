//! Table `[govern]` of `hydrant.toml` (section 2.5): what the operator decided beforehand.
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

use serde::{Deserialize, Deserializer};

pub use clients::{JailedClients, JailedMode};
pub(crate) use host::parts;
pub use host::{HostPattern, HostPort, NotAHost, pair_of};
pub use limits::{BudgetPolicy, Budgets, DimensionBudget, Limit, Limits};

/// Section 1: the capabilities that are built in.
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

/// What the operator decided. Each default is the narrow one.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// K-39: hosts that skills may be loaded from. Default: none.
    pub source_hosts: Vec<HostPattern>,
    /// K-39: hosts that need no approval (K-256). Default: none.
    pub safe_hosts: Vec<HostPattern>,
    /// K-39: hosts that are never contacted, whatever was approved. Default: none.
    pub deny_hosts: Vec<HostPattern>,
    /// K-40: pairs that may have an address that is not public, and may be spoken to without TLS. Default: none.
    pub allow_private: Vec<HostPort>,
    /// K-40: hosts that may be spoken to without TLS. Default: none.
    pub plain_http_hosts: Vec<HostPattern>,
    /// K-41: directories that the command line may load skills from. Default: the current one.
    pub skill_roots: Vec<PathBuf>,
    /// K-41: directories that a call may read files from. Default: none.
    pub fs_read: Vec<PathBuf>,
    /// K-41: directories that a document's absolute output paths may lie in. Default: none.
    pub fs_write: Vec<PathBuf>,
    /// K-42
    pub jailed_clients: JailedClients,
    /// K-34: core capabilities that agents may call directly. Default: none.
    #[serde(deserialize_with = "core")]
    pub agent_core: Vec<String>,
    /// K-234: tools that are Tier 2. Default: none.
    #[serde(deserialize_with = "names")]
    pub known_tools: Vec<String>,
    /// K-278: environment variables that are secrets. Default: none.
    #[serde(deserialize_with = "names")]
    pub env_secrets: Vec<String>,
    /// K-271: how long a request stays open. Default: 24 h.
    #[serde(deserialize_with = "duration")]
    pub pending_ttl: Duration,
    /// K-334: the least ABI of Landlock, 1 to 100. Default: 1.
    #[serde(deserialize_with = "abi")]
    pub landlock_min_abi: u8,
    /// K-323: the most that a sandbox stage may ask for.
    pub limits: Limits,
    /// K-286: what a run may use.
    pub budgets: Budgets,
}

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
            agent_core: Vec::new(),
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
    /// What is not TOML, and what section 2.5 does not have.
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

    /// K-256: whether a pair needs no approval.
    #[must_use]
    pub fn is_safe(&self, pair: &str) -> bool {
        matches(&self.safe_hosts, pair)
    }

    /// K-58: whether skills may be loaded from a pair.
    #[must_use]
    pub fn is_source(&self, pair: &str) -> bool {
        matches(&self.source_hosts, pair)
    }

    /// K-315: whether the addresses of a pair need not be public.
    #[must_use]
    pub fn may_be_private(&self, pair: &str) -> bool {
        self.allow_private.iter().any(|allowed| allowed.is(pair))
    }

    /// K-58: whether a pair may be spoken to without TLS.
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

fn core<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    let names = Vec::<String>::deserialize(deserializer)?;
    match names.iter().find(|name| !CORE.contains(&name.as_str())) {
        Some(name) => Err(serde::de::Error::custom(format!(
            "{name} is not a core capability"
        ))),
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
        abi @ 1..=100 => Ok(abi),
        _ => Err(serde::de::Error::custom("must be 1 to 100")),
    }
}
