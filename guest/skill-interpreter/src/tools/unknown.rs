//! Everything else, run directly from its argument vector, in the jail.

use super::{Tool, exact, runtime};
use crate::draft::{CodeFile, DraftStage, Program, SandboxDraft, Template, Trust};
use crate::http_command::{Invocation, Stdin};
use crate::model::Runtime;

/// Commands that only a shell has.
const BUILTINS: [&str; 34] = [
    "alias", "bg", "bind", "break", "builtin", "cd", "command", "continue", "declare", "dirs",
    "disown", "exit", "export", "fg", "hash", "jobs", "let", "local", "logout", "mapfile", "popd",
    "pushd", "read", "readonly", "return", "set", "shift", "shopt", "type", "typeset", "ulimit",
    "umask", "unset", "wait",
];

/// Whether only a shell has the command.
pub(super) fn is_builtin(name: &str) -> bool {
    BUILTINS.contains(&name) || matches!(name, ":" | "[" | "test" | "true" | "false")
}

pub(super) fn stages(name: &str, invocation: &Invocation<'_>) -> Tool {
    if is_builtin(name) {
        return Tool::Script(format!("`{name}` of the shell"));
    }
    if invocation
        .argv
        .first()
        .is_some_and(|word| crate::shell::globs::in_operand(word).is_some())
    {
        return Tool::Script("glob or `~` as a command".to_owned());
    }
    if name.contains('/') {
        return path(name, invocation);
    }
    let is_name = !name.is_empty()
        && name
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'+' | b'-'));
    if !is_name {
        return Tool::Script("variable as a command".to_owned());
    }
    direct(invocation)
}

/// A path is a tool of the jail, or a file of code.
fn path(name: &str, invocation: &Invocation<'_>) -> Tool {
    if name.contains(['{', '<', '$']) {
        return Tool::Script("variable as a command".to_owned());
    }
    if name.starts_with('/') {
        return direct(invocation);
    }
    let args = invocation.argv.get(1..).unwrap_or_default();
    if let Some(script) = runtime::operands_are_plain(args) {
        return script;
    }
    let mut stage = SandboxDraft::new(
        Runtime::Shell,
        Program::File(CodeFile {
            name: name.to_owned(),
        }),
        Trust::Tool {
            name: name.to_owned(),
        },
    );
    stage.args = args.to_vec();
    if let Stdin::Text(text) = invocation.stdin {
        stage.stdin = Some(text.clone());
    }
    Tool::Stages(vec![DraftStage::Sandbox(Box::new(stage))])
}

/// The argument vector as it is.
pub(super) fn direct(invocation: &Invocation<'_>) -> Tool {
    let name = invocation
        .argv
        .first()
        .map(Template::display)
        .unwrap_or_default();
    let args = invocation.argv.get(1..).unwrap_or_default();
    if let Some(script) = runtime::operands_are_plain(args) {
        return script;
    }
    let guarded = match exact::guard(invocation) {
        Ok(guarded) => guarded,
        Err(script) => return script,
    };
    let mut stage = SandboxDraft::new(
        Runtime::Shell,
        Program::Argv(guarded.argv),
        Trust::Tool { name },
    );
    stage.stdin = guarded.stdin;
    Tool::Stages(vec![DraftStage::Sandbox(Box::new(stage))])
}
