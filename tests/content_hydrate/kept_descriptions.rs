//! What a tool said in the jail is used again as long as all is the same that can be compared, and never else.
//!
//! The tools here answer with a random number, so that two answers are the same only if the tool was not asked again.
#![cfg(target_os = "linux")]

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::component::timing;
use crate::os_root::{NONE, OsRoot, agent};
use crate::policy;

const RANDOM: &str = "od -An -N16 -tx1 /dev/urandom\n";
const FAILED: &str = "ERROR: EXECUTION_FAILED";

fn jailed() -> Value {
    let mut policy = policy::tools_run();
    policy["host"]["jail"] = json!({"process": "required"});
    policy
}

/// A root with an agent whose only tool is `a.sh`.
fn root_with(tool: &str) -> OsRoot {
    let root = OsRoot::new();
    root.policy(&jailed());
    root.tool("a.sh", tool);
    root.file("agent.md", agent(NONE, &["a.sh"]));
    root
}

fn random() -> String {
    format!("#!/bin/sh\n{RANDOM}")
}

fn ask(root: &OsRoot) -> String {
    let answer = root
        .payload(&["os://agent.md"])
        .tool("os://a.sh")
        .to_owned();
    assert!(!answer.is_empty());
    answer
}

/// What `a.sh` says with this environment.
fn ask_with(root: &OsRoot, variables: &[(&str, &str)]) -> String {
    let mut command: Command = root.command(&["hydrate", "os://agent.md"]);
    let output = command.envs(variables.iter().copied()).output().unwrap();
    assert!(output.status.success());
    let payload: Value = serde_json::from_slice(&output.stdout).unwrap();
    let description = &payload["metadata"]["dependencies"]["tools"][0]["description"];
    description.as_str().unwrap().to_owned()
}

#[test]
fn a_tool_that_was_asked_before_is_not_started_again() {
    let root = root_with(&random());
    let first = ask(&root);
    assert_eq!(first.split_whitespace().count(), 16, "{first}");
    assert_eq!(ask(&root), first);
    // The same bytes in another file of the same name.
    fs::remove_file(root.path("a.sh")).unwrap();
    root.tool("a.sh", random());
    assert_eq!(ask(&root), first);
}

#[test]
fn a_tool_whose_bytes_have_changed_is_asked_again() {
    let root = root_with(&random());
    let first = ask(&root);
    // As long, and as old.
    let changed = random().replace("-N16", "-N15");
    let modified = fs::metadata(root.path("a.sh")).unwrap().modified().unwrap();
    root.tool("a.sh", changed);
    let file = fs::File::options().write(true).open(root.path("a.sh"));
    file.unwrap().set_modified(modified).unwrap();
    let second = ask(&root);
    assert_ne!(second, first);
    assert_eq!(ask(&root), second);
    root.tool("a.sh", random());
    assert_eq!(ask(&root), first, "and back");
}

/// Whether a process with these words runs on the machine.
fn is_running(words: &str) -> bool {
    let processes = Command::new("ps").args(["-eo", "args"]).output().unwrap();
    String::from_utf8_lossy(&processes.stdout).contains(words)
}

/// Who exchanges a tool after it was read, and puts it back, has no answer of another tool kept under its name.
#[test]
fn the_answer_of_a_tool_that_changes_while_it_runs_is_not_kept() {
    let root = root_with("");
    let tool =
        format!("#!/bin/sh\n{RANDOM}until [ -e \"${{0%/*}}/go\" ]; do sleep 0.02; done\nexit\n");
    root.tool("changing.sh", &tool);
    root.file("agent.md", agent(NONE, &["changing.sh"]));
    let ask = || {
        let payload = root.payload(&["os://agent.md"]);
        payload.tool("os://changing.sh").to_owned()
    };
    let (first, seen) = std::thread::scope(|scope| {
        let asking = scope.spawn(ask);
        let begun = Instant::now();
        let mut seen = false;
        while !seen && begun.elapsed() < Duration::from_secs(20) {
            seen = is_running("/os/changing.sh --description");
        }
        root.tool("changing.sh", format!("{tool}# edited\n"));
        root.file("go", "");
        (asking.join().unwrap(), seen)
    });
    assert!(seen, "nobody was seen to ask it");
    assert_eq!(first.split_whitespace().count(), 16, "{first}");
    root.tool("changing.sh", &tool);
    let second = ask();
    assert_ne!(second, first);
    assert_eq!(ask(), second, "of one that nobody edits it is kept");
}

