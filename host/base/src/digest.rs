//! Digests: `sha256:` and 64 lower-case hex digits.

use std::fmt;
use std::io::{self, Read};
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::escape::excerpt;

/// The SHA-256 digest of some bytes; can only be built valid.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(
    with = "String",
    description = "`sha256:` and 64 lower-case hex digits.",
    extend("pattern" = "^sha256:[0-9a-f]{64}$")
)]
pub struct Digest(String);

/// A string that is no digest, escaped and cut.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("invalid digest format: {0}")]
pub struct InvalidDigest(pub String);

const PREFIX: &str = "sha256:";
const HEX_DIGITS: usize = 64;
/// Bytes of a file that are read and hashed at a time.
const READ_BYTES: usize = 64 * 1024;

impl Digest {
    /// The digest of `bytes`.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Self(format!("{PREFIX}{:x}", Hex(&Sha256::digest(bytes))))
    }

    /// The digest of all that `reader` has left, of which little is in memory at a time.
    ///
    /// # Errors
    ///
    /// As [`Read::read`].
    pub fn of_reader(mut reader: impl Read) -> io::Result<Self> {
        let mut hasher = Sha256::new();
        let mut buffer = vec![0; READ_BYTES];
        loop {
            let count = match reader.read(&mut buffer) {
                Ok(0) => return Ok(Self(format!("{PREFIX}{:x}", Hex(&hasher.finalize())))),
                Ok(count) => count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            hasher.update(buffer.get(..count).unwrap_or_default());
        }
    }

    /// 64 zeros, which stand where no digest exists; nothing has this digest.
    #[must_use]
    pub fn zero() -> Self {
        Self(format!("{PREFIX}{}", "0".repeat(HEX_DIGITS)))
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
pub struct Hex<'a>(pub &'a [u8]);

impl fmt::LowerHex for Hex<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// `BYTES` random bytes as lower-case hex digits.
///
/// # Errors
///
/// The system gives no random bytes.
pub fn random_hex<const BYTES: usize>() -> io::Result<String> {
    let mut random = [0; BYTES];
    getrandom::fill(&mut random)?;
    Ok(format!("{:x}", Hex(&random)))
}

/// `digits` lower-case hex digits and nothing else.
pub fn is_lower_hex(text: &str, digits: usize) -> bool {
    text.len() == digits
        && text
            .bytes()
            .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

impl FromStr for Digest {
    type Err = InvalidDigest;

    fn from_str(text: &str) -> Result<Self, InvalidDigest> {
        let valid = text
            .strip_prefix(PREFIX)
            .is_some_and(|hex| is_lower_hex(hex, HEX_DIGITS));
        if valid {
            Ok(Self(text.to_owned()))
        } else {
            Err(InvalidDigest(excerpt(text)))
        }
    }
}

impl TryFrom<String> for Digest {
    type Error = InvalidDigest;

    fn try_from(text: String) -> Result<Self, InvalidDigest> {
        text.parse()
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
    fn a_digest_string_has_71_characters_and_reads_back() {
        let digest = Digest::of(b"abc");
        let expected = "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(digest.as_str(), expected);
        assert_eq!(digest.as_str().len(), 71);
        assert_eq!(format!("{PREFIX}{}", digest.hex()), expected);
        assert_eq!(expected.parse::<Digest>().unwrap(), digest);
    }

    #[test]
    fn anything_else_is_no_digest() {
        let good = Digest::of(b"x").to_string();
        for bad in [
            "",
            "sha256:",
            &good.to_uppercase(),
            good.trim_end_matches(|c: char| c.is_ascii_hexdigit()),
            &format!("{good}0"),
            &format!(" {good}"),
            &good.replace("sha256", "sha512"),
        ] {
            let error = bad.parse::<Digest>().unwrap_err().to_string();
            assert_eq!(error, format!("invalid digest format: {bad}"));
        }
    }

    #[test]
    fn a_hostile_value_is_escaped_and_cut() {
        let error = format!("\u{1b}[2J{}", "x".repeat(9000)).parse::<Digest>();
        let message = error.unwrap_err().to_string();
        assert!(message.starts_with(r"invalid digest format: \u{1b}[2Jxx"));
        assert!(message.len() < 250, "{message}");
    }

    #[test]
    fn the_digest_of_nothing_is_zeros() {
        assert_eq!(Digest::zero().hex(), "0".repeat(64));
        assert!(Digest::zero().as_str().parse::<Digest>().is_ok());
    }
}
