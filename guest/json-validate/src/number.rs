//! A number as it is written, and what it is worth (TS-127).
//!
//! Integers of 64 bits and everything that is compared with them are exact, as is the comparison of two numbers of
//! one instance. Against another number of a schema, which was read as a binary floating-point number of 64 bits,
//! a number is compared as such. A number beyond all of these (`1e400`) is an integer or not by its digits, greater
//! or less than every limit by its sign, equal to nothing in a schema, and a multiple of nothing.

use std::borrow::Cow;

use jsonschema::json::JsonNumber;

/// Digits of an integer of 64 bits at most.
const MOST_DIGITS: usize = 20;

/// A number of an instance.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Number<'a>(pub(crate) &'a str);

/// `digits` × 10^`exponent`, without zeros at either end of the digits; zero has no digits.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Decimal {
    pub(crate) negative: bool,
    pub(crate) digits: String,
    pub(crate) exponent: i64,
}

impl Decimal {
    /// Of a number in the grammar of JSON. An exponent beyond 64 bits counts as the greatest or the least one.
    pub(crate) fn of(text: &str) -> Self {
        let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        let exponent = exponent.parse().unwrap_or(if exponent.starts_with('-') {
            i64::MIN
        } else {
            i64::MAX
        });
        let negative = mantissa.starts_with('-');
        let mantissa = mantissa.trim_start_matches('-');
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let mut digits = String::with_capacity(mantissa.len());
        digits.push_str(whole.trim_start_matches('0'));
        digits.push_str(if digits.is_empty() {
            fraction.trim_start_matches('0')
        } else {
            fraction
        });
        let written = digits.len();
        digits.truncate(digits.trim_end_matches('0').len());
        if digits.is_empty() {
            return Self {
                negative: false,
                digits,
                exponent: 0,
            };
        }
        let zeros = written.saturating_sub(digits.len());
        Self {
            negative,
            digits,
            exponent: exponent
                .saturating_sub_unsigned(bytes(fraction.len()))
                .saturating_add_unsigned(bytes(zeros)),
        }
    }
}

fn bytes(length: usize) -> u64 {
    u64::try_from(length).unwrap_or(u64::MAX)
}

impl Number<'_> {
    /// As an integer, when it is one of at most 64 bits that is written with a fraction or an exponent.
    fn whole(self) -> Option<String> {
        if !self.0.contains(['.', 'e', 'E']) {
            return None;
        }
        let decimal = Decimal::of(self.0);
        let zeros = usize::try_from(decimal.exponent).ok()?;
        if decimal.digits.len().saturating_add(zeros) > MOST_DIGITS {
            return None;
        }
        let sign = if decimal.negative { "-" } else { "" };
        Some(format!(
            "{sign}{}{}",
            decimal.digits,
            "0".repeat(zeros.max(usize::from(decimal.digits.is_empty())))
        ))
    }

    /// Whether it is worth the same as a number of a schema.
    pub(crate) fn equals(self, expected: &serde_json::Number) -> bool {
        if let Some(expected) = expected.as_i64() {
            return self.as_i64() == Some(expected);
        }
        if let Some(expected) = expected.as_u64() {
            return self.as_u64() == Some(expected);
        }
        // Both were rounded by the same rule, so that equal decimals are equal here.
        self.as_f64()
            .is_some_and(|number| Some(number) == expected.as_f64())
    }
}

impl JsonNumber for Number<'_> {
    fn as_u64(&self) -> Option<u64> {
        self.0.parse().ok().or_else(|| self.whole()?.parse().ok())
    }

    fn as_i64(&self) -> Option<i64> {
        self.0.parse().ok().or_else(|| self.whole()?.parse().ok())
    }

    fn as_f64(&self) -> Option<f64> {
        self.0
            .parse()
            .ok()
            .filter(|number: &f64| number.is_finite())
    }

    fn as_str(&self) -> Cow<'_, str> {
        Cow::Borrowed(self.0)
    }

    fn to_number(&self) -> Cow<'_, serde_json::Number> {
        let greatest = || {
            if self.0.starts_with('-') {
                f64::MIN
            } else {
                f64::MAX
            }
        };
        let number = match (self.as_u64(), self.as_i64()) {
            (Some(number), _) => number.into(),
            (None, Some(number)) => number.into(),
            (None, None) => serde_json::Number::from_f64(self.as_f64().unwrap_or_else(greatest))
                .unwrap_or_else(|| 0.into()),
        };
        Cow::Owned(number)
    }

    fn is_integer(&self) -> bool {
        !self.0.contains(['.', 'e', 'E']) || Decimal::of(self.0).exponent >= 0
    }

    fn is_written_as_integer(&self) -> bool {
        !self.0.contains(['.', 'e', 'E'])
    }
}
