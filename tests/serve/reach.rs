//! What foreign skills of a tenant reach: no further than the policies, whoever approved it; and whose budget it is.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use serde_json::json;

use crate::client::Answer;
use crate::house::{House, Server};

/// A service that foreign skills call.
struct Called {
    pair: String,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Called {
    /// Answers `/v1/away` with a redirect to `/v2/look`, and everything else with a text.
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let pair = listener.local_addr().unwrap().to_string();
        let requests: Arc<Mutex<Vec<String>>> = Arc::default();
        let kept = Arc::clone(&requests);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let mut head = Vec::new();
                let mut byte = [0_u8];
                while !head.ends_with(b"\r\n\r\n") && stream.read(&mut byte).is_ok_and(|n| n > 0) {
                    head.push(byte[0]);
                }
                let head = String::from_utf8_lossy(&head).into_owned();
                let line = head.lines().next().unwrap_or_default().to_owned();
                let answer = if line.contains("/v1/away") {
                    "HTTP/1.1 302 Found\r\nlocation: /v2/look\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
                } else {
                    "HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 5\r\nconnection: close\r\n\r\nfound"
                };
                kept.lock().unwrap().push(line);
                let _ = stream.write_all(answer.as_bytes());
            }
        });
        Self { pair, requests }
    }

    fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }

    /// A policy whose rules for the network are these.
    fn policy(&self, house: &House, name: &str, prefixes: &[&str]) {
        let urls = prefixes
            .iter()
            .map(|prefix| format!("\"http://{}{prefix}\"", self.pair));
        let urls: Vec<String> = urls.collect();
        let rules = urls
            .iter()
            .map(|url| format!("{{url: {url}, methods: [GET]}}"));
        let rules: Vec<String> = rules.collect();
        house.write(
            name,
            &format!(
                "version: 1\ntrusted_signers: [hydrant.build, hydrant.release]\ncapability_ceiling:\n  \
                 fs: {{read: [/os, /workspace]}}\n  net: [{}]\nhost:\n  mounts:\n    \
                 - {{at: /os, dir: \"@cli\", mode: ro}}\n    - {{at: /workspace, dir: \"@cli\", mode: ro}}\n  \
                 net: [{}]\n  tools: describe\n",
                urls.join(", "),
                rules.join(", ")
            ),
        );
    }

    /// Loads a skill with one operation at this path, has it approved, and executes it.
    fn execute(&self, server: &Server, tenant: &str, path: &str) -> Answer {
        let operator = server.client(tenant, "operator");
        let name = format!("look{}", NUMBER.fetch_add(1, Ordering::Relaxed));
        let text = format!(
            "skill:\n  name: {name}\n  version: \"1.0.0\"\n  description: A skill.\n  operations:\n    \
             - name: look\n      description: Looks something up.\n      \
             endpoint: http://{}{path}\n      method: GET\n",
            self.pair
        );
        let loaded = operator.post("/v1/capabilities", &json!({ "text": text }));
        if loaded.status >= 400 {
            return loaded;
        }
        let execute = || operator.post(&format!("/v1/capabilities/{name}/look"), &json!({}));
        let asked = execute();
        if asked.code() != "approval-required" {
            return asked;
        }
        approve(server, tenant, &asked);
        execute()
    }
}

static NUMBER: AtomicUsize = AtomicUsize::new(0);

fn approve(server: &Server, tenant: &str, asked: &Answer) {
    let id = asked.json()["approval-id"].as_str().unwrap().to_owned();
    server
        .client(tenant, "operator")
        .post(
            &format!("/v1/approvals/{id}/approve"),
            &json!({ "scope": "until-changed" }),
        )
        .ok();
}

#[test]
fn what_a_tenant_approves_for_itself_reaches_no_further_than_the_policies() {
    let called = Called::start();
    let pair = &called.pair;
    let house = House::new().governed(&format!(
        "allow_private = [\"{pair}\"]\nsource_hosts = [\"{pair}\"]"
    ));
    called.policy(&house, "server.yaml", &["/v1/"]);
    called.policy(&house, "narrow.yaml", &["/v1/other"]);
    let private = format!("allow_private = [\"{pair}\"]");
    house.tenants(&[
        ("alpha", &format!("{private}\npolicy = \"narrow.yaml\"")),
        ("beta", &private),
        ("gamma", ""),
    ]);
    let server = house.serve_with(&["--policy", "server.yaml"]);

    let refused = called.execute(&server, "alpha", "/v1/look");
    assert_eq!(refused.code(), "host-denied", "{}", refused.text());
    let said = refused.text();
    assert!(
        said.contains(pair) && said.contains("narrow.yaml"),
        "{said}"
    );
    let refused = called.execute(&server, "beta", "/v2/look");
    assert_eq!(refused.code(), "host-denied", "{}", refused.text());
    let said = refused.text();
    assert!(
        said.contains(pair) && said.contains("server.yaml"),
        "{said}"
    );
    let own = house.path("").display().to_string();
    assert!(!said.contains(&own), "{said}");
    let refused = server.client("alpha", "operator").post(
        "/v1/capabilities",
        &json!({ "source": format!("http://{pair}/v1/skill.yaml") }),
    );
    assert_eq!(refused.code(), "host-denied", "{}", refused.text());
    // What the server lets nobody reach who does not name it himself.
    let refused = called.execute(&server, "gamma", "/v1/look");
    assert_eq!(refused.code(), "plain-http-denied", "{}", refused.text());
    assert_eq!(called.requests(), Vec::<String>::new());

    let executed = called.execute(&server, "beta", "/v1/look").ok();
    assert_eq!(executed["status"], "ok", "{executed}");
    assert_eq!(called.requests(), ["GET /v1/look HTTP/1.1"]);
}

