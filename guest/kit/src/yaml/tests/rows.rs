//! What is read and what is refused.

use super::*;

fn text(front_matter: &str, key: &str) -> Option<String> {
    let tree = parse(front_matter, &USED).unwrap();
    let value = tree.root()?.get(key)?;
    assert!(!value.is_list() && !value.is_map(), "{front_matter:?}");
    value.scalar().map(str::to_owned)
}

#[test]
fn a_scalar_is_its_text() {
    let cases = [
        ("name: 007", "007"),
        ("name: 1.10", "1.10"),
        ("name: 0x1F", "0x1F"),
        ("name: 1e3", "1e3"),
        ("name: on", "on"),
        ("name: False", "False"),
        ("name: 2026-01-31", "2026-01-31"),
        (r#"name: "a\tb""#, "a\tb"),
        ("name: 'it''s'", "it's"),
        (r#"name: " x ""#, " x "),
        ("name: Ann # pilot", "Ann"),
        ("name: C#", "C#"),
        ("name: >-\n  one\n  two\n", "one two"),
        ("name: |\n  one\n  two\n", "one\ntwo\n"),
        ("name: |\n  a\n  ---\n  b\n", "a\n---\nb\n"),
        ("name: !!str 42", "42"),
        ("name: !!int 42", "42"),
        ("name: !<tag:yaml.org,2002:int> 42", "42"),
        ("name: !!str ~", "~"),
        ("name: ! ~", "~"),
        ("name: \"null\"", "null"),
        ("who: &p Ann\nname: *p", "Ann"),
        ("? name\n: Ann", "Ann"),
        ("\"name\": Ann", "Ann"),
        ("who: &p name\n*p : Ann", "Ann"),
        ("{name: Ann}", "Ann"),
        ("&root !!map\nname: Ann", "Ann"),
        ("name: Ann\n...\n", "Ann"),
        ("name: Ann\n...\n# comment\n", "Ann"),
        ("name: Ann\r\nx: y\r\n", "Ann"),
        ("name: Ann\rx: y\r", "Ann"),
        ("name: a\u{85}b\u{2028}c", "a\u{85}b\u{2028}c"),
        ("name: a &x b *y !z", "a &x b *y !z"),
        ("a: &x 1\nb: &x Ann\nname: *x", "Ann"),
    ];
    for (front_matter, expected) in cases {
        assert_eq!(
            text(front_matter, "name").as_deref(),
            Some(expected),
            "{front_matter:?}"
        );
    }
}

#[test]
fn only_these_scalars_are_null() {
    for null in [
        "name:",
        "name: ~",
        "name: null",
        "name: Null",
        "name: NULL",
        "name: !!null ''",
        "name: !!null",
        "name: &a",
    ] {
        assert_eq!(text(null, "name"), None, "{null:?}");
    }
    for kept in [
        "name: nULL",
        "name: none",
        "name: 'null'",
        "name: !!str",
        "name: |\n",
    ] {
        assert!(text(kept, "name").is_some(), "{kept:?}");
    }
}

#[test]
fn empty_comments_and_null_are_an_empty_mapping() {
    for empty in [
        "",
        "\n",
        "# later\n",
        "~",
        "null\n",
        "!!null ''",
        "---\n",
        "...\n",
    ] {
        assert!(parse(empty, &USED).unwrap().root().is_none(), "{empty:?}");
    }
}

#[test]
fn another_root_is_refused() {
    for root in ["Ann", "- a\n", "[a]", "''", "!!str", "&a b"] {
        let error = parse(root, &USED).unwrap_err();
        assert_eq!(error, Error::RootIsNoMapping { line: 1 }, "{root:?}");
    }
}

#[test]
fn directives_and_second_documents_are_refused() {
    for stream in [
        "%YAML 1.2\n---\nname: Ann\n",
        "%TAG ! tag:a,2000:\n--- \nname: Ann\n",
        "%FOO\n--- \nname: Ann\n",
    ] {
        assert!(is_refused(stream), "{stream:?}");
    }
    for stream in [
        "name: Ann\n--- x\n",
        "name: Ann\n...\nx: y\n",
        "name: Ann\n--- {a: b}\n",
    ] {
        let error = parse(stream, &USED).unwrap_err();
        assert!(
            matches!(error, Error::SecondDocument { .. }),
            "{stream:?}: {error}"
        );
    }
}

#[test]
fn duplicate_keys_at_any_depth_however_written() {
    for front_matter in [
        "name: Ann\n\"name\": Bo",
        "name: Ann\n? name\n: Bo",
        "x: {k: 1, k: 2}",
        "x: [{a: 1, 'a': 2}]",
        "x: [{a: [{b: 1, b: 2}]}]",
        "k: &k name\n*k : 1\nname: 2",
        "? \n: 1\n? \n: 2",
        "x: {~: 1, ~: 2}",
        "<<: {a: 1}\n<<: {b: 1}",
    ] {
        let error = parse(front_matter, &USED).unwrap_err();
        assert!(
            matches!(error, Error::DuplicateKey { .. }),
            "{front_matter:?}: {error}"
        );
    }
    for front_matter in [
        "x: {1: a, 1.0: b, 0x1: c}",
        "x: [{a: 1}, {a: 1}]",
        "? [a]\n: 1\n? [a]\n: 2",
        "? {a: 1}\n: 1\n? {a: 1}\n: 2",
        "Name: a\nname: b",
    ] {
        assert!(!is_refused(front_matter), "{front_matter:?}");
    }
}

#[test]
fn unknown_and_misfitting_tags_are_refused() {
    for front_matter in [
        "name: !pilot Ann",
        "x: !!binary aGk=",
        "name: !!int Ann",
        "name: !!seq Ann",
        "x: !!map [a]",
        "x: !!seq {a: b}",
        "x: !!str [a]",
        "x: !!str {a: b}",
        "x: !!set {a}",
        "x: !!bool yes",
        "x: !!null x",
        "x: !!float x",
        "x: !!float .",
        "x: !!float 1e",
        "x: !!int 0x",
        "x: !!int 0o8",
        "x: !!js/function 'a'",
        "x: !!python/object/apply:os.system [a]",
        "x: !<tag:yaml.org,2002:pairs> [a]",
        "x: !<!> a",
        "x: !e!a b",
        "!pilot\nname: Ann",
        "!!seq\nname: Ann",
        "!pilot name: Ann",
    ] {
        assert!(is_refused(front_matter), "{front_matter:?}");
    }
    for front_matter in [
        "x: !!map {a: b}",
        "x: !!seq [a]",
        "x: ! [a]",
        "x: !!bool TRUE",
        "x: !!int -12",
        "x: !!int 0o17",
        "x: !!int \"0xFF\"",
        "x: !!float 1.5e-3",
        "x: !!float -.inf",
        "x: !!float .nan",
        "x: !!float 1.",
        "x: !!float .5",
        "x: !!s%74r a",
    ] {
        assert!(!is_refused(front_matter), "{front_matter:?}");
    }
}

#[test]
fn aliases_need_an_anchor_before_them_that_is_closed() {
    assert!(is_refused("x: *nope"));
    assert!(is_refused("x: *later\ny: &later z"));
    for cycle in ["x: &a [*a]", "x: &a {b: *a}", "&a\nx: *a", "x: &a [[[*a]]]"] {
        let error = parse(cycle, &USED).unwrap_err();
        assert!(matches!(error, Error::Cycle { .. }), "{cycle:?}: {error}");
    }
    assert!(!is_refused("x: &a [b]\ny: *a\nz: [*a, *a]"));
}

#[test]
fn a_merge_key_merges_nothing() {
    let front_matter = "base: &b {name: Ann}\n<<: *b";
    assert_eq!(text(front_matter, "name"), None);
}

#[test]
fn control_characters_and_escapes_that_are_no_characters_are_refused() {
    for code in (0..0x20_u8).filter(|code| !matches!(code, b'\t' | b'\n' | b'\r')) {
        let control = char::from(code);
        for front_matter in [
            format!("name: a{control}b"),
            format!("name: \"a{control}b\""),
            format!("name: 'a{control}b'"),
            format!("name: |\n  a{control}b\n"),
            format!("name: Ann # a{control}b\n"),
            format!("# a{control}b\nname: Ann"),
            format!("na{control}me: Ann"),
            format!("name: Ann\n{control}"),
            format!("name: Ann\n...\n# {control}"),
        ] {
            assert!(is_refused(&front_matter), "{front_matter:?}");
        }
    }
    for escape in [
        r"\uD800",
        r"\uDFFF",
        r"\uD834\uDD1E",
        r"\U00110000",
        r"\U0000D800",
        r"\q",
    ] {
        assert!(is_refused(&format!("name: \"{escape}\"")), "{escape}");
    }
    assert_eq!(
        text(r#"name: "\\uD800 \x41\u00e9\U0001F9D7""#, "name").as_deref(),
        Some("\\uD800 Aé🧗")
    );
}

#[test]
fn what_is_no_yaml_is_refused() {
    for front_matter in [
        "description: Use when: asked",
        "\tname: Ann",
        "  \tname: Ann",
        "!!map\n\tname: Ann",
        "x:\n\t- a",
        "x:\n\ty: a",
        "x:\n  - a\n\t- b",
        "name: [Ann",
        "name: @ann",
        "name: `ann`",
        "name: %ann",
        "name: \"Ann",
        "name: 'Ann",
        "name: Ann\n---x\n",
        "name: a: b",
        "name: *a b",
        "x: &a *b",
        "x: &a &b c",
        "x: !!str !!str c",
        "x: [a b: c\n d: e]",
        "x: {a: b",
        "x: a\n y: b",
        "x: 'a' b",
        "x: |x\n  a",
        "x: [\na]",
    ] {
        assert!(is_refused(front_matter), "{front_matter:?}");
    }
    for front_matter in [
        "name:\tAnn",
        "name: Ann\t# x",
        "\t{name: Ann}",
        "x:\n- a\n- b",
        "x: [a,\n b]",
    ] {
        assert!(!is_refused(front_matter), "{front_matter:?}");
    }
}
