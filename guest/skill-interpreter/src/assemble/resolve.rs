//! Variables to inputs and secrets.

use std::collections::BTreeMap;

use super::credential::{self, Found};
use super::inputs::{InputRequest, Inputs, Need, scalar};
use super::secrets;
use crate::context::Context;
use crate::diagnostic::Diagnostics;
use crate::draft::{Declaration, Literal, Origin, Part, Quoting, Spelling, Template, Variable};
use crate::failure::Code;
use crate::model::{AuthOut, Encoding, SecretKind, Segment, Segments};

/// Where a variable stands, which decides whether it is a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Position<'a> {
    Path,
    /// The value of the query pair of this name.
    Query(&'a str),
    /// The value of this header, which carries no credential.
    Header,
    /// Where credentials stand: `Authorization`, `Cookie`, `X-…key…`, a declared auth.
    Auth(SecretKind),
    /// The value of this field of a body; empty for a text.
    Body(&'a str),
    /// An argument, the text of `println`.
    Argument,
}

impl Position<'_> {
    /// How the place is called in the name of an input.
    pub(super) fn place(self) -> &'static str {
        match self {
            Self::Path => "path",
            Self::Query(_) => "query",
            Self::Header | Self::Auth(_) => "header",
            Self::Body(_) => "body",
            Self::Argument => "argument",
        }
    }

    fn kind(self) -> SecretKind {
        match self {
            Self::Query(_) => SecretKind::Query,
            Self::Header => SecretKind::Header,
            Self::Auth(kind) => kind,
            Self::Body(_) => SecretKind::Body,
            Self::Path | Self::Argument => SecretKind::Other,
        }
    }
}

/// What is known while an operation is assembled.
#[derive(Debug)]
pub(super) struct Assembly<'a> {
    pub(super) context: &'a Context,
    pub(super) declaration: &'a Declaration,
    pub(super) line: u32,
    pub(super) diagnostics: &'a mut Diagnostics,
    pub(super) inputs: Inputs,
    /// By name; the first place counts.
    pub(super) secrets: BTreeMap<String, SecretKind>,
    pub(super) read: Vec<String>,
    pub(super) write: Vec<String>,
    /// The endpoint of the first request.
    pub(super) endpoint: Option<super::Endpoint>,
    /// The first auth found.
    pub(super) auth: Option<AuthOut>,
    /// Whether a header of its own carries the key, so that a nameless `Authorization` is another credential.
    pub(super) has_key_header: bool,
}

impl<'a> Assembly<'a> {
    pub(super) fn new(
        line: u32,
        declaration: &'a Declaration,
        context: &'a Context,
        diagnostics: &'a mut Diagnostics,
    ) -> Self {
        Self {
            context,
            declaration,
            line,
            diagnostics,
            inputs: Inputs::new(declaration.input.as_ref()),
            secrets: BTreeMap::new(),
            read: Vec::new(),
            write: Vec::new(),
            endpoint: None,
            auth: None,
            has_key_header: false,
        }
    }

    /// Variables that the request gives a value to are literal text.
    pub(super) fn with_constants(&self, template: &Template) -> Template {
        let mut substituted = Template::default();
        for part in &template.parts {
            let constant = match part {
                Part::Variable(variable) if variable.spelling != Spelling::Declared => {
                    self.context.constants.get(&variable.name)
                }
                _ => None,
            };
            substituted.push(match constant {
                Some(value) => Part::Literal(Literal {
                    text: value.clone(),
                    quoting: Quoting::Bare,
                    origin: Origin::Constant,
                }),
                None => part.clone(),
            });
        }
        substituted
    }

    /// Whether a variable is a secret where it stands.
    pub(super) fn is_secret(&self, variable: &Variable, position: Position<'_>) -> bool {
        let name = variable.name.as_str();
        let declared = self.context.is_secret(name)
            || self.declaration.secrets.iter().any(|secret| secret == name);
        if declared || matches!(position, Position::Auth(_)) {
            return true;
        }
        // What a document declares as an input is one: it would have no place else.
        if secrets::is_excluded(name) || self.inputs.is_declared(name) {
            return false;
        }
        match position {
            Position::Query(field) | Position::Body(field) if secrets::is_secret_field(field) => {
                true
            }
            _ => secrets::looks_secret(name),
        }
    }

