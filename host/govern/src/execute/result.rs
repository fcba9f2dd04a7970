//! How bytes stand in an output.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

/// Binary content over this, in bytes, goes to a file.
const INLINE: usize = 1 << 20;

/// Whether the content is binary and too large to stand in the output.
pub(super) fn goes_to_file(bytes: &[u8]) -> bool {
    bytes.len() > INLINE && std::str::from_utf8(bytes).is_err()
}

/// `json` where it is JSON, else `body` where it is text, else `body-b64`.
pub(super) fn content(bytes: &[u8], media: Option<&str>) -> (&'static str, Value) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return ("body-b64", STANDARD.encode(bytes).into());
    };
    if may_be_json(text, media)
        && let Ok(value) = serde_json::from_str(text)
    {
        return ("json", value);
    }
    ("body", text.into())
}

/// A media type decides; without one, or where it says text only, objects and arrays are taken for JSON.
fn may_be_json(text: &str, media: Option<&str>) -> bool {
    let essence = media
        .and_then(|media| media.split(';').next())
        .map(|media| media.trim().to_ascii_lowercase());
    match essence.as_deref() {
        Some(media) if media.ends_with("/json") || media.ends_with("+json") => true,
        None | Some("" | "text/plain" | "application/octet-stream") => {
            text.trim_start().starts_with(['{', '['])
        }
        Some(_) => false,
    }
}
