//! The lines of a file, as they are and without the white space that a diff may have lost.

use std::borrow::Cow;
use std::ops::Range;

use memchr::memmem::Finder;

/// What of a line is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// Every byte.
    Exact,
    /// All but white space at its end, a CR included.
    Trimmed,
    /// All but white space. Only to say why a hunk does not fit.
    Squeezed,
}

impl Form {
    /// What is compared of a line, which is given without its newline.
    pub(crate) fn compared(self, line: &[u8]) -> Cow<'_, [u8]> {
        match self {
            Self::Exact => Cow::Borrowed(line),
            Self::Trimmed => Cow::Borrowed(line.trim_ascii_end()),
            Self::Squeezed => {
                let visible = line.iter().filter(|byte| !byte.is_ascii_whitespace());
                Cow::Owned(visible.copied().collect())
            }
        }
    }
}

/// A text, and where its lines begin.
#[derive(Debug)]
pub(crate) struct Text<'a> {
    bytes: Cow<'a, [u8]>,
    /// One for each line, and the end.
    starts: Vec<u32>,
}

/// Where lines are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Found {
    Nowhere,
    /// At this line, counted from 0, and nowhere else.
    Once(usize),
    Ambiguous,
}

impl<'a> Text<'a> {
    /// The lines of `bytes` in a form; in all but the exact one the last line has a newline.
    pub(crate) fn new(bytes: &'a [u8], form: Form) -> Self {
        if form == Form::Exact {
            return Self::index(Cow::Borrowed(bytes));
        }
        let mut text = Vec::with_capacity(bytes.len().saturating_add(1));
        for line in bytes.split_inclusive(|byte| *byte == b'\n') {
            text.extend_from_slice(&form.compared(line.strip_suffix(b"\n").unwrap_or(line)));
            text.push(b'\n');
        }
        Self::index(Cow::Owned(text))
    }

    fn index(bytes: Cow<'a, [u8]>) -> Self {
        let ends = memchr::memchr_iter(b'\n', &bytes).map(|end| end.saturating_add(1));
        let open = bytes.last().is_some_and(|last| *last != b'\n');
        let starts = std::iter::once(0)
            .chain(ends)
            .chain(open.then_some(bytes.len()))
            .map(|start| u32::try_from(start).unwrap_or(u32::MAX));
        let starts = starts.collect();
        Self { bytes, starts }
    }

    /// How many lines it has.
    pub(crate) fn len(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// Whether it is empty or its last line has a newline.
    pub(crate) fn is_ended(&self) -> bool {
        self.bytes.last().is_none_or(|last| *last == b'\n')
    }

    /// Where a line begins in bytes; the end for one that is not there.
    pub(crate) fn start(&self, line: usize) -> usize {
        let start = self.starts.get(line).copied();
        start.map_or(self.bytes.len(), |start| {
            usize::try_from(start).unwrap_or(usize::MAX)
        })
    }

    /// The bytes of these lines.
    pub(crate) fn lines(&self, lines: Range<usize>) -> &[u8] {
        let bytes = self.start(lines.start)..self.start(lines.end);
        self.bytes.get(bytes).unwrap_or_default()
    }

    /// The one place at or behind line `from` where these lines stand.
    pub(crate) fn find(&self, lines: &[u8], from: usize) -> Found {
        // With the newline before them, so that every occurrence begins a line. The first line has none.
        let needle = [b"\n", lines].concat();
        let finder = Finder::new(&needle);
        let mut found = (from == 0 && self.bytes.starts_with(lines)).then_some(0);
        let mut begin = self.start(from).saturating_sub(1);
        while let Some(offset) = self.bytes.get(begin..).and_then(|rest| finder.find(rest)) {
            if found.is_some() {
                return Found::Ambiguous;
            }
            begin = begin.saturating_add(offset).saturating_add(1);
            let start = u32::try_from(begin).unwrap_or(u32::MAX);
            found = Some(self.starts.binary_search(&start).unwrap_or(0));
        }
        found.map_or(Found::Nowhere, Found::Once)
    }
}
