//! Text with variables, as written.

use std::borrow::Cow;

/// How a literal was quoted. Text that is not a shell's counts as bare.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Quoting {
    /// Not quoted.
    #[default]
    Bare,
    /// `'…'` or `$'…'`, or escaped by `\`: `$X` in it is literal.
    Single,
    /// `"…"`
    Double,
    /// Exact text, in which no form of variables is looked for: that of OpenAPI, whose variables are declared.
    Exact,
}

/// Where a literal comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Origin {
    /// It stands there.
    #[default]
    Written,
    /// It stands for a constant's name.
    Constant,
}

/// Text that stands for itself. Quotes and escapes are already applied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Literal {
    /// The text.
    pub text: String,
    /// How it was quoted.
    pub quoting: Quoting,
    /// Where it comes from.
    pub origin: Origin,
}

impl Literal {
    /// Other text of the same kind; a piece of this one, mostly.
    #[must_use]
    pub fn with_text(&self, text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            quoting: self.quoting,
            origin: self.origin,
        }
    }
}

/// How a variable was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spelling {
    /// `$X`, `${X}`, `${X:-d}`
    Dollar,
    /// `{X}`, and `<X>` where a shell's reader takes it for that
    Brace,
    /// `{{X}}`
    DoubleBrace,
    /// `<X>`
    Angle,
    /// `:x`, a whole path segment
    Colon,
    /// `YOUR_…`, `your-…-here`, an ALL_CAPS path segment
    Word,
    /// Named by a declaration: an `env_var`, an OpenAPI parameter or security scheme
    Declared,
}

/// A name that stands for a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variable {
    /// Without its marks.
    pub name: String,
    /// How it was written.
    pub spelling: Spelling,
    /// The default of `${X:-d}`.
    pub default: Option<String>,
}

/// A piece of a template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// Text that stands for itself.
    Literal(Literal),
    /// A name that stands for a value.
    Variable(Variable),
}

/// Text with variables. The forms that depend on where a text stands (`{X}`, `<X>`, `:x`, words) may still be within its
/// literals: [`crate::assemble::placeholder::scan`] finds them, and finds nothing more when called again.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Template {
    /// In order; neighbours may both be literals.
    pub parts: Vec<Part>,
}

impl Template {
    /// A template of one literal, bare; empty text is an empty template.
    ///
    /// For text of a document, in which `$X` is a variable, use [`crate::assemble::placeholder::document_text`].
    #[must_use]
    pub fn literal(text: impl Into<String>) -> Self {
        let mut template = Self::default();
        template.push_literal(text, Quoting::Bare);
        template
    }

    /// A template of one variable.
    #[must_use]
    pub fn variable(name: impl Into<String>, spelling: Spelling) -> Self {
        Self {
            parts: vec![Part::Variable(Variable {
                name: name.into(),
                spelling,
                default: None,
            })],
        }
    }

    /// Appends text, joining it to a neighbour of the same kind.
    pub fn push_literal(&mut self, text: impl Into<String>, quoting: Quoting) {
        self.push(Part::Literal(Literal {
            text: text.into(),
            quoting,
            origin: Origin::Written,
        }));
    }

    /// Appends a character in the same way.
    pub fn push_character(&mut self, character: char, quoting: Quoting) {
        match self.parts.last_mut() {
            Some(Part::Literal(last))
                if (last.quoting, last.origin) == (quoting, Origin::Written) =>
            {
                last.text.push(character);
            }
            _ => self.push_literal(character, quoting),
        }
    }

    /// Appends a part; an empty literal is dropped, neighbours of the same kind are joined.
    pub fn push(&mut self, part: Part) {
        if let Part::Literal(new) = &part {
            if new.text.is_empty() {
                return;
            }
            if let Some(Part::Literal(last)) = self.parts.last_mut()
                && (last.quoting, last.origin) == (new.quoting, new.origin)
            {
                last.text.push_str(&new.text);
                return;
            }
        }
        self.parts.push(part);
    }

    /// Appends all parts of another.
    pub fn append(&mut self, other: Self) {
        for part in other.parts {
            self.push(part);
        }
    }

    /// The whole text, if there is no variable in it. Placeholders not yet scanned for are text.
    #[must_use]
    pub fn as_literal(&self) -> Option<String> {
        let mut whole = String::new();
        for part in &self.parts {
            match part {
                Part::Literal(literal) => whole.push_str(&literal.text),
                Part::Variable(_) => return None,
            }
        }
        Some(whole)
    }

    /// The variable, if the template is nothing else.
    #[must_use]
    pub fn as_variable(&self) -> Option<&Variable> {
        match self.parts.as_slice() {
            [Part::Variable(variable)] => Some(variable),
            _ => None,
        }
    }

    /// Whether it says nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// Its literals.
    pub fn literals(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(|part| match part {
            Part::Literal(literal) => Some(literal.text.as_str()),
            Part::Variable(_) => None,
        })
    }

    /// The literal text that it begins with.
    #[must_use]
    pub fn leading_text(&self) -> String {
        let leading = self.parts.iter().map_while(|part| match part {
            Part::Literal(literal) => Some(literal.text.as_str()),
            Part::Variable(_) => None,
        });
        leading.collect()
    }

