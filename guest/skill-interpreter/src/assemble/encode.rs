//! Percent-encoding (K-206): the host encodes what callers give by the same sets.

use std::fmt::Write;

/// A query value: everything but unreserved characters; a space is `%20`.
pub(super) fn query(text: &str) -> String {
    encode(text, unreserved)
}

/// A form value: everything but unreserved characters; a space is `+`.
pub(super) fn form(text: &str) -> String {
    query(text).replace("%20", "+")
}

/// Text that stands in a URL or a form as it is sent: what may not stand there is encoded, all else is kept.
pub(super) fn sent(text: &str) -> String {
    encode(text, |byte| {
        byte.is_ascii_graphic() && !matches!(byte, b'"' | b'<' | b'>' | b'`')
    })
}

/// A segment of a path as it is written: the path set of the URL standard.
pub(super) fn path(text: &str) -> String {
    encode(text, |byte| {
        byte.is_ascii_graphic()
            && !matches!(
                byte,
                b'"' | b'<' | b'>' | b'`' | b'#' | b'?' | b'{' | b'}' | b'^'
            )
    })
}

fn unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~')
}

fn encode(text: &str, keep: impl Fn(u8) -> bool) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        if keep(byte) {
            encoded.push(char::from(byte));
        } else {
            // Writing to a string does not fail.
            let _ = write!(encoded, "%{byte:02X}");
        }
    }
    encoded
}

/// What a form says: `+` is a space, `%XX` a byte; what is not UTF-8 then is replaced.
pub(super) fn decode_form(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'+' => b' ',
            b'%' => {
                let mut ahead = rest.clone();
                let pair = (ahead.next().and_then(hex), ahead.next().and_then(hex));
                if let (Some(high), Some(low)) = pair {
                    rest = ahead;
                    high << 4 | low
                } else {
                    b'%'
                }
            }
            other => other,
        });
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn hex(byte: u8) -> Option<u8> {
    char::from(byte)
        .to_digit(16)
        .and_then(|digit| u8::try_from(digit).ok())
}
