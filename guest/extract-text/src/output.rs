//! The normalised text and the headings that stand in it, built as a document is walked.
//!
//! White space is held back until something visible follows it: the text never ends with any, and cutting it
//! is exact.

use crate::response::{Hints, Response, Section};

/// Sections at most.
pub(crate) const MAX_SECTIONS: usize = 1_000;

/// Bytes of a title at most: a heading is a line and not a document.
pub(crate) const MAX_TITLE: usize = 1_024;

/// How far two parts of the text stand from each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Gap {
    /// The next part begins a line.
    Line = 1,
    /// One empty line stands between them.
    EmptyLine = 2,
}

/// A heading that has not ended yet.
#[derive(Debug)]
struct Open {
    level: u32,
    /// Where its own text begins, and its section, once something of it is written.
    begun: Option<(usize, usize)>,
}

/// Builds the text.
#[derive(Debug, Default)]
pub(crate) struct Output {
    text: String,
    limit: usize,
    /// Line breaks before what comes next: 0, 1 or 2.
    breaks: u8,
    /// White space before what comes next on the same line.
    spaces: String,
    /// Starts of list items that hold nothing yet.
    prefixes: Vec<String>,
    /// Where the last line begins.
    line: usize,
    /// Inside a row, where line breaks are spaces: whether it has a cell.
    row: Option<bool>,
    open: Vec<Open>,
    sections: Vec<Section>,
    ends_early: bool,
    notes: Vec<&'static str>,
}

