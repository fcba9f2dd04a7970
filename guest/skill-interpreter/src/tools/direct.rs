//! Tools that are run directly from their argument vector, in the jail.
//!
//! An argument that has white space, braces or a line's end in it, besides placeholders, may be code (`perl -e`,
//! `docker exec db psql -c`). It is exact text: what looks like a placeholder in it is no input. A variable of the shell in such
//! an argument makes the command a script.

use super::Tool;
use crate::draft::{DraftStage, Literal, Part, Program, Quoting, SandboxDraft, Template, Word};
use crate::http_command::{Invocation, Stdin};
use crate::model::SandboxStage;
use crate::shell::globs;

/// Commands that only a shell has.
const BUILTINS: [&str; 39] = [
    ":", "[", "alias", "bg", "bind", "break", "builtin", "cd", "command", "continue", "declare",
    "dirs", "disown", "exit", "export", "false", "fg", "hash", "jobs", "let", "local", "logout",
    "mapfile", "popd", "pushd", "read", "readonly", "return", "set", "shift", "shopt", "test",
    "true", "type", "typeset", "ulimit", "umask", "unset", "wait",
];

/// Whether only a shell has the command.
pub(super) fn is_builtin(name: &str) -> bool {
    BUILTINS.contains(&name)
}

/// A tool that is not known, or a file of code that is run by its path.
pub(super) fn unknown(name: &str, invocation: &Invocation<'_>) -> Tool {
    if is_builtin(name) {
        return Tool::Script(format!("`{name}` of the shell"));
    }
    let is_expanded = invocation
        .argv
        .first()
        .is_some_and(|word| globs::in_operand(word).is_some());
    if is_expanded {
        return Tool::Script("glob or `~` as a command".to_owned());
    }
    let is_plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'+' | b'-');
    match name {
        _ if name.starts_with('/') && !name.contains(['{', '<', '$']) => run(invocation),
        _ if name.contains('/') && !name.contains(['{', '<', '$']) => {
            let draft = SandboxDraft::of_tool(name, code_file(name), invocation.line);
            let args = invocation.argv.get(1..).unwrap_or_default().to_vec();
            stage(draft, args, text_of(invocation))
        }
        _ if !name.is_empty() && name.bytes().all(is_plain) => run(invocation),
        _ => Tool::Script("variable as a command".to_owned()),
    }
}

/// A file of code, whose digest the load knows.
pub(super) fn code_file(name: &str) -> Program<Template> {
    Program::File {
        name: name.to_owned(),
        digest: None,
    }
}

/// The argument vector as it is, of an unknown tool.
pub(super) fn run(invocation: &Invocation<'_>) -> Tool {
    run_with(invocation, |_| {})
}

/// The argument vector as it is, of a tool of which more is known.
pub(super) fn run_with(
    invocation: &Invocation<'_>,
    more: impl FnOnce(&mut SandboxStage<Template>),
) -> Tool {
    let guard = |word: &Word| {
        if may_be_code(word) {
            exact(word)
        } else {
            Some(word.clone())
        }
    };
    let args = invocation.argv.get(1..).unwrap_or_default();
    if let Some(script) = script_of_operands(args) {
        return script;
    }
    let argv: Option<Vec<Word>> = invocation.argv.iter().map(guard).collect();
    let stdin = text_of(invocation).map(|text| exact(&text));
    let (Some(argv), false) = (argv, matches!(stdin, Some(None))) else {
        return Tool::Script("variable in code".to_owned());
    };
    let tool = invocation.argv.first().map(Template::display);
    let program = Program::Argv(argv);
    let mut draft = SandboxDraft::of_tool(&tool.unwrap_or_default(), program, invocation.line);
    draft.stage.stdin = stdin.flatten();
    more(&mut draft.stage);
    Tool::Stages(vec![DraftStage::Sandbox(Box::new(draft))])
}

/// A stage with arguments and an input; a script where an argument is no plain word.
pub(super) fn stage(mut draft: SandboxDraft, args: Vec<Word>, stdin: Option<Template>) -> Tool {
    let args: Vec<Word> = args.into_iter().map(globs::with_home).collect();
    if let Some(script) = script_of_operands(&args) {
        return script;
    }
    draft.stage.args = args;
    draft.stage.stdin = stdin;
    Tool::Stages(vec![DraftStage::Sandbox(Box::new(draft))])
}

/// The here-document or here-string of a command.
pub(super) fn text_of(invocation: &Invocation<'_>) -> Option<Template> {
    match invocation.stdin {
        Stdin::Text(text) => Some(text.clone()),
        Stdin::Previous | Stdin::Nothing => None,
    }
}

/// The script that a command is where a shell would make several words of an argument, or another one.
fn script_of_operands(args: &[Word]) -> Option<Tool> {
    let construct = args.iter().find_map(globs::in_operand)?;
    Some(Tool::Script(construct.to_owned()))
}

/// Whether there is more than one plain word, with placeholders in it perhaps.
fn may_be_code(word: &Word) -> bool {
    word.parts.iter().any(|part| match part {
        Part::Literal(literal) => has_code(&literal.text),
        Part::Variable(_) => false,
    })
}

fn has_code(text: &str) -> bool {
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        let end = after
            .find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-')))
            .unwrap_or(after.len());
        match after.get(end..).and_then(|after| after.strip_prefix('}')) {
            Some(after) if end > 0 && !is_code(before) => rest = after,
            _ => return true,
        }
    }
    is_code(rest)
}

fn is_code(text: &str) -> bool {
    text.contains(|c: char| {
        c.is_whitespace() || matches!(c, '{' | '}' | '(' | ')' | ';' | '$' | '`')
    })
}

/// Text in which nothing is looked for; none if a variable is in it.
fn exact(word: &Template) -> Option<Template> {
    let mut exact = Template::default();
    for part in &word.parts {
        let Part::Literal(literal) = part else {
            return None;
        };
        exact.push(Part::Literal(Literal {
            quoting: Quoting::Exact,
            ..literal.clone()
        }));
    }
    Some(exact)
}
