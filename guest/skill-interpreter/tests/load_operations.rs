//! Operations of YAML and JSON skills, through the component's entry.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "a failed expectation is a failed test, in a fixture as in the test itself"
)]

mod requests;

use requests::{codes, error, operation, skill};
use serde_json::{Value, json};

const URL: &str = "https://e.org/skill.yaml";

/// A skill with one operation `a` of these lines.
fn one(lines: &str) -> String {
    let lines: String = lines.lines().map(|line| format!("    {line}\n")).collect();
    format!("name: x\noperations:\n  a:\n{lines}")
}

fn of_one(lines: &str) -> Value {
    operation(&skill(URL, &one(lines)), "a").clone()
}

/// The code of what is refused.
fn code_of(lines: &str) -> String {
    error(URL, &one(lines))["code"].as_str().unwrap().to_owned()
}

#[test]
fn what_an_operation_does() {
    let code = |lines: &str| of_one(lines)["code"].clone();
    assert_eq!(code("description: nothing"), "op-empty");
    assert_eq!(code("runtime: python"), "op-empty");
    assert_eq!(code("script: print(1)"), "op-empty");
    assert_eq!(code("runtime: http\nscript: x"), "op-empty");
    assert_eq!(code("command: 'python:run'"), "script-missing");
    assert_eq!(code("runtime: python\nscript: '  '"), "script-missing");
    let both = skill(
        URL,
        &one("endpoint: https://api.e.org/x\ncommand: curl https://other.org/"),
    );
    assert_eq!(codes(&both), ["command-ignored"]);
    assert_eq!(operation(&both, "a")["hosts"], json!(["api.e.org:443"]));
    let run = of_one("command: 'python3:run'\nscript: print(1)");
    assert_eq!(run["stages"][0]["runtime"], "python");
    assert_eq!(run["stages"][0]["program"]["code"], "print(1)");
    assert_eq!(run["tier"], 2);
}

#[test]
fn runtimes() {
    let with = |runtime: &str| of_one(&format!("runtime: {runtime}\nscript: |\n  x = 1"));
    for (runtime, expected, tier) in [
        ("python", "python", 2),
        ("python3:3.11", "python", 2),
        ("node:20", "node", 2),
        ("nodejs", "node", 2),
        ("javascript", "node", 2),
        ("js", "node", 2),
        ("go", "go", 2),
        ("golang:1.22", "go", 2),
        ("bash", "shell", 3),
        ("shell", "shell", 3),
        ("sh", "shell", 3),
        ("container:ubuntu:22.04", "shell", 3),
        ("ruby:3", "shell", 3),
    ] {
        let operation = with(runtime);
        assert_eq!(operation["status"], "ok", "{runtime}");
        assert_eq!(operation["stages"][0]["runtime"], expected, "{runtime}");
        assert_eq!(operation["stages"][0]["declared-runtime"], runtime);
        assert_eq!(operation["tier"], tier, "{runtime}");
    }
    let reasons = with("ruby:3")["reasons"].as_array().unwrap().clone();
    assert!(reasons.contains(&json!("unknown-tool:ruby")), "{reasons:?}");
}

#[test]
fn the_members_of_an_operation_make_a_request() {
    let stage = |lines: &str| of_one(lines)["stages"][0].clone();
    assert_eq!(stage("endpoint: https://api.e.org/x")["method"], "GET");
    assert_eq!(
        stage("endpoint: https://api.e.org/x\nbody: {a: 1}")["method"],
        "POST"
    );
    assert_eq!(
        stage("endpoint: https://api.e.org/x\nmethod: patch")["method"],
        "PATCH"
    );
    assert_eq!(code_of("endpoint: /x\nmethod: 'A B'"), "schema");
    let stage = stage(
        "endpoint: https://api.e.org/items/{item_id}\nmethod: PUT\nheaders: {X-Trace: '{trace}'}\nquery: {lang: en}\nbody: {title: '{title}', year: '{year}', kind: book}\ninput: {item_id: {type: string, required: true}, title: string, year: integer, trace: string}",
    );
    let url = stage["url"].as_array().unwrap();
    assert_eq!(url[1]["input"], "item_id");
    assert_eq!(url[1]["enc"], "path");
    assert_eq!(stage["headers"][0]["name"], "X-Trace");
    assert_eq!(stage["query"][0]["name"][0]["lit"], "lang");
    let members = stage["body"]["json"]["object"].as_array().unwrap();
    let year = members
        .iter()
        .find(|member| member["key"] == "year")
        .unwrap();
    // Declared as an integer, it is not a text.
    assert_eq!(year["value"]["input"], "year");
}

