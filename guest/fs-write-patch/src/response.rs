//! The response.

use kit::SkillError;
use kit::path::Path;
use serde::Serialize;

use crate::diff::Kind;
use crate::outcome::Outcome;

/// Rejects of a response.
const MAX_REJECTS: usize = 100;

/// Notes of a response.
const MAX_NOTES: usize = 100;

/// Why a hunk or a section is rejected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Reason {
    ContextMismatch,
    Ambiguous,
    TargetMissing,
    TargetExists,
    NotRegular,
    NotEmpty,
    BinaryPatch,
    Mode,
}

#[derive(Debug, Serialize)]
struct Reject {
    file: String,
    /// From 1; 0 stands for the whole file.
    hunk: usize,
    reason: Reason,
    message: String,
}

/// The first hundred rejects, in the order of the diff.
#[derive(Debug, Default)]
pub(crate) struct Rejects {
    first: Vec<Reject>,
    /// Whether there were more than are kept.
    pub(crate) truncated: bool,
}

impl Rejects {
    pub(crate) fn add(&mut self, path: &Path, hunk: usize, reason: Reason, message: &str) {
        if self.first.len() == MAX_REJECTS {
            self.truncated = true;
            return;
        }
        self.first.push(Reject {
            file: path.shown().to_owned(),
            hunk,
            reason,
            message: message.to_owned(),
        });
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.first.is_empty()
    }
}

#[derive(Debug, Serialize)]
struct Written<'a> {
    path: &'a str,
    action: Kind,
    hunks: usize,
}

#[derive(Debug, Serialize)]
struct Response<'a> {
    applied: bool,
    files_changed: usize,
    hunks_applied: usize,
    rejects: Vec<Reject>,
    files: Vec<Written<'a>>,
    rejects_truncated: bool,
    /// What of the files above was read otherwise than it is written.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
}

/// What the call answers; `applied`: the outcomes were written and not only computed.
pub(crate) fn to_json(
    applied: bool,
    outcomes: &[Outcome<'_>],
    rejects: Rejects,
) -> Result<Vec<u8>, SkillError> {
    let files = outcomes.iter().map(|outcome| Written {
        path: outcome.target.path.shown(),
        action: outcome.action,
        hunks: outcome.hunks,
    });
    let notes = outcomes.iter().flat_map(|outcome| {
        let path = outcome.target.path.shown();
        outcome
            .notes
            .iter()
            .map(move |note| format!("{path}: {note}"))
    });
    let response = Response {
        applied,
        files_changed: outcomes.len(),
        hunks_applied: outcomes.iter().map(|outcome| outcome.hunks).sum(),
        rejects: rejects.first,
        files: files.collect(),
        rejects_truncated: rejects.truncated,
        notes: notes.take(MAX_NOTES).collect(),
    };
    serde_json::to_vec(&response)
        .map_err(|error| SkillError::new("internal", &format!("the response: {error}")))
}
