//! Text that only a shell can run, inside the jail.

use std::collections::BTreeSet;

use super::placeholder;
use super::program::name_length;
use crate::draft::{DraftStage, Program, SandboxDraft};
use crate::model::Runtime;

/// Names that the shell sets itself.
const SET_BY_SHELL: [&str; 14] = [
    "PWD",
    "OLDPWD",
    "UID",
    "EUID",
    "PPID",
    "RANDOM",
    "SECONDS",
    "LINENO",
    "OPTARG",
    "OPTIND",
    "REPLY",
    "PIPESTATUS",
    "FUNCNAME",
    "_",
];
/// Variables of a script; more are not shown to anybody.
const MOST: usize = 256;
/// Commands that assign the names that follow them.
const ASSIGNING: [&str; 10] = [
    "for",
    "select",
    "read",
    "mapfile",
    "readarray",
    "getopts",
    "local",
    "declare",
    "typeset",
    "readonly",
];

/// The stage of a script, with the variables that come from outside.
pub(super) fn stage(text: &str, line: u32, constructs: Vec<String>) -> SandboxDraft {
    let program = Program::Script(text.to_owned());
    let mut draft = SandboxDraft::new(Runtime::Shell, program, line);
    draft.stage.constructs = constructs;
    let names = Names::of(text);
    draft.stage.env_inputs = names
        .used
        .into_iter()
        .filter(|name| !names.assigned.contains(name) && !SET_BY_SHELL.contains(name))
        .map(str::to_owned)
        .collect();
    draft
}

/// Whether a stage is a script for a shell.
pub(super) fn is_script(stage: &DraftStage) -> bool {
    match stage {
        DraftStage::Sandbox(sandbox) => sandbox.stage.is_script(),
        _ => false,
    }
}

/// Names of variables in a text, however deep they stand in it. Only what is certainly quoted is left out.
#[derive(Default)]
struct Names<'a> {
    used: Vec<&'a str>,
    assigned: BTreeSet<&'a str>,
}

impl<'a> Names<'a> {
    fn of(text: &'a str) -> Self {
        let mut names = Self::default();
        let mut seen = BTreeSet::new();
        let mut is_double = false;
        let mut assigns = false;
        let mut rest = text;
        let mut begins_word = true;
        while let Some(c) = rest.chars().next() {
            let after = rest.get(c.len_utf8()..).unwrap_or_default();
            let mut next = after;
            match c {
                '\\' => next = skip(after, after.chars().next().map_or(0, char::len_utf8)),
                '"' => is_double = !is_double,
                '\'' if !is_double => {
                    next = after.split_once('\'').map_or("", |(_, after)| after);
                }
                '#' if begins_word && !is_double => {
                    next = skip(after, after.find('\n').unwrap_or(after.len()));
                }
                '$' => {
                    let inner = after.trim_start_matches(['{', '#', '!']);
                    let length = name_length(inner);
                    let name = inner.get(..length).unwrap_or_default();
                    let after_name = inner.get(length..).unwrap_or_default();
                    if after.starts_with('{') && after_name.trim_start_matches(':').starts_with('=')
                    {
                        names.assigned.insert(name);
                    }
                    if !name.is_empty() && names.used.len() < MOST && seen.insert(name) {
                        names.used.push(name);
                    }
                    next = after_name;
                }
                _ if begins_word && name_length(rest) > 0 => {
                    let (name, after_name) = rest
                        .split_at_checked(name_length(rest))
                        .unwrap_or((rest, ""));
                    let is_set = ["=", "+=", "["]
                        .iter()
                        .any(|mark| after_name.starts_with(mark));
                    if is_set || assigns {
                        names.assigned.insert(name);
                    }
                    assigns = assigns || ASSIGNING.contains(&name);
                    next = after_name;
                }
                '\n' | ';' => assigns = false,
                _ => {}
            }
            begins_word = c.is_ascii_whitespace() || matches!(c, ';' | '&' | '|' | '(' | '"');
            rest = next;
        }
        names
    }
}

fn skip(text: &str, bytes: usize) -> &str {
    text.get(bytes..).unwrap_or_default()
}

/// Whether `<name>` or `{name}`, and not `${name}`, stands in the text.
pub(super) fn has_placeholder(text: &str) -> bool {
    let angle = text
        .match_indices('<')
        .any(|(at, _)| placeholder::name_at(skip(text, at)).is_some());
    let mut pieces = text.split('{');
    let mut before = pieces.next().unwrap_or_default();
    for piece in pieces {
        let end = piece
            .find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-')))
            .unwrap_or(piece.len());
        if !before.ends_with('$')
            && piece.starts_with(|c: char| c.is_ascii_alphabetic())
            && piece.get(end..).is_some_and(|rest| rest.starts_with('}'))
        {
            return true;
        }
        before = piece;
    }
    angle
}
