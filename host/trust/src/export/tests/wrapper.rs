//! The exported wrapper, run by a real shell with a program that shows what it was given.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

use super::{Place, signed_package};

/// A program that prints its name and then its arguments, each in brackets.
fn program(path: &Path) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let script = "#!/bin/sh\nprintf '%s\\n' \"${0##*/}\"\nfor argument; do printf '[%s]\\n' \"$argument\"; done\n";
    fs::write(path, script).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// Runs the exported wrapper with these variables, and nothing else but a PATH.
fn run(place: &Place, script: &Path, arguments: &[&str], variables: &[(&str, &str)]) -> Output {
    let path = format!(
        "{}:/usr/bin:/bin",
        place.directory.path().join("bin").display()
    );
    let mut command = Command::new("sh");
    command
        .arg(script)
        .args(arguments)
        .env_clear()
        .env("PATH", path);
    command.envs(variables.iter().copied());
    command
        .current_dir(place.directory.path())
        .output()
        .unwrap()
}

const KEYS: [(&str, &str); 2] = [
    ("PROVENACT_KEYS", "/keys dir/ring.json"),
    ("PROVENACT_KEYS_DIGEST", "sha256:d"),
];

#[test]
fn the_wrapper_passes_every_path_as_it_is() {
    for home in [
        "home",
        "h o m e",
        "it's '' here'",
        "$(touch pwned)`touch pwned`",
        "a\"b\\c;touch pwned;#",
        "-rf",
        "new\nline",
        "*",
        "$HOME ${x} ! ~ & | < >",
        "grün \u{2018}\u{2019}",
    ] {
        let place = Place::at(home, &signed_package());
        let folder = place.exported();
        program(&place.directory.path().join("bin/hydrant"));
        let script = folder.join("scripts/run.sh");
        let output = run(&place, &script, &["in put.json"], &KEYS);
        let expected = format!(
            "hydrant\n[run]\n[--bundle]\n[{}]\n[--keys]\n[/keys dir/ring.json]\n[--keys-digest]\n\
             [sha256:d]\n[--policy]\n[{}/scripts/../references/ide-safe.policy.json]\n[--input]\n\
             [in put.json]\n[--receipt]\n[./receipt.json]\n[--mount]\n[/workspace={}]\n",
            place.entry().store,
            folder.display(),
            place.directory.path().display(),
        );
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(
            String::from_utf8_lossy(&output.stdout),
            expected,
            "{errors}"
        );
        assert!(output.status.success());
        assert!(!place.directory.path().join("pwned").exists());
    }
}

#[test]
fn the_wrapper_needs_keys_and_one_or_two_arguments() {
    let place = Place::new(&signed_package());
    let script = place.exported().join("scripts/run.sh");
    program(&place.directory.path().join("bin/hydrant"));
    for (arguments, variables) in [
        (["in.json"].as_slice(), &KEYS[..1]),
        (&["in.json"], &KEYS[1..]),
        (&["in.json"], &[]),
        (&[], &KEYS),
        (&["in.json", "receipt.json", "more"], &KEYS),
    ] {
        let output = run(&place, &script, arguments, variables);
        assert_eq!(output.status.code(), Some(64));
        assert!(output.stdout.is_empty() && !output.stderr.is_empty());
    }
    let output = run(&place, &script, &["in.json", "out dir/r.json"], &KEYS);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("[--receipt]\n[out dir/r.json]\n"), "{text}");
}

#[test]
fn the_program_is_the_named_one_else_hydrant_else_the_original() {
    let place = Place::new(&signed_package());
    let script = place.exported().join("scripts/run.sh");
    let bin = place.directory.path().join("bin");
    let named = place.directory.path().join("my bin/named one");
    program(&named);
    program(&bin.join("provenact-cli"));
    let first_line = |variables: &[(&str, &str)]| {
        let output = run(&place, &script, &["in.json"], variables);
        let text = String::from_utf8(output.stdout).unwrap();
        text.lines().next().unwrap_or_default().to_owned()
    };
    assert_eq!(first_line(&KEYS), "provenact-cli");
    program(&bin.join("hydrant"));
    assert_eq!(first_line(&KEYS), "hydrant");
    let bin = ("PROVENACT_BIN", named.to_str().unwrap());
    assert_eq!(first_line(&[KEYS[0], KEYS[1], bin]), "named one");
    let empty = ("PROVENACT_BIN", "");
    assert_eq!(first_line(&[KEYS[0], KEYS[1], empty]), "hydrant");
}
