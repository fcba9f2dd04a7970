//! Shell text, lowered to drafts.
//!
//! There is one reader of shell text (`lexer`), and it reads a subset: simple commands, pipes, the ends of statements, literal
//! quoting, plain variables. Only what it has read to the end is looked at for what it would do (`lowering`, `plan`). Whatever
//! else stands in a text makes it a script, which runs nowhere but in the jail and never without approval. So a new construct
//! of some shell needs no rule here.

mod assignment;
mod computed;
mod constants;
mod construct;
pub mod globs;
mod guard;
mod lexer;
mod lowering;
mod mend;
mod placeholder;
mod plan;
mod program;
mod prose;
mod quoting;
mod redirect;
mod script;
mod setup;
mod sorting;
mod source;
mod statement;
mod word;

use std::collections::{BTreeMap, BTreeSet};

use self::lowering::Lowering;
use self::plan::document_line;
use self::word::Budget;
use crate::context::Context;
use crate::diagnostic::Diagnostics;
use crate::draft::{Draft, SandboxDraft, Template};
use crate::failure::{Code, Failure};
use crate::limits;

/// Constants of a document, which live from fence to fence.
#[derive(Debug, Clone, Default)]
pub struct Constants {
    /// What each name stands for.
    pub values: BTreeMap<String, Template>,
    /// Names whose value was dropped because they are secrets.
    pub secrets: BTreeSet<String>,
}

/// How statements are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Statements {
    /// A shell fence of a document: lines that are no commands and what only prepares the skill are left out.
    Fence,
    /// The text of `map`: all of it counts.
    Text,
    /// A structured `command`: two or more statements are always a script.
    Command,
}

/// A text that is a script whatever it says: verbatim, Tier 3, with its free variables. Whether it is one that a shell would
/// accept is not asked.
#[must_use]
pub fn script(text: &str, start_line: u32) -> SandboxDraft {
    script::stage(text, start_line, Vec::new())
}

/// Lowers shell text. At least one draft, unless nothing but comments, settings and constants is left and the text is not
/// empty; what cannot be used is a draft whose plan is a failure.
///
/// `start_line` is the line of the document on which `text` begins. More than [`crate::limits::FENCE_OPERATIONS`] drafts and a
/// text over [`crate::limits::COMMAND_BYTES`] are one unusable draft, `limit`.
#[must_use]
pub fn lower(
    text: &str,
    start_line: u32,
    statements: Statements,
    constants: &mut Constants,
    context: &Context,
    diagnostics: &mut Diagnostics,
) -> Vec<Draft> {
    // A shell would take a carriage return for part of a word.
    let text = &text.replace("\r\n", "\n");
    if let Some((mended, why)) = mend::mended(text) {
        let (mut kept, mut said) = (constants.clone(), Diagnostics::default());
        let drafts = read(
            &mended, start_line, statements, &mut kept, context, &mut said,
        );
        let is_script = |draft: &Draft| draft.plan.iter().flatten().any(script::is_script);
        let is_read = |draft: &Draft| draft.plan.is_ok() && !is_script(draft);
        if !drafts.is_empty() && drafts.iter().all(is_read) {
            diagnostics.warn(Code::ShellSyntax, start_line, why);
            diagnostics.append(&said);
            *constants = kept;
            return drafts;
        }
    }
    read(
        text,
        start_line,
        statements,
        constants,
        context,
        diagnostics,
    )
}

fn read(
    text: &str,
    start_line: u32,
    statements: Statements,
    constants: &mut Constants,
    context: &Context,
    diagnostics: &mut Diagnostics,
) -> Vec<Draft> {
    let lowering = Lowering {
        text,
        start_line,
        context,
        budget: Budget::new(),
        statements,
    };
    match lowering.run(constants, diagnostics) {
        Ok(drafts) if drafts.len() > limits::FENCE_OPERATIONS => {
            vec![
                lowering.unusable(
                    Failure::exceeded("operations of a fence", limits::FENCE_OPERATIONS)
                        .at_line(start_line),
                ),
            ]
        }
        Ok(drafts) => drafts,
        Err(mut failure) => {
            failure.line = Some(
                failure
                    .line
                    .map_or(start_line, |line| document_line(start_line, line)),
            );
            vec![lowering.unusable(failure)]
        }
    }
}
