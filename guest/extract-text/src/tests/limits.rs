use serde_json::json;

use super::{call, error, text};

#[test]
fn the_text_is_cut_between_characters() {
    let input = "# aé\n\nb€c\n\n## d".as_bytes();
    for (max_bytes, expected, sections, truncated) in [
        (1, "a", 1, true),
        (2, "a", 1, true),
        (3, "aé", 1, true),
        (4, "aé\n", 1, true),
        (7, "aé\n\nb", 1, true),
        (9, "aé\n\nb€", 1, true),
        (11, "aé\n\nb€c\n", 1, true),
        (12, "aé\n\nb€c\n\n", 1, true),
        (13, "aé\n\nb€c\n\nd", 2, false),
        (99, "aé\n\nb€c\n\nd", 2, false),
    ] {
        let response = call("text/markdown", input, Some(max_bytes)).unwrap();
        assert_eq!(response["text"], expected, "{max_bytes}");
        assert_eq!(response["bytes"], expected.len());
        assert_eq!(
            response["hints"]["sections"].as_array().unwrap().len(),
            sections,
            "{max_bytes}"
        );
        assert_eq!(response["truncated"], truncated);
        // The title of a heading is complete even where the text is not.
        assert_eq!(response["hints"]["title"], "aé");
    }
}

#[test]
fn at_most_1000_sections_are_kept() {
    let sections = |count: usize| {
        let response = call("text/html", "<h2>a</h2>".repeat(count).as_bytes(), None).unwrap();
        let sections = response["hints"]["sections"].as_array().unwrap().len();
        (sections, response["truncated"].as_bool().unwrap())
    };
    assert_eq!(sections(1_000), (1_000, false));
    assert_eq!(sections(1_001), (1_000, true));
}

#[test]
fn a_title_has_at_most_1024_bytes() {
    let input = format!(
        "<title>{}</title><h1>{}</h1>",
        "é".repeat(600),
        "b ".repeat(9_000)
    );
    let response = call("text/html", input.as_bytes(), Some(10)).unwrap();
    assert_eq!(response["hints"]["title"], "é".repeat(512));
    assert_eq!(
        response["hints"]["sections"][0]["title"],
        "b ".repeat(512).trim_end()
    );
}

#[test]
fn charset_by_mark_parameter_meta_and_bytes() {
    for (content_type, input, expected) in [
        (
            "text/html; charset=latin1",
            &b"\xEF\xBB\xBF\xC3\xA9"[..],
            "é",
        ),
        ("text/html; charset=iso-8859-2", b"\xB1", "ą"),
        ("text/html", b"<meta charset=iso-8859-2>\xB1", "ą"),
        ("text/html", b"\xC3\xA9", "é"),
        ("text/html", b"\xE9\x80", "é€"),
        ("text/html; charset=utf-8", b"a\xFFb", "a\u{FFFD}b"),
        ("text/markdown; charset=utf-16be", b"\0a\0#", "a#"),
        ("text/markdown", b"\xFF\xFE#\0 \0a\0", "a"),
        ("text/markdown", b"\x93a\x94", "“a”"),
    ] {
        assert_eq!(
            text(content_type, input),
            expected,
            "{content_type} {input:?}"
        );
    }
    let error = call("text/html; charset=klingon", b"", None).unwrap_err();
    assert_eq!(
        (error.code(), error.details()),
        ("unsupported", Some("{\"charset\":\"klingon\"}"))
    );
}

#[test]
fn requests_that_are_refused() {
    for (request, code) in [
        (json!({}), "invalid_request"),
        (json!({"content_type": "text/html"}), "invalid_request"),
        (
            json!({"content_type": "text/html", "bytes_b64": "", "x": 1}),
            "invalid_request",
        ),
        (
            json!({"content_type": "text/html", "bytes_b64": "", "max_bytes": 0}),
            "invalid_request",
        ),
        (
            json!({"content_type": "text/html", "bytes_b64": null}),
            "invalid_request",
        ),
        (
            json!({"content_type": "image/png", "bytes_b64": ""}),
            "unsupported",
        ),
        (
            json!({"content_type": "text/html", "bytes_b64": "QQ"}),
            "malformed",
        ),
    ] {
        let error = super::run(request.to_string().as_bytes()).unwrap_err();
        assert_eq!(error.code(), code, "{request}");
    }
    assert_eq!(
        error("application/pdf", b""),
        ("malformed", "not_pdf".to_owned())
    );
}
