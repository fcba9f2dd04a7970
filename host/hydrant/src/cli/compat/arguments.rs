//! The grammar of compatible command lines: `--name value` and switches, in any order, each at most once.
//!
//! Narrower than clap's, which also takes `--name=value` and sees a flag in every value that begins with a hyphen. A line
//! that passes is handed to clap as `--name=value`, so that clap takes any value for what it is.

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};

use clap::ArgAction;

/// A wrong command line: what is wrong, and how it is right.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}; {usage}")]
pub(super) struct Usage {
    reason: String,
    usage: String,
}

impl Usage {
    /// Something about `line` is wrong that only the command itself knows.
    pub(super) fn new(reason: impl Into<String>, root: clap::Command, line: &[&str]) -> Self {
        let line: Vec<OsString> = line.iter().map(OsString::from).collect();
        Self {
            reason: reason.into(),
            usage: usage_of(root, &line),
        }
    }

    /// What clap finds wrong: a flag is missing.
    pub(super) fn of(error: &clap::Error, root: clap::Command, line: &[OsString]) -> Self {
        let text = error.render().to_string();
        let reason: Vec<&str> = text
            .lines()
            .take_while(|line| !line.trim().is_empty())
            .map(str::trim)
            .collect();
        let reason = reason.join(" ");
        Self {
            reason: reason.strip_prefix("error: ").unwrap_or(&reason).to_owned(),
            usage: usage_of(root, line),
        }
    }
}

/// `usage: hydrant pack --bundle <DIR> …` of the command that the line begins with.
fn usage_of(mut root: clap::Command, line: &[OsString]) -> String {
    root.build();
    let mut command = root;
    for word in line {
        let Some(found) = command.find_subcommand(word).cloned() else {
            break;
        };
        command = found;
    }
    let rendered = command.render_usage().to_string();
    let words: Vec<&str> = rendered.split_whitespace().collect();
    format!("usage:{}", words.join(" ").trim_start_matches("Usage:"))
}

/// The line, the program's name before it, as clap is to read it.
///
/// # Errors
/// [`Usage`]: a flag that the command does not have, one that is given twice or without its value, `--name=value`, or a
/// word that belongs to no flag.
pub(super) fn normalize(
    mut root: clap::Command,
    line: &[OsString],
) -> Result<Vec<OsString>, Usage> {
    root.build();
    let wrong = |reason: String| Usage {
        reason,
        usage: usage_of(root.clone(), line),
    };
    let mut words = vec![OsString::from(root.get_name())];
    let mut command = &root;
    let mut given = HashSet::new();
    let mut rest = line.iter();
    while let Some(word) = rest.next() {
        if is_help(word) {
            words.push(word.clone());
            continue;
        }
        if command.has_subcommands() {
            let known = command.find_subcommand(word);
            command = known.ok_or_else(|| wrong(format!("unknown command {}", shown(word))))?;
            words.push(word.clone());
            continue;
        }
        let flag = command
            .get_arguments()
            .filter_map(|flag| Some((flag.get_long()?, flag)))
            .find(|(long, _)| word.to_str().and_then(|word| word.strip_prefix("--")) == Some(long));
        let Some((long, flag)) = flag else {
            return Err(wrong(format!("unexpected argument {}", shown(word))));
        };
        if !given.insert(long) && !matches!(flag.get_action(), ArgAction::Append) {
            return Err(wrong(format!("--{long} is given twice")));
        }
        let mut word = word.clone();
        if flag.get_action().takes_values() {
            let Some(value) = rest.next() else {
                return Err(wrong(format!("--{long} has no value")));
            };
            word.push("=");
            word.push(value);
        }
        words.push(word);
    }
    if command.has_subcommands() && !words.iter().any(|word| is_help(word)) {
        let names: Vec<&str> = command
            .get_subcommands()
            .map(clap::Command::get_name)
            .collect();
        let reason = format!("{} needs one of: {}", command.get_name(), names.join(", "));
        return Err(wrong(reason));
    }
    Ok(words)
}

/// Help and version are answered wherever they stand.
fn is_help(word: &OsStr) -> bool {
    ["-h", "--help", "-V", "--version"]
        .iter()
        .any(|flag| word == *flag)
}

fn shown(word: &OsStr) -> String {
    word.to_string_lossy().escape_default().to_string()
}

#[cfg(test)]
mod tests {
    use clap::{Arg, Command};

    use super::*;

