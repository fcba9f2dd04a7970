//! Python, uv, node, go; and shells with a file of code.

use super::{Tool, install, jq, unknown};
use crate::draft::{
    Code, CodeFile, DraftStage, FilterDraft, Package, Program, SandboxDraft, Template, Trust, Word,
};
use crate::http_command::{Invocation, Stdin};
use crate::model::Runtime;
use crate::shell::globs;

pub(super) fn python(invocation: &Invocation<'_>) -> Tool {
    let mut words = invocation.argv.iter().skip(1);
    // Options that change nothing of what is run.
    let first = loop {
        match words.next() {
            Some(word) => match word.as_literal().as_deref() {
                Some("-u" | "-B" | "-I" | "-E" | "-s" | "-S" | "-O" | "-q") => {}
                _ => break Some(word),
            },
            None => break None,
        }
    };
    let rest: Vec<Word> = words.cloned().collect();
    let literal = first.map(Template::as_literal);
    match (literal.as_ref().map(Option::as_deref), invocation.stdin) {
        (None | Some(Some("-")), Stdin::Text(text)) => {
            code(Runtime::Python, text, rest, invocation)
        }
        (None | Some(Some("-")), Stdin::Previous) => Tool::Script("pipe into `python`".to_owned()),
        (None | Some(Some("-")), Stdin::Nothing) => unknown::direct(invocation),
        (Some(None), _) => Tool::Script("variable as a file of code".to_owned()),
        (Some(Some("-c")), _) => code_argument(Runtime::Python, rest, invocation),
        (Some(Some("-m")), _) => module(rest, invocation),
        (Some(Some(option)), _) if option.starts_with('-') => unknown::direct(invocation),
        (Some(Some(file)), _) => file_of(Runtime::Python, file, first, rest, invocation),
    }
}

fn module(mut args: Vec<Word>, invocation: &Invocation<'_>) -> Tool {
    if args.is_empty() {
        return unknown::direct(invocation);
    }
    let Some(module) = args.remove(0).as_literal() else {
        return Tool::Script("variable as a module".to_owned());
    };
    match module.as_str() {
        "json.tool" => {
            let mut filter = FilterDraft {
                program: ".".to_owned(),
                ..FilterDraft::default()
            };
            let mut files = Vec::new();
            for word in &args {
                match word.as_literal().as_deref() {
                    Some("--sort-keys") => filter.sort_keys = true,
                    Some("--compact") => filter.compact = true,
                    Some("--no-ensure-ascii") => {}
                    Some(option) if option.starts_with('-') && option != "-" => {
                        return unknown::direct(invocation);
                    }
                    _ => files.push(word),
                }
            }
            // A second file would be written to.
            jq::with_file(invocation, &files, DraftStage::JsonFilter(filter))
        }
        "pip" => install::stages_of("pip", &args, invocation),
        _ => {
            let stage = SandboxDraft::new(
                Runtime::Python,
                Program::Module(module),
                Trust::KnownRuntime,
            );
            finish(stage, args, invocation)
        }
    }
}

pub(super) fn uv(invocation: &Invocation<'_>) -> Tool {
    let words = invocation.argv.get(1..).unwrap_or_default();
    let literal: Vec<String> = words
        .iter()
        .map(|word| word.as_literal().unwrap_or_default())
        .collect();
    match literal
        .iter()
        .map(String::as_str)
        .collect::<Vec<_>>()
        .as_slice()
    {
        ["run", ..] => uv_run(words.get(1..).unwrap_or_default(), invocation),
        ["add", ..] => install::stages("uv", invocation),
        ["pip", "install", ..] => {
            install::stages_of("uv", words.get(1..).unwrap_or_default(), invocation)
        }
        ["tool", "run", ..] => install::run_of(
            "uv",
            "python",
            words.get(2..).unwrap_or_default(),
            invocation,
        ),
        _ => unknown::direct(invocation),
    }
}

fn uv_run(words: &[Word], invocation: &Invocation<'_>) -> Tool {
    let mut packages = Vec::new();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let Some(text) = word.as_literal() else {
            return Tool::Script("variable as a file of code".to_owned());
        };
        let package = if text == "--with" {
            match words.next().and_then(Template::as_literal) {
                Some(package) => Some(package),
                None => return Tool::Script("variable as a package".to_owned()),
            }
        } else {
            text.strip_prefix("--with=").map(str::to_owned)
        };
        if let Some(package) = package {
            packages.extend(package.split(',').map(|name| Package {
                runtime: "python".to_owned(),
                name: name.to_owned(),
            }));
            continue;
        }
        // Anything else than a file of Python is a command of its own.
        if text.starts_with('-') || !text.ends_with(".py") {
            return unknown::direct(invocation);
        }
        let tool = file_of(
            Runtime::Python,
            &text,
            Some(word),
            words.cloned().collect(),
            invocation,
        );
        return match tool {
            Tool::Stages(stages) if !packages.is_empty() => Tool::Stages(
                stages
                    .into_iter()
                    .map(|stage| with_packages(stage, &packages))
                    .collect(),
            ),
            other => other,
        };
    }
    unknown::direct(invocation)
}

/// With packages it is no longer the runtime alone.
fn with_packages(stage: DraftStage, packages: &[Package]) -> DraftStage {
    match stage {
        DraftStage::Sandbox(mut sandbox) => {
            sandbox.packages = packages.to_vec();
            sandbox.trust = Trust::Installer;
            DraftStage::Sandbox(sandbox)
        }
        other => other,
    }
}

