//! Reports of an evaluation, for people and for programs.

use std::fmt::Write;
use std::time::Duration;

use serde_json::{Value, json};

use super::measure::{Measured, Proportion};

/// As one JSON object.
#[must_use]
pub fn report_json(measured: &Measured, per_prompt: Duration) -> Value {
    let mut report = json!(measured);
    if let Value::Object(members) = &mut report {
        let milliseconds = per_prompt.as_secs_f64() * 1000.0;
        members.insert("ms_per_prompt".into(), json!(milliseconds));
    }
    report
}

/// As text.
#[must_use]
pub fn report_text(measured: &Measured, per_prompt: Duration) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = write(measured, per_prompt, &mut text);
    text
}

fn write(measured: &Measured, per_prompt: Duration, text: &mut String) -> std::fmt::Result {
    writeln!(
        text,
        "n            {} of {} rows",
        measured.n, measured.rows
    )?;
    writeln!(text, "accuracy     {}", proportion(measured.accuracy))?;
    writeln!(text, "precision    {}", proportion(measured.precision))?;
    writeln!(text, "coverage     {}", proportion(measured.coverage))?;
    writeln!(text, "abstentions  {}", measured.abstentions)?;
    if measured.skip.of > 0 {
        let skip = measured.skip;
        writeln!(text, "skip rows    {} of {} right", skip.hits, skip.of)?;
    }
    let lines = |name: &str, lines: &[usize]| {
        let shown: Vec<_> = lines.iter().map(ToString::to_string).collect();
        match shown.as_slice() {
            [] => format!("{name} 0\n"),
            shown => format!("{name} {} (lines {})\n", shown.len(), shown.join(", ")),
        }
    };
    text.push_str(&lines("forbidden   ", &measured.forbidden_hits));
    text.push_str(&lines("change→question", &measured.mutating_as_question));
    text.push_str(&lines("out of catalogue", &measured.out_of_catalogue));
    let milliseconds = per_prompt.as_secs_f64() * 1000.0;
    writeln!(text, "per prompt   {milliseconds:.2} ms")?;
    writeln!(text, "\nrecall")?;
    for recall in &measured.recall {
        let Proportion {
            hits, of, value, ..
        } = recall.recall;
        writeln!(text, "  {:<24} {value:.2}  {hits}/{of}", recall.workflow)?;
    }
    writeln!(text, "\nconfusion (expected → routed)")?;
    for cell in &measured.confusion {
        writeln!(
            text,
            "  {:>5}  {} → {}",
            cell.count, cell.expected, cell.routed
        )?;
    }
    if !measured.wrong.is_empty() {
        writeln!(text, "\nwrong rows")?;
    }
    for wrong in &measured.wrong {
        let id = wrong.id.as_deref().map(|id| format!(" [{}]", plain(id)));
        writeln!(
            text,
            "  line {}{}: {}{} {:.2}, not {}: {}",
            wrong.line,
            id.unwrap_or_default(),
            wrong.routed,
            if wrong.abstained { " abstained" } else { "" },
            wrong.confidence,
            plain(&wrong.acceptable.join("/")),
            plain(&wrong.prompt)
        )?;
    }
    Ok(())
}

fn proportion(of: Proportion) -> String {
    let Proportion {
        hits,
        of,
        value,
        low,
        high,
    } = of;
    format!("{value:.3}  [{low:.3}, {high:.3}]  {hits}/{of}")
}

/// One line, without what a terminal would obey.
fn plain(text: &str) -> String {
    text.chars()
        .map(|one| if one.is_control() { ' ' } else { one })
        .collect()
}
