//! The pattern, compiled for lines that end with LF.

use grep_matcher::Matcher;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use kit::SkillError;
use kit::members::invalid;
use regex_syntax::ParserBuilder;

/// Bytes of the compiled pattern.
const MAX_COMPILED_BYTES: usize = 10 * 1024 * 1024;

/// Bytes of the states that one search may keep at a time; when they are full they are built anew.
const MAX_STATES_BYTES: usize = 8 * 1024 * 1024;

/// Groups within each other: as the `regex` crate has it.
const MAX_NESTING: u32 = 250;

/// Compiles a pattern without line feed.
///
/// # Errors
/// `invalid_request` for a pattern that cannot be parsed, that needs a line feed, or that is too large.
pub(crate) fn compile(pattern: &str, case_sensitive: bool) -> Result<RegexMatcher, SkillError> {
    check_syntax(pattern)?;
    build(pattern, case_sensitive)
        // The builder puts it into a group, whose end a comment (`(?x)a # b`) would swallow.
        .or_else(|error| build(&format!("{pattern}\n"), case_sensitive).map_err(|_| error))
        .map_err(|error| invalid("pattern", &error.to_string()))
}

/// The first match in one line, which has no line end.
pub(crate) fn find<'a>(matcher: &RegexMatcher, line: &'a [u8]) -> (usize, &'a [u8]) {
    // Searching cannot fail, and the line is one that matches.
    let found = matcher.find(line).ok().flatten();
    found.map_or((0, &[]), |found| {
        let bytes = line.get(found.start()..found.end());
        (found.start(), bytes.unwrap_or_default())
    })
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

/// Parses the pattern alone: in the builder's group, `a)(b` would be one.
fn check_syntax(pattern: &str) -> Result<(), SkillError> {
    let parsed = ParserBuilder::new()
        .utf8(false)
        .nest_limit(MAX_NESTING)
        .build()
        .parse(pattern);
    parsed.map(drop).map_err(|error| {
        let (what, at) = match &error {
            regex_syntax::Error::Parse(error) => (error.kind().to_string(), error.span().start),
            regex_syntax::Error::Translate(error) => (error.kind().to_string(), error.span().start),
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
    fn what_cannot_be_a_pattern_of_one_line_is_refused() {
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
            let error = compile(pattern, true).unwrap_err();
            assert_eq!(error.code(), "invalid_request", "{pattern}");
            assert_eq!(
                error.details(),
                Some(r#"{"member":"pattern"}"#),
                "{pattern}"
            );
        }
    }

    #[test]
    fn the_syntax_is_that_of_the_regex_crate() {
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
            let compiled = compile(pattern, true).unwrap();
            let found_range = compiled.find(line.as_bytes()).unwrap();
            let found_range = found_range.map(|found| found.start()..found.end());
            assert_eq!(found_range, found, "{pattern}");
        }
    }

    #[test]
    fn case_insensitive_is_unicode() {
        for (pattern, line) in [
            ("k", "\u{212a}"),
            ("straße", "STRAẞE"),
            ("ΣΑΣ", "σας"),
            ("[a-c]", "B"),
        ] {
            let found = compile(pattern, false).unwrap().is_match(line.as_bytes());
            assert_eq!(found, Ok(true), "{pattern}");
            let found = compile(pattern, true).unwrap().is_match(line.as_bytes());
            assert_eq!(found, Ok(false), "{pattern}");
        }
    }

    proptest! {
        #[test]
        fn any_pattern_compiles_or_is_refused(pattern in "[\\PC]{1,40}", case_sensitive: bool) {
            if let Err(error) = compile(&pattern, case_sensitive) {
                prop_assert_eq!(error.code(), "invalid_request");
            }
        }
    }
}
