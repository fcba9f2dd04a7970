//! Lines of a fence that no shell was meant to run: lists, labels, and the JSON that a command answers.
//!
//! They are looked for only where a command could begin, so what stands in quotes or here-documents is never taken for one of
//! them. What is left out is part of no operation.

/// How many lines begin here that are no commands.
pub(super) fn lines(text: &str) -> usize {
    let Some(first) = text.lines().next() else {
        return 0;
    };
    if first.starts_with(['{', '[']) {
        return json(text);
    }
    let is_prose = is_item(first) || is_label(first) || begins_as_no_command(first);
    usize::from(is_prose && !first.contains("<<"))
}

/// `- text`, `* text`, `1. text`
fn is_item(line: &str) -> bool {
    let after_number = line.trim_start_matches(|c: char| c.is_ascii_digit());
    ["- ", "* "].iter().any(|mark| line.starts_with(mark))
        || after_number.len() < line.len()
            && [". ", ") "]
                .iter()
                .any(|mark| after_number.starts_with(mark))
}

/// `Good answers:`
fn is_label(line: &str) -> bool {
    let is_plain = |c: char| c.is_alphanumeric() || " ,'/()-".contains(c);
    line.trim_end().strip_suffix(':').is_some_and(|label| {
        label.starts_with(|c: char| c.is_ascii_uppercase()) && label.chars().all(is_plain)
    })
}

/// An arrow, a tick, a sentence in another script, a fence within the fence, a member of JSON. No command has such a name.
fn begins_as_no_command(line: &str) -> bool {
    line.starts_with(|c: char| !c.is_ascii()) && !line.starts_with(['“', '”', '‘', '’'])
        || line.starts_with("```")
        || line
            .strip_prefix('"')
            .and_then(|rest| rest.split_once('"'))
            .is_some_and(|(_, after)| after.starts_with(':'))
}

/// The lines of a JSON text, up to the line that closes it.
fn json(text: &str) -> usize {
    let mut inner = text
        .split_once('\n')
        .filter(|(first, _)| matches!(first.trim_end(), "{" | "["))
        .map(|(_, rest)| rest.lines().map(str::trim_start))
        .into_iter()
        .flatten()
        .filter(|line| !line.is_empty());
    if !inner
        .next()
        .is_some_and(|line| line.starts_with(['"', '{']))
    {
        return 0;
    }
    let close = if text.starts_with('{') { "}" } else { "]" };
    text.lines()
        .position(|line| line.trim_end() == close)
        .map_or(0, |position| position + 1)
}
