//! C-01, C-02: digests of bytes as they were read.

use sha2::{Digest, Sha256};

/// `sha256:` and 64 lower-case hexadecimal digits.
pub(crate) fn of(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut text = String::with_capacity(71);
    text.push_str("sha256:");
    for byte in Sha256::digest(bytes) {
        for digit in [byte >> 4, byte & 0x0F] {
            let digit = DIGITS.get(usize::from(digit)).copied().unwrap_or_default();
            text.push(char::from(digit));
        }
    }
    text
}
