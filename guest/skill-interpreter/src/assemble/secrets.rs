//! Which names are secrets. Matched by hand: the rules are few, and a regular expression costs size.

pub use super::credential::looks_like_credential;
use crate::context::Context;
use crate::failure::{Code, Failure};
use crate::identifier::upper_snake;

/// Words of names of secrets.
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

/// What stands before `TOKEN` in names of no secrets.
const TOKENS: [&str; 5] = ["PAGE", "NEXT", "CURSOR", "SYNC", "CONTINUATION"];
/// What stands before `KEY` in names of no secrets.
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

/// Fields of a query or body whose values are secrets.
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

/// Whether a name looks like a secret's. A `-` counts as `_`.
#[must_use]
pub fn looks_secret(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    name.split(['_', '-']).any(|word| WORDS.contains(&word))
}

/// Names that hold such a word and are no secrets (`page_token`, `idempotency_key`).
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

/// Whether a name is a secret wherever it stands: declared, or it looks like one and is not excluded.
#[must_use]
pub fn is_secret_name(name: &str, context: &Context) -> bool {
    context.is_secret(name) || (!is_excluded(name) && looks_secret(name))
}

/// Whether a header carries a credential, so that its variables are secrets: `Authorization`, `Cookie`, `X-…key…` and alike,
/// `apikey`, `DD-APPLICATION-KEY`; not `Idempotency-Key`.
#[must_use]
pub fn is_secret_header(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    if is_excluded(&name) {
        return false;
    }
    matches!(name.as_str(), "authorization" | "cookie")
        || looks_secret(&name)
        || name.strip_prefix("x-").is_some_and(|rest| {
            ["key", "token", "secret", "auth"]
                .iter()
                .any(|word| rest.contains(word))
        })
}

/// Fields of a query or body whose variables are secrets.
#[must_use]
pub fn is_secret_field(name: &str) -> bool {
    FIELDS.iter().any(|field| field.eq_ignore_ascii_case(name))
}

/// Whether a name only says that a credential belongs there; if so, which one: `TOKEN` of `YOUR_TOKEN`, `API_KEY` of
/// `your-key-here`.
#[must_use]
pub fn nameless(name: &str) -> Option<String> {
    let (start, rest) = name.split_at_checked(5)?;
    let is_yours = start.eq_ignore_ascii_case("your_") || start.eq_ignore_ascii_case("your-");
    is_yours.then(|| of_field(rest))
}

/// What the secret in a header, field or cookie of this name is called, behind the skill's name: `API_KEY`, unless the name
/// says more.
#[must_use]
pub fn of_field(name: &str) -> String {
    let name = upper_snake(name);
    let name = name.strip_prefix("X_").unwrap_or(&name);
    let name = name.strip_suffix("_HERE").unwrap_or(name);
    match name {
        "" | "KEY" | "APIKEY" | "API_KEY" | "HERE" => "API_KEY".to_owned(),
        name => name.to_owned(),
    }
}

/// `<SKILL>_<what>`; without a skill, `what`.
#[must_use]
pub fn skill_secret(what: &str, context: &Context) -> String {
    match context.skill_id.as_deref().map(upper_snake) {
        // `YOUR_WEATHER_KEY` in the skill `weather`.
        Some(skill)
            if what
                .strip_prefix(&skill)
                .is_some_and(|rest| rest.starts_with('_')) =>
        {
            what.to_owned()
        }
        Some(skill) if !skill.is_empty() => format!("{skill}_{what}"),
        _ => what.to_owned(),
    }
}

/// A constant of the request that names a secret is refused.
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
