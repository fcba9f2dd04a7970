//! Whatever the bytes are, an answer or a coded error, in about linear time; through the component's entry.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "a failed expectation is a failed test, in a fixture as in the test itself"
)]

mod processor_time;
mod requests;

use std::fmt::Write as _;
use std::time::Duration;

use processor_time::Stopwatch;
use proptest::prelude::*;
use requests::{answer, load_bytes, load_request};
use serde_json::{Value, json};

const URL: &str = "https://e.org/skill.yaml";

/// Loads, and says what came of it: `ok`, or the code.
fn outcome(url: &str, content: &[u8]) -> String {
    match answer(&load_request(url, content, json!({}))) {
        Err(code) => {
            assert_eq!(code, "too_large");
            code
        }
        Ok(answer) if answer["ok"] == true => "ok".to_owned(),
        Ok(answer) => answer["error"]["code"].as_str().unwrap().to_owned(),
    }
}

/// A document over these, and the time that loading takes; on a slow machine with others at work.
fn quick(url: &str, text: &str) -> String {
    let started = Stopwatch::started();
    let outcome = outcome(url, text.as_bytes());
    let taken = started.elapsed();
    assert!(
        taken < Duration::from_secs(4),
        "{} bytes: {taken:?}",
        text.len()
    );
    outcome
}

#[test]
fn deep_nesting_and_bombs() {
    for (url, text) in [
        (URL, "[".repeat(1 << 20)),
        (URL, "{a: ".repeat(200_000)),
        (URL, "- ".repeat(500_000)),
        (
            "https://e.org/a.json",
            "[".repeat(500_000) + &"]".repeat(500_000),
        ),
    ] {
        assert_eq!(quick(url, &text), "limit");
    }
    let mut bomb = "a0: &a0 {k: [x, x, x, x, x, x, x, x, x]}\n".to_owned();
    for level in 1..40 {
        let aliases = format!("*a{}, ", level - 1).repeat(9);
        writeln!(bomb, "a{level}: &a{level} {{k: [{aliases}]}}").unwrap();
    }
    assert_eq!(quick(URL, &bomb), "limit");
    let nodes = |count: usize| {
        format!(
            "name: x\ncapabilities: [a]\nexamples: [{}]\n",
            "1,".repeat(count)
        )
    };
    assert_eq!(quick(URL, &nodes(99_000)), "ok");
    assert_eq!(quick(URL, &nodes(100_001)), "limit");
}

#[test]
fn large_documents_of_every_part() {
    let fill = |head: &str, each: &str, count: usize| format!("{head}{}", each.repeat(count));
    let numbered = |head: &str, count: usize, each: &dyn Fn(usize) -> String| {
        (0..count).fold(head.to_owned(), |mut text, n| {
            text.push_str(&each(n));
            text
        })
    };
    let documents = [
        fill("name: x\ncapabilities:\n", "- a\n", 90_000),
        numbered("name: x\ncapabilities: [a]\n", 40_000, &|n| {
            format!("key{n}: 1\n")
        }),
        numbered(
            "name: x\noperations:\n  a:\n    endpoint: /x\n    input:\n",
            25_000,
            &|n| format!("      p{n}: {{type: string}}\n"),
        ),
        numbered(
            "name: x\noperations:\n  a:\n    endpoint: /x\n    input:\n",
            20_000,
            &|n| format!("      p{n}: {{in: query}}\n"),
        ),
        numbered(
            "name: x\noperations:\n  a:\n    endpoint: /x\n    headers:\n",
            30_000,
            &|n| format!("      X-H{n}: v\n"),
        ),
        numbered(
            "name: x\noperations:\n  a:\n    endpoint: /x\n    body:\n",
            30_000,
            &|n| format!("      k{n}: '{{v{n}}}'\n"),
        ),
        numbered("name: x\nonboarding:\n  steps:\n", 6_000, &|n| {
            format!(
                "   - {{id: s{n}, type: condition, depends_on: [s{}]}}\n",
                n.saturating_sub(1)
            )
        }),
        fill(
            "name: x\noperations:\n  a:\n    endpoint: /",
            "{a}/",
            200_000,
        ),
        fill("# x\n", "# heading\n", 100_000),
        fill("name: x\ninstructions: \"", "\\n\\u00e9", 130_000) + "\"\ncapabilities: [a]\n",
    ];
    for document in documents {
        assert!(document.len() <= 1 << 20, "{}", document.len());
        let _ = quick(URL, &document);
    }
}

