//! What a statement is at first sight, and where it stands.

use super::grammar::Command;
use super::lexer::{Kind, Scan};
use super::plan::text_at;

/// `set -…`
pub(super) fn is_setting(command: &Command, scan: &Scan) -> bool {
    let mut words = command.words.iter().map(|place| text_at(scan, *place));
    command.assignments.is_empty()
        && command.redirects.is_empty()
        && words.next() == Some("set")
        && words
            .next()
            .is_some_and(|option| option.starts_with('-') && option != "--")
}

/// `echo` or `printf` without redirection
pub(super) fn is_printing(command: &Command, scan: &Scan) -> bool {
    command.assignments.is_empty()
        && command.redirects.is_empty()
        && command
            .words
            .first()
            .is_some_and(|place| matches!(text_at(scan, *place), "echo" | "printf"))
}

/// From the first word of a statement to the end of its line.
pub(super) fn extent(commands: &[Command], scan: &Scan) -> (usize, usize) {
    let places = commands
        .iter()
        .flat_map(|command| command.assignments.iter().chain(&command.words));
    let start = places.clone().min().copied().unwrap_or_default();
    let last = places.max().copied().unwrap_or_default();
    let first_after = scan.tokens.partition_point(|token| token.start <= last);
    let end = scan
        .tokens
        .get(first_after..)
        .unwrap_or_default()
        .iter()
        .find(|token| token.kind == Kind::Operator("\n"))
        .map_or(scan.text.len(), |token| token.start);
    (start, end)
}
