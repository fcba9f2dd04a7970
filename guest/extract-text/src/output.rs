//! The normalised text (TS-133) and the headings that stand in it (TS-134), built as a document is walked.
//!
//! White space is held back until something visible follows it: the text never ends with any, and cutting it
//! is exact. What is kept is bounded by the limit of the request plus one title.

use crate::response::{Hints, Response, Section};

/// TS-134: sections at most.
pub(crate) const MAX_SECTIONS: usize = 1_000;

/// Bytes of a title at most: a heading is a line and not a document.
pub(crate) const MAX_TITLE: usize = 1_024;

/// What is kept beyond the limit, so that the title of a heading that begins before it is complete.
const SLACK: usize = 2 * MAX_TITLE;

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
    /// Where its own text begins, and its section if one is kept, once something of it is written.
    begun: Option<(usize, Option<usize>)>,
}

/// Builds the text.
#[derive(Debug)]
pub(crate) struct Output {
    text: String,
    limit: usize,
    /// Line breaks before what comes next: 0, 1 or 2.
    breaks: u8,
    /// White space before what comes next on the same line.
    spaces: String,
    /// Starts of list items that hold nothing yet.
    prefixes: Vec<String>,
    line: usize,
    /// Whether line breaks are spaces: inside the cells of a row.
    in_row: bool,
    open: Vec<Open>,
    sections: Vec<Section>,
    cut: bool,
    title: Title,
    notes: Vec<&'static str>,
}

/// The first heading of level 1, which may stand beyond the limit.
#[derive(Debug)]
enum Title {
    Missing,
    Reading {
        depth: usize,
        text: Box<Output>,
    },
    Found(String),
    /// This output is itself the reader of a title.
    Unwanted,
}

impl Output {
    /// An empty text that will be cut at so many bytes.
    pub(crate) fn new(limit: usize) -> Self {
        Self::with_title(limit, Title::Missing)
    }

    fn with_title(limit: usize, title: Title) -> Self {
        Self {
            text: String::new(),
            limit,
            breaks: 0,
            spaces: String::new(),
            prefixes: Vec::new(),
            line: 0,
            in_row: false,
            open: Vec::new(),
            sections: Vec::new(),
            cut: false,
            title,
            notes: Vec::new(),
        }
    }

    /// Whether nothing that is still to come changes the text.
    pub(crate) fn is_full(&self) -> bool {
        self.text.len() > self.limit.saturating_add(SLACK)
    }

