//! What is counted.

use crate::registry::sql::words;

words! {
    /// What is counted.
    #[derive(PartialOrd, Ord)]
    pub Dimension {
        /// Calls.
        Steps => "steps",
        /// Milliseconds.
        WallClockMs => "wall-clock-ms",
        /// Bytes sent and received.
        NetworkBytes => "network-bytes",
        /// Bytes of files written.
        StorageBytes => "storage-bytes",
        /// Milliseconds of processor time.
        CpuMs => "cpu-ms",
        /// Mebibytes, the peak.
        MemoryMb => "memory-mb",
        /// As a frontend reports them.
        LlmTokens => "llm-tokens",
        /// Millionths of a dollar, as a frontend reports them.
        CostUsd => "cost-usd",
    }
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
