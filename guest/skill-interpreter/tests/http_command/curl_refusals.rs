//! curl, by the rows of 9.1: what does not show in a request, addresses, and refusals.

use super::*;
use skill_interpreter::draft::{HttpLimits, Schemeless};

const U: &str = "http://h.example/p";

#[test]
fn follow_and_limits() {
    assert!(request(&["curl", "-sSL", U]).follow);
    let draft = request(&[
        "curl",
        U,
        "-m",
        "2.5",
        "--connect-timeout",
        ".0001",
        "--max-filesize",
        "2k",
        "--max-redirs",
        "3",
    ]);
    assert!(!draft.follow);
    assert_eq!(
        (
            draft.limits.total_ms,
            draft.limits.connect_ms,
            draft.limits.response_bytes,
            draft.limits.redirects
        ),
        (Some(2_500), Some(1), Some(2_048), Some(3))
    );
    let draft = request(&[
        "curl",
        U,
        "-m",
        "0",
        "--max-redirs",
        "-1",
        "--connect-timeout",
        "$T",
        "--retry",
        "3",
    ]);
    assert_eq!(draft.limits, HttpLimits::default());
    let huge = "9".repeat(4_000);
    assert_eq!(
        request(&["curl", U, "-m", &huge]).limits.total_ms,
        Some(u64::MAX)
    );
    assert_eq!(refusal(&["curl", U, "-m", "soon"]), Code::CurlOptionRefused);
}

#[test]
fn each_url_has_its_output() {
    let outputs = |argv: &[&str]| {
        let drafts = read(argv).unwrap();
        let name = |draft: &HttpDraft| {
            draft.output.as_ref().map(|output| {
                let text = |part: &Option<Template>| part.as_ref().map(Template::display);
                (text(&output.directory), text(&output.name))
            })
        };
        drafts.iter().map(name).collect::<Vec<_>>()
    };
    assert_eq!(outputs(&["curl", U, "-o", "-"]), [None]);
    assert_eq!(outputs(&["curl", U, "-o/dev/null"]), [None]);
    assert_eq!(
        outputs(&["curl", "-O", U, "-o", "f", U, U]),
        [Some((None, None)), Some((None, Some("f".to_owned()))), None]
    );
    assert_eq!(
        outputs(&["curl", "-OJ", U, "--output-dir", "d", "--create-dirs"]),
        [Some((Some("d".to_owned()), None))]
    );
    assert_eq!(
        refusal(&["curl", "-O", "http://h.example/"]),
        Code::CurlOptionRefused
    );
    assert_eq!(refusal(&["curl", "-o", "", U]), Code::CurlOptionRefused);
}

#[test]
fn urls_anywhere_and_more_query() {
    let drafts = read(&["curl", U, "--url", "$B/x", "--", "-x.example/"]).unwrap();
    assert_eq!(
        drafts.iter().map(url).collect::<Vec<_>>(),
        [U, "{B}/x", "-x.example/"]
    );
    let draft = request(&[
        "curl",
        U,
        "--url-query",
        "a=b c",
        "--url-query",
        "+d=%20",
        "--url-query",
        "e",
    ]);
    assert_eq!(query(&draft), ["a=[b c]", "d=%20", "=[e]"]);
    assert_eq!(read(&["curl", "-s"]).unwrap()[0].url, None);
    assert_eq!(refusal(&["curl", "$OPTIONS", U]), Code::CurlOptionUnknown);
    assert_eq!(url(&request(&["curl", "$URL"])), "{URL}");
}

#[test]
fn protocols_must_fit_the_url() {
    assert_eq!(
        request(&["curl", "--proto-default", "https", "h.example"]).schemeless,
        Schemeless::Https
    );
    assert_eq!(
        refusal(&["curl", "--proto-default", "ftp", "h.example"]),
        Code::CurlOptionRefused
    );
    assert_eq!(
        refusal(&["curl", "--proto", "=https", U]),
        Code::CurlOptionRefused
    );
    assert_eq!(
        refusal(&["curl", "--proto", "-http", "h.example"]),
        Code::CurlOptionRefused
    );
    request(&[
        "curl",
        "--proto",
        "=https",
        "--tlsv1.2",
        "-sSf",
        "https://h.example/",
    ]);
}

#[test]
fn what_only_shows_more_is_noted() {
    for options in [
        &["-i"][..],
        &["-sv"],
        &["-w", "%{http_code}"],
        &["-D", "-"],
        &["--trace-ascii", "-"],
        &["-D-"],
    ] {
        let argv: Vec<&str> = ["curl", U].iter().chain(options).copied().collect();
        assert!(request(&argv).noted, "{argv:?}");
    }
    assert!(!request(&["curl", "-sS", U]).noted);
    assert_eq!(refusal(&["curl", "-D", "f", U]), Code::CurlOptionRefused);
    assert_eq!(
        refusal(&["curl", "--trace", "$F", U]),
        Code::CurlOptionRefused
    );
}

