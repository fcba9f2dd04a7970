//! The text of cookies, split, and which of them is a credential.

use super::{credential, secrets};
use crate::draft::{Part, Template};

/// Parts of names that cookies of a session have.
const SESSION_WORDS: [&str; 8] = [
    "sess", "sid", "auth", "token", "login", "csrf", "xsrf", "jwt",
];

/// Whether the literal value of a cookie is a credential: by the cookie's name, or by its look.
pub(super) fn is_credential(name: &str, value: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    secrets::looks_secret(name)
        || SESSION_WORDS.iter().any(|word| lower.contains(word))
        || credential::in_secret_field(value).is_some()
}

/// K-143: one of the cookies of a text.
pub(super) enum Cookie {
    /// `name=value`, the name literal.
    Named(String, Template),
    /// Without `=`, or with a variable before it.
    Bare(Template),
}

impl Cookie {
    fn push(&mut self, piece: Part) {
        let (Self::Named(_, template) | Self::Bare(template)) = self;
        template.push(piece);
    }
}

/// The cookies of `a=1; b=2`.
pub(super) fn split(value: &Template) -> Vec<Cookie> {
    let mut cookies = Vec::new();
    let mut current = Cookie::Bare(Template::default());
    // The name, as long as what was read of the current cookie may be one.
    let mut name = Some(String::new());
    for part in &value.parts {
        let Part::Literal(literal) = part else {
            name = None;
            current.push(part.clone());
            continue;
        };
        for (index, mut piece) in literal.text.split(';').enumerate() {
            if index > 0 {
                let ended = std::mem::replace(&mut current, Cookie::Bare(Template::default()));
                cookies.push(ended);
                name = Some(String::new());
            }
            if let Some(mut begun) = name.take() {
                if begun.is_empty() {
                    piece = piece.trim_start();
                }
                if let Some((before, after)) = piece.split_once('=') {
                    begun.push_str(before);
                    current = Cookie::Named(begun, Template::default());
                    piece = after;
                } else {
                    begun.push_str(piece);
                    name = Some(begun);
                }
            }
            current.push(Part::Literal(literal.with_text(piece)));
        }
    }
    cookies.push(current);
    // Nothing between two `;` is no cookie.
    cookies.retain(|cookie| match cookie {
        Cookie::Named(..) => true,
        Cookie::Bare(text) => !text.is_empty(),
    });
    cookies
}
