//! Tools that are components are described in a sandbox, never executed.

use serde_json::json;

use crate::component::{Tool, assemble, described, reading, returning, timing};
use crate::os_root::{NONE, OsRoot, Payload, agent};
use crate::policy;

const FAILED: &str = "ERROR: EXECUTION_FAILED";

/// The payload of an agent whose tools are these files.
fn declaring(root: &OsRoot, tools: &[(&str, Vec<u8>)], options: &[&str]) -> Payload {
    for (name, bytes) in tools {
        root.file(name, bytes);
    }
    let names: Vec<&str> = tools.iter().map(|(name, _)| *name).collect();
    root.file("agent.md", agent(NONE, &names));
    root.payload(&[&["os://agent.md"], options].concat())
}

#[test]
fn the_description_of_a_component_is_what_describe_returns() {
    let long = "é".repeat(1025);
    let root = OsRoot::new();
    let payload = declaring(
        &root,
        &[
            ("oven.wasm", described("Bakes bread")),
            ("clean.wasm", described("\u{1b}[1mRed\u{1b}[0m\r\nx \n")),
            ("long.wasm", described(&long)),
            ("blank.wasm", described(" \n")),
            (
                "more.wasm",
                returning(r#"{"name":"n","description":"d","input_schema":{}}"#),
            ),
            ("plain.wasm", Tool::PLAIN.build()),
            ("reads.wasm", reading()),
            ("timing.wasm", timing()),
        ],
        &[],
    );
    assert_eq!(payload.tool("os://oven.wasm"), "Bakes bread");
    assert_eq!(payload.tool("os://clean.wasm"), "Red\nx");
    assert_eq!(payload.tool("os://long.wasm"), &long[..2 * 1024]);
    assert_eq!(payload.tool("os://blank.wasm"), "ERROR: NO_OUTPUT");
    assert_eq!(payload.tool("os://more.wasm"), "d");
    assert_eq!(payload.tool("os://plain.wasm"), "plain");
    assert_eq!(
        payload.tool("os://timing.wasm"),
        "frozen",
        "its clock stands still"
    );
    assert_eq!(
        payload.tool("os://reads.wasm"),
        "denied",
        "its hostcalls are denied"
    );
}

#[test]
fn a_component_that_cannot_be_described_is_execution_failed() {
    let importing = |imports| {
        Tool {
            imports,
            ..Tool::PLAIN
        }
        .build()
    };
    let acting = |body| {
        Tool {
            body,
            ..Tool::PLAIN
        }
        .build()
    };
    let far = r#"(data (i32.const 0) "\10\00\00\00\00\00\00\40")"#; // 1 GiB at 16
    #[rustfmt::skip]
    let rows = [
        ("text.wasm", b"#!/bin/sh\necho ran\n".to_vec()),
        ("empty.wasm", Vec::new()),
        ("core.wasm", assemble(r#"(module (func (export "describe") (result i32) i32.const 0))"#)),
        ("nothing.wasm", assemble("(component)")),
        ("sockets.wasm", importing(r#"(import "wasi:sockets/network@0.2.0" (instance))"#)),
        ("http.wasm", importing(r#"(import "wasi:http/types@0.2.0" (instance (export "f" (func))))"#)),
        ("foreign.wasm", importing(r#"(import "evil:host/door@1.0.0" (instance (export "f" (func))))"#)),
        ("traps.wasm", acting("unreachable")),
        ("deep.wasm", acting("call 0")),
        ("far.wasm", Tool { fields: far, ..Tool::PLAIN }.build()),
        ("memory.wasm", Tool { pages: 1025, ..Tool::PLAIN }.build()),
        ("prose.wasm", returning("Bakes bread")),
        ("list.wasm", returning(r#"["description"]"#)),
        ("number.wasm", returning(r#"{"description":7}"#)),
        ("missing.wasm", returning(r#"{"name":"n"}"#)),
        ("bytes.wasm", returning(b"{\"description\":\"\xFF\"}")),
        ("large.wasm", returning(format!(r#"{{"description":"{}"}}"#, "x".repeat(65_536)))),
    ];
    let root = OsRoot::new();
    let payload = declaring(&root, &rows, &[]);
    for (name, _) in &rows {
        assert_eq!(payload.tool(&format!("os://{name}")), FAILED, "{name}");
    }
}

#[test]
fn memory_grows_to_64_mib_and_no_further() {
    let growing = |body| {
        Tool {
            body,
            ..Tool::PLAIN
        }
        .build()
    };
    let root = OsRoot::new();
    let payload = declaring(
        &root,
        &[
            (
                "within.wasm",
                growing("(drop (memory.grow (i32.const 1000))) (i32.const 0)"),
            ),
            // Traps unless the growth succeeded.
            (
                "beyond.wasm",
                growing(
                    "(if (i32.lt_s (memory.grow (i32.const 1021)) (i32.const 0)) (then (unreachable))) (i32.const 0)",
                ),
            ),
        ],
        &[],
    );
    assert_eq!(payload.tool("os://within.wasm"), "plain");
    assert_eq!(payload.tool("os://beyond.wasm"), FAILED);
}

#[test]
fn a_component_that_does_not_end_is_a_timeout() {
    let root = OsRoot::new();
    let payload = declaring(
        &root,
        &[
            (
                "loops.wasm",
                Tool {
                    body: "(loop (br 0)) unreachable",
                    ..Tool::PLAIN
                }
                .build(),
            ),
            ("oven.wasm", described("Bakes bread")),
        ],
        &[],
    );
    assert_eq!(payload.tool("os://loops.wasm"), "ERROR: TIMEOUT");
    assert_eq!(
        payload.tool("os://oven.wasm"),
        "Bakes bread",
        "the host goes on"
    );
}

#[test]
fn a_component_needs_leave_to_be_read_and_none_to_run() {
    let root = OsRoot::new();
    let tools = [
        ("t/oven.wasm", described("Bakes bread")),
        ("t/core.wasm", vec![0]),
    ];
    root.policy(&policy::tools_run());
    let payload = declaring(&root, &tools, &["--no-exec"]);
    assert_eq!(
        payload.tool("os://t/oven.wasm"),
        "Bakes bread",
        "--no-exec starts no process"
    );
    root.mode("t/oven.wasm", 0o755).mode("t/core.wasm", 0o755);
    let payload = declaring(&root, &tools, &[]);
    assert_eq!(
        payload.tool("os://t/oven.wasm"),
        "Bakes bread",
        "the bit does not matter"
    );
    assert_eq!(
        payload.tool("os://t/core.wasm"),
        FAILED,
        "never started as a file"
    );
    let mut policy = policy::tools_run();
    policy["capability_ceiling"]["fs"]["read"] = json!(["/os/agent.md", "/os/docs"]);
    root.policy(&policy);
    let payload = declaring(&root, &tools, &[]);
    assert_eq!(payload.tool("os://t/oven.wasm"), "ERROR: EXECUTION_SKIPPED");
}

#[test]
fn a_component_that_is_not_there_or_not_reachable() {
    let root = OsRoot::new();
    root.file("../outside.wasm", described("outside"));
    root.link("up.wasm", "../outside.wasm");
    root.file("dir.wasm/x", "");
    root.file("in/oven.wasm", described("Bakes bread"))
        .link("near.wasm", "in/oven.wasm");
    root.sparse("huge.wasm", 5 << 30);
    root.file(
        "agent.md",
        agent(
            NONE,
            &["gone.wasm", "up.wasm", "dir.wasm", "near.wasm", "huge.wasm"],
        ),
    );
    let payload = root.payload(&["os://agent.md"]);
    assert_eq!(payload.tool("os://gone.wasm"), "ERROR: NOT_FOUND");
    assert_eq!(payload.tool("os://up.wasm"), "ERROR: PERMISSION_DENIED");
    assert_eq!(payload.tool("os://dir.wasm"), "ERROR: NOT_FOUND");
    assert_eq!(payload.tool("os://near.wasm"), "Bakes bread");
    assert_eq!(payload.tool("os://huge.wasm"), FAILED, "bounded");
}