#[test]
fn a_refusal_names_the_option_and_no_value() {
    let failure = read(&["curl", "--netrc", "https://h.example/"]).unwrap_err();
    assert_eq!(failure.code, Code::CurlOptionRefused);
    assert!(failure.message.contains("--netrc"), "{failure}");
    let failure = read(&["curl", "-sn", U, "-H", "X: secret"]).unwrap_err();
    assert!(
        failure.message.contains("-n") && !failure.message.contains("secret"),
        "{failure}"
    );
}

#[test]
fn unknown_options_and_missing_values() {
    for argv in [
        &["curl", "--reques", "PUT", U][..],
        &["curl", "--Request", "PUT", U],
        &["curl", "--no-silent", U],
        &["curl", U, "-X"],
        &["curl", U, "-sd"],
        &["curl", U, "--data"],
        &["curl", "--silent=yes", U],
        &["curl", "-", U],
        &["curl", "-s$X", U],
        &["curl", "--$X", U],
        &["curl", "-$X", U],
        &["curl", "--proxyless", U, "--bogus"],
    ] {
        let code = refusal(argv);
        let expected = if argv[1] == "--proxyless" {
            Code::CurlOptionRefused
        } else {
            Code::CurlOptionUnknown
        };
        assert_eq!(code, expected, "{argv:?}");
    }
}

#[test]
fn what_curl_would_not_send() {
    for options in [
        &["-I", "-d", "x"][..],
        &["-I", "--json", "1"],
        &["-F", "a=b", "-d", "x"],
        &["-F", "a=b", "--json", "1"],
        &["-F", "a=b", "-G"],
        &["-F", "a=b", "-I"],
        &["--oauth2-bearer", "t", "--basic"],
    ] {
        let argv: Vec<&str> = ["curl", U].iter().chain(options).copied().collect();
        assert_eq!(refusal(&argv), Code::CurlOptionConflict, "{options:?}");
    }
}

#[test]
fn addresses_that_two_parsers_read_differently() {
    for (address, code) in [
        ("ftp://h/", Code::CurlOptionRefused),
        ("file:///etc/passwd", Code::CurlOptionRefused),
        ("file:/etc/passwd", Code::CurlOptionRefused),
        ("gopher://h/", Code::CurlOptionRefused),
        ("ftp.example.org/x", Code::CurlOptionRefused),
        ("LDAP.example.org", Code::CurlOptionRefused),
        ("http://u:p@h/", Code::UrlUserinfo),
        ("http://u@h/", Code::UrlUserinfo),
        ("u:p@h/", Code::UrlUserinfo),
        ("http://$U:$P@h/", Code::UrlUserinfo),
        ("http://good\\@evil/", Code::UrlInvalid),
        ("http://h/a\\b", Code::UrlInvalid),
        ("http:/h/", Code::UrlInvalid),
        ("http:///h/", Code::UrlInvalid),
        ("//h/", Code::UrlInvalid),
        ("http://", Code::UrlInvalid),
        ("", Code::UrlInvalid),
        ("?a=b", Code::UrlInvalid),
        ("http://h/a b", Code::UrlInvalid),
        ("http://h/a\tb", Code::UrlInvalid),
        ("http://h/\0", Code::UrlInvalid),
        ("http://h\u{a0}/", Code::UrlInvalid),
        ("http://%68/", Code::UrlInvalid),
        ("http://h/a/%2e%2E/b", Code::UrlInvalid),
        ("http://h/.%2e", Code::UrlInvalid),
        // As curl has it, `h` is a scheme here.
        ("h:/x", Code::CurlOptionRefused),
        ("1.2.3.4:/x", Code::UrlInvalid),
    ] {
        assert_eq!(refusal(&["curl", address]), code, "{address:?}");
    }
    for address in [
        "http://[::1]:8080/x",
        "HTTPS://h/",
        "h:80/x",
        "$B/x",
        "{base}/x",
        "/relative",
        "http://h?x=a@b",
        "http://h/a@b",
    ] {
        request(&["curl", address]);
    }
}

#[test]
fn forms_of_options_are_one() {
    let expected = request(&["curl", "-s", "-S", "-L", "-X", "PUT", "-d", "@f", U]);
    for argv in [
        &["curl", "-sSLXPUT", "-d@f", U][..],
        &["curl", U, "--data=@f", "-sSLX", "PUT"],
        &[
            "curl",
            "--silent",
            "--show-error",
            "--location",
            "--request=PUT",
            "--data",
            "@f",
            "--",
            U,
        ],
        &["curl", "-LsS", "--url", U, "-XPUT", "-d", "@f"],
    ] {
        assert_eq!(request(argv), expected, "{argv:?}");
    }
    // A value may look like an option.
    assert_eq!(
        body(&request(&["curl", U, "-d", "-X"])).as_deref(),
        Some("-X")
    );
}
