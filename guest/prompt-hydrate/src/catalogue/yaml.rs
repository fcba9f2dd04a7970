//! The subset of YAML that front matter is written in: scalars, lists and maps, a few levels deep.
//!
//! A scalar is its text; types are read off it where a key asks for one. Anchors, aliases, tags, merges, directives and
//! second documents are errors: they let a small file say a lot, and nothing here needs them.

use granit_parser::{Event, Parser, ScalarStyle, Span, options};
use serde::{Deserialize, Serialize};

/// Collections within each other: the root, a list, the maps in it, their lists.
const MAX_DEPTH: usize = 4;

/// Why front matter does not load (C01).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Refused {
    /// Counted from 1, within the front matter.
    pub(super) line: usize,
    pub(super) reason: String,
}

/// A value and the line on which it begins, counted from 1 within the front matter.
///
/// The build script writes the embedded catalogue's front matter as JSON of these, hence the short names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Node {
    #[serde(rename = "l")]
    pub(super) line: usize,
    #[serde(rename = "v")]
    pub(super) value: Value,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Value {
    /// A key without a value, `~` or `null`.
    #[serde(rename = "n")]
    Null,
    #[serde(rename = "s")]
    Scalar(String),
    #[serde(rename = "i")]
    List(Vec<Node>),
    #[serde(rename = "m")]
    Map(Vec<Entry>),
}

/// A key of a map.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Entry {
    #[serde(rename = "k")]
    pub(super) key: String,
    /// Of the key.
    #[serde(rename = "l")]
    pub(super) line: usize,
    #[serde(rename = "v")]
    pub(super) value: Node,
}

/// The keys of the root map, in order; none of an empty text.
pub(super) fn parse(text: &str) -> Result<Vec<Entry>, Refused> {
    let options = options! {
        strict_indentation: true,
        disallow_directives: true,
        flow_nesting_limit: MAX_DEPTH.saturating_mul(2),
        block_nesting_limit: MAX_DEPTH.saturating_mul(2),
    };
    let mut reader = Reader::default();
    for next in Parser::new_from_str_with_options(text, options) {
        let (event, span) = next.map_err(|error| Refused {
            line: error.marker().line(),
            reason: "not the YAML subset of front matter".to_owned(),
        })?;
        reader.take(event, span)?;
    }
    match reader.root.map(|node| (node.line, node.value)) {
        None | Some((_, Value::Null)) => Ok(Vec::new()),
        Some((_, Value::Map(entries))) => Ok(entries),
        Some((line, _)) => Err(refused(line, "the front matter is not a map")),
    }
}

fn refused(line: usize, reason: &str) -> Refused {
    Refused {
        line,
        reason: reason.to_owned(),
    }
}

/// A collection that has begun and not ended.
struct Open {
    node: Node,
    /// The key of a map whose value comes next.
    key: Option<(String, usize)>,
}

#[derive(Default)]
struct Reader {
    open: Vec<Open>,
    root: Option<Node>,
    documents: usize,
}

impl Reader {
    fn take(&mut self, event: Event<'_>, span: Span) -> Result<(), Refused> {
        let line = span.start.line();
        match event {
            Event::DocumentStart(..) => {
                self.documents = self.documents.saturating_add(1);
                if self.documents > 1 {
                    return Err(refused(line, "a second document begins"));
                }
            }
            Event::Scalar(text, style, anchor, tag) => {
                plain_node(anchor, tag.is_some(), line)?;
                let plain = style == ScalarStyle::Plain;
                // The parser writes `~` for a node that is not there.
                let null = plain && (span.is_empty() || matches!(&*text, "~" | "null" | ""));
                self.scalar(text.into_owned(), plain, null, line)?;
            }
            Event::SequenceStart(_, anchor, tag) => {
                plain_node(anchor, tag.is_some(), line)?;
                self.begin(Value::List(Vec::new()), line)?;
            }
            Event::MappingStart(_, anchor, tag) => {
                plain_node(anchor, tag.is_some(), line)?;
                self.begin(Value::Map(Vec::new()), line)?;
            }
            Event::SequenceEnd | Event::MappingEnd => {
                if let Some(open) = self.open.pop() {
                    self.put(open.node)?;
                }
            }
            Event::Alias(..) => return Err(refused(line, "an alias")),
            _ => {}
        }
        Ok(())
    }

