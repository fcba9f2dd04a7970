//! What is fetched, how, and from where. A loopback server stands for the remote host.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::os_root::{NONE, OsRoot, Payload, Run, agent, skill};
use crate::policy;
use crate::server::{Answer, Server};

const LOOPBACK: &str = "--allow-http-loopback";
const FETCH_FAILED: &str = "ERROR: FETCH_FAILED";

/// The payload of a local agent that declares these paths of the server, which the policy allows.
fn declaring(server: &Server, paths: &[&str]) -> Payload {
    let root = OsRoot::new();
    root.policy(&policy::fetches(&[&server.url("/")]));
    let urls: Vec<String> = paths.iter().map(|path| server.url(path)).collect();
    root.file("agent.md", agent(&urls, NONE));
    root.payload(&["os://agent.md", LOOPBACK])
}

#[test]
fn a_request_carries_exactly_these_headers_and_knows_no_proxy() {
    let server = Server::new(|_| Answer::Body(skill("remote").into_bytes()));
    let root = OsRoot::new();
    root.policy(&policy::fetches(&[&server.url("/")]));
    root.file("agent.md", agent(&[server.url("/a.md?v=1#frag")], NONE));
    let proxy = "http://127.0.0.1:1";
    let output = root
        .command(&["hydrate", "os://agent.md", LOOPBACK])
        .envs([
            ("http_proxy", proxy),
            ("HTTP_PROXY", proxy),
            ("ALL_PROXY", proxy),
            ("all_proxy", proxy),
        ])
        .output()
        .unwrap();
    let payload = Payload::from(Run::from(output));
    assert_eq!(
        payload.skills()[0]["name"],
        "remote",
        "no proxy from the environment"
    );
    assert_eq!(payload.skills()[0]["uri"], server.url("/a.md?v=1"));
    let request = &server.requests()[0];
    assert_eq!(request.path, "/a.md?v=1", "no fragment");
    let mut headers = request.headers.clone();
    headers.sort();
    let agent = headers
        .iter()
        .find(|(name, _)| name == "user-agent")
        .unwrap()
        .1
        .clone();
    let version = agent.strip_prefix("hydrant/").unwrap();
    assert!(
        version.split('.').all(|part| part.parse::<u32>().is_ok()),
        "{agent}"
    );
    #[rustfmt::skip]
    let expected = [
        ("accept", "text/markdown, text/plain;q=0.9, */*;q=0.1"),
        ("accept-encoding", "identity"),
        ("host", &format!("127.0.0.1:{}", server.port())),
        ("user-agent", &agent),
    ];
    assert_eq!(
        headers,
        expected.map(|(name, value)| (name.to_owned(), value.to_owned()))
    );
}

/// What a user or another server gave to other programs goes nowhere.
#[test]
fn neither_a_credential_nor_a_cookie_is_sent() {
    let server = Server::new(|request| match request.path.as_str() {
        "/first.md" => Answer::Status(302, "location: /b.md\r\nset-cookie: a=b\r\n"),
        _ => Answer::Body(skill("remote").into_bytes()),
    });
    let root = OsRoot::new();
    root.policy(&policy::fetches(&[&server.url("/")]));
    root.file("agent.md", agent(&[server.url("/first.md")], NONE));
    let kept = root.home().join(".netrc");
    std::fs::write(&kept, "machine 127.0.0.1 login me password hunter2\n").unwrap();
    let output = root
        .command(&["hydrate", "os://agent.md", LOOPBACK])
        .env("NETRC", &kept)
        .output()
        .unwrap();
    let payload = Payload::from(Run::from(output));
    assert_eq!(payload.skills()[0]["name"], "remote");
    let requests = server.requests();
    assert_eq!(requests.len(), 2);
    for (name, _) in requests.iter().flat_map(|request| &request.headers) {
        let secret = ["authorization", "proxy-authorization", "cookie"];
        assert!(!secret.contains(&name.as_str()), "{requests:?}");
    }
}

