//! sort and uniq.

use std::cmp::Ordering;

use super::{flags, lines};

/// `-r`, `-u`, `-n`: whole lines, by their bytes or by the number they begin with.
pub(super) fn sort(args: &[&str], input: &[u8]) -> Option<Vec<u8>> {
    let chosen = flags(args, "run")?;
    let (reverse, unique, numeric) = (
        chosen.contains('r'),
        chosen.contains('u'),
        chosen.contains('n'),
    );
    let key = |a: &[u8], b: &[u8]| {
        if numeric {
            number(a).cmp(&number(b))
        } else {
            a.cmp(b)
        }
    };
    let mut all: Vec<&[u8]> = lines(input).collect();
    all.sort_by(|a, b| {
        let by_key = key(a, b);
        // What is equal by its key is ordered by its bytes, unless only one of it stays.
        let order = if by_key == Ordering::Equal && !unique {
            a.cmp(b)
        } else {
            by_key
        };
        if reverse { order.reverse() } else { order }
    });
    if unique {
        all.dedup_by(|later, earlier| key(later, earlier) == Ordering::Equal);
    }
    Some(joined(all))
}

fn joined(lines: Vec<&[u8]>) -> Vec<u8> {
    let mut out = Vec::with_capacity(lines.iter().map(|line| line.len() + 1).sum());
    for line in lines {
        out.extend_from_slice(line);
        out.push(b'\n');
    }
    out
}

/// A number as its text has it, of any length.
#[derive(PartialEq, Eq)]
struct Number<'a> {
    negative: bool,
    whole: &'a [u8],
    fraction: &'a [u8],
}

fn number(line: &[u8]) -> Number<'_> {
    let blanks = line
        .iter()
        .take_while(|byte| matches!(byte, b' ' | b'\t'))
        .count();
    let line = line.get(blanks..).unwrap_or_default();
    let (negative, line) = match line.strip_prefix(b"-") {
        Some(rest) => (true, rest),
        None => (false, line),
    };
    let (whole, rest) = digits(line);
    let fraction = rest
        .strip_prefix(b".")
        .map_or(&[][..], |rest| digits(rest).0);
    let zeros = whole.iter().take_while(|digit| **digit == b'0').count();
    let whole = whole.get(zeros..).unwrap_or_default();
    let end = fraction
        .iter()
        .rposition(|digit| *digit != b'0')
        .map_or(0, |last| last + 1);
    let fraction = fraction.get(..end).unwrap_or_default();
    Number {
        // There is no negative nothing.
        negative: negative && !(whole.is_empty() && fraction.is_empty()),
        whole,
        fraction,
    }
}

fn digits(text: &[u8]) -> (&[u8], &[u8]) {
    let count = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    text.split_at_checked(count).unwrap_or((text, &[]))
}

impl Ord for Number<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        let size = |a: &Self, b: &Self| {
            (a.whole.len(), a.whole, a.fraction).cmp(&(b.whole.len(), b.whole, b.fraction))
        };
        match (self.negative, other.negative) {
            (false, false) => size(self, other),
            (true, true) => size(other, self),
            (true, false) => Ordering::Less,
            (false, true) => Ordering::Greater,
        }
    }
}

impl PartialOrd for Number<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// `-c`, `-d`, `-u`, `-i`.
pub(super) fn uniq(args: &[&str], input: &[u8]) -> Option<Vec<u8>> {
    let chosen = flags(args, "cdui")?;
    let folds = chosen.contains('i');
    let same = |a: &[u8], b: &[u8]| {
        if folds {
            a.eq_ignore_ascii_case(b)
        } else {
            a == b
        }
    };
    let mut out = Vec::with_capacity(input.len());
    let mut put = |line: &[u8], count: usize| {
        if count == 0 || chosen.contains('d') && count == 1 || chosen.contains('u') && count > 1 {
            return;
        }
        if chosen.contains('c') {
            out.extend_from_slice(format!("{count:7} ").as_bytes());
        }
        out.extend_from_slice(line);
        out.push(b'\n');
    };
    let mut current: (&[u8], usize) = (&[], 0);
    for line in lines(input) {
        if current.1 > 0 && same(current.0, line) {
            current.1 += 1;
        } else {
            put(current.0, current.1);
            current = (line, 1);
        }
    }
    put(current.0, current.1);
    Some(out)
}
