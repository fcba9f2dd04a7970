//! Real https: certificates, host names, and what an https base makes of a reference.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::time::Duration;

use rcgen::{CertificateParams, date_time_ymd};
use serde_json::json;

use crate::os_root::{NONE, OsRoot, agent, failed, skill};
use crate::policy;
use crate::server::{Answer, Identity, Request, Server};

/// A root whose policy allows this server, and trusts this certificate if one is given.
fn allowing(server: &Server, root: Option<&Identity>) -> OsRoot {
    let os = OsRoot::new();
    let mut policy = policy::fetches(&[&https(server, "/")]);
    if let Some(identity) = root {
        os.file("../roots.pem", &identity.pem);
        policy["host"]["tls_roots"] = json!(["roots.pem"]);
    }
    os.policy(&policy);
    os
}

fn https(server: &Server, path: &str) -> String {
    format!("https://127.0.0.1:{}{path}", server.port())
}

fn named_by_path(request: &Request) -> Answer {
    Answer::Body(skill(&request.path).into_bytes())
}

#[test]
fn a_certificate_is_trusted_only_through_the_policy_and_for_its_names() {
    let local = Identity::of(&["127.0.0.1"]);
    let other = Identity::of(&["lib.example"]);
    let mut expired = CertificateParams::new(vec!["127.0.0.1".to_owned()]).unwrap();
    expired.not_after = date_time_ymd(2020, 1, 1);
    let expired = Identity::with(expired);
    // What the server shows, what the policy trusts, whether that is enough.
    let rows = [
        ("not trusted", &local, None, false),
        ("trusted", &local, Some(&local), true),
        ("another is trusted", &local, Some(&other), false),
        ("another name", &other, Some(&other), false),
        ("expired", &expired, Some(&expired), false),
    ];
    for (case, shown, trusted, enough) in rows {
        let server = Server::tls(shown, named_by_path);
        let url = https(&server, "/a.md");
        let payload = allowing(&server, trusted).payload(&[&url]);
        if enough {
            assert_eq!(
                (payload.uri(), payload.content()),
                (url.as_str(), ""),
                "{case}"
            );
        } else {
            assert_eq!(payload.text, failed("FETCH_FAILED", ""), "{case}");
            assert!(server.requests().is_empty(), "nothing is sent: {case}");
        }
        assert!(server.connections() > 0, "{case}");
    }
}

/// Versions before TLS 1.2 are not spoken, also with a server that has no other.
#[test]
fn a_server_of_an_older_version_is_told_so_and_nothing_is_sent() {
    for version in [[3_u8, 1], [3, 2]] {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("https://{}/", listener.local_addr().unwrap());
        let server = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            stream
                .set_read_timeout(Some(Duration::from_secs(20)))
                .unwrap();
            assert!(stream.read(&mut [0; 16_384]).unwrap() > 0, "no hello came");
            // A ServerHello: version, random, no session, a suite that TLS 1.2 has as well, no compression.
            let mut hello = version.to_vec();
            hello.extend([7; 32]);
            hello.extend([0, 0xc0, 0x2f, 0]);
            let length = u8::try_from(hello.len()).unwrap();
            let mut record = vec![22, version[0], version[1], 0, length + 4, 2, 0, 0, length];
            record.extend(hello);
            stream.write_all(&record).unwrap();
            let mut rest = Vec::new();
            stream.read_to_end(&mut rest).unwrap();
            rest
        });
        let root = OsRoot::new();
        root.policy(&policy::fetches(&[&url]));
        let payload = root.payload(&[&format!("{url}a.md")]);
        assert_eq!(payload.text, failed("FETCH_FAILED", ""), "{version:?}");
        // The fatal alert `protocol_version`, and nothing else.
        assert_eq!(
            server.join().unwrap(),
            [21, 3, 3, 0, 2, 2, 70],
            "{version:?}"
        );
    }
}

#[test]
fn a_redirect_from_https_to_http_is_refused() {
    let plain = Server::new(named_by_path);
    let target = plain.url("/x.md");
    let identity = Identity::of(&["127.0.0.1"]);
    let server = Server::tls(&identity, move |request| match request.path.as_str() {
        "/down.md" => Answer::Redirect(302, target.clone()),
        "/same.md" => Answer::Redirect(302, "/end.md".to_owned()),
        _ => named_by_path(request),
    });
    let root = allowing(&server, Some(&identity));
    let mut policy = policy::fetches(&[&https(&server, "/"), &plain.url("/")]);
    policy["host"]["tls_roots"] = json!(["roots.pem"]);
    root.policy(&policy);
    root.file(
        "agent.md",
        agent(
            &[https(&server, "/down.md"), https(&server, "/same.md")],
            NONE,
        ),
    );
    let payload = root.payload(&["os://agent.md"]);
    let name = |path: &str| payload.skill(&https(&server, path))["name"].clone();
    assert_eq!(name("/down.md"), "ERROR: FETCH_FAILED");
    assert_eq!(name("/same.md"), "/end.md");
    assert_eq!(plain.connections(), 0);
}

#[test]
fn an_https_document_is_the_base_of_what_it_declares() {
    let identity = Identity::of(&["127.0.0.1"]);
    let server = Server::tls(&identity, |request| match request.path.as_str() {
        "/kits/index.md" => {
            let declared = [
                "rope.md?v=2#top",
                "/rope.md",
                "../../../deep.md",
                "os://kits/rope.md",
                "a%2fb.md",
            ];
            Answer::Body(agent(&declared, &["t.sh"]).into_bytes())
        }
        _ => named_by_path(request),
    });
    let root = allowing(&server, Some(&identity));
    root.file("kits/rope.md", skill("here"));
    let payload = root.payload(&[&https(&server, "/kits/index.md")]);
    #[rustfmt::skip]
    let rows = [
        (https(&server, "/kits/rope.md?v=2"), "/kits/rope.md?v=2"),
        (https(&server, "/rope.md"), "/rope.md"),
        (https(&server, "/deep.md"), "/deep.md"),
        ("os://kits/rope.md".to_owned(), "here"),
        (https(&server, "/kits/a%2fb.md"), "ERROR: FETCH_FAILED"),
    ];
    for (uri, name) in &rows {
        assert_eq!(payload.skill(uri)["name"], *name, "{uri}");
    }
    assert_eq!(payload.skills().len(), rows.len());
    let tool = payload.tool(&https(&server, "/kits/t.sh"));
    assert_eq!(tool, "ERROR: EXECUTION_SKIPPED");
}

#[test]
fn an_https_base_is_a_mount() {
    let identity = Identity::of(&["127.0.0.1"]);
    let server = Server::tls(&identity, named_by_path);
    let root = allowing(&server, Some(&identity));
    root.file(
        "agent.md",
        agent(&["lib/rope ladder.md", "lib/a/../b.md"], NONE),
    );
    let mount = format!("/lib/={}", https(&server, "/v3/"));
    let payload = root.payload(&["os://agent.md", "--mount", &mount]);
    assert_eq!(
        payload.skill("os://lib/rope%20ladder.md")["name"],
        "/v3/rope%20ladder.md"
    );
    assert_eq!(payload.skill("os://lib/b.md")["name"], "/v3/b.md");
}
