//! `-F`: parts of a multipart body, in curl's own grammar.
//!
//! `name=content`, where content is text, `@file` or `<file`, and `;type=`, `;filename=` may follow; any word may stand in
//! double quotes. Nested parts, several files in one, `;headers=` and `;encoder=` are refused.

use super::{Reading, refused};
use crate::draft::{MultipartDraft, Part, PartContent, Template};
use crate::failure::Failure;
use crate::http_command::Stdin;

/// What curl sends as the type of a file whose name says nothing.
const UNKNOWN_TYPE: &str = "application/octet-stream";
/// The types that curl knows by the end of a file's name.
const TYPES: [(&str, &str); 10] = [
    (".gif", "image/gif"),
    (".jpg", "image/jpeg"),
    (".jpeg", "image/jpeg"),
    (".png", "image/png"),
    (".svg", "image/svg+xml"),
    (".txt", "text/plain"),
    (".htm", "text/html"),
    (".html", "text/html"),
    (".pdf", "application/pdf"),
    (".xml", "application/xml"),
];

/// How many `;` may follow the content of a part: each field copies what stands behind it.
const MAX_FIELDS: usize = 64;

/// Reads the value of `--form-string`, in which nothing has a meaning but the first `=`.
///
/// # Errors
///
/// `curl-option-refused` for a part without a name, or with a variable in it.
pub(super) fn read_string(option: &str, value: &Template) -> Result<MultipartDraft, Failure> {
    let (name, content) = named(option, value)?;
    Ok(MultipartDraft {
        name,
        content: PartContent::Text(content),
        content_type: None,
        filename: None,
    })
}

/// Reads the value of `-F`.
///
/// # Errors
///
/// `curl-option-refused` for what cannot be mapped, and for what curl itself takes for badly written.
pub(super) fn read(
    option: &str,
    value: &Template,
    reading: &Reading<'_>,
) -> Result<MultipartDraft, Failure> {
    let (name, content) = named(option, value)?;
    let sign = content.first_character();
    let sign = sign.filter(|sign| matches!(sign, '@' | '<' | '('));
    let text = sign.and_then(|sign| content.strip_prefix(sign));
    let words = Words::read(option, &text.unwrap_or(content), sign == Some('@'))?;
    let mut part = MultipartDraft {
        name,
        content: PartContent::Text(words.content.clone()),
        content_type: words.content_type,
        filename: words.filename,
    };
    let by_filename = |part: &MultipartDraft| part.filename.as_deref().and_then(type_of);
    let Some(sign) = sign else {
        part.content_type = part.content_type.take().or_else(|| by_filename(&part));
        return Ok(part);
    };
    let (file, is_file) = (words.content, sign == '@');
    if sign == '(' {
        return Err(refused(option, "holds a nested part"));
    }
    if file.is_empty() {
        return Err(refused(option, "names no file"));
    }
    let is_stdin = file.as_literal().as_deref() == Some("-");
    if !is_file {
        // `<file` is text, which has no name whatever is said.
        part.filename = None;
    } else if is_stdin {
        part.filename.get_or_insert_with(|| "-".to_owned());
    }
    part.content_type = part
        .content_type
        .take()
        .or_else(|| by_filename(&part))
        .or_else(|| {
            // To curl standard input is no file, whose type could be guessed; nor is text said to be text.
            let of_file =
                type_of_file(&file, is_file.then_some(UNKNOWN_TYPE)).filter(|_| !is_stdin);
            of_file.filter(|media| is_file || media != "text/plain")
        });
    part.content = match (is_stdin, is_file) {
        (true, _) => match reading.stdin(option)? {
            Stdin::Previous => PartContent::Previous,
            Stdin::Text(text) => PartContent::Text(text.clone()),
            Stdin::Nothing => {
                return Err(refused(
                    option,
                    "reads standard input, and nothing is there",
                ));
            }
        },
        (false, true) => PartContent::File(file),
        (false, false) => PartContent::TextOfFile(file),
    };
    Ok(part)
}

fn named(option: &str, value: &Template) -> Result<(String, Template), Failure> {
    let (name, content) = value
        .split_once('=')
        .ok_or_else(|| refused(option, "has no name"))?;
    match name.as_literal() {
        Some(name) if name.contains(char::is_control) => {
            Err(refused(option, "has a control character in its name"))
        }
        Some(name) if !name.is_empty() => Ok((name, content)),
        Some(_) => Err(refused(option, "has no name")),
        None => Err(refused(option, "has a variable in its name")),
    }
}

/// What follows `name=`, without the sign.
struct Words {
    content: Template,
    content_type: Option<String>,
    filename: Option<String>,
}

