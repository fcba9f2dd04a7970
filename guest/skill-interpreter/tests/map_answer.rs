//! What maps to what and what a mapping holds, through the component's entry.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a failed expectation is a failed test, in a fixture as in the test itself"
)]

mod requests;

use std::collections::BTreeSet;

use requests::{operation, skill};
use serde_json::{Value, json};

const HTTP: &str = "ccos.network.http-fetch";

fn answer(command: &str) -> Value {
    let request = json!({"op": "map", "command": command});
    let answer = skill_interpreter::run(request.to_string().as_bytes()).unwrap();
    requests::judged::judged(serde_json::from_slice(&answer).unwrap(), &request)
}

fn map(command: &str) -> Value {
    let answer = answer(command);
    assert_eq!(answer["ok"], true, "{command}: {answer}");
    answer
}

/// `maps-to`, tier and confidence.
fn row(command: &str) -> (String, u64, f64) {
    let answer = map(command);
    (
        answer["maps-to"].as_str().unwrap_or_default().to_owned(),
        answer["tier"].as_u64().unwrap(),
        answer["confidence"].as_f64().unwrap(),
    )
}

fn assert_rows(commands: &[&str], to: &str, tier: u64, confidence: f64) {
    for command in commands {
        assert_eq!(row(command), (to.to_owned(), tier, confidence), "{command}");
    }
}

#[test]
fn commands_that_send_requests() {
    assert_rows(
        &[
            "curl https://a.example/x",
            "curl -X POST -d a=1 'https://a.example/x'",
        ],
        HTTP,
        1,
        0.95,
    );
    assert_rows(
        &[
            "curl -o f https://a.example/x",
            "curl -O https://a.example/x",
        ],
        HTTP,
        2,
        0.95,
    );
    assert_rows(
        &["curl a.example/x", "B=https://a.example\ncurl $B/x"],
        HTTP,
        1,
        0.7,
    );
    let without = map("curl -X POST");
    assert_eq!(
        (
            &without["maps-to"],
            &without["needs"],
            &without["confidence"]
        ),
        (&json!(HTTP), &json!(["url"]), &json!(0.5))
    );
    assert_rows(&["wget -qO- https://a.example/x"], HTTP, 1, 0.8);
    assert_rows(&["wget https://a.example/x"], HTTP, 2, 0.8);
    assert_rows(
        &["GET https://a.example/x", "DELETE https://a.example/x"],
        HTTP,
        1,
        0.9,
    );
}

#[test]
fn an_endpoint_and_an_operation_of_openapi_are_certain() {
    let structured = skill(
        "https://e.org/a.yaml",
        "name: x\noperations: {a: {endpoint: 'https://e.org/x'}}\n",
    );
    let api = r#"{"openapi":"3.0.0","info":{"title":"Api","version":"1"},"servers":[{"url":"https://e.org"}],
        "paths":{"/x":{"get":{"operationId":"a","responses":{}}}}}"#;
    let api = skill("https://e.org/a.json", api);
    for skill in [structured, api] {
        let operation = operation(&skill, "a");
        assert_eq!(
            (&operation["confidence"], &operation["tier"]),
            (&json!(1.0), &json!(1))
        );
        assert_eq!(operation["stages"][0]["kind"], "http");
    }
}

#[test]
fn commands_that_only_compute_or_read() {
    assert_rows(&["jq .a", "jq -r '.[] | .b'"], "ccos.json.parse", 1, 0.9);
    let piped = map("curl https://a.example/x | python3 -m json.tool");
    assert_eq!(piped["maps-to"], json!([HTTP, "ccos.json.parse"]));
    assert_eq!(piped["confidence"], 0.9);
    // The whole program, as it stands.
    let program = map("jq '.a | map(.b) // empty'");
    assert_eq!(program["params"]["path"], ".a | map(.b) // empty");
    assert_rows(&["echo hi"], "ccos.io.println", 1, 0.7);
    assert_rows(
        &["cat a.txt", "head -3 a.txt", "tail -n 2 a.txt"],
        "ccos.io.read-file",
        1,
        0.7,
    );
    assert_rows(
        &[
            "head -3",
            "sort -u",
            "grep x",
            "cut -d, -f1",
            "wc -l",
            "tr a b",
            "uniq",
            "sed s/a/b/",
            "awk '{print $1}'",
        ],
        "ccos.text.transform",
        1,
        0.7,
    );
}