pub(super) fn node(invocation: &Invocation<'_>) -> Tool {
    let mut words = invocation.argv.iter().skip(1);
    let Some(first) = words.next() else {
        return match invocation.stdin {
            Stdin::Previous => Tool::Script("pipe into `node`".to_owned()),
            Stdin::Nothing | Stdin::Text(_) => unknown::direct(invocation),
        };
    };
    let rest: Vec<Word> = words.cloned().collect();
    match first.as_literal().as_deref() {
        None => Tool::Script("variable as a file of code".to_owned()),
        Some("-e" | "--eval" | "-p" | "--print") => code_argument(Runtime::Node, rest, invocation),
        Some("-") if invocation.stdin == Stdin::Previous => {
            Tool::Script("pipe into `node`".to_owned())
        }
        Some(option) if option.starts_with('-') => unknown::direct(invocation),
        Some(file) => file_of(Runtime::Node, file, Some(first), rest, invocation),
    }
}

pub(super) fn go(invocation: &Invocation<'_>) -> Tool {
    let mut words = invocation.argv.iter().skip(1);
    let command = words.next().and_then(Template::as_literal);
    let rest: Vec<Word> = words.cloned().collect();
    match (command.as_deref(), rest.first().map(Template::as_literal)) {
        (Some("run"), Some(None)) => Tool::Script("variable as a file of code".to_owned()),
        (Some("run"), Some(Some(file))) if file.ends_with(".go") && !file.starts_with('-') => {
            file_of(
                Runtime::Go,
                &file,
                rest.first(),
                rest.get(1..).unwrap_or_default().to_vec(),
                invocation,
            )
        }
        (Some("run"), Some(Some(module))) if module.contains('@') && !module.starts_with('-') => {
            install::run_of("go", "go", &rest, invocation)
        }
        (Some("install"), Some(_)) => install::stages("go", invocation),
        _ => unknown::direct(invocation),
    }
}

/// `bash FILE`; everything else that a shell is asked is a script.
pub(super) fn shell(name: &str, invocation: &Invocation<'_>) -> Tool {
    let file = invocation.argv.get(1);
    let literal = file.and_then(Template::as_literal);
    match (file, literal.as_deref(), invocation.stdin) {
        (_, _, Stdin::Previous) => Tool::Script(format!("pipe into `{name}`")),
        (Some(word), Some(path), Stdin::Nothing)
            if !path.starts_with('-') && globs::in_operand(word).is_none() && !path.is_empty() =>
        {
            let mut stage = SandboxDraft::new(
                Runtime::Shell,
                Program::File(CodeFile {
                    name: path.to_owned(),
                }),
                Trust::Script {
                    constructs: vec![format!("`{name} FILE`")],
                },
            );
            stage.args = invocation.argv.get(2..).unwrap_or_default().to_vec();
            operands_are_plain(&stage.args)
                .unwrap_or_else(|| Tool::Stages(vec![DraftStage::Sandbox(Box::new(stage))]))
        }
        (_, Some("-c"), _) => Tool::Script(format!("`{name} -c`")),
        _ => Tool::Script(format!("shell `{name}`")),
    }
}

/// A file of code.
fn file_of(
    runtime: Runtime,
    file: &str,
    word: Option<&Word>,
    args: Vec<Word>,
    invocation: &Invocation<'_>,
) -> Tool {
    if let Some(construct) = word.and_then(globs::in_operand) {
        return Tool::Script(construct.to_owned());
    }
    let stage = SandboxDraft::new(
        runtime,
        Program::File(CodeFile {
            name: file.to_owned(),
        }),
        Trust::KnownRuntime,
    );
    finish(stage, args, invocation)
}

fn code_argument(runtime: Runtime, mut args: Vec<Word>, invocation: &Invocation<'_>) -> Tool {
    if args.is_empty() {
        return unknown::direct(invocation);
    }
    let text = args.remove(0);
    if globs::has_brace_list(&text) || globs::has_tilde(&text) {
        return Tool::Script("brace list".to_owned());
    }
    code(runtime, &text, args, invocation)
}

fn code(runtime: Runtime, text: &Template, args: Vec<Word>, invocation: &Invocation<'_>) -> Tool {
    let Some(text) = text.as_literal() else {
        return Tool::Script("variable in code".to_owned());
    };
    let stage = SandboxDraft::new(
        runtime,
        Program::Code(Code {
            text,
            line: invocation.line,
        }),
        Trust::KnownRuntime,
    );
    // A here-document that is the code is no input besides.
    let is_input = invocation.argv.iter().skip(1).any(|word| {
        matches!(
            word.as_literal().as_deref(),
            Some("-c" | "-e" | "--eval" | "-p" | "--print")
        )
    });
    if is_input {
        finish(stage, args, invocation)
    } else {
        finish(
            stage,
            args,
            &Invocation {
                stdin: Stdin::Nothing,
                ..*invocation
            },
        )
    }
}

fn finish(mut stage: SandboxDraft, args: Vec<Word>, invocation: &Invocation<'_>) -> Tool {
    if let Some(script) = operands_are_plain(&args) {
        return script;
    }
    stage.args = args;
    if let Stdin::Text(text) = invocation.stdin {
        stage.stdin = Some(text.clone());
    }
    Tool::Stages(vec![DraftStage::Sandbox(Box::new(stage))])
}

/// Of what may be files.
pub(super) fn operands_are_plain(args: &[Word]) -> Option<Tool> {
    args.iter()
        .find_map(globs::in_operand)
        .map(|construct| Tool::Script(construct.to_owned()))
}
