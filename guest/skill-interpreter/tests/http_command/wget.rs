//! wget, by the rows of 9.2, and against the real one where there is one.

use super::*;
use skill_interpreter::draft::AuthDraft;

const U: &str = "http://h.example/p/file.txt";

fn output(draft: &HttpDraft) -> Option<(Option<String>, Option<String>)> {
    draft.output.as_ref().map(|output| {
        let text = |part: &Option<Template>| part.as_ref().map(Template::display);
        (text(&output.directory), text(&output.name))
    })
}

#[test]
fn the_body_is_the_output() {
    for options in [
        &["-qO-"][..],
        &["-q", "-O", "-"],
        &["-nv", "-S", "-O-"],
        &["--no-verbose", "--show-progress", "--output-document=-"],
        &["-O", "/dev/null"],
    ] {
        let argv: Vec<&str> = ["wget"]
            .iter()
            .chain(options)
            .chain([&U])
            .copied()
            .collect();
        let draft = request(&argv);
        assert_eq!(
            (output(&draft), draft.method.as_str(), draft.follow),
            (None, "GET", true),
            "{argv:?}"
        );
    }
}

#[test]
fn what_is_downloaded_goes_to_a_file() {
    assert_eq!(output(&request(&["wget", U])), Some((None, None)));
    assert_eq!(
        output(&request(&["wget", "-P", "d", U])),
        Some((Some("d".to_owned()), None))
    );
    assert_eq!(
        output(&request(&["wget", "-P", "d", "-O", "f", U])),
        Some((None, Some("f".to_owned())))
    );
    assert_eq!(read(&["wget", U, U]).unwrap().len(), 2);
    assert_eq!(refusal(&["wget", "-O", "f", U, U]), Code::WgetOptionRefused);
}

#[test]
fn options_as_of_curl() {
    let draft = request(&[
        "wget",
        "-O-",
        U,
        "--header",
        "A: 1",
        "--header=a: 2",
        "--header",
        "B:",
        "-U",
        "x",
        "--referer=r",
        "-T",
        "5",
        "-t",
        "3",
        "--max-redirect=2",
    ]);
    assert_eq!(
        headers(&draft),
        ["B;", "Referer: r", "User-Agent: x", "a: 2"]
    );
    assert_eq!(
        (draft.limits.total_ms, draft.limits.redirects),
        (Some(5_000), Some(2))
    );
    assert!(!request(&["wget", "-O-", U, "--max-redirect=0"]).follow);
    let draft = request(&[
        "wget", "-O-", U, "--header", "A: 1", "--header", "", "--header", "B: 2",
    ]);
    assert_eq!(headers(&draft), ["B: 2"]);
    let draft = request(&["wget", "-O-", U, "--post-data", "a=$A&b=2"]);
    assert_eq!(
        (draft.method.as_str(), body(&draft).as_deref()),
        ("POST", Some("a={A}&b=2"))
    );
    assert_eq!(
        headers(&draft),
        ["Content-Type: application/x-www-form-urlencoded"]
    );
    let draft = request(&[
        "wget",
        "-O-",
        U,
        "--method=put",
        "--body-file=f",
        "--header=content-type: x/y",
    ]);
    assert_eq!(
        (draft.method.as_str(), body(&draft).as_deref()),
        ("PUT", Some("@f(Verbatim)"))
    );
    assert_eq!(headers(&draft), ["content-type: x/y"]);
    let draft = request(&[
        "wget",
        "-O-",
        U,
        "--user=u",
        "--http-user",
        "$U",
        "--password=p",
    ]);
    assert_eq!(
        draft.auth,
        [AuthDraft::Basic {
            user: Some(word("$U")),
            password: Some(word("p"))
        }]
    );
    assert_eq!(
        refusal(&["wget", "--header", "nothing", U]),
        Code::HeaderRefused
    );
}

#[test]
fn what_is_refused() {
    for options in [
        &["--no-check-certificate"][..],
        &["-e", "x=y"],
        &["--execute=x"],
        &["-i", "f"],
        &["-r"],
        &["-m"],
        &["-p"],
        &["-k"],
        &["-H"],
        &["-D", "x"],
        &["--mirror"],
        &["--recursive"],
        &["--load-cookies=f"],
        &["--save-cookies", "f"],
        &["--ca-certificate=f"],
        &["--certificate-type=x"],
        &["--private-key", "f"],
        &["--use-askpass=x"],
        &["--config=f"],
        &["--bogus"],
        &["-nc"],
        &["-nvS"],
        &["-n"],
        &["-qr"],
        &["--quie"],
        &["--post-data", "a", "--method", "PUT"],
        &["--post-data", "a", "--post-file", "f"],
        &["--body-data", "a"],
        &["--user", "u"],
        &["--password", "p"],
        &["--method", "A B"],
        &["--post-file", ""],
        &["--quiet=x"],
        &["-T", "soon"],
        &["--header"],
    ] {
        let argv: Vec<&str> = ["wget", U].iter().chain(options).copied().collect();
        assert_eq!(refusal(&argv), Code::WgetOptionRefused, "{options:?}");
    }
    assert_eq!(refusal(&["wget", "ftp://h/f"]), Code::WgetOptionRefused);
    // To wget these are addresses of ftp.
    assert_eq!(refusal(&["wget", "host:/path"]), Code::WgetOptionRefused);
    assert_eq!(refusal(&["wget", "1.2.3.4:/path"]), Code::UrlInvalid);
    assert_eq!(refusal(&["wget", "http://u:p@h/f"]), Code::UrlUserinfo);
}
