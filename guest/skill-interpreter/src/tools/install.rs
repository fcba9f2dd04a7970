//! K-175, K-176: what downloads code, to run it or to keep it.

use super::{Tool, inline_code, runtime, unknown};
use crate::draft::{DraftStage, Package, Program, SandboxDraft, Template, Trust, Word};
use crate::http_command::Invocation;
use crate::model::Runtime;

/// Installers, and the runtime that their packages are for.
const INSTALLERS: [(&str, &str); 15] = [
    ("pip", "python"),
    ("pip3", "python"),
    ("npm", "node"),
    ("pnpm", "node"),
    ("yarn", "node"),
    ("bun", "node"),
    ("cargo", "rust"),
    ("gem", "ruby"),
    ("apt", "system"),
    ("apt-get", "system"),
    ("apk", "system"),
    ("dnf", "system"),
    ("yum", "system"),
    ("brew", "system"),
    ("pipx", "python"),
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
    INSTALLERS.iter().any(|(installer, _)| *installer == name)
}

pub(super) fn stages(name: &str, invocation: &Invocation<'_>) -> Tool {
    stages_of(
        name,
        invocation.argv.get(1..).unwrap_or_default(),
        invocation,
    )
}

/// The same, where the arguments do not follow `argv[0]` (`python -m pip …`).
pub(super) fn stages_of(name: &str, words: &[Word], invocation: &Invocation<'_>) -> Tool {
    let Some((_, runtime)) = INSTALLERS.iter().find(|(installer, _)| *installer == name) else {
        return unknown::direct(invocation);
    };
    let position = words
        .iter()
        .position(|word| word.as_literal().is_some_and(|text| !text.starts_with('-')));
    let verb = position
        .and_then(|position| words.get(position))
        .and_then(Template::as_literal);
    let installs = match verb.as_deref() {
        Some("install") => true,
        Some("add") => matches!(name, "npm" | "pnpm" | "yarn" | "bun" | "apk"),
        Some("i") => matches!(name, "npm" | "pnpm" | "yarn" | "bun"),
        _ => false,
    };
    let rest = position.and_then(|position| words.get(position + 1..));
    match rest {
        Some(rest) if installs => packages_of(runtime, rest, invocation),
        _ => unknown::direct(invocation),
    }
}

/// An installer, given what follows its verb.
pub(super) fn packages_of(runtime: &str, words: &[Word], invocation: &Invocation<'_>) -> Tool {
    let mut packages = Vec::new();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let shown = word.display();
        if matches!(shown.as_str(), "-r" | "--requirement") {
            let file = words.next().map(Template::display).unwrap_or_default();
            packages.push(format!("-r {file}"));
        } else if VALUED.contains(&shown.as_str()) {
            words.next();
        } else if !shown.starts_with('-') {
            packages.push(shown);
        }
    }
    let packages = packages
        .into_iter()
        .map(|name| Package {
            runtime: runtime.to_owned(),
            name,
        })
        .collect();
    stage(Runtime::Shell, Trust::Installer, packages, invocation)
}

/// K-175
pub(super) fn download(name: &str, invocation: &Invocation<'_>) -> Tool {
    let words = invocation.argv.get(1..).unwrap_or_default();
    let verb = words.first().and_then(Template::as_literal);
    let rest = words.get(1..).unwrap_or_default();
    match (name, verb.as_deref()) {
        ("npx" | "bunx", _) => run_of(name, "node", words, invocation),
        ("uvx", _) => run_of(name, "python", words, invocation),
        ("pipx", Some("run")) => run_of(name, "python", rest, invocation),
        ("pipx", _) => stages(name, invocation),
        ("deno", Some("run"))
            if rest.iter().any(|word| {
                let shown = word.display();
                shown.contains("://") || shown.starts_with("npm:") || shown.starts_with("jsr:")
            }) =>
        {
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
        .map(|name| Package {
            runtime: runtime.to_owned(),
            name,
        })
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
    let guarded = match inline_code::guard(invocation) {
        Ok(guarded) => guarded,
        Err(script) => return script,
    };
    let mut stage = SandboxDraft::new(runtime, Program::Argv(guarded.argv), trust);
    stage.packages = packages;
    stage.stdin = guarded.stdin;
    Tool::Stages(vec![DraftStage::Sandbox(Box::new(stage))])
}
