//! Tests of `filter`: a table after the jq manual, and a comparison with jq itself where one is installed.

use std::io::Write as _;
use std::process::{Command, Stdio};

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::run;
use crate::request::FilterRequest;
use hydrant_plan::failure::Code;

fn request(path: &str, options: &str) -> FilterRequest {
    FilterRequest {
        path: path.to_owned(),
        input_b64: String::new(),
        raw: options.contains('r'),
        slurp: options.contains('s'),
        compact: options.contains('c'),
        join: options.contains('j'),
        null_input: options.contains('n'),
        sort_keys: options.contains('S'),
        exit_status: options.contains('e'),
        args: Map::new(),
    }
}

fn filtered(path: &str, options: &str, input: &str) -> Result<String, Code> {
    run(&request(path, options), input.as_bytes())
        .map(|out| String::from_utf8(out).expect("UTF-8"))
        .map_err(|failure| failure.code)
}

#[test]
fn programs_of_the_manual() {
    for (path, options, input, output) in [
        (
            ".",
            "",
            "{\"a\":[1,{}],\"b\":[]}",
            "{\n  \"a\": [\n    1,\n    {}\n  ],\n  \"b\": []\n}\n",
        ),
        (".", "c", "{\"b\":1,\"a\":2}", "{\"b\":1,\"a\":2}\n"),
        (
            ".",
            "cS",
            "{\"b\":1,\"a\":{\"d\":1,\"c\":2}}",
            "{\"a\":{\"c\":2,\"d\":1},\"b\":1}\n",
        ),
        (".a", "r", "{\"a\":\"x\\ny\"}", "x\ny\n"),
        (".[]", "j", "[\"a\",1,\"b\"]", "a1b"),
        (".", "cs", "1 2\n3", "[1,2,3]\n"),
        ("[inputs]", "cn", "1 2 3", "[1,2,3]\n"),
        (
            ".[] | select(.a > 1) | .b",
            "",
            "[{\"a\":1,\"b\":1},{\"a\":2,\"b\":2}]",
            "2\n",
        ),
        ("map(.+1) | add", "", "[1,2,3]", "9\n"),
        ("test(\"^a.c$\")", "", "\"abc\"", "true\n"),
        ("sub(\"b\"; \"x\")", "", "\"abc\"", "\"axc\"\n"),
        (
            "[.[] | tostring]",
            "c",
            "[1,\"1\",[1]]",
            "[\"1\",\"1\",\"[1]\"]\n",
        ),
        (
            "to_entries",
            "c",
            "{\"a\":1}",
            "[{\"key\":\"a\",\"value\":1}]\n",
        ),
        ("@base64", "", "\"hi\"", "\"aGk=\"\n"),
        ("@csv", "r", "[1,\"a\\\"b\"]", "1,\"a\"\"b\"\n"),
        (
            "group_by(.a) | length",
            "",
            "[{\"a\":1},{\"a\":1},{\"a\":2}]",
            "2\n",
        ),
        ("todate", "", "0", "\"1970-01-01T00:00:00Z\"\n"),
        ("if . then 1 else 2 end", "", "null", "2\n"),
        (".a // \"d\"", "", "{}", "\"d\"\n"),
        ("\"\\(.a)!\"", "", "{\"a\":1}", "\"1!\"\n"),
    ] {
        assert_eq!(
            filtered(path, options, input).as_deref(),
            Ok(output),
            "{path}"
        );
    }
}

#[test]
fn numbers_keep_their_spelling() {
    let numbers = "[1.0,1.10,100000000000000000000,12345678901234567890,0.1]";
    assert_eq!(filtered(".", "c", numbers), Ok(format!("{numbers}\n")));
    assert_eq!(
        filtered("map(.+1)", "c", "[1.5,0.5,1e17]").as_deref(),
        Ok("[2.5,1.5,1e+17]\n")
    );
    assert_eq!(
        filtered("[nan, infinite]", "cn", "").as_deref(),
        Ok("[null,1.7976931348623157e+308]\n")
    );
}

#[test]
fn environment_clock_files_and_halt_are_not_there() {
    assert_eq!(
        filtered("[env, $ENV]", "cn", "").as_deref(),
        Ok("[{},{}]\n")
    );
    assert_eq!(filtered("$ENV.PATH", "n", "").as_deref(), Ok("null\n"));
    for program in [
        "now",
        "localtime",
        "strflocaltime(\"%Z\")",
        "halt_error",
        "input_filename",
        "import \"a\" as a; 1",
        "include \"a\"; 1",
        "import \"a\" as $a; 1",
        "get_search_list",
        "$__prog_args",
        "$unknown",
        "(((",
    ] {
        assert_eq!(
            filtered(program, "n", ""),
            Err(Code::JsonFilter),
            "{program}"
        );
    }
}

