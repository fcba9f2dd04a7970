//! `NAME=value` and `export NAME=value`: text that later commands use.

use super::Constants;
use super::computed;
use super::globs;
use super::plan::document_line;
use super::program::{Assignment, Value};
use super::word::{Budget, Reader};
use crate::assemble::secrets;
use crate::context::Context;
use crate::diagnostic::Diagnostics;
use crate::draft::Template;
use crate::failure::Code;

/// What assignments are made in.
pub(super) struct Surroundings<'a> {
    pub(super) start_line: u32,
    pub(super) context: &'a Context,
    pub(super) budget: &'a Budget,
}

/// What an assignment is.
enum Kept {
    /// Text, with variables in it perhaps.
    Text(Template),
    /// What a caller gives.
    Given,
}

/// Keeps assignments for later commands. False, and nothing is kept, if one of them is no text.
pub(super) fn keep(
    assignments: &[Assignment],
    constants: &mut Constants,
    around: &Surroundings<'_>,
    diagnostics: &mut Diagnostics,
) -> bool {
    let mut kept = Vec::with_capacity(assignments.len());
    for assignment in assignments {
        let Some(value) = read(assignment, constants, around) else {
            return false;
        };
        kept.push((assignment, value));
    }
    for (Assignment { name, line, .. }, value) in kept {
        // What the request says goes first.
        if around.context.constants.contains_key(name) {
            constants.values.remove(name);
            continue;
        }
        let text: Option<String> = match &value {
            Kept::Text(value) => value.as_literal(),
            Kept::Given => None,
        };
        let is_credential = text
            .as_deref()
            .is_some_and(crate::assemble::looks_like_credential);
        // `AUTH="Authorization: Bearer $TOKEN"` is a header, whatever its name says.
        let is_header = matches!(&value, Kept::Text(value) if is_header(value));
        let is_region =
            around.context.settings.contains(name) && text.as_deref().is_some_and(is_region);
        let is_secret = !is_header && !is_region && secrets::is_secret_name(name, around.context);
        if is_secret || is_credential {
            let is_kept = text.as_deref().is_some_and(|text| !is_placeholder(text));
            if is_kept {
                diagnostics.warn(
                    Code::LiteralCredential,
                    document_line(around.start_line, *line),
                    format!("the value of {name} was dropped; it is a secret"),
                );
            }
            constants.values.remove(name);
            constants.secrets.insert(name.clone());
            continue;
        }
        constants.secrets.remove(name);
        match value {
            Kept::Text(value) => constants.values.insert(name.clone(), value),
            Kept::Given => constants.values.remove(name),
        };
    }
    true
}

/// Whether all assignments are such as could be kept.
pub(super) fn are_texts(
    assignments: &[Assignment],
    constants: &Constants,
    around: &Surroundings<'_>,
) -> bool {
    let is_text = |assignment: &Assignment| read(assignment, constants, around).is_some();
    assignments.iter().all(is_text)
}

fn read(
    Assignment { name, value, .. }: &Assignment,
    constants: &Constants,
    around: &Surroundings<'_>,
) -> Option<Kept> {
    let mut reader = Reader::new(constants, around.context, around.budget);
    match value {
        Value::Word(word) => {
            let value = globs::with_home(reader.value(word));
            if value.as_literal().is_some_and(|text| is_to_be_given(&text)) {
                return Some(Kept::Given);
            }
            (!globs::has_tilde(&value)).then_some(Kept::Text(value))
        }
        Value::Output(commands) => {
            let is_secret = secrets::is_secret_name(name, around.context);
            (computed::is_value(commands) || is_secret && computed::is_own_script(commands))
                .then_some(Kept::Given)
        }
    }
}

/// `Name: value`
fn is_header(value: &Template) -> bool {
    value.display().split_once(": ").is_some_and(|(name, _)| {
        !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
    })
}

/// `us1`, `eu`: a region of a service, where the name of an account in its place would only be an example.
fn is_region(text: &str) -> bool {
    text.split_at_checked(2).is_some_and(|(letters, number)| {
        letters.bytes().all(|byte| byte.is_ascii_lowercase())
            && number.bytes().all(|byte| byte.is_ascii_digit())
    })
}

/// `<BOX_ID>`, which the reader of shell text has as `{BOX_ID}`. In small letters it may be a program of jq.
fn is_to_be_given(text: &str) -> bool {
    let name = text
        .strip_prefix('{')
        .and_then(|text| text.strip_suffix('}'));
    name.is_some_and(|name| {
        name.starts_with(|c: char| c.is_ascii_uppercase())
            && name
                .bytes()
                .all(|b| matches!(b, b'A'..=b'Z' | b'0'..=b'9' | b'_'))
    })
}

/// What stands for a credential that the reader is to fill in.
fn is_placeholder(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    text.is_empty()
        || text.starts_with('{') && text.ends_with('}')
        || text.ends_with("...")
        || lower.starts_with("your")
        || text.chars().all(|c| matches!(c, 'x' | 'X' | '0' | '*'))
}
