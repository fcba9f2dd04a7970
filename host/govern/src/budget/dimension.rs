//! What is counted.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::failure::{Code, Failure};

/// What is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Dimension {
    /// Calls.
    Steps,
    /// Milliseconds.
    WallClockMs,
    /// Bytes sent and received.
    NetworkBytes,
    /// Bytes of files written.
    StorageBytes,
    /// Milliseconds of processor time.
    CpuMs,
    /// Mebibytes, the peak.
    MemoryMb,
    /// As a frontend reports them.
    LlmTokens,
    /// Millionths of a dollar, as a frontend reports them.
    CostUsd,
}

impl Dimension {
    /// Each.
    pub const ALL: [Self; 8] = [
        Self::Steps,
        Self::WallClockMs,
        Self::NetworkBytes,
        Self::StorageBytes,
        Self::CpuMs,
        Self::MemoryMb,
        Self::LlmTokens,
        Self::CostUsd,
    ];

    /// Its name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Steps => "steps",
            Self::WallClockMs => "wall-clock-ms",
            Self::NetworkBytes => "network-bytes",
            Self::StorageBytes => "storage-bytes",
            Self::CpuMs => "cpu-ms",
            Self::MemoryMb => "memory-mb",
            Self::LlmTokens => "llm-tokens",
            Self::CostUsd => "cost-usd",
        }
    }

    /// The one of this name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|dimension| dimension.as_str() == name)
    }

    /// Per run; none: only tracked.
    #[must_use]
    pub const fn default_limit(self) -> Option<u64> {
        match self {
            Self::Steps => Some(50),
            Self::WallClockMs => Some(60_000),
            Self::NetworkBytes => Some(10_485_760),
            Self::StorageBytes => Some(52_428_800),
            Self::CpuMs => Some(120_000),
            Self::MemoryMb => Some(512),
            Self::LlmTokens | Self::CostUsd => None,
        }
    }
}

/// Limits that a run has of its own; they only lower.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Own(pub BTreeMap<Dimension, u64>);

impl Own {
    /// From a request: an object of numbers by dimension; `_` may stand for `-`.
    ///
    /// # Errors
    ///
    /// `invalid-request` for another key or value; `"unlimited"` is for configuration only.
    pub fn from_json(value: &Value) -> Result<Self, Failure> {
        let error = |what: String| Failure::new(Code::InvalidRequest, what).at_path("budget");
        let Some(object) = value.as_object() else {
            return Err(error("a budget is an object of numbers".to_owned()));
        };
        let mut own = BTreeMap::new();
        for (name, value) in object {
            let name: String = name.chars().take(64).collect();
            let Some(dimension) = Dimension::parse(&name.replace('_', "-")) else {
                return Err(error(format!("a budget has no {name}")));
            };
            let Some(limit) = value.as_u64() else {
                return Err(error(format!(
                    "{name}: expected a number that is not negative"
                )));
            };
            own.insert(dimension, limit);
        }
        Ok(Self(own))
    }
}
