//! The guard: which addresses are loaded.

use serde_json::{Value, json};

use crate::house::{House, code, string};
use crate::recorder::{Recorder, Reply};

const SKILL: &str = "name: a\noperations:\n- name: x\n  endpoint: https://a.example.org/\n";

fn checked(house: &House, address: &str) -> String {
    let run = house
        .folder()
        .run(&["skill", "load", "--check-only", address]);
    if run.status == 0 {
        assert_eq!(run.json()["ok"], true);
        "ok".into()
    } else {
        code(&crate::house::error_of(&run))
    }
}

#[test]
fn a_tweet_and_a_suffix_in_the_query() {
    let house = House::new();
    assert_eq!(checked(&house, "https://x.com/a/skill.md"), "url-tweet");
    for address in [
        "https://a.example.org/page?file=skill.md",
        "https://a.example.org/page#skill.md",
        "https://a.example.org/skill.md/",
        "https://a.example.org/",
        "https://a.example.org/skill.mdx",
    ] {
        assert_eq!(checked(&house, address), "url-not-skill", "{address}");
    }
}

#[test]
fn query_and_fragment_do_not_count_against() {
    let house = House::with("source_hosts = ['a.example.org']\n");
    for address in [
        "https://a.example.org/guide.md?ref=main",
        "https://a.example.org/guide.md#part",
        "https://a.example.org/GUIDE.MD",
        "https://a.example.org/a.markdown",
        "https://a.example.org/a.yml",
        "  https://a.example.org/a.json  ",
    ] {
        assert_eq!(checked(&house, address), "ok", "{address}");
    }
}

#[test]
fn other_hosts_of_the_same() {
    let house = House::new();
    for host in [
        "www.x.com",
        "mobile.x.com",
        "twitter.com",
        "www.twitter.com",
        "mobile.twitter.com",
        "X.COM",
    ] {
        assert_eq!(
            checked(&house, &format!("https://{host}/a/skill.md")),
            "url-tweet"
        );
    }
    // No subdomain.
    assert_ne!(checked(&house, "https://notx.com/a/skill.md"), "url-tweet");
}

#[test]
fn a_missing_file_is_no_such_file_and_nothing_is_told_of_files_beyond_the_roots() {
    let house = House::new();
    let folder = house.folder();
    folder.put("../beside/skill.yaml", SKILL);
    folder.put("here/skill.yaml", SKILL);
    std::os::unix::fs::symlink("../beside/none.yaml", folder.path("nowhere.yaml")).unwrap();
    std::os::unix::fs::symlink("../beside", folder.path("folder")).unwrap();
    let message = |path: &str| string(&house.error(&["skill", "load", "--force", path])["message"]);
    for missing in ["none.yaml", "here/none.yaml", "here/none/none.yaml"] {
        assert_eq!(message(missing), format!("no such file: {missing}"));
    }
    for beyond in [
        "nowhere.yaml",
        "folder/none.yaml",
        "../beside/none.yaml",
        "/none/none.yaml",
        "here/../none.yaml",
    ] {
        assert!(
            message(beyond).contains("no file below `skill_roots`"),
            "{beyond}"
        );
    }
}

#[test]
fn no_file_beyond_the_roots() {
    let house = House::new();
    let folder = house.folder();
    folder.put("../beside/skill.yaml", SKILL);
    folder.put("here/skill.yaml", SKILL);
    std::os::unix::fs::symlink("../beside/skill.yaml", folder.path("link.yaml")).unwrap();
    std::os::unix::fs::symlink("../beside", folder.path("folder")).unwrap();
    for path in [
        "../beside/skill.yaml",
        "link.yaml",
        "folder/skill.yaml",
        "/etc/passwd.yaml",
        &format!("file://{}", folder.argument("../beside/skill.yaml")),
    ] {
        assert_eq!(
            house.code(&["skill", "load", path]),
            "path-not-allowed",
            "{path}"
        );
        assert_eq!(
            house.code(&["skill", "load", "--force", path]),
            "path-not-allowed",
            "{path}"
        );
    }
    house.ok(&["skill", "load", "here/skill.yaml"]);
    // Over any other frontend no file at all.
    let inside = format!("file://{}", folder.argument("here/skill.yaml"));
    for input in [
        json!({"url": inside}),
        json!({"url": inside, "force": true}),
        json!({"url": "here/skill.yaml", "force": true}),
    ] {
        let answer = &house.syscall(&[("ccos.skill.load", input)])[0];
        let code = &answer["payload"]["code"];
        assert!(
            code == "file-not-allowed" || code == "url-not-skill",
            "{answer}"
        );
    }
}

