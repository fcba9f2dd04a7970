//! Text tools on a stream. Each has a table of the options it may have; what is not in it might name a file or
//! a program (`sort -o`, `sort --compress-program`, `grep -f`, `uniq IN OUT`), and is an unknown tool.

use super::{Tool, jq, unknown};
use crate::draft::{DraftStage, Template};
use crate::http_command::Invocation;
use crate::shell::globs;

/// What a tool may be given.
struct Table {
    /// Letters of options without a value.
    flags: &'static str,
    /// Letters of options with a value.
    values: &'static str,
    /// Long options without a value.
    long: &'static [&'static str],
    /// Long options with a value, `--name=value`.
    long_values: &'static [&'static str],
    /// Operands that are no files: least and most.
    operands: (usize, usize),
}

/// The text tools.
pub(super) fn is_text_tool(name: &str) -> bool {
    matches!(name, "cat" | "head" | "tail") || table(name).is_some()
}

fn table(name: &str) -> Option<Table> {
    let table = |flags, values, operands| Table {
        flags,
        values,
        long: &[],
        long_values: &[],
        operands,
    };
    Some(match name {
        "wc" => Table {
            long: &["lines", "words", "bytes", "chars"],
            ..table("lwcm", "", (0, 0))
        },
        "sort" => Table {
            long: &["numeric-sort", "reverse", "unique", "ignore-case", "stable"],
            long_values: &["key", "field-separator"],
            ..table("nrufbghVsdiM", "kt", (0, 0))
        },
        "uniq" => Table {
            long: &["count", "repeated", "unique", "ignore-case"],
            ..table("cdui", "fsw", (0, 0))
        },
        "cut" => Table {
            long: &["complement", "only-delimited"],
            long_values: &[
                "delimiter",
                "fields",
                "characters",
                "bytes",
                "output-delimiter",
            ],
            ..table("s", "dfcb", (0, 0))
        },
        "tr" => table("dscCt", "", (1, 2)),
        "grep" => Table {
            long: &[
                "ignore-case",
                "invert-match",
                "count",
                "line-number",
                "only-matching",
                "extended-regexp",
                "fixed-strings",
                "word-regexp",
                "line-regexp",
                "quiet",
            ],
            long_values: &["regexp", "max-count"],
            ..table("ivcnoEFPwxqhas", "emABC", (0, 1))
        },
        "sed" => Table {
            long: &["quiet", "silent", "regexp-extended"],
            long_values: &["expression"],
            ..table("nEr", "e", (0, 2))
        },
        "awk" => table("", "Fv", (1, 2)),
        _ => return None,
    })
}

/// What a command line was found to be.
#[derive(Default)]
struct Arguments {
    /// Options as written, one to three words each.
    options: Vec<Template>,
    operands: Vec<Template>,
    /// Values of `-e` and `--expression`, `--regexp`.
    programs: Vec<Template>,
}

pub(super) fn stages(name: &str, invocation: &Invocation<'_>) -> Tool {
    let Some(table) = table(name) else {
        return unknown::direct(invocation);
    };
    let arguments = match parse(name, &table, invocation.argv.get(1..).unwrap_or_default()) {
        Ok(arguments) => arguments,
        Err(Refusal::Unknown) => return unknown::direct(invocation),
        Err(Refusal::Variable) => {
            return Tool::Script(format!("variable in an option of `{name}`"));
        }
    };
    let Arguments {
        mut options,
        mut operands,
        programs,
    } = arguments;
    let mut files = Vec::new();
    match name {
        "grep" if programs.is_empty() => {
            if operands.is_empty() {
                return unknown::direct(invocation);
            }
            // Said to be a pattern, whatever it begins with.
            options.push(Template::literal("-e"));
            options.append(&mut operands);
        }
        "tr" => {
            options.push(Template::literal("--"));
            options.append(&mut operands);
        }
        "sed" | "awk" => {
            if programs.is_empty() {
                if operands.is_empty() {
                    return unknown::direct(invocation);
                }
                // Said to be a program, whatever it begins with.
                options.push(Template::literal(if name == "sed" { "-e" } else { "--" }));
                options.push(operands.remove(0));
            }
            let texts = if programs.is_empty() {
                options.last().into_iter()
            } else {
                programs.last().into_iter()
            };
            let earlier = programs.iter().rev().skip(1);
            for program in texts.chain(earlier) {
                if program.as_literal().is_none() {
                    return Tool::Script(format!("variable in a program of `{name}`"));
                }
            }
            files = operands;
            // `awk PROGRAM a=b` is an assignment.
            let assigns = name == "awk" && files.iter().any(|file| file.display().contains('='));
            if files.len() > 1 || assigns {
                return unknown::direct(invocation);
            }
        }
        _ => {}
    }
    if let Some(option) = options
        .iter()
        .find(|option| globs::has_tilde(option) || globs::has_brace_list(option))
    {
        return Tool::Script(globs::in_operand(option).unwrap_or("brace list").to_owned());
    }
    let stage = DraftStage::TextTransform {
        tool: name.to_owned(),
        args: options,
    };
    jq::with_file(invocation, &files.iter().collect::<Vec<_>>(), stage)
}

