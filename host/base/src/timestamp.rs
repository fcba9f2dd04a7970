//! Points in time, as audit lines write them: RFC 3339, UTC, milliseconds, `Z`. Receipts take the whole
//! seconds.

use std::fmt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Serialize, Serializer};

/// Milliseconds since 1970-01-01T00:00:00Z, up to the end of the year 9999.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(u64);

/// 9999-12-31T23:59:59.999Z, the last one that RFC 3339 can write.
const LAST: u64 = 253_402_300_799_999;

impl Timestamp {
    /// What the clock says. A clock before 1970 counts as 1970: a wrong clock is no reason to refuse a call, and
    /// the times are untrusted anyway.
    #[must_use]
    pub fn now() -> Self {
        let since = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        Self::from_unix_milliseconds(u64::try_from(since.as_millis()).unwrap_or(LAST))
    }

    /// The time this many milliseconds after 1970; later ones than the year 9999 are cut to its end.
    #[must_use]
    pub fn from_unix_milliseconds(milliseconds: u64) -> Self {
        Self(milliseconds.min(LAST))
    }

    /// The time this many seconds after 1970.
    #[must_use]
    pub fn from_unix_seconds(seconds: u64) -> Self {
        Self::from_unix_milliseconds(seconds.saturating_mul(1000))
    }

    /// Whole seconds since 1970.
    #[must_use]
    pub fn unix_seconds(self) -> u64 {
        self.0 / 1000
    }

    /// Milliseconds since 1970.
    #[must_use]
    pub fn unix_milliseconds(self) -> u64 {
        self.0
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let time = UNIX_EPOCH + Duration::from_millis(self.0);
        humantime::format_rfc3339_millis(time).fmt(f)
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_has_three_decimals_and_a_z() {
        for (milliseconds, text) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (1_767_225_600_000, "2026-01-01T00:00:00.000Z"),
            (1_709_164_799_007, "2024-02-28T23:59:59.007Z"),
            (1_709_164_800_120, "2024-02-29T00:00:00.120Z"),
            (LAST, "9999-12-31T23:59:59.999Z"),
            (u64::MAX, "9999-12-31T23:59:59.999Z"),
        ] {
            let time = Timestamp::from_unix_milliseconds(milliseconds);
            assert_eq!(time.to_string(), text);
        }
    }

    #[test]
    fn seconds_are_whole_ones() {
        assert_eq!(Timestamp::from_unix_milliseconds(1999).unix_seconds(), 1);
        assert_eq!(Timestamp::from_unix_seconds(7).unix_milliseconds(), 7000);
    }
}
