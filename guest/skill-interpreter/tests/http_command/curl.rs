//! curl, by the rows of 9.1: what shows in a request. That requests equal the real ones is the differential's to show.

use super::*;
use skill_interpreter::draft::{AuthDraft, PartContent};

const U: &str = "http://h.example/p";

#[test]
fn the_method_is_an_upper_case_token() {
    for argv in [["-X", "put"], ["--request", "PUT"]] {
        assert_eq!(request(&["curl", argv[0], argv[1], U]).method, "PUT");
    }
    assert_eq!(request(&["curl", "-XPATCH", U]).method, "PATCH");
    assert_eq!(request(&["curl", "--request=DELETE", U]).method, "DELETE");
    assert_eq!(
        request(&["curl", "-X", "GET", "-X", "PURGE", U]).method,
        "PURGE"
    );
    for method in ["A B", "", "GET\r\nX: y", "$M", "a$M", "CONNECT", "trace"] {
        assert_eq!(
            refusal(&["curl", "-X", method, U]),
            Code::CurlOptionRefused,
            "{method}"
        );
    }
}

#[test]
fn data_is_posted_and_joined() {
    let draft = request(&["curl", U, "-d", "a=1", "-d", "b=$B"]);
    assert_eq!(
        (draft.method.as_str(), body(&draft).as_deref()),
        ("POST", Some("a=1&b={B}"))
    );
    assert_eq!(
        headers(&draft),
        ["Content-Type: application/x-www-form-urlencoded"]
    );
    let draft = request(&[
        "curl",
        U,
        "-d",
        "@f",
        "--data-binary",
        "@g",
        "--data-raw",
        "@h",
    ]);
    assert_eq!(
        body(&draft).as_deref(),
        Some("@f(Stripped)&@g(Verbatim)&@h")
    );
    assert_eq!(body(&request(&["curl", U, "-d", ""])).as_deref(), Some(""));
    assert_eq!(refusal(&["curl", U, "-d", "@"]), Code::CurlOptionRefused);
}

#[test]
fn a_json_text_without_a_type_is_diagnosed() {
    let seen = |argv: &[&str]| {
        let (drafts, diagnostics) = read_with(argv, Stdin::Nothing);
        drafts.unwrap();
        diagnostics
            .as_slice()
            .iter()
            .any(|found| found.code == Code::JsonAsForm && found.line == 7)
    };
    assert!(seen(&["curl", U, "-d", "{\"a\": $A}"]));
    assert!(seen(&["curl", U, "-d", " [1] "]));
    assert!(!seen(&[
        "curl",
        U,
        "-d",
        "{\"a\": 1}",
        "-H",
        "content-type: application/json"
    ]));
    assert!(!seen(&["curl", U, "--json", "{\"a\": 1}"]));
    assert!(!seen(&["curl", U, "-d", "a=1"]));
    assert!(!seen(&["curl", U, "-d", "{body}"]));
}

#[test]
fn standard_input_is_the_previous_stage_or_a_here_document() {
    let argv = ["curl", U, "-d", "@-"];
    let (drafts, _) = read_with(&argv, Stdin::Previous);
    assert_eq!(body(&drafts.unwrap()[0]).as_deref(), Some("@-(Stripped)"));
    let text = word("a\r\n$B\n");
    let (drafts, _) = read_with(&argv, Stdin::Text(&text));
    assert_eq!(body(&drafts.unwrap()[0]).as_deref(), Some("a{B}"));
    let (drafts, _) = read_with(&["curl", U, "--json", "@-"], Stdin::Text(&text));
    assert_eq!(body(&drafts.unwrap()[0]).as_deref(), Some("a\r\n{B}\n"));
    assert_eq!(refusal(&argv), Code::CurlOptionRefused);
    let (twice, _) = read_with(&["curl", U, "-d", "@-", "-d", "@-"], Stdin::Previous);
    assert_eq!(twice.unwrap_err().code, Code::CurlOptionConflict);
}

#[test]
fn only_the_content_is_encoded() {
    let of = |value: &str| body(&request(&["curl", U, "--data-urlencode", value])).unwrap();
    assert_eq!(of("a b"), "[a b]");
    assert_eq!(of("=a=b"), "[a=b]");
    assert_eq!(of("n m=a b"), "n m=[a b]");
    assert_eq!(of("n=$V"), "n=[{V}]");
    assert_eq!(of("@f"), "@f(Encoded)");
    assert_eq!(of("n@f"), "n=@f(Encoded)");
    assert_eq!(of("n=@f"), "n=[@f]");
}

