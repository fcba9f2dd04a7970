//! Where front matter ends and content begins, byte for byte.

use crate::os_root::{NONE, OsRoot, agent, failed};
use Front::{Absent, Invalid, Named};

/// What the text between the delimiters gives.
#[derive(Clone, Copy, Debug)]
enum Front {
    /// `name: Ann`.
    Named,
    /// No front matter, or an empty mapping: no name, no description.
    Absent,
    /// PARSE_ERROR.
    Invalid,
}

const WHOLE: &str = "the whole text";

/// File, front matter, content.
#[rustfmt::skip]
const ROWS: &[(&[u8], Front, &str)] = &[
    (b"---\nname: Ann\n---\nHi", Named, "Hi"),
    (b"---\nname: Ann\n---\n\n\nHi\n", Named, "\n\nHi\n"),
    (b"---\r\nname: Ann\r\n---\r\nHi\r\n", Named, "Hi\r\n"),
    (b"--- \nname: Ann\n---\t\nHi", Named, "Hi"),
    (b"\xEF\xBB\xBF---\nname: Ann\n---\nHi", Named, "Hi"),
    (b"\xEF\xBB\xBFHi", Absent, "Hi"),
    (b"\n---\nname: Ann\n---\nHi", Absent, WHOLE),
    (b" ---\nname: Ann\n---\nHi", Absent, WHOLE),
    (b"----\nname: Ann\n----\nHi", Absent, WHOLE),
    (b"---\nname: Ann\nHi", Absent, WHOLE),
    (b"---\nname: Ann\n...\nHi", Absent, WHOLE),
    (b"---\nname: Ann\n...\n---\nHi", Named, "Hi"),
    (b"---\n---\nHi", Absent, "Hi"),
    (b"---\n---\nx: 1\n---\nHi", Absent, "x: 1\n---\nHi"),
    (b"---\n# later\n---\nHi", Absent, "Hi"),
    (b"---\nname: Ann\n---", Named, ""),
    (b"---\nname: Ann\n---\nHi\n---\nBye", Named, "Hi\n---\nBye"),
    (b"---\nname: Ann\n---x\n---\nHi", Invalid, WHOLE),
    (b"---\nname: Ann\n--- x\n---\nHi", Invalid, WHOLE),
    (b"---\nAnn\n---\nHi", Invalid, WHOLE),
    (b"+++\nname = \"Ann\"\n+++\nHi", Absent, WHOLE),
    (b"---", Absent, "---"),
    (b"", Absent, ""),
    (b"---\rname: Ann\r---\rHi", Absent, WHOLE),
    (b"Hi\xFF", Invalid, "Hi\u{FFFD}"),
    (b"---\nname: Ann\n---\na\0b", Named, "a\0b"),
    (b"---\r\nname: Ann\n---\r", Named, ""),
    (b"\xEF\xBB\xBF\xEF\xBB\xBF---\nname: Ann\n---\nHi", Absent, "\u{FEFF}---\nname: Ann\n---\nHi"),
    (b"a\xE2\x82b\xFF\xFEc\xED\xA0\x80", Invalid, "a\u{FFFD}b\u{FFFD}\u{FFFD}c\u{FFFD}\u{FFFD}\u{FFFD}"),
    (b"\xEF\xBB\xBF---\nx: \xFF\n---\nHi", Invalid, "---\nx: \u{FFFD}\n---\nHi"),
    (b"---\nnull\n---\nHi", Absent, "Hi"),
    (b"---\n \t\n---\nHi", Absent, "Hi"),
    (b"---\n- name: Ann\n---\nHi", Invalid, WHOLE),
    (b"\xEF\xBB\xBF---\nAnn\n---\nHi", Invalid, "---\nAnn\n---\nHi"),
];

#[test]
fn the_content_of_a_resource_follows_its_front_matter() {
    let root = with_rows();
    for (index, (file, front, content)) in ROWS.iter().enumerate() {
        let content = match *content {
            WHOLE => std::str::from_utf8(file).unwrap(),
            content => content,
        };
        let (uri, shown) = (uri(index), file.escape_ascii());
        let payload = root.payload(&[&uri]);
        match front {
            Invalid => assert_eq!(payload.text, failed("PARSE_ERROR", content), "{shown}"),
            Named | Absent => {
                assert_eq!(payload.content(), content, "{shown}");
                assert_eq!(payload.uri(), uri, "{shown}");
            }
        }
    }
}

#[test]
fn the_front_matter_of_a_skill_is_what_stands_between_its_delimiters() {
    let root = with_rows();
    let uris: Vec<String> = (0..ROWS.len()).map(uri).collect();
    root.file("all.md", agent(&uris, NONE));
    let payload = root.payload(&["os://all.md"]);
    for (uri, (file, front, _)) in uris.iter().zip(ROWS) {
        let expected = match front {
            Named => ["Ann", "ERROR: MISSING_DESCRIPTION"],
            Absent => ["ERROR: MISSING_NAME", "ERROR: MISSING_DESCRIPTION"],
            Invalid => ["ERROR: PARSE_ERROR"; 2],
        };
        let (entry, shown) = (payload.skill(uri), file.escape_ascii());
        assert_eq!(entry["name"], expected[0], "{shown}");
        assert_eq!(entry["description"], expected[1], "{shown}");
        assert_eq!(entry["skills"], serde_json::json!([]), "{shown}");
        assert_eq!(entry["tools"], serde_json::json!([]), "{shown}");
    }
}

#[test]
fn delimiters_inside_a_block_scalar_and_front_matter_in_flow_style() {
    let root = OsRoot::new();
    root.file("f15.md", "---\ndescription: |\n  a\n  ---\n  b\n---\nHi");
    root.file("f19.md", "---\n{\"skills\": [\"./rope.md\"]}\n---\nHi");
    root.file("all.md", agent(&["f15.md", "f19.md"], NONE));
    let payload = root.payload(&["os://all.md"]);
    let description = &payload.skill("os://f15.md")["description"];
    assert_eq!(description, "a\n---\nb\n");
    let raw = &payload.skill("os://f19.md")["skills"];
    assert_eq!(raw, &serde_json::json!(["./rope.md"]));
    for uri in ["os://f15.md", "os://f19.md"] {
        assert_eq!(root.payload(&[uri]).content(), "Hi", "{uri}");
    }
}

#[test]
fn invalid_utf_8_after_valid_front_matter_spoils_the_whole_skill() {
    let root = OsRoot::new();
    root.file("skill.md", b"---\nname: Ann\ndescription: d\n---\n\xC0\xAF");
    root.file("agent.md", agent(&["skill.md"], NONE));
    let payload = root.payload(&["os://agent.md"]);
    let entry = payload.skill("os://skill.md");
    assert_eq!(entry["name"], "ERROR: PARSE_ERROR");
    assert_eq!(entry["description"], "ERROR: PARSE_ERROR");
}

/// A root with the file of each row.
fn with_rows() -> OsRoot {
    let root = OsRoot::new();
    for (index, (file, _, _)) in ROWS.iter().enumerate() {
        root.file(&format!("{index:02}.md"), file);
    }
    root
}

fn uri(index: usize) -> String {
    format!("os://{index:02}.md")
}
