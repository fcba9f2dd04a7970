//! What no item of a model's reply may say, unless the user's own words say it.

use std::cell::OnceCell;

use super::Settings;
use super::text::folded;
use crate::catalogue::{Catalogue, embedded_files};
use crate::route::{Question, Route};

/// Claims that the work is for a human only, or cannot be done.
const CLAIMS: &[&str] = &[
    "human only",
    "only a human",
    "human-only",
    "requires a human",
    "must be done by a human",
    "needs to be done by a human",
    "agent cannot",
    "agent can't",
    "agents cannot",
    "agent is unable",
    "agent is not able",
    "as an ai",
    "ai cannot",
    "i cannot",
    "i can't",
    "i am unable",
];

/// The beginning of an answer where the order to answer should stand.
const ANSWERS: &[&str] = &["the answer is", "answer:"];

/// What the checks are made against.
pub(super) struct Never<'a> {
    catalogue: &'a Catalogue,
    /// All of the user's words, as they came.
    words: String,
    /// The same, folded: a prompt may be long, and most plans need no look at it.
    said: OnceCell<String>,
    /// Names of skills that may be named.
    skills: Vec<String>,
    /// Ids that somebody ships and this catalogue does not have.
    inactive: Vec<String>,
}

impl<'a> Never<'a> {
    pub(super) fn new(question: &Question<'a>, route: &Route, settings: &Settings) -> Self {
        let prompt = question.prompt;
        let mut said = vec![prompt.main.as_str(), &settings.tracker];
        said.extend(prompt.pasted.iter().map(|(_, text)| text.as_str()));
        said.extend(prompt.error.as_deref());
        said.extend(question.session.question.as_deref());
        said.extend(question.session.replies.iter().map(String::as_str));
        said.extend(settings.test_command.as_deref());
        let mut skills: Vec<String> = question
            .skills
            .unwrap_or(&question.catalogue.skills)
            .iter()
            .map(|skill| skill.name.to_lowercase())
            .collect();
        skills.extend(route.skill.iter().map(|(name, _)| name.to_lowercase()));
        Self {
            catalogue: question.catalogue,
            words: said.join(" \u{2028} "),
            said: OnceCell::new(),
            skills,
            inactive: inactive(question.catalogue),
        }
    }

    /// Whether the user says so.
    fn says(&self, text: &str) -> bool {
        self.said.get_or_init(|| folded(&self.words)).contains(text)
    }

    /// Why an item with this text may not stand in a plan.
    pub(super) fn violated(&self, text: &str) -> Option<String> {
        let text = folded(text);
        if let Some(file) = self.workflow_file(&text) {
            return Some(format!("an item names the workflow file {file}"));
        }
        let claim = CLAIMS
            .iter()
            .find(|claim| text.contains(*claim) && !self.says(claim));
        if let Some(claim) = claim {
            return Some(format!("an item claims {claim:?}"));
        }
        let answer = ANSWERS
            .iter()
            .find(|answer| text.starts_with(*answer) && !self.says(answer));
        if answer.is_some() {
            return Some("an item gives the answer".to_owned());
        }
        self.unknown_name(&text)
            .map(|name| format!("an item names {name:?}, which is not active"))
    }

    fn workflow_file(&self, text: &str) -> Option<String> {
        if text.contains("workflows.md") && !self.says("workflows.md") {
            return Some("WORKFLOWS.md".to_owned());
        }
        if text.contains("[[") && !self.says("[[") {
            return Some("[[…]]".to_owned());
        }
        let (_, rest) = text.split_once("workflows/")?;
        let name: String = rest
            .chars()
            .take_while(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'))
            .collect();
        let path = format!("workflows/{name}");
        let stem = name.strip_suffix(".md").unwrap_or(&name);
        let ours = self.catalogue.get(stem).is_some() || name.ends_with(".md");
        (ours && !self.says("workflows/")).then_some(path)
    }

    /// A workflow or skill that is neither active nor named by the user.
    fn unknown_name(&self, text: &str) -> Option<String> {
        let words: Vec<&str> = text.split(' ').collect();
        for (position, word) in words.iter().enumerate() {
            let before = position
                .checked_sub(1)
                .and_then(|before| words.get(before))
                .copied()
                .unwrap_or_default();
            let after = words
                .get(position.saturating_add(1))
                .copied()
                .unwrap_or_default()
                .trim_end_matches(|c: char| !c.is_alphanumeric());
            let bare = word.trim_matches(|c: char| !c.is_ascii_alphanumeric());
            if bare.is_empty() {
                continue;
            }
            let quoted = word.starts_with('`');
            let skill = quoted && (after == "skill" || before == "skill");
            let workflow = quoted && (after == "workflow" || before == "workflow");
            if skill && !self.skills.iter().any(|known| known == bare) && !self.says(bare) {
                return Some(bare.to_owned());
            }
            let shipped = self.inactive.iter().any(|id| id == bare)
                && (after == "workflow" || before == "workflow" || before == "follow");
            if (workflow || shipped) && !self.is_named(bare) && !self.says(bare) {
                return Some(bare.to_owned());
            }
        }
        None
    }

    /// Active, or a reference in an active file, which becomes `Follow <id>` where it has no target.
    fn is_named(&self, id: &str) -> bool {
        self.catalogue.get(id).is_some()
            || self
                .catalogue
                .workflows
                .iter()
                .flat_map(|workflow| &workflow.steps)
                .any(|step| step.workflow.as_deref() == Some(id))
    }
}

/// Ids of the embedded catalogue and its packs that `catalogue` does not have.
fn inactive(catalogue: &Catalogue) -> Vec<String> {
    embedded_files()
        .filter_map(|(path, _)| {
            let (folder, name) = path.rsplit_once('/')?;
            let id = name.strip_suffix(".md")?;
            let workflow = folder == "workflows" || folder.ends_with("/workflows");
            (workflow && catalogue.get(id).is_none()).then(|| id.to_owned())
        })
        .collect()
}
