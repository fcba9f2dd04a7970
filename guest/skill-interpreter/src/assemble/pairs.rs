//! `a=1&b=2`, of a query or a form: which pairs are inputs.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::encode;
use super::inputs::{InputRequest, Need, scalar};
use super::placeholder::{Place, scan};
use super::resolve::{Assembly, Position, as_it_is};
use super::secrets;
use crate::draft::{Piece, Template};
use crate::model::{Encoding, Pair, SecretKind, Segments};

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

    /// Text as it is sent.
    fn encode(self) -> fn(&str) -> String {
        match self {
            Self::Query => encode::query,
            Self::Form => encode::form,
            Self::Parts => as_it_is,
        }
    }

    /// A pair that is not yet encoded.
    pub(super) fn plain(self, name: &str, value: &Template) -> RawPair {
        RawPair {
            name: Template::literal(self.encode()(name)),
            value: Some(RawValue::Plain(value.clone())),
        }
    }
}

/// Splits text at `&`, and each piece at its first `=`. Empty pieces are dropped.
pub(super) fn split(template: &Template) -> Vec<RawPair> {
    let pieces = template.split('&').into_iter();
    pieces
        .filter(|piece| !piece.is_empty())
        .map(|piece| match piece.split_once('=') {
            Some((name, value)) => RawPair {
                name,
                value: Some(RawValue::Sent(value)),
            },
            None => RawPair {
                name: piece,
                value: None,
            },
        })
        .collect()
}

/// The pairs of a form of which some values are not yet encoded. What is encoded is a value where `=` stands before it, else a
/// name.
pub(super) fn encoded(pieces: &[Piece]) -> Vec<RawPair> {
    let mut pairs: Vec<RawPair> = Vec::new();
    let mut is_named = false;
    for piece in pieces {
        match (piece, pairs.last_mut()) {
            (Piece::Text(text), _) => pairs.extend(split(text)),
            (Piece::Encoded(content), Some(pair)) if is_named => {
                pair.value = Some(RawValue::Plain(content.clone()));
            }
            (Piece::Encoded(content), _) => pairs.push(RawPair {
                name: content.map_literals(encode::form),
                value: None,
            }),
            (Piece::File { .. } | Piece::Previous(_), _) => {}
        }
        is_named = matches!(piece, Piece::Text(text) if text.literals().last().is_some_and(|end| end.ends_with('=')));
    }
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
            as_it_is,
        );
        let Some(value) = &raw.value else {
            return Pair { name, value: None };
        };
        let template = self.with_constants(&scan(value.template(), Place::Value));
        let sent = match value {
            RawValue::Sent(_) => encode::sent,
            RawValue::Plain(_) => carrier.encode(),
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
            Carrier::Query => SecretKind::Query,
            Carrier::Form | Carrier::Parts => SecretKind::Body,
        };
        if let Some(secret) = self.literal_secret(key, text, kind) {
            return Some(Segments::secret(secret, enc));
        }
        let key = key?;
        if self.inputs.are_declared() && !self.inputs.is_declared(key) {
            return None;
        }
        let (schema, need) = if secrets::is_secret_field(key) {
            (json!({"type": "string", "writeOnly": true}), Need::Required)
        } else {
            let mut schema = scalar();
            if let Some(schema) = schema.as_object_mut() {
                schema.insert("default".to_owned(), Value::from(text));
            }
            (schema, Need::Optional)
        };
        let place = carrier.position(key).place();
        let input = self.inputs.add(InputRequest::new(key, place, schema, need));
        Some(Segments::input(input, enc))
    }
}
