//! What is wrong with documents: each error marker of a hydration as a problem with its file, line, reason and remedy.
//!
//! A document is judged by hydrating it with `content.hydrate`, one level deep; this module reads URIs and markers of
//! the payload and parses no document. The line of a problem is where the text of the reference stands in the front
//! matter, found by comparing words.

mod lines;
mod reasons;
mod report;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde::Serialize;

use self::lines::FrontMatter;
use self::reasons::Reason;
use crate::capability::fs::FsError;
use crate::engine::CallError;
use crate::graph::payload::{Payload, Skill, code};
use crate::{Documents, Format, Host, HostError, HydrateRequest};

pub use self::report::{Report, ReportFormat};

/// Skills whose names and descriptions are asked for in one call.
const SKILLS_AT_ONCE: usize = 100;
/// What a file of a skill is called.
const SKILL_FILE: &str = "SKILL.md";

/// One thing that is wrong. What it quotes comes from documents that nobody vouches for.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Problem {
    /// The file to change, relative to the working directory if it lies there; a URI if it is no file of this machine.
    pub file: String,
    /// The line of the file; 1 where no better one is known.
    pub line: usize,
    /// The code of the marker, such as `MISSING_NAME`.
    pub code: String,
    /// The URI of the document in which the problem showed.
    pub uri: String,
    /// The skill or tool that it is about, if it is not the document itself.
    pub reference: Option<String>,
    /// What is wrong.
    pub reason: String,
    /// What to do.
    pub remedy: String,
}

/// What a marker is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Subject {
    Document,
    Skill,
    Tool,
}

impl Subject {
    /// The key of the front matter that declares it.
    fn key(self) -> &'static str {
        match self {
            Self::Document => "",
            Self::Skill => "skills",
            Self::Tool => "tools",
        }
    }
}

/// Finds problems.
pub struct Checker<'h> {
    /// The host and its documents; none where only a payload is known, as in a jail.
    host: Option<(&'h Host, Documents<'h>)>,
    /// How documents are hydrated.
    request: HydrateRequest,
    working_directory: Option<PathBuf>,
}

/// A document in which problems are located.
struct Place<'u> {
    uri: &'u str,
    file: String,
    front_matter: FrontMatter,
}

/// Hydrates documents one level deep, as `request` says, and collects what is wrong with them and with the skills that they
/// declare. Each file named `SKILL.md` must have a name and a description, whoever declares it. `progress` is told how many
/// documents are done.
///
/// # Errors
///
/// [`HostError`]: nothing can be hydrated, or a call cannot be recorded. A document that uses up its budgets is a problem
/// of that document.
pub fn check(
    host: &Host,
    request: &HydrateRequest,
    uris: &[String],
    mut progress: impl FnMut(usize),
) -> Result<Report, HostError> {
    let checker = Checker::new(host, request)?;
    let checked: BTreeSet<&str> = uris.iter().map(String::as_str).collect();
    let mut report = Report {
        documents: uris.len(),
        ..Report::default()
    };
    for (done, uri) in uris.iter().enumerate() {
        let request = HydrateRequest {
            uri: uri.clone(),
            depth: 1,
            ..checker.request.clone()
        };
        match host.hydrate(&request) {
            Ok(payload) => {
                let problems = checker.problems(uri, &payload, &checked);
                checker.add(&mut report, problems);
            }
            Err(HostError::Call(error)) => report.problems.push(checker.no_answer(uri, &error)),
            Err(error) => return Err(error),
        }
        progress(done.saturating_add(1));
    }
    let is_skill = |uri: &&String| {
        let name = uri.rsplit('/').next();
        name.is_some_and(|name| name.eq_ignore_ascii_case(SKILL_FILE))
    };
    let skills: Vec<String> = uris.iter().filter(is_skill).cloned().collect();
    for some in skills.chunks(SKILLS_AT_ONCE) {
        match checker.incomplete_of(host, some) {
            Ok(problems) => report.problems.extend(problems),
            // Together they are too large for one call; none of them hides another one.
            Err(HostError::Call(_)) => {
                for uri in some {
                    match checker.incomplete_of(host, std::slice::from_ref(uri)) {
                        Ok(problems) => report.problems.extend(problems),
                        Err(HostError::Call(error)) => {
                            report.problems.push(checker.no_answer(uri, &error));
                        }
                        Err(error) => return Err(error),
                    }
                }
            }
            Err(error) => return Err(error),
        }
    }
    report.problems.sort();
    report.problems.dedup();
    Ok(report)
}

