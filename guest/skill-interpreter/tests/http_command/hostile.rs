//! What no author would write: a request or a refusal, soon, and never anything that splits a header.

use std::time::Duration;

use super::*;

/// Far more than any of these takes, and far less than anything that is not linear would.
const SOON: Duration = Duration::from_secs(2);

/// Whether it is read without a refusal.
fn is_read_soon(argv: &[&str]) -> bool {
    let start = processor_time::Stopwatch::started();
    let found = read(argv);
    let took = start.elapsed();
    assert!(took < SOON, "{} words took {took:?}", argv.len());
    found.is_ok()
}

#[test]
fn long_words_and_many_options_are_read_soon() {
    let long = "a".repeat(64 << 10);
    let escaped = "\\\"".repeat(32 << 10);
    let semicolons = ";type=a/b".repeat(7_000);
    let form = format!("f=\"{escaped}\"{semicolons}");
    let nested = "(".repeat(64 << 10);
    for (option, value) in [
        ("-H", format!("A: {long}")),
        ("-d", long.clone()),
        ("-F", form),
        ("-F", format!("a=b{semicolons}")),
        ("-F", format!("a=b;filename=\"{escaped}")),
        ("-u", format!("{long}:{long}")),
        ("-b", "a=b;".repeat(16_000)),
        ("-X", long),
        ("-m", "9".repeat(64 << 10)),
        ("--proto", "-all,".repeat(12_000)),
        ("-F", format!("a=b{nested}")),
    ] {
        let _ = is_read_soon(&["curl", "http://h.example/", option, &value]);
    }
    let cluster = format!("-{}", "s".repeat(64 << 10));
    assert!(is_read_soon(&["curl", &cluster, "http://h.example/"]));
    for (program, option, value) in [
        ("curl", "-H", "A: b"),
        ("curl", "-d", "a=b"),
        ("curl", "-F", "a=b"),
        ("curl", "--json", "{}"),
        ("curl", "-b", "a=b"),
        ("curl", "-o", "f"),
        ("curl", "--url-query", "a=b"),
        ("wget", "--header", "A: b"),
    ] {
        let mut argv = vec![program, "h.example"];
        for _ in 0..8_000 {
            argv.extend([option, value]);
        }
        assert!(is_read_soon(&argv), "{program} {option}");
    }
    let urls = vec!["h.example/x"; 8_000];
    let argv: Vec<&str> = ["curl", "-d", "a=b"].into_iter().chain(urls).collect();
    let _ = is_read_soon(&argv);
}

#[test]
fn names_of_headers_and_methods_never_hold_line_ends() {
    for program in ["curl", "wget"] {
        for end in ["\r\n", "\n", "\r", "\0"] {
            let header = format!("A{end}B: c");
            let argv: Vec<&str> = match program {
                "curl" => vec![program, "h.example", "-H", &header],
                "wget" => vec![program, "h.example", "--header", &header],
                _ => vec![program, "h.example", &header],
            };
            assert_eq!(refusal(&argv), Code::HeaderRefused, "{argv:?}");
        }
    }
    assert_eq!(
        refusal(&["curl", "h.example", "-X", "GET / HTTP/1.1\r\nA"]),
        Code::CurlOptionRefused
    );
    assert_eq!(
        refusal(&["curl", "h.example", "-F", "a\r\nb=c"]),
        Code::CurlOptionRefused
    );
    assert_eq!(
        refusal(&["curl", "h.example", "-F", "a=b;type=x/y\r\nA: b"]),
        Code::CurlOptionRefused
    );
    assert_eq!(
        refusal(&["curl", "h.example", "-F", "a=b;filename=\"x\r\ny\""]),
        Code::CurlOptionRefused
    );
}

#[test]
fn messages_hold_no_control_character_and_little_text() {
    for argv in [
        vec!["curl".to_owned(), format!("--{}\r\n", "x".repeat(9_000))],
        vec!["curl".to_owned(), "-\u{1b}".to_owned()],
        vec!["curl".to_owned(), format!("{}://h/", "x".repeat(9_000))],
        vec!["wget".to_owned(), format!("--{}\u{7}", "x".repeat(9_000))],
    ] {
        let argv: Vec<&str> = argv.iter().map(String::as_str).collect();
        let failure = read(&argv).unwrap_err();
        assert!(failure.message.len() < 200, "{failure}");
        assert!(
            !failure.message.contains(|c: char| c.is_control()),
            "{failure}"
        );
    }
}

#[test]
fn what_is_no_command_is_no_operation() {
    assert_eq!(refusal(&["curlx"]), Code::NotAnOperation);
    assert_eq!(
        refusal(&["$CURL", "http://h.example/"]),
        Code::NotAnOperation
    );
    assert_eq!(refusal(&[]), Code::NotAnOperation);
}
