//! The bytes of a file as lines, and the lines of it that match (TS-73, TS-74, TS-78).

use std::ops::Range;

use memchr::{memchr, memchr_iter, memchr2, memrchr};

use crate::pattern::Pattern;

const BOM: &[u8] = b"\xEF\xBB\xBF";

/// Bytes from one candidate to the next under which the pattern's own search is no slower.
const NEAR: usize = 256;

/// Candidates of a text that may be that near before the pattern's own search takes over.
const NEAR_CANDIDATES: u32 = 32;

/// A text whose lines end with LF.
#[derive(Debug)]
pub(crate) struct Text {
    bytes: Vec<u8>,
}

impl Text {
    /// The text of a file: a mark at its beginning is no part of it, and CR LF has become LF.
    /// None if it is binary, that is, if it holds a NUL (TS-78).
    pub(crate) fn of(mut bytes: Vec<u8>) -> Option<Self> {
        if let Some(at) = memchr2(0, b'\r', &bytes) {
            if memchr(0, bytes.get(at..)?).is_some() {
                return None;
            }
            remove_carriage_returns(&mut bytes, at);
        }
        Some(Self { bytes })
    }

    fn lines(&self) -> &[u8] {
        self.bytes.strip_prefix(BOM).unwrap_or(&self.bytes)
    }

    /// The lines that match, in their order.
    pub(crate) fn matches<'a>(&'a self, pattern: &'a Pattern) -> Matches<'a> {
        Matches {
            text: self.lines(),
            pattern,
            next: 0,
            counted: 0,
            line_number: 1,
            near: 0,
        }
    }
}

/// Takes each CR out that stands before an LF; the first is at `from` or behind it.
fn remove_carriage_returns(bytes: &mut Vec<u8>, from: usize) {
    let mut kept = from;
    let mut begin = from;
    while let Some(found) = bytes.get(begin..).and_then(|rest| memchr(b'\r', rest)) {
        let at = begin.saturating_add(found);
        let after = at.saturating_add(1);
        let end = if bytes.get(after) == Some(&b'\n') {
            at
        } else {
            after
        };
        bytes.copy_within(begin..end, kept);
        kept = kept.saturating_add(end.saturating_sub(begin));
        begin = after;
    }
    bytes.copy_within(begin.., kept);
    kept = kept.saturating_add(bytes.len().saturating_sub(begin));
    bytes.truncate(kept);
}

/// A line that matches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Match<'a> {
    text: &'a [u8],
    /// The line, without its line feed.
    line: Range<usize>,
    /// 1-based.
    pub(crate) line_number: u64,
    /// Where in the line the first match is.
    pub(crate) found: Range<usize>,
}

impl<'a> Match<'a> {
    /// The line that matches.
    pub(crate) fn line(&self) -> &'a [u8] {
        self.text.get(self.line.clone()).unwrap_or_default()
    }

    /// Up to `most` lines before it, the nearest first.
    pub(crate) fn lines_before(&self, most: usize) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        let mut rest = self.text.get(..self.line.start).unwrap_or_default();
        std::iter::from_fn(move || {
            let line = rest.strip_suffix(b"\n")?;
            let begin = memrchr(b'\n', line).map_or(0, |at| at.saturating_add(1));
            let (before, line) = line.split_at_checked(begin)?;
            rest = before;
            Some(line)
        })
        .take(most)
    }

    /// Up to `most` lines behind it.
    pub(crate) fn lines_after(&self, most: usize) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        let begin = self.line.end.saturating_add(1);
        let mut rest = self.text.get(begin..).unwrap_or_default();
        std::iter::from_fn(move || {
            if rest.is_empty() {
                return None;
            }
            let end = memchr(b'\n', rest).unwrap_or(rest.len());
            let (line, after) = rest.split_at_checked(end)?;
            rest = after.get(1..).unwrap_or_default();
            Some(line)
        })
        .take(most)
    }
}

/// The lines of a text that match.
#[derive(Debug)]
pub(crate) struct Matches<'a> {
    text: &'a [u8],
    pattern: &'a Pattern,
    /// Where the lines begin that were not looked at.
    next: usize,
    /// Where the line with the number `line_number` begins.
    counted: usize,
    line_number: u64,
    /// Candidates that were near to what was looked at before.
    near: u32,
}

