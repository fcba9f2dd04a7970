//! K-168: echo and printf.

use super::{Tool, without_final_newline};
use crate::draft::{DraftStage, Literal, Part, Quoting, Template};
use crate::failure::Failure;
use crate::http_command::{Invocation, Stdin};
use crate::limits;
use crate::shell::globs;

pub(super) fn echo(invocation: &Invocation<'_>) -> Tool {
    if invocation.stdin != Stdin::Nothing {
        return Tool::Script("input of `echo`".to_owned());
    }
    let mut words = invocation.argv.iter().skip(1).peekable();
    let mut escapes = false;
    let mut final_newline = true;
    while let Some(flags) = words
        .peek()
        .and_then(|word| word.as_literal())
        .filter(|text| is_echo_option(text))
    {
        words.next();
        for flag in flags.chars().skip(1) {
            match flag {
                'e' => escapes = true,
                'E' => escapes = false,
                _ => final_newline = false,
            }
        }
    }
    let mut text = Template::default();
    let mut ended = false;
    for (index, word) in words.enumerate() {
        if globs::has_tilde(word) || globs::has_brace_list(word) {
            return Tool::Script("brace list or `~` in an argument".to_owned());
        }
        if ended {
            continue;
        }
        if index > 0 {
            text.push_literal(" ", Quoting::Double);
        }
        ended = append(&mut text, word, escapes);
    }
    if final_newline && !ended {
        text.push_literal("\n", Quoting::Double);
    }
    Tool::Stages(vec![DraftStage::Println {
        text: without_final_newline(text),
    }])
}

fn is_echo_option(text: &str) -> bool {
    text.strip_prefix('-').is_some_and(|flags| {
        !flags.is_empty() && flags.chars().all(|flag| matches!(flag, 'n' | 'e' | 'E'))
    })
}

/// Appends a word, its escapes evaluated if asked for. Whether `\c` ended the output.
fn append(text: &mut Template, word: &Template, escapes: bool) -> bool {
    for part in &word.parts {
        match part {
            Part::Literal(literal) if escapes => {
                let (evaluated, ended) = evaluate(&literal.text);
                text.push(Part::Literal(Literal {
                    text: evaluated,
                    ..literal.clone()
                }));
                if ended {
                    return true;
                }
            }
            _ => text.push(part.clone()),
        }
    }
    false
}

/// The escapes of echo and printf; whether `\c` ended the text.
fn evaluate(text: &str) -> (String, bool) {
    let mut out = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    while let Some(c) = characters.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        let Some(escaped) = characters.next() else {
            out.push('\\');
            break;
        };
        match escaped {
            'c' => return (out, true),
            'n' => out.push('\n'),
            't' => out.push('\t'),
            'r' => out.push('\r'),
            'a' => out.push('\u{7}'),
            'b' => out.push('\u{8}'),
            'e' => out.push('\u{1b}'),
            'f' => out.push('\u{c}'),
            'v' => out.push('\u{b}'),
            '\\' => out.push('\\'),
            _ => {
                out.push('\\');
                out.push(escaped);
            }
        }
    }
    (out, false)
}

/// # Errors
///
/// `limit`: the format is used again for every argument, so little text can print much.
pub(super) fn printf(invocation: &Invocation<'_>) -> Result<Tool, Failure> {
    if invocation.stdin != Stdin::Nothing {
        return Ok(Tool::Script("input of `printf`".to_owned()));
    }
    let mut words = invocation.argv.iter().skip(1).peekable();
    if words.peek().and_then(|word| word.as_literal()).as_deref() == Some("--") {
        words.next();
    }
    let Some(format) = words.next().and_then(Template::as_literal) else {
        return Ok(Tool::Script("variable as a format of `printf`".to_owned()));
    };
    if format.starts_with('-') && format.len() > 1 {
        return Ok(Tool::Script("option of `printf`".to_owned()));
    }
    let Some(pieces) = pieces(&format) else {
        return Ok(Tool::Script("conversion of `printf`".to_owned()));
    };
    let mut text = Template::default();
    let mut size = 0_usize;
    loop {
        let mut took = false;
        for piece in &pieces {
            match piece {
                Piece::Text(literal) => {
                    size = size.saturating_add(literal.len());
                    text.push_literal(literal.clone(), Quoting::Double);
                }
                Piece::String => {
                    if let Some(word) = words.next() {
                        took = true;
                        size = size.saturating_add(word.display().len());
                        text.append(word.clone());
                    }
                }
                Piece::Integer => match words.next() {
                    Some(word) => {
                        took = true;
                        size = size.saturating_add(word.display().len());
                        match word.as_literal() {
                            Some(number) => match number.parse::<i64>() {
                                Ok(number) => {
                                    text.push_literal(number.to_string(), Quoting::Double);
                                }
                                Err(_) => {
                                    return Ok(Tool::Script("number of `printf`".to_owned()));
                                }
                            },
                            None => text.append(word.clone()),
                        }
                    }
                    None => text.push_literal("0", Quoting::Double),
                },
            }
            if size > limits::COMMAND_BYTES {
                return Err(limits::exceeded(
                    "bytes of printed text",
                    limits::COMMAND_BYTES,
                ));
            }
        }
        // As printf does: the format again, as long as it takes arguments and there are any.
        if !took || words.peek().is_none() {
            break;
        }
    }
    Ok(Tool::Stages(vec![DraftStage::Println {
        text: without_final_newline(text),
    }]))
}

enum Piece {
    Text(String),
    String,
    Integer,
}

/// None for a conversion that K-168 does not have, and for `\c`.
fn pieces(format: &str) -> Option<Vec<Piece>> {
    let (format, ended) = evaluate(format);
    if ended {
        return None;
    }
    let mut pieces = Vec::new();
    let mut literal = String::new();
    let mut characters = format.chars();
    while let Some(c) = characters.next() {
        if c != '%' {
            literal.push(c);
            continue;
        }
        let piece = match characters.next()? {
            '%' => {
                literal.push('%');
                continue;
            }
            's' => Piece::String,
            'd' => Piece::Integer,
            _ => return None,
        };
        pieces.push(Piece::Text(std::mem::take(&mut literal)));
        pieces.push(piece);
    }
    pieces.push(Piece::Text(literal));
    Some(pieces)
}
