//! A call against one canned answer.

use kit::host::fetch::{
    Encodings, FetchError, FetchFailure, HttpRequest, HttpResponse, Method, Overflow,
};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

/// An answer to whatever is asked; it keeps what was.
struct Web {
    answer: Result<HttpResponse, FetchFailure>,
    asked: Vec<HttpRequest>,
}

impl Fetch for Web {
    fn send(&mut self, requests: &[HttpRequest]) -> Vec<Result<HttpResponse, FetchFailure>> {
        self.asked.extend_from_slice(requests);
        vec![self.answer.clone()]
    }
}

const URL: &str = "https://lib.example/a";

fn response(types: &[&str], body: &[u8]) -> HttpResponse {
    let headers = types
        .iter()
        .map(|&value| ("content-type".to_owned(), value.to_owned()));
    HttpResponse {
        status: 200,
        url: URL.to_owned(),
        headers: headers.collect(),
        body: body.to_vec(),
        truncated: false,
        unread: false,
    }
}

fn web(answer: Result<HttpResponse, FetchFailure>) -> Web {
    Web {
        answer,
        asked: Vec::new(),
    }
}

fn fetched(response: HttpResponse) -> Result<Value, SkillError> {
    let request = json!({ "url": URL }).to_string();
    let answer = run(&mut web(Ok(response)), request.as_bytes())?;
    Ok(serde_json::from_slice(&answer).unwrap())
}

/// Mime, text, bytes.
fn read(types: &[&str], body: &[u8]) -> (String, String, u64) {
    let answer = fetched(response(types, body)).unwrap();
    (
        answer["mime"].as_str().unwrap().to_owned(),
        answer["text"].as_str().unwrap().to_owned(),
        answer["bytes"].as_u64().unwrap(),
    )
}

fn details(error: &SkillError) -> Value {
    error
        .details()
        .map_or(Value::Null, |text| serde_json::from_str(text).unwrap())
}

#[test]
fn the_response_is_compact_and_in_order() {
    let mut answer = response(&["Text/Markdown; charset=UTF-8"], "# A\n\"é\"".as_bytes());
    answer.status = 404;
    answer.url = "https://lib.example/b".to_owned();
    let mut web = web(Ok(answer));
    let request = br#"{"url":"HTTPS://Lib.Example/a#b"}"#;
    let answer = String::from_utf8(run(&mut web, request).unwrap()).unwrap();
    let expected = r##"{"url":"HTTPS://Lib.Example/a#b","final_url":"https://lib.example/b","status":404,"mime":"text/markdown","text":"# A\n\"é\"","bytes":8,"truncated":false}"##;
    assert_eq!(answer, expected);
    let asked = &web.asked[0];
    assert_eq!(
        (
            asked.method,
            asked.encodings,
            asked.overflow,
            asked.max_bytes,
            asked.timeout_ms
        ),
        (
            Method::Get,
            Encodings::Gzip,
            Overflow::Cut,
            131_072,
            120_000
        )
    );
    assert_eq!(
        (asked.url.as_str(), asked.max_redirects),
        ("HTTPS://Lib.Example/a#b", 5)
    );
    let names: Vec<_> = asked
        .headers
        .iter()
        .map(|(name, _)| name.as_str())
        .collect();
    assert_eq!((names, &asked.body), (vec!["accept"], &None));
}

#[test]
fn a_request_is_checked_before_anything_is_sent() {
    let long = format!("https://lib.example/{}", "a".repeat(8_192));
    for (request, code) in [
        (json!({}), "invalid_request"),
        (json!({ "url": null }), "invalid_request"),
        (json!({ "url": "" }), "invalid_request"),
        (json!({ "url": "https://a/\0" }), "invalid_request"),
        (json!({ "url": long }), "invalid_request"),
        (json!({ "url": "lib.example/a" }), "invalid_request"),
        (json!({ "url": "//lib.example/a" }), "invalid_request"),
        (json!({ "url": "/a:b" }), "invalid_request"),
        (json!({ "url": ":80" }), "invalid_request"),
        (json!({ "url": URL, "max_bytes": 0 }), "invalid_request"),
        (
            json!({ "url": URL, "max_bytes": 2_097_153 }),
            "invalid_request",
        ),
        (json!({ "url": URL, "method": "POST" }), "invalid_request"),
        (json!({ "url": "ftp://lib.example/a" }), "unsupported"),
        (json!({ "url": "file:///etc/passwd" }), "unsupported"),
        (json!({ "url": " data:,a" }), "unsupported"),
        (json!({ "url": "javascript:1" }), "unsupported"),
        (json!({ "url": "httpss://lib.example/" }), "unsupported"),
    ] {
        let mut web = web(Ok(response(&[], b"")));
        let error = run(&mut web, request.to_string().as_bytes()).unwrap_err();
        assert_eq!(error.code(), code, "{request}");
        assert!(error.details().is_some(), "{request}");
        assert!(web.asked.is_empty(), "{request}");
    }
}

