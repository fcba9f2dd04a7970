//! Every option that the real curl knows is accepted, refused, or unknown to the table.
//!
//! The options stand here once more, so that a slip in the table is found.

use super::*;

/// Options that are read.
const ACCEPTED: &[&str] = &[
    "-X",
    "--request",
    "-d",
    "--data",
    "--data-ascii",
    "--data-raw",
    "--data-binary",
    "--data-urlencode",
    "--json",
    "-F",
    "--form",
    "--form-string",
    "-G",
    "--get",
    "-I",
    "--head",
    "-H",
    "--header",
    "-u",
    "--user",
    "--oauth2-bearer",
    "-A",
    "--user-agent",
    "-e",
    "--referer",
    "-r",
    "--range",
    "--compressed",
    "-b",
    "--cookie",
    "-L",
    "--location",
    "-m",
    "--max-time",
    "--connect-timeout",
    "--max-filesize",
    "--max-redirs",
    "--retry",
    "--retry-all-errors",
    "--retry-connrefused",
    "--retry-delay",
    "--retry-max-time",
    "--limit-rate",
    "-o",
    "--output",
    "-O",
    "--remote-name",
    "-J",
    "--remote-header-name",
    "--output-dir",
    "--create-dirs",
    "--remove-on-error",
    "--url",
    "--url-query",
    "-s",
    "--silent",
    "-S",
    "--show-error",
    "-f",
    "--fail",
    "--fail-early",
    "--fail-with-body",
    "-N",
    "--no-buffer",
    "-g",
    "--globoff",
    "-#",
    "--progress-bar",
    "-q",
    "--disable",
    "-Z",
    "--parallel",
    "-0",
    "--http1.0",
    "-4",
    "--ipv4",
    "-6",
    "--ipv6",
    "--no-progress-meter",
    "--http1.1",
    "--http2",
    "--http2-prior-knowledge",
    "--http3",
    "--http3-only",
    "--tlsv1.2",
    "--tlsv1.3",
    "--ssl-reqd",
    "--basic",
    "--tcp-fastopen",
    "--tcp-nodelay",
    "--proto",
    "--proto-default",
    "--proto-redir",
    "-j",
    "--junk-session-cookies",
    "-k",
    "--insecure",
    "-i",
    "--include",
    "-v",
    "--verbose",
    "-w",
    "--write-out",
    "-D",
    "--dump-header",
    "--trace",
    "--trace-ascii",
    "--trace-time",
    "--trace-ids",
    "--trace-config",
];

/// Options that are refused by name.
const REFUSED: &[&str] = &[
    "-x",
    "--proxy*",
    "-p",
    "--preproxy",
    "--socks*",
    "-U",
    "-K",
    "--config",
    "--resolve",
    "--connect-to",
    "--unix-socket",
    "--abstract-unix-socket",
    "--interface",
    "--dns-*",
    "--doh*",
    "--cacert",
    "--capath",
    "--cert",
    "-E",
    "--key",
    "--pinnedpubkey",
    "-n",
    "--netrc*",
    "-T",
    "--upload-file",
    "-a",
    "--append",
    "-Q",
    "--quote",
    "-P",
    "--ftp*",
    "-c",
    "--cookie-jar",
    "--location-trusted",
    "--digest",
    "--ntlm",
    "--negotiate",
    "--anyauth",
    "--aws-sigv4",
    "--delegation",
    "--variable",
    "--expand-*",
    "--request-target",
    "--path-as-is",
    "--haproxy*",
    "--stderr",
    "--etag-*",
    "-z",
    "--time-cond",
    "-C",
    "--continue-at",
];

/// A value that each accepted option with a value takes.
const VALUES: &[(&str, &str)] = &[
    ("--user", "a:b"),
    ("--cookie", "a=b"),
    ("--form", "a=b"),
    ("--form-string", "a=b"),
    ("--header", "A: b"),
    ("--request", "PUT"),
    ("--proto-default", "http"),
    ("--proto", "=http"),
    ("--dump-header", "-"),
    ("--trace", "-"),
    ("--trace-ascii", "-"),
];

