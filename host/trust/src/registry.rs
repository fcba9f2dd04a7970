//! Registry entries: two digests of one file.

use hydrant_base::{Digest, Hex, InvalidDigest, excerpt, is_lower_hex};
use md5::{Digest as _, Md5};

const MD5_HEX_DIGITS: usize = 32;

/// Why a file is not the one a registry lists.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RegistryError {
    /// One of both digests is none.
    #[error(transparent)]
    Format(#[from] InvalidDigest),
    /// Another file.
    #[error("digest mismatch: expected {expected}, got {actual}")]
    Mismatch {
        /// What the registry says.
        expected: String,
        /// What the bytes say.
        actual: String,
    },
}

/// Whether `artifact` has both digests; md5 is compared first. It proves nothing that sha256 does not.
///
/// # Errors
///
/// [`RegistryError`]: a digest is malformed, or another one.
pub fn verify_registry_entry(
    artifact: &[u8],
    sha256: &str,
    md5: &str,
) -> Result<(), RegistryError> {
    if !is_lower_hex(md5, MD5_HEX_DIGITS) {
        return Err(InvalidDigest(excerpt(md5)).into());
    }
    let sha256: Digest = sha256.parse()?;
    let mismatch = |expected: &str, actual: String| {
        if expected == actual {
            return Ok(());
        }
        Err(RegistryError::Mismatch {
            expected: expected.to_owned(),
            actual,
        })
    };
    mismatch(md5, format!("{:x}", Hex(&Md5::digest(artifact))))?;
    mismatch(sha256.as_str(), Digest::of(artifact).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHA256: &str = "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    const MD5: &str = "900150983cd24fb0d6963f7d28e17f72";

    fn message(sha256: &str, md5: &str) -> String {
        verify_registry_entry(b"abc", sha256, md5)
            .unwrap_err()
            .to_string()
    }

    #[test]
    fn both_digests_must_be_the_file_s() {
        assert_eq!(verify_registry_entry(b"abc", SHA256, MD5), Ok(()));
        let other = SHA256.replace("ba78", "ba79");
        assert_eq!(
            message(&other, MD5),
            format!("digest mismatch: expected {other}, got {SHA256}")
        );
    }

    #[test]
    fn md5_is_compared_before_sha256() {
        let (sha256, md5) = (SHA256.replace("ba78", "ba79"), MD5.replace("9001", "9002"));
        assert_eq!(
            message(&sha256, &md5),
            format!("digest mismatch: expected {md5}, got {MD5}")
        );
    }

    #[test]
    fn an_md5_has_32_lower_case_hex_digits_and_no_prefix() {
        for bad in [
            "",
            "md5:900150983cd24fb0d6963f7d28e17f72",
            &MD5.to_uppercase(),
            MD5.split_at(1).1,
        ] {
            assert_eq!(
                message(SHA256, bad),
                format!("invalid digest format: {bad}")
            );
        }
        assert_eq!(message(MD5, MD5), format!("invalid digest format: {MD5}"));
    }
}
