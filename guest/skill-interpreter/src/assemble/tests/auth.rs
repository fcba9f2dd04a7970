//! Headers and credentials.

use serde_json::json;

use super::{curl, endpoint, http, nameless, request, skill, text};
use crate::context::{AssumedAuth, Context};
use crate::draft::{AuthDraft, HeaderDraft, HeaderValue, HttpDraft, Quoting, Spelling, Template};
use crate::failure::Code;

fn with_auth(auth: AuthDraft) -> HttpDraft {
    let mut draft = endpoint("GET", "https://a.example/x");
    draft.auth.push(auth);
    draft
}

fn declared(name: &str) -> Template {
    Template::variable(name, Spelling::Declared)
}

#[test]
fn bearer() {
    let assembled =
        request(curl("GET", "https://a.example/").header("Authorization", "Bearer $MY_TOKEN"));
    let stage = assembled.http();
    assert_eq!(
        stage["auth"],
        json!({"type": "bearer", "env_var": "MY_TOKEN"})
    );
    assert_eq!(
        stage["headers"][0]["value"],
        json!([{"lit": "Bearer "}, {"secret": "MY_TOKEN", "enc": "header"}])
    );
    assert_eq!(assembled.json()["secrets"][0]["kind"], "bearer");
}

#[test]
fn another_prefix_is_kept() {
    let assembled =
        request(curl("GET", "https://a.example/").header("Authorization", "Token $MY_TOKEN"));
    let auth = json!({"type": "header", "name": "Authorization", "env_var": "MY_TOKEN"});
    assert_eq!(assembled.http()["auth"], auth);
    assert_eq!(
        assembled.readable()["headers"],
        json!({"Authorization": "Token {MY_TOKEN}"})
    );
}

#[test]
fn declared_auth_of_every_kind() {
    let cases = [
        (
            AuthDraft::Bearer {
                prefix: None,
                token: declared("T"),
            },
            json!({"type": "bearer", "env_var": "T"}),
        ),
        (
            AuthDraft::Header {
                name: "X-Key".into(),
                prefix: None,
                value: declared("T"),
            },
            json!({"type": "header", "name": "X-Key", "env_var": "T"}),
        ),
        (
            AuthDraft::Query {
                name: "k".into(),
                value: declared("T"),
            },
            json!({"type": "query", "name": "k", "env_var": "T"}),
        ),
        (
            AuthDraft::Cookie {
                name: "c".into(),
                value: declared("T"),
            },
            json!({"type": "cookie", "name": "c", "env_var": "T"}),
        ),
        (
            AuthDraft::Basic {
                user: Some(declared("U")),
                password: None,
            },
            json!({"type": "basic", "env_vars": ["U", "BOOKS_PASSWORD"]}),
        ),
    ];
    for (auth, expected) in cases {
        assert_eq!(request(with_auth(auth)).http()["auth"], expected);
    }
}

#[test]
fn literal_halves_are_dropped_and_empty_ones_stay() {
    let assembled = request(with_auth(AuthDraft::Basic {
        user: Some(text("ann")),
        password: Some(text("hunter2")),
    }));
    assert_eq!(assembled.secrets(), ["BOOKS_PASSWORD", "BOOKS_USER"]);
    assert_eq!(assembled.codes(), [Code::LiteralCredential; 2]);
    assert!(!assembled.json().to_string().contains("hunter2"));
    let assembled = request(with_auth(AuthDraft::Basic {
        user: Some(text("$KEY")),
        password: Some(Template::default()),
    }));
    assert_eq!(assembled.secrets(), ["KEY"]);
    assert_eq!(assembled.http()["basic"]["password"], json!([]));
}

#[test]
fn cookies() {
    let assembled = request(with_auth(AuthDraft::Cookies(text("flag; a=$A; b={b}; c="))));
    assert_eq!(assembled.secrets(), ["A", "b"]);
    assert_eq!(
        assembled.readable()["headers"],
        json!({"Cookie": "flag; a={A}; b={b}; c="})
    );
}

#[test]
fn a_cookie_is_split_whatever_its_quotes() {
    let mut cookies = text("a=1; ");
    cookies.push_literal("b", Quoting::Single);
    cookies.push_literal("c=", Quoting::Bare);
    cookies.append(text("$D"));
    cookies.push_literal(";", Quoting::Double);
    cookies.append(text(" $E=2; $F; g h"));
    let assembled = request(with_auth(AuthDraft::Cookies(cookies)));
    let cookies = &assembled.http()["cookies"];
    let names: Vec<String> = cookies
        .as_array()
        .unwrap()
        .iter()
        .map(|cookie| cookie["name"].to_string())
        .collect();
    assert_eq!(names[1], r#"[{"lit":"bc"}]"#);
    assert_eq!(
        assembled.readable()["headers"]["Cookie"],
        "a=1; bc={D}; {E}=2; {F}; g h"
    );
    assert_eq!(assembled.secrets(), ["D", "E", "F"]);
}

#[test]
fn one_secret_is_assumed_to_be_the_token() {
    let context = |secrets: &[&str]| Context {
        assumed_auth: AssumedAuth::FromSecrets,
        secrets: secrets.iter().map(|name| (*name).to_owned()).collect(),
        ..skill("s")
    };
    let plain = || endpoint("GET", "https://a.example/");
    let one = http(plain(), &nameless(), &context(&["A_TOKEN"]));
    assert_eq!(one.codes(), [Code::AuthAssumed]);
    assert_eq!(
        one.http()["auth"],
        json!({"type": "bearer", "env_var": "A_TOKEN"})
    );
    let two = http(plain(), &nameless(), &context(&["A_TOKEN", "B_TOKEN"]));
    assert_eq!(two.codes(), [Code::AuthAmbiguous]);
    assert!(two.secrets().is_empty());
    let own = plain().header("X-Api-Key", "{B_KEY}");
    let own = http(own, &nameless(), &context(&["A_TOKEN"]));
    assert_eq!(own.secrets(), ["B_KEY"]);
    let none = http(
        with_auth(AuthDraft::None),
        &nameless(),
        &context(&["A_TOKEN"]),
    );
    assert!(none.secrets().is_empty() && none.codes().is_empty());
}

#[test]
fn headers_that_are_the_hosts() {
    for name in [
        "Host",
        "content-length",
        "Transfer-Encoding",
        "Connection",
        "Expect",
        "Proxy-Authorization",
        "Sec-Fetch-Site",
        "X-Forwarded-For",
        "Forwarded",
        "a b",
        "",
    ] {
        let assembled = request(curl("GET", "https://a.example/").header(name, "v"));
        assert_eq!(assembled.refusal(), Code::HeaderRefused, "{name}");
    }
    let assembled = request(curl("GET", "https://a.example/").header("X-A", "a\r\nHost: b"));
    assert_eq!(assembled.refusal(), Code::HeaderRefused);
    let mut draft = curl("GET", "https://a.example/");
    draft.headers.push(HeaderDraft {
        name: "Host".to_owned(),
        value: HeaderValue::Removed,
    });
    assert_eq!(request(draft).refusal(), Code::HeaderRefused);
}

#[test]
fn a_variable_in_a_header_is_called_by_its_name() {
    let assembled = request(curl("GET", "https://a.example/").header("X-Trace", "run-{run_id}"));
    assert_eq!(assembled.required(), json!(["run_id"]));
}
