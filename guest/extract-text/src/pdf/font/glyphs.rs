//! What the names of glyphs say: by the list beside this file and by the rules of the Adobe Glyph List
//! Specification for `uni20AC`, `u1F600`, `f_f_i` and `a.alt`.

use std::cmp::Ordering;

/// Lines of `name character`, sorted by name.
const LIST: &str = include_str!("glyphs.txt");

/// Bytes of a name at most.
const MAX_NAME: usize = 127;

/// The text of a glyph.
pub(super) fn text(name: &[u8]) -> Option<String> {
    let name = std::str::from_utf8(name)
        .ok()
        .filter(|name| name.len() <= MAX_NAME)?;
    let name = name.split('.').next().filter(|name| !name.is_empty())?;
    let mut text = String::new();
    for part in name.split('_') {
        push(part, &mut text);
    }
    Some(text).filter(|text| !text.is_empty())
}

fn push(name: &str, text: &mut String) {
    if let Some(found) = listed(name) {
        return text.push_str(found);
    }
    if let Some(digits) = name.strip_prefix("uni")
        && digits.len() >= 4
        && digits.len().is_multiple_of(4)
    {
        let (units, _) = digits.as_bytes().as_chunks::<4>();
        return text.extend(units.iter().filter_map(|unit| hexadecimal(unit)));
    }
    if let Some(digits) = name.strip_prefix('u')
        && (4..=6).contains(&digits.len())
    {
        text.extend(hexadecimal(digits.as_bytes()));
    }
}

fn hexadecimal(digits: &[u8]) -> Option<char> {
    if !digits
        .iter()
        .all(|digit| matches!(digit, b'0'..=b'9' | b'A'..=b'F'))
    {
        return None;
    }
    let digits = std::str::from_utf8(digits).ok()?;
    char::from_u32(u32::from_str_radix(digits, 16).ok()?)
}

/// A binary search for the line of a name.
fn listed(name: &str) -> Option<&'static str> {
    let mut list = LIST;
    while !list.is_empty() {
        let middle = list.floor_char_boundary(list.len() / 2);
        let begin = list
            .get(..middle)?
            .rfind('\n')
            .map_or(0, |at| at.saturating_add(1));
        let end = list
            .get(begin..)?
            .find('\n')
            .map_or(list.len(), |at| begin.saturating_add(at));
        let (found, text) = list.get(begin..end)?.split_once(' ')?;
        match name.cmp(found) {
            Ordering::Equal => return Some(text),
            Ordering::Less => list = list.get(..begin)?,
            Ordering::Greater => list = list.get(end.saturating_add(1)..).unwrap_or_default(),
        }
    }
    None
}
