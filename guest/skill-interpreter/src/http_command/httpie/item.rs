//! Items of httpie: `k=v`, `k:=json`, `K:V`, `k==v`, `k@f` (K-161).

use serde_json::Value;

use super::refused;
use crate::draft::{HeaderDraft, HeaderValue, JsonDraft, Template};
use crate::failure::{Code, Failure};
use crate::http_command::header;
use crate::http_command::word::{self, Atom};

/// The longest first, as the longest of those that begin at one place decides.
const SEPARATORS: [(&str, Separator); 10] = [
    (":=@", Separator::JsonFile),
    ("==@", Separator::QueryFile),
    (":=", Separator::Json),
    ("==", Separator::Query),
    ("=@", Separator::TextFile),
    (":@", Separator::HeaderFile),
    ("=", Separator::Text),
    (":", Separator::Header),
    ("@", Separator::File),
    (";", Separator::EmptyHeader),
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Separator {
    Header,
    HeaderFile,
    EmptyHeader,
    Query,
    QueryFile,
    Text,
    TextFile,
    Json,
    JsonFile,
    File,
}

/// What an item says.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Item {
    /// `K:V`, `K:`, `K;`
    Header(HeaderDraft),
    /// `k==v`
    Query(String, Template),
    /// `k=v`
    Text(String, Template),
    /// `k:=json`
    Json(String, JsonDraft),
    /// `k=@f`
    TextOfFile(String, Template),
    /// `k:=@f`
    JsonOfFile(String, Template),
    /// `k@f`, `k@f;type=T`
    File {
        /// Its name.
        key: String,
        /// The file.
        name: Template,
        /// `;type=`
        content_type: Option<String>,
    },
}

/// Reads an item.
///
/// # Errors
///
/// `httpie-option-refused` for what is none, `header-refused` for a name of a header that is no token.
pub(super) fn read(word: &Template) -> Result<Item, Failure> {
    let (key, separator, value) = split(word)?;
    let key = key.as_literal();
    let key = key.ok_or_else(|| refused("an item with a variable as its name"))?;
    Ok(match separator {
        Separator::Header => Item::Header(header_of(key, value)?),
        Separator::EmptyHeader if value.is_empty() => {
            Item::Header(header::new(key, HeaderValue::Empty)?)
        }
        Separator::EmptyHeader => return Err(refused("a header with ; and a value")),
        Separator::Query => Item::Query(key, value),
        Separator::Text => Item::Text(plain(key)?, value),
        Separator::Json => Item::Json(plain(key)?, json(&value)?),
        Separator::TextFile => Item::TextOfFile(plain(key)?, file(value)?),
        Separator::JsonFile => Item::JsonOfFile(plain(key)?, file(value)?),
        Separator::File => uploaded(key, &value)?,
        Separator::QueryFile => return Err(refused("==@, a file in the query,")),
        Separator::HeaderFile => return Err(refused(":@, a file in a header,")),
    })
}

/// The first separator that is not escaped. A backslash before a character of a separator is dropped, others stay.
fn split(word: &Template) -> Result<(Template, Separator, Template), Failure> {
    let atoms = word::atoms(word);
    let mut key: Vec<Atom> = Vec::new();
    let mut rest = atoms.as_slice();
    let separator = loop {
        if let Some((escaped, after)) = escaped(rest) {
            key.push(escaped.clone());
            rest = after;
            continue;
        }
        if let Some((separator, after)) = begins_with_separator(rest) {
            rest = after;
            break separator;
        }
        let Some((atom, after)) = rest.split_first() else {
            return Err(refused("an item without a separator"));
        };
        key.push(atom.clone());
        rest = after;
    };
    let mut value: Vec<Atom> = Vec::new();
    while let Some((atom, after)) = escaped(rest).or_else(|| rest.split_first()) {
        value.push(atom.clone());
        rest = after;
    }
    Ok((word::template(&key), separator, word::template(&value)))
}

