//! The interpreter is a component without effects, and what it and the rest are made of.

use std::fs;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hydrant::trust::imports;
use hydrant::{Host, SkillCall};
use serde_json::{Value, json};

use crate::program::repository;

fn text(path: &str) -> String {
    fs::read_to_string(repository().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The folder of the pinned version.
fn bundle(id: &str) -> std::path::PathBuf {
    let versions = fs::read_dir(repository().join("skills").join(id)).unwrap();
    let mut folders: Vec<_> = versions
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_dir())
        .collect();
    assert_eq!(folders.len(), 1, "{folders:?}");
    folders.remove(0)
}

#[test]
fn what_reads_strangers_bytes_imports_no_hostcall_and_only_inert_wasi() {
    for id in ["skill.interpret", "data.filter"] {
        let component = fs::read(bundle(id).join("skill.wasm")).unwrap();
        let found = imports(&component).unwrap();
        assert!(found.host.is_empty(), "{id}: {found:?}");
        // Whatever is neither of the world nor of the WASI that every guest gets; wasm-bindgen's would be here.
        assert_eq!(found.other, Vec::<String>::new(), "{id}");
        let manifest = fs::read(bundle(id).join("manifest.json")).unwrap();
        let manifest: Value = serde_json::from_slice(&manifest).unwrap();
        assert_eq!(manifest["capabilities"], json!([]), "{id}");
        let signers = json!(["hydrant.build", "hydrant.release"]);
        assert_eq!(manifest["signers"], signers, "{id}");
    }
}

#[test]
fn the_same_request_gives_the_same_bytes_back() {
    let request = json!({"op": "load", "source-url": "https://e.org/skill.md",
        "content-b64": "IyBBCgojIyBCCgpgYGBiYXNoCmN1cmwgLXUgYTpiIC1kIHg9MSAtSCAnWC1BOiAkQScgaHR0cHM6Ly9hLm9yZy8kSUQKYGBgCg=="});
    let request = request.to_string();
    let answer = |host: &Host| {
        host.answer(SkillCall::new("skill.interpret", request.as_bytes()))
            .unwrap()
            .unwrap()
    };
    // Another instance, and another host: no order of a map shows.
    let first = Host::builder().build().unwrap();
    let bytes = answer(&first);
    assert_eq!(serde_json::from_slice::<Value>(&bytes).unwrap()["ok"], true);
    for _ in 0..4 {
        assert_eq!(answer(&first), bytes);
        assert_eq!(answer(&Host::builder().build().unwrap()), bytes);
    }
    assert_eq!(
        skill_interpreter::run(request.as_bytes()).unwrap_or_default(),
        bytes,
        "its own code, compiled natively"
    );
}

/// The names of the packages of a lock file.
fn locked() -> Vec<String> {
    let lock = text("Cargo.lock");
    lock.lines()
        .filter_map(|line| {
            line.strip_prefix("name = \"")?
                .strip_suffix('"')
                .map(str::to_owned)
        })
        .collect()
}

#[test]
fn no_licence_that_is_not_allowed_and_none_of_these_crates() {
    let allowed = text("deny.toml");
    let list = allowed
        .split("allow = [")
        .nth(1)
        .unwrap()
        .split(']')
        .next()
        .unwrap();
    for family in ["GPL", "SSPL", "BUSL"] {
        assert!(!list.contains(family), "{family}: {list}");
    }
    let locked = locked();
    for name in ["yash-syntax", "birdcage", "hakoniwa"] {
        assert!(!locked.iter().any(|one| one == name), "{name}");
    }
}

#[test]
fn what_a_command_means_is_decided_by_a_grammar() {
    let manifest = text("guest/skill-interpreter/Cargo.toml");
    let dependencies = manifest
        .split("[dependencies]")
        .nth(1)
        .unwrap()
        .split("[dev-dependencies]")
        .next()
        .unwrap();
    for name in ["shlex", "curl-parser", "tree-sitter", "regex"] {
        assert!(
            !dependencies.lines().any(|line| line.starts_with(name)),
            "{name}"
        );
    }
}

/// Of the finished component: what its own code does in a test depends on what else is built beside it.
#[test]
fn decimals_keep_all_their_digits() {
    let host = Host::builder().build().unwrap();
    let answer = |request: Value| {
        let request = request.to_string();
        let answer = host.answer(SkillCall::new("skill.interpret", request.as_bytes()));
        String::from_utf8(answer.unwrap().unwrap()).unwrap()
    };
    let number = "31.245270191439438";
    let document = format!(
        "# A\n\n## B\n\n```bash\ncurl https://a.org/x | jq --argjson x {number} '.a * $x'\n```\n"
    );
    let loaded = answer(json!({"op": "load", "source-url": "https://a.org/skill.md",
        "content-b64": STANDARD.encode(document)}));
    // The instructions have the text itself: what counts is what was read from it.
    let loaded: Value = serde_json::from_str(&loaded).unwrap();
    let stages = loaded["skill"]["operations"][0]["stages"].to_string();
    assert!(stages.contains(number), "{stages}");
}
