//! Splitting a document into front matter and content (RFC 0020 §5.3).
//!
//! The scan goes by lines and knows no YAML. It borrows from the document and copies nothing.

use std::ops::Range;

const BOM: char = '\u{FEFF}';

/// A document, split. Ranges are bytes of the text that was split.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    /// The text between the delimiters, its last line terminator included; none when all is content.
    pub front_matter: Option<Range<usize>>,
    /// The line break that ends the opening delimiter.
    pub line_break: LineBreak,
    /// Where the content begins; it goes to the end of the text.
    pub content: usize,
}

/// How a line ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineBreak {
    /// `\n`
    Lf,
    /// `\r\n`
    CrLf,
}

impl LineBreak {
    /// Its characters.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Lf => "\n",
            Self::CrLf => "\r\n",
        }
    }
}

/// The byte after one leading byte order mark; 0 if there is none.
#[must_use]
pub fn after_bom(text: &str) -> usize {
    if text.starts_with(BOM) {
        BOM.len_utf8()
    } else {
        0
    }
}

/// Splits a document; one leading byte order mark belongs to neither part.
#[must_use]
pub fn split(text: &str) -> Document {
    let start = after_bom(text);
    let all_content = Document {
        front_matter: None,
        line_break: LineBreak::Lf,
        content: start,
    };
    let mut lines = text
        .get(start..)
        .unwrap_or_default()
        .split_inclusive('\n')
        .scan(start, |position, line| {
            let begin = *position;
            *position = begin.saturating_add(line.len());
            Some((begin, *position, line))
        });
    // The opening delimiter is the first line, and has a line terminator.
    let Some((_, opening_end, opening)) = lines.next() else {
        return all_content;
    };
    if !is_delimiter(opening) || !opening.ends_with('\n') {
        return all_content;
    }
    let closing = lines.find(|(_, _, line)| is_delimiter(line));
    match closing {
        // What is never closed is content.
        None => all_content,
        Some((closing_begin, closing_end, _)) => Document {
            front_matter: Some(opening_end..closing_begin),
            line_break: if opening.ends_with("\r\n") {
                LineBreak::CrLf
            } else {
                LineBreak::Lf
            },
            // Blank lines that follow are content.
            content: closing_end,
        },
    }
}

/// `---`, spaces and tabs, and one line terminator at most. A lone CR ends a line only where the file ends.
fn is_delimiter(line: &str) -> bool {
    let line = line.strip_suffix('\n').unwrap_or(line);
    let line = line.strip_suffix('\r').unwrap_or(line);
    line.strip_prefix("---")
        .is_some_and(|rest| rest.bytes().all(|byte| byte == b' ' || byte == b'\t'))
}

#[allow(clippy::string_slice, reason = "a wrong range fails the test")]
#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Front matter without its last line terminator, and content.
    fn parts(text: &str) -> (Option<&str>, &str) {
        let document = split(text);
        let front_matter = document.front_matter.map(|range| {
            let text = &text[range];
            let text = text.strip_suffix('\n').unwrap_or(text);
            text.strip_suffix('\r').unwrap_or(text)
        });
        (front_matter, &text[document.content..])
    }

    #[test]
    fn front_matter_and_content() {
        let name = Some("name: Ann");
        let cases = [
            ("---\nname: Ann\n---\nHi", name, "Hi"),
            ("---\nname: Ann\n---\n\n\nHi\n", name, "\n\nHi\n"),
            ("---\r\nname: Ann\r\n---\r\nHi\r\n", name, "Hi\r\n"),
            ("--- \nname: Ann\n---\t\nHi", name, "Hi"),
            ("\u{FEFF}---\nname: Ann\n---\nHi", name, "Hi"),
            ("\u{FEFF}Hi", None, "Hi"),
            (
                "\n---\nname: Ann\n---\nHi",
                None,
                "\n---\nname: Ann\n---\nHi",
            ),
            (" ---\nname: Ann\n---\nHi", None, " ---\nname: Ann\n---\nHi"),
            (
                "----\nname: Ann\n----\nHi",
                None,
                "----\nname: Ann\n----\nHi",
            ),
            ("---\nname: Ann\nHi", None, "---\nname: Ann\nHi"),
            ("---\nname: Ann\n...\nHi", None, "---\nname: Ann\n...\nHi"),
            ("---\nname: Ann\n...\n---\nHi", Some("name: Ann\n..."), "Hi"),
            ("---\n---\nHi", Some(""), "Hi"),
            ("---\n---\nx: 1\n---\nHi", Some(""), "x: 1\n---\nHi"),
            ("---\n# later\n---\nHi", Some("# later"), "Hi"),
            ("---\nname: Ann\n---", name, ""),
            ("---\nname: Ann\n---\r", name, ""),
            ("---\nname: Ann\n---\nHi\n---\nBye", name, "Hi\n---\nBye"),
            (
                "---\nd: |\n  a\n  ---\n  b\n---\nHi",
                Some("d: |\n  a\n  ---\n  b"),
                "Hi",
            ),
            (
                "---\nname: Ann\n---x\n---\nHi",
                Some("name: Ann\n---x"),
                "Hi",
            ),
            (
                "---\nname: Ann\n--- x\n---\nHi",
                Some("name: Ann\n--- x"),
                "Hi",
            ),
            (
                "+++\nname = \"Ann\"\n+++\nHi",
                None,
                "+++\nname = \"Ann\"\n+++\nHi",
            ),
            ("---", None, "---"),
            ("", None, ""),
            ("---\rname: Ann\r---\rHi", None, "---\rname: Ann\r---\rHi"),
            ("---\nname: Ann\n---\na\0b", name, "a\0b"),
        ];
        for (file, front_matter, content) in cases {
            assert_eq!(parts(file), (front_matter, content), "{file:?}");
        }
    }

    #[test]
    fn one_byte_order_mark_is_taken_off_and_no_second_one() {
        assert_eq!(parts("\u{FEFF}\u{FEFF}Hi"), (None, "\u{FEFF}Hi"));
        assert_eq!(parts("\u{FEFF}\u{FEFF}---\na: b\n---\n").0, None);
    }

    #[test]
    fn the_line_break_is_that_of_the_opening_delimiter() {
        assert_eq!(split("---\r\na: b\n---\n").line_break, LineBreak::CrLf);
        assert_eq!(split("---\na: b\r\n---\r\n").line_break, LineBreak::Lf);
    }

    proptest! {
        #[test]
        fn splitting_loses_nothing(text in "(\u{FEFF})?(---[ \t]?\r?\n)?([a-z:\r -]{0,9}\n){0,4}(---\r?\n?)?[a\n-]{0,9}") {
            let document = split(&text);
            let content = &text[document.content..];
            match document.front_matter {
                None => prop_assert_eq!(document.content, after_bom(&text), "{}", content),
                Some(range) => {
                    let opening = &text[after_bom(&text)..range.start];
                    let closing = &text[range.end..document.content];
                    prop_assert!(opening.starts_with("---") && opening.ends_with('\n'));
                    prop_assert!(closing.starts_with("---"));
                    prop_assert!(closing.ends_with('\n') || content.is_empty());
                    prop_assert!(!text[range].split_inclusive('\n').any(is_delimiter));
                }
            }
        }
    }
}
