//! From files to the active workflows.

use super::workflow::{MAX_BYTES, MAX_EXAMPLES, Problem, Source, one_line};
use super::{Catalogue, File, Workflow, embedded, index, registry, workflow};

///
pub(super) const MAX_WORKFLOWS: usize = 200;
/// Warnings of one load at most; a plan needs no list of two hundred broken files.
const MAX_WARNINGS: usize = 20;
/// The stage that is always present.
pub(super) const PLAN_MODE: &str = "plan-mode";

/// The files of a catalogue, or of one of its packs, read but not yet judged beside others.
#[derive(Debug, Default)]
pub(super) struct Shelf {
    /// Its folder below the catalogue: empty, or `packs/<name>/`.
    pub(super) folder: String,
    pub(super) index: index::Index,
    /// There is a `WORKFLOWS.md`.
    pub(super) has_index: bool,
    /// By stem, in byte order; each stem once.
    pub(super) sources: Vec<(String, Source)>,
    /// Prompts of `examples/<id>.txt`, with their lines.
    pub(super) examples: Vec<(String, Vec<(String, usize)>)>,
    pub(super) guardrails: Option<Vec<(String, String)>>,
    pub(super) skills: Vec<super::Skill>,
    /// What is wrong with files as a whole: path and problem.
    pub(super) problems: Vec<(String, Problem)>,
}

/// A file to be read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Text<'t> {
    pub(super) path: &'t str,
    pub(super) text: &'t str,
    /// Of the embedded catalogue: its front matter, parsed.
    pub(super) front: Option<&'t str>,
}

/// Files by value.
pub(super) fn texts(files: &[File]) -> Vec<Text<'_>> {
    files
        .iter()
        .map(|file| Text {
            path: &file.path,
            text: &file.text,
            front: None,
        })
        .collect()
}

