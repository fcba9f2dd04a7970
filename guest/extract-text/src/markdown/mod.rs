//! Markdown (TS-137).

mod raw;

use kit::SkillError;
use kit::charset::{Charset, End, Hint};
use kit::front_matter;
use kit::yaml::{self, Value};
use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use crate::error::too_large;
use crate::output::{Gap, Output, title};
use crate::response::Response;

/// Characters that may be markup at most: the parser keeps about a hundred bytes for each.
const MAX_MARKS: usize = 1_000_000;

/// Quotes and items that one line begins at most: the parser looks at all that are open for each line.
const MAX_CONTAINERS: usize = 500;

/// The text of a document.
///
/// # Errors
/// `unsupported` for an unknown charset, `too_large` for too much markup.
pub(crate) fn extract(
    input: &[u8],
    charset: Option<&str>,
    max_bytes: usize,
) -> Result<Response, SkillError> {
    let text = Charset::detect(input, End::Whole, charset, Hint::None)?
        .decode(input, End::Whole)
        .text;
    if marks(&text) > MAX_MARKS {
        return Err(too_large(
            "nodes",
            "the Markdown has more than a million characters of markup",
        ));
    }
    if text.lines().any(|line| containers(line) > MAX_CONTAINERS) {
        return Err(too_large(
            "depth",
            &format!(
                "a line of the Markdown begins with more than {MAX_CONTAINERS} quotes or items"
            ),
        ));
    }
    let document = front_matter::split(&text);
    let title = document
        .front_matter
        .and_then(|range| text.get(range))
        .and_then(front_matter_title);
    let content = text.get(document.content..).unwrap_or_default();
    Ok(walk(content, title, max_bytes))
}

/// Characters that may be markup, line breaks among them; a point only where it may number an item.
fn marks(text: &str) -> usize {
    let bytes = text.as_bytes();
    let points = bytes
        .windows(2)
        .filter(|pair| matches!(pair, [b'.' | b')', b' ']));
    let marks = bytes.iter().filter(|byte| {
        matches!(
            byte,
            b'*' | b'_'
                | b'`'
                | b'['
                | b']'
                | b'!'
                | b'<'
                | b'>'
                | b'&'
                | b'\\'
                | b'|'
                | b'~'
                | b'-'
                | b'+'
                | b'#'
                | b'\n'
        )
    });
    points.count().saturating_add(marks.count())
}

/// Marks of quotes and items at the beginning of a line.
fn containers(line: &str) -> usize {
    let mut count = 0_usize;
    let mut bytes = line.bytes().peekable();
    while let Some(byte) = bytes.next() {
        let ends = bytes.peek().is_none_or(|next| matches!(next, b' ' | b'\t'));
        match byte {
            b'>' => count = count.saturating_add(1),
            b'-' | b'+' | b'*' | b'.' | b')' if ends => count = count.saturating_add(1),
            b' ' | b'\t' | b'0'..=b'9' => {}
            _ => break,
        }
    }
    count
}

/// The `title` of front matter that can be read; a date or a number is its text.
fn front_matter_title(front_matter: &str) -> Option<String> {
    let yaml = yaml::parse(front_matter, &["title"]).ok()?;
    match yaml.get("title")? {
        Value::Text(text) => title(text),
        _ => None,
    }
}

fn walk(content: &str, title: Option<String>, max_bytes: usize) -> Response {
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH;
    let mut walk = Walk {
        output: Output::new(max_bytes),
        lists: Vec::new(),
        in_code: false,
        html: None,
        cell: false,
    };
    for event in Parser::new_ext(content, options) {
        walk.event(event);
        if walk.output.is_full() && (title.is_some() || walk.output.has_title()) {
            break;
        }
    }
    walk.output.finish(title, None)
}

struct Walk {
    output: Output,
    /// The lists around, outermost first, each with the number of its next item.
    lists: Vec<Option<u64>>,
    in_code: bool,
    /// The block of raw HTML that is being read.
    html: Option<String>,
    /// Whether the row has a cell already.
    cell: bool,
}

impl Walk {
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(&tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) if self.in_code => self.output.preformatted(&text),
            Event::Text(text) => self.output.lines(&text),
            Event::Code(text) => self.output.preformatted(&text),
            Event::SoftBreak | Event::HardBreak => self.output.line_break(),
            Event::Rule => self.output.gap(Gap::EmptyLine),
            Event::Html(text) => {
                if let Some(html) = &mut self.html {
                    html.push_str(&text);
                }
            }
            // A single tag; the others need extensions that are off.
            _ => {}
        }
    }

    fn start(&mut self, tag: &Tag<'_>) {
        match tag {
            Tag::Heading { level, .. } => self.output.begin_heading(number(*level)),
            Tag::Paragraph | Tag::BlockQuote(_) | Tag::Table(_) => {
                self.output.gap(Gap::EmptyLine);
            }
            Tag::CodeBlock(_) => {
                self.output.gap(Gap::EmptyLine);
                self.in_code = true;
            }
            Tag::HtmlBlock => self.html = Some(String::new()),
            Tag::List(first) => {
                self.list_gap();
                self.lists.push(*first);
            }
            Tag::Item => {
                let prefix = self.next_prefix();
                self.output.begin_item(prefix);
            }
            Tag::TableHead | Tag::TableRow => {
                self.output.begin_row();
                self.cell = false;
            }
            Tag::TableCell if self.cell => self.output.next_cell(),
            Tag::TableCell => self.cell = true,
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Heading(_) => self.output.end_heading(),
            TagEnd::Paragraph | TagEnd::BlockQuote(_) | TagEnd::Table => {
                self.output.gap(Gap::EmptyLine);
            }
            TagEnd::CodeBlock => {
                self.output.gap(Gap::EmptyLine);
                self.in_code = false;
            }
            TagEnd::HtmlBlock => {
                self.output.gap(Gap::EmptyLine);
                if let Some(html) = self.html.take() {
                    self.output.lines(&raw::without_tags(&html));
                }
                self.output.gap(Gap::EmptyLine);
            }
            TagEnd::List(_) => {
                self.lists.pop();
                self.list_gap();
            }
            TagEnd::Item => self.output.end_item(),
            TagEnd::TableHead | TagEnd::TableRow => self.output.end_row(),
            _ => {}
        }
    }

    /// A list within a list stands close to what is around it.
    fn list_gap(&mut self) {
        let gap = if self.lists.is_empty() {
            Gap::EmptyLine
        } else {
            Gap::Line
        };
        self.output.gap(gap);
    }

    fn next_prefix(&mut self) -> String {
        match self.lists.last_mut() {
            Some(Some(number)) => {
                let prefix = format!("{number}. ");
                *number = number.saturating_add(1);
                prefix
            }
            _ => "- ".to_owned(),
        }
    }
}

fn number(level: HeadingLevel) -> u32 {
    match level {
        HeadingLevel::H1 => 1,
        HeadingLevel::H2 => 2,
        HeadingLevel::H3 => 3,
        HeadingLevel::H4 => 4,
        HeadingLevel::H5 => 5,
        HeadingLevel::H6 => 6,
    }
}
