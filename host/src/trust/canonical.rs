//! Canonical JSON (JCS, RFC 8785) and digests over it (TB-03 to TB-06).
//!
//! `serde_json_canonicalizer` orders members by UTF-16 units as TB-05 wants, but prints every number as a
//! double, so that an integer above 2^53 loses its last digits; TB-04 wants integers exact. So the writer
//! stands here, and that crate prints fractions only.

use serde::Serialize;
use serde_json::Value;

use super::Digest;

/// `value` in canonical JSON.
///
/// A value that JSON cannot express (a map whose keys are no strings) gives no bytes at all; no type of this
/// crate is one.
#[must_use]
pub fn canonical_json<T: Serialize + ?Sized>(value: &T) -> Vec<u8> {
    let mut out = Vec::new();
    if let Ok(value) = serde_json::to_value(value) {
        write(&value, &mut out);
    }
    out
}

/// The digest of `value` in canonical JSON: the same however a file lays it out (TB-03).
#[must_use]
pub fn canonical_digest<T: Serialize + ?Sized>(value: &T) -> Digest {
    Digest::of(&canonical_json(value))
}

fn write(value: &Value, out: &mut Vec<u8>) {
    match value {
        Value::Null => out.extend_from_slice(b"null"),
        Value::Bool(true) => out.extend_from_slice(b"true"),
        Value::Bool(false) => out.extend_from_slice(b"false"),
        Value::Number(number) => match number.as_f64().filter(|_| number.is_f64()) {
            Some(fraction) => {
                let printed = serde_json_canonicalizer::to_vec(&fraction);
                out.extend_from_slice(&printed.unwrap_or_default());
            }
            None => out.extend_from_slice(number.to_string().as_bytes()),
        },
        Value::String(text) => write_string(text, out),
        Value::Array(items) => {
            out.push(b'[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(b',');
                }
                write(item, out);
            }
            out.push(b']');
        }
        Value::Object(members) => {
            let mut sorted: Vec<_> = members.iter().collect();
            // TB-05
            sorted.sort_by(|(one, _), (other, _)| one.encode_utf16().cmp(other.encode_utf16()));
            out.push(b'{');
            for (index, (name, value)) in sorted.into_iter().enumerate() {
                if index > 0 {
                    out.push(b',');
                }
                write_string(name, out);
                out.push(b':');
                write(value, out);
            }
            out.push(b'}');
        }
    }
}

/// TB-04.
fn write_string(text: &str, out: &mut Vec<u8>) {
    out.push(b'"');
    for character in text.chars() {
        match character {
            '\u{8}' => out.extend_from_slice(b"\\b"),
            '\t' => out.extend_from_slice(b"\\t"),
            '\n' => out.extend_from_slice(b"\\n"),
            '\u{c}' => out.extend_from_slice(b"\\f"),
            '\r' => out.extend_from_slice(b"\\r"),
            '"' => out.extend_from_slice(b"\\\""),
            '\\' => out.extend_from_slice(b"\\\\"),
            '\0'..='\u{1f}' => {
                out.extend_from_slice(format!("\\u{:04x}", u32::from(character)).as_bytes());
            }
            _ => out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    out.push(b'"');
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn text(value: &Value) -> String {
        String::from_utf8(canonical_json(value)).unwrap()
    }

    #[test]
    fn tb_03_members_are_sorted_and_arrays_are_not() {
        let value: Value = serde_json::from_str("{ \"b\": [3, 1,\n 2], \"a\": null }").unwrap();
        assert_eq!(text(&value), r#"{"a":null,"b":[3,1,2]}"#);
        assert_eq!(text(&json!({})), "{}");
        assert_eq!(text(&json!([])), "[]");
    }

    #[test]
    fn tb_04_integers_are_exact_up_to_u64() {
        assert_eq!(
            text(&json!([0, u64::MAX, 9_007_199_254_740_993_u64, i64::MIN])),
            "[0,18446744073709551615,9007199254740993,-9223372036854775808]"
        );
    }

    #[test]
    fn tb_03_fractions_are_printed_as_rfc_8785_says() {
        assert_eq!(
            text(&json!([1.0, -0.0, 0.1, 1e21, 1e-7, 333_333_333.333_333_3])),
            "[1,0,0.1,1e+21,1e-7,333333333.3333333]"
        );
    }

    #[test]
    fn tb_04_only_control_characters_quotes_and_backslashes_are_escaped() {
        let given = "\u{8}\t\n\u{c}\r\"\\\u{0}\u{b}\u{1f}/\u{7f}\u{2028}\u{2029}\u{1f600}";
        assert_eq!(
            text(&json!(given)),
            "\"\\b\\t\\n\\f\\r\\\"\\\\\\u0000\\u000b\\u001f/\u{7f}\u{2028}\u{2029}\u{1f600}\""
        );
    }

    /// TB-05, TF-40
    #[test]
    fn tb_05_tf_40_members_are_ordered_by_utf_16_units_and_not_by_serialised_bytes() {
        // An astral character is a surrogate (0xd83d), which sorts before U+FB33 in UTF-16 and after it in UTF-8.
        let value = json!({"\u{fb33}": 1, "\u{1f600}": 2, "\u{20ac}": 3, "a!": 4, "a": 5, "a ": 6});
        assert_eq!(
            text(&value),
            "{\"a\":5,\"a \":6,\"a!\":4,\"\u{20ac}\":3,\"\u{1f600}\":2,\"\u{fb33}\":1}"
        );
    }

    #[test]
    fn tb_03_the_digest_does_not_depend_on_the_order_of_members() {
        assert_eq!(
            canonical_digest(&json!({"a": 1, "b": 2})),
            canonical_digest(&json!({"b": 2, "a": 1}))
        );
        assert_eq!(canonical_digest(&json!({})), Digest::of(b"{}"));
    }
}