enum Refusal {
    /// An option that is not in the table, or too many operands.
    Unknown,
    /// What is an option, or whether it is one, only a call would tell.
    Variable,
}

fn parse(name: &str, table: &Table, words: &[Template]) -> Result<Arguments, Refusal> {
    let mut found = Arguments::default();
    let mut words = words.iter();
    let mut options = true;
    while let Some(word) = words.next() {
        let Some(text) = word.as_literal() else {
            // Whole or at its beginning a variable: a call could make it an option, where it is not told to be none.
            let pattern = matches!(name, "grep" | "tr") && !jq::starts_like_option(word);
            if options && !pattern && !is_value_glued(table, word) {
                return Err(Refusal::Variable);
            }
            if options && is_value_glued(table, word) {
                found.options.push(word.clone());
            } else {
                found.operands.push(word.clone());
            }
            continue;
        };
        if !options || text == "-" || !text.starts_with('-') {
            found.operands.push(word.clone());
            // After its program awk takes no option, and what is one for POSIX is an operand.
            options = options && name != "awk";
        } else if text == "--" {
            options = false;
        } else if let Some(long) = text.strip_prefix("--") {
            long_option(table, long, word, &mut found)?;
        } else {
            short_options(table, &text, word, &mut words, &mut found)?;
        }
    }
    let (least, most) = table.operands;
    let count = found.operands.len() + usize::from(!found.programs.is_empty() && most > 0);
    if count < least || count > most {
        return Err(Refusal::Unknown);
    }
    Ok(found)
}

/// `-d$X`: the value of an option, in the same word.
fn is_value_glued(table: &Table, word: &Template) -> bool {
    let text = word.display();
    let mut characters = text.chars();
    let literal = matches!(word.parts.first(), Some(crate::draft::Part::Literal(first)) if first.text.chars().count() >= 2);
    literal
        && characters.next() == Some('-')
        && characters
            .next()
            .is_some_and(|flag| table.values.contains(flag) && flag != 'e')
}

fn long_option(
    table: &Table,
    long: &str,
    word: &Template,
    found: &mut Arguments,
) -> Result<(), Refusal> {
    match long.split_once('=') {
        Some((name, value)) if table.long_values.contains(&name) => {
            if matches!(name, "expression" | "regexp") {
                found.programs.push(Template::literal(value));
            }
        }
        None if table.long.contains(&long) => {}
        _ => return Err(Refusal::Unknown),
    }
    found.options.push(word.clone());
    Ok(())
}

fn short_options<'a>(
    table: &Table,
    text: &str,
    word: &Template,
    words: &mut impl Iterator<Item = &'a Template>,
    found: &mut Arguments,
) -> Result<(), Refusal> {
    found.options.push(word.clone());
    let mut flags = text.chars();
    flags.next();
    while let Some(flag) = flags.next() {
        if table.flags.contains(flag) {
            continue;
        }
        if !table.values.contains(flag) {
            return Err(Refusal::Unknown);
        }
        let glued = flags.as_str();
        let value = if glued.is_empty() {
            let value = words.next().ok_or(Refusal::Unknown)?.clone();
            found.options.push(value.clone());
            value
        } else {
            Template::literal(glued)
        };
        if flag == 'e' {
            found.programs.push(value);
        }
        return Ok(());
    }
    Ok(())
}
