//! YAML and JSON as people write them: what the readers take, what they refuse, and that both give the same.

use std::fmt::Write;

use proptest::prelude::*;
use serde_json::json;

use super::{Error, Node, Tree, Value, read_json, read_yaml};

fn yaml(text: &str) -> serde_json::Value {
    read_yaml(text, 1).unwrap().root().unwrap().to_json()
}

fn yaml_error(text: &str) -> Error {
    read_yaml(text, 1).unwrap_err()
}

fn json_error(text: &str) -> Error {
    read_json(text, 1).unwrap_err()
}

/// All lines and type names below a node, as text.
fn outline(node: Node<'_>, out: &mut String) {
    write!(out, "{}:{} ", node.line(), node.type_name()).unwrap();
    for (key, value) in node.entries() {
        write!(out, "{}:{}= ", key.line, key.text).unwrap();
        outline(value, out);
    }
    for item in node.items() {
        outline(item, out);
    }
}

fn outlined(tree: &Tree<'_>) -> String {
    let mut out = String::new();
    outline(tree.root().unwrap(), &mut out);
    out
}

#[test]
fn plain_scalars_are_of_the_core_schema() {
    let text = "[null, ~, , true, False, yes, 12, -3, +4, 0o17, 0x1F, 1_000, 1.50, .5, 5., 1e3, 3.0.1, .inf, '12', \"x\\ty\"]";
    assert_eq!(
        yaml(&text.replace(", ,", ", Null,")),
        json!([
            null, null, null, true, false, "yes", 12, -3, 4, 15, 31, "1_000", 1.5, 0.5, 5.0,
            1000.0, "3.0.1", ".inf", "12", "x\ty"
        ])
    );
}

#[test]
fn a_number_keeps_its_source_text() {
    for tree in [
        read_yaml("{\"v\": 1.10, \"w\": 7}", 1).unwrap(),
        read_json("{\"v\": 1.10, \"w\": 7}", 1).unwrap(),
    ] {
        let root = tree.root().unwrap();
        assert!(matches!(
            root.get("v").unwrap().value(),
            Value::Number("1.10")
        ));
        assert!(matches!(
            root.get("w").unwrap().value(),
            Value::Integer("7")
        ));
    }
}

#[test]
fn lines_are_those_of_the_document() {
    let text = "a:\n  - b\n  - c: |\n      one\n      two\n\nd: >-\n  x\n  y\n";
    let tree = read_yaml(text, 11).unwrap();
    let root = tree.root().unwrap();
    let list: Vec<_> = root.get("a").unwrap().items().collect();
    assert_eq!(list.iter().map(Node::line).collect::<Vec<_>>(), [12, 13]);
    let block = list[1].get("c").unwrap();
    assert_eq!(block.line(), 14);
    assert_eq!(block.as_text(), Some("one\ntwo\n"));
    assert_eq!(root.get("d").unwrap().as_text(), Some("x y"));
    assert_eq!(
        root.entries().map(|(key, _)| key.line).collect::<Vec<_>>(),
        [11, 17]
    );
    let blank = read_yaml("a: |\n\n\n  x\n", 1).unwrap();
    assert_eq!(blank.root().unwrap().get("a").unwrap().line(), 2);
}

#[test]
fn an_alias_is_what_it_stands_for_on_its_own_line() {
    let text = "a: &x {k: [1, two]}\nb: *x\n";
    assert_eq!(
        yaml(text),
        json!({"a": {"k": [1, "two"]}, "b": {"k": [1, "two"]}})
    );
    let tree = read_yaml(text, 1).unwrap();
    let root = tree.root().unwrap();
    let (a, b) = (root.get("a").unwrap(), root.get("b").unwrap());
    assert_eq!(a.identity(), b.identity());
    assert_eq!((a.line(), b.line()), (1, 2));
}

#[test]
fn json_and_the_same_text_as_yaml_give_one_tree() {
    let text = "{\n \"a\": [1, 2.5, \"x\\u00e9\\n\", null],\n \"b\": {\"c\": true,\n  \"d\": -7}, \"e\": []\n}";
    let (one, other) = (read_json(text, 1).unwrap(), read_yaml(text, 1).unwrap());
    assert_eq!(outlined(&one), outlined(&other));
    assert_eq!(
        one.root().unwrap().to_json(),
        other.root().unwrap().to_json()
    );
}

#[test]
fn duplicate_keys_are_refused_with_the_line_of_the_second() {
    for text in [
        "{\"a\": 1,\n\"b\": 2,\n\"\\u0061\": 3}",
        "a: 1\nb: 2\n'a': 3\n",
        "200: 1\n2: 2\n'200': 3",
    ] {
        let read = if text.starts_with('{') {
            json_error(text)
        } else {
            yaml_error(text)
        };
        assert!(
            matches!(&read, Error::DuplicateKey { line: 3, .. }),
            "{read}"
        );
    }
    assert!(matches!(
        yaml_error("x:\n - {a: 1, a: 2}"),
        Error::DuplicateKey { line: 2, .. }
    ));
    assert_eq!(
        yaml("x: {a: 1}\ny: {a: 2}"),
        json!({"x": {"a": 1}, "y": {"a": 2}})
    );
}

