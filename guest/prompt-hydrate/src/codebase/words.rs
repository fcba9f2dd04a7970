//! Words of a prompt and of file names, in the form in which they are compared.

use std::collections::BTreeSet;

/// Bytes of a text that are looked at.
const MAX_BYTES: usize = 16 * 1024;

/// Words that say nothing of which file is meant, and names that every project has.
const SAY_NOTHING: &[&str] = &[
    "add", "all", "also", "and", "any", "are", "bin", "but", "can", "code", "config", "doc",
    "docs", "does", "file", "files", "fix", "for", "from", "get", "has", "have", "how", "index",
    "init", "into", "its", "lib", "like", "main", "make", "mod", "new", "not", "now", "one", "our",
    "out", "put", "run", "set", "should", "src", "test", "tests", "that", "the", "them", "then",
    "there", "this", "use", "was", "were", "what", "when", "where", "which", "why", "will", "with",
    "you", "your",
];

/// The words of some text.
#[derive(Debug, Default)]
pub(super) struct Words {
    /// Words and identifiers as they stand, in lower case.
    pub(super) whole: BTreeSet<String>,
    /// The parts of them that say something.
    pub(super) parts: BTreeSet<String>,
}

impl Words {
    pub(super) fn add(&mut self, text: &str) {
        let belongs = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/');
        for word in kit::cut::at_bytes(text, MAX_BYTES).split(|c| !belongs(c)) {
            let word = word.trim_matches(['.', '-', '/']);
            // The last name of a path means the file of that path, and none of that name elsewhere.
            if !word.is_empty() && !word.contains('/') {
                self.whole.insert(word.to_lowercase());
            }
            self.parts.extend(parts(word));
        }
    }
}

/// Hands over the parts: `session_state`, `sessionState` and `session-state.py` all have `session` and `state`. A plural counts as its
/// singular.
pub(super) fn parts(name: &str) -> Vec<String> {
    let mut parts = Vec::new();
    each_part(name, |part| {
        if says_something(part) {
            parts.push(part.to_owned());
        }
    });
    parts
}

/// Hands over the parts of a name, those that say nothing too.
pub(super) fn each_part(name: &str, mut take: impl FnMut(&str)) {
    let mut part = String::new();
    let mut last_is_lower = false;
    for c in name.chars().chain(['_']) {
        let begins = !c.is_alphanumeric() || (c.is_uppercase() && last_is_lower);
        if begins && !part.is_empty() {
            take(match part.strip_suffix('s') {
                Some(singular) if singular.len() > 2 && !singular.ends_with('s') => singular,
                _ => &part,
            });
            part.clear();
        }
        last_is_lower = c.is_lowercase() || c.is_numeric();
        if c.is_alphanumeric() {
            part.extend(c.to_lowercase());
        }
    }
}

/// Whether a word in lower case tells files apart.
pub(super) fn says_something(word: &str) -> bool {
    word.chars().count() > 2
        && !word.chars().all(|c| c.is_ascii_digit())
        && SAY_NOTHING.binary_search(&word).is_err()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_fall_into_parts() {
        for name in [
            "session_state",
            "sessionState",
            "session-state.x",
            "SessionStates",
            "session.state",
        ] {
            assert_eq!(parts(name), ["session", "state"], "{name}");
        }
        assert_eq!(parts("a_of_1234_the"), Vec::<String>::new());
        assert_eq!(parts("classes Ärger"), ["classe", "ärger"]);
    }

    #[test]
    fn the_words_that_say_nothing_are_sorted() {
        assert!(SAY_NOTHING.is_sorted());
    }

    #[test]
    fn words_are_compared_in_lower_case_and_without_marks() {
        let mut words = Words::default();
        words.add("Look at `Parser.py`, (README) ...");
        assert!(words.whole.contains("parser.py") && words.whole.contains("readme"));
        assert!(words.parts.contains("parser"));
    }
}
