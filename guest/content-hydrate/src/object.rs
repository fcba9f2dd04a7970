//! An entry as an object of a document, in the four ways it can be laid out (LF-02 to LF-06, V2-01).

use kit::front_matter::LineBreak;

use crate::{code::Code, skill::Skill, tool::Tool};

/// V2-01: a quoted key of more characters is written in the explicit form; YAML allows 1024.
const MAX_SIMPLE_KEY: usize = 1_000;

/// An entry: its URI, and its other members in order.
pub(crate) struct Object<'e> {
    uri: &'e str,
    members: Vec<(&'static str, &'e str)>,
}

impl<'e> From<&'e Skill> for Object<'e> {
    fn from(skill: &'e Skill) -> Self {
        let mut members = vec![("name", &*skill.name), ("description", &*skill.description)];
        members.extend(checksum(skill.checksum.as_deref()));
        Self {
            uri: &skill.uri,
            members,
        }
    }
}

impl<'e> From<&'e Tool> for Object<'e> {
    fn from(tool: &'e Tool) -> Self {
        let mut members = vec![("description", &*tool.description)];
        members.extend(checksum(tool.checksum.as_deref()));
        Self {
            uri: &tool.uri,
            members,
        }
    }
}

/// C-01: the last member.
fn checksum(checksum: Option<&str>) -> Option<(&'static str, &str)> {
    checksum.map(|checksum| ("checksum", checksum))
}

/// How objects stand in a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Layout {
    /// §14.1: a list of objects.
    List,
    /// §14.2: a mapping from URIs.
    Mapping,
}

impl Layout {
    /// LF-04: each object on lines of its own, below a key in this column.
    pub(crate) fn block(
        self,
        objects: &[Object<'_>],
        column: usize,
        line_break: LineBreak,
    ) -> String {
        let margin = format!(
            "{}{}",
            line_break.as_str(),
            " ".repeat(column.saturating_add(2))
        );
        let mut text = String::new();
        for object in self.distinct(objects) {
            text.push_str(&margin);
            let uri = quoted(object.uri);
            let mut first = match self {
                Self::List => {
                    text.push_str("- uri: ");
                    text.push_str(&uri);
                    None
                }
                Self::Mapping if is_simple_key(&uri) => {
                    text.push_str(&uri);
                    text.push(':');
                    None
                }
                Self::Mapping => {
                    text.push_str("? ");
                    text.push_str(&uri);
                    text.push_str(&margin);
                    Some(": ")
                }
            };
            for (name, value) in &object.members {
                match first.take() {
                    Some(indicator) => text.push_str(indicator),
                    None => {
                        text.push_str(&margin);
                        text.push_str("  ");
                    }
                }
                text.push_str(name);
                text.push_str(": ");
                text.push_str(&quoted(value));
            }
        }
        text
    }

    /// LF-05: compact JSON, but for keys that YAML does not take as such.
    pub(crate) fn flow(self, objects: &[Object<'_>]) -> String {
        let (open, close) = match self {
            Self::List => ('[', ']'),
            Self::Mapping => ('{', '}'),
        };
        let mut text = String::from(open);
        for (position, object) in self.distinct(objects).enumerate() {
            if position > 0 {
                text.push(',');
            }
            let uri = quoted(object.uri);
            match self {
                Self::List => {
                    text.push_str("{\"uri\":");
                    text.push_str(&uri);
                    text.push(',');
                }
                Self::Mapping => {
                    if !is_simple_key(&uri) {
                        text.push_str("? ");
                    }
                    text.push_str(&uri);
                    text.push_str(":{");
                }
            }
            for (position, (name, value)) in object.members.iter().enumerate() {
                if position > 0 {
                    text.push(',');
                }
                text.push_str(&quoted(name));
                text.push(':');
                text.push_str(&quoted(value));
            }
            text.push('}');
        }
        text.push(close);
        text
    }

    /// V2-02: a declared entry of the sentinel's name gives way to the sentinel, which is the last one.
    fn distinct<'o, 'e>(self, objects: &'o [Object<'e>]) -> impl Iterator<Item = &'o Object<'e>> {
        let last = objects.len().saturating_sub(1);
        let sentinel = objects
            .last()
            .is_some_and(|object| object.uri == Code::LimitExceeded.as_str());
        objects
            .iter()
            .enumerate()
            .filter(move |(position, object)| {
                let gives_way = self == Self::Mapping
                    && sentinel
                    && *position != last
                    && object.uri == Code::LimitExceeded.as_str();
                !gives_way
            })
            .map(|(_, object)| object)
    }
}

fn is_simple_key(quoted: &str) -> bool {
    quoted.chars().nth(MAX_SIMPLE_KEY).is_none()
}

/// LF-03: a double-quoted scalar with the escapes of J-02, and of what YAML calls not printable.
///
/// YAML lets these stand in quotes for the sake of JSON, but not every parser does (ours does not), and
/// LF-10 wants a document that parses.
fn quoted(text: &str) -> String {
    let json = serde_json::Value::from(text).to_string();
    if json.chars().all(is_printable) {
        return json;
    }
    let mut escaped = String::with_capacity(json.len().saturating_add(16));
    for character in json.chars() {
        if is_printable(character) {
            escaped.push(character);
        } else {
            escaped.push_str(&format!("\\u{:04x}", u32::from(character)));
        }
    }
    escaped
}

fn is_printable(character: char) -> bool {
    !matches!(character, '\u{7f}'..='\u{84}' | '\u{86}'..='\u{9f}' | '\u{fffe}' | '\u{ffff}')
}
