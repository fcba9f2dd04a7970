//! The forms in which a value may come back.

use std::ops::Range;

use base64::Engine as _;
use base64::engine::GeneralPurpose;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use memchr::memmem;
use zeroize::Zeroizing;

use super::unescape::{Escapes, Unescaped};
use super::{REDACTED, SHORTEST};

/// One form of a value.
pub(super) struct Form {
    text: Zeroizing<Vec<u8>>,
    kind: Kind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// The value itself, however characters of it are escaped.
    Plain,
    /// Base64; beside it may stand characters that hold bits of it.
    Base64 { before: bool, after: bool },
}

/// Raw, percent-encoded and JSON-escaped are one form, whichever characters a writer escapes; base64, wherever it begins.
/// None of a value that is too short.
pub(super) fn forms(value: &str) -> Vec<Form> {
    if value.len() < SHORTEST {
        return Vec::new();
    }
    let mut forms = vec![Form {
        text: Zeroizing::new(value.as_bytes().to_vec()),
        kind: Kind::Plain,
    }];
    for engine in [&STANDARD_NO_PAD, &URL_SAFE_NO_PAD] {
        for shift in 0..=2 {
            let form = base64(engine, value, shift);
            if form.text.len() >= SHORTEST && !forms.iter().any(|known| known.text == form.text) {
                forms.push(form);
            }
        }
    }
    forms
}

impl Form {
    /// Bytes of it.
    pub(super) fn len(&self) -> usize {
        self.text.len()
    }

    /// The bytes without it; none where it does not occur.
    pub(super) fn replace(&self, bytes: &[u8]) -> Option<Vec<u8>> {
        let Kind::Base64 { before, after } = self.kind else {
            return self.replace_escaped(bytes);
        };
        if !Escapes::Lines.may_hide(&self.text, bytes) {
            return without(bytes, self.in_base64(bytes, before, after));
        }
        let read = Unescaped::read(bytes, Escapes::Lines);
        let found = self.in_base64(&read.bytes, before, after);
        without(bytes, found.filter_map(|place| read.source(place)))
    }

    /// Where it stands, with the characters beside it that hold bits of it.
    fn in_base64<'a>(
        &'a self,
        bytes: &'a [u8],
        before: bool,
        after: bool,
    ) -> impl Iterator<Item = Range<usize>> + 'a {
        let is_ours = |at: usize| {
            let byte = bytes.get(at);
            byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || b"+/-_".contains(byte))
        };
        memmem::find_iter(bytes, self.text.as_slice()).map(move |at| {
            let end = at.saturating_add(self.text.len());
            let first = at.checked_sub(1).filter(|first| before && is_ours(*first));
            let last = if after && is_ours(end) {
                end.saturating_add(1)
            } else {
                end
            };
            first.unwrap_or(at)..last
        })
    }

    fn replace_escaped(&self, bytes: &[u8]) -> Option<Vec<u8>> {
        let value = self.text.as_slice();
        let plain = memmem::find_iter(bytes, value).map(|at| at..at.saturating_add(value.len()));
        let mut replaced = without(bytes, plain);
        for escapes in [Escapes::Percent, Escapes::Form, Escapes::Json] {
            let left = replaced.as_deref().unwrap_or(bytes);
            if !escapes.may_hide(value, left) {
                continue;
            }
            let read = Unescaped::read(left, escapes);
            let found = memmem::find_iter(&read.bytes, value)
                .filter_map(|at| read.source(at..at.saturating_add(value.len())));
            if let Some(new) = without(left, found) {
                replaced = Some(new);
            }
        }
        replaced
    }
}

/// The bytes with these places replaced, which are in order; none where there is no place.
fn without(bytes: &[u8], places: impl Iterator<Item = Range<usize>>) -> Option<Vec<u8>> {
    let mut replaced: Option<Vec<u8>> = None;
    let mut done = 0;
    for place in places {
        let replaced = replaced.get_or_insert_default();
        replaced.extend_from_slice(bytes.get(done..place.start).unwrap_or_default());
        replaced.extend_from_slice(REDACTED.as_bytes());
        done = place.end;
    }
    let mut replaced = replaced?;
    replaced.extend_from_slice(bytes.get(done..).unwrap_or_default());
    Some(replaced)
}

/// What of the encoded text depends on the value alone, when `shift` bytes stand before it in its group of three: so it is
/// found within a longer text (`user:value`) too.
fn base64(engine: &GeneralPurpose, value: &str, shift: usize) -> Form {
    let mut bytes = Zeroizing::new(vec![0; shift]);
    bytes.extend_from_slice(value.as_bytes());
    let encoded = Zeroizing::new(engine.encode(&*bytes));
    let first = if shift == 0 {
        0
    } else {
        shift.saturating_add(1)
    };
    // The last character holds bits of what follows, unless a group ends with the value.
    let after = !bytes.len().is_multiple_of(3);
    let last = encoded.len().saturating_sub(usize::from(after));
    let text = encoded.get(first..last).unwrap_or_default();
    Form {
        text: Zeroizing::new(text.as_bytes().to_vec()),
        kind: Kind::Base64 {
            before: shift > 0,
            after,
        },
    }
}
