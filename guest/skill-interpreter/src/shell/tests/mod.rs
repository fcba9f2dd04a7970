//! Tests of the lowering of shell text.

mod bash;
mod commands;
mod hostile;
mod injection;
mod lowering;

use super::{Constants, Statements, lower};
use crate::context::Context;
use crate::diagnostic::Diagnostics;
use crate::draft::{Draft, DraftStage, Program, SandboxDraft, Trust};
use crate::failure::Code;

/// What a text is lowered to.
struct Lowered {
    drafts: Vec<Draft>,
    diagnostics: Diagnostics,
    constants: Constants,
}

fn lowered(text: &str) -> Lowered {
    lowered_as(text, Statements::Fence, Constants::default())
}

fn lowered_as(text: &str, statements: Statements, mut constants: Constants) -> Lowered {
    let mut diagnostics = Diagnostics::default();
    let drafts = lower(
        text,
        1,
        statements,
        &mut constants,
        &Context::default(),
        &mut diagnostics,
    );
    Lowered {
        drafts,
        diagnostics,
        constants,
    }
}

impl Lowered {
    fn one(&self) -> &Draft {
        match self.drafts.as_slice() {
            [one] => one,
            other => panic!("not one draft: {other:?}"),
        }
    }

    fn stages(&self) -> &[DraftStage] {
        self.one().plan.as_ref().expect("usable")
    }

    fn code(&self) -> Code {
        self.one().plan.as_ref().expect_err("unusable").code
    }

    fn says(&self, code: Code) -> bool {
        self.diagnostics
            .as_slice()
            .iter()
            .any(|one| one.code == code)
    }

    /// The constructs, if it is a script.
    fn script(&self) -> Option<(&str, &[String])> {
        script_of(self.one())
    }

    fn kinds(&self) -> Vec<&'static str> {
        self.stages().iter().map(kind).collect()
    }
}

fn script_of(draft: &Draft) -> Option<(&str, &[String])> {
    match draft.plan.as_deref() {
        Ok([DraftStage::Sandbox(stage)]) => match stage.as_ref() {
            SandboxDraft {
                program: Program::Script(code),
                trust: Trust::Script { constructs },
                ..
            } => Some((&code.text, constructs)),
            _ => None,
        },
        _ => None,
    }
}

fn kind(stage: &DraftStage) -> &'static str {
    match stage {
        DraftStage::Http(_) => "http",
        DraftStage::JsonFilter(_) => "json-filter",
        DraftStage::TextTransform { .. } => "text-transform",
        DraftStage::Println { .. } => "println",
        DraftStage::ReadFile { .. } => "read-file",
        DraftStage::Sandbox(_) => "sandbox",
    }
}

fn texts(words: &[crate::draft::Template]) -> Vec<String> {
    words.iter().map(crate::draft::Template::display).collect()
}