impl Checker<'static> {
    /// A checker that knows payloads alone: every problem is in line 1, and its reason is what the marker says.
    #[must_use]
    pub fn of_payloads(request: &HydrateRequest) -> Self {
        Self::with(None, request)
    }
}

impl<'h> Checker<'h> {
    /// A checker of this host's documents, which hydrates as `request` says; its URI and its form do not count.
    ///
    /// # Errors
    ///
    /// As [`Host::documents`].
    pub fn new(host: &'h Host, request: &HydrateRequest) -> Result<Self, HostError> {
        Ok(Self::with(Some((host, host.documents()?)), request))
    }

    fn with(host: Option<(&'h Host, Documents<'h>)>, request: &HydrateRequest) -> Self {
        let directory = std::env::current_dir().and_then(|directory| directory.canonicalize());
        Self {
            host,
            request: HydrateRequest {
                format: Format::Json,
                ..request.clone()
            },
            working_directory: directory.ok(),
        }
    }

    /// What the markers of a payload say. `uri` is what was hydrated.
    #[must_use]
    pub fn markers(&self, uri: &str, payload: &[u8]) -> Vec<Problem> {
        self.problems(uri, payload, &BTreeSet::new())
    }

    /// Adds problems. That a tool was not asked is none, unless there is no such tool.
    fn add(&self, report: &mut Report, problems: Vec<Problem>) {
        for mut problem in problems {
            if problem.code == "EXECUTION_SKIPPED" {
                let tool = problem.reference.as_deref().unwrap_or_default();
                if !self.is_missing(tool) {
                    report.tools_not_asked = report.tools_not_asked.saturating_add(1);
                    continue;
                }
                "NOT_FOUND".clone_into(&mut problem.code);
                let Reason { reason, remedy } = self.missing(tool);
                (problem.reason, problem.remedy) = (reason, remedy);
            }
            report.problems.push(problem);
        }
    }

    /// What is wrong with one document. What is wrong with a skill is said of its own file if that is `checked` too.
    fn problems(&self, uri: &str, payload: &[u8], checked: &BTreeSet<&str>) -> Vec<Problem> {
        let Some(payload) = payload_of(payload) else {
            return Vec::new();
        };
        if let Some(code) = code(&payload.metadata.uri) {
            return vec![self.of_document(uri, code)];
        }
        let dependencies = payload.metadata.dependencies;
        let mut found = Vec::new();
        for skill in &dependencies.skills {
            for code in codes(skill) {
                // What stands in a file is said of that file: by its own hydration, or below.
                let stands_in_it = matches!(
                    code,
                    "MISSING_NAME" | "MISSING_DESCRIPTION" | "PARSE_ERROR" | "LIMIT_EXCEEDED"
                );
                if !(stands_in_it && checked.contains(skill.uri.as_str())) {
                    found.push((Subject::Skill, skill.uri.as_str(), code));
                }
            }
        }
        for tool in &dependencies.tools {
            if let Some(code) = known(&tool.description) {
                found.push((Subject::Tool, tool.uri.as_str(), code));
            }
        }
        let mut problems = Vec::new();
        if !found.is_empty() {
            // In its canonical form.
            let place = self.place(&payload.metadata.uri);
            for (subject, reference, code) in found {
                problems.push(self.of_reference(&place, subject, reference, code));
            }
        }
        for skill in &dependencies.skills {
            if checked.contains(skill.uri.as_str()) {
                problems.extend(self.incomplete(skill));
            }
        }
        problems
    }

