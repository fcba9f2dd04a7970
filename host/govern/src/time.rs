//! Points in time: UTC, RFC 3339 with milliseconds and `Z`.

use std::fmt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// 9999-12-31T23:59:59.999Z, the last one that RFC 3339 can write.
const LAST: u64 = 253_402_300_799_999;

/// How far the clock may be behind the chain's time without having been wrong or set back: appends of the same millisecond
/// let that time run ahead for up to a second, and clocks are put right by fractions of one.
pub(crate) const DRIFT: Duration = Duration::from_secs(2);

/// Milliseconds since 1970-01-01T00:00:00Z, up to the end of the year 9999.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Time(u64);

impl Time {
    /// What the clock says; a clock before 1970 counts as 1970.
    #[must_use]
    pub fn now() -> Self {
        let since = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        Self::from_milliseconds(u64::try_from(since.as_millis()).unwrap_or(LAST))
    }

    /// This many milliseconds after 1970, cut to the end of the year 9999.
    #[must_use]
    pub fn from_milliseconds(milliseconds: u64) -> Self {
        Self(milliseconds.min(LAST))
    }

    /// Milliseconds since 1970.
    #[must_use]
    pub fn milliseconds(self) -> u64 {
        self.0
    }

    /// How much later this is than `other`; nothing where it is not.
    #[must_use]
    pub fn since(self, other: Self) -> Duration {
        Duration::from_millis(self.0.saturating_sub(other.0))
    }

    /// Later by this much.
    #[must_use]
    pub fn after(self, duration: Duration) -> Self {
        let more = u64::try_from(duration.as_millis()).unwrap_or(LAST);
        Self::from_milliseconds(self.0.saturating_add(more))
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        humantime::format_rfc3339_millis(UNIX_EPOCH + Duration::from_millis(self.0)).fmt(f)
    }
}

impl Serialize for Time {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
        let time = humantime::parse_rfc3339(&text).map_err(serde::de::Error::custom)?;
        let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
        Ok(Self::from_milliseconds(
            u64::try_from(since.as_millis()).unwrap_or(LAST),
        ))
    }
}