/// Reads all files in a folder of a catalogue.
pub(super) fn shelf(files: &[Text<'_>], folder: &str) -> Shelf {
    let mut shelf = Shelf {
        folder: folder.to_owned(),
        ..Shelf::default()
    };
    let mut here: Vec<Text<'_>> = files
        .iter()
        .filter_map(|file| {
            let path = file.path.strip_prefix(folder)?;
            Some(Text { path, ..*file })
        })
        .collect();
    // Stable: of two files of one path the first one counts.
    here.sort_by_key(|file| file.path);
    for file in here {
        shelf.take(file);
    }
    shelf
}

impl Shelf {
    fn take(&mut self, file: Text<'_>) {
        let Text { path, text, front } = file;
        if let Some(stem) = inside(path, "workflows/", ".md") {
            if self.sources.iter().any(|(known, _)| known == stem) {
                self.problem(path, "C03", "a second file of this id".to_owned());
            } else if self.sources.len() >= MAX_WORKFLOWS {
                // One line for all of them.
                if self.sources.len() == MAX_WORKFLOWS && !self.is_full() {
                    self.problem(path, "C12", format!("more than {MAX_WORKFLOWS} workflows"));
                }
            } else {
                self.sources
                    .push((stem.to_owned(), workflow::read(stem, text, front)));
            }
            return;
        }
        let example = inside(path, "examples/", ".txt");
        let known =
            example.is_some() || matches!(path, "WORKFLOWS.md" | "guardrails.md" | "skills.md");
        if !known {
            return;
        }
        if text.len() > MAX_BYTES {
            self.problem(path, "C12", format!("the file is over {MAX_BYTES} bytes"));
            return;
        }
        match path {
            "WORKFLOWS.md" => {
                self.index = index::read(text);
                self.has_index = true;
            }
            "guardrails.md" => self.guardrails = Some(registry::guardrails(text)),
            "skills.md" => self.skills = registry::skills(text),
            _ => {
                if let Some(stem) = example {
                    self.examples.push((stem.to_owned(), prompts(text)));
                }
            }
        }
    }

    fn is_full(&self) -> bool {
        self.problems
            .iter()
            .any(|(path, problem)| problem.code == "C12" && path.contains("workflows/"))
    }

    fn problem(&mut self, path: &str, code: &'static str, message: String) {
        self.problems.push((
            format!("{}{path}", self.folder),
            Problem {
                line: 1,
                code,
                message,
            },
        ));
    }

    /// The active workflows in decision order, with their examples.
    pub(super) fn active(&self) -> Vec<Workflow> {
        let listed = |id: &str| self.index.ids.iter().position(|(known, _)| known == id);
        let mut all: Vec<Workflow> = self
            .sources
            .iter()
            .filter(|(_, source)| !source.hidden)
            .filter_map(|(_, source)| source.workflow.clone())
            .filter(|workflow| !self.index.closed || listed(&workflow.id).is_some())
            .collect();
        all.sort_by(|a, b| {
            let key = |w: &Workflow| {
                // Listed ones by the index alone; the others after them.
                listed(&w.id).map_or((usize::MAX, w.priority), |position| (position, 0))
            };
            key(a).cmp(&key(b)).then_with(|| a.id.cmp(&b.id))
        });
        for workflow in &mut all {
            let more = self.examples.iter().find(|(id, _)| *id == workflow.id);
            let room = MAX_EXAMPLES.saturating_sub(workflow.examples.len());
            let more = more
                .map(|(_, prompts)| prompts.as_slice())
                .unwrap_or_default();
            let more = more.iter().take(room).map(|(text, _)| text.clone());
            workflow.examples.extend(more);
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
fn prompts(text: &str) -> Vec<(String, usize)> {
    (1..)
        .zip(text.lines())
        .map(|(number, line)| (one_line(line), number))
        .filter(|(line, _)| !line.is_empty() && !line.starts_with('#'))
        // One more than allowed is enough to say so (C12).
        .take(MAX_EXAMPLES.saturating_add(1))
        .collect()
}

/// See [`Catalogue::load`]; `named`: somebody named this catalogue, so that its troubles are warnings.
pub(super) fn load(files: &[Text<'_>], packs: &[String], named: bool) -> Catalogue {
    let mut warnings = Vec::new();
    let main = shelf(files, "");
    let mut catalogue = Catalogue {
        workflows: main.active(),
        ..Catalogue::default()
    };
    warn(&main, &mut warnings);
    if catalogue.workflows.is_empty() {
        if !named {
            return catalogue;
        }
        warnings.insert(
            0,
            "catalogue: no workflow loads; the embedded catalogue is used".to_owned(),
        );
        let mut embedded = load(&embedded::texts(), packs, false);
        embedded.warnings = warnings;
        embedded.warnings.truncate(MAX_WARNINGS);
        return embedded;
    }
    let default = embedded::texts();
    let own_registry = main.guardrails.filter(|registry| !registry.is_empty());
    catalogue.guardrails = own_registry.unwrap_or_else(|| registry_of(&default));
    catalogue.skills = main.skills;
    for pack in packs {
        let folder = format!("packs/{pack}/");
        let own = files.iter().any(|file| file.path.starts_with(&folder));
        let shelf = shelf(if own { files } else { &default }, &folder);
        let workflows = shelf.active();
        if workflows.is_empty() {
            warnings.push(format!("packs: no pack {:?}", workflow::short(pack)));
        }
        warn(&shelf, &mut warnings);
        for workflow in workflows {
            if catalogue.get(&workflow.id).is_some() {
                warnings.push(format!(
                    "{folder}workflows/{}.md: a second file of this id",
                    workflow.id
                ));
            } else if catalogue.workflows.len() < MAX_WORKFLOWS {
                catalogue.workflows.push(workflow);
            }
        }
        for entry in shelf.guardrails.unwrap_or_default() {
            if catalogue.definition(&entry.0).is_none() {
                catalogue.guardrails.push(entry);
            }
        }
        catalogue.skills.extend(shelf.skills);
    }
    if catalogue.get(PLAN_MODE).is_none() {
        let own = shelf(&default, "").active();
        catalogue
            .workflows
            .extend(own.into_iter().filter(|workflow| workflow.id == PLAN_MODE));
        // Its guardrails hold even where the catalogue's own registry does not know them.
        complete_registry(&mut catalogue, &default);
    }
    drop_unknown_guardrails(&mut catalogue, &mut warnings);
    warnings.truncate(MAX_WARNINGS);
    catalogue.warnings = warnings;
    catalogue
}

fn registry_of(files: &[Text<'_>]) -> Vec<(String, String)> {
    files
        .iter()
        .find(|file| file.path == "guardrails.md")
        .map(|file| registry::guardrails(file.text))
        .unwrap_or_default()
}

/// Adds the definitions of `plan-mode`'s guardrails.
fn complete_registry(catalogue: &mut Catalogue, default: &[Text<'_>]) {
    let names: Vec<String> = catalogue
        .get(PLAN_MODE)
        .map(|workflow| workflow.guardrails.clone())
        .unwrap_or_default();
    for entry in registry_of(default) {
        if names.contains(&entry.0) && catalogue.definition(&entry.0).is_none() {
            catalogue.guardrails.push(entry);
        }
    }
}

/// one warning for each file with something that changes what it does.
fn warn(shelf: &Shelf, warnings: &mut Vec<String>) {
    let matters =
        |problem: &&Problem| matches!(problem.code, "C01" | "C02" | "C04" | "C11" | "C12");
    for problem in &shelf.index.problems {
        warnings.push(format!("{}WORKFLOWS.md: {}", shelf.folder, problem.message));
    }
    for (path, problem) in &shelf.problems {
        warnings.push(format!("{path}: {}", problem.message));
    }
    for (stem, source) in &shelf.sources {
        let mut reasons: Vec<&str> = Vec::new();
        for problem in source.problems.iter().filter(matters) {
            if !reasons.contains(&problem.message.as_str()) {
                reasons.push(&problem.message);
            }
        }
        if let [first, rest @ ..] = reasons.as_slice() {
            let more = match rest.len() {
                0 => String::new(),
                more => format!(" (and {more} more)"),
            };
            warnings.push(format!(
                "{}workflows/{}.md: {first}{more}",
                shelf.folder,
                workflow::short(stem)
            ));
        }
    }
}

/// only registered names.
fn drop_unknown_guardrails(catalogue: &mut Catalogue, warnings: &mut Vec<String>) {
    let registry = std::mem::take(&mut catalogue.guardrails);
    let known = |name: &str| {
        let name = name.split(':').next().unwrap_or_default();
        registry.iter().any(|(known, _)| known == name)
    };
    for workflow in &mut catalogue.workflows {
        let mut unknown = None;
        let lists = std::iter::once(&mut workflow.guardrails)
            .chain(workflow.guardrails_when.iter_mut().map(|(_, list)| list));
        for list in lists {
            list.retain(|name| {
                let keep = known(name);
                if !keep {
                    unknown.get_or_insert_with(|| workflow::short(name));
                }
                keep
            });
        }
        if let Some(name) = unknown {
            warnings.push(format!(
                "workflows/{}.md: unknown guardrail {name:?}",
                workflow.id
            ));
        }
    }
    catalogue.guardrails = registry;
}
