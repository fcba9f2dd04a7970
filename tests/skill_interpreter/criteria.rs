//! The success criteria as black-box checks.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::house::{House, capability, code, list, string};
use crate::program::Run;
use crate::recorder::{Recorder, Reply};

#[test]
fn four_formats_of_one_api_give_the_same_request() {
    let server = Recorder::new(|request| {
        let document = |media, text: &str| {
            Reply::typed(media, text.replace("HOST", request.header("host").unwrap()))
        };
        match request.target.as_str() {
            "/skill.md" => document("text/markdown", MARKDOWN),
            "/skill.yaml" => document("text/yaml", YAML),
            "/skill.json" => document("application/json", JSON),
            "/api.json" => document("application/json", OPENAPI),
            _ => Reply::json(&json!({"ok": true})),
        }
    });
    let mut seen = Vec::new();
    for (address, format) in [
        ("/skill.md", "markdown"),
        ("/skill.yaml", "yaml"),
        ("/skill.json", "json"),
        ("/api.json", "openapi"),
    ] {
        let house = House::beside(&[&server]);
        let loaded = house.ok(&["skill", "load", &server.url(address), "--as", "library"]);
        assert_eq!(loaded["format"], format);
        let secret = list(&house.ok(&["skill", "show", "library"])["secrets"]);
        for name in secret {
            house.secret(&string(&name), "library", "l-77889900aabb");
        }
        house.approve_all();
        let mut params = json!({"title": "Emma", "year": 1815});
        if format == "openapi" {
            params = json!({"body": params});
        }
        let operation = string(&loaded["capabilities"][0]["id"]);
        let result = house.execute("library", &operation, &params);
        assert_eq!(
            result["output"]["json"],
            json!({"ok": true}),
            "{format}: {result}"
        );
        let request = server.last();
        let type_ = request.header("content-type").map(str::to_owned);
        let key = request.header("authorization").map(str::to_owned);
        seen.push((
            request.method.clone(),
            request.target.clone(),
            type_,
            key,
            request.json(),
        ));
    }
    assert_eq!(seen[0].3.as_deref(), Some("Bearer l-77889900aabb"));
    for one in &seen {
        assert_eq!(one, &seen[0]);
    }
}

const MARKDOWN: &str = "# Library\n\n## Add\n\n```bash\ncurl -X POST http://HOST/v2/items -H \"Authorization: Bearer \
    $LIBRARY_TOKEN\" -H 'Content-Type: application/json' -d '{\"title\": \"Emma\", \"year\": 1815}'\n```\n";
const YAML: &str = "name: library\noperations:\n- name: add\n  method: POST\n  endpoint: http://HOST/v2/items\n  auth: {type: \
    bearer, env_var: LIBRARY_TOKEN}\n  input: {title: string, year: integer}\n";
const JSON: &str = r#"{"name":"library","operations":[{"name":"add","method":"POST","endpoint":"http://HOST/v2/items",
    "auth":{"type":"bearer","env_var":"LIBRARY_TOKEN"},"input":{"title":"string","year":"integer"}}]}"#;
const OPENAPI: &str = r#"{"openapi":"3.0.3","info":{"title":"Library","version":"1"},"servers":[{"url":"http://HOST/v2"}],
    "components":{"securitySchemes":{"token":{"type":"http","scheme":"bearer"}}},"security":[{"token":[]}],
    "paths":{"/items":{"post":{"operationId":"add","requestBody":{"required":true,"content":{"application/json":{"schema":
    {"type":"object","properties":{"title":{"type":"string"},"year":{"type":"integer"}}}}}},"responses":{"200":{"description":"ok"}}}}}}"#;

