//! What is counted.

use serde::{Deserialize, Serialize};

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