#[test]
fn runtimes_are_tier_2() {
    assert_rows(
        &["python script.py", "python3 -c 'print(1)'", "uv run a.py"],
        "ccos.sandbox.python",
        2,
        0.85,
    );
    assert_rows(&["node a.js", "node -e '1'"], "ccos.sandbox.node", 2, 0.85);
    assert_rows(&["go run a.go"], "ccos.sandbox.go", 2, 0.85);
    let text = "---\nname: x\ndescription: y\nruntime: python\n---\n\n# X\n\n## Run it\n\n```python\nprint(1)\n```\n";
    let fence = skill("https://e.org/a.md", text);
    assert_eq!(
        (
            &operation(&fence, "run-it")["tier"],
            &operation(&fence, "run-it")["confidence"]
        ),
        (&json!(2), &json!(0.85))
    );
    let script = skill(
        "https://e.org/a.yaml",
        "name: x\noperations: {a: {runtime: node, script: '1'}}\n",
    );
    assert_eq!(operation(&script, "a")["confidence"], 0.85);
}

#[test]
fn whatever_else_there_is_needs_the_sandbox() {
    for (command, to) in [
        ("npx cowsay hi", "ccos.sandbox.node"),
        ("bunx cowsay hi", "ccos.sandbox.node"),
        ("uvx ruff check", "ccos.sandbox.python"),
        ("pipx run black", "ccos.sandbox.python"),
        ("go run example.org/x@v1", "ccos.sandbox.go"),
        ("deno run https://e.org/x.ts", "ccos.sandbox.shell"),
        ("pip install requests", "ccos.sandbox.shell"),
        ("npm install left-pad", "ccos.sandbox.shell"),
        ("apt-get install jq", "ccos.sandbox.shell"),
        ("ffmpeg -i a b", "ccos.sandbox.shell"),
        ("for i in 1 2; do echo $i; done", "ccos.sandbox.shell"),
        ("./setup.sh", "ccos.sandbox.shell"),
    ] {
        let answer = map(command);
        let found = (&answer["tier"], &answer["confidence"], &answer["known"]);
        assert_eq!(found, (&json!(3), &json!(0.3), &json!(false)), "{command}");
        let maps_to = answer["maps-to"].as_str().unwrap();
        let is_one_of_them =
            maps_to == to || (command.starts_with("deno") && maps_to.starts_with("ccos.sandbox."));
        assert!(is_one_of_them, "{command}: {maps_to}");
    }
}

#[test]
fn the_order_of_the_table_and_nothing_is_left_unmapped() {
    let request = json!({"op": "map", "list": true}).to_string();
    let table: Value =
        serde_json::from_slice(&skill_interpreter::run(request.as_bytes()).unwrap()).unwrap();
    let rows = table["registry"].as_array().unwrap();
    let group = |row: &Value| {
        let first = match &row["maps-to"] {
            Value::Array(several) => several[0].as_str().unwrap(),
            one => one.as_str().unwrap(),
        };
        match (
            row["pattern"].as_str().unwrap(),
            first,
            row["tier"].as_u64().unwrap(),
        ) {
            (pattern, HTTP, _) if pattern.contains("endpoint") => 0,
            (_, HTTP, _) => 1,
            (_, _, 2) => 2,
            (_, _, 1) => 3,
            _ => 4,
        }
    };
    let groups: Vec<i32> = rows.iter().map(group).collect();
    assert!(groups.is_sorted(), "{groups:?}");
    assert_eq!(groups.iter().collect::<BTreeSet<_>>().len(), 5);
    // What nobody knows is an answer and not an error.
    for command in [
        "frobnicate",
        "a-b.c_d+e x y",
        "Ünknown tool",
        "'with blanks' x",
    ] {
        let answer = map(command);
        assert_eq!(
            (&answer["known"], &answer["tier"]),
            (&json!(false), &json!(3)),
            "{command}"
        );
    }
}

