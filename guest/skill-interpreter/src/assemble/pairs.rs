//! `a=1&b=2`, of a query or a form: which pairs are inputs (K-198, K-201, K-202).

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::credential;
use super::encode;
use super::inputs::{Need, Wish, scalar};
use super::placeholder::{Place, scan};
use super::resolve::{Assembly, Position};
use super::secrets;
use crate::draft::{Part, Template};
use crate::model::{Encoding, Pair, Segments};

/// A pair as it is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RawPair {
    /// Encoded as it is sent.
    pub(super) name: Template,
    /// None: no `=`.
    pub(super) value: Option<RawValue>,
}

/// The value of a pair as it is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum RawValue {
    /// Its literals are encoded as they are sent.
    Sent(Template),
    /// Its literals are not yet encoded.
    Plain(Template),
}

impl RawValue {
    fn template(&self) -> &Template {
        match self {
            Self::Sent(template) | Self::Plain(template) => template,
        }
    }
}

/// Where pairs stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Carrier {
    Query,
    Form,
    /// Parts of a multipart body, which are not encoded.
    Parts,
}

impl Carrier {
    fn encoding(self) -> Encoding {
        match self {
            Self::Query => Encoding::Query,
            Self::Form => Encoding::Form,
            Self::Parts => Encoding::None,
        }
    }

    fn position(self, name: &str) -> Position<'_> {
        match self {
            Self::Query => Position::Query(name),
            Self::Form | Self::Parts => Position::Body(name),
        }
    }

    fn encode(self, text: &str) -> String {
        match self {
            Self::Query => encode::query(text),
            Self::Form => encode::form(text),
            Self::Parts => text.to_owned(),
        }
    }
}

/// Splits text at `&`, and each piece at its first `=`. Empty pieces are dropped.
pub(super) fn split(template: &Template) -> Vec<RawPair> {
    let mut pairs = Vec::new();
    let mut name = Template::default();
    let mut value: Option<Template> = None;
    let finish = |name: &mut Template, value: &mut Option<Template>, pairs: &mut Vec<RawPair>| {
        let pair = RawPair {
            name: std::mem::take(name),
            value: value.take().map(RawValue::Sent),
        };
        if !pair.name.is_empty() || pair.value.is_some() {
            pairs.push(pair);
        }
    };
    for part in &template.parts {
        let Part::Literal(literal) = part else {
            value.as_mut().unwrap_or(&mut name).push(part.clone());
            continue;
        };
        for (index, piece) in literal.text.split('&').enumerate() {
            if index > 0 {
                finish(&mut name, &mut value, &mut pairs);
            }
            let text = |text: &str| Part::Literal(literal.with_text(text.to_owned()));
            match (&mut value, piece.split_once('=')) {
                (Some(value), _) => value.push(text(piece)),
                (None, Some((before, after))) => {
                    name.push(text(before));
                    value.insert(Template::default()).push(text(after));
                }
                (None, None) => name.push(text(piece)),
            }
        }
    }
    finish(&mut name, &mut value, &mut pairs);
    pairs
}

impl Assembly<'_> {
    /// Pairs to segments and inputs.
    pub(super) fn pairs(&mut self, raw: &[RawPair], carrier: Carrier) -> Vec<Pair> {
        // A name that occurs twice names no input.
        let mut names: BTreeMap<String, usize> = BTreeMap::new();
        for pair in raw {
            let count = names.entry(pair.name.display()).or_default();
            *count = count.saturating_add(1);
        }
        raw.iter()
            .map(|pair| {
                let once = names.get(&pair.name.display()).is_some_and(|n| *n == 1);
                self.pair(pair, carrier, once)
            })
            .collect()
    }

    fn pair(&mut self, raw: &RawPair, carrier: Carrier, once: bool) -> Pair {
        let enc = carrier.encoding();
        let key = raw
            .name
            .as_literal()
            .map(|name| encode::decode_form(&name))
            .filter(|key| !key.is_empty());
        let position = carrier.position(key.as_deref().unwrap_or_default());
        let name = self.segments(
            &self.with_constants(&scan(&raw.name, Place::Value)),
            enc,
            carrier.position(""),
            None,
            super::resolve::as_it_is,
        );
        let Some(value) = &raw.value else {
            return Pair { name, value: None };
        };
        let template = self.with_constants(&scan(value.template(), Place::Value));
        let sent: fn(&str) -> String = match (value, carrier) {
            (RawValue::Sent(_), _) => encode::sent,
            (RawValue::Plain(_), Carrier::Query) => encode::query,
            (RawValue::Plain(_), Carrier::Form) => encode::form,
            (RawValue::Plain(_), Carrier::Parts) => super::resolve::as_it_is,
        };
        let key = key.as_deref().filter(|_| once);
        let segments = match template.as_literal() {
            Some(text) => {
                let plain = match value {
                    RawValue::Sent(_) => encode::decode_form(&text),
                    RawValue::Plain(_) => text.clone(),
                };
                self.literal_pair(key, &plain, carrier)
                    .unwrap_or_else(|| Segments::literal(sent(&text)))
            }
            None => self.segments(&template, enc, position, key, sent),
        };
        Pair {
            name,
            value: Some(segments),
        }
    }

    /// A literal value: a credential becomes a secret, another an input if its name is to be one; else it stays.
    fn literal_pair(
        &mut self,
        key: Option<&str>,
        text: &str,
        carrier: Carrier,
    ) -> Option<Segments> {
        let enc = carrier.encoding();
        let kind = match carrier {
            Carrier::Query => crate::model::SecretKind::Query,
            Carrier::Form | Carrier::Parts => crate::model::SecretKind::Body,
        };
        if let Some(secret) = self.replace_by_look(text, kind) {
            return Some(Segments::secret(secret, enc));
        }
        let field = key.filter(|key| secrets::is_secret_field(key));
        let found = field.and_then(|field| match carrier {
            // As in a header. `key` alone may be that of a record.
            Carrier::Query if !field.eq_ignore_ascii_case("key") => {
                Some(credential::in_auth_position(text))
            }
            _ => credential::in_secret_field(text),
        });
        if let (Some(found), Some(field)) = (found, field) {
            let secret = self.replace_literal(found, &secrets::of_field(field), kind);
            return Some(Segments::secret(secret, enc));
        }
        let key = key?;
        if self.inputs.are_declared() && !self.inputs.is_declared(key) {
            return None;
        }
        let (schema, need) = if field.is_some() {
            // K-202
            (json!({"type": "string", "writeOnly": true}), Need::Required)
        } else {
            let mut schema = scalar();
            if let Some(schema) = schema.as_object_mut() {
                schema.insert("default".to_owned(), Value::from(text));
            }
            (schema, Need::Optional)
        };
        let input = self.inputs.add(Wish {
            name: key,
            place: match carrier {
                Carrier::Query => "query",
                Carrier::Form | Carrier::Parts => "body",
            },
            variable: None,
            schema,
            need,
            example: None,
        });
        Some(Segments::input(input, enc))
    }
}

impl Carrier {
    /// A name as it is sent.
    pub(super) fn raw_name(self, name: &str) -> Template {
        Template::literal(self.encode(name))
    }
}
