//! What prepares a skill and is none of its operations: installers, directories and files that it keeps, its own documents.
//!
//! An agent that has the skill has no use for these as operations. They are left out of what a document offers, and a diagnostic
//! names them. Nothing here makes anything of a command: what is not left out is read as everywhere else.

use super::plan;
use super::program::{Assignment, Command, Piece, Statement, Value, bare};
use super::statement::sets_constants;
use crate::assemble::looks_like_credential;
use crate::tools;

/// What a statement does before a skill can be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// Installs a tool, a package or the skill itself. Whatever stands beside it does not change by it.
    Installs,
    /// Makes a directory.
    Directory,
    /// Fetches a document, or a file of a skill's folder.
    Fetches,
    /// Fetches into another file of the home directory, which is a step of a setup only beside others.
    Downloads,
    /// Writes a file of settings or credentials.
    Stores,
    /// Puts files into the folder of a skill, or permits that they are run.
    Places,
    /// Sets up the program that runs the agent, or looks whether a tool or a credential is there.
    Configures,
    /// Changes nothing of a request beside it: `cd`, `sleep`, `wait`.
    Idle,
    /// Reads another file: `source`. It changes nothing of a request beside it, unless that file was only fetched now.
    Sources,
    /// Only means something to the statements beside it: `chmod`, a constant, text written to a file that nothing reads when it
    /// starts.
    Other,
}

/// Programs that keep skills, and others that fetch code, with their verbs; packages have theirs in `tools`.
const KEEPERS: [(&str, &str); 15] = [
    ("apt", "update"),
    ("apt-get", "update"),
    ("brew", "tap"),
    ("clawhub", "install"),
    ("clawhub", "update"),
    ("clawdhub", "install"),
    ("clawdhub", "update"),
    ("molthub", "install"),
    ("openclaw", "install"),
    ("clawdbot", "install"),
    ("skills", "add"),
    ("claude", "add"),
    ("git", "clone"),
    ("npm", "init"),
    ("docker", "pull"),
];
/// Programs that run agents, and what is set up with them.
const AGENTS: [&str; 3] = ["openclaw", "clawdbot", "moltbot"];
const CONFIGURED: [&str; 10] = [
    "config",
    "configure",
    "cron",
    "doctor",
    "gateway",
    "mcp",
    "onboard",
    "plugins",
    "secret",
    "skills",
];
/// Words before the name of a program that installs.
const STARTERS: [&str; 7] = ["sudo", "npx", "bunx", "python", "python3", "-m", "-y"];
/// Options of `curl` that change nothing of what is fetched, or say where it goes.
const FETCHING: [&str; 10] = [
    "-s", "-S", "-L", "-f", "-sS", "-sL", "-fsSL", "-sSL", "-o", "-fsS",
];

/// Folders whose files a program reads or runs by itself.
const READ_AT_START: [&str; 8] = [
    "bin",
    "etc",
    "hooks",
    ".ssh",
    ".git",
    "autostart",
    "systemd",
    "LaunchAgents",
];

