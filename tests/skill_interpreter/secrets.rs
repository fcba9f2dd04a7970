//! Secrets.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use crate::house::{House, code, error_of, list};
use crate::program::{Run, listing, mode};
use crate::recorder::{Recorder, Reply};

const VALUE: &str = "v-91c2/af+07 e3d5";

/// A skill with one operation `read` that sends `TOKEN` as a bearer.
fn document(id: &str, server: &Recorder) -> String {
    format!(
        "name: {id}\noperations:\n- name: read\n  endpoint: {}\n  auth: {{type: bearer, env_var: TOKEN}}\n",
        server.url("/read")
    )
}

fn house(server: &Recorder) -> House {
    let house = House::beside(&[server]);
    house.load("one.yaml", &document("one", server));
    house
}

/// Which of the two depends on what a grant has bound already.
fn assert_unserved(error: &Value) {
    let code = code(error);
    assert!(
        code == "secret-missing" || code == "secret-unbound",
        "{error}"
    );
}

#[test]
fn a_value_comes_from_stdin_and_the_list_shows_names_only() {
    let server = Recorder::content();
    let house = house(&server);
    let run = house.fed(
        &["secrets", "set", "TOKEN", "--skill", "one"],
        &format!("{VALUE}\n"),
    );
    assert_eq!(run.status, 0, "{run:?}");
    assert!(!run.stdout.contains(VALUE) && !run.stderr.contains(VALUE));
    let listed = house.folder().ok(&["secrets", "list"]);
    assert!(listed.stdout.contains("TOKEN"), "{listed:?}");
    assert!(!listed.stdout.contains(VALUE), "{listed:?}");
    // A value as an argument is refused.
    let run = house.folder().run(&["secrets", "set", "TOKEN", VALUE]);
    assert_eq!(run.status, 2, "{run:?}");
    // One line end is not part of the value.
    house.approve_all();
    house.execute("one", "read", &json!({}));
    let sent = server.only();
    assert_eq!(
        sent.header("authorization"),
        Some(format!("Bearer {VALUE}").as_str())
    );
}

#[test]
fn an_empty_value_is_refused() {
    let house = House::new();
    for input in ["", "\n"] {
        let run = house.fed(&["secrets", "set", "TOKEN"], input);
        assert_eq!(run.status, 1, "{run:?}");
    }
}

#[test]
fn the_store_is_private_and_the_only_file_with_the_value() {
    let server = Recorder::content();
    let house = house(&server);
    house.secret("TOKEN", "one", VALUE);
    house.approve_all();
    house.execute("one", "read", &json!({}));
    let state = house.state();
    assert_eq!(mode(&state.join("secrets.toml")), 0o600);
    assert_eq!(mode(&state), 0o700);
    for name in listing(&state) {
        let path = state.join(&name);
        if path.is_file() {
            let bytes = fs::read(&path).unwrap();
            let holds = bytes
                .windows(VALUE.len())
                .any(|part| part == VALUE.as_bytes());
            assert_eq!(holds, name == "secrets.toml", "{name}");
            // Nothing of the state is for others.
            assert_eq!(mode(&path) & 0o077 & !0o044, 0, "{name}");
        }
    }
}

#[test]
fn a_store_that_others_may_read_serves_nothing() {
    let server = Recorder::content();
    let house = house(&server);
    house.secret("TOKEN", "one", VALUE);
    house.approve_all();
    let store = house.state().join("secrets.toml");
    for bits in [0o640, 0o604, 0o660] {
        fs::set_permissions(&store, Permissions::from_mode(bits)).unwrap();
        let error = house.denied("one", "read", &json!({}));
        assert_eq!(code(&error), "secret-store-permissions", "{bits:o}");
        assert_eq!(house.code(&["secrets", "list"]), "secret-store-permissions");
    }
    assert_eq!(server.requests(), []);
    fs::set_permissions(&store, Permissions::from_mode(0o600)).unwrap();
    house.execute("one", "read", &json!({}));
}

#[test]
fn a_link_in_place_of_the_store_serves_nothing() {
    let server = Recorder::content();
    let house = house(&server);
    house.secret("TOKEN", "one", VALUE);
    house.approve_all();
    let store = house.state().join("secrets.toml");
    let other = house.folder().path("elsewhere.toml");
    fs::rename(&store, &other).unwrap();
    std::os::unix::fs::symlink(&other, &store).unwrap();
    let error = house.denied("one", "read", &json!({}));
    assert_eq!(code(&error), "secret-store-permissions");
    assert_eq!(server.requests(), []);
}