/// A description of about 1 MiB whose operations refer to all of it.
fn entangled(schemas: usize, references: usize) -> String {
    let mut text =
        "openapi: 3.1.0\ninfo: {title: T}\nservers: [{url: 'https://e.org'}]\npaths:\n".to_owned();
    for n in 0..500 {
        writeln!(
            text,
            "  /p{n}: {{post: {{requestBody: {{content: {{a/json: {{schema: {{}}}}, application/json: {{schema: {{$ref: '#/components/schemas/S{}'}}}}}}}}, responses: {{200: {{content: {{application/json: {{schema: {{$ref: '#/components/schemas/S0'}}}}}}}}}}}}}}",
            n % schemas
        )
        .unwrap();
    }
    text.push_str("components:\n  schemas:\n");
    for n in 0..schemas {
        let all: String = (1..=references)
            .map(|next| {
                format!(
                    "{{$ref: '#/components/schemas/S{}'}}, ",
                    (n + next) % schemas
                )
            })
            .collect();
        writeln!(text, "    S{n}: {{anyOf: [{all}]}}").unwrap();
    }
    text
}

#[test]
fn references_that_multiply() {
    for (schemas, references) in [(30, 2), (30, 29), (200, 40), (1_500, 8)] {
        let text = entangled(schemas, references);
        assert!(text.len() <= 1 << 20, "{}", text.len());
        assert_eq!(quick("https://e.org/api.yaml", &text), "ok");
    }
    // Names that are one once they are plain.
    let mut alike = "openapi: 3.0.0\ninfo: {title: T}\nservers: [{url: 'https://e.org'}]\npaths: {/a: {post: {requestBody: {content: {application/json: {schema: {$ref: '#/components/schemas/all'}}}}}}}\ncomponents:\n  schemas:\n".to_owned();
    let name = |n: usize| -> String {
        let bits = (0..14).map(|bit| if n >> bit & 1 == 0 { '!' } else { '+' });
        bits.collect()
    };
    let all: String = (0..10_000)
        .map(|n| format!("{{$ref: '#/components/schemas/{}'}}, ", name(n)))
        .collect();
    writeln!(alike, "    all: {{anyOf: [{all}]}}").unwrap();
    for n in 0..10_000 {
        writeln!(alike, "    '{}': {{}}", name(n)).unwrap();
    }
    assert!(alike.len() <= 1 << 20);
    let _ = quick("https://e.org/api.yaml", &alike);
    // No cycle: each schema uses the next one twice.
    let mut doubling = "openapi: 3.0.0\ninfo: {title: T}\nservers: [{url: 'https://e.org'}]\npaths: {/a: {post: {requestBody: {content: {application/json: {schema: {$ref: '#/components/schemas/S0'}}}}}}}\ncomponents:\n  schemas:\n".to_owned();
    for n in 0..31 {
        let next = format!("{{$ref: '#/components/schemas/S{}'}}", n + 1);
        writeln!(
            doubling,
            "    S{n}: {{properties: {{a: {next}, b: {next}}}}}"
        )
        .unwrap();
    }
    doubling.push_str("    S31: {type: string}\n");
    assert_eq!(quick("https://e.org/api.yaml", &doubling), "ok");
}

/// A description whose operations each use one flat schema for their body and their response.
fn large_schema(version: &str, beside: &str, operations: usize, bytes: usize) -> String {
    let schema = format!("{{$ref: '#/components/schemas/S'{beside}}}");
    let content = format!("{{content: {{application/json: {{schema: {schema}}}}}}}");
    let mut text = format!(
        "openapi: {version}\ninfo: {{title: T}}\nservers: [{{url: 'https://e.org'}}]\npaths:\n"
    );
    for n in 0..operations {
        writeln!(
            text,
            "  /p{n}: {{post: {{requestBody: {content}, responses: {{200: {content}}}}}}}"
        )
        .unwrap();
    }
    text.push_str("components:\n  schemas:\n    S:\n      properties:\n");
    for n in 0..bytes / 64 {
        writeln!(
            text,
            "        property_of_a_long_name_{n:020}: {{type: string}}"
        )
        .unwrap();
    }
    text
}

