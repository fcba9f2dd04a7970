//! Numbers of options that may lower a limit.

use std::time::Duration;

use crate::draft::Template;

/// The number of an option, none where it is a variable or lowers nothing; none at all for a text that begins no number.
pub(super) fn of_option(value: &Template, read: fn(&str) -> Option<u64>) -> Option<Option<u64>> {
    let Some(text) = value.as_literal() else {
        return Some(None);
    };
    let is_number = text.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '.' | '-'));
    is_number.then(|| read(&text))
}

/// Seconds, perhaps with a fraction, in milliseconds. None for 0, which takes a limit away, and for what is no number.
///
/// What is left after three digits of the fraction is dropped, but what is above 0 stays at least 1.
pub(super) fn milliseconds(text: &str) -> Option<u64> {
    let is_plain = text
        .bytes()
        .all(|byte| byte.is_ascii_digit() || byte == b'.');
    let seconds: f64 = text.parse().ok().filter(|_| is_plain)?;
    // What is too great for a duration lowers nothing.
    let whole = Duration::try_from_secs_f64(seconds).map_or(u128::MAX, |span| span.as_millis());
    (seconds > 0.0).then(|| u64::try_from(whole).unwrap_or(u64::MAX).max(1))
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
    let bytes = count(digits)?.saturating_mul(unit);
    (bytes > 0).then_some(bytes)
}

/// A count. None for what is no number, `-1` among it. One that is too great counts as the greatest there is.
pub(super) fn count(text: &str) -> Option<u64> {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| text.parse().unwrap_or(u64::MAX))
}
