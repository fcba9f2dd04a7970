//! What `--depth` adds, level by level, and that every cycle ends.

use serde_json::json;

use crate::os_root::{NONE, OsRoot, Payload, agent, failed};
use crate::policy;
use crate::server::{Answer, Server};

/// A root in which each file declares these skills.
fn graph(edges: &[(&str, &[&str])]) -> OsRoot {
    let root = OsRoot::new();
    for (file, skills) in edges {
        let skills = json!(skills);
        root.file(
            file,
            format!("---\nname: {file}\ndescription: d\nskills: {skills}\n---\n"),
        );
    }
    root
}

fn uris(payload: &Payload) -> Vec<&str> {
    payload
        .skills()
        .iter()
        .map(|entry| entry["uri"].as_str().unwrap())
        .collect()
}

#[test]
fn the_worked_example_of_the_ring() {
    #[rustfmt::skip]
    let root = graph(&[
        ("ring/a.md", &["b.md"]),
        ("ring/b.md", &["c.md", "a.md"]),
        ("ring/c.md", &["b.md"]),
    ]);
    let deep = root.payload(&["os://ring/a.md", "--depth", "3"]);
    assert_eq!(
        uris(&deep),
        ["os://ring/b.md", "os://ring/c.md"],
        "the resource is no entry"
    );
    assert_eq!(
        deep.skill("os://ring/b.md")["skills"],
        json!(["c.md", "a.md"])
    );
    let cycles = r#""tools":[]},"cycles":[["os://ring/a.md","os://ring/b.md","os://ring/c.md"]]}}"#;
    assert!(deep.text.ends_with(cycles), "{}", deep.text);
    let two = root.payload(&["os://ring/a.md", "--depth", "2"]);
    assert_eq!(two.text, deep.text);
    let one = root.payload(&["os://ring/a.md", "--depth", "1"]);
    assert_eq!(uris(&one), ["os://ring/b.md"]);
    assert_eq!(one.text, root.payload(&["os://ring/a.md"]).text);
    assert!(!one.text.contains("cycles"));
}

#[test]
fn each_level_resolves_against_the_skill_that_declares_it() {
    #[rustfmt::skip]
    let root = graph(&[
        ("a.md", &["one/b.md"]),
        ("one/b.md", &["two/c.md", "./d.md"]),
        ("one/two/c.md", &["../e.md"]),
        ("one/d.md", &[]),
        ("one/e.md", &["f.md"]),
        ("one/f.md", &[]),
    ]);
    let levels = [
        vec!["os://one/b.md"],
        vec!["os://one/b.md", "os://one/d.md", "os://one/two/c.md"],
        vec![
            "os://one/b.md",
            "os://one/d.md",
            "os://one/e.md",
            "os://one/two/c.md",
        ],
        vec![
            "os://one/b.md",
            "os://one/d.md",
            "os://one/e.md",
            "os://one/f.md",
            "os://one/two/c.md",
        ],
    ];
    for (depth, expected) in levels.iter().enumerate() {
        let payload = root.payload(&["os://a.md", "--depth", &(depth + 1).to_string()]);
        assert_eq!(&uris(&payload), expected, "depth {}", depth + 1);
    }
    let deep = root.payload(&["os://a.md", "--depth", "16"]);
    assert_eq!(deep.json["metadata"]["cycles"], json!([]), "none");
}