impl Output {
    /// An empty text that will be cut at so many bytes.
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            limit,
            ..Self::default()
        }
    }

    /// Whether nothing that is still to come changes the text.
    pub(crate) fn is_full(&self) -> bool {
        self.text.len() > self.limit
    }

    /// Where the next part will begin.
    pub(crate) fn next_start(&self) -> usize {
        match self.text.len() {
            0 => 0,
            length => length.saturating_add(usize::from(self.breaks)),
        }
    }

    /// Text in which runs of white space are one space.
    pub(crate) fn flowing(&mut self, text: &str) {
        self.each_part(text, |output, c| match c {
            ' ' | '\t' | '\n' | '\r' | '\u{c}' => output.space(),
            _ => output.visible(c),
        });
    }

    /// Text whose white space is kept as in a preformatted part.
    pub(crate) fn preformatted(&mut self, text: &str) {
        let mut after_return = false;
        self.each_part(text, |output, c| {
            match c {
                '\n' if after_return => {}
                '\n' | '\r' => output.line_break(),
                ' ' | '\t' if output.row.is_some() => output.space(),
                ' ' | '\t' => output.spaces.push(c),
                '\u{c}' => {}
                _ => output.visible(c),
            }
            after_return = c == '\r';
        });
    }

    fn each_part(&mut self, text: &str, mut put: impl FnMut(&mut Self, char)) {
        for c in text.chars() {
            match c {
                '\u{a0}' => put(self, ' '),
                '\u{ad}' => {}
                '\n' | '\t' | '\r' | '\u{c}' => put(self, c),
                _ if c.is_control() => {}
                _ => put(self, c),
            }
        }
    }

    /// A space, unless one is there or the line begins.
    fn space(&mut self) {
        let begins = self.text.is_empty() || self.breaks > 0 || !self.prefixes.is_empty();
        if !begins && self.spaces.is_empty() {
            self.spaces.push(' ');
        }
    }

    /// One line break; two are an empty line, more are not kept.
    pub(crate) fn line_break(&mut self) {
        if self.row.is_some() {
            return self.space();
        }
        self.spaces.clear();
        self.breaks = self.breaks.saturating_add(1).min(2);
    }

    /// What follows stands apart from what was written.
    pub(crate) fn gap(&mut self, gap: Gap) {
        if self.row.is_some() {
            return self.space();
        }
        self.spaces.clear();
        let breaks = match gap {
            Gap::Line => 1,
            Gap::EmptyLine => 2,
        };
        self.breaks = self.breaks.max(breaks);
    }

    /// Begins a row, in which line breaks are spaces.
    pub(crate) fn begin_row(&mut self) {
        self.gap(Gap::Line);
        self.row = Some(false);
    }

    /// Begins a cell of a row.
    pub(crate) fn begin_cell(&mut self) {
        if self.row.replace(true) == Some(true) {
            self.flowing(" | ");
        }
    }

    /// Ends a row.
    pub(crate) fn end_row(&mut self) {
        self.row = None;
        self.gap(Gap::Line);
    }

    /// Begins a list item: its first line starts with `prefix`, which is not written if nothing follows.
    pub(crate) fn begin_item(&mut self, prefix: String) {
        self.gap(Gap::Line);
        self.prefixes.push(prefix);
    }

    /// Ends a list item.
    pub(crate) fn end_item(&mut self) {
        self.prefixes.pop();
        self.gap(Gap::Line);
    }

    /// Begins a heading on a line of its own.
    pub(crate) fn begin_heading(&mut self, level: u32) {
        self.gap(Gap::EmptyLine);
        self.open.push(Open { level, begun: None });
    }

    /// Ends the heading that was begun last; one without text is no section.
    pub(crate) fn end_heading(&mut self) {
        if let Some(open) = self.open.pop()
            && let Some((own, section)) = open.begun
            && let Some(section) = self.sections.get_mut(section)
        {
            let text = self.text.get(own..).unwrap_or_default();
            section.title = title(kit::cut::at_bytes(text, 2 * MAX_TITLE)).unwrap_or_default();
        }
        self.gap(Gap::EmptyLine);
    }

    /// Adds what a reader of the text has to know, once.
    pub(crate) fn note(&mut self, note: &'static str) {
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    /// Adds why the text ends before the document does.
    pub(crate) fn end_early(&mut self, note: &'static str) {
        self.note(note);
        self.ends_early = true;
    }

    /// Adds a section. Those behind the limit are left out of the answer.
    pub(crate) fn section(&mut self, section: Section) {
        self.sections.push(section);
    }

    /// Makes sections of the headings whose first character is about to be written.
    fn begin_sections(&mut self) {
        for heading in self.open.iter_mut().filter(|open| open.begun.is_none()) {
            heading.begun = Some((self.text.len(), self.sections.len()));
            self.sections.push(Section {
                level: heading.level,
                title: String::new(),
                start: self.line,
                page: None,
            });
        }
    }

    fn visible(&mut self, c: char) {
        if self.text.is_empty() {
            self.breaks = 0;
        }
        for _ in 0..std::mem::take(&mut self.breaks) {
            self.text.push('\n');
            self.line = self.text.len();
        }
        for prefix in self.prefixes.drain(..) {
            self.text.push_str(&prefix);
        }
        if !self.spaces.is_empty() {
            self.text.push_str(&self.spaces);
            self.spaces.clear();
        }
        if self.open.last().is_some_and(|open| open.begun.is_none()) {
            self.begin_sections();
        }
        self.text.push(c);
    }

    /// The answer. Without a `title` that of the first heading of level 1 is taken, which may stand behind the limit.
    pub(crate) fn finish(mut self, title: Option<String>, pages: Option<u32>) -> Response {
        // A parser may leave a heading open.
        while !self.open.is_empty() {
            self.end_heading();
        }
        let is_first = |section: &&Section| section.level == 1 && section.page.is_none();
        let heading = self.sections.iter().find(is_first);
        let title = title.or_else(|| Some(heading?.title.clone()));
        let is_cut = self.text.len() > self.limit;
        self.text
            .truncate(self.text.floor_char_boundary(self.limit));
        let bytes = self.text.len();
        self.sections.retain(|section| section.start < bytes);
        let has_more = self.sections.len() > MAX_SECTIONS;
        self.sections.truncate(MAX_SECTIONS);
        Response {
            text: self.text,
            hints: Hints {
                title,
                sections: self.sections,
                pages,
                notes: self.notes,
            },
            bytes,
            truncated: is_cut || has_more || self.ends_early,
        }
    }
}

/// A text on one line, normalised, within the bound of a title; none if nothing is left.
pub(crate) fn title(text: &str) -> Option<String> {
    let mut output = Output::default();
    output.flowing(text);
    let title = kit::cut::at_bytes(&output.text, MAX_TITLE).trim_end();
    (!title.is_empty()).then(|| title.to_owned())
}
