//! Calls that a public predecessor lets through.

use std::fs;
use std::thread::sleep;
use std::time::Duration;

use serde_json::{Value, json};

use crate::house::{House, capability, code, list, string};
use crate::program::Run;
use crate::recorder::{Recorder, Reply};

/// Two operations at the server, `ping` and `find`.
fn document(server: &Recorder) -> String {
    format!(
        "name: one\noperations:\n- name: ping\n  endpoint: {}\n- name: find\n  endpoint: {}\n  input: {{q: string}}\n",
        server.url("/ping"),
        server.url("/find")
    )
}

fn house(server: &Recorder) -> House {
    let house = House::beside(&[server]);
    house.load("one.yaml", &document(server));
    house
}

/// The request for this capability that was opened last.
fn request(house: &House, capability: &str) -> Value {
    let all = list(&house.ok(&["approvals", "list"]));
    let newest = all.into_iter().rfind(|one| one["capability"] == capability);
    newest.unwrap()
}

fn ping(house: &House) -> String {
    code(&house.denied("one", "ping", &json!({})))
}

#[test]
fn denied_and_revoked() {
    let server = Recorder::content();
    let house = house(&server);
    let id = string(&request(&house, "one.ping")["id"]);
    house.ok(&["approvals", "deny", &id, "--reason", "no"]);
    assert_eq!(ping(&house), "approval-denied");
    // It stays decided, and nothing is opened.
    assert_eq!(ping(&house), "approval-denied");
    assert_eq!(request(&house, "one.ping")["id"], id.as_str());
    let id = string(&request(&house, "one.find")["id"]);
    house.ok(&["approvals", "approve", &id]);
    house.execute("one", "find", &json!({}));
    house.ok(&["approvals", "revoke", &id]);
    assert_eq!(
        code(&house.denied("one", "find", &json!({}))),
        "approval-revoked"
    );
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn expired() {
    let server = Recorder::content();
    let pairs = [server.pair()];
    let house = House::with(&format!("allow_private = {pairs:?}\npending_ttl = '1s'\n"));
    house.load("one.yaml", &document(&server));
    let id = string(&request(&house, "one.ping")["id"]);
    sleep(Duration::from_millis(1100));
    assert_eq!(ping(&house), "approval-expired");
    // A terminal state stays.
    house.error(&["approvals", "approve", &id]);
    // A new one was opened.
    assert_ne!(request(&house, "one.ping")["id"], id.as_str());
    assert_eq!(server.requests(), []);
}

#[test]
fn superseded() {
    let server = Recorder::content();
    let house = house(&server);
    let old = string(&request(&house, "one.ping")["id"]);
    house.ok(&["approvals", "approve", &old]);
    house.load("one.yaml", &document(&server).replace("/ping", "/pong"));
    assert_eq!(ping(&house), "approval-required");
    let old = house.ok(&["approvals", "show", &old]);
    assert_eq!(old["status"], "superseded");
    assert_eq!(server.requests(), []);
}

#[test]
fn a_damaged_store_denies() {
    let server = Recorder::content();
    let house = house(&server);
    house.approve_all();
    let state = house.state();
    let database = fs::read_dir(&state)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .find(|path| fs::read(path).is_ok_and(|bytes| bytes.starts_with(b"SQLite format 3\0")))
        .expect("no database");
    let whole = fs::read(&database).unwrap();
    let scribbled = [&whole[..100], &vec![0xa5; whole.len() - 100][..]].concat();
    for bytes in [
        b"no database at all, but long enough to be read as one".to_vec(),
        scribbled,
    ] {
        fs::write(&database, bytes).unwrap();
        let code = ping(&house);
        let is_refused =
            ["approval-store", "store-unavailable", "audit-unavailable"].contains(&code.as_str());
        assert!(is_refused, "{code}");
        let code = house.code(&["skill", "load", "one.yaml"]);
        assert!(
            ["store-unavailable", "audit-unavailable"].contains(&code.as_str()),
            "{code}"
        );
    }
    assert_eq!(server.requests(), []);
}

#[test]
fn the_caller_says_values_only() {
    let server = Recorder::content();
    let house = house(&server);
    house.approve_all();
    for params in [
        json!({"url": "https://a.example.org/"}),
        json!({"method": "DELETE"}),
        json!({"headers": {"X-A": "b"}}),
        json!({"q": "x", "host": "a.example.org"}),
    ] {
        let error = house.denied("one", "find", &params);
        assert_eq!(code(&error), "invalid-input", "{params}");
    }
    for params in ["[]", "7", "\"q\"", "null"] {
        let code = house.code(&["skill", "execute", "one", "find", params]);
        assert!(
            code == "invalid-request" || code == "invalid-input",
            "{params}: {code}"
        );
    }
    assert_eq!(server.requests(), []);
}

#[test]
fn values_stay_where_they_belong() {
    let server = Recorder::content();
    let house = House::beside(&[&server]);
    let text = format!(
        "name: one\noperations:\n- name: get\n  endpoint: {}\n  headers: {{X-Tag: '{{tag}}'}}\n  input:\n    id: string\n    \
         tag: string\n    q: string\n",
        server.url("/items/{id}")
    );
    house.load("one.yaml", &text);
    house.approve_all();
    house.execute(
        "one",
        "get",
        &json!({"id": "a/b?c#d@e", "tag": "t", "q": "1&x=2"}),
    );
    let sent = server.only();
    assert_eq!(sent.target, "/items/a%2Fb%3Fc%23d%40e?q=1%26x%3D2");
    for params in [
        json!({"id": "..", "tag": "t"}),
        json!({"id": ".", "tag": "t"}),
        json!({"id": "a", "tag": "t\r\nX-Evil: 1"}),
        json!({"id": "a", "tag": "t\u{0}"}),
    ] {
        let error = house.denied("one", "get", &params);
        assert_eq!(code(&error), "invalid-input", "{params}");
    }
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn no_redirect_to_another_host() {
    let other = Recorder::content();
    let to = other.url("/stolen");
    let server = Recorder::new(move |_| Reply::redirect(302, &to));
    let house = House::beside(&[&server, &other]);
    let text = format!(
        "# One\n\n## Get\n\n```bash\ncurl -L {} -H \"Authorization: Bearer $ONE_TOKEN\"\n```\n",
        server.url("/get")
    );
    house.load("one.md", &text);
    house.secret("ONE_TOKEN", "one", "t-112233445566");
    house.approve_all();
    assert_eq!(
        code(&house.denied("one", "get", &json!({}))),
        "redirect-denied"
    );
    assert_eq!(server.requests().len(), 1);
    assert_eq!(other.requests(), []);
    assert_eq!(house.events("redirect-denied").len(), 1);
}

#[test]
fn private_addresses_in_any_spelling() {
    private(&[
        "127.0.0.1",
        "localhost",
        "2130706433",
        "0x7f.1",
        "[::1]",
        "169.254.169.254",
        "0.0.0.0",
    ]);
}

#[test]
fn a_private_address_in_a_mapped_one() {
    private(&["[::ffff:127.0.0.1]", "[64:ff9b::7f00:1]"]);
}

fn private(hosts: &[&str]) {
    let server = Recorder::content();
    let port = server.pair().rsplit_once(':').unwrap().1.to_owned();
    for host in hosts {
        let house = House::new();
        let text = format!(
            "name: one\noperations:\n- name: ping\n  endpoint: https://{host}:{port}/ping\n"
        );
        house.load("one.yaml", &text);
        house.approve_all();
        assert_eq!(ping(&house), "private-address", "{host}");
    }
    assert_eq!(server.requests(), []);
}

#[test]
fn no_header_value_is_logged() {
    let server = Recorder::content();
    let house = House::beside(&[&server]);
    let text = format!(
        "name: one\noperations:\n- name: ping\n  endpoint: {}\n  headers: {{X-Plain: plain-value-77, X-Hydrant-Unsafe: \
         'true', X-Skip-Checks: '1'}}\n  auth: {{type: bearer, env_var: TOKEN}}\n",
        server.url("/ping")
    );
    house.load("one.yaml", &text);
    house.secret("TOKEN", "one", "t-112233445566");
    assert_eq!(ping(&house), "approval-required");
    house.approve_all();
    let mut command = house.folder().command(&["skill", "execute", "one", "ping"]);
    for name in ["RUST_LOG", "HYDRANT_LOG"] {
        command.env(name, "trace");
    }
    let run = Run::of(&mut command);
    assert_eq!(run.status, 0, "{run:?}");
    assert_eq!(server.only().header("x-plain"), Some("plain-value-77"));
    for value in ["plain-value-77", "t-112233445566"] {
        assert!(!run.stderr.contains(value), "{value} in {}", run.stderr);
    }
    for name in [
        "Host",
        "Content-Length",
        "Transfer-Encoding",
        "Proxy-Authorization",
        "Sec-Fetch",
    ] {
        let text = text
            .replace("X-Plain", name)
            .replace("name: one", "name: two");
        let loaded = house.load("two.yaml", &text);
        assert_eq!(
            capability(&loaded, "two.ping")["code"],
            "header-refused",
            "{name}"
        );
    }
}

#[test]
fn another_session_and_a_ttl_that_is_over() {
    let server = Recorder::content();
    let house = house(&server);
    // A session grant is given to the session that asked.
    let run = |session: &str| {
        house.folder().run(&[
            "skill",
            "execute",
            "one",
            "ping",
            "{}",
            "--session",
            session,
        ])
    };
    assert_eq!(run("work").status, 1);
    let id = string(&request(&house, "one.ping")["id"]);
    house.ok(&["approvals", "approve", &id, "--scope", "session"]);
    assert_eq!(run("work").status, 0);
    assert_eq!(run("work").status, 0);
    assert_eq!(run("other").status, 1);
    assert_eq!(ping(&house), "approval-required");
    let id = string(&request(&house, "one.find")["id"]);
    house.ok(&["approvals", "approve", &id, "--ttl", "1s"]);
    sleep(Duration::from_millis(1100));
    assert_eq!(
        code(&house.denied("one", "find", &json!({}))),
        "approval-expired"
    );
    assert_eq!(server.requests().len(), 2);
}

#[test]
fn one_changed_operation() {
    let server = Recorder::content();
    let house = house(&server);
    house.approve_all();
    let loaded = house.load("one.yaml", &document(&server).replace("/find", "/seek"));
    assert_eq!(loaded["delta"]["changed"], json!(["find"]));
    assert_eq!(loaded["delta"]["unchanged"], json!(["ping"]));
    assert_eq!(capability(&loaded, "one.find")["status"], "pending");
    assert_eq!(capability(&loaded, "one.ping")["status"], "approved");
    house.execute("one", "ping", &json!({}));
    assert_eq!(
        code(&house.denied("one", "find", &json!({}))),
        "approval-required"
    );
}

#[test]
fn a_get_is_governed_whoever_loads_it() {
    let server = Recorder::new(|_| {
        Reply::typed(
            "text/yaml",
            "name: one\noperations:\n- {name: ping, endpoint: /ping}\n",
        )
    });
    let address = server.url("/skill.yaml");
    for over_syscall in [false, true] {
        let house = House::beside(&[&server]);
        let loaded = if over_syscall {
            house.syscall(&[("ccos.skill.load", json!({"url": address}))])[0]["payload"].clone()
        } else {
            house.ok(&["skill", "load", &address])
        };
        assert_eq!(capability(&loaded, "one.ping")["status"], "pending");
        assert_eq!(ping(&house), "approval-required");
        house.approve_all();
        house.execute("one", "ping", &json!({}));
        let sent = server.last();
        assert_eq!(
            (sent.method.as_str(), sent.target.as_str()),
            ("GET", "/ping")
        );
    }
}

#[test]
fn a_second_source_with_the_same_id() {
    let server = Recorder::content();
    let house = house(&server);
    house.approve_all();
    let error = house.refused("two.yaml", &document(&server).replace("/ping", "/evil"));
    assert_eq!(code(&error), "skill-id-conflict");
    house.execute("one", "ping", &json!({}));
    assert_eq!(server.only().target, "/ping");
    house.ok(&["skill", "load", "two.yaml", "--as", "two"]);
    for id in ["ccos", "hydrant", "ccos.x", "hydrant.x"] {
        assert_eq!(
            house.code(&["skill", "load", "two.yaml", "--as", id]),
            "id-reserved",
            "{id}"
        );
    }
}
