//! Bundles that are signed and hostile: what costs the compiler, and what they say of themselves.

use serde_json::json;

use crate::execution::{Execution, audit_lines};
use crate::root::{ECHO, Root};

fn leb128(mut number: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    while number > 127 {
        bytes.push(u8::try_from(number & 127).unwrap() | 128);
        number >>= 7;
    }
    bytes.push(u8::try_from(number).unwrap());
    bytes
}

/// A component with a section of this content.
fn with_section(id: u8, content: &[u8]) -> Vec<u8> {
    [
        b"\0asm\x0d\0\x01\0".as_slice(),
        &[id],
        &leb128(content.len()),
        content,
    ]
    .concat()
}

/// Component types within component types.
fn nested_types(levels: usize) -> Vec<u8> {
    let content = [
        &[0x01][..],
        &[0x41, 0x01, 0x01].repeat(levels),
        &[0x41, 0x00],
    ]
    .concat();
    with_section(7, &content)
}

/// Runs it with a v1-draft receipt: the process must end by itself, told and recorded.
fn refused(wasm: &[u8]) {
    let execution = Execution::plain(wasm);
    let draft = ["--receipt-format", "v1-draft", "--allow-experimental"];
    let run = execution.run(&[&draft[..], &["--audit", "audit.jsonl"]].concat());
    run.assert_failed("wasm instantiation failed");
    assert_eq!(
        execution.receipt()["result"]["code"],
        "instantiation_failed"
    );
    let lines = audit_lines(&execution.folder, "audit.jsonl");
    assert_eq!(lines.len(), 1);
    assert_eq!(lines[0]["reason"], "execution_failed:instantiation_failed");
}

/// The compiler would recurse until the stack is gone.
#[test]
fn types_nested_in_types_do_not_end_the_process() {
    refused(&nested_types(5_000));
    refused(&with_section(4, &nested_types(20_000)));
    let mut components = with_section(4, &[]);
    for _ in 0..1_000 {
        components = with_section(4, &components);
    }
    refused(&components);
}

/// The compiler would take gigabytes, and its time is none of the guest's.
#[test]
fn what_costs_the_compiler_most_is_not_compiled() {
    let locals = "i32 ".repeat(5_000);
    let blocks = "(loop local.get 0 br_if 0)".repeat(8_000);
    let text = format!("(component (core module (func (local {locals}) {blocks})))");
    refused(&wat::parse_str(text).unwrap());
}

/// What a manifest says of itself makes no line of its own.
#[test]
fn a_denied_capability_cannot_forge_a_line() {
    let value = "/x\nOK run artifact=\u{1b}[31m";
    let execution = Execution::new(
        &crate::guests::echo("demo.echo"),
        &[("fs.read", value)],
        &json!({}),
    );
    let run = execution.run(&[]);
    run.assert_failed("capability denied: fs.read:/x\\u{a}OK run");
    assert!(!run.stderr.contains('\u{1b}'), "{run:?}");
    assert_eq!(run.stderr.lines().count(), 1, "{run:?}");
}

/// A pinned run under a policy that is refused is recorded too.
#[test]
fn an_invalid_policy_of_a_pinned_run_is_recorded() {
    let root = Root::new();
    root.folder.write("../bad.json", "{");
    for policy in ["../bad.json", "../missing.json"] {
        let audit = format!("{policy}.audit");
        let arguments = [
            "run", ECHO, "--root", ".", "--policy", policy, "--audit", &audit,
        ];
        let run = root.run(&arguments);
        assert_eq!(run.status, 1, "{run:?}");
        let lines = audit_lines(&root.folder, &audit);
        assert_eq!(lines.len(), 1, "{policy}");
        assert_eq!(lines[0]["reason"], "policy_invalid");
    }
}

/// A line of the log in a file that the run reads would change what is read.
#[test]
fn the_audit_record_is_no_file_that_the_run_reads() {
    let execution = Execution::plain(&crate::guests::echo("demo.echo"));
    execution.run(&[]);
    for file in ["bundle/manifest.json", "input", "policy.json"] {
        if !execution.folder.exists(file) {
            continue;
        }
        let before = execution.folder.read(file);
        execution
            .run(&["--audit", file])
            .assert_failed("the audit log");
        assert_eq!(execution.folder.read(file), before, "{file}");
    }
}

/// A report replaces neither a device nor what is verified.
#[test]
fn a_report_replaces_only_files_outside_the_root() {
    let root = Root::new();
    let lock = root.folder.read("pins/skills.lock.json");
    for report in [
        "pins/skills.lock.json",
        "skills/demo.echo/0.1.0/report.json",
    ] {
        let run = root.run(&[
            "verify",
            "--keys-digest",
            &root.keys_digest(),
            "--report",
            report,
        ]);
        assert_eq!(run.status, 1, "{run:?}");
    }
    assert_eq!(root.folder.read("pins/skills.lock.json"), lock);
    assert!(!root.folder.exists("skills/demo.echo/0.1.0/report.json"));
    std::os::unix::net::UnixListener::bind(root.folder.path("../socket")).unwrap();
    let run = root.run(&[
        "verify",
        "--keys-digest",
        &root.keys_digest(),
        "--report",
        "../socket",
    ]);
    assert_eq!(run.status, 1, "{run:?}");
}

/// The compiler's time counts too. This component takes far longer to compile than the run may take, and
/// far less to answer.
#[test]
fn compiling_a_bundle_takes_of_its_time() {
    let pinned = crate::program::repository().join("skills/content.hydrate/0.1.0/skill.wasm");
    let mut wasm = std::fs::read(pinned).unwrap();
    // A custom section of its own time: nobody has compiled these bytes before.
    let now = std::time::SystemTime::now();
    let now = now
        .duration_since(std::time::UNIX_EPOCH)
        .unwrap()
        .as_nanos();
    let content = [b"\x03now".as_slice(), &now.to_le_bytes()].concat();
    wasm.extend([&[0][..], &leb128(content.len()), &content].concat());
    let capabilities = [("exec.safe", "*"), ("fs.read", "/os"), ("net.http", "*")];
    let ceiling = json!({"fs": {"read": ["/os"]}, "net": ["https://a.example/"], "exec": true});
    let execution = Execution::new(&wasm, &capabilities, &ceiling);
    execution.policy(&json!({
        "version": 1, "trusted_signers": ["team.build"], "capability_ceiling": ceiling,
        "host": {"limits": {"wall_ms": 50}},
    }));
    let draft = ["--receipt-format", "v1-draft", "--allow-experimental"];
    execution.run(&draft).assert_failed("deadline exceeded");
    assert_eq!(execution.receipt()["result"]["code"], "timeout");
}
