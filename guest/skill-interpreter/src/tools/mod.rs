//! Tools, runtimes and installers: argument vectors to stages.
//!
//! An option is known, or the command is not what its name says: nothing is ignored that might name a file or run a program.
//! What is not known is an unknown tool (Tier 3) where it stands alone, and makes a script of a pipeline.

mod exact;
mod files;
mod install;
mod jq;
mod print;
mod runtime;
mod text;
mod unknown;

use crate::context::Context;
use crate::diagnostic::Diagnostics;
use crate::draft::{DraftStage, Part, Template};
use crate::failure::Failure;
use crate::http_command::Invocation;

/// What a command is in its position.
#[derive(Debug, Clone, PartialEq)]
pub enum Tool {
    /// These stages, at least one (`jq . FILE` is two).
    Stages(Vec<DraftStage>),
    /// It makes the whole text a script; the construct, for the reason list.
    Script(String),
}

/// Commands that make a script wherever they stand.
fn is_script_word(name: &str) -> bool {
    matches!(
        name,
        "eval"
            | "source"
            | "."
            | "exec"
            | "trap"
            | "sudo"
            | "su"
            | "env"
            | "xargs"
            | "tee"
            | "nohup"
            | "timeout"
            | "ssh"
    )
}

/// Whether a command only means something in the shell that runs it.
#[must_use]
pub fn is_builtin(name: &str) -> bool {
    is_script_word(name) || unknown::is_builtin(name)
}

/// Shells.
fn is_shell(name: &str) -> bool {
    matches!(
        name,
        "sh" | "bash" | "zsh" | "dash" | "ksh" | "ash" | "fish" | "csh" | "tcsh"
    )
}

/// Reads a simple command that is no HTTP command.
///
/// # Errors
///
/// `jq-option-refused`.
pub fn stages(
    invocation: &Invocation<'_>,
    context: &Context,
    diagnostics: &mut Diagnostics,
) -> Result<Tool, Failure> {
    // No tool depends on a skill or notices anything yet.
    let _ = (context, diagnostics);
    let Some(name) = invocation.argv.first().and_then(Template::as_literal) else {
        return Ok(Tool::Script("variable as a command".to_owned()));
    };
    if is_script_word(&name) {
        return Ok(Tool::Script(format!("`{name}`")));
    }
    let tool = match name.as_str() {
        "jq" => return jq::stages(invocation),
        "echo" => print::echo(invocation),
        "printf" => print::printf(invocation),
        "cat" => files::cat(invocation),
        "head" | "tail" => files::excerpt(&name, invocation),
        "python" | "python3" => runtime::python(invocation),
        "uv" => runtime::uv(invocation),
        "node" => runtime::node(invocation),
        "go" => runtime::go(invocation),
        "npx" | "bunx" | "uvx" | "pipx" | "deno" => install::download(&name, invocation),
        _ if is_shell(&name) => runtime::shell(&name, invocation),
        _ if text::is_text_tool(&name) => text::stages(&name, invocation),
        _ if install::is_installer(&name) => install::stages(&name, invocation),
        _ => unknown::stages(&name, invocation),
    };
    Ok(tool)
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