/// What a statement prepares; none if it is more than that.
pub(super) fn step(statement: &Statement) -> Option<Step> {
    let [command] = statement.commands.as_slice() else {
        return None;
    };
    if !command.assignments.is_empty() {
        let is_text = |assignment: &Assignment| matches!(assignment.value, Value::Word(_));
        let is_plain = sets_constants(command)
            && statement.constructs.is_empty()
            && command.assignments.iter().all(is_text);
        return is_plain.then_some(Step::Other);
    }
    // A name in quotes or in a variable says nothing here: whatever runs, it is no step.
    let name = command.name()?;
    let words: Vec<&str> = command.words.iter().filter_map(bare).collect();
    let are_plain = words.len() == command.words.len();
    let writes = matches!(statement.constructs.as_slice(), [one] if one == "redirection to a file");
    if writes || plan::is_http(command) {
        return writing(statement, command, &words, writes);
    }
    if !statement.constructs.is_empty() || command.input.is_some() {
        return None;
    }
    match name {
        "mkdir" => Some(Step::Directory),
        "cd" | "sleep" => Some(Step::Idle),
        "wait" => (words.len() == 1).then_some(Step::Idle),
        "source" | "." => Some(Step::Sources),
        "chmod" if are_plain && permits(&words) => Some(Step::Places),
        "chmod" | "touch" | "echo" | "printf" => Some(Step::Other),
        "cp" | "ln" => places(command, &words).then_some(Step::Places),
        "cat" => match words.as_slice() {
            [_, file] if file.starts_with('~') && is_configuration(file) => Some(Step::Configures),
            _ => None,
        },
        _ if are_plain && installs(&words) => Some(Step::Installs),
        _ => {
            (configures(command, &words) || are_plain && looks(&words)).then_some(Step::Configures)
        }
    }
}

/// `curl https://a.example/skill.md > FILE`, `echo text > FILE`
fn writing(
    statement: &Statement,
    command: &Command,
    words: &[&str],
    is_redirected: bool,
) -> Option<Step> {
    match command.name()? {
        "curl" => {
            let is_plain = |word: &&&str| FETCHING.contains(*word) || !word.starts_with('-');
            let named = words.windows(2).filter_map(|pair| match pair {
                ["-o", file] => Some(*file),
                _ => None,
            });
            let files: Vec<&str> = named
                .chain(statement.written.iter().map(String::as_str))
                .collect();
            let all =
                |is_so: fn(&str) -> bool| !files.is_empty() && files.iter().all(|file| is_so(file));
            if words.iter().skip(1).take_while(is_plain).count() + 1 != command.words.len() {
                None
            } else if all(is_of_skill) {
                Some(Step::Fetches)
            } else {
                let is_kept = |file: &str| file.starts_with('~') && !is_read_at_start(file);
                all(is_kept).then_some(Step::Downloads)
            }
        }
        "echo" | "printf" | "cat" if is_redirected => Some(match statement.written.as_slice() {
            [file] if is_configuration(file) => Step::Stores,
            [file] if !is_read_at_start(file) => Step::Other,
            _ => return None,
        }),
        _ => None,
    }
}

/// `SKILL.md`, `~/.agent/skills/boxes/package.json`: a document, or a file of the folder of a skill.
fn is_of_skill(file: &str) -> bool {
    let is_document = std::path::Path::new(file)
        .extension()
        .is_some_and(|end| end.eq_ignore_ascii_case("md"));
    (is_document || format!("{file}/").contains("/skills/")) && !is_read_at_start(file)
}

/// Whether a shell, a login or another program may read or run the file when it starts, or its path leads elsewhere than it seems.
fn is_read_at_start(file: &str) -> bool {
    let mut names = file.split('/').rev();
    let name = names.next().unwrap_or_default();
    name.starts_with('.') && !name.starts_with(".env")
        || file.starts_with('/') && !file.starts_with("/tmp/")
        || names.any(|folder| READ_AT_START.contains(&folder))
        || file.split('/').any(|part| part == "..")
}

/// `.env`, `~/.config/boxes/api_key`, `~/.boxes/config.json`: settings or a credential, of which nothing is run.
fn is_configuration(file: &str) -> bool {
    let name = file.rsplit('/').next().unwrap_or_default();
    let last = name.rsplit(['_', '-', '.']).next().unwrap_or_default();
    (matches!(
        name,
        ".env" | "credentials.json" | "config.json" | "skills.txt"
    ) || matches!(last, "key" | "apikey" | "token" | "jwt" | "url"))
        && !is_read_at_start(file)
}

/// `cp -r boxes ~/.agent/skills/boxes`
fn places(command: &Command, words: &[&str]) -> bool {
    let is_known = |word: &&str| {
        let options = word.strip_prefix('-');
        options.is_none_or(|letters| letters.chars().all(|c| "rRasfnpv".contains(c)))
    };
    command.words.last().and_then(bare).is_some_and(is_of_skill) && words.iter().all(is_known)
}