#[test]
fn a_second_document_is_refused_with_its_line() {
    for text in [
        "a: 1\n---\nb: 2\n",
        "---\na: 1\n---\nnull\n",
        "a: 1\n---\n---\n",
        "a: 1\n--- []\n",
    ] {
        let error = yaml_error(text);
        assert!(
            matches!(error, Error::SecondDocument { .. }),
            "{text:?}: {error}"
        );
    }
    assert_eq!(yaml_error("a: 1\n---\nb: 2\n").line(), 2);
    for text in [
        "---\na: 1\n---\n",
        "a: 1\n...\n",
        "%YAML 1.2\n---\na: 1",
        "# x\n---\na: 1\n---\n# y\n",
    ] {
        assert_eq!(yaml(text), json!({"a": 1}), "{text:?}");
    }
}

#[test]
fn tags_outside_the_core_schema_are_refused_with_the_line() {
    for text in [
        "b: 1\na: !ruby/object:Foo {}",
        "b: 1\na: !!binary aGk=",
        "b: 1\na: !!timestamp 2001-01-01",
        "b: 1\na: !!set {x}",
        "b: 1\na: !!int x",
        "b: 1\na: !x [1]",
        "b: 1\na: !!seq {}",
    ] {
        let error = yaml_error(text);
        assert!(
            matches!(error, Error::Tag { line: 2, .. }),
            "{text}: {error:?}"
        );
    }
    assert_eq!(
        yaml("[!!str 1, !!int 2, !!float 3, !!bool true, !!null '', !!seq [], !!map {}, ! 4]"),
        json!(["1", 2, 3, true, null, [], {}, "4"])
    );
}

#[test]
fn nesting_ends_at_128_whatever_it_is_made_of() {
    let nested = |open: &str, inner: &str, close: &str, depth: usize| {
        format!("{}{inner}{}", open.repeat(depth), close.repeat(depth))
    };
    for (open, inner, close) in [
        ("[", "1", "]"),
        ("{\"a\":", "1", "}"),
        ("{\"a\":[", "{}", "]}"),
    ] {
        let each = open.matches(['[', '{']).count();
        let fits = (128 - usize::from(inner == "{}")) / each;
        assert!(read_json(&nested(open, inner, close, fits), 1).is_ok());
        assert!(read_yaml(&nested(open, inner, close, fits), 1).is_ok());
        for depth in [fits + 1, 1_000, 100_000] {
            assert!(
                json_error(&nested(open, inner, close, depth)).is_limit(),
                "{open} {depth}"
            );
            assert!(
                yaml_error(&nested(open, inner, close, depth)).is_limit(),
                "{open} {depth}"
            );
        }
    }
    let block = |depth: usize| {
        (0..depth).fold(String::new(), |mut text, level| {
            writeln!(text, "{}a:", " ".repeat(level)).unwrap();
            text
        })
    };
    assert!(read_yaml(&block(128), 1).is_ok());
    for depth in [129, 500] {
        assert!(yaml_error(&block(depth)).is_limit(), "{depth}");
    }
    assert!(yaml_error(&"- ".repeat(100_000)).is_limit());
    // Aliases that nest deeper than what is written.
    let mut chain = "a0: &a0 [1]\n".to_owned();
    for level in 1..200 {
        writeln!(chain, "a{level}: &a{level} [*a{}]", level - 1).unwrap();
    }
    assert!(yaml_error(&chain).is_limit());
}

#[test]
fn alias_bombs_are_refused_by_nodes_and_by_text() {
    let mut bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..30 {
        let alias = format!("*a{}, ", level - 1).repeat(10);
        writeln!(bomb, "a{level}: &a{level} [{alias}]").unwrap();
    }
    let error = yaml_error(&bomb);
    assert!(
        matches!(error, Error::Limit { most: 100_000, .. }),
        "{error}"
    );
    let long = format!(
        "a: &a \"{}\"\nb: [{}]\n",
        "x".repeat(1 << 19),
        "*a, ".repeat(1_000)
    );
    assert!(yaml_error(&long).is_limit());
    let many = format!("[{}]", "1, ".repeat(100_001));
    assert!(yaml_error(&many).is_limit());
    assert!(read_yaml(&format!("[{}]", "1, ".repeat(99_990)), 1).is_ok());
    // A bomb in a key.
    assert!(yaml_error("&a [1]: 2").line() == 1);
}