#[test]
fn a_large_schema_that_every_operation_names_is_bounded() {
    let url = "https://e.org/api.yaml";
    for (version, beside) in [("3.0.0", ""), ("3.1.0", ", title: x")] {
        for bytes in [700 << 10, 200 << 10] {
            let text = large_schema(version, beside, 512, bytes);
            let request = load_request(url, text.as_bytes(), json!({}));
            let started = Stopwatch::started();
            let answer = answer(&request);
            let taken = started.elapsed();
            assert!(taken < Duration::from_secs(4), "{taken:?}");
            let answer = answer.unwrap_or_else(|code| panic!("{version} {bytes}: {code}"));
            assert_eq!(answer["ok"], true, "{answer}");
            let operations = answer["skill"]["operations"].as_array().unwrap();
            let usable = operations
                .iter()
                .filter(|one| one["status"] == "ok")
                .count();
            assert_eq!(operations.len(), 512);
            assert!(usable <= 16, "{usable}");
            assert_eq!(usable == 0, bytes == 700 << 10, "{usable}");
            assert!(answer.to_string().len() < 16 << 20);
        }
    }
}

#[test]
fn many_addresses_on_a_line_that_names_a_base_are_read_soon() {
    let user = "http://u@a.example/ ".repeat(45_000);
    let example = "http://a.example/ ".repeat(50_000);
    for addresses in [user, example] {
        let text = format!("# x\n\nBase URL, such as {addresses}\n\n- `GET /items`\n");
        let _ = quick("https://e.org/SKILL.md", &text);
    }
}

#[test]
fn a_word_of_many_options_and_a_part_of_many_fields_are_read_soon() {
    let letters = "s".repeat(60_000);
    let fields = ";".repeat(60_000);
    for (command, expected) in [
        (format!("curl -{letters} https://a.example"), "ok"),
        (format!("curl -F 'a=@f{fields}' https://a.example"), "ok"),
    ] {
        let text = format!("# x\n\n```bash\n{command}\n```\n").repeat(16);
        assert_eq!(quick("https://e.org/SKILL.md", &text), expected);
    }
}

#[test]
fn a_map_that_merges_very_often_is_read_soon() {
    let mut text = "openapi: 3.0.0\ninfo: {title: T}\nservers: [{url: 'https://e.org'}]\nx-a: &a {description: d}\npaths:\n".to_owned();
    for n in 0..500 {
        let parameter = "{$ref: '#/components/parameters/P'}, ".repeat(8);
        writeln!(
            text,
            "  /p{n}: {{get: {{parameters: [{parameter}], responses: {{200: {{$ref: '#/components/responses/R'}}}}}}}}"
        )
        .unwrap();
    }
    let merges = format!("<<: [{}]", "*a, ".repeat(20_000));
    writeln!(
        text,
        "components: {{parameters: {{P: {{name: q, in: query, {merges}}}}}, responses: {{R: {{description: r}}}}}}"
    )
    .unwrap();
    assert_eq!(quick("https://e.org/api.yaml", &text), "ok");
}

#[test]
fn documents_cut_short() {
    for (url, text) in [
        (URL, include_str!("fixtures/moltbook.yaml")),
        (
            "https://e.org/a.json",
            include_str!("fixtures/moltbook.json"),
        ),
        (
            "https://e.org/a.yaml",
            include_str!("fixtures/books-3.0.yaml"),
        ),
        (
            "https://e.org/a.json",
            include_str!("fixtures/books-2.0.json"),
        ),
        ("https://e.org/a", include_str!("fixtures/books-3.0.yaml")),
    ] {
        let bytes = text.as_bytes();
        for end in (0..bytes.len()).step_by(7) {
            let _ = outcome(url, &bytes[..end]);
        }
    }
}

/// Text in which one byte or one token is another.
fn damaged(text: &'static str) -> impl Strategy<Value = String> {
    let token = prop::sample::select(vec![
        "", " ", "\n", ":", "-", "[", "]", "{", "}", "\"", "'", "&a ", "*a", "!x ", "null", "5",
        "1e999", "true", "|\n", "\u{7f}", "é", "$ref", "---\n", "%",
    ]);
    (0..text.len(), 0..12_usize, token).prop_map(move |(start, length, token)| {
        let start = text.floor_char_boundary(start);
        let end = text.floor_char_boundary((start + length).min(text.len()));
        format!("{}{token}{}", &text[..start], &text[end.max(start)..])
    })
}

/// A value of any type.
fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        (-1e3_f64..1e3).prop_map(Value::from),
        "[a-zA-Z0-9_:/{}$ -]{0,12}".prop_map(Value::from),
        Just(json!("https://e.org/{a}")),
        Just(json!("curl https://e.org/")),
        Just(json!("string")),
        Just(json!({"$ref": "#"})),
        Just(json!({"$ref": "#/paths"})),
    ];
    leaf.prop_recursive(3, 20, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(key(), inner, 0..4)
                .prop_map(|members| members.into_iter().collect()),
        ]
    })
}

