//! Text tools on a stream. Each has a table of the options it may have; what is not in it might name a file or
//! a program (`sort -o`, `sort --compress-program`, `grep -f`, `uniq IN OUT`), and is an unknown tool.

use super::{Tool, direct, jq};
use crate::draft::{DraftStage, Part, Template};
use crate::http_command::Invocation;
use crate::shell::globs;

/// What a tool may be given.
struct Table {
    name: &'static str,
    /// Letters of options without a value, and with one.
    flags: &'static str,
    values: &'static str,
    /// Long options without a value, and those that are written `--name=value`.
    long: &'static str,
    long_values: &'static str,
    /// Operands: least and most. Of `sed` and `awk` the first is a program, and the second a file.
    operands: (usize, usize),
    /// What stands before an operand, so that it is none of the options, whatever it begins with.
    mark: Option<&'static str>,
}

const fn table(
    name: &'static str,
    (flags, values): (&'static str, &'static str),
    (long, long_values): (&'static str, &'static str),
    operands: (usize, usize),
    mark: Option<&'static str>,
) -> Table {
    Table {
        name,
        flags,
        values,
        long,
        long_values,
        operands,
        mark,
    }
}

const TABLES: [Table; 8] = [
    table(
        "wc",
        ("lwcm", ""),
        ("lines words bytes chars", ""),
        (0, 0),
        None,
    ),
    table(
        "sort",
        ("nrufbghVsdiM", "kt"),
        (
            "numeric-sort reverse unique ignore-case stable",
            "key field-separator",
        ),
        (0, 0),
        None,
    ),
    table(
        "uniq",
        ("cdui", "fsw"),
        ("count repeated unique ignore-case", ""),
        (0, 0),
        None,
    ),
    table(
        "cut",
        ("s", "dfcb"),
        (
            "complement only-delimited",
            "delimiter fields characters bytes output-delimiter",
        ),
        (0, 0),
        None,
    ),
    table("tr", ("dscCt", ""), ("", ""), (1, 2), Some("--")),
    table(
        "grep",
        ("ivcnoEFPwxqhas", "emABC"),
        (
            "ignore-case invert-match count line-number only-matching extended-regexp fixed-strings \
             word-regexp line-regexp quiet",
            "regexp max-count",
        ),
        (0, 1),
        Some("-e"),
    ),
    table(
        "sed",
        ("nEr", "e"),
        ("quiet silent regexp-extended", "expression"),
        (0, 2),
        Some("-e"),
    ),
    table("awk", ("", "Fv"), ("", ""), (1, 2), Some("--")),
];

/// What a command line was found to be.
#[derive(Default)]
struct Arguments {
    /// Options as written, one to three words each.
    options: Vec<Template>,
    operands: Vec<Template>,
    /// Values of `-e` and `--expression`, `--regexp`.
    programs: Vec<Template>,
}

enum Refusal {
    /// An option that is not in the table, or too many operands.
    Unknown,
    /// What is an option, or whether it is one, only a call would tell.
    Variable,
}

/// Reads a text tool; none if it is no such tool.
pub(super) fn stages(name: &str, invocation: &Invocation<'_>) -> Option<Tool> {
    let table = TABLES.iter().find(|table| table.name == name)?;
    let Arguments {
        mut options,
        mut operands,
        mut programs,
    } = match parse(table, invocation.argv.get(1..).unwrap_or_default()) {
        Ok(arguments) => arguments,
        Err(Refusal::Unknown) => return Some(direct::run(invocation)),
        Err(Refusal::Variable) => {
            return Some(Tool::Script(format!("variable in an option of `{name}`")));
        }
    };
    let is_program = matches!(name, "sed" | "awk");
    if let Some(mark) = table.mark
        && programs.is_empty()
    {
        if operands.is_empty() {
            return Some(direct::run(invocation));
        }
        let count = if is_program { 1 } else { operands.len() };
        programs = operands.drain(..count).collect();
        options.push(Template::literal(mark));
        options.extend(programs.iter().cloned());
    }
    let is_variable = |program: &Template| program.as_literal().is_none();
    if is_program && programs.iter().any(is_variable) {
        return Some(Tool::Script(format!("variable in a program of `{name}`")));
    }
    // `awk PROGRAM a=b` is an assignment.
    let assigns = name == "awk" && operands.iter().any(|file| file.display().contains('='));
    if operands.len() > 1 || assigns {
        return Some(direct::run(invocation));
    }
    let is_expanded =
        |option: &&Template| globs::has_tilde(option) || globs::has_brace_list(option);
    if let Some(option) = options.iter().find(is_expanded) {
        let construct = globs::in_operand(option).unwrap_or("brace list");
        return Some(Tool::Script(construct.to_owned()));
    }
    let stage = DraftStage::TextTransform {
        tool: name.to_owned(),
        args: options,
    };
    let files: Vec<&Template> = operands.iter().collect();
    Some(jq::with_file(invocation, &files, stage))
}

fn parse(table: &Table, words: &[Template]) -> Result<Arguments, Refusal> {
    let mut found = Arguments::default();
    let mut words = words.iter();
    let mut options = true;
    while let Some(word) = words.next() {
        let Some(text) = word.as_literal() else {
            // Whole or at its beginning a variable: a call could make it an option, where it is not told to be none.
            let is_glued = options && is_value_glued(table, word);
            let pattern = matches!(table.name, "grep" | "tr") && !jq::starts_like_option(word);
            match is_glued {
                true => found.options.push(word.clone()),
                false if options && !pattern => return Err(Refusal::Variable),
                false => found.operands.push(word.clone()),
            }
            continue;
        };
        if !options || text == "-" || !text.starts_with('-') {
            found.operands.push(word.clone());
            // After its program awk takes no option, and what is one for POSIX is an operand.
            options = options && table.name != "awk";
        } else if text == "--" {
            options = false;
        } else if let Some(long) = text.strip_prefix("--") {
            let is_in = |list: &str, name: &str| list.split(' ').any(|known| known == name);
            match long.split_once('=') {
                Some((name, value)) if is_in(table.long_values, name) => {
                    if matches!(name, "expression" | "regexp") {
                        found.programs.push(Template::literal(value));
                    }
                }
                None if is_in(table.long, long) && !long.is_empty() => {}
                _ => return Err(Refusal::Unknown),
            }
            found.options.push(word.clone());
        } else {
            found.options.push(word.clone());
            let mut flags = text.chars();
            flags.next();
            let Some(flag) = flags.find(|flag| !table.flags.contains(*flag)) else {
                continue;
            };
            if !table.values.contains(flag) {
                return Err(Refusal::Unknown);
            }
            let value = if flags.as_str().is_empty() {
                let value = words.next().ok_or(Refusal::Unknown)?.clone();
                found.options.push(value.clone());
                value
            } else {
                Template::literal(flags.as_str())
            };
            if flag == 'e' {
                found.programs.push(value);
            }
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
    let Some(Part::Literal(first)) = word.parts.first() else {
        return false;
    };
    let mut characters = first.text.chars();
    characters.next() == Some('-')
        && characters
            .next()
            .is_some_and(|flag| table.values.contains(flag) && flag != 'e')
}
