//! URLs and queries.

use serde_json::json;
use url::Url;

use super::{curl, endpoint, http, nameless, request, skill, text, unbased};
use crate::context::Context;
use crate::draft::{HttpDraft, QueryDraft, WrittenAs};
use crate::failure::Code;

fn based(base: &str) -> Context {
    Context {
        base_url: Some(Url::parse(base).unwrap()),
        ..skill("s")
    }
}

#[test]
fn a_url_without_path_is_kept() {
    let assembled = request(curl("POST", "https://api.example.com"));
    assert_eq!(
        assembled.readable(),
        json!({"url": "https://api.example.com", "method": "POST"})
    );
    assert_eq!(assembled.operation.hosts, ["api.example.com:443"]);
}

#[test]
fn path_and_query() {
    let assembled = request(curl(
        "GET",
        "https://books.example.org/v2/items/{item_id}/:part?lang=en&q=$SEARCH&x=a-{y}&flag&r=%41+b",
    ));
    assert_eq!(assembled.required(), json!(["item_id", "part", "q", "y"]));
    let properties = assembled.properties();
    assert_eq!(properties["lang"]["default"], "en");
    assert_eq!(properties["r"]["default"], "A b");
    assert_eq!(
        properties["q"],
        json!({"type": ["string", "number", "boolean"]})
    );
    let stage = assembled.http();
    assert_eq!(
        stage["url"],
        json!([
            {"lit": "https://books.example.org/v2/items/"},
            {"input": "item_id", "enc": "path"},
            {"lit": "/"},
            {"input": "part", "enc": "path"},
        ])
    );
    assert_eq!(stage["query"][3], json!({"name": [{"lit": "flag"}]}));
    assert_eq!(
        assembled.readable()["url"],
        "https://books.example.org/v2/items/{item_id}/{part}?lang=en&q={q}&x=a-{y}&flag&r=A%20b"
    );
}

#[test]
fn one_name_in_two_places() {
    let assembled = request(curl("GET", "https://a.example/{id}?id=5"));
    assert_eq!(assembled.required(), json!(["id"]));
    assert_eq!(assembled.properties()["query-id"]["default"], "5");
    let assembled = request(curl("GET", "https://a.example/{id}?id={id}"));
    assert_eq!(assembled.properties().as_object().unwrap().len(), 1);
}

#[test]
fn a_query_name_that_occurs_twice_names_no_input() {
    let assembled = request(curl("GET", "https://a.example/?a=1&a=2"));
    assert_eq!(assembled.properties(), json!({}));
    assert_eq!(assembled.readable()["url"], "https://a.example/?a=1&a=2");
}

#[test]
fn a_default_makes_an_input_optional() {
    let assembled = request(curl("GET", "https://a.example/${WHO:-ann}"));
    assert_eq!(assembled.required(), json!(null));
    assert_eq!(assembled.properties()["WHO"]["default"], "ann");
    let assembled = request(curl("GET", "https://a.example/${MY_TOKEN:-abc123}"));
    assert!(!assembled.json().to_string().contains("abc123"));
}

#[test]
fn a_literal_in_a_query_field_of_secrets_is_a_secret() {
    let assembled = request(curl("GET", "https://a.example/?password=hunter2"));
    assert_eq!(assembled.secrets(), ["BOOKS_PASSWORD"]);
    let everything = format!("{} {}", assembled.json(), assembled.readable());
    assert!(!everything.contains("hunter2"), "{everything}");
}

#[test]
fn further_query_is_encoded() {
    let mut draft = curl("GET", "https://a.example/?a=1");
    draft.query.push(QueryDraft::Pair {
        name: "b c".to_owned(),
        value: text("d&e"),
    });
    draft.query.push(QueryDraft::Pair {
        name: String::new(),
        value: text("f g"),
    });
    draft.query.push(QueryDraft::Raw(text("h=1&i")));
    let assembled = request(draft);
    assert_eq!(
        assembled.readable()["url"],
        "https://a.example/?a=1&b%20c=d%26e&f%20g&h=1&i"
    );
    assert_eq!(assembled.properties()["b c"]["default"], "d&e");
}

#[test]
fn urls_that_are_refused() {
    let cases = [
        ("https://user:pw@a.example/", Code::UrlUserinfo),
        ("https://{user}@a.example/", Code::UrlUserinfo),
        ("https://a.example/a b", Code::UrlInvalid),
        ("https://a.example/a\u{7}b", Code::UrlInvalid),
        ("https://good.example\\@evil.example/", Code::UrlInvalid),
        ("https://a.example/{a,b}", Code::UrlGlob),
        ("https://a.example/[1-3]", Code::UrlGlob),
        ("ftp://a.example/", Code::CurlOptionRefused),
        ("//a.example/x", Code::UrlInvalid),
        ("https:///x", Code::UrlInvalid),
        ("https://a.example:99999/", Code::UrlInvalid),
        ("https://a.example/$X/../../y", Code::UrlInvalid),
        ("https://a.example/b/%2e%2E/c", Code::UrlInvalid),
        ("https://%61.example/", Code::UrlInvalid),
    ];
    for (url, code) in cases {
        assert_eq!(request(curl("GET", url)).refusal(), code, "{url}");
    }
    let assembled = request(endpoint("GET", "gopher://a.example/"));
    assert_eq!(assembled.refusal(), Code::UrlInvalid);
}

#[test]
fn the_host_is_compared_as_the_url_standard_says() {
    let cases = [
        ("https://EXAMPLE.com:443/", "example.com:443"),
        ("https://bücher.example/", "xn--bcher-kva.example:443"),
        ("http://[::1]:8080/x", "[::1]:8080"),
        ("http://0x7f.1/", "127.0.0.1:80"),
    ];
    for (url, host) in cases {
        assert_eq!(request(curl("GET", url)).operation.hosts, [host], "{url}");
    }
}

