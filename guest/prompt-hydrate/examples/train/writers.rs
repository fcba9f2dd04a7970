//! Cross-validation by writer: each model is trained without all that one writer wrote and measured on just that.
//! The file has rows of Q-197 whose ids start with the writer's letter.

use std::collections::{BTreeMap, BTreeSet};

use prompt_hydrate::catalogue::Catalogue;
use prompt_hydrate::route::model::Model;
use prompt_hydrate::route::score::{self, Scored};
use prompt_hydrate::route::thresholds::Thresholds;
use prompt_hydrate::route::{Judge, Question, explain_by, model};
use prompt_hydrate::session::Facts;
use prompt_hydrate::text::Prompt;

use super::training::regression::{Sample, Settings, train};
use super::training::{self, Labelled};

/// A prompt of a writer: what was decided without scores, or what the scores are.
struct Row {
    writer: char,
    workflow: String,
    prompt: String,
    /// Route and abstention where no score decides.
    fixed: Option<(String, bool)>,
    candidates: Vec<Scored>,
    features: Vec<(u32, f64)>,
}

fn rows(catalogue: &Catalogue, file: &str) -> Vec<Row> {
    let text = std::fs::read_to_string(file).expect("readable");
    let lines: Vec<&str> = text.lines().collect();
    let half = lines.len() / 2;
    let read = |lines: &[&str]| -> Vec<Row> {
        lines
            .iter()
            .map(|line| {
                let row: serde_json::Value = serde_json::from_str(line).expect("JSON");
                let text = |key: &str| row[key].as_str().unwrap_or_default().to_owned();
                let prompt = Prompt::read(&text("prompt"));
                let question = Question {
                    prompt: &prompt,
                    session: &Facts::default(),
                    catalogue,
                    skills: None,
                    workflow: None,
                    slash_is_skill: true,
                };
                let judge = Judge {
                    model: model::embedded(),
                    thresholds: Thresholds::embedded(),
                };
                let (route, why) = explain_by(&question, &judge);
                let fixed = (why.forced.is_some() || why.secondary.is_some())
                    .then(|| (route.workflow.clone(), route.abstained));
                Row {
                    writer: text("id").chars().next().unwrap_or('?'),
                    workflow: text("expected"),
                    prompt: text("prompt"),
                    fixed,
                    candidates: why
                        .candidates
                        .into_iter()
                        .map(|one| Scored {
                            workflow: one.workflow,
                            r: one.r,
                            b: one.b,
                            m: one.m,
                            total: one.total,
                        })
                        .collect(),
                    features: model::features(&prompt, &route.signals),
                }
            })
            .collect()
    };
    std::thread::scope(|scope| {
        let first = scope.spawn(|| read(&lines[..half]));
        let mut second = read(&lines[half..]);
        let mut all = first.join().expect("joined");
        all.append(&mut second);
        all
    })
}

/// Puts the model's opinion in the place of the embedded one.
fn judge(row: &mut Row, model: &Model, thresholds: &Thresholds) {
    let ids: Vec<String> = row
        .candidates
        .iter()
        .map(|one| one.workflow.clone())
        .collect();
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    let excluded: Vec<&str> = model
        .classes
        .iter()
        .map(String::as_str)
        .filter(|id| !ids.contains(id))
        .collect();
    let opinions = model.probabilities(&row.features, &ids, &excluded);
    for (one, m) in row.candidates.iter_mut().zip(opinions) {
        one.m = m;
    }
    total(row, thresholds);
}

fn total(row: &mut Row, thresholds: &Thresholds) {
    for one in &mut row.candidates {
        let parts = [
            (one.r, thresholds.weight_r),
            (one.b, thresholds.weight_b),
            (one.m, thresholds.weight_m),
        ];
        let weight: f64 = parts
            .iter()
            .filter(|(o, _)| o.is_some())
            .map(|(_, w)| w)
            .sum();
        let sum: f64 = parts.iter().map(|(o, w)| o.unwrap_or_default() * w).sum();
        one.total = sum / weight;
    }
}

/// Rows, right, committed, committed and right, others sent to simple-question; the model's top is right.
#[derive(Default, Clone, Copy)]
struct Counts {
    all: usize,
    right: usize,
    committed: usize,
    precise: usize,
    questions: usize,
    top: usize,
    top_m: usize,
}

impl Counts {
    fn line(&self) -> String {
        let part = |some: usize, of: usize| 100.0 * some as f64 / of.max(1) as f64;
        format!(
            "n {} accuracy {:.1} precision {:.1} coverage {:.1} to-question {} top {:.1} M {:.1}",
            self.all,
            part(self.right, self.all),
            part(self.precise, self.committed),
            part(self.committed, self.all),
            self.questions,
            part(self.top, self.all),
            part(self.top_m, self.all)
        )
    }
}

fn count(
    rows: &[Row],
    thresholds: &Thresholds,
    key: impl Fn(&Row) -> String,
) -> BTreeMap<String, Counts> {
    let mut counts: BTreeMap<String, Counts> = BTreeMap::new();
    for row in rows {
        let verdict = score::decide(&row.candidates, thresholds);
        let best = verdict
            .best
            .map(|best| row.candidates[best].workflow.clone());
        let (route, abstained) = row.fixed.clone().unwrap_or_else(|| match &best {
            Some(best) if verdict.decision != "abstain" => (best.clone(), false),
            _ => ("plan-mode".to_owned(), true),
        });
        let top_m = row
            .candidates
            .iter()
            .max_by(|one, other| one.m.unwrap_or(0.0).total_cmp(&other.m.unwrap_or(0.0)));
        let good = route == row.workflow;
        for key in [key(row), "all".to_owned()] {
            let one = counts.entry(key).or_default();
            one.all += 1;
            one.right += usize::from(good);
            one.committed += usize::from(!abstained);
            one.precise += usize::from(good && !abstained);
            one.questions += usize::from(!good && !abstained && route == "simple-question");
            one.top += usize::from(best.as_ref() == Some(&row.workflow));
            one.top_m += usize::from(top_m.is_some_and(|one| one.workflow == row.workflow));
        }
    }
    counts
}

/// Prints the figures of each writer.
pub fn measure(catalogue: &Catalogue, file: &str) {
    let mut rows = rows(catalogue, file);
    let classes = training::classes(catalogue);
    let sources = training::Sources::read(&classes);
    let material = training::material(catalogue, &sources);
    let samples = training::samples(&classes, &material);
    let by: BTreeMap<(String, String), char> = rows
        .iter()
        .map(|row| ((row.workflow.clone(), row.prompt.clone()), row.writer))
        .collect();
    let writer = |one: &Labelled| by.get(&(one.workflow.clone(), one.prompt.clone())).copied();
    let thresholds = Thresholds::embedded();
    let letters: BTreeSet<char> = rows.iter().map(|row| row.writer).collect();
    let trained = |letter: char| -> Model {
        let chosen: Vec<Sample> = samples
            .iter()
            .zip(&material)
            .filter(|(_, one)| writer(one) != Some(letter))
            .map(|(sample, _)| sample.clone())
            .collect();
        train(&classes, &chosen, &Settings::CHOSEN)
    };
    for letter in letters {
        let model = trained(letter);
        for row in rows.iter_mut().filter(|row| row.writer == letter) {
            judge(row, &model, &thresholds);
        }
    }
    for (writer, counts) in count(&rows, &thresholds, |row| row.writer.to_string()) {
        println!("{writer} {}", counts.line());
    }
    for (workflow, counts) in count(&rows, &thresholds, |row| row.workflow.clone()) {
        println!("{workflow} {}", counts.line());
    }
}
