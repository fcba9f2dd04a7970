//! The store and its index.

use std::fs;
use std::process::Stdio;
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};

use crate::bundle::{Bundle, PREAMBLE};
use crate::canonical::{digest, members, pretty};
use crate::keys;
use crate::program::{Folder, Run, listing, mode};
use crate::tarball::{Tarball, compressed};

/// An archive of an unsigned skill of this name.
fn archive(name: &str) -> Vec<u8> {
    let bundle = Bundle::new((name, "0.1.0"), PREAMBLE, &[], &keys::team());
    let tar = Tarball::new()
        .file("manifest.json", &pretty(&bundle.manifest))
        .file("skill.wasm", PREAMBLE);
    compressed(&tar.end())
}

fn install(folder: &Folder, name: &str) -> String {
    folder.write(name, archive(name));
    folder.ok(&["install", "--artifact", name]);
    digest(archive(name))
}

fn index(folder: &Folder) -> (String, Value) {
    let text = fs::read_to_string(folder.home().join("index.json")).unwrap();
    let value = serde_json::from_str(&text).unwrap();
    (text, value)
}

#[test]
fn meta_json_has_these_members() {
    let folder = Folder::new();
    let skill = install(&folder, "one");
    let store = folder.home().join("store/sha256").join(&skill[7..]);
    assert_eq!(
        listing(&store),
        ["manifest.json", "meta.json", "skill.wasm"]
    );
    let text = fs::read_to_string(store.join("meta.json")).unwrap();
    let meta: Value = serde_json::from_str(&text).unwrap();
    let names = [
        "installed_at",
        "manifest_name",
        "manifest_version",
        "schema_version",
        "skill",
        "source",
    ];
    assert_eq!(members(&meta), names);
    assert_eq!(text.as_bytes(), pretty(&meta));
    assert_eq!(
        (&meta["skill"], &meta["source"]),
        (&json!(skill), &json!("one"))
    );
    assert_eq!(
        (&meta["manifest_name"], &meta["manifest_version"]),
        (&json!("one"), &json!("0.1.0"))
    );
    let now = SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap()
        .as_secs();
    assert!(now - meta["installed_at"].as_u64().unwrap() < 600);
    assert_eq!(mode(&store.join("skill.wasm")), 0o600);
}

#[test]
fn the_index_is_sorted_by_skill_and_an_entry_is_replaced() {
    let folder = Folder::new();
    let mut skills = vec![
        install(&folder, "one"),
        install(&folder, "two"),
        install(&folder, "three"),
    ];
    skills.sort();
    folder.write("elsewhere", archive("two"));
    folder.ok(&["install", "--artifact", "elsewhere"]);
    let (text, index) = index(&folder);
    assert_eq!(text.as_bytes(), pretty(&index));
    assert_eq!(
        (members(&index), &index["schema_version"]),
        (vec!["schema_version", "entries"], &json!("1.0.0"))
    );
    let entries = index["entries"].as_array().unwrap();
    let found: Vec<&str> = entries
        .iter()
        .map(|e| e["skill"].as_str().unwrap())
        .collect();
    assert_eq!(found, skills);
    for entry in entries {
        let names = [
            "skill",
            "source",
            "store",
            "installed_at",
            "manifest_name",
            "manifest_version",
        ];
        assert_eq!(members(entry), names);
        let expected = if entry["manifest_name"] == "two" {
            "elsewhere"
        } else {
            entry["manifest_name"].as_str().unwrap()
        };
        assert_eq!(entry["source"], expected);
    }
    assert_eq!(mode(&folder.home().join("index.json")), 0o600);
    let mut left = listing(&folder.home());
    left.retain(|name| name.contains("lock") || name.contains("tmp"));
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn installing_again_repairs_what_differs() {
    let folder = Folder::new();
    let skill = install(&folder, "one");
    let wasm = folder
        .home()
        .join("store/sha256")
        .join(&skill[7..])
        .join("skill.wasm");
    fs::write(&wasm, "spoiled").unwrap();
    install(&folder, "one");
    assert_eq!(fs::read(&wasm).unwrap(), PREAMBLE);
}

#[test]
fn parallel_installs_all_end_up_in_the_index() {
    let folder = Folder::new();
    let names = ["a", "b", "c", "d", "e", "f"];
    let children: Vec<_> = names
        .iter()
        .map(|name| {
            folder.write(name, archive(name));
            let mut command = folder.command(&["install", "--artifact", name]);
            command
                .stdout(Stdio::null())
                .stderr(Stdio::piped())
                .spawn()
                .unwrap()
        })
        .collect();
    for child in children {
        let output = child.wait_with_output().unwrap();
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
    let (_, index) = index(&folder);
    assert_eq!(index["entries"].as_array().unwrap().len(), names.len());
}

#[test]
fn a_lock_file_is_waited_for_unless_it_is_old() {
    let folder = Folder::new();
    install(&folder, "one");
    let lock = folder.home().join("index.json.lock");
    let file = fs::File::create(&lock).unwrap();
    folder.write("two", archive("two"));
    let run = folder.run(&["install", "--artifact", "two"]);
    assert_eq!(run.status, 1, "{run:?}");
    assert!(lock.exists(), "the lock of another process stays");
    file.set_modified(SystemTime::now() - Duration::from_secs(121))
        .unwrap();
    folder.ok(&["install", "--artifact", "two"]);
    assert!(!lock.exists());
}

#[test]
fn which_home() {
    let folder = Folder::new();
    folder.write("one", archive("one"));
    let home = folder.argument("../home");
    let run = |variables: &[(&str, &str)]| {
        let mut command = folder.command(&["install", "--artifact", "one"]);
        command.env_remove("HOME").env_remove("HYDRANT_HOME");
        Run::of(command.envs(variables.iter().copied()))
    };
    let indexed = |at: &str| {
        let at = folder.path(at).join("index.json");
        let there = at.exists();
        drop(fs::remove_file(at));
        there
    };
    let (ours, theirs) = (folder.argument("ours"), folder.argument("theirs"));
    assert_eq!(run(&[("HOME", &home)]).status, 0);
    assert!(indexed("../home/.hydrant"));
    assert_eq!(
        run(&[("HOME", &home), ("PROVENACT_HOME", &theirs)]).status,
        0
    );
    assert!(indexed("theirs") && !indexed("../home/.hydrant"));
    let all = [
        ("HOME", home.as_str()),
        ("PROVENACT_HOME", &theirs),
        ("HYDRANT_HOME", &ours),
    ];
    assert_eq!(run(&all).status, 0);
    assert!(indexed("ours") && !indexed("theirs"));
    run(&[]).assert_failed("");
}