#[test]
fn one_statement_is_lowered_whatever_it_is() {
    for (text, to) in [
        (
            "set -e\n# read it\ncat notes.txt\necho done",
            "ccos.io.read-file",
        ),
        ("X=1\nfrobnicate $X", "ccos.sandbox.shell"),
        ("echo begin\njq .a\nprintf end", "ccos.json.parse"),
        ("set -x\npython3 -c 'print(2)'", "ccos.sandbox.python"),
    ] {
        assert_eq!(map(text)["maps-to"], to, "{text}");
    }
    assert_eq!(map("set -e\necho only this")["maps-to"], "ccos.io.println");
}

#[test]
fn an_assignment_before_a_command() {
    let request = map("V=v2 curl \"https://a.example/$W/x\"");
    assert_eq!(request["maps-to"], HTTP, "{request}");
    for command in [
        "V=v2 curl \"https://a.example/$V/x\"",
        "A=b frobnicate x",
        "A=b jq .a",
        "A=b python3 -c 1",
        "PATH=/tmp cat f",
    ] {
        let answer = map(command);
        assert_eq!(
            (&answer["maps-to"], &answer["tier"]),
            (&json!("ccos.sandbox.shell"), &json!(3)),
            "{command}"
        );
        assert_eq!(answer["params"]["script"], command);
    }
}

#[test]
fn members_of_a_mapping() {
    let answer = map(
        "curl -X POST https://a.example/x -H \"Authorization: Bearer $A_TOKEN\" -d '{\"q\": \"$Q\"}' -o out.json",
    );
    for name in [
        "maps-to",
        "params",
        "confidence",
        "known",
        "tier",
        "requires-approval",
        "requires",
        "effects",
        "secrets",
        "auth",
        "input-schema",
        "output-file",
        "explanation",
        "stages",
        "diagnostics",
    ] {
        assert!(!answer[name].is_null(), "{name} is not in {answer}");
    }
    assert_eq!(
        answer["auth"],
        json!({"type": "bearer", "env_var": "A_TOKEN"})
    );
    assert_eq!(answer["output-file"], "out.json");
    assert!(!answer["explanation"].as_str().unwrap().is_empty());
    // What is empty is left out of the parameters, and what does not apply of the answer.
    let plain = map("curl https://a.example/x");
    assert_eq!(
        plain["params"],
        json!({"url": "https://a.example/x", "method": "GET"})
    );
    for name in ["auth", "needs", "output-file"] {
        assert!(plain.get(name).is_none(), "{name} in {plain}");
    }
}

#[test]
fn what_is_required() {
    let requires = |command: &str| -> BTreeSet<String> {
        let all = map(command)["requires"].as_array().unwrap().clone();
        all.iter()
            .map(|one| one.as_str().unwrap().to_owned())
            .collect()
    };
    for (command, expected) in [
        (
            "curl https://a.example/x -H \"Authorization: Bearer $A_TOKEN\"",
            &["secret:A_TOKEN", "host:a.example:443"][..],
        ),
        (
            "curl http://a.example:8080/x -F doc=@a.pdf -o b.bin",
            &["host:a.example:8080", "file-read:a.pdf", "file-write:b.bin"],
        ),
        ("python3 main.py", &["sandbox:python", "file:main.py"]),
        ("frobnicate a", &["sandbox:shell", "tool:frobnicate"]),
        ("npx cowsay hi", &["package:node:cowsay"]),
        (
            "pip install requests six",
            &["package:python:requests", "package:python:six"],
        ),
        (
            "for i in 1; do curl https://b.example/$i; done",
            &["sandbox:shell", "egress:b.example:443"],
        ),
    ] {
        let found = requires(command);
        for one in expected {
            assert!(found.contains(*one), "{command}: {one} is not in {found:?}");
        }
    }
    assert_eq!(requires("echo hi"), BTreeSet::new());
}

#[test]
fn containers_and_packages_are_recorded_and_nothing_else() {
    let text = "name: x\noperations:\n  a: {runtime: 'container:ubuntu:22.04', script: 'id', packages: [curl]}\n";
    let skill = skill("https://e.org/a.yaml", text);
    let operation = operation(&skill, "a");
    assert_eq!(
        operation["stages"][0]["declared-runtime"],
        "container:ubuntu:22.04"
    );
    assert_eq!(operation["tier"], 3);
    let packages = operation["stages"][0]["packages"].to_string();
    assert!(packages.contains("curl"), "{operation}");
    assert_eq!(operation["hosts"], json!([]), "no registry is contacted");
}
