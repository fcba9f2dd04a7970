//! What one tenant sees and does of another's: nothing.

use serde_json::{Value, json};

use crate::house::{House, Server, foreign, secret_of, shared};
use crate::http::{Session, metric};
use crate::stdio::problem;

fn session(server: &Server, tenant: &str, role: &str) -> Session {
    Session::begin(server.client(tenant, role))
}

#[test]
fn each_tenant_lists_and_reads_its_own_resources() {
    let (_, server) = shared();
    for (tenant, other) in [("alpha", "beta"), ("beta", "alpha")] {
        let mut session = session(&server, tenant, "caller");
        let listed = session.result("resources/list", json!({}));
        let uris: Vec<&str> = listed["resources"]
            .as_array()
            .unwrap()
            .iter()
            .map(|resource| resource["uri"].as_str().unwrap())
            .collect();
        assert!(uris.contains(&"os://agents/own.md"), "{uris:?}");
        for uri in [
            "os://agents/own.md",
            "os://agents/own.md?format=raw",
            "os://agents/own.md?format=json",
        ] {
            let read = session
                .result("resources/read", json!({ "uri": uri }))
                .to_string();
            assert!(read.contains(&secret_of(tenant)), "{read}");
            assert!(!read.contains(&secret_of(other)), "{read}");
        }
        let file = session.call("fs_read_text", json!({ "path": "/workspace/own.txt" }));
        assert!(file.to_string().contains(&secret_of(tenant)), "{file}");
    }
}

#[test]
fn no_uri_and_no_path_leads_to_another_tenant() {
    let (house, server) = shared();
    let real = house.path("beta/os/agents/own.md");
    let real = real.to_str().unwrap();
    let mut session = session(&server, "alpha", "caller");
    for uri in [
        "os://../../beta/os/agents/own.md",
        "os://..%2f..%2fbeta/os/agents/own.md",
        "os:////beta/os/agents/own.md",
        &format!("os://{real}"),
        &format!("file://{real}"),
        &format!("os://{real}?format=raw"),
    ] {
        let answer = session.request("resources/read", json!({ "uri": uri }));
        assert!(
            !answer.to_string().contains(&secret_of("beta")),
            "{uri}: {answer}"
        );
    }
    for path in [
        "/os/../../beta/os/agents/own.md",
        "/workspace/../../beta/work/own.txt",
        real,
    ] {
        let answer = session.call("fs_read_text", json!({ "path": path }));
        assert_eq!(answer["isError"], true, "{path}: {answer}");
        assert!(
            !answer.to_string().contains(&secret_of("beta")),
            "{path}: {answer}"
        );
    }
}

#[test]
fn a_skill_that_one_tenant_loaded_is_unknown_to_another() {
    let (_, server) = shared();
    let mut alpha = session(&server, "alpha", "caller");
    let mut document = foreign("only-alpha");
    document["id"] = "only-alpha".into();
    let loaded = alpha.call("skill_load", document);
    assert_eq!(loaded["isError"], false, "{loaded}");
    let mut beta = session(&server, "beta", "caller");
    assert!(
        !beta
            .call("skill_list", json!({}))
            .to_string()
            .contains("only-alpha")
    );
    let (shown, nothing) = (
        beta.call("skill_show", json!({ "skill": "only-alpha" })),
        beta.call("skill_show", json!({ "skill": "only-nobody" })),
    );
    let code = |answer: &Value| problem(answer)["code"].clone();
    assert_eq!(code(&shown), "unknown-skill");
    assert_eq!(code(&shown), code(&nothing));
}

