//! A narrower rule is not crossed by a link.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::UNIX_EPOCH;

use serde_json::{Value, json};

use crate::machine::Machine;

const SECRET: &str = "nobody-may-see-this";

/// A workspace with the part `pub`, a secret in the part `private`, and links from the one to the other.
fn parts() -> Machine {
    let machine = Machine::new();
    for part in ["pub", "private"] {
        fs::create_dir(machine.work().join(part)).unwrap();
    }
    fs::write(machine.work().join("private/secret.txt"), SECRET).unwrap();
    fs::write(machine.work().join("pub/open.txt"), "open\n").unwrap();
    symlink("../private", machine.work().join("pub/way")).unwrap();
    symlink("../private/secret.txt", machine.work().join("pub/file.txt")).unwrap();
    symlink("open.txt", machine.work().join("pub/near.txt")).unwrap();
    machine
}

/// A policy or layer in the home folder.
fn rules(machine: &Machine, name: &str, ceiling: Value, host: Value) -> String {
    let path = machine.home().join(name);
    let text = json!({
        "version": 1, "trusted_signers": ["hydrant.build", "hydrant.release"],
        "capability_ceiling": ceiling, "host": host,
    });
    fs::write(&path, text.to_string()).unwrap();
    path.to_str().unwrap().to_owned()
}

fn mounts(machine: &Machine) -> Value {
    json!([{"at": "/workspace", "dir": machine.work(), "mode": "rw"}])
}

fn reading(machine: &Machine, name: &str, part: &str) -> String {
    let ceiling = json!({"fs": {"read": [part]}});
    rules(machine, name, ceiling, json!({"mounts": mounts(machine)}))
}

fn said(output: &Output) -> String {
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    text(&output.stdout) + &text(&output.stderr)
}

fn run(machine: &Machine, skill: &str, request: &Value, flags: &[&str]) -> Output {
    let request = request.to_string();
    machine.run(&[&["run", skill, &request], flags].concat())
}

/// `sh -c SCRIPT` in the jail: this policy's rule for it, with these further members.
fn scripted(script: &str, further: &Value, write: Value) -> (Value, Value) {
    let mut rule = json!({"program": "sh", "args": [["-c", script]], "cwd": ["/workspace"]});
    for (name, value) in further.as_object().unwrap() {
        rule[name] = value.clone();
    }
    let ceiling = json!({"fs": {"read": ["/workspace"], "write": write}, "exec": true});
    (ceiling, json!([rule]))
}

#[test]
fn a_part_of_a_mount_is_all_that_is_read_listed_and_searched() {
    let machine = parts();
    let (wide, narrow) = ("/workspace", "/workspace/pub");
    let policy = |part| reading(&machine, "policy.json", part);
    let tenant = reading(&machine, "tenant.json", narrow);
    let attacks = [
        (
            "fs.read_text",
            json!({"path": "pub/way/secret.txt"}),
            SECRET,
        ),
        ("fs.read_text", json!({"path": "pub/file.txt"}), SECRET),
        ("fs.read_tree", json!({"root": "pub/way"}), "secret.txt"),
        (
            "search.ripgrep",
            json!({"pattern": "nobody", "paths": ["pub/way"]}),
            SECRET,
        ),
    ];
    for (skill, request, needle) in &attacks {
        let shown = |flags: &[&str]| said(&run(&machine, skill, request, flags)).contains(needle);
        let open = policy(wide);
        assert!(shown(&["--policy", &open]), "control: {skill} {request}");
        for layer in ["--tenant", "--grant"] {
            assert!(
                !shown(&["--policy", &open, layer, &tenant]),
                "{layer} {skill} {request}"
            );
        }
        assert!(!shown(&["--policy", &policy(narrow)]), "{skill} {request}");
    }
    // A link within the part is a name like any other.
    let near = run(
        &machine,
        "fs.read_text",
        &json!({"path": "pub/near.txt"}),
        &["--policy", &policy(narrow)],
    );
    assert!(near.status.success(), "{}", said(&near));
}

