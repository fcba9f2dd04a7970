//! Section 15: tiers, effects, reasons, requirements.

use super::{curl, http, nameless, request, sandbox, skill, stages, text};
use crate::context::Context;
use crate::draft::{
    ApprovalWish, Declaration, DraftStage, FilterDraft, OutputDraft, Package, Program, SandboxDraft,
};
use crate::model::{Fetches, Runtime};

fn tool(name: &str) -> SandboxDraft {
    let argv = vec![text(name), text("in.png"), text("{size}")];
    SandboxDraft::of_tool(name, Program::Argv(argv), 1)
}

#[test]
fn a_request_is_tier_1() {
    let assembled = request(curl("GET", "https://a.example/").header("X-Key", "$A_KEY"));
    let operation = &assembled.operation;
    assert_eq!(operation.tier, 1);
    assert_eq!(operation.effects, ["network-egress"]);
    assert_eq!(operation.reasons, ["host:a.example:443", "secret:A_KEY"]);
    assert_eq!(operation.requires, ["secret:A_KEY", "host:a.example:443"]);
}

#[test]
fn pure_stages_need_no_approval() {
    let filter = FilterDraft {
        program: ".a".to_owned(),
        ..FilterDraft::default()
    };
    let assembled = stages(
        vec![DraftStage::JsonFilter(filter)],
        &nameless(),
        &Context::default(),
    );
    assert_eq!(assembled.operation.tier, 1);
    assert!(assembled.operation.reasons.is_empty());
    assert_eq!(assembled.required(), serde_json::json!(["input"]));
}

#[test]
fn an_output_file_is_tier_2() {
    let mut draft = curl("GET", "https://a.example/dir/file.bin?x=1");
    draft.output = Some(OutputDraft {
        name: None,
        directory: Some(text("out")),
    });
    let assembled = request(draft);
    assert_eq!(assembled.operation.tier, 2);
    assert_eq!(assembled.operation.files.write, ["out/file.bin"]);
    assert_eq!(assembled.operation.effects, ["fs-write", "network-egress"]);
    assert!(
        assembled
            .operation
            .reasons
            .contains(&"file-write:out/file.bin".to_owned())
    );
}

#[test]
fn without_a_segment_it_is_index_html() {
    let mut draft = curl("GET", "https://a.example/dir/");
    draft.output = Some(OutputDraft {
        name: None,
        directory: None,
    });
    assert_eq!(request(draft).operation.files.write, ["index.html"]);
}

#[test]
fn an_unknown_tool_is_tier_3() {
    let assembled = sandbox(tool("convert"), &nameless(), &skill("s"));
    let operation = &assembled.operation;
    assert_eq!(operation.tier, 3);
    // A file of the caller, if he gives one.
    assert_eq!(
        operation.reasons,
        ["unknown-tool:convert", "file-read:in.png"]
    );
    assert_eq!(
        operation.requires,
        ["sandbox:shell", "tool:convert", "file-read:in.png"]
    );
    assert_eq!(operation.effects, ["fs-read", "process"]);
}

#[test]
fn scripts_installers_and_downloads_are_tier_3() {
    let context = skill("s");
    let package = Package {
        runtime: "node".to_owned(),
        name: "x".to_owned(),
    };
    let cases = [
        (Fetches::Installs, None, vec!["script", "package:node:x"]),
        (
            Fetches::RunsDownloaded,
            None,
            vec!["script", "package:node:x"],
        ),
        (
            Fetches::Nothing,
            Some("loop"),
            vec!["script", "script:loop", "package:node:x"],
        ),
        (Fetches::Nothing, None, vec!["script", "package:node:x"]),
    ];
    for (fetches, construct, reasons) in cases {
        let program = Program::Script("npx x".to_owned());
        let mut draft = SandboxDraft::new(Runtime::Shell, program, 1);
        draft.stage.fetches = fetches;
        draft.stage.constructs.extend(construct.map(str::to_owned));
        draft.stage.packages.push(package.clone());
        let assembled = sandbox(draft, &nameless(), &context);
        assert_eq!(assembled.operation.tier, 3);
        assert_eq!(assembled.operation.reasons, reasons);
    }
}

#[test]
fn a_declared_tier_only_raises() {
    for (declared, tier) in [(0, 1), (1, 1), (2, 2), (3, 3), (9, 3)] {
        let declaration = Declaration {
            tier: Some(declared),
            ..nameless()
        };
        let assembled = http(curl("GET", "https://a.example/"), &declaration, &skill("s"));
        assert_eq!(assembled.operation.tier, tier);
    }
    let declaration = Declaration {
        tier: Some(1),
        ..nameless()
    };
    assert_eq!(
        sandbox(tool("x"), &declaration, &skill("s")).operation.tier,
        3
    );
}

#[test]
fn reasons_of_the_skill() {
    let context = Context {
        data_classifications: vec!["PII.user_query".to_owned()],
        effects: vec!["sends-mail".to_owned()],
        approval: ApprovalWish::Required,
        ..skill("s")
    };
    let assembled = http(curl("GET", "http://127.0.0.1:8080/"), &nameless(), &context);
    assert_eq!(
        assembled.operation.reasons,
        [
            "host:127.0.0.1:8080",
            "pii",
            "skill-requested",
            "plain-http"
        ]
    );
    assert_eq!(
        assembled.operation.effects,
        ["network-egress", "sends-mail"]
    );
}

#[test]
fn code_files_are_covered_by_their_digest() {
    let draft = || {
        let program = Program::File {
            name: "a.py".to_owned(),
            digest: None,
        };
        SandboxDraft::new(Runtime::Python, program, 1)
    };
    let without = sandbox(draft(), &nameless(), &skill("s"));
    assert!(without.operation.requires.contains(&"file:a.py".to_owned()));
    assert_eq!(
        without.http()["program"]["file"]["digest"],
        serde_json::Value::Null
    );
    let mut context = skill("s");
    context
        .files
        .insert("a.py".to_owned(), "sha256:00".to_owned());
    let with = sandbox(draft(), &nameless(), &context);
    assert_eq!(with.http()["program"]["file"]["digest"], "sha256:00");
}

#[test]
fn a_file_that_is_only_read_needs_no_approval_of_its_own() {
    let read = || DraftStage::ReadFile {
        paths: vec![text("notes.txt")],
        excerpt: None,
    };
    let assembled = stages(vec![read()], &nameless(), &Context::default());
    assert!(assembled.operation.reasons.is_empty());
    assert_eq!(assembled.operation.requires, ["file-read:notes.txt"]);
    let sent = stages(
        vec![
            read(),
            DraftStage::Http(Box::new(curl("POST", "https://a.example/"))),
        ],
        &nameless(),
        &Context::default(),
    );
    assert!(
        sent.operation
            .reasons
            .contains(&"file-read:notes.txt".to_owned())
    );
}
