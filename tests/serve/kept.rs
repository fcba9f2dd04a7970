//! Hydrations that are answered from memory: never after anything that they read has changed, and recorded as any other.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::time::Duration;

use crate::client::Client;
use crate::house::{House, Server};

/// Longer ago than a file must have changed for what was read of it to be kept.
const SETTLED: Duration = Duration::from_millis(4200);

const OWN: &str = "os://agents/own.md";

/// A server with files that are old enough, and a client that hydrated often enough to be answered from memory.
fn settled(house: &House, arguments: &[&str]) -> (Server, Client) {
    let server = house.serve_with(arguments);
    std::thread::sleep(SETTLED);
    let client = server.client("alpha", "caller");
    let first = client.hydrate(OWN).text();
    for _ in 0..3 {
        assert_eq!(client.hydrate(OWN).text(), first);
    }
    assert!(first.contains("One skill"), "{first}");
    (server, client)
}

#[test]
fn what_is_written_over_is_read_again() {
    let house = House::new();
    let (_server, client) = settled(&house, &[]);
    // The same length, in the same file.
    house.write(
        "alpha/os/skills/one.md",
        "---\nname: One\ndescription: Two skill\n---\nDo one thing.\n",
    );
    let text = client.hydrate(OWN).text();
    assert!(
        text.contains("Two skill") && !text.contains("One skill"),
        "{text}"
    );
}

#[test]
fn what_is_replaced_and_given_its_old_time_is_read_again() {
    let house = House::new();
    let (_server, client) = settled(&house, &[]);
    let path = house.path("alpha/os/skills/one.md");
    let before = fs::metadata(&path).unwrap().modified().unwrap();
    house.write(
        "alpha/os/skills/new.md",
        "---\nname: One\ndescription: New skill\n---\nDo one thing.\n",
    );
    fs::rename(house.path("alpha/os/skills/new.md"), &path).unwrap();
    fs::File::options()
        .write(true)
        .open(&path)
        .unwrap()
        .set_modified(before)
        .unwrap();
    assert!(client.hydrate(OWN).text().contains("New skill"));
}

#[test]
fn what_is_removed_is_missed_and_what_comes_back_is_found() {
    let house = House::new();
    let (_server, client) = settled(&house, &[]);
    let path = house.path("alpha/os/skills/one.md");
    fs::rename(&path, house.path("alpha/os/skills/away.md")).unwrap();
    let without = client.hydrate(OWN).text();
    assert!(without.contains("ERROR"), "{without}");
    for _ in 0..3 {
        assert_eq!(client.hydrate(OWN).text(), without);
    }
    fs::rename(house.path("alpha/os/skills/away.md"), &path).unwrap();
    assert!(client.hydrate(OWN).text().contains("One skill"));
}

#[test]
fn a_directory_on_the_way_that_becomes_another_is_noticed() {
    let house = House::new();
    house.write(
        "alpha/os/other/one.md",
        "---\nname: One\ndescription: Other skill\n---\n",
    );
    let (_server, client) = settled(&house, &[]);
    fs::rename(house.path("alpha/os/skills"), house.path("alpha/os/before")).unwrap();
    symlink("other", house.path("alpha/os/skills")).unwrap();
    assert!(client.hydrate(OWN).text().contains("Other skill"));
    fs::remove_file(house.path("alpha/os/skills")).unwrap();
    symlink("before", house.path("alpha/os/skills")).unwrap();
    assert!(client.hydrate(OWN).text().contains("One skill"));
}

#[test]
fn a_file_that_just_changed_is_never_kept() {
    let house = House::new();
    let server = house.serve();
    let client = server.client("alpha", "caller");
    for round in 0..20 {
        let text = format!("---\nname: One\ndescription: Round {round:02}\n---\n");
        house.write("alpha/os/skills/one.md", &text);
        let said = client.hydrate(OWN).text();
        assert!(said.contains(&format!("Round {round:02}")), "{said}");
    }
}

#[test]
fn a_request_that_differs_has_an_answer_of_its_own() {
    let house = House::new();
    let (_server, client) = settled(&house, &[]);
    let plain = client.hydrate(OWN).text();
    let body = serde_json::json!({"uri": OWN, "checksums": true});
    let summed = client.post("/v1/hydrate", &body).text();
    assert_ne!(plain, summed);
    assert_eq!(client.post("/v1/hydrate", &body).text(), summed);
    assert_eq!(client.hydrate(OWN).text(), plain);
}

/// The lines of `alpha`'s audit log.
fn audited(house: &House) -> Vec<serde_json::Value> {
    let log = fs::read_to_string(house.path("states/alpha/state/audit.jsonl")).unwrap();
    log.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// Copies a folder and all in it.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &to);
        } else {
            fs::copy(entry.path(), to).unwrap();
        }
    }
}

/// Memory answers for a component only while it is the pinned one.
#[test]
fn a_component_that_is_tampered_with_is_refused_and_that_is_recorded() {
    let house = House::new();
    let project = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for folder in ["pins", "skills"] {
        copy(&project.join(folder), &house.path("root").join(folder));
    }
    let root = house.path("root");
    let (_server, client) = settled(&house, &["--root", root.to_str().unwrap()]);
    let before = audited(&house).len();
    let versions = fs::read_dir(root.join("skills/content.hydrate")).unwrap();
    let wasm = versions
        .map(|entry| entry.unwrap().path().join("skill.wasm"))
        .find(|path| path.is_file())
        .unwrap();
    let pinned = fs::read(&wasm).unwrap();
    fs::write(&wasm, [pinned.as_slice(), b"x"].concat()).unwrap();
    for calls in 1..=2 {
        let refused = client.hydrate(OWN);
        assert_eq!(refused.status, 500, "{}", refused.text());
        let lines = audited(&house);
        assert_eq!(lines.len(), before + calls);
        let last = &lines[lines.len() - 1];
        assert_eq!(last["decision"], "deny");
        let reason = last["reason"].as_str().unwrap();
        assert!(reason.starts_with("pin_failed:TV-"), "{reason}");
    }
    fs::write(&wasm, pinned).unwrap();
    assert!(client.hydrate(OWN).text().contains("One skill"));
}

#[test]
fn every_call_is_recorded_with_the_digests_of_what_it_answered() {
    let house = House::new();
    let (_server, client) = settled(&house, &[]);
    let before = audited(&house);
    for _ in 0..5 {
        client.hydrate(OWN).ok();
    }
    let after = audited(&house);
    assert_eq!(after.len(), before.len() + 5);
    let mut ids: Vec<_> = after
        .iter()
        .map(|line| line["request_id"].to_string())
        .collect();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), after.len());
    let first = &before[0];
    for line in &after[1..] {
        for member in [
            "tool_digest",
            "policy_hash",
            "decision",
            "context_id",
            "input_hash",
            "output_hash",
        ] {
            assert_eq!(line[member], first[member], "{member}");
        }
    }
}
