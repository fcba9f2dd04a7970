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

/// `-n N`, `-nN`, `-N`, `-c N`, `--lines=N`, `--bytes N`: `n` or `c`, and the value if it is in the same word.
fn count_option(text: &str) -> Option<(char, Option<&str>)> {
    for (name, unit) in [("--lines", 'n'), ("--bytes", 'c')] {
        if let Some(rest) = text.strip_prefix(name) {
            let value = rest.strip_prefix('=');
            return (value.is_some() || rest.is_empty()).then_some((unit, value));
        }
    }
    let rest = text.strip_prefix('-')?;
    for unit in ['n', 'c'] {
        if let Some(value) = rest.strip_prefix(unit) {
            return Some((unit, Some(value).filter(|value| !value.is_empty())));
        }
    }
    let is_number = rest.bytes().all(|b| b.is_ascii_digit());
    is_number.then_some(('n', Some(rest)))
}

/// `head -n +3` and `tail -n -3` are `3`.
fn count(unit: char, value: &str, from_end: bool) -> Option<Range> {
    let digits = value.strip_prefix(['+', '-']).unwrap_or(value);
    if !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let number = digits.parse().ok()?;
    Some(match (unit, from_end) {
        ('n', true) if value.starts_with('+') => Range::FromLine(number),
        (_, true) if value.starts_with('+') => Range::FromByte(number),
        ('n', false) if value.starts_with('-') => Range::AllButLines(number),
        (_, false) if value.starts_with('-') => Range::AllButBytes(number),
        ('n', _) => Range::Lines(number),
        _ => Range::Bytes(number),
    })
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
