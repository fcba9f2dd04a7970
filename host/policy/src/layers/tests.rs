//! What two and three layers allow together.

mod mounts;
mod operations;
mod totals;

use std::fs;

use proptest::prelude::*;
use url::Url;

use super::*;
use crate::tests::Scratch;
use crate::{Denial, Explanation, Grant, Location, Method, Question, explain};

/// The policy layer; tests put others above it.
const POLICY: &str = r#"version: 1
trusted_signers: [a, b]
capability_ceiling:
  fs: {read: [/workspace, /os], write: [/workspace, /os]}
  net: ["https://docs.example/", "http://127.0.0.1:8000/"]
  exec: true
host:
  mounts:
    - {at: /workspace, dir: ours, mode: rw}
    - {at: /os, dir: os, mode: ro}
    - {at: /os/lib, url: "https://docs.example/v3/"}
  net:
    - {url: "https://docs.example/", methods: [GET, POST]}
    - {url: "http://127.0.0.1:8000/", methods: [GET]}
  process:
    - {program: ls, args: [["..."]], cwd: [/workspace, /os], env: {A: policy}, network: true, writable: [/workspace]}
  discovery: {run: [/os/tools], runners: {.sh: [sh], .py: [no-such-program-here]}, remote: true, env: {X: policy}}
  jail: {process: unjailed}
  limits: {wall_ms: 200000, hostcalls: 10}
  tools: describe
"#;

/// A layer with this ceiling and this text below `host`.
fn layer(ceiling: &str, host: &str) -> String {
    format!(
        "version: 1\ntrusted_signers: [a]\ncapability_ceiling:\n{ceiling}\nhost:\n  tools: describe\n{host}"
    )
}

/// A ceiling as wide as the policy's, in the lines 4 to 6.
const WIDE: &str = "  fs: {read: [/], write: [/]}\n  net: [\"https://docs.example/\", \"http://127.0.0.1:8000/\"]\n  exec: true";

fn path(text: &str) -> VirtualPath {
    VirtualPath::parse(text).unwrap()
}

fn capabilities(list: &[&str]) -> Vec<Capability> {
    let capability = |text: &&str| {
        let (kind, value) = text.split_once(':').unwrap();
        Capability {
            kind: kind.to_owned(),
            value: value.to_owned(),
        }
    };
    list.iter().map(capability).collect()
}

/// What a skill may do that declares everything.
fn grant(layers: Layers) -> Grant {
    let everything = ["fs.read:/", "fs.write:/", "net.http:*", "exec.safe:*"];
    Grant::new(layers, &capabilities(&everything))
}

/// The file and the line that a denial names.
fn decided(denial: &Denial) -> String {
    let rule = denial.decided_by();
    format!("{}:{}", rule.source, rule.line.unwrap_or(0))
}

#[test]
fn an_absent_layer_restricts_nothing() {
    let scratch = Scratch::new();
    let alone = grant(scratch.policy(POLICY).unwrap().into());
    let layers = grant(scratch.layers(POLICY, "", "").unwrap());
    for grant in [&alone, &layers] {
        assert!(grant.read(&path("/os/x")).is_ok());
        assert!(grant.write(&path("/workspace/x")).is_ok());
        assert!(grant.tool(&path("/os/tools/t.sh")).is_ok());
    }
    let shared = Arc::new(scratch.layers(POLICY, "", "").unwrap());
    assert!(
        grant(Arc::clone(&shared).into())
            .read(&path("/os/x"))
            .is_ok()
    );
    assert_eq!(shared.limits().hostcalls, 10);
}

#[test]
fn every_layer_has_to_trust_a_signer() {
    let scratch = Scratch::new();
    let tenant = "version: 1\ntrusted_signers: [b, c]\ncapability_ceiling: {}\n";
    let layers = scratch.layers(POLICY, tenant, "").unwrap();
    assert_eq!(layers.check_signers(&["a", "b"], &["b"]), Ok(()));
    assert_eq!(layers.check_signers(&["a", "c"], &["a", "c"]), Ok(()));
    let refused = |manifest: &[&str], signatures: &[&str]| {
        let refusal = layers.check_signers(manifest, signatures);
        refusal.unwrap_err().to_string()
    };
    assert_eq!(
        refused(&["a"], &["a"]),
        "no trusted signer declared in manifest.signers (tenant.yaml)"
    );
    assert_eq!(
        refused(&["a", "b"], &["a"]),
        "no trusted signer present in signatures.json (tenant.yaml)"
    );
    assert_eq!(
        refused(&["c"], &["c"]),
        "no trusted signer declared in manifest.signers (policy.yaml)"
    );
}