#[test]
fn success_is_a_2xx_status_whatever_the_content_type_says() {
    let server = Server::new(|request| {
        let body = skill("r\u{e9}sum\u{e9}");
        let length = body.len();
        match request.path.as_str() {
            "/charset" => Answer::Raw(
                format!("HTTP/1.1 200 OK\r\ncontent-type: image/png; charset=latin1\r\ncontent-length: {length}\r\n\r\n{body}").into(),
            ),
            "/203" => Answer::Raw(format!("HTTP/1.1 203 X\r\ncontent-length: {length}\r\n\r\n{body}").into()),
            "/204" => Answer::Raw(b"HTTP/1.1 204 X\r\n\r\n".to_vec()),
            "/404" => Answer::Raw(format!("HTTP/1.1 404 X\r\ncontent-length: {length}\r\n\r\n{body}").into()),
            "/304" => Answer::Status(304, ""),
            "/500" => Answer::Status(500, ""),
            _ => Answer::Raw(b"nonsense\r\n\r\n".to_vec()),
        }
    });
    let paths = [
        "/charset",
        "/203",
        "/204",
        "/404",
        "/304",
        "/500",
        "/nonsense",
    ];
    let payload = declaring(&server, &paths);
    let names = [
        "r\u{e9}sum\u{e9}",
        "r\u{e9}sum\u{e9}",
        "ERROR: MISSING_NAME",
    ];
    for (index, path) in paths.into_iter().enumerate() {
        let expected = names.get(index).copied().unwrap_or(FETCH_FAILED);
        assert_eq!(payload.skill(&server.url(path))["name"], expected, "{path}");
    }
    assert_eq!(server.hits("/500"), 1, "a failure is not asked for again");
}

#[test]
fn redirects_are_followed_five_times_and_checked_each_time() {
    let other = Server::new(|_| Answer::Body(skill("other").into_bytes()));
    let elsewhere = other.url("/x");
    let local = other.port();
    let server = Server::new(move |request| {
        let to = |path: &str| path.to_owned();
        match request.path.as_str() {
            "/301" | "/302" | "/303" | "/307" | "/308" => {
                Answer::Redirect(request.path[1..].parse().unwrap(), to("/end"))
            }
            "/300" => Answer::Redirect(300, to("/end")),
            "/hop/1" => Answer::Redirect(302, to("/end")),
            "/loop" => Answer::Redirect(302, to("/loop")),
            "/nowhere" => Answer::Status(302, ""),
            "/elsewhere" => Answer::Redirect(302, elsewhere.clone()),
            "/name" => Answer::Redirect(302, format!("http://localhost:{local}/x")),
            "/user" => Answer::Redirect(302, to("//me:pw@127.0.0.1/end")),
            "/file" => Answer::Redirect(302, to("file:///etc/passwd")),
            "/private" => Answer::Redirect(302, to("http://169.254.169.254/end")),
            "/relative/a" => Answer::Redirect(302, to("../end")),
            "/end" => Answer::Body(skill("end").into_bytes()),
            path => {
                let hops: u32 = path.strip_prefix("/hop/").unwrap().parse().unwrap();
                Answer::Redirect(302, format!("/hop/{}", hops - 1))
            }
        }
    });
    let end = [
        "/301",
        "/302",
        "/303",
        "/307",
        "/308",
        "/hop/5",
        "/relative/a",
    ];
    let not = [
        "/300",
        "/hop/6",
        "/loop",
        "/nowhere",
        "/elsewhere",
        "/name",
        "/user",
        "/file",
        "/private",
    ];
    let payload = declaring(&server, &[&end[..], &not[..]].concat());
    for path in end {
        // The emitted uri is the one that was declared.
        assert_eq!(payload.skill(&server.url(path))["name"], "end", "{path}");
    }
    for path in not {
        assert_eq!(
            payload.skill(&server.url(path))["name"],
            FETCH_FAILED,
            "{path}"
        );
    }
    assert_eq!(server.hits("/loop"), 6);
    assert_eq!(
        other.connections(),
        0,
        "nothing is sent to a host that is not allowed"
    );
}

#[test]
fn the_requested_uri_stays_the_base_after_a_redirect() {
    let server = Server::new(|request| match request.path.as_str() {
        "/a/index.md" => Answer::Redirect(302, "/b/deep/index.md".to_owned()),
        "/b/deep/index.md" => Answer::Body(agent(&["x.md"], NONE).into_bytes()),
        path => Answer::Body(skill(path).into_bytes()),
    });
    let root = OsRoot::new();
    root.policy(&policy::fetches(&[&server.url("/")]));
    let payload = root.payload(&[&server.url("/a/index.md"), LOOPBACK]);
    assert_eq!(payload.uri(), server.url("/a/index.md"));
    assert_eq!(payload.skills()[0]["uri"], server.url("/a/x.md"));
    assert_eq!(payload.skills()[0]["name"], "/a/x.md");
}