/// An operation `read` with a bearer, ready to be called.
fn ready(server: &Recorder) -> House {
    let house = House::beside_with(&[server], "jailed_clients = 'warn'\n");
    let text = format!(
        "name: one\noperations:\n- name: read\n  endpoint: {}\n  input: {{q: {{type: string, required: true}}}}\n  \
         auth: {{type: bearer, env_var: TOKEN}}\n- name: other\n  endpoint: {}\n",
        server.url("/read"),
        server.url("/other")
    );
    house.load("one.yaml", &text);
    house.secret("TOKEN", "one", "t-112233445566");
    house.approve_all();
    house
}

/// The call with this made wrong, over both frontends: this code, recorded, and nothing sent.
fn denied(make: impl Fn(&House, &Recorder), params: &Value, expected: &str) {
    let server = Recorder::content();
    let house = ready(&server);
    make(&house, &server);
    assert_eq!(code(&house.denied("one", "read", params)), expected);
    let answer = &house.syscall(&[("one.read", params.clone())])[0];
    assert_eq!(answer["payload"]["code"], expected, "{answer}");
    assert_eq!(server.requests(), [], "{expected}");
    let records = house.events("capability-denied");
    let frontends: Vec<&Value> = records
        .iter()
        .filter(|record| record["code"] == expected)
        .map(|record| &record["client"]["frontend"])
        .collect();
    assert_eq!(frontends, [&json!("cli"), &json!("syscall")], "{records:?}");
    house.assert_whole_chain();
}

fn govern(house: &House, server: &Recorder, lines: &str) {
    house.govern(&format!("allow_private = ['{}']\n{lines}", server.pair()));
}

/// The steps fail in their order, and each denial is recorded.
#[test]
fn each_step_made_to_fail() {
    let good = json!({"q": "x"});
    denied(
        |house, _| drop(house.ok(&["skill", "unload", "one"])),
        &good,
        "capability-removed",
    );
    denied(
        |house, server| govern(house, server, "jailed_clients = 'all'\n"),
        &good,
        "client-not-jailed",
    );
    denied(|_, _| (), &json!({}), "missing-input");
    denied(|_, _| (), &json!({"q": 7, "z": 1}), "invalid-input");
    let revoke = |house: &House, _: &Recorder| {
        for one in list(&house.ok(&["approvals", "list", "--status", "approved"])) {
            house.ok(&["approvals", "revoke", &string(&one["id"])]);
        }
    };
    denied(revoke, &good, "approval-revoked");
    let hosts = "jailed_clients = 'warn'\ndeny_hosts = ['127.0.0.1']\n";
    denied(
        |house, server| govern(house, server, hosts),
        &good,
        "host-denied",
    );
    let budget = "jailed_clients = 'warn'\n[govern.budgets]\nsteps = 0\n";
    denied(
        |house, server| govern(house, server, budget),
        &good,
        "budget-exhausted",
    );
    let remove = |house: &House, _: &Recorder| {
        house.ok(&["secrets", "remove", "TOKEN", "--skill", "one"]);
    };
    denied(remove, &good, "secret-missing");
}

/// Where an answer may not be written is known before anything is sent.
#[test]
fn an_output_file_that_may_not_be_written_is_refused_before_the_request() {
    let server = Recorder::content();
    let house = House::beside(&[&server]);
    let command = |file: &str| format!("curl -X DELETE -o {file} {}", server.url("/items/7"));
    let text = format!(
        "name: one\noperations:\n- name: away\n  command: {}\n- name: up\n  command: {}\n- name: named\n  command: {}\n- name: \
         kept\n  command: {}\n",
        command("/var/never/zz.json"),
        command("../zz.json"),
        command("'$FILE'").replace('\'', ""),
        command("zz.json"),
    );
    house.load("one.yaml", &text);
    house.approve_all();
    for (operation, params) in [
        ("away", json!({})),
        ("up", json!({})),
        ("named", json!({"FILE": "../../x"})),
    ] {
        let error = house.denied("one", operation, &params);
        assert_eq!(code(&error), "path-not-allowed", "{operation}: {error}");
        assert!(string(&error["hint"]).contains("fs_write"), "{error}");
    }
    assert_eq!(server.requests(), []);
    assert_eq!(house.events("capability-denied").len(), 3);
    assert_eq!(house.events("capability-call").len(), 0);
    house.execute("one", "kept", &json!({}));
    assert_eq!(server.requests().len(), 1);
}

