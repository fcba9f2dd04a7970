//! Percent-encoding: the host encodes what callers give by the same sets.

use percent_encoding::{
    AsciiSet, CONTROLS, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode,
};

/// All but the unreserved characters of RFC 3986.
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');
/// What cannot stand in a URL or a form.
const UNSENDABLE: &AsciiSet = &CONTROLS.add(b' ').add(b'"').add(b'<').add(b'>').add(b'`');
/// The path percent-encode set of the URL standard.
const PATH: &AsciiSet = &UNSENDABLE.add(b'#').add(b'?').add(b'{').add(b'}').add(b'^');

/// A query value; a space is `%20`.
pub(super) fn query(text: &str) -> String {
    utf8_percent_encode(text, RESERVED).to_string()
}

/// A form value; a space is `+`.
pub(super) fn form(text: &str) -> String {
    query(text).replace("%20", "+")
}

/// Text that stands in a URL or a form as it is sent: what may not stand there is encoded, all else is kept.
pub(super) fn sent(text: &str) -> String {
    utf8_percent_encode(text, UNSENDABLE).to_string()
}

/// A segment of a path as it is written.
pub(super) fn path(text: &str) -> String {
    utf8_percent_encode(text, PATH).to_string()
}

/// What a form says: `+` is a space, `%XX` a byte; what is not UTF-8 then is replaced.
pub(super) fn decode_form(text: &str) -> String {
    let text = text.replace('+', " ");
    percent_decode_str(&text).decode_utf8_lossy().into_owned()
}
