//! Counting what the planner got right.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::row::Row;

/// A part of a whole, with its 95 % Wilson interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Proportion {
    /// How many.
    pub hits: usize,
    /// Of how many.
    pub of: usize,
    /// 0 to 1; 0 of none.
    pub value: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// How many rows of a workflow were found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Recall {
    /// The label.
    pub workflow: String,
    /// Right rows of that label.
    pub recall: Proportion,
}

/// A cell of the confusion matrix.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Confusion {
    /// The label.
    pub expected: String,
    /// The route.
    pub routed: String,
    /// Rows.
    pub count: usize,
}

/// A row that went elsewhere.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Wrong {
    /// In the file.
    pub line: usize,
    /// Its id, if it has one.
    pub id: Option<String>,
    /// What the user typed, at most 200 characters of it.
    pub prompt: String,
    /// What would have been right.
    pub acceptable: Vec<String>,
    /// Where it went.
    pub routed: String,
    /// How sure the planner was.
    pub confidence: f64,
    /// Whether it chose nothing.
    pub abstained: bool,
}

/// What came out.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Measured {
    /// Rows of the file.
    pub rows: usize,
    /// Counted rows.
    pub n: usize,
    /// Right rows of the counted ones.
    pub accuracy: Proportion,
    /// Right rows of those that were not abstained.
    pub precision: Proportion,
    /// Rows that were not abstained.
    pub coverage: Proportion,
    /// Rows that were abstained.
    pub abstentions: usize,
    /// Rows that went where they must not, by line.
    pub forbidden_hits: Vec<usize>,
    /// Changes that went to `simple-question`, by line.
    pub mutating_as_question: Vec<usize>,
    /// Rows without an active route that would be right, by line.
    pub out_of_catalogue: Vec<usize>,
    /// Rows that are scored on being skipped alone, and how many were right.
    pub skip: Proportion,
    /// By label.
    pub recall: Vec<Recall>,
    /// Label and route of every counted row.
    pub confusion: Vec<Confusion>,
    /// The rows that are not right.
    pub wrong: Vec<Wrong>,
}

/// Where a row went.
#[derive(Debug, Clone, PartialEq)]
pub struct Routed {
    /// The workflow.
    pub workflow: String,
    /// 0 to 1.
    pub confidence: f64,
    /// Whether it chose nothing.
    pub abstained: bool,
}

/// Compares rows with where they went; a row that is about skipping has its skip decision instead.
#[must_use]
pub fn measure(rows: &[Row], results: &[Outcome], active: &BTreeSet<String>) -> Measured {
    let mut count = Counting::default();
    for (row, outcome) in rows.iter().zip(results) {
        count.row(row, outcome, active);
    }
    count.end(rows.len())
}

/// What came of a row.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// It is scored on its route.
    Routed(Routed),
    /// It is scored on being skipped by the hook: whether it was.
    Skipped(bool),
}

#[derive(Default)]
struct Counting {
    n: usize,
    right: usize,
    committed: usize,
    right_committed: usize,
    skips: (usize, usize),
    forbidden_hits: Vec<usize>,
    mutating_as_question: Vec<usize>,
    out_of_catalogue: Vec<usize>,
    recall: BTreeMap<String, (usize, usize)>,
    confusion: BTreeMap<(String, String), usize>,
    wrong: Vec<Wrong>,
}

/// Where a change must never go.
const QUESTION: &str = "simple-question";

impl Counting {
    fn row(&mut self, row: &Row, outcome: &Outcome, active: &BTreeSet<String>) {
        let routed = match outcome {
            Outcome::Skipped(skipped) => {
                self.skips.1 = self.skips.1.saturating_add(1);
                if row.skip == Some(*skipped) {
                    self.skips.0 = self.skips.0.saturating_add(1);
                }
                return;
            }
            Outcome::Routed(routed) => routed,
        };
        let forbids = |id: &str| row.forbidden.iter().any(|forbidden| forbidden == id);
        if forbids(&routed.workflow) {
            self.forbidden_hits.push(row.line);
        }
        let must_not_ask = row.mutating == Some(true) || forbids(QUESTION);
        if must_not_ask && routed.workflow == QUESTION {
            self.mutating_as_question.push(row.line);
        }
        if !row.acceptable.iter().any(|id| active.contains(id)) {
            self.out_of_catalogue.push(row.line);
            return;
        }
        let right = row.acceptable.contains(&routed.workflow)
            // Having chosen nothing is right only where choosing to plan first is.
            && (!routed.abstained || row.acceptable.iter().any(|id| id == "plan-mode"));
        self.n = self.n.saturating_add(1);
        let one = usize::from(right);
        self.right = self.right.saturating_add(one);
        if !routed.abstained {
            self.committed = self.committed.saturating_add(1);
            self.right_committed = self.right_committed.saturating_add(one);
        }
        let (hits, of) = self.recall.entry(row.expected.clone()).or_default();
        *hits = hits.saturating_add(one);
        *of = of.saturating_add(1);
        let shown = if routed.abstained {
            format!("{} (abstained)", routed.workflow)
        } else {
            routed.workflow.clone()
        };
        let cell = self
            .confusion
            .entry((row.expected.clone(), shown))
            .or_default();
        *cell = cell.saturating_add(1);
        if !right {
            self.wrong.push(Wrong {
                line: row.line,
                id: row.id.clone(),
                prompt: row.prompt.chars().take(200).collect(),
                acceptable: row.acceptable.clone(),
                routed: routed.workflow.clone(),
                confidence: routed.confidence,
                abstained: routed.abstained,
            });
        }
    }

