//! `hydrant eval`: how good the planner is on labelled prompts.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::Args;
use hydrant::base::read_bounded;
use hydrant::hook::eval::{
    MAX_FILE_BYTES, Measured, Outcome, Routed, Row, measure, read_rows, report_json, report_text,
};
use hydrant::hook::{Material, Planner, Settings};
use serde::Deserialize;
use serde_json::{Value, json};

use super::output::{Exit, Format, print, print_line};
use super::prompt::{CALL, PlannerOptions, answered, usage, usage_error, warn};

/// Rows of one call of the planner.
const ROWS: usize = 200;

/// Measure the planner on a file of labelled prompts, one JSON object a line
///
/// A row is right when its route is one of `acceptable`; choosing nothing is wrong unless `plan-mode` is acceptable.
/// Exit status 1 below a minimum that is asked for.
#[derive(Args)]
#[command(after_long_help = "\
Row: prompt; expected or primary; optional acceptable, forbidden, mutating, session_context, skip_hydration, skills, id.

Examples:
  hydrant eval prompts.jsonl
  hydrant eval prompts.jsonl --format json --min-accuracy 0.9 --min-precision 0.95")]
pub(super) struct Arguments {
    /// The file
    file: PathBuf,

    /// Form of the report [default: text on a terminal, json otherwise]
    #[arg(long, value_enum)]
    format: Option<Format>,

    /// Exit with status 1 if fewer rows are right, 0 to 1
    #[arg(long, value_name = "X", value_parser = share)]
    min_accuracy: Option<f64>,

    /// Exit with status 1 if fewer rows that were not abstained are right, 0 to 1
    #[arg(long, value_name = "Y", value_parser = share)]
    min_precision: Option<f64>,

    #[command(flatten)]
    options: PlannerOptions,
}

fn share(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(number) if (0.0..=1.0).contains(&number) => Ok(number),
        _ => Err("a number from 0 to 1".to_owned()),
    }
}

/// What the planner says of a row.
#[derive(Deserialize)]
struct Route {
    workflow: String,
    confidence: f64,
    abstained: bool,
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<Exit> {
    let mut warnings = Vec::new();
    let settings = arguments.options.settings(&mut warnings)?;
    warn(&warnings);
    let bytes = read_bounded(&arguments.file, MAX_FILE_BYTES).map_err(usage)?;
    let text = String::from_utf8(bytes).map_err(usage)?;
    let rows = read_rows(&text)
        .map_err(|error| usage_error(format!("{}: {error}", arguments.file.display())))?;
    let planner = arguments.options.planner(&settings)?;
    answered(planner.load())?;
    let active = active(&planner, &settings, &rows)?;
    let started = Instant::now();
    let outcomes = outcomes(&planner, &settings, &rows)?;
    let count = u32::try_from(rows.len().max(1)).unwrap_or(u32::MAX);
    let per_prompt = started.elapsed() / count;
    let measured = measure(&rows, &outcomes, &active);
    report(arguments, &measured, per_prompt)?;
    let below = |least: Option<f64>, value: f64| least.is_some_and(|least| value < least);
    let fails = below(arguments.min_accuracy, measured.accuracy.value)
        || below(arguments.min_precision, measured.precision.value);
    Ok(if fails { Exit::Error } else { Exit::Done })
}

fn report(arguments: &Arguments, measured: &Measured, per_prompt: Duration) -> anyhow::Result<()> {
    match Format::or_default(arguments.format) {
        Format::Json => print_line(&report_json(measured, per_prompt).to_string()),
        Format::Text => print(report_text(measured, per_prompt).as_bytes()),
    }
}

/// Those of the ids that the catalogue in use has: who asks for such a workflow by name gets it, but where the
/// prompt forbids it.
fn active(
    planner: &Planner,
    settings: &Settings,
    rows: &[Row],
) -> anyhow::Result<BTreeSet<String>> {
    let labels: BTreeSet<&String> = rows.iter().flat_map(|row| &row.acceptable).collect();
    // It can always be chosen.
    let mut active = BTreeSet::from(["plan-mode".to_owned()]);
    for label in labels {
        let material = Material {
            prompt: "what is this".to_owned(),
            workflow: Some(label.clone()),
            ..Material::default()
        };
        let answer = answered(planner.route(&material, settings, CALL))?;
        let route: Route =
            serde_json::from_value(answer.explain.unwrap_or_default()).map_err(usage)?;
        if route.workflow == *label {
            active.insert(label.clone());
        }
    }
    Ok(active)
}

fn outcomes(planner: &Planner, settings: &Settings, rows: &[Row]) -> anyhow::Result<Vec<Outcome>> {
    let mut outcomes = Vec::with_capacity(rows.len());
    for some in rows.chunks(ROWS) {
        let asked: Vec<Value> = some
            .iter()
            .filter(|row| row.skip.is_none())
            .map(Row::request)
            .collect();
        let routes = if asked.is_empty() {
            Vec::new()
        } else {
            answered(planner.routes(&asked, settings, CALL))?
        };
        let mut routes = routes.into_iter();
        for row in some {
            outcomes.push(if row.skip.is_some() {
                // Of such a row the hook's decision counts.
                let input = json!({ "prompt": row.prompt, "session_id": "eval" }).to_string();
                let parsed = answered(planner.parse(&input, true, CALL))?;
                Outcome::Skipped(parsed.skip.is_some())
            } else {
                let route = routes.next().unwrap_or_default();
                let route: Route = serde_json::from_value(route).map_err(usage)?;
                Outcome::Routed(Routed {
                    workflow: route.workflow,
                    confidence: route.confidence,
                    abstained: route.abstained,
                })
            });
        }
    }
    Ok(outcomes)
}
