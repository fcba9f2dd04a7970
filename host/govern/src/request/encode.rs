//! A value written for its place. The interpreter encodes literals by the same sets.

use hydrant_plan::Encoding;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_encode};

/// The value as it is written there, or why it cannot stand there. What is refused depends on the place only, not on how the value is used later.
pub(super) fn encode(enc: Encoding, text: &str) -> Result<String, &'static str> {
    Ok(match enc {
        Encoding::Path | Encoding::Query => percent(text.as_bytes()),
        Encoding::Form => form(text.as_bytes()),
        Encoding::Header => {
            if has_control(text) {
                return Err(IN_HEADER);
            }
            text.to_owned()
        }
        Encoding::JsonString => json_string(text),
        Encoding::Argv => {
            if text.contains('\0') {
                return Err("an argument cannot hold NUL");
            }
            text.to_owned()
        }
        Encoding::None => text.to_owned(),
    })
}

/// Why a value cannot stand in a header: it would end it, or start another.
pub(super) const IN_HEADER: &str = "a header cannot hold control characters";

/// Whether a text has control characters other than a tab.
pub(super) fn has_control(text: &str) -> bool {
    text.chars().any(|c| c.is_control() && c != '\t')
}

/// Everything but unreserved characters, `/` too; a space is `%20`.
pub(super) fn percent(bytes: &[u8]) -> String {
    const RESERVED: &AsciiSet = &NON_ALPHANUMERIC
        .remove(b'-')
        .remove(b'.')
        .remove(b'_')
        .remove(b'~');
    percent_encode(bytes, RESERVED).to_string()
}

/// The same with `+` for a space.
pub(super) fn form(bytes: &[u8]) -> String {
    percent(bytes).replace("%20", "+")
}

/// As it stands between the quotes of a JSON string.
fn json_string(text: &str) -> String {
    let mut quoted = serde_json::Value::from(text).to_string();
    quoted.pop();
    quoted.drain(..1);
    quoted
}
