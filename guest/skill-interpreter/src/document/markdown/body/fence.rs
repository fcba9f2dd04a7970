//! Fences: what they do, and what is said about them.

use super::{Body, Found, cut};
use crate::diagnostic::Diagnostics;
use crate::document::markdown::annotation::Annotation;
use crate::document::markdown::front::CodeFences;
use crate::document::markdown::info::{self, Class, Runtime};
use crate::document::markdown::outline::{Block, Fence};
use crate::document::markdown::prompt;
use crate::document::markdown::result::{self, Announced};
use crate::draft::{
    Declaration, Draft, DraftStage, Identity, Importance, Program, SandboxDraft, TextIdentity,
};
use crate::failure::{self, Failure};
use crate::http_command::verb;
use crate::shell::{self, Statements};
use crate::{limits, model};

impl Body<'_> {
    pub(super) fn fence(
        &mut self,
        position: usize,
        block: &Block,
        fence: &Fence,
        diagnostics: &mut Diagnostics,
    ) {
        let annotation = match Annotation::read(&fence.info) {
            Ok(annotation) => annotation,
            Err(message) => {
                diagnostics.error(failure::Code::AnnotationInvalid, block.line, message);
                return;
            }
        };
        let says = |what: fn(&Annotation) -> bool| annotation.as_ref().is_some_and(what);
        if says(|annotation| annotation.ignore) {
            return;
        }
        let (language, _) = info::split(&fence.info);
        let class = info::class(&language, &fence.text);
        let may_be_result = class == Class::Data || language.is_empty();
        let announced = if says(|annotation| annotation.is_output) {
            Some(Announced::ByLine)
        } else if may_be_result && annotation.is_none() {
            result::announced(self.outline, position, self.lines)
        } else {
            None
        };
        if let Some(announced) = announced {
            self.result(announced, block, fence);
            return;
        }
        if says(|annotation| annotation.example) {
            self.example(block, fence);
            return;
        }
        if class == Class::Data {
            self.headed_body(&fence.text);
        }
        let drafts = self.drafts(class, annotation.is_some(), block, fence, diagnostics);
        self.operations(drafts, annotation.unwrap_or_default(), block);
    }

    /// What a fence does, and what it says comes out.
    fn drafts(
        &mut self,
        class: Class,
        annotated: bool,
        block: &Block,
        fence: &Fence,
        diagnostics: &mut Diagnostics,
    ) -> Vec<(Draft, Option<String>)> {
        let first_line = block.line.saturating_add(1);
        match class {
            // An empty fence is a mistake, or a place for something to come.
            _ if fence.text.trim().is_empty() => Vec::new(),
            Class::Shell(prompts) => {
                let text = prompt::commands(&fence.text, prompts);
                let drafts = shell::lower(
                    &text,
                    first_line,
                    Statements::Fence,
                    &mut self.constants,
                    self.context,
                    diagnostics,
                );
                drafts.into_iter().map(|draft| (draft, None)).collect()
            }
            Class::Http => verb::parse(&fence.text, first_line, self.context, diagnostics)
                .into_iter()
                .map(|request| (request.draft, request.output))
                .collect(),
            Class::Code(runtime) => {
                let wanted = match runtime {
                    // What runs TypeScript is not known to run this.
                    Runtime::TypeScript => annotated,
                    _ => annotated || self.code_fences == CodeFences::All,
                };
                if wanted {
                    vec![(code(runtime, &fence.text, first_line), None)]
                } else {
                    Vec::new()
                }
            }
            Class::Data => Vec::new(),
        }
    }

    fn operations(
        &mut self,
        drafts: Vec<(Draft, Option<String>)>,
        mut annotation: Annotation,
        block: &Block,
    ) {
        if drafts.is_empty() {
            return;
        }
        let one_of_several = drafts.len() > 1;
        let heading = self.heading(block.section);
        let description = self.description(block.section);
        for (draft, output) in drafts {
            let identity = TextIdentity {
                // What names one operation is about the first.
                annotated: annotation.op.take(),
                comment: draft.comment.clone(),
                heading: heading.clone(),
                one_of_several,
                importance: Importance::Fence,
            };
            let title = draft.comment.clone().or_else(|| heading.clone());
            let mut declaration = Declaration::new(Identity::Text(identity));
            declaration.title = cut(&title.unwrap_or_default());
            declaration.description.clone_from(&description);
            declaration.secrets.clone_from(&annotation.secrets);
            declaration.egress.clone_from(&annotation.egress);
            declaration.tier = annotation.tier;
            declaration
                .returns_secret
                .clone_from(&annotation.returns_secret);
            if let Some(output) = output {
                declaration
                    .examples
                    .push(result::example(&output, draft.line));
            }
            self.add(draft, declaration, block);
        }
    }

    /// An output of the last operation above.
    fn result(&mut self, announced: Announced, block: &Block, fence: &Fence) {
        let line = block.line;
        if let Some(last) = self.last(announced, block.section) {
            let example = result::example(&fence.text, line);
            last.candidate.declaration.examples.push(example);
        }
    }

    /// An example of the operation before it in the section.
    fn example(&mut self, block: &Block, fence: &Fence) {
        if let Some(last) = self.last(Announced::ByLine, block.section) {
            let example = result::shown(&fence.text, block.line);
            last.candidate.declaration.examples.push(example);
        }
    }

    /// The last operation above within a section; for a section whose heading announces a result, within what that is part
    /// of, unless it is the whole document.
    fn last(&mut self, announced: Announced, section: usize) -> Option<&mut Found> {
        let within = match announced {
            Announced::ByLine => section,
            Announced::ByHeading => {
                let parent = self.outline.sections.get(section)?.parent?;
                let level = self.outline.sections.get(parent)?.level;
                (level >= 2).then_some(parent)?
            }
        };
        let outline = self.outline;
        let last = self.found.last_mut()?;
        let found = match announced {
            Announced::ByLine => last.section == within,
            Announced::ByHeading => outline
                .ancestors(last.section)
                .any(|(around, _)| around == within),
        };
        found.then_some(last)
    }
}

/// A stage in a sandbox that runs the text of the fence.
fn code(runtime: Runtime, text: &str, line: u32) -> Draft {
    let runtime = match runtime {
        Runtime::Python => model::Runtime::Python,
        Runtime::Node | Runtime::TypeScript => model::Runtime::Node,
        Runtime::Go => model::Runtime::Go,
    };
    let plan = if text.len() > limits::COMMAND_BYTES {
        Err(Failure::exceeded("bytes of code", limits::COMMAND_BYTES).at_line(line))
    } else {
        let sandbox = SandboxDraft::new(runtime, Program::Code(text.to_owned()), line);
        Ok(vec![DraftStage::Sandbox(Box::new(sandbox))])
    };
    Draft {
        line,
        comment: None,
        text: text.to_owned(),
        plan,
    }
}
