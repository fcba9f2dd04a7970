//! What front matter may hold and what a scalar's value is. Each row is a skill of one agent.

use serde_json::json;

use crate::os_root::{NONE, OsRoot, Payload, agent};

const NO_NAME: &str = "ERROR: MISSING_NAME";
const NO_DESCRIPTION: &str = "ERROR: MISSING_DESCRIPTION";
const BAD: &str = "ERROR: PARSE_ERROR";

/// Rows about the name: `description: d` follows the fragment.
#[rustfmt::skip]
const NAMES: &[(&str, &str)] = &[
    // A plain scalar that is empty or a form of null has no text; whatever is quoted has.
    ("name: Null", NO_NAME),
    ("name: NULL", NO_NAME),
    ("name: null", NO_NAME),
    ("name: nULL", "nULL"),
    ("name: \"null\"", "null"),
    ("name: '~'", "~"),
    ("name: one\n  two\n\n  three", "one two\nthree"),
    (r#"name: "\u00e9\x41\U0001F600\_\/\e""#, "éA😀\u{a0}/\u{1b}"),
    // Anchors and aliases, in keys and values; an anchor may be defined again.
    ("x: &p one\ny: &p Bo\nname: *p", "Bo"),
    ("&k name: Ann\nx: *k", "Ann"),
    ("x: &k name\n*k : Ann", "Ann"),
    // Line breaks are those of YAML; the other separators of Unicode are text.
    ("name: Ann\rx: 1", "Ann"),
    ("name: a\u{85}b", "a\u{85}b"),
    ("name: a\u{2028}b\u{2029}c", "a\u{2028}b\u{2029}c"),
    // Blank is what Unicode counts as white space.
    ("name: \"\u{a0}\u{2003}\u{3000}\"", NO_NAME),
    ("name: \"\u{200b}\"", "\u{200b}"),
    // No typing: the text as written.
    ("name: 007", "007"),
    ("name: 1.10", "1.10"),
    ("name: 0x1F", "0x1F"),
    ("name: 1e3", "1e3"),
    ("name: on", "on"),
    ("name: False", "False"),
    ("name: 2026-01-31", "2026-01-31"),
    ("name: \"a\\tb\"", "a\tb"),
    ("name: 'it''s'", "it's"),
    ("name: \" x \"", " x "),
    ("name: Ann # pilot", "Ann"),
    ("name: C#", "C#"),
    // Empty, blank, no scalar, or another key.
    ("name:", NO_NAME),
    ("name: ~", NO_NAME),
    ("name: \"\"", NO_NAME),
    ("name: \"  \"", NO_NAME),
    ("name: [Ann]", NO_NAME),
    ("name: {a: b}", NO_NAME),
    ("Name: Ann", NO_NAME),
    // Tags of the core schema.
    ("name: !!str 42", "42"),
    ("name: !!int 42", "42"),
    ("who: &p Ann\nname: *p", "Ann"),
    // `<<` merges nothing.
    ("base: &b {name: Ann}\n<<: *b", NO_NAME),
    ("name: !<tag:yaml.org,2002:int> 42", "42"),
    ("name: !!null ~", NO_NAME),
    ("name: !!str ~", "~"),
    ("name: ! ~", "~"),
    ("name: !!float 1.50", "1.50"),
    ("name: !!bool true", "true"),
    ("title: Ann", NO_NAME),
];

/// Rows about the description: `name: Ann` stands before the fragment.
#[rustfmt::skip]
const DESCRIPTIONS: &[(&str, &str)] = &[
    ("description: >-\n  one\n  two", "one two"),
    ("description: |\n  one\n  two\n", "one\ntwo\n"),
    ("description: |2-\n   one\n  two", " one\ntwo"),
    ("description: []", NO_DESCRIPTION),
    ("description:", NO_DESCRIPTION),
    ("x: 1", NO_DESCRIPTION),
    ("Description: d", NO_DESCRIPTION),
    ("description: Use when: asked", BAD),
    ("description: \"  kept  \"", "  kept  "),
];

/// Front matter that is accepted: name `Ann`, description `d`, beside what the row is about.
#[rustfmt::skip]
const ACCEPTED: &[&str] = &[
    // One document whose root is a mapping in block or flow style.
    "name: Ann\ndescription: d\n...",
    "{name: Ann, description: d}",
    "{\n  \"name\": \"Ann\",\n  \"description\": \"d\"\n}",
    "&root {name: Ann, description: d}",
    "!!map\nname: Ann\ndescription: d",
    // Keys that are no scalars are not compared, and scalars are compared within one mapping.
    "name: Ann\ndescription: d\nx: {[a]: 1, [a]: 2, {b: c}: 1, {b: c}: 2}",
    "name: Ann\ndescription: d\nx: [{k: 1}, {k: 2}]",
    "name: Ann\ndescription: d\nNAME: Bo",
    "name: Ann\ndescription: d\nx: !!seq [a]\ny: !!map {a: b}\nz: !<tag:yaml.org,2002:str> a",
    "name: &a Ann\ndescription: d\nx: [&b {k: *a}, *b]",
    "name: Ann\ndescription: d\n<<: {name: Bo}\nx: {<<: 1}",
    "name: Ann\ndescription: d\nx: [a, b,]",
    // A bomb that nothing uses.
    "name: Ann\ndescription: d\na: &a [x,x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c,*c]\ne: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d,*d]\nf: [*e,*e,*e,*e,*e,*e,*e,*e,*e,*e]",
    "name: Ann\r\ndescription: d\r",
];

/// Front matter that is PARSE_ERROR.
#[rustfmt::skip]
const REJECTED: &[&str] = &[
    // A directive, a second document, a root that is no mapping.
    "%YAML 1.2\n--- \nname: Ann",
    "name: Ann\n...\nname: Bo",
    "[name, Ann]",
    "name",
    // Duplicate keys, however they are quoted and wherever they are.
    "name: Ann\n\"na\\u006de\": Bo",
    "x: {1: a, '1': b}",
    "x: [[{k: 1, k: 2}]]",
    "x: {? [{k: 1, k: 2}] : v}",
    "x: &k a\ny: {*k : 1, a: 2}",
    // A tag that does not fit or is not known.
    "x: !!bool yes",
    "x: !!float abc",
    "x: !!null word",
    "x: !!map [a]",
    "x: !!str [a]",
    "x: !!set {a}",
    "x: {!pilot a: 1}",
    "x: !<tag:example.org,2026:x> a",
    // Cycles, and aliases before their anchors.
    "x: &c [*c]",
    "x: &c {k: {k: *c}}",
    "x: *late\ny: &late 1",
    // Control characters, and escapes of what is no character.
    "x: a\u{1}b",
    "x: \"a\u{0}b\"",
    "# \u{7}",
    r#"x: "\ud800""#,
    r#"x: "\U00110000""#,
    // Syntax.
    "x: a: b",
    "x: 'open",
    "x: {a: b",
    "x: ]",
    "x: |9x\n  a",
    // Stricter than YAML 1.2, which bars these outside quotes only: the parser knows no such difference.
    "x: \"a\u{7f}b\u{80}c\u{9f}d\"",
    "name: !pilot Ann",
    "x: !!binary aGk=",
    "name: !!int Ann",
    "name: !!seq Ann",
    "name: Ann\n\"name\": Bo",
    "x: {k: 1, k: 2}",
    "\tname: Ann",
    "name: [Ann",
    "name: @ann",
    "name: \"\\q\"",
    "x: *nope",
];

#[test]
fn a_name_is_the_text_of_its_scalar() {
    let files = NAMES
        .iter()
        .map(|(name, _)| format!("{name}\ndescription: d"));
    let payload = hydrated(files, &[]);
    for ((fragment, name), entry) in NAMES.iter().zip(payload.skills()) {
        assert_eq!(entry["name"], *name, "{fragment:?}");
        assert_eq!(entry["description"], "d", "{fragment:?}");
    }
}

#[test]
fn a_description_is_the_text_of_its_scalar() {
    let files = DESCRIPTIONS
        .iter()
        .map(|(fragment, _)| format!("name: Ann\n{fragment}"));
    let payload = hydrated(files, &[]);
    for ((fragment, description), entry) in DESCRIPTIONS.iter().zip(payload.skills()) {
        assert_eq!(entry["description"], *description, "{fragment:?}");
    }
}

#[test]
fn what_is_accepted_leaves_name_and_description_as_they_are() {
    let payload = hydrated(ACCEPTED.iter().map(|front| (*front).to_owned()), &[]);
    for (front, entry) in ACCEPTED.iter().zip(payload.skills()) {
        assert_eq!(entry["name"], "Ann", "{front:?}");
        assert_eq!(entry["description"], "d", "{front:?}");
    }
}

#[test]
fn what_is_rejected_is_a_parse_error_of_the_whole_skill() {
    let payload = hydrated(REJECTED.iter().map(|front| (*front).to_owned()), &[]);
    for (front, entry) in REJECTED.iter().zip(payload.skills()) {
        assert_eq!(entry["name"], BAD, "{front:?}");
        assert_eq!(entry["description"], BAD, "{front:?}");
        assert_eq!(entry["skills"], json!([]), "{front:?}");
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
        (r#"skills: [7, "./a.md", ~, {k: v}]"#, json!(["7", "./a.md", BAD, BAD]), json!([])),
        ("tools: Read, Grep", json!([]), json!([BAD])),
        ("skills: {a: b}\ntools: ''", json!([BAD]), json!([BAD])),
        ("skills: ~\ntools:", json!([]), json!([])),
        ("skills: [b, a, b, ' a ', '../x?y']", json!(["b", "a", "b", " a ", "../x?y"]), json!([])),
        ("skills:\n- [x]\n- 1.10\n- ''\ntools: &t [b]", json!([BAD, "1.10", ""]), json!(["b"])),
        ("x: &l [a, &s b]\nskills: *l\ntools: [*s, *l]", json!(["a", "b"]), json!(["b", BAD])),
    ];
    let files = rows
        .iter()
        .map(|(front, ..)| format!("name: Ann\ndescription: d\n{front}"));
    let payload = hydrated(files, &[]);
    for ((front, skills, tools), entry) in rows.iter().zip(payload.skills()) {
        assert_eq!(&entry["skills"], skills, "{front:?}");
        assert_eq!(&entry["tools"], tools, "{front:?}");
        assert_eq!(entry["name"], "Ann", "{front:?}");
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
    for front in [
        "tools: Read, Grep",
        "tools: {a: b}",
        "tools: ./a.sh",
        "tools: [~, [./a.sh], {a: b}]",
    ] {
        assert_eq!(
            uris(front).tools(),
            std::slice::from_ref(&broken_tool),
            "{front}"
        );
        let front = front.replace("tools", "skills");
        assert_eq!(
            uris(&front).skills(),
            std::slice::from_ref(&broken_skill),
            "{front}"
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
        ("name: Ann\ndescription: Use when: asked", ["Ann", "Use when: asked"]),
        ("name: A: B\ndescription:\tsay: \"hi\" \\o/ \t ", ["A: B", "say: \"hi\" \\o/"]),
        ("name: A # b\ndescription: x: y", ["A # b", "x: y"]),
        ("name: \"a\\tb\"\ndescription: x: y", ["a\tb", "x: y"]),
        ("name: 'a: b'\ndescription: x: y", ["a: b", "x: y"]),
        // No YAML at all: each of the two lines by itself, unless it holds no text.
        ("name: Ann\ndescription: [x: y", ["Ann", BAD]),
        ("name: Ann\ndescription: >\n  d\ntitle: a: b", ["Ann", BAD]),
        ("name: @ann\ndescription: d", ["@ann", "d"]),
        ("name: Ann\ndescription: d\ntitle: a: b", ["Ann", "d"]),
        ("name: Ann\ndescription: d\nx: {name: a: b}", ["Ann", "d"]),
        ("name: Ann # plain\ndescription: d", ["Ann", "d"]),
        ("name: Ann\r\ndescription: Use when: asked\r", ["Ann", "Use when: asked"]),
    ];
    let files = || rows.iter().map(|(front, _)| (*front).to_owned());
    let lenient = hydrated(files(), &["--lenient"]);
    for ((front, [name, description]), entry) in rows.iter().zip(lenient.skills()) {
        assert_eq!(entry["name"], *name, "{front:?}");
        assert_eq!(entry["description"], *description, "{front:?}");
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
