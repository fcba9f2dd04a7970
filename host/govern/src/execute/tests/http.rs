use serde_json::json;

use super::{Around, code, events, failed, json_response, output, response};
use crate::chain::Event;
use crate::failure::Code;

#[test]
fn the_seeds_search_is_sent_and_answered() {
    let around = Around::new([json_response(&json!({"results": [{"id": 1}]}))]);
    let done = around.call(
        "moltbook",
        "search",
        json!({"query": "machine learning", "limit": 5}),
    );
    assert_eq!(
        output(&done),
        &json!({
            "status": 200,
            "headers": {"content-type": "application/json; charset=utf-8"},
            "redirects": [],
            "json": {"results": [{"id": 1}]},
        })
    );
    let sent = around.sent();
    assert_eq!(sent.len(), 1);
    assert_eq!(sent[0].method, "POST");
    assert_eq!(sent[0].url, "https://api.moltbook.com/v1/search");
    assert_eq!(
        sent[0].header("authorization"),
        Some("Bearer s3cr3t/MOLTBOOK_API_KEY+")
    );
    assert_eq!(
        sent[0].body.as_deref(),
        Some(r#"{"query":"machine learning","limit":5}"#)
    );
    assert!(!sent[0].limits.private);
    assert_eq!(
        events(&done),
        [(
            Event::SecretInjected,
            "MOLTBOOK_API_KEY api.moltbook.com:443"
        )]
    );
    assert_eq!(done.used.network_bytes, 1000);
    assert_eq!(done.warnings, [""; 0]);
}

#[test]
fn a_status_of_400_is_an_answer() {
    let around = Around::new([response(404, &[], b"no such book")]);
    let done = around.call("books", "getBook", json!({"id": 7}));
    assert_eq!(
        output(&done),
        &json!({"status": 404, "headers": {}, "redirects": [], "body": "no such book"})
    );
    assert!(done.end.unwrap().http_error);
}

#[test]
fn text_and_bytes_stand_as_such() {
    for (media, body, key, value) in [
        (
            "text/html",
            b"{\"a\":1}".as_slice(),
            "body",
            json!("{\"a\":1}"),
        ),
        ("text/plain", b"{\"a\":1}", "json", json!({"a": 1})),
        ("application/problem+json", b"7", "json", json!(7)),
        ("application/json", b"{not", "body", json!("{not")),
        ("application/json", b"\xff\x00", "body-b64", json!("/wA=")),
        ("image/png", b"", "body", json!("")),
    ] {
        let around = Around::new([response(200, &[("content-type", media)], body)]);
        let done = around.call("books", "getBook", json!({"id": 7}));
        assert_eq!(output(&done)[key], value, "{media}");
    }
}

#[test]
fn a_header_that_comes_twice_is_a_list() {
    let headers = [("Set-Cookie", "a=1"), ("set-cookie", "b=2"), ("X-A", "1")];
    let around = Around::new([response(200, &headers, b"")]);
    let done = around.call("books", "getBook", json!({"id": 7}));
    assert_eq!(
        output(&done)["headers"],
        json!({"set-cookie": ["a=1", "b=2"], "x-a": "1"})
    );
}

#[test]
fn an_output_that_does_not_fit_its_schema_is_a_warning() {
    let around = Around::new([json_response(&json!({"results": "none"}))]);
    let done = around.call("moltbook", "search", json!({"query": "x"}));
    assert_eq!(output(&done)["json"]["results"], "none");
    assert_eq!(done.warnings.len(), 1, "{:?}", done.warnings);
    assert!(
        done.warnings[0].contains("at results"),
        "{:?}",
        done.warnings
    );

    let around = Around::new([response(500, &[], b"oops")]);
    let done = around.call("moltbook", "search", json!({"query": "x"}));
    assert!(done.warnings.is_empty(), "an error has another form");
}

#[test]
fn a_failing_stage_ends_the_plan() {
    for failure in [
        Code::Dns,
        Code::Connect,
        Code::Tls,
        Code::Timeout,
        Code::PrivateAddress,
    ] {
        let around = Around::new([failed(failure)]);
        let done = around.call("kit", "titles", json!({"WORD": "x"}));
        assert_eq!(code(&done), failure);
        assert_eq!(around.asked().len(), 0, "later stages do not start");
        assert_eq!(done.used.network_bytes, 300, "what it used is charged");
    }
}

#[test]
fn a_denied_host_is_not_contacted() {
    let around = Around::new([]).config("deny_hosts = [\"*.moltbook.com\"]");
    let done = around.call("moltbook", "search", json!({"query": "x"}));
    assert_eq!(code(&done), Code::HostDenied);
    assert!(done.entries.is_empty(), "no secret was injected");
    let around = Around::new([]).config("deny_hosts = [\"books.example.org\"]");
    let done = around.call(
        "pages",
        "fetch",
        json!({"url": "https://books.example.org/"}),
    );
    assert_eq!(code(&done), Code::HostDenied);
}

#[test]
fn the_callers_url_is_requested() {
    let around = Around::new([response(200, &[], b"a page")]);
    let params = json!({"url": "https://files.example.org/a?b=c"});
    let done = around.call("pages", "fetch", params);
    assert_eq!(output(&done)["body"], "a page");
    assert_eq!(around.sent()[0].url, "https://files.example.org/a?b=c");
}

#[test]
fn a_secret_is_sent_over_https_only() {
    let around = Around::new([]);
    let done = around.call("kit", "plain", json!({}));
    assert_eq!(code(&done), Code::PlainHttpDenied, "not permitted at all");

    let around = Around::new([]).config("plain_http_hosts = [\"books.example.org\"]");
    let done = around.call("kit", "plain", json!({}));
    assert_eq!(code(&done), Code::PlainHttpDenied, "but not with a secret");
    assert!(done.entries.is_empty());
    let hint = done.end.unwrap_err().hint.unwrap();
    assert!(hint.starts_with("https, or if books.example.org:80 is in a network of your own"));

    let around =
        Around::new([response(200, &[], b"")]).config("allow_private = [\"books.example.org:80\"]");
    let done = around.call("kit", "plain", json!({}));
    assert_eq!(output(&done)["status"], 200);
    let sent = around.sent();
    assert!(sent[0].limits.private);
    assert_eq!(sent[0].header("x-api-key"), Some("s3cr3t/BOOKS_KEY+"));
}

#[test]
fn limits_of_an_exchange() {
    let around = Around::new([response(200, &[], b"")]);
    around.call("books", "getBook", json!({"id": 7}));
    let limits = around.sent()[0].limits;
    assert_eq!(limits.response_bytes, 10 << 20);
    assert!(limits.total.as_secs_f64() > 29.0 && limits.total.as_secs() <= 30);
    assert_eq!(limits.connect.as_secs(), 10);

    let mut get = crate::request::tests::operation("books", "getBook");
    let hydrant_plan::Stage::Http(stage) = &mut get.stages[0] else {
        panic!()
    };
    // A document lowers limits and never raises one.
    stage.limits.total_ms = Some(2_000);
    stage.limits.connect_ms = Some(60_000);
    stage.limits.response_bytes = Some(100);
    let around = Around::new([response(200, &[], b"")]);
    around.call_of("books", &get, json!({"id": 7}));
    let limits = around.sent()[0].limits;
    assert_eq!(limits.response_bytes, 100);
    assert!(limits.total.as_secs_f64() <= 2.0);
    assert!(limits.connect <= limits.total);
}