    /// The name of the secret that a variable is, which is from now on needed.
    pub(super) fn secret(&mut self, variable: &Variable, kind: SecretKind) -> String {
        let name = match secrets::nameless(&variable.name) {
            Some(what) => secrets::skill_secret(&what, self.context),
            None => variable.name.clone(),
        };
        self.need_secret(&name, kind);
        name
    }

    /// Says that a secret is needed.
    pub(super) fn need_secret(&mut self, name: &str, kind: SecretKind) {
        self.secrets.entry(name.to_owned()).or_insert(kind);
    }

    /// The secret that takes the place of a literal.
    pub(super) fn replace_literal(&mut self, found: Found, what: &str, kind: SecretKind) -> String {
        let name = secrets::skill_secret(what, self.context);
        if found == Found::Credential {
            self.diagnostics.warn(
                Code::LiteralCredential,
                self.line,
                format!("a literal credential was dropped; the secret {name} takes its place"),
            );
        }
        self.need_secret(&name, kind);
        name
    }

    /// Whether literal text looks like a credential wherever it stands; if so, the secret for it.
    pub(super) fn replace_by_look(&mut self, text: &str, kind: SecretKind) -> Option<String> {
        credential::looks_like_credential(text)
            .then(|| self.replace_literal(credential::in_auth_position(text), "API_KEY", kind))
    }

    /// The secret that takes the place of a literal value: one that looks like a credential wherever it stands, or is one
    /// because of the field that it is the value of.
    pub(super) fn literal_secret(
        &mut self,
        field: Option<&str>,
        text: &str,
        kind: SecretKind,
    ) -> Option<String> {
        if let Some(secret) = self.replace_by_look(text, kind) {
            return Some(secret);
        }
        let field = field.filter(|field| secrets::is_secret_field(field))?;
        // In a query as in a header; but `key` alone may be that of a record.
        let is_auth = kind == SecretKind::Query && !field.eq_ignore_ascii_case("key");
        let found = if is_auth {
            Some(credential::in_auth_position(text))
        } else {
            credential::in_secret_field(text)
        };
        found.map(|found| self.replace_literal(found, &secrets::of_field(field), kind))
    }

    /// Text to segments: literals by `literal`, variables encoded as `enc`.
    ///
    /// `whole` is the input's name where the text is nothing but one variable.
    pub(super) fn segments(
        &mut self,
        template: &Template,
        enc: Encoding,
        position: Position<'_>,
        whole: Option<&str>,
        literal: fn(&str) -> String,
    ) -> Segments {
        let whole = whole.filter(|_| template.as_variable().is_some());
        let mut segments = Segments::default();
        for part in &template.parts {
            segments.push(match part {
                Part::Literal(text) => match self.replace_by_look(&text.text, position.kind()) {
                    Some(secret) => Segment::Secret { secret, enc },
                    None => Segment::Literal {
                        lit: literal(&text.text),
                    },
                },
                Part::Variable(variable) if self.is_secret(variable, position) => Segment::Secret {
                    secret: self.secret(variable, position.kind()),
                    enc,
                },
                Part::Variable(variable) => Segment::Input {
                    input: self.input(variable, position, whole, scalar()),
                    enc,
                    style: None,
                },
            });
        }
        segments
    }

    /// The input that a variable is. `whole` is its name, unless its own is declared; the default of the variable is that of the input.
    pub(super) fn input(
        &mut self,
        variable: &Variable,
        position: Position<'_>,
        whole: Option<&str>,
        mut schema: serde_json::Value,
    ) -> String {
        let mut need = Need::Required;
        if let (Some(default), Some(schema)) = (&variable.default, schema.as_object_mut()) {
            schema.insert("default".to_owned(), default.clone().into());
            need = Need::Optional;
        }
        let name = whole
            .filter(|_| !self.inputs.is_declared(&variable.name))
            .unwrap_or(&variable.name);
        let request = InputRequest::new(name, position.place(), schema, need);
        self.inputs.add(request.of_variable(&variable.name))
    }
}

/// A literal that is written as it stands.
pub(super) fn as_it_is(text: &str) -> String {
    text.to_owned()
}
