//! Shell text, lowered to drafts (section 8).
//!
//! The order: the lexer finds words and operators and what K-124 names (`lexer`, `nested`); the walk over the tokens
//! bounds and simplifies them (`structure`); the grammar says whether they are a program (`grammar`). A text in which any
//! construct of K-124 was found is a script as a whole. What is left has nothing but simple commands, pipes and line ends in
//! it, and only such text is looked at for what it would do (`plan`). Where in doubt a text is a script, which runs nowhere
//! but in the jail and never without approval.

mod constants;
mod construct;
mod expansion;
pub mod globs;
mod grammar;
mod lexer;
mod lowering;
mod nested;
mod placeholder;
mod plan;
mod script;
mod source;
mod statement;
mod structure;
mod word;

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use self::lexer::Scan;
use self::lowering::{Lowering, note_commands};
use self::plan::document_line;
use self::structure::Structure;
use self::word::Budget;
use crate::context::Context;
use crate::diagnostic::Diagnostics;
use crate::draft::{Draft, SandboxDraft, Template};
use crate::limits;

/// K-120: constants of a document, which live from fence to fence.
#[derive(Debug, Clone, Default)]
pub struct Constants {
    /// What each name stands for: literal text only, one template for each word of an array.
    pub values: BTreeMap<String, Vec<Template>>,
    /// Names whose value was dropped because they are secrets.
    pub secrets: BTreeSet<String>,
}

/// How statements are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Statements {
    /// K-114 to K-118: a shell fence, the text of `map`.
    Fence,
    /// A structured `command`: two or more statements are always a script.
    Command,
}

/// K-87: a text that is a script whatever it says: verbatim, Tier 3, with its constructs and free variables. Whether
/// it is one that a shell would accept is not asked.
#[must_use]
pub fn script(text: &str, start_line: u32, context: &Context) -> SandboxDraft {
    let read = lexer::scan(text)
        .and_then(|scan| structure::walk(&scan).map(|structure| (scan, structure)));
    let Ok((scan, mut structure)) = read else {
        return script::stage(text, start_line, Vec::new(), Vec::new());
    };
    let mut found = scan.constructs.clone();
    found.append(std::mem::take(&mut structure.constructs));
    note_commands(&scan, &structure, &mut found);
    let free = free_variables(&scan, &structure, context);
    script::stage(text, start_line, found.into_list(), free)
}

/// K-131
fn free_variables(scan: &Scan, structure: &Structure, context: &Context) -> Vec<String> {
    let mut assigned = structure.assigned.clone();
    assigned.extend(scan.assigned.iter().cloned());
    script::free(&scan.variables, &assigned, context)
}

/// Lowers shell text. At least one draft, unless nothing but comments, settings and constants is left and the text is not
/// empty; what cannot be used is a draft whose plan is a failure (K-118, K-132).
///
/// `start_line` is the line of the document on which `text` begins. More than [`crate::limits::FENCE_OPERATIONS`] drafts, a
/// text over [`crate::limits::COMMAND_BYTES`] and nesting over [`crate::limits::SHELL_NESTING`] are one unusable draft,
/// `limit`.
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
    let lowering = Lowering {
        text,
        start_line,
        context,
        budget: Budget::new(),
    };
    match lowering.run(statements, constants, diagnostics) {
        Ok(drafts) if drafts.len() > limits::FENCE_OPERATIONS => {
            vec![
                lowering.unusable(
                    limits::exceeded("operations of a fence", limits::FENCE_OPERATIONS)
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
