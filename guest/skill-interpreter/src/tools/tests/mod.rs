//! K-167 to K-178, command by command.

mod runtimes;
mod streams;

use crate::context::Context;
use crate::diagnostic::Diagnostics;
use crate::draft::{DraftStage, FilterDraft, Package, Program, SandboxDraft, Template, Trust};
use crate::failure::Code;
use crate::shell::{Constants, Statements, lower};

fn plan(text: &str) -> Result<Vec<DraftStage>, Code> {
    let drafts = lower(
        text,
        1,
        Statements::Fence,
        &mut Constants::default(),
        &Context::default(),
        &mut Diagnostics::default(),
    );
    drafts
        .into_iter()
        .next()
        .expect("a draft")
        .plan
        .map_err(|failure| failure.code)
}

fn stages(text: &str) -> Vec<DraftStage> {
    plan(text).unwrap_or_else(|code| panic!("{text}: {code:?}"))
}

fn sandbox(text: &str) -> SandboxDraft {
    match stages(text).as_slice() {
        [DraftStage::Sandbox(stage)] => (**stage).clone(),
        other => panic!("{text}: {other:?}"),
    }
}

fn is_script(text: &str) -> bool {
    matches!(sandbox(text).program, Program::Script(_))
}

fn is_unknown_tool(text: &str) -> bool {
    let stage = sandbox(text);
    matches!(stage.program, Program::Argv(_)) && matches!(stage.trust, Trust::Tool { .. })
}

fn filter(text: &str) -> FilterDraft {
    match stages(text).pop() {
        Some(DraftStage::JsonFilter(filter)) => filter,
        other => panic!("{text}: {other:?}"),
    }
}

fn texts(words: &[Template]) -> Vec<String> {
    words.iter().map(Template::display).collect()
}

fn packages(runtime: &str, names: &[&str]) -> Vec<Package> {
    names
        .iter()
        .map(|name| Package {
            runtime: runtime.to_owned(),
            name: (*name).to_owned(),
        })
        .collect()
}
