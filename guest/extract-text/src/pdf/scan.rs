//! Finding objects without a cross-reference: a look through the whole file, once.

use super::lexer::{Lexer, Place, is_regular, is_space};
use super::object::{Dict, Object};

/// Values of one trailer at most, and trailers at most.
const MAX_NODES: usize = 10_000;
const MAX_TRAILERS: usize = 64;

/// Bytes that are read as trailers at most: 16 MiB.
const MAX_READ: usize = 16_777_216;

/// How far behind `obj` the type of an object is looked for.
const HEAD: usize = 512;

/// Bytes of `7 0 obj` at most.
const MAX_HEADER: usize = 128;

/// What was found.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// Numbers and places, in the order of the file: the last of a number counts.
    pub(super) objects: Vec<(u32, usize)>,
    /// Trailers, and dictionaries that serve as one.
    pub(super) trailers: Vec<Dict>,
}

/// Looks for `7 0 obj`, `trailer` and, in their place, for cross-reference streams and catalogs.
pub(super) fn scan(file: &[u8]) -> Found {
    let mut found = Found::default();
    let mut left = MAX_READ;
    let mut kind = next_kind(file, 0);
    let mut at = 0;
    while let Some(position) = memchr(file, at) {
        at = position.saturating_add(1);
        let rest = file.get(position..).unwrap_or_default();
        if rest.starts_with(b"obj")
            && let Some((number, begin)) = header_before(file, position)
        {
            found.objects.push((number, begin));
            let behind = position.saturating_add(3);
            if kind < behind {
                kind = next_kind(file, behind);
            }
            if kind.saturating_sub(behind) < HEAD {
                trailer_in(file, behind, number, &mut found, &mut left);
            }
        } else if rest.starts_with(b"trailer") && found.trailers.len() < MAX_TRAILERS {
            let place = position.saturating_add(7);
            if let Some(dict) = dict_at(file, place, &mut left) {
                found.trailers.push(dict);
            }
        }
    }
    found
}

/// The next `o` of `obj` or `t` of `trailer`.
fn memchr(file: &[u8], from: usize) -> Option<usize> {
    let rest = file.get(from..)?;
    let at = rest.iter().position(|byte| matches!(byte, b'o' | b't'))?;
    Some(from.saturating_add(at))
}

/// The number before `obj`, and where it begins.
fn header_before(file: &[u8], obj: usize) -> Option<(u32, usize)> {
    let before = file.get(obj.saturating_sub(24)..obj)?;
    let (rest, spaces) = split_end(before, is_space);
    let (rest, generation) = split_end(rest, |byte| byte.is_ascii_digit());
    let (rest, between) = split_end(rest, is_space);
    let (_, number) = split_end(rest, |byte| byte.is_ascii_digit());
    if generation.is_empty() || between.is_empty() || number.is_empty() {
        return None;
    }
    let length = [spaces, generation, between, number]
        .iter()
        .map(|part| part.len())
        .sum::<usize>();
    let number = std::str::from_utf8(number).ok()?.parse().ok()?;
    Some((number, obj.checked_sub(length)?))
}

fn split_end(bytes: &[u8], belongs: impl Fn(u8) -> bool) -> (&[u8], &[u8]) {
    let count = bytes
        .iter()
        .rev()
        .take_while(|byte| belongs(**byte))
        .count();
    bytes.split_at(bytes.len().saturating_sub(count))
}

/// The next place of `/XRef` or `/Catalog`, or beyond the file.
fn next_kind(file: &[u8], from: usize) -> usize {
    let mut from = from;
    while let Some(rest) = file.get(from..) {
        let Some(at) = rest.iter().position(|byte| *byte == b'/') else {
            break;
        };
        let name = rest.get(at..).unwrap_or_default();
        from = from.saturating_add(at);
        if name.starts_with(b"/XRef") || name.starts_with(b"/Catalog") {
            return from;
        }
        from = from.saturating_add(1);
    }
    usize::MAX
}

/// A dictionary at a place, within the bytes that may still be read.
fn dict_at(file: &[u8], at: usize, left: &mut usize) -> Option<Dict> {
    if *left == 0 {
        return None;
    }
    let mut lexer = Lexer::new(file, at, Place::File, MAX_NODES);
    let object = lexer.object();
    *left = left.saturating_sub(lexer.position().saturating_sub(at));
    match object {
        Some(Object::Dict(dict)) => Some(dict),
        _ => None,
    }
}

/// A catalog or a cross-reference stream tells what a lost trailer did.
fn trailer_in(file: &[u8], at: usize, number: u32, found: &mut Found, left: &mut usize) {
    if found.trailers.len() >= MAX_TRAILERS {
        return;
    }
    let Some(dict) = dict_at(file, at, left) else {
        return;
    };
    if dict.is("Type", "XRef") {
        found.trailers.push(dict);
    } else if dict.is("Type", "Catalog") {
        let mut trailer = Dict::default();
        trailer.insert((*b"Root").into(), Object::Reference(number));
        // A real trailer counts before a guess.
        found.trailers.insert(0, trailer);
    }
}

/// Whether an object of that number begins at a place.
pub(super) fn is_object(file: &[u8], at: usize, number: u32) -> bool {
    let end = file.len().min(at.saturating_add(MAX_HEADER));
    let mut lexer = Lexer::new(file.get(at..end).unwrap_or_default(), 0, Place::File, 0);
    lexer.unsigned() == Some(number) && lexer.unsigned().is_some() && lexer.eat(b"obj") && {
        // `objx` is no object.
        !lexer
            .peek()
            .is_some_and(|byte| is_regular(byte) && byte.is_ascii_alphabetic())
    }
}
