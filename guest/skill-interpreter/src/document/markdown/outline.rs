//! The outline of a document: its sections and the blocks in them, in the order of the source.
//!
//! CommonMark with tables, read as the parser's events with byte offsets, hence lines. What is kept is what
//! the rules for Markdown look at: headings, the text of paragraphs, items and rows, fences and comments.
//! Indented code and other HTML only separate. Nothing here recurses; containers are a stack.

use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use super::lines::Lines;

/// Characters of a heading that are kept as its section's title: it is copied to what stands under it.
const TITLE_CHARACTERS: usize = 200;

/// A document's sections and blocks.
#[derive(Debug)]
pub(crate) struct Outline {
    /// The first one is what stands before the first heading; a section's parent comes before it.
    pub(crate) sections: Vec<Section>,
    pub(crate) blocks: Vec<Block>,
    pub(crate) items: Vec<Item>,
}

/// A heading and what it is the heading of.
#[derive(Debug)]
pub(crate) struct Section {
    /// 1 to 6; 0 for what stands before the first heading.
    pub(crate) level: u8,
    /// The heading's text without markup.
    pub(crate) title: String,
    pub(crate) line: u32,
    /// The section that this one is part of.
    pub(crate) parent: Option<usize>,
}

/// An item of a list.
#[derive(Debug)]
pub(crate) struct Item {
    /// Whether its list is numbered.
    pub(crate) numbered: bool,
    /// The item whose list it is in.
    pub(crate) parent: Option<usize>,
}

/// A leaf of the document.
#[derive(Debug)]
pub(crate) struct Block {
    pub(crate) kind: Kind,
    /// The line that it begins on.
    pub(crate) line: u32,
    /// Its innermost section.
    pub(crate) section: usize,
    /// The innermost item around it.
    pub(crate) item: Option<usize>,
}

/// What a block is.
#[derive(Debug)]
pub(crate) enum Kind {
    /// The heading that begins its section.
    Heading(Vec<Span>),
    /// A paragraph, or the text of an item without one.
    Text(Vec<Span>),
    /// A table's row, cell by cell.
    Row(Vec<Vec<Span>>),
    /// A fenced block of code.
    Fence(Fence),
    /// HTML that is exactly one comment: what stands between `<!--` and `-->`.
    Comment(String),
    /// Anything else: indented code, other HTML, a rule.
    Other,
}

/// A fenced block of code.
#[derive(Debug)]
pub(crate) struct Fence {
    /// The info string.
    pub(crate) info: String,
    /// Its lines as they are within the fence; the first stands on the line after the block's first.
    pub(crate) text: String,
}

/// A piece of inline text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Span {
    Text(String),
    /// A code span, bold or not.
    Code(String),
    /// Bold text.
    Bold(String),
    /// The end of a line, of the source or of the text.
    Break,
}

impl Span {
    /// What a reader sees.
    pub(crate) fn text(&self) -> &str {
        match self {
            Self::Text(text) | Self::Code(text) | Self::Bold(text) => text,
            Self::Break => " ",
        }
    }
}

/// The text of spans, on one line, without blanks around it.
pub(crate) fn plain(spans: &[Span]) -> String {
    let text: String = spans.iter().map(Span::text).collect();
    text.trim().to_owned()
}

impl Outline {
    /// Of the text that begins at byte `start` of the document of these lines.
    pub(crate) fn read(text: &str, start: usize, lines: &Lines<'_>) -> Self {
        let mut reader = Reader::new();
        for (event, range) in Parser::new_ext(text, Options::ENABLE_TABLES).into_offset_iter() {
            reader.event(event, || lines.number(start.saturating_add(range.start)));
        }
        reader.outline
    }

    /// The last block that begins at a line or above it.
    pub(crate) fn block_at(&self, line: u32) -> Option<&Block> {
        let after = self.blocks.partition_point(|block| block.line <= line);
        self.blocks.get(after.checked_sub(1)?)
    }

