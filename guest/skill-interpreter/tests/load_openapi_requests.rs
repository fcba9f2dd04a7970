//! What OpenAPI descriptions say of requests, through the component's entry.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "a failed expectation is a failed test, in a fixture as in the test itself"
)]

mod requests;

use requests::{codes, error, operation, skill, skill_with};
use serde_json::{Value, json};

const TWO: &str = include_str!("fixtures/books-2.0.json");
const THREE: &str = include_str!("fixtures/books-3.0.yaml");
const URL: &str = "https://shop.example/api/openapi.yaml";

fn properties(operation: &Value) -> &Value {
    &operation["input-schema"]["properties"]
}

/// The literal text of a list of segments, an input as `{name}`.
fn text(segments: &Value) -> String {
    let segments = segments.as_array().unwrap();
    let one = |segment: &Value| match segment["lit"].as_str() {
        Some(text) => text.to_owned(),
        None => format!("{{{}}}", segment["input"].as_str().unwrap_or("secret")),
    };
    segments.iter().map(one).collect()
}

fn url(operation: &Value) -> String {
    text(&operation["stages"][0]["url"])
}

/// A description of 3.0 with these paths and components.
fn three(rest: &str) -> String {
    format!(
        "openapi: 3.0.0\ninfo: {{title: T, version: '1'}}\nservers: [{{url: 'https://api.e.org'}}]\n{rest}"
    )
}

#[test]
fn bodies() {
    let skill = skill(URL, THREE);
    let body = |id: &str| operation(&skill, id)["stages"][0]["body"].clone();
    assert_eq!(
        body("addBook")["input"],
        json!({"name": "body", "media": "json"})
    );
    assert_eq!(
        operation(&skill, "addBook")["input-schema"]["required"],
        json!(["body"])
    );
    assert_eq!(body("replaceBook")["input"]["media"], "form");
    assert_eq!(body("upload")["multipart"][0]["file"], "file");
    // A file is not a value.
    let file = operation(&skill, "put-files-name");
    assert_eq!(properties(file)["body"], Value::Null);
    assert_eq!(file["files"]["read"], json!(["body"]));
    assert_eq!(body("getBook"), Value::Null);
    let media = |content: &str| {
        let text = three(&format!(
            "paths: {{/a: {{post: {{operationId: a, requestBody: {{content: {content}}}}}}}}}\n"
        ));
        operation(&requests::skill(URL, &text), "a")["stages"][0].clone()
    };
    assert_eq!(
        media("{text/plain: {}, application/ld+json: {}}")["headers"][0]["value"][0]["lit"],
        "application/ld+json"
    );
    assert_eq!(media("{text/plain: {}}")["body"]["input"]["media"], "text");
    // No body is declared, so none is sent.
    assert_eq!(media("{}")["body"], Value::Null);
}

#[test]
fn servers() {
    let set = |constants: Value| {
        let skill = skill_with(URL, THREE, json!({"constants": constants}));
        url(operation(&skill, "listBooks"))
    };
    assert_eq!(set(json!({})), "https://eu.books.example.org/v2/books");
    assert_eq!(
        set(json!({"region": "us"})),
        "https://us.books.example.org/v2/books"
    );
    // Not in the enumeration.
    assert_eq!(
        set(json!({"region": "evil.example/"})),
        "https://eu.books.example.org/v2/books"
    );
    assert_eq!(
        url(operation(&skill(URL, THREE), "replaceBook")),
        "https://write.books.example.org/books/{id}"
    );
    let with = |source: &str, servers: &str| {
        let text = format!(
            "openapi: 3.0.0\ninfo: {{title: T}}\n{servers}\npaths: {{/a: {{get: {{operationId: a}}}}}}\n"
        );
        let skill = skill(source, &text);
        let found = operation(&skill, "a").clone();
        let codes: Vec<String> = codes(&skill).into_iter().map(str::to_owned).collect();
        (found, codes)
    };
    assert_eq!(
        url(&with(URL, "servers: [{url: /v3}]").0),
        "https://shop.example/v3/a"
    );
    assert_eq!(
        url(&with(URL, "servers: [{url: ../v3}]").0),
        "https://shop.example/v3/a"
    );
    let (none, codes) = with(URL, "");
    assert_eq!(url(&none), "https://shop.example/a");
    assert_eq!(codes, ["no-servers"]);
    assert_eq!(
        with("/home/me/api.yaml", "servers: [{url: /v3}]").0["code"],
        "no-base-url"
    );
    assert_eq!(with("/home/me/api.yaml", "").0["code"], "no-base-url");
    assert_eq!(
        with(URL, "servers: [{url: 'https://{host}/'}]").0["code"],
        "host-variable"
    );
    assert_eq!(
        with(URL, "servers: [{url: 'ftp://x/'}]").0["code"],
        "url-invalid"
    );
}

#[test]
fn security() {
    let skill = skill(URL, THREE);
    let auth = |id: &str| operation(&skill, id)["stages"][0]["auth"].clone();
    let list = operation(&skill, "listBooks");
    assert_eq!(list["secrets"][0]["name"], "BOOK_SHOP_KEY");
    assert_eq!(
        auth("listBooks"),
        json!({"type": "query", "name": "api_key", "env_var": "BOOK_SHOP_KEY"})
    );
    assert_eq!(
        auth("replaceBook"),
        json!({"type": "basic", "env_vars": ["BOOK_SHOP_LOGIN_USER", "BOOK_SHOP_LOGIN_PASSWORD"]})
    );
    assert_eq!(auth("getBook"), Value::Null);
    assert_eq!(operation(&skill, "digest")["code"], "openapi-security");
    let two = requests::skill(URL, TWO);
    let auth = |id: &str| operation(&two, id)["stages"][0]["auth"].clone();
    assert_eq!(
        auth("listBooks"),
        json!({"type": "header", "name": "X-Books-Key", "env_var": "BOOK_SHOP_API_KEY"})
    );
    assert_eq!(
        auth("add-book"),
        json!({"type": "bearer", "env_var": "BOOK_SHOP_OAUTH"})
    );
    assert_eq!(auth("get-books-book-id"), Value::Null);
    // The first alternative that is supported.
    let text = three(
        "security: [{digest: []}, {open: [a]}]\npaths: {/a: {get: {operationId: a}}, /b: {get: {operationId: b, security: [{}]}}}\ncomponents: {securitySchemes: {digest: {type: http, scheme: digest}, open: {type: openIdConnect}}}\n",
    );
    let skill = requests::skill(URL, &text);
    assert_eq!(operation(&skill, "a")["secrets"][0]["name"], "T_OPEN");
    assert_eq!(operation(&skill, "b")["secrets"], json!([]));
}

#[test]
fn what_is_malformed_is_refused_with_its_place() {
    for (rest, path) in [
        ("paths: 5\n", "paths"),
        ("paths: {/a: [1]}\n", "paths"),
        ("paths: {/a: {get: 1}}\n", "paths"),
        ("paths: {/a: {get: {parameters: {}}}}\n", "parameters"),
        (
            "paths: {/a: {get: {parameters: [{in: query}]}}}\n",
            "parameters",
        ),
        ("security: 1\npaths: {/a: {get: {}}}\n", "security"),
    ] {
        let refused = error(URL, &three(rest));
        assert_eq!(
            (&refused["code"], &refused["path"]),
            (&json!("openapi"), &json!(path)),
            "{rest}"
        );
    }
}
