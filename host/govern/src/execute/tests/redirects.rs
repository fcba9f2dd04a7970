use serde_json::json;

use super::{Around, code, events, failed, output, response};
use crate::chain::Event;
use crate::failure::Code;
use crate::ports::{WireFailure, WireResponse};
use crate::request::tests::operation;
use hydrant_plan::{JudgedOperation, Stage};

fn to(status: u16, location: &str) -> Result<WireResponse, WireFailure> {
    response(status, &[("Location", location)], b"")
}

/// `curl -L -X POST` with a secret header, whose grant covers a second host too.
fn followed() -> JudgedOperation {
    let mut followed = operation("kit", "followed");
    followed.hosts.push("mirror.example.org:443".to_owned());
    followed.hosts.push("mirror.example.org:80".to_owned());
    followed.hosts.push("books.example.org:8443".to_owned());
    followed
}

#[test]
fn without_follow_a_redirect_is_the_answer() {
    let around = Around::new([to(302, "https://evil.example/")]);
    let done = around.call("books", "getBook", json!({"id": 7}));
    assert_eq!(output(&done)["status"], 302);
    assert_eq!(
        output(&done)["headers"]["location"],
        "https://evil.example/"
    );
    assert_eq!(around.sent().len(), 1);
}

#[test]
fn methods_and_bodies_of_redirects() {
    for (status, method, body) in [
        (301, "GET", None),
        (302, "GET", None),
        (303, "GET", None),
        (307, "POST", Some("word=w")),
        (308, "POST", Some("word=w")),
    ] {
        let around = Around::new([
            to(status, "../v3/there?x=1#frag"),
            response(200, &[], b"ok"),
        ]);
        let done = around.call("kit", "followed", json!({"word": "w"}));
        assert_eq!(output(&done)["body"], "ok");
        assert_eq!(
            output(&done)["redirects"],
            json!([{"status": status, "url": "https://books.example.org/v3/there"}])
        );
        let sent = around.sent();
        assert_eq!(sent.len(), 2);
        assert_eq!(sent[1].url, "https://books.example.org/v3/there?x=1");
        assert_eq!(sent[1].method, method, "{status}");
        assert_eq!(sent[1].body.as_deref(), body, "{status}");
        assert_eq!(sent[1].header("content-type").is_some(), body.is_some());
        assert_eq!(
            sent[1].header("x-api-key"),
            Some("s3cr3t/BOOKS_KEY+"),
            "the same origin may have it"
        );
        assert_eq!(done.used.network_bytes, 2000);
    }
}

#[test]
fn a_redirect_to_a_host_that_was_not_granted_is_denied() {
    for (location, target) in [
        ("https://evil.example/x", "evil.example:443"),
        ("//evil.example/", "evil.example:443"),
        ("https://books.example.org:9443/", "books.example.org:9443"),
        ("https://books.example.org./", "books.example.org.:443"),
        ("http://books.example.org/", "books.example.org:80"),
        (
            "https://user:pw@books.example.org/",
            "books.example.org:443",
        ),
        (
            "https://169.254.169.254/latest/meta-data",
            "169.254.169.254:443",
        ),
        ("file:///etc/passwd", "(no host)"),
        ("javascript:alert(1)", "(no host)"),
        ("https://", "(not an address)"),
    ] {
        let around = Around::new([to(302, location)]);
        let done = around.call("kit", "followed", json!({"word": "w"}));
        assert_eq!(code(&done), Code::RedirectDenied, "{location}");
        assert_eq!(around.sent().len(), 1, "{location}");
        assert_eq!(
            events(&done),
            [
                (Event::SecretInjected, "BOOKS_KEY books.example.org:443"),
                (Event::RedirectDenied, target),
            ]
        );
    }
}

#[test]
fn no_credential_goes_to_another_host() {
    for location in [
        "https://mirror.example.org/a?b=c",
        "https://books.example.org:8443/a?b=c",
    ] {
        let around = Around::new([to(302, location), response(200, &[], b"ok")]);
        let done = around.call_of("kit", &followed(), json!({"word": "w"}));
        assert_eq!(output(&done)["body"], "ok");
        let sent = around.sent();
        assert_eq!(sent[1].url, location);
        assert_eq!(sent[1].header("x-api-key"), None, "{location}");
    }
}

#[test]
fn a_credential_does_not_come_back_with_the_first_host() {
    let around = Around::new([
        to(302, "https://mirror.example.org/"),
        to(302, "https://books.example.org/v2/again"),
        response(200, &[], b"ok"),
    ]);
    let done = around.call_of("kit", &followed(), json!({"word": "w"}));
    output(&done);
    let sent = around.sent();
    assert_eq!(sent[2].url, "https://books.example.org/v2/again");
    assert_eq!(sent[2].header("x-api-key"), None);
}

