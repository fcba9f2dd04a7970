//! Canonical JSON (JCS, RFC 8785) and digests over it. Whole numbers keep all their digits.

use hydrant_canonical::Integers;
use serde::Serialize;

use super::Digest;

/// `value` in canonical JSON.
///
/// A value that JSON cannot express (a map whose keys are no strings, an object with two members of one name) gives no bytes
/// at all; no type of this crate is one.
#[must_use]
pub fn canonical_json<T: Serialize + ?Sized>(value: &T) -> Vec<u8> {
    hydrant_canonical::to_vec(value, Integers::Exact).unwrap_or_default()
}

/// The digest of `value` in canonical JSON: the same however a file lays it out.
#[must_use]
pub fn canonical_digest<T: Serialize + ?Sized>(value: &T) -> Digest {
    Digest::of(&canonical_json(value))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_digest_does_not_depend_on_the_order_of_members() {
        assert_eq!(
            canonical_digest(&json!({"a": 1, "b": 2})),
            canonical_digest(&json!({"b": 2, "a": 1}))
        );
        assert_eq!(canonical_digest(&json!({})), Digest::of(b"{}"));
    }

    #[test]
    fn whole_numbers_keep_their_digits() {
        let largest = canonical_json(&json!({"b": u64::MAX, "a": 0}));
        assert_eq!(largest, br#"{"a":0,"b":18446744073709551615}"#);
    }
}