    fn end(self, rows: usize) -> Measured {
        Measured {
            rows,
            n: self.n,
            accuracy: Proportion::of(self.right, self.n),
            precision: Proportion::of(self.right_committed, self.committed),
            coverage: Proportion::of(self.committed, self.n),
            abstentions: self.n.saturating_sub(self.committed),
            forbidden_hits: self.forbidden_hits,
            mutating_as_question: self.mutating_as_question,
            out_of_catalogue: self.out_of_catalogue,
            skip: Proportion::of(self.skips.0, self.skips.1),
            recall: self
                .recall
                .into_iter()
                .map(|(workflow, (hits, of))| Recall {
                    workflow,
                    recall: Proportion::of(hits, of),
                })
                .collect(),
            confusion: self
                .confusion
                .into_iter()
                .map(|((expected, routed), count)| Confusion {
                    expected,
                    routed,
                    count,
                })
                .collect(),
            wrong: self.wrong,
        }
    }
}

impl Proportion {
    /// `hits` of `of`.
    #[must_use]
    pub fn of(hits: usize, of: usize) -> Self {
        let number = |count: usize| f64::from(u32::try_from(count).unwrap_or(u32::MAX));
        let (part, whole) = (number(hits), number(of));
        if of == 0 {
            return Self {
                hits,
                of,
                value: 0.0,
                low: 0.0,
                high: 1.0,
            };
        }
        // The 0.975 quantile of the normal distribution.
        const Z: f64 = 1.959_963_984_540_054;
        let value = part / whole;
        let square = Z * Z / whole;
        let middle = value + square / 2.0;
        let spread = Z * (value * (1.0 - value) / whole + square / whole / 4.0).sqrt();
        Self {
            hits,
            of,
            value,
            low: ((middle - spread) / (1.0 + square)).max(0.0),
            high: ((middle + spread) / (1.0 + square)).min(1.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hook::eval::read_rows;

    fn routed(workflow: &str, abstained: bool) -> Outcome {
        Outcome::Routed(Routed {
            workflow: workflow.to_owned(),
            confidence: 0.5,
            abstained,
        })
    }

    fn active() -> BTreeSet<String> {
        ["a", "b", "plan-mode", "simple-question"]
            .map(str::to_owned)
            .into()
    }

    fn measured(rows: &str, outcomes: &[Outcome]) -> Measured {
        measure(&read_rows(rows).unwrap(), outcomes, &active())
    }

    #[test]
    fn an_abstention_is_wrong_unless_planning_first_is_acceptable() {
        let rows = "{\"prompt\":\"1\",\"expected\":\"a\"}\n\
            {\"prompt\":\"2\",\"expected\":\"a\",\"acceptable\":[\"a\",\"plan-mode\"]}\n\
            {\"prompt\":\"3\",\"expected\":\"a\"}\n\
            {\"prompt\":\"4\",\"expected\":\"a\"}";
        let found = measured(
            rows,
            &[
                routed("plan-mode", true),
                routed("plan-mode", true),
                routed("a", false),
                routed("b", false),
            ],
        );
        assert_eq!((found.accuracy.hits, found.accuracy.of), (2, 4));
        assert_eq!((found.precision.hits, found.precision.of), (1, 2));
        assert_eq!((found.coverage.hits, found.abstentions), (2, 2));
        assert_eq!(found.wrong.len(), 2);
    }

    #[test]
    fn rows_outside_the_catalogue_are_shown_and_not_counted() {
        let rows = "{\"prompt\":\"1\",\"expected\":\"email-reply\"}\n{\"prompt\":\"2\",\"expected\":\"a\"}";
        let found = measured(rows, &[routed("a", false), routed("a", false)]);
        assert_eq!((found.n, found.out_of_catalogue), (1, vec![1]));
    }

    #[test]
    fn rows_about_skipping_are_scored_on_that_alone() {
        let rows = "{\"prompt\":\"/x\",\"skip_hydration\":true}\n\
            {\"prompt\":\"x\",\"expected\":\"a\",\"skip_hydration\":false}";
        let found = measured(rows, &[Outcome::Skipped(true), Outcome::Skipped(true)]);
        assert_eq!((found.n, found.skip.hits, found.skip.of), (0, 1, 2));
    }

    #[test]
    fn a_change_that_goes_to_a_question_is_told_by_line() {
        let rows = "{\"prompt\":\"1\",\"expected\":\"a\",\"mutating\":true}\n\
            {\"prompt\":\"2\",\"expected\":\"a\",\"forbidden\":[\"simple-question\"]}\n\
            {\"prompt\":\"3\",\"expected\":\"simple-question\"}";
        let found = measured(rows, &vec![routed("simple-question", false); 3]);
        assert_eq!(found.mutating_as_question, [1, 2]);
        assert_eq!(found.forbidden_hits, [2]);
    }

    /// Wilson's interval of 9 in 10, from the closed formula: 0.5958 to 0.9821.
    #[test]
    fn the_interval_is_wilsons() {
        let found = Proportion::of(9, 10);
        assert!((found.low - 0.5958).abs() < 1e-4, "{found:?}");
        assert!((found.high - 0.9821).abs() < 1e-4, "{found:?}");
        assert_eq!(Proportion::of(0, 0).value, 0.0);
        assert!(Proportion::of(10, 10).high <= 1.0);
    }
}
