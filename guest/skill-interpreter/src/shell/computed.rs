//! Values that an author computes in `$( … )` and a caller gives instead.
//!
//! A plan runs none of these commands: what they would put out is an input, or a secret where it stands for one. So only
//! pipelines count that do nothing but compute or read a value.

use super::program::{Command, Input, Piece, Pieces, bare, name_length};
use crate::identifier::upper_snake;

/// Commands that put a value out.
const COMMANDS: [&str; 36] = [
    "awk",
    "base64",
    "basename",
    "bc",
    "cat",
    "cut",
    "date",
    "echo",
    "grep",
    "head",
    "hostname",
    "id",
    "jq",
    "md5",
    "md5sum",
    "node",
    "openssl",
    "printenv",
    "printf",
    "pwd",
    "python",
    "python3",
    "sed",
    "sha1sum",
    "sha256sum",
    "shasum",
    "sort",
    "stat",
    "tail",
    "tr",
    "uname",
    "uniq",
    "uuidgen",
    "wc",
    "whoami",
    "xxd",
];

/// Whether a pipeline does nothing but compute a value.
pub(super) fn is_value(commands: &[Command]) -> bool {
    commands.iter().all(|command| {
        command.assignments.is_empty()
            && !matches!(command.input, Some(Input::Document(_)))
            && !writes(command)
            && (command.name().is_some_and(computes) || prints_token(command) || looks_up(command))
    })
}

/// `sed -i`, `sort -o`: an option, however it is joined with others, that makes a filter write a file.
fn writes(command: &Command) -> bool {
    let letter = match command.name() {
        Some("sed") => 'i',
        Some("sort") => 'o',
        _ => return false,
    };
    let is_option = |word: &Pieces| {
        let word = text(word);
        let long = word.strip_prefix("--");
        let option = long.or_else(|| word.strip_prefix('-')).unwrap_or_default();
        match long {
            Some(_) => option.starts_with(letter),
            None => option.contains(letter),
        }
    };
    command.words.iter().skip(1).any(is_option)
}

/// Whether a command puts out a value, or is by its name a function of the document's own (`sign_request`).
fn computes(name: &str) -> bool {
    COMMANDS.contains(&name) || name.contains('_') && name_length(name) == name.len()
}

/// Whether a command is a script of the skill (`{baseDir}/scripts/token.sh`), which puts out a secret that the caller gives instead.
pub(super) fn is_own_script(commands: &[Command]) -> bool {
    let [command] = commands else { return false };
    let name = command.words.first().map(text).unwrap_or_default();
    command.assignments.is_empty()
        && command.input.is_none()
        && !name.starts_with('/')
        && [".sh", ".py", ".js"].iter().any(|end| name.ends_with(end))
}

/// `gcloud auth print-access-token`, `op read …` and alike.
fn prints_token(command: &Command) -> bool {
    let words: Vec<&str> = command.words.iter().filter_map(bare).collect();
    match words.as_slice() {
        ["gcloud", "auth", rest @ ..] => rest
            .iter()
            .any(|word| word.starts_with("print-") && word.ends_with("-token")),
        ["oc", "whoami", "-t"] | ["openclaw" | "clawdbot", "config", "get", _] => true,
        ["op", "read", ..] | ["pass", "show", ..] | ["gh", "auth", "token"] => true,
        ["security", "find-generic-password", ..] => true,
        _ => false,
    }
}

/// `oc get route …`, `gcloud … describe …`: a client that is asked for something, by its verb.
fn looks_up(command: &Command) -> bool {
    let words: Vec<&str> = command.words.iter().filter_map(bare).collect();
    let asks = |word: &&str| matches!(*word, "describe" | "list" | "show");
    match words.as_slice() {
        ["oc" | "kubectl", "get", ..] | ["npm", "view", ..] | ["go", "env", ..] => true,
        ["cast", "wallet", "address", ..] | [_, "--version"] => true,
        ["gcloud" | "az", _, rest @ ..] => rest.iter().take(3).any(asks),
        ["aws", _, verb, ..] => ["get-", "describe-", "list-"]
            .iter()
            .any(|start| verb.starts_with(start)),
        _ => false,
    }
}

/// A name for the value of a pipeline: that of the file or member that it reads, or of its last command. None if it does
/// more than that.
pub(super) fn name(commands: &[Command]) -> Option<String> {
    if !is_value(commands) {
        return None;
    }
    let last = commands.last()?;
    let named = match last.name()? {
        "jq" => of_file(commands, last),
        "cat" => last.words.get(1).and_then(file),
        _ => None,
    };
    let name = named.unwrap_or_else(|| last.name().map(upper_snake).unwrap_or_default());
    (!name.is_empty() && name_length(&name) == name.len()).then_some(name)
}

fn text(word: &Pieces) -> String {
    word.iter()
        .filter_map(|piece| match piece {
            Piece::Literal { text, .. } => Some(text.as_str()),
            _ => None,
        })
        .collect()
}

/// The member that `jq` reads, behind the file that it or a `cat` in front reads: members of two files are two values.
fn of_file(commands: &[Command], jq: &Command) -> Option<String> {
    let words = jq.words.get(1..)?;
    let place = words.iter().position(|word| member(word).is_some())?;
    let member = words.get(place).and_then(member)?;
    let read = match &jq.input {
        Some(Input::File(path)) => Some(path),
        _ => words.get(place + 1),
    };
    let shown = || {
        let first = commands.first()?;
        let is_cat = first.name() == Some("cat");
        is_cat.then(|| first.words.get(1)).flatten()
    };
    let name = read.or_else(shown).and_then(file);
    Some(match name {
        Some(name) => format!("{}_{member}", name.strip_suffix("_JSON").unwrap_or(&name)),
        None => member,
    })
}

/// `.data.api_key`
fn member(program: &Pieces) -> Option<String> {
    let program = text(program);
    let path = program.strip_prefix('.')?;
    let last = path.rsplit('.').next()?;
    (!last.is_empty() && name_length(last) == last.len()).then(|| upper_snake(last))
}

/// `~/.app/token`: `APP_TOKEN`
fn file(path: &Pieces) -> Option<String> {
    let path = text(path);
    let parts: Vec<&str> = path
        .split('/')
        .map(|part| part.trim_start_matches(['.', '~']))
        .filter(|part| !part.is_empty() && *part != "config")
        .collect();
    let last = parts.get(parts.len().saturating_sub(2)..)?;
    let name = upper_snake(&last.join("_"));
    (!name.is_empty()).then_some(name)
}