#[test]
fn an_alias_within_its_own_anchor_is_a_cycle() {
    assert!(matches!(
        yaml_error("a: &a [1, *a]"),
        Error::Cycle { line: 1 }
    ));
    assert!(matches!(
        yaml_error("a: *nothing"),
        Error::Syntax { line: 1, .. }
    ));
}

#[test]
fn what_is_not_json_is_refused_with_its_line() {
    for text in [
        "",
        "{\n\"a\": 1,\n}",
        "[1 2]",
        "{'a': 1}",
        "// x\n1",
        "[01]",
        "[NaN]",
        "\"\\ud834\"",
        "\"a\nb\"",
        "1 2",
        "tru",
        "[1,\n\"\\x\"]",
    ] {
        assert!(
            matches!(
                json_error(text),
                Error::Syntax {
                    language: "JSON",
                    ..
                }
            ),
            "{text:?}"
        );
    }
    assert_eq!(json_error("{\n\"a\": 1,\n}").line(), 3);
    assert_eq!(read_json("{\"a\": ]", 5).unwrap_err().line(), 5);
}

#[test]
fn what_is_not_yaml_is_refused_with_its_line() {
    for (text, line) in [
        ("a: 1\n b: [\n", 2),
        ("a: 1\nb: \"x", 2),
        ("a: \"\\ud834\\udd1e\"", 1),
        ("- a\nb: c", 2),
    ] {
        let error = yaml_error(text);
        assert!(matches!(error, Error::Syntax { .. }), "{text:?}: {error}");
        assert!(error.line() >= line, "{text:?}: {error:?}");
    }
    assert!(read_yaml("", 1).unwrap().root().is_none());
    assert!(read_yaml("# only a comment\n", 1).unwrap().root().is_none());
}

#[test]
fn messages_hold_little_of_the_document() {
    let key = "k".repeat(5_000);
    for error in [
        json_error(&format!("{{\"{key}\": 1, \"{key}\": 2}}")),
        yaml_error(&format!("a: !{key} x")),
    ] {
        assert!(error.to_string().chars().count() < 150, "{error}");
    }
}

#[test]
fn a_large_document_takes_about_linear_time() {
    let documents = [
        format!(
            "{{{}\"z\":0}}",
            (0..60_000).fold(String::new(), |mut text, n| {
                write!(text, "\"key{n}\":{{}},").unwrap();
                text
            })
        ),
        format!("[{}0]", "[],".repeat(340_000)),
        format!("[{}0]", "\"\\n\",".repeat(200_000)),
    ];
    for document in documents {
        assert!(document.len() <= 1_100_000);
        let started = std::time::Instant::now();
        read_json(&document, 1).unwrap();
        assert!(started.elapsed().as_secs() < 20);
    }
    // One long text as a key of many mappings.
    let key = "k".repeat(200_000);
    let many = format!(
        "a: &a \"{key}1\"\nb: &b \"{key}2\"\nc: [{}]",
        "{*a : 1, *b : 2}, ".repeat(9)
    );
    let started = std::time::Instant::now();
    assert!(read_yaml(&many, 1).is_ok());
    assert!(started.elapsed().as_secs() < 20);
}

/// JSON values with what is awkward in them.
fn any_json() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(serde_json::Value::from),
        any::<i64>().prop_map(serde_json::Value::from),
        any::<u64>().prop_map(serde_json::Value::from),
        (-1e9_f64..1e9).prop_map(serde_json::Value::from),
        any::<String>().prop_map(serde_json::Value::from),
    ];
    leaf.prop_recursive(5, 60, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(serde_json::Value::from),
            prop::collection::btree_map("[a-z\"\\\\é\n]{0,6}", inner, 0..6)
                .prop_map(|members| members.into_iter().collect()),
        ]
    })
}

proptest! {
    #[test]
    fn json_round_trips(value in any_json()) {
        let text = serde_json::to_string_pretty(&value).unwrap();
        let tree = read_json(&text, 1).unwrap();
        prop_assert_eq!(tree.root().unwrap().to_json(), value);
    }

    #[test]
    fn every_key_is_found(value in any_json()) {
        let text = value.to_string();
        let tree = read_json(&text, 1).unwrap();
        let root = tree.root().unwrap();
        for (key, member) in root.entries() {
            prop_assert_eq!(root.get(key.text).unwrap().to_json(), member.to_json());
        }
        prop_assert!(root.get("no such key").is_none());
    }

    #[test]
    fn any_text_is_read_or_refused(text in "[-\\[\\]{}:,&*!|>'\"#%@` a0\n\t\\\\~é]{0,80}") {
        if let Ok(tree) = read_json(&text, 1) {
            let _ = outlined(&tree);
        }
        if let Ok(tree) = read_yaml(&text, 1)
            && let Some(root) = tree.root()
        {
            let mut out = String::new();
            outline(root, &mut out);
            let _ = root.to_json();
        }
    }
}
