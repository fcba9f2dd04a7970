//! Paths of `os://` URIs.

use percent_encoding::{percent_decode_str, percent_encode_byte};

use super::Unresolved;

/// The canonical URI of `path` in `folder`, which is a canonical path without a slash at its end.
pub(super) fn canonical(folder: &str, path: &str) -> Result<String, Unresolved> {
    // The grammar holds for the whole text before any segment counts.
    check(path)?;
    let mut uri = String::with_capacity(6 + folder.len() + path.len());
    uri.push_str("os://");
    let root = uri.len();
    uri.push_str(folder);
    for segment in path.split('/') {
        let begin = uri.len();
        if begin > root && !segment.is_empty() {
            uri.push('/');
        }
        let text = uri.len();
        push_segment(&mut uri, segment);
        match uri.get(text..).unwrap_or_default() {
            "" | "." => uri.truncate(begin),
            ".." => {
                uri.truncate(begin);
                // An escape is refused, not clamped.
                let parent = uri.get(root..).filter(|path| !path.is_empty());
                let parent = parent.ok_or(Unresolved::Escape)?;
                let keep = parent.rfind('/').unwrap_or(0);
                uri.truncate(root + keep);
            }
            _ => {}
        }
    }
    Ok(uri)
}

/// Refuses what the grammar does not have: `?`, `\`, controls, broken escapes, `%00`, `%2F` and `%5C`.
fn check(path: &str) -> Result<(), Unresolved> {
    let mut bytes = path.as_bytes();
    while let Some((byte, rest)) = bytes.split_first() {
        bytes = rest;
        match byte {
            b'?' | b'\\' | 0x00..=0x1F | 0x7F => return Err(Unresolved::Failed),
            b'%' => {
                let decoded = escape(rest).ok_or(Unresolved::Failed)?;
                if matches!(decoded, 0 | b'/' | b'\\') {
                    return Err(Unresolved::Failed);
                }
            }
            _ => {}
        }
    }
    Ok(())
}

/// The byte that two hexadecimal digits at the beginning stand for.
fn escape(digits: &[u8]) -> Option<u8> {
    let [high, low, ..] = digits else {
        return None;
    };
    let value = |digit: u8| char::from(digit).to_digit(16);
    u8::try_from(value(*high)? << 4 | value(*low)?).ok()
}

/// Appends a segment with what is unreserved decoded and what must not stand bare encoded.
fn push_segment(uri: &mut String, segment: &str) {
    let mut rest = segment;
    while let Some(character) = rest.chars().next() {
        let (head, tail) = rest.split_at(character.len_utf8());
        rest = tail;
        match character {
            '%' => {
                if let Some(byte) = escape(tail.as_bytes()) {
                    if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~') {
                        uri.push(char::from(byte));
                    } else {
                        uri.push_str(percent_encode_byte(byte));
                    }
                    rest = tail.get(2..).unwrap_or_default();
                }
            }
            ' ' | '"' | '<' | '>' | '`' | '{' | '}' | '^' | '|' => push_escapes(uri, head),
            _ if !character.is_ascii() => push_escapes(uri, head),
            _ => uri.push(character),
        }
    }
}

fn push_escapes(uri: &mut String, text: &str) {
    uri.extend(text.bytes().map(percent_encode_byte));
}

/// The virtual path of a canonical path, escapes decoded; none if they are not UTF-8.
pub(super) fn virtual_path(path: &str) -> Option<String> {
    let decoded = percent_decode_str(path).decode_utf8().ok()?;
    Some(match &*decoded {
        "" => "/os".to_owned(),
        path => format!("/os/{path}"),
    })
}
