//! What is wrong with a catalogue: of one file by what its reader noted, of files together by what is here.

use std::collections::BTreeSet;

use super::load::{self, Shelf};
use super::workflow::{MAX_EXAMPLES, Problem, Source};
use super::{Catalogue, File, Modifies, StepKind, Workflow, embedded, registry};
use crate::route::{Question, decide};
use crate::session::Facts;
use crate::text::Prompt;

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// The catalogue does not do what it says.
    Error,
    /// It may be meant so.
    Warning,
}

impl Level {
    /// `error` or `warning`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
        }
    }
}

/// One line of `hydrant catalog check`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Errors are `C01` to `C12`, warnings `C20` to `C25`.
    pub level: Level,
    /// Its path below the catalogue.
    pub file: String,
    /// Counted from 1.
    pub line: usize,
    /// `C01` to `C25`.
    pub code: &'static str,
    /// One line.
    pub message: String,
}

/// Fewer examples than these are too few to know a workflow by (C24).
const FEW_EXAMPLES: usize = 3;

/// All findings of a catalogue and its packs, by file and line.
#[must_use]
pub fn check(files: &[File]) -> Vec<Finding> {
    let packs: BTreeSet<&str> = files
        .iter()
        .filter_map(|file| file.path.strip_prefix("packs/")?.split_once('/'))
        .map(|(pack, _)| pack)
        .collect();
    let texts = load::texts(files);
    let main = load::shelf(&texts, "");
    let mut checker = Checker::default();
    checker.shelf(&main, None);
    let catalogue = Catalogue::load(files, &[]);
    checker.routes(&main, &catalogue);
    let mut seen = checker.triggers(&main, Vec::new());
    for pack in packs {
        let shelf = load::shelf(&texts, &format!("packs/{pack}/"));
        checker.shelf(&shelf, Some(&main));
        checker.routes(&shelf, &Catalogue::load(files, &[pack.to_owned()]));
        seen = checker.triggers(&shelf, seen);
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

/// A trigger, folded, and the workflow that has it.
type Trigger = (String, String);

impl Checker {
    fn add(&mut self, file: &str, line: usize, code: &'static str, message: impl Into<String>) {
        let level = if code >= "C20" {
            Level::Warning
        } else {
            Level::Error
        };
        self.findings.push(Finding {
            level,
            file: file.to_owned(),
            line,
            code,
            message: message.into(),
        });
    }

    fn problem(&mut self, file: &str, problem: &Problem) {
        self.add(file, problem.line, problem.code, problem.message.clone());
    }

    /// A catalogue, or a pack beside its catalogue.
    fn shelf(&mut self, shelf: &Shelf, main: Option<&Shelf>) {
        for (file, problem) in &shelf.problems {
            self.problem(file, problem);
        }
        self.index(shelf);
        let known = Known::new(shelf, main);
        for (stem, source) in &shelf.sources {
            let file = path(shelf, stem);
            for problem in &source.problems {
                self.problem(&file, problem);
            }
            if main.is_some_and(|main| main.sources.iter().any(|(other, _)| other == stem)) {
                self.add(&file, 1, "C03", "the catalogue has a workflow of this id");
            }
            if let Some(workflow) = &source.workflow {
                self.workflow(&file, workflow, source, &known);
                self.examples(shelf, &file, workflow);
            }
        }
    }

    fn index(&mut self, shelf: &Shelf) {
        let file = format!("{}WORKFLOWS.md", shelf.folder);
        for problem in &shelf.index.problems {
            self.problem(&file, problem);
        }
        for (id, line) in &shelf.index.ids {
            if !shelf.sources.iter().any(|(stem, _)| stem == id) {
                self.add(
                    &file,
                    *line,
                    "C05",
                    format!("there is no workflows/{id}.md"),
                );
            }
        }
        if !shelf.has_index {
            return;
        }
        for (stem, _) in &shelf.sources {
            if !shelf.index.ids.iter().any(|(id, _)| id == stem) {
                self.add(
                    &path(shelf, stem),
                    1,
                    "C20",
                    "the index does not name this file",
                );
            }
        }
    }

    /// C06 to C09 and C25.
    fn workflow(&mut self, file: &str, workflow: &Workflow, source: &Source, known: &Known<'_>) {
        for (step, line) in workflow.steps.iter().zip(&source.lines.steps) {
            if let Some(target) = &step.workflow {
                if known.get(target).is_none() {
                    self.add(
                        file,
                        *line,
                        "C06",
                        format!("there is no workflow {target:?}"),
                    );
                } else if known.reaches(target, &workflow.id) {
                    self.add(file, *line, "C07", format!("{target:?} leads back here"));
                }
            }
            for skill in skills_named(&step.name) {
                if !known.skills.contains(&skill) {
                    self.add(file, *line, "C25", format!("no skill {skill:?} is listed"));
                }
            }
        }
        for (name, line) in &source.lines.guardrails {
            let (name, parameter) = name.split_once(':').unwrap_or((name, ""));
            if !known.guardrails.iter().any(|guardrail| guardrail == name) {
                self.add(file, *line, "C09", format!("unknown guardrail {name:?}"));
            }
            if registry::is_skill(parameter) && !known.skills.iter().any(|s| s == parameter) {
                self.add(
                    file,
                    *line,
                    "C25",
                    format!("no skill {parameter:?} is listed"),
                );
            }
        }
        self.rows(file, workflow, source.lines.modifies, known);
    }

    /// C08
    fn rows(&mut self, file: &str, workflow: &Workflow, line: usize, known: &Known<'_>) {
        if workflow.modifies == Modifies::No || workflow.category == "routing" {
            return;
        }
        let kinds = known.kinds(workflow, 0);
        let first = kinds.iter().position(|kind| *kind == StepKind::Checkpoint);
        let commit = kinds.iter().rposition(|kind| *kind == StepKind::Commit);
        if first.is_none() {
            self.add(
                file,
                line,
                "C08",
                "files may change and there is no CHECKPOINT",
            );
        } else if workflow.modifies == Modifies::Yes && commit.is_none_or(|last| first > Some(last))
        {
            self.add(
                file,
                line,
                "C08",
                "files change and no commit follows a CHECKPOINT",
            );
        }
    }

    fn examples(&mut self, shelf: &Shelf, file: &str, workflow: &Workflow) {
        let own = shelf.examples.iter().find(|(id, _)| *id == workflow.id);
        let more = own.map_or(0, |(_, prompts)| prompts.len());
        let count = workflow.examples.len().saturating_add(more);
        if count < FEW_EXAMPLES {
            self.add(file, 1, "C24", format!("{count} examples"));
        }
        if count > MAX_EXAMPLES {
            let file = format!("{}examples/{}.txt", shelf.folder, workflow.id);
            self.add(
                &file,
                1,
                "C12",
                format!("more than {MAX_EXAMPLES} examples"),
            );
        }
    }

    /// C22; `seen` are the triggers of what was checked before.
    fn triggers(&mut self, shelf: &Shelf, mut seen: Vec<Trigger>) -> Vec<Trigger> {
        for (stem, source) in &shelf.sources {
            let Some(workflow) = &source.workflow else {
                continue;
            };
            for (trigger, line) in workflow.triggers.iter().zip(&source.lines.triggers) {
                let folded = crate::plan::line(trigger, usize::MAX).to_lowercase();
                let other = seen
                    .iter()
                    .find(|(known, id)| *known == folded && *id != workflow.id);
                if let Some((_, id)) = other {
                    let message = format!(
                        "{id} has the trigger {:?} too",
                        super::workflow::short(trigger)
                    );
                    self.add(&path(shelf, stem), *line, "C22", message);
                }
                seen.push((folded, workflow.id.clone()));
            }
        }
        seen
    }

    /// C23: each example, as a prompt.
    fn routes(&mut self, shelf: &Shelf, catalogue: &Catalogue) {
        for (stem, source) in &shelf.sources {
            let Some(workflow) = &source.workflow else {
                continue;
            };
            if catalogue.get(&workflow.id).is_none() {
                continue;
            }
            let file = path(shelf, stem);
            let own = workflow.examples.iter().zip(&source.lines.examples);
            for (text, line) in own {
                self.route(&file, *line, text, &workflow.id, catalogue);
            }
            let file = format!("{}examples/{}.txt", shelf.folder, workflow.id);
            let more = shelf.examples.iter().find(|(id, _)| *id == workflow.id);
            for (text, line) in more.iter().flat_map(|(_, prompts)| prompts.iter()) {
                self.route(&file, *line, text, &workflow.id, catalogue);
            }
        }
    }

    fn route(&mut self, file: &str, line: usize, text: &str, id: &str, catalogue: &Catalogue) {
        let prompt = Prompt::read(text);
        // A follow-up follows something.
        let session = if id == "interactive-followup" {
            earlier()
        } else {
            Facts::default()
        };
        let route = decide(&Question {
            prompt: &prompt,
            session: &session,
            catalogue,
            skills: None,
            workflow: None,
            slash_is_skill: true,
        });
        if route.workflow != id {
            self.add(file, line, "C23", format!("routes to {}", route.workflow));
        }
    }
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

fn path(shelf: &Shelf, stem: &str) -> String {
    format!("{}workflows/{stem}.md", shelf.folder)
}

/// Names in backticks beside the word skill.
fn skills_named(text: &str) -> Vec<String> {
    let parts: Vec<&str> = text.split('`').collect();
    let mut all = Vec::new();
    for (position, name) in parts.iter().enumerate().skip(1).step_by(2) {
        let before = parts
            .get(position.saturating_sub(1))
            .copied()
            .unwrap_or_default();
        let after = parts
            .get(position.saturating_add(1))
            .copied()
            .unwrap_or_default();
        let beside =
            before.trim_end().ends_with("skill") || after.trim_start().starts_with("skill");
        if beside && registry::is_skill(name) {
            all.push((*name).to_owned());
        }
    }
    all
}

/// What a file may refer to: of its own folder and, in a pack, of the catalogue.
struct Known<'s> {
    workflows: Vec<&'s Workflow>,
    guardrails: Vec<String>,
    skills: Vec<String>,
}

impl<'s> Known<'s> {
    fn new(shelf: &'s Shelf, main: Option<&'s Shelf>) -> Self {
        let shelves = || std::iter::once(shelf).chain(main);
        let mut guardrails: Vec<String> = shelves()
            .filter_map(|shelf| shelf.guardrails.as_ref())
            .flatten()
            .map(|(name, _)| name.clone())
            .collect();
        let own = main.unwrap_or(shelf).guardrails.as_ref();
        // a directory without a registry uses the embedded one.
        if own.is_none_or(Vec::is_empty) {
            let embedded = embedded::all().find(|(path, _)| *path == "guardrails.md");
            let embedded = embedded.map(|(_, text)| registry::guardrails(text));
            guardrails.extend(
                embedded
                    .unwrap_or_default()
                    .into_iter()
                    .map(|(name, _)| name),
            );
        }
        Self {
            workflows: shelves()
                .flat_map(|shelf| &shelf.sources)
                .filter_map(|(_, source)| source.workflow.as_ref())
                .collect(),
            guardrails,
            skills: shelves()
                .flat_map(|shelf| &shelf.skills)
                .map(|skill| skill.name.clone())
                .collect(),
        }
    }

    fn get(&self, id: &str) -> Option<&'s Workflow> {
        self.workflows
            .iter()
            .copied()
            .find(|workflow| workflow.id == id)
    }

    /// Whether following references from `from` leads to `to`.
    fn reaches(&self, from: &str, to: &str) -> bool {
        let mut seen: Vec<&str> = Vec::new();
        let mut open = vec![from];
        while let Some(id) = open.pop() {
            if id == to {
                return true;
            }
            if seen.contains(&id) {
                continue;
            }
            let Some(workflow) = self.get(id) else {
                continue;
            };
            seen.push(&workflow.id);
            open.extend(
                workflow
                    .steps
                    .iter()
                    .filter_map(|step| step.workflow.as_deref()),
            );
        }
        false
    }

    /// The kinds of all steps, those of references in place.
    fn kinds(&self, workflow: &Workflow, depth: usize) -> Vec<StepKind> {
        let mut all = Vec::new();
        for step in &workflow.steps {
            let target = step.workflow.as_deref().and_then(|id| self.get(id));
            match target {
                Some(target) if depth < 3 => {
                    all.extend(
                        self.kinds(target, depth.saturating_add(1))
                            .into_iter()
                            .filter(|kind| matches!(kind, StepKind::Step | StepKind::Checkpoint)),
                    );
                }
                _ => all.push(step.kind),
            }
            // More than any plan can have.
            all.truncate(100);
        }
        all
    }
}
