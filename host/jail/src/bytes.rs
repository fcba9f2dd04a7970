//! Paths and arguments as JSON: any bytes, where JSON has only text.
//!
//! Each byte becomes the character of the same number, so that nothing is lost and ASCII stays readable.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

use serde::{Deserialize, Serialize};

/// Bytes of an argument, a variable or a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub(super) struct Bytes(Vec<u8>);

impl Bytes {
    #[cfg(target_os = "linux")]
    pub(super) fn as_slice(&self) -> &[u8] {
        &self.0
    }

    pub(super) fn into_os_string(self) -> OsString {
        OsString::from_vec(self.0)
    }
}

impl From<Vec<u8>> for Bytes {
    fn from(bytes: Vec<u8>) -> Self {
        Self(bytes)
    }
}

impl From<&OsStr> for Bytes {
    fn from(text: &OsStr) -> Self {
        Self(text.as_bytes().to_vec())
    }
}

impl From<Bytes> for String {
    fn from(bytes: Bytes) -> Self {
        bytes.0.into_iter().map(char::from).collect()
    }
}

impl TryFrom<String> for Bytes {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let bytes = text.chars().map(u8::try_from).collect::<Result<_, _>>();
        bytes
            .map(Self)
            .map_err(|_| "a character above U+00FF stands for no byte")
    }
}

#[cfg(test)]
mod tests {
    use super::Bytes;

    #[test]
    fn all_bytes_survive_json() {
        let all = Bytes::from((0..=255).collect::<Vec<u8>>());
        let text = serde_json::to_string(&all).unwrap();
        assert_eq!(serde_json::from_str::<Bytes>(&text).unwrap(), all);
    }

    #[test]
    fn a_character_that_is_no_byte_is_refused() {
        assert!(serde_json::from_str::<Bytes>("\"\u{100}\"").is_err());
    }
}