#[test]
fn authorization_and_cookies_are_dropped_whoever_gave_them() {
    let mut operation = followed();
    let Stage::Http(stage) = &mut operation.stages[0] else {
        panic!()
    };
    for name in ["authorization", "Cookie", "X-Other"] {
        stage.headers.push(hydrant_plan::HeaderOut {
            name: name.to_owned(),
            value: hydrant_plan::Segments::literal("literal"),
        });
    }
    let around = Around::new([
        to(307, "https://mirror.example.org/"),
        response(200, &[], b""),
    ]);
    around.call_of("kit", &operation, json!({"word": "w"}));
    let sent = around.sent();
    assert_eq!(sent[0].header("authorization"), Some("literal"));
    assert_eq!(sent[1].header("authorization"), None);
    assert_eq!(sent[1].header("cookie"), None);
    assert_eq!(sent[1].header("x-other"), Some("literal"));
    assert_eq!(sent[1].body.as_deref(), Some("word=w"));
}

#[test]
fn a_body_with_a_secret_does_not_go_to_another_host() {
    let mut operation = followed();
    let Stage::Http(stage) = &mut operation.stages[0] else {
        panic!()
    };
    stage.body = Some(hydrant_plan::Body::Text(hydrant_plan::Segments::secret(
        "BODY_KEY",
        hydrant_plan::Encoding::None,
    )));
    for status in [307, 308] {
        let around = Around::new([to(status, "https://mirror.example.org/")]);
        let done = around.call_of("kit", &operation, json!({"word": "w"}));
        assert_eq!(code(&done), Code::RedirectDenied);
        assert_eq!(around.sent().len(), 1);
    }
    let around = Around::new([
        to(302, "https://mirror.example.org/"),
        response(200, &[], b""),
    ]);
    output(&around.call_of("kit", &operation, json!({"word": "w"})));
    assert_eq!(around.sent()[1].body, None, "as GET it has no body");
}

#[test]
fn a_secret_that_the_first_host_puts_into_the_address_is_dropped() {
    let location = "https://mirror.example.org/a?k=s3cr3t%2FBOOKS_KEY%2B&b=c&s3cr3t/BOOKS_KEY%2B";
    let around = Around::new([to(302, location), response(200, &[], b"")]);
    output(&around.call_of("kit", &followed(), json!({"word": "w"})));
    assert_eq!(around.sent()[1].url, "https://mirror.example.org/a?b=c");

    for location in [
        "https://mirror.example.org/s3cr3t%2FBOOKS_KEY%2B/a",
        "https://mirror.example.org/s3cr3t/BOOKS_KEY+",
    ] {
        let around = Around::new([to(302, location)]);
        let done = around.call_of("kit", &followed(), json!({"word": "w"}));
        assert_eq!(code(&done), Code::RedirectDenied, "{location}");
    }
}

#[test]
fn from_https_to_http_is_refused_even_where_http_is_permitted() {
    let around = Around::new([to(302, "http://mirror.example.org/")])
        .config("plain_http_hosts = [\"mirror.example.org\"]");
    let done = around.call_of("kit", &followed(), json!({"word": "w"}));
    assert_eq!(code(&done), Code::RedirectDenied);
}

#[test]
fn a_denied_host_is_denied_at_each_hop() {
    let around = Around::new([to(302, "https://mirror.example.org/")])
        .config("deny_hosts = [\"mirror.example.org\"]");
    let done = around.call_of("kit", &followed(), json!({"word": "w"}));
    assert_eq!(code(&done), Code::RedirectDenied);
    assert_eq!(around.sent().len(), 1);
}

#[test]
fn an_address_that_is_not_public_refuses_the_hop() {
    let around = Around::new([
        to(302, "https://mirror.example.org/"),
        failed(Code::PrivateAddress),
    ]);
    let done = around.call_of("kit", &followed(), json!({"word": "w"}));
    assert_eq!(code(&done), Code::RedirectDenied);
    assert_eq!(
        events(&done)[1],
        (Event::RedirectDenied, "mirror.example.org:443")
    );
}

#[test]
fn at_most_five_redirects() {
    let hops = |count: usize| (0..count).map(|hop| to(307, &format!("/v2/{hop}")));
    let around = Around::new(hops(5).chain([response(200, &[], b"ok")]));
    let done = around.call("kit", "followed", json!({"word": "w"}));
    assert_eq!(output(&done)["redirects"].as_array().unwrap().len(), 5);
    let around = Around::new(hops(6));
    let done = around.call("kit", "followed", json!({"word": "w"}));
    assert_eq!(code(&done), Code::RedirectDenied);
    assert_eq!(around.sent().len(), 6);

    let mut one = operation("kit", "followed");
    let Stage::Http(stage) = &mut one.stages[0] else {
        panic!()
    };
    stage.limits.redirects = Some(1);
    let around = Around::new(hops(2));
    let done = around.call_of("kit", &one, json!({"word": "w"}));
    assert_eq!(code(&done), Code::RedirectDenied);
    assert_eq!(around.sent().len(), 2);
}

#[test]
fn the_chain_holds_no_value_that_a_host_puts_into_a_name() {
    let mut around = Around::new([to(302, "https://K-VALUE-1234.evil.example/")]);
    around.secret = |_, _| Ok(secrecy::SecretString::from("K-VALUE-1234"));
    let done = around.call("kit", "followed", json!({"word": "w"}));
    assert_eq!(
        events(&done)[1],
        (Event::RedirectDenied, "***REDACTED***.evil.example:443")
    );
    let failure = done.end.unwrap_err();
    assert!(!failure.message.to_lowercase().contains("k-value"));
}
