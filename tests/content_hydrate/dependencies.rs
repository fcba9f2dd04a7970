//! The shape of the payload, its entries, their order, and what a failure leaves of it.

use serde_json::{Value, json};

use crate::os_root::{NONE, OsRoot, agent, failed, skill};

#[test]
fn the_payload_is_one_compact_line_with_exactly_these_members() {
    let root = OsRoot::new();
    root.file("crew/pilot.md", "---\ntype: Agent\nversion: 1.10\nskills: [../kits/rope.md]\ntools: [./horn.sh]\n---\nFly.\n");
    root.file("kits/rope.md", "---\nname: Rope\ndescription: Ties\nskills: [./knot.md]\ntools: [./x.sh]\nlicense: MIT\n---\nx");
    let run = root.hydrate(&["os://crew/pilot.md", "--no-exec"]);
    let expected = concat!(
        r#"{"content":"Fly.\n","metadata":{"uri":"os://crew/pilot.md","dependencies":{"#,
        r#""skills":[{"uri":"os://kits/rope.md","name":"Rope","description":"Ties","skills":["./knot.md"],"tools":["./x.sh"]}],"#,
        r#""tools":[{"uri":"os://crew/horn.sh","description":"ERROR: EXECUTION_SKIPPED"}]}}}"#,
        "\n"
    );
    assert_eq!(run.stdout, expected);
    root.file("bare.md", "Hi");
    let bare = r#"{"content":"Hi","metadata":{"uri":"os://bare.md","dependencies":{"skills":[],"tools":[]}}}"#;
    assert_eq!(root.payload(&["os://bare.md"]).text, bare);
}

