//! What `route --explain` prints, as one object in the order of its members.

use serde::Serialize;

/// Why a prompt took its route.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Explanation {
    /// The main text.
    pub main: String,
    /// What was taken out, and what it was.
    pub stripped: Vec<Stripped>,
    /// The signals, each with its words.
    pub signals: Vec<Fired>,
    /// The words that make the prompt mutating.
    pub mutating: Option<String>,
    /// The row that decided before scoring, by name (14.3).
    pub forced: Option<String>,
    /// What was excluded, and why.
    pub veto: Vec<String>,
    /// One row for each candidate, in decision order.
    pub candidates: Vec<Candidate>,
    /// Weights and thresholds by name.
    pub thresholds: Vec<(&'static str, f64)>,
    /// Between the best and the second.
    pub margin: f64,
    /// The decision row by name: `forced`, `agree`, `alone`, `abstain`.
    pub decision: &'static str,
    /// Id of the workflow.
    pub workflow: String,
    ///
    pub confidence: f64,
    /// Nothing was certain enough.
    pub abstained: bool,
    /// Up to three others with their totals.
    pub alternatives: Vec<(String, f64)>,
    /// The workflow of the other half.
    pub secondary: Option<String>,
    /// The skill that is delegated to.
    pub skill: Option<String>,
}

/// A stretch that is not main text.
#[derive(Debug, Clone, Serialize)]
pub struct Stripped {
    /// `fence`, `output`, `trace`, `log`, `diff` or `greeting`.
    pub kind: &'static str,
    /// As it stood in the prompt.
    pub text: String,
}

/// A signal that fired.
#[derive(Debug, Clone, Serialize)]
pub struct Fired {
    /// Its name.
    pub signal: &'static str,
    /// What caused it.
    pub words: String,
}

/// The opinions on one workflow; `None` where it has no such opinion.
#[derive(Debug, Clone, Serialize)]
pub struct Candidate {
    /// Id of the workflow.
    pub workflow: String,
    /// By signals.
    pub r: Option<f64>,
    /// By likeness.
    pub b: Option<f64>,
    /// By the model.
    pub m: Option<f64>,
    /// The weighted mean.
    pub total: f64,
}
