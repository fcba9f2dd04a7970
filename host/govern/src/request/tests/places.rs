//! Values in path, query and header.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{header, operation, refusal, requested};
use crate::failure::Code;

#[test]
fn a_path_value_stays_one_segment() {
    for (value, path) in [
        (json!("a/b"), "/v1/items/a%2Fb"),
        (json!("../../admin"), "/v1/items/..%2F..%2Fadmin"),
        (json!("%2e%2e"), "/v1/items/%252e%252e"),
        (json!("a?x=1#y"), "/v1/items/a%3Fx%3D1%23y"),
        (json!("\\..\\"), "/v1/items/%5C..%5C"),
        (json!("@evil.example"), "/v1/items/%40evil.example"),
        (json!("..."), "/v1/items/..."),
        (json!("tab\there"), "/v1/items/tab%09here"),
        (json!("a\r\nb"), "/v1/items/a%0D%0Ab"),
        (json!("日"), "/v1/items/%E6%97%A5"),
    ] {
        let request = requested("forms", "item", json!({"id": value})).unwrap();
        assert_eq!(request.url.path(), path);
        assert_eq!(request.url.host_str(), Some("forms.example.org"));
    }
}

#[test]
fn dot_segments_and_empty_segments_are_refused() {
    for id in ["", ".", ".."] {
        let refused = refusal(requested("forms", "item", json!({"id": id})));
        assert_eq!(refused, (Code::InvalidInput, "id".to_owned()), "{id:?}");
    }
}

#[test]
fn two_values_cannot_join_to_a_dot_segment() {
    let mut item = operation("forms", "item");
    let hydrant_plan::Stage::Http(stage) = &mut item.stages[0] else {
        panic!()
    };
    let id = stage.url.0.pop().unwrap();
    stage.url.0.push(id.clone());
    stage.url.0.push(id);
    let inputs = super::Inputs::of(json!({"id": "."}));
    let refused = refusal(super::filled(&item, &inputs, &super::CallFiles::default()));
    assert_eq!(refused.0, Code::InvalidInput);
    let inputs = super::Inputs::of(json!({"id": "a"}));
    let request = super::filled(&item, &inputs, &super::CallFiles::default()).unwrap();
    assert_eq!(request.url.path(), "/v1/items/aa");
}

#[test]
fn a_query_value_stays_one_value() {
    let request = requested(
        "kit",
        "mixed",
        json!({"shelf": "s", "version": 1.5, "word": "a&admin=1 +#%", "TRACE": true}),
    )
    .unwrap();
    assert_eq!(
        request.url.as_str(),
        "https://books.example.org/v2/s/v1.5/items?sort=asc&word=a%26admin%3D1%20%2B%23%25"
    );
    assert_eq!(header(&request, "x-trace").as_deref(), Some("t-true"));
}

#[test]
fn an_optional_pair_without_value_is_left_out() {
    let request = requested("books", "getBook", json!({"id": 7})).unwrap();
    assert_eq!(
        request.url.as_str(),
        "https://eu.books.example.org/v2/books/7"
    );
    let request = requested("books", "getBook", json!({"id": 7, "query-id": 8})).unwrap();
    assert_eq!(request.url.query(), Some("id=8"));
}

#[test]
fn styles_of_a_query() {
    let params = json!({
        "tags": ["a,b", "c d"],
        "ids": [1, 2],
        "sizes": ["s", "m|l"],
        "colours": ["red", "&"],
        "filter": {"year": 1815},
        "q": "x",
    });
    let request = requested("books", "listBooks", params).unwrap();
    assert_eq!(
        request.url.query(),
        Some(
            "api_key=value%20of%20BOOK_SHOP_KEY%2F%2B&q=x&tags=a%2Cb&tags=c%20d&ids=1,2\
             &sizes=s%20m%7Cl&colours=red%7C%26&filter[year]=1815"
        )
    );
    assert!(request.secret_in_url);
    let request = requested("books", "listBooks", json!({"tags": [], "filter": {}})).unwrap();
    assert_eq!(
        request.url.query(),
        Some("api_key=value%20of%20BOOK_SHOP_KEY%2F%2B")
    );
}

#[test]
fn an_object_within_an_object_has_no_style() {
    let params = json!({"filter": {"year": 1, "deep": {"a": 1}}});
    let refused = refusal(requested("books", "listBooks", params));
    assert_eq!(refused, (Code::InvalidInput, "filter".to_owned()));
}

#[test]
fn a_cookie_value_cannot_add_a_cookie() {
    let request = requested("books", "listBooks", json!({"session": "abc"})).unwrap();
    assert_eq!(header(&request, "cookie").as_deref(), Some("session=abc"));
    for value in ["a; admin=1", "a\r\nX: y", "a\"b"] {
        let refused = refusal(requested("books", "listBooks", json!({"session": value})));
        assert_eq!(
            refused,
            (Code::InvalidInput, "session".to_owned()),
            "{value:?}"
        );
    }
}

