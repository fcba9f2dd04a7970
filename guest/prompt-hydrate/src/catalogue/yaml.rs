//! Front matter as JSON: each scalar is its text, so that a type may read `yes`, `5` or `2024` as it needs.
//!
//! Aliases and second documents are refused: they let a small file say a lot, and nothing here needs them.

use granit_parser::{Event, Parser, ScalarStyle, Span, StrInput, options};
use serde_json::{Map, Value};

/// Collections within each other: the root, a list, the maps in it, their lists.
const MAX_DEPTH: usize = 4;

/// Why front matter does not load.
#[derive(Debug)]
pub(super) struct Refused {
    /// Counted from 1, within the front matter.
    pub(super) line: usize,
    pub(super) reason: &'static str,
}

/// Returns the members of the root map; none of an empty text.
pub(super) fn parse(text: &str) -> Result<Map<String, Value>, Refused> {
    let options = options! {
        strict_indentation: true,
        disallow_directives: true,
        flow_nesting_limit: MAX_DEPTH,
        block_nesting_limit: MAX_DEPTH,
    };
    let mut reader = Reader {
        events: Parser::new_from_str_with_options(text, options),
        line: 1,
    };
    let mut root = Map::new();
    let mut documents = 0;
    loop {
        let Some((event, span)) = reader.next()? else {
            return Ok(root);
        };
        match event {
            Event::DocumentStart(..) if documents == 0 => documents = 1,
            Event::DocumentStart(..) => return Err(reader.refused("a second document begins")),
            event @ (Event::Scalar(..)
            | Event::SequenceStart(..)
            | Event::MappingStart(..)
            | Event::Alias(..)) => match reader.value(event, span)? {
                Value::Object(members) => root = members,
                Value::Null => {}
                _ => return Err(reader.refused("the front matter is not a map")),
            },
            _ => {}
        }
    }
}

struct Reader<'t> {
    events: Parser<'t, StrInput<'t>>,
    /// Of the last event.
    line: usize,
}

impl<'t> Reader<'t> {
    fn next(&mut self) -> Result<Option<(Event<'t>, Span)>, Refused> {
        match self.events.next() {
            None => Ok(None),
            Some(Ok((event, span))) => {
                self.line = span.start.line();
                Ok(Some((event, span)))
            }
            Some(Err(error)) => {
                self.line = error.marker().line();
                Err(self.refused("not YAML, or nested too deep"))
            }
        }
    }

    fn refused(&self, reason: &'static str) -> Refused {
        Refused {
            line: self.line,
            reason,
        }
    }

    /// Reads the node that begins with an event. It recurses as deep as the parser's limit lets nodes nest.
    fn value(&mut self, event: Event<'t>, span: Span) -> Result<Value, Refused> {
        match event {
            Event::Scalar(text, style, ..) => {
                // The parser writes `~` for a node that is not there.
                let is_null = style == ScalarStyle::Plain
                    && (span.is_empty() || matches!(&*text, "~" | "null" | ""));
                Ok(if is_null {
                    Value::Null
                } else {
                    Value::String(text.into_owned())
                })
            }
            Event::SequenceStart(..) => {
                let mut items = Vec::new();
                while let Some((event, span)) = self.next()? {
                    match event {
                        Event::SequenceEnd => break,
                        event => items.push(self.value(event, span)?),
                    }
                }
                Ok(Value::Array(items))
            }
            Event::MappingStart(..) => {
                let mut members = Map::new();
                while let Some((event, _)) = self.next()? {
                    let key = match event {
                        Event::MappingEnd => break,
                        Event::Scalar(key, ..) => key.into_owned(),
                        _ => return Err(self.refused("a key is a list or a map")),
                    };
                    if members.contains_key(&key) {
                        return Err(self.refused("a key stands twice"));
                    }
                    let Some((event, span)) = self.next()? else {
                        break;
                    };
                    let value = self.value(event, span)?;
                    members.insert(key, value);
                }
                Ok(Value::Object(members))
            }
            Event::Alias(..) => Err(self.refused("an alias")),
            _ => Ok(Value::Null),
        }
    }
}
