//! K-135: a body of pairs of which some values are not yet encoded.

use super::body::begins_with;
use super::encode;
use super::pairs::{RawPair, RawValue, split};
use crate::draft::{Part, Piece, Template};

/// The pairs that the pieces make; files are passed over.
pub(super) fn encoded_pairs(pieces: &[Piece]) -> Vec<RawPair> {
    let mut pairs: Vec<RawPair> = Vec::new();
    let mut open: Option<RawPair> = None;
    for piece in pieces {
        match piece {
            Piece::Text(text) => {
                let mut begins = begins_with(text, &['&']);
                for part in split(text) {
                    match open.take() {
                        Some(pair) if !begins => open = Some(joined(pair, part)),
                        Some(pair) => {
                            pairs.push(pair);
                            open = Some(part);
                        }
                        None => open = Some(part),
                    }
                    begins = true;
                }
                if ends_with_separator(text) {
                    pairs.extend(open.take());
                }
            }
            Piece::Encoded(content) => {
                open = Some(match open.take() {
                    Some(RawPair {
                        name,
                        value: Some(RawValue::Sent(value)),
                    }) if value.is_empty() => RawPair {
                        name,
                        value: Some(RawValue::Plain(content.clone())),
                    },
                    Some(pair) => joined(
                        pair,
                        RawPair {
                            name: sent(content),
                            value: None,
                        },
                    ),
                    None => RawPair {
                        name: sent(content),
                        value: None,
                    },
                });
            }
            Piece::File { .. } | Piece::Previous(_) => {}
        }
    }
    pairs.extend(open);
    pairs
}

fn ends_with_separator(text: &Template) -> bool {
    matches!(text.parts.last(), Some(Part::Literal(literal)) if literal.text.ends_with('&'))
}

/// Two neighbours without a separator between them.
fn joined(first: RawPair, second: RawPair) -> RawPair {
    let mut rest = second.name;
    if let Some(value) = second.value {
        rest.append(Template::literal("="));
        rest.append(match value {
            RawValue::Sent(value) => value,
            RawValue::Plain(value) => sent(&value),
        });
    }
    let mut pair = first;
    match &mut pair.value {
        None => pair.name.append(rest),
        Some(RawValue::Sent(value)) => value.append(rest),
        Some(RawValue::Plain(value)) => {
            let mut value = sent(value);
            value.append(rest);
            pair.value = Some(RawValue::Sent(value));
        }
    }
    pair
}

/// Text that is not encoded, with its literals encoded.
fn sent(text: &Template) -> Template {
    let mut encoded = Template::default();
    for part in &text.parts {
        encoded.push(match part {
            Part::Literal(literal) => Part::Literal(literal.with_text(encode::form(&literal.text))),
            variable @ Part::Variable(_) => variable.clone(),
        });
    }
    encoded
}
