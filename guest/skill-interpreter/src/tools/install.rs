//! What downloads code, to keep it or to run it.

use super::{Tool, direct};
use crate::draft::{Package, Template, Word};
use crate::http_command::Invocation;
use crate::model::{Fetches, Runtime};

/// Programs that install: their names, the runtime that the packages are for, and the verbs.
const INSTALLERS: [(&[&str], &str, &[&str]); 7] = [
    (&["pip", "pip3", "pipx"], "python", &["install"]),
    (&["uv"], "python", &["add", "install"]),
    (
        &["npm", "pnpm", "yarn", "bun"],
        "node",
        &["install", "i", "add"],
    ),
    (&["go"], "go", &["install"]),
    (&["cargo"], "rust", &["install"]),
    (&["gem"], "ruby", &["install"]),
    (
        &["apt", "apt-get", "apk", "dnf", "yum", "brew"],
        "system",
        &["install", "add"],
    ),
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
/// Options of what runs downloaded code that name a package.
const PACKAGE: [&str; 5] = ["-p", "--package", "--from", "--with", "--spec"];

/// The runtime that a program installs packages for.
pub(super) fn installer(name: &str) -> Option<&'static str> {
    let found = INSTALLERS.iter().find(|(names, ..)| names.contains(&name));
    found.map(|(_, runtime, _)| *runtime)
}

/// Whether words, without options, install something: `pip install …`
#[must_use]
pub fn installs(name: &str, verb: Option<&str>) -> bool {
    let verbs = INSTALLERS.iter().find(|(names, ..)| names.contains(&name));
    verbs.is_some_and(|(_, _, verbs)| verb.is_some_and(|verb| verbs.contains(&verb)))
}

/// An installer with its words, which need not follow `argv[0]` (`python -m pip …`).
pub(super) fn stages(name: &str, words: &[Word], invocation: &Invocation<'_>) -> Tool {
    let is_verb = |word: &Word| word.as_literal().is_some_and(|text| !text.starts_with('-'));
    let (Some(runtime), Some(position)) = (installer(name), words.iter().position(is_verb)) else {
        return direct::run(invocation);
    };
    let verb = words.get(position).and_then(Template::as_literal);
    if !installs(name, verb.as_deref()) {
        return direct::run(invocation);
    }
    let packages = packages(words.get(position + 1..).unwrap_or_default())
        .into_iter()
        .map(|name| package(runtime, name))
        .collect();
    // The tool is what the command itself says: of `python -m pip` it is python.
    direct::run_with(invocation, |stage| {
        stage.fetches = Fetches::Installs;
        stage.packages = packages;
    })
}

/// What an installer is told to install: its operands, and files of requirements.
fn packages(words: &[Word]) -> Vec<String> {
    let mut packages = Vec::new();
    let mut words = words.iter().map(Template::display);
    while let Some(word) = words.next() {
        match word.as_str() {
            "-r" | "--requirement" => {
                packages.push(format!("-r {}", words.next().unwrap_or_default()));
            }
            option if VALUED.contains(&option) => {
                words.next();
            }
            option if option.starts_with('-') => {}
            _ => packages.push(word),
        }
    }
    packages
}

pub(super) fn package(runtime: &str, name: String) -> Package {
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
        ("deno", Some("run")) if rest.iter().any(is_remote) => {
            run_of(name, "deno", rest, invocation)
        }
        _ => stages(name, words, invocation),
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
    let mut words = words.iter().map(Template::display);
    while let Some(shown) = words.next() {
        if PACKAGE.contains(&shown.as_str()) {
            packages.extend(words.next());
            continue;
        }
        match shown.split_once('=') {
            Some((option, value)) if PACKAGE.contains(&option) => packages.push(value.to_owned()),
            _ if shown.starts_with('-') => {}
            _ => {
                packages.push(shown);
                break;
            }
        }
    }
    let core = match runtime {
        "node" => Runtime::Node,
        "python" => Runtime::Python,
        "go" => Runtime::Go,
        _ => Runtime::Shell,
    };
    let packages = packages.into_iter().map(|name| package(runtime, name));
    direct::run_with(invocation, |stage| {
        stage.runtime = core;
        stage.tools = vec![name.to_owned()];
        stage.fetches = Fetches::RunsDownloaded;
        stage.packages = packages.collect();
    })
}
