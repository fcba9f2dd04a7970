//! Text with variables, as written.

/// How a literal was quoted. Text that is not a shell's counts as bare.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Quoting {
    /// Not quoted.
    #[default]
    Bare,
    /// `'…'` or `$'…'`, or escaped by `\`: K-188, `$X` in it is literal.
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
    /// K-120, K-195: it stands for a constant's name.
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

/// K-188: how a variable was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spelling {
    /// `$X`, `${X}`, `${X:-d}`
    Dollar,
    /// `{X}`, and `<X>` where K-119 makes it that
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
    /// K-189: the default of `${X:-d}`.
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

    /// K-236: readable, a variable as `{NAME}`.
    #[must_use]
    pub fn display(&self) -> String {
        let mut text = String::new();
        for part in &self.parts {
            match part {
                Part::Literal(literal) => text.push_str(&literal.text),
                Part::Variable(variable) => {
                    text.push('{');
                    text.push_str(&variable.name);
                    text.push('}');
                }
            }
        }
        text
    }
}
