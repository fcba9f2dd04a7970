//! What a shell would make several words of, or another one.

use crate::draft::{Literal, Origin, Part, Quoting, Spelling, Template, Variable};

/// The text that is not quoted; a blank stands for everything else.
fn bare(word: &Template) -> String {
    let mut text = String::new();
    for part in &word.parts {
        match part {
            Part::Literal(literal)
                if literal.quoting == Quoting::Bare && literal.origin == Origin::Written =>
            {
                text.push_str(&literal.text);
            }
            _ => text.push(' '),
        }
    }
    text
}

/// `*`, `?` or `[` outside quotes.
#[must_use]
pub fn has_glob(word: &Template) -> bool {
    bare(word).contains(['*', '?', '['])
}

/// `~` that begins the word.
#[must_use]
pub fn has_tilde(word: &Template) -> bool {
    bare(word).starts_with('~')
}

/// A word that begins with `~/`, with the variable for which a shell takes it; each other word as it is.
#[must_use]
pub fn with_home(word: Template) -> Template {
    if !has_tilde(&word) {
        return word;
    }
    let is_alone = word.parts.len() == 1;
    let mut parts = word.parts.into_iter();
    let mut whole = Template::default();
    match parts.next() {
        Some(Part::Literal(first))
            if is_alone && first.text == "~" || first.text.starts_with("~/") =>
        {
            whole.push(Part::Variable(Variable {
                name: "HOME".to_owned(),
                spelling: Spelling::Dollar,
                default: None,
            }));
            whole.push(Part::Literal(Literal {
                text: first.text.split_at(1).1.to_owned(),
                ..first
            }));
        }
        first => whole.parts.extend(first),
    }
    for part in parts {
        whole.push(part);
    }
    whole
}

/// `{a,b}` or `{1..9}` outside quotes.
#[must_use]
pub fn has_brace_list(word: &Template) -> bool {
    let text = bare(word);
    let mut parts = text.split('{');
    parts.next();
    let mut list = false;
    let mut found = false;
    for part in parts {
        // `{` may be followed by another before its comma: what was seen stays seen.
        for (index, piece) in part.split('}').enumerate() {
            if index > 0 && list {
                found = true;
            }
            list = list || piece.contains(',') || piece.contains("..");
        }
    }
    found
}

/// The first thing found that makes a file operand or an argument of an unknown tool several words.
#[must_use]
pub fn in_operand(word: &Template) -> Option<&'static str> {
    if has_tilde(word) {
        Some("`~` in an operand")
    } else if has_brace_list(word) {
        Some("brace list")
    } else if has_glob(word) {
        Some("glob in an operand")
    } else {
        None
    }
}
