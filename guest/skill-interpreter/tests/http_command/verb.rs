//! The bare verb, by the rows of 9.3.

use super::*;
use skill_interpreter::draft::DraftStage;
use skill_interpreter::http_command::verb::{self, VerbRequest};

fn parse_text(text: &str) -> Vec<VerbRequest> {
    verb::parse(text, 10, &Context::default(), &mut Diagnostics::default())
}

fn draft_of(request: &VerbRequest) -> &HttpDraft {
    match request.draft.plan.as_ref().unwrap().as_slice() {
        [DraftStage::Http(draft)] => draft,
        other => panic!("{other:?}"),
    }
}

fn one(text: &str) -> VerbRequest {
    let mut requests = parse_text(text);
    assert_eq!(requests.len(), 1, "{text}");
    requests.remove(0)
}

#[test]
fn a_verb_and_a_target_begin_a_request() {
    for text in [
        "GET /x",
        "POST https://h/x",
        "PATCH {base}/x",
        "OPTIONS $BASE/x",
        "\n# note\nHEAD /x",
        "// note\n  PUT /x",
    ] {
        assert!(verb::begins(text), "{text}");
    }
    for text in [
        "get /x",
        "FETCH /x",
        "GET",
        "GET x",
        "GET: /x",
        "Getting /x",
        "",
        "{\"a\":1}\nGET /x",
    ] {
        assert!(!verb::begins(text), "{text}");
    }
}

#[test]
fn query_headers_body_and_output() {
    let found = one(
        "POST /v1/items HTTP/1.1\n?a=1&b={b}\nHeaders:\nX-Key: $KEY\nBody:\n{\"t\": \"{t}\"}\n\nReturns: {\"id\": 1}\n",
    );
    let draft = draft_of(&found);
    assert_eq!(
        (draft.method.as_str(), url(draft)),
        ("POST", "/v1/items".to_owned())
    );
    assert_eq!(query(draft), ["a=1&b={b}"]);
    assert_eq!(
        headers(draft),
        ["Content-Type: application/json", "X-Key: {KEY}"]
    );
    assert_eq!(body(draft).as_deref(), Some("{\"t\": \"{t}\"}"));
    assert_eq!(found.output.as_deref(), Some("{\"id\": 1}"));
    assert_eq!(found.draft.line, 10);
}

#[test]
fn after_a_blank_line_the_rest_is_the_body() {
    let found = one("PUT /x\nContent-Type: text/plain\nA: b\n\nline: one\n\nline two\n");
    let draft = draft_of(&found);
    assert_eq!(headers(draft), ["A: b", "Content-Type: text/plain"]);
    assert_eq!(body(draft).as_deref(), Some("line: one\n\nline two"));
}

#[test]
fn a_label_ends_the_body() {
    for label in ["Returns:", "Response: 200", "Output:", "response:"] {
        let found = one(&format!(
            "POST /x\nBody: {{\"year\":\n1816}}\n{label}\n{{\"ok\": true}}"
        ));
        assert_eq!(
            body(draft_of(&found)).as_deref(),
            Some("{\"year\":\n1816}"),
            "{label}"
        );
        assert!(found.output.unwrap().ends_with("{\"ok\": true}"));
    }
    let found = one("POST /x\n\nsome words\nBody:\n{\"a\":1}\nHeaders:\nA: b");
    assert_eq!(body(draft_of(&found)).as_deref(), Some("{\"a\":1}"));
    assert_eq!(
        headers(draft_of(&found)),
        ["A: b", "Content-Type: application/json"]
    );
}

#[test]
fn comments_are_names_or_notes() {
    let found = parse_text(
        "# List\nGET /x # all\n// note\nA: b\n\n# Make\nPOST /x\n{\"a\": 1}\n\n# Drop\nDELETE /x/:id // one",
    );
    let names: Vec<_> = found
        .iter()
        .map(|request| request.draft.comment.as_deref())
        .collect();
    assert_eq!(names, [Some("List"), Some("Make"), Some("Drop")]);
    assert_eq!(
        found
            .iter()
            .map(|request| url(draft_of(request)))
            .collect::<Vec<_>>(),
        ["/x", "/x", "/x/:id"]
    );
    assert_eq!(headers(draft_of(&found[0])), ["A: b"]);
    assert_eq!(
        found
            .iter()
            .map(|request| body(draft_of(request)))
            .collect::<Vec<_>>(),
        [None, Some("{\"a\": 1}".to_owned()), None]
    );
    assert_eq!(
        found
            .iter()
            .map(|request| request.draft.line)
            .collect::<Vec<_>>(),
        [11, 16, 20]
    );
}

#[test]
fn several_requests_and_the_type_of_json() {
    let found = parse_text(
        "### First\nGET /a\n###\nPOST /b\n\n[1, $X]\n### Third\nPOST /c\nContent-Type: x/y\n\n{\"a\":1}\nPOST /d\n\na=1",
    );
    assert_eq!(found.len(), 4);
    assert_eq!(found[0].draft.comment.as_deref(), Some("First"));
    assert_eq!(
        headers(draft_of(&found[1])),
        ["Content-Type: application/json"]
    );
    assert_eq!(headers(draft_of(&found[2])), ["Content-Type: x/y"]);
    assert_eq!(headers(draft_of(&found[3])), [""; 0]);
    assert_eq!(body(draft_of(&found[3])).as_deref(), Some("a=1"));
}

#[test]
fn a_body_on_the_line_of_its_label() {
    let found = one("PUT /v2/items/:id\nBody: {\"year\":1816}");
    assert_eq!(body(draft_of(&found)).as_deref(), Some("{\"year\":1816}"));
}

#[test]
fn an_address_that_is_none_makes_the_request_unusable() {
    for (text, code) in [
        ("GET http://u:p@h/x", Code::UrlUserinfo),
        ("GET //h/x", Code::UrlInvalid),
        ("GET /x\nHeaders: A", Code::HeaderRefused),
    ] {
        let failure = one(text).draft.plan.unwrap_err();
        assert_eq!((failure.code, failure.line), (code, Some(10)), "{text}");
    }
}

#[test]
fn more_requests_than_a_fence_may_hold() {
    assert_eq!(parse_text(&"GET /x\n".repeat(64)).len(), 64);
    let found = parse_text(&"GET /x\n".repeat(100_000));
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].draft.plan.as_ref().unwrap_err().code, Code::Limit);
}