#[test]
fn credentials() {
    let auth = |auth: &str| {
        let operation = of_one(&format!("endpoint: https://api.e.org/x\nauth: {auth}"));
        (
            operation["stages"][0]["auth"].clone(),
            operation["stages"][0].clone(),
        )
    };
    assert_eq!(
        auth("{type: bearer, env_var: T_KEY}").0,
        json!({"type": "bearer", "env_var": "T_KEY"})
    );
    assert_eq!(auth("{type: bearer, secret: T_KEY}").0["env_var"], "T_KEY");
    assert_eq!(auth("{type: bearer}").0["env_var"], "X_API_KEY");
    let header = auth("{type: header, name: X-Auth, env_var: T_KEY, prefix: Token}").1;
    assert_eq!(
        header["headers"],
        json!([{"name": "X-Auth", "value": [{"lit": "Token "}, {"secret": "T_KEY", "enc": "header"}]}])
    );
    assert_eq!(
        auth("{type: api_key, env_var: T_KEY}").0["name"],
        "X-API-Key"
    );
    assert_eq!(
        auth("{type: api_key, in: query, name: key, env_var: T_KEY}").0["type"],
        "query"
    );
    assert_eq!(
        auth("{type: query, name: key, env_var: T_KEY}").1["query"][0]["value"][0]["secret"],
        "T_KEY"
    );
    assert_eq!(
        auth("{type: cookie, name: sid, env_var: T_KEY}").1["cookies"][0]["value"][0]["secret"],
        "T_KEY"
    );
    let basic = auth("{type: basic, env_vars: [U, P]}");
    assert_eq!(basic.0, json!({"type": "basic", "env_vars": ["U", "P"]}));
    for refused in [
        "{type: header, env_var: A}",
        "{env_var: A}",
        "{type: api_key, in: body, env_var: A}",
        "bearer",
        "{type: basic, env_vars: [1]}",
    ] {
        assert_eq!(
            code_of(&format!("endpoint: /x\nauth: {refused}")),
            "schema",
            "{refused}"
        );
    }
}