#[test]
fn a_refusal_because_of_a_link_is_in_the_audit_record() {
    let machine = parts();
    let policy = reading(&machine, "policy.json", "/workspace/pub");
    let audit = || fs::read_to_string(machine.home().join(".hydrant/state/audit.jsonl")).unwrap();
    let read = |path: &str| {
        run(
            &machine,
            "fs.read_text",
            &json!({"path": path}),
            &["--policy", &policy],
        )
    };
    read("pub/near.txt");
    assert!(!audit().contains("fs.read:/workspace/pub/near.txt"));
    read("pub/file.txt");
    assert!(
        audit().contains("fs.read:/workspace/pub/file.txt"),
        "{}",
        audit()
    );
}

#[test]
fn a_link_in_a_part_of_the_root_hydrates_nothing_of_another_part() {
    let machine = Machine::new();
    let os = machine.home().join("os");
    fs::create_dir_all(os.join("crew")).unwrap();
    fs::create_dir_all(os.join("private")).unwrap();
    fs::write(
        os.join("private/notes.md"),
        format!("---\nname: n\ndescription: d\n---\n{SECRET}\n"),
    )
    .unwrap();
    symlink("../private/notes.md", os.join("crew/notes.md")).unwrap();
    let hydrated = |part: &str| {
        let mounts = json!([{"at": "/os", "dir": os, "mode": "ro"}]);
        let policy = rules(
            &machine,
            "policy.json",
            json!({"fs": {"read": [part]}}),
            json!({"mounts": mounts}),
        );
        said(&machine.run(&["hydrate", "os://crew/notes.md", "--policy", &policy])).contains(SECRET)
    };
    assert!(hydrated("/os"), "control");
    assert!(!hydrated("/os/crew"));
}

/// What a tenant leaves out is not reached by way of a mount around it.
#[test]
fn a_mount_that_a_layer_leaves_out_is_not_reached_through_a_link() {
    let machine = Machine::new();
    let os = machine.home().join("os");
    fs::create_dir_all(os.join("crew")).unwrap();
    fs::write(os.join("crew/notes.md"), SECRET).unwrap();
    symlink("crew/notes.md", os.join("way.md")).unwrap();
    let outer = json!({"at": "/os", "dir": os, "mode": "ro"});
    let inner = json!({"at": "/os/crew", "dir": os.join("crew"), "mode": "ro"});
    let ceiling = || json!({"fs": {"read": ["/os"]}});
    let policy = rules(
        &machine,
        "policy.json",
        ceiling(),
        json!({"mounts": [outer, inner]}),
    );
    let tenant = |mounts: Value| {
        rules(
            &machine,
            "tenant.json",
            ceiling(),
            json!({"mounts": mounts}),
        )
    };
    let hydrated = |uri: &str, layer: &[&str]| {
        said(&machine.run(&[&["hydrate", uri, "--policy", &policy], layer].concat()))
            .contains(SECRET)
    };
    assert!(hydrated("os://crew/notes.md", &[]), "control");
    let narrow = tenant(json!([outer]));
    let seen = |path: &str| {
        let question = [
            "policy",
            "explain",
            "--skill",
            "content.hydrate",
            "--path",
            path,
        ];
        machine
            .run(&[&question[..], &["--policy", &policy, "--tenant", &narrow]].concat())
            .status
            .success()
    };
    assert!(!seen("/os/crew/notes.md") && seen("/os/way.md"));
    assert!(
        !hydrated("os://way.md", &[]),
        "a link to what another mount covers"
    );
}

#[test]
fn a_tool_behind_a_link_is_not_started() {
    let machine = Machine::new();
    let os = machine.home().join("os");
    for part in ["tools", "other"] {
        fs::create_dir_all(os.join(part)).unwrap();
    }
    let tool = os.join("other/t.sh");
    fs::write(&tool, format!("#!/bin/sh\necho {SECRET}\n")).unwrap();
    fs::set_permissions(&tool, fs::Permissions::from_mode(0o755)).unwrap();
    symlink("../other/t.sh", os.join("tools/t.sh")).unwrap();
    fs::write(
        os.join("agent.md"),
        "---\nname: a\ndescription: d\ntools: [\"os://tools/t.sh\"]\n---\nx\n",
    )
    .unwrap();
    let described = |part: &str| {
        let host = json!({
            "mounts": [{"at": "/os", "dir": os, "mode": "ro"}], "discovery": {"run": [part]},
        });
        let policy = rules(
            &machine,
            "policy.json",
            json!({"fs": {"read": ["/os"]}, "exec": true}),
            host,
        );
        said(&machine.run(&["hydrate", "os://agent.md", "--policy", &policy])).contains(SECRET)
    };
    assert!(described("/os"), "control");
    assert!(!described("/os/tools"));
}

