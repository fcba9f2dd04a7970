//! From files to the active workflows.

use super::workflow::{
    MAX_EXAMPLES, Problem, Source, UNKNOWN_KEY, is_too_long, not_loaded, one_line, short,
};
use super::{Catalogue, File, Skill, Workflow, embedded, index, registry, workflow};

/// Workflows of a catalogue.
const MAX_WORKFLOWS: usize = 200;
/// Warnings of one load at most; a plan needs no list of two hundred broken files.
const MAX_WARNINGS: usize = 20;
/// The workflow that is always present.
const PLAN_MODE: &str = "plan-mode";

/// The files of a catalogue, or of one of its packs, read but not yet judged beside others.
#[derive(Debug, Default)]
pub(super) struct Shelf {
    /// Its folder below the catalogue: empty, or `packs/<name>/`.
    pub(super) folder: String,
    pub(super) index: index::Index,
    /// By stem, in byte order; each stem once.
    pub(super) sources: Vec<(String, Source)>,
    /// Prompts of `examples/<id>.txt`.
    pub(super) examples: Vec<(String, Vec<String>)>,
    guardrails: Vec<(String, String)>,
    skills: Vec<Skill>,
    /// There are more workflows than are read.
    is_over_full: bool,
    /// What is wrong with files as a whole: path and problem.
    pub(super) problems: Vec<(String, Problem)>,
}

impl Shelf {
    /// Reads all files in a folder of a catalogue.
    pub(super) fn read(files: &[File], folder: &str) -> Self {
        let mut shelf = Self {
            folder: folder.to_owned(),
            ..Self::default()
        };
        let mut here: Vec<(&str, &str)> = files
            .iter()
            .filter_map(|file| Some((file.path.strip_prefix(folder)?, file.text.as_str())))
            .collect();
        // Stable: of two files of one path the first one counts.
        here.sort_by_key(|(path, _)| *path);
        for (path, text) in here {
            shelf.take(path, text);
        }
        shelf
    }

    fn take(&mut self, path: &str, text: &str) {
        if let Some(stem) = inside(path, "workflows/", ".md") {
            self.take_workflow(stem, path, text);
            return;
        }
        let example = inside(path, "examples/", ".txt");
        let is_known =
            example.is_some() || matches!(path, "WORKFLOWS.md" | "guardrails.md" | "skills.md");
        if is_known && is_too_long(text) {
            self.problem(path, not_loaded(1, "the file is over 64 KiB"));
            return;
        }
        match (path, example) {
            (_, Some(stem)) => self.examples.push((stem.to_owned(), prompts(text))),
            ("WORKFLOWS.md", _) => self.index = index::read(text),
            ("guardrails.md", _) => self.guardrails = registry::guardrails(text),
            ("skills.md", _) => self.skills = registry::skills(text),
            _ => {}
        }
    }

    fn take_workflow(&mut self, stem: &str, path: &str, text: &str) {
        let is_full = self.sources.len() >= MAX_WORKFLOWS;
        if self.sources.iter().any(|(known, _)| known == stem) {
            self.problem(path, not_loaded(1, "a second file of this id"));
        } else if !is_full {
            let source = workflow::read(stem, text);
            self.sources.push((stem.to_owned(), source));
        } else if !self.is_over_full {
            // One line for all of them.
            self.is_over_full = true;
            self.problem(path, not_loaded(1, "more than 200 workflows"));
        }
    }

    fn problem(&mut self, path: &str, problem: Problem) {
        self.problems
            .push((format!("{}{path}", self.folder), problem));
    }

    /// The path of a workflow's file below the catalogue.
    pub(super) fn path(&self, stem: &str) -> String {
        format!("{}workflows/{stem}.md", self.folder)
    }

    /// The prompts of `examples/<id>.txt`.
    pub(super) fn prompts(&self, id: &str) -> &[String] {
        let own = self.examples.iter().find(|(known, _)| known == id);
        own.map(|(_, prompts)| prompts.as_slice())
            .unwrap_or_default()
    }

    /// The active workflows in decision order, with their examples: those of the index in its order, then the others by
    /// priority.
    fn active(&self) -> Vec<Workflow> {
        let listed = |id: &str| self.index.ids.iter().position(|known| known == id);
        let mut all: Vec<Workflow> = self
            .sources
            .iter()
            .filter(|(_, source)| !source.is_disabled)
            .filter_map(|(_, source)| source.workflow.clone())
            .filter(|workflow| !self.index.closed || listed(&workflow.id).is_some())
            .collect();
        // Stable: those of one priority stay in the order of their ids.
        all.sort_by_key(|workflow| match listed(&workflow.id) {
            Some(position) => (position, 0),
            None => (usize::MAX, workflow.priority),
        });
        for workflow in &mut all {
            let more = self.prompts(&workflow.id).iter().cloned();
            workflow.examples.extend(more);
            workflow.examples.truncate(MAX_EXAMPLES);
        }
        all
    }
}

/// `<folder><stem><ending>`, directly in the folder.
fn inside<'p>(path: &'p str, folder: &str, ending: &str) -> Option<&'p str> {
    let stem = path.strip_prefix(folder)?.strip_suffix(ending)?;
    (!stem.contains('/')).then_some(stem)
}