    /// A section and those it is part of, innermost first.
    pub(crate) fn ancestors(&self, section: usize) -> impl Iterator<Item = (usize, &Section)> {
        let at = |index: usize| self.sections.get(index).map(|section| (index, section));
        std::iter::successors(at(section), move |(_, section)| at(section.parent?))
    }

    /// An item and those it is in, innermost first.
    pub(crate) fn items_around(&self, item: Option<usize>) -> impl Iterator<Item = (usize, &Item)> {
        let at = |index: usize| self.items.get(index).map(|item| (index, item));
        std::iter::successors(item.and_then(at), move |(_, item)| at(item.parent?))
    }
}

/// A quote or an item that has begun, and what it hides until it ends.
struct Container {
    section: usize,
    item: Option<usize>,
}

/// Where text goes.
enum Target {
    Nowhere,
    /// A paragraph or the text of an item, from this line on.
    Text(u32),
    Heading(u8, u32),
    /// A row from this line on, and its cells before the one that is read.
    Row(u32, Vec<Vec<Span>>),
    Fence(u32, Fence),
    Html(u32, String),
    /// Indented code.
    Indented(u32),
}

struct Reader {
    outline: Outline,
    section: usize,
    item: Option<usize>,
    containers: Vec<Container>,
    /// For each list around, whether it is numbered.
    lists: Vec<bool>,
    target: Target,
    spans: Vec<Span>,
    /// Bold texts within each other.
    bold: usize,
}

impl Reader {
    fn new() -> Self {
        let preamble = Section {
            level: 0,
            title: String::new(),
            line: 1,
            parent: None,
        };
        Self {
            outline: Outline {
                sections: vec![preamble],
                blocks: Vec::new(),
                items: Vec::new(),
            },
            section: 0,
            item: None,
            containers: Vec::new(),
            lists: Vec::new(),
            target: Target::Nowhere,
            spans: Vec::new(),
            bold: 0,
        }
    }

    fn event(&mut self, event: Event<'_>, line: impl Fn() -> u32) {
        match event {
            Event::Start(tag) => self.start(tag, line),
            Event::End(tag) => self.end(tag),
            Event::Text(text) => self.text(&text, line),
            Event::Code(text) => self.span(Span::Code(text.into_string()), line),
            Event::SoftBreak | Event::HardBreak => self.span(Span::Break, line),
            Event::Html(html) => {
                if let Target::Html(_, text) = &mut self.target {
                    text.push_str(&html);
                }
            }
            Event::Rule => {
                self.finish();
                self.block(Kind::Other, line());
            }
            // A single tag; the others need extensions that are off.
            _ => {}
        }
    }

    fn start(&mut self, tag: Tag<'_>, line: impl Fn() -> u32) {
        match tag {
            Tag::Paragraph => self.begin(Target::Text(line())),
            Tag::Heading { level, .. } => self.begin(Target::Heading(number(level), line())),
            Tag::CodeBlock(CodeBlockKind::Fenced(info)) => {
                let fence = Fence {
                    info: info.into_string(),
                    text: String::new(),
                };
                self.begin(Target::Fence(line(), fence));
            }
            Tag::CodeBlock(CodeBlockKind::Indented) => self.begin(Target::Indented(line())),
            Tag::HtmlBlock => self.begin(Target::Html(line(), String::new())),
            Tag::TableHead | Tag::TableRow => self.begin(Target::Row(line(), Vec::new())),
            Tag::BlockQuote(_) => {
                self.finish();
                self.enter();
            }
            Tag::List(first) => {
                self.finish();
                self.lists.push(first.is_some());
            }
            Tag::Item => {
                self.finish();
                self.enter();
                self.outline.items.push(Item {
                    numbered: self.lists.last().copied().unwrap_or_default(),
                    parent: self.item,
                });
                self.item = self.outline.items.len().checked_sub(1);
            }
            Tag::Strong => self.bold = self.bold.saturating_add(1),
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::TableCell => {
                let spans = std::mem::take(&mut self.spans);
                if let Target::Row(_, cells) = &mut self.target {
                    cells.push(spans);
                }
            }
            TagEnd::Strong => self.bold = self.bold.saturating_sub(1),
            TagEnd::BlockQuote(_) | TagEnd::Item => {
                self.finish();
                if let Some(outer) = self.containers.pop() {
                    self.section = outer.section;
                    self.item = outer.item;
                }
            }
            TagEnd::List(_) => {
                self.finish();
                self.lists.pop();
            }
            TagEnd::Paragraph
            | TagEnd::Heading(_)
            | TagEnd::CodeBlock
            | TagEnd::HtmlBlock
            | TagEnd::TableHead
            | TagEnd::TableRow => self.finish(),
            _ => {}
        }
    }