#[test]
fn denied_is_what_any_layer_denies_and_granted_is_the_rest() {
    let scratch = Scratch::new();
    let tenant = layer("  fs: {read: [/os]}\n  net: []\n  exec: true", "");
    let run = layer(WIDE, "").replace("exec: true", "exec: false");
    let declared = capabilities(&[
        "exec.safe:git",
        "fs.read:/os",
        "fs.read:/workspace",
        "net.http:*",
        "time.now:true",
    ]);
    let split = |tenant: &str, run: &str| {
        let layers = scratch.layers(POLICY, tenant, run).unwrap();
        let text = |list: Vec<Capability>| {
            let texts: Vec<_> = list
                .iter()
                .map(|one| format!("{}:{}", one.kind, one.value))
                .collect();
            texts.join(" ")
        };
        (
            text(layers.denied(&declared, WasmForm::Component)),
            text(layers.granted(&declared, WasmForm::Component)),
        )
    };
    let pair = |denied: &str, granted: &str| (denied.to_owned(), granted.to_owned());
    assert_eq!(
        split("", ""),
        pair(
            "time.now:true",
            "exec.safe:git fs.read:/os fs.read:/workspace net.http:*"
        )
    );
    assert_eq!(
        split(&tenant, ""),
        pair(
            "fs.read:/workspace net.http:* time.now:true",
            "exec.safe:git fs.read:/os"
        )
    );
    assert_eq!(
        split(&tenant, &run),
        pair(
            "exec.safe:git fs.read:/workspace net.http:* time.now:true",
            "fs.read:/os"
        )
    );
}

#[test]
fn layers_are_read_from_files_over_a_policy_or_the_default() {
    let scratch = Scratch::new();
    let write = |name: &str, text: &str| {
        let file = scratch.root.join(name);
        fs::write(&file, text).unwrap();
        file
    };
    let tenant = write(
        "ours/tenant.yaml",
        &layer(WIDE, "  mounts: [{at: /os, dir: ../os/tools, mode: ro}]\n"),
    );
    let asking = write(
        "grant.yaml",
        &layer(WIDE, "  mounts: [{at: /os, dir: \"@cli\", mode: ro}]\n"),
    );
    let policy = || Policy::built_in(&scratch.root, &[]).unwrap();
    let layers = Layers::over(policy(), Some(&tenant), None, &[]).unwrap();
    let grant = grant(layers);
    let Location::Directory(found) = grant.read(&path("/os/x")).unwrap() else {
        panic!("no directory")
    };
    assert_eq!(found.mount().real(), scratch.root.join("os/tools"));
    assert_eq!(
        decided(&grant.read(&path("/workspace/x")).unwrap_err()),
        format!("{}:9", tenant.display())
    );
    // A flag fills `@cli` of a layer, too, and a flag that a layer does not ask for is none of its business.
    let flags = [
        CliMount::of_policy(&format!("/os={}", scratch.root.join("os").display())).unwrap(),
        CliMount::of_policy(&format!("/workspace={}", scratch.root.display())).unwrap(),
    ];
    assert!(Layers::over(policy(), None, Some(&asking), &flags).is_ok());
    let message = Layers::over(policy(), None, Some(&asking), &[]).unwrap_err();
    assert!(
        message.to_string().contains("must be given by"),
        "{message}"
    );
    let policy = write("policy.yaml", POLICY);
    let files = LayerFiles {
        policy: Some(&policy),
        tenant: Some(&tenant),
        run: None,
    };
    let layers = Layers::load(files, &[]).unwrap();
    assert_eq!(layers.policy().source(), policy.to_str().unwrap());
    let missing = scratch.root.join("none");
    for files in [
        LayerFiles {
            tenant: Some(&missing),
            ..files
        },
        LayerFiles {
            run: Some(&missing),
            ..files
        },
        LayerFiles {
            policy: Some(&missing),
            ..files
        },
    ] {
        let error = Layers::load(files, &[]).unwrap_err();
        assert!(matches!(error, PolicyError::Unreadable { .. }), "{error}");
    }
}

