//! Headings that name a request: `### POST /items`.
//!
//! The section below says more: its first paragraph describes the request, its first block of JSON is the body. Where it
//! shows a whole request of its own, that one is the operation.

use super::{Body, Candidate, DraftStage, Importance};
use crate::diagnostic::Diagnostics;
use crate::document::markdown::listed::{self, Listed};
use crate::document::markdown::outline::{Block, Span, plain};
use crate::document::markdown::wording::is_result_label;
use crate::draft::Identity;

/// A request that a heading names.
pub(super) struct Headed {
    listed: Listed,
    /// Where the heading's block stands.
    line: u32,
    section: usize,
    level: u8,
    /// How many candidates stand above it.
    above: usize,
    /// The JSON that the section shows first.
    body: Option<String>,
}

impl Headed {
    /// Whether a fence shows a request with the heading's method.
    fn is_shown_by(&self, candidate: &Candidate) -> bool {
        let Identity::Text(identity) = &candidate.declaration.identity else {
            return false;
        };
        let method = self.listed.request.split(' ').next().unwrap_or_default();
        let stages = candidate.draft.plan.as_deref().unwrap_or_default();
        identity.importance == Importance::Fence
            && stages
                .iter()
                .any(|stage| matches!(stage, DraftStage::Http(http) if http.method == method))
    }

    /// Takes a paragraph of the section as the description, unless there is one.
    pub(super) fn describe(&mut self, spans: &[Span]) {
        let text = plain(spans);
        if self.listed.description.is_empty() && !is_result_label(&text) {
            self.listed.description = text;
        }
    }
}

impl Body<'_> {
    /// Notes the request that a heading names, and adds that of the section that ends here.
    pub(super) fn heading_begins(
        &mut self,
        block: &Block,
        spans: &[Span],
        diagnostics: &mut Diagnostics,
    ) {
        let sections = &self.outline.sections;
        let level = sections
            .get(block.section)
            .map_or(0, |section| section.level);
        if self
            .headed
            .as_ref()
            .is_some_and(|headed| level <= headed.level)
        {
            self.headed_ends(diagnostics);
        }
        let Some(listed) = listed::of_text(spans) else {
            return;
        };
        self.headed_ends(diagnostics);
        self.headed = Some(Headed {
            listed,
            line: block.line,
            section: block.section,
            level,
            above: self.found.len(),
            body: None,
        });
    }

    /// Takes JSON that the section shows as the body of a request that has one.
    pub(super) fn headed_body(&mut self, text: &str) {
        if let Some(headed) = &mut self.headed
            && headed.body.is_none()
            && ["POST ", "PUT ", "PATCH "]
                .iter()
                .any(|method| headed.listed.request.starts_with(method))
            && kit::members::parse(text.as_bytes()).is_ok()
        {
            headed.body = Some(text.to_owned());
        }
    }

    /// Adds the heading's request, unless its section showed one in a fence.
    pub(super) fn headed_ends(&mut self, diagnostics: &mut Diagnostics) {
        let Some(headed) = self.headed.take() else {
            return;
        };
        let below = self.found.get(headed.above..).unwrap_or_default();
        if below
            .iter()
            .any(|found| headed.is_shown_by(&found.candidate))
        {
            return;
        }
        let text = match &headed.body {
            Some(body) => format!("{}\n\n{body}", headed.listed.request),
            None => headed.listed.request.clone(),
        };
        let block = Block {
            kind: crate::document::markdown::outline::Kind::Other,
            line: headed.line,
            section: headed.section,
            item: None,
        };
        let paragraph = self.paragraph;
        let before = self.found.len();
        self.request(&text, headed.listed, &block, diagnostics);
        self.paragraph = paragraph;
        // It stands above what its section lists.
        let added = self.found.split_off(before);
        self.found.splice(headed.above..headed.above, added);
    }
}
