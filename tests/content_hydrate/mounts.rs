//! Mounts, the longest prefix, and links that may not leave the mount they lie in.

use serde_json::json;

use crate::os_root::{NONE, OsRoot, agent, failed, skill};
use crate::policy;
use crate::server::{Answer, Server};

const LOOPBACK: &str = "--allow-http-loopback";

#[test]
fn the_longest_prefix_by_whole_segments_wins() {
    let server = Server::new(|request| Answer::Body(skill(&request.path).into_bytes()));
    let root = OsRoot::new();
    root.policy(&policy::fetches(&[&server.url("/")]));
    for file in [
        "crew/pilot.md",
        "library/rope.md",
        "lib",
        "sys/a.md",
        "proc/a.md",
        "memory/a.md",
    ] {
        root.file(file, skill(&format!("./os/{file}")));
    }
    root.file("../ours/rope.md", skill("ours"));
    #[rustfmt::skip]
    let rows = [
        ("os://crew/pilot.md", "os://crew/pilot.md", "./os/crew/pilot.md"),
        ("os://lib/rope%20ladder.md", "os://lib/rope%20ladder.md", "/v3/rope%20ladder.md"),
        ("os://lib/ours/rope.md", "os://lib/ours/rope.md", "ours"),
        ("os://library/rope.md", "os://library/rope.md", "./os/library/rope.md"),
        ("os://crew/../lib/rope.md", "os://lib/rope.md", "/v3/rope.md"),
        ("os://lib", "os://lib", "./os/lib"),
        ("os://lib/ours/../up.md", "os://lib/up.md", "/v3/up.md"),
        ("os://lib/../../a.md", "os://lib/../../a.md", "ERROR: FETCH_FAILED"),
        ("os://lib/a%3Fb%25.md", "os://lib/a%3Fb%25.md", "ERROR: FETCH_FAILED"),
        ("os://sys/a.md", "os://sys/a.md", "./os/sys/a.md"),
        ("os://proc/a.md", "os://proc/a.md", "./os/proc/a.md"),
        ("os://memory/a.md", "os://memory/a.md", "./os/memory/a.md"),
    ];
    let uris = rows.map(|(uri, ..)| uri);
    root.file("crew/all.md", agent(&uris, NONE));
    let mount = format!("/lib/={}", server.url("/v3/"));
    let payload = root.payload(&[
        "os://crew/all.md",
        LOOPBACK,
        "--mount",
        &mount,
        "--mount",
        "/lib/ours/=ours",
    ]);
    for (uri, emitted, name) in rows {
        assert_eq!(payload.skill(emitted)["name"], name, "{uri}");
    }
    assert!(
        !payload.text.contains("127.0.0.1"),
        "the target never shows"
    );
}

#[test]
fn a_mount_does_not_replace_the_allowlist() {
    let server = Server::new(|_| Answer::Body(skill("reached").into_bytes()));
    let root = OsRoot::new();
    let mount = format!("/lib/={}", server.url("/v3/"));
    let payload = root.payload(&["os://lib/a.md", LOOPBACK, "--mount", &mount]);
    assert_eq!(payload.text, failed("FETCH_FAILED", ""));
    assert_eq!(server.connections(), 0);
    root.policy(&policy::fetches(&[&server.url("/v3/")]));
    root.file(
        "agent.md",
        agent(&["os://lib/a.md", "os://lib/%2E%2E/b.md"], NONE),
    );
    let payload = root.payload(&["os://agent.md", LOOPBACK, "--mount", &mount]);
    assert_eq!(payload.skill("os://lib/a.md")["name"], "reached");
    assert_eq!(payload.skill("os://b.md")["name"], "ERROR: FETCH_FAILED");
}

#[test]
fn a_root_is_given_by_flag_and_what_it_holds_is_os() {
    let root = OsRoot::new();
    root.file("../elsewhere/a.md", skill("A"))
        .file("../more/b.md", skill("B"));
    root.file(
        "../elsewhere/agent.md",
        agent(&["a.md", "os://x/b.md"], NONE),
    );
    let payload = root.payload(&["agent.md", "--root", "elsewhere", "--mount", "/x/=more"]);
    assert_eq!(payload.uri(), "os://agent.md");
    assert_eq!(payload.skill("os://a.md")["name"], "A");
    assert_eq!(payload.skill("os://x/b.md")["name"], "B");
    let absolute = root.project().join("elsewhere");
    let payload = root.payload(&["agent.md", "--root", absolute.to_str().unwrap()]);
    assert_eq!(payload.uri(), "os://agent.md");
}

