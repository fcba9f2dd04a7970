//! What is wrong with a catalogue: of one file by what its reader noted, of files together by what is here.

use std::collections::BTreeSet;

use serde::Serialize;

use super::load::Shelf;
use super::workflow::{
    MAX_EXAMPLES, NOT_LOADED, OVER_LIMIT, Problem, Source, UNKNOWN_NAME, line_of,
};
use super::{Catalogue, File, Modifies, StepKind, Workflow};
use crate::respond::one_line;
use crate::route::{Question, decide};
use crate::session::Facts;
use crate::text::Prompt;

/// One line of `hydrant catalog check`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// `error` where the catalogue does not do what it says, `warning` where that may be meant so.
    pub level: &'static str,
    /// Its path below the catalogue.
    pub file: String,
    /// Counted from 1.
    pub line: usize,
    /// `C01` to `C24`; the manual has the list.
    pub code: &'static str,
    /// One clean line.
    pub message: String,
}

/// Files may change, and no CHECKPOINT and commit follow.
const NO_CHECKPOINT: &str = "C08";
/// An example takes another workflow.
const TAKES_ANOTHER: &str = "C23";
/// There are too few examples to know a workflow by.
const FEW_EXAMPLES: &str = "C24";

/// Examples that a workflow should have.
const ENOUGH_EXAMPLES: usize = 3;

/// Returns all findings of a catalogue and its packs, by file and line.
#[must_use]
pub fn check(files: &[File]) -> Vec<Finding> {
    let packs: BTreeSet<&str> = files
        .iter()
        .filter_map(|file| file.path.strip_prefix("packs/")?.split_once('/'))
        .map(|(pack, _)| pack)
        .collect();
    let main = Shelf::read(files, "");
    let mut checker = Checker::default();
    checker.shelf(&main, None, &Catalogue::load(files, &[]));
    for pack in packs {
        let shelf = Shelf::read(files, &format!("packs/{pack}/"));
        let catalogue = Catalogue::load(files, &[pack.to_owned()]);
        checker.shelf(&shelf, Some(&main), &catalogue);
    }
    let mut findings = checker.findings;
    findings.sort_by(|a, b| (&a.file, a.line, a.code).cmp(&(&b.file, b.line, b.code)));
    findings.dedup();
    findings
}

#[derive(Default)]
struct Checker {
    findings: Vec<Finding>,
}

impl Checker {
    fn add(&mut self, file: &str, line: usize, code: &'static str, message: &str) {
        self.findings.push(Finding {
            level: if code < "C20" { "error" } else { "warning" },
            file: file.to_owned(),
            line,
            code,
            message: one_line(message),
        });
    }

    fn problem(&mut self, file: &str, problem: &Problem) {
        self.add(file, problem.line, problem.code, &problem.message);
    }

    /// Checks a catalogue, or a pack beside its catalogue.
    fn shelf(&mut self, shelf: &Shelf, main: Option<&Shelf>, catalogue: &Catalogue) {
        for (file, problem) in &shelf.problems {
            self.problem(file, problem);
        }
        let index = format!("{}WORKFLOWS.md", shelf.folder);
        if let Some(problem) = &shelf.index.problem {
            self.problem(&index, problem);
        }
        for id in &shelf.index.ids {
            if !shelf.sources.iter().any(|(stem, _)| stem == id) {
                let line = line_of(&shelf.index.text, id);
                self.add(&index, line, UNKNOWN_NAME, &format!("no workflows/{id}.md"));
            }
        }
        for (stem, source) in &shelf.sources {
            let file = shelf.path(stem);
            for problem in &source.problems {
                self.problem(&file, problem);
            }
            if main.is_some_and(|main| main.sources.iter().any(|(other, _)| other == stem)) {
                self.add(
                    &file,
                    1,
                    NOT_LOADED,
                    "the catalogue has a workflow of this id",
                );
            }
            if let Some(workflow) = &source.workflow {
                self.names(&file, workflow, source, catalogue);
                self.checkpoint(&file, workflow, source, catalogue);
                self.examples(shelf, &file, workflow, catalogue);
            }
        }
    }

    fn names(&mut self, file: &str, workflow: &Workflow, source: &Source, catalogue: &Catalogue) {
        for target in targets(workflow) {
            let message = if catalogue.get(target).is_none() {
                format!("no workflow {target:?}")
            } else if reaches(catalogue, target, &workflow.id) {
                format!("{target:?} leads back here")
            } else {
                continue;
            };
            self.add(file, line_of(&source.text, target), UNKNOWN_NAME, &message);
        }
        let conditional = workflow.guardrails_when.iter().flat_map(|(_, list)| list);
        for name in workflow.guardrails.iter().chain(conditional) {
            if catalogue.definition(name).is_none() {
                let bare = name.split(':').next().unwrap_or_default();
                let line = line_of(&source.text, name);
                self.add(file, line, UNKNOWN_NAME, &format!("no guardrail {bare:?}"));
            }
        }
    }

