//! Who may ask at all, and what a role may ask for.

use serde_json::json;

use crate::client::Client;
use crate::house::{House, MONITOR, shared, token};

#[test]
fn without_a_known_token_nothing_is_answered_and_every_wrong_token_is_answered_alike() {
    let (_, server) = shared();
    let right = token("alpha", "caller");
    let without = server.with_token(None).get("/v1/skills");
    assert_eq!(without.code(), "unauthenticated");
    assert_eq!(without.status, 401);
    assert_eq!(without.header("www-authenticate"), Some("Bearer"));
    let shorter = &right[..right.len() - 1];
    let longer = format!("{right}0");
    let upper = right.to_uppercase();
    let digest = hydrant::serve::tenants::token_digest(&right).to_string();
    let long = "x".repeat(5000);
    for wrong in ["", "x", shorter, &longer, &upper, &digest, &long, MONITOR] {
        let refused = server.with_token(Some(wrong)).get("/v1/skills");
        assert_eq!(refused.json(), without.json(), "{wrong}");
        assert_eq!(refused.status, 401);
    }
}

#[test]
fn a_token_counts_in_its_header_alone() {
    let (_, server) = shared();
    let right = token("alpha", "caller");
    let client = server.with_token(None);
    let in_query = client.get(&format!("/v1/skills?access_token={right}"));
    assert_eq!(in_query.status, 401);
    for header in [
        ("authorization", format!("Basic {right}")),
        ("authorization", right.clone()),
        ("cookie", format!("token={right}")),
        ("x-api-key", right.clone()),
    ] {
        let refused = client.send("GET", "/v1/skills", &[(header.0, &header.1)], None);
        assert_eq!(refused.status, 401, "{header:?}");
    }
    let lower = client.send(
        "GET",
        "/v1/skills",
        &[("authorization", &format!("bearer {right}"))],
        None,
    );
    assert_eq!(lower.status, 200);
}

#[test]
fn health_and_the_document_need_no_token_and_everything_else_does() {
    let (_, server) = shared();
    let anybody = server.with_token(None);
    for open in ["/healthz", "/readyz", "/openapi.json"] {
        assert_eq!(anybody.get(open).status, 200, "{open}");
    }
    let document = anybody.get("/openapi.json").ok();
    for (path, methods) in document["paths"].as_object().unwrap() {
        for (method, described) in methods.as_object().unwrap() {
            let open = described["security"] == json!([]);
            let path = path
                .replace("{id}", "x")
                .replace("{skill}", "x")
                .replace("{operation}", "x");
            let answer = anybody.send(&method.to_uppercase(), &path, &[], Some(b"{}"));
            assert_eq!(answer.status == 401, !open, "{method} {path}: {answer:?}");
        }
    }
}

#[test]
fn an_agent_decides_nothing_and_who_decides_runs_nothing() {
    let (_, server) = shared();
    let caller = server.client("alpha", "caller");
    let approver = server.client("alpha", "approver");
    let refused = |client: &Client, method: &str, path: &str| {
        let answer = client.send(
            method,
            path,
            &[],
            Some(b"{\"uri\":\"os://x.md\",\"prompt\":\"x\",\"command\":\"x\"}"),
        );
        // Bodies are read after the role is known, or are no reason to do it.
        assert!(
            answer.status == 403 && answer.code() == "operator-only" || answer.status == 400,
            "{method} {path}: {answer:?}"
        );
        answer.status
    };
    assert_eq!(refused(&caller, "GET", "/v1/approvals"), 403);
    assert_eq!(refused(&caller, "GET", "/v1/approvals/ap-1"), 403);
    assert_eq!(refused(&caller, "GET", "/v1/chain"), 403);
    for decision in ["approve", "deny", "revoke"] {
        let path = format!("/v1/approvals/ap-1/{decision}");
        let answer = caller.send("POST", &path, &[], Some(b"{}"));
        assert_eq!(answer.code(), "operator-only", "{decision}");
        assert_eq!(answer.status, 403);
    }
    assert_eq!(refused(&caller, "DELETE", "/v1/capabilities/x"), 403);
    assert_eq!(refused(&approver, "DELETE", "/v1/capabilities/x"), 403);
    assert_eq!(
        approver.hydrate("os://agents/own.md").code(),
        "operator-only"
    );
    assert_eq!(
        approver
            .post("/v1/skills/json.validate/run", &json!({}))
            .code(),
        "operator-only"
    );
    assert_eq!(
        approver.post("/v1/map", &json!({"command": "ls"})).code(),
        "operator-only"
    );
    let operator = server.client("alpha", "operator");
    assert_eq!(operator.hydrate("os://agents/own.md").status, 200);
    assert_eq!(operator.get("/v1/approvals").status, 200);
}

#[test]
fn metrics_are_for_their_own_token_alone() {
    let (_, server) = shared();
    server
        .client("alpha", "caller")
        .hydrate("os://agents/own.md")
        .ok();
    for role in ["caller", "approver", "operator"] {
        assert_eq!(server.client("alpha", role).get("/metrics").status, 401);
    }
    let metrics = server.with_token(Some(MONITOR)).get("/metrics");
    assert_eq!(metrics.status, 200);
    let text = metrics.text();
    assert!(
        text.contains(
            "hydrant_calls_total{tenant=\"alpha\",operation=\"hydrate\",outcome=\"done\"}"
        ),
        "{text}"
    );
    assert!(text.ends_with("# EOF\n"));
}

#[test]
fn a_page_of_another_site_asks_nothing() {
    let (_, server) = shared();
    let client = server.client("alpha", "caller");
    let own = format!("http://{}", server.address);
    assert_eq!(
        client
            .send("GET", "/v1/skills", &[("origin", &own)], None)
            .status,
        200
    );
    for origin in ["http://evil.example", "null", "http://127.0.0.1:1"] {
        let refused = client.send("GET", "/v1/skills", &[("origin", origin)], None);
        assert_eq!(refused.code(), "foreign-origin", "{origin}");
    }
}

#[test]
fn no_log_and_no_file_holds_a_token() {
    let house = House::new();
    let server = house.serve();
    let client = server.client("alpha", "caller");
    client.hydrate("os://agents/own.md").ok();
    client
        .post("/v1/skills/json.validate/run", &json!({}))
        .status
        .to_string();
    server
        .with_token(Some("hyd_wrong_token_0123456789"))
        .get("/v1/skills");
    let mut seen = server.log();
    for entry in walk(&house.path("states")) {
        seen += &String::from_utf8_lossy(&std::fs::read(entry).unwrap());
    }
    for token in [token("alpha", "caller"), "hyd_wrong_token".to_owned()] {
        assert!(!seen.contains(&token), "{token}");
    }
}

/// Every file below a directory.
pub(crate) fn walk(directory: &std::path::Path) -> Vec<std::path::PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(walk(&path));
        } else if path.is_file() {
            files.push(path);
        }
    }
    files
}