/// RFC 9110, 8.6; a server need not take chunks.
#[test]
fn a_request_without_a_body_announces_none() {
    let server = Recorder::content();
    let house = House::beside(&[&server]);
    for method in [
        "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PROPFIND", "GET",
    ] {
        let skill = method.to_lowercase();
        let text = format!(
            "name: {skill}\noperations:\n- name: fire\n  command: curl -X {method} {}\n",
            server.url("/fire")
        );
        house.load(&format!("{skill}.yaml"), &text);
        house.approve_all();
        house.execute(&skill, "fire", &json!({}));
        let request = server.last();
        assert_eq!(request.method, method);
        assert_eq!(request.header("transfer-encoding"), None, "{request:?}");
        let length = matches!(method, "POST" | "PUT" | "PATCH").then_some("0");
        assert_eq!(request.header("content-length"), length, "{request:?}");
    }
}

/// A text tool that runs in the jail is asked for before the request before it is sent.
#[test]
fn a_filter_that_needs_a_jail_is_refused_before_the_request() {
    let server = Recorder::content();
    let house = House::beside_with(&[&server], "landlock_min_abi = 99\n");
    for (name, filter, sent) in [
        ("sed", "sed s/a/b/", 0),
        ("awk", "awk '{print}'", 0),
        ("perl-grep", "grep -P a", 0),
        ("count", "wc -l", 1),
    ] {
        let text = format!(
            "name: {name}\noperations:\n- name: read\n  command: \"curl -s {} | {filter}\"\n",
            server.url("/read")
        );
        house.load(&format!("{name}.yaml"), &text);
        house.approve_all();
        if sent == 0 {
            let error = house.denied(name, "read", &json!({}));
            assert_eq!(code(&error), "jail-unavailable", "{name}: {error}");
        } else {
            house.execute(name, "read", &json!({}));
        }
        assert_eq!(server.requests().len(), sent, "{name}");
    }
    assert_eq!(house.events("capability-denied").len(), 3);
    house.assert_whole_chain();
}

/// The page that a filter cannot read says what is wrong.
#[test]
fn a_filter_that_fails_on_an_error_page_tells_its_status() {
    let server = Recorder::new(|_| Reply::typed("text/plain", "no such thing").with_status(404));
    let house = House::beside(&[&server]);
    let text = format!(
        "name: one\noperations:\n- name: read\n  command: curl {} | jq .a\n",
        server.url("/none")
    );
    house.load("one.yaml", &text);
    house.approve_all();
    let error = house.denied("one", "read", &json!({}));
    assert_eq!(code(&error), "json-filter");
    assert!(string(&error["message"]).contains("status 404"), "{error}");
}

#[test]
fn an_unusable_operation() {
    let server = Recorder::content();
    let house = House::beside(&[&server]);
    let text = format!(
        "name: one\noperations:\n- name: read\n  command: curl --proxy http://p.example {}\n- {{name: none, description: x}}\n",
        server.url("/read")
    );
    let loaded = house.load("one.yaml", &text);
    assert_eq!(capability(&loaded, "one.read")["status"], "unusable");
    assert_eq!(loaded["pending-approvals"], 0);
    assert_eq!(
        code(&house.denied("one", "read", &json!({}))),
        "curl-option-refused"
    );
    assert_eq!(code(&house.denied("one", "none", &json!({}))), "op-empty");
    assert_eq!(house.events("capability-denied").len(), 2);
}

