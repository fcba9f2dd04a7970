//! Fewer tools: `--read-only` and `--tools`.

use serde_json::json;

use super::stdio::{Place, names};

#[test]
fn read_only_offers_nothing_that_changes_anything() {
    let place = Place::new();
    let mut client = place.client(&["--read-only"]);
    let tools = client.all("tools/list", "tools");
    let names = names(&tools);
    for name in ["hydrate", "fs_read_text", "skill_list"] {
        assert!(names.contains(&name), "{name}");
    }
    for name in [
        "fs_write_patch",
        "shell_exec_safe",
        "skill_load",
        "skill_execute",
        "skill_onboard",
        "skill_unload",
    ] {
        assert!(!names.contains(&name), "{name}");
        let error = client.error("tools/call", json!({ "name": name, "arguments": {} }));
        assert_eq!(error["code"], -32602, "{error}");
    }
    assert!(
        tools
            .iter()
            .all(|tool| tool["annotations"]["readOnlyHint"] == true)
    );
}

#[test]
fn tools_are_named_as_tools_or_as_skills_or_by_their_beginning() {
    let place = Place::new();
    let tools = place
        .client(&["--tools", "hydrate,git.diff,fs_read*"])
        .all("tools/list", "tools");
    assert_eq!(
        names(&tools),
        ["fs_read_text", "fs_read_tree", "git_diff", "hydrate"]
    );
}

#[test]
fn a_tool_that_nobody_offers_ends_the_server_before_it_begins() {
    let place = Place::new();
    for wrong in ["hydrat", "nothing*"] {
        let output = place.command(&["--tools", wrong]).output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        assert!(output.stdout.is_empty());
        let message = String::from_utf8(output.stderr).unwrap();
        assert!(
            message.contains(wrong) && message.contains("hydrate"),
            "{message}"
        );
    }
}

#[test]
fn options_of_a_single_hydration_are_refused() {
    let output = Place::new().command(&["--depth", "3"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
}