#[test]
fn an_explanation_names_the_layer_that_denies_and_those_that_agree() {
    let scratch = Scratch::new();
    let tenant = layer("  fs:\n    read: [/os]", "");
    let run = layer(WIDE, "");
    let ask = |tenant: &str, run: &str, question: &Question| -> Explanation {
        explain(
            &grant(scratch.layers(POLICY, tenant, run).unwrap()),
            question,
        )
    };
    let answer = ask(&tenant, &run, &Question::Path(path("/workspace/x")));
    assert!(!answer.allowed);
    assert_eq!(
        answer.decided_by.to_string(),
        "tenant.yaml:5 (capability_ceiling.fs.read does not cover it)"
    );
    assert_eq!(answer.decided_by.text, "read: [/os]");
    assert_eq!(
        answer.would_change,
        "add \"/workspace/x\" to capability_ceiling.fs.read"
    );
    let answer = ask(&tenant, &run, &Question::Path(path("/os/x")));
    assert!(answer.allowed);
    assert_eq!(
        answer.decided_by.to_string(),
        "policy.yaml:4 (capability_ceiling.fs.read holds it with /os, the mount /os maps it; tenant.yaml:5 agrees; \
         grant.yaml:4 agrees)"
    );
    let answer = ask(&tenant, "", &Question::Write(path("/workspace/x")));
    assert!(!answer.allowed && answer.decided_by.source == "tenant.yaml");
    let answer = ask("", &run, &Question::Write(path("/workspace/x")));
    assert!(
        answer.allowed
            && answer
                .decided_by
                .to_string()
                .contains("grant.yaml:4 agrees")
    );
    let url = Question::Url {
        method: Method::Get,
        url: Url::parse("https://docs.example/x").unwrap(),
    };
    let answer = ask("", &run, &url);
    assert_eq!(
        (answer.allowed, answer.decided_by.source.as_str()),
        (false, "grant.yaml")
    );
    let tool = Question::Tool(path("/os/tools/t.sh"));
    let silent = layer(WIDE, "  discovery: {run: [/os/tools]}\n");
    let answer = ask("", &silent, &tool);
    assert!(answer.allowed && answer.decided_by.to_string().contains("grant.yaml:"));
    let elsewhere = layer(WIDE, "  discovery: {run: [/os/other]}\n");
    let answer = ask("", &elsewhere, &tool);
    assert_eq!(
        (answer.allowed, answer.decided_by.source.as_str()),
        (false, "grant.yaml")
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// Rule 2 of the design: a layer never allows what the policy does not, and no order of layers allows more.
    #[test]
    fn layers_only_narrow(
        tenant in prop::sample::subsequence(vec!["/", "/os", "/os/a", "/workspace", "/workspace/a/b"], 0..4),
        run in prop::sample::subsequence(vec!["/", "/os", "/os/a/b", "/workspace/a", "/w"], 0..4),
        asked in "/(os|workspace|w)(/(a|b|lib)){0,3}",
    ) {
        let scratch = Scratch::new();
        let text = |held: &[&str]| layer(&format!("  fs: {{read: [{0}], write: [{0}]}}", held.join(", ")), "");
        let (tenant_text, run_text) = (text(&tenant), text(&run));
        let asked = path(&asked);
        let both = |tenant: &str, run: &str| {
            let grant = grant(scratch.layers(POLICY, tenant, run).unwrap());
            (grant.read(&asked).is_ok(), grant.write(&asked).is_ok())
        };
        let alone = both("", "");
        let consent = |held: &[&str]| held.iter().any(|held| asked.starts_with(&path(held)));
        let expected = consent(&tenant) && consent(&run);
        let found = both(&tenant_text, &run_text);
        prop_assert_eq!(found, (alone.0 && expected, alone.1 && expected));
        prop_assert_eq!(both(&run_text, &tenant_text), found);
    }
}
