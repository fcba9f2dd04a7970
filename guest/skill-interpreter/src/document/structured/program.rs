//! Operations that run something: `command`, or `script` with `runtime`.

use super::field::Field;
use crate::context::Context;
use crate::diagnostic::Diagnostics;
use crate::draft::{Draft, DraftStage, Program as What, SandboxDraft};
use crate::failure::{Code, Failure};
use crate::model::Runtime;
use crate::shell::{self, Constants, Statements};

/// What an operation says of running something.
pub(super) struct Program {
    command: Option<Text>,
    script: Option<Text>,
    runtime: Option<String>,
}

/// Text, and the line it begins on.
struct Text {
    text: String,
    line: u32,
}

/// Reads the keys.
///
/// # Errors
///
/// `schema`, with path.
pub(super) fn read(field: &Field<'_, '_>) -> Result<Program, Failure> {
    let text = |value: Field<'_, '_>| {
        Ok(Text {
            text: value.text()?.to_owned(),
            line: value.node.line(),
        })
    };
    let runtime = field.read("runtime", Field::name)?;
    Ok(Program {
        command: field.read("command", text)?,
        script: field.read("script", text)?,
        runtime: runtime.map(|runtime| runtime.trim().to_owned()),
    })
}

impl Program {
    /// What it does; at least one draft.
    pub(super) fn take_drafts(
        &mut self,
        field: &Field<'_, '_>,
        context: &Context,
        diagnostics: &mut Diagnostics,
    ) -> Vec<Draft> {
        let line = field.node.line();
        // `<runtime>:run` means the script.
        let run = self.command.as_ref().and_then(|command| {
            let runtime = command.text.trim().strip_suffix(":run")?;
            let is_name = !runtime.is_empty() && !runtime.contains(char::is_whitespace);
            is_name.then(|| runtime.to_owned())
        });
        if let Some(runtime) = run {
            self.runtime.get_or_insert(runtime);
            self.command = None;
            if self.script.is_none() {
                return vec![unusable(
                    line,
                    Code::ScriptMissing,
                    "there is no script to run",
                )];
            }
        }
        match (
            self.script.take(),
            self.runtime.as_deref(),
            self.command.take(),
        ) {
            (Some(script), Some(runtime), command) if runtime != "http" => {
                if let Some(command) = command {
                    diagnostics.warn(
                        Code::CommandIgnored,
                        command.line,
                        format!("{}: the script goes before the command", field.path),
                    );
                }
                vec![script_draft(&script, runtime, line)]
            }
            (_, runtime, Some(command)) => {
                command_drafts(&command, runtime, line, context, diagnostics)
            }
            _ => vec![unusable(
                line,
                Code::OpEmpty,
                "the operation has no endpoint, no command and no script with a runtime",
            )],
        }
    }
}

/// An operation that cannot be used.
fn unusable(line: u32, code: Code, why: &str) -> Draft {
    Draft {
        line,
        comment: None,
        text: String::new(),
        plan: Err(Failure::new(code, why).at_line(line)),
    }
}

/// What a command does.
fn command_drafts(
    command: &Text,
    runtime: Option<&str>,
    line: u32,
    context: &Context,
    diagnostics: &mut Diagnostics,
) -> Vec<Draft> {
    let mut drafts = shell::lower(
        &command.text,
        command.line,
        Statements::Command,
        &mut Constants::default(),
        context,
        diagnostics,
    );
    if drafts.is_empty() {
        return vec![unusable(line, Code::OpEmpty, "the command does nothing")];
    }
    // Recorded; a command is what its own words say.
    for stage in drafts
        .iter_mut()
        .flat_map(|draft| draft.plan.iter_mut())
        .flatten()
    {
        if let DraftStage::Sandbox(sandbox) = stage {
            sandbox.stage.declared_runtime = runtime.map(str::to_owned);
        }
    }
    drafts
}

/// A script and the runtime that it is for.
fn script_draft(script: &Text, runtime: &str, line: u32) -> Draft {
    if script.text.trim().is_empty() {
        return unusable(line, Code::ScriptMissing, "the script is empty");
    }
    if script.text.len() > crate::limits::COMMAND_BYTES {
        let limit = Failure::exceeded("bytes of the script", crate::limits::COMMAND_BYTES);
        return Draft {
            plan: Err(limit.at_line(script.line)),
            ..unusable(line, Code::Limit, "")
        };
    }
    let code = || What::Code(script.text.clone());
    let (name, version) = match runtime.split_once(':') {
        Some((name, version)) => (name, Some(version)),
        None => (runtime, None),
    };
    let known = |runtime| SandboxDraft::new(runtime, code(), script.line);
    let mut sandbox = match name {
        "python" | "python3" => known(Runtime::Python),
        "node" | "nodejs" | "javascript" | "js" => known(Runtime::Node),
        "go" | "golang" => known(Runtime::Go),
        "shell" | "sh" | "bash" => shell::script(&script.text, script.line),
        // An image has its own programs; what it runs is a script all the same.
        "container" if version.is_some() => shell::script(&script.text, script.line),
        _ => SandboxDraft::of_tool(name, code(), script.line),
    };
    sandbox.stage.declared_runtime = Some(runtime.to_owned());
    Draft {
        line,
        comment: None,
        text: script.text.clone(),
        plan: Ok(vec![DraftStage::Sandbox(Box::new(sandbox))]),
    }
}
