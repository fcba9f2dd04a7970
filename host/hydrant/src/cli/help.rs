//! The command list of `hydrant --help`, in groups by what people want.
//!
//! clap knows no groups of subcommands. So each group is rendered by clap as the list of a program that has these
//! commands alone, which keeps widths, wrapping and style, and the lists stand in the template of the help.

use std::ffi::OsString;

use clap::Command;

/// Every command that is shown, in exactly one group. A command that is in none comes last, and a test fails.
const GROUPS: [(&str, &[&str]); 8] = [
    ("Hydrate and check", &["hydrate", "check", "graph"]),
    (
        "Run and verify",
        &["run", "skills", "describe", "verify", "policy", "jail"],
    ),
    (
        "Foreign skills",
        &["skill", "map", "approvals", "approve", "secrets", "audit"],
    ),
    ("Plans", &["plan", "route", "hook", "catalog"]),
    ("Serve", &["serve", "mcp", "syscall", "call"]),
    (
        "Keys and bundles",
        &[
            "keys", "lock", "pack", "sign", "inspect", "archive", "install", "export",
        ],
    ),
    (
        "Other commands of provenact",
        &[
            "verify-receipt",
            "verify-registry-entry",
            "experimental-validate-manifest-v1",
            "experimental-validate-receipt-v1",
        ],
    ),
    (
        "Setup and diagnosis",
        &[
            "setup",
            "doctor",
            "config",
            "completions",
            "man",
            "world",
            "help",
        ],
    ),
];

/// The command, whose help has groups if these arguments ask for it: rendering them takes longer than all else that is
/// done before a command runs.
pub(super) fn grouped_if_asked(command: Command, arguments: &[OsString]) -> Command {
    let asked = match arguments.get(1).and_then(|first| first.to_str()) {
        None => arguments.len() < 2,
        Some(first) => matches!(first, "help" | "--help" | "-h"),
    };
    if asked { grouped(command) } else { command }
}

fn grouped(mut command: Command) -> Command {
    command.build();
    let heading = *command.get_styles().get_header();
    let mut template = "{before-help}{about-with-newline}\n{usage-heading} {usage}\n\n".to_owned();
    for (title, names) in groups(&command) {
        let mut group = Command::new("group")
            .help_template("{subcommands}")
            .max_term_width(super::MAX_WIDTH)
            .disable_help_subcommand(true);
        for (place, name) in names.into_iter().enumerate() {
            let listed = command.find_subcommand(name).cloned();
            group = group.subcommands(listed.map(|listed| listed.display_order(place)));
        }
        let list = group.render_help().ansi().to_string();
        template.push_str(&format!(
            "{heading}{title}:{heading:#}\n{}\n\n",
            list.trim_end()
        ));
    }
    template.push_str(&format!(
        "{heading}Options:{heading:#}\n{{options}}{{after-help}}"
    ));
    command.help_template(template)
}

/// The groups that have commands, and last the commands that are in none.
fn groups(command: &Command) -> Vec<(&'static str, Vec<&str>)> {
    let shown: Vec<_> = command
        .get_subcommands()
        .filter(|command| !command.is_hide_set())
        .map(Command::get_name)
        .collect();
    let grouped = GROUPS.iter().map(|(title, names)| {
        let names = names.iter().copied();
        (*title, names.filter(|name| shown.contains(name)).collect())
    });
    let is_in_none = |name: &&str| !GROUPS.iter().any(|(_, names)| names.contains(name));
    let others = shown.iter().copied().filter(is_in_none).collect();
    grouped
        .chain([("Other commands", others)])
        .filter(|(_, names): &(_, Vec<_>)| !names.is_empty())
        .collect()
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn every_command_that_is_shown_is_in_exactly_one_group() {
        let mut command = super::super::Cli::command();
        command.build();
        for command in command
            .get_subcommands()
            .filter(|command| !command.is_hide_set())
        {
            let name = command.get_name();
            let count = GROUPS
                .iter()
                .filter(|(_, names)| names.contains(&name))
                .count();
            assert_eq!(count, 1, "{name}: see GROUPS");
        }
        for (title, names) in GROUPS {
            for name in names {
                let count = names.iter().filter(|other| other == &name).count();
                assert_eq!(count, 1, "{title}: {name}");
            }
        }
    }
}