#[test]
fn a_url_of_the_caller_stays_within_the_domains() {
    let go = |url: &str| requested("pages", "fetch", json!({"url": url}));
    let request = go("https://BOOKS.example.org/a/../b?x=1#frag").unwrap();
    assert_eq!(request.url.as_str(), "https://books.example.org/b?x=1");
    for (url, code) in [
        ("http://books.example.org/", Code::InvalidInput),
        ("file:///etc/passwd", Code::InvalidInput),
        ("books.example.org", Code::InvalidInput),
        ("https://u:p@books.example.org/", Code::InvalidInput),
        (
            "https://books.example.org@evil.example/",
            Code::InvalidInput,
        ),
        ("https://evil.example/books.example.org", Code::HostDenied),
        ("https://books.example.org.evil.example/", Code::HostDenied),
        ("https://books.example.org./", Code::HostDenied),
        ("https://books.example.org:8443/", Code::HostDenied),
        (
            "https://evil.example\\@books.example.org/",
            Code::HostDenied,
        ),
        ("https://127.0.0.1/", Code::HostDenied),
        ("https://sub.books.example.org/", Code::HostDenied),
    ] {
        assert_eq!(refusal(go(url)).0, code, "{url}");
    }
}

#[test]
fn a_host_that_a_value_could_change_is_refused() {
    let inputs = super::Inputs::of(json!({"id": ".evil.example"}));
    for (prefix, code) in [
        ("https://forms.example.org", Code::HostVariable),
        ("https://", Code::HostVariable),
        ("https://user@forms.example.org/", Code::UrlInvalid),
        ("ftp://forms.example.org/", Code::UrlInvalid),
        ("forms.example.org/", Code::UrlInvalid),
        ("https://other.example.org/", Code::HostDenied),
        ("https://forms.example.org:8443/", Code::HostDenied),
        ("https://forms.example.org/a/../b?", Code::UrlInvalid),
    ] {
        let mut item = operation("forms", "item");
        let hydrant_plan::Stage::Http(stage) = &mut item.stages[0] else {
            panic!()
        };
        stage.url.0[0] = hydrant_plan::Segment::Literal { lit: prefix.into() };
        let refused = refusal(super::filled(&item, &inputs, &super::CallFiles::default()));
        assert_eq!(refused.0, code, "{prefix}");
    }
}

#[test]
fn a_huge_value_is_a_limit() {
    let huge = "x".repeat(70_000);
    let params = json!({"shelf": "a", "version": 1, "word": huge, "TRACE": "t"});
    assert_eq!(refusal(requested("kit", "mixed", params)).0, Code::Limit);
    let params = json!({"shelf": "a", "version": 1, "word": "w", "TRACE": huge});
    assert_eq!(refusal(requested("kit", "mixed", params)).0, Code::Limit);
    let params = json!({"body": {"title": "x".repeat(11 << 20), "year": 1900}});
    assert_eq!(
        refusal(requested("books", "addBook", params)).0,
        Code::Limit
    );
}

proptest! {
    /// Whatever a caller gives, the request goes where the template says, with the pairs that it has.
    #[test]
    fn no_value_changes_the_shape_of_a_request(
        shelf in any::<String>(),
        word in any::<String>(),
        trace in any::<String>(),
    ) {
        let params = json!({"shelf": shelf, "version": "1", "word": word, "TRACE": trace});
        match requested("kit", "mixed", params) {
            Err(failure) => prop_assert_eq!(failure.code, Code::InvalidInput),
            Ok(request) => {
                let url = &request.url;
                prop_assert_eq!(url.host_str(), Some("books.example.org"));
                prop_assert_eq!(url.port_or_known_default(), Some(443));
                prop_assert!(url.fragment().is_none() && url.username().is_empty());
                let segments: Vec<&str> = url.path_segments().unwrap().collect();
                prop_assert_eq!(segments.len(), 4);
                prop_assert_eq!((segments[0], segments[2], segments[3]), ("v2", "v1", "items"));
                let pairs: Vec<(String, String)> = url.query_pairs().into_owned().collect();
                let expected = vec![
                    ("sort".to_owned(), "asc".to_owned()),
                    ("word".to_owned(), word),
                ];
                prop_assert_eq!(pairs, expected);
                for header in &request.headers {
                    prop_assert!(!header.value.0.iter().any(|byte| b"\r\n\0".contains(byte)));
                }
            }
        }
    }

    /// A JSON body says what the caller gave, and nothing else.
    #[test]
    fn a_json_body_is_the_inputs(query in any::<String>(), limit in any::<i64>()) {
        let params = json!({"query": query, "limit": limit});
        let request = requested("moltbook", "search", params.clone()).unwrap();
        let sent: Value = serde_json::from_str(&super::body(&request)).unwrap();
        prop_assert_eq!(sent, params);
    }
}
