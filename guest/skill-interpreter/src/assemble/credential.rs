//! Credentials that stand in a document as literal text. Their value is dropped wherever they are found.

use std::collections::BTreeMap;

/// Characters that must follow a known prefix: fewer are no credential.
const AFTER_PREFIX: usize = 4;
/// Characters of a value whose entropy is looked at.
const LONG: usize = 20;
/// Bits for each character, above which a long value is no word.
const BITS: f64 = 3.5;

/// A credential that stands as literal text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Found {
    /// It may be a real one.
    Credential,
    /// `...`, `xxxx`, `0000`, `****`: it only shows where one belongs.
    Placeholder,
}

/// What a literal in the place of a credential is.
pub(super) fn in_auth_position(text: &str) -> Found {
    let text = text.trim();
    let only = |c: char| text.chars().all(|each| each.eq_ignore_ascii_case(&c));
    if text.is_empty()
        || text.ends_with("...")
        || text.ends_with('…')
        || ['x', '0', '*'].into_iter().any(only)
    {
        Found::Placeholder
    } else {
        Found::Credential
    }
}

/// Whether a text is a credential by its look: `sk_…`, `ghp_…`, `xox?-…`, `AKIA…`.
#[must_use]
pub fn looks_like_credential(text: &str) -> bool {
    text.split(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '*')))
        .any(|word| {
            ["sk_", "ghp_", "github_pat_", "AKIA"]
                .iter()
                .any(|prefix| {
                    word.strip_prefix(prefix)
                        .is_some_and(|rest| rest.chars().count() >= AFTER_PREFIX)
                })
                // Words begin so too.
                || word.strip_prefix("sk-").is_some_and(|rest| {
                    rest.chars().count() >= LONG && rest.contains(|c: char| c.is_ascii_digit())
                })
                || word.strip_prefix("xox").is_some_and(|rest| {
                    let mut rest = rest.chars();
                    rest.next().is_some_and(|c| c.is_ascii_alphanumeric())
                        && rest.next() == Some('-')
                        && rest.count() >= AFTER_PREFIX
                })
        })
}

/// What a literal in a field of secrets is: a credential if it is long and looks random.
pub(super) fn in_secret_field(text: &str) -> Option<Found> {
    let text = text.trim();
    if looks_like_credential(text) {
        return Some(in_auth_position(text));
    }
    if !text.is_empty() && in_auth_position(text) == Found::Placeholder {
        return Some(Found::Placeholder);
    }
    (text.chars().count() >= LONG && entropy(text) > BITS).then_some(Found::Credential)
}

/// Shannon's entropy of its characters, in bits for each.
fn entropy(text: &str) -> f64 {
    let mut counts: BTreeMap<char, u32> = BTreeMap::new();
    let mut total = 0_u32;
    for c in text.chars() {
        let count = counts.entry(c).or_default();
        *count = count.saturating_add(1);
        total = total.saturating_add(1);
    }
    let total = f64::from(total.max(1));
    -counts
        .values()
        .map(|count| {
            let share = f64::from(*count) / total;
            share * share.log2()
        })
        .sum::<f64>()
}