#[test]
fn help_is_kept_and_the_failure_before_it_is_not() {
    let root = root_with(&format!("#!/bin/sh\n[ $1 = --help ] || exit 2\n{RANDOM}"));
    let first = ask(&root);
    assert_eq!(ask(&root), first);
    // Which flags it knows is found out each time.
    let root = root_with(&format!(
        "#!/bin/sh\ncd /os; [ -e flag ] && {{ echo yes; exit; }}; [ $1 = --help ] || exit 2\n{RANDOM}"
    ));
    let first = ask(&root);
    assert_eq!(ask(&root), first);
    root.file("flag", "");
    assert_eq!(ask(&root), "yes");
}

#[test]
fn errors_are_not_kept() {
    let fails = ["exit 1", "kill -9 $$", "exit 0", "echo ' '; exit 0"];
    for fail in fails {
        let root = root_with(&format!(
            "#!/bin/sh\n[ -e /os/flag ] || {{ {fail}; }}\n{RANDOM}"
        ));
        assert!(ask(&root).starts_with("ERROR: "), "{fail}");
        root.file("flag", "");
        let answer = ask(&root);
        assert!(!answer.starts_with("ERROR: "), "{fail}: {answer}");
        // From now on it is kept, whatever becomes of what lies beside it: a day, or until the folder is emptied.
        fs::remove_file(root.path("flag")).unwrap();
        assert_eq!(ask(&root), answer, "{fail}");
    }
}

#[test]
fn a_timeout_is_not_kept() {
    let root = root_with("#!/bin/sh\n[ -e /os/flag ] || { echo early; sleep 60; }\necho in time\n");
    assert_eq!(ask(&root), "ERROR: TIMEOUT");
    root.file("flag", "");
    assert_eq!(ask(&root), "in time");
}

#[test]
fn an_answer_outside_of_the_jail_is_neither_kept_nor_one_that_is_kept_used() {
    let root = root_with(&random());
    let kept = ask(&root);
    root.policy(&policy::tools_run());
    let (first, second) = (ask(&root), ask(&root));
    assert_ne!(first, second);
    assert!(first != kept && second != kept);
    root.policy(&jailed());
    assert_eq!(ask(&root), kept);
}

/// The policy decides first: what is kept is no way around it.
#[test]
fn an_answer_that_is_kept_is_not_for_who_may_not_ask() {
    let root = root_with(&random());
    ask(&root);
    let skipped = root.payload(&["os://agent.md", "--no-exec"]);
    assert_eq!(skipped.tool("os://a.sh"), "ERROR: EXECUTION_SKIPPED");
    let mut policy = jailed();
    policy["host"]["discovery"]["run"] = json!(["/os/elsewhere"]);
    root.policy(&policy);
    assert_eq!(ask(&root), "ERROR: EXECUTION_SKIPPED");
    root.policy(&jailed());
    root.mode("a.sh", 0o644);
    assert_eq!(ask(&root), "ERROR: PERMISSION_DENIED");
    fs::remove_file(root.path("a.sh")).unwrap();
    assert_eq!(ask(&root), "ERROR: NOT_FOUND");
}

#[test]
fn under_other_circumstances_it_is_asked_again() {
    let root = root_with(&random());
    let first = ask(&root);
    let mut differently = vec![("nothing", jailed())];
    let mut change = |what, change: fn(&mut Value)| {
        let mut policy = jailed();
        change(&mut policy["host"]);
        differently.push((what, policy));
    };
    change("environment", |host| {
        host["discovery"]["env"] = json!({"COLOR": "never"});
    });
    change("value", |host| {
        host["discovery"]["env"] = json!({"COLOR": "always"});
    });
    change("memory", |host| {
        host["limits"] = json!({"process_memory_bytes": 100_000_000});
    });
    change("processes", |host| {
        host["limits"] = json!({"process_pids": 20});
    });
    change("output", |host| {
        host["limits"] = json!({"process_output_bytes": 40});
    });
    let mut answers = Vec::new();
    for (what, policy) in &differently {
        root.policy(policy);
        let answer = ask(&root);
        assert_eq!(ask(&root), answer, "{what}");
        answers.push(answer);
    }
    assert_eq!(answers[0], first);
    let distinct: std::collections::BTreeSet<_> = answers.iter().collect();
    assert_eq!(distinct.len(), answers.len(), "{answers:?}");
}

