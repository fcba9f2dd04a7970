//! K-284: the forms in which a value may come back.

use std::fmt::Write;

use base64::Engine as _;
use base64::engine::GeneralPurpose;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use zeroize::Zeroizing;

use super::{REDACTED, SHORTEST};

/// What percent-encoding leaves as it is: by RFC 3986, and by JavaScript's `encodeURIComponent`.
const PLAIN: [&[u8]; 2] = [b"-._~", b"-._~!'()*"];

/// Raw, percent-encoded, base64, JSON-escaped; each once. None of a value that is too short.
pub(crate) fn forms(value: &str) -> Vec<Zeroizing<Vec<u8>>> {
    if value.len() < SHORTEST {
        return Vec::new();
    }
    let mut forms: Vec<Zeroizing<Vec<u8>>> = Vec::new();
    let mut add = |form: &str| {
        if form.len() >= SHORTEST
            && !forms
                .iter()
                .any(|known| known.as_slice() == form.as_bytes())
        {
            forms.push(Zeroizing::new(form.as_bytes().to_vec()));
        }
    };
    add(value);
    for plain in PLAIN {
        for lower in [false, true] {
            let encoded = percent(value, plain, lower);
            add(&encoded);
            add(&Zeroizing::new(encoded.replace("%20", "+")));
        }
    }
    for ascii in [false, true] {
        let escaped = json(value, ascii);
        add(&escaped);
        add(&Zeroizing::new(escaped.replace('/', "\\/")));
    }
    for engine in [&STANDARD_NO_PAD, &URL_SAFE_NO_PAD] {
        for shift in 0..=2 {
            let encoded = base64(engine, value, shift);
            add(&encoded);
        }
    }
    forms
}

/// The bytes with `form` replaced; none where it does not occur.
pub(super) fn replace(bytes: &[u8], form: &[u8]) -> Option<Vec<u8>> {
    let (first, rest) = form.split_first()?;
    let mut replaced: Vec<u8> = Vec::new();
    let mut found = false;
    let mut left = bytes;
    while let Some(at) = left.iter().position(|byte| byte == first) {
        let (before, from) = left.split_at_checked(at)?;
        replaced.extend_from_slice(before);
        let behind = from.get(1..)?;
        match behind.strip_prefix(rest) {
            Some(after) => {
                found = true;
                replaced.extend_from_slice(REDACTED.as_bytes());
                left = after;
            }
            None => {
                replaced.push(*first);
                left = behind;
            }
        }
    }
    replaced.extend_from_slice(left);
    found.then_some(replaced)
}

fn percent(value: &str, plain: &[u8], lower: bool) -> Zeroizing<String> {
    let mut encoded = Zeroizing::new(String::with_capacity(value.len().saturating_mul(3)));
    for byte in value.bytes() {
        // Writing to a string does not fail.
        let _ = if byte.is_ascii_alphanumeric() || plain.contains(&byte) {
            encoded.write_char(char::from(byte))
        } else if lower {
            write!(encoded, "%{byte:02x}")
        } else {
            write!(encoded, "%{byte:02X}")
        };
    }
    encoded
}

/// Within quotes; `ascii`: everything else as `\u…`, as many writers do.
fn json(value: &str, ascii: bool) -> Zeroizing<String> {
    let mut escaped = Zeroizing::new(String::with_capacity(value.len().saturating_mul(6)));
    for c in value.chars() {
        let short = match c {
            '"' => "\\\"",
            '\\' => "\\\\",
            '\n' => "\\n",
            '\r' => "\\r",
            '\t' => "\\t",
            '\u{8}' => "\\b",
            '\u{c}' => "\\f",
            _ => "",
        };
        if !short.is_empty() {
            escaped.push_str(short);
        } else if c.is_ascii_control() || (ascii && !c.is_ascii()) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                // Writing to a string does not fail.
                let _ = write!(escaped, "\\u{unit:04x}");
            }
        } else {
            escaped.push(c);
        }
    }
    escaped
}

/// What of the encoded text depends on the value alone, when `shift` bytes stand before it in its group of three: so it is
/// found within a longer text (`user:value`) too.
fn base64(engine: &GeneralPurpose, value: &str, shift: usize) -> Zeroizing<String> {
    let mut bytes = Zeroizing::new(vec![0; shift]);
    bytes.extend_from_slice(value.as_bytes());
    let encoded = Zeroizing::new(engine.encode(&*bytes));
    let first = if shift == 0 {
        0
    } else {
        shift.saturating_add(1)
    };
    // The last character holds bits of what follows, unless a group ends with the value.
    let unsure = usize::from(!bytes.len().is_multiple_of(3));
    let last = encoded.len().saturating_sub(unsure);
    Zeroizing::new(encoded.get(first..last).unwrap_or_default().to_owned())
}
