//! Tools, runtimes and installers: argument vectors to stages.
//!
//! An option is known, or the command is not what its name says: nothing is ignored that might name a file or run a program.
//! What is not known is an unknown tool (Tier 3) where it stands alone, and makes a script of a pipeline.

mod direct;
mod files;
mod install;
mod jq;
mod print;
mod runtime;
mod text;

pub use install::installs;

use crate::draft::{DraftStage, Part, Template};
use crate::failure::Failure;
use crate::http_command::{Invocation, Stdin};
use crate::model::Runtime;

/// What a command is in its position.
#[derive(Debug, Clone, PartialEq)]
pub enum Tool {
    /// These stages, at least one (`jq . FILE` is two).
    Stages(Vec<DraftStage>),
    /// It makes the whole text a script; the construct, for the reason list.
    Script(String),
}

/// Commands that make a script wherever they stand.
const SCRIPT_WORDS: [&str; 13] = [
    "eval", "source", ".", "exec", "trap", "sudo", "su", "env", "xargs", "tee", "nohup", "timeout",
    "ssh",
];
const SHELLS: [&str; 9] = [
    "sh", "bash", "zsh", "dash", "ksh", "ash", "fish", "csh", "tcsh",
];

/// Whether a command only means something in the shell that runs it.
#[must_use]
pub fn is_builtin(name: &str) -> bool {
    SCRIPT_WORDS.contains(&name) || direct::is_builtin(name)
}

/// Reads a simple command that is no HTTP command.
///
/// # Errors
///
/// `jq-option-refused`.
pub fn stages(invocation: &Invocation<'_>) -> Result<Tool, Failure> {
    let Some(name) = invocation.argv.first().and_then(Template::as_literal) else {
        return Ok(Tool::Script("variable as a command".to_owned()));
    };
    if SCRIPT_WORDS.contains(&name.as_str()) {
        return Ok(Tool::Script(format!("`{name}`")));
    }
    let tool = match name.as_str() {
        "jq" => return jq::stages(invocation),
        "echo" => print::echo(invocation),
        "printf" => print::printf(invocation),
        "cat" => files::cat(invocation),
        // Without a terminal a pager puts out what it reads.
        "less" | "more" if is_pager(invocation) => files::cat(invocation),
        "head" | "tail" => files::excerpt(&name, invocation),
        "python" | "python3" => runtime::interpreter(Runtime::Python, invocation),
        "node" => runtime::interpreter(Runtime::Node, invocation),
        "uv" => runtime::uv(invocation),
        "go" => runtime::go(invocation),
        "npx" | "bunx" | "uvx" | "pipx" | "deno" => install::download(&name, invocation),
        shell if SHELLS.contains(&shell) => runtime::shell(shell, invocation),
        _ if install::installer(&name).is_some() => {
            let words = invocation.argv.get(1..).unwrap_or_default();
            install::stages(&name, words, invocation)
        }
        _ => text::stages(&name, invocation).unwrap_or_else(|| direct::unknown(&name, invocation)),
    };
    Ok(tool)
}

/// Whether a pager stands alone at the end of a pipe.
fn is_pager(invocation: &Invocation<'_>) -> bool {
    invocation.argv.len() == 1 && invocation.stdin == Stdin::Previous
}

/// A text as the last thing that `println` is given: without one final newline.
fn without_final_newline(mut text: Template) -> Template {
    if let Some(Part::Literal(literal)) = text.parts.last_mut()
        && literal.text.ends_with('\n')
    {
        literal.text.pop();
        if literal.text.is_empty() {
            text.parts.pop();
        }
    }
    text
}