/// What one tenant puts beside a tool is not another's description.
#[test]
fn the_same_tool_in_another_place_is_asked_again() {
    let tool = "#!/bin/sh\ncat \"${0%/*}/text\"\n";
    let (ours, theirs) = (root_with(tool), root_with(tool));
    ours.file("text", "ours");
    theirs.file("text", "theirs");
    assert_eq!(ask(&theirs), "theirs");
    assert_eq!(ask(&ours), "ours");
    // Nor by another name: its usage text may show it.
    let root = root_with("#!/bin/sh\necho $0\n");
    root.tool("b.sh", "#!/bin/sh\necho $0\n");
    root.file("agent.md", agent(NONE, &["a.sh", "b.sh"]));
    let payload = root.payload(&["os://agent.md"]);
    assert_eq!(payload.tool("os://a.sh"), "/os/a.sh");
    assert_eq!(payload.tool("os://b.sh"), "/os/b.sh");
}

#[test]
fn what_a_runner_says_is_kept_for_these_words_of_it() {
    let root = root_with(RANDOM);
    root.mode("a.sh", 0o644);
    let runner = |words: Value| {
        let mut policy = jailed();
        policy["host"]["discovery"]["runners"] = json!({".sh": words});
        root.policy(&policy);
        (ask(&root), ask(&root))
    };
    let (first, again) = runner(json!(["sh"]));
    assert_eq!(first, again);
    let (other, again) = runner(json!(["sh", "-e"]));
    assert_eq!(other, again);
    assert_ne!(first, other);
    assert_eq!(runner(json!(["sh"])).0, first);
    root.file("a.sh", format!("{RANDOM} # changed\n"));
    assert_ne!(runner(json!(["sh"])).0, first);
}

/// A link on the way does not hide that it leads to another file by now.
#[test]
fn a_link_that_leads_to_another_tool_is_another_tool() {
    let root = root_with("");
    fs::remove_file(root.path("a.sh")).unwrap();
    root.tool("one.sh", random());
    root.tool("two.sh", format!("#!/bin/sh\n\n{RANDOM}"));
    root.link("a.sh", "one.sh");
    let one = ask(&root);
    assert_eq!(ask(&root), one);
    fs::remove_file(root.path("a.sh")).unwrap();
    root.link("a.sh", "two.sh");
    assert_ne!(ask(&root), one);
}

#[test]
fn a_tool_that_takes_long_to_read_is_started_each_time() {
    let mut tool = format!("#!/bin/sh\n{RANDOM}exit\n").into_bytes();
    tool.resize(16 * 1024 * 1024, b'#');
    let root = root_with("");
    root.tool("a.sh", &tool);
    let longest = ask(&root);
    assert_eq!(ask(&root), longest);
    tool.push(b'#');
    root.tool("a.sh", &tool);
    assert_ne!(ask(&root), ask(&root));
}

#[test]
fn nothing_is_kept_where_the_cache_is_off_or_cannot_be_had() {
    let root = root_with(&random());
    let kept = ask(&root);
    let off = [("HYDRANT_CACHE", "off")];
    let (first, second) = (ask_with(&root, &off), ask_with(&root, &off));
    assert_ne!(first, second);
    assert!(first != kept && second != kept);
    let nowhere = [("XDG_CACHE_HOME", "/proc/nowhere")];
    assert_ne!(ask_with(&root, &nowhere), ask_with(&root, &nowhere));
    assert_eq!(ask_with(&root, &[("HYDRANT_CACHE", "on")]), kept);
}