#[test]
fn a_token_that_decides_is_offered_no_tool_that_runs() {
    let (_, server) = shared();
    let mut session = session(&server, "alpha", "approver");
    let tools = session.result("tools/list", json!({}));
    let tools: Vec<&str> = tools["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect();
    assert_eq!(tools, ["graph", "skill_list", "skill_show"]);
    let refused = session.error(
        "tools/call",
        json!({ "name": "hydrate", "arguments": { "uri": "os://agents/own.md" } }),
    );
    assert_eq!(refused["code"], -32602, "{refused}");
    let refused = session.error("resources/list", json!({}));
    assert_eq!(refused["data"]["code"], "operator-only", "{refused}");
}

#[test]
fn a_tenant_is_offered_the_skills_that_it_may_use_and_no_others() {
    let house = House::new();
    house.tenants(&[
        ("alpha", "skills = [\"fs.read_text\", \"content.hydrate\"]"),
        ("beta", ""),
    ]);
    let server = house.serve();
    let mut alpha = Session::begin(server.client("alpha", "caller"));
    let skills = |session: &mut Session| -> Vec<String> {
        let tools = session.result("tools/list", json!({}));
        let skills = tools["tools"].as_array().unwrap().iter();
        skills
            .filter_map(|tool| Some(tool["_meta"]["hydrant/skill"].as_str()?.to_owned()))
            .collect()
    };
    assert_eq!(skills(&mut alpha), ["fs.read_text"]);
    let denied = json!({ "name": "git_status", "arguments": {} });
    let nothing = json!({ "name": "git_stotus", "arguments": {} });
    let denied = alpha.error("tools/call", denied);
    let message = alpha.error("tools/call", nothing)["message"].to_string();
    assert_eq!(
        denied["message"].to_string(),
        message.replace("stotus", "status")
    );
    let mut beta = Session::begin(server.client("beta", "caller"));
    assert!(skills(&mut beta).len() > 8);
}

#[test]
fn tenants_run_no_processes() {
    let (house, server) = shared();
    let mut session = session(&server, "alpha", "caller");
    let ran = session.call("shell_exec_safe", json!({ "command": "true" }));
    assert_eq!(ran["isError"], true, "{ran}");
    house.write("alpha/os/tools/t.sh", "#!/bin/sh\necho ran > /tmp/ran\n");
    house.write(
        "alpha/os/agents/tool.md",
        "---\ntools: [../tools/t.sh]\n---\n",
    );
    let hydrated = session.call("hydrate", json!({ "uri": "os://agents/tool.md" }));
    let tool = &hydrated["structuredContent"]["metadata"]["dependencies"]["tools"][0];
    assert_eq!(
        tool["description"], "ERROR: EXECUTION_SKIPPED",
        "{hydrated}"
    );
}

#[test]
fn calls_are_counted_for_their_tenant() {
    let house = House::new();
    let server = house.serve();
    let mut alpha = Session::begin(server.client("alpha", "caller"));
    alpha.call("hydrate", json!({ "uri": "os://agents/own.md" }));
    alpha.call("fs_read_text", json!({ "path": "/os/nothing.md" }));
    alpha.result("prompts/list", json!({}));
    let count = |tenant: &str, operation: &str, outcome: &str| {
        metric(
            &server,
            &format!(
                "hydrant_calls_total{{tenant=\"{tenant}\",operation=\"{operation}\",outcome=\"{outcome}\"}}"
            ),
        )
    };
    assert_eq!(count("alpha", "hydrate", "done"), Some(1));
    assert_eq!(count("alpha", "run", "skill-failed"), Some(1));
    assert_eq!(count("alpha", "workflows", "done"), Some(1));
    assert_eq!(count("beta", "hydrate", "done"), None);
}

#[test]
fn one_rate_holds_for_all_that_a_tenant_asks() {
    let house = House::new();
    house.tenants(&[
        ("alpha", "rate = { per_second = 0.01, burst = 4 }"),
        ("beta", ""),
    ]);
    let server = house.serve();
    // The first of four.
    let mut alpha = Session::begin(server.client("alpha", "caller"));
    alpha.result("tools/list", json!({}));
    alpha.result("resources/templates/list", json!({}));
    let hydrated = alpha.call("hydrate", json!({ "uri": "os://agents/own.md" }));
    assert_eq!(hydrated["isError"], false, "{hydrated}");
    let hydrated = alpha.call("hydrate", json!({ "uri": "os://agents/own.md" }));
    let problem = problem(&hydrated);
    assert_eq!(problem["code"], "limit", "{hydrated}");
    assert!(problem["retry_after"].as_u64().unwrap() > 0, "{hydrated}");
    let refused = alpha.error("tools/list", json!({}));
    assert_eq!(refused["data"]["code"], "limit", "{refused}");
    let mut beta = Session::begin(server.client("beta", "caller"));
    beta.result("tools/list", json!({}));
}
