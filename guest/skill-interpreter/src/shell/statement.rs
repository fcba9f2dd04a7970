//! What a statement is at first sight.

use std::collections::BTreeSet;

use super::computed;
use super::program::{Command, Piece, Pieces, Statement, bare};

/// `Authorization:`
pub(super) fn is_label(word: &str) -> bool {
    word.ends_with(':') && !word.contains(['=', '"', '\''])
}

/// An option, a header or an address that stands alone.
pub(super) fn is_no_command(statement: &Statement) -> bool {
    let [command] = statement.commands.as_slice() else {
        return false;
    };
    let is_alone = command.words.len() == 1;
    let runs_more = |piece: &Piece| matches!(piece, Piece::Output { .. });
    command.assignments.is_empty()
        && statement.constructs.is_empty()
        && !command.words.iter().flatten().any(runs_more)
        && command.name().is_some_and(|name| {
            name.starts_with('-') || is_label(name) || is_alone && name.contains("://")
        })
}

/// `NAME=value` or `export NAME=value`, and nothing else.
pub(super) fn sets_constants(command: &Command) -> bool {
    !command.assignments.is_empty()
        && command.input.is_none()
        && (command.words.is_empty()
            || command.words.len() == 1 && command.name() == Some("export"))
}

/// `set -…`, `set +…`
pub(super) fn is_setting(command: &Command) -> bool {
    command.assignments.is_empty()
        && command.input.is_none()
        && command.name() == Some("set")
        && command
            .words
            .get(1)
            .and_then(bare)
            .is_some_and(|option| option.starts_with(['-', '+']) && option != "--")
}

/// `echo` or `printf` alone, or of the answer of a request, whatever reads it then.
pub(super) fn is_printing(statement: &Statement, answers: &BTreeSet<&str>) -> bool {
    let Some(first) = statement.commands.first() else {
        return false;
    };
    let prints = first.assignments.is_empty()
        && first.input.is_none()
        && statement.constructs.is_empty()
        && matches!(first.name(), Some("echo" | "printf"));
    let shows_answer = || {
        let is_answer = |word: &Pieces| {
            word.iter().any(|piece| match piece {
                Piece::Variable { name, .. } => answers.contains(name.as_str()),
                _ => false,
            })
        };
        first.words.iter().any(is_answer) && computed::is_value(&statement.commands)
    };
    prints && (statement.commands.len() == 1 || shows_answer())
}
