//! §8: where front matter ends and content begins, byte for byte.

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

/// Row, file, front matter, content.
#[rustfmt::skip]
const ROWS: &[(&str, &[u8], Front, &str)] = &[
    ("F-01", b"---\nname: Ann\n---\nHi", Named, "Hi"),
    ("F-02", b"---\nname: Ann\n---\n\n\nHi\n", Named, "\n\nHi\n"),
    ("F-03", b"---\r\nname: Ann\r\n---\r\nHi\r\n", Named, "Hi\r\n"),
    ("F-04", b"--- \nname: Ann\n---\t\nHi", Named, "Hi"),
    ("F-05", b"\xEF\xBB\xBF---\nname: Ann\n---\nHi", Named, "Hi"),
    ("F-06", b"\xEF\xBB\xBFHi", Absent, "Hi"),
    ("F-07", b"\n---\nname: Ann\n---\nHi", Absent, WHOLE),
    ("F-07", b" ---\nname: Ann\n---\nHi", Absent, WHOLE),
    ("F-07", b"----\nname: Ann\n----\nHi", Absent, WHOLE),
    ("F-08", b"---\nname: Ann\nHi", Absent, WHOLE),
    ("F-08", b"---\nname: Ann\n...\nHi", Absent, WHOLE),
    ("F-09", b"---\nname: Ann\n...\n---\nHi", Named, "Hi"),
    ("F-10", b"---\n---\nHi", Absent, "Hi"),
    ("F-11", b"---\n---\nx: 1\n---\nHi", Absent, "x: 1\n---\nHi"),
    ("F-12", b"---\n# later\n---\nHi", Absent, "Hi"),
    ("F-13", b"---\nname: Ann\n---", Named, ""),
    ("F-14", b"---\nname: Ann\n---\nHi\n---\nBye", Named, "Hi\n---\nBye"),
    ("F-16", b"---\nname: Ann\n---x\n---\nHi", Invalid, WHOLE),
    ("F-17", b"---\nname: Ann\n--- x\n---\nHi", Invalid, WHOLE),
    ("F-18", b"---\nAnn\n---\nHi", Invalid, WHOLE),
    ("F-20", b"+++\nname = \"Ann\"\n+++\nHi", Absent, WHOLE),
    ("F-21", b"---", Absent, "---"),
    ("F-22", b"", Absent, ""),
    ("F-23", b"---\rname: Ann\r---\rHi", Absent, WHOLE),
    ("F-24", b"Hi\xFF", Invalid, "Hi\u{FFFD}"),
    ("F-25", b"---\nname: Ann\n---\na\0b", Named, "a\0b"),
    ("H-18", b"---\r\nname: Ann\n---\r", Named, ""),
    ("H-19", b"\xEF\xBB\xBF\xEF\xBB\xBF---\nname: Ann\n---\nHi", Absent, "\u{FEFF}---\nname: Ann\n---\nHi"),
    ("H-20", b"a\xE2\x82b\xFF\xFEc\xED\xA0\x80", Invalid, "a\u{FFFD}b\u{FFFD}\u{FFFD}c\u{FFFD}\u{FFFD}\u{FFFD}"),
    ("H-20", b"\xEF\xBB\xBF---\nx: \xFF\n---\nHi", Invalid, "---\nx: \u{FFFD}\n---\nHi"),
    ("H-23", b"---\nnull\n---\nHi", Absent, "Hi"),
    ("H-23", b"---\n \t\n---\nHi", Absent, "Hi"),
    ("H-24", b"---\n- name: Ann\n---\nHi", Invalid, WHOLE),
    ("H-02", b"\xEF\xBB\xBF---\nAnn\n---\nHi", Invalid, "---\nAnn\n---\nHi"),
];

#[test]
fn to_f_25_the_content_of_a_resource_follows_its_front_matter() {
    let root = with_rows();
    for (index, (row, file, front, content)) in ROWS.iter().enumerate() {
        let content = match *content {
            WHOLE => std::str::from_utf8(file).unwrap(),
            content => content,
        };
        let uri = uri(index);
        let payload = root.payload(&[&uri]);
        match front {
            Invalid => assert_eq!(payload.text, failed("PARSE_ERROR", content), "{row}"),
            Named | Absent => {
                assert_eq!(payload.content(), content, "{row}");
                assert_eq!(payload.uri(), uri, "{row}");
            }
        }
    }
}

#[test]
fn to_f_25_the_front_matter_of_a_skill_is_what_stands_between_its_delimiters() {
    let root = with_rows();
    let uris: Vec<String> = (0..ROWS.len()).map(uri).collect();
    root.file("all.md", agent(&uris, NONE));
    let payload = root.payload(&["os://all.md"]);
    for (uri, (row, _, front, _)) in uris.iter().zip(ROWS) {
        let expected = match front {
            Named => ["Ann", "ERROR: MISSING_DESCRIPTION"],
            Absent => ["ERROR: MISSING_NAME", "ERROR: MISSING_DESCRIPTION"],
            Invalid => ["ERROR: PARSE_ERROR"; 2],
        };
        let entry = payload.skill(uri);
        assert_eq!(entry["name"], expected[0], "{row}");
        assert_eq!(entry["description"], expected[1], "{row}");
        assert_eq!(entry["skills"], serde_json::json!([]), "{row}");
        assert_eq!(entry["tools"], serde_json::json!([]), "{row}");
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
    for (row, uri) in [("F-15", "os://f15.md"), ("F-19", "os://f19.md")] {
        assert_eq!(root.payload(&[uri]).content(), "Hi", "{row}");
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
    for (index, (_, file, _, _)) in ROWS.iter().enumerate() {
        root.file(&format!("{index:02}.md"), file);
    }
    root
}

fn uri(index: usize) -> String {
    format!("os://{index:02}.md")
}
