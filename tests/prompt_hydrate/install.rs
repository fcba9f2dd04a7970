//! `hydrant hook install` and `uninstall`.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::desk::Desk;
use crate::program::mode;

fn settings(desk: &Desk) -> PathBuf {
    desk.folder().path("../home/.claude/settings.json")
}

fn put(desk: &Desk, text: &str) {
    let file = settings(desk);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, text).unwrap();
}

fn installed(text: &str) -> Value {
    let value: Value = serde_json::from_str(text).unwrap();
    value["hooks"]["UserPromptSubmit"][0]["hooks"][0].clone()
}

#[test]
fn the_hook_is_installed_once_and_works_as_it_stands_there() {
    let desk = Desk::new();
    let folder = desk.folder();
    let run = folder.ok(&["hook", "install", "--yes"]);
    assert!(run.stdout.contains("+ "), "{run:?}");
    let text = fs::read_to_string(settings(&desk)).unwrap();
    let hook = installed(&text);
    assert_eq!(
        (&hook["type"], &hook["timeout"]),
        (&json!("command"), &json!(20))
    );
    assert_eq!(mode(&settings(&desk)), 0o600);
    assert!(
        folder
            .ok(&["hook", "install", "--yes"])
            .stdout
            .contains("already installed")
    );
    assert_eq!(fs::read_to_string(settings(&desk)).unwrap(), text);
    // What stands there is what a shell can run.
    let command = hook["command"].as_str().unwrap();
    let mut shell = std::process::Command::new("sh");
    shell
        .args(["-c", command])
        .env("HYDRANT_HOME", folder.home())
        .env("HYDRANT_TMPDIR", desk.tmp());
    let run = crate::desk::feed(
        &mut shell,
        desk.input("rename the flag").to_string().as_bytes(),
    );
    crate::desk::context(&run);
    assert_eq!(desk.files().len(), 1);
}

#[test]
fn installing_and_taking_out_leaves_the_file_as_it_was() {
    let desk = Desk::new();
    for text in [
        "{\n    \"model\" : \"opus\",\n\n    \"odd\": [1.0, 1e3]\n}\n",
        "{\"hooks\": {\"Stop\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"say done\"}]}]}}",
        "{\n  \"hooks\": {\n    \"UserPromptSubmit\": []\n  }\n}\n",
        "{\n  \"hooks\": {\n    \"UserPromptSubmit\": [\n      {\"hooks\": [{\"type\": \"command\", \"command\": \"other\"}]}\n    ]\n  }\n}\n",
    ] {
        put(&desk, text);
        fs::set_permissions(settings(&desk), Permissions::from_mode(0o640)).unwrap();
        let run = desk.folder().ok(&["hook", "install", "--yes"]);
        let backup = settings(&desk).with_file_name("settings.json.hydrant-backup");
        assert_eq!(fs::read_to_string(&backup).unwrap(), text);
        assert!(run.stdout.contains("hydrant-backup"));
        assert_eq!(mode(&settings(&desk)), 0o640);
        assert!(
            fs::read_to_string(settings(&desk))
                .unwrap()
                .contains("hook user-prompt-submit")
        );
        desk.folder().ok(&["hook", "uninstall", "--yes"]);
        assert_eq!(fs::read_to_string(settings(&desk)).unwrap(), text);
        assert!(
            desk.folder()
                .ok(&["hook", "uninstall", "--yes"])
                .stdout
                .contains("not installed")
        );
    }
}

/// What was changed since stays changed.
#[test]
fn taking_out_keeps_what_came_later() {
    let desk = Desk::new();
    put(&desk, "{\"model\": \"opus\"}");
    desk.folder().ok(&["hook", "install", "--yes"]);
    let text = fs::read_to_string(settings(&desk)).unwrap();
    fs::write(settings(&desk), text.replace("opus", "haiku")).unwrap();
    desk.folder().ok(&["hook", "uninstall", "--yes"]);
    let value: Value = serde_json::from_str(&fs::read_to_string(settings(&desk)).unwrap()).unwrap();
    assert_eq!(value, json!({"model": "haiku"}));
}

