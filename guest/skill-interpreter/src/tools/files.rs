//! Cat, head and tail, of files and of streams.

use super::{Tool, direct, jq, without_final_newline};
use crate::draft::{DraftStage, Excerpt, Template};
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
    let mut excerpt = Excerpt {
        tool: name.to_owned(),
        unit: "lines".to_owned(),
        count: 10,
        mode: "only".to_owned(),
    };
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
                let Some((mode, count)) = value.as_deref().and_then(|value| count(value, name))
                else {
                    return direct::run(invocation);
                };
                excerpt.unit = unit.to_owned();
                excerpt.mode = mode.to_owned();
                excerpt.count = count;
            }
            None if options && jq::starts_like_option(word) => {
                return Tool::Script(format!("variable in an option of `{name}`"));
            }
            _ => operands.push(word),
        }
    }
    if operands.is_empty() || is_stdin(&operands) {
        let stage = DraftStage::TextTransform {
            tool: name.to_owned(),
            args: written(&excerpt)
                .into_iter()
                .map(Template::literal)
                .collect(),
        };
        return jq::with_file(invocation, &[], stage);
    }
    if operands.len() > 1 {
        // Several are put out with a heading each.
        return direct::run(invocation);
    }
    read(invocation, &operands, Some(excerpt), name)
}

/// `-n N`, `-nN`, `-N`, `-c N`, `--lines=N`, `--bytes N`: the unit, and the value if it is in the same word.
fn count_option(text: &str) -> Option<(&'static str, Option<&str>)> {
    for (name, unit) in [("--lines", "lines"), ("--bytes", "bytes")] {
        if let Some(rest) = text.strip_prefix(name) {
            let value = rest.strip_prefix('=');
            return (value.is_some() || rest.is_empty()).then_some((unit, value));
        }
    }
    let rest = text.strip_prefix('-')?;
    for (letter, unit) in [('n', "lines"), ('c', "bytes")] {
        if let Some(value) = rest.strip_prefix(letter) {
            return Some((unit, Some(value).filter(|value| !value.is_empty())));
        }
    }
    rest.bytes()
        .all(|b| b.is_ascii_digit())
        .then_some(("lines", Some(rest)))
}

/// The mode and the number of `N`, `-N` or `+N`. `head -n +3` and `tail -n -3` are `3`.
fn count(value: &str, tool: &str) -> Option<(&'static str, u64)> {
    let (mode, digits) = match (value.strip_prefix('+'), value.strip_prefix('-')) {
        (Some(digits), _) if tool == "tail" => ("from", digits),
        (_, Some(digits)) if tool == "head" => ("all-but", digits),
        (plus, minus) => ("only", plus.or(minus).unwrap_or(value)),
    };
    let is_number = digits.bytes().all(|b| b.is_ascii_digit());
    Some((mode, digits.parse().ok().filter(|_| is_number)?))
}

/// The excerpt as arguments, always in one spelling.
fn written(excerpt: &Excerpt) -> [String; 2] {
    let option = if excerpt.unit == "bytes" { "-c" } else { "-n" };
    let sign = match excerpt.mode.as_str() {
        "from" => "+",
        "all-but" => "-",
        _ => "",
    };
    [option.to_owned(), format!("{sign}{}", excerpt.count)]
}