#[test]
fn a_working_directory_is_not_behind_a_link() {
    let machine = parts();
    let started = |part: &str| {
        let host = json!({
            "mounts": mounts(&machine), "process": [{"program": "pwd", "args": [[]], "cwd": [part]}],
        });
        let policy = rules(
            &machine,
            "policy.json",
            json!({"fs": {"read": ["/workspace"]}, "exec": true}),
            host,
        );
        let request = json!({"argv": ["pwd"], "cwd": "pub/way"});
        said(&run(
            &machine,
            "shell.exec_safe",
            &request,
            &["--policy", &policy],
        ))
        .contains("/workspace/private")
    };
    assert!(started("/workspace"), "control");
    assert!(!started("/workspace/pub"));
    let audit = fs::read_to_string(machine.home().join(".hydrant/state/audit.jsonl")).unwrap();
    assert!(audit.contains("exec.safe:pwd"), "{audit}");
}

/// A repository that brings the directory which its programs may write.
#[test]
fn a_directory_that_programs_may_write_is_not_behind_a_link() {
    let script = "echo x > /workspace/src/target/made; true";
    for (link, made) in [(false, true), (true, false)] {
        let machine = Machine::new();
        fs::create_dir(machine.work().join("src")).unwrap();
        let target = machine.work().join("src/target");
        if link {
            symlink("..", &target).unwrap();
        } else {
            fs::create_dir(&target).unwrap();
        }
        let further = json!({"writable": ["/workspace/src/target"]});
        let (ceiling, process) = scripted(script, &further, json!(["/workspace"]));
        let host = json!({"mounts": mounts(&machine), "process": process});
        let policy = rules(&machine, "policy.json", ceiling, host);
        let request = json!({"argv": ["sh", "-c", script]});
        let output = run(
            &machine,
            "shell.exec_safe",
            &request,
            &["--policy", &policy],
        );
        assert!(output.status.success(), "{}", said(&output));
        assert_eq!(target.join("made").exists(), made, "{}", said(&output));
    }
}

#[test]
fn programs_write_what_the_ceiling_lets_be_written() {
    let script = "echo x > /workspace/a/made; echo x > /workspace/b/made; true";
    for (write, made) in [
        (json!(["/workspace"]), [true, true]),
        (json!(["/workspace/a"]), [true, false]),
        (json!([]), [false, false]),
    ] {
        let machine = Machine::new();
        for part in ["a", "b"] {
            fs::create_dir(machine.work().join(part)).unwrap();
        }
        let (ceiling, process) = scripted(script, &json!({"writable": ["/workspace"]}), write);
        let host = json!({"mounts": mounts(&machine), "process": process});
        let policy = rules(&machine, "policy.json", ceiling, host);
        let request = json!({"argv": ["sh", "-c", script]});
        let output = run(
            &machine,
            "shell.exec_safe",
            &request,
            &["--policy", &policy],
        );
        assert!(output.status.success(), "{}", said(&output));
        let there = ["a", "b"].map(|part| machine.work().join(part).join("made").exists());
        assert_eq!(there, made, "{}", said(&output));
    }
}

/// `hydrant` in namespaces of its own, with one directory mounted in a second place.
fn bound(machine: &Machine, [from, to]: [&Path; 2], arguments: &[&str]) -> Output {
    let own = machine.command(arguments);
    let mut command = Command::new("unshare");
    let first = format!("mount --bind '{}' '{}'", from.display(), to.display());
    command
        .args([
            "-Urm",
            "sh",
            "-c",
            &format!("{first} && exec \"$0\" \"$@\""),
        ])
        .arg(own.get_program())
        .args(own.get_args())
        .current_dir(machine.work())
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap())
        .env("HOME", machine.home());
    command.output().unwrap()
}