    fn of_document(&self, uri: &str, code: &str) -> Problem {
        // A fragment names no other document.
        let place = self.place(uri.split('#').next().unwrap_or(uri));
        let (line, Reason { reason, remedy }) = match code {
            "FETCH_FAILED" => (1, self.unread(place.uri)),
            "PARSE_ERROR" => self.unparsed(&place),
            code => (1, reasons::of(Subject::Document, code)),
        };
        Problem {
            line,
            code: code.to_owned(),
            reference: None,
            reason,
            remedy,
            ..place.into_problem()
        }
    }

    fn of_reference(
        &self,
        place: &Place<'_>,
        subject: Subject,
        reference: &str,
        code: &str,
    ) -> Problem {
        // An item that is no string, or what was cut off, has no reference.
        let no_reference = known(reference).is_some();
        let line = if no_reference {
            place.front_matter.key(subject.key())
        } else {
            place
                .front_matter
                .reference(subject.key(), place.uri, reference)
        };
        let Reason { reason, remedy } = match (subject, code) {
            _ if no_reference => reasons::of_list(subject, code),
            (_, "FETCH_FAILED") => self.unread(reference),
            (Subject::Tool, "NOT_FOUND") => self.missing(reference),
            (Subject::Tool, "PERMISSION_DENIED") if !reference.starts_with("os://") => {
                reasons::unresolved(reference)
            }
            _ => reasons::of(subject, code),
        };
        Problem {
            file: place.file.clone(),
            line: line.unwrap_or(1),
            code: code.to_owned(),
            uri: place.uri.to_owned(),
            reference: (!no_reference).then(|| reference.to_owned()),
            reason,
            remedy,
        }
    }

    /// What these skills lack.
    fn incomplete_of(&self, host: &Host, uris: &[String]) -> Result<Vec<Problem>, HostError> {
        let payload = payload_of(&host.hydrate_skills(&self.request, uris)?);
        let skills = payload.map(|payload| payload.metadata.dependencies.skills);
        let skills = skills.unwrap_or_default();
        Ok(skills
            .iter()
            .flat_map(|skill| self.incomplete(skill))
            .collect())
    }

    /// What a skill lacks, as problems of its own file.
    fn incomplete(&self, skill: &Skill) -> Vec<Problem> {
        let lacking = [("name", &skill.name), ("description", &skill.description)];
        let missing = lacking.into_iter().filter_map(|(key, value)| {
            known(value)
                .filter(|code| code.starts_with("MISSING_"))
                .map(|code| (key, code))
        });
        missing
            .map(|(key, code)| {
                let place = self.place(&skill.uri);
                let Reason { reason, remedy } = reasons::of(Subject::Skill, code);
                Problem {
                    line: place.front_matter.key(key).unwrap_or(1),
                    code: code.to_owned(),
                    reason,
                    remedy,
                    ..place.into_problem()
                }
            })
            .collect()
    }

    fn no_answer(&self, uri: &str, error: &CallError) -> Problem {
        Problem {
            code: "NO_ANSWER".to_owned(),
            reason: error.to_string(),
            remedy: "split the document, or raise the limits of the policy".to_owned(),
            ..self.place(uri).into_problem()
        }
    }

    /// Why a reference or a document could not be read.
    fn unread(&self, uri: &str) -> Reason {
        match &self.host {
            Some((_, documents)) if uri.starts_with("os://") => match documents.read(uri) {
                Err(error) => unreadable(documents, uri, error),
                Ok(_) => reasons::of(Subject::Document, "FETCH_FAILED"),
            },
            None if uri.starts_with("os://") => reasons::of(Subject::Document, "FETCH_FAILED"),
            _ => reasons::unresolved(uri),
        }
    }

    fn missing(&self, uri: &str) -> Reason {
        let documents = self.host.as_ref().map(|(_, documents)| documents);
        reasons::missing(
            uri,
            documents.and_then(|documents| documents.suggestion(uri)),
        )
    }

