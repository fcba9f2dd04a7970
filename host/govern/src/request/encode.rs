//! A value written for its place. The interpreter encodes literals by the same sets.

use std::fmt::Write;

use hydrant_plan::Encoding;

/// Why a value cannot stand in its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum Unfit {
    /// It would end the header, or start another.
    #[error("a header cannot hold control characters")]
    Control,
    /// The program would see only what precedes it.
    #[error("an argument cannot hold NUL")]
    Nul,
}

/// The value as it is written there. What is refused depends on the place only, not on how the value is used later.
pub(super) fn encode(enc: Encoding, text: &str) -> Result<String, Unfit> {
    Ok(match enc {
        Encoding::Path | Encoding::Query => percent(text.as_bytes()),
        Encoding::Form => form(text.as_bytes()),
        Encoding::Header => {
            if text.chars().any(|c| c.is_control() && c != '\t') {
                return Err(Unfit::Control);
            }
            text.to_owned()
        }
        Encoding::JsonString => json_string(text),
        Encoding::Argv => {
            if text.contains('\0') {
                return Err(Unfit::Nul);
            }
            text.to_owned()
        }
        Encoding::None => text.to_owned(),
    })
}

/// Everything but unreserved characters, `/` too; a space is `%20`.
pub(super) fn percent(bytes: &[u8]) -> String {
    let mut encoded = String::with_capacity(bytes.len());
    for byte in bytes {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(byte) {
            encoded.push(char::from(*byte));
        } else {
            // Writing to a string does not fail.
            let _ = write!(encoded, "%{byte:02X}");
        }
    }
    encoded
}

/// The same with `+` for a space.
pub(super) fn form(bytes: &[u8]) -> String {
    percent(bytes).replace("%20", "+")
}

/// As it stands between the quotes of a JSON string.
pub(super) fn json_string(text: &str) -> String {
    let mut quoted = serde_json::Value::from(text).to_string();
    quoted.pop();
    quoted.drain(..1);
    quoted
}