#[test]
fn failures_of_the_host() {
    let target = "http://169.254.169.254/";
    for (reason, code, expected) in [
        (
            FetchError::Denied,
            "denied",
            json!({ "capability": format!("net.http:{target}") }),
        ),
        (
            FetchError::RedirectDenied,
            "denied",
            json!({ "capability": format!("net.http:{target}"), "redirect_to": target }),
        ),
        (
            FetchError::Redirects,
            "too_large",
            json!({ "reason": "redirects" }),
        ),
        (
            FetchError::InvalidRequest,
            "invalid_request",
            json!({ "member": "url" }),
        ),
        (
            FetchError::UnsupportedEncoding,
            "unsupported",
            json!({ "reason": "content_encoding" }),
        ),
        (
            FetchError::TooLarge,
            "too_large",
            json!({ "reason": "body" }),
        ),
        (FetchError::Timeout, "timeout", Value::Null),
        (FetchError::Dns, "network", json!({ "phase": "dns" })),
        (
            FetchError::Connect,
            "network",
            json!({ "phase": "connect" }),
        ),
        (FetchError::Tls, "network", json!({ "phase": "tls" })),
        (FetchError::Protocol, "network", json!({ "phase": "http" })),
    ] {
        let url = target.to_owned();
        let mut web = web(Err(FetchFailure { reason, url }));
        let request = json!({ "url": URL }).to_string();
        let error = run(&mut web, request.as_bytes()).unwrap_err();
        assert_eq!((error.code(), details(&error)), (code, expected));
    }
}

#[test]
fn a_response_without_a_body_is_an_empty_text() {
    assert_eq!(
        read(&["image/png"], b""),
        ("image/png".into(), String::new(), 0)
    );
    assert_eq!(read(&[], b""), ("text/plain".into(), String::new(), 0));
}

#[test]
fn a_body_without_a_type_is_text_if_it_reads_as_text() {
    for types in [
        &[][..],
        &[""],
        &["text"],
        &["text/html, text/plain"],
        &["text/html", "text/plain"],
    ] {
        let (mime, text, _) = read(types, "é".as_bytes());
        assert_eq!(
            (mime.as_str(), text.as_str()),
            ("text/plain", "é"),
            "{types:?}"
        );
        for body in [
            &b"\xff"[..],
            b"a\0",
            b"\xFF\xFEa\0",
            b"\xEF\xBB\xBF\xff",
            b"a\xe2\x82",
        ] {
            let error = fetched(response(types, body)).unwrap_err();
            assert_eq!(error.code(), "unsupported", "{types:?} {body:?}");
            assert_eq!(details(&error), json!({ "mime": null, "status": 200 }));
        }
    }
    let mut cut = response(&[], b"a\xe2\x82");
    cut.truncated = true;
    let answer = fetched(cut).unwrap();
    assert_eq!(
        (&answer["text"], &answer["bytes"]),
        (&json!("a"), &json!(1))
    );
}

#[test]
fn a_type_that_is_no_text_is_unsupported() {
    let mut image = response(&["IMAGE/png; a=b"], b"");
    (image.unread, image.status) = (true, 404);
    let error = fetched(image).unwrap_err();
    assert_eq!(error.code(), "unsupported");
    assert_eq!(
        details(&error),
        json!({ "mime": "image/png", "status": 404 })
    );
    let mut asked = web(Ok(response(&[], b"")));
    run(&mut asked, json!({ "url": URL }).to_string().as_bytes()).unwrap();
    let types = &asked.asked[0].body_types;
    assert!(types.len() <= 32);
    for wanted in [
        "text/*",
        "application/json",
        "application/toml",
        "*/*+json",
        "*/*+xml",
    ] {
        assert!(types.iter().any(|pattern| pattern == wanted), "{wanted}");
    }
}

