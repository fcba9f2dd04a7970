//! The link form.

use super::*;

fn linked(file: &str) -> String {
    host(file).document("crew/pilot.md", Format::Link).unwrap()
}

fn host(file: &str) -> FakeHost {
    FakeHost::new(&[
        ("crew/pilot.md", file),
        (
            "kits/rope.md",
            "---\nname: Rope\ndescription: Ties \"knots\"\n---\n",
        ),
    ])
}

/// The objects of `/kits/rope.md` and of a tool, in block style below a key in this column.
fn rope(column: usize, line_break: &str) -> String {
    let margin = format!("{line_break}{}", " ".repeat(column + 2));
    format!(
        "{margin}- uri: \"os://kits/rope.md\"{margin}  name: \"Rope\"{margin}  description: \"Ties \\\"knots\\\"\""
    )
}

const FLOW_ROPE: &str =
    r#"[{"uri":"os://kits/rope.md","name":"Rope","description":"Ties \"knots\""}]"#;

#[test]
fn the_example() {
    let file = "---\n# crew sheet\nskills: # known\n  - ../kits/rope.md\n  - os://kits/gone.md\n\n# last\ntools: [./horn.sh]\nversion: 1.10\n---\nFly.";
    assert_eq!(
        linked(file),
        "---\n# crew sheet\nskills:\n  - uri: \"os://kits/gone.md\"\n    name: \"ERROR: FETCH_FAILED\"\n    description: \"ERROR: FETCH_FAILED\"\n  - uri: \"os://kits/rope.md\"\n    name: \"Rope\"\n    description: \"Ties \\\"knots\\\"\"\n\n# last\ntools:\n  - uri: \"os://crew/horn.sh\"\n    description: \"ERROR: EXECUTION_SKIPPED\"\nversion: 1.10\n---\nFly."
    );
}

#[test]
fn what_is_replaced_in_block_style() {
    let (r, deep) = (rope(0, "\n"), rope(2, "\n"));
    let cases = [
        ("skills: [/kits/rope.md]\n", format!("skills:{r}\n")),
        ("skills: [/kits/rope.md] # x\n", format!("skills:{r}\n")),
        (
            "skills: [\n  /kits/rope.md, # x\n  ] # y\nx: 1\n",
            format!("skills:{r}\nx: 1\n"),
        ),
        (
            "skills:\n- /kits/rope.md\nx: 1\n",
            format!("skills:{r}\nx: 1\n"),
        ),
        (
            "skills :\n- /kits/rope.md # x\n\n\n# y\nx: 1\n",
            format!("skills :{r}\n\n\n# y\nx: 1\n"),
        ),
        (
            "x: 1\nskills:\n  # a\n\n  - >-\n    /kits/rope.md\n\n# y\n",
            format!("x: 1\nskills:{r}\n\n# y\n"),
        ),
        (
            "  x: 1\n  skills:\n  - /kits/rope.md\n",
            format!("  x: 1\n  skills:{deep}\n"),
        ),
        (
            "\"skills\": &a !!seq\n  - !!str /kits/rope.md\n",
            format!("\"skills\":{r}\n"),
        ),
        (
            "? skills # a: b\n: # c\n  - /kits/rope.md\n? x\n: y\n",
            format!("? skills # a: b\n:{deep}\n? x\n: y\n"),
        ),
        (
            "k: &k skills\n*k : [/kits/rope.md]\n",
            format!("k: &k skills\n*k :{r}\n"),
        ),
        (
            "x: &x [/kits/rope.md]\nskills: *x # y\n",
            format!("x: &x [/kits/rope.md]\nskills:{r}\n"),
        ),
        (
            "é: 1\nskills:\n - /kits/rope.md\né2: ü\n",
            format!("é: 1\nskills:{r}\né2: ü\n"),
        ),
        (
            "skills: [/kits/rope.md]\n...\n",
            format!("skills:{r}\n...\n"),
        ),
        (
            "skills:\n- /kits/rope.md\n...\n# x\n",
            format!("skills:{r}\n...\n# x\n"),
        ),
    ];
    for (front_matter, expected) in cases {
        let file = format!("---\n{front_matter}---\nFly.");
        assert_eq!(linked(&file), format!("---\n{expected}---\nFly."), "{file}");
    }
}

#[test]
fn empty_nodes_at_the_end_of_a_value_belong_to_it() {
    let error = "\n  - uri: \"ERROR: PARSE_ERROR\"\n    name: \"ERROR: PARSE_ERROR\"\n    description: \"ERROR: PARSE_ERROR\"";
    for value in [
        "\n-\n",
        "\n- # c\n",
        "\n-\n\n-\n# c\n-\n",
        "\n  - a: \n",
        "\n  - a:\n    b:\n",
        "\n  - ? \n",
        "\n  - ? a\n    :\n",
        "\n  - - - \n",
        "\n  - &a\n",
        "\n  - !!null\n",
        "\n  a:\n",
        "\n  ? a\n",
        " ''\n",
        " !!str\n",
        " !\n",
        " |\n",
        " | # c\n\n\n",
        " |+\n  a\n\n\n",
        " {a: b,\n  c}\n",
        " a\n  b # c\n",
    ] {
        for rest in [
            "x: 1\n",
            "? x\n: 1\n",
            "# c\nx: 1\n",
            "...\n",
            "",
            ": 1\n",
            "-x: 1\n",
        ] {
            let file = format!("---\nskills:{value}{rest}---\nFly.");
            let linked = linked(&file);
            let blank = |text: &str| text.chars().all(|c| c == '\n');
            let (head, tail) = linked
                .split_once(error)
                .unwrap_or_else(|| panic!("{file:?}: {linked:?}"));
            assert_eq!(head, "---\nskills:", "{file:?}");
            let between = tail
                .strip_suffix(&format!("{rest}---\nFly."))
                .unwrap_or_else(|| panic!("{file:?}: {linked:?}"));
            assert!(blank(between), "{file:?}: {linked:?}");
        }
    }
}

