//! Bodies and the inputs in them.

use serde_json::{Map, Value, json};

use super::{Assembled, curl, endpoint, http, nameless, request, skill, text};
use crate::draft::{
    BodyDraft, Declaration, FileUse, HttpDraft, InputDeclaration, InputPlace, JsonDraft, Media,
    MultipartDraft, PartContent, Piece, Template, WirePlace, WrittenAs,
};
use crate::failure::Code;

fn posted(data: &str) -> Assembled {
    request(curl("POST", "https://a.example/x").data(data))
}

fn with_body(body: BodyDraft) -> HttpDraft {
    let mut draft = curl("POST", "https://a.example/x");
    draft.body = Some(body);
    draft
}

/// Declared inputs: properties, the required ones, and where some go.
fn declared(properties: Value, required: &[&str], places: Vec<InputPlace>) -> Declaration {
    let mut schema = Map::new();
    schema.insert("type".to_owned(), "object".into());
    schema.insert("properties".to_owned(), properties);
    schema.insert("required".to_owned(), json!(required));
    Declaration {
        input: Some(InputDeclaration { schema, places }),
        ..nameless()
    }
}

#[test]
fn members_of_a_json_body() {
    let assembled = posted(
        r#"{"query": "machine learning", "limit": 10, "ratio": 1.5, "deep": true, "none": null,
            "tags": ["a", "b"], "where": {"year": 1815}, "any": $ANY, "said": "$SAID"}"#,
    );
    assert_eq!(
        assembled.properties(),
        json!({
            "query": {"type": "string"},
            "limit": {"type": "integer"},
            "ratio": {"type": "number"},
            "deep": {"type": "boolean"},
            "none": {},
            "tags": {"type": "array", "items": {"type": "string"}},
            "where": {"type": "object", "properties": {"year": {"type": "integer"}}, "required": ["year"]},
            "any": {},
            "said": {"type": "string"},
        })
    );
    assert_eq!(assembled.required().as_array().unwrap().len(), 9);
    assert_eq!(
        assembled.operation.input_schema["additionalProperties"],
        false
    );
    let example = &assembled.json()["examples"][0]["input"];
    assert_eq!(example["query"], "machine learning");
    assert_eq!(example["where"], json!({"year": 1815}));
    assert_eq!(example.get("any"), None);
}

#[test]
fn a_json_body_shows_the_values_of_the_document() {
    let body = "{ \"b\": 1.0,\n \"a\": \"\\u00e9$X\" }";
    assert_eq!(
        posted(body).readable()["body"],
        "{\"b\":1.0,\"a\":\"é{X}\"}"
    );
}

