//! Values as jq writes them: indentation, key order, numbers, what JSON does not have.

use hydrant_plan::failure::{Code, Failure};
use jaq_json::{Num, Val};

use crate::OUTPUT_BYTES;
use crate::request::FilterRequest;

/// What a program may put out within each other. More than a program reads, as it may wrap what it read.
const NESTING: usize = 2 * super::INPUT_NESTING;

/// Collects the output of a program.
pub(super) struct Writer<'a> {
    request: &'a FilterRequest,
    out: Vec<u8>,
    last_is_true: bool,
}

impl<'a> Writer<'a> {
    pub(super) fn new(request: &'a FilterRequest) -> Self {
        Self {
            request,
            out: Vec::new(),
            last_is_true: false,
        }
    }

    /// One output.
    pub(super) fn value(&mut self, value: &Val) -> Result<(), Failure> {
        self.last_is_true = !matches!(value, Val::Null | Val::Bool(false));
        match value {
            Val::TStr(text) | Val::BStr(text) if self.request.raw || self.request.join => {
                self.out.extend_from_slice(text);
            }
            _ => self.json(value, 0)?,
        }
        if !self.request.join {
            self.out.push(b'\n');
        }
        self.check()
    }

    /// All of it.
    pub(super) fn finish(self) -> Result<Vec<u8>, Failure> {
        if self.request.exit_status && !self.last_is_true {
            return Err(Failure::new(
                Code::JsonFilter,
                "the last output is false, null or missing",
            ));
        }
        Ok(self.out)
    }

    fn check(&self) -> Result<(), Failure> {
        if self.out.len() > OUTPUT_BYTES {
            return Err(Failure::exceeded("bytes of jq output", OUTPUT_BYTES));
        }
        Ok(())
    }

    fn json(&mut self, value: &Val, level: usize) -> Result<(), Failure> {
        if level > NESTING {
            return Err(Failure::exceeded("nesting of jq output", NESTING));
        }
        match value {
            Val::Null => self.out.extend_from_slice(b"null"),
            Val::Bool(true) => self.out.extend_from_slice(b"true"),
            Val::Bool(false) => self.out.extend_from_slice(b"false"),
            Val::Num(number) => self.out.extend_from_slice(shown(number).as_bytes()),
            Val::TStr(text) | Val::BStr(text) => self.string(text),
            Val::Arr(items) => {
                self.out.push(b'[');
                for (index, item) in items.iter().enumerate() {
                    self.separate(index, level + 1);
                    self.json(item, level + 1)?;
                }
                self.close(items.is_empty(), level, b']');
            }
            Val::Obj(members) => {
                self.out.push(b'{');
                let mut members: Vec<(&Val, &Val)> = members.iter().collect();
                if self.request.sort_keys {
                    members.sort_by_key(|(key, _)| *key);
                }
                let is_empty = members.is_empty();
                for (index, (key, member)) in members.into_iter().enumerate() {
                    let (Val::TStr(key) | Val::BStr(key)) = key else {
                        // jaq has such objects; JSON and jq have not.
                        return Err(Failure::new(
                            Code::JsonFilter,
                            "a key of an object is no string",
                        ));
                    };
                    self.separate(index, level + 1);
                    self.string(key);
                    self.out.push(b':');
                    if !self.request.compact {
                        self.out.push(b' ');
                    }
                    self.json(member, level + 1)?;
                }
                self.close(is_empty, level, b'}');
            }
        }
        self.check()
    }

    fn separate(&mut self, index: usize, level: usize) {
        if index > 0 {
            self.out.push(b',');
        }
        self.line(level);
    }

    fn close(&mut self, is_empty: bool, level: usize, bracket: u8) {
        if !is_empty {
            self.line(level);
        }
        self.out.push(bracket);
    }

    fn line(&mut self, level: usize) {
        if !self.request.compact {
            self.out.push(b'\n');
            for _ in 0..level {
                self.out.extend_from_slice(b"  ");
            }
        }
    }

    /// A string; bytes that are no UTF-8 become U+FFFD.
    fn string(&mut self, text: &[u8]) {
        self.out.push(b'"');
        for c in String::from_utf8_lossy(text).chars() {
            match c {
                '"' => self.out.extend_from_slice(b"\\\""),
                '\\' => self.out.extend_from_slice(b"\\\\"),
                '\n' => self.out.extend_from_slice(b"\\n"),
                '\t' => self.out.extend_from_slice(b"\\t"),
                '\r' => self.out.extend_from_slice(b"\\r"),
                '\u{8}' => self.out.extend_from_slice(b"\\b"),
                '\u{c}' => self.out.extend_from_slice(b"\\f"),
                '\0'..='\u{1f}' | '\u{7f}' => {
                    let escape = format!("\\u{:04x}", u32::from(c));
                    self.out.extend_from_slice(escape.as_bytes());
                }
                _ => {
                    let mut buffer = [0; 4];
                    self.out
                        .extend_from_slice(c.encode_utf8(&mut buffer).as_bytes());
                }
            }
        }
        self.out.push(b'"');
    }
}

/// A number: as it was read if nothing was computed, integers exactly, the rest as jq writes doubles.
fn shown(number: &Num) -> String {
    match number {
        Num::Float(value) => double(*value),
        Num::Dec(text) => text.to_string(),
        Num::Int(_) | Num::BigInt(_) => number.to_string(),
    }
}

/// The shortest digits that give the double back; an exponent where jq has one.
pub(super) fn double(value: f64) -> String {
    if value.is_nan() {
        return "null".to_owned();
    }
    let value = value.clamp(f64::MIN, f64::MAX);
    let scientific = format!("{value:e}");
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let (sign, mantissa) = match mantissa.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", mantissa),
    };
    let digits = mantissa.replace('.', "");
    let exponent: i64 = exponent.parse().unwrap_or(0);
    let count = i64::try_from(digits.len()).unwrap_or(i64::MAX);
    // Digits before the point.
    let point = exponent + 1;
    if point <= -4 || point > count + 15 {
        let (first, rest) = digits.split_at_checked(1).unwrap_or((&digits, ""));
        let fraction = if rest.is_empty() {
            String::new()
        } else {
            format!(".{rest}")
        };
        let mark = if exponent < 0 { '-' } else { '+' };
        return format!("{sign}{first}{fraction}e{mark}{:02}", exponent.abs());
    }
    let zeros = |count: i64| "0".repeat(usize::try_from(count).unwrap_or(0));
    if point <= 0 {
        format!("{sign}0.{}{digits}", zeros(-point))
    } else if point >= count {
        format!("{sign}{digits}{}", zeros(point - count))
    } else {
        let at = usize::try_from(point).unwrap_or(0);
        let (whole, fraction) = digits.split_at_checked(at).unwrap_or((&digits, ""));
        format!("{sign}{whole}.{fraction}")
    }
}