#[test]
fn tools_of_every_level_are_described_and_stand_once() {
    let root = OsRoot::new();
    root.file("a.md", agent(&["x/b.md"], &["t.sh", "x/u.sh"]));
    root.file(
        "x/b.md",
        "---\nskills: [y/c.md]\ntools: [u.sh, ../t.sh, Read: 1]\n---\n",
    );
    root.file("x/y/c.md", "---\ntools: [v.sh]\n---\n");
    let tools = |depth: &str| -> Vec<String> {
        let payload = root.payload(&["os://a.md", "--depth", depth]);
        payload
            .tools()
            .iter()
            .map(|tool| tool["uri"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(tools("1"), ["os://t.sh", "os://x/u.sh"]);
    let two = ["ERROR: PARSE_ERROR", "os://t.sh", "os://x/u.sh"];
    assert_eq!(tools("2"), two, "no scalar becomes an entry");
    let three = [
        "ERROR: PARSE_ERROR",
        "os://t.sh",
        "os://x/u.sh",
        "os://x/y/v.sh",
    ];
    assert_eq!(tools("3"), three);
}

#[test]
fn no_uri_is_read_twice() {
    let server = Server::new(|request| {
        Answer::Body(match request.path.as_str() {
            "/a.md" => agent(&["b.md", "c.md", "a.md"], NONE).into_bytes(),
            "/b.md" => agent(&["c.md", "./b.md", "/a.md#x"], NONE).into_bytes(),
            _ => agent(&["b.md", "d.md"], NONE).into_bytes(),
        })
    });
    let root = OsRoot::new();
    root.policy(&policy::fetches(&[&server.url("/")]));
    let payload = root.payload(&[
        &server.url("/a.md"),
        "--depth",
        "16",
        "--allow-http-loopback",
    ]);
    let all = ["/a.md", "/b.md", "/c.md", "/d.md"];
    assert_eq!(
        uris(&payload),
        all.map(|path| server.url(path)),
        "it declares itself"
    );
    assert_eq!(all.map(|path| server.hits(path)), [1; 4], "read once");
}

#[test]
fn a_skill_that_failed_has_no_further_level() {
    let root = OsRoot::new();
    root.file("a.md", agent(&["bad.md", "gone.md", "ok.md"], NONE));
    root.file("bad.md", "---\nskills: [never.md]\nx: [\n---\n");
    root.file(
        "ok.md",
        "---\nskills: [../../up.md, 'x:y', ~]\ntools: [../../t.sh]\n---\n",
    );
    let payload = root.payload(&["os://a.md", "--depth", "3"]);
    let expected = [
        "../../up.md",
        "ERROR: PARSE_ERROR",
        "os://bad.md",
        "os://gone.md",
        "os://ok.md",
        "x:y",
    ];
    assert_eq!(uris(&payload), expected);
    assert_eq!(payload.skill("../../up.md")["name"], "ERROR: FETCH_FAILED");
    assert_eq!(payload.skill("x:y")["name"], "ERROR: UNSUPPORTED_SCHEME");
    assert_eq!(payload.tool("../../t.sh"), "ERROR: PERMISSION_DENIED");
}

#[test]
fn the_limit_holds_for_the_whole_result_in_the_order_of_the_search() {
    let root = OsRoot::new();
    let many = |prefix: &str, count: usize| {
        (0..count)
            .map(|n| format!("{prefix}{n:04}.md"))
            .collect::<Vec<_>>()
    };
    root.file("a.md", agent(&["z.md"], &many("t", 5)));
    // `a-…` sorts before `z`, but z is nearer, so it stays; of the rest the first 999 in order.
    root.file("z.md", agent(&many("a-", 1000), NONE));
    let payload = root.payload(&["os://a.md", "--depth", "2"]);
    let uris = uris(&payload);
    assert_eq!(uris.len(), 1001);
    assert_eq!(
        (uris[0], uris[998], uris[999]),
        ("os://a-0000.md", "os://a-0998.md", "os://z.md")
    );
    assert_eq!(uris[1000], "ERROR: LIMIT_EXCEEDED");
    assert_eq!(payload.tools().len(), 1, "nothing is left for tools");
    assert_eq!(payload.tools()[0]["uri"], "ERROR: LIMIT_EXCEEDED");

    root.file(
        "z.md",
        format!(
            "---\nskills: {}\ntools: {}\n---\n",
            json!(vec!["a"; 1001]),
            json!(many("u", 1001))
        ),
    );
    let payload = root.payload(&["os://a.md", "--depth", "2"]);
    assert_eq!(payload.skills().len(), 2, "is no entry");
    // 5 and the first 1000 raw items of z, of which 998 have room beside two skills.
    assert_eq!(payload.tools().len(), 999);
    assert_eq!(payload.tools()[998]["uri"], "ERROR: LIMIT_EXCEEDED");
}

#[test]
fn cycles_are_listed_once_each_and_sorted() {
    #[rustfmt::skip]
    let root = graph(&[
        ("start.md", &["self.md", "p.md", "n.md"]),
        ("self.md", &["./self.md"]),
        ("p.md", &["q.md"]),
        ("q.md", &["p.md", "b.md"]),
        ("b.md", &["c.md"]),
        ("c.md", &["b.md"]),
        ("n.md", &["o.md"]),
        ("o.md", &[]),
    ]);
    let payload = root.payload(&["os://start.md", "--depth", "16"]);
    let cycles = json!([
        ["os://b.md", "os://c.md"],
        ["os://p.md", "os://q.md"],
        ["os://self.md"]
    ]);
    assert_eq!(payload.json["metadata"]["cycles"], cycles);
    let shallow = root.payload(&["os://start.md", "--depth", "2"]);
    let cycles = json!([["os://p.md", "os://q.md"], ["os://self.md"]]);
    assert_eq!(
        shallow.json["metadata"]["cycles"], cycles,
        "edges among the entries"
    );
}

#[test]
fn a_failed_resource_has_no_cycles() {
    let root = OsRoot::new();
    root.file("bad.md", "---\n[\n---\n");
    for (uri, code, content) in [
        ("os://gone.md", "FETCH_FAILED", ""),
        ("os://bad.md", "PARSE_ERROR", "---\n[\n---\n"),
    ] {
        let payload = root.payload(&[uri, "--depth", "2"]);
        let expected = failed(code, content).replace("[]}}}", "[]},\"cycles\":[]}}");
        assert_eq!(payload.text, expected);
    }
}

#[test]
fn the_other_forms_go_as_deep_but_show_no_cycles() {
    let root = graph(&[
        ("a.md", &["b.md"]),
        ("b.md", &["c.md", "b.md"]),
        ("c.md", &[]),
    ]);
    for format in ["link", "v2"] {
        let run = root.hydrate(&["os://a.md", "--depth", "2", "--format", format]);
        assert!(run.stdout.contains("\"os://c.md\""), "{}", run.stdout);
        assert!(!run.stdout.contains("cycles"));
    }
}
