//! An entry as an object of a document, in the four ways it can be laid out.

use kit::front_matter::LineBreak;

use crate::{code::Code, skill::Skill, tool::Tool};

/// A quoted key of more characters is written in the explicit form; YAML allows 1024.
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

/// The last member.
fn checksum(checksum: Option<&str>) -> Option<(&'static str, &str)> {
    checksum.map(|checksum| ("checksum", checksum))
}

/// How objects stand in a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Layout {
    /// A list of objects, in the link form.
    List,
    /// A mapping from URIs, in v2.
    Mapping,
}

impl Layout {
    /// Each object on lines of its own, below a key in this column.
    pub(crate) fn block(
        self,
        objects: &[Object<'_>],
        column: usize,
        line_break: LineBreak,
    ) -> String {
        let indent = " ".repeat(column.saturating_add(2));
        let margin = format!("{}{indent}", line_break.as_str());
        let mut text = String::new();
        for object in self.distinct(objects) {
            let uri = quoted(object.uri);
            // What stands before the members, and before the first of them.
            let (head, mut indicator) = match self {
                Self::List => (format!("- uri: {uri}"), "  "),
                Self::Mapping if is_simple_key(&uri) => (format!("{uri}:"), "  "),
                Self::Mapping => (format!("? {uri}"), ": "),
            };
            text.push_str(&margin);
            text.push_str(&head);
            for (name, value) in &object.members {
                text.push_str(&format!("{margin}{indicator}{name}: {}", quoted(value)));
                indicator = "  ";
            }
        }
        text
    }

    /// Compact JSON, but for keys that YAML does not take as such.
    pub(crate) fn flow(self, objects: &[Object<'_>]) -> String {
        let object = |object: &Object<'_>| {
            let uri = quoted(object.uri);
            let members = object.members.iter();
            let members = members.map(|(name, value)| format!("\"{name}\":{}", quoted(value)));
            let members = members.collect::<Vec<_>>().join(",");
            match self {
                Self::List => format!("{{\"uri\":{uri},{members}}}"),
                Self::Mapping if is_simple_key(&uri) => format!("{uri}:{{{members}}}"),
                Self::Mapping => format!("? {uri}:{{{members}}}"),
            }
        };
        let objects = self.distinct(objects).map(object);
        let objects = objects.collect::<Vec<_>>().join(",");
        match self {
            Self::List => format!("[{objects}]"),
            Self::Mapping => format!("{{{objects}}}"),
        }
    }

    /// A declared entry of the sentinel's name gives way to the sentinel, which is the last one.
    fn distinct<'o, 'e>(self, objects: &'o [Object<'e>]) -> impl Iterator<Item = &'o Object<'e>> {
        let sentinel = Code::LimitExceeded.as_str();
        let (last, others) = match objects.split_last() {
            Some((last, others)) => (Some(last), others),
            None => (None, objects),
        };
        let has_sentinel = last.is_some_and(|object| object.uri == sentinel);
        let gives_way = self == Self::Mapping && has_sentinel;
        let others = others.iter();
        let others = others.filter(move |object| !(gives_way && object.uri == sentinel));
        others.chain(last)
    }
}

fn is_simple_key(quoted: &str) -> bool {
    quoted.chars().nth(MAX_SIMPLE_KEY).is_none()
}

/// A double-quoted scalar with the escapes of JSON, and of what YAML calls not printable.
///
/// YAML lets these stand in quotes for the sake of JSON, but not every parser does (ours does not), and
/// the linked document has to parse.
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