/// Keys that are looked for.
fn key() -> impl Strategy<Value = String> {
    prop::sample::select(vec![
        "name",
        "id",
        "type",
        "properties",
        "required",
        "items",
        "in",
        "url",
        "steps",
        "egress",
        "schema",
        "content",
        "application/json",
        "$ref",
        "enum",
        "default",
        "key",
        "entries",
        "get",
        "parameters",
        "x",
    ])
    .prop_map(str::to_owned)
}

/// A document with every key that is looked for, whose values are anything.
fn any_document(keys: &'static [&'static str]) -> impl Strategy<Value = Value> {
    prop::collection::btree_map(prop::sample::select(keys.to_vec()), any_value(), 0..8).prop_map(
        |members| {
            members
                .into_iter()
                .map(|(key, value)| (key.to_owned(), value))
                .collect()
        },
    )
}

const SKILL_KEYS: &[&str] = &[
    "id",
    "name",
    "version",
    "description",
    "instructions",
    "data_classifications",
    "data_class",
    "operations",
    "capabilities",
    "effects",
    "secrets",
    "approval",
    "domains",
    "base_url",
    "api_base",
    "examples",
    "onboarding",
    "metadata",
];
const OPERATION_KEYS: &[&str] = &[
    "description",
    "method",
    "endpoint",
    "headers",
    "query",
    "body",
    "auth",
    "input",
    "input_schema",
    "output",
    "command",
    "runtime",
    "script",
    "sandbox",
    "packages",
    "examples",
    "data_classifications",
    "follow",
    "timeout_ms",
    "returns_secret",
];
const OPENAPI_KEYS: &[&str] = &[
    "servers",
    "security",
    "parameters",
    "requestBody",
    "responses",
    "operationId",
    "summary",
    "callbacks",
    "consumes",
    "schemes",
    "host",
    "basePath",
    "definitions",
    "components",
    "securityDefinitions",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..300), suffix in "(\\.yaml|\\.json|\\.md|)") {
        let _ = outcome(&format!("https://e.org/a{suffix}"), &bytes);
    }

    #[test]
    fn damaged_documents(
        yaml in damaged(include_str!("fixtures/moltbook.yaml")),
        json in damaged(include_str!("fixtures/moltbook.json")),
        three in damaged(include_str!("fixtures/books-3.0.yaml")),
        two in damaged(include_str!("fixtures/books-2.0.json")),
    ) {
        let _ = outcome(URL, yaml.as_bytes());
        let _ = outcome("https://e.org/a.json", json.as_bytes());
        let _ = outcome(URL, three.as_bytes());
        let _ = outcome("https://e.org/a.json", two.as_bytes());
    }

    #[test]
    fn wrong_types_everywhere(
        skill in any_document(SKILL_KEYS),
        operation in any_document(OPERATION_KEYS),
    ) {
        let url = "https://e.org/a.json";
        let _ = outcome(url, skill.to_string().as_bytes());
        let one = json!({"name": "x", "operations": {"a": operation}});
        let answer = load_bytes(url, one.to_string().as_bytes(), json!({})).unwrap();
        if answer["ok"] == false {
            // Refused for a type, a key, or a name; always with the place.
            let error = &answer["error"];
            prop_assert!(matches!(error["code"].as_str(), Some("schema" | "unknown-op-key" | "limit")), "{}", error);
            prop_assert!(error["message"].as_str().unwrap().starts_with("operations.a"), "{}", error);
            prop_assert!(error["path"].as_str().unwrap().starts_with("operations.a"), "{}", error);
        }
    }

    #[test]
    fn any_description(
        root in any_document(OPENAPI_KEYS),
        operation in any_document(OPENAPI_KEYS),
        two in any::<bool>(),
    ) {
        let mut document = root;
        let version = if two { ("swagger", "2.0") } else { ("openapi", "3.1.0") };
        document[version.0] = json!(version.1);
        document["info"] = json!({"title": "T"});
        document["paths"] = json!({"/a/{b}": {"post": operation}});
        let outcome = outcome("https://e.org/a.json", document.to_string().as_bytes());
        prop_assert!(matches!(outcome.as_str(), "ok" | "openapi"), "{}: {}", outcome, document);
    }
}
