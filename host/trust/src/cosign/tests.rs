use std::fs;
use std::os::unix::fs::PermissionsExt;

use super::*;

/// A directory with a program that stands for cosign: it writes down its arguments and ends as `script` says.
fn program(name: &str, script: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    let arguments = folder.path().join("arguments");
    let text = format!(
        "#!/bin/sh\nprintf '%s\\n' \"$@\" > '{}'\n{script}\n",
        arguments.display()
    );
    fs::write(&path, text).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    folder
}

fn check() -> CosignCheck {
    CosignCheck {
        oci_ref: "registry.example/skill:1".into(),
        key: "cosign.pub".into(),
        certificate_identity: "who".into(),
        certificate_oidc_issuer: "https://issuer.example".into(),
    }
}

fn on_path(folder: &Path) -> CosignEnvironment {
    CosignEnvironment {
        path: Some(folder.into()),
        ..CosignEnvironment::default()
    }
}

fn refusal(environment: &CosignEnvironment) -> String {
    check().run(environment).unwrap_err().to_string()
}

#[test]
fn cosign_gets_exactly_these_arguments() {
    let folder = program("cosign", "exit 0");
    check().run(&on_path(folder.path())).unwrap();
    let arguments = fs::read_to_string(folder.path().join("arguments")).unwrap();
    let expected = [
        "verify",
        "--key",
        "cosign.pub",
        "--certificate-identity",
        "who",
        "--certificate-oidc-issuer",
        "https://issuer.example",
        "registry.example/skill:1",
    ];
    assert_eq!(arguments.lines().collect::<Vec<_>>(), expected);
}

#[test]
fn a_refusal_is_told_in_one_line() {
    let folder = program("cosign", "printf 'no\\033[31m\\nmatch\\n' >&2; exit 1");
    assert_eq!(
        refusal(&on_path(folder.path())),
        "cosign verify failed for registry.example/skill:1: no\\u{1b}[31m match"
    );
    let silent = program("cosign", "exit 3");
    assert_eq!(
        refusal(&on_path(silent.path())),
        "cosign verify failed for registry.example/skill:1"
    );
}

#[test]
fn much_output_neither_hangs_nor_floods() {
    let script = "head -c 500000 /dev/zero | tr '\\0' x >&2; exit 1";
    let folder = program("cosign", script);
    let mut environment = on_path(folder.path());
    // The script needs the tools of the system.
    environment.path = Some(format!("{}:/usr/bin:/bin", folder.path().display()).into());
    assert!(refusal(&environment).len() < 2000);
}

#[test]
fn the_variable_names_the_program() {
    let folder = program("my-cosign", "exit 0");
    let absolute = CosignEnvironment {
        program: Some(folder.path().join("my-cosign").into()),
        ..CosignEnvironment::default()
    };
    assert!(check().run(&absolute).is_ok());
    let by_name = CosignEnvironment {
        program: Some("my-cosign".into()),
        ..on_path(folder.path())
    };
    assert!(check().run(&by_name).is_ok());
}

#[test]
fn without_a_program_nothing_counts_as_signed() {
    let empty = tempfile::tempdir().unwrap();
    assert!(refusal(&on_path(empty.path())).contains("requires cosign to be present on PATH"));
    let unknown = CosignEnvironment {
        program: Some("my-cosign".into()),
        ..on_path(empty.path())
    };
    assert!(refusal(&unknown).contains("PROVENACT_COSIGN_BIN must be an absolute path"));
    let blank = CosignEnvironment {
        program: Some(" ".into()),
        ..on_path(empty.path())
    };
    assert_eq!(refusal(&blank), "PROVENACT_COSIGN_BIN must not be empty");
}

#[test]
fn an_unresolved_name_is_started_only_when_allowed() {
    let empty = tempfile::tempdir().unwrap();
    for (value, allowed) in [("1", true), ("TRUE", true), ("yes", true), ("0", false)] {
        let environment = CosignEnvironment {
            program: Some("no-such-cosign-anywhere".into()),
            allow_path: Some(value.into()),
            ..on_path(empty.path())
        };
        let started = refusal(&environment).contains("invocation failed");
        assert_eq!(started, allowed, "{value}");
    }
}

#[test]
fn a_relative_directory_on_path_is_passed_over() {
    assert!(refusal(&on_path(Path::new("."))).contains("requires cosign"));
}

#[test]
fn a_reference_that_looks_like_a_flag_is_refused() {
    let folder = program("cosign", "exit 0");
    let check = CosignCheck {
        oci_ref: "--insecure-ignore-tlog".into(),
        ..check()
    };
    let error = check.run(&on_path(folder.path())).unwrap_err();
    assert!(matches!(error, CosignError::Reference(_)));
    assert!(!folder.path().join("arguments").exists());
}
