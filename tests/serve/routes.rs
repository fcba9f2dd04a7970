//! Each route answers what it is for.

use serde_json::json;

use crate::house::{foreign, pending, secret_of, shared, token};

#[test]
fn a_hydration_is_the_document_in_each_of_its_forms() {
    let (_, server) = shared();
    let client = server.client("alpha", "caller");
    let plain = client.hydrate("os://agents/own.md");
    assert_eq!(plain.header("content-type"), Some("application/json"));
    assert_eq!(plain.header("cache-control"), Some("no-store"));
    assert!(
        plain.ok().to_string().contains("One skill"),
        "{}",
        plain.text()
    );
    let link = client.post(
        "/v1/hydrate",
        &json!({"uri": "agents/own.md", "format": "link"}),
    );
    assert_eq!(
        link.header("content-type"),
        Some("text/markdown; charset=utf-8")
    );
    assert!(link.text().starts_with("---\n"), "{}", link.text());
    let summed = client.post(
        "/v1/hydrate",
        &json!({"uri": "os://agents/own.md", "checksums": true, "depth": 2}),
    );
    assert!(summed.text().contains("sha256"), "{}", summed.text());
}

#[test]
fn what_is_no_request_is_a_problem_that_says_why() {
    let (_, server) = shared();
    let client = server.client("alpha", "caller");
    let bodies: [&[u8]; 6] = [
        b"",
        b"{",
        b"[]",
        b"{\"uri\":\"\"}",
        b"{\"uri\":\"os://a.md\",\"depth\":17}",
        b"{\"uri\":\"os://a.md\",\"no_exec\":false}",
    ];
    for body in bodies {
        let refused = client.send("POST", "/v1/hydrate", &[], Some(body));
        assert_eq!(refused.status, 400, "{refused:?}");
        assert_eq!(refused.code(), "invalid-request");
    }
    let typed = client.send(
        "POST",
        "/v1/hydrate",
        &[("content-type", "text/plain"), ("content-length", "2")],
        None,
    );
    assert_eq!(typed.code(), "unsupported-media-type");
    assert_eq!(client.get("/v1/nothing").code(), "unknown-route");
    assert_eq!(client.get("/v1/hydrate").code(), "method-not-allowed");
    assert_eq!(
        client.get("/v1/receipts?limit=many").code(),
        "invalid-request"
    );
    assert_eq!(
        client.get("/v1/receipts?unknown=1").code(),
        "invalid-request"
    );
}

