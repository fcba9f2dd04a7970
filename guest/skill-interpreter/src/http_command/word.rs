//! Words as options need them: split, trimmed, and character by character, with variables kept whole.

use crate::draft::{Literal, Origin, Part, Quoting, Template, Variable};

/// One character, or one variable, of a word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Atom {
    /// A character, and how the literal it stands in was quoted and came to be.
    Character(char, Quoting, Origin),
    /// A variable. No syntax of an option is ever looked for in its value.
    Variable(Variable),
}

impl Atom {
    /// The character, if it is one.
    pub(super) fn character(&self) -> Option<char> {
        match self {
            Self::Character(c, ..) => Some(*c),
            Self::Variable(_) => None,
        }
    }

    /// Whether it is this character.
    pub(super) fn is(&self, c: char) -> bool {
        self.character() == Some(c)
    }

    /// Whether it is a blank as C's `isspace` has it.
    pub(super) fn is_space(&self) -> bool {
        self.character()
            .is_some_and(|c| matches!(c, ' ' | '\t' | '\n' | '\r' | '\u{b}' | '\u{c}'))
    }
}

/// A word, atom by atom.
pub(super) fn atoms(word: &Template) -> Vec<Atom> {
    let mut atoms = Vec::new();
    for part in &word.parts {
        match part {
            Part::Literal(literal) => atoms.extend(
                literal
                    .text
                    .chars()
                    .map(|c| Atom::Character(c, literal.quoting, literal.origin)),
            ),
            Part::Variable(variable) => atoms.push(Atom::Variable(variable.clone())),
        }
    }
    atoms
}

/// A word of these atoms.
pub(super) fn template<'a>(atoms: impl IntoIterator<Item = &'a Atom>) -> Template {
    let mut template = Template::default();
    let mut run: Option<Literal> = None;
    for atom in atoms {
        match atom {
            Atom::Character(c, quoting, origin) => match &mut run {
                Some(literal) if (literal.quoting, literal.origin) == (*quoting, *origin) => {
                    literal.text.push(*c);
                }
                _ => {
                    let next = Literal {
                        text: c.to_string(),
                        quoting: *quoting,
                        origin: *origin,
                    };
                    if let Some(literal) = run.replace(next) {
                        template.push(Part::Literal(literal));
                    }
                }
            },
            Atom::Variable(variable) => {
                if let Some(literal) = run.take() {
                    template.push(Part::Literal(literal));
                }
                template.push(Part::Variable(variable.clone()));
            }
        }
    }
    if let Some(literal) = run {
        template.push(Part::Literal(literal));
    }
    template
}

/// The first character; none if the word is empty or begins with a variable.
pub(super) fn first_character(word: &Template) -> Option<char> {
    match word.parts.first() {
        Some(Part::Literal(literal)) => literal.text.chars().next(),
        _ => None,
    }
}

/// Whether a literal of the word holds the character.
pub(super) fn contains(word: &Template, c: char) -> bool {
    literals(word).any(|text| text.contains(c))
}

/// The literals of a word.
pub(super) fn literals(word: &Template) -> impl Iterator<Item = &str> {
    word.parts.iter().filter_map(|part| match part {
        Part::Literal(literal) => Some(literal.text.as_str()),
        Part::Variable(_) => None,
    })
}

/// What stands before and after the first such character of a literal.
pub(super) fn split_once(word: &Template, c: char) -> Option<(Template, Template)> {
    let (mut before, mut after) = (Template::default(), Template::default());
    let mut found = false;
    for part in &word.parts {
        if found {
            after.push(part.clone());
            continue;
        }
        match part {
            Part::Literal(literal) if literal.text.contains(c) => {
                found = true;
                let (left, right) = literal.text.split_once(c).unwrap_or_default();
                before.push(like(literal, left));
                after.push(like(literal, right));
            }
            _ => before.push(part.clone()),
        }
    }
    found.then_some((before, after))
}

/// The word without its first character, if that is this one.
pub(super) fn strip_first(word: &Template, c: char) -> Option<Template> {
    if first_character(word) != Some(c) {
        return None;
    }
    split_once(word, c).map(|(_, rest)| rest)
}

/// The word without such characters at its ends.
pub(super) fn trim(word: &Template, blank: fn(char) -> bool) -> Template {
    trim_end(&trim_start(word, blank), blank)
}

/// The word without such characters at its beginning.
pub(super) fn trim_start(word: &Template, blank: fn(char) -> bool) -> Template {
    let mut trimmed = Template::default();
    let mut begun = false;
    for part in &word.parts {
        match part {
            Part::Literal(literal) if !begun => {
                let rest = literal.text.trim_start_matches(blank);
                begun = !rest.is_empty();
                trimmed.push(like(literal, rest));
            }
            _ => {
                begun = true;
                trimmed.push(part.clone());
            }
        }
    }
    trimmed
}

/// The word without such characters at its end.
pub(super) fn trim_end(word: &Template, blank: fn(char) -> bool) -> Template {
    let mut parts = word.parts.clone();
    while let Some(Part::Literal(literal)) = parts.last_mut() {
        let kept = literal.text.trim_end_matches(blank).len();
        literal.text.truncate(kept);
        if kept > 0 {
            break;
        }
        parts.pop();
    }
    Template { parts }
}

/// Text and a word, one after the other.
pub(super) fn prefixed(prefix: &str, word: Template) -> Template {
    let mut whole = Template::literal(prefix);
    whole.append(word);
    whole
}

fn like(literal: &Literal, text: &str) -> Part {
    Part::Literal(Literal {
        text: text.to_owned(),
        quoting: literal.quoting,
        origin: literal.origin,
    })
}