/// An option of `curl --help all`.
struct Known {
    names: Vec<String>,
    takes_value: bool,
}

fn known_to_curl() -> Vec<Known> {
    let output = std::process::Command::new("curl")
        .args(["-q", "--help", "all"])
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .output()
        .expect("curl is on the PATH: the tests need it");
    let text = String::from_utf8(output.stdout).unwrap();
    let options: Vec<Known> = text
        .lines()
        .filter(|line| line.trim_start().starts_with('-'))
        .map(|line| {
            let mut names = Vec::new();
            let mut words = line.split_whitespace().peekable();
            while let Some(name) = words.next_if(|word| word.starts_with('-')) {
                names.push(name.trim_end_matches(',').to_owned());
            }
            let takes_value = words
                .peek()
                .is_some_and(|word| word.starts_with('<') || word.starts_with('['));
            Known { names, takes_value }
        })
        .collect();
    assert!(options.len() > 200, "{} options", options.len());
    options
}

fn stands_in(rows: &[&str], name: &str) -> bool {
    rows.iter().any(|row| {
        *row == name
            || row
                .strip_suffix('*')
                .is_some_and(|begin| name.starts_with(begin))
    })
}

#[test]
fn every_option_of_curl_is_accepted_or_refused() {
    for option in known_to_curl() {
        let long = option.names.last().unwrap().clone();
        let value = VALUES
            .iter()
            .find(|(name, _)| *name == long)
            .map_or("1", |(_, value)| value);
        for name in &option.names {
            let mut argv = vec!["curl", "http://h.example/p", name.as_str()];
            if option.takes_value {
                argv.push(value);
            }
            let found = read(&argv).map_err(|failure| failure.code);
            // One that takes a value and were not read so would leave it behind as a second URL.
            let begins_another = matches!(name.as_str(), "--next" | "-:");
            let expected = if stands_in(ACCEPTED, name) {
                Ok(1)
            } else if stands_in(REFUSED, name) || begins_another {
                Err(Code::CurlOptionRefused)
            } else {
                Err(Code::CurlOptionUnknown)
            };
            if name == "--url" {
                assert_eq!(found.unwrap().len(), 2);
                continue;
            }
            assert_eq!(found.map(|drafts| drafts.len()), expected, "{argv:?}");
        }
    }
}

#[test]
fn every_name_of_the_row_is_refused_whatever_curl_is_here() {
    for name in REFUSED {
        let name = name.replace('*', "x");
        assert_eq!(
            refusal(&["curl", "https://h.example/", &name, "v"]),
            Code::CurlOptionRefused,
            "{name}"
        );
    }
}

#[test]
fn options_without_effect_leave_the_request_alone() {
    let plain = request(&["curl", "http://h.example/p", "-d", "a=1"]);
    let known = known_to_curl();
    let without_effect = [
        "-s",
        "-S",
        "-f",
        "-N",
        "-#",
        "-q",
        "-Z",
        "-0",
        "-4",
        "-6",
        "--no-progress-meter",
        "--fail-early",
        "--fail-with-body",
        "--http1.1",
        "--http2",
        "--http3",
        "--tlsv1.2",
        "--tlsv1.3",
        "--ssl-reqd",
        "--basic",
        "--tcp-fastopen",
        "--tcp-nodelay",
        "-j",
    ];
    for name in without_effect {
        assert_eq!(
            request(&["curl", "http://h.example/p", "-d", "a=1", name]),
            plain,
            "{name}"
        );
        let takes_value = known
            .iter()
            .find(|option| option.names.iter().any(|known| known == name))
            .is_some_and(|option| option.takes_value);
        assert!(!takes_value, "{name}");
    }
}
