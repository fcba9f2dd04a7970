//! Words with constants put in.

use std::cell::Cell;

use super::Constants;
use super::program::{Piece, Pieces};
use crate::assemble::secrets;
use crate::context::Context;
use crate::draft::{Literal, Origin, Part, Quoting, Spelling, Template, Variable, Word};
use crate::limits;

/// How much constants may still add to a text. Each may stand for others, so that little text could become very much.
#[derive(Debug)]
pub(super) struct Budget(Cell<Option<usize>>);

impl Budget {
    pub(super) fn new() -> Self {
        Self(Cell::new(Some(limits::COMMAND_BYTES)))
    }

    fn spend(&self, bytes: usize) -> bool {
        let left = self.0.get().and_then(|left| left.checked_sub(bytes));
        self.0.set(left);
        left.is_some()
    }

    pub(super) fn is_exceeded(&self) -> bool {
        self.0.get().is_none()
    }
}

/// What words are read with.
pub(super) struct Reader<'a> {
    pub(super) constants: &'a Constants,
    pub(super) context: &'a Context,
    pub(super) budget: &'a Budget,
    /// Names of constants that were put in.
    pub(super) used: Vec<String>,
    /// Names of constants that stand where credentials do, and so were not put in.
    pub(super) positions: Vec<String>,
    /// Whether the word being read is a credential as a whole (`-u …`).
    pub(super) credential: bool,
}

/// What a word becomes while it is read.
#[derive(Default)]
struct Fields {
    done: Vec<Template>,
    current: Template,
    /// Whether the current one exists though it may be empty: something quoted, or a character.
    started: bool,
}

impl Fields {
    fn part(&mut self, part: Part) {
        self.started = true;
        self.current.push(part);
    }

    /// Ends a field, as a blank does in an expansion that is not quoted.
    fn split(&mut self) {
        if std::mem::take(&mut self.started) {
            self.done.push(std::mem::take(&mut self.current));
        }
    }
}

impl<'a> Reader<'a> {
    pub(super) fn new(constants: &'a Constants, context: &'a Context, budget: &'a Budget) -> Self {
        Self {
            constants,
            context,
            budget,
            used: Vec::new(),
            positions: Vec::new(),
            credential: false,
        }
    }

    /// The text of a here-document, in which nothing is split.
    pub(super) fn text(&mut self, body: &Pieces) -> Template {
        let mut fields = Fields::default();
        self.fields(body, &mut fields);
        fields.current
    }

    /// The value of an assignment, which is one word whatever it holds.
    pub(super) fn value(&mut self, word: &Pieces) -> Template {
        let mut whole = Template::default();
        for (index, word) in self.words(word).into_iter().enumerate() {
            if index > 0 {
                whole.push_literal(" ", Quoting::Single);
            }
            whole.append(word);
        }
        whole
    }

    /// The arguments that a word becomes: one, unless it holds a constant with blanks that is not quoted.
    pub(super) fn words(&mut self, word: &Pieces) -> Vec<Word> {
        let mut fields = Fields::default();
        self.fields(word, &mut fields);
        fields.split();
        fields.done
    }

    fn fields(&mut self, word: &Pieces, fields: &mut Fields) {
        for piece in word {
            match piece {
                Piece::Literal { text, quoting } => fields.part(Part::Literal(Literal {
                    text: text.clone(),
                    quoting: *quoting,
                    origin: Origin::Written,
                })),
                Piece::Output { name } => fields.part(variable(name, None)),
                Piece::Variable {
                    name,
                    default,
                    quoting,
                } => self.variable(name, default.as_deref(), *quoting, fields),
            }
        }
    }

    fn variable(
        &mut self,
        name: &str,
        default: Option<&str>,
        quoting: Quoting,
        fields: &mut Fields,
    ) {
        match self.constant(name) {
            Some(_) if self.credential || in_credential_position(&fields.current) => {
                self.positions.push(name.to_owned());
                fields.part(variable(name, None));
            }
            Some(value) => {
                self.used.push(name.to_owned());
                put_in(fields, &value, quoting);
            }
            None => fields.part(variable(name, default)),
        }
    }

    /// What a name stands for. A secret's name never stands for anything.
    fn constant(&self, name: &str) -> Option<Template> {
        if self.constants.secrets.contains(name) {
            return None;
        }
        let value = match self.constants.values.get(name) {
            Some(value) => value.clone(),
            None if secrets::is_secret_name(name, self.context) => return None,
            None => Template::literal(self.context.constants.get(name)?.clone()),
        };
        // Whoever reads with an exceeded budget throws away what was read.
        self.budget
            .spend(value.display().len() + 1)
            .then_some(value)
    }
}

fn variable(name: &str, default: Option<&str>) -> Part {
    Part::Variable(Variable {
        name: name.to_owned(),
        spelling: Spelling::Dollar,
        default: default.map(str::to_owned),
    })
}

/// Whether what comes next in a word is the value of a header or field for credentials.
fn in_credential_position(word: &Template) -> bool {
    let Some(text) = word.as_literal() else {
        return false;
    };
    let header = text.split_once(':').map(|(name, _)| name.trim());
    let field = text
        .rsplit(['?', '&'])
        .next()
        .and_then(|pair| pair.strip_suffix('='));
    header.is_some_and(secrets::is_secret_header) || field.is_some_and(secrets::is_secret_field)
}

/// Puts a constant in, as a shell expands it: split at blanks unless it is quoted. Variables that a constant holds stay
/// variables.
fn put_in(fields: &mut Fields, value: &Template, quoting: Quoting) {
    if quoting == Quoting::Double {
        fields.started = true;
    }
    for part in &value.parts {
        match part {
            Part::Literal(literal) if quoting == Quoting::Double => {
                fields.part(constant(&literal.text, quoting));
            }
            Part::Literal(literal) => {
                for (number, piece) in literal.text.split([' ', '\t', '\n']).enumerate() {
                    if number > 0 {
                        fields.split();
                    }
                    if !piece.is_empty() {
                        fields.part(constant(piece, quoting));
                    }
                }
            }
            Part::Variable(_) => fields.part(part.clone()),
        }
    }
}

fn constant(text: &str, quoting: Quoting) -> Part {
    Part::Literal(Literal {
        text: text.to_owned(),
        quoting,
        origin: Origin::Constant,
    })
}