impl<'a> Iterator for Matches<'a> {
    type Item = Match<'a>;

    fn next(&mut self) -> Option<Match<'a>> {
        loop {
            let rest = self.text.get(self.next..).filter(|rest| !rest.is_empty())?;
            let at = self.next.saturating_add(self.candidate(rest)?);
            let line = self.line_around(at)?;
            self.next = line.end.saturating_add(1);
            if let Some(found) = self.pattern.find(self.text.get(line.clone())?) {
                return Some(self.number(line, found));
            }
        }
    }
}

impl<'a> Matches<'a> {
    /// An offset in the first line of `rest` that may match.
    fn candidate(&mut self, rest: &[u8]) -> Option<usize> {
        if self.pattern.is_per_line() {
            return Some(0);
        }
        match self.pattern.required() {
            Some(required) if self.near < NEAR_CANDIDATES => {
                let at = required.find(rest)?;
                self.near = self.near.saturating_add(u32::from(at < NEAR));
                Some(at)
            }
            _ => self.pattern.candidate(rest),
        }
    }

    /// The line that `at` lies in; none behind the last line feed, where no line is.
    fn line_around(&self, at: usize) -> Option<Range<usize>> {
        let before = self.text.get(self.next..at)?;
        let begin = memrchr(b'\n', before).map_or(self.next, |found| {
            self.next.saturating_add(found).saturating_add(1)
        });
        let rest = self.text.get(at..)?;
        let end = memchr(b'\n', rest).map_or(self.text.len(), |found| at.saturating_add(found));
        (begin < self.text.len()).then_some(begin..end)
    }