fn escaped(atoms: &[Atom]) -> Option<(&Atom, &[Atom])> {
    let (backslash, rest) = atoms.split_first()?;
    let (next, after) = rest.split_first()?;
    let is_special = matches!(next.character()?, ':' | '=' | '@' | ';');
    (backslash.is('\\') && is_special).then_some((next, after))
}

fn begins_with_separator(atoms: &[Atom]) -> Option<(Separator, &[Atom])> {
    SEPARATORS.iter().find_map(|(text, separator)| {
        let (begin, after) = atoms.split_at_checked(text.len())?;
        begin
            .iter()
            .zip(text.chars())
            .all(|(atom, c)| atom.is(c))
            .then_some((*separator, after))
    })
}

fn header_of(name: String, value: Template) -> Result<HeaderDraft, Failure> {
    let value = word::trim(&value, header::is_blank);
    header::new(
        name,
        if value.is_empty() {
            HeaderValue::Removed
        } else {
            HeaderValue::Set(value)
        },
    )
}

/// A name of a member: httpie 3 reads brackets in it as a path, which is not mapped.
fn plain(key: String) -> Result<String, Failure> {
    if key.contains(['[', ']']) {
        return Err(refused("an item whose name is a path in brackets"));
    }
    Ok(key)
}

fn file(name: Template) -> Result<Template, Failure> {
    if name.is_empty() || name.as_literal().as_deref() == Some("-") {
        return Err(refused("an item that names no file"));
    }
    Ok(name)
}

fn uploaded(key: String, value: &Template) -> Result<Item, Failure> {
    if key.is_empty() {
        return Err(refused("@, a file as the body,"));
    }
    let atoms = word::atoms(value);
    let marks: Vec<char> = ";type=".chars().collect();
    let at = atoms
        .windows(marks.len())
        .position(|window| window.iter().zip(&marks).all(|(atom, c)| atom.is(*c)));
    let (name, media) = match at {
        None => (value.clone(), None),
        Some(at) => {
            let name = word::template(atoms.iter().take(at));
            let media = word::template(atoms.iter().skip(at + marks.len())).as_literal();
            let media = media.filter(|media| {
                media.contains('/') && !media.contains(|c: char| c.is_control() || c == ';')
            });
            let media = media.ok_or_else(|| refused(";type= with what is no media type"))?;
            (name, Some(media))
        }
    };
    Ok(Item::File {
        key,
        name: file(name)?,
        content_type: media,
    })
}

/// A JSON text: literal, or nothing but one variable.
fn json(value: &Template) -> Result<JsonDraft, Failure> {
    let Some(text) = value.as_literal() else {
        return match value.as_variable() {
            Some(_) => Ok(JsonDraft::Any(value.clone())),
            None => Err(refused(":= with a variable within JSON")),
        };
    };
    if let Ok(json) = serde_json::from_str::<Value>(&text) {
        return Ok(draft(json));
    }
    // `{name}` and `<name>` are placeholders (K-188), which `assemble` finds.
    let bare = text
        .trim_start_matches(['{', '<'])
        .trim_end_matches(['}', '>']);
    let is_name = !bare.is_empty()
        && bare
            .chars()
            .all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.'));
    if is_name && bare.len() < text.len() && text.starts_with(['{', '<']) {
        return Ok(JsonDraft::Any(value.clone()));
    }
    Err(Failure::new(
        Code::HttpieOptionRefused,
        "httpie: := with what is no JSON is refused",
    ))
}

/// As deep as `serde_json` reads, which is 128.
fn draft(json: Value) -> JsonDraft {
    match json {
        Value::String(text) => JsonDraft::Text(Template::literal(text)),
        Value::Array(items) => JsonDraft::Array(items.into_iter().map(draft).collect()),
        Value::Object(members) => JsonDraft::Object(
            members
                .into_iter()
                .map(|(key, value)| (key, draft(value)))
                .collect(),
        ),
        other => JsonDraft::Value(other),
    }
}