    /// A heading within a quote or an item says nothing about what follows it.
    fn enter(&mut self) {
        self.containers.push(Container {
            section: self.section,
            item: self.item,
        });
    }

    fn begin(&mut self, target: Target) {
        self.finish();
        self.target = target;
    }

    fn text(&mut self, text: &str, line: impl Fn() -> u32) {
        match &mut self.target {
            Target::Fence(_, fence) => fence.text.push_str(text),
            Target::Indented(_) | Target::Html(..) => {}
            _ if self.bold > 0 => match self.spans.last_mut() {
                Some(Span::Bold(before)) => before.push_str(text),
                _ => self.span(Span::Bold(text.to_owned()), line),
            },
            _ => match self.spans.last_mut() {
                Some(Span::Text(before)) => before.push_str(text),
                _ => self.span(Span::Text(text.to_owned()), line),
            },
        }
    }

    fn span(&mut self, span: Span, line: impl Fn() -> u32) {
        if matches!(self.target, Target::Nowhere) {
            // The text of an item whose list is tight has no paragraph around it.
            self.target = Target::Text(line());
        }
        self.spans.push(span);
    }

    /// Ends the block that is being read.
    fn finish(&mut self) {
        let spans = std::mem::take(&mut self.spans);
        match std::mem::replace(&mut self.target, Target::Nowhere) {
            Target::Nowhere => {}
            Target::Text(line) => self.block(Kind::Text(spans), line),
            Target::Heading(level, line) => self.heading(level, line, spans),
            Target::Row(line, cells) => self.block(Kind::Row(cells), line),
            Target::Fence(line, fence) => self.block(Kind::Fence(fence), line),
            Target::Html(line, html) => {
                let kind =
                    comment(&html).map_or(Kind::Other, |text| Kind::Comment(text.to_owned()));
                self.block(kind, line);
            }
            Target::Indented(line) => self.block(Kind::Other, line),
        }
    }

    fn heading(&mut self, level: u8, line: u32, spans: Vec<Span>) {
        let outer = self.outline.ancestors(self.section);
        let parent = outer
            .filter(|(_, section)| section.level < level)
            .map(|(index, _)| index)
            .next();
        self.outline.sections.push(Section {
            level,
            title: plain(&spans).chars().take(TITLE_CHARACTERS).collect(),
            line,
            parent,
        });
        self.section = self.outline.sections.len().saturating_sub(1);
        self.block(Kind::Heading(spans), line);
    }

    fn block(&mut self, kind: Kind, line: u32) {
        self.outline.blocks.push(Block {
            kind,
            line,
            section: self.section,
            item: self.item,
        });
    }
}

/// The text of HTML that is one comment and nothing else.
fn comment(html: &str) -> Option<&str> {
    let (text, after) = html.trim().strip_prefix("<!--")?.split_once("-->")?;
    after.is_empty().then_some(text)
}

fn number(level: HeadingLevel) -> u8 {
    match level {
        HeadingLevel::H1 => 1,
        HeadingLevel::H2 => 2,
        HeadingLevel::H3 => 3,
        HeadingLevel::H4 => 4,
        HeadingLevel::H5 => 5,
        HeadingLevel::H6 => 6,
    }
}
