//! What begins with `$`: which expansions K-189 has, and what the others are called in the reason list (K-124).

use super::construct::Constructs;
use super::lexer::Scan;
use super::nested::{Mode, Nested, arithmetic_command, single, take};
use super::source::Source;
use crate::failure::Failure;

/// K-124: `$`, a backslash, the line's end, and what the expansion is.
const BROKEN_EXPANSION: &str = "expansion over the end of a line";

/// After `$`: takes what is simple; what holds more is answered, its beginning taken.
pub(super) fn dollar(
    source: &mut Source<'_>,
    scan: &mut Scan,
    quoted: bool,
) -> Result<Option<Mode>, Failure> {
    take(source, scan);
    let rest = source.rest();
    // A shell joins the lines first: what follows may be any expansion.
    if rest.starts_with("\\\n") {
        scan.constructs.add(BROKEN_EXPANSION);
    }
    match source.peek() {
        Some('(') => {
            if rest.starts_with("((")
                && let Nested::Closed(length) = arithmetic_command(source)
            {
                scan.constructs.add("arithmetic");
                for _ in 0..length {
                    if source.peek() == Some('$') {
                        note_variable(&mut scan.variables, source.rest());
                    }
                    take(source, scan);
                }
                return Ok(None);
            }
            scan.constructs.add("command substitution");
            take(source, scan);
            Ok(Some(Mode::Command(0)))
        }
        Some('{') => {
            note_variable(&mut scan.variables, source.rest());
            if let Some(length) = simple_expansion(rest) {
                for _ in 0..length {
                    take(source, scan);
                }
                return Ok(None);
            }
            unusual(&mut scan.constructs, rest);
            if let Some(name) = assigned_by_default(rest) {
                scan.assigned.push(name.to_owned());
            }
            take(source, scan);
            Ok(Some(Mode::Braces))
        }
        Some('[') => {
            scan.constructs.add("arithmetic");
            take(source, scan);
            Ok(Some(Mode::Brackets))
        }
        Some('\'') if !quoted => single(source, scan, true).map(|()| None),
        Some('"') if !quoted => {
            scan.constructs.add("translated string");
            Ok(None)
        }
        Some(c) if c.is_ascii_digit() || "@*#?-$!".contains(c) => {
            scan.constructs.add(format!("parameter `${c}`"));
            take(source, scan);
            Ok(None)
        }
        Some(_) => {
            let name = name_length(rest);
            if name > 0 {
                if rest.get(..name) == Some("_") {
                    scan.constructs.add("parameter `$_`");
                }
                note_variable(&mut scan.variables, rest);
                for _ in 0..name {
                    take(source, scan);
                }
                if name_goes_on(source.rest()) {
                    scan.constructs.add(BROKEN_EXPANSION);
                }
            }
            Ok(None)
        }
        None => Ok(None),
    }
}

/// Whether a name that ends here is longer for a shell, which joins lines that end with a backslash.
fn name_goes_on(rest: &str) -> bool {
    let joined = rest.trim_start_matches("\\\n");
    joined.len() < rest.len() && joined.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_')
}

/// How long the name is that a text begins with; 0 for none.
pub(super) fn name_length(text: &str) -> usize {
    if text.starts_with(|c: char| c.is_ascii_digit()) {
        return 0;
    }
    text.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
        .unwrap_or(text.len())
}

/// K-120, K-189: `{X}`, `{X[@]}`, `{X:-d}` and `{X-d}` with a plain default; how long it is.
fn simple_expansion(text: &str) -> Option<usize> {
    let inner = text.strip_prefix('{')?;
    let (name, after) = inner.split_at_checked(name_length(inner))?;
    if name.is_empty() || name == "_" {
        return None;
    }
    let rest = if let Some(default) = after.strip_prefix(":-").or_else(|| after.strip_prefix('-')) {
        default.trim_start_matches(|c: char| !"$`\\\"'{}\n".contains(c))
    } else {
        after.strip_prefix("[@]").unwrap_or(after)
    };
    let rest = rest.strip_prefix('}')?;
    text.len().checked_sub(rest.len()).and_then(|bytes| {
        // In characters, as it is taken so.
        text.get(..bytes).map(|taken| taken.chars().count())
    })
}

/// Names an expansion that K-189 does not have, by its name and operator: what follows may be a credential.
fn unusual(constructs: &mut Constructs, text: &str) {
    const NAME: usize = 32;
    let inner = text.strip_prefix('{').unwrap_or(text);
    let mark: String = inner
        .chars()
        .take_while(|c| matches!(c, '#' | '!'))
        .take(1)
        .collect();
    let inner = inner.get(mark.len()..).unwrap_or_default();
    let name: String = inner.chars().take(name_length(inner)).take(NAME).collect();
    let operator: String = inner
        .get(name_length(inner)..)
        .unwrap_or_default()
        .chars()
        .take_while(|c| c.is_ascii_punctuation() && !"{}$`\"'".contains(*c))
        .take(2)
        .collect();
    let more = if inner
        .get(name.len() + operator.len()..)
        .is_some_and(|rest| rest.starts_with('}'))
    {
        ""
    } else {
        "…"
    };
    constructs.add(format!("expansion `${{{mark}{name}{operator}{more}}}`"));
}

/// `{X:=d}` and `{X=d}`
fn assigned_by_default(text: &str) -> Option<&str> {
    let inner = text.strip_prefix('{')?;
    let (name, after) = inner.split_at_checked(name_length(inner))?;
    (!name.is_empty() && (after.starts_with(":=") || after.starts_with('='))).then_some(name)
}

/// Notes the name that stands after `$`, `${`, `${#` or `${!`.
pub(super) fn note_variable(variables: &mut Vec<String>, text: &str) {
    let inner = text.trim_start_matches(['$', '{', '#', '!']);
    // More are not shown to anybody, and a look-up for each would be quadratic.
    const MOST: usize = 256;
    if let Some(name) = inner.get(..name_length(inner))
        && !name.is_empty()
        && variables.len() < MOST
        && !variables.iter().any(|known| known == name)
    {
        variables.push(name.to_owned());
    }
}