#[test]
fn json_sets_both_types_unless_they_are_set() {
    let draft = request(&["curl", U, "--json", "{\"a\":", "--json", "1}"]);
    assert_eq!(body(&draft).as_deref(), Some("{\"a\":1}"));
    assert_eq!(
        headers(&draft),
        ["Accept: application/json", "Content-Type: application/json"]
    );
    let draft = request(&["curl", U, "--json", "1", "-H", "accept: x/y"]);
    assert_eq!(
        headers(&draft),
        ["Content-Type: application/json", "accept: x/y"]
    );
}

#[test]
fn parts_have_names_types_and_files() {
    let parts = |argv: &[&str]| match request(argv).body {
        Some(BodyDraft::Multipart(parts)) => parts,
        other => panic!("{other:?}"),
    };
    let found = parts(&[
        "curl",
        U,
        "-F",
        "note= hi ;type=text/x; charset=utf-8",
        "-F",
        "doc=@a.pdf",
        "-F",
        "t=<a.txt",
        "--form-string",
        "s=@x;type=y",
        "-F",
        "z=@$FILE;filename=\"a;b\"",
        "-F",
        "q=\"a;\\\"b\"",
    ]);
    let text = |index: usize| match &found[index].content {
        PartContent::Text(text) | PartContent::File(text) | PartContent::TextOfFile(text) => {
            text.display()
        }
        PartContent::Previous => "-".to_owned(),
    };
    assert_eq!(text(0), "hi");
    assert_eq!(
        found[0].content_type.as_deref(),
        Some("text/x; charset=utf-8")
    );
    assert!(matches!(found[1].content, PartContent::File(_)));
    assert_eq!(found[1].content_type.as_deref(), Some("application/pdf"));
    assert!(matches!(found[2].content, PartContent::TextOfFile(_)));
    assert_eq!(found[2].content_type, None);
    assert_eq!(text(3), "@x;type=y");
    assert_eq!(
        (text(4).as_str(), found[4].filename.as_deref()),
        ("{FILE}", Some("a;b"))
    );
    assert_eq!(found[4].content_type, None);
    assert_eq!(text(5), "a;\"b");
    for bad in [
        "x",
        "=x",
        "a=@",
        "a=(",
        "a=@b,c",
        "a=b;type=bad",
        "a=b;headers=\"X: y\"",
        "a=b;encoder=base64",
        "$N=x",
        "a=b;type=$T/x",
    ] {
        assert_eq!(
            refusal(&["curl", U, "-F", bad]),
            Code::CurlOptionRefused,
            "{bad}"
        );
    }
    // What a variable holds is never read as syntax.
    assert_eq!(
        parts(&["curl", U, "-F", "a=$V"])[0].content,
        PartContent::Text(word("$V"))
    );
}

#[test]
fn a_multipart_type_is_left_to_who_sends_it() {
    let draft = request(&[
        "curl",
        U,
        "-F",
        "a=b",
        "-H",
        "Content-Type: Multipart/Form-Data",
    ]);
    assert_eq!(headers(&draft), [""; 0]);
    for other in [
        "Content-Type: application/json",
        "Content-Type:",
        "content-type;",
        "Content-Type: multipart/form-data; boundary=x",
    ] {
        assert_eq!(
            refusal(&["curl", U, "-F", "a=b", "-H", other]),
            Code::CurlOptionConflict,
            "{other}"
        );
    }
}

#[test]
fn data_goes_to_the_query() {
    let draft = request(&[
        "curl",
        "-G",
        U,
        "-d",
        "a=1",
        "--data-urlencode",
        "n%20m=x y",
        "-d",
        "b",
    ]);
    assert_eq!((draft.method.as_str(), draft.body.as_ref()), ("GET", None));
    assert_eq!(query(&draft), ["a=1", "n m=[x y]", "b"]);
    assert_eq!(headers(&draft), [""; 0]);
    assert_eq!(refusal(&["curl", "-G", U, "-d", "q=a b"]), Code::UrlInvalid);
    assert_eq!(refusal(&["curl", "-G", U, "-d", "q=a#b"]), Code::UrlInvalid);
    assert_eq!(
        refusal(&["curl", "-G", U, "-d", "@f"]),
        Code::CurlOptionConflict
    );
    assert_eq!(
        refusal(&["curl", "-G", U, "-d", "a", "--url-query", "b=c"]),
        Code::CurlOptionConflict
    );
}

