//! K-190 to K-192: which names are secrets. Matched by hand: the rules are few, and a regular expression costs size.

pub use super::credential::looks_like_credential;
use crate::context::Context;
use crate::failure::{Code, Failure};
use crate::identifier::upper_snake;

/// K-191
const WORDS: [&str; 11] = [
    "APIKEY",
    "KEY",
    "TOKEN",
    "SECRET",
    "PASSWORD",
    "PASSWD",
    "PASS",
    "JWT",
    "CREDENTIAL",
    "CREDENTIALS",
    "AUTH",
];

/// K-190 (3)
const TOKENS: [&str; 5] = ["PAGE", "NEXT", "CURSOR", "SYNC", "CONTINUATION"];
/// K-190 (3)
const KEYS: [&str; 9] = [
    "IDEMPOTENCY",
    "SORT",
    "PARTITION",
    "PUBLIC",
    "PRIMARY",
    "FOREIGN",
    "ISSUE",
    "PROJECT",
    "CACHE",
];

/// K-190 (4)
const FIELDS: [&str; 12] = [
    "key",
    "api_key",
    "apikey",
    "token",
    "access_token",
    "auth_token",
    "secret",
    "client_secret",
    "password",
    "sig",
    "signature",
    "api-key",
];

/// K-191: whether a name looks like a secret's. A `-` counts as `_`.
#[must_use]
pub fn looks_secret(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    name.split(['_', '-']).any(|word| WORDS.contains(&word))
}

/// K-190 (3): names that hold such a word and are no secrets (`page_token`, `idempotency_key`).
#[must_use]
pub fn is_excluded(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    let ends = |last: &str, before: &[&str]| {
        name.strip_suffix(last).is_some_and(|rest| {
            let rest = rest.strip_suffix(['_', '-']).unwrap_or(rest);
            before.iter().any(|word| rest.ends_with(word))
        })
    };
    ends("TOKEN", &TOKENS) || ends("KEY", &KEYS)
}

/// K-120, K-131: whether a name is a secret wherever it stands: declared, or it looks like one and is not excluded.
#[must_use]
pub fn is_secret_name(name: &str, context: &Context) -> bool {
    context.is_secret(name) || (!is_excluded(name) && looks_secret(name))
}

/// K-190 (2): headers whose variables are secrets: `Authorization`, `Cookie`, `X-…key…` and alike.
#[must_use]
pub fn is_secret_header(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    matches!(name.as_str(), "authorization" | "cookie")
        || name.strip_prefix("x-").is_some_and(|rest| {
            ["key", "token", "secret", "auth"]
                .iter()
                .any(|word| rest.contains(word))
        })
}

/// K-190 (4): fields of a query or body whose variables are secrets.
#[must_use]
pub fn is_secret_field(name: &str) -> bool {
    FIELDS.iter().any(|field| field.eq_ignore_ascii_case(name))
}

/// K-192: whether a name only says that a credential belongs there.
#[must_use]
pub fn is_nameless(name: &str) -> bool {
    name.get(..5).is_some_and(|start| {
        start.eq_ignore_ascii_case("your_") || start.eq_ignore_ascii_case("your-")
    })
}

/// K-141, K-192: `<SKILL>_<what>`; without a skill, `what`.
#[must_use]
pub fn skill_secret(what: &str, context: &Context) -> String {
    match context.skill_id.as_deref().map(upper_snake) {
        Some(skill) if !skill.is_empty() => format!("{skill}_{what}"),
        _ => what.to_owned(),
    }
}

/// K-195: a constant of the request that names a secret is refused.
///
/// # Errors
///
/// `invalid-request`, with the path.
pub fn refuse_secret_constants(context: &Context) -> Result<(), Failure> {
    match context
        .constants
        .keys()
        .find(|name| is_secret_name(name, context))
    {
        Some(name) => Err(
            Failure::new(Code::InvalidRequest, "a constant names a secret")
                .at_path(format!("constants.{name}")),
        ),
        None => Ok(()),
    }
}
