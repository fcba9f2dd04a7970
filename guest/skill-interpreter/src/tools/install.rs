//! What downloads code, to run it or to keep it.

use super::{Tool, exact, runtime, unknown};
use crate::draft::{DraftStage, Package, Program, SandboxDraft, Template, Trust, Word};
use crate::http_command::Invocation;
use crate::model::Runtime;

/// An installer: its name, the runtime that its packages are for, and its verbs.
type Installer = (&'static str, &'static str, &'static [&'static str]);

const INSTALLERS: [Installer; 17] = [
    ("pip", "python", &["install"]),
    ("pip3", "python", &["install"]),
    ("pipx", "python", &["install"]),
    ("uv", "python", &["add", "install"]),
    ("npm", "node", &["install", "i", "add"]),
    ("pnpm", "node", &["install", "i", "add"]),
    ("yarn", "node", &["install", "i", "add"]),
    ("bun", "node", &["install", "i", "add"]),
    ("go", "go", &["install"]),
    ("cargo", "rust", &["install"]),
    ("gem", "ruby", &["install"]),
    ("apt", "system", &["install"]),
    ("apt-get", "system", &["install"]),
    ("apk", "system", &["add"]),
    ("dnf", "system", &["install"]),
    ("yum", "system", &["install"]),
    ("brew", "system", &["install"]),
];

/// Options with a value, which is no package.
const VALUED: [&str; 24] = [
    "-i",
    "--index-url",
    "--extra-index-url",
    "-t",
    "--target",
    "-c",
    "--constraint",
    "--prefix",
    "--root",
    "--registry",
    "--python",
    "-p",
    "--version",
    "--vers",
    "--git",
    "--branch",
    "--tag",
    "--features",
    "-F",
    "--group",
    "--find-links",
    "-f",
    "--tap",
    "--cwd",
];

pub(super) fn is_installer(name: &str) -> bool {
    INSTALLERS.iter().any(|(installer, ..)| *installer == name)
}

pub(super) fn stages(name: &str, invocation: &Invocation<'_>) -> Tool {
    let words = invocation.argv.get(1..).unwrap_or_default();
    stages_of(name, words, invocation)
}

/// The same, where the arguments do not follow `argv[0]` (`python -m pip …`).
pub(super) fn stages_of(name: &str, words: &[Word], invocation: &Invocation<'_>) -> Tool {
    let Some((_, runtime, verbs)) = INSTALLERS.iter().find(|(known, ..)| *known == name) else {
        return unknown::direct(invocation);
    };
    let position = words
        .iter()
        .position(|word| word.as_literal().is_some_and(|text| !text.starts_with('-')));
    let installs = position
        .and_then(|position| words.get(position))
        .and_then(Template::as_literal)
        .is_some_and(|verb| verbs.contains(&verb.as_str()));
    match position.and_then(|position| words.get(position + 1..)) {
        Some(rest) if installs => {
            let packages = packages(rest)
                .into_iter()
                .map(|name| package(runtime, name));
            stage(
                Runtime::Shell,
                Trust::Installer,
                packages.collect(),
                invocation,
            )
        }
        _ => unknown::direct(invocation),
    }
}

/// What an installer is told to install: its operands, and files of requirements.
fn packages(words: &[Word]) -> Vec<String> {
    let shown: Vec<String> = words.iter().map(Template::display).collect();
    let mut packages = Vec::new();
    let mut words = shown.iter();
    while let Some(word) = words.next() {
        match word.as_str() {
            "-r" | "--requirement" => {
                packages.push(format!("-r {}", words.next().map_or("", String::as_str)));
            }
            option if VALUED.contains(&option) => {
                words.next();
            }
            option if option.starts_with('-') => {}
            package => packages.push(package.to_owned()),
        }
    }
    packages
}

fn package(runtime: &str, name: String) -> Package {
    Package {
        runtime: runtime.to_owned(),
        name,
    }
}

/// Commands that download code and run it.
pub(super) fn download(name: &str, invocation: &Invocation<'_>) -> Tool {
    let words = invocation.argv.get(1..).unwrap_or_default();
    let verb = words.first().and_then(Template::as_literal);
    let rest = words.get(1..).unwrap_or_default();
    let is_remote = |word: &Word| {
        let shown = word.display();
        shown.contains("://") || shown.starts_with("npm:") || shown.starts_with("jsr:")
    };
    match (name, verb.as_deref()) {
        ("npx" | "bunx", _) => run_of(name, "node", words, invocation),
        ("uvx", _) => run_of(name, "python", words, invocation),
        ("pipx", Some("run")) => run_of(name, "python", rest, invocation),
        ("pipx", _) => stages(name, invocation),
        ("deno", Some("run")) if rest.iter().any(is_remote) => {
            run_of(name, "deno", rest, invocation)
        }
        _ => unknown::direct(invocation),
    }
}

/// Code that is downloaded and run: the first operand and what options name are packages.
pub(super) fn run_of(
    name: &str,
    runtime: &str,
    words: &[Word],
    invocation: &Invocation<'_>,
) -> Tool {
    let mut packages = Vec::new();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let shown = word.display();
        match shown.as_str() {
            "-p" | "--package" | "--from" | "--with" | "--spec" => {
                packages.extend(words.next().map(Template::display));
            }
            _ => {
                let glued = ["--package=", "--from=", "--with=", "--spec="]
                    .iter()
                    .find_map(|option| shown.strip_prefix(option));
                if let Some(package) = glued {
                    packages.push(package.to_owned());
                } else if !shown.starts_with('-') {
                    packages.push(shown);
                    break;
                }
            }
        }
    }
    let core = match runtime {
        "node" => Runtime::Node,
        "python" => Runtime::Python,
        "go" => Runtime::Go,
        _ => Runtime::Shell,
    };
    let packages = packages
        .into_iter()
        .map(|name| package(runtime, name))
        .collect();
    let trust = Trust::Download {
        name: name.to_owned(),
    };
    stage(core, trust, packages, invocation)
}

fn stage(
    runtime: Runtime,
    trust: Trust,
    packages: Vec<Package>,
    invocation: &Invocation<'_>,
) -> Tool {
    let args = invocation.argv.get(1..).unwrap_or_default();
    if let Some(script) = runtime::operands_are_plain(args) {
        return script;
    }
    let guarded = match exact::guard(invocation) {
        Ok(guarded) => guarded,
        Err(script) => return script,
    };
    let mut stage = SandboxDraft::new(runtime, Program::Argv(guarded.argv), trust);
    stage.packages = packages;
    stage.stdin = guarded.stdin;
    Tool::Stages(vec![DraftStage::Sandbox(Box::new(stage))])
}
