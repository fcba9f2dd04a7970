//! `verify`: what a pinned component is and may, and the optional checks.

use serde_json::json;

use crate::bundle::Bundle;
use crate::guests;
use crate::keys;
use crate::program::Run;
use crate::root::{ECHO, RING, Root, Verdict, copy, echo, reader};

const AT: &str = "skills/demo.echo/0.1.0";

/// A pinned root whose `demo.echo` is this component with these capabilities.
fn component(wasm: &[u8], capabilities: &[(&str, &str)]) -> Verdict {
    let bundle = Bundle::new((ECHO, "0.1.0"), wasm, capabilities, &keys::team());
    Root::of(vec![bundle]).verify(&[])
}

#[test]
fn only_a_component_that_parses_is_pinned() {
    let core = guests::bare("(result i32) (i32.const 0)");
    let mut cut = guests::echo(ECHO);
    cut.truncate(cut.len() / 2);
    for wasm in [core, cut, b"not wasm".to_vec()] {
        component(&wasm, &[]).assert(2, "TV-23", AT, "");
    }
}

#[test]
fn other_imports_are_not_allowed() {
    for interface in [
        "wasi:sockets/tcp@0.2.0",
        "wasi:http/outgoing-handler@0.2.0",
        "evil:host/fs-read@0.1.0",
        "hydrant:host/more@0.1.0",
        "hydrant:host/fs-read@0.2.0",
        "hydrant:other/fs-read@0.1.0",
    ] {
        let verdict = component(&guests::importing(ECHO, interface), &[]);
        assert!(
            verdict.rows().contains(&"TV-24"),
            "{interface}: {:?}",
            verdict.run
        );
        let finding = verdict
            .findings()
            .iter()
            .find(|f| f["row"] == "TV-24")
            .unwrap();
        assert_eq!(finding["class"], 4);
        assert_eq!(verdict.run.status, 4, "{interface}: {:?}", verdict.run);
    }
}

#[test]
fn an_import_without_its_capability() {
    let wasm = guests::reading(ECHO, "/workspace/note.txt", 1);
    component(&wasm, &[]).assert(4, "TV-25", AT, "import not declared");
}

#[test]
fn a_capability_without_its_import_and_values_without_a_form() {
    let verdict = component(&guests::echo(ECHO), &[("net.http", "*")]);
    verdict.assert(4, "TV-26", AT, "capability not used");
    let wasm = guests::reading(ECHO, "/workspace/note.txt", 1);
    for value in ["*", "workspace", "/workspace/../etc", "/", "/Workspace"] {
        let verdict = component(&wasm, &[("fs.read", value)]);
        assert_eq!(verdict.run.status, 4, "{value}: {:?}", verdict.run);
        assert!(
            verdict.rows().contains(&"TV-26"),
            "{value}: {:?}",
            verdict.run
        );
    }
    for (kind, value) in [("exec", "true"), ("env", "HOME"), ("no.such", "x")] {
        let verdict = component(&wasm, &[(kind, value), ("fs.read", "/workspace")]);
        assert!(
            verdict.rows().contains(&"TV-26"),
            "{kind}: {:?}",
            verdict.run
        );
    }
}

/// An import of the right name and the wrong type.
#[test]
fn a_component_that_does_not_instantiate() {
    let wasm = guests::importing(ECHO, "hydrant:host/fs-read@0.1.0");
    let verdict = component(&wasm, &[("fs.read", "/workspace")]);
    verdict.assert(2, "TV-27", AT, "does not instantiate");
}

#[test]
fn describe_answers_as_it_must() {
    let good = guests::description(ECHO);
    let long = good.replace("A skill for tests.", &"x".repeat(1025));
    let huge = good.replace(
        "\"properties\":{}",
        &format!(
            "\"properties\":{{\"a\":{{\"const\":\"{}\"}}}}",
            "x".repeat(65_536)
        ),
    );
    let lines = good.replace("A skill for tests.", "two\\nlines");
    let spaced = good.replacen(':', ": ", 1);
    let more = good.replacen('{', "{\"x\":1,", 1);
    let open = good.replace(",\"additionalProperties\":false", "");
    assert!(huge.len() > 65_536 && lines != good && spaced != good && open != good);
    let other = guests::description("demo.other");
    for text in [
        "", "{}", "[]", &other, &long, &huge, &lines, &spaced, &more, &open,
    ] {
        let start: String = text.chars().take(60).collect();
        let verdict = component(&guests::describing("", text), &[]);
        assert_eq!(verdict.run.status, 2, "{start}: {:?}", verdict.run.stderr);
        assert!(
            verdict.rows().contains(&"TV-28"),
            "{start}: {:?}",
            verdict.run.stderr
        );
    }
    let grow = "(drop (memory.grow (i32.const 2000))) (drop (i32.load (i32.const 100000000)))";
    for code in ["(unreachable)", "(loop $again (br $again))", grow] {
        component(&guests::describing(code, &good), &[]).assert(2, "TV-28", AT, "");
    }
    let wasm = guests::describing_by_hostcall(ECHO);
    component(&wasm, &[("fs.read", "/workspace")]).assert(2, "TV-28", AT, "");
    assert_eq!(component(&guests::describing("", &good), &[]).run.status, 0);
}

