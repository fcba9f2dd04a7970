//! `-F`: parts of a multipart body, in curl's own grammar.
//!
//! `name=content`, where content is text, `@file` or `<file`, and `;type=`, `;filename=` may follow; any word may stand in
//! double quotes. Nested parts, several files in one, `;headers=` and `;encoder=` are refused.

use super::{Reading, refused};
use crate::draft::{MultipartDraft, PartContent, Template};
use crate::failure::Failure;
use crate::http_command::Stdin;
use crate::http_command::word::{self, Atom};

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
    let (sign, rest) = match word::first_character(&content) {
        Some(sign @ ('@' | '<')) => (
            Some(sign),
            word::strip_first(&content, sign).unwrap_or_default(),
        ),
        Some('(') => return Err(refused(option, "holds a nested part")),
        _ => (None, content),
    };
    let rest = word::atoms(&rest);
    let end = if sign == Some('@') { Some(',') } else { None };
    let part = Part::read(option, &rest, end)?;
    let filename = match (sign, part.filename) {
        // `<file` is text, which has no name whatever is said.
        (Some('<'), _) => None,
        (_, filename) => filename,
    };
    let mut draft = MultipartDraft {
        name,
        content_type: part.content_type,
        filename,
        content: PartContent::Text(part.word),
    };
    if let Some(sign) = sign {
        attach(option, sign, &mut draft, reading)?;
    } else if draft.content_type.is_none() {
        draft.content_type = draft.filename.as_deref().and_then(type_of);
    }
    Ok(draft)
}

/// Makes the text of a part the file that it names.
fn attach(
    option: &str,
    sign: char,
    draft: &mut MultipartDraft,
    reading: &Reading<'_>,
) -> Result<(), Failure> {
    let PartContent::Text(file) = &draft.content else {
        return Ok(());
    };
    let file = file.clone();
    if file.is_empty() {
        return Err(refused(option, "names no file"));
    }
    let is_stdin = file.as_literal().as_deref() == Some("-");
    if sign == '@' && is_stdin && draft.filename.is_none() {
        draft.filename = Some("-".to_owned());
    }
    if draft.content_type.is_none() {
        let by_filename = draft.filename.as_deref().and_then(type_of);
        draft.content_type = match sign {
            // To curl standard input is no file, whose type could be guessed.
            _ if by_filename.is_some() || is_stdin => by_filename,
            '@' => type_of_file(&file, Some(UNKNOWN_TYPE)),
            // Nor is text said to be text.
            _ => type_of_file(&file, None).filter(|media| media != "text/plain"),
        };
    }
    draft.content = if is_stdin {
        match reading.stdin(option)? {
            Stdin::Previous => PartContent::Previous,
            Stdin::Text(text) => PartContent::Text(text.clone()),
            Stdin::Nothing => {
                return Err(refused(
                    option,
                    "reads standard input, and nothing is there",
                ));
            }
        }
    } else if sign == '@' {
        PartContent::File(file)
    } else {
        PartContent::TextOfFile(file)
    };
    Ok(())
}

fn named(option: &str, value: &Template) -> Result<(String, Template), Failure> {
    let (name, content) =
        word::split_once(value, '=').ok_or_else(|| refused(option, "has no name"))?;
    match name.as_literal() {
        Some(name) if name.contains(|c: char| c.is_control()) => {
            Err(refused(option, "has a control character in its name"))
        }
        Some(name) if !name.is_empty() => Ok((name, content)),
        Some(_) => Err(refused(option, "has no name")),
        None => Err(refused(option, "has a variable in its name")),
    }
}

/// What follows `name=`, without the sign.
struct Part {
    word: Template,
    content_type: Option<String>,
    filename: Option<String>,
}

impl Part {
    /// `end` is what ends a word besides `;`, and is refused where it does.
    fn read(option: &str, atoms: &[Atom], end: Option<char>) -> Result<Self, Failure> {
        let mut cursor = Cursor { atoms, end };
        cursor.skip_spaces();
        let mut part = Self {
            word: word::template(cursor.word().iter()),
            content_type: None,
            filename: None,
        };
        // Where the type is still being read: what follows a `;` and is no other key is part of it.
        let mut in_type = false;
        while cursor.take(';') {
            let blanks = cursor.skip_spaces();
            if !in_type && cursor.take_key("type=") {
                cursor.skip_spaces();
                let text = literal(option, cursor.type_text())?;
                if !is_type(&text) {
                    return Err(refused(option, "has a type that is none"));
                }
                part.content_type = Some(text);
                in_type = true;
            } else if cursor.take_key("filename=") {
                cursor.skip_spaces();
                part.filename = Some(literal(option, &cursor.word())?);
                in_type = false;
            } else if cursor.take_key("headers=") || cursor.take_key("encoder=") {
                return Err(refused(option, "has headers or an encoder of its own"));
            } else if in_type {
                let more = literal(option, cursor.rest_of_word())?;
                if let Some(text) = &mut part.content_type {
                    text.push(';');
                    text.push_str(&literal(option, blanks)?);
                    text.push_str(more.trim_end_matches(' '));
                }
            } else {
                // curl skips what it does not know, with a warning.
                let _ = cursor.word();
            }
        }
        if !cursor.atoms.is_empty() {
            return Err(refused(option, "names several files"));
        }
        Ok(part)
    }
}

