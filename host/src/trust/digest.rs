//! Digests: `sha256:` and 64 lower-case hex digits (TB-01).

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

/// The SHA-256 digest of some bytes; can only be built valid.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Digest(String);

/// A string that is no digest.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("invalid digest format: {0}")]
pub struct InvalidDigest(pub String);

const PREFIX: &str = "sha256:";
const HEX_DIGITS: usize = 64;

impl Digest {
    /// The digest of `bytes`.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Self(format!("{PREFIX}{:x}", Hex(&Sha256::digest(bytes))))
    }

    /// The 64 hex digits without the prefix, for file names.
    #[must_use]
    pub fn hex(&self) -> &str {
        self.0.strip_prefix(PREFIX).unwrap_or_default()
    }

    /// The whole digest string.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Bytes, shown as lower-case hex digits.
struct Hex<'a>(&'a [u8]);

impl fmt::LowerHex for Hex<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl FromStr for Digest {
    type Err = InvalidDigest;

    fn from_str(text: &str) -> Result<Self, InvalidDigest> {
        Self::try_from(text.to_owned())
    }
}

impl TryFrom<String> for Digest {
    type Error = InvalidDigest;

    fn try_from(text: String) -> Result<Self, InvalidDigest> {
        let valid = text.strip_prefix(PREFIX).is_some_and(|hex| {
            hex.len() == HEX_DIGITS
                && hex
                    .bytes()
                    .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
        });
        if valid {
            Ok(Self(text))
        } else {
            Err(InvalidDigest(text.escape_default().to_string()))
        }
    }
}

impl From<Digest> for String {
    fn from(digest: Digest) -> Self {
        digest.0
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_digest_of_a_component_preamble_is_the_worked_value() {
        let preamble = [0x00, 0x61, 0x73, 0x6d, 0x0d, 0x00, 0x01, 0x00];
        let expected = "sha256:24eaf3439a60c96764c4f2c92a0a81b52bd4fe5d5b91f090184a0f6486b1bf29";
        assert_eq!(Digest::of(&preamble).as_str(), expected);
    }

    #[test]
    fn tb_01_anything_else_is_no_digest() {
        let good = Digest::of(b"x").to_string();
        assert!(good.parse::<Digest>().is_ok());
        for bad in [
            "",
            "sha256:",
            &good.to_uppercase(),
            good.trim_end_matches(|c: char| c.is_ascii_hexdigit()),
            &format!("{good}0"),
            &good.replace("sha256", "sha512"),
        ] {
            assert!(bad.parse::<Digest>().is_err(), "{bad}");
        }
    }
}
