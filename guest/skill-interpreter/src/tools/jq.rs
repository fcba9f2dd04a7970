//! Jq.

use super::{Tool, without_final_newline};
use crate::draft::{DraftStage, FilterDraft, Template};
use crate::failure::{Code, Failure};
use crate::http_command::{Invocation, Stdin};
use crate::shell::globs;

/// Long options without a value, and what is the same.
const LONG: [(&str, char); 9] = [
    ("raw-output", 'r'),
    ("compact-output", 'c'),
    ("slurp", 's'),
    ("null-input", 'n'),
    ("sort-keys", 'S'),
    ("exit-status", 'e'),
    ("join-output", 'j'),
    ("monochrome-output", 'M'),
    ("color-output", 'C'),
];

fn set(filter: &mut FilterDraft, letter: Option<char>, option: &str) -> Result<(), Failure> {
    filter.options.push(match letter {
        Some('r') => "raw",
        Some('c') => "compact",
        Some('s') => "slurp",
        Some('n') => "null-input",
        Some('S') => "sort-keys",
        Some('e') => "exit-status",
        Some('j') => "join",
        Some('M' | 'C') => return Ok(()),
        _ => return Err(refused(option, "is not understood")),
    });
    Ok(())
}

/// Reads a command line of jq.
pub(super) fn stages(invocation: &Invocation<'_>) -> Result<Tool, Failure> {
    let mut filter = FilterDraft::default();
    let mut operands: Vec<&Template> = Vec::new();
    let mut words = invocation.argv.iter().skip(1);
    let mut options = true;
    while let Some(word) = words.next() {
        let Some(text) = word.as_literal() else {
            if starts_like_option(word) {
                return Ok(Tool::Script("variable in an option of `jq`".to_owned()));
            }
            operands.push(word);
            continue;
        };
        if !options || !text.starts_with('-') || text == "-" {
            operands.push(word);
        } else if text == "--" {
            options = false;
        } else if let Some(long) = text.strip_prefix("--") {
            match long {
                "arg" | "argjson" => {
                    let (Some(name), Some(value)) = (words.next(), words.next()) else {
                        return Err(refused(&text, "needs a name and a value"));
                    };
                    let Some(name) = name.as_literal() else {
                        return Ok(Tool::Script("variable in an option of `jq`".to_owned()));
                    };
                    if long == "arg" {
                        filter.args.insert(name, value.clone());
                        continue;
                    }
                    let Some(value) = value.as_literal() else {
                        return Ok(Tool::Script("variable in `--argjson`".to_owned()));
                    };
                    let value = serde_json::from_str(&value)
                        .map_err(|_| refused(&text, "its value is no JSON"))?;
                    filter.json_args.insert(name, value);
                }
                _ => {
                    let letter = LONG.iter().find(|(name, _)| *name == long);
                    let letter = letter.map(|(_, letter)| *letter);
                    set(&mut filter, letter, &text)?;
                }
            }
        } else {
            for flag in text.chars().skip(1) {
                set(&mut filter, Some(flag), &format!("-{flag}"))?;
            }
        }
    }
    let mut operands = operands.into_iter();
    filter.program = match operands.next().map(Template::as_literal) {
        None => ".".to_owned(),
        Some(Some(program)) => program,
        Some(None) => return Ok(Tool::Script("variable in a jq program".to_owned())),
    };
    let files: Vec<&Template> = operands.collect();
    Ok(with_file(
        invocation,
        &files,
        DraftStage::JsonFilter(filter),
    ))
}

/// A pure stage and what it reads: one file, a here-document, or what comes before.
pub(super) fn with_file(
    invocation: &Invocation<'_>,
    files: &[&Template],
    stage: DraftStage,
) -> Tool {
    match (files, invocation.stdin) {
        ([], Stdin::Text(text)) => Tool::Stages(vec![
            DraftStage::Println {
                text: without_final_newline(text.clone()),
            },
            stage,
        ]),
        ([], _) => Tool::Stages(vec![stage]),
        ([file], Stdin::Nothing) => match globs::in_operand(file) {
            Some(construct) => Tool::Script(construct.to_owned()),
            None if file.as_literal().as_deref() == Some("-") => Tool::Stages(vec![stage]),
            None => Tool::Stages(vec![
                DraftStage::ReadFile {
                    paths: vec![(*file).clone()],
                    excerpt: None,
                },
                stage,
            ]),
        },
        ([_], _) => Tool::Script("file beside an input".to_owned()),
        _ => Tool::Script("several files".to_owned()),
    }
}

/// Whether the literal that a word begins with begins an option.
pub(super) fn starts_like_option(word: &Template) -> bool {
    word.display().starts_with('-')
}

fn refused(option: &str, why: &str) -> Failure {
    let option: String = option.chars().take(32).collect();
    Failure::new(Code::JqOptionRefused, format!("jq {option}: {why}"))
}