/// A cache of its own, whose compiled code is that of the other tests.
fn private_cache(root: &OsRoot) -> TempDir {
    let cache = TempDir::new().unwrap();
    let shared = root.command(&[]);
    let folder = |name: &str| {
        let found = shared.get_envs().find(|(variable, _)| *variable == name);
        PathBuf::from(found.unwrap().1.unwrap())
    };
    for (from, to) in [
        (folder("XDG_CACHE_HOME").join("hydrant"), "hydrant"),
        (folder("HYDRANT_HOME").join("state"), "home/state"),
    ] {
        let to = cache.path().join(to);
        fs::create_dir_all(&to).unwrap();
        for entry in fs::read_dir(from).unwrap() {
            let entry = entry.unwrap();
            let name = entry.file_name();
            if entry.file_type().unwrap().is_file() && !name.to_str().unwrap().ends_with(".tmp") {
                fs::copy(entry.path(), to.join(name)).unwrap();
            }
        }
    }
    cache
}

#[test]
fn a_description_that_somebody_edited_is_not_used() {
    let root = root_with(&random());
    root.file("clock.wasm", timing());
    let cache = private_cache(&root);
    let home = cache.path().join("home");
    let variables = [
        ("XDG_CACHE_HOME", cache.path().to_str().unwrap()),
        ("HYDRANT_HOME", home.to_str().unwrap()),
    ];
    let first = ask_with(&root, &variables);
    assert_eq!(ask_with(&root, &variables), first);
    let descriptions = cache.path().join("hydrant/descriptions");
    let files: Vec<_> = fs::read_dir(&descriptions).unwrap().collect();
    let [Ok(file)] = &files[..] else {
        panic!("{files:?}");
    };
    let sealed = fs::read(file.path()).unwrap();
    let text = String::from_utf8_lossy(&sealed).into_owned();
    assert!(text.contains(&first), "{text}");
    let poisoned: Vec<u8> = sealed.iter().map(|byte| byte ^ 1).collect();
    fs::write(file.path(), poisoned).unwrap();
    let second = ask_with(&root, &variables);
    assert_ne!(second, first);
    assert_eq!(second.split_whitespace().count(), 16, "{second}");
    assert_eq!(ask_with(&root, &variables), second, "it was replaced");
    // Emptying the folder is all that it takes to have everything asked again.
    fs::remove_dir_all(descriptions).unwrap();
    assert_ne!(ask_with(&root, &variables), second);
    // What a component says is kept there as well.
    root.file("agent.md", agent(NONE, &["clock.wasm"]));
    fs::remove_dir_all(cache.path().join("hydrant/descriptions")).unwrap();
    assert_eq!(ask_with(&root, &variables), "frozen");
    let kept = fs::read_dir(cache.path().join("hydrant/descriptions")).unwrap();
    assert_eq!(kept.count(), 1);
    assert_eq!(ask_with(&root, &variables), "frozen");
}

/// What a component says is kept, and its machine code never, unlike that of a pinned one.
#[test]
fn the_machine_code_of_a_component_tool_is_not_kept() {
    let root = root_with("");
    root.file("clock.wasm", timing());
    root.file("agent.md", agent(NONE, &["clock.wasm"]));
    let cache = TempDir::new().unwrap();
    let home = cache.path().join("home");
    let code = || {
        let entries = fs::read_dir(cache.path().join("hydrant")).unwrap();
        let files = entries.filter(|entry| entry.as_ref().unwrap().path().is_file());
        files.count()
    };
    let ask = |precompiled: &str| {
        let variables = [
            ("XDG_CACHE_HOME", cache.path().to_str().unwrap()),
            ("HYDRANT_HOME", home.to_str().unwrap()),
            ("HYDRANT_PRECOMPILED", precompiled),
        ];
        ask_with(&root, &variables)
    };
    assert_eq!(ask("on"), "frozen");
    assert_eq!(code(), 0);
    // That of `content.hydrate` would be found there.
    assert_eq!(ask("off"), "frozen");
    assert_eq!(code(), 1);
}

/// Whatever is kept, `FAILED` stays that.
#[test]
fn a_tool_that_cannot_be_started_is_the_same_error_each_time() {
    let root = root_with("no format that the system knows\n");
    assert_eq!(ask(&root), FAILED);
    assert_eq!(ask(&root), FAILED);
}
