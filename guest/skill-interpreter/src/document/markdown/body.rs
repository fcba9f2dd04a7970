//! The blocks of a document, in order, and what of them becomes a candidate for an operation.

mod fence;
mod heading;

use std::collections::BTreeSet;

use super::front::CodeFences;
use super::lines::Lines;
use super::listed::{self, Listed};
use super::outline::{Block, Kind, Outline, Span, plain};
use super::wording::{DISCLAIMERS, is_result_label};
use crate::context::Context;
use crate::diagnostic::Diagnostics;
use crate::document::Candidate;
use crate::draft::{Declaration, Draft, DraftStage, Identity, Importance, TextIdentity, WrittenAs};
use crate::failure::{Code, Failure};
use crate::http_command::verb;
use crate::identifier::slug;
use crate::limits;
use crate::shell::{self, Constants, Statements};
use heading::Headed;

/// Characters of a description; a document says more in its own text.
const DESCRIPTION_CHARACTERS: usize = 1_000;

/// Reads the blocks of a document.
pub(crate) struct Body<'a> {
    outline: &'a Outline,
    lines: &'a Lines<'a>,
    context: &'a Context,
    code_fences: CodeFences,
    /// What earlier fences set.
    constants: Constants,
    /// Every name that a fence may have set, whatever became of it.
    assigned: BTreeSet<&'a str>,
    found: Vec<Found>,
    /// The paragraph that describes what comes next, by its position.
    paragraph: Option<usize>,
    /// For each item of the document, whether its first code span was seen.
    code_seen: Vec<bool>,
    /// The request that a heading above names, until its section ends.
    headed: Option<Headed>,
}

struct Found {
    candidate: Candidate,
    section: usize,
}

impl<'a> Body<'a> {
    pub(crate) fn new(
        outline: &'a Outline,
        lines: &'a Lines<'a>,
        context: &'a Context,
        code_fences: CodeFences,
    ) -> Self {
        Self {
            outline,
            lines,
            context,
            code_fences,
            constants: Constants::default(),
            assigned: BTreeSet::new(),
            found: Vec::new(),
            paragraph: None,
            code_seen: vec![false; outline.items.len()],
            headed: None,
        }
    }

    /// The candidates, in the order of the document.
    ///
    /// # Errors
    ///
    /// `limit` for more of them than a skill may have.
    pub(crate) fn read(mut self, diagnostics: &mut Diagnostics) -> Result<Vec<Candidate>, Failure> {
        for (position, block) in self.outline.blocks.iter().enumerate() {
            match &block.kind {
                Kind::Heading(spans) => {
                    self.paragraph = None;
                    self.heading_begins(block, spans, diagnostics);
                }
                Kind::Text(spans) => self.text(position, block, spans, diagnostics),
                Kind::Row(cells) => {
                    for listed in listed::of_row(cells) {
                        self.listed(listed, block, diagnostics);
                    }
                }
                Kind::Fence(fence) => {
                    self.assigned.extend(assigned(&fence.text));
                    self.fence(position, block, fence, diagnostics);
                }
                Kind::Comment(text) if text.trim_start().starts_with("skill:") => {
                    let message =
                        "a comment annotates nothing; write skill:… behind the fence's language";
                    diagnostics.warn(Code::AnnotationInvalid, block.line, message);
                }
                Kind::Comment(_) | Kind::Other => {}
            }
            if self.is_full() {
                return Err(Failure::exceeded("operations", limits::OPERATIONS).at_line(block.line));
            }
        }
        self.headed_ends(diagnostics);
        Ok(self
            .found
            .into_iter()
            .map(|found| found.candidate)
            .collect())
    }

    fn text(
        &mut self,
        position: usize,
        block: &Block,
        spans: &[Span],
        diagnostics: &mut Diagnostics,
    ) {
        for span in spans {
            if let Span::Code(code) = span
                && let Some(name) = header_set(code)
                && !self.assigned.contains(name)
                && !self.constants.values.contains_key(name)
                && !self.constants.secrets.contains(name)
                && !is_disclaimed(spans)
            {
                // An assignment has no drafts.
                let (around, kept) = (self.context, &mut self.constants);
                let _ = shell::lower(
                    code,
                    block.line,
                    Statements::Fence,
                    kept,
                    around,
                    diagnostics,
                );
            }
        }
        let seen = block.item.and_then(|item| self.code_seen.get_mut(item));
        if let Some(seen) = seen
            && !*seen
        {
            *seen = listed::first_code(spans).is_some();
            if let Some(listed) = listed::of_text(spans) {
                self.listed(listed, block, diagnostics);
                return;
            }
        } else if block.item.is_none()
            && let Some(listed) = listed::of_paragraph(spans)
        {
            self.listed(listed, block, diagnostics);
            return;
        }
        if let Some(headed) = &mut self.headed {
            headed.describe(spans);
        }
        self.paragraph = Some(position);
    }

