//! Python, uv, node, go; and shells with a file of code.

use super::{Tool, direct, install, jq};
use crate::draft::{DraftStage, FilterDraft, Program, SandboxDraft, Template, Word};
use crate::http_command::{Invocation, Stdin};
use crate::model::{Fetches, Runtime};
use crate::shell::globs;

/// Options of Python that change nothing of what is run.
const PYTHON_FLAGS: [&str; 8] = ["-u", "-B", "-I", "-E", "-s", "-S", "-O", "-q"];

/// Python or node: code in an argument or a here-document, a module, a file.
pub(super) fn interpreter(runtime: Runtime, invocation: &Invocation<'_>) -> Tool {
    let is_python = runtime == Runtime::Python;
    let is_flag = |word: &&Word| {
        let text = word.as_literal();
        is_python && text.is_some_and(|text| PYTHON_FLAGS.contains(&text.as_str()))
    };
    let mut words = invocation.argv.iter().skip(1).skip_while(is_flag);
    let first = words.next();
    let args: Vec<Word> = words.cloned().collect();
    let Some(literal) = first.map_or(Some("-".to_owned()), Template::as_literal) else {
        return Tool::Script("variable as a file of code".to_owned());
    };
    match (literal.as_str(), invocation.stdin) {
        ("-", Stdin::Text(text)) => code(runtime, text, args, None, invocation.line),
        ("-", Stdin::Previous) => Tool::Script(format!("pipe into `{}`", runtime.as_str())),
        ("-c", _) if is_python => code_argument(runtime, args, invocation),
        ("-m", _) if is_python => module(args, invocation),
        ("-e" | "--eval" | "-p" | "--print", _) if !is_python => {
            code_argument(runtime, args, invocation)
        }
        (option, _) if option.starts_with('-') => direct::run(invocation),
        (file, _) => file_of(runtime, file, first, args, invocation),
    }
}

fn module(mut args: Vec<Word>, invocation: &Invocation<'_>) -> Tool {
    if args.is_empty() {
        return direct::run(invocation);
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
                    Some("--sort-keys") => filter.options.push("sort-keys"),
                    Some("--compact") => filter.options.push("compact"),
                    Some("--no-ensure-ascii") => {}
                    Some(option) if option.starts_with('-') && option != "-" => {
                        return direct::run(invocation);
                    }
                    _ => files.push(word),
                }
            }
            // A second file would be written to.
            jq::with_file(invocation, &files, DraftStage::JsonFilter(filter))
        }
        "pip" => install::stages("pip", &args, invocation),
        _ => {
            let program = Program::Module(module);
            let draft = SandboxDraft::new(Runtime::Python, program, invocation.line);
            direct::stage(draft, args, direct::text_of(invocation))
        }
    }
}

pub(super) fn uv(invocation: &Invocation<'_>) -> Tool {
    let words = invocation.argv.get(1..).unwrap_or_default();
    let rest = |skip: usize| words.get(skip..).unwrap_or_default();
    let literal = |index: usize| words.get(index).and_then(Template::as_literal);
    match (literal(0).as_deref(), literal(1).as_deref()) {
        (Some("run"), _) => uv_run(rest(1), invocation),
        (Some("add"), _) => install::stages("uv", words, invocation),
        (Some("pip"), Some("install")) => install::stages("uv", rest(1), invocation),
        (Some("tool"), Some("run")) => install::run_of("uv", "python", rest(2), invocation),
        _ => direct::run(invocation),
    }
}

