//! From the text of a policy file, in YAML or JSON, to a tree of values that know their lines.
//!
//! JSON is read as the part of YAML that it is. Of YAML a policy may use mappings, lists and scalars. Anchors, aliases,
//! tags, merge keys and further documents are refused, so that what a reviewer reads is what is in force. Depth and number
//! of values are bounded.

use std::collections::HashSet;

use granit_parser::{Event, Parser, ScalarStyle, ScanError, Span};

use super::error::DocumentFault;

/// Collections nest at most this deep; a policy needs 7.
const MAXIMUM_DEPTH: usize = 32;
/// Values of a document at most; bounds the memory that 1 MiB of `[1,1,…` can claim.
const MAXIMUM_NODES: usize = 100_000;

/// A value and the line it begins on, from 1.
#[derive(Debug, PartialEq)]
pub(super) struct Node {
    pub(super) line: u64,
    pub(super) value: Value,
}

/// The value of a node, typed by the YAML 1.2 core schema.
#[derive(Debug, PartialEq)]
pub(super) enum Value {
    Null,
    Boolean(bool),
    /// A whole number from 0 to 2^64 - 1.
    Integer(u64),
    /// Any other number, as written: no member of a policy takes one.
    Number(String),
    Text(String),
    List(Vec<Node>),
    /// Members in the order written, names unique.
    Map(Vec<Member>),
}

/// A member of a mapping.
#[derive(Debug, PartialEq)]
pub(super) struct Member {
    pub(super) name: String,
    /// The line of the name, from 1.
    pub(super) line: u64,
    pub(super) value: Node,
}

/// The line on which a fault stands, from 1, and the fault.
#[derive(Debug)]
pub(super) struct Located(pub(super) u64, pub(super) DocumentFault);

impl Node {
    /// The member of that name, unless this is no mapping or the member is `null`.
    pub(super) fn member(&self, name: &str) -> Option<&Member> {
        let Value::Map(members) = &self.value else {
            return None;
        };
        let mut members = members.iter();
        members.find(|member| member.name == name && member.value.value != Value::Null)
    }
}

/// Reads one document.
pub(super) fn read(bytes: &[u8]) -> Result<Node, Located> {
    let text = str::from_utf8(bytes).map_err(|error| {
        let valid = bytes.iter().take(error.valid_up_to());
        let line = valid.fold(1, |line, byte| line + u64::from(*byte == b'\n'));
        Located(line, DocumentFault::NotUtf8)
    })?;
    let mut reader = Reader {
        events: Parser::new_from_str(text),
        nodes: 0,
    };
    let mut root = None;
    loop {
        match reader.next()? {
            (Event::StreamEnd, _) => break,
            (Event::DocumentStart(..), line) if root.is_some() => {
                return Err(forbidden(line, "further documents"));
            }
            (Event::StreamStart | Event::DocumentStart(..) | Event::DocumentEnd, _) => {}
            (event, line) => root = Some(reader.node(event, line, 0)?),
        }
    }
    root.ok_or_else(|| syntax(1, "the document is empty"))
}

struct Reader<Events> {
    events: Events,
    nodes: usize,
}

impl<'a, Events: Iterator<Item = Result<(Event<'a>, Span), ScanError>>> Reader<Events> {
    /// The next event and its line.
    fn next(&mut self) -> Result<(Event<'a>, u64), Located> {
        let number = |line: usize| u64::try_from(line).unwrap_or(1).max(1);
        let Some(next) = self.events.next() else {
            return Ok((Event::StreamEnd, 1));
        };
        let (event, span) = next.map_err(|error| {
            let line = number(error.marker().line());
            syntax(line, &error.info())
        })?;
        let line = number(span.start.line());
        match event {
            Event::Alias(_) => Err(forbidden(line, "aliases")),
            Event::Scalar(_, _, 1.., _)
            | Event::SequenceStart(_, 1.., _)
            | Event::MappingStart(_, 1.., _) => Err(forbidden(line, "anchors")),
            Event::Scalar(.., Some(_))
            | Event::SequenceStart(.., Some(_))
            | Event::MappingStart(.., Some(_)) => Err(forbidden(line, "tags")),
            event => Ok((event, line)),
        }
    }