    fn is_missing(&self, tool: &str) -> bool {
        self.host.as_ref().is_some_and(|(_, documents)| {
            tool.starts_with("os://")
                && matches!(
                    documents.look(tool),
                    Err(FsError::NotFound | FsError::NotDirectory)
                )
        })
    }

    /// Where and why a document is not one valid text with one valid mapping in front.
    fn unparsed(&self, place: &Place<'_>) -> (usize, Reason) {
        if let Some(line) = place.front_matter.not_utf8 {
            return (line, reasons::not_utf8());
        }
        let repaired = self.host.as_ref().filter(|_| !self.request.lenient);
        let repaired = repaired.is_some_and(|(host, _)| {
            let request = HydrateRequest {
                uri: place.uri.to_owned(),
                depth: 1,
                lenient: true,
                no_exec: true,
                ..self.request.clone()
            };
            let payload = host.hydrate(&request).ok();
            let payload = payload.and_then(|payload| payload_of(&payload));
            payload.is_some_and(|payload| code(&payload.metadata.uri).is_none())
        });
        if repaired {
            let line = place.front_matter.unquoted_colon().unwrap_or(1);
            return (line, reasons::unquoted_colon());
        }
        (1, reasons::of(Subject::Document, "PARSE_ERROR"))
    }

    fn place<'u>(&self, uri: &'u str) -> Place<'u> {
        let documents = self.host.as_ref().map(|(_, documents)| documents);
        let bytes = documents.map(|documents| documents.read(uri));
        let is_missing = matches!(bytes, Some(Err(FsError::NotFound | FsError::NotDirectory)));
        let file = documents.filter(|_| !is_missing);
        let file = file.and_then(|documents| documents.file_of(uri));
        Place {
            uri,
            file: file.map_or_else(|| uri.to_owned(), |file| self.shown(&file)),
            front_matter: FrontMatter::of(&bytes.and_then(Result::ok).unwrap_or_default()),
        }
    }

    /// A file as the operator would name it.
    fn shown(&self, file: &Path) -> String {
        let directory = self.working_directory.as_deref();
        let below = directory.and_then(|directory| file.strip_prefix(directory).ok());
        below.unwrap_or(file).to_string_lossy().into_owned()
    }
}

impl Place<'_> {
    /// A problem of the document itself, to be completed.
    fn into_problem(self) -> Problem {
        Problem {
            file: self.file,
            line: 1,
            code: String::new(),
            uri: self.uri.to_owned(),
            reference: None,
            reason: String::new(),
            remedy: String::new(),
        }
    }
}

fn payload_of(bytes: &[u8]) -> Option<Payload> {
    serde_json::from_slice(bytes).ok()
}

/// Why a document below `os://` cannot be read, and what to do, on one line.
#[must_use]
pub fn line_of_unreadable(documents: &Documents<'_>, uri: &str, error: FsError) -> String {
    let Reason { reason, remedy } = unreadable(documents, uri, error);
    format!("{reason}; {remedy}")
}

fn unreadable(documents: &Documents<'_>, uri: &str, error: FsError) -> Reason {
    match error {
        FsError::NotFound | FsError::NotDirectory => {
            reasons::missing(uri, documents.suggestion(uri))
        }
        error => reasons::unreadable(uri, error),
    }
}

/// Whether a payload says that the resource itself could not be read or parsed.
#[must_use]
pub fn is_failure(payload: &[u8]) -> bool {
    payload_of(payload).is_some_and(|payload| code(&payload.metadata.uri).is_some())
}

/// The code of a marker. A text that only looks like one is none.
fn known(text: &str) -> Option<&str> {
    code(text).filter(|code| reasons::is_code(code))
}

/// The codes of an entry of `skills`, each once.
fn codes(skill: &Skill) -> BTreeSet<&str> {
    let items = skill.skills.iter().chain(&skill.tools);
    [&skill.name, &skill.description]
        .into_iter()
        .chain(items)
        .filter_map(|text| known(text))
        .collect()
}
