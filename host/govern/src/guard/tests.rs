#![allow(clippy::panic_in_result_fn)]

use std::sync::Mutex;

use super::*;
use crate::config::Config;
use crate::failure::{Code, Failure};
use crate::ports::{Wire, WireFailure, WireLimits, WireRequest, WireResponse};

fn config(text: &str) -> Config {
    Config::from_toml(&format!("[govern]\n{text}")).unwrap()
}

fn code(text: &str, force: bool, config: &Config) -> Option<Code> {
    let found = address(text, force, Frontend::Other, config);
    found.err().map(|failure| failure.code)
}

#[test]
fn the_first_check_that_fails_is_the_answer() {
    let config = config("deny_hosts = [\"bad.example\"]\nplain_http_hosts = [\"plain.example\"]");
    for (text, expected) in [
        ("  ", Some(Code::UrlNotSkill)),
        ("skill.md", Some(Code::UrlNotSkill)),
        ("//host.example/skill.md", Some(Code::UrlNotSkill)),
        ("ftp://u:p@host.example/skill.md", Some(Code::UrlScheme)),
        ("data:text/markdown,skill.md", Some(Code::UrlScheme)),
        ("https://u@host.example/skill.md", Some(Code::UrlUserinfo)),
        ("https://u:p@x.com/skill.md", Some(Code::UrlUserinfo)),
        ("file:///etc/skill.md", Some(Code::FileNotAllowed)),
        ("https://x.com/a/skill.md", Some(Code::UrlTweet)),
        ("https://www.twitter.com/skill.md", Some(Code::UrlTweet)),
        ("https://mobile.X.com./skill.md", Some(Code::UrlTweet)),
        ("https://host.example/guide", Some(Code::UrlNotSkill)),
        (
            "https://host.example/guide?f=skill.md",
            Some(Code::UrlNotSkill),
        ),
        ("https://host.example/skill.md/", Some(Code::UrlNotSkill)),
        ("https://bad.example/skill.md", Some(Code::HostDenied)),
        ("https://127.0.0.1/skill.md", Some(Code::PrivateAddress)),
        ("https://2130706433/skill.md", Some(Code::PrivateAddress)),
        (
            "https://[::ffff:10.0.0.1]/skill.md",
            Some(Code::PrivateAddress),
        ),
        ("http://localhost/skill.md", Some(Code::PrivateAddress)),
        ("http://host.example/skill.md", Some(Code::PlainHttpDenied)),
        ("http://plain.example/skill.md", None),
        ("https://host.example/SKILL.MD?ref=main#part", None),
        ("https://notx.com/skill.yaml", None),
        (" https://host.example/a.yml ", None),
    ] {
        assert_eq!(code(text, false, &config), expected, "{text}");
    }
}

#[test]
fn force_skips_steps_5_and_6_only() {
    let config = config("deny_hosts = [\"bad.example\"]");
    for (text, expected) in [
        ("https://x.com/a/status/1", None),
        ("https://host.example/guide", None),
        ("file:///etc/passwd", Some(Code::FileNotAllowed)),
        ("gopher://host.example/a", Some(Code::UrlScheme)),
        ("https://bad.example/", Some(Code::HostDenied)),
        ("https://169.254.169.254/latest", Some(Code::PrivateAddress)),
    ] {
        assert_eq!(code(text, true, &config), expected, "{text}");
    }
}

#[test]
fn a_file_lies_below_a_root_when_links_are_resolved() {
    let outside = tempfile::tempdir().unwrap();
    let root = tempfile::tempdir().unwrap();
    std::fs::write(outside.path().join("other.md"), "# x").unwrap();
    std::fs::write(root.path().join("skill.md"), "# x").unwrap();
    std::fs::create_dir(root.path().join("dir.md")).unwrap();
    std::os::unix::fs::symlink(outside.path().join("other.md"), root.path().join("link.md"))
        .unwrap();
    let config = Config {
        skill_roots: vec![root.path().to_owned()],
        ..Config::default()
    };
    let at = |path: &std::path::Path| {
        address(
            path.to_str().unwrap(),
            false,
            Frontend::CommandLine,
            &config,
        )
    };
    let found = at(&root.path().join("skill.md")).unwrap();
    assert!(found.source_url().starts_with("file:/"));
    let document = fetch(&found, None, &no_network(&config)).unwrap();
    assert_eq!(document.bytes, b"# x");
    for refused in [
        root.path().join("link.md"),
        root.path().join("dir.md"),
        root.path().join("missing.md"),
        root.path()
            .join("../")
            .join(outside.path().file_name().unwrap())
            .join("other.md"),
        outside.path().join("other.md"),
    ] {
        let failure = at(&refused).unwrap_err();
        assert_eq!(failure.code, Code::PathNotAllowed, "{refused:?}");
    }
    let url = format!("file://{}", outside.path().join("other.md").display());
    let failure = address(&url, true, Frontend::CommandLine, &config).unwrap_err();
    assert_eq!(failure.code, Code::PathNotAllowed);
}

fn no_network(config: &Config) -> Fetch<'_> {
    Fetch {
        wire: &Nothing,
        config,
        permit: &|_| Ok(()),
    }
}