/// What is left of a part.
struct Cursor<'a> {
    atoms: &'a [Atom],
    end: Option<char>,
}

impl<'a> Cursor<'a> {
    fn ends_word(&self, atom: &Atom) -> bool {
        atom.is(';') || self.end.is_some_and(|end| atom.is(end))
    }

    fn skip_spaces(&mut self) -> &'a [Atom] {
        let end = self.atoms.iter().position(|atom| !atom.is_space());
        let (blanks, rest) = self
            .atoms
            .split_at_checked(end.unwrap_or(self.atoms.len()))
            .unwrap_or_default();
        self.atoms = rest;
        blanks
    }

    fn take(&mut self, c: char) -> bool {
        match self.atoms.split_first() {
            Some((first, rest)) if first.is(c) => {
                self.atoms = rest;
                true
            }
            _ => false,
        }
    }

    /// A key in any case.
    fn take_key(&mut self, key: &str) -> bool {
        let fits = key.chars().enumerate().all(|(index, c)| {
            self.atoms
                .get(index)
                .and_then(Atom::character)
                .is_some_and(|found| found.eq_ignore_ascii_case(&c))
        });
        if fits {
            self.atoms = self.atoms.get(key.len()..).unwrap_or_default();
        }
        fits
    }

    fn rest_of_word(&mut self) -> &'a [Atom] {
        let end = self
            .atoms
            .iter()
            .position(|atom| self.ends_word(atom))
            .unwrap_or(self.atoms.len());
        let (word, rest) = self.atoms.split_at_checked(end).unwrap_or_default();
        self.atoms = rest;
        word
    }

    /// A word: quoted, with `\\` and `\"` in it, or up to the end without the blanks before it.
    fn word(&mut self) -> Vec<Atom> {
        if let Some((quoted, rest)) = quoted(self.atoms) {
            self.atoms = rest;
            // What stands between the quote and the end is dropped, as curl does.
            self.rest_of_word();
            return quoted;
        }
        let mut word = self.rest_of_word().to_vec();
        while word.last().is_some_and(Atom::is_space) {
            word.pop();
        }
        word
    }

    /// A type: its first half may hold `;`.
    fn type_text(&mut self) -> &'a [Atom] {
        let all = self.atoms;
        let slash = all
            .iter()
            .position(|atom| atom.is('/') || atom.is(' '))
            .unwrap_or(0);
        self.atoms = all.get(slash..).unwrap_or_default();
        let rest = self.rest_of_word().len();
        let text = all.get(..slash + rest).unwrap_or_default();
        let kept = text
            .iter()
            .rposition(|atom| !atom.is_space())
            .map_or(0, |last| last + 1);
        text.get(..kept).unwrap_or_default()
    }
}

/// Text in double quotes, and what follows; none if it is not closed.
fn quoted(atoms: &[Atom]) -> Option<(Vec<Atom>, &[Atom])> {
    let (first, mut rest) = atoms.split_first()?;
    if !first.is('"') {
        return None;
    }
    let mut text = Vec::new();
    loop {
        let (atom, after) = rest.split_first()?;
        rest = after;
        if atom.is('"') {
            return Some((text, rest));
        }
        if atom.is('\\')
            && let Some((escaped, after)) = rest.split_first()
            && (escaped.is('\\') || escaped.is('"'))
        {
            text.push(escaped.clone());
            rest = after;
        } else {
            text.push(atom.clone());
        }
    }
}

fn literal(option: &str, atoms: &[Atom]) -> Result<String, Failure> {
    word::template(atoms)
        .as_literal()
        .filter(|text| !text.contains(|c: char| c.is_control()))
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
    let last = word::atoms(name).last().cloned()?;
    if last.character().is_none_or(|c| matches!(c, '}' | '>')) {
        return None;
    }
    let end = word::literals(name).last().unwrap_or_default();
    type_of(end).or_else(|| otherwise.map(str::to_owned))
}