#[test]
fn a_redirect_leads_nowhere_else_than_the_policies() {
    let called = Called::start();
    let pair = &called.pair;
    let private = format!("allow_private = [\"{pair}\"]");
    let house = House::new().governed(&private);
    called.policy(&house, "server.yaml", &["/v1/"]);
    house.tenants(&[("alpha", &private)]);
    let server = house.serve_with(&["--policy", "server.yaml"]);
    // A document's endpoint follows none; a command that asks for it does.
    let operator = server.client("alpha", "operator");
    let text = format!(
        "---\nname: away\ndescription: Goes away.\n---\n# Away\n\n## Go\n\n```bash\ncurl -L http://{pair}/v1/away\n```\n"
    );
    operator
        .post("/v1/capabilities", &json!({ "text": text }))
        .ok();
    let execute = || operator.post("/v1/capabilities/away/go", &json!({}));
    let asked = execute();
    assert_eq!(asked.code(), "approval-required", "{}", asked.text());
    approve(&server, "alpha", &asked);
    let refused = execute();
    assert_eq!(refused.code(), "redirect-denied", "{}", refused.text());
    assert_eq!(called.requests(), ["GET /v1/away HTTP/1.1"]);
}

#[test]
fn no_call_leaves_the_budget_of_its_token_behind() {
    let called = Called::start();
    let pair = &called.pair;
    let private = format!("allow_private = [\"{pair}\"]");
    let house = House::new().governed(&format!("{private}\n[govern.budgets]\nsteps = 2"));
    called.policy(&house, "server.yaml", &["/"]);
    house.tenants(&[("alpha", &private)]);
    let server = house.serve_with(&["--policy", "server.yaml"]);
    let first = called.execute(&server, "alpha", "/one").ok();
    assert_eq!(first["status"], "ok", "{first}");
    let second = called.execute(&server, "alpha", "/two").ok();
    assert_eq!(second["status"], "ok", "{second}");
    let third = called.execute(&server, "alpha", "/three");
    assert_eq!(third.code(), "budget-exhausted", "{}", third.text());
    assert_eq!(called.requests().len(), 2);
}

#[test]
fn resources_are_read_by_skills_that_the_tenant_may_use() {
    let house = House::new();
    house.tenants(&[
        ("alpha", "skills = [\"content.hydrate\"]"),
        ("beta", "skills = [\"fs.read_tree\", \"fs.read_text\"]"),
    ]);
    let server = house.serve();
    let listed = |tenant: &str| {
        let listed = server.client(tenant, "caller").get("/v1/resources").ok();
        listed["resources"].as_array().unwrap().len()
    };
    assert_eq!(listed("alpha"), 0);
    assert!(listed("beta") > 0);
}

#[test]
fn numbers_reach_a_service_as_they_were_written() {
    let called = Called::start();
    let pair = &called.pair;
    let private = format!("allow_private = [\"{pair}\"]");
    let house = House::new().governed(&private);
    called.policy(&house, "server.yaml", &["/v1/"]);
    house.tenants(&[("alpha", &private)]);
    let server = house.serve_with(&["--policy", "server.yaml"]);
    let operator = server.client("alpha", "operator");
    let text = format!(
        "name: bank\ndescription: A bank.\noperations:\n  look:\n    description: Looks.\n    endpoint: \
         http://{pair}/v1/{{id}}\n    method: GET\n    input_schema: {{type: object, properties: {{id: {{type: integer}}}}}}\n"
    );
    operator
        .post("/v1/capabilities", &json!({ "text": text }))
        .ok();
    let post = |path: &str, headers: &[(&str, &str)], body: &str| {
        operator.send("POST", path, headers, Some(body.as_bytes()))
    };
    let execute = |params: &str| post("/v1/capabilities/bank/look", &[], params);
    let params = |end: u8| format!("{{\"id\":1234567890123456789012345678{end}}}");
    approve(&server, "alpha", &execute(&params(8)));
    execute(&params(8)).ok();
    let twice = r#"{"id":1,"id":2}"#;
    assert_eq!(execute(twice).status, 400);

    let accept = ("accept", "application/json, text/event-stream");
    let initialize = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "test", "version": "1" } } });
    let begun = post("/mcp", &[accept], &initialize.to_string());
    let session = ("mcp-session-id", begun.header("mcp-session-id").unwrap());
    let ready = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    post("/mcp", &[accept, session], ready);
    let call = |params: &str| {
        let call = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"skill_execute","arguments":{{"skill":"bank","operation":"look","params":{params}}}}}}}"#
        );
        post("/mcp", &[accept, session], &call).text()
    };
    call(&params(9));
    let refused = call(twice);
    assert!(refused.contains("stands twice"), "{refused}");
    assert_eq!(
        called.requests(),
        [8, 9].map(|end| format!("GET /v1/1234567890123456789012345678{end} HTTP/1.1"))
    );
}