struct Nothing;

impl Wire for Nothing {
    fn exchange(&self, _: &WireRequest, _: &WireLimits) -> Result<WireResponse, WireFailure> {
        panic!("the network is not asked")
    }
}

/// Answers by URL, and remembers what was asked.
#[derive(Default)]
struct Servers {
    answers: Vec<(&'static str, u16, &'static str)>,
    asked: Mutex<Vec<(String, bool)>>,
}

impl Wire for Servers {
    fn exchange(
        &self,
        request: &WireRequest,
        limits: &WireLimits,
    ) -> Result<WireResponse, WireFailure> {
        assert!(request.headers.is_empty() && request.body.is_none());
        let url = request.url.to_string();
        self.asked
            .lock()
            .unwrap()
            .push((url.clone(), limits.private));
        let (_, status, text) =
            self.answers
                .iter()
                .find(|(at, ..)| *at == url)
                .ok_or_else(|| WireFailure {
                    failure: Failure::new(Code::Dns, "no such name"),
                    network_bytes: 0,
                })?;
        let location = vec![("location".to_owned(), text.as_bytes().to_vec())];
        Ok(WireResponse {
            status: *status,
            headers: if *status < 400 && *status != 200 {
                location
            } else {
                Vec::new()
            },
            body: text.as_bytes().to_vec(),
            network_bytes: 1,
        })
    }
}

fn load(servers: &Servers, text: &str, force: bool, config: &Config) -> Result<Document, Failure> {
    let found = address(text, force, Frontend::Other, config)?;
    let permit = |pair: &str| Err(Failure::new(Code::HostApprovalRequired, pair.to_owned()));
    let ports = Fetch {
        wire: servers,
        config,
        permit: &permit,
    };
    fetch(&found, None, &ports)
}

#[test]
fn each_hop_passes_the_guard_again() {
    let servers = Servers {
        answers: vec![
            ("https://a.example/ok.md", 302, "/skill.md"),
            ("https://a.example/skill.md", 200, "# Skill"),
            (
                "https://a.example/inside.md",
                302,
                "https://169.254.169.254/x.md",
            ),
            ("https://a.example/tweet.md", 307, "https://x.com/a.md"),
            (
                "https://a.example/plain.md",
                301,
                "http://a.example/skill.md",
            ),
            (
                "https://a.example/user.md",
                301,
                "https://u:p@a.example/skill.md",
            ),
            ("https://a.example/file.md", 301, "file:///etc/passwd"),
            (
                "https://a.example/other.md",
                301,
                "https://b.example/skill.md",
            ),
            (
                "https://a.example/loop.md",
                301,
                "https://a.example/loop.md",
            ),
            ("https://a.example/gone.md", 404, "no"),
        ],
        ..Servers::default()
    };
    let config = config("source_hosts = [\"a.example\"]");
    let end = |name: &str| {
        let url = format!("https://a.example/{name}.md");
        load(&servers, &url, false, &config).map_err(|failure| failure.code)
    };
    assert_eq!(end("ok").unwrap().bytes, b"# Skill");
    assert_eq!(end("inside"), Err(Code::PrivateAddress));
    assert_eq!(end("tweet"), Err(Code::UrlTweet));
    assert_eq!(end("plain"), Err(Code::PlainHttpDenied));
    assert_eq!(end("user"), Err(Code::UrlUserinfo));
    assert_eq!(end("file"), Err(Code::UrlScheme));
    assert_eq!(end("other"), Err(Code::HostApprovalRequired));
    assert_eq!(end("gone"), Err(Code::FetchFailed));
    assert_eq!(end("nowhere"), Err(Code::FetchFailed));
    servers.asked.lock().unwrap().clear();
    assert_eq!(end("loop"), Err(Code::FetchFailed));
    assert_eq!(servers.asked.lock().unwrap().len(), 6);
}

#[test]
fn a_host_that_nobody_named_is_not_contacted() {
    let servers = Servers::default();
    let config = config("allow_private = [\"127.0.0.1:8080\"]");
    let refused = load(&servers, "https://host.example/skill.md", false, &config);
    assert_eq!(refused.unwrap_err().code, Code::HostApprovalRequired);
    assert!(servers.asked.lock().unwrap().is_empty());
}

#[test]
fn another_digest_is_refused() {
    let servers = Servers {
        answers: vec![("https://a.example/skill.md", 200, "# Skill")],
        ..Servers::default()
    };
    let config = config("source_hosts = [\"*.example\"]");
    let found = address(
        "https://a.example/skill.md",
        false,
        Frontend::Other,
        &config,
    )
    .unwrap();
    let ports = Fetch {
        wire: &servers,
        config: &config,
        permit: &|_| Ok(()),
    };
    let right = crate::digest::of_bytes(b"# Skill");
    assert!(fetch(&found, Some(&right), &ports).is_ok());
    let wrong = crate::digest::of_bytes(b"# Skull");
    let failure = fetch(&found, Some(&wrong), &ports).unwrap_err();
    assert_eq!(failure.code, Code::DigestMismatch);
}