#[test]
fn missing_and_unbound() {
    let server = Recorder::content();
    let house = house(&server);
    house.approve_all();
    assert_unserved(&house.denied("one", "read", &json!({})));
    // A global value is bound by `bind` alone.
    let run = house.fed(&["secrets", "set", "TOKEN"], VALUE);
    assert_eq!(run.status, 0, "{run:?}");
    assert_unserved(&house.denied("one", "read", &json!({})));
    assert_eq!(server.requests(), []);
    let pair = server.pair();
    house.ok(&[
        "secrets", "bind", "TOKEN", "--skill", "one", "--host", &pair,
    ]);
    house.execute("one", "read", &json!({}));
    assert_eq!(server.requests().len(), 1);
    house.ok(&["secrets", "remove", "TOKEN"]);
    assert_unserved(&house.denied("one", "read", &json!({})));
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn a_binding_to_another_host_is_none() {
    let server = Recorder::content();
    let house = house(&server);
    house.approve_all();
    house.fed(&["secrets", "set", "TOKEN"], VALUE);
    for host in ["api.example.org", "127.0.0.1", "127.0.0.1:1"] {
        house.ok(&["secrets", "bind", "TOKEN", "--skill", "one", "--host", host]);
        assert_unserved(&house.denied("one", "read", &json!({})));
    }
    assert_eq!(server.requests(), []);
}

#[test]
fn another_name_and_another_skill() {
    let server = Recorder::content();
    let house = house(&server);
    house.load("two.yaml", &document("two", &server));
    house.approve_all();
    house.fed(&["secrets", "set", "COMPANY"], VALUE);
    house.secret("TOKEN", "two", "value-of-two");
    // What skill two has is nothing for skill one.
    assert_eq!(
        code(&house.denied("one", "read", &json!({}))),
        "secret-missing"
    );
    let pair = server.pair();
    house.ok(&[
        "secrets", "bind", "COMPANY", "--skill", "one", "--host", &pair, "--as", "TOKEN",
    ]);
    house.execute("one", "read", &json!({}));
    assert_eq!(
        server.last().header("authorization"),
        Some(format!("Bearer {VALUE}").as_str())
    );
    house.execute("two", "read", &json!({}));
    assert_eq!(
        server.last().header("authorization"),
        Some("Bearer value-of-two")
    );
}

#[test]
fn the_environment_is_no_store_unless_it_is_named() {
    let server = Recorder::content();
    let house = house(&server);
    house.approve_all();
    let run = |arguments: &[&str]| {
        let mut command = house.folder().command(arguments);
        Run::of(command.env("TOKEN", "value-of-the-environment"))
    };
    let call = || run(&["skill", "execute", "one", "read"]);
    assert_eq!(code(&error_of(&call())), "secret-missing");
    let pairs = [server.pair()];
    house.govern(&format!(
        "allow_private = {pairs:?}\nenv_secrets = ['TOKEN']\n"
    ));
    assert_unserved(&error_of(&call()));
    assert_eq!(server.requests(), []);
    let bound = run(&[
        "secrets", "bind", "TOKEN", "--skill", "one", "--host", &pairs[0],
    ]);
    assert_eq!(bound.status, 0, "{bound:?}");
    assert_eq!(call().status, 0);
    assert_eq!(
        server.only().header("authorization"),
        Some("Bearer value-of-the-environment")
    );
}

#[test]
fn every_form_of_an_echo_is_taken_out() {
    let server = Recorder::new(|_| {
        let quoted = "quote\\\"d value 1234";
        let text =
            format!("{VALUE} | v-91c2%2Faf%2B07%20e3d5 | di05MWMyL2FmKzA3IGUzZDU= | {quoted}");
        Reply::typed("text/plain", text)
    });
    let house = house(&server);
    house.secret("TOKEN", "one", VALUE);
    house.approve_all();
    let result = house.execute("one", "read", &json!({}));
    let body = result["output"]["body"].as_str().unwrap();
    for form in [VALUE, "v-91c2%2F", "di05MWMyL2Fm"] {
        assert!(!body.contains(form), "{form} in {body}");
    }
    assert_eq!(body.matches("***REDACTED***").count(), 3, "{body}");
    assert_eq!(house.events("secret-echo").len(), 1);
    let injected = house.events("secret-injected");
    assert_eq!(injected.len(), 1);
    assert!(injected[0].to_string().contains("TOKEN"), "{injected:?}");
}

#[test]
fn a_value_may_be_set_before_or_after_the_grant() {
    for before in [true, false] {
        let server = Recorder::content();
        let house = house(&server);
        if before {
            house.secret("TOKEN", "one", VALUE);
        }
        house.approve_all();
        house.secret("TOKEN", "one", VALUE);
        house.execute("one", "read", &json!({}));
        assert_eq!(server.requests().len(), 1);
    }
}

#[test]
fn a_returned_secret_is_staged_and_asked_for() {
    let server = Recorder::new(|_| Reply::json(&json!({"token": "t-5566778899", "user": "u"})));
    let house = House::beside(&[&server]);
    let text = format!(
        "name: one\noperations:\n- name: login\n  method: POST\n  endpoint: {}\n  returns_secret: [/token]\n",
        server.url("/login")
    );
    house.load("one.yaml", &text);
    house.approve_all();
    let result = house.execute("one", "login", &json!({}));
    assert_eq!(
        result["output"]["json"],
        json!({"token": {"secret-ref": "secret:ONE_TOKEN"}, "user": "u"})
    );
    let pending = list(&house.ok(&["approvals", "list", "--status", "pending"]));
    let kinds: Vec<&Value> = pending.iter().map(|one| &one["kind"]).collect();
    assert_eq!(kinds, ["secret-write"]);
    assert!(
        !house
            .folder()
            .ok(&["approvals", "list"])
            .stdout
            .contains("t-5566778899")
    );
    for name in listing(&house.state()) {
        let bytes = fs::read(house.state().join(&name)).unwrap_or_default();
        let holds = bytes.windows(12).any(|part| part == b"t-5566778899");
        assert!(!holds || name == "secrets.toml", "{name}");
    }
}

/// Whatever the store holds, for whichever skill.
#[test]
fn no_answer_holds_a_value_that_is_bound_to_another_skill() {
    const VALUE: &str = "v4lue-0f-an0ther-skill";
    let server = Recorder::new(|_| Reply::json(&json!({"said": format!("it is {VALUE}!")})));
    let house = House::beside(&[&server]);
    let text = format!(
        "name: one\ndescription: knows {VALUE}\noperations:\n- name: read\n  description: says {VALUE}\n  endpoint: {}\n",
        server.url("/read")
    );
    house.load("one.yaml", &text);
    house.approve_all();
    let seen = house.execute("one", "read", &json!({}));
    assert!(seen.to_string().contains(VALUE), "it is no secret yet");
    house.secret("TOKEN", "two", VALUE);
    let answers = [
        house.execute("one", "read", &json!({})),
        house.ok(&["skill", "show", "one"]),
        house.ok(&["skill", "list"]),
        house.ok(&["approvals", "list"]),
        house.ok(&["skill", "load", "one.yaml"]),
        house.denied("one", "read", &json!({VALUE: 1})),
        house.ok(&["audit", "show"]),
    ];
    for answer in &answers {
        assert!(!answer.to_string().contains(VALUE), "{answer}");
    }
    assert_eq!(
        answers[0]["output"]["json"]["said"],
        "it is ***REDACTED***!"
    );
    // Once it is gone, nothing is taken out any more.
    house.ok(&["secrets", "remove", "TOKEN", "--skill", "two"]);
    let seen = house.execute("one", "read", &json!({}));
    assert!(seen.to_string().contains(VALUE));
}

/// Nobody would know what to take out of the answer.
#[test]
fn nothing_is_sent_while_the_store_cannot_be_read() {
    let server = Recorder::content();
    let house = House::beside(&[&server]);
    let plain = format!(
        "name: plain\noperations:\n- name: read\n  endpoint: {}\n",
        server.url("/read")
    );
    house.load("plain.yaml", &plain);
    house.approve_all();
    house.execute("plain", "read", &json!({}));
    server.only();
    house.secret("TOKEN", "plain", VALUE);
    let store = house.state().join("secrets.toml");
    let whole = fs::read(&store).unwrap();
    fs::write(&store, "no store").unwrap();
    let refused = house.denied("plain", "read", &json!({}));
    assert_eq!(code(&refused), "store-unavailable");
    assert_eq!(refused.get("executed"), None);
    server.only();
    fs::write(&store, whole).unwrap();
    house.execute("plain", "read", &json!({}));
}
