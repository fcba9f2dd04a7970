//! JSON with line numbers.
//!
//! `serde_json` decides what is JSON; this file only walks a text that passed, to learn its lines. It accepts nothing
//! that `serde_json` refused.

use serde::de::IgnoredAny;

use super::tree::TreeBuilder;
use super::{Located, Node, Value};

/// Reads one JSON value.
pub(super) fn read(text: &str) -> Result<Node, Located> {
    serde_json::from_str::<IgnoredAny>(text).map_err(|error| {
        Located::syntax(u64::try_from(error.line()).unwrap_or(1), error.to_string())
    })?;
    let mut tree = TreeBuilder::default();
    let mut rest = text;
    let mut line = 1;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '\n' => {
                line += 1;
                1
            }
            '{' => tree.open_map(line).map(|()| 1)?,
            '[' => tree.open_list(line).map(|()| 1)?,
            '}' | ']' => tree.close(line).map(|()| 1)?,
            '"' => {
                let (length, text) = string(rest, line)?;
                if tree.expects_name() {
                    tree.name(line, text)?;
                } else {
                    tree.scalar(line, Value::Text(text))?;
                }
                length
            }
            ',' | ':' | ' ' | '\t' | '\r' => 1,
            _ => {
                let end = rest
                    .find([',', ']', '}', ' ', '\t', '\r', '\n'])
                    .unwrap_or(rest.len());
                tree.scalar(line, literal(rest.get(..end).unwrap_or_default()))?;
                end
            }
        };
        rest = rest.get(length..).unwrap_or_default();
    }
    tree.finish()
        .ok_or_else(|| Located::syntax(line, "no JSON value"))
}

/// The length of the string token that `rest` begins with, quotes included, and its content.
fn string(rest: &str, line: u64) -> Result<(usize, String), Located> {
    let mut escaped = false;
    let end = rest.bytes().skip(1).position(|byte| {
        let closes = byte == b'"' && !escaped;
        escaped = byte == b'\\' && !escaped;
        closes
    });
    let token = end.and_then(|end| rest.get(..end + 2)).unwrap_or(rest);
    // Skipping a string does not look at its surrogates; reading it does.
    let text =
        serde_json::from_str(token).map_err(|error| Located::syntax(line, error.to_string()))?;
    Ok((token.len(), text))
}

fn literal(token: &str) -> Value {
    match token {
        "null" => Value::Null,
        "true" => Value::Boolean(true),
        "false" => Value::Boolean(false),
        number => number
            .parse()
            .map_or_else(|_| Value::Number(number.to_owned()), Value::Integer),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn tp_01_lines_are_those_of_the_text() {
        let node = read("{\r\n\"a\":\n [\"}\\\"\",\n 2]}").unwrap();
        let Value::Map(members) = node.value else {
            panic!("no map")
        };
        assert_eq!((members[0].line, members[0].value.line), (2, 3));
        let Value::List(items) = &members[0].value.value else {
            panic!("no list")
        };
        assert_eq!((items[0].line, items[1].line), (3, 4));
        assert_eq!(items[0].value, Value::Text("}\"".to_owned()));
    }

    #[test]
    fn tp_01_lone_surrogates_are_no_json() {
        assert!(read("\"\\ud800\"").is_err());
    }

    proptest! {
        #[test]
        fn what_serde_json_reads_is_read_alike(text in "[\\[\\]{},:\" \n0-9a-eE.truefalsn\\\\-]{0,40}") {
            prop_assert!(read(&text).is_err() || serde_json::from_str::<serde_json::Value>(&text).is_ok());
        }

        #[test]
        fn strings_survive(content in any::<String>()) {
            let text = serde_json::to_string(&content).unwrap();
            prop_assert_eq!(read(&text).unwrap().value, Value::Text(content));
        }
    }
}
