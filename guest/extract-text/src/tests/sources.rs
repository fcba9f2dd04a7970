use kit::host::fetch::FetchError;
use serde_json::{Value, json};

use super::writer::page;
use super::{Hosting, REPORT};

fn ask(host: &mut Hosting, request: &Value) -> Result<Value, kit::SkillError> {
    let response = crate::run(host, request.to_string().as_bytes())?;
    Ok(serde_json::from_slice(&response).unwrap())
}

#[test]
fn a_file_is_what_its_name_or_its_first_bytes_say() {
    let text = |name: &str, bytes: &[u8]| {
        let mut host = Hosting {
            file: Some(bytes.to_vec()),
            ..Hosting::default()
        };
        ask(&mut host, &json!({ "path": name })).map(|answer| answer["text"].clone())
    };
    assert_eq!(text("a/b.HTML", b"<p>x</p>").unwrap(), "x");
    assert_eq!(text("README.md", b"# x").unwrap(), "x");
    assert_eq!(text("report", &page("BT /F 9 Tf (x) Tj ET")).unwrap(), "x");
    assert_eq!(text("a.txt", b"x").unwrap_err().code(), "unsupported");
    let mut host = Hosting {
        file: Some(b"<p>x".to_vec()),
        ..Hosting::default()
    };
    let request = json!({"path": "a.txt", "content_type": "text/html"});
    assert_eq!(ask(&mut host, &request).unwrap()["text"], "x");
}

#[test]
fn a_url_is_what_its_server_or_its_name_says() {
    let text = |url: &str, page: (u16, &'static str, Vec<u8>)| {
        let mut host = Hosting {
            page: Some(page),
            ..Hosting::default()
        };
        ask(&mut host, &json!({ "url": url })).map(|answer| answer["text"].clone())
    };
    let url = "https://a.example/b.md?c";
    let html = "text/html; charset=windows-1251";
    assert_eq!(text(url, (200, html, b"\xCF".to_vec())).unwrap(), "П");
    let plain = "text/plain";
    assert_eq!(text(url, (200, plain, b"# x".to_vec())).unwrap(), "x");
    let octets = "application/octet-stream";
    assert!(text(url, (200, octets, REPORT.to_vec())).is_ok());
    let other = "https://a.example/b.png";
    let error = text(other, (200, "image/png", Vec::new())).unwrap_err();
    assert_eq!(error.code(), "unsupported");
    let error = text(url, (404, html, Vec::new())).unwrap_err();
    assert_eq!(
        (error.code(), error.details()),
        ("network", Some(r#"{"phase":"http","status":404}"#))
    );
}

#[test]
fn a_body_that_is_larger_than_may_be_fetched_is_an_input_that_is_too_large() {
    let mut host = Hosting {
        failure: Some(FetchError::TooLarge),
        ..Hosting::default()
    };
    let error = ask(&mut host, &json!({"url": "https://a.example/b.pdf"})).unwrap_err();
    assert_eq!(
        (error.code(), error.details()),
        ("too_large", Some(r#"{"reason":"input"}"#))
    );
}

#[test]
fn what_is_not_granted_names_its_capability() {
    for (request, capability) in [
        (json!({"path": "a.pdf"}), "fs.read:/workspace/a.pdf"),
        (
            json!({"url": "https://a.example/"}),
            "net.http:https://a.example/",
        ),
    ] {
        let error = ask(&mut Hosting::default(), &request).unwrap_err();
        let details: Value = serde_json::from_str(error.details().unwrap()).unwrap();
        assert_eq!(error.code(), "denied");
        assert_eq!(details["capability"], capability);
    }
}

#[test]
fn a_request_names_one_document() {
    for request in [
        json!({"path": "a", "url": "b"}),
        json!({"path": "a", "bytes_b64": "", "content_type": "text/html"}),
        json!({"url": "a", "bytes_b64": "", "content_type": "text/html"}),
        json!({"bytes_b64": ""}),
        json!({"path": "a\u{0}b"}),
        json!({"url": ""}),
    ] {
        let error = ask(&mut Hosting::default(), &request).unwrap_err();
        assert_eq!(error.code(), "invalid_request", "{request}");
    }
}
