//! Names: the grammar of ids, slugs, and when two names are one.

use icu_normalizer::ComposingNormalizerBorrowed;

/// Characters of an id, and of a slug.
const ID_CHARACTERS: usize = 64;
/// The normal form of ids.
const NFC: ComposingNormalizerBorrowed<'_> = ComposingNormalizerBorrowed::new_nfc();

/// 1 to 64 characters, each a Unicode letter or digit, `_`, `.` or `-`, in NFC.
#[must_use]
pub fn is_id(text: &str) -> bool {
    !text.is_empty()
        && text.chars().count() <= ID_CHARACTERS
        && text
            .chars()
            .all(|c| c.is_alphanumeric() || matches!(c, '_' | '.' | '-'))
        && NFC.is_normalized(text)
}

/// Lower-case, each run of other characters than letters and digits one `-`, trimmed, cut at 64; none when empty.
#[must_use]
pub fn slug(text: &str) -> Option<String> {
    let mut slug = String::new();
    let mut length = 0;
    let mut gap = false;
    let lower: String = if text.is_ascii() {
        text.to_ascii_lowercase()
    } else {
        // A slug is an id, so it is in NFC; lower-casing may leave it.
        let lower: String = text.chars().flat_map(char::to_lowercase).collect();
        NFC.normalize(&lower).into_owned()
    };
    for c in lower.chars() {
        if !c.is_alphanumeric() {
            gap = true;
            continue;
        }
        let dash = usize::from(gap && length > 0);
        if length + dash + 1 > ID_CHARACTERS {
            break;
        }
        if dash == 1 {
            slug.push('-');
        }
        slug.push(c);
        length += dash + 1;
        gap = false;
    }
    (!slug.is_empty()).then_some(slug)
}

/// Equal for names that look-up does not tell apart.
#[must_use]
pub fn fold(text: &str) -> String {
    text.chars()
        .flat_map(char::to_lowercase)
        .map(|c| if matches!(c, '_' | ' ') { '-' } else { c })
        .collect()
}

/// Ids that no skill may have. Equality with the ids of installed components is the host's to check.
#[must_use]
pub fn is_reserved(skill_id: &str) -> bool {
    let folded = fold(skill_id);
    ["ccos", "hydrant"].iter().any(|reserved| {
        folded
            .strip_prefix(reserved)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    })
}

/// An id in upper snake case, as the names of secrets begin.
#[must_use]
pub fn upper_snake(id: &str) -> String {
    let mut name = String::new();
    for c in id.chars().flat_map(char::to_uppercase) {
        if c.is_alphanumeric() {
            name.push(c);
        } else if !name.is_empty() && !name.ends_with('_') {
            name.push('_');
        }
    }
    name.truncate(name.trim_end_matches('_').len());
    name
}