/// An entry whose program was removed, or that sets variables, is ours.
#[test]
fn an_entry_is_known_by_what_it_starts() {
    let desk = Desk::new();
    let folder = desk.folder();
    let of = |command: &str| {
        let hook = json!({"type": "command", "command": command, "timeout": 20});
        json!({"hooks": {"UserPromptSubmit": [{"hooks": [hook]}]}}).to_string()
    };
    for there in [
        "hydrant hook user-prompt-submit",
        "env HYDRANT_TMPDIR=/x hydrant hook user-prompt-submit --mode inline",
        "/usr/bin/env -u A hydrant hook user-prompt-submit",
        "HYDRANT_TMPDIR='/x y' hydrant hook user-prompt-submit",
    ] {
        put(&desk, &of(there));
        let run = folder.ok(&["hook", "install", "--yes"]);
        assert!(run.stdout.contains("already installed"), "{there}: {run:?}");
        assert_eq!(fs::read_to_string(settings(&desk)).unwrap(), of(there));
        folder.ok(&["hook", "uninstall", "--yes"]);
        let left = fs::read_to_string(settings(&desk)).unwrap_or_default();
        assert!(!left.contains("hook"), "{there}: {left}");
    }
    // One whose program is gone gets one that is there, and keeps the rest.
    for there in ["'/no where/hydrant'", "/nowhere/hydrant-0.1"] {
        put(
            &desk,
            &of(&format!(
                "env A='b c' {there} hook user-prompt-submit --mode inline"
            )),
        );
        folder.ok(&["hook", "install", "--yes"]);
        let text = fs::read_to_string(settings(&desk)).unwrap();
        let hook = installed(&text);
        let command = hook["command"].as_str().unwrap();
        let program = command
            .strip_prefix("env A='b c' ")
            .and_then(|rest| rest.strip_suffix(" hook user-prompt-submit --mode inline"));
        assert!(fs::metadata(program.unwrap()).is_ok(), "{command}");
        assert!(
            folder
                .ok(&["hook", "install", "--yes"])
                .stdout
                .contains("already installed")
        );
    }
    // What starts something else is somebody else's.
    put(&desk, &of("echo hydrant hook user-prompt-submit"));
    folder.ok(&["hook", "install", "--yes"]);
    let text = fs::read_to_string(settings(&desk)).unwrap();
    let value: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(
        value["hooks"]["UserPromptSubmit"].as_array().unwrap().len(),
        2
    );
}

#[test]
fn without_leave_nothing_is_written() {
    let desk = Desk::new();
    put(&desk, "{}");
    let run = desk.folder().run(&["hook", "install"]);
    assert_eq!(run.status, 2, "{run:?}");
    assert!(run.stdout.contains("hook user-prompt-submit"), "{run:?}");
    assert_eq!(fs::read_to_string(settings(&desk)).unwrap(), "{}");
}

#[test]
fn settings_that_are_somebody_elses_or_no_json_are_left_alone() {
    let desk = Desk::new();
    let refused = |why: &str| {
        for command in ["install", "uninstall"] {
            let run = desk.folder().run(&["hook", command, "--yes"]);
            assert_eq!(run.status, 1, "{why}: {run:?}");
            assert!(run.stderr.contains("settings.json"), "{why}: {run:?}");
        }
    };
    for text in [
        "{",
        "[]",
        "// c\n{}",
        "{\"hooks\": []}",
        "{\"hooks\": {\"UserPromptSubmit\": {}}}",
    ] {
        put(&desk, text);
        refused(text);
        assert_eq!(fs::read_to_string(settings(&desk)).unwrap(), text);
    }
    fs::remove_file(settings(&desk)).unwrap();
    let target = desk.folder().path("target.json");
    fs::write(&target, "{}").unwrap();
    symlink(&target, settings(&desk)).unwrap();
    refused("link");
    assert_eq!(fs::read_to_string(&target).unwrap(), "{}");
    fs::remove_file(settings(&desk)).unwrap();
    fs::create_dir(settings(&desk)).unwrap();
    refused("directory");
    fs::remove_dir(settings(&desk)).unwrap();
    put(&desk, "{}");
    // Only root can give a file away.
    if std::os::unix::fs::chown(settings(&desk), Some(65534), None).is_ok() {
        refused("owner");
    }
}

#[test]
fn other_places_and_other_agents() {
    let desk = Desk::new();
    let folder = desk.folder();
    folder.ok(&["hook", "install", "--yes", "--scope", "project"]);
    assert!(
        folder
            .text(".claude/settings.json")
            .contains("hook user-prompt-submit")
    );
    folder.ok(&["hook", "install", "--yes", "--settings", "agent.json"]);
    assert!(
        folder
            .text("agent.json")
            .contains("hook user-prompt-submit")
    );
    assert!(!settings(&desk).exists());
    let run = folder.ok(&[
        "hook",
        "install",
        "--print",
        "--event",
        "BeforeAgent",
        "--command",
        "hydrant hook user-prompt-submit",
    ]);
    assert_eq!(
        run.json(),
        json!({"hooks": {"BeforeAgent": [{"hooks": [{"type": "command", "command": "hydrant hook user-prompt-submit", "timeout": 20}]}]}})
    );
    let mut command = folder.command(&["hook", "install", "--yes"]);
    command.env("CLAUDE_CONFIG_DIR", folder.path("config"));
    assert_eq!(crate::program::Run::of(&mut command).status, 0);
    assert!(
        folder
            .text("config/settings.json")
            .contains("hook user-prompt-submit")
    );
}
