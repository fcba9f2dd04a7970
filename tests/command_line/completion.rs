//! Completion, as the scripts of shells ask for it.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::{Home, text};

/// The words that complete the last of these, as bash is told them.
fn completed(home: &Home, words: &[&str]) -> Vec<String> {
    let arguments: Vec<_> = ["--", "hydrant"].iter().chain(words).copied().collect();
    let output = home
        .command(&arguments)
        .env("_HYDRANT_COMPLETE", "bash")
        .env("_CLAP_COMPLETE_INDEX", words.len().to_string())
        .env("_CLAP_COMPLETE_COMP_TYPE", "9")
        .env("_CLAP_COMPLETE_SPACE", "true")
        .env("_CLAP_IFS", "\n")
        .output()
        .unwrap();
    assert!(output.stderr.is_empty(), "{output:?}");
    text(output).lines().map(str::to_owned).collect()
}

#[test]
fn commands_and_ids_of_pinned_skills_are_completed() {
    let home = Home::new();
    assert_eq!(completed(&home, &["hydr"]), ["hydrate"]);
    assert_eq!(
        completed(&home, &["run", "git."]),
        ["git.diff", "git.status"]
    );
    assert_eq!(completed(&home, &["describe", "json"]), ["json.validate"]);
    let skill = ["policy", "explain", "--skill", "extract"];
    assert_eq!(completed(&home, &skill), ["extract.text"]);
    assert!(completed(&home, &["run", "no.such"]).is_empty());
}

#[test]
fn ids_of_approvals_are_completed_from_the_state_of_the_user_and_quickly() {
    let home = Home::new();
    // There is no state yet, and none is made.
    assert!(completed(&home, &["approvals", "show", "ap-"]).is_empty());
    assert!(!home.path().join("state").exists());

    let skill = home.path().join("weather.md");
    std::fs::write(
        &skill,
        "# Weather\n\n## Operations\n\n### Forecast\n\n```bash\ncurl https://api.example.org/forecast\n```\n",
    )
    .unwrap();
    let loaded = home
        .command(&["skill", "load", "weather.md"])
        .output()
        .unwrap();
    let loaded = text(loaded);
    let listed: serde_json::Value =
        serde_json::from_str(&home.text(&["approvals", "list"])).unwrap();
    let id = listed[0]["id"]
        .as_str()
        .unwrap_or_else(|| panic!("{loaded} {listed}"));

    let begun = Instant::now();
    for command in ["show", "approve", "deny", "revoke"] {
        assert_eq!(
            completed(&home, &["approvals", command, "ap-"]),
            [id],
            "{command}"
        );
    }
    assert!(
        begun.elapsed() < Duration::from_secs(4),
        "{:?}",
        begun.elapsed()
    );

    // What is no database completes nothing, without a word.
    let database = home.path().join("state/govern.sqlite");
    std::fs::write(&database, "no database").unwrap();
    std::fs::set_permissions(&database, std::fs::Permissions::from_mode(0o600)).unwrap();
    assert!(completed(&home, &["approvals", "show", "ap-"]).is_empty());
}

#[test]
fn the_scripts_are_accepted_by_their_shells_and_ask_this_program() {
    let home = Home::new();
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = home.text(&["completions", shell]);
        assert!(script.contains("_HYDRANT_COMPLETE"), "{script}");
        if !["/bin", "/usr/bin"]
            .iter()
            .any(|folder| Path::new(folder).join(shell).exists())
            || shell == "elvish"
        {
            continue;
        }
        let file = home.path().join("script");
        std::fs::write(&file, &script).unwrap();
        let checked = Command::new(shell)
            .arg("-n")
            .arg(&file)
            .stdin(Stdio::null())
            .output();
        let checked = checked.unwrap();
        assert!(checked.status.success(), "{shell}: {checked:?}");
    }
}

#[test]
fn bash_completes_with_the_script() {
    let home = Home::new();
    let program = Path::new(env!("CARGO_BIN_EXE_hydrant"));
    let asked = "source <(hydrant completions bash); COMP_WORDS=(hydrant run search); COMP_CWORD=2; \
                 _clap_complete_hydrant hydrant search run; printf '%s\n' \"${COMPREPLY[@]}\"";
    let output = Command::new("bash")
        .args(["--norc", "-c", asked])
        .env_clear()
        .env(
            "PATH",
            format!("{}:/usr/bin:/bin", program.parent().unwrap().display()),
        )
        .env("HYDRANT_HOME", home.path())
        .output()
        .unwrap();
    assert_eq!(text(output), "search.ripgrep\n");
}
