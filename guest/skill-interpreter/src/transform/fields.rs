//! cut.

use super::lines;

/// What is cut out.
enum Unit {
    Bytes,
    Fields,
}

/// `-b LIST`, `-c LIST`, or `-f LIST` with `-d X` and `-s`; values in the same word or the next.
pub(super) fn cut(args: &[&str], input: &[u8]) -> Option<Vec<u8>> {
    let mut unit = None;
    let mut delimiter = b'\t';
    let mut has_delimiter = false;
    let mut only_delimited = false;
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        let mut letters = arg.strip_prefix('-')?.chars();
        let letter = letters.next()?;
        if letter == 's' && letters.as_str().is_empty() {
            only_delimited = true;
            continue;
        }
        let value = match letters.as_str() {
            "" => *args.next()?,
            glued => glued,
        };
        match (letter, value.as_bytes()) {
            ('d', [one]) => {
                delimiter = *one;
                has_delimiter = true;
            }
            ('b' | 'c', _) if unit.is_none() => unit = Some((Unit::Bytes, list(value)?)),
            ('f', _) if unit.is_none() => unit = Some((Unit::Fields, list(value)?)),
            _ => return None,
        }
    }
    let (unit, list) = unit?;
    if matches!(unit, Unit::Bytes) && (has_delimiter || only_delimited) {
        return None;
    }
    let mut out = Vec::with_capacity(input.len());
    for line in lines(input) {
        match unit {
            Unit::Bytes => {
                for (index, byte) in line.iter().enumerate() {
                    if chosen(&list, index + 1) {
                        out.push(*byte);
                    }
                }
            }
            Unit::Fields if !line.contains(&delimiter) => {
                if only_delimited {
                    continue;
                }
                out.extend_from_slice(line);
            }
            Unit::Fields => {
                let mut first = true;
                for (index, field) in line.split(|byte| *byte == delimiter).enumerate() {
                    if chosen(&list, index + 1) {
                        if !std::mem::take(&mut first) {
                            out.push(delimiter);
                        }
                        out.extend_from_slice(field);
                    }
                }
            }
        }
        out.push(b'\n');
    }
    Some(out)
}

/// `1,3-5,-2,7-`: ascending ranges that do not touch, so that looking one up is quick.
fn list(text: &str) -> Option<Vec<(usize, usize)>> {
    let number = |text: &str| -> Option<usize> {
        (!text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()))
            .then(|| text.parse().ok())
            .flatten()
            .filter(|number| *number > 0)
    };
    let mut ranges = Vec::new();
    for part in text.split(',') {
        let range = match part.split_once('-') {
            None => {
                let one = number(part)?;
                (one, one)
            }
            Some(("", "")) => return None,
            Some(("", last)) => (1, number(last)?),
            Some((first, "")) => (number(first)?, usize::MAX),
            Some((first, last)) => (number(first)?, number(last)?),
        };
        if range.0 > range.1 {
            return None;
        }
        ranges.push(range);
    }
    ranges.sort_unstable();
    let mut merged: Vec<(usize, usize)> = Vec::with_capacity(ranges.len());
    for range in ranges {
        match merged.last_mut() {
            Some(last) if range.0 <= last.1.saturating_add(1) => last.1 = last.1.max(range.1),
            _ => merged.push(range),
        }
    }
    Some(merged)
}

fn chosen(ranges: &[(usize, usize)], position: usize) -> bool {
    let after = ranges.partition_point(|range| range.0 <= position);
    after
        .checked_sub(1)
        .and_then(|index| ranges.get(index))
        .is_some_and(|range| position <= range.1)
}
