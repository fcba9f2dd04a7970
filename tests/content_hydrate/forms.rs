//! The link form and `--format v2` replace two values and keep every other byte.

use serde_json::json;

use crate::os_root::{NONE, OsRoot, agent, skill};

/// A root with what the worked example needs, and this document as `os://crew/pilot.md`.
fn with_pilot(document: impl AsRef<[u8]>) -> OsRoot {
    let root = OsRoot::new();
    root.file("crew/pilot.md", document);
    root.file(
        "kits/rope.md",
        "---\nname: Rope\ndescription: 'Ties \"knots\"'\nskills: [x]\n---\n",
    );
    root
}

/// The document in this form.
fn formed(root: &OsRoot, format: &str) -> String {
    let run = root.hydrate(&["os://crew/pilot.md", "--no-exec", "--format", format]);
    assert_eq!(run.status, 0, "{}", run.stderr);
    run.stdout
}

const PILOT: &str = "---
# crew sheet
skills: # known
  - ../kits/rope.md
  - os://kits/gone.md

# last
tools: [./horn.sh]
version: 1.10
---
Fly.
";

#[test]
fn the_worked_example_of_the_link_form() {
    let expected = r#"---
# crew sheet
skills:
  - uri: "os://kits/gone.md"
    name: "ERROR: FETCH_FAILED"
    description: "ERROR: FETCH_FAILED"
  - uri: "os://kits/rope.md"
    name: "Rope"
    description: "Ties \"knots\""

# last
tools:
  - uri: "os://crew/horn.sh"
    description: "ERROR: EXECUTION_SKIPPED"
version: 1.10
---
Fly.
"#;
    assert_eq!(formed(&with_pilot(PILOT), "link"), expected);
}

#[test]
fn the_worked_example_as_mappings() {
    let expected = r#"---
# crew sheet
skills:
  "os://kits/gone.md":
    name: "ERROR: FETCH_FAILED"
    description: "ERROR: FETCH_FAILED"
  "os://kits/rope.md":
    name: "Rope"
    description: "Ties \"knots\""

# last
tools:
  "os://crew/horn.sh":
    description: "ERROR: EXECUTION_SKIPPED"
version: 1.10
---
Fly.
"#;
    assert_eq!(formed(&with_pilot(PILOT), "v2"), expected);
}

/// One tool, linked: the lines after `tools:` at column 0 and at column 2, and the flow forms.
const LINKED: &str = "\n  - uri: \"os://crew/a\"\n    description: \"ERROR: EXECUTION_SKIPPED\"";
const INDENTED: &str =
    "\n    - uri: \"os://crew/a\"\n      description: \"ERROR: EXECUTION_SKIPPED\"";
const FLOW: &str = r#"[{"uri":"os://crew/a","description":"ERROR: EXECUTION_SKIPPED"}]"#;
const FLOW_V2: &str = r#"{"os://crew/a":{"description":"ERROR: EXECUTION_SKIPPED"}}"#;

#[test]
fn what_is_replaced_and_what_keeps_its_bytes() {
    #[rustfmt::skip]
    let rows = [
        // Block style.
        ("tools: [a] # gone\nx: 1 # kept\n", format!("tools:{LINKED}\nx: 1 # kept\n")),
        ("tools:\n- a\n\n\n# kept\n", format!("tools:{LINKED}\n\n\n# kept\n")),
        ("tools:\n  # gone\n  - a # gone\n  # kept\nx: 1\n", format!("tools:{LINKED}\n  # kept\nx: 1\n")),
        ("tools: [\n  a,\n  # gone\n  ./a ] # gone\nx: 1\n", format!("tools:{LINKED}\nx: 1\n")),
        ("tools: !!seq &t\n  - &a a\nx: 1\n", format!("tools:{LINKED}\nx: 1\n")),
        ("\"tools\" : [a]\n", format!("\"tools\" :{LINKED}\n")),
        ("  tools: [a]\n  x:   1\n", format!("  tools:{INDENTED}\n  x:   1\n")),
        ("tools: a\n", "tools:\n  - uri: \"ERROR: PARSE_ERROR\"\n    description: \"ERROR: PARSE_ERROR\"\n".into()),
        ("x: 1.10\ntools: [\"a\", 'a',\n a]\ny: !!str 'q'\n", format!("x: 1.10\ntools:{LINKED}\ny: !!str 'q'\n")),
        // Flow style.
        ("{tools: [a], x: 1.10 }\n", format!("{{tools: {FLOW}, x: 1.10 }}\n")),
        ("{ \"tools\": !!seq &t [ a ] # c\n }\n", format!("{{ \"tools\": {FLOW} # c\n }}\n")),
        // Nothing is declared.
        ("tools: []\nskills:\nx: ~ \n", "tools: []\nskills:\nx: ~ \n".into()),
        ("tools: ~ # none\nx: 1\n", "tools: ~ # none\nx: 1\n".into()),
        ("x: 1\n", "x: 1\n".into()),
        ("tools: [a]\nTools: [b]\nallowed-tools: [c]\n", format!("tools:{LINKED}\nTools: [b]\nallowed-tools: [c]\n")),
        ("tools: [&t a]\n", format!("tools:{LINKED}\n")),
    ];
    for (front, expected) in rows {
        let root = with_pilot(format!("---\n{front}---\nGo\r\n--- \n"));
        assert_eq!(
            formed(&root, "link"),
            format!("---\n{expected}---\nGo\r\n--- \n"),
            "{front:?}"
        );
    }
    let root = with_pilot("---\n{tools: [a], x: 1.10 }\n---\n");
    assert_eq!(
        formed(&root, "v2"),
        format!("---\n{{tools: {FLOW_V2}, x: 1.10 }}\n---\n")
    );
}