#[test]
fn tier_1_starts_no_process() {
    let server = Recorder::content();
    let house = House::beside(&[&server]);
    // Whatever is started by its name leaves a mark.
    let mark = house.folder().argument("mark");
    for tool in [
        "sh", "bash", "curl", "jq", "head", "cat", "echo", "python3", "hydrant",
    ] {
        let path = format!("traps/{tool}");
        house
            .folder()
            .put(&path, format!("#!/bin/sh\necho {tool} >> {mark}\n"));
        let path = house.folder().path(&path);
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let text = format!(
        "name: one\noperations:\n- name: get\n  command: curl -s {} | jq .ok | head -1\n- name: say\n  command: echo hi\n",
        server.url("/get")
    );
    house.folder().put("one.yaml", text);
    let run = |arguments: &[&str]| {
        let mut command = house.folder().command(arguments);
        let run = Run::of(command.env("PATH", house.folder().argument("traps")));
        assert_eq!(run.status, 0, "{run:?}");
        run.json()
    };
    run(&["skill", "load", "one.yaml"]);
    run(&["map", "curl https://a.example.org/ && rm -rf /"]);
    house.approve_all();
    let result = run(&["skill", "execute", "one", "get"]);
    assert!(result["output"].to_string().contains("true"), "{result}");
    run(&["skill", "execute", "one", "say"]);
    assert!(
        !house.folder().exists("mark"),
        "{}",
        house.folder().text("mark")
    );
}

#[test]
fn from_a_result_to_its_source_and_every_byte_counts() {
    let server = Recorder::content();
    let house = ready(&server);
    let result = house.execute("one", "read", &json!({"q": "x"}));
    let of_it = list(&house.ok(&["audit", "show", "--capability", "one.read"])["records"]);
    let executed = of_it
        .iter()
        .find(|one| one["seq"] == result["chain-seq"])
        .unwrap();
    let loaded = of_it
        .iter()
        .find(|one| one["event"] == "skill-loaded")
        .unwrap();
    assert_eq!(executed["skill-digest"], loaded["skill-digest"]);
    assert_eq!(
        executed["derived-from"],
        house.folder().argument("one.yaml")
    );
    assert_eq!(executed["line"], 3);
    let approval = house.ok(&["approvals", "show", executed["approval"].as_str().unwrap()]);
    assert_eq!(approval["op-digest"], executed["op-digest"]);
    let call = of_it
        .iter()
        .find(|one| one["seq"] == executed["call-seq"])
        .unwrap();
    assert_eq!(call["event"], "capability-call");
    let segment = house.state().join("chain/000001.jsonl");
    let whole = fs::read(&segment).unwrap();
    for at in (0..whole.len()).step_by(whole.len() / 40) {
        let mut bytes = whole.clone();
        bytes[at] ^= 1;
        fs::write(&segment, &bytes).unwrap();
        let run = house.folder().run(&["audit", "verify"]);
        assert_eq!(run.status, 1, "byte {at}: {run:?}");
        let record = 1 + whole[..at].iter().filter(|byte| **byte == b'\n').count();
        assert_eq!(run.json()["first-bad-seq"], record, "byte {at}: {run:?}");
    }
    fs::write(&segment, whole).unwrap();
    house.assert_whole_chain();
}

#[test]
fn a_kill_during_a_call() {
    let server = Recorder::new(|_| Reply::json(&json!({})).after(Duration::from_secs(3)));
    let house = ready(&server);
    let mut child = house
        .folder()
        .command(&["skill", "execute", "one", "read", "{\"q\":\"x\"}"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let begin = Instant::now();
    while server.requests().is_empty() && begin.elapsed() < Duration::from_secs(10) {
        sleep(Duration::from_millis(5));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(server.requests().len(), 1);
    // The next start closes what was open.
    house.denied("one", "read", &json!({}));
    house.assert_whole_chain();
    let records = house.events("capability-executed");
    assert_eq!(records.len(), 1, "{records:?}");
    assert_eq!(
        (&records[0]["outcome"], &records[0]["code"]),
        (&json!("error"), &json!("interrupted"))
    );
    assert_eq!(
        records[0]["call-seq"],
        house.events("capability-call")[0]["seq"]
    );
}