#[test]
fn only_what_json_must_escape_is_escaped() {
    let root = OsRoot::new();
    let mut expected = String::new();
    let mut content = String::new();
    for code in 0..=0x1F_u32 {
        content.push(char::from_u32(code).unwrap());
        expected += &match code {
            0x08 => r"\b".to_owned(),
            0x09 => r"\t".to_owned(),
            0x0A => r"\n".to_owned(),
            0x0C => r"\f".to_owned(),
            0x0D => r"\r".to_owned(),
            code => format!(r"\u{code:04x}"),
        };
    }
    let literal = "/\u{7f}\u{2028}\u{2029}é😀<>&'";
    root.file("a.md", format!("{content}{literal}\"\\"));
    let text = root.payload(&["os://a.md"]).text;
    let expected = format!(r#"{{"content":"{expected}{literal}\"\\","metadata""#);
    assert_eq!(&text[..expected.len()], expected);
    let name = "\"\\\u{1b}[0m/";
    root.file("b.md", skill(name));
    root.file("c.md", agent(&["b.md"], NONE));
    let text = root.payload(&["os://c.md"]).text;
    assert!(
        text.contains(r#""name":"\"\\\u001b[0m/""#),
        "in metadata: {text}"
    );
}

#[test]
fn a_resource_that_cannot_be_fetched_leaves_only_its_code() {
    let root = OsRoot::new();
    root.file("dir/a.md", "");
    #[rustfmt::skip]
    let rows = [
        ("os://nobody.md", "FETCH_FAILED"),
        ("os://dir", "FETCH_FAILED"),
        ("os://dir/a.md/b.md", "FETCH_FAILED"),
        ("https://lib.example/a.md", "FETCH_FAILED"),
        ("ftp://lib.example/a.md", "UNSUPPORTED_SCHEME"),
        ("http://127.0.0.1:1/a.md", "UNSUPPORTED_SCHEME"),
    ];
    for (uri, code) in rows {
        assert_eq!(root.payload(&[uri]).text, failed(code, ""), "{uri}");
    }
}

#[test]
fn a_failed_skill_has_its_code_twice_and_harms_no_other() {
    let root = OsRoot::new();
    root.file("bad.md", "---\n[\n---\n")
        .file("good.md", skill("Good"))
        .file("dir/x.md", "");
    root.file(
        "agent.md",
        agent(
            &["bad.md", "ftp://h/x.md", "good.md", "gone.md", "dir", "a?b"],
            NONE,
        ),
    );
    let payload = root.payload(&["os://agent.md"]);
    #[rustfmt::skip]
    let rows = [
        ("os://bad.md", "ERROR: PARSE_ERROR"),
        ("ftp://h/x.md", "ERROR: UNSUPPORTED_SCHEME"),
        ("os://gone.md", "ERROR: FETCH_FAILED"),
        ("os://dir", "ERROR: FETCH_FAILED"),
        ("a?b", "ERROR: FETCH_FAILED"),
    ];
    for (uri, code) in rows {
        let expected =
            json!({"uri": uri, "name": code, "description": code, "skills": [], "tools": []});
        assert_eq!(payload.skill(uri), &expected);
    }
    assert_eq!(
        payload.skill("os://good.md")["name"],
        "Good",
        "a failure affects no other"
    );
}

#[test]
fn a_skill_without_front_matter_misses_both() {
    let root = OsRoot::new();
    root.file("empty.md", "").file("plain.md", "# Rope\n");
    root.file("agent.md", agent(&["empty.md", "plain.md"], NONE));
    let payload = root.payload(&["os://agent.md"]);
    for uri in ["os://empty.md", "os://plain.md"] {
        let expected = json!({
            "uri": uri,
            "name": "ERROR: MISSING_NAME",
            "description": "ERROR: MISSING_DESCRIPTION",
            "skills": [],
            "tools": [],
        });
        assert_eq!(payload.skill(uri), &expected);
    }
}

#[test]
fn entries_are_sorted_by_the_bytes_of_their_emitted_uri() {
    let root = OsRoot::new();
    // U+FFFD sorts before U+1F600 in UTF-8 and after it in UTF-16; declared strings stay as they are.
    let declared = [
        "x:\u{1F600}",
        "b.md",
        "a/b.md",
        "x:\u{FFFD}",
        "B.md",
        "a-b.md",
        "é.md",
        "a.md",
        "#",
        "https://h.example/a",
    ];
    let emitted = [
        "#",
        "https://h.example/a",
        "os://B.md",
        "os://a-b.md",
        "os://a.md",
        "os://a/b.md",
        "os://b.md",
        "os://%C3%A9.md",
        "x:\u{FFFD}",
        "x:\u{1F600}",
    ];
    let mut emitted = emitted.map(str::to_owned);
    emitted.sort(); // bytewise, as `str` compares
    root.file("agent.md", agent(&declared, &declared));
    let payload = root.payload(&["os://agent.md"]);
    for entries in [payload.skills(), payload.tools()] {
        let uris: Vec<&Value> = entries.iter().map(|entry| &entry["uri"]).collect();
        assert_eq!(uris, emitted.iter().collect::<Vec<_>>());
    }
}

#[test]
fn duplicates_are_found_by_emitted_uri_within_each_array() {
    let root = OsRoot::new();
    let same = [
        "a.md",
        "./a.md",
        "os:///a.md",
        "b/../a.md",
        "%61.md",
        "a.md#x",
    ];
    root.file("a.md", skill("A"));
    root.file("agent.md", agent(&same, &same));
    let payload = root.payload(&["os://agent.md"]);
    assert_eq!(payload.skills().len(), 1);
    assert_eq!(payload.skills()[0]["uri"], "os://a.md");
    assert_eq!(
        payload.tools().len(),
        1,
        "the same uri may stand in both arrays"
    );
    root.file("agent.md", agent(&["x:y", "x:y", "#a", "#a", "#b"], NONE));
    assert_eq!(
        root.payload(&["os://agent.md"]).skills().len(),
        3,
        "declared strings too"
    );
}

#[test]
fn a_resource_may_declare_itself() {
    let root = OsRoot::new();
    root.file(
        "me.md",
        "---\nname: Me\ndescription: d\nskills: [./me.md]\n---\nHi",
    );
    let payload = root.payload(&["os://me.md"]);
    assert_eq!(payload.skill("os://me.md")["name"], "Me");
    assert_eq!(payload.skill("os://me.md")["skills"], json!(["./me.md"]));
}

#[test]
fn text_that_looks_like_a_code_passes_through() {
    let root = OsRoot::new();
    root.file("a.md", skill("ERROR: TIMEOUT"));
    root.file("agent.md", agent(&["a.md"], NONE));
    let payload = root.payload(&["os://agent.md"]);
    assert_eq!(payload.skill("os://a.md")["name"], "ERROR: TIMEOUT");
    assert_eq!(payload.skill("os://a.md")["description"], "d");
}

#[test]
fn sealed_values_pass_through_as_text() {
    let root = OsRoot::new();
    root.file("a.md", skill("pwenc:v1:abc"));
    root.file("agent.md", agent(&["a.md", "pwenc:v1:abc"], NONE));
    let payload = root.payload(&["os://agent.md"]);
    assert_eq!(payload.skill("os://a.md")["name"], "pwenc:v1:abc");
    assert_eq!(
        payload.skill("pwenc:v1:abc")["name"],
        "ERROR: UNSUPPORTED_SCHEME"
    );
}
