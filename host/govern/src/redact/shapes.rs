//! What looks like a secret, in logs and errors, although nobody knows its value.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::Regex;

use super::REDACTED;

/// Fields whose values are secrets.
const FIELDS: &str =
    "key|api[_-]?key|token|access_token|auth_token|secret|client_secret|password|sig|signature";

/// Each with the part that stays in its first group.
static SHAPES: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    [
        // Private keys, also cut off.
        r"()(?s-u:-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----)(?s:.*?)(?:-----END [A-Z0-9 ]*PRIVATE KEY-----|\z)".to_owned(),
        // Headers, as they are sent or as members of JSON.
        concat!(
            r#"((?-u:\b)(?i-u:(?:proxy-)?authorization|(?:set-)?cookie|x-[0-9a-z_-]*(?:key|token|secret|auth)[0-9a-z_-]*)"#,
            r#""?[ \t]*[:=][ \t]*"?)[^"\r\n]+"#
        )
        .to_owned(),
        // Members of JSON: text, escapes and all; anything else.
        format!(r#"("(?i-u:{FIELDS})"[ \t\r\n]*:[ \t\r\n]*")(?:[^"\\]|\\[^\r\n])+"#),
        format!(r#"("(?i-u:{FIELDS})"[ \t\r\n]*:[ \t\r\n]*)[^"\s,\]\}}\[\{{]+"#),
        // The query and forms.
        format!(r#"((?:^|[?&;\s"'])(?i-u:{FIELDS})=)[^&;\s"'\#]+"#),
        // Tokens that tell what they are.
        r"((?-u:\b))(?-u:sk_|sk-|ghp_|gho_|github_pat_|xox[abpr]-|AKIA|AIza)[0-9A-Za-z_-]{8,}".to_owned(),
        // JSON Web Tokens.
        r"((?-u:\b))eyJ[0-9A-Za-z_-]{5,}\.[0-9A-Za-z_-]{5,}\.[0-9A-Za-z_-]*".to_owned(),
        // User info of URLs.
        r#"(://)[^/\s?\#"'<>]+@"#.to_owned(),
    ]
    .iter()
    // The patterns are constant: the tests have each of them match.
    .filter_map(|pattern| Regex::new(pattern).ok())
    .collect()
});

/// The text without what looks like a secret.
#[must_use]
pub fn hide(text: &str) -> Cow<'_, str> {
    let mut hidden = Cow::Borrowed(text);
    for shape in SHAPES.iter() {
        let end = if shape.as_str().ends_with('@') {
            "@"
        } else {
            ""
        };
        let with = |found: &regex::Captures<'_>| {
            let kept = found.get(1).map_or("", |kept| kept.as_str());
            format!("{kept}{REDACTED}{end}")
        };
        if let Cow::Owned(new) = shape.replace_all(&hidden, with) {
            hidden = Cow::Owned(new);
        }
    }
    hidden
}

#[cfg(test)]
pub(super) fn count() -> usize {
    SHAPES.len()
}
