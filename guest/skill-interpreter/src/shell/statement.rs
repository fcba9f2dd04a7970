//! What a statement is at first sight.

use std::collections::BTreeSet;

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

/// `set -eux`, `set -o pipefail`: what stops at an error or shows what is run, and with `-a` what programs see. Others change
/// what a text means: after `set -n` nothing of it is run.
pub(super) fn is_setting(command: &Command) -> bool {
    const LETTERS: &str = "aeuvx";
    let mut words = command.words.iter().skip(1).map(bare);
    let mut is_setting = words.len() > 0;
    while let Some(word) = words.next() {
        let option = word.and_then(|word| word.strip_prefix(['-', '+']));
        let Some(option) = option.filter(|option| !option.is_empty()) else {
            return false;
        };
        let letters = option.strip_suffix('o').unwrap_or(option);
        is_setting &= letters.chars().all(|letter| LETTERS.contains(letter));
        if letters.len() < option.len() {
            is_setting &= matches!(
                words.next(),
                Some(Some("pipefail" | "errexit" | "nounset" | "xtrace"))
            );
        }
    }
    is_setting
        && command.assignments.is_empty()
        && command.input.is_none()
        && command.name() == Some("set")
}

/// `echo` or `printf` alone, or of the answer of a request, whatever shows it then.
pub(super) fn is_printing(statement: &Statement, answers: &BTreeSet<&str>) -> bool {
    let Some((first, rest)) = statement.commands.split_first() else {
        return false;
    };
    let prints =
        has_words_alone(first) && statement.constructs.is_empty() && prints_its_words(&first.words);
    let is_answer = |word: &Pieces| {
        word.iter().any(|piece| match piece {
            Piece::Variable { name, .. } => answers.contains(name.as_str()),
            _ => false,
        })
    };
    prints
        && (rest.is_empty()
            || first.words.iter().any(is_answer)
                && rest
                    .iter()
                    .all(|one| has_words_alone(one) && only_shows(&one.words)))
}

fn has_words_alone(command: &Command) -> bool {
    command.assignments.is_empty() && command.input.is_none()
}

/// Whether a command can do no more than print its words, or some of what it reads.
pub(super) fn only_prints(words: &[Pieces]) -> bool {
    prints_its_words(words) || only_shows(words)
}

/// Whether a command is `echo`, or `printf` that sets no variable.
pub(super) fn prints_its_words(words: &[Pieces]) -> bool {
    match words.first().and_then(bare) {
        Some("echo") => true,
        Some("printf") => !may_assign(words),
        _ => false,
    }
}

/// `printf -v NAME`, however it is written.
fn may_assign(printf: &[Pieces]) -> bool {
    let is_empty = |piece: &&Piece| matches!(piece, Piece::Literal { text, .. } if text.is_empty());
    let mut format = printf.get(1).into_iter().flatten();
    match format.find(|piece| !is_empty(piece)) {
        Some(Piece::Literal { text, .. }) => text.starts_with('-'),
        Some(_) => printf.len() > 2,
        None => false,
    }
}

/// Whether a command of a pipe does nothing but show some of what it reads.
fn only_shows(words: &[Pieces]) -> bool {
    let mut pieces = words.iter().skip(1).flatten();
    let runs_more = pieces.any(|piece| matches!(piece, Piece::Output { .. }));
    let options = || words.iter().skip(1).map(bare);
    let are_options = |letters: &str| {
        options().all(|word| {
            let option = word.and_then(|word| word.strip_prefix('-'));
            option.is_some_and(|option| option.chars().all(|c| letters.contains(c)))
        })
    };
    !runs_more
        && match words.first().and_then(bare) {
            Some("jq" | "head" | "tail" | "cut" | "tr" | "grep" | "wc") => true,
            Some("sort") => are_options("bdfghnruV"),
            Some("uniq") => are_options("cdiu"),
            _ => false,
        }
}