fn policy(signer: &str, ceiling: serde_json::Value) -> String {
    json!({"version": 1, "trusted_signers": [signer], "capability_ceiling": ceiling}).to_string()
}

#[test]
fn with_a_policy_signers_and_capabilities_are_held_against_it() {
    let root = Root::of(vec![reader("demo.reader", "0.1.0")]);
    let verify = |policy: String| {
        root.folder.write("policy.json", policy);
        root.verify(&["--policy", "policy.json"])
    };
    let open = json!({"fs": {"read": ["/workspace"]}});
    let good = verify(policy("team.build", open.clone()));
    assert_eq!(good.run.status, 0, "{:?}", good.run);
    let at = "skills/demo.reader/0.1.0";
    let stranger = verify(policy("somebody", open));
    stranger.assert(
        3,
        "TV-30",
        at,
        "no trusted signer declared in manifest.signers",
    );
    let closed = verify(policy("team.build", json!({})));
    closed.assert(4, "TV-31", at, "fs.read:/workspace");
    let neither = verify(policy("somebody", json!({})));
    assert_eq!(neither.run.status, 3, "3 before 4");
    root.folder.write("policy.json", "{}");
    assert_eq!(root.run(&["verify", "--policy", "policy.json"]).status, 1);
}

#[test]
fn with_a_baseline_widening_is_found() {
    let old = Root::new();
    let wasm = guests::reading(ECHO, "/workspace/note.txt", 1);
    let wider = Bundle::new(
        (ECHO, "0.2.0"),
        &wasm,
        &[("fs.read", "/workspace")],
        &keys::team(),
    );
    let new = Root::of(vec![echo("0.1.0"), wider]);
    let baseline = old.folder.argument("");
    let verdict = new.verify(&["--baseline", &baseline]);
    verdict.assert(
        4,
        "TV-32",
        "skills/demo.echo/0.2.0",
        "kind=fs.read value=/workspace",
    );
    // The other way round nothing is wider.
    let back = old.verify(&["--baseline", &new.folder.argument("")]);
    assert_eq!(back.run.status, 0, "{:?}", back.run);
    // A new id has an empty baseline.
    let another = Root::of(vec![echo("0.1.0"), reader("demo.reader", "0.1.0")]);
    let verdict = another.verify(&["--baseline", &baseline]);
    verdict.assert(
        4,
        "TV-32",
        "skills/demo.reader/0.1.0",
        "kind=fs.read value=/workspace",
    );
}

#[test]
fn with_a_baseline_another_key_is_found() {
    let root = Root::new();
    let baseline = Root::new();
    assert_eq!(
        root.verify(&["--baseline", &baseline.folder.argument("")])
            .run
            .status,
        0
    );
    let renewed = keys::Signer::new("team.release", "a new key");
    baseline
        .folder
        .write(RING, keys::ring(&[keys::build(), renewed]));
    let verdict = root.verify(&["--baseline", &baseline.folder.argument("")]);
    assert_eq!(verdict.run.status, 3, "{:?}", verdict.run);
    assert!(verdict.rows().contains(&"TV-33"), "{:?}", verdict.run);
}

#[test]
fn rebuilt_components_are_the_pinned_ones() {
    let root = Root::of(vec![echo("0.1.0"), reader("demo.reader", "0.1.0")]);
    let rebuilt = root.folder.argument("../rebuilt");
    for bundle in &root.bundles {
        let name = format!("../rebuilt/{}-{}.wasm", bundle.name(), bundle.version());
        root.folder.write(&name, &bundle.wasm);
    }
    let good = root.verify(&["--rebuilt", &rebuilt]);
    assert_eq!(good.run.status, 0, "{:?}", good.run);
    root.folder
        .write("../rebuilt/demo.echo-0.1.0.wasm", "other");
    std::fs::remove_file(root.folder.path("../rebuilt/demo.reader-0.1.0.wasm")).unwrap();
    let verdict = root.verify(&["--rebuilt", &rebuilt]);
    assert_eq!(
        (verdict.run.status, verdict.rows()),
        (2, vec!["TV-34", "TV-34"])
    );
}

/// Nothing is written into the root, and no network or home is needed.
#[test]
fn verifying_leaves_the_root_as_it_is() {
    let root = Root::new();
    let before = root.folder.path("../before");
    copy(&root.folder.path(""), &before);
    let mut command = root.command(&["verify"]);
    command
        .env_remove("HOME")
        .env_remove("HYDRANT_HOME")
        .env_remove("XDG_CACHE_HOME");
    let run = Run::of(&mut command);
    assert_eq!(run.status, 0, "{run:?}");
    let names = crate::program::listing(&before);
    assert_eq!(crate::program::listing(&root.folder.path("")), names);
    for name in names {
        let path = before.join(&name);
        if path.is_file() {
            assert_eq!(
                root.folder.read(&name),
                std::fs::read(path).unwrap(),
                "{name}"
            );
        }
    }
}