#[test]
fn text_and_variables_mixed() {
    let assembled = posted(r#"{"greeting":"Hello, {name}!"}"#);
    assert_eq!(assembled.required(), json!(["name"]));
    assert_eq!(
        assembled.http()["body"],
        json!({"json": {"object": [{"key": "greeting", "value": {"text": [
            {"lit": "Hello, "}, {"input": "name", "enc": "json-string"}, {"lit": "!"}]}}]}})
    );
}

#[test]
fn a_member_with_a_secret_is_the_hosts() {
    let assembled = posted(r#"{"auth":{"token":"$T","user":"{who}","mode":"x"},"q":1}"#);
    assert_eq!(assembled.secrets(), ["T"]);
    assert_eq!(assembled.required(), json!(["who", "q"]));
    let auth = &assembled.http()["body"]["json"]["object"][0]["value"]["object"];
    assert_eq!(
        auth[0]["value"],
        json!({"text": [{"secret": "T", "enc": "json-string"}]})
    );
    assert_eq!(auth[2]["value"], json!({"value": "x"}));
}

#[test]
fn a_literal_password_in_json() {
    for body in [
        r#"{"user":"ann","password":"hunter2"}"#,
        r#"{"login":{"password":"hunter2","user":"ann"}}"#,
    ] {
        let assembled = posted(body);
        assert_eq!(
            assembled.properties()["password"],
            json!({"type": "string", "writeOnly": true})
        );
        let everything = format!("{} {}", assembled.json(), assembled.readable());
        assert!(!everything.contains("hunter2"), "{everything}");
    }
}

#[test]
fn form_pairs() {
    let assembled = posted("a=1&b=$B&c=x-{y}&d=%C3%A9+f");
    assert_eq!(assembled.required(), json!(["b", "y"]));
    assert_eq!(assembled.properties()["a"]["default"], "1");
    assert_eq!(assembled.properties()["d"]["default"], "é f");
    assert_eq!(
        assembled.http()["body"]["form"][1],
        json!({"name": [{"lit": "b"}], "value": [{"input": "b", "enc": "form"}]})
    );
    assert_eq!(assembled.readable()["body"], "a=1&b={b}&c=x-{y}&d=%C3%A9+f");
}

#[test]
fn encoded_pieces() {
    let encoded = |content: &str| Piece::Encoded(text(content));
    let plain = |content: &str| Piece::Text(text(content));
    let assembled = request(with_body(BodyDraft::Pieces(vec![
        plain("q="),
        encoded("a b&c"),
        plain("&r=1&"),
        encoded("free text"),
        plain("&s="),
        encoded("x {y}"),
    ])));
    assert_eq!(
        assembled.readable()["body"],
        "q=a+b%26c&r=1&free+text&s=x+{y}"
    );
    assert_eq!(assembled.properties()["q"]["default"], "a b&c");
    assert_eq!(
        assembled.http()["body"]["form"][3]["value"],
        json!([{"lit": "x+"}, {"input": "y", "enc": "form"}])
    );
}

#[test]
fn any_other_body_is_one_template() {
    for (body, inputs) in [
        ("hello {name}", json!(["name"])),
        ("{broken: json", json!(null)),
        ("[1,2,{\"a\":\"{b}\"}]", json!(["b"])),
        ("{\"a\":1,\"a\":2}", json!(null)),
        ("", json!(null)),
    ] {
        assert_eq!(posted(body).required(), inputs, "{body}");
    }
    let typed = curl("POST", "https://a.example/x")
        .header("Content-Type", "text/plain; charset=utf-8")
        .data("a=1&b=2");
    let assembled = request(typed);
    assert_eq!(
        assembled.http()["body"],
        json!({"text": [{"lit": "a=1&b=2"}]})
    );
}

#[test]
fn nesting_is_bounded() {
    let deep = |depth: usize| format!("{}1{}", "[".repeat(depth), "]".repeat(depth));
    let json = posted(&format!(r#"{{"a":{}}}"#, deep(100)));
    assert_eq!(json.required(), json!(["a"]));
    let text = posted(&format!(r#"{{"a":{}}}"#, deep(30_000)));
    assert_eq!(text.required(), json!(null));
}

#[test]
fn multipart_and_files() {
    let part = |name: &str, content: PartContent| MultipartDraft {
        name: name.to_owned(),
        content,
        content_type: None,
        filename: None,
    };
    let assembled = request(with_body(BodyDraft::Multipart(vec![
        part("note", PartContent::Text(text("hi"))),
        part("by", PartContent::Text(text("$WHO"))),
        part("doc", PartContent::File(text("a.pdf"))),
        part("text", PartContent::TextOfFile(text("$FILE"))),
    ])));
    assert_eq!(assembled.required(), json!(["by", "files"]));
    assert_eq!(assembled.properties()["note"]["default"], "hi");
    let files = &assembled.properties()["files"];
    assert_eq!(files["required"], json!(["a.pdf", "FILE"]));
    assert_eq!(assembled.operation.files.read, ["a.pdf", "FILE"]);
    assert_eq!(
        assembled.readable()["multipart"],
        json!([
            {"name": "note", "value": "hi"},
            {"name": "by", "value": "{by}"},
            {"name": "doc", "file": "a.pdf"},
            {"name": "text", "value": "@FILE"},
        ])
    );
    for wanted in ["file-read:a.pdf", "host:a.example:443"] {
        assert!(assembled.operation.requires.contains(&wanted.to_owned()));
        assert!(assembled.operation.reasons.contains(&wanted.to_owned()));
    }
}

#[test]
fn files_within_a_body() {
    let assembled = request(with_body(BodyDraft::Pieces(vec![
        Piece::Text(text("a={x}&")),
        Piece::File {
            name: text("b.txt"),
            how: FileUse::Stripped,
        },
        Piece::Previous(FileUse::Verbatim),
    ])));
    assert_eq!(
        assembled.http()["body"],
        json!({"pieces": [
            {"text": [{"lit": "a="}, {"input": "x", "enc": "none"}, {"lit": "&"}]},
            {"file": {"name": "b.txt", "use": "stripped"}},
            {"previous": {"use": "verbatim"}},
        ]})
    );
}

#[test]
fn declared_inputs_go_where_they_say_or_the_method_says() {
    let properties =
        json!({"id": {"type": "string"}, "q": {"type": "string"}, "lang": {"type": "string"}});
    let place = InputPlace {
        input: "lang".to_owned(),
        wire_name: "X-Lang".to_owned(),
        place: WirePlace::Header,
        style: None,
    };
    let declaration = declared(properties, &["id"], vec![place]);
    let get = http(
        endpoint("GET", "https://a.example/{id}"),
        &declaration,
        &skill("s"),
    );
    assert_eq!(
        get.readable(),
        json!({"url": "https://a.example/{id}?q={q}", "method": "GET", "headers": {"X-Lang": "{lang}"}})
    );
    let mut post = endpoint("POST", "https://a.example/{id}");
    post.body = Some(BodyDraft::FromInputs(Media::Json));
    let post = http(post, &declaration, &skill("s"));
    assert_eq!(
        post.http()["body"],
        json!({"json": {"object": [{"key": "q", "value": {"input": "q"}}]}})
    );
    assert_eq!(
        post.readable()["headers"]["Content-Type"],
        "application/json"
    );
    assert_eq!(post.required(), json!(["id"]));
}

#[test]
fn nothing_left_for_the_body() {
    let declaration = declared(json!({"id": {"type": "string"}}), &["id"], Vec::new());
    let mut draft = endpoint("POST", "https://a.example/{id}");
    draft.body = Some(BodyDraft::FromInputs(Media::Json));
    let assembled = http(draft, &declaration, &skill("s"));
    assert_eq!(assembled.http().get("body"), None);
    assert_eq!(assembled.http().get("headers"), None);
}

#[test]
fn a_verb_without_body_takes_one() {
    for (method, takes) in [
        ("POST", true),
        ("PATCH", true),
        ("GET", false),
        ("DELETE", false),
    ] {
        let draft = HttpDraft::new(WrittenAs::Verb, method, Some(text("https://a.example/")));
        let assembled = request(draft);
        assert_eq!(
            assembled.properties().get("body").is_some(),
            takes,
            "{method}"
        );
        assert_eq!(assembled.required(), json!(null));
    }
    assert_eq!(
        request(curl("POST", "https://a.example/")).properties(),
        json!({})
    );
}

#[test]
fn declared_inputs_keep_their_names_in_a_body() {
    let declaration = declared(
        json!({"term": {"type": "string"}, "limit": {"type": "integer"}, "page": {"type": "integer"}}),
        &["term"],
        Vec::new(),
    );
    let body = JsonDraft::Object(vec![
        ("query".to_owned(), JsonDraft::Text(text("{term}"))),
        ("kind".to_owned(), JsonDraft::Value(json!("book"))),
        (
            "opts".to_owned(),
            JsonDraft::Object(vec![("n".to_owned(), JsonDraft::Any(text("{limit}")))]),
        ),
    ]);
    let mut draft = endpoint("POST", "https://a.example/");
    draft.body = Some(BodyDraft::Json(body));
    let assembled = http(draft, &declaration, &skill("s"));
    assert_eq!(assembled.properties().as_object().unwrap().len(), 3);
    assert_eq!(
        assembled.http()["body"]["json"]["object"],
        json!([
            {"key": "query", "value": {"input": "term"}},
            {"key": "kind", "value": {"value": "book"}},
            {"key": "opts", "value": {"object": [{"key": "n", "value": {"input": "limit"}}]}},
            {"key": "page", "value": {"input": "page"}},
        ])
    );
}

#[test]
fn outputs_that_hold_a_secret() {
    let declaration = Declaration {
        output_schema: Some(json!({"type": "object", "properties": {
            "api_key": {"type": "string"}, "next_token": {"type": "string"}, "token": {"type": "integer"},
            "users": {"type": "array", "items": {"properties": {"password": {"type": "string"}}}},
        }})),
        returns_secret: vec!["/x".to_owned()],
        examples: vec![crate::draft::Example {
            output: Some(json!({"a/b": [{"jwt": "e"}], "sort_key": "x"})),
            ..Default::default()
        }],
        ..nameless()
    };
    let assembled = http(
        endpoint("GET", "https://a.example/"),
        &declaration,
        &skill("s"),
    );
    assert_eq!(
        assembled.operation.returns_secret,
        ["/x", "/api_key", "/users/*/password", "/a~1b/*/jwt"]
    );
}

#[test]
fn a_plan_that_failed_is_unusable_at_its_line() {
    let draft = crate::draft::Draft {
        line: 3,
        comment: None,
        text: String::new(),
        plan: Err(crate::failure::Failure::new(Code::ShellSyntax, "no")),
    };
    let operation = crate::assemble::operation(
        &draft,
        &nameless(),
        &skill("s"),
        &mut crate::diagnostic::Diagnostics::default(),
    );
    let json = serde_json::to_value(&operation.operation).unwrap();
    assert_eq!(json["status"], "unusable");
    assert_eq!(json["code"], "shell-syntax");
    assert_eq!(json["error"]["line"], 3);
}

#[test]
fn an_empty_template_is_no_body() {
    let assembled = request(with_body(BodyDraft::Pieces(vec![Piece::Text(
        Template::default(),
    )])));
    assert_eq!(assembled.http()["body"], json!({"text": []}));
    assert_eq!(assembled.readable().get("body"), None);
}

#[test]
fn a_query_in_a_json_string_stays_as_it_is_written() {
    let query = "query {user {id}}";
    let assembled =
        request(curl("POST", "https://a.example/graphql").data(r#"{"query":"query {user {id}}"}"#));
    assert_eq!(assembled.required(), json!(["query"]));
    assert_eq!(
        assembled.json()["examples"][0]["input"],
        json!({"query": query})
    );
    let assembled = request(
        curl("POST", "https://a.example/graphql")
            .data(r#"{"query":"query {user(name:\"{name}\") {id}}"}"#),
    );
    assert_eq!(assembled.required(), json!(["name"]));
    let mut draft = endpoint("POST", "https://a.example/graphql");
    let body = vec![("query".to_owned(), JsonDraft::Text(text(query)))];
    draft.body = Some(BodyDraft::Json(JsonDraft::Object(body)));
    assert_eq!(request(draft).required(), json!(["query"]));
}