#[test]
fn the_charset_is_found_where_it_is_named() {
    for (types, body, text) in [
        ("text/plain", &b"\xEF\xBB\xBFa"[..], "a"),
        ("text/plain; charset=koi8-r", b"\xFF\xFEa\0", "a"),
        ("text/plain; charset=\"koi8-r\"", b"\xc1", "а"),
        (
            "text/html; charset=koi8-r",
            b"<meta charset=sjis>\xc1",
            "<meta charset=sjis>а",
        ),
        (
            "text/html",
            b"<meta charset=koi8-r>\xc1",
            "<meta charset=koi8-r>а",
        ),
        (
            "text/plain",
            b"<meta charset=koi8-r>\xc1",
            "<meta charset=koi8-r>Á",
        ),
        (
            "image/svg+xml",
            b"<?xml encoding='koi8-r'?>\xc1",
            "<?xml encoding='koi8-r'?>а",
        ),
        (
            "text/xml",
            b"<?xml encoding='koi8-r'?>\xc1",
            "<?xml encoding='koi8-r'?>а",
        ),
        ("application/json", b"\"\xe9\x80\"", "\"é€\""),
        (
            "text/plain; charset=utf-8",
            b"a\xff\xe2\x82",
            "a\u{FFFD}\u{FFFD}",
        ),
        ("text/plain", b"a\0", "a\0"),
    ] {
        let (_, read, bytes) = read(&[types], body);
        let length = u64::try_from(body.len()).unwrap();
        assert_eq!((read.as_str(), bytes), (text, length), "{types}");
    }
    for charset in ["klingon", "iso-2022-kr"] {
        let types = format!("text/plain; charset={charset}");
        let error = fetched(response(&[&types], b"a")).unwrap_err();
        assert_eq!(error.code(), "unsupported");
        assert_eq!(details(&error), json!({ "charset": charset }));
    }
}

#[test]
fn bytes_are_those_that_the_text_stands_for() {
    for (charset, body, truncated, text, bytes) in [
        ("utf-8", &b"a\xe2\x82"[..], true, "a", 1),
        ("utf-8", b"ab", true, "ab", 2),
        ("utf-8", b"ab", false, "ab", 2),
        ("utf-8", b"\xEF\xBB\xBF\xe2", true, "", 3),
        ("utf-16le", b"a\0\x3e\xd8\xd7", true, "a", 2),
        ("shift_jis", b"a\x82", true, "a", 1),
        ("shift_jis", b"a\x82", false, "a\u{FFFD}", 2),
    ] {
        let mut answer = response(&[&format!("text/plain;charset={charset}")], body);
        answer.truncated = truncated;
        let answer = fetched(answer).unwrap();
        assert_eq!(answer["text"], text, "{charset} {body:?}");
        assert_eq!(answer["bytes"], bytes, "{charset} {body:?}");
        assert_eq!(answer["truncated"], truncated, "{charset} {body:?}");
    }
}

#[test]
fn it_describes_itself() {
    let described: Value = serde_json::from_str(describe()).unwrap();
    assert_eq!(described["name"], "http.fetch_text");
    assert_eq!(described.to_string(), describe());
    assert!((1..=1024).contains(&described["description"].as_str().unwrap().chars().count()));
    let answer = fetched(response(&[], b"")).unwrap();
    let members: Vec<_> = answer.as_object().unwrap().keys().cloned().collect();
    assert_eq!(json!(members), described["output_schema"]["required"]);
}

proptest! {
    #[test]
    fn any_answer_is_text_or_refused(
        kind in "text/(plain|html|xml)|application/x(\\+xml)?|[a-z/;= ]{0,9}",
        charset in prop_oneof![
            Just(""), Just("utf-8"), Just("utf-16"), Just("gb18030"), Just("iso-2022-jp"), Just("x"),
        ],
        body in proptest::collection::vec(any::<u8>(), 0..48),
        truncated: bool,
    ) {
        let mut answer = response(&[&format!("{kind};charset={charset}")], &body);
        answer.truncated = truncated;
        match fetched(answer) {
            Ok(answer) => {
                let used = usize::try_from(answer["bytes"].as_u64().unwrap()).unwrap();
                prop_assert!(used <= body.len());
                prop_assert_eq!(answer["truncated"].as_bool().unwrap(), truncated || used < body.len());
                prop_assert!(truncated || used == body.len());
            }
            Err(error) => prop_assert_eq!(error.code(), "unsupported"),
        }
    }
}