#[test]
fn schemas_in_every_form() {
    let schema = |lines: &str| {
        of_one(&format!("endpoint: https://api.e.org/x\n{lines}"))["input-schema"].clone()
    };
    let expected = json!({
        "type": "object",
        "properties": {"q": {"type": "string"}, "n": {"type": "integer"}},
        "required": ["q"],
        "additionalProperties": false
    });
    for form in [
        "input: {q: {type: str, required: true}, n: int}",
        "input_schema: {type: object, properties: {q: {type: string}, n: {type: integer}}, required: [q]}",
        "input: {type: object, properties: {q: {type: string, required: true}, n: integer}}",
        "input: {$schema: 'https://json-schema.org/draft/2020-12/schema', properties: {q: {type: string}, n: {type: integer}}, required: [q]}",
        "input: {type: map, entries: [{key: q, value_type: string}, {key: n, value_type: int, optional: true}]}",
    ] {
        assert_eq!(schema(form), expected, "{form}");
    }
    assert_eq!(
        schema(
            "input: {a: float, b: double, c: bool, d: list, e: map, f: any, g: {type: array, items: int}, h: null}"
        )["properties"],
        json!({
            "a": {"type": "number"}, "b": {"type": "number"}, "c": {"type": "boolean"}, "d": {"type": "array"},
            "e": {"type": "object"}, "f": {}, "g": {"type": "array", "items": {"type": "integer"}}, "h": {}
        })
    );
    assert_eq!(
        schema(
            "input: {o: {type: object, required: true, properties: {x: {type: string, required: true, pattern: '^a', minLength: 1}, y: {enum: [1, 2], default: 1}}}}"
        )["properties"]["o"],
        json!({
            "type": "object",
            "properties": {"x": {"type": "string", "pattern": "^a", "minLength": 1}, "y": {"enum": [1, 2], "default": 1}},
            "required": ["x"]
        })
    );
    // Properties may have the names of keywords.
    let named = schema("input: {type: string, properties: {type: string}, required: bool}");
    assert_eq!(named["properties"]["type"], json!({"type": "string"}));
    assert_eq!(named["properties"]["required"], json!({"type": "boolean"}));
    for refused in [
        "input: [a]",
        "input: {a: [1]}",
        "input: {a: {enum: 1}}",
        "input: {a: {$ref: 'https://e.org/x'}}",
        "input: {$schema: x, type: array}",
        "input: {a: {in: nowhere}}",
    ] {
        assert_eq!(
            code_of(&format!("endpoint: /x\n{refused}")),
            "schema",
            "{refused}"
        );
    }
}

#[test]
fn inputs_without_a_body() {
    let stage = |lines: &str| of_one(lines)["stages"][0].clone();
    let get = stage("endpoint: https://api.e.org/x/{id}\ninput: {id: string, q: string}");
    assert_eq!(get["query"][0]["name"][0]["lit"], "q");
    let post =
        stage("endpoint: https://api.e.org/x/{id}\nmethod: POST\ninput: {id: string, q: string}");
    assert_eq!(post["body"]["json"]["object"][0]["key"], "q");
    assert_eq!(post["headers"][0]["value"][0]["lit"], "application/json");
    let placed = stage(
        "endpoint: https://api.e.org/x\nmethod: POST\ninput: {q: {type: string, in: query}, h: {type: string, in: header}}",
    );
    assert_eq!(placed["query"][0]["name"][0]["lit"], "q");
    assert_eq!(placed["headers"][0]["name"], "h");
    assert_eq!(placed["body"], Value::Null);
    let bare = stage("endpoint: https://api.e.org/x\nmethod: POST");
    assert_eq!(bare["body"]["input"]["name"], "body");
    assert_eq!(
        stage("endpoint: https://api.e.org/x\nmethod: DELETE")["body"],
        Value::Null
    );
}

#[test]
fn sandbox_and_the_rest() {
    let operation = of_one(
        "runtime: python\nscript: print(1)\nsandbox: {network: {egress: none}, resources: {cpu_seconds: 5, wall-clock-ms: 9000}}\ntimeout_ms: 100\npackages: [pandas]\nreturns_secret: [/token]\ndata_classifications: [pii]",
    );
    let resources = &operation["policy"]["resources"];
    assert_eq!(
        (&resources["cpu-seconds"], &resources["wall-clock-ms"]),
        (&json!(5), &json!(100))
    );
    assert_eq!(operation["returns-secret"], json!(["/token"]));
    assert_eq!(operation["data-classifications"], json!(["pii"]));
    let http = of_one(
        "endpoint: https://api.e.org/x\nfollow: true\ntimeout_ms: 700\nexamples: [{input: {q: a}, output: {n: 1}}]",
    );
    assert_eq!(http["stages"][0]["follow"], true);
    assert_eq!(http["stages"][0]["limits"]["total-ms"], 700);
    assert_eq!(http["examples"][0]["output"], json!({"n": 1}));
}

/// The names of an operation's secrets and inputs.
fn names(operation: &Value) -> (Vec<&str>, Vec<&str>) {
    let secrets = operation["secrets"].as_array().unwrap();
    let secrets = secrets
        .iter()
        .map(|secret| secret["name"].as_str().unwrap());
    let inputs = operation["input-schema"]["properties"].as_object().unwrap();
    (
        secrets.collect(),
        inputs.keys().map(String::as_str).collect(),
    )
}

