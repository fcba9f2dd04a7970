//! Numbers of options that may lower a limit.

/// Seconds, perhaps with a fraction, in milliseconds. None for 0, which takes a limit away, and for what is no number.
///
/// What is left after three digits of the fraction is dropped, but what is above 0 stays at least 1.
pub(super) fn milliseconds(text: &str) -> Option<u64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    if !is_digits(whole) && !is_digits(fraction) || !is_number(whole) || !is_number(fraction) {
        return None;
    }
    let seconds: u64 = parse_digits(whole);
    let mut thousandths = 0;
    for place in 0..3 {
        let digit = fraction
            .chars()
            .nth(place)
            .and_then(|c| c.to_digit(10))
            .unwrap_or(0);
        thousandths = thousandths * 10 + u64::from(digit);
    }
    let above_zero = fraction.bytes().any(|byte| byte != b'0');
    let total = seconds.saturating_mul(1_000).saturating_add(thousandths);
    match total {
        0 if above_zero => Some(1),
        0 => None,
        _ => Some(total),
    }
}

/// Bytes, perhaps with `k`, `M` or `G` after them, as curl counts them. None for 0 and for what is no number.
pub(super) fn bytes(text: &str) -> Option<u64> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit: u64 = match text.strip_prefix(digits)? {
        "" | "b" | "B" => 1,
        "k" | "K" => 1 << 10,
        "m" | "M" => 1 << 20,
        "g" | "G" => 1 << 30,
        _ => return None,
    };
    is_digits(digits)
        .then(|| parse_digits(digits).saturating_mul(unit))
        .filter(|bytes| *bytes > 0)
}

/// A count. None for what is no number, `-1` among it.
pub(super) fn count(text: &str) -> Option<u64> {
    is_digits(text).then(|| parse_digits(text))
}

fn is_number(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && is_number(text)
}

/// A number too great counts as the greatest there is: it lowers nothing.
fn parse_digits(digits: &str) -> u64 {
    if digits.is_empty() {
        return 0;
    }
    digits.parse().unwrap_or(u64::MAX)
}
