//! K-120: `NAME=value`, `export NAME=value` and `NAME=(words)` of literal text.

use super::Constants;
use super::expansion::name_length;
use super::globs;
use super::grammar::Place;
use super::lexer::{Kind, Scan};
use super::plan::{document_line, text_at, token_at};
use super::word::{Budget, Reader};
use crate::assemble::secrets;
use crate::context::Context;
use crate::diagnostic::Diagnostics;
use crate::draft::Template;
use crate::failure::Code;

/// What an assignment stands for.
struct Assignment {
    name: String,
    values: Vec<Template>,
}

/// Keeps assignments as constants. False, and nothing is kept, if one of them is none.
pub(super) fn keep(
    assignments: &[Place],
    scan: &Scan,
    start_line: u32,
    constants: &mut Constants,
    context: &Context,
    budget: &Budget,
    diagnostics: &mut Diagnostics,
) -> bool {
    let mut kept = Vec::with_capacity(assignments.len());
    for place in assignments {
        let Some(assignment) = read(*place, scan, constants, context, budget) else {
            return false;
        };
        let line = token_at(scan, *place).map_or(1, |token| token.line);
        kept.push((assignment, document_line(start_line, line)));
    }
    for (Assignment { name, values }, line) in kept {
        let text: String = values.iter().filter_map(Template::as_literal).collect();
        if secrets::is_secret_name(&name, context) || crate::assemble::looks_like_credential(&text)
        {
            if !is_placeholder(&text) {
                diagnostics.warn(
                    Code::LiteralCredential,
                    line,
                    format!("the value of {name} was dropped; it is a secret"),
                );
            }
            constants.values.remove(&name);
            constants.secrets.insert(name);
        } else {
            constants.secrets.remove(&name);
            constants.values.insert(name, values);
        }
    }
    true
}

fn read(
    place: Place,
    scan: &Scan,
    constants: &Constants,
    context: &Context,
    budget: &Budget,
) -> Option<Assignment> {
    let written = text_at(scan, place);
    let (name, after) = written.split_at_checked(name_length(written))?;
    let value = after.strip_prefix('=')?;
    if name.is_empty() {
        return None;
    }
    let mut reader = Reader::new(constants, context, budget);
    let values = match array(place, scan) {
        Some(elements) if value.is_empty() => {
            let mut values = Vec::with_capacity(elements.len());
            for element in elements {
                for word in reader.words(element) {
                    if globs::in_operand(&word).is_some() {
                        return None;
                    }
                    values.push(word);
                }
            }
            values
        }
        _ => {
            let value = reader.value(value);
            if globs::has_tilde(&value) {
                return None;
            }
            vec![value]
        }
    };
    values
        .iter()
        .all(|value| value.as_literal().is_some())
        .then(|| Assignment {
            name: name.to_owned(),
            values,
        })
}

/// The elements of the array whose `NAME=` begins there.
fn array(place: Place, scan: &Scan) -> Option<Vec<&str>> {
    let index = scan
        .tokens
        .binary_search_by_key(&place, |token| token.start)
        .ok()?;
    let name = scan.tokens.get(index)?;
    let open = scan.tokens.get(index + 1)?;
    if open.kind != Kind::Operator("(") || open.start != name.end {
        return None;
    }
    let inside = scan.tokens.get(index + 2..)?;
    Some(
        inside
            .iter()
            .take_while(|token| token.kind != Kind::Operator(")"))
            .filter(|token| token.kind == Kind::Word)
            .map(|token| scan.text_of(token))
            .collect(),
    )
}

/// K-193: what stands for a credential that the reader is to fill in.
fn is_placeholder(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    text.is_empty()
        || text.starts_with('{') && text.ends_with('}')
        || text.ends_with("...")
        || lower.starts_with("your")
        || text.chars().all(|c| matches!(c, 'x' | 'X' | '0' | '*'))
}
