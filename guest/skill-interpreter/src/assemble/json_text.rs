//! JSON text with variables (K-199): text is JSON if it parses once each variable outside a string is taken as a value.

use hydrant_canonical::Json;
use serde_json::Value;

use crate::draft::{JsonDraft, Part, Quoting, Template, Variable};
use crate::limits;

/// A character, or a variable between two.
enum Unit<'a> {
    Char(char),
    Variable(&'a Variable),
}

/// Reads a template, whose placeholders were scanned for; none if it is no JSON, or nested too deeply.
pub(super) fn parse(template: &Template) -> Option<JsonDraft> {
    let mut units = Vec::new();
    for part in &template.parts {
        match part {
            Part::Literal(literal) => units.extend(literal.text.chars().map(Unit::Char)),
            Part::Variable(variable) => units.push(Unit::Variable(variable)),
        }
    }
    let mut reader = Reader {
        units: &units,
        position: 0,
    };
    let value = reader.value(0)?;
    reader.blanks();
    (reader.position == units.len()).then_some(value)
}

struct Reader<'a> {
    units: &'a [Unit<'a>],
    position: usize,
}

impl<'a> Reader<'a> {
    fn peek(&self) -> Option<&'a Unit<'a>> {
        self.units.get(self.position)
    }

    fn step(&mut self) {
        self.position = self.position.saturating_add(1);
    }

    fn blanks(&mut self) {
        while matches!(self.peek(), Some(Unit::Char(' ' | '\t' | '\n' | '\r'))) {
            self.step();
        }
    }

    fn take(&mut self, expected: char) -> Option<()> {
        match self.peek() {
            Some(Unit::Char(c)) if *c == expected => {
                self.step();
                Some(())
            }
            _ => None,
        }
    }

    /// Recurses as deep as the text is nested, at most [`limits::DATA_NESTING`].
    fn value(&mut self, depth: usize) -> Option<JsonDraft> {
        if depth > limits::DATA_NESTING {
            return None;
        }
        self.blanks();
        match self.peek()? {
            Unit::Variable(variable) => {
                self.step();
                Some(JsonDraft::Any(Template {
                    parts: vec![Part::Variable((*variable).clone())],
                }))
            }
            Unit::Char('"') => self.string().map(|text| match text.as_literal() {
                Some(text) => JsonDraft::Value(Value::String(text)),
                None => JsonDraft::Text(text),
            }),
            Unit::Char('{') => self.object(depth),
            Unit::Char('[') => self.array(depth),
            Unit::Char(_) => self.word(),
        }
    }

    fn object(&mut self, depth: usize) -> Option<JsonDraft> {
        self.take('{')?;
        let mut members: Vec<(String, JsonDraft)> = Vec::new();
        let mut names = std::collections::BTreeSet::new();
        self.blanks();
        if self.take('}').is_some() {
            return Some(JsonDraft::Object(members));
        }
        loop {
            self.blanks();
            // A name with a variable in it names no property.
            let name = self.string()?.as_literal()?;
            if !names.insert(name.clone()) {
                return None;
            }
            self.blanks();
            self.take(':')?;
            members.push((name, self.value(depth.saturating_add(1))?));
            self.blanks();
            if self.take(',').is_none() {
                self.take('}')?;
                return Some(JsonDraft::Object(members));
            }
        }
    }

    fn array(&mut self, depth: usize) -> Option<JsonDraft> {
        self.take('[')?;
        let mut items = Vec::new();
        self.blanks();
        if self.take(']').is_some() {
            return Some(JsonDraft::Array(items));
        }
        loop {
            items.push(self.value(depth.saturating_add(1))?);
            self.blanks();
            if self.take(',').is_none() {
                self.take(']')?;
                return Some(JsonDraft::Array(items));
            }
        }
    }

    /// A number or a keyword.
    fn word(&mut self) -> Option<JsonDraft> {
        let mut text = String::new();
        while let Some(Unit::Char(c)) = self.peek() {
            if !(c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.')) {
                break;
            }
            text.push(*c);
            self.step();
        }
        let mut values = Json::parse(text.as_bytes()).ok()?.values();
        // A number that has no value of its own would be sent as another one: such a text is sent as it stands.
        let only = values.pop().filter(|_| values.is_empty());
        only.map(JsonDraft::Value)
    }

    /// A string, its escapes applied.
    fn string(&mut self) -> Option<Template> {
        self.take('"')?;
        let mut template = Template::default();
        let mut text = String::new();
        loop {
            let unit = self.peek()?;
            self.step();
            match unit {
                Unit::Variable(variable) => {
                    template.push_literal(std::mem::take(&mut text), Quoting::Bare);
                    template.push(Part::Variable((*variable).clone()));
                }
                Unit::Char('"') => {
                    template.push_literal(text, Quoting::Bare);
                    return Some(template);
                }
                Unit::Char('\\') => text.push(self.escape()?),
                Unit::Char(c) if u32::from(*c) < 0x20 => return None,
                Unit::Char(c) => text.push(*c),
            }
        }
    }

    fn escape(&mut self) -> Option<char> {
        let Unit::Char(c) = self.peek()? else {
            return None;
        };
        self.step();
        Some(match c {
            '"' | '\\' | '/' => *c,
            'b' => '\u{8}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'u' => {
                let high = self.hexadecimal()?;
                if (0xD800..0xDC00).contains(&high) {
                    self.take('\\')?;
                    self.take('u')?;
                    let low = self
                        .hexadecimal()?
                        .checked_sub(0xDC00)
                        .filter(|low| *low < 0x400)?;
                    char::from_u32(0x1_0000 + ((high - 0xD800) << 10) + low)?
                } else {
                    char::from_u32(high)?
                }
            }
            _ => return None,
        })
    }

    fn hexadecimal(&mut self) -> Option<u32> {
        let mut value = 0;
        for _ in 0..4 {
            let Unit::Char(c) = self.peek()? else {
                return None;
            };
            value = value << 4 | c.to_digit(16)?;
            self.step();
        }
        Some(value)
    }
}