/// `uv run [--with PACKAGE] FILE`. Anything else than a file of Python is a command of its own.
fn uv_run(words: &[Word], invocation: &Invocation<'_>) -> Tool {
    let mut packages = Vec::new();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let Some(text) = word.as_literal() else {
            return Tool::Script("variable as a file of code".to_owned());
        };
        let package = match text.strip_prefix("--with") {
            Some("") => match words.next().and_then(Template::as_literal) {
                Some(package) => Some(package),
                None => return Tool::Script("variable as a package".to_owned()),
            },
            Some(glued) => glued.strip_prefix('=').map(str::to_owned),
            None => None,
        };
        if let Some(package) = package {
            let names = package.split(',').map(str::to_owned);
            packages.extend(names.map(|name| install::package("python", name)));
            continue;
        }
        // Of a file of Python it says what is so anyway.
        if text == "--script" {
            continue;
        }
        if text.starts_with('-') || !text.ends_with(".py") {
            break;
        }
        let args = words.cloned().collect();
        let mut tool = file_of(Runtime::Python, &text, Some(word), args, invocation);
        // With packages it is no longer the runtime alone.
        if let Tool::Stages(stages) = &mut tool
            && let [DraftStage::Sandbox(sandbox)] = stages.as_mut_slice()
            && !packages.is_empty()
        {
            sandbox.stage.packages = packages;
            sandbox.stage.fetches = Fetches::Installs;
        }
        return tool;
    }
    direct::run(invocation)
}

pub(super) fn go(invocation: &Invocation<'_>) -> Tool {
    let words = invocation.argv.get(1..).unwrap_or_default();
    let (command, rest) = (words.first(), words.get(1..).unwrap_or_default());
    let file = rest.first().map(Template::as_literal);
    match (command.and_then(Template::as_literal).as_deref(), file) {
        (Some("run"), Some(None)) => Tool::Script("variable as a file of code".to_owned()),
        (Some("run"), Some(Some(file))) if file.ends_with(".go") && !file.starts_with('-') => {
            let args = rest.get(1..).unwrap_or_default().to_vec();
            file_of(Runtime::Go, &file, rest.first(), args, invocation)
        }
        (Some("run"), Some(Some(module))) if module.contains('@') && !module.starts_with('-') => {
            install::run_of("go", "go", rest, invocation)
        }
        _ => install::stages("go", words, invocation),
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
            let program = direct::code_file(path);
            let mut draft = SandboxDraft::new(Runtime::Shell, program, invocation.line);
            draft.stage.constructs = vec![format!("`{name} FILE`")];
            let args = invocation.argv.get(2..).unwrap_or_default().to_vec();
            direct::stage(draft, args, None)
        }
        (_, Some("-c"), _) => Tool::Script(format!("`{name} -c`")),
        _ => Tool::Script(format!("shell `{name}`")),
    }
}

/// A file of code. `~/skills/x.py` is a name: what is run is the file that was given by that name.
fn file_of(
    runtime: Runtime,
    file: &str,
    word: Option<&Word>,
    args: Vec<Word>,
    invocation: &Invocation<'_>,
) -> Tool {
    if word.is_some_and(|word| globs::has_glob(word) || globs::has_brace_list(word)) {
        return Tool::Script("glob in an operand".to_owned());
    }
    let draft = SandboxDraft::new(runtime, direct::code_file(file), invocation.line);
    direct::stage(draft, args, direct::text_of(invocation))
}

fn code_argument(runtime: Runtime, mut args: Vec<Word>, invocation: &Invocation<'_>) -> Tool {
    if args.is_empty() {
        return direct::run(invocation);
    }
    let text = args.remove(0);
    if globs::has_brace_list(&text) || globs::has_tilde(&text) {
        return Tool::Script("brace list".to_owned());
    }
    let stdin = direct::text_of(invocation);
    code(runtime, &text, args, stdin, invocation.line)
}

fn code(
    runtime: Runtime,
    text: &Template,
    args: Vec<Word>,
    stdin: Option<Template>,
    line: u32,
) -> Tool {
    let Some(text) = text.as_literal() else {
        return Tool::Script("variable in code".to_owned());
    };
    let draft = SandboxDraft::new(runtime, Program::Code(text), line);
    direct::stage(draft, args, stdin)
}