impl Words {
    fn read(option: &str, text: &Template, is_file: bool) -> Result<Self, Failure> {
        let ends = |c: char| c == ';' || is_file && c == ',';
        let (content, mut rest) = word(text, ends);
        let fields = rest.literals().flat_map(|text| text.matches(';'));
        if fields.take(MAX_FIELDS.saturating_add(1)).count() > MAX_FIELDS {
            let why = format!("has more than {MAX_FIELDS} fields");
            return Err(refused(option, &why));
        }
        let (mut content_type, mut filename) = (None::<String>, None);
        // Where the type is still being read: what follows a `;` and is no other key is part of it.
        let mut in_type = false;
        while let Some(field) = rest.strip_prefix(';') {
            let key = field.trim_start(is_space);
            if let (false, Some(value)) = (in_type, behind_key(&key, "type=")) {
                let (mut text, behind) = value.break_at(ends);
                text.trim_end(is_space);
                let text = literal(option, &text)?;
                if !is_type(&text) {
                    return Err(refused(option, "has a type that is none"));
                }
                content_type = Some(text);
                in_type = true;
                rest = behind;
            } else if let Some(value) = behind_key(&key, "filename=") {
                let (name, behind) = word(&value, ends);
                filename = Some(literal(option, &name)?);
                in_type = false;
                rest = behind;
            } else if ["headers=", "encoder="]
                .iter()
                .any(|refused| behind_key(&key, refused).is_some())
            {
                return Err(refused(option, "has headers or an encoder of its own"));
            } else if let (true, Some(text)) = (in_type, &mut content_type) {
                let (more, behind) = field.break_at(ends);
                text.push(';');
                text.push_str(literal(option, &more)?.trim_end_matches(' '));
                rest = behind;
            } else {
                // curl skips what it does not know, with a warning.
                rest = word(&field, ends).1;
            }
        }
        if !rest.is_empty() {
            return Err(refused(option, "names several files"));
        }
        Ok(Self {
            content,
            content_type,
            filename,
        })
    }
}

/// A word, and what follows it: a quoted one, or text up to the end without the blanks around it. What stands between the
/// closing quote and the end is dropped, as curl does.
fn word(text: &Template, ends: impl Fn(char) -> bool) -> (Template, Template) {
    let text = text.trim_start(is_space);
    if let Some((word, rest)) = quoted(&text) {
        return (word, rest.break_at(ends).1);
    }
    let (mut word, rest) = text.break_at(ends);
    word.trim_end(is_space);
    (word, rest)
}

/// Text in double quotes, with `\\` and `\"` in it, and what follows; none if it is not closed.
fn quoted(text: &Template) -> Option<(Template, Template)> {
    let text = text.strip_prefix('"')?;
    let mut word = Template::default();
    let mut is_escaped = false;
    for (index, part) in text.parts.iter().enumerate() {
        let Part::Literal(literal) = part else {
            word.push(part.clone());
            continue;
        };
        for (at, c) in literal.text.char_indices() {
            match c {
                '\\' if !is_escaped => {
                    is_escaped = true;
                    continue;
                }
                '"' if !is_escaped => {
                    let mut rest = Template::default();
                    rest.push(Part::Literal(
                        literal.with_text(literal.text.get(at + 1..)?),
                    ));
                    text.parts
                        .iter()
                        .skip(index + 1)
                        .for_each(|part| rest.push(part.clone()));
                    return Some((word, rest));
                }
                '\\' | '"' => {}
                _ if is_escaped => word.push_character('\\', literal.quoting),
                _ => {}
            }
            is_escaped = false;
            word.push_character(c, literal.quoting);
        }
    }
    None
}

/// What follows a key, which may be in any case, and the blanks behind it.
fn behind_key(text: &Template, key: &str) -> Option<Template> {
    let lead = text.leading_text();
    let begins = lead.get(..key.len())?.eq_ignore_ascii_case(key);
    begins.then(|| text.without_leading(key.len()).trim_start(is_space))
}

/// Whether it is a blank as C's `isspace` has it.
fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\r' | '\u{b}' | '\u{c}')
}

fn literal(option: &str, text: &Template) -> Result<String, Failure> {
    text.as_literal()
        .filter(|text| !text.contains(char::is_control))
        .ok_or_else(|| refused(option, "has a type or file name that is not literal text"))
}

/// `major/minor`, whatever follows.
fn is_type(text: &str) -> bool {
    text.split_once('/').is_some_and(|(major, rest)| {
        !major.is_empty()
            && !major.contains(' ')
            && !rest.starts_with([';', ',', ' '])
            && !rest.is_empty()
    })
}

fn type_of(name: &str) -> Option<String> {
    let name = name.to_ascii_lowercase();
    TYPES
        .iter()
        .find(|(end, _)| name.ends_with(end))
        .map(|(_, media)| (*media).to_owned())
}

/// The type of a file by its name; none where the name ends in a variable, which only the host will know.
fn type_of_file(name: &Template, otherwise: Option<&str>) -> Option<String> {
    let Some(Part::Literal(end)) = name.parts.last() else {
        return None;
    };
    if end.text.ends_with(['}', '>']) {
        return None;
    }
    type_of(&end.text).or_else(|| otherwise.map(str::to_owned))
}