/// Two ways round: the read-only mount is a second place of a part of the writable one, or a part of the writable one is a
/// second place of the read-only one.
#[test]
fn a_read_only_mount_is_not_written_by_another_name() {
    let script = "echo x > /workspace/sub/by_program; echo x > /workspace/beside; true";
    for inward in [false, true] {
        for (read_only, written) in [(false, true), (true, false)] {
            let machine = Machine::new();
            let (sub, data) = (machine.work().join("sub"), machine.home().join("data"));
            for directory in [&sub, &data] {
                fs::create_dir(directory).unwrap();
            }
            let places = if inward {
                [&*data, &*sub]
            } else {
                [&*sub, &*data]
            };
            let mut mounted = mounts(&machine);
            if read_only {
                let data = json!({"at": "/data", "dir": data, "mode": "ro"});
                mounted.as_array_mut().unwrap().push(data);
            }
            let (ceiling, process) = scripted(
                script,
                &json!({"writable": ["/workspace"]}),
                json!(["/workspace"]),
            );
            let host = json!({"mounts": mounted, "process": process});
            let policy = rules(&machine, "policy.json", ceiling, host);
            let patch = "--- /dev/null\n+++ b/sub/by_patch\n@@ -0,0 +1 @@\n+x\n";
            for (skill, request) in [
                ("shell.exec_safe", json!({"argv": ["sh", "-c", script]})),
                ("fs.write_patch", json!({"unified_diff": patch})),
            ] {
                let request = request.to_string();
                let output = bound(
                    &machine,
                    places,
                    &["run", skill, &request, "--policy", &policy],
                );
                assert!(output.status.success() || read_only, "{}", said(&output));
            }
            let [from, _] = places;
            for name in ["by_program", "by_patch"] {
                assert_eq!(
                    from.join(name).exists(),
                    written,
                    "{name} {inward} {read_only}"
                );
            }
        }
    }
}

/// The journal of a host that was killed after it had staged a file: what it staged is removed.
fn journal(machine: &Machine, parent: &str) -> PathBuf {
    let hex = |text: &str| {
        text.bytes()
            .map(|byte| format!("{byte:02x}"))
            .collect::<String>()
    };
    let work = machine.work().canonicalize().unwrap();
    let metadata = work.metadata().unwrap();
    let born = metadata
        .created()
        .unwrap()
        .duration_since(UNIX_EPOCH)
        .unwrap();
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap();
    let staged = ".hydrant-0123456789abcdef01234567.tmp";
    let record = json!({
        "version": 1, "phase": "staging",
        "mounts": [{
            "real": hex(work.to_str().unwrap()), "inode": metadata.ino(), "device": metadata.dev(),
            "boot": boot.trim_end(), "born": [born.as_secs(), born.subsec_nanos()],
        }],
        "made": [],
        "changes": [{
            "mount": 0, "parent": parent, "name": "x", "staged": staged, "old": null, "new": "00".repeat(32),
            "inode": null, "deleted": null,
        }],
    });
    let folder = machine.home().join(".hydrant/state/changes");
    fs::create_dir_all(&folder).unwrap();
    for folder in [".hydrant", ".hydrant/state", ".hydrant/state/changes"] {
        let mode = fs::Permissions::from_mode(0o700);
        fs::set_permissions(machine.home().join(folder), mode).unwrap();
    }
    fs::write(folder.join("0123.json"), record.to_string()).unwrap();
    let staged = work.join(parent).join(staged);
    fs::write(&staged, "x\n").unwrap();
    staged
}

#[test]
fn a_journal_is_finished_by_a_call_that_may_make_its_changes() {
    let patch = "--- /dev/null\n+++ b/pub/made\n@@ -0,0 +1 @@\n+x\n";
    let machine = parts();
    let staged = journal(&machine, "private");
    let writing = |part: &str| {
        let ceiling = json!({"fs": {"read": [part], "write": [part]}});
        let policy = rules(
            &machine,
            "policy.json",
            ceiling,
            json!({"mounts": mounts(&machine)}),
        );
        let _ = fs::remove_file(machine.work().join("pub/made"));
        let output = run(
            &machine,
            "fs.write_patch",
            &json!({"unified_diff": patch}),
            &["--policy", &policy],
        );
        assert!(output.status.success(), "{}", said(&output));
    };
    writing("/workspace/pub");
    assert!(staged.exists());
    writing("/workspace");
    assert!(!staged.exists(), "control");
}