#[test]
fn byte_order_mark_and_line_ends_are_kept() {
    let root = with_pilot("\u{FEFF}--- \r\ntools: [a]\r\nx: 1\n---\t\r\nHi\r\n");
    let linked = LINKED.replace('\n', "\r\n");
    assert_eq!(
        formed(&root, "link"),
        format!("\u{FEFF}--- \r\ntools:{linked}\r\nx: 1\n---\t\r\nHi\r\n")
    );
    let root = with_pilot("---\ntools: [a]\r\nx: 1\r\n---\nHi");
    assert_eq!(
        formed(&root, "link"),
        format!("---\ntools:{LINKED}\r\nx: 1\r\n---\nHi")
    );
}

#[test]
fn a_document_without_front_matter_is_its_bytes() {
    for document in [
        "",
        "Hi",
        "\u{FEFF}Hi\r\n",
        "---\nopen",
        "+++\nx\n+++\n",
        "---\n---\nHi",
    ] {
        for format in ["link", "v2"] {
            assert_eq!(formed(&with_pilot(document), format), document, "{format}");
        }
    }
}

#[test]
fn without_a_document_there_is_nothing_to_link() {
    #[rustfmt::skip]
    let rows: [(&[u8], &str, &str); 8] = [
        (b"", "os://crew/gone.md", "FETCH_FAILED"),
        (b"", "ftp://h.example/a", "UNSUPPORTED_SCHEME"),
        (b"---\n[\n---\n", "os://crew/pilot.md", "PARSE_ERROR"),
        (b"Hi\xFF", "os://crew/pilot.md", "PARSE_ERROR"),
        (b"---\ntools: [&t a]\nx: *t\n---\n", "os://crew/pilot.md", "PARSE_ERROR"),
        (b"---\ntools: &t [a]\nx: *t\n---\n", "os://crew/pilot.md", "PARSE_ERROR"),
        (b"---\nskills: [&t a]\ntools: [*t]\nx: *t\n---\n", "os://crew/pilot.md", "PARSE_ERROR"),
        (b"---\ndescription: a: b\ntools: [a]\n---\n", "os://crew/pilot.md", "PARSE_ERROR"),
    ];
    for (document, uri, code) in rows {
        for format in ["link", "v2"] {
            let run = with_pilot(document).hydrate(&[uri, "--format", format, "--lenient"]);
            assert_eq!((run.status, run.stdout.as_str()), (1, ""), "{uri}");
            assert!(
                run.stderr.contains(&format!("ERROR: {code}")),
                "{uri}: {}",
                run.stderr
            );
            assert!(run.stderr.contains(uri), "{}", run.stderr);
        }
    }
    // An anchor that is set and used inside what is replaced is gone with it.
    let root = with_pilot("---\ntools: [&t a, *t]\n---\n");
    assert_eq!(formed(&root, "link"), format!("---\ntools:{LINKED}\n---\n"));
}

#[test]
fn in_the_link_form_lenient_holds_for_dependencies() {
    let root = with_pilot("---\nskills: [s.md]\n---\n");
    root.file(
        "crew/s.md",
        "---\nname: S\ndescription: Use when: asked\n---\n",
    );
    let run = root.hydrate(&["os://crew/pilot.md", "--format", "link", "--lenient"]);
    assert!(
        run.stdout.contains("description: \"Use when: asked\"\n"),
        "{}",
        run.stdout
    );
}

