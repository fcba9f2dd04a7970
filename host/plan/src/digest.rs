//! Digests: `sha256:` and 64 lower-case hex digits.

use hydrant_canonical::Integers;
use serde::Serialize;
use sha2::{Digest, Sha256};

/// `sha256:` and 64 lower-case hex digits over these bytes.
#[must_use]
pub fn of_bytes(bytes: &[u8]) -> String {
    written(Sha256::digest(bytes).as_slice())
}

/// Canonical JSON (RFC 8785).
///
/// # Errors
///
/// Of a value that has no JSON.
pub fn canonical(value: &impl Serialize) -> Result<Vec<u8>, serde_json::Error> {
    hydrant_canonical::to_vec(value, Integers::AsDoubles)
}

/// The same over a domain (`hydrant.op.v1\n`) and the canonical JSON of a value: that of RFC 8785, but that whole numbers are
/// written out beyond 2^53, too. They are sent so, and two that differ must not have one digest.
///
/// # Errors
///
/// Of a value that has no JSON.
pub fn of_json(domain: &[u8], value: &impl Serialize) -> Result<String, serde_json::Error> {
    let canonical = hydrant_canonical::to_vec(value, Integers::Exact)?;
    let mut hasher = Sha256::new();
    hasher.update(domain);
    hasher.update(&canonical);
    Ok(written(hasher.finalize().as_slice()))
}

fn written(digest: &[u8]) -> String {
    format!("sha256:{}", hex(digest))
}

/// Whether a text is a digest.
#[must_use]
pub fn is_digest(text: &str) -> bool {
    text.strip_prefix("sha256:").is_some_and(|digits| {
        let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        digits.len() == 64 && digits.bytes().all(is_digit)
    })
}

/// Two lower-case digits for each byte.
#[must_use]
pub fn hex(bytes: &[u8]) -> String {
    let digit = |half: u8| char::from_digit(half.into(), 16).unwrap_or_default();
    let digits = bytes
        .iter()
        .flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]);
    digits.collect()
}
