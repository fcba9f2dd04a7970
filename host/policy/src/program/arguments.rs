//! Argument vectors of a program rule: literal, with `*` inside an argument, or open at the end.

use schemars::JsonSchema;
use serde::Deserialize;

/// A pattern for `argv[1..]`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(from = "Vec<String>")]
pub(crate) struct Arguments {
    #[schemars(with = "Vec<String>")]
    elements: Vec<Element>,
    /// The last element was `"..."`: any number of further arguments.
    open_ended: bool,
}

/// A pattern for one argument: the literal parts between its stars, so at least one part.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Element(Vec<String>);

impl From<Vec<String>> for Arguments {
    /// Reads the elements of one vector; every list of strings is one.
    fn from(mut elements: Vec<String>) -> Self {
        let open_ended = elements.pop_if(|last| last == "...").is_some();
        let elements = elements.iter().map(|text| Element::parse(text)).collect();
        Self {
            elements,
            open_ended,
        }
    }
}

impl Arguments {
    /// Whether exactly one list of arguments matches.
    pub(crate) fn is_literal(&self) -> bool {
        !self.open_ended && self.elements.iter().all(|element| element.0.len() == 1)
    }

    /// Whether these arguments match.
    pub(crate) fn matches(&self, arguments: &[String]) -> bool {
        let enough = if self.open_ended {
            arguments.len() >= self.elements.len()
        } else {
            arguments.len() == self.elements.len()
        };
        enough
            && self
                .elements
                .iter()
                .zip(arguments)
                .all(|(element, argument)| element.matches(argument))
    }
}

impl Element {
    fn parse(text: &str) -> Self {
        let mut parts = Vec::new();
        let mut part = String::new();
        let mut characters = text.chars().peekable();
        while let Some(character) = characters.next() {
            match character {
                '\\' if characters.next_if_eq(&'*').is_some() => part.push('*'),
                '*' => parts.push(std::mem::take(&mut part)),
                _ => part.push(character),
            }
        }
        parts.push(part);
        Self(parts)
    }

    /// Leftmost matching of the parts in order: without backtracking, so linear in the argument for each part.
    fn matches(&self, argument: &str) -> bool {
        let Some((first, rest)) = self.0.split_first() else {
            return argument.is_empty();
        };
        let Some((last, middle)) = rest.split_last() else {
            return argument == first;
        };
        let Some(mut left) = argument.strip_prefix(first.as_str()) else {
            return false;
        };
        for part in middle {
            match left.split_once(part.as_str()) {
                Some((_, after)) => left = after,
                None => return false,
            }
        }
        left.ends_with(last.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parse(pattern: &[&str]) -> Arguments {
        let words: Vec<_> = pattern.iter().map(|text| (*text).to_owned()).collect();
        words.into()
    }

    fn matches(pattern: &[&str], arguments: &[&str]) -> bool {
        let arguments: Vec<_> = arguments.iter().map(|text| (*text).to_owned()).collect();
        parse(pattern).matches(&arguments)
    }

    #[test]
    fn elements_are_literal_but_for_stars() {
        assert!(matches(&[], &[]));
        assert!(!matches(&[], &["x"]));
        assert!(matches(&["status", "-z"], &["status", "-z"]));
        assert!(!matches(&["status", "-z"], &["status"]));
        assert!(!matches(&["status"], &["status", "-z"]));
        assert!(matches(&["*^{commit}"], &["HEAD^{commit}"]));
        assert!(matches(&["*^{commit}"], &["^{commit}"]));
        assert!(!matches(&["*^{commit}"], &["HEAD^{commit}x"]));
        assert!(matches(&["a*b*c"], &["abc"]));
        assert!(matches(&["a*b*c"], &["axbbyc"]));
        assert!(!matches(&["a*b*c"], &["acb"]));
        assert!(!matches(&["a*a"], &["a"]));
        assert!(matches(&["*"], &[""]));
        assert!(!matches(&["*"], &["a", "b"]));
        assert!(matches(&["a\\*"], &["a*"]));
        assert!(!matches(&["a\\*"], &["ab"]));
        assert!(matches(&["a\\b"], &["a\\b"]));
        assert!(matches(&["[a-z]?"], &["[a-z]?"]));
    }

    #[test]
    fn three_dots_are_open_only_at_the_end() {
        assert!(matches(&["..."], &[]));
        assert!(matches(&["diff", "..."], &["diff", "--", "x"]));
        assert!(matches(&["diff", "..."], &["diff"]));
        assert!(!matches(&["diff", "..."], &[]));
        assert!(matches(&["...", "x"], &["...", "x"]));
        assert!(!matches(&["...", "x"], &["a", "x"]));
    }

    #[test]
    fn literal_means_one_list_of_arguments() {
        assert!(parse(&["a", "\\*", "b"]).is_literal());
        assert!(!parse(&["a*"]).is_literal());
        assert!(!parse(&["a", "..."]).is_literal());
    }

    proptest! {
        #[test]
        fn stars_match_as_an_exhaustive_matcher_does(pattern in "[ab*]{0,7}", argument in "[ab]{0,8}") {
            fn exhaustive(pattern: &[u8], text: &[u8]) -> bool {
                match (pattern.split_first(), text.split_first()) {
                    (None, None) => true,
                    (Some((b'*', rest)), _) => (0..=text.len()).any(|skip| exhaustive(rest, &text[skip..])),
                    (Some((one, rest)), Some((other, text))) => one == other && exhaustive(rest, text),
                    _ => false,
                }
            }
            prop_assert_eq!(matches(&[&pattern], &[&argument]), exhaustive(pattern.as_bytes(), argument.as_bytes()));
        }
    }
}