    /// Whether there are as many candidates as are read: one block may hold very many.
    fn is_full(&self) -> bool {
        self.found.len() > super::CANDIDATES
    }

    /// Adds the request of an item, a row or a paragraph.
    fn listed(&mut self, listed: Listed, block: &Block, diagnostics: &mut Diagnostics) {
        let request = listed.request.clone();
        self.request(&request, listed, block, diagnostics);
    }

    /// Adds a request whose text is `text`, called after what is listed.
    fn request(
        &mut self,
        text: &str,
        listed: Listed,
        block: &Block,
        diagnostics: &mut Diagnostics,
    ) {
        if self.is_full() {
            return;
        }
        for request in verb::parse(text, block.line, self.context, diagnostics) {
            let identity = TextIdentity {
                annotated: slug(&listed.request),
                importance: Importance::Listed,
                ..TextIdentity::default()
            };
            let mut declaration = Declaration::new(Identity::Text(identity));
            declaration.title.clone_from(&listed.request);
            declaration.description = cut(&listed.description);
            self.add(as_listed(request.draft), declaration, block);
        }
    }

    fn add(&mut self, draft: Draft, declaration: Declaration, block: &Block) {
        self.paragraph = None;
        self.found.push(Found {
            candidate: Candidate { draft, declaration },
            section: block.section,
        });
    }

    /// The nearest heading of level 2 to 6.
    fn heading(&self, section: usize) -> Option<String> {
        self.outline
            .ancestors(section)
            .find(|(_, section)| section.level >= 2)
            .map(|(_, section)| section.title.clone())
    }

    /// The paragraph before an operation, in its section.
    fn description(&self, section: usize) -> String {
        let block = self
            .paragraph
            .and_then(|position| self.outline.blocks.get(position));
        match block {
            Some(Block {
                kind: Kind::Text(spans),
                section: its_section,
                ..
            }) if *its_section == section => {
                let text = plain(spans);
                if is_result_label(&text) {
                    String::new()
                } else {
                    cut(&text)
                }
            }
            _ => String::new(),
        }
    }
}

/// The name of a constant that is a header, where code is nothing else: `AUTH="Authorization: Bearer $KEY"`.
fn header_set(code: &str) -> Option<&str> {
    let (name, rest) = code.split_once("=\"")?;
    let is_name = |byte: u8| byte.is_ascii_uppercase() || byte == b'_';
    let value = rest.strip_suffix('"')?;
    let (header, _) = value.split_once(": ")?;
    let header = header.to_ascii_lowercase();
    let is_known = header.starts_with("x-")
        || matches!(header.as_str(), "authorization" | "api-key" | "apikey");
    (!name.is_empty()
        && name.bytes().all(is_name)
        && is_known
        && !value.contains(['"', '\\', '`', '(', '\n']))
    .then_some(name)
}

/// Whether text tells of what is not, or no longer, to be done.
fn is_disclaimed(spans: &[Span]) -> bool {
    let is_disclaimer = |word: &str| {
        matches!(word, "instead" | "don" | "avoid" | "bad" | "unlike")
            || DISCLAIMERS.contains(&word)
    };
    plain(spans)
        .to_ascii_lowercase()
        .split(|c: char| !c.is_alphanumeric())
        .any(is_disclaimer)
}

/// The words before each `=` of a text.
fn assigned(text: &str) -> impl Iterator<Item = &str> {
    text.match_indices('=').filter_map(|(place, _)| {
        let before = text.get(..place)?.trim_end_matches('+');
        let start = before
            .bytes()
            .rposition(|byte| !(byte.is_ascii_alphanumeric() || byte == b'_'))
            .map_or(0, |last| last + 1);
        before.get(start..).filter(|name| !name.is_empty())
    })
}

/// The confidence of what is listed.
fn as_listed(mut draft: Draft) -> Draft {
    if let Ok(stages) = &mut draft.plan {
        for stage in stages {
            if let DraftStage::Http(http) = stage {
                http.written_as = WrittenAs::Listed;
            }
        }
    }
    draft
}

fn cut(text: &str) -> String {
    text.chars().take(DESCRIPTION_CHARACTERS).collect()
}
