//! Markdown, with the tables and the strikethrough of GitHub.

use kit::SkillError;
use kit::charset::{Charset, End, Hint};
use kit::front_matter;
use kit::yaml;
use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use crate::html;
use crate::output::{Gap, Output, title};
use crate::response::Response;

/// Returns the text of a document.
///
/// # Errors
/// `unsupported` for an unknown charset.
pub(crate) fn extract(
    input: &[u8],
    charset: Option<&str>,
    max_bytes: usize,
) -> Result<Response, SkillError> {
    let text = Charset::detect(input, End::Whole, charset, Hint::None)?
        .decode(input, End::Whole)
        .text;
    let document = front_matter::split(&text);
    let title = document
        .front_matter
        .and_then(|range| text.get(range))
        .and_then(front_matter_title);
    let content = text.get(document.content..).unwrap_or_default();
    Ok(walk(content, title, max_bytes))
}

/// The `title` of front matter that can be read; a date or a number is its text.
fn front_matter_title(front_matter: &str) -> Option<String> {
    let yaml = yaml::read_yaml(front_matter, 2).ok()?;
    title(yaml.root()?.get("title")?.scalar()?)
}

fn walk(content: &str, title: Option<String>, max_bytes: usize) -> Response {
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH;
    let mut walk = Walk {
        output: Output::new(max_bytes),
        lists: Vec::new(),
        in_code: false,
        html: None,
    };
    for event in Parser::new_ext(content, options) {
        walk.event(event);
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
}

impl Walk {
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(&tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) if self.in_code => self.output.preformatted(&text),
            Event::Text(text) => self.output.flowing(&text),
            Event::Code(text) => self.output.preformatted(&text),
            Event::SoftBreak | Event::HardBreak => self.output.line_break(),
            Event::Rule => self.output.gap(Gap::EmptyLine),
            Event::Html(text) => {
                if let Some(html) = &mut self.html {
                    html.push_str(&text);
                }
            }
            Event::InlineHtml(tag) if tag.starts_with("<br") => self.output.line_break(),
            // Another tag; the other events need extensions that are off.
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
            Tag::TableHead | Tag::TableRow => self.output.begin_row(),
            Tag::TableCell => self.output.begin_cell(),
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
                    html::write(&html, &mut self.output);
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