#[test]
fn halt_ends_the_output() {
    assert_eq!(filtered("1, halt, 2", "n", "").as_deref(), Ok("1\n"));
    assert_eq!(
        filtered("., (if . == 2 then halt else empty end)", "", "1 2 3").as_deref(),
        Ok("1\n2\n")
    );
}

#[test]
fn arguments_are_variables_and_never_text() {
    let mut with = request("[$a, $b, $ARGS.named.a]", "cn");
    with.args = [
        ("a".to_owned(), json!("\") | env | (\"")),
        ("b".to_owned(), json!({"x": [1]})),
    ]
    .into_iter()
    .collect();
    let out = run(&with, b"").expect("output");
    assert_eq!(
        serde_json::from_slice::<Value>(&out).expect("JSON"),
        json!(["\") | env | (\"", {"x": [1]}, "\") | env | (\""])
    );
}

#[test]
fn exit_status() {
    assert_eq!(filtered(".", "e", "false"), Err(Code::JsonFilter));
    assert_eq!(filtered("empty", "e", "1"), Err(Code::JsonFilter));
    assert_eq!(filtered(".", "e", "1").as_deref(), Ok("1\n"));
}

#[test]
fn errors_and_bad_input_are_failures() {
    for (path, input) in [
        (".a", "[1]"),
        (".", "{"),
        (".", "{\"a\"}"),
        ("error(\"x\")", "1"),
        ("error", "null"),
    ] {
        assert_eq!(filtered(path, "", input), Err(Code::JsonFilter), "{path}");
    }
}

#[test]
fn output_and_nesting_are_bounded() {
    assert_eq!(filtered("range(1e9)", "n", ""), Err(Code::Limit));
    assert_eq!(
        filtered("\"x\" * 1000000 | repeat(.)", "n", ""),
        Err(Code::Limit)
    );
    let deep = format!("{}{}", "[".repeat(129), "]".repeat(129));
    assert_eq!(filtered(".", "c", &deep), Err(Code::Limit));
    assert_eq!(
        filtered("reduce range(1000) as $i (0; [.])", "n", ""),
        Err(Code::Limit)
    );
    assert_eq!(
        filtered(&format!("{}1{}", "(".repeat(65), ")".repeat(65)), "n", ""),
        Err(Code::Limit)
    );
    assert_eq!(filtered(&"\"\\(".repeat(65), "n", ""), Err(Code::Limit));
}

#[test]
fn rows_and_escapes_as_jq_has_them() {
    for (path, input, output) in [
        ("@tsv", "[\"a\\tb\\\\c\",1,null]", "a\\tb\\\\c\t1\t\n"),
        ("@csv", "[true,null,1.5]", "true,,1.5\n"),
        ("@html", "\"<'&\\\">\"", "&lt;&#39;&amp;&quot;&gt;\n"),
        ("@sh", "[\"a'b\",1]", "'a'\\''b' 1\n"),
        (
            "flatten",
            "[[1,[2]],{\"a\":[3]}]",
            "[\n  1,\n  2,\n  {\n    \"a\": [\n      3\n    ]\n  }\n]\n",
        ),
        ("[leaf_paths]|tojson", "{\"a\":[1]}", "[[\"a\",0]]\n"),
        (
            "INDEX(.a)|tojson",
            "[{\"a\":1},{\"a\":2}]",
            "{\"1\":{\"a\":1},\"2\":{\"a\":2}}\n",
        ),
        ("IN(1, 2)", "2", "true\n"),
        ("@uri", "\"a b/é\"", "a%20b%2F%C3%A9\n"),
    ] {
        assert_eq!(filtered(path, "r", input).as_deref(), Ok(output), "{path}");
    }
    assert_eq!(filtered("@csv", "", "[[1]]"), Err(Code::JsonFilter));
    assert_eq!(filtered("@csv", "", "1"), Err(Code::JsonFilter));
}

/// Programs that are long in one way: up to the limit they run, beyond it they are refused before they are parsed.
#[test]
fn long_programs_are_bounded() {
    type Long = fn(usize) -> String;
    let kinds: [(Long, usize); 8] = [
        (|n| ".|".repeat(n) + ".", 200),
        (|n| "-".repeat(n) + "1", 250),
        (|n| "1,".repeat(n) + "1", 170),
        (|n| "1 as $x|".repeat(n) + "1", 100),
        (|n| "def f: ".repeat(n) + "1" + &"; f".repeat(n), 150),
        (|n| "try ".repeat(n) + "1", 500),
        (|n| ".a?".repeat(n), 300),
        (|n| "if 1 then ".repeat(n) + "1" + &" end".repeat(n), 120),
    ];
    for (long, most) in kinds {
        let program = long(most);
        assert!(filtered(&program, "c", "null").is_ok(), "{program}");
        assert_eq!(filtered(&long(5_000), "c", "null"), Err(Code::Limit));
    }
    // A string is no program.
    let text = format!("\"{}\"", "a|b,".repeat(2_000));
    assert!(filtered(&text, "", "null").is_ok());
}

