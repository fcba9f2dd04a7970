//! The blocks of a document, in order, and what of them becomes a candidate for an operation (K-95 to K-98, K-105 to K-113).

mod fence;

use serde_json::json;

use super::annotations::Annotations;
use super::front::CodeFences;
use super::labels::{Group, Groups};
use super::lines::Lines;
use super::listed::{self, Listed};
use super::outline::{Block, Kind, Outline, Span, plain};
use super::wording::is_result_label;
use crate::context::Context;
use crate::diagnostic::Diagnostics;
use crate::document::{Candidate, structured, tree};
use crate::draft::{Declaration, Draft, DraftStage, Identity, Importance, TextIdentity, WrittenAs};
use crate::failure::Failure;
use crate::http_command::verb;
use crate::identifier::{slug, upper_snake};
use crate::limits;
use crate::shell::Constants;

/// Characters of a description; a document says more in its own text.
const DESCRIPTION_CHARACTERS: usize = 1_000;

/// Reads the blocks of a document.
pub(crate) struct Body<'a> {
    outline: &'a Outline,
    lines: &'a Lines<'a>,
    context: &'a Context,
    annotations: Annotations,
    code_fences: CodeFences,
    groups: Groups,
    /// K-120: what earlier fences set.
    constants: Constants,
    found: Vec<Found>,
    /// The paragraph that describes what comes next, by its position.
    paragraph: Option<usize>,
    /// For each item of the document, whether its first code span was seen.
    code_seen: Vec<bool>,
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
        annotations: Annotations,
        code_fences: CodeFences,
    ) -> Self {
        Self {
            outline,
            lines,
            context,
            annotations,
            code_fences,
            groups: Groups::read(outline),
            constants: Constants::default(),
            found: Vec::new(),
            paragraph: None,
            code_seen: vec![false; outline.items.len()],
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
                Kind::Heading(_) => self.paragraph = None,
                Kind::Text(spans) => self.text(position, block, spans, diagnostics),
                Kind::Row(cells) => {
                    for listed in listed::of_row(cells) {
                        self.listed(listed, block, diagnostics);
                    }
                }
                Kind::Fence(_) if self.groups.has(position) => {}
                Kind::Fence(fence) => self.fence(position, block, fence, diagnostics),
                Kind::Comment(_) | Kind::Other => {}
            }
            if self.is_full() {
                return Err(limits::exceeded("operations", limits::OPERATIONS).at_line(block.line));
            }
        }
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
        if self.groups.has(position) {
            for group in self.groups.at(position).to_vec() {
                self.group(&group, block, diagnostics);
            }
            return;
        }
        let seen = block.item.and_then(|item| self.code_seen.get_mut(item));
        if let Some(seen) = seen
            && !*seen
        {
            *seen = listed::first_code(spans).is_some();
            if let Some(listed) = listed::of_item(spans) {
                self.listed(listed, block, diagnostics);
                return;
            }
        }
        self.paragraph = Some(position);
    }

    /// Whether there are as many candidates as are read: one block may hold very many.
    fn is_full(&self) -> bool {
        self.found.len() > super::CANDIDATES
    }

    /// K-97
    fn listed(&mut self, listed: Listed, block: &Block, diagnostics: &mut Diagnostics) {
        if self.is_full() {
            return;
        }
        let requests = verb::parse(&listed.request, block.line, self.context, diagnostics);
        for request in requests {
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

    /// K-98
    fn group(&mut self, group: &Group, block: &Block, diagnostics: &mut Diagnostics) {
        if self.is_full() {
            return;
        }
        let heading = self.heading(block.section);
        let id = self.context.skill_id.as_deref().unwrap_or_default();
        let default_secret = upper_snake(&format!("{id}-api-key"));
        let operations = json!({"operation": group.operation(&default_secret)}).to_string();
        let candidates = tree::read_json(&operations, group.line)
            .ok()
            .and_then(|tree| {
                let root = tree.root()?;
                Some(structured::operations(root, self.context, diagnostics))
            })
            .unwrap_or_else(|| Ok(Vec::new()));
        let candidates = candidates.unwrap_or_else(|failure| {
            // The rest of the document still loads.
            let draft = Draft {
                line: group.line,
                comment: None,
                text: String::new(),
                plan: Err(failure.at_line(group.line)),
            };
            let declaration = Declaration::new(Identity::Nameless);
            vec![Candidate { draft, declaration }]
        });
        let description = self.description(block.section);
        for candidate in candidates {
            let mut declaration = candidate.declaration;
            declaration.identity = Identity::Text(TextIdentity {
                heading: heading.clone().or_else(|| self.title(block.section)),
                importance: Importance::Listed,
                ..TextIdentity::default()
            });
            declaration.title = self.title(block.section).unwrap_or_default();
            if declaration.description.is_empty() {
                declaration.description.clone_from(&description);
            }
            let mut draft = as_listed(candidate.draft);
            draft.line = group.line;
            self.add(draft, declaration, block);
        }
    }

    fn add(&mut self, draft: Draft, declaration: Declaration, block: &Block) {
        self.paragraph = None;
        self.found.push(Found {
            candidate: Candidate { draft, declaration },
            section: block.section,
        });
    }

    /// The nearest heading of level 2 to 6 (K-99).
    fn heading(&self, section: usize) -> Option<String> {
        self.outline
            .ancestors(section)
            .find(|(_, section)| section.level >= 2)
            .map(|(_, section)| section.title.clone())
    }

    /// The heading of a section, whatever its level.
    fn title(&self, section: usize) -> Option<String> {
        let section = self.outline.sections.get(section)?;
        (section.level > 0).then(|| section.title.clone())
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

/// K-224: the confidence of what is listed.
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
