//! `hydrant route`: which workflow a prompt takes, and why.

use std::fmt::Write;
use std::path::PathBuf;

use clap::Args;
use hydrant::hook::{Material, Warning};
use serde_json::Value;

use super::output::{Exit, Format, print, print_line};
use super::prompt::{CALL, PlannerOptions, answered, prompt, usage_error, warn};

/// Say which workflow a prompt takes: `<id> <confidence>`, and `abstained` where none was certain enough
#[derive(Args)]
pub(super) struct Arguments {
    /// The prompt; `-` reads it from stdin
    prompt: String,

    /// Say how it was decided
    #[arg(long)]
    explain: bool,

    /// Form of the answer [default: text on a terminal, json otherwise]
    #[arg(long, value_enum)]
    format: Option<Format>,

    /// Transcript of the session, JSON Lines
    #[arg(long, value_name = "FILE")]
    transcript: Option<PathBuf>,

    /// Take this workflow, whatever the prompt says
    #[arg(long, value_name = "ID")]
    workflow: Option<String>,

    #[command(flatten)]
    options: PlannerOptions,
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<Exit> {
    let mut warnings = Vec::new();
    let settings = arguments.options.settings(&mut warnings)?;
    let mut material = Material {
        prompt: prompt(&arguments.prompt)?,
        workflow: arguments.workflow.clone(),
        slash_is_skill: true,
        ..Material::default()
    };
    if let Some(file) = &arguments.transcript {
        let tail = hydrant::hook::transcript_tail(file)
            .map_err(|error| usage_error(format!("{}: {error}", file.display())))?;
        material.transcript_tail = Some(tail);
    }
    let planner = arguments.options.planner(&settings)?;
    let answer = answered(planner.route(&material, &settings, CALL))?;
    warnings.extend(answer.warnings.into_iter().map(Warning::from));
    warn(&warnings);
    let explain = answer
        .explain
        .ok_or_else(|| usage_error("the planner explains nothing"))?;
    match (Format::or_default(arguments.format), arguments.explain) {
        (Format::Json, true) => print_line(&explain.to_string())?,
        (Format::Json, false) => print_line(&short(&explain).to_string())?,
        (Format::Text, false) => print_line(&line(&explain))?,
        (Format::Text, true) => {
            print_line(&line(&explain))?;
            print(explained(&explain).as_bytes())?;
        }
    }
    Ok(Exit::Done)
}

/// The decision alone.
fn short(explain: &Value) -> Value {
    let mut members = serde_json::Map::new();
    for name in [
        "workflow",
        "confidence",
        "abstained",
        "alternatives",
        "skill",
    ] {
        if let Some(value) = explain.get(name) {
            members.insert(name.to_owned(), value.clone());
        }
    }
    Value::Object(members)
}

fn line(explain: &Value) -> String {
    let workflow = explain.get("workflow").and_then(Value::as_str);
    let confidence = explain.get("confidence").and_then(Value::as_f64);
    let abstained = explain.get("abstained").and_then(Value::as_bool) == Some(true);
    format!(
        "{} {:.2}{}",
        plain(workflow.unwrap_or("?")),
        confidence.unwrap_or_default(),
        if abstained { " abstained" } else { "" }
    )
}

/// What `--explain` adds.
fn explained(explain: &Value) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = write_explained(explain, &mut text);
    text
}

fn write_explained(explain: &Value, text: &mut String) -> std::fmt::Result {
    let string = |name: &str| explain.get(name).and_then(Value::as_str).map(plain);
    writeln!(text, "main: {}", string("main").unwrap_or_default())?;
    for stripped in list(explain, "stripped") {
        let member = |name: &str| stripped.get(name).and_then(Value::as_str).map(plain);
        let (kind, part) = (member("kind"), member("text"));
        let (kind, part) = (kind.unwrap_or_default(), part.unwrap_or_default());
        writeln!(text, "stripped {kind}: {part}")?;
    }
    for fired in list(explain, "signals") {
        let member = |name: &str| fired.get(name).and_then(Value::as_str).map(plain);
        let (signal, words) = (member("signal"), member("words"));
        let (signal, words) = (signal.unwrap_or_default(), words.unwrap_or_default());
        writeln!(text, "signal {signal}: {words}")?;
    }
    if let Some(words) = string("mutating") {
        writeln!(text, "mutating: {words}")?;
    }
    writeln!(
        text,
        "forced: {}",
        string("forced").unwrap_or("none".to_owned())
    )?;
    for veto in list(explain, "veto").filter_map(Value::as_str) {
        writeln!(text, "veto: {}", plain(veto))?;
    }
    writeln!(
        text,
        "{:<24} {:>8} {:>8} {:>8}",
        "candidate", "model", "likeness", "total"
    )?;
    for candidate in list(explain, "candidates") {
        let number = |name: &str| match candidate.get(name).and_then(Value::as_f64) {
            Some(number) => format!("{number:.3}"),
            None => "–".to_owned(),
        };
        let id = candidate.get("workflow").and_then(Value::as_str);
        writeln!(
            text,
            "{:<24} {:>8} {:>8} {:>8}",
            plain(id.unwrap_or("?")),
            number("model"),
            number("likeness"),
            number("total")
        )?;
    }
    for (name, value) in pairs(explain.get("thresholds")) {
        writeln!(text, "{}: {value}", plain(&name))?;
    }
    let margin = explain.get("margin").and_then(Value::as_f64);
    writeln!(text, "margin: {:.3}", margin.unwrap_or_default())?;
    writeln!(text, "decision: {}", string("decision").unwrap_or_default())?;
    for (name, value) in pairs(explain.get("alternatives")) {
        writeln!(text, "alternative: {} {value}", plain(&name))?;
    }
    if let Some(skill) = string("skill") {
        writeln!(text, "skill: {skill}")?;
    }
    Ok(())
}

fn list<'a>(explain: &'a Value, name: &str) -> impl Iterator<Item = &'a Value> {
    explain
        .get(name)
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
}

/// Names with numbers, of an object, of pairs, or of objects with a name and a number.
fn pairs(value: Option<&Value>) -> Vec<(String, f64)> {
    let of_item = |item: &Value| {
        let name = item.get(0).or_else(|| item.get("workflow"))?.as_str()?;
        let number = item.get(1).or_else(|| item.get("score"))?.as_f64()?;
        Some((name.to_owned(), number))
    };
    match value {
        Some(Value::Object(members)) => members
            .iter()
            .filter_map(|(name, value)| Some((name.clone(), value.as_f64()?)))
            .collect(),
        Some(Value::Array(items)) => items.iter().filter_map(of_item).collect(),
        _ => Vec::new(),
    }
}

/// One line, without what a terminal would obey.
fn plain(text: &str) -> String {
    text.chars()
        .map(|one| if one.is_control() { ' ' } else { one })
        .collect()
}
