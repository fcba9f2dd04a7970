//! Which URLs and addresses are connected to at all.

use serde_json::json;

use crate::os_root::{NONE, OsRoot, agent, failed, skill};
use crate::policy;
use crate::server::{Answer, Server};

const LOOPBACK: &str = "--allow-http-loopback";
const FETCH_FAILED: &str = "ERROR: FETCH_FAILED";

#[test]
fn what_the_policy_does_not_allow_is_never_connected_to() {
    let server = Server::new(|_| Answer::Body(skill("reached").into_bytes()));
    let url = |path: &str| server.url(path);
    let beside = [
        url("/docs2/a.md"),
        url("/a.md"),
        url("/docs/%2e%2e/a.md"),
        url("/docs/%2Fa.md"),
    ];
    let urls = [&beside[..], &[url("/docs/a.md"), url("/docs/b%20c.md?q")]].concat();
    let root = OsRoot::new();
    root.file("agent.md", agent(&urls, NONE));
    let payload = root.payload(&["os://agent.md", LOOPBACK]);
    assert!(
        payload
            .skills()
            .iter()
            .all(|entry| entry["name"] == FETCH_FAILED)
    );
    assert_eq!(
        server.connections(),
        0,
        "the default policy fetches nothing"
    );

    let mut policy = policy::fetches(&[&server.url("/docs/")]);
    root.policy(&policy);
    let payload = root.payload(&["os://agent.md", LOOPBACK]);
    assert_eq!(payload.skill(&url("/docs/a.md"))["name"], "reached");
    assert_eq!(payload.skill(&url("/docs/b%20c.md?q"))["name"], "reached");
    assert_eq!(
        server.connections(),
        2,
        "by whole segments: {:?}",
        server.requests()
    );

    policy["host"]["net"][0]["methods"] = json!(["POST"]);
    root.policy(&policy);
    root.payload(&["os://agent.md", LOOPBACK]);
    policy["host"].as_object_mut().unwrap().remove("net");
    root.policy(&policy);
    root.payload(&["os://agent.md", LOOPBACK]);
    assert_eq!(
        server.connections(),
        2,
        "a ceiling alone allows nothing, nor does another method"
    );
}

#[test]
fn addresses_that_are_not_public_are_refused_before_anything_is_sent() {
    let server = Server::new(|_| Answer::Body(Vec::new()));
    let port = server.port();
    let host = std::fs::read_to_string("/etc/hostname").unwrap_or_default();
    // Names of this machine resolve to addresses that are not public; the policy names the name alone.
    let names = [
        host.trim().to_ascii_lowercase(),
        "ip6-localhost".to_owned(),
        "localhost.localdomain".to_owned(),
    ];
    let prefixes: Vec<String> = names
        .iter()
        .filter(|name| !name.is_empty())
        .map(|name| format!("https://{name}:{port}/"))
        .collect();
    let mut urls = prefixes.clone();
    for address in [
        "127.0.0.1",
        "localhost",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "2130706433",
        "0x7f.1",
    ] {
        urls.push(format!("https://{address}:{port}/"));
    }
    urls.push("https://169.254.169.254/latest/meta-data".to_owned());
    let root = OsRoot::new();
    let prefixes: Vec<&str> = prefixes.iter().map(String::as_str).collect();
    root.policy(&policy::fetches(&prefixes));
    root.file("agent.md", agent(&urls, NONE));
    let payload = root.payload(&["os://agent.md"]);
    assert!(
        payload
            .skills()
            .iter()
            .all(|entry| entry["name"] == FETCH_FAILED),
        "{}",
        payload.text
    );
    assert_eq!(server.connections(), 0, "nothing is sent");
}

#[test]
fn a_named_address_is_connected_to_but_must_speak_tls() {
    let server = Server::new(|_| Answer::Body(skill("plain").into_bytes()));
    let root = OsRoot::new();
    let url = format!("https://127.0.0.1:{}/", server.port());
    root.policy(&policy::fetches(&[&url]));
    assert_eq!(root.payload(&[&url]).text, failed("FETCH_FAILED", ""));
    assert!(
        server.connections() > 0,
        "the policy names this literal address"
    );
}

#[test]
fn loopback_http_exists_only_behind_its_flag() {
    let server = Server::new(|_| Answer::Body(skill("reached").into_bytes()));
    let port = server.port();
    let loopback = [
        server.url("/a.md"),
        format!("http://localhost:{port}/a.md"),
        format!("http://[::1]:{port}/a.md"),
        format!("HTTP://LOCALHOST:{port}/b/../a.md"),
    ];
    let other = [
        "http://lib.example/a.md".to_owned(),
        format!("http://127.0.0.2:{port}/a.md"),
        format!("http://127.0.0.1.lib.example:{port}/a.md"),
        format!("http://localhost.lib.example:{port}/a.md"),
        "http://[::2]/a.md".to_owned(),
        "http://0.0.0.0/a.md".to_owned(),
    ];
    let root = OsRoot::new();
    root.policy(&policy::fetches(&[&server.url("/")]));
    root.file(
        "agent.md",
        agent(&[&loopback[..], &other[..]].concat(), NONE),
    );
    let without = root.payload(&["os://agent.md"]);
    assert!(
        without
            .skills()
            .iter()
            .all(|entry| entry["name"] == "ERROR: UNSUPPORTED_SCHEME")
    );
    assert_eq!(server.connections(), 0, "off by default");
    let with = root.payload(&["os://agent.md", LOOPBACK]);
    assert_eq!(with.skill(&loopback[0])["name"], "reached");
    assert_eq!(
        with.skill(&loopback[1])["name"],
        FETCH_FAILED,
        "the allowlist still applies"
    );
    assert_eq!(with.skill(&loopback[2])["name"], FETCH_FAILED);
    assert_eq!(
        with.skills().len(),
        9,
        "the fourth, normalised, is the second"
    );
    for uri in other {
        assert_eq!(
            with.skill(&uri)["name"],
            "ERROR: UNSUPPORTED_SCHEME",
            "{uri}"
        );
    }
}
