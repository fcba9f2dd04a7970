//! Depths beyond 1.

use super::*;

fn deep(uri: &str, depth: u8) -> Request {
    Request {
        depth,
        ..Request::new(uri)
    }
}

fn skill(skills: &str, tools: &str) -> String {
    format!("---\nname: n\ndescription: d\nskills: [{skills}]\ntools: [{tools}]\n---\n")
}

fn cycles(payload: &str) -> serde_json::Value {
    json(payload)["metadata"]["cycles"].clone()
}

#[test]
fn the_ring_of_the_example() {
    let mut host = FakeHost::new(&[
        ("ring/a.md", skill("b.md", "")),
        ("ring/b.md", skill("c.md, a.md", "")),
        ("ring/c.md", skill("b.md", "")),
    ]);
    for depth in [2, 3, 16] {
        let payload = host.hydrate(&deep("os://ring/a.md", depth));
        assert_eq!(
            members(&payload, "skills", "uri"),
            ["os://ring/b.md", "os://ring/c.md"]
        );
        assert!(
            payload
                .ends_with(r#","cycles":[["os://ring/a.md","os://ring/b.md","os://ring/c.md"]]}}"#),
            "{payload}"
        );
    }
    let payload = host.payload("os://ring/a.md");
    assert_eq!(members(&payload, "skills", "uri"), ["os://ring/b.md"]);
    assert!(
        !payload.contains("cycles"),
        "depth 1 is the payload of v1.1.0"
    );
}

#[test]
fn levels_are_flat_sorted_and_read_once() {
    let mut host = FakeHost::new(&[
        ("a.md", skill("z.md, b.md", "ta")),
        ("z.md", skill("y.md, b.md", "tz, ta")),
        ("b.md", skill("x.md, z.md", "tb")),
        ("x.md", skill("w.md", "tx")),
        ("y.md", skill("w.md", "ty")),
        ("w.md", skill("", "tw")),
    ]);
    let payload = host.hydrate(&deep("a.md", 2));
    assert_eq!(
        members(&payload, "skills", "uri"),
        ["os://b.md", "os://x.md", "os://y.md", "os://z.md"]
    );
    assert_eq!(
        members(&payload, "tools", "uri"),
        ["os://ta", "os://tb", "os://tz"]
    );
    assert_eq!(
        cycles(&payload),
        serde_json::json!([["os://b.md", "os://z.md"]])
    );
    assert_eq!(
        host.reads,
        [
            vec!["/os/a.md"],
            vec!["/os/b.md", "/os/z.md"],
            vec!["/os/x.md", "/os/y.md"],
        ]
    );
    let payload = host.hydrate(&deep("a.md", 16));
    assert_eq!(members(&payload, "skills", "uri").len(), 5);
    assert_eq!(
        members(&payload, "tools", "uri"),
        [
            "os://ta", "os://tb", "os://tw", "os://tx", "os://ty", "os://tz"
        ]
    );
}

#[test]
fn what_declares_itself_is_an_entry_and_a_cycle() {
    let mut host = FakeHost::new(&[
        ("a.md", skill("a.md, b.md", "")),
        ("b.md", skill("b.md, c.md", "")),
        ("c.md", skill("", "")),
    ]);
    let payload = host.hydrate(&deep("a.md", 16));
    assert_eq!(
        members(&payload, "skills", "uri"),
        ["os://a.md", "os://b.md", "os://c.md"]
    );
    assert_eq!(
        cycles(&payload),
        serde_json::json!([["os://a.md"], ["os://b.md"]])
    );
    assert_eq!(host.all_reads().len(), 3, "no URI is read twice");
}

#[test]
fn there_is_a_member_cycles_also_when_there_are_none() {
    let mut host = FakeHost::new(&[
        ("a.md", skill("", "")),
        ("bad.md", "---\n[\n---\n".to_owned()),
    ]);
    for uri in ["a.md", "bad.md", "nobody.md", "ftp://x"] {
        let payload = host.hydrate(&deep(uri, 2));
        assert!(
            payload.ends_with(r#""dependencies":{"skills":[],"tools":[]},"cycles":[]}}"#),
            "{uri}"
        );
    }
}

#[test]
fn what_fails_has_no_further_level_and_what_is_no_string_becomes_an_entry() {
    let mut host = FakeHost::new(&[
        ("a.md", skill("gone.md, bad.md, s.md", "")),
        ("bad.md", "---\nskills: [x.md]\nname: [\n---\n".to_owned()),
        ("s.md", skill("'../up', [y], 'ftp://z'", "{a: b}, '../up'")),
        ("t.md", String::new()),
    ]);
    let payload = host.hydrate(&deep("a.md", 3));
    assert_eq!(
        members(&payload, "skills", "uri"),
        [
            "../up",
            "ERROR: PARSE_ERROR",
            "ftp://z",
            "os://bad.md",
            "os://gone.md",
            "os://s.md"
        ]
    );
    assert_eq!(
        members(&payload, "tools", "uri"),
        ["../up", "ERROR: PARSE_ERROR"]
    );
    let mut host = FakeHost::new(&[
        ("a.md", skill("s.md", "")),
        ("s.md", "---\nskills: one\ntools: {a: b}\n---\n".to_owned()),
    ]);
    let payload = host.hydrate(&deep("a.md", 2));
    assert_eq!(
        members(&payload, "skills", "uri"),
        ["ERROR: PARSE_ERROR", "os://s.md"]
    );
    assert_eq!(members(&payload, "tools", "uri"), ["ERROR: PARSE_ERROR"]);
}

#[test]
fn references_count_from_the_skill_that_declares_them() {
    let mut host = FakeHost::new(&[
        ("a.md", skill("kits/rope/s.md", "")),
        ("kits/rope/s.md", skill("../t.md", "u.sh")),
        ("kits/t.md", skill("", "")),
    ]);
    host.tool("/os/kits/rope/u.sh", exit(0, "U"), exit(0, ""));
    let payload = host.hydrate(&deep("a.md", 2));
    assert_eq!(
        members(&payload, "skills", "uri"),
        ["os://kits/rope/s.md", "os://kits/t.md"]
    );
    assert_eq!(members(&payload, "tools", "description"), ["U"]);
    assert_eq!(tool(&host.runs[0][0]).declared_by, "os://kits/rope/s.md");
}

#[test]
fn escapes_inside_skills_are_refused_too() {
    let mut host = FakeHost::new(&[
        ("a.md", skill("k/s.md", "")),
        (
            "k/s.md",
            skill("../../etc/passwd, os://%2e%2e/x", "../../bin/sh"),
        ),
    ]);
    let payload = host.hydrate(&deep("a.md", 2));
    assert_eq!(
        members(&payload, "skills", "name"),
        ["ERROR: FETCH_FAILED", "ERROR: FETCH_FAILED", "n"]
    );
    assert_eq!(
        members(&payload, "tools", "description"),
        ["ERROR: PERMISSION_DENIED"]
    );
    assert_eq!(host.all_reads(), ["/os/a.md", "/os/k/s.md"]);
}

#[test]
fn the_limit_holds_for_the_whole_result() {
    let many = |letter: char, count: usize| {
        let items: Vec<String> = (0..count).map(|i| format!("{letter}{i:04}")).collect();
        items.join(",")
    };
    let mut host = FakeHost::new(&[
        ("a.md", skill("s1, s2", "t1, t2")),
        ("s1", skill(&many('x', 600), "t0")),
        ("s2", skill(&many('y', 600), "")),
    ]);
    let payload = host.hydrate(&deep("a.md", 3));
    let skills = members(&payload, "skills", "uri");
    assert_eq!(skills.len(), 1_001);
    assert_eq!(skills[1_000], "ERROR: LIMIT_EXCEEDED");
    assert!(
        skills.contains(&"os://y0397".to_owned()) && !skills.contains(&"os://y0398".to_owned())
    );
    assert_eq!(members(&payload, "tools", "uri"), ["ERROR: LIMIT_EXCEEDED"]);
    assert_eq!(host.all_reads().len(), 1_001);
    // 1000 exactly: nothing is cut.
    host.file("s2", skill(&many('y', 398), ""));
    host.file("a.md", skill("s1, s2", ""));
    host.file("s1", skill(&many('x', 600), ""));
    let payload = host.hydrate(&deep("a.md", 3));
    assert!(!payload.contains("LIMIT_EXCEEDED"));
}

#[test]
fn the_raw_items_beyond_1000_are_not_followed() {
    let items: Vec<String> = (0..1_001).rev().map(|i| format!("s{i:04}")).collect();
    let mut host = FakeHost::new(&[
        ("a.md", skill("b.md", "")),
        ("b.md", skill(&items.join(","), "")),
    ]);
    let payload = host.hydrate(&deep("a.md", 2));
    let uris = members(&payload, "skills", "uri");
    assert_eq!(uris[1], "os://s0001", "s0000 is the 1001st");
}

#[test]
fn a_long_chain_needs_no_recursion() {
    let mut host = FakeHost::new(&[("a.md", skill("s000.md", ""))]);
    for i in 0..900 {
        let next = if i == 899 {
            "s000.md".to_owned()
        } else {
            format!("s{:03}.md", i + 1)
        };
        // Every skill is on the first level as well, so that depth 2 has them all.
        host.file(&format!("s{i:03}.md"), skill(&next, ""));
    }
    let all: Vec<String> = (0..900).map(|i| format!("s{i:03}.md")).collect();
    host.file("a.md", skill(&all.join(","), ""));
    let payload = host.hydrate(&deep("a.md", 2));
    assert_eq!(cycles(&payload)[0].as_array().unwrap().len(), 900);
}