    /// The first character; none if it is empty or begins with a variable.
    #[must_use]
    pub fn first_character(&self) -> Option<char> {
        match self.parts.first() {
            Some(Part::Literal(literal)) => literal.text.chars().next(),
            _ => None,
        }
    }

    /// Whether one of its literals holds the character.
    #[must_use]
    pub fn contains(&self, c: char) -> bool {
        self.literals().any(|text| text.contains(c))
    }

    /// The pieces between such characters of its literals, at least one. No separator is looked for in a variable.
    #[must_use]
    pub fn split(&self, separator: char) -> Vec<Self> {
        let mut pieces = Vec::new();
        let mut piece = Self::default();
        for part in &self.parts {
            let Part::Literal(literal) = part else {
                piece.push(part.clone());
                continue;
            };
            for (index, text) in literal.text.split(separator).enumerate() {
                if index > 0 {
                    pieces.push(std::mem::take(&mut piece));
                }
                piece.push(Part::Literal(literal.with_text(text)));
            }
        }
        pieces.push(piece);
        pieces
    }

    /// What stands before the first such character of a literal, and the rest from it on, which is empty without one.
    #[must_use]
    pub fn break_at(&self, stops: impl Fn(char) -> bool) -> (Self, Self) {
        let (mut before, mut rest) = (Self::default(), Self::default());
        for part in &self.parts {
            match part {
                Part::Literal(literal) if rest.is_empty() => {
                    let end = literal.text.find(&stops).unwrap_or(literal.text.len());
                    let (left, right) = literal.text.split_at(end);
                    before.push(Part::Literal(literal.with_text(left)));
                    rest.push(Part::Literal(literal.with_text(right)));
                }
                _ if rest.is_empty() => before.push(part.clone()),
                _ => rest.push(part.clone()),
            }
        }
        (before, rest)
    }

    /// What stands before and behind the first such character of a literal.
    #[must_use]
    pub fn split_once(&self, separator: char) -> Option<(Self, Self)> {
        let (before, rest) = self.break_at(|c| c == separator);
        rest.strip_prefix(separator).map(|behind| (before, behind))
    }

    /// The template without so many bytes of the literal text that it begins with.
    #[must_use]
    pub fn without_leading(&self, mut bytes: usize) -> Self {
        let mut rest = Self::default();
        for part in &self.parts {
            match part {
                Part::Literal(literal) if bytes > 0 => {
                    let text = literal.text.get(bytes..).unwrap_or_default();
                    bytes = bytes.saturating_sub(literal.text.len());
                    rest.push(Part::Literal(literal.with_text(text)));
                }
                _ => rest.push(part.clone()),
            }
        }
        rest
    }

    /// The template without its first character, if that is this one.
    #[must_use]
    pub fn strip_prefix(&self, c: char) -> Option<Self> {
        (self.first_character() == Some(c)).then(|| self.without_leading(c.len_utf8()))
    }

    /// The template without such characters at its beginning.
    #[must_use]
    pub fn trim_start(&self, blank: fn(char) -> bool) -> Self {
        let lead = self.leading_text();
        self.without_leading(
            lead.len()
                .saturating_sub(lead.trim_start_matches(blank).len()),
        )
    }

    /// The template without such characters at both ends.
    #[must_use]
    pub fn trim(&self, blank: fn(char) -> bool) -> Self {
        let mut trimmed = self.trim_start(blank);
        trimmed.trim_end(blank);
        trimmed
    }

    /// The template without the blanks around it.
    #[must_use]
    pub fn trimmed(&self) -> Self {
        self.trim(char::is_whitespace)
    }

    /// Takes such characters at its end away.
    pub fn trim_end(&mut self, blank: fn(char) -> bool) {
        while let Some(Part::Literal(literal)) = self.parts.last_mut() {
            let kept = literal.text.trim_end_matches(blank).len();
            literal.text.truncate(kept);
            if kept > 0 {
                break;
            }
            self.parts.pop();
        }
    }

    /// The template with each literal replaced by what `text` makes of it.
    #[must_use]
    pub fn map_literals(&self, text: impl Fn(&str) -> String) -> Self {
        let mut mapped = Self::default();
        for part in &self.parts {
            mapped.push(match part {
                Part::Literal(literal) => Part::Literal(literal.with_text(text(&literal.text))),
                Part::Variable(_) => part.clone(),
            });
        }
        mapped
    }

    /// Text, and this template behind it.
    #[must_use]
    pub fn prefixed(self, prefix: &str) -> Self {
        let mut whole = Self::literal(prefix);
        whole.append(self);
        whole
    }

    /// Readable text, with each variable as `shown` writes it.
    #[must_use]
    pub fn display_with(&self, shown: impl Fn(&Variable) -> String) -> String {
        let pieces = self.parts.iter().map(|part| match part {
            Part::Literal(literal) => Cow::Borrowed(literal.text.as_str()),
            Part::Variable(variable) => Cow::Owned(shown(variable)),
        });
        pieces.collect()
    }

    /// Readable text, a variable as `{NAME}`.
    #[must_use]
    pub fn display(&self) -> String {
        self.display_with(|variable| format!("{{{}}}", variable.name))
    }
}
