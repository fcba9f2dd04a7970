//! The id of one call: `req_` and a ULID, so that ids sort by time and two calls never share one.

use hydrant_base::Timestamp;
use std::fmt;

use serde::{Serialize, Serializer};
use ulid::Ulid;

/// See the module. Only made fresh; nobody can choose one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RequestId(Ulid);

/// The system gives no random bytes.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the system gives no random bytes for a request id: {0}")]
pub struct NoRandomness(String);

impl RequestId {
    /// A new id for a call that starts now.
    ///
    /// # Errors
    /// [`NoRandomness`].
    pub fn new() -> Result<Self, NoRandomness> {
        let mut random = [0; 16];
        getrandom::fill(&mut random).map_err(|error| NoRandomness(error.to_string()))?;
        Ok(Self::from_parts(
            Timestamp::now(),
            u128::from_le_bytes(random),
        ))
    }

    /// Of the random number the lowest 80 bits count.
    fn from_parts(time: Timestamp, random: u128) -> Self {
        Self(Ulid::from_parts(time.unix_milliseconds(), random))
    }
}

impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "req_{}", self.0)
    }
}

impl Serialize for RequestId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
impl RequestId {
    /// An id that is the same in every test.
    pub(super) fn fixed() -> Self {
        Self::from_parts(Timestamp::from_unix_seconds(1_767_225_600), 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_req_and_26_crockford_characters() {
        let id = RequestId::new().unwrap().to_string();
        let ulid = id.strip_prefix("req_").unwrap();
        assert_eq!(ulid.len(), 26);
        assert!(
            ulid.chars()
                .all(|c| "0123456789ABCDEFGHJKMNPQRSTVWXYZ".contains(c)),
            "{ulid}"
        );
    }

    #[test]
    fn the_ulid_holds_time_and_randomness() {
        let time = Timestamp::from_unix_milliseconds(1_469_918_176_385);
        let id = RequestId::from_parts(time, u128::MAX);
        // The example of the ULID specification has this time.
        assert_eq!(id.to_string(), "req_01ARYZ6S41ZZZZZZZZZZZZZZZZ");
        assert_ne!(RequestId::new().unwrap(), RequestId::new().unwrap());
    }

    #[test]
    fn ids_sort_by_time() {
        let at = |seconds| RequestId::from_parts(Timestamp::from_unix_seconds(seconds), u128::MAX);
        assert!(at(1) < at(2));
        assert!(at(1).to_string() < at(2).to_string());
    }
}
