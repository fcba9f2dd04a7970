//! The id of a skill, such as `content.hydrate` (TL-05).

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::escape::shown;

/// `^[a-z0-9][a-z0-9._-]*$`, at most 128 bytes.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct SkillId(String);

/// A string that is no skill id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "invalid skill id `{}`: lower-case letters, digits, `.`, `_` and `-`, beginning with a letter or digit, at most {MAX_BYTES} bytes",
    shown(.0)
)]
pub struct InvalidSkillId(pub String);

const MAX_BYTES: usize = 128;

impl SkillId {
    /// The id as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for SkillId {
    type Error = InvalidSkillId;

    fn try_from(text: String) -> Result<Self, InvalidSkillId> {
        let begins_well = text.starts_with(|c: char| c.is_ascii_lowercase() || c.is_ascii_digit());
        let continues_well = text
            .bytes()
            .all(|b| matches!(b, b'a'..=b'z' | b'0'..=b'9' | b'.' | b'_' | b'-'));
        if begins_well && continues_well && text.len() <= MAX_BYTES {
            Ok(Self(text))
        } else {
            Err(InvalidSkillId(text))
        }
    }
}

impl FromStr for SkillId {
    type Err = InvalidSkillId;

    fn from_str(text: &str) -> Result<Self, InvalidSkillId> {
        Self::try_from(text.to_owned())
    }
}

impl From<SkillId> for String {
    fn from(id: SkillId) -> Self {
        id.0
    }
}

impl fmt::Display for SkillId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tl_05_an_id_is_lower_case_and_begins_with_a_letter_or_digit() {
        let longest = "a".repeat(128);
        for good in ["a", "0", "content.hydrate", "a-b_c.d", &longest] {
            assert_eq!(good.parse::<SkillId>().unwrap().as_str(), good);
        }
        let too_long = "a".repeat(129);
        for bad in [
            "", ".a", "-a", "A", "a b", "a/b", "..", "\u{e9}", "a\n", &too_long,
        ] {
            assert!(bad.parse::<SkillId>().is_err(), "{bad}");
        }
        let message = "a\n".parse::<SkillId>().unwrap_err().to_string();
        assert!(
            message.starts_with(r"invalid skill id `a\u{a}`: "),
            "{message}"
        );
    }
}
