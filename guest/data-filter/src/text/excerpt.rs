//! head and tail.

/// Where an excerpt begins or ends.
enum Bound {
    Count(usize),
    /// head: all but so many; tail: from that one on, counted from 1.
    Signed(usize),
}

pub(super) fn head(args: &[&str], input: &[u8]) -> Option<Vec<u8>> {
    let (by_lines, bound) = arguments(args, '-')?;
    let end = match (by_lines, bound) {
        (false, Bound::Count(count)) => count.min(input.len()),
        (false, Bound::Signed(count)) => input.len().saturating_sub(count),
        (true, Bound::Count(count)) => after_lines(input, count),
        (true, Bound::Signed(count)) => before_last_lines(input, count),
    };
    input.get(..end).map(<[u8]>::to_vec)
}

pub(super) fn tail(args: &[&str], input: &[u8]) -> Option<Vec<u8>> {
    let (by_lines, bound) = arguments(args, '+')?;
    let start = match (by_lines, bound) {
        (false, Bound::Count(count)) => input.len().saturating_sub(count),
        (false, Bound::Signed(first)) => first.saturating_sub(1).min(input.len()),
        (true, Bound::Count(count)) => before_last_lines(input, count),
        (true, Bound::Signed(first)) => after_lines(input, first.saturating_sub(1)),
    };
    input.get(start..).map(<[u8]>::to_vec)
}

/// `-n N` or `-c N`; nothing is ten lines.
fn arguments(args: &[&str], sign: char) -> Option<(bool, Bound)> {
    let (by_lines, value) = match args {
        [] => return Some((true, Bound::Count(10))),
        ["-n", value] => (true, *value),
        ["-c", value] => (false, *value),
        _ => return None,
    };
    let (signed, digits) = match value.strip_prefix(sign) {
        Some(digits) => (true, digits),
        None => (false, value),
    };
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    // More than that some say is an error.
    let count = digits.parse().ok()?;
    Some((
        by_lines,
        if signed {
            Bound::Signed(count)
        } else {
            Bound::Count(count)
        },
    ))
}

/// Where the line after so many lines begins.
fn after_lines(input: &[u8], count: usize) -> usize {
    if count == 0 {
        return 0;
    }
    ends(input)
        .nth(count - 1)
        .map_or(input.len(), |end| end + 1)
}

/// Where the last so many lines begin.
fn before_last_lines(input: &[u8], count: usize) -> usize {
    let ends: Vec<usize> = ends(input).collect();
    let unfinished = usize::from(!input.is_empty() && !input.ends_with(b"\n"));
    let total = ends.len() + unfinished;
    after_lines(input, total.saturating_sub(count))
}

fn ends(input: &[u8]) -> impl Iterator<Item = usize> {
    input
        .iter()
        .enumerate()
        .filter(|(_, byte)| **byte == b'\n')
        .map(|(index, _)| index)
}
