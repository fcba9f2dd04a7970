//! YAML and JSON skills as a whole, through the component's entry.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "a failed expectation is a failed test, in a fixture as in the test itself"
)]

mod requests;

use requests::{codes, error, error_with, operation, skill, skill_with};
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

fn wrong(text: &str) -> (String, String, String) {
    let error = error(URL, text);
    let text = |key: &str| error[key].as_str().unwrap_or_default().to_owned();
    (text("code"), text("path"), text("message"))
}

#[test]
fn what_is_not_a_skill_is_refused() {
    for text in [
        "a: b\n",
        "- name: x\n",
        "words\n",
        "",
        "name: x\nversion: 1\n",
        "name: x\noperations: null\n",
        "skill: {title: x}\n",
        "skill: words\n",
        "id: x\ndescription: y\n",
    ] {
        assert_eq!(error(URL, text)["code"], "not-a-skill", "{text:?}");
    }
}

#[test]
fn a_wrong_type_fails_the_load_with_path_and_types() {
    for (text, path, message) in [
        (
            "name: x\noperations: 5",
            "operations",
            "operations: expected list or map, got integer",
        ),
        (
            "name: x\noperations: text",
            "operations",
            "operations: expected list or map, got string",
        ),
        (
            "name: 1\ncapabilities: [a]",
            "name",
            "name: expected string, got integer",
        ),
        (
            "name: x\ncapabilities: a",
            "capabilities",
            "capabilities: expected list, got string",
        ),
        (
            "name: x\ncapabilities: [a, 2.5]",
            "capabilities[1]",
            "capabilities[1]: expected string, got number",
        ),
        (
            "name: x\nversion: [1]\ninstructions: a",
            "version",
            "version: expected string, got list",
        ),
        (
            "name: x\ndescription: true\ninstructions: a",
            "description",
            "description: expected string, got boolean",
        ),
        (
            "name: x\noperations: [5]",
            "operations[0]",
            "operations[0]: expected map, got integer",
        ),
        (
            "name: x\noperations: {a: null}",
            "operations.a",
            "operations.a: expected map, got null",
        ),
        (
            "name: x\noperations: [{name: a, endpoint: /x}, {name: b, endpoint: [1]}]",
            "operations[1].endpoint",
            "operations[1].endpoint: expected string, got list",
        ),
        (
            "name: x\noperations: {a: {endpoint: /x, headers: {X-A: 1}}}",
            "operations.a.headers.X-A",
            "operations.a.headers.X-A: expected string, got integer",
        ),
        (
            "name: x\noperations: {a: {endpoint: /x, auth: {type: oauth}}}",
            "operations.a.auth.type",
            "operations.a.auth.type: expected bearer, basic, header, api_key, query, cookie or none, got string",
        ),
        (
            "name: x\noperations: {a: {endpoint: /x, input: {q: {type: text}}}}",
            "operations.a.input.q.type",
            "operations.a.input.q.type: expected type name, got string",
        ),
        (
            "name: x\noperations: {a: {endpoint: /x, input: {q: {required: 'yes'}}}}",
            "operations.a.input.q.required",
            "operations.a.input.q.required: expected boolean, got string",
        ),
        (
            "name: x\noperations: {a: {command: c, sandbox: {network: {egress: all}}}}",
            "operations.a.sandbox.network.egress",
            "operations.a.sandbox.network.egress: expected none or list, got string",
        ),
        (
            "name: x\noperations: {a: {endpoint: /x, timeout_ms: -1}}",
            "operations.a.timeout_ms",
            "operations.a.timeout_ms: expected integer from 0 to 18446744073709551615, got integer",
        ),
        (
            "name: x\ninstructions: a\ndomains: ['*.x.org']",
            "domains[0]",
            "domains[0]: expected host name without a pattern, got string",
        ),
        (
            "name: x\ninstructions: a\napproval: {mode: Maybe}",
            "approval.mode",
            "approval.mode: expected Once, PerSession, PerCall or Never, got string",
        ),
        (
            "skill: {name: x, operations: 5}",
            "operations",
            "operations: expected list or map, got integer",
        ),
    ] {
        assert_eq!(
            wrong(text),
            ("schema".to_owned(), path.to_owned(), message.to_owned()),
            "{text}"
        );
    }
    // With the line.
    assert_eq!(
        error(URL, "name: x\noperations:\n  - name: a\n    method: 5\n")["line"],
        4
    );
}

#[test]
fn empty_names_are_refused() {
    for (text, message) in [
        ("name: ''\ninstructions: a", "name: must not be empty"),
        ("id: ' '\ninstructions: a", "id: must not be empty"),
        (
            "name: x\noperations: [{name: '', endpoint: /x}]",
            "operations[0].name: must not be empty",
        ),
        (
            "name: x\noperations: [{endpoint: /x}]",
            "operations[0].name: expected string, got null",
        ),
    ] {
        let (code, _, got) = wrong(text);
        assert_eq!((code.as_str(), got.as_str()), ("schema", message));
    }
    assert_eq!(error(URL, "operations: []\n")["code"], "name-missing");
    assert_eq!(
        error(URL, "name: '---'\ncapabilities: [a]\n")["code"],
        "name-missing"
    );
}