#[test]
fn the_same_answer_over_both_frontends() {
    let house = House::with("deny_hosts = ['evil.example.org']\n");
    for address in [
        "",
        "no-url",
        "ftp://a.example.org/skill.md",
        "https://me:pw@a.example.org/skill.md",
        "https://x.com/a/skill.md",
        "https://a.example.org/page",
        "https://evil.example.org/skill.md",
        "http://a.example.org/skill.md",
        "https://127.0.0.1/skill.md",
        "https://[::1]/skill.md",
        "https://localhost/skill.md",
        "https://169.254.169.254/skill.md",
        "https://2130706433/skill.md",
        "https://a.example.org/skill.md",
    ] {
        let answer = house.syscall(&[("ccos.skill.load", json!({"url": address}))]);
        let there = answer[0]["payload"]["code"].clone();
        // On the command line alone, what has no scheme is a path.
        if address.contains(':') {
            assert_eq!(there, house.code(&["skill", "load", address]), "{address}");
        } else {
            assert_eq!(there, "url-not-skill", "{address}");
        }
    }
}

#[test]
fn section_4_the_order_of_the_checks() {
    let house = House::with("deny_hosts = ['evil.example.org']\n");
    for (address, expected) in [
        ("ftp://me:pw@x.com/page", "url-scheme"),
        ("https://me:pw@x.com/page", "url-userinfo"),
        ("https://x.com/page", "url-tweet"),
        ("https://evil.example.org/page", "url-not-skill"),
        ("http://evil.example.org/skill.md", "host-denied"),
        ("http://127.0.0.1/skill.md", "private-address"),
        ("http://a.example.org/skill.md", "plain-http-denied"),
        ("https://a.example.org/skill.md", "host-approval-required"),
    ] {
        assert_eq!(
            house.code(&["skill", "load", address]),
            expected,
            "{address}"
        );
    }
    let rejected = house.events("skill-rejected");
    assert_eq!(rejected.len(), 8);
    assert_eq!(rejected[0]["code"], "url-scheme");
}

#[test]
fn a_host_is_approved_for_loading() {
    let server = Recorder::new(|_| Reply::typed("text/yaml", SKILL));
    let pairs = [server.pair()];
    let house = House::with(&format!("allow_private = {pairs:?}\n"));
    let address = server.url("/skill.yaml#part");
    let error = house.error(&["skill", "load", &address]);
    assert_eq!(code(&error), "host-approval-required");
    assert_eq!(server.requests(), []);
    house.ok(&[
        "approvals",
        "approve",
        error["approval-id"].as_str().unwrap(),
    ]);
    let loaded = house.ok(&["skill", "load", &address]);
    // Without the fragment.
    assert_eq!(loaded["source-url"], server.url("/skill.yaml"));
    let request = server.only();
    let agent = request.header("user-agent").unwrap();
    assert!(agent.starts_with("hydrant/"), "{agent}");
    for absent in ["authorization", "cookie"] {
        assert_eq!(request.header(absent), None);
    }
}

#[test]
fn what_the_server_answers_is_held_against_the_request() {
    let server = Recorder::new(|request| match request.target.as_str() {
        "/good.yaml" => Reply::typed("text/yaml", SKILL),
        "/away.yaml" => Reply::redirect(302, "/good.yaml"),
        "/out.yaml" => Reply::redirect(302, "https://x.com/skill.md"),
        "/loop.yaml" => Reply::redirect(302, "/loop.yaml"),
        "/html.yaml" => Reply::typed("text/html", "<!DOCTYPE html><p>"),
        "/big.yaml" => Reply::typed("text/yaml", vec![b'#'; (1 << 20) + 1]),
        "/nul.yaml" => Reply::typed("text/yaml", "a: \0"),
        "/latin.yaml" => Reply::typed("text/yaml", vec![b'a', 0xe9]),
        _ => Reply::redirect(404, "/"),
    });
    let house = House::beside(&[&server]);
    let refused = |path: &str| house.code(&["skill", "load", &server.url(path)]);
    assert_eq!(refused("/none.yaml"), "fetch-failed");
    assert_eq!(refused("/out.yaml"), "url-tweet");
    assert_eq!(refused("/loop.yaml"), "fetch-failed");
    assert_eq!(refused("/html.yaml"), "html");
    assert_eq!(refused("/big.yaml"), "too-large");
    assert_eq!(refused("/nul.yaml"), "not-text");
    assert_eq!(refused("/latin.yaml"), "not-utf8");
    let zeros = format!("sha256:{}", "0".repeat(64));
    let good = server.url("/good.yaml");
    assert_eq!(
        house.code(&["skill", "load", &good, "--expect-digest", &zeros]),
        "digest-mismatch"
    );
    assert_eq!(house.ok(&["skill", "list"])["skills"], json!([]));
    let loaded: Value = house.ok(&["skill", "load", &server.url("/away.yaml")]);
    assert_eq!(loaded["source-url"], server.url("/away.yaml"));
}

#[test]
fn force_is_a_boolean() {
    let house = House::new();
    for force in [json!("true"), json!(1), json!([])] {
        let input = json!({"url": "https://a.example.org/skill.md", "force": force});
        let answer = &house.syscall(&[("ccos.skill.load", input)])[0];
        assert_eq!(answer["payload"]["code"], "invalid-request", "{answer}");
    }
}