#[test]
fn a_run_answers_the_response_and_leaves_a_receipt() {
    let (_, server) = shared();
    let client = server.client("alpha", "caller");
    let request = json!({"schema": {"type": "integer"}, "instance": 7});
    let described = client.get("/v1/skills/json.validate").ok();
    assert_eq!(described["id"], "json.validate");
    assert!(described["input_schema"].is_object());
    let ran = client.post(
        "/v1/skills/fs.read_text/run",
        &json!({"path": "/workspace/own.txt"}),
    );
    assert_eq!(ran.ok()["text"], secret_of("alpha"), "{request}");
    let id = ran.header("hydrant-receipt").unwrap();
    let receipt = client.get(&format!("/v1/receipts/{id}")).ok();
    assert!(receipt["receipt_hash"].is_string(), "{receipt}");
    let listed = client.get("/v1/receipts?limit=1000").ok();
    let ids: Vec<_> = listed["receipts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["id"].as_str().unwrap())
        .collect();
    assert!(ids.contains(&id), "{listed}");
    let mut sorted = ids.clone();
    sorted.sort_unstable_by(|one, other| other.cmp(one));
    assert_eq!(ids, sorted, "newest first");
    let version = described["version"].as_str().unwrap();
    let path = format!("/v1/skills/fs.read_text/run?version={version}");
    let other = client.post(&path, &json!({"path": "/workspace/own.txt"}));
    assert_eq!(other.status, 200, "{}", other.text());
    let path = "/v1/skills/fs.read_text/run?version=99.0.0";
    assert_eq!(client.post(path, &json!({})).code(), "unknown-skill");
}

#[test]
fn a_skill_that_fails_says_so_in_its_own_code() {
    let (_, server) = shared();
    let client = server.client("alpha", "caller");
    let missing = client.post(
        "/v1/skills/fs.read_text/run",
        &json!({"path": "/workspace/none"}),
    );
    assert_eq!(
        (missing.status, missing.code().as_str()),
        (422, "not_found")
    );
    let denied = client.post(
        "/v1/skills/fs.read_text/run",
        &json!({"path": "/etc/passwd"}),
    );
    assert_eq!(denied.status, 422, "{}", denied.text());
    let unknown = client.post("/v1/skills/no.such/run", &json!({}));
    assert_eq!(
        (unknown.status, unknown.code().as_str()),
        (404, "unknown-skill")
    );
}

#[test]
fn skills_are_listed_with_what_they_may_do() {
    let (_, server) = shared();
    for role in ["caller", "approver", "operator"] {
        let listed = server.client("alpha", role).get("/v1/skills").ok();
        let skills = listed["skills"].as_array().unwrap();
        assert!(skills.len() > 10);
        assert!(skills.iter().all(|skill| skill["capabilities"].is_array()));
    }
}

#[test]
fn a_plan_names_a_workflow_of_the_catalogue() {
    let (_, server) = shared();
    let client = server.client("alpha", "caller");
    let plan = client
        .post(
            "/v1/plan",
            &json!({"prompt": "fix the failing test in parser.py"}),
        )
        .ok();
    let workflows = client.get("/v1/workflows").ok();
    let ids: Vec<_> = workflows["workflows"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["id"].clone())
        .collect();
    assert!(ids.contains(&plan["workflow"]), "{plan} {workflows}");
    let forced = client.post(
        "/v1/plan",
        &json!({"prompt": "fix it", "workflow": ids[0], "format": "markdown",
                "turns": [{"role": "user", "text": "the parser is broken"}]}),
    );
    assert_eq!(forced.status, 200, "{}", forced.text());
    assert_eq!(
        forced.header("content-type"),
        Some("text/markdown; charset=utf-8")
    );
}

#[test]
fn a_graph_is_drawn_in_each_of_its_forms() {
    let (_, server) = shared();
    let client = server.client("alpha", "caller");
    for (format, begins, media) in [
        ("json", "{", "application/json"),
        ("mermaid", "", "text/vnd.mermaid"),
        ("dot", "", "text/vnd.graphviz"),
        ("svg", "<", "image/svg+xml"),
    ] {
        let path = format!("/v1/graph?uri=os://agents/own.md&format={format}&depth=2");
        let drawn = client.get(&path);
        assert_eq!(drawn.status, 200, "{}", drawn.text());
        assert_eq!(drawn.header("content-type"), Some(media));
        assert!(
            drawn.text().starts_with(begins) && drawn.text().contains("one.md"),
            "{}",
            drawn.text()
        );
    }
    assert_eq!(client.get("/v1/graph").code(), "invalid-request");
    assert_eq!(
        client.get("/v1/graph?uri=x&format=png").code(),
        "invalid-request"
    );
}

#[test]
fn resources_are_the_documents_of_the_tenant() {
    let (_, server) = shared();
    let listed = server.client("alpha", "caller").get("/v1/resources").ok();
    let uris: Vec<_> = listed["resources"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["uri"].clone())
        .collect();
    assert_eq!(
        uris,
        ["os://agents/own.md", "os://skills/one.md"],
        "{listed}"
    );
    let page = server
        .client("alpha", "caller")
        .get("/v1/resources?limit=1")
        .ok();
    assert_eq!(page["cursor"], "agents/own.md");
}

#[test]
fn a_foreign_skill_is_loaded_shown_approved_revoked_and_removed() {
    let (_, server) = shared();
    let caller = server.client("alpha", "caller");
    let approver = server.client("alpha", "approver");
    let id = pending(&server, "alpha", "lifecycle");
    let shown = approver.get(&format!("/v1/approvals/{id}")).ok();
    assert!(shown.to_string().contains("books.example.org"), "{shown}");
    let refused = caller.post("/v1/capabilities/lifecycle/look", &json!({}));
    assert_eq!(
        (refused.status, refused.code().as_str()),
        (403, "approval-required")
    );
    assert_eq!(refused.json()["approval-id"], id.as_str());
    let approved = approver
        .post(
            &format!("/v1/approvals/{id}/approve"),
            &json!({"scope": "until-changed", "ttl": "1h"}),
        )
        .ok();
    assert_eq!(approved["status"], "approved", "{approved}");
    let by = approved["by"].as_str().unwrap();
    assert!(by.starts_with("token sha256:"), "{by}");
    let unknown = "/v1/approvals/ap-00000000000000000000000000000000";
    let missing = approver.get(unknown);
    assert_eq!(
        (missing.status, missing.code().as_str()),
        (404, "unknown-approval")
    );
    let revoked = approver
        .post(
            &format!("/v1/approvals/{id}/revoke"),
            &json!({"reason": "a test"}),
        )
        .ok();
    assert_eq!(revoked["status"], "revoked");
    let refused = caller.post("/v1/capabilities/lifecycle/look", &json!({}));
    assert_eq!(refused.code(), "approval-revoked");
    let other = pending(&server, "alpha", "denied-one");
    let denied = approver
        .post(&format!("/v1/approvals/{other}/deny"), &json!({}))
        .ok();
    assert_eq!(denied["status"], "denied");
    assert_eq!(caller.get("/v1/capabilities/lifecycle").status, 200);
    assert!(caller.get("/v1/capabilities").text().contains("lifecycle"));
    let removed = server
        .client("alpha", "operator")
        .delete("/v1/capabilities/lifecycle");
    assert_eq!(removed.status, 200, "{}", removed.text());
    assert_eq!(
        caller.get("/v1/capabilities/lifecycle").code(),
        "unknown-skill"
    );
    let mapped = caller
        .post(
            "/v1/map",
            &json!({"command": "curl https://api.example.com"}),
        )
        .ok();
    assert!(mapped.to_string().contains("http-fetch"), "{mapped}");
    let chain = approver.get("/v1/chain?limit=1000&verify=true").ok();
    assert_eq!(chain["verified"], true, "{}", chain["report"]);
    assert!(chain["entries"].as_array().unwrap().len() > 3);
    let page = approver.get("/v1/chain?limit=1").ok();
    let cursor = page["cursor"].as_str().unwrap();
    let next = approver
        .get(&format!("/v1/chain?limit=1&cursor={cursor}"))
        .ok();
    assert_ne!(page["entries"][0]["seq"], next["entries"][0]["seq"]);
    // What takes long is done for who asks for it.
    assert!(page["verified"].is_null() && page["report"].is_null());
}

#[test]
fn a_load_names_a_source_or_brings_its_text_and_no_file_of_the_server() {
    let (_, server) = shared();
    let caller = server.client("alpha", "caller");
    for body in [
        json!({}),
        json!({"source": "https://x.example/skill.md", "text": "x"}),
    ] {
        assert_eq!(
            caller.post("/v1/capabilities", &body).code(),
            "invalid-request"
        );
    }
    for source in [
        "file:///etc/passwd",
        "/etc/passwd",
        "./tenants.toml",
        "tenants.toml",
    ] {
        let refused = caller.post(
            "/v1/capabilities",
            &json!({"source": source, "force": true}),
        );
        assert!(matches!(refused.status, 403 | 422), "{source}: {refused:?}");
        assert!(!refused.text().contains("root:"));
    }
    let mut wrong = foreign("digested");
    wrong["expect_digest"] = format!("sha256:{}", "0".repeat(64)).into();
    assert_eq!(
        caller.post("/v1/capabilities", &wrong).code(),
        "digest-mismatch"
    );
}

#[test]
fn changes_are_told_as_they_happen() {
    use std::io::Read;
    let (_, server) = shared();
    let approver = server.client("beta", "approver");
    let mut stream = approver.begin("GET", "/v1/events", &[], None);
    let mut seen = String::new();
    let mut chunk = [0_u8; 4096];
    while !seen.contains("retry: 1000") {
        let amount = stream.read(&mut chunk).unwrap();
        seen += &String::from_utf8_lossy(&chunk[..amount]);
    }
    assert!(seen.contains("text/event-stream"), "{seen}");
    let id = pending(&server, "beta", "watched");
    approver
        .post(&format!("/v1/approvals/{id}/deny"), &json!({}))
        .ok();
    while !seen.contains("approval-decided") {
        let amount = stream.read(&mut chunk).unwrap();
        assert!(amount > 0, "{seen}");
        seen += &String::from_utf8_lossy(&chunk[..amount]);
    }
    assert!(seen.contains(&id), "{seen}");
    assert!(seen.contains("event: capabilities"), "{seen}");
}

#[test]
fn tools_start_no_process_for_a_tenant() {
    let house = crate::house::House::new();
    house.write(
        "alpha/os/agents/tooled.md",
        "---\nname: Tooled\ndescription: Has a tool\ntools:\n  - ../tools/run.sh\n---\nText.\n",
    );
    house.write(
        "alpha/os/tools/run.sh",
        "#!/bin/sh\ntouch /tmp/hydrant-must-not-run\necho ran\n",
    );
    let server = house.serve();
    let hydrated = server
        .client("alpha", "caller")
        .hydrate("os://agents/tooled.md");
    assert!(
        hydrated.text().contains("ERROR: EXECUTION_SKIPPED"),
        "{}",
        hydrated.text()
    );
    let run = server
        .client("alpha", "caller")
        .post("/v1/skills/git.status/run", &json!({}));
    assert_ne!(run.status, 200, "{}", run.text());
    assert!(token("alpha", "caller").starts_with("hyd_"));
}