#[test]
fn no_metadata_leaves_its_string() {
    let hostile = [
        "<script>alert('xss')</script>",
        "'; DROP TABLE users; --",
        "\u{1b}[31mred\u{7f}\u{9b}\u{FFFF}",
        "a\n---\nb: c",
        "\"},{\"",
        "\u{85}\u{2028}\u{FEFF}",
        "# no comment",
        "\\\" - uri: x",
        "*alias &anchor !tag %d @a `b`",
    ];
    let root = OsRoot::new();
    let skills: Vec<String> = (0..hostile.len()).map(|n| format!("{n}.md")).collect();
    for (file, name) in skills.iter().zip(hostile) {
        root.file(file, skill(name));
    }
    // As an escape: no parser is needed to bring it in.
    root.file(
        "2.md",
        "---\nname: \"\\e[31mred\\x7f\\u009b\\uFFFF\"\ndescription: d\n---\n",
    );
    let list = json!(skills).to_string();
    for (style, document) in [
        (
            "block",
            format!("---\nname: Ann\nskills: {list}\nversion: 1.10\ndescription: d\n---\nGo"),
        ),
        (
            "flow",
            format!("---\n{{name: Ann, skills: {list}, version: 1.10, description: d}}\n---\nGo"),
        ),
    ] {
        root.file("agent.md", &document);
        let payload = root.payload(&["os://agent.md"]);
        let names: Vec<&str> = payload
            .skills()
            .iter()
            .map(|s| s["name"].as_str().unwrap())
            .collect();
        assert_eq!(names, hostile, "in JSON");
        for format in ["link", "v2"] {
            let run = root.hydrate(&["os://agent.md", "--format", format]);
            // Read again, as a skill: one front matter, the other keys unchanged, as many items as entries.
            root.file("again.md", &run.stdout)
                .file("reader.md", agent(&["again.md"], NONE));
            let again = root.payload(&["os://reader.md"]);
            let entry = &again.skills()[0];
            assert_eq!(
                (&entry["name"], &entry["description"]),
                (&json!("Ann"), &json!("d")),
                "{style} {format}"
            );
            let items = if format == "link" { hostile.len() } else { 1 };
            assert_eq!(
                entry["skills"],
                json!(vec!["ERROR: PARSE_ERROR"; items]),
                "{style} {format}"
            );
            assert_eq!(
                root.payload(&["os://again.md"]).content(),
                "Go",
                "{style} {format}"
            );
        }
    }
}

#[test]
fn a_key_that_is_too_long_for_a_simple_key_is_written_in_full() {
    let long = format!("x:{}", "y".repeat(1500));
    let root = with_pilot(format!("---\ntools: [\"{long}\", a]\n---\n"));
    let expected = format!(
        "---\ntools:\n  \"os://crew/a\":\n    description: \"ERROR: EXECUTION_SKIPPED\"\n  \
         ? \"{long}\"\n  : description: \"ERROR: UNSUPPORTED_SCHEME\"\n---\n"
    );
    assert_eq!(formed(&root, "v2"), expected);
}

#[test]
fn a_declared_entry_named_like_the_sentinel_gives_way_to_it() {
    let mut tools = vec!["ERROR: LIMIT_EXCEEDED".to_owned()];
    tools.extend((0..1000).map(|n| format!("{n:04}")));
    let root = with_pilot(format!("---\ntools: {}\n---\n", json!(tools)));
    let document = formed(&root, "v2");
    let sentinel = "\n  \"ERROR: LIMIT_EXCEEDED\":\n    description: \"ERROR: LIMIT_EXCEEDED\"";
    assert_eq!(
        document.matches("\n  \"ERROR: LIMIT_EXCEEDED\"").count(),
        1,
        "one key"
    );
    assert!(
        document.ends_with(&format!("{sentinel}\n---\n")),
        "the sentinel's, and last"
    );
    assert_eq!(document.matches("description:").count(), 1000);
}

#[test]
fn checksums_are_the_last_member_in_every_form() {
    let root = with_pilot("---\ntools: [a]\n---\n");
    let skipped = "\"ERROR: EXECUTION_SKIPPED\"";
    let options = ["os://crew/pilot.md", "--no-exec", "--checksums", "--format"];
    let link = root.hydrate(&[&options[..], &["link"]].concat()).stdout;
    assert_eq!(
        link,
        format!("---\ntools:{LINKED}\n    checksum: {skipped}\n---\n")
    );
    let v2 = root.hydrate(&[&options[..], &["v2"]].concat()).stdout;
    let v2_expected = format!(
        "---\ntools:\n  \"os://crew/a\":\n    description: {skipped}\n    checksum: {skipped}\n---\n"
    );
    assert_eq!(v2, v2_expected);
    root.file("crew/pilot.md", "---\n{tools: [a]}\n---\n");
    let flow = root.hydrate(&[&options[..], &["link"]].concat()).stdout;
    let entry =
        format!(r#"[{{"uri":"os://crew/a","description":{skipped},"checksum":{skipped}}}]"#);
    assert_eq!(flow, format!("---\n{{tools: {entry}}}\n---\n"));
}
