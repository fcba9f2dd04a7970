//! §9: what front matter may hold and what a scalar's value is. Each row is a skill of one agent.

use serde_json::json;

use crate::os_root::{NONE, OsRoot, Payload, agent};

const NO_NAME: &str = "ERROR: MISSING_NAME";
const NO_DESCRIPTION: &str = "ERROR: MISSING_DESCRIPTION";
const BAD: &str = "ERROR: PARSE_ERROR";

/// Rows about the name: `description: d` follows the fragment.
#[rustfmt::skip]
const NAMES: &[(&str, &str, &str)] = &[
    ("Y-02", "name: Null", NO_NAME),
    ("Y-02", "name: NULL", NO_NAME),
    ("Y-02", "name: null", NO_NAME),
    ("Y-02", "name: nULL", "nULL"),
    ("Y-02", "name: \"null\"", "null"),
    ("Y-02", "name: '~'", "~"),
    ("Y-02", "name: one\n  two\n\n  three", "one two\nthree"),
    ("Y-02", r#"name: "\u00e9\x41\U0001F600\_\/\e""#, "éA😀\u{a0}/\u{1b}"),
    ("Y-06", "x: &p one\ny: &p Bo\nname: *p", "Bo"),
    ("Y-06", "&k name: Ann\nx: *k", "Ann"),
    ("Y-06", "x: &k name\n*k : Ann", "Ann"),
    ("Y-08", "name: Ann\rx: 1", "Ann"),
    ("Y-08", "name: a\u{85}b", "a\u{85}b"),
    ("Y-08", "name: a\u{2028}b\u{2029}c", "a\u{2028}b\u{2029}c"),
    ("Y-12", "name: \"\u{a0}\u{2003}\u{3000}\"", NO_NAME),
    ("Y-12", "name: \"\u{200b}\"", "\u{200b}"),
    ("Y-20", "name: 007", "007"),
    ("Y-21", "name: 1.10", "1.10"),
    ("Y-21", "name: 0x1F", "0x1F"),
    ("Y-21", "name: 1e3", "1e3"),
    ("Y-21", "name: on", "on"),
    ("Y-21", "name: False", "False"),
    ("Y-21", "name: 2026-01-31", "2026-01-31"),
    ("Y-22", "name: \"a\\tb\"", "a\tb"),
    ("Y-22", "name: 'it''s'", "it's"),
    ("Y-22", "name: \" x \"", " x "),
    ("Y-23", "name: Ann # pilot", "Ann"),
    ("Y-23", "name: C#", "C#"),
    ("Y-25", "name:", NO_NAME),
    ("Y-25", "name: ~", NO_NAME),
    ("Y-25", "name: \"\"", NO_NAME),
    ("Y-25", "name: \"  \"", NO_NAME),
    ("Y-25", "name: [Ann]", NO_NAME),
    ("Y-25", "name: {a: b}", NO_NAME),
    ("Y-25", "Name: Ann", NO_NAME),
    ("Y-26", "name: !!str 42", "42"),
    ("Y-26", "name: !!int 42", "42"),
    ("Y-28", "who: &p Ann\nname: *p", "Ann"),
    ("Y-29", "base: &b {name: Ann}\n<<: *b", NO_NAME),
    ("Y-05", "name: !<tag:yaml.org,2002:int> 42", "42"),
    ("Y-05", "name: !!null ~", NO_NAME),
    ("Y-05", "name: !!str ~", "~"),
    ("Y-05", "name: ! ~", "~"),
    ("Y-05", "name: !!float 1.50", "1.50"),
    ("Y-05", "name: !!bool true", "true"),
    ("§18", "title: Ann", NO_NAME),
];

/// Rows about the description: `name: Ann` stands before the fragment.
#[rustfmt::skip]
const DESCRIPTIONS: &[(&str, &str, &str)] = &[
    ("Y-24", "description: >-\n  one\n  two", "one two"),
    ("Y-24", "description: |\n  one\n  two\n", "one\ntwo\n"),
    ("Y-02", "description: |2-\n   one\n  two", " one\ntwo"),
    ("H-28", "description: []", NO_DESCRIPTION),
    ("H-28", "description:", NO_DESCRIPTION),
    ("H-28", "x: 1", NO_DESCRIPTION),
    ("H-28", "Description: d", NO_DESCRIPTION),
    ("Y-31", "description: Use when: asked", BAD),
    ("H-27", "description: \"  kept  \"", "  kept  "),
];

/// Front matter that is accepted: name `Ann`, description `d`, beside what the row is about.
#[rustfmt::skip]
const ACCEPTED: &[(&str, &str)] = &[
    ("Y-01", "name: Ann\ndescription: d\n..."),
    ("Y-01", "{name: Ann, description: d}"),
    ("Y-01", "{\n  \"name\": \"Ann\",\n  \"description\": \"d\"\n}"),
    ("Y-01", "&root {name: Ann, description: d}"),
    ("Y-01", "!!map\nname: Ann\ndescription: d"),
    ("Y-04", "name: Ann\ndescription: d\nx: {[a]: 1, [a]: 2, {b: c}: 1, {b: c}: 2}"),
    ("Y-04", "name: Ann\ndescription: d\nx: [{k: 1}, {k: 2}]"),
    ("Y-04", "name: Ann\ndescription: d\nNAME: Bo"),
    ("Y-05", "name: Ann\ndescription: d\nx: !!seq [a]\ny: !!map {a: b}\nz: !<tag:yaml.org,2002:str> a"),
    ("Y-06", "name: &a Ann\ndescription: d\nx: [&b {k: *a}, *b]"),
    ("Y-07", "name: Ann\ndescription: d\n<<: {name: Bo}\nx: {<<: 1}"),
    ("Y-09", "name: Ann\ndescription: d\nx: [a, b,]"),
    ("Y-10", "name: Ann\ndescription: d\na: &a [x,x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c,*c]\ne: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d,*d]\nf: [*e,*e,*e,*e,*e,*e,*e,*e,*e,*e]"),
    ("H-18", "name: Ann\r\ndescription: d\r"),
];

/// Front matter that is PARSE_ERROR.
#[rustfmt::skip]
const REJECTED: &[(&str, &str)] = &[
    ("Y-01", "%YAML 1.2\n--- \nname: Ann"),
    ("Y-01", "name: Ann\n...\nname: Bo"),
    ("Y-01", "[name, Ann]"),
    ("Y-01", "name"),
    ("Y-04", "name: Ann\n\"na\\u006de\": Bo"),
    ("Y-04", "x: {1: a, '1': b}"),
    ("Y-04", "x: [[{k: 1, k: 2}]]"),
    ("Y-04", "x: {? [{k: 1, k: 2}] : v}"),
    ("Y-04", "x: &k a\ny: {*k : 1, a: 2}"),
    ("Y-05", "x: !!bool yes"),
    ("Y-05", "x: !!float abc"),
    ("Y-05", "x: !!null word"),
    ("Y-05", "x: !!map [a]"),
    ("Y-05", "x: !!str [a]"),
    ("Y-05", "x: !!set {a}"),
    ("Y-05", "x: {!pilot a: 1}"),
    ("Y-05", "x: !<tag:example.org,2026:x> a"),
    ("Y-06", "x: &c [*c]"),
    ("Y-06", "x: &c {k: {k: *c}}"),
    ("Y-06", "x: *late\ny: &late 1"),
    ("Y-08", "x: a\u{1}b"),
    ("Y-08", "x: \"a\u{0}b\""),
    ("Y-08", "# \u{7}"),
    ("Y-08", r#"x: "\ud800""#),
    ("Y-08", r#"x: "\U00110000""#),
    ("Y-09", "x: a: b"),
    ("Y-09", "x: 'open"),
    ("Y-09", "x: {a: b"),
    ("Y-09", "x: ]"),
    ("Y-09", "x: |9x\n  a"),
    // Stricter than YAML 1.2, which bars these outside quotes only: the parser knows no such difference.
    ("Y-09", "x: \"a\u{7f}b\u{80}c\u{9f}d\""),
    ("Y-27", "name: !pilot Ann"),
    ("Y-27", "x: !!binary aGk="),
    ("Y-27", "name: !!int Ann"),
    ("Y-27", "name: !!seq Ann"),
    ("Y-30", "name: Ann\n\"name\": Bo"),
    ("Y-30", "x: {k: 1, k: 2}"),
    ("Y-32", "\tname: Ann"),
    ("Y-32", "name: [Ann"),
    ("Y-32", "name: @ann"),
    ("Y-32", "name: \"\\q\""),
    ("Y-32", "x: *nope"),
];

#[test]
fn to_y_29_a_name_is_the_text_of_its_scalar() {
    let files = NAMES
        .iter()
        .map(|(_, name, _)| format!("{name}\ndescription: d"));
    let payload = hydrated(files, &[]);
    for ((row, fragment, name), entry) in NAMES.iter().zip(payload.skills()) {
        assert_eq!(entry["name"], *name, "{row} {fragment:?}");
        assert_eq!(entry["description"], "d", "{row} {fragment:?}");
    }
}

#[test]
fn a_description_is_the_text_of_its_scalar() {
    let files = DESCRIPTIONS
        .iter()
        .map(|(_, fragment, _)| format!("name: Ann\n{fragment}"));
    let payload = hydrated(files, &[]);
    for ((row, fragment, description), entry) in DESCRIPTIONS.iter().zip(payload.skills()) {
        assert_eq!(entry["description"], *description, "{row} {fragment:?}");
    }
}

#[test]
fn to_y_10_what_is_accepted_leaves_name_and_description_as_they_are() {
    let payload = hydrated(ACCEPTED.iter().map(|(_, front)| (*front).to_owned()), &[]);
    for ((row, front), entry) in ACCEPTED.iter().zip(payload.skills()) {
        assert_eq!(entry["name"], "Ann", "{row} {front:?}");
        assert_eq!(entry["description"], "d", "{row} {front:?}");
    }
}

#[test]
fn to_y_32_what_is_rejected_is_a_parse_error_of_the_whole_skill() {
    let payload = hydrated(REJECTED.iter().map(|(_, front)| (*front).to_owned()), &[]);
    for ((row, front), entry) in REJECTED.iter().zip(payload.skills()) {
        assert_eq!(entry["name"], BAD, "{row} {front:?}");
        assert_eq!(entry["description"], BAD, "{row} {front:?}");
        assert_eq!(entry["skills"], json!([]), "{row} {front:?}");
    }
}

#[test]
fn only_four_keys_are_used() {
    let front = "name: Ann\ndescription: d\nallowed-tools: Read\nTools: [./a.sh]\nmetadata: {skills: [./a.md]}";
    let payload = hydrated([front.to_owned()].into_iter(), &[]);
    assert_eq!(payload.skills()[0]["skills"], json!([]));
    assert_eq!(payload.skills()[0]["tools"], json!([]));
    let root = OsRoot::new();
    root.file("a.md", "---\nname: [\ndescription: x\n---\n");
    assert_eq!(
        root.payload(&["os://a.md"]).uri(),
        BAD,
        "other keys are parsed and checked"
    );
}

#[test]
fn raw_arrays_keep_what_was_declared() {
    #[rustfmt::skip]
    let rows = [
        ("Y-33", r#"skills: [7, "./a.md", ~, {k: v}]"#, json!(["7", "./a.md", BAD, BAD]), json!([])),
        ("Y-34", "tools: Read, Grep", json!([]), json!([BAD])),
        ("H-32", "skills: {a: b}\ntools: ''", json!([BAD]), json!([BAD])),
        ("H-32", "skills: ~\ntools:", json!([]), json!([])),
        ("H-32", "skills: [b, a, b, ' a ', '../x?y']", json!(["b", "a", "b", " a ", "../x?y"]), json!([])),
        ("H-32", "skills:\n- [x]\n- 1.10\n- ''\ntools: &t [b]", json!([BAD, "1.10", ""]), json!(["b"])),
        ("Y-06", "x: &l [a, &s b]\nskills: *l\ntools: [*s, *l]", json!(["a", "b"]), json!(["b", BAD])),
    ];
    let files = rows
        .iter()
        .map(|(_, front, ..)| format!("name: Ann\ndescription: d\n{front}"));
    let payload = hydrated(files, &[]);
    for ((row, front, skills, tools), entry) in rows.iter().zip(payload.skills()) {
        assert_eq!(&entry["skills"], skills, "{row} {front:?}");
        assert_eq!(&entry["tools"], tools, "{row} {front:?}");
        assert_eq!(entry["name"], "Ann", "{row} {front:?}");
    }
}

#[test]
fn the_lists_of_the_resource() {
    let broken_skill =
        json!({"uri": BAD, "name": BAD, "description": BAD, "skills": [], "tools": []});
    let broken_tool = json!({"uri": BAD, "description": BAD});
    let uris = |front: &str| {
        let root = OsRoot::new();
        root.file("crew/pilot.md", format!("---\n{front}\n---\n"));
        root.payload(&["os://crew/pilot.md"])
    };
    for (row, front) in [
        ("Y-35", "tools: Read, Grep"),
        ("H-30", "tools: {a: b}"),
        ("H-30", "tools: ./a.sh"),
        ("H-31", "tools: [~, [./a.sh], {a: b}]"),
    ] {
        assert_eq!(
            uris(front).tools(),
            std::slice::from_ref(&broken_tool),
            "{row} {front}"
        );
        let front = front.replace("tools", "skills");
        assert_eq!(
            uris(&front).skills(),
            std::slice::from_ref(&broken_skill),
            "{row} {front}"
        );
    }
    let mixed = uris("skills:\n  - - ./a.md\n  - ./b.md");
    assert_eq!(mixed.skills()[0], broken_skill);
    assert_eq!(mixed.skills()[1]["uri"], "os://crew/b.md");
    let numbers = uris("skills: [7, 1.10, true]\ntools: ~");
    let numbers: Vec<_> = numbers.skills().iter().map(|entry| &entry["uri"]).collect();
    assert_eq!(numbers, ["os://crew/1.10", "os://crew/7", "os://crew/true"]);
}

#[test]
fn lenient_quotes_the_two_values_that_people_forget_to_quote() {
    #[rustfmt::skip]
    let rows = [
        ("Y-31", "name: Ann\ndescription: Use when: asked", ["Ann", "Use when: asked"]),
        ("Y-13", "name: A: B\ndescription:\tsay: \"hi\" \\o/ \t ", ["A: B", "say: \"hi\" \\o/"]),
        ("Y-13", "name: A # b\ndescription: x: y", ["A # b", "x: y"]),
        ("Y-13", "name: \"a\\tb\"\ndescription: x: y", ["a\tb", "x: y"]),
        ("Y-13", "name: 'a: b'\ndescription: x: y", ["a: b", "x: y"]),
        // No YAML at all: each of the two lines by itself, unless it holds no text.
        ("Y-13", "name: Ann\ndescription: [x: y", ["Ann", BAD]),
        ("Y-13", "name: Ann\ndescription: >\n  d\ntitle: a: b", ["Ann", BAD]),
        ("Y-13", "name: @ann\ndescription: d", ["@ann", "d"]),
        ("Y-13", "name: Ann\ndescription: d\ntitle: a: b", ["Ann", "d"]),
        ("Y-13", "name: Ann\ndescription: d\nx: {name: a: b}", ["Ann", "d"]),
        ("Y-13", "name: Ann # plain\ndescription: d", ["Ann", "d"]),
        ("H-18", "name: Ann\r\ndescription: Use when: asked\r", ["Ann", "Use when: asked"]),
    ];
    let files = || rows.iter().map(|(_, front, _)| (*front).to_owned());
    let lenient = hydrated(files(), &["--lenient"]);
    for ((row, front, [name, description]), entry) in rows.iter().zip(lenient.skills()) {
        assert_eq!(entry["name"], *name, "{row} {front:?}");
        assert_eq!(entry["description"], *description, "{row} {front:?}");
    }
    let strict = hydrated(files(), &[]);
    assert_eq!(strict.skills()[0]["description"], BAD, "off by default");
    assert_eq!(strict.skills()[10]["name"], "Ann");
}

#[test]
fn lenient_holds_for_the_resource_too() {
    let root = OsRoot::new();
    root.file(
        "a.md",
        "---\ndescription: Use when: asked\nskills: [./b.md]\n---\nHi",
    );
    assert_eq!(root.payload(&["os://a.md"]).uri(), BAD);
    let lenient = root.payload(&["os://a.md", "--lenient"]);
    assert_eq!(lenient.content(), "Hi");
    assert_eq!(lenient.skills()[0]["uri"], "os://b.md");
}

/// One skill for each front matter, in the order given.
fn hydrated(fronts: impl Iterator<Item = String>, options: &[&str]) -> Payload {
    let root = OsRoot::new();
    let mut uris = Vec::new();
    for (index, front) in fronts.enumerate() {
        root.file(&format!("{index:03}.md"), format!("---\n{front}\n---\n"));
        uris.push(format!("{index:03}.md"));
    }
    root.file("all.md", agent(&uris, NONE));
    let payload = root.payload(&[&["os://all.md"], options].concat());
    assert_eq!(payload.skills().len(), uris.len());
    payload
}