    fn scalar(
        &mut self,
        text: String,
        plain: bool,
        null: bool,
        line: usize,
    ) -> Result<(), Refused> {
        if let Some(open) = self.open.last_mut()
            && let Value::Map(entries) = &open.node.value
            && open.key.is_none()
        {
            if plain && text == "<<" {
                return Err(refused(line, "a merge"));
            }
            if entries.iter().any(|entry| entry.key == text) {
                return Err(refused(line, "a key stands twice"));
            }
            open.key = Some((text, line));
            return Ok(());
        }
        let value = if null {
            Value::Null
        } else {
            Value::Scalar(text)
        };
        self.put(Node { line, value })
    }

    fn begin(&mut self, value: Value, line: usize) -> Result<(), Refused> {
        if self.open.len() >= MAX_DEPTH {
            return Err(refused(line, "nested too deep"));
        }
        if let Some(open) = self.open.last()
            && matches!(open.node.value, Value::Map(_))
            && open.key.is_none()
        {
            return Err(refused(line, "a key is a list or a map"));
        }
        self.open.push(Open {
            node: Node { line, value },
            key: None,
        });
        Ok(())
    }

    /// A complete node, to where it belongs.
    fn put(&mut self, node: Node) -> Result<(), Refused> {
        let Some(open) = self.open.last_mut() else {
            self.root = Some(node);
            return Ok(());
        };
        match &mut open.node.value {
            Value::List(items) => items.push(node),
            Value::Map(entries) => {
                let Some((key, line)) = open.key.take() else {
                    return Err(refused(node.line, "a value without a key"));
                };
                entries.push(Entry {
                    key,
                    line,
                    value: node,
                });
            }
            Value::Null | Value::Scalar(_) => {}
        }
        Ok(())
    }
}

fn plain_node(anchor: usize, tagged: bool, line: usize) -> Result<(), Refused> {
    if anchor != 0 {
        return Err(refused(line, "an anchor"));
    }
    if tagged {
        return Err(refused(line, "a tag"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn scalar(line: usize, text: &str) -> Node {
        Node {
            line,
            value: Value::Scalar(text.to_owned()),
        }
    }

    #[test]
    fn q_95_scalars_lists_and_maps_are_read_with_their_lines() {
        let text = "id: a-b # note\ntriggers: [\"x: y\", 'it''s']\nsteps:\n  - name: \"One\"\n    kind: step\nempty:\n";
        let entries = parse(text).unwrap();
        let keys: Vec<_> = entries.iter().map(|e| (e.key.as_str(), e.line)).collect();
        assert_eq!(
            keys,
            [("id", 1), ("triggers", 2), ("steps", 3), ("empty", 6)]
        );
        assert_eq!(entries[0].value, scalar(1, "a-b"));
        assert_eq!(
            entries[1].value.value,
            Value::List(vec![scalar(2, "x: y"), scalar(2, "it's")])
        );
        let Value::List(steps) = &entries[2].value.value else {
            panic!("{entries:?}");
        };
        let Value::Map(step) = &steps[0].value else {
            panic!("{steps:?}");
        };
        assert_eq!(
            (steps[0].line, step[1].line, step[1].key.as_str()),
            (4, 5, "kind")
        );
        assert_eq!(entries[3].value.value, Value::Null);
    }

    #[test]
    fn q_95_what_is_outside_the_subset_is_refused_with_its_line() {
        let cases = [
            ("a: 1\nb: &x 2\n", 2),
            ("a: &x 1\nb: *x\n", 1),
            ("a: !!str 1\n", 1),
            ("a: !x [1]\n", 1),
            ("a: 1\n--- \nb: 2\n", 2),
            ("%YAML 1.2\n---\na: 1\n", 1),
            ("a:\n  <<: {b: 1}\n", 2),
            ("a: 1\na: 2\n", 2),
            ("a: [[[[1]]]]\n", 1),
            ("? [a]\n: 1\n", 1),
            ("- a\n", 1),
            ("b: 1\na: [1\n", 2),
        ];
        for (text, line) in cases {
            match parse(text) {
                Err(refused) => assert_eq!(refused.line, line, "{text:?}: {refused:?}"),
                Ok(entries) => panic!("{text:?}: {entries:?}"),
            }
        }
    }

    #[test]
    fn q_191_a_nested_bomb_is_refused_and_costs_nothing() {
        assert!(parse(&format!("a: {}", "[".repeat(60_000))).is_err());
        assert!(parse(&"a:\n ".repeat(20_000)).is_err());
    }

    proptest! {
        #[test]
        fn q_191_any_text_is_read_or_refused(text in "([a-c]|[-:,\\[\\]{}&*!|>'\"#%~ \n\t]){0,60}") {
            let _ = parse(&text);
        }
    }
}
