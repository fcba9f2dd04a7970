//! What a text says of its own encoding: in a `<meta>` of HTML, or in an XML declaration.
//!
//! Both look at the beginning of the text as if it were ASCII. What they find is a hint of the author, so an
//! unknown label is passed over.

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};

/// Bytes that are looked at (HTML Standard, 13.2.3.2).
const LOOKED_AT: usize = 1_024;

const SPACE: [char; 5] = ['\t', '\n', '\u{C}', '\r', ' '];
const QUOTES: [char; 2] = ['"', '\''];

/// What the first `<meta>` with a known encoding names.
pub(super) fn by_meta(bytes: &[u8]) -> Option<&'static Encoding> {
    let head = head(bytes);
    let mut rest = head.as_str();
    loop {
        rest = rest.get(rest.find('<')?.saturating_add(1)..)?;
        if let Some(comment) = rest.strip_prefix('!').filter(|text| text.starts_with("--")) {
            // The dashes of the beginning may be those of the end.
            rest = comment.split_once("-->")?.1;
        } else if rest.starts_with(|c: char| c.is_ascii_alphabetic() || "!/?".contains(c)) {
            let (tag, after) = rest.split_once('>')?;
            if let Some(encoding) = tag.strip_prefix("meta").and_then(of_attributes) {
                return Some(encoding);
            }
            rest = after;
        }
    }
}

/// What an XML declaration names, or the code units that it is written in.
pub(super) fn by_xml(bytes: &[u8]) -> Option<&'static Encoding> {
    if bytes.starts_with(b"<\0?\0x\0") {
        return Some(UTF_16LE);
    }
    if bytes.starts_with(b"\0<\0?\0x") {
        return Some(UTF_16BE);
    }
    let head = head(bytes);
    let (declaration, _) = head.strip_prefix("<?xml")?.split_once('>')?;
    let value = value(declaration.split_once("encoding")?.1)?;
    value.starts_with(QUOTES).then(|| known(value))?
}

/// The beginning of a text, in lower case.
fn head(bytes: &[u8]) -> String {
    let head = bytes.get(..LOOKED_AT).unwrap_or(bytes);
    String::from_utf8_lossy(head).to_ascii_lowercase()
}

/// What the attributes of one `<meta>` name: `charset=…`, or within `content` where it stands for a header.
fn of_attributes(attributes: &str) -> Option<&'static Encoding> {
    if !attributes.starts_with(|c| SPACE.contains(&c) || c == '/') {
        return None;
    }
    let is_header = attributes.contains("http-equiv") && attributes.contains("content-type");
    attributes.match_indices("charset").find_map(|(at, name)| {
        let (before, after) = attributes.split_at_checked(at)?;
        let is_attribute = before.ends_with(|c| SPACE.contains(&c) || c == '/')
            && before.matches(QUOTES).count().is_multiple_of(2);
        let value = value(after.strip_prefix(name)?)?;
        (is_attribute || is_header).then(|| known(value))?
    })
}

/// What follows an equals sign.
fn value(text: &str) -> Option<&str> {
    let value = text.trim_start_matches(SPACE).strip_prefix('=')?;
    Some(value.trim_start_matches(SPACE))
}

/// The encoding of the label at the beginning of a text, which was read as ASCII, so that it can be none of two bytes for
/// each character.
fn known(value: &str) -> Option<&'static Encoding> {
    let label = match value.chars().next().filter(|c| QUOTES.contains(c)) {
        Some(quote) => value.get(1..)?.split_once(quote)?.0,
        None => {
            let ends = |c| SPACE.contains(&c) || QUOTES.contains(&c) || c == ';';
            value.split(ends).next()?
        }
    };
    let encoding = Encoding::for_label(label.as_bytes())?;
    Some(if encoding == UTF_16LE || encoding == UTF_16BE {
        UTF_8
    } else if encoding == encoding_rs::X_USER_DEFINED {
        WINDOWS_1252
    } else {
        encoding
    })
}