    /// The value that begins with this event, inside of `depth` collections.
    fn node(&mut self, event: Event<'a>, line: u64, depth: usize) -> Result<Node, Located> {
        let too_much = |what| Located(line, DocumentFault::TooMuch(what));
        self.nodes += 1;
        if self.nodes > MAXIMUM_NODES {
            return Err(too_much("more than 100000 values"));
        }
        let value = match event {
            Event::Scalar(text, style, ..) => typed(&text, style),
            _ if depth == MAXIMUM_DEPTH => {
                return Err(too_much("collections nest more than 32 deep"));
            }
            Event::SequenceStart(..) => Value::List(self.items(depth + 1)?),
            Event::MappingStart(..) => Value::Map(self.members(depth + 1)?),
            _ => return Err(syntax(line, "a value is missing")),
        };
        Ok(Node { line, value })
    }

    fn items(&mut self, depth: usize) -> Result<Vec<Node>, Located> {
        let mut items = Vec::new();
        loop {
            match self.next()? {
                (Event::SequenceEnd, _) => return Ok(items),
                (event, line) => items.push(self.node(event, line, depth)?),
            }
        }
    }

    fn members(&mut self, depth: usize) -> Result<Vec<Member>, Located> {
        let (mut members, mut names) = (Vec::new(), HashSet::new());
        loop {
            let (name, line) = match self.next()? {
                (Event::MappingEnd, _) => return Ok(members),
                (Event::Scalar(name, ScalarStyle::Plain, ..), line) if name == "<<" => {
                    return Err(forbidden(line, "merge keys"));
                }
                (Event::Scalar(name, ..), line) => (name.into_owned(), line),
                (_, line) => return Err(syntax(line, "the name of a member must be text")),
            };
            if !names.insert(name.clone()) {
                return Err(Located(line, DocumentFault::Duplicate(name)));
            }
            let (event, at) = self.next()?;
            members.push(Member {
                name,
                line,
                value: self.node(event, at, depth)?,
            });
        }
    }
}

fn syntax(line: u64, message: &str) -> Located {
    Located(line, DocumentFault::Syntax(message.to_owned()))
}

fn forbidden(line: u64, what: &'static str) -> Located {
    Located(line, DocumentFault::Forbidden(what))
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
        _ => match integer(text) {
            Some(number) => Value::Integer(number),
            None if is_number(text) => Value::Number(text.to_owned()),
            None => Value::Text(text.to_owned()),
        },
    }
}

fn integer(text: &str) -> Option<u64> {
    let (digits, radix) = if let Some(digits) = text.strip_prefix("0o") {
        (digits, 8)
    } else if let Some(digits) = text.strip_prefix("0x") {
        (digits, 16)
    } else {
        (text.strip_prefix('+').unwrap_or(text), 10)
    };
    // Rust's own parser would take another sign.
    let unsigned = digits.starts_with(|first: char| first.is_ascii_hexdigit());
    unsigned.then(|| u64::from_str_radix(digits, radix).ok())?
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
    use proptest::prelude::*;

    #[test]
    fn scalars_are_typed_by_the_core_schema() {
        let value = |text: &str| {
            let Value::List(mut items) = read(format!("- {text}\n").as_bytes()).unwrap().value
            else {
                panic!("no list")
            };
            items.pop().unwrap().value
        };
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
    fn deep_nesting_and_many_values_are_refused_quickly() {
        for open in ["[", "{\"a\":", "- ", "{? ", "a:\n"] {
            let text = open.repeat(100_000);
            assert!(read(text.as_bytes()).is_err(), "{open}");
        }
        let many = format!("[{}1]", "1,".repeat(200_000));
        let refused = read(many.as_bytes()).unwrap_err().1;
        assert!(matches!(refused, DocumentFault::TooMuch(_)));
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

        #[test]
        fn strings_of_json_are_read_as_json_has_them(content in "[^\u{7f}-\u{9f}\u{fffe}\u{ffff}]*") {
            let text = serde_json::to_string(&content).unwrap();
            prop_assert_eq!(read(text.as_bytes()).unwrap().value, Value::Text(content));
        }
    }
}