#[test]
fn what_is_replaced_in_flow_style() {
    let cases = [
        (
            "{skills: [/kits/rope.md], x: 1.10}",
            format!("{{skills: {FLOW_ROPE}, x: 1.10}}"),
        ),
        (
            "{\"skills\":[/kits/rope.md]}",
            format!("{{\"skills\":{FLOW_ROPE}}}"),
        ),
        (
            "{ skills : !!seq &a\n  [ /kits/rope.md ] # x\n  , x: y }",
            format!("{{ skills : {FLOW_ROPE} # x\n  , x: y }}"),
        ),
        (
            "{x: &x [/kits/rope.md], skills: *x }",
            format!("{{x: &x [/kits/rope.md], skills: {FLOW_ROPE} }}"),
        ),
        (
            "{? skills : [/kits/rope.md]}",
            format!("{{? skills : {FLOW_ROPE}}}"),
        ),
    ];
    for (front_matter, expected) in cases {
        let file = format!("---\n{front_matter}\n---\nFly.");
        assert_eq!(
            linked(&file),
            format!("---\n{expected}\n---\nFly."),
            "{file}"
        );
    }
}

#[test]
fn added_line_breaks_are_those_of_the_opening_delimiter() {
    let crlf = "---\r\nskills: [/kits/rope.md]\r\nx: 1\r\n---\r\nFly.\r\n";
    let r = rope(0, "\r\n");
    assert_eq!(
        linked(crlf),
        format!("---\r\nskills:{r}\r\nx: 1\r\n---\r\nFly.\r\n")
    );
    let mixed = "---\nskills: [/kits/rope.md]\r\n---\nFly.";
    let r = rope(0, "\n");
    assert_eq!(linked(mixed), format!("---\nskills:{r}\r\n---\nFly."));
}

#[test]
fn what_needs_no_change_keeps_its_bytes() {
    for file in [
        "Fly.",
        "\u{FEFF}Fly.",
        "",
        "---\nnever closed",
        "\u{FEFF}--- \r\n# none\r\n---\t\r\nFly.",
        "---\nskills:\ntools: ~\n---\nFly.",
        "---\nskills: []\ntools: [ ] # none\n---\nFly.",
        "---\n{skills: , tools}\n---\nFly.",
        "---\nname: \"a\"   # 1.10\nx:   { }\n---\n\n\nFly.\r",
    ] {
        assert_eq!(linked(file), file);
    }
    let bom = "\u{FEFF}---\nskills: [/kits/rope.md]\n---\nFly.";
    let r = rope(0, "\n");
    assert_eq!(linked(bom), format!("\u{FEFF}---\nskills:{r}\n---\nFly."));
}

#[test]
fn there_is_no_document_to_link() {
    let cases = [
        (
            "os://nobody.md",
            "fetch_failed",
            "ERROR: FETCH_FAILED os://nobody.md",
        ),
        ("../x", "fetch_failed", "ERROR: FETCH_FAILED ../x"),
        (
            "ftp://x",
            "unsupported_scheme",
            "ERROR: UNSUPPORTED_SCHEME ftp://x",
        ),
        (
            "crew/pilot.md",
            "parse_error",
            "ERROR: PARSE_ERROR os://crew/pilot.md",
        ),
    ];
    for (uri, code, message) in cases {
        for format in [Format::Link, Format::V2] {
            let error = host("---\n[\n---\n").document(uri, format).unwrap_err();
            assert_eq!((error.code(), error.message()), (code, message));
            let (code, uri) = message
                .strip_prefix("ERROR: ")
                .unwrap()
                .split_once(' ')
                .unwrap();
            assert_eq!(
                error.details(),
                Some(&*format!(r#"{{"code":"{code}","uri":"{uri}"}}"#))
            );
        }
    }
}

#[test]
fn an_anchor_that_would_be_gone_while_its_alias_stays() {
    for front_matter in [
        "skills: &s [/kits/rope.md]\nx: *s\n",
        "skills: [&s /kits/rope.md]\nx: *s\n",
        "{skills: [&s /kits/rope.md], x: *s}\n",
        "skills: [&s /kits/rope.md]\ntools: []\nx: {y: [*s]}\n",
    ] {
        let error = host(&format!("---\n{front_matter}---\n"))
            .document("crew/pilot.md", Format::Link)
            .unwrap_err();
        assert_eq!(error.code(), "parse_error", "{front_matter}");
    }
    // Both gone: the document that is left has neither.
    let both = linked("---\nskills: [&s /kits/rope.md]\ntools: [*s]\n---\n");
    assert!(!both.contains("&s") && !both.contains("*s"), "{both}");
}

#[test]
fn strings_cannot_leave_their_quotes() {
    let mut host = FakeHost::new(&[
        ("a.md", "---\nskills: [s.md]\n---\n"),
        (
            "s.md",
            "---\nname: \"x\\\"\\n- y: \\x7f\\x85\\u2028\\e\\\\ # z\"\ndescription: 'a: b'\n---\n",
        ),
    ]);
    let document = host.document("a.md", Format::Link).unwrap();
    assert_eq!(
        document,
        "---\nskills:\n  - uri: \"os://s.md\"\n    name: \"x\\\"\\n- y: \\u007f\u{85}\u{2028}\\u001b\\\\ # z\"\n    description: \"a: b\"\n---\n"
    );
}