/// `chmod +x run.sh`, `chmod 600 key`
fn permits(words: &[&str]) -> bool {
    match words {
        [_, "+x" | "u+x" | "a+x" | "755" | "700" | "600", files @ ..] => {
            !files.is_empty() && !files.iter().any(|file| is_read_at_start(file))
        }
        _ => false,
    }
}

/// `openclaw config set …`, which runs no other command to find its words.
fn configures(command: &Command, words: &[&str]) -> bool {
    let is_output = |piece: &Piece| matches!(piece, Piece::Output { .. });
    matches!(words, [agent, what, ..] if AGENTS.contains(agent) && CONFIGURED.contains(what))
        && !command.words.iter().flatten().any(is_output)
}

/// `jq --version`, `which jq`, `printenv BOXES_KEY`
fn looks(words: &[&str]) -> bool {
    matches!(
        words,
        [_, "--version"] | ["which" | "printenv", _] | ["command", "-v", _]
    )
}

/// Whether plain words install something.
pub(super) fn installs(words: &[&str]) -> bool {
    let begin = words
        .iter()
        .position(|word| !STARTERS.contains(word))
        .unwrap_or(words.len());
    let mut words = words.iter().skip(begin);
    // `clawhub@latest`
    let Some(name) = words.next().and_then(|name| name.split('@').next()) else {
        return false;
    };
    if matches!(name, "venv" | "skill-install") {
        return true;
    }
    let mut rest = words.filter(|word| !word.starts_with('-'));
    // `uv pip install`, `openclaw skills install`
    let verb = match rest.next() {
        Some(&("pip" | "tool" | "skills" | "skill" | "plugins" | "plugin" | "mcp")) => rest.next(),
        verb => verb,
    };
    let verb = verb.copied();
    tools::installs(name, verb)
        || KEEPERS
            .iter()
            .any(|keeper| Some(*keeper) == verb.map(|verb| (name, verb)))
}

/// What a diagnostic shows of a step: what installs or fetches with its words, and the name of everything else, which may hold a
/// credential.
pub(super) fn shown(statement: &Statement, step: Option<Step>) -> String {
    let words = statement.commands.iter().flat_map(|command| &command.words);
    // The value of an option may be a credential that looks like none: `--token 0123`.
    let mut is_value = false;
    let words = words.filter_map(bare).map(|word| {
        let may_be_secret = std::mem::replace(&mut is_value, names_credential(word))
            || word.contains('=')
            || word.contains("://") && word.contains('@')
            || looks_like_credential(word);
        if may_be_secret { "…" } else { word }
    });
    let is_whole = matches!(step, Some(Step::Installs | Step::Fetches | Step::Downloads));
    let count = if is_whole { usize::MAX } else { 1 };
    let files = statement.written.iter().map(|file| format!("> {file}"));
    words
        .take(count)
        .map(str::to_owned)
        .chain(files)
        .collect::<Vec<_>>()
        .join(" ")
}

/// `--token`, `--api-key`
fn names_credential(option: &str) -> bool {
    let option = option.to_ascii_lowercase();
    option.starts_with('-')
        && ["token", "key", "secret", "password", "auth"]
            .iter()
            .any(|word| option.contains(word))
}

/// Whether statements do nothing but prepare: at least one installs, makes a directory or fetches.
pub(super) fn is_all(statements: &[Option<Step>]) -> bool {
    let is_certain = |step: &Option<Step>| {
        matches!(
            step,
            Some(
                Step::Installs
                    | Step::Directory
                    | Step::Fetches
                    | Step::Stores
                    | Step::Places
                    | Step::Configures
            )
        )
    };
    statements.iter().all(Option::is_some) && statements.iter().any(is_certain)
}
