//! Colours in text for people.

use std::process::Output;

use crate::Home;

const GREEN: &str = "\x1b[1m\x1b[32m";
const RED: &str = "\x1b[1m\x1b[31m";

fn explain(home: &Home, path: &str, format: &str, variables: &[(&str, &str)]) -> Output {
    let arguments = [
        "policy",
        "explain",
        "--skill",
        "content.hydrate",
        "--path",
        path,
        "--format",
        format,
    ];
    std::fs::create_dir_all(home.path().join("os")).unwrap();
    home.command(&arguments)
        .envs(variables.iter().copied())
        .output()
        .unwrap()
}

fn stdout(output: Output) -> String {
    String::from_utf8(output.stdout).unwrap()
}

const FORCED: &[(&str, &str)] = &[("CLICOLOR_FORCE", "1")];

#[test]
fn verdicts_are_coloured_and_say_the_same_without_colours() {
    let home = Home::new();
    for (path, verdict, colour) in [("/os/a.md", "allowed", GREEN), ("/etc/a.md", "denied", RED)] {
        let plain = stdout(explain(&home, path, "text", &[]));
        assert!(
            plain.starts_with(verdict) && !plain.contains('\x1b'),
            "{plain}"
        );
        let coloured = stdout(explain(&home, path, "text", FORCED));
        let wanted = plain.replacen(verdict, &format!("{colour}{verdict}\x1b[0m"), 1);
        assert_eq!(coloured, wanted);
        let json = stdout(explain(&home, path, "json", FORCED));
        assert!(json.starts_with('{') && !json.contains('\x1b'), "{json}");
    }
}

#[test]
fn no_color_turns_colours_off_and_a_pipe_has_none() {
    let home = Home::new();
    let off = [("CLICOLOR", "1"), ("NO_COLOR", "1")];
    for variables in [&[][..], &off, &[("TERM", "xterm-256color")]] {
        let said = stdout(explain(&home, "/etc/a.md", "text", variables));
        assert!(!said.contains('\x1b'), "{variables:?}: {said}");
    }
}

#[test]
fn errors_begin_with_a_coloured_name_and_the_last_line_of_verify_with_its_outcome() {
    let home = Home::new();
    let failing = || home.command(&["policy", "explain", "--skill", "no.such", "--path", "/os"]);
    let plain = String::from_utf8(failing().output().unwrap().stderr).unwrap();
    assert!(
        plain.starts_with("hydrant: ") && !plain.contains('\x1b'),
        "{plain}"
    );
    let coloured = failing().envs(FORCED.iter().copied()).output().unwrap();
    let coloured = String::from_utf8(coloured.stderr).unwrap();
    assert_eq!(
        coloured,
        plain.replacen("hydrant:", &format!("{RED}hydrant:\x1b[0m"), 1)
    );

    let verify = home
        .command(&["verify", "--root", "."])
        .envs(FORCED.iter().copied())
        .output()
        .unwrap();
    let said = String::from_utf8(verify.stderr).unwrap();
    assert!(
        said.lines()
            .last()
            .unwrap()
            .starts_with(&format!("{RED}FAIL\x1b[0m ")),
        "{said}"
    );
    let json = home
        .command(&["verify", "--root", ".", "--format", "json"])
        .envs(FORCED.iter().copied())
        .output()
        .unwrap();
    assert!(!stdout(json).contains('\x1b'));
}
