//! hydrant's own files cannot be reached through a mount, by whatever name.

use std::fs;
use std::io::Write;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};

use crate::machine::Machine;

/// What stands in the secrets, and what the attacks look for.
const SECRET: &str = "correct-horse-battery";

/// A machine whose workspace is the user's home directory, with a secret in hydrant's home folder and a file beside it.
fn at_home() -> Machine {
    let machine = Machine::new();
    let state = machine.home().join(".hydrant/state");
    fs::create_dir_all(&state).unwrap();
    for folder in [machine.home().join(".hydrant"), state.clone()] {
        private(&folder, 0o700);
    }
    let secrets = state.join("secrets.toml");
    fs::write(&secrets, format!("TOKEN = \"{SECRET}\"\n")).unwrap();
    private(&secrets, 0o600);
    fs::write(machine.home().join("plain.md"), format!("not {SECRET}\n")).unwrap();
    machine
}

fn private(path: &Path, mode: u32) {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

fn command(machine: &Machine, arguments: &[&str]) -> Command {
    let mut command = machine.command(arguments);
    command.current_dir(machine.home());
    command
}

fn text(output: &Output) -> String {
    let of = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    of(&output.stdout) + &of(&output.stderr)
}

/// What `hydrant run` says to this request, in the home directory.
fn run(machine: &Machine, skill: &str, request: &Value) -> String {
    let request = request.to_string();
    text(
        &command(machine, &["run", skill, &request])
            .output()
            .unwrap(),
    )
}

fn read(machine: &Machine, path: &str) -> String {
    run(machine, "fs.read_text", &json!({ "path": path }))
}

/// The same command with this done first, in a mount namespace of its own.
fn after(first: &str, command: &Command) -> Output {
    let mut within = Command::new("unshare");
    within.args([
        "-Urm",
        "sh",
        "-c",
        &format!("{first} && exec \"$0\" \"$@\""),
    ]);
    within.arg(command.get_program()).args(command.get_args());
    within.current_dir(command.get_current_dir().unwrap());
    within.env_clear();
    for (name, value) in command.get_envs() {
        within.env(name, value.unwrap_or_default());
    }
    within.output().unwrap()
}

#[test]
fn no_spelling_of_a_path_reads_a_secret() {
    let machine = at_home();
    let home = machine.home();
    symlink(".hydrant", home.join("link")).unwrap();
    symlink(".hydrant/state/secrets.toml", home.join("file-link")).unwrap();
    fs::hard_link(
        home.join(".hydrant/state/secrets.toml"),
        home.join("hard-link"),
    )
    .unwrap();
    for path in [
        ".hydrant/state/secrets.toml",
        "link/state/secrets.toml",
        "file-link",
        "hard-link",
    ] {
        let said = read(&machine, path);
        assert!(said.contains("\"denied\""), "{path}: {said}");
        assert!(!said.contains(SECRET), "{path}: {said}");
    }
    // The same ways lead to a file that is not hydrant's.
    symlink("plain.md", home.join("other-link")).unwrap();
    fs::hard_link(home.join("plain.md"), home.join("other-hard-link")).unwrap();
    for path in ["plain.md", "other-link", "other-hard-link"] {
        assert!(read(&machine, path).contains(SECRET), "{path}");
    }
}

#[test]
fn a_workspace_in_the_home_folder_shows_nothing() {
    let machine = at_home();
    for inner in [".hydrant", ".hydrant/state"] {
        let mut command = command(
            &machine,
            &["run", "fs.read_tree", r#"{"include_hidden":true}"#],
        );
        command.current_dir(machine.home().join(inner));
        let said = text(&command.output().unwrap());
        assert!(said.contains("\"denied\""), "{inner}: {said}");
        assert!(!said.contains("secrets"), "{inner}: {said}");
    }
}

#[test]
fn no_bind_mount_leads_to_a_secret() {
    let machine = at_home();
    let home = machine.home();
    fs::create_dir_all(home.join(".hydrant/state/deep")).unwrap();
    fs::write(home.join(".hydrant/state/deep/file"), SECRET).unwrap();
    fs::create_dir_all(home.join("other/deep")).unwrap();
    fs::write(home.join("other/deep/file"), SECRET).unwrap();
    fs::create_dir(home.join("place")).unwrap();
    fs::write(home.join("place-of-file"), "").unwrap();
    for (bound, place, path, shown) in [
        (".hydrant", "place", "place/state/secrets.toml", false),
        (".hydrant/state/deep", "place", "place/file", false),
        (
            ".hydrant/state/secrets.toml",
            "place-of-file",
            "place-of-file",
            false,
        ),
        ("other/deep", "place", "place/file", true),
        ("plain.md", "place-of-file", "place-of-file", true),
    ] {
        let request = json!({ "path": path }).to_string();
        let reading = command(&machine, &["run", "fs.read_text", &request]);
        let said = text(&after(&format!("mount --bind {bound} {place}"), &reading));
        assert_eq!(said.contains(SECRET), shown, "{bound}: {said}");
        assert_eq!(said.contains("\"denied\""), !shown, "{bound}: {said}");
    }
    // And where the workspace itself is such a mount.
    for (bound, shown) in [(".hydrant/state/deep", false), ("other/deep", true)] {
        let mut reading = command(&machine, &["run", "fs.read_text", r#"{"path":"file"}"#]);
        let policy = home.join("policy.json");
        let mounts = json!([{"at": "/workspace", "dir": home.join("place"), "mode": "ro"}]);
        let policy_text = json!({
            "version": 1, "trusted_signers": ["hydrant.build"],
            "capability_ceiling": {"fs": {"read": ["/workspace"]}}, "host": {"mounts": mounts},
        });
        fs::write(&policy, policy_text.to_string()).unwrap();
        reading.arg("--policy").arg(&policy);
        let said = text(&after(&format!("mount --bind {bound} place"), &reading));
        assert_eq!(said.contains(SECRET), shown, "{bound}: {said}");
    }
}

#[test]
fn a_search_and_a_listing_pass_the_home_folder_over() {
    let machine = at_home();
    let request = json!({"pattern": SECRET, "include_hidden": true, "use_ignore": false});
    let found = run(&machine, "search.ripgrep", &request);
    assert!(found.contains("plain.md"), "{found}");
    assert!(!found.contains("secrets.toml"), "{found}");
    let listed = run(&machine, "fs.read_tree", &json!({"include_hidden": true}));
    assert!(listed.contains("plain.md"), "{listed}");
    assert!(!listed.contains("secrets"), "{listed}");
    // The same names in a folder that is not hydrant's.
    fs::rename(
        machine.home().join(".hydrant"),
        machine.home().join(".other"),
    )
    .unwrap();
    let found = run(&machine, "search.ripgrep", &request);
    assert!(found.contains(".other/state/secrets.toml"), "{found}");
}

#[test]
fn a_hydrated_document_does_not_show_the_home_folder() {
    let machine = at_home();
    let home = machine.home();
    let document = format!("---\nname: notes\ndescription: Notes.\n---\n{SECRET}\n");
    fs::create_dir_all(home.join(".hydrant/notes")).unwrap();
    fs::write(home.join(".hydrant/notes/own.md"), &document).unwrap();
    fs::create_dir(home.join("agents")).unwrap();
    fs::write(home.join("agents/plain.md"), &document).unwrap();
    symlink("../.hydrant/notes/own.md", home.join("agents/own.md")).unwrap();
    let hydrate = |uri: &str| {
        let mut command = command(&machine, &["hydrate", "--root", ".", uri]);
        text(&command.output().unwrap())
    };
    assert!(hydrate("os://agents/plain.md").contains(SECRET));
    let said = hydrate("os://agents/own.md");
    assert!(!said.contains(SECRET), "{said}");
}

/// Of a policy that lets skills write in the home directory, and programs too.
fn writing_policy(machine: &Machine, scripts: &[&str]) -> String {
    let rules: Vec<_> = scripts
        .iter()
        .map(|script| {
            json!({"program": "sh", "args": [["-c", script]], "cwd": ["/workspace"], "writable": ["/workspace"]})
        })
        .collect();
    let others = ["cat", "ls", "mv", "rm"]
        .map(|name| json!({"program": name, "args": [["--version"]], "cwd": ["/workspace"]}));
    let rules = [rules, others.to_vec()].concat();
    let policy = json!({
        "version": 1, "trusted_signers": ["hydrant.build"],
        "capability_ceiling": {"exec": true, "fs": {"read": ["/workspace"], "write": ["/workspace"]}},
        "host": {
            "mounts": [{"at": "/workspace", "dir": machine.home(), "mode": "rw"}],
            "process": rules,
        },
    });
    let file = machine.home().join("policy.json");
    fs::write(&file, policy.to_string()).unwrap();
    file.to_str().unwrap().to_owned()
}

#[test]
fn an_mcp_client_does_not_read_a_secret() {
    let machine = at_home();
    let policy = writing_policy(&machine, &[]);
    let mut server = command(&machine, &["mcp", "--policy", &policy])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = server.stdin.take().unwrap();
    let call = |id: u32, path: &str| {
        json!({"jsonrpc": "2.0", "id": id, "method": "tools/call",
               "params": {"name": "fs_read_text", "arguments": {"path": path}}})
    };
    let initialize = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}});
    let mut lines = std::io::BufRead::lines(std::io::BufReader::new(server.stdout.take().unwrap()));
    let mut answer = |message: Value| {
        writeln!(stdin, "{message}").unwrap();
        if message["id"].is_null() {
            return String::new();
        }
        loop {
            let line = lines.next().unwrap().unwrap();
            let answer: Value = serde_json::from_str(&line).unwrap();
            if answer["id"] == message["id"] {
                return line;
            }
        }
    };
    answer(initialize);
    answer(json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    let secret = answer(call(1, ".hydrant/state/secrets.toml"));
    let plain = answer(call(2, "plain.md"));
    let rules = answer(call(3, "policy.json"));
    // One that is made while the server runs, by another name.
    let state = machine.home().join(".hydrant/state");
    fs::hard_link(state.join("secrets.toml"), machine.home().join("linked")).unwrap();
    let linked = answer(call(4, "linked"));
    fs::write(state.join("new"), SECRET).unwrap();
    fs::hard_link(state.join("new"), machine.home().join("newly-linked")).unwrap();
    let newly_linked = answer(call(5, "newly-linked"));
    drop(stdin);
    server.wait().unwrap();
    for refused in [&secret, &rules, &linked, &newly_linked] {
        assert!(refused.contains("denied"), "{refused}");
        assert!(!refused.contains(SECRET), "{refused}");
    }
    assert!(plain.contains(SECRET), "{plain}");
}

/// It sees something empty in its place, and cannot move that away, though it may write all around it.
#[test]
fn a_program_in_the_jail_sees_nothing_of_the_home_folder() {
    let machine = at_home();
    fs::hard_link(
        machine.home().join(".hydrant/state/secrets.toml"),
        machine.home().join("hard-link"),
    )
    .unwrap();
    let script = "cat .hydrant/state/secrets.toml hard-link plain.md policy.json; ls -A .hydrant; \
                  echo x > .hydrant/new; mv .hydrant moved; rm -rf .hydrant policy.json; echo x > policy.json; echo y > beside";
    // What is not there could be made by the program: then nothing around it is writable.
    fs::create_dir_all(machine.home().join(".cache/hydrant")).unwrap();
    let policy = writing_policy(&machine, &[script]);
    let before = fs::read(&policy).unwrap();
    let request = json!({"argv": ["sh", "-c", script]}).to_string();
    let output = command(
        &machine,
        &["run", "shell.exec_safe", &request, "--policy", &policy],
    )
    .output()
    .unwrap();
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(answer["stdout"], format!("not {SECRET}\n"), "{answer}");
    let home = machine.home();
    assert!(home.join("beside").exists(), "the attack was carried out");
    assert!(home.join(".hydrant/state/secrets.toml").exists());
    assert!(!home.join(".hydrant/new").exists());
    assert_eq!(fs::read(&policy).unwrap(), before);
}

/// Who makes the folder before hydrant does, says what hydrant finds in it.
#[test]
fn a_home_folder_that_is_not_there_yet_is_not_made_by_a_skill() {
    let machine = Machine::new();
    let policy = writing_policy(&machine, &[]);
    let patch = |path: &str| {
        let diff = format!("--- /dev/null\n+++ b/{path}\n@@ -0,0 +1 @@\n+policy = \"mine.yaml\"\n");
        let request = json!({ "unified_diff": diff }).to_string();
        let mut command = command(
            &machine,
            &[
                "run",
                "fs.write_patch",
                &request,
                "--policy",
                &policy,
                "--audit",
                "off",
            ],
        );
        // Compiled code would be sealed with a key in the folder.
        text(&command.env("HYDRANT_CACHE", "off").output().unwrap())
    };
    let said = patch(".hydrant/hydrant.toml");
    assert!(said.contains("\"denied\""), "{said}");
    assert!(!machine.home().join(".hydrant/hydrant.toml").exists());
    let said = patch(".hydrant-of-mine/hydrant.toml");
    assert!(said.contains("\"applied\":true"), "{said}");
}

/// A call could otherwise take back what was recorded of it.
#[test]
fn the_audit_record_in_a_writable_workspace_is_not_forged() {
    let machine = at_home();
    let home = machine.home();
    fs::create_dir_all(home.join(".cache/hydrant")).unwrap();
    let script = "rm -f audit.jsonl other.jsonl; echo forged > audit.jsonl; echo forged > other.jsonl; \
                  mv audit.jsonl moved; rm -f audit.jsonl; true";
    let policy = writing_policy(&machine, &[script]);
    let (log, other) = (home.join("audit.jsonl"), home.join("other.jsonl"));
    let call = |skill: &str, request: &Value| {
        let request = request.to_string();
        let log = log.to_str().unwrap();
        let arguments = ["run", skill, &request, "--policy", &policy, "--audit", log];
        text(&command(&machine, &arguments).output().unwrap())
    };
    call("fs.read_text", &json!({"path": "plain.md"}));
    let first = fs::read_to_string(&log).unwrap();
    fs::write(&other, &first).unwrap();
    // By a patch that deletes it, and one that makes another in its place.
    let deletion = |name: &str| {
        let diff = format!("--- a/{name}\n+++ /dev/null\n@@ -1 +0,0 @@\n-{first}");
        json!({ "unified_diff": diff })
    };
    let said = call("fs.write_patch", &deletion("audit.jsonl"));
    assert!(said.contains("\"denied\""), "{said}");
    let said = call("fs.write_patch", &deletion("other.jsonl"));
    assert!(
        said.contains("\"applied\":true") && !other.exists(),
        "{said}"
    );
    // By a program.
    call("shell.exec_safe", &json!({"argv": ["sh", "-c", script]}));
    assert_eq!(fs::read_to_string(&other).unwrap(), "forged\n");
    let log = fs::read_to_string(&log).unwrap();
    assert!(log.starts_with(&first), "{log}");
    assert!(!log.contains("forged") && !home.join("moved").exists());
    // The refusal, and one line for each of the four calls.
    assert_eq!(log.lines().count(), 5, "{log}");
}

/// A record that cannot be told from the end of another one is lost.
#[test]
fn a_record_begins_on_a_line_of_its_own() {
    let machine = Machine::new();
    let log = machine.home().join("audit.jsonl");
    let arguments = [
        "run",
        "fs.read_text",
        r#"{"path":"note.txt"}"#,
        "--audit",
        log.to_str().unwrap(),
    ];
    assert!(machine.run(&arguments).status.success());
    // What a full disk left of another one.
    let whole = fs::read_to_string(&log).unwrap();
    fs::write(&log, format!("{whole}{}", whole.get(..40).unwrap())).unwrap();
    assert!(machine.run(&arguments).status.success());
    assert!(machine.run(&arguments).status.success());
    let lines = fs::read_to_string(&log).unwrap();
    let records: Vec<_> = lines
        .lines()
        .map(serde_json::from_str::<Value>)
        .filter_map(Result::ok)
        .collect();
    assert_eq!(
        (records.len(), lines.lines().count()),
        (3, 4),
        "{lines}: the half line, and no other, is lost"
    );
}

/// Somebody else may have put a policy there.
#[test]
fn a_home_folder_that_others_may_write_is_refused_and_one_that_they_may_read_is_closed() {
    let machine = at_home();
    let home = machine.home().join(".hydrant");
    let mode = |path: &Path| {
        use std::os::unix::fs::PermissionsExt;
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    };
    for writable in [0o777, 0o770, 0o702] {
        private(&home, writable);
        let said = read(&machine, "plain.md");
        assert!(
            said.contains("others may write to the home folder"),
            "{said}"
        );
        assert_eq!(mode(&home), writable);
    }
    private(&home, 0o755);
    assert!(read(&machine, "plain.md").contains(SECRET));
    assert_eq!(mode(&home), 0o700);
}

#[test]
fn a_signing_key_that_others_may_read_is_closed() {
    let machine = Machine::new();
    let keys = machine.home().join("keys");
    fs::create_dir(&keys).unwrap();
    let run = |arguments: &[&str]| {
        let mut command = machine.command(arguments);
        command.env("HYDRANT_SIGNING_KEYS", &keys).output().unwrap()
    };
    assert!(run(&["keys", "generate", "team.build"]).status.success());
    let key = keys.join("team.build.key");
    private(&key, 0o644);
    let public = run(&["keys", "public", "team.build"]);
    assert!(public.status.success(), "{public:?}");
    assert!(text(&public).contains("closed"), "{public:?}");
    assert_eq!(
        std::os::unix::fs::PermissionsExt::mode(&fs::metadata(&key).unwrap().permissions()) & 0o777,
        0o600
    );
    // And is not read by a skill, wherever it lies.
    let mut reading = machine.command(&["run", "fs.read_text", r#"{"path":"team.build.key"}"#]);
    reading.current_dir(&keys);
    let said = text(&reading.output().unwrap());
    assert!(!said.contains("denied"), "the control: {said}");
    reading.env("HYDRANT_SIGNING_KEYS", &keys);
    let said = text(&reading.output().unwrap());
    assert!(said.contains("denied"), "{said}");
}

#[test]
fn a_full_disk_and_a_read_only_one_are_told_apart() {
    let machine = Machine::new();
    let disk = machine.home().join("disk");
    fs::create_dir(&disk).unwrap();
    let policy = json!({
        "version": 1, "trusted_signers": ["hydrant.build"],
        "capability_ceiling": {"fs": {"read": ["/workspace"], "write": ["/workspace"]}},
        "host": {"mounts": [{"at": "/workspace", "dir": disk, "mode": "rw"}]},
    });
    let file = machine.home().join("policy.json");
    fs::write(&file, policy.to_string()).unwrap();
    let line = "x".repeat(100_000);
    let diff = format!("--- /dev/null\n+++ b/new\n@@ -0,0 +1 @@\n+{line}\n");
    let request = json!({ "unified_diff": diff }).to_string();
    let arguments = [
        "run",
        "fs.write_patch",
        &request,
        "--policy",
        file.to_str().unwrap(),
    ];
    let writing = machine.command(&arguments);
    let mount = |options: &str| format!("mount -t tmpfs -o {options} none '{}'", disk.display());
    for (options, reason) in [
        ("size=16k", Some("no_space")),
        ("ro", Some("read_only_file_system")),
        ("size=1m", None),
    ] {
        let said = text(&after(&mount(options), &writing));
        match reason {
            Some(reason) => assert!(
                said.contains(&format!("\"reason\":\"{reason}\"")),
                "{options}: {said}"
            ),
            None => assert!(said.contains("\"applied\":true"), "{options}: {said}"),
        }
    }
}