    /// Whether a heading of level 1 was read.
    pub(crate) fn has_title(&self) -> bool {
        matches!(self.title, Title::Found(_))
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

    /// Text whose line breaks count and whose other white space is one space.
    pub(crate) fn lines(&mut self, text: &str) {
        let mut after_return = false;
        self.each_part(text, |output, c| {
            match c {
                '\n' if after_return => {}
                '\n' | '\r' => output.line_break(),
                ' ' | '\t' => output.space(),
                '\u{c}' => {}
                _ => output.visible(c),
            }
            after_return = c == '\r';
        });
    }

    /// Text whose white space is kept (TS-133: a preformatted part).
    pub(crate) fn preformatted(&mut self, text: &str) {
        let mut after_return = false;
        self.each_part(text, |output, c| {
            match c {
                '\n' if after_return => {}
                '\n' | '\r' => output.line_break(),
                ' ' | '\t' if output.in_row => output.space(),
                ' ' | '\t' => output.spaces.push(c),
                '\u{c}' => {}
                _ => output.visible(c),
            }
            after_return = c == '\r';
        });
    }

    fn each_part(&mut self, text: &str, mut put: impl FnMut(&mut Self, char)) {
        // A title is read by the same rules, whether or not the text is full.
        if let Title::Reading { text: title, .. } = &mut self.title {
            title.flowing(text);
        }
        if self.is_full() {
            return;
        }
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
        if self.in_row {
            return self.space();
        }
        self.spaces.clear();
        self.breaks = self.breaks.saturating_add(1).min(2);
        if let Title::Reading { text, .. } = &mut self.title {
            text.space();
        }
    }

    /// What follows stands apart from what was written.
    pub(crate) fn gap(&mut self, gap: Gap) {
        if let Title::Reading { text, .. } = &mut self.title {
            text.space();
        }
        if self.in_row {
            return self.space();
        }
        self.spaces.clear();
        let breaks = match gap {
            Gap::Line => 1,
            Gap::EmptyLine => 2,
        };
        self.breaks = self.breaks.max(breaks);
    }

    /// Between two cells of a row (TS-135).
    pub(crate) fn next_cell(&mut self) {
        self.flowing(" | ");
    }

    /// Begins a row, in which line breaks are spaces.
    pub(crate) fn begin_row(&mut self) {
        self.gap(Gap::Line);
        self.in_row = true;
    }

    /// Ends a row.
    pub(crate) fn end_row(&mut self) {
        self.in_row = false;
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
        match &mut self.title {
            Title::Missing if level == 1 => {
                let text = Box::new(Self::with_title(MAX_TITLE, Title::Unwanted));
                self.title = Title::Reading { depth: 1, text };
            }
            Title::Reading { depth, .. } => *depth = depth.saturating_add(1),
            _ => {}
        }
        self.open.push(Open { level, begun: None });
    }

    /// Ends the heading that was begun last; one without text is no section.
    pub(crate) fn end_heading(&mut self) {
        self.end_title();
        if let Some(open) = self.open.pop()
            && let Some((own, Some(section))) = open.begun
            && let Some(section) = self.sections.get_mut(section)
        {
            let text = self.text.get(own..).unwrap_or_default();
            section.title = title(kit::cut::at_bytes(text, SLACK)).unwrap_or_default();
        }
        self.gap(Gap::EmptyLine);
    }

    fn end_title(&mut self) {
        let Title::Reading { depth, .. } = &mut self.title else {
            return;
        };
        *depth = depth.saturating_sub(1);
        if *depth > 0 {
            return;
        }
        if let Title::Reading { text, .. } = std::mem::replace(&mut self.title, Title::Missing) {
            let title = text.into_title();
            if !title.is_empty() {
                self.title = Title::Found(title);
            }
        }
    }

    /// Adds what a reader of the text has to know, once.
    pub(crate) fn note(&mut self, note: &'static str) {
        if !self.is_full() && !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    /// Adds why the text ends before the document does.
    pub(crate) fn end_early(&mut self, note: &'static str) {
        self.note(note);
        self.cut = true;
    }

    /// Adds a section; those behind the limit (TS-134) or beyond their number are left out. Answers its index.
    pub(crate) fn section(&mut self, section: Section) -> Option<usize> {
        if section.start >= self.limit {
            return None;
        }
        if self.sections.len() >= MAX_SECTIONS {
            // TS-09
            self.cut = true;
            return None;
        }
        self.sections.push(section);
        self.sections.len().checked_sub(1)
    }

    /// Makes sections of the headings whose first character is about to be written.
    fn begin_sections(&mut self) {
        let mut open = std::mem::take(&mut self.open);
        for heading in open
            .iter_mut()
            .skip_while(|heading| heading.begun.is_some())
        {
            let section = self.section(Section {
                level: heading.level,
                title: String::new(),
                start: self.line,
                page: None,
            });
            heading.begun = Some((self.text.len(), section));
        }
        self.open = open;
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
        if self
            .open
            .last()
            .is_some_and(|heading| heading.begun.is_none())
        {
            self.begin_sections();
        }
        self.text.push(c);
    }

    /// The text on one line, within the bound of a title.
    fn into_title(self) -> String {
        let mut title = self.text;
        title.truncate(title.floor_char_boundary(MAX_TITLE));
        title.truncate(title.trim_end().len());
        title
    }

    /// The answer; `title` goes before the first heading of level 1.
    pub(crate) fn finish(mut self, title: Option<String>, pages: Option<u32>) -> Response {
        // The walk may have ended within a heading, because the text was full.
        while !self.open.is_empty() {
            self.end_heading();
        }
        let truncated = self.text.len() > self.limit;
        self.text
            .truncate(self.text.floor_char_boundary(self.limit));
        let bytes = self.text.len();
        // TS-134
        self.sections.retain(|section| section.start < bytes);
        let title = title.or(match self.title {
            Title::Found(title) => Some(title),
            _ => None,
        });
        Response {
            text: self.text,
            hints: Hints {
                title,
                sections: self.sections,
                pages,
                notes: self.notes,
            },
            bytes,
            truncated: truncated || self.cut,
        }
    }
}

/// A text on one line, normalised, within the bound of a title; none if nothing is left.
pub(crate) fn title(text: &str) -> Option<String> {
    let mut output = Output::with_title(MAX_TITLE, Title::Unwanted);
    output.flowing(text);
    Some(output.into_title()).filter(|title| !title.is_empty())
}
