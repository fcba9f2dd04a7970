//! Whole requests of the seed's and of other documents.

use secrecy::SecretString;
use serde_json::json;

use super::super::{CallFiles, Fill, Inputs, http_request};
use super::{body, header, http_stage, operation, refusal, requested};
use crate::failure::{Code, Failure};
use hydrant_plan::Stage;

#[test]
fn the_seeds_search() {
    let params = json!({"query": "machine learning", "limit": 5});
    let request = requested("moltbook", "search", params).unwrap();
    assert_eq!(request.method, "POST");
    assert_eq!(request.url.as_str(), "https://api.moltbook.com/v1/search");
    assert_eq!(
        header(&request, "authorization").as_deref(),
        Some("Bearer value of MOLTBOOK_API_KEY/+")
    );
    assert_eq!(
        header(&request, "content-type").as_deref(),
        Some("application/json")
    );
    assert_eq!(body(&request), r#"{"query":"machine learning","limit":5}"#);
    let marked: Vec<&str> = request
        .headers
        .iter()
        .filter(|header| header.secret)
        .map(|header| header.name.as_str())
        .collect();
    assert_eq!(marked, ["Authorization"]);
    assert!(!request.secret_in_url && !request.secret_in_body);

    let request = requested("moltbook", "search", json!({"query": "foo"})).unwrap();
    assert_eq!(body(&request), r#"{"query":"foo","limit":10}"#);
}

#[test]
fn without_its_input_no_body_is_sent() {
    let request = requested("moltbook", "create_notebook", json!({})).unwrap();
    assert!(request.body.is_none());
    assert_eq!(header(&request, "content-type"), None);
    let request = requested("moltbook", "create_notebook", json!({"body": [1, null]})).unwrap();
    assert_eq!(body(&request), "[1,null]");
    assert_eq!(
        header(&request, "content-type").as_deref(),
        Some("application/json")
    );
}

#[test]
fn basic_auth_and_a_secret_cookie() {
    let request = requested("kit", "basic", json!({"item_id": 7, "q": "a b&c"})).unwrap();
    // value of USER_NAME/+:value of USER_PASSWORD/+
    assert_eq!(
        header(&request, "authorization").as_deref(),
        Some("Basic dmFsdWUgb2YgVVNFUl9OQU1FLys6dmFsdWUgb2YgVVNFUl9QQVNTV09SRC8r")
    );
    assert_eq!(
        header(&request, "cookie").as_deref(),
        Some("sid=value of SID/+")
    );
    assert_eq!(body(&request), "title=Emma&q=a+b%26c");
    let marked = request
        .headers
        .iter()
        .filter(|header| header.secret)
        .count();
    assert_eq!(marked, 2);
}

#[test]
fn a_secret_that_would_end_its_header_is_not_sent() {
    for value in ["a\r\nX-Admin: 1", "a\nb", "a\0b"] {
        let stage_of = operation("moltbook", "search");
        let inputs = Inputs::of(json!({"query": "x"}));
        let secrets = |_: &str| Ok(SecretString::from(value));
        let fill = Fill {
            inputs: &inputs,
            files: &CallFiles::default(),
            secrets: &secrets,
            previous: b"",
        };
        let refused = http_request(http_stage(&stage_of), &stage_of.hosts, fill);
        let Err(failure) = refused else {
            panic!("sent")
        };
        assert_eq!(failure.code, Code::HeaderRefused);
        assert!(failure.message.contains("MOLTBOOK_API_KEY"));
        assert!(!failure.message.contains("X-Admin"));
    }
}

#[test]
fn no_secret_is_asked_for_before_the_host_is_permitted() {
    let search = operation("moltbook", "search");
    let inputs = Inputs::of(json!({"query": "x"}));
    let secrets = |_: &str| -> Result<SecretString, Failure> { panic!("asked for") };
    let fill = Fill {
        inputs: &inputs,
        files: &CallFiles::default(),
        secrets: &secrets,
        previous: b"",
    };
    let hosts = ["api.moltbook.com:8443".to_owned()];
    let Err(failure) = http_request(http_stage(&search), &hosts, fill) else {
        panic!("sent")
    };
    assert_eq!(failure.code, Code::HostDenied);
    assert!(failure.message.contains("not in the HTTP allowlist"));
}

#[test]
fn headers_that_are_the_hosts_to_set_are_refused_also_from_the_interpreter() {
    for name in [
        "Host",
        "content-length",
        "Transfer-Encoding",
        "Connection",
        "Proxy-Authorization",
        "Sec-Fetch-Site",
        "X-Forwarded-For",
        "Expect",
        "Trailer",
        "X-HTTP-Method-Override",
        "X_Original_URL",
        "a b",
        "a\r\nb",
        "",
    ] {
        let mut search = operation("moltbook", "search");
        let Stage::Http(stage) = &mut search.stages[0] else {
            panic!()
        };
        stage.headers[1].name = name.to_owned();
        let inputs = Inputs::of(json!({"query": "x"}));
        let refused = refusal(super::filled(&search, &inputs, &CallFiles::default()));
        assert_eq!(refused.0, Code::HeaderRefused, "{name:?}");
    }
}

#[test]
fn a_header_value_of_the_document_cannot_hold_a_control_character() {
    let mut search = operation("moltbook", "search");
    let Stage::Http(stage) = &mut search.stages[0] else {
        panic!()
    };
    stage.headers[1].value = hydrant_plan::Segments::literal("a\r\nX-Admin: 1");
    let inputs = Inputs::of(json!({"query": "x"}));
    let refused = refusal(super::filled(&search, &inputs, &CallFiles::default()));
    assert_eq!(refused.0, Code::HeaderRefused);
}

#[test]
fn a_method_that_is_no_token_is_refused() {
    let mut search = operation("moltbook", "search");
    let Stage::Http(stage) = &mut search.stages[0] else {
        panic!()
    };
    stage.method = "GET / HTTP/1.1\r\nX: y".to_owned();
    let inputs = Inputs::of(json!({"query": "x"}));
    assert_eq!(
        refusal(super::filled(&search, &inputs, &CallFiles::default())).0,
        Code::UrlInvalid
    );
}

#[test]
fn a_removed_default_header_is_not_sent() {
    let mut search = operation("moltbook", "search");
    let inputs = Inputs::of(json!({"query": "x"}));
    let request = super::filled(&search, &inputs, &CallFiles::default()).unwrap();
    assert!(
        header(&request, "user-agent")
            .unwrap()
            .starts_with("hydrant/")
    );
    assert_eq!(header(&request, "accept").as_deref(), Some("*/*"));
    let Stage::Http(stage) = &mut search.stages[0] else {
        panic!()
    };
    stage.removed_headers = vec!["user-agent".to_owned(), "ACCEPT".to_owned()];
    let request = super::filled(&search, &inputs, &CallFiles::default()).unwrap();
    assert_eq!(header(&request, "user-agent"), None);
    assert_eq!(header(&request, "accept"), None);
}

#[test]
fn a_content_type_without_a_body_is_sent_where_the_document_says_so() {
    let mut item = operation("forms", "item");
    let Stage::Http(stage) = &mut item.stages[0] else {
        panic!()
    };
    stage.headers.push(hydrant_plan::HeaderOut {
        name: "Content-Type".to_owned(),
        value: hydrant_plan::Segments::literal("application/json"),
    });
    let inputs = Inputs::of(json!({"id": "a"}));
    let request = super::filled(&item, &inputs, &CallFiles::default()).unwrap();
    assert_eq!(
        header(&request, "content-type").as_deref(),
        Some("application/json")
    );
}
