//! What a text says of its own encoding: the prescan of the HTML Standard, and the XML declaration.
//!
//! Both look at the beginning of the text as if it were ASCII. What they find is a hint of the author, so an
//! unknown label is passed over.

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};

/// Bytes that are looked at (HTML Standard, 13.2.3.2).
const LOOKED_AT: usize = 1_024;

/// What the first `<meta>` with a known encoding names.
pub(super) fn by_meta(bytes: &[u8]) -> Option<&'static Encoding> {
    let mut rest = bytes.get(..LOOKED_AT).unwrap_or(bytes);
    loop {
        rest = rest.get(rest.iter().position(|&byte| byte == b'<')?..)?;
        if rest.starts_with(b"<!--") {
            // The dashes of the beginning may be those of the end.
            rest = after(rest.get(2..)?, b"-->")?;
        } else if let Some(inside) = meta(rest) {
            let mut attributes = Attributes(inside);
            if let Some(encoding) = declared(&mut attributes) {
                return Some(encoding);
            }
            rest = attributes.0;
        } else if let Some(name) = tag(rest) {
            let end = name
                .iter()
                .position(|&byte| is_space(byte) || byte == b'>')?;
            let mut attributes = Attributes(name.get(end..)?);
            while attributes.next().is_some() {}
            rest = attributes.0;
        } else if matches!(rest.get(1)?, b'!' | b'/' | b'?') {
            rest = after(rest, b">")?;
        } else {
            rest = rest.get(1..)?;
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
    let bytes = bytes.get(..LOOKED_AT).unwrap_or(bytes);
    let declaration = bytes.strip_prefix(b"<?xml")?;
    let end = declaration.iter().position(|&byte| byte == b'>')?;
    let value = after(declaration.get(..end)?, b"encoding")?.trim_ascii_start();
    let value = value.strip_prefix(b"=")?.trim_ascii_start();
    let (quote, value) = value.split_first().filter(|(quote, _)| is_quote(**quote))?;
    let label = value.get(..value.iter().position(|byte| byte == quote)?)?;
    as_written_in_ascii(label)
}

/// What follows the name of a `<meta>`.
fn meta(text: &[u8]) -> Option<&[u8]> {
    let (name, rest) = text.split_at_checked(5)?;
    let ends = rest
        .first()
        .is_some_and(|&byte| is_space(byte) || byte == b'/');
    (name.eq_ignore_ascii_case(b"<meta") && ends).then_some(rest)
}

/// The name of a tag and what follows it.
fn tag(text: &[u8]) -> Option<&[u8]> {
    let inside = text.strip_prefix(b"<")?;
    let name = inside.strip_prefix(b"/").unwrap_or(inside);
    name.first()?.is_ascii_alphabetic().then_some(name)
}

/// What the attributes of one `<meta>` name.
fn declared(attributes: &mut Attributes<'_>) -> Option<&'static Encoding> {
    let (mut is_pragma, mut content, mut charset) = (false, None, None);
    let mut seen: Vec<Vec<u8>> = Vec::new();
    for (name, value) in &mut *attributes {
        if seen.contains(&name) {
            continue;
        }
        match name.as_slice() {
            b"http-equiv" => is_pragma = value.eq_ignore_ascii_case(b"content-type"),
            b"content" => content = in_content(value),
            b"charset" => charset = Some(value),
            _ => {}
        }
        seen.push(name);
    }
    // Of a tag that has no end within what is looked at nothing holds.
    attributes.0.first()?;
    // A `charset` decides even if nobody knows it.
    match charset {
        Some(label) => as_written_in_ascii(label),
        None => is_pragma
            .then_some(content)
            .flatten()
            .and_then(as_written_in_ascii),
    }
}

/// The label in `text/html; charset=…`.
fn in_content(value: &[u8]) -> Option<&[u8]> {
    let mut rest = value;
    loop {
        rest = after_ignoring_case(rest, b"charset")?.trim_ascii_start();
        if let Some(label) = rest.strip_prefix(b"=") {
            let label = label.trim_ascii_start();
            return match label.split_first() {
                Some((quote, quoted)) if is_quote(*quote) => {
                    quoted.get(..quoted.iter().position(|byte| byte == quote)?)
                }
                _ => label.split(|&byte| is_space(byte) || byte == b';').next(),
            };
        }
    }
}

/// The encoding of a label that was read as ASCII, so it can be none of two bytes for each character.
fn as_written_in_ascii(label: &[u8]) -> Option<&'static Encoding> {
    let encoding = Encoding::for_label(label)?;
    if encoding == UTF_16LE || encoding == UTF_16BE {
        Some(UTF_8)
    } else if encoding == encoding_rs::X_USER_DEFINED {
        Some(WINDOWS_1252)
    } else {
        Some(encoding)
    }
}

/// The attributes of a tag; what is left begins with what ended them.
struct Attributes<'a>(&'a [u8]);

impl<'a> Iterator for Attributes<'a> {
    /// The name in lower case, and the value as it stands.
    type Item = (Vec<u8>, &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        self.skip(|byte| is_space(byte) || byte == b'/');
        if matches!(self.0.first(), None | Some(b'>')) {
            return None;
        }
        // A name may begin with an equals sign, and only there hold one.
        let ends = |&byte: &u8| is_space(byte) || matches!(byte, b'/' | b'>' | b'=');
        let position = self.0.iter().skip(1).position(ends);
        let length = position.map_or(self.0.len(), |position| position.saturating_add(1));
        let (name, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some((name.to_ascii_lowercase(), self.value()?))
    }
}

impl<'a> Attributes<'a> {
    /// The value that follows a name; empty without one. None when the text ends within it.
    fn value(&mut self) -> Option<&'a [u8]> {
        self.skip(is_space);
        let Some(value) = self.0.strip_prefix(b"=") else {
            return Some(&[]);
        };
        self.0 = value;
        self.skip(is_space);
        let (&first, rest) = self.0.split_first()?;
        if !is_quote(first) {
            return Some(self.take_until(|byte| is_space(byte) || byte == b'>'));
        }
        self.0 = rest;
        let value = self.take_until(|byte| byte == first);
        self.0 = self.0.get(1..)?;
        Some(value)
    }

    fn skip(&mut self, skipped: impl Fn(u8) -> bool) {
        self.take_until(|byte| !skipped(byte));
    }

    fn take_until(&mut self, ends: impl Fn(u8) -> bool) -> &'a [u8] {
        let position = self.0.iter().position(|&byte| ends(byte));
        let (taken, rest) = self.0.split_at(position.unwrap_or(self.0.len()));
        self.0 = rest;
        taken
    }
}

fn after<'a>(text: &'a [u8], sought: &[u8]) -> Option<&'a [u8]> {
    let position = text
        .windows(sought.len())
        .position(|window| window == sought)?;
    text.get(position.saturating_add(sought.len())..)
}

fn after_ignoring_case<'a>(text: &'a [u8], sought: &[u8]) -> Option<&'a [u8]> {
    let mut windows = text.windows(sought.len());
    let position = windows.position(|window| window.eq_ignore_ascii_case(sought))?;
    text.get(position.saturating_add(sought.len())..)
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b'\t' | b'\n' | 0x0C | b'\r' | b' ')
}

fn is_quote(byte: u8) -> bool {
    matches!(byte, b'"' | b'\'')
}
