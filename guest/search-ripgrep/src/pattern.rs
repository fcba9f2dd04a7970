//! The pattern, compiled so that it can be looked for in a whole text at once (TS-71, TS-72).
//!
//! What matches is defined per line: the line without its end is all that the regular expression sees. Searching
//! a text of LF lines at once finds the same lines as long as no part of the pattern can match a line feed, which
//! the compiler sees to, and none looks further than to the next line feed; for those that do each line is
//! searched alone.

use std::ops::Range;

use grep_matcher::{LineMatchKind, Matcher};
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use kit::SkillError;
use kit::members::invalid;
use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Hir, Look};

use crate::required::Required;

/// Bytes of the compiled pattern (TS-71).
const MAX_COMPILED_BYTES: usize = 10 * 1024 * 1024;

/// Bytes of the states that one search may keep at a time; when they are full they are built anew.
const MAX_STATES_BYTES: usize = 8 * 1024 * 1024;

/// Groups within each other: as the `regex` crate has it.
const MAX_NESTING: u32 = 250;

/// A compiled pattern.
#[derive(Debug)]
pub(crate) struct Pattern {
    matcher: RegexMatcher,
    per_line: bool,
    required: Option<Required>,
}

impl Pattern {
    /// Compiles a pattern without line feed.
    ///
    /// # Errors
    /// `invalid_request` for a pattern that cannot be parsed, that needs a line feed, or that is too large.
    pub(crate) fn compile(pattern: &str, case_sensitive: bool) -> Result<Self, SkillError> {
        let hir = parse(pattern, case_sensitive)?;
        let matcher = build(pattern, case_sensitive)
            // It stands in a group now, whose end a comment (`(?x)a # b`) would swallow.
            .or_else(|error| build(&format!("{pattern}\n"), case_sensitive).map_err(|_| error))
            .map_err(|error| invalid("pattern", &error.to_string()))?;
        let looks = hir.properties().look_set();
        let beyond = [Look::Start, Look::End, Look::StartCRLF, Look::EndCRLF];
        Ok(Self {
            matcher,
            per_line: beyond.into_iter().any(|look| looks.contains(look)),
            required: Required::of(&hir),
        })
    }

    /// Each line has to be searched alone.
    pub(crate) fn is_per_line(&self) -> bool {
        self.per_line
    }

    /// What every line that matches holds, if that is known and quick to look for.
    pub(crate) fn required(&self) -> Option<&Required> {
        self.required.as_ref()
    }

    /// An offset in the first line of `text` that may match, or that of its line feed.
    pub(crate) fn candidate(&self, text: &[u8]) -> Option<usize> {
        // Searching cannot fail.
        let found = self.matcher.find_candidate_line(text).ok()?;
        found.map(|kind| match kind {
            LineMatchKind::Confirmed(at) | LineMatchKind::Candidate(at) => at,
        })
    }

    /// The first match in one line, which has no line end.
    pub(crate) fn find(&self, line: &[u8]) -> Option<Range<usize>> {
        let found = self.matcher.find(line).ok()?;
        found.map(|found| found.start()..found.end())
    }
}

fn build(pattern: &str, case_sensitive: bool) -> Result<RegexMatcher, grep_regex::Error> {
    RegexMatcherBuilder::new()
        .case_insensitive(!case_sensitive)
        .multi_line(true)
        .line_terminator(Some(b'\n'))
        .size_limit(MAX_COMPILED_BYTES)
        .dfa_size_limit(MAX_STATES_BYTES)
        .nest_limit(MAX_NESTING.saturating_add(1))
        .build(pattern)
}

/// The pattern alone: the builder puts it into a group, where `a)(b` would be one.
fn parse(pattern: &str, case_sensitive: bool) -> Result<Hir, SkillError> {
    ParserBuilder::new()
        .utf8(false)
        .multi_line(true)
        .case_insensitive(!case_sensitive)
        .nest_limit(MAX_NESTING)
        .build()
        .parse(pattern)
        .map_err(|error| {
            let (what, at) = match &error {
                regex_syntax::Error::Parse(error) => (error.kind().to_string(), error.span().start),
                regex_syntax::Error::Translate(error) => {
                    (error.kind().to_string(), error.span().start)
                }
                error => return invalid("pattern", &error.to_string()),
            };
            invalid("pattern", &format!("at byte {}: {what}", at.offset))
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn ts_71_what_cannot_be_a_pattern_of_one_line_is_refused() {
        let deep = format!("{}a{}", "(".repeat(251), ")".repeat(251));
        for pattern in [
            "(",
            "a)",
            "a)(b",
            "a)|(b",
            "[",
            r"\q",
            r"(?<n>a)\1",
            "(?=a)",
            "a{2,1}",
            r"\n",
            r"a\nb",
            r"\x0A",
            r"\x{a}",
            r"[\n]",
            r"\s*\n",
            r"(\w{1,1000}){1,1000}",
            r"\w{1000}{1000}",
            r"(?:a{1000}){1000}",
            &deep,
        ] {
            let error = Pattern::compile(pattern, true).unwrap_err();
            assert_eq!(error.code(), "invalid_request", "{pattern}");
            assert_eq!(
                error.details(),
                Some(r#"{"member":"pattern"}"#),
                "{pattern}"
            );
        }
    }

    #[test]
    fn ts_71_the_syntax_is_that_of_the_regex_crate() {
        let deep = format!("{}a{}", "(".repeat(249), ")".repeat(249));
        for (pattern, line, found) in [
            ("(?x)a # b", "xa", Some(1..2)),
            ("(?x) a b # )", "xab", Some(1..3)),
            (r"\Ab|b\z", "ab", Some(1..2)),
            (r"[^a]", "a", None),
            (r"a\s*b", "a \tb", Some(0..4)),
            (r"\pL+", "1é2", Some(1..3)),
            (r"(?-u:\xE9)", "é", None),
            (r"(?s)a.b", "a\rb", Some(0..3)),
            (r"a.b", "a\rb", Some(0..3)),
            (r"\r", "a\rb", Some(1..2)),
            (r"a|\n", "ba", Some(1..2)),
            ("", "ab", Some(0..0)),
            (&deep, "a", Some(0..1)),
            ("(a*)*b", "aab", Some(0..3)),
        ] {
            let compiled = Pattern::compile(pattern, true).unwrap();
            assert_eq!(compiled.find(line.as_bytes()), found, "{pattern}");
        }
    }

    #[test]
    fn ts_72_case_insensitive_is_unicode() {
        for (pattern, line) in [
            ("k", "\u{212a}"),
            ("straße", "STRAẞE"),
            ("ΣΑΣ", "σας"),
            ("[a-c]", "B"),
        ] {
            assert!(
                Pattern::compile(pattern, false)
                    .unwrap()
                    .find(line.as_bytes())
                    .is_some(),
                "{pattern}"
            );
            assert!(
                Pattern::compile(pattern, true)
                    .unwrap()
                    .find(line.as_bytes())
                    .is_none(),
                "{pattern}"
            );
        }
    }

    proptest! {
        #[test]
        fn ts_71_any_pattern_compiles_or_is_refused(pattern in "[\\PC]{1,40}", case_sensitive: bool) {
            if let Err(error) = Pattern::compile(&pattern, case_sensitive) {
                prop_assert_eq!(error.code(), "invalid_request");
            }
        }
    }
}