    fn program() -> Command {
        let value = |name: &'static str| Arg::new(name).long(name);
        let pack = Command::new("pack")
            .arg(value("bundle").required(true))
            .arg(value("mount").action(ArgAction::Append))
            .arg(value("quiet").action(ArgAction::SetTrue));
        let export = Command::new("export")
            .disable_help_subcommand(true)
            .subcommand(Command::new("agentskills").arg(value("agent")));
        Command::new("hydrant").subcommand(pack).subcommand(export)
    }

    fn normalized(line: &[&str]) -> Result<String, Usage> {
        let line: Vec<OsString> = line.iter().map(OsString::from).collect();
        let words = normalize(program(), &line)?;
        let words: Vec<&str> = words.iter().filter_map(|word| word.to_str()).collect();
        Ok(words.join(" "))
    }

    fn refusal(line: &[&str]) -> String {
        let message = normalized(line).unwrap_err().to_string();
        assert!(message.contains("; usage: hydrant "), "{message}");
        assert!(!message.contains('\n'), "{message}");
        message
    }

    #[test]
    fn flags_come_in_any_order() {
        let line = ["pack", "--quiet", "--bundle", "b"];
        assert_eq!(
            normalized(&line).unwrap(),
            "hydrant pack --quiet --bundle=b"
        );
    }

    #[test]
    fn a_value_may_look_like_a_flag() {
        let line = ["pack", "--bundle", "--quiet"];
        assert_eq!(normalized(&line).unwrap(), "hydrant pack --bundle=--quiet");
        let line = ["pack", "--bundle", "-x=y"];
        assert_eq!(normalized(&line).unwrap(), "hydrant pack --bundle=-x=y");
    }

    #[test]
    fn name_equals_value_is_refused() {
        assert!(refusal(&["pack", "--bundle=b"]).starts_with("unexpected argument --bundle=b"));
        assert!(refusal(&["pack", "--quiet=true"]).starts_with("unexpected argument"));
    }

    #[test]
    fn repeated_flags_are_refused_except_those_that_add_up() {
        for flag in ["--bundle", "--quiet"] {
            let line = match flag {
                "--bundle" => vec!["pack", "--bundle", "a", "--bundle", "a"],
                flag => vec!["pack", flag, flag],
            };
            assert!(refusal(&line).contains("is given twice"), "{flag}");
        }
        let line = ["pack", "--mount", "/a=b", "--mount", "/c=d"];
        assert_eq!(
            normalized(&line).unwrap(),
            "hydrant pack --mount=/a=b --mount=/c=d"
        );
    }

    #[test]
    fn positional_and_unknown_arguments_are_refused() {
        for word in [
            "b",
            "",
            "-q",
            "--",
            "--unknown",
            "--bund",
            "--Bundle",
            "---bundle",
        ] {
            let message = refusal(&["pack", word]);
            assert!(message.starts_with("unexpected argument"), "{message}");
        }
        assert!(refusal(&["pack", "a\nb"]).contains("a\\nb"));
    }

    #[test]
    fn a_flag_without_its_value_is_refused() {
        assert!(refusal(&["pack", "--bundle"]).starts_with("--bundle has no value"));
    }

    #[test]
    fn export_needs_to_know_what() {
        assert!(refusal(&["export"]).starts_with("export needs one of: agentskills;"));
        assert!(refusal(&["export", "other"]).starts_with("unknown command other"));
        let line = ["export", "agentskills", "--agent", "claude"];
        assert_eq!(
            normalized(&line).unwrap(),
            "hydrant export agentskills --agent=claude"
        );
    }

    #[test]
    fn help_and_version_pass_through() {
        for flag in ["-h", "--help", "-V", "--version"] {
            assert_eq!(
                normalized(&["pack", flag]).unwrap(),
                format!("hydrant pack {flag}")
            );
            assert_eq!(
                normalized(&["export", flag]).unwrap(),
                format!("hydrant export {flag}")
            );
        }
    }

    #[test]
    fn what_clap_misses_is_told_with_the_usage() {
        let error = program()
            .try_get_matches_from(["hydrant", "pack"])
            .unwrap_err();
        let message = Usage::of(&error, program(), &["pack".into()]).to_string();
        assert!(message.contains("--bundle <bundle>"), "{message}");
        assert!(message.contains("; usage: hydrant pack "), "{message}");
        assert!(!message.contains('\n'), "{message}");
    }
}