    fn checkpoint(
        &mut self,
        file: &str,
        workflow: &Workflow,
        source: &Source,
        catalogue: &Catalogue,
    ) {
        if workflow.modifies == Modifies::No || workflow.category == "routing" {
            return;
        }
        let kinds = kinds(catalogue, workflow, 0);
        let first = kinds.iter().position(|kind| *kind == StepKind::Checkpoint);
        let commit = kinds.iter().rposition(|kind| *kind == StepKind::Commit);
        let message = if first.is_none() {
            "files may change and there is no CHECKPOINT"
        } else if workflow.modifies == Modifies::Yes && commit.is_none_or(|last| first > Some(last))
        {
            "files change and no commit follows a CHECKPOINT"
        } else {
            return;
        };
        let line = line_of(&source.text, "modifies_files");
        self.add(file, line, NO_CHECKPOINT, message);
    }

    /// Checks how many examples there are, and which workflow each of them takes.
    fn examples(&mut self, shelf: &Shelf, file: &str, workflow: &Workflow, catalogue: &Catalogue) {
        let more = shelf.prompts(&workflow.id);
        let count = workflow.examples.len().saturating_add(more.len());
        let prompts_file = format!("{}examples/{}.txt", shelf.folder, workflow.id);
        if count < ENOUGH_EXAMPLES {
            self.add(file, 1, FEW_EXAMPLES, &format!("{count} examples"));
        }
        if count > MAX_EXAMPLES {
            let message = format!("more than {MAX_EXAMPLES} examples");
            self.add(&prompts_file, 1, OVER_LIMIT, &message);
        }
        if catalogue.get(&workflow.id).is_none() {
            return;
        }
        let own = workflow.examples.iter().map(|text| (file, text));
        let more = more.iter().map(|text| (prompts_file.as_str(), text));
        for (file, text) in own.chain(more) {
            let taken = workflow_of(text, &workflow.id, catalogue);
            if taken != workflow.id {
                let message = format!("{text:?} takes {taken}");
                self.add(file, 1, TAKES_ANOTHER, &message);
            }
        }
    }
}

/// The workflow that an example of a workflow takes.
fn workflow_of(text: &str, id: &str, catalogue: &Catalogue) -> String {
    // A follow-up follows something.
    let session = if id == "interactive-followup" {
        earlier()
    } else {
        Facts::default()
    };
    let route = decide(&Question {
        prompt: &Prompt::read(text),
        session: &session,
        catalogue,
        skills: None,
        workflow: None,
        slash_is_skill: true,
    });
    route.workflow
}

/// A session in which something was done and something was asked.
fn earlier() -> Facts {
    Facts {
        prompts: vec!["rename the option in the parser".to_owned()],
        replies: vec!["Done. Shall I change the manual as well?".to_owned()],
        question: Some("Shall I change the manual as well?".to_owned()),
        ..Facts::default()
    }
}

/// The workflows that steps refer to.
fn targets(workflow: &Workflow) -> impl Iterator<Item = &str> {
    let steps = workflow.steps.iter();
    steps.filter_map(|step| step.workflow.as_deref())
}

/// Whether following references from `from` leads to `to`.
fn reaches(catalogue: &Catalogue, from: &str, to: &str) -> bool {
    let mut seen = BTreeSet::new();
    let mut open = vec![from];
    while let Some(id) = open.pop() {
        if id == to {
            return true;
        }
        if let Some(workflow) = catalogue.get(id)
            && seen.insert(&workflow.id)
        {
            open.extend(targets(workflow));
        }
    }
    false
}

/// The kinds of all steps, those of references in place.
fn kinds(catalogue: &Catalogue, workflow: &Workflow, depth: usize) -> Vec<StepKind> {
    let mut all = Vec::new();
    for step in &workflow.steps {
        let target = step.workflow.as_deref().and_then(|id| catalogue.get(id));
        match target.filter(|_| depth < 3) {
            Some(target) => {
                let kinds = kinds(catalogue, target, depth + 1).into_iter();
                all.extend(
                    kinds.filter(|kind| matches!(kind, StepKind::Step | StepKind::Checkpoint)),
                );
            }
            None => all.push(step.kind),
        }
        // More than any plan can have.
        all.truncate(100);
    }
    all
}
