//! Names, and how they are looked up.

use std::collections::BTreeSet;

use icu_normalizer::ComposingNormalizerBorrowed;
use icu_properties::CodePointMapData;
use icu_properties::props::Script;

use crate::failure::{Code, Failure};

/// Characters of a skill's or operation's id.
pub(super) const LONGEST: usize = 64;

/// What two names have in common that are one capability. Case is folded; `_`, space and `-` are alike.
#[must_use]
pub fn fold(name: &str) -> String {
    let nfc = ComposingNormalizerBorrowed::new_nfc();
    let lower: String = nfc
        .normalize(name)
        .to_lowercase()
        .chars()
        .map(|c| if matches!(c, '_' | ' ') { '-' } else { c })
        .collect();
    nfc.normalize(&lower).into_owned()
}

/// The folded id of a capability.
#[must_use]
pub fn fold_capability(skill: &str, operation: &str) -> String {
    fold(&format!("{skill}.{operation}"))
}

/// 1 to 64 characters, each a letter, a digit, `_`, `.` or `-`, in NFC.
pub(super) fn check(id: &str) -> Result<(), Failure> {
    let count = id.chars().count();
    let fits = (1..=LONGEST).contains(&count)
        && id
            .chars()
            .all(|c| c.is_alphanumeric() && !is_blank(c) || matches!(c, '_' | '.' | '-'))
        && ComposingNormalizerBorrowed::new_nfc().is_normalized(id);
    if fits {
        return Ok(());
    }
    let shown: String = id.chars().take(LONGEST).collect();
    Err(Failure::new(
        Code::IdInvalid,
        format!("not an id: {shown:?}"),
    ))
}

/// Fillers, which Unicode calls letters and nobody sees: an id with one looks like another id.
fn is_blank(c: char) -> bool {
    matches!(c, '\u{115f}' | '\u{1160}' | '\u{3164}' | '\u{ffa0}')
}

/// Whether an id has letters of more than one script, so that it may look like another id. Those that Japanese and Korean are
/// written with go together.
pub(crate) fn mixes_scripts(id: &str) -> bool {
    if id.is_ascii() {
        return false;
    }
    let scripts = CodePointMapData::<Script>::new();
    let found: BTreeSet<Script> = id
        .chars()
        .filter(|c| c.is_alphabetic())
        .map(|c| match scripts.get(c) {
            Script::Hiragana | Script::Katakana | Script::Hangul | Script::Bopomofo => Script::Han,
            script => script,
        })
        .filter(|script| !matches!(*script, Script::Common | Script::Inherited))
        .collect();
    found.len() > 1
}

/// Ids that no skill gets.
pub(super) fn check_reserved(skill: &str) -> Result<(), Failure> {
    let folded = fold(skill);
    for reserved in ["ccos", "hydrant"] {
        let below = folded
            .strip_prefix(reserved)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
        if below {
            return Err(Failure::new(
                Code::IdReserved,
                format!("the skill id {skill} is reserved"),
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{check, check_reserved, fold, fold_capability};
    use crate::failure::Code;

    #[test]
    fn case_underscore_space_and_hyphen_are_alike() {
        assert_eq!(fold("Create_Notebook"), fold("create notebook"));
        assert_eq!(fold("create-notebook"), fold("CREATE_NOTEBOOK"));
        assert_ne!(fold("create.notebook"), fold("create-notebook"));
        assert_ne!(fold("createnotebook"), fold("create-notebook"));
        // The same letter composed and decomposed.
        assert_eq!(fold("Caf\u{e9}"), fold("cafe\u{301}"));
        assert_eq!(
            fold_capability("moltbook", "create_notebook"),
            "moltbook.create-notebook"
        );
    }

    #[test]
    fn ids_outside_the_grammar_are_refused() {
        for good in ["a", "listBooks", "v1.2_x-y", "größe", &"a".repeat(64)] {
            assert!(check(good).is_ok(), "{good}");
        }
        for bad in [
            "",
            "a b",
            "a/b",
            "a\u{0}",
            "cafe\u{301}",
            "a:b",
            &"a".repeat(65),
        ] {
            assert_eq!(check(bad).unwrap_err().code, Code::IdInvalid, "{bad}");
        }
    }

    #[test]
    fn ids_of_the_host_are_reserved() {
        for bad in ["ccos", "CCOS", "hydrant", "ccos.network", "Hydrant.x"] {
            assert_eq!(check_reserved(bad).unwrap_err().code, Code::IdReserved);
        }
        for good in ["ccosx", "my.ccos", "hydrants", "ccos-x"] {
            assert!(check_reserved(good).is_ok(), "{good}");
        }
    }
}
