//! Digests of bytes as they were read.

use std::fmt::Write;

use sha2::{Digest, Sha256};

/// `sha256:` and 64 lower-case hexadecimal digits.
pub(crate) fn of(bytes: &[u8]) -> String {
    let mut text = "sha256:".to_owned();
    for byte in Sha256::digest(bytes) {
        // A string takes all that is written.
        let _ = write!(text, "{byte:02x}");
    }
    text
}
