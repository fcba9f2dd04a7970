//! Tools that come over the network, and tools that a remote document declares.

use serde_json::json;

use crate::component::described;
use crate::os_root::{NONE, OsRoot, agent};
use crate::policy;
use crate::server::{Answer, Server};

const LOOPBACK: &str = "--allow-http-loopback";
const SCRIPT: &str = "echo \"ran $1\"\n";

fn serving() -> Server {
    Server::new(|request| match request.path.as_str() {
        "/v3/index.md" => {
            Answer::Body(agent(NONE, &["t.sh", "os://tools/here.sh", "oven.wasm"]).into_bytes())
        }
        "/v3/t.sh" | "/v3/t.py" | "/v3/t" => Answer::Body(SCRIPT.into()),
        "/v3/oven.wasm" => Answer::Body(described("Bakes bread")),
        "/v3/long.sh" => Answer::Body(vec![b'#'; (4 << 20) + 1]),
        _ => Answer::Status(404, ""),
    })
}

#[test]
fn without_leave_remote_tools_are_neither_fetched_nor_run() {
    let server = serving();
    let root = OsRoot::new();
    let mut policy = policy::remote_tools(&[&server.url("/")], json!({".sh": ["sh"]}));
    policy["host"]["discovery"]["remote"] = json!(false);
    root.policy(&policy);
    root.tool("tools/here.sh", "#!/bin/sh\necho here\n");
    let mount = format!("/lib/={}", server.url("/v3/"));
    let options = [LOOPBACK, "--mount", &mount];
    let skipped = "ERROR: EXECUTION_SKIPPED";

    let tools = [
        server.url("/v3/t.sh"),
        server.url("/v3/oven.wasm"),
        "os://lib/t.sh".to_owned(),
        "os://lib/oven.wasm".to_owned(),
    ];
    root.file("agent.md", agent(NONE, &tools));
    let payload = root.payload(&[&["os://agent.md"], &options[..]].concat());
    for tool in &tools {
        assert_eq!(payload.tool(tool), skipped, "{tool}");
    }
    assert_eq!(server.connections(), 0, "nothing is fetched");

    for document in [server.url("/v3/index.md"), "os://lib/index.md".to_owned()] {
        let payload = root.payload(&[&[document.as_str()], &options[..]].concat());
        assert_eq!(payload.tools().len(), 3, "{}", payload.text);
        for entry in payload.tools() {
            assert_eq!(entry["description"], skipped, "{document} {entry}");
        }
    }
    assert_eq!(server.connections(), 2, "the documents alone");

    root.file("agent.md", agent(NONE, &["os://tools/here.sh"]));
    assert_eq!(
        root.payload(&["os://agent.md"]).tool("os://tools/here.sh"),
        "here",
        "a local one runs"
    );
}

#[test]
fn a_remote_tool_that_is_allowed_needs_a_runner_or_is_a_component() {
    let server = serving();
    let root = OsRoot::new();
    root.policy(&policy::remote_tools(
        &[&server.url("/")],
        json!({".sh": ["sh"]}),
    ));
    root.tool("tools/here.sh", "#!/bin/sh\necho here\n");
    let mount = format!("/lib/={}", server.url("/v3/"));
    let denied = "http://127.0.0.1:1/t.sh".to_owned();
    #[rustfmt::skip]
    let rows = [
        (server.url("/v3/t.sh"), "ran --description"),
        (server.url("/v3/t.py"), "ERROR: PERMISSION_DENIED"),
        (server.url("/v3/t"), "ERROR: PERMISSION_DENIED"),
        (server.url("/v3/oven.wasm"), "Bakes bread"),
        (server.url("/v3/gone.sh"), "ERROR: FETCH_FAILED"),
        (server.url("/v3/long.sh"), "ERROR: FETCH_FAILED"),
        ("os://lib/t.sh".to_owned(), "ran --description"),
        (denied, "ERROR: EXECUTION_SKIPPED"),
    ];
    let tools = rows.each_ref().map(|(tool, _)| tool.as_str());
    root.file("agent.md", agent(NONE, &tools));
    let payload = root.payload(&["os://agent.md", LOOPBACK, "--mount", &mount]);
    for (tool, description) in &rows {
        assert_eq!(payload.tool(tool), *description, "{tool}");
    }
    let payload = root.payload(&[&server.url("/v3/index.md"), LOOPBACK]);
    assert_eq!(
        payload.tool("os://tools/here.sh"),
        "here",
        "declared by a remote document"
    );
    assert_eq!(payload.tool(&server.url("/v3/t.sh")), "ran --description");
}
