//! Who plans: nobody but the hook itself, unless a subagent is asked for, which then is there.

use serde_json::{Value, json};

use crate::desk::Desk;
use crate::program::{Run, program};

const AGENT: &str = ".claude/agents/prompt-hydrator.md";

fn command(desk: &Desk) -> String {
    let settings: Value =
        serde_json::from_str(&desk.text(".claude/settings.json").unwrap()).unwrap();
    let hook = &settings["hooks"]["UserPromptSubmit"][0]["hooks"][0]["command"];
    hook.as_str().unwrap().to_owned()
}

/// What the agent is told when the installed hook runs.
fn told(desk: &Desk, command: &str) -> String {
    let arguments = command.strip_prefix(program()).unwrap();
    let arguments: Vec<_> = arguments.split_whitespace().collect();
    let mut hook = desk.folder.command(&arguments);
    hook.env("HYDRANT_TMPDIR", desk.folder.path("../tmp"));
    desk.folder.ok(&["route", "warm up"]);
    let input = desk.folder.path("input.json");
    std::fs::write(&input, json!({"session_id": "s-1", "hook_event_name": "UserPromptSubmit", "prompt": "rename the flag"}).to_string()).unwrap();
    hook.stdin(std::fs::File::open(input).unwrap());
    let run = Run::of(&mut hook);
    assert_eq!(run.status, 0, "{run:?}");
    let told = run.json()["hookSpecificOutput"]["additionalContext"].clone();
    told.as_str().unwrap().to_owned()
}

#[test]
fn by_default_the_plan_itself_is_told_and_names_no_tracker() {
    let desk = Desk::new();
    desk.folder.ok(&["hook", "install", "--yes"]);
    let told = told(&desk, &command(&desk));
    assert!(told.contains("## Prompt Hydration"), "{told}");
    assert!(!told.contains("subagent_type"), "{told}");
    assert!(
        !told.contains(" bd ") && told.contains("Step 1: "),
        "{told}"
    );
    assert!(desk.text(AGENT).is_none());
}

#[test]
fn the_subagent_that_the_hook_names_is_installed_with_it_and_goes_with_it() {
    let desk = Desk::new();
    for (install, undo) in [
        (
            &["hook", "install", "--subagent", "--yes"][..],
            &["hook", "uninstall", "--yes"][..],
        ),
        (
            &["setup", "claude", "--subagent", "--yes"],
            &["setup", "claude", "--undo", "--yes"],
        ),
    ] {
        let run = desk.folder.ok(install);
        assert!(run.stdout.contains("+ name: prompt-hydrator"), "{run:?}");
        let agent = desk.text(AGENT).unwrap();
        assert!(agent.starts_with("---\nname: prompt-hydrator\n"), "{agent}");
        let told = told(&desk, &command(&desk));
        assert!(told.contains("subagent_type=\"prompt-hydrator\""), "{told}");
        let files = desk.files();
        desk.folder.ok(install);
        assert_eq!(desk.files(), files);
        desk.folder.ok(undo);
        assert_eq!(desk.files(), []);
    }
}

#[test]
fn a_hook_that_is_there_is_told_of_the_subagent() {
    let desk = Desk::new();
    for mode in ["", " --mode inline", " --mode inline --llm"] {
        desk.put(
            ".claude/settings.json",
            format!(
                "{{\n  \"hooks\": {{\"UserPromptSubmit\": [{{\"hooks\": [{{\"type\": \"command\", \"command\": \"hydrant hook user-prompt-submit{mode}\"}}]}}]}}\n}}\n"
            ),
        );
        desk.folder.ok(&["hook", "install", "--subagent", "--yes"]);
        let expected = mode.replace("inline", "subagent");
        let expected = if mode.is_empty() {
            " --mode subagent"
        } else {
            &expected
        };
        assert_eq!(
            command(&desk),
            format!("hydrant hook user-prompt-submit{expected}")
        );
    }
}

#[test]
fn a_subagent_of_the_users_own_is_not_lost() {
    let desk = Desk::new();
    desk.put(AGENT, "---\nname: prompt-hydrator\n---\nMine.\n");
    let install = ["hook", "install", "--subagent", "--yes"];
    let run = desk.folder.run(&install);
    assert_eq!(run.status, 1, "{run:?}");
    assert!(run.stdout.contains("- Mine."), "{run:?}");
    assert!(desk.text(".claude/settings.json").is_none());
    assert!(desk.text(AGENT).unwrap().contains("Mine."));
    desk.folder
        .ok(&["hook", "install", "--subagent", "--yes", "--replace"]);
    assert!(!desk.text(AGENT).unwrap().contains("Mine."));
    desk.folder.ok(&["hook", "uninstall", "--yes"]);
    assert!(desk.text(AGENT).unwrap().contains("Mine."));
    // Nor one that was changed since.
    desk.folder
        .ok(&["hook", "install", "--subagent", "--yes", "--replace"]);
    let changed = format!("{}Mine.\n", desk.text(AGENT).unwrap());
    desk.put(AGENT, &changed);
    desk.folder.ok(&["hook", "uninstall", "--yes"]);
    assert_eq!(desk.text(AGENT).unwrap(), changed);
}