/// One prompt per line; `#` begins a comment line.
fn prompts(text: &str) -> Vec<String> {
    text.lines()
        .map(one_line)
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .collect()
}

/// See [`Catalogue::load`]; `named`: somebody named this catalogue, so that its troubles are warnings.
pub(super) fn load(files: &[File], packs: &[String], named: bool) -> Catalogue {
    let main = Shelf::read(files, "");
    let mut catalogue = Catalogue {
        workflows: main.active(),
        ..Catalogue::default()
    };
    let mut warnings = warnings_of(&main);
    if catalogue.workflows.is_empty() {
        if !named {
            return catalogue;
        }
        warnings.insert(
            0,
            "catalogue: no workflow loads; the embedded catalogue is used".to_owned(),
        );
        warnings.truncate(MAX_WARNINGS);
        return Catalogue {
            warnings,
            ..Catalogue::embedded(packs)
        };
    }
    let default = embedded::files();
    let default_registry = registry_of(&default);
    catalogue.guardrails = if main.guardrails.is_empty() {
        default_registry.clone()
    } else {
        main.guardrails
    };
    catalogue.skills = main.skills;
    for pack in packs {
        let folder = format!("packs/{pack}/");
        let has_own = files.iter().any(|file| file.path.starts_with(&folder));
        let shelf = Shelf::read(if has_own { files } else { &default }, &folder);
        catalogue.add_pack(&shelf, &mut warnings);
    }
    if catalogue.get(PLAN_MODE).is_none() {
        let own = Shelf::read(&default, "").active();
        let plan_mode = own.into_iter().find(|workflow| workflow.id == PLAN_MODE);
        if let Some(workflow) = plan_mode {
            // Its guardrails hold even where the catalogue's own registry does not know them.
            let needed = default_registry.into_iter();
            let needed = needed.filter(|(name, _)| workflow.guardrails.contains(name));
            catalogue.define(needed.collect());
            catalogue.workflows.push(workflow);
        }
    }
    catalogue.drop_unknown_guardrails(&mut warnings);
    warnings.truncate(MAX_WARNINGS);
    catalogue.warnings = warnings;
    catalogue
}

fn registry_of(files: &[File]) -> Vec<(String, String)> {
    let file = files.iter().find(|file| file.path == "guardrails.md");
    file.map(|file| registry::guardrails(&file.text))
        .unwrap_or_default()
}

impl Catalogue {
    fn add_pack(&mut self, pack: &Shelf, warnings: &mut Vec<String>) {
        let workflows = pack.active();
        if workflows.is_empty() {
            let name = pack.folder.trim_start_matches("packs/");
            warnings.push(format!(
                "packs: no pack {:?}",
                short(name.trim_end_matches('/'))
            ));
        }
        warnings.extend(warnings_of(pack));
        for workflow in workflows {
            if self.get(&workflow.id).is_some() {
                warnings.push(format!(
                    "{}: a second file of this id",
                    pack.path(&workflow.id)
                ));
            } else if self.workflows.len() < MAX_WORKFLOWS {
                self.workflows.push(workflow);
            }
        }
        self.define(pack.guardrails.clone());
        self.skills.extend(pack.skills.iter().cloned());
    }

    /// Adds definitions of guardrails that have none.
    fn define(&mut self, entries: Vec<(String, String)>) {
        for (name, definition) in entries {
            if self.definition(&name).is_none() {
                self.guardrails.push((name, definition));
            }
        }
    }

    fn drop_unknown_guardrails(&mut self, warnings: &mut Vec<String>) {
        let mut workflows = std::mem::take(&mut self.workflows);
        for workflow in &mut workflows {
            let mut unknown = None;
            let conditional = workflow.guardrails_when.iter_mut().map(|(_, list)| list);
            for list in std::iter::once(&mut workflow.guardrails).chain(conditional) {
                list.retain(|name| {
                    let is_known = self.definition(name).is_some();
                    if !is_known {
                        unknown.get_or_insert_with(|| short(name));
                    }
                    is_known
                });
            }
            if let Some(name) = unknown {
                let id = &workflow.id;
                warnings.push(format!("workflows/{id}.md: unknown guardrail {name:?}"));
            }
        }
        self.workflows = workflows;
    }
}

/// One warning for each file with something that changes what it does.
fn warnings_of(shelf: &Shelf) -> Vec<String> {
    let index = shelf.index.problem.iter();
    let index = index.map(|problem| format!("{}WORKFLOWS.md: {}", shelf.folder, problem.message));
    let files = shelf.problems.iter();
    let files = files.map(|(path, problem)| format!("{path}: {}", problem.message));
    let workflows = shelf.sources.iter().filter_map(|(stem, source)| {
        let matters = |problem: &&Problem| problem.code != UNKNOWN_KEY;
        let mut reasons = source.problems.iter().filter(matters);
        let first = &reasons.next()?.message;
        let more = match reasons.count() {
            0 => String::new(),
            more => format!(" (and {more} more)"),
        };
        Some(format!("{}: {first}{more}", shelf.path(&short(stem))))
    });
    index.chain(files).chain(workflows).collect()
}