#[test]
fn head_is_head() {
    assert_eq!(request(&["curl", "-I", U]).method, "HEAD");
    assert_eq!(
        request(&["curl", "-I", "-G", "-d", "a=1", U]).method,
        "HEAD"
    );
    assert_eq!(request(&["curl", "--head", "-X", "GET", U]).method, "GET");
}

#[test]
fn headers_are_set_emptied_and_removed() {
    let draft = request(&[
        "curl",
        U,
        "-H",
        "A: b:c ",
        "-HB:$T",
        "-H",
        "C;",
        "-H",
        "Accept:",
        "--header=D: e",
    ]);
    assert_eq!(
        headers(&draft),
        ["A: b:c", "Accept:", "B: {T}", "C;", "D: e"]
    );
    assert_eq!(refusal(&["curl", U, "-H", "@f"]), Code::CurlOptionRefused);
    for bad in ["A", "", "A B: c", ": x", "$H: x", "$H", "A\r\nB: c", "A;b"] {
        assert_eq!(
            refusal(&["curl", U, "-H", bad]),
            Code::HeaderRefused,
            "{bad:?}"
        );
    }
}

#[test]
fn basic_auth_has_two_halves() {
    let draft = request(&["curl", U, "-u", "$KEY:"]);
    assert_eq!(
        draft.auth,
        [AuthDraft::Basic {
            user: Some(word("$KEY")),
            password: Some(word(""))
        }]
    );
    let draft = request(&["curl", U, "-ua:b:c"]);
    assert_eq!(
        draft.auth,
        [AuthDraft::Basic {
            user: Some(word("a")),
            password: Some(word("b:c"))
        }]
    );
    // curl asks for the password.
    let draft = request(&["curl", U, "-u", "user"]);
    assert_eq!(
        draft.auth,
        [AuthDraft::Basic {
            user: Some(word("user")),
            password: None
        }]
    );
    let draft = request(&["curl", U, "-u", "$LOGIN"]);
    assert_eq!(
        draft.auth,
        [AuthDraft::Basic {
            user: Some(word("$LOGIN_USER")),
            password: Some(word("$LOGIN_PASSWORD"))
        }]
    );
    // A header goes before it, as in curl.
    assert_eq!(
        request(&["curl", U, "-u", "a:b", "-H", "authorization: x"]).auth,
        []
    );
}

#[test]
fn options_become_headers() {
    let draft = request(&[
        "curl",
        U,
        "-A",
        "a/1",
        "-e",
        "http://r/",
        "-r",
        "5",
        "--compressed",
        "--oauth2-bearer",
        "$T",
    ]);
    assert_eq!(
        headers(&draft),
        [
            "Accept-Encoding: gzip",
            "Range: bytes=5-",
            "Referer: http://r/",
            "User-Agent: a/1"
        ]
    );
    assert_eq!(
        draft.auth,
        [AuthDraft::Bearer {
            prefix: None,
            token: word("$T")
        }]
    );
    let draft = request(&["curl", U, "-A", "", "-e", ""]);
    assert_eq!(headers(&draft), ["User-Agent:"]);
    assert_eq!(
        refusal(&["curl", U, "-e", "x;auto"]),
        Code::CurlOptionRefused
    );
    assert_eq!(
        refusal(&["curl", U, "-r", "0-1", "-d", "x"]),
        Code::CurlOptionConflict
    );
}

#[test]
fn a_cookie_has_an_equals_sign() {
    let draft = request(&["curl", U, "-b", "a=$A", "-b", "b=2; c"]);
    let [AuthDraft::Cookies(cookies)] = draft.auth.as_slice() else {
        panic!("{draft:?}");
    };
    assert_eq!(cookies.display(), "a={A}; b=2; c");
    for file in ["jar.txt", "", "$JAR", "@a=b"] {
        assert_eq!(
            refusal(&["curl", U, "-b", file]),
            Code::CurlOptionRefused,
            "{file}"
        );
    }
}