#[test]
fn a_name_that_is_a_secret_in_one_place_is_one_in_the_whole_skill() {
    let text = "---\nname: x\ndescription: X.\n---\n# X\n\n\
        ## First\n\n```bash\ncurl https://a.org/first -H \"X-Trace: $TOK\" -d \"who={TOK}&note={note}\"\n```\n\n\
        ## Second\n\n```bash\ncurl https://a.org/second -H \"Authorization: Bearer $TOK\"\n```\n\n\
        ## Third\n\n```bash\nfor i in 1 2; do echo \"$TOK $word\"; done\n```\n";
    let skill = skill("https://e.org/skill.md", text);
    for (id, inputs) in [
        ("first", vec!["note"]),
        ("second", vec![]),
        ("third", vec!["word"]),
    ] {
        assert_eq!(
            names(operation(&skill, id)),
            (vec!["TOK"], inputs),
            "{skill}"
        );
    }
    assert_eq!(
        operation(&skill, "third")["policy"]["secrets"],
        json!(["TOK"])
    );
    assert!(codes(&skill).contains(&"secret-name"), "{skill}");
}

#[test]
fn an_escape_does_not_hide_that_a_name_is_a_secret() {
    let text = r#"{"name": "x", "description": "X.", "operations": [
        {"name": "first", "command": "curl https://a.org/first -H 'X-Trace: {TOK}'"},
        {"name": "second", "command": "curl https://a.org/second -H \"Authorization: Bearer $T\u004fK\""}
    ]}"#;
    let skill = skill("https://e.org/skill.json", text);
    for id in ["first", "second"] {
        assert_eq!(
            names(operation(&skill, id)),
            (vec!["TOK"], vec![]),
            "{skill}"
        );
    }
}

#[test]
fn a_constant_that_turns_out_to_be_a_secret_has_no_value() {
    let text = "---\nname: x\ndescription: X.\n---\n# X\n\n## First\n\n```bash\nACME=abc\n\
        curl https://a.org/first -H \"X-Trace: $ACME\"\n```\n\n\
        ## Second\n\n```bash\ncurl https://a.org/second -H \"Authorization: Bearer $ACME\"\n```\n";
    let skill = skill("https://e.org/skill.md", text);
    for id in ["first", "second"] {
        assert_eq!(
            names(operation(&skill, id)),
            (vec!["ACME"], vec![]),
            "{skill}"
        );
    }
}

#[test]
fn the_notes_say_which_texts_were_merged() {
    let text = "---\nname: x\ndescription: X.\n---\n# X\n\n## Find\n\n```bash\ncurl 'https://a.org/find?q={q}'\n```\n\n\
        Or, with a limit:\n\n```bash\ncurl 'https://a.org/find?q={q}&limit={limit}'\n```\n";
    let skill = skill("https://e.org/skill.md", text);
    let find = operation(&skill, "find");
    let notes = find["notes"].as_array().unwrap();
    let merged = "line 16 of the document was merged into it, for its inputs limit";
    assert!(notes.iter().any(|note| note == merged), "{find}");
}

#[test]
fn a_body_with_a_number_that_no_value_is_stays_a_text() {
    let body = |number: &str| {
        let text = format!(
            "---\nname: x\ndescription: X.\n---\n# X\n\n## Put\n\n```bash\ncurl https://a.org/x -H 'Content-Type: \
             application/json' -d '{{\"id\":[{number}],\"note\":\"{{note}}\"}}'\n```\n"
        );
        operation(&skill("https://e.org/skill.md", &text), "put")["stages"][0]["body"].clone()
    };
    assert!(body("18446744073709551615")["json"].is_object());
    let long = body("12345678901234567890123456789");
    let literal = long["text"][0]["lit"].as_str().unwrap();
    assert!(literal.contains("12345678901234567890123456789"), "{long}");
}
