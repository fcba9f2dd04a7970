//! `hydrant --help`.

use crate::Home;

/// The headings, in order, each with the commands below it.
fn groups(help: &str) -> Vec<(String, Vec<String>)> {
    let mut groups: Vec<(String, Vec<String>)> = Vec::new();
    for line in help.lines() {
        if let Some(heading) = line.strip_suffix(':').filter(|line| !line.starts_with(' ')) {
            groups.push((heading.to_owned(), Vec::new()));
        } else if let Some(command) = line
            .strip_prefix("  ")
            .filter(|line| !line.starts_with([' ', '-']))
            && let Some((_, commands)) = groups.last_mut()
        {
            commands.extend(command.split_whitespace().next().map(str::to_owned));
        }
    }
    groups
}

#[test]
fn help_lists_the_commands_by_what_they_are_for() {
    let home = Home::new();
    let long = home.text(&["--help"]);
    for help in [&long, &home.text(&["-h"]), &home.text(&["help"])] {
        let groups = groups(help);
        let first: Vec<_> = groups
            .iter()
            .map(|(heading, _)| heading.as_str())
            .take(8)
            .collect();
        assert_eq!(
            first,
            [
                "Hydrate and check",
                "Run and verify",
                "Foreign skills",
                "Plans",
                "Serve",
                "Keys and bundles",
                "Other commands of provenact",
                "Setup and diagnosis",
            ],
            "{help}"
        );
        assert!(
            !help.contains("Other commands:") && !help.contains('\x1b'),
            "{help}"
        );
        for (group, command) in [(0, "hydrate"), (1, "verify"), (2, "approvals"), (7, "help")] {
            assert!(
                groups[group].1.iter().any(|name| name == command),
                "{command}: {help}"
            );
        }
    }
    assert!(
        long.contains("\nEnvironment:\n") && long.contains("-V, --version"),
        "{long}"
    );
}

#[test]
fn help_of_a_command_is_its_own() {
    let home = Home::new();
    for arguments in [&["hydrate", "--help"][..], &["help", "hydrate"]] {
        let help = home.text(arguments);
        assert!(
            !help.contains("Foreign skills:") && help.contains("Usage: hydrant hydrate"),
            "{help}"
        );
    }
    // Without a command the help is told as an error.
    let output = home.command(&[]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(
        String::from_utf8(output.stderr)
            .unwrap()
            .contains("Foreign skills:")
    );
}
