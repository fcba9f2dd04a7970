//! YAML with line numbers, from the events of `saphyr-parser`.
//!
//! Of YAML a policy may use mappings, lists and scalars. Anchors, aliases, tags, merge keys and further documents are
//! refused, so that what a reviewer reads is what is in force.

use saphyr_parser::{Event, Parser, ScalarStyle};

use super::tree::TreeBuilder;
use super::{Located, Node, Value};
use crate::error::DocumentFault;

/// Reads one YAML document.
pub(super) fn read(text: &str) -> Result<Node, Located> {
    let mut parser = Parser::new_from_str(text);
    let mut tree = TreeBuilder::default();
    let mut documents = 0;
    while let Some(next) = parser.next_event() {
        let (event, span) =
            next.map_err(|error| Located::syntax(number(error.marker().line()), error.info()))?;
        let line = number(span.start.line());
        let forbidden = |what| {
            Err(Located {
                line,
                fault: DocumentFault::Forbidden(what),
            })
        };
        match event {
            Event::Alias(_) => return forbidden("aliases"),
            Event::Scalar(_, _, 1.., _)
            | Event::SequenceStart(1.., _)
            | Event::MappingStart(1.., _) => {
                return forbidden("anchors");
            }
            Event::Scalar(.., Some(_))
            | Event::SequenceStart(_, Some(_))
            | Event::MappingStart(_, Some(_)) => {
                return forbidden("tags");
            }
            Event::DocumentStart(_) => {
                documents += 1;
                if documents > 1 {
                    return forbidden("further documents");
                }
            }
            Event::Scalar(text, style, ..) => {
                if !tree.expects_name() {
                    tree.scalar(line, typed(&text, style))?;
                } else if text == "<<" && style == ScalarStyle::Plain {
                    return forbidden("merge keys");
                } else {
                    tree.name(line, text.into_owned())?;
                }
            }
            Event::SequenceStart(..) => tree.open_list(line)?,
            Event::MappingStart(..) => tree.open_map(line)?,
            Event::SequenceEnd | Event::MappingEnd => tree.close(line)?,
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentEnd => {}
        }
    }
    tree.finish()
        .ok_or_else(|| Located::syntax(1, "the document is empty"))
}

fn number(line: usize) -> u64 {
    u64::try_from(line).unwrap_or(1).max(1)
}

/// The core schema of YAML 1.2, with `true` and `false` as its only booleans.
fn typed(text: &str, style: ScalarStyle) -> Value {
    if style != ScalarStyle::Plain {
        return Value::Text(text.to_owned());
    }
    match text {
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        "true" => Value::Boolean(true),
        "false" => Value::Boolean(false),
        _ => integer(text).unwrap_or_else(|| {
            if is_number(text) {
                Value::Number(text.to_owned())
            } else {
                Value::Text(text.to_owned())
            }
        }),
    }
}

fn integer(text: &str) -> Option<Value> {
    let parsed = if let Some(digits) = text.strip_prefix("0o") {
        unsigned(digits).then(|| u64::from_str_radix(digits, 8))
    } else if let Some(digits) = text.strip_prefix("0x") {
        unsigned(digits).then(|| u64::from_str_radix(digits, 16))
    } else {
        let digits = text.strip_prefix('+').unwrap_or(text);
        unsigned(digits).then(|| digits.parse())
    };
    parsed?.ok().map(Value::Integer)
}

/// Excludes the sign that Rust's own parser would take.
fn unsigned(digits: &str) -> bool {
    digits.starts_with(|first: char| first.is_ascii_hexdigit())
}

fn is_number(text: &str) -> bool {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    if matches!(unsigned, ".inf" | ".Inf" | ".INF") || matches!(text, ".nan" | ".NaN" | ".NAN") {
        return true;
    }
    // Rust takes what the core schema takes, and `inf`, `nan`, `infinity`, which begin with a letter.
    unsigned.starts_with(|first: char| first.is_ascii_digit() || first == '.')
        && unsigned.parse::<f64>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> Value {
        let Value::List(mut items) = read(&format!("- {text}\n")).unwrap().value else {
            panic!("no list")
        };
        items.pop().unwrap().value
    }

    #[test]
    fn tp_02_scalars_are_typed_by_the_core_schema() {
        for text in ["", "~", "null", "Null", "NULL"] {
            assert_eq!(value(text), Value::Null, "{text}");
        }
        assert_eq!(value("true"), Value::Boolean(true));
        assert_eq!(value("false"), Value::Boolean(false));
        for text in [
            "yes",
            "on",
            "off",
            "no",
            "True",
            "FALSE",
            "inf",
            "nan",
            "0b1",
            "1_000",
            "0o8",
            "0x-1",
            "2026-01-31",
        ] {
            assert_eq!(value(text), Value::Text(text.to_owned()), "{text}");
        }
        for (text, number) in [
            ("0", 0),
            ("007", 7),
            ("+5", 5),
            ("0o17", 15),
            ("0xfF", 255),
            ("18446744073709551615", u64::MAX),
        ] {
            assert_eq!(value(text), Value::Integer(number), "{text}");
        }
        for text in [
            "-1",
            "1.5",
            "1e3",
            ".5",
            "5.",
            "-.inf",
            ".nan",
            "18446744073709551616",
        ] {
            assert_eq!(value(text), Value::Number(text.to_owned()), "{text}");
        }
        assert_eq!(value("\"true\""), Value::Text("true".to_owned()));
        assert_eq!(value("'1'"), Value::Text("1".to_owned()));
    }

    #[test]
    fn tp_02_what_a_reviewer_could_overlook_is_refused() {
        for (text, what, line) in [
            ("a: &x 1", "anchors", 1),
            ("a:\n- &x {}", "anchors", 2),
            ("a: *x", "", 1),
            ("a: !!str 1", "tags", 1),
            ("a: ! 1", "tags", 1),
            ("a: !!map {}", "tags", 1),
            ("a: {}\n<<: {b: 1}", "merge keys", 2),
            ("a: 1\n---\nb: 1", "further documents", 2),
        ] {
            let found = read(text).unwrap_err();
            assert_eq!(found.line, line, "{text}: {found:?}");
            if !what.is_empty() {
                assert_eq!(found.fault, DocumentFault::Forbidden(what), "{text}");
            }
        }
    }

    #[test]
    fn tp_02_a_name_is_text() {
        assert!(read("? [a]\n: 1").is_err());
        assert!(read("? {a: 1}\n: 1").is_err());
        assert!(read("").is_err());
        assert!(read("# nothing\n").is_err());
    }
}
