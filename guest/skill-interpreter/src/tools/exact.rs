//! Arguments that may be code (`perl -e`, `docker exec db psql -c`), where a command is run as it is written.
//!
//! An argument that has white space, braces or a line's end in it, besides placeholders, is exact text: what looks like a
//! placeholder in it is no input. A variable of the shell in such an argument makes the command a script.

use super::Tool;
use crate::draft::{Literal, Part, Quoting, Template, Word};
use crate::http_command::{Invocation, Stdin};

/// An invocation whose code is literal.
pub(super) struct Guarded {
    pub(super) argv: Vec<Word>,
    pub(super) stdin: Option<Template>,
}

/// Makes what may be code literal; a script if a variable is in it.
pub(super) fn guard(invocation: &Invocation<'_>) -> Result<Guarded, Tool> {
    let words = |word: &Word| {
        if may_be_code(word) {
            exact(word)
        } else {
            Ok(word.clone())
        }
    };
    let argv = invocation
        .argv
        .iter()
        .map(words)
        .collect::<Result<_, _>>()?;
    let stdin = match invocation.stdin {
        Stdin::Text(text) => Some(exact(text)?),
        Stdin::Previous | Stdin::Nothing => None,
    };
    Ok(Guarded { argv, stdin })
}

/// Whether there is more than one plain word, with placeholders in it perhaps.
fn may_be_code(word: &Word) -> bool {
    let literals = word.parts.iter().filter_map(|part| match part {
        Part::Literal(literal) => Some(literal.text.as_str()),
        Part::Variable(_) => None,
    });
    literals.into_iter().any(|text| {
        let mut rest = text;
        while let Some((before, after)) = rest.split_once('{') {
            let end = after
                .find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-')))
                .unwrap_or(after.len());
            match after.get(end..).and_then(|after| after.strip_prefix('}')) {
                Some(after) if end > 0 && !has_code(before) => rest = after,
                _ => return true,
            }
        }
        has_code(rest)
    })
}

fn has_code(text: &str) -> bool {
    text.contains(|c: char| {
        c.is_whitespace() || matches!(c, '{' | '}' | '(' | ')' | ';' | '$' | '`')
    })
}

/// Text in which nothing is looked for.
fn exact(word: &Template) -> Result<Template, Tool> {
    let mut exact = Template::default();
    for part in &word.parts {
        let Part::Literal(literal) = part else {
            return Err(Tool::Script("variable in code".to_owned()));
        };
        exact.push(Part::Literal(Literal {
            quoting: Quoting::Exact,
            ..literal.clone()
        }));
    }
    Ok(exact)
}
