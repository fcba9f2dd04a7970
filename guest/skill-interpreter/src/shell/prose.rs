//! Lines of a fence that no shell was meant to run: lists, labels, and the JSON that a command answers.
//!
//! They are looked for only where a line and a command begin, so what stands in quotes or here-documents is never taken for one of
//! them, and they hold nothing that a shell would run or read on with: no operator, substitution or open quote. What is left out
//! is part of no operation.

/// Lines of a JSON answer that are read; a longer one is a command like any other text.
const JSON_LINES: usize = 1_000;

/// How many lines begin here that are no commands.
pub(super) fn lines(text: &str) -> usize {
    let Some(first) = text.lines().next() else {
        return 0;
    };
    if first.starts_with(['{', '[']) {
        return json(text);
    }
    if is_fence_mark(first) {
        return 1;
    }
    // A bracket that closes what no command opened.
    let is_bracket = matches!(first.trim_end(), "}" | "}," | "]" | "],");
    if is_bracket || is_address(first) || is_member(first) {
        return 1;
    }
    let is_prose = is_item(first) || is_label(first) || begins_as_no_command(first);
    usize::from(is_prose && !first.contains("<<") && !runs_something(first))
}

/// The mark of a fence within the fence, which an author or a converter left there. Each line behind it is read for what it is.
fn is_fence_mark(line: &str) -> bool {
    let language = line.trim_end().strip_prefix("```");
    language.is_some_and(|language| language.bytes().all(|b| b.is_ascii_alphanumeric()))
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

/// An address with placeholders in any script, which stands alone.
fn is_address(line: &str) -> bool {
    let line = line.trim_end();
    let is_plain = |c: char| c.is_alphanumeric() || "-._~:/?#[]@!,%={}<>".contains(c);
    ["http://", "https://"]
        .iter()
        .any(|start| line.starts_with(start))
        && line.chars().all(is_plain)
        && !line.contains("<<")
}

/// A member of JSON: `"kind": "box",`. What stands in its strings is text, whatever it looks like.
fn is_member(line: &str) -> bool {
    let name = line.strip_prefix('"').and_then(|rest| rest.split_once('"'));
    name.is_some_and(|(_, after)| after.starts_with(':')) && is_json_line(line)
}

/// An arrow, a tick, a sentence in another script, a member of JSON. No command has such a name.
fn begins_as_no_command(line: &str) -> bool {
    line.starts_with(|c: char| !c.is_ascii()) && !line.starts_with(['“', '”', '‘', '’'])
        || line
            .strip_prefix('"')
            .and_then(|rest| rest.split_once('"'))
            .is_some_and(|(_, after)| after.starts_with(':'))
}

/// Whether a shell would run a part of the line, or read on in the next one. An apostrophe within a word (`It's`) is none of its
/// quotes to a reader.
fn runs_something(line: &str) -> bool {
    let is_apostrophe = |at: usize| {
        let before = line.get(..at).and_then(|text| text.chars().next_back());
        let after = line.get(at + 1..).and_then(|text| text.chars().next());
        before.is_some_and(char::is_alphanumeric) && after.is_some_and(char::is_alphanumeric)
    };
    let quotes = line
        .match_indices('\'')
        .filter(|(at, _)| !is_apostrophe(*at));
    line.contains([';', '|', '&', '`'])
        || line.contains("$(")
        || line.trim_end().ends_with('\\')
        || line.matches('"').count() % 2 == 1
        || quotes.count() % 2 == 1
}

/// The lines of a JSON text, up to the line that closes it; none where a line is no part of one.
fn json(text: &str) -> usize {
    let close = if text.starts_with('{') { "}" } else { "]" };
    let mut is_first = true;
    for (index, line) in text.lines().take(JSON_LINES).enumerate() {
        if index > 0 && line.trim_end() == close {
            return if is_first { 0 } else { index + 1 };
        }
        if !is_json_line(line) {
            return 0;
        }
        is_first &= index == 0 || line.trim().is_empty();
    }
    0
}

/// Whether a line may stand in a JSON text: strings, names with their colon, numbers, `true`, `null`, an ellipsis, a remark.
fn is_json_line(line: &str) -> bool {
    if line.contains('`') || line.contains("$(") {
        return false;
    }
    let mut rest = line;
    let mut begins = true;
    while let Some((before, after)) = rest.split_once('"') {
        if !is_outside_strings(before) {
            return false;
        }
        let mut is_escaped = false;
        let end = after.find(|c: char| {
            let closes = c == '"' && !is_escaped;
            is_escaped = c == '\\' && !is_escaped;
            closes
        });
        let Some(behind) = end.and_then(|end| after.get(end + 1..)) else {
            return false;
        };
        let next = behind.trim_start().chars().next();
        // The first string of a line is a command's name to a shell, unless punctuation of JSON follows.
        if begins && !next.is_none_or(|c| matches!(c, ':' | ',' | ']' | '}')) {
            return false;
        }
        begins = false;
        rest = behind;
    }
    is_outside_strings(rest)
}

/// Whether text between strings is punctuation of JSON, a number, a constant, an ellipsis or a remark behind `//`.
fn is_outside_strings(text: &str) -> bool {
    let (text, remark) = text.split_once("//").unwrap_or((text, ""));
    let is_word = |word: &str| {
        matches!(word, "true" | "false" | "null")
            || word
                .bytes()
                .all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'-' | b'+' | b'e' | b'E'))
    };
    text.split(|c: char| c.is_whitespace() || matches!(c, '{' | '}' | '[' | ']' | ':' | ','))
        .all(is_word)
        && !remark.contains([';', '|', '&', '<', '>', '\''])
}
