//! hydrant's own root in this repository, the embedded skills, and the scripts around them.

use std::process::Command;

use serde_json::{Value, json};

use crate::canonical::members;
use crate::program::{Folder, Run, listing, program, repository};
use crate::root::{LOCK, RING, SIGNATURE, copy, world};

/// A copy of `pins/` and `skills/` of the repository.
fn own() -> Folder {
    let folder = Folder::new();
    for name in ["pins", "skills"] {
        copy(&repository().join(name), &folder.path(name));
    }
    folder
}

fn entries(folder: &Folder) -> Vec<Value> {
    folder.json(LOCK)["skills"].as_array().unwrap().clone()
}

/// The compiled-in ring is the anchor, so no flag and no variable is needed.
#[test]
fn hydrants_own_pins_verify() {
    let folder = own();
    let run = folder.run(&["verify"]);
    assert_eq!(run.status, 0, "{run:?}");
    let count = entries(&folder).len();
    assert!(
        run.stdout
            .ends_with(&format!("OK verify-pins count={count}\n")),
        "{run:?}"
    );
}

#[test]
fn hydrants_own_ring_holds_its_two_signers() {
    let folder = own();
    assert_eq!(
        members(&folder.json(RING)),
        ["hydrant.build", "hydrant.release"]
    );
    let lock = folder.json(LOCK);
    assert_eq!(
        lock["substrate_pin"],
        json!({"repo": "hydrant", "commit": world()})
    );
    let signers = json!(["hydrant.build", "hydrant.release"]);
    for entry in entries(&folder) {
        assert_eq!(entry["signers"], signers);
        let text = folder.text(&format!(
            "skills/{}/SKILL.md",
            entry["id"].as_str().unwrap()
        ));
        assert!(!text.to_lowercase().contains("placeholder"), "{text}");
    }
}

/// No private key is in the repository.
#[test]
fn no_key_file_is_in_the_repository() {
    for place in ["pins", "skills", "scripts", "examples", "tests"] {
        let names = listing(&repository().join(place));
        let keys: Vec<&String> = names.iter().filter(|name| name.ends_with(".key")).collect();
        assert!(keys.is_empty(), "{place}: {keys:?}");
    }
}

/// The embedded skills are those of the repository's pins.
#[test]
fn the_embedded_skills_are_the_pinned_ones() {
    let folder = Folder::new();
    let embedded = folder.ok(&["skills", "--format", "json"]).json();
    let embedded: Vec<(String, String)> = embedded
        .as_array()
        .unwrap()
        .iter()
        .map(|one| {
            (
                one["id"].as_str().unwrap().to_owned(),
                one["version"].as_str().unwrap().to_owned(),
            )
        })
        .collect();
    let pinned: Vec<(String, String)> = entries(&own())
        .iter()
        .map(|one| {
            (
                one["id"].as_str().unwrap().to_owned(),
                one["version"].as_str().unwrap().to_owned(),
            )
        })
        .collect();
    assert_eq!(embedded, pinned);
}

#[test]
fn the_embedded_skills_describe_themselves() {
    let described = Folder::new().ok(&["describe", "--format", "json"]).json();
    for one in described.as_array().unwrap() {
        let names = [
            "name",
            "description",
            "input_schema",
            "output_schema",
            "version",
        ];
        assert_eq!(members(one), names);
        let length = one["description"].as_str().unwrap().chars().count();
        assert!((1..=1024).contains(&length));
        assert_eq!(
            one["input_schema"]["additionalProperties"], false,
            "{}",
            one["name"]
        );
    }
}

/// Every kind of file of our own root, changed: found, by the right class.
#[test]
fn a_change_of_hydrants_own_root_is_found() {
    let first = entries(&own())[0].clone();
    let directory = first["bundle_dir"].as_str().unwrap();
    let text = format!("skills/{}/SKILL.md", first["id"].as_str().unwrap());
    let in_bundle = |name: &str| format!("{directory}/{name}");
    #[rustfmt::skip]
    let rows = [
        (LOCK.to_owned(), 3, "TV-04"), (SIGNATURE.to_owned(), 3, "TV-04"), (RING.to_owned(), 3, "TV-02"),
        (in_bundle("skill.wasm"), 2, "TV-12"), (in_bundle("bundle-meta.json"), 2, "TV-20"),
        (in_bundle("public-keys.json"), 3, "TV-13"), (text, 2, "TV-22"),
    ];
    for (file, status, row) in rows {
        let folder = own();
        folder.write(&file, [folder.read(&file).as_slice(), b" "].concat());
        let run = folder.run(&["verify"]);
        assert_eq!(run.status, status, "{file}: {run:?}");
        assert!(run.stderr.contains(row), "{file}: {run:?}");
    }
}

/// The repository's lock is what `lock` would write.
#[test]
fn the_own_lock_is_up_to_date() {
    let folder = own();
    let run = folder.run(&["lock", "--check"]);
    assert_eq!(run.status, 0, "{run:?}");
}

/// An embedded skill runs under the default policy.
#[test]
fn an_embedded_skill_runs() {
    let folder = Folder::new();
    folder.write("os/note.md", "A note.");
    let request = r#"{"uri":"os://note.md"}"#;
    let run = folder.run(&["run", "content.hydrate", request, "--format", "json"]);
    assert_eq!(run.status, 0, "{run:?}");
    assert!(run.json().to_string().contains("A note."), "{run:?}");
}

/// 0 for allowed, 4 for denied, and the deciding line.
#[test]
fn the_policy_is_explained() {
    let folder = Folder::new();
    folder.write("os/note.md", "x");
    let explain = |more: &[&str]| {
        folder.run(&[&["policy", "explain", "--skill", "content.hydrate"], more].concat())
    };
    let text = ["--format", "text"];
    let allowed = explain(&[&["--path", "/os/note.md"], &text[..]].concat());
    assert_eq!(allowed.status, 0, "{allowed:?}");
    assert!(allowed.stdout.contains("allowed"), "{allowed:?}");
    let denied = explain(&[&["--url", "https://example.org/x"], &text[..]].concat());
    assert_eq!(denied.status, 4, "{denied:?}");
    assert!(denied.stdout.contains("denied"), "{denied:?}");
    let json = explain(&["--url", "https://example.org/x", "--format", "json"]);
    assert_eq!((json.status, json.json().is_object()), (4, true));
}

/// `scripts/verify_pins.sh` of this repository, with the binary under test.
#[test]
fn the_script_verifies_the_pins() {
    let script = repository().join("scripts/verify_pins.sh");
    let mut command = Command::new("bash");
    command
        .arg(script)
        .current_dir(repository())
        .env("HYDRANT_BIN", program());
    let run = Run::of(&mut command);
    assert_eq!(run.status, 0, "{run:?}");
    assert!(run.stdout.contains("OK verify-pins count="), "{run:?}");
}

/// That takes a toolchain and minutes, so CI does it; this holds CI to it.
#[test]
fn ci_rebuilds_the_components_verifies_the_pins_and_fuzzes_the_readers() {
    let ci = std::fs::read_to_string(repository().join(".ci/run")).unwrap();
    for step in [
        "scripts/build_skills.sh --check",
        "scripts/verify_pins.sh",
        "scripts/fuzz.sh",
        "scripts/test.sh",
    ] {
        let called = ci.lines().any(|line| line.trim().starts_with(step));
        assert!(called, "{step}");
    }
}