fn jq(path: &str, input: &str) -> Option<Option<Value>> {
    let mut child = Command::new("jq")
        .args(["-s", "-c", path])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .env_clear()
        .spawn()
        .ok()?;
    child.stdin.take()?.write_all(input.as_bytes()).ok()?;
    let output = child.wait_with_output().ok()?;
    let values: Result<Vec<Value>, _> = serde_json::Deserializer::from_slice(&output.stdout)
        .into_iter()
        .collect();
    Some(
        output
            .status
            .success()
            .then(|| Value::Array(values.expect("JSON"))),
    )
}

fn ours(path: &str, input: &str) -> Option<Value> {
    let out = run(&request(path, "sc"), input.as_bytes()).ok()?;
    let values: Result<Vec<Value>, _> = serde_json::Deserializer::from_slice(&out)
        .into_iter()
        .collect();
    Some(Value::Array(values.expect("JSON")))
}

/// jq 1.6 writes `1.0` as `1`.
fn as_doubles(value: Value) -> Value {
    match value {
        Value::Number(number) => json!(number.as_f64()),
        Value::Array(items) => items.into_iter().map(as_doubles).collect(),
        Value::Object(members) => members
            .into_iter()
            .map(|(key, member)| (key, as_doubles(member)))
            .collect(),
        other => other,
    }
}

fn json_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-1000..1000_i64).prop_map(Value::from),
        (-100..100_i32).prop_map(|n| Value::from(f64::from(n) + 0.25)),
        "[a-c\"\\\\é\n]{0,3}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("[a-c]", inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// The same values as jq, where both have an answer; `add`, sorting and paths are where they could differ.
    #[test]
    fn the_answer_is_that_of_jq(value in json_value(), path in prop::sample::select(vec![
        ".", ".[0]", ".[]", ".[0] | keys?", "map(type)", ".[0] | length?", ".[0] | tojson", ".[0] | [paths]", ".[0] | [.[]?]",
        ".[0] | [..]", "sort", "unique", ".[0] | tostring", ".[0] | [leaf_paths]", ".[0] | to_entries?", ".[0] | .a?",
        ".[0] | [.. | numbers | . + 0.5]", ".[0] | [.. | strings | ascii_downcase]", ".[0] | [.. | strings | length]",
        ".[0] | [.. | numbers | floor]", ".[0] | [.. | strings | @html, @uri, @base64]", ".[0] | [.. | arrays | reverse]",
        ".[0] | flatten?", ".[0] | [.. | strings | split(\"a\")]", ".[0] | first(.[]?)", ".[0] | [.. | strings | explode]",
        ".[0] | [.. | arrays | index(1)?]", ".[0] | has(\"a\")?", ".[0] | del(.a?)", ".[0] | [limit(2; .[]?)]",
        ".[0] | tojson | fromjson", ".[0] | [.. | strings | test(\"a\")]", ".[0] | with_entries(.value |= tostring)?",
    ])) {
        let input = value.to_string();
        if let (Some(ours), Some(Some(theirs))) = (ours(path, &input), jq(path, &input)) {
            prop_assert_eq!(as_doubles(ours), as_doubles(theirs), "{} of {}", path, input);
        }
    }

    /// What one reads of the other's: strings of every kind.
    #[test]
    fn strings_are_those_of_jq(text in "\\PC{0,8}|[\u{0}-\u{7f}]{0,8}") {
        let input = json!([text]).to_string();
        // The manual, and jq since 1.7, have `&#39;` where 1.6 has `&apos;`.
        let escaped = if text.contains(['\'', '\0']) { "." } else { ".[0] | @html" };
        // jq has `\0` for a NUL in all that it escapes, which nothing reads as one.
        let formats = if text.contains('\0') { "." } else { ".[0] | @csv \"\\([.])\", @sh, ([.] | @tsv)" };
        let path = format!("[., ({escaped}), ({formats}), (.[0] | length, ascii_upcase)]");
        if let (Some(ours), Some(Some(theirs))) = (ours(&path, &input), jq(&path, &input)) {
            prop_assert_eq!(ours, theirs, "{} of {}", path, input);
        }
    }

    /// Doubles are written as jq writes them.
    #[test]
    fn doubles_are_read_back(value in any::<f64>()) {
        let shown = super::write::double(value);
        if value.is_finite() {
            prop_assert_eq!(shown.parse::<f64>().expect("a number"), value);
        }
    }
}