#[test]
fn a_body_that_is_too_long_or_too_slow_is_fetch_failed() {
    let mib = vec![b'x'; 1 << 20];
    let server = Server::new(move |request| match request.path.as_str() {
        "/4mib" => Answer::Body(mib.repeat(4)),
        "/more" => Answer::Body([&mib.repeat(4)[..], b"x"].concat()),
        "/endless" => Answer::Endless(mib.clone(), Duration::ZERO),
        "/drip" => Answer::Endless(b"x".to_vec(), Duration::from_secs(1)),
        "/claims" => {
            Answer::Raw(b"HTTP/1.1 200 OK\r\ncontent-length: 99999999999\r\n\r\nx".to_vec())
        }
        "/short" => Answer::Raw(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nx".to_vec()),
        // Not asked for: a bomb stays packed, and packed bytes are no document.
        "/gzip" => {
            Answer::Raw(b"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\n\r\n\x1f\x8b\x08\0".to_vec())
        }
        _ => Answer::Status(404, ""),
    });
    let bad = ["/more", "/endless", "/drip", "/claims", "/short", "/gzip"];
    let started = Instant::now();
    let payload = declaring(&server, &[&["/4mib"], &bad[..]].concat());
    assert!(started.elapsed() < Duration::from_secs(15), "10 s at most");
    assert_eq!(
        payload.skill(&server.url("/4mib"))["name"],
        "ERROR: MISSING_NAME"
    );
    for path in bad {
        assert_eq!(
            payload.skill(&server.url(path))["name"],
            FETCH_FAILED,
            "{path}"
        );
        assert_eq!(
            server.hits(path),
            1,
            "not repeated once an answer began: {path}"
        );
    }
}

/// A hostcall gets at most the time that its call has left.
#[test]
fn a_fetch_ends_with_the_time_of_its_call() {
    let server = Server::new(|_| Answer::Endless(b"x".to_vec(), Duration::from_millis(100)));
    let root = OsRoot::new();
    root.policy(&policy::limited(
        policy::fetches(&[&server.url("/")]),
        json!({"wall_ms": 700}),
    ));
    root.file("agent.md", agent(&[server.url("/a.md")], NONE));
    let started = Instant::now();
    let run = root.hydrate(&["os://agent.md", LOOPBACK]);
    let elapsed = started.elapsed();
    assert_eq!((run.status, run.stdout.as_str()), (1, ""), "{}", run.stderr);
    assert!(run.stderr.contains("wall-clock"), "{}", run.stderr);
    // By itself it would have taken the 10 s that a resource may take.
    assert!(elapsed < Duration::from_secs(7), "{elapsed:?}");
    assert_eq!(server.connections(), 1);
}

#[test]
fn a_hundred_skills_are_fetched_ten_at_a_time() {
    let delay = Duration::from_millis(40);
    let server = Server::slow(delay, |request| {
        Answer::Body(skill(&request.path).into_bytes())
    });
    let root = OsRoot::new();
    root.policy(&policy::fetches(&[&server.url("/")]));
    let uris: Vec<String> = (0..100).map(|n| format!("os://lib/{n:03}.md")).collect();
    root.file("agent.md", agent(&uris, NONE));
    let mount = format!("/lib/={}", server.url("/v3/"));
    let started = Instant::now();
    let payload = root.payload(&["os://agent.md", LOOPBACK, "--mount", &mount]);
    let elapsed = started.elapsed();
    for (index, entry) in payload.skills().iter().enumerate() {
        assert_eq!(entry["name"], format!("/v3/{index:03}.md"));
    }
    assert_eq!(server.peak(), 10, "at most 10 open requests, and no fewer");
    assert_eq!(server.requests().len(), 100, "each is read once");
    assert!(
        elapsed < 50 * delay,
        "near 10 times the delay, not 100: {elapsed:?}"
    );
}
