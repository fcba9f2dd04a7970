//! Two texts of one operation.

use serde_json::json;

use super::{Assembled, curl, endpoint, http, nameless, request, skill};
use crate::assemble;

fn joined(first: Assembled, second: &Assembled) -> Assembled {
    let mut first = first;
    assemble::absorb(&mut first.assembled, &second.assembled);
    first.operation.operation = first.assembled.operation.clone();
    first
}

fn posted(data: &str) -> Assembled {
    request(curl("POST", "https://a.example/x").data(data))
}

#[test]
fn the_same_endpoint() {
    let of = |url: &str| {
        let assembled = request(curl("GET", url));
        assembled.assembled.endpoint.as_ref().unwrap().clone()
    };
    let item = of("https://a.example/items/{id}?x=1");
    assert!(item.is_same(&of("https://A.example:443/items/$OTHER?y=2")));
    assert!(!item.is_same(&of("https://a.example/items/5")));
    assert!(!item.is_same(&of("https://b.example/items/{id}")));
    assert!(!item.is_same(&of("http://a.example/items/{id}")));
    assert_eq!(item.last_segment.as_deref(), Some("items"));
    // A relative one without base, which is unusable for itself.
    let relative = request(endpoint("GET", "/items/:id"));
    let relative = relative.assembled.endpoint.as_ref().unwrap().clone();
    assert!(relative.is_same(&item) && item.is_same(&relative));
    // A relative one with a base that is the documentation's.
    let mut context = skill("s");
    context.base_url = Some(url::Url::parse("https://docs.example/").unwrap());
    let based = http(endpoint("GET", "/items/:id"), &nameless(), &context);
    assert!(item.is_same(based.assembled.endpoint.as_ref().unwrap()));
}

#[test]
fn further_members_are_optional_and_sent() {
    let assembled = joined(
        posted(r#"{"query":"a","limit":10}"#),
        &posted(r#"{"query":"b","page":2}"#),
    );
    assert_eq!(assembled.required(), json!(["query"]));
    assert_eq!(assembled.properties()["page"], json!({"type": "integer"}));
    let members = assembled.http()["body"]["json"]["object"].clone();
    assert_eq!(
        members[2],
        json!({"key": "page", "value": {"input": "page"}})
    );
    let examples = assembled.json()["examples"].clone();
    assert_eq!(examples[0]["input"], json!({"query": "a", "limit": 10}));
    assert_eq!(examples[1]["input"], json!({"query": "b", "page": 2}));
}

#[test]
fn further_pairs_are_optional_and_sent() {
    let assembled = joined(
        request(curl("GET", "https://a.example/x?a={a}")),
        &request(curl("GET", "https://a.example/x?a=1&b={b}")),
    );
    assert_eq!(assembled.required(), json!(["a"]));
    assert_eq!(assembled.http()["query"].as_array().unwrap().len(), 2);
    assert!(assembled.properties().get("b").is_some());
}

#[test]
fn a_name_that_is_taken_is_not_taken_twice() {
    let assembled = joined(
        request(curl("POST", "https://a.example/{id}").data(r#"{"a":1}"#)),
        &request(curl("POST", "https://a.example/{x}").data(r#"{"id":"z"}"#)),
    );
    assert_eq!(
        assembled.http()["body"]["json"]["object"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
    // `a` is missing in the second, so it is optional; the path's `id` is not.
    assert_eq!(assembled.required(), json!(["id"]));
}

#[test]
fn another_kind_of_body_is_an_example_only() {
    let first = posted(r#"{"a":1}"#);
    let before = first.json();
    let assembled = joined(first, &posted("b=1"));
    assert_eq!(assembled.json()["stages"], before["stages"]);
    assert_eq!(assembled.json()["input-schema"], before["input-schema"]);
}
