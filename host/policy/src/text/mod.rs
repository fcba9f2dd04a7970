//! From the text of a policy file to a tree of values that know their lines.
//!
//! JSON and YAML end in the same tree, so that every later rule is written once and every message has a line. Reading
//! is iterative: no recursion is controlled by the text, and depth and number of values are bounded.

mod json;
mod tree;
mod yaml;

pub(super) use tree::{Node, Value};

use super::error::DocumentFault;

/// A fault and the line it stands on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Located {
    /// The line, from 1.
    pub(super) line: u64,
    /// What is wrong.
    pub(super) fault: DocumentFault,
}

impl Located {
    fn syntax(line: u64, message: impl Into<String>) -> Self {
        Self {
            line,
            fault: DocumentFault::Syntax(message.into()),
        }
    }
}

/// Reads a document: as JSON first, on any failure of its syntax as YAML.
///
/// What is wrong with a document that *is* JSON (a duplicate member, too much of it) is final: YAML would only repeat it.
pub(super) fn read(bytes: &[u8]) -> Result<Node, Located> {
    let text = str::from_utf8(bytes).map_err(|error| Located {
        line: lines_before(bytes.get(..error.valid_up_to()).unwrap_or_default()),
        fault: DocumentFault::NotUtf8,
    })?;
    match json::read(text) {
        Err(json) if matches!(json.fault, DocumentFault::Syntax(_)) => {
            let meant_as_json = text.trim_start().starts_with('{');
            yaml::read(text).map_err(|yaml| if meant_as_json { json } else { yaml })
        }
        result => result,
    }
}

fn lines_before(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(1, |line, byte| line + u64::from(*byte == b'\n'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn fault(text: &str) -> Located {
        read(text.as_bytes()).unwrap_err()
    }

    #[test]
    fn tp_01_json_and_yaml_give_the_same_tree() {
        let json =
            read(b"{\n \"a\": [1, true, null, \"\\ud83d\\ude00\"],\n \"b\": {\"c\": -1.5}\n}")
                .unwrap();
        let yaml = read("\na: [1, true, null, \"😀\"]\nb: {c: -1.5}\n".as_bytes()).unwrap();
        let Value::Map(json) = json.value else {
            panic!("no map")
        };
        let Value::Map(yaml) = yaml.value else {
            panic!("no map")
        };
        assert_eq!(json, yaml);
    }

    #[test]
    fn tp_02_duplicate_members_are_refused_in_both_syntaxes() {
        let duplicate = |line| Located {
            line,
            fault: DocumentFault::Duplicate("a".to_owned()),
        };
        assert_eq!(fault("{\"a\": 1,\n\"\\u0061\": 2}"), duplicate(2));
        assert_eq!(fault("a: 1\n\"a\": 2"), duplicate(2));
        assert_eq!(fault("x: [{a: 1,\n'a': 2}]"), duplicate(2));
        // No JSON, because of the comment, and refused as YAML.
        assert!(read(b"{\"a\": 1, # one\n\"a\": 2}").is_err());
        assert!(read(b"{\"a\": 1, # one\n\"b\": 2}").is_ok());
    }

    #[test]
    fn tp_01_bytes_that_are_not_utf_8_are_refused_with_their_line() {
        let found = read(b"version: 1\nx: \xff").unwrap_err();
        assert_eq!(
            found,
            Located {
                line: 2,
                fault: DocumentFault::NotUtf8
            }
        );
    }

    #[test]
    fn deep_nesting_and_many_values_are_refused_quickly() {
        for open in ["[", "{\"a\":", "- ", "{? ", "a:\n"] {
            let text = open.repeat(100_000);
            assert!(read(text.as_bytes()).is_err(), "{open}");
        }
        let many = format!("[{}1]", "1,".repeat(200_000));
        assert!(matches!(fault(&many).fault, DocumentFault::TooMuch(_)));
    }

    proptest! {
        #[test]
        fn reading_arbitrary_bytes_never_panics(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = read(&bytes);
        }

        #[test]
        fn reading_almost_yaml_never_panics(text in "([-?:{}\\[\\],&*!|>%@`'\"#~<a0 \t\n\r.\u{85}\u{feff}]|---|\\.\\.\\.|<<|: |- |\n  ){0,60}") {
            let _ = read(text.as_bytes());
        }
    }
}