#[test]
fn unknown_keys() {
    let skill = skill(
        URL,
        "name: x\nauthor: me\ncapabilities: [a]\nlicense: MIT\nhomepage: null\n",
    );
    assert_eq!(codes(&skill), ["unknown-key"]);
    assert_eq!(skill["diagnostics"][0]["line"], 2);
    assert_eq!(skill["recorded"], json!({"license": "MIT"}));
    for (key, path) in [
        ("retries: 3", "operations.a.retries"),
        ("approval: {required: true}", "operations.a.approval"),
        ("auth: {type: bearer, scope: x}", "operations.a.auth.scope"),
        ("sandbox: {net: x}", "operations.a.sandbox.net"),
    ] {
        let error = error(URL, &one(&format!("endpoint: /x\n{key}")));
        assert_eq!(error["code"], "unknown-op-key", "{key}");
        assert_eq!(error["path"], path);
    }
    // `null` equals absent.
    let nothing = of_one(
        "endpoint: https://api.e.org/x\nmethod: null\nheaders: null\nbody: null\nauth: null\ninput: null",
    );
    assert_eq!(nothing["stages"][0]["method"], "GET");
}

#[test]
fn no_operations() {
    for text in [
        "name: x\noperations: []\n",
        "name: x\ninstructions: y\n",
        "name: x\noperations: {}\ncapabilities: []\n",
    ] {
        let error = error(URL, text);
        assert_eq!(error["code"], "no-operations");
        assert_eq!(error["message"], "no operations and no capabilities");
    }
    let informational = skill(URL, "name: x\ncapabilities: [b, a]\n");
    assert_eq!(informational["operations"], json!([]));
    assert_eq!(informational["declared-capabilities"], json!(["b", "a"]));
    let onboarding = "name: x\nonboarding: {steps: [{id: a, type: human_action}]}\n";
    assert_eq!(skill(URL, onboarding)["onboarding"]["steps"][0]["id"], "a");
}

