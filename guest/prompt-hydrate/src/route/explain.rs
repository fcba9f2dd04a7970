//! What `route --explain` prints, as one object in the order of its members.

use serde::Serialize;

/// Why a prompt took its route.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Explanation {
    /// The main text.
    pub main: String,
    /// What was taken out, and what it was.
    pub stripped: Vec<Stripped>,
    /// The cues, each with its words.
    pub signals: Vec<Fired>,
    /// The words that ask for a change.
    pub mutating: Option<String>,
    /// What decided before the scores.
    pub forced: Option<String>,
    /// What was excluded, and why.
    pub veto: Vec<String>,
    /// One row for each candidate, in decision order.
    pub candidates: Vec<Candidate>,
    /// Thresholds by name.
    pub thresholds: Vec<(&'static str, f64)>,
    /// From the best total to the second.
    pub margin: f64,
    /// `forced`, `certain` or `abstain`.
    pub decision: &'static str,
    /// Id of the workflow.
    pub workflow: String,
    /// How often such a route is right.
    pub confidence: f64,
    /// Whether nothing was certain enough.
    pub abstained: bool,
    /// Up to three others with their totals.
    pub alternatives: Vec<(String, f64)>,
    /// The skill that is delegated to.
    pub skill: Option<String>,
}

/// A stretch that is not main text.
#[derive(Debug, Clone, Serialize)]
pub struct Stripped {
    /// `fence`, `output`, `trace`, `log` or `diff`.
    pub kind: &'static str,
    /// The text as it was in the prompt.
    pub text: String,
}

/// A cue that holds.
#[derive(Debug, Clone, Serialize)]
pub struct Fired {
    /// Its name.
    pub signal: &'static str,
    /// What caused it.
    pub words: String,
}

/// The scores of one workflow.
#[derive(Debug, Clone, Serialize)]
pub struct Candidate {
    /// Id of the workflow.
    pub workflow: String,
    /// The model's probability; `None` for a workflow that it was not trained with.
    pub model: Option<f64>,
    /// The likeness to its own texts; `None` for a workflow that the model knows.
    pub likeness: Option<f64>,
    /// The share of all candidates.
    pub total: f64,
}