#[test]
fn a_mount_that_is_not_as_required_is_a_usage_error() {
    let root = OsRoot::new();
    root.file("../ours/a.md", "").file("a.md", "");
    #[rustfmt::skip]
    let rows: [&[&str]; 12] = [
        &["--mount", "lib/=ours"],
        &["--mount", "/lib=ours"],
        &["--mount", "/lib/"],
        &["--mount", "/lib/="],
        &["--mount", "/lib/=nowhere"],
        &["--mount", "/lib/=ours/a.md"],
        &["--mount", "/lib/=https://cdn.example/v3"],
        &["--mount", "/lib/=http://127.0.0.1:1/v3/"],
        &["--mount", "/lib/=ftp://cdn.example/v3/"],
        &["--mount", "/lib/../=ours"],
        &["--mount", "/lib/=ours", "--mount", "/lib/=ours"],
        &["--root", "nowhere"],
    ];
    for options in rows {
        let run = root.hydrate(&[&["os://a.md"], options].concat());
        assert_eq!(run.status, 2, "{options:?}: {}", run.stderr);
        assert!(
            run.stdout.is_empty() && !run.stderr.is_empty(),
            "{options:?}"
        );
    }
}

#[test]
fn what_the_policy_maps_no_flag_maps_again_unless_it_says_so() {
    let root = OsRoot::new();
    root.file("a.md", skill("policy"))
        .file("../ours/a.md", skill("flag"));
    let mut policy = policy::tools_run();
    root.policy(&policy);
    let run = root.hydrate(&["os://a.md", "--root", "ours"]);
    assert_eq!(run.status, 2, "{}", run.stderr);
    policy["host"]["mounts"] = json!([
        {"at": "/os", "dir": "@cli", "mode": "ro"},
        {"at": "/os/lib", "dir": "ours", "mode": "ro"},
    ]);
    root.policy(&policy);
    root.file("../ours/agent.md", agent(&["a.md", "os://lib/a.md"], NONE));
    let payload = root.payload(&["os://agent.md", "--root", "ours"]);
    assert_eq!(payload.skill("os://a.md")["name"], "flag");
    assert_eq!(payload.skill("os://lib/a.md")["name"], "flag");
    let run = root.hydrate(&["os://agent.md", "--root", "ours", "--mount", "/lib/=os"]);
    assert_eq!(run.status, 2, "{}", run.stderr);
}

#[test]
fn without_an_os_directory_nothing_is_mounted() {
    let root = OsRoot::new();
    std::fs::remove_dir(root.path("")).unwrap();
    assert_eq!(
        root.payload(&["os://a.md"]).text,
        failed("FETCH_FAILED", "")
    );
}

#[test]
fn links_are_contained_by_the_mount_they_lie_in() {
    let root = OsRoot::new();
    root.file("crew/pilot.md", skill("pilot"))
        .file("../secret.md", skill("secret"));
    root.file("../ours/rope.md", skill("rope"));
    root.link("near.md", "crew/pilot.md");
    root.link("kits", "crew");
    root.link("round/trip.md", "../../os/crew/pilot.md");
    root.link("up.md", "../secret.md");
    root.link("updir", "..");
    root.link("passwd.md", "/etc/passwd");
    root.link("absolute.md", root.path("crew/pilot.md"));
    root.link("loop.md", "loop.md");
    root.link("dangling.md", "gone.md");
    root.link("magic.md", "/proc/self/environ");
    root.link("mounted.md", "../ours/rope.md");
    root.link("../ours/back.md", "../os/crew/pilot.md");
    root.link("../ours/near.md", "rope.md");
    let inside = [
        ("near.md", "pilot"),
        ("kits/pilot.md", "pilot"),
        ("lib/near.md", "rope"),
    ];
    let outside = [
        "round/trip.md", // leaves and comes back: it left
        "up.md",
        "updir/secret.md",
        "passwd.md",
        "absolute.md",
        "loop.md",
        "dangling.md",
        "magic.md",
        "mounted.md",
        "lib/back.md",
    ];
    let all: Vec<&str> = inside.iter().map(|(uri, _)| *uri).chain(outside).collect();
    root.file("agent.md", agent(&all, NONE));
    let payload = root.payload(&["os://agent.md", "--mount", "/lib/=ours"]);
    for (uri, name) in inside {
        assert_eq!(payload.skill(&format!("os://{uri}"))["name"], name, "{uri}");
    }
    for uri in outside {
        let entry = payload.skill(&format!("os://{uri}"));
        assert_eq!(entry["name"], "ERROR: FETCH_FAILED", "{uri}");
    }
    assert_eq!(
        root.payload(&["os://up.md"]).text,
        failed("FETCH_FAILED", "")
    );
}
