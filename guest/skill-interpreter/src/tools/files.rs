//! Cat, head and tail, of files and of streams.

use super::{Tool, direct, jq, without_final_newline};
use crate::draft::{DraftStage, Excerpt, Range, Template};
use crate::http_command::{Invocation, Stdin};
use crate::shell::globs;

pub(super) fn cat(invocation: &Invocation<'_>) -> Tool {
    let operands: Vec<&Template> = invocation.argv.iter().skip(1).collect();
    if operands.iter().any(|word| is_option(word)) {
        return direct::run(invocation);
    }
    if operands.is_empty() || is_stdin(&operands) {
        return match invocation.stdin {
            // `cat` with a here-document prints it.
            Stdin::Text(text) => Tool::Stages(vec![DraftStage::Println {
                text: without_final_newline(text.clone()),
            }]),
            Stdin::Nothing | Stdin::Previous => Tool::Stages(vec![DraftStage::TextTransform {
                tool: "cat".to_owned(),
                args: Vec::new(),
            }]),
        };
    }
    read(invocation, &operands, None, "cat")
}

fn read(
    invocation: &Invocation<'_>,
    files: &[&Template],
    excerpt: Option<Excerpt>,
    name: &str,
) -> Tool {
    if let Some(construct) = files.iter().find_map(|file| globs::in_operand(file)) {
        return Tool::Script(construct.to_owned());
    }
    if invocation.stdin != Stdin::Nothing
        || files
            .iter()
            .any(|file| file.as_literal().as_deref() == Some("-"))
    {
        return Tool::Script(format!("`{name}` of a file beside an input"));
    }
    Tool::Stages(vec![DraftStage::ReadFile {
        paths: files.iter().map(|file| (*file).clone()).collect(),
        excerpt,
    }])
}

fn is_option(word: &Template) -> bool {
    word.as_literal().as_deref() != Some("-") && jq::starts_like_option(word)
}

fn is_stdin(operands: &[&Template]) -> bool {
    matches!(operands, [only] if only.as_literal().as_deref() == Some("-"))
}

/// head and tail.
pub(super) fn excerpt(name: &str, invocation: &Invocation<'_>) -> Tool {
    let from_end = name == "tail";
    let mut range = None;
    let mut operands: Vec<&Template> = Vec::new();
    let mut words = invocation.argv.iter().skip(1);
    let mut options = true;
    while let Some(word) = words.next() {
        let text = word.as_literal();
        match text.as_deref() {
            Some("--") if options => options = false,
            Some(text) if options && text.starts_with('-') && text != "-" => {
                let Some((unit, value)) = count_option(text) else {
                    return direct::run(invocation);
                };
                let value = match value {
                    Some(value) => Some(value.to_owned()),
                    None => words.next().and_then(Template::as_literal),
                };
                range = value
                    .as_deref()
                    .and_then(|value| count(unit, value, from_end));
                if range.is_none() {
                    return direct::run(invocation);
                }
            }
            None if options && jq::starts_like_option(word) => {
                return Tool::Script(format!("variable in an option of `{name}`"));
            }
            _ => operands.push(word),
        }
    }
    let range = range.unwrap_or(Range::Lines(10));
    if operands.is_empty() || is_stdin(&operands) {
        let stage = DraftStage::TextTransform {
            tool: name.to_owned(),
            args: written(range).into_iter().map(Template::literal).collect(),
        };
        return jq::with_file(invocation, &[], stage);
    }
    if operands.len() > 1 {
        // Several are put out with a heading each.
        return direct::run(invocation);
    }
    read(
        invocation,
        &operands,
        Some(Excerpt { from_end, range }),
        name,
    )
}

#[derive(Clone, Copy)]
enum Unit {
    Lines,
    Bytes,
}

/// `-n N`, `-nN`, `-N`, `-c N`, `--lines=N`, `--bytes N`: the unit, and the value if it is in the same word.
fn count_option(text: &str) -> Option<(Unit, Option<&str>)> {
    for (name, unit) in [("--lines", Unit::Lines), ("--bytes", Unit::Bytes)] {
        if let Some(rest) = text.strip_prefix(name) {
            return match rest.strip_prefix('=') {
                Some(value) => Some((unit, Some(value))),
                None if rest.is_empty() => Some((unit, None)),
                None => None,
            };
        }
    }
    let rest = text.strip_prefix('-')?;
    if let Some(value) = rest.strip_prefix('n') {
        return Some((Unit::Lines, Some(value).filter(|value| !value.is_empty())));
    }
    if let Some(value) = rest.strip_prefix('c') {
        return Some((Unit::Bytes, Some(value).filter(|value| !value.is_empty())));
    }
    rest.bytes()
        .all(|b| b.is_ascii_digit())
        .then_some((Unit::Lines, Some(rest)))
}

fn count(unit: Unit, value: &str, from_end: bool) -> Option<Range> {
    let number = |digits: &str| {
        digits
            .bytes()
            .all(|b| b.is_ascii_digit())
            .then(|| digits.parse::<u64>().ok())
            .flatten()
    };
    let range = match (unit, value.strip_prefix('+'), value.strip_prefix('-')) {
        (Unit::Lines, Some(value), _) if from_end => Range::FromLine(number(value)?),
        (Unit::Bytes, Some(value), _) if from_end => Range::FromByte(number(value)?),
        (Unit::Lines, _, Some(value)) if !from_end => Range::AllButLines(number(value)?),
        (Unit::Bytes, _, Some(value)) if !from_end => Range::AllButBytes(number(value)?),
        // `head -n +3` and `tail -n -3` are `3`.
        (Unit::Lines, plus, minus) => Range::Lines(number(plus.or(minus).unwrap_or(value))?),
        (Unit::Bytes, plus, minus) => Range::Bytes(number(plus.or(minus).unwrap_or(value))?),
    };
    Some(range)
}

/// The range as arguments, always in one spelling.
fn written(range: Range) -> Vec<String> {
    let (option, value) = match range {
        Range::Lines(number) => ("-n", number.to_string()),
        Range::Bytes(number) => ("-c", number.to_string()),
        Range::FromLine(number) => ("-n", format!("+{number}")),
        Range::FromByte(number) => ("-c", format!("+{number}")),
        Range::AllButLines(number) => ("-n", format!("-{number}")),
        Range::AllButBytes(number) => ("-c", format!("-{number}")),
    };
    vec![option.to_owned(), value]
}