#[test]
fn dots_are_resolved_before_approval() {
    let assembled = request(curl("GET", "https://a.example/a/../b/./../c"));
    assert_eq!(assembled.readable()["url"], "https://a.example/c");
}

#[test]
fn a_url_without_scheme() {
    let assembled = request(curl("GET", "a.example/x"));
    assert_eq!(assembled.codes(), [Code::SchemeMissing]);
    assert_eq!(assembled.readable()["url"], "http://a.example/x");
    assert!(
        assembled
            .operation
            .reasons
            .contains(&"plain-http".to_owned())
    );
    assert!((assembled.operation.confidence - 0.7).abs() < 1e-9);
}

#[test]
fn variables_in_the_host() {
    for url in [
        "https://$WHERE/x",
        "https://a.$WHERE/x",
        "https://a.example:$PORT/x",
        "$SCHEME://a.example/",
        "https://a.example$REST",
        "$WHERE/x",
    ] {
        assert_eq!(
            request(curl("GET", url)).refusal(),
            Code::HostVariable,
            "{url}"
        );
    }
    let mut context = skill("s");
    context
        .constants
        .insert("WHERE".to_owned(), "b.example".to_owned());
    let assembled = http(curl("GET", "https://a.$WHERE/x"), &nameless(), &context);
    assert_eq!(assembled.operation.hosts, ["a.b.example:443"]);
    assert!((assembled.operation.confidence - 0.7).abs() < 1e-9);
    context
        .constants
        .insert("WHERE".to_owned(), "u@evil.example".to_owned());
    let assembled = http(curl("GET", "https://$WHERE/x"), &nameless(), &context);
    assert_eq!(assembled.refusal(), Code::UrlUserinfo);
}

#[test]
fn names_of_the_base() {
    let context = based("https://a.example:8443/v1/");
    let cases = [
        ("$BASE_URL/x", "https://a.example:8443/v1/x"),
        ("${BOOKS_API_URL}/x", "https://a.example:8443/v1/x"),
        ("$API_BASE", "https://a.example:8443/v1"),
        ("https://$HOST/x", "https://a.example:8443/x"),
        ("$HOST/x", "https://a.example:8443/x"),
    ];
    for (url, expected) in cases {
        let assembled = http(curl("GET", url), &nameless(), &context);
        assert_eq!(assembled.readable()["url"], expected, "{url}");
    }
    assert_eq!(
        request(curl("GET", "$BASE_URL/x")).refusal(),
        Code::HostVariable
    );
}

#[test]
fn relative_urls() {
    let cases = [
        ("https://a.example/", "/x/{y}", "https://a.example/x/{y}"),
        ("https://a.example/v1", "/x", "https://a.example/v1/x"),
        (
            "https://a.example/v1/",
            "x?q=1",
            "https://a.example/v1/x?q=1",
        ),
        ("https://a.example/v1", "?q=1", "https://a.example/v1?q=1"),
    ];
    for (base, url, expected) in cases {
        let assembled = http(endpoint("GET", url), &nameless(), &based(base));
        assert_eq!(assembled.readable()["url"], expected, "{base} {url}");
    }
    assert_eq!(request(endpoint("GET", "/x")).refusal(), Code::NoBaseUrl);
    // `map` keeps it as it is written.
    let kept = http(endpoint("GET", "/v2/items/:id"), &nameless(), &unbased());
    assert_eq!(kept.readable()["url"], "/v2/items/{id}");
    assert!(kept.operation.hosts.is_empty());
}

#[test]
fn the_base_is_chosen_in_this_order() {
    let choose = |requested, declared, source| {
        crate::assemble::base::choose(requested, declared, source)
            .map(|url| url.map(|url| url.to_string()))
    };
    let source = Some("https://s.example/docs/skill.md?x#y");
    let declared = Some("https://d.example/v1");
    let requested = Some("http://r.example");
    assert_eq!(
        choose(requested, declared, source).unwrap().unwrap(),
        "http://r.example/"
    );
    assert_eq!(
        choose(None, declared, source).unwrap().unwrap(),
        "https://d.example/v1"
    );
    assert_eq!(
        choose(None, None, source).unwrap().unwrap(),
        "https://s.example/"
    );
    assert_eq!(
        choose(None, None, Some("file:///a/skill.md")).unwrap(),
        None
    );
    for bad in ["ftp://x.example", "https://u@x.example", "x"] {
        assert_eq!(
            choose(Some(bad), None, None).unwrap_err().code,
            Code::InvalidRequest
        );
    }
}

#[test]
fn a_url_that_the_caller_gives() {
    let without = || HttpDraft::new(WrittenAs::Curl, "GET", None);
    assert_eq!(request(without()).refusal(), Code::UrlMissing);
    let context = Context {
        domains: vec!["a.example".to_owned()],
        ..skill("s")
    };
    for draft in [without(), curl("GET", "$TARGET"), curl("GET", "{page}")] {
        let assembled = http(draft, &nameless(), &context);
        assert_eq!(assembled.required(), json!(["url"]));
        let stage = assembled.http();
        assert_eq!(
            (&stage["url-input"], &stage["domains"]),
            (&json!("url"), &json!(["a.example"]))
        );
        assert_eq!(assembled.operation.hosts, ["a.example:443"]);
    }
    let secret = without().header("Authorization", "Bearer $T");
    assert_eq!(
        http(secret, &nameless(), &context).refusal(),
        Code::UrlInputSecret
    );
    let mapped = http(without(), &nameless(), &unbased());
    assert!((mapped.operation.confidence - 0.5).abs() < 1e-9);
}