#[test]
fn ids() {
    let id = |text: &str| skill(URL, text)["id"].as_str().unwrap().to_owned();
    assert_eq!(
        id("name: My Café Skill!\ncapabilities: [a]\n"),
        "my-café-skill"
    );
    assert_eq!(
        id("name: Other\nid: My_Skill.v2\ncapabilities: [a]\n"),
        "My_Skill.v2"
    );
    let renamed = skill_with(URL, "name: x\ncapabilities: [a]\n", json!({"as": "mine"}));
    assert_eq!(
        (renamed["id"].as_str(), renamed["name"].as_str()),
        (Some("mine"), Some("x"))
    );
    for (text, code) in [
        ("id: a/b\ncapabilities: [a]\n", "id-invalid"),
        ("id: a b\ncapabilities: [a]\n", "id-invalid"),
        ("id: ccos\ncapabilities: [a]\n", "id-reserved"),
        ("id: Hydrant.x\ncapabilities: [a]\n", "id-reserved"),
        ("name: ccos\ncapabilities: [a]\n", "id-reserved"),
        ("name: x\noperations: {a b: {endpoint: /x}}\n", "id-invalid"),
        (
            "name: x\noperations: {a-b: {endpoint: /x}, A_b: {endpoint: /y}}\n",
            "op-collision",
        ),
    ] {
        assert_eq!(error(URL, text)["code"], code, "{text}");
    }
    let long = format!("id: {}\ncapabilities: [a]\n", "x".repeat(65));
    assert_eq!(error(URL, &long)["code"], "id-invalid");
    let taken = error_with(URL, "name: x\ncapabilities: [a]\n", json!({"as": "ccos.x"}));
    assert_eq!(taken["code"], "id-reserved");
    // Verbatim, and in the order of their names from a map, of the document from a list.
    let ids = |text: &str| -> Vec<String> {
        let skill = skill(URL, text);
        let all = skill["operations"].as_array().unwrap();
        all.iter()
            .map(|one| one["id"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(
        ids("name: x\noperations: {b: {endpoint: /x}, A_1: {endpoint: /x}}\n"),
        ["A_1", "b"]
    );
    assert_eq!(
        ids("name: x\noperations: [{name: b, endpoint: /x}, {name: a, endpoint: /x}]\n"),
        ["b", "a"]
    );
}

#[test]
fn versions_and_classes() {
    let version = |line: &str| {
        skill(URL, &format!("name: x\ncapabilities: [a]\n{line}\n"))["version"].clone()
    };
    assert_eq!(version(""), "1.0.0");
    assert_eq!(version("version: 1.10"), "1.10");
    assert_eq!(version("version: 2"), "2");
    assert_eq!(version("version: '0.1'"), "0.1");
    let classes = skill(
        URL,
        "name: x\ncapabilities: [a]\ndata_class: restricted\ndata_classifications: [pii.a]\n",
    );
    assert_eq!(
        classes["data-classifications"],
        json!(["restricted", "pii.a"])
    );
}

#[test]
fn assumed_auth() {
    let text = |secrets: &str| {
        format!(
            "name: x\nsecrets: [{secrets}]\noperations: {{a: {{endpoint: 'https://api.e.org/x'}}}}\n"
        )
    };
    let assumed = skill(URL, &text("X_TOKEN"));
    assert_eq!(codes(&assumed), ["auth-assumed"]);
    assert_eq!(operation(&assumed, "a")["secrets"][0]["name"], "X_TOKEN");
    assert_eq!(
        operation(&assumed, "a")["stages"][0]["auth"]["type"],
        "bearer"
    );
    let ambiguous = skill(URL, &text("X_TOKEN, Y_TOKEN"));
    assert_eq!(codes(&ambiguous), ["auth-ambiguous"]);
    assert_eq!(operation(&ambiguous, "a")["secrets"], json!([]));
    assert_eq!(ambiguous["secrets"], json!(["X_TOKEN", "Y_TOKEN"]));
    let none = text("X_TOKEN").replace("/x'}", "/x', auth: {type: none}}");
    assert_eq!(operation(&skill(URL, &none), "a")["secrets"], json!([]));
}

#[test]
fn a_command_to_another_origin_than_the_base_gets_no_secret() {
    let secrets = |url: &str| {
        let text = format!(
            "name: x\nbase_url: https://api.e.org/\nsecrets: [X_TOKEN]\noperations: {{a: {{command: 'curl {url}'}}}}\n"
        );
        operation(&skill(URL, &text), "a")["secrets"].clone()
    };
    assert_eq!(secrets("https://other.example/ip"), json!([]));
    assert_eq!(secrets("https://api.e.org/x")[0]["name"], "X_TOKEN");
}

#[test]
fn approval_and_domains() {
    let text = "name: x\napproval: {required: true, mode: Never, sensitive_domains: [a]}\ndomains: [API.e.org]\noperations: {a: {endpoint: 'https://api.e.org/x'}}\n";
    let skill = skill(URL, text);
    assert_eq!(codes(&skill), ["approval-mode-ignored"]);
    assert_eq!(skill["domains"], json!(["api.e.org"]));
    assert_eq!(skill["approval"]["mode"], "Never");
    let reasons = operation(&skill, "a")["reasons"]
        .as_array()
        .unwrap()
        .clone();
    assert!(reasons.contains(&json!("skill-requested")), "{reasons:?}");
}

#[test]
fn relative_endpoints() {
    let url = |text: &str, members: Value| {
        let skill = skill_with(URL, text, members);
        let stage = operation(&skill, "a")["stages"][0].clone();
        stage["url"][0]["lit"]
            .as_str()
            .unwrap_or_default()
            .to_owned()
    };
    let plain = one("endpoint: /v1/things");
    assert_eq!(url(&plain, json!({})), "https://e.org/v1/things");
    let based = format!("base_url: https://api.e.org/base\n{plain}");
    assert!(url(&based, json!({})).starts_with("https://api.e.org/"));
    let given = json!({"base-url": "https://given.example"});
    assert_eq!(url(&based, given), "https://given.example/v1/things");
    let local = skill_with("/home/me/skill.yaml", &plain, json!({}));
    let unusable = operation(&local, "a");
    assert_eq!(
        (&unusable["status"], &unusable["code"]),
        (&json!("unusable"), &json!("no-base-url"))
    );
}

#[test]
fn a_secret_is_no_parameter_of_an_onboarding() {
    let with = |steps: &str| format!("name: x\nonboarding:\n  steps: {steps}\n");
    let secret = "[{id: a, type: api_call, params: {k: ['{{ secret:K }}']}}]";
    assert_eq!(
        error(URL, &with(secret))["message"],
        "onboarding.steps[0].params.k[0]: a secret cannot be a parameter"
    );
    let fits = "[{id: a, type: api_call, operation: o, params: {k: '{{memory:K}}'}}, {id: b, type: human_action, depends_on: [a]}]";
    assert_eq!(
        skill(URL, &with(fits))["onboarding"]["steps"][1]["depends_on"],
        json!(["a"])
    );
}

#[test]
fn a_number_is_exact_or_refused() {
    let body = |number: &str| {
        let body = format!("endpoint: https://api.e.org/x\nmethod: POST\nbody: {{id: [{number}]}}");
        one(&body)
    };
    for number in ["18446744073709551615", "-9223372036854775808"] {
        let skill = skill(URL, &body(number));
        let operation = operation(&skill, "a").to_string();
        assert!(operation.contains(number), "{operation}");
    }
    let refused = error(URL, &body("12345678901234567890123"));
    assert_eq!(
        refused["message"],
        "operations.a.body: has a number that cannot be sent exactly"
    );
    let default = one(
        "endpoint: https://api.e.org/x\ninput: {q: {type: integer, default: 12345678901234567890123}}",
    );
    assert_eq!(
        error(URL, &default)["message"],
        "operations.a.input.q.default: has a number that is not exact"
    );
}