    fn number(&mut self, line: Range<usize>, found: Range<usize>) -> Match<'a> {
        let passed = self.text.get(self.counted..line.start).unwrap_or_default();
        let feeds = u64::try_from(memchr_iter(b'\n', passed).count()).unwrap_or(u64::MAX);
        self.line_number = self.line_number.saturating_add(feeds);
        self.counted = line.start;
        Match {
            text: self.text,
            line,
            line_number: self.line_number,
            found,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    type Found = (u64, String, Range<usize>);

    fn found(bytes: &[u8], pattern: &str) -> Vec<Found> {
        let pattern = Pattern::compile(pattern, false).unwrap();
        let text = Text::of(bytes.to_vec()).unwrap();
        let matches = text.matches(&pattern);
        matches
            .map(|found| {
                let line = String::from_utf8_lossy(found.line()).into_owned();
                (found.line_number, line, found.found)
            })
            .collect()
    }

    /// The definition: each line alone.
    fn found_by_definition(bytes: &[u8], pattern: &str) -> Vec<Found> {
        let pattern = Pattern::compile(pattern, false).unwrap();
        let lines = bytes.split_inclusive(|byte| *byte == b'\n').map(|line| {
            let line = line
                .strip_suffix(b"\n")
                .map(|line| line.strip_suffix(b"\r").unwrap_or(line))
                .unwrap_or(line);
            (
                String::from_utf8_lossy(line).into_owned(),
                pattern.find(line),
            )
        });
        let numbered = (1..).zip(lines);
        numbered
            .filter_map(|(number, (line, found))| Some((number, line, found?)))
            .collect()
    }

    fn number_and_line(found: Vec<Found>) -> Vec<(u64, String)> {
        found
            .into_iter()
            .map(|(number, line, _)| (number, line))
            .collect()
    }

    #[test]
    fn ts_71_line_ends_are_no_part_of_a_line() {
        for (bytes, pattern, lines) in [
            ("a\r\nb\r\n", "a$", &[(1, "a")][..]),
            ("a\r\nb", "$", &[(1, "a"), (2, "b")]),
            ("a\rb\n", "^b", &[]),
            ("a\r", "a$", &[]),
            ("a\r", r"a\r", &[(1, "a\r")]),
            ("a\r\r\n", r"a\r$", &[(1, "a\r")]),
            ("a\r\r\n", r"(?R)a$", &[(1, "a\r")]),
            ("\n\n\n", "^$", &[(1, ""), (2, ""), (3, "")]),
            ("\n\n", "x*", &[(1, ""), (2, "")]),
            ("a\n", "$", &[(1, "a")]),
            ("", "$", &[]),
            ("\r\n\r\n", "^$", &[(1, ""), (2, "")]),
            ("a b\nb a\n", r"\Ab", &[(2, "b a")]),
            ("a b\nb a\n", r"b\z", &[(1, "a b")]),
            ("a b\nb a\n", r"(?-m)^b", &[(2, "b a")]),
            ("a\nb\n", r"a\s*b", &[]),
            ("a\nb\n", r"[^x][^x]", &[]),
        ] {
            let lines: Vec<_> = lines
                .iter()
                .map(|(number, line)| (*number, (*line).to_owned()))
                .collect();
            assert_eq!(
                number_and_line(found(bytes.as_bytes(), pattern)),
                lines,
                "{bytes:?} {pattern}"
            );
        }
    }

    #[test]
    fn a_mark_at_the_beginning_is_no_part_of_the_first_line() {
        assert_eq!(found(b"\xEF\xBB\xBFab", "^a"), [(1, "ab".to_owned(), 0..1)]);
        assert_eq!(found(b"\xEF\xBB\xBF", ""), []);
    }

    #[test]
    fn ts_78_a_nul_anywhere_makes_a_file_binary() {
        for bytes in [&b"\0"[..], b"a\r\nb\0", b"a\0\r", b"\xFF\xFEa\0\n\0"] {
            assert!(Text::of(bytes.to_vec()).is_none(), "{bytes:?}");
        }
    }

    #[test]
    fn ts_74_neighbouring_lines() {
        let text = Text::of(b"1\r\n2\n\n4x\n5\n".to_vec()).unwrap();
        let pattern = Pattern::compile("x", true).unwrap();
        let found = text.matches(&pattern).next().unwrap();
        let before: Vec<_> = found.lines_before(2).collect();
        assert_eq!(before, [&b""[..], b"2"]);
        assert_eq!(found.lines_before(9).count(), 3);
        let after: Vec<_> = found.lines_after(9).collect();
        assert_eq!(after, [b"5"]);
        assert_eq!(found.lines_after(0).count(), 0);
    }

    #[test]
    fn a_line_of_16_mib_and_a_text_of_line_feeds_alone() {
        let mut line = vec![b'a'; 16 << 20];
        assert_eq!(found(&line, "(a*)*b"), []);
        line.push(b'b');
        assert_eq!(found(&line, "(a*)*b").len(), 1);
        assert_eq!(found(&vec![b'\n'; 2 << 20], r"x|\Ay"), []);
    }

    const PARTS: &[&str] = &[
        "a",
        "b",
        "k",
        "x",
        ".",
        "^",
        "$",
        r"\b",
        r"\B",
        r"\s",
        r"\w",
        r"\W",
        "[^a]",
        "[^ab]*",
        "a+",
        "b*",
        "x?",
        "(?s).",
        r"\Aa",
        r"b\z",
        r"(?R)a$",
        "(?R)^b",
        r"\r",
        "|",
        "ab",
        "é",
        "s",
        r"(?-u:\b)",
        "(?-m)^",
        r"\b{start}",
    ];

    proptest! {
        #[test]
        fn ts_71_searching_all_lines_at_once_is_searching_each_alone(
            text in r"([ab\rkx. éſ]{0,12}(\n|\r\n)){0,12}[ab\r]{0,3}",
            parts in proptest::collection::vec(proptest::sample::select(PARTS), 1..5),
        ) {
            let pattern = parts.concat();
            if Pattern::compile(&pattern, false).is_ok() {
                prop_assert_eq!(found(text.as_bytes(), &pattern), found_by_definition(text.as_bytes(), &pattern));
            }
        }

        #[test]
        fn ts_71_the_required_pair_misses_nothing(
            lines in proptest::collection::vec("[qzQZ x]{0,30}", 0..200),
        ) {
            let text = lines.join("\n");
            prop_assert_eq!(found(text.as_bytes(), "qz+ "), found_by_definition(text.as_bytes(), "qz+ "));
        }
    }
}
