//! The text of cookies, split, and which of them is a credential.

use super::{credential, secrets};
use crate::draft::Template;

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

/// One of the cookies of a text.
pub(super) enum Cookie {
    /// `name=value`, the name literal.
    Named(String, Template),
    /// Without `=`, or with a variable before it.
    Bare(Template),
}

/// The cookies of `a=1; b=2`. Nothing between two `;` is no cookie.
pub(super) fn split(value: &Template) -> Vec<Cookie> {
    let pieces = value.split(';').into_iter();
    pieces
        .map(|piece| piece.trim_start(char::is_whitespace))
        .filter(|piece| !piece.is_empty())
        .map(|piece| {
            let named = piece
                .split_once('=')
                .and_then(|(name, value)| Some(Cookie::Named(name.as_literal()?, value)));
            named.unwrap_or(Cookie::Bare(piece))
        })
        .collect()
}
