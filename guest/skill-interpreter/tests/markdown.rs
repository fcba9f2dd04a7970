//! Markdown skills as found in the wild, loaded through the component's one entry point.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test"
)]

mod processor_time;

mod requests;

use base64::Engine;
use serde_json::{Value, json};

fn load(text: &str) -> Value {
    load_from(text, "https://skills.example/a/skill.md")
}

fn load_from(text: &str, source: &str) -> Value {
    let content = base64::engine::general_purpose::STANDARD.encode(text);
    let request = json!({"op": "load", "source-url": source, "content-b64": content});
    let answer = skill_interpreter::run(request.to_string().as_bytes()).unwrap();
    requests::judged::judged(serde_json::from_slice(&answer).unwrap(), &request)
}

fn skill(text: &str) -> Value {
    let answer = load(text);
    assert_eq!(answer["ok"], json!(true), "{answer:#}");
    answer["skill"].clone()
}

fn operation(text: &str) -> Value {
    let skill = skill(text);
    let operations = skill["operations"].as_array().unwrap();
    assert_eq!(operations.len(), 1, "{skill:#}");
    operations[0].clone()
}

fn names(value: &Value) -> Vec<&str> {
    value
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect()
}

/// The output examples of an operation.
fn outputs(operation: &Value) -> Vec<Value> {
    let examples = operation["examples"].as_array().unwrap().iter();
    examples
        .filter_map(|example| example.get("output").cloned())
        .collect()
}

/// Segments as a reader would write them.
fn text(segments: &Value) -> String {
    let segment = |segment: &Value| match (&segment["lit"], &segment["input"], &segment["secret"]) {
        (Value::String(literal), ..) => literal.clone(),
        (_, Value::String(name), _) | (_, _, Value::String(name)) => format!("{{{name}}}"),
        _ => panic!("{segment}"),
    };
    segments.as_array().unwrap().iter().map(segment).collect()
}

fn stage(stage: &Value) -> String {
    match stage["kind"].as_str().unwrap() {
        "http" => format!(
            "{} {}",
            stage["method"].as_str().unwrap(),
            text(&stage["url"])
        ),
        "sandbox" if stage["program"]["script"].is_string() => "script".to_owned(),
        "sandbox" => format!("sandbox:{}", stage["runtime"].as_str().unwrap()),
        kind => kind.to_owned(),
    }
}

/// An operation on one line.
fn shown(operation: &Value) -> String {
    let mut line = format!(
        "{} {}",
        operation["line"],
        operation["id"].as_str().unwrap()
    );
    let aliases = names(&operation["aliases"]);
    if !aliases.is_empty() {
        line += &format!(" ({})", aliases.join(","));
    }
    if operation["status"] != json!("ok") {
        return line + &format!(" unusable={}", operation["code"].as_str().unwrap());
    }
    let stages: Vec<String> = operation["stages"]
        .as_array()
        .unwrap()
        .iter()
        .map(stage)
        .collect();
    let (first, rest) = stages.split_first().unwrap();
    line += &format!(" {first} tier={}", operation["tier"]);
    let secrets = operation["secrets"].as_array().unwrap().iter();
    let secrets: Vec<&str> = secrets
        .map(|secret| secret["name"].as_str().unwrap())
        .collect();
    if !secrets.is_empty() {
        line += &format!(" secrets={}", secrets.join(","));
    }
    let schema = &operation["input-schema"];
    let required = names(&schema["required"]);
    let inputs = schema["properties"]
        .as_object()
        .unwrap()
        .keys()
        .map(|name| {
            let mark = if required.contains(&name.as_str()) {
                '!'
            } else {
                '?'
            };
            format!("{name}{mark}")
        });
    let inputs: Vec<String> = inputs.collect();
    if !inputs.is_empty() {
        line += &format!(" inputs={}", inputs.join(","));
    }
    for stage in rest {
        line += &format!(" then {stage}");
    }
    line
}

fn listing(skill: &Value) -> String {
    let mut lines = vec![skill["id"].as_str().unwrap().to_owned()];
    lines.extend(skill["operations"].as_array().unwrap().iter().map(shown));
    lines.join("\n") + "\n"
}

macro_rules! corpus {
    ($($test:ident: $name:literal;)*) => {
        $(#[test]
        fn $test() {
            let document = include_str!(concat!("markdown/", $name, ".md"));
            let expected = include_str!(concat!("markdown/", $name, ".expected"));
            assert_eq!(listing(&skill(document)), expected);
            // The same on Windows.
            let windows = document.replace('\n', "\r\n");
            assert_eq!(listing(&skill(&windows)), expected, "with CRLF");
        })*

        const DOCUMENTS: &[&str] = &[$(include_str!(concat!("markdown/", $name, ".md"))),*];
    };
}

corpus! {
    the_seeds_markdown_example: "moltbook";
    a_link_keeper_with_a_setup_section_and_several_commands_in_a_fence: "pinboardish";
    weather_with_a_recorded_session: "weather";
    boards_with_credentials_in_the_query: "boards";
    a_square_with_a_table_of_relative_calls_and_placeholder_keys: "agents";
    local_tools_with_installation_and_code_that_is_documentation: "toolchest";
    a_listing_of_relative_endpoints: "listing";
    front_matter_operations_and_annotations: "mixed";
    an_informational_skill: "informational";
    front_matter_that_is_no_yaml: "broken-front";
    onboarding_as_text: "onboarded";
}

#[test]
fn the_same_load_twice_gives_the_same_bytes() {
    for document in DOCUMENTS {
        assert_eq!(load(document).to_string(), load(document).to_string());
    }
}

#[test]
fn truncated_documents_are_answered() {
    for document in DOCUMENTS {
        let ends = document.char_indices().map(|(end, _)| end).step_by(7);
        for end in ends {
            let (begin, _) = document.split_at(end);
            let answer = load(begin);
            assert!(answer["ok"].is_boolean(), "{begin}");
        }
    }
}

#[test]
fn the_seeds_example_in_full() {
    let skill = skill(include_str!("markdown/moltbook.md"));
    assert_eq!(skill["format"], json!("markdown"));
    assert_eq!(skill["version"], json!("1.0.0"));
    let operation = &skill["operations"][0];
    assert_eq!(
        operation["stages"][0]["auth"],
        json!({"type": "bearer", "env_var": "MOLTBOOK_API_KEY"})
    );
    let properties = &operation["input-schema"]["properties"];
    assert_eq!(properties["query"]["type"], json!("string"));
    assert_eq!(properties["limit"]["type"], json!("integer"));
    assert_eq!(operation["description"], json!("Use curl to search:"));
}

#[test]
fn front_matter_and_body_are_both_parsed() {
    let text =
        "---\nname: p\ndescription: d\n---\n## Get\n```bash\ncurl https://a.example/x\n```\n";
    assert_eq!(
        shown(&operation(text)),
        "7 get (x) GET https://a.example/x tier=1"
    );
}

#[test]
fn one_operation_with_one_output_example() {
    let text = "# P\n## Get\n```bash\ncurl https://a.example/x\n```\nResponse:\n```json\n{\"id\": 1}\n```\n";
    assert_eq!(outputs(&operation(text)), [json!({"id": 1})]);
}

#[test]
fn quotes_around_the_url_change_nothing() {
    for url in [
        "https://a.example/x",
        "'https://a.example/x'",
        "\"https://a.example/x\"",
    ] {
        let text = format!("# P\n## Get\n```bash\ncurl {url}\n```\n");
        assert_eq!(
            shown(&operation(&text)),
            "4 get (x) GET https://a.example/x tier=1",
            "{url}"
        );
    }
}

#[test]
fn a_comment_before_curl_is_a_name() {
    let text = "# P\n## Get\n```bash\n# Fetch one\ncurl https://a.example/x\n```\n";
    let operation = operation(text);
    assert_eq!(operation["title"], json!("Fetch one"));
    assert_eq!(
        shown(&operation),
        "5 get (x) GET https://a.example/x tier=1"
    );
    let untagged = text.replace("```bash", "```");
    assert_eq!(
        shown(&self::operation(&untagged)),
        "5 get (x) GET https://a.example/x tier=1"
    );
}

#[test]
fn a_response_label_is_not_part_of_the_body() {
    let text = "# P\n## Add\n```\nPOST https://a.example/x\nBody: {\"a\": 1}\nReturns: {\"token\": 2}\n```\n";
    let operation = operation(text);
    assert_eq!(
        shown(&operation),
        "4 add (x) POST https://a.example/x tier=1 inputs=a!"
    );
    assert_eq!(outputs(&operation), [json!({"token": 2})]);
}

#[test]
fn secrets_of_an_authentication_section_are_listed_and_required() {
    let text = "# P\n## Authentication\nSet `P_REF_TOKEN`.\n## Get\n```bash\ncurl \"https://a.example/x?r=$P_REF_TOKEN\"\n```\n## Ping\n```bash\ncurl https://a.example/ping\n```\n";
    let skill = skill(text);
    assert_eq!(skill["secrets"], json!(["P_REF_TOKEN"]));
    let requires = |at: usize| names(&skill["operations"][at]["requires"]).join(" ");
    assert!(
        requires(0).contains("secret:P_REF_TOKEN"),
        "{}",
        requires(0)
    );
    assert!(!requires(1).contains("secret:"), "{}", requires(1));
}

#[test]
fn an_alias_needs_a_segment_that_no_other_operation_has() {
    let text = "# P\n## A\n```\nGET https://a.example/x/{id}\n```\n## B\n```\nPOST https://a.example/x\n```\n## C\n```\nGET https://a.example/y/z\n```\n";
    let skill = skill(text);
    let aliases: Vec<Vec<&str>> = skill["operations"]
        .as_array()
        .unwrap()
        .iter()
        .map(|operation| names(&operation["aliases"]))
        .collect();
    assert_eq!(aliases, [vec![], vec![], vec!["z"]]);
}

#[test]
fn duplicates_become_examples_and_their_properties_optional_inputs() {
    let text = "# P\nBase URL: https://a.example/v1\n\n- `POST /x/{name}`\n\n## A\n```bash\ncurl https://a.example/v1/x/{id} --json '{\"q\": \"s\"}'\n```\n## B\n```bash\ncurl \"https://a.example/v1/x/$OTHER?page=2\" --json '{\"q\": \"t\", \"n\": 3}'\n```\n## C\n```\nPOST https://b.example/v1/x/{id}\n```\n";
    let skill = skill(text);
    assert_eq!(
        listing(&skill),
        "p\n8 a (b) POST https://a.example/v1/x/{id} tier=1 inputs=id!,q!,page?,n?\n16 c POST https://b.example/v1/x/{id} tier=1 inputs=id!,body?\n"
    );
}

#[test]
fn what_is_done_with_the_answer_tells_operations_apart() {
    let fence = |heading: &str, filter: &str| {
        format!("## {heading}\n```bash\ncurl -s https://a.example/items{filter}\n```\n")
    };
    let text = [
        "# P\n- `GET https://a.example/items`\n".to_owned(),
        fence("First name", " | jq '.items[].name' | head -1"),
        fence("Total", " | jq '[.items[].price]|add'"),
        fence("Again", " | jq '.items[].name' | head -1"),
    ]
    .concat();
    let skill = skill(&text);
    assert_eq!(
        listing(&skill),
        "p\n5 first-name (again) GET https://a.example/items tier=1 then json-filter then text-transform\n\
         9 total GET https://a.example/items tier=1 then json-filter\n"
    );
}

#[test]
fn with_another_secret_it_is_another_operation() {
    let fence = |heading: &str, secret: &str| {
        format!(
            "## {heading}\n```bash\ncurl https://a.example/send -H \"Authorization: Bearer {secret}\" -d 'a=b'\n```\n"
        )
    };
    let text = [
        "# P\n".to_owned(),
        fence("Send text", "$DUPE_TOKEN"),
        fence("Send image", "$DUPE_ADMIN_TOKEN"),
        fence("Send more", "$DUPE_TOKEN"),
        "- `POST https://a.example/send`\n".to_owned(),
    ]
    .concat();
    let skill = skill(&text);
    let operations = skill["operations"].as_array().unwrap();
    let told: Vec<(&Value, &Value)> = operations
        .iter()
        .map(|operation| (&operation["id"], &operation["secrets"][0]["name"]))
        .collect();
    assert_eq!(
        json!(told),
        json!([
            ["send-text", "DUPE_TOKEN"],
            ["send-image", "DUPE_ADMIN_TOKEN"]
        ])
    );
    assert_eq!(names(&operations[0]["aliases"]), ["send-more"]);
}

#[test]
fn a_script_that_uses_a_secret_is_told_where_its_value_is() {
    let said = |line: &str| {
        let text = format!("# P\n## A\n```bash\nset -e\n{line}\nls x\nls y\n```\n");
        let diagnostics = load(&text)["diagnostics"].clone();
        let about = diagnostics.as_array().unwrap().iter();
        let about = about.filter(|one| one["message"].as_str().unwrap().contains("/run/secrets/"));
        about.cloned().collect::<Vec<Value>>()
    };
    let message = "`$A_TOKEN` is a secret and stays unset in the script; with the grant `secret-in-sandbox` its value is in \
                   the file /run/secrets/A_TOKEN";
    assert_eq!(
        json!(said("tool --token \"$A_TOKEN\" $OTHER && tool $A_TOKEN")),
        json!([{"code": "script-placeholder", "severity": "warn", "line": 4, "message": message}])
    );
    assert!(said("A_TOKEN=$(cat /run/secrets/A_TOKEN); tool $A_TOKEN").is_empty());
    assert!(said("tool $OTHER").is_empty());
}

#[test]
fn the_chosen_base_is_part_of_the_digest() {
    let text = "# P\n## A\n```\nGET /x\n```\n";
    let digest = |source: &str| {
        let answer = load_from(text, source);
        let operation = &answer["skill"]["operations"][0];
        (operation["status"].clone(), operation["digest"].clone())
    };
    let (a, b) = (
        digest("https://a.example/s/skill.md"),
        digest("https://b.example/skill.md"),
    );
    assert_eq!((&a.0, &b.0), (&json!("ok"), &json!("ok")));
    assert_ne!(a.1, b.1);
    let local = load_from(text, "file:///skills/skill.md");
    assert_eq!(
        local["skill"]["operations"][0]["code"],
        json!("no-base-url")
    );
}

#[test]
fn annotated_code_runs_in_the_sandbox_of_its_language() {
    let text = "# P\n## Sum\n```python skill:op=sum\nprint(1 + 1)\n```\n";
    let operation = operation(text);
    assert_eq!(shown(&operation), "4 sum sandbox:python tier=2");
    assert_eq!(
        operation["stages"][0]["program"]["code"],
        json!("print(1 + 1)\n")
    );
    assert_eq!(operation["confidence"], json!(0.85));
}

#[test]
fn an_annotation_raises_and_never_lowers() {
    let fence =
        |words: &str, command: &str| format!("# P\n## A\n```bash {words}\n{command}\n```\n");
    let tier = |words: &str, command: &str| operation(&fence(words, command))["tier"].clone();
    assert_eq!(tier("skill:tier=3", "curl https://a.example"), json!(3));
    assert_eq!(tier("skill:tier=1", "rm -rf x && ls"), json!(3));
}

#[test]
fn a_fence_that_sets_up_is_no_operation_and_with_more_in_it_one_script() {
    let text = |more: &str| {
        format!(
            "# P\n## Setup\n```bash\nmkdir -p ~/.p\ncurl -s https://a.example/p > ~/.p/p\nchmod +x ~/.p/p\n{more}```\n## A\n```bash\ncurl https://a.example/x\n```\n"
        )
    };
    let only_setup = skill(&text(""));
    assert_eq!(only_setup["operations"].as_array().unwrap().len(), 1);
    let skill = skill(&text("~/.p/p start\n"));
    assert_eq!(shown(&skill["operations"][0]), "4 setup script tier=3");
    let script = skill["operations"][0]["stages"][0]["program"]["script"]
        .as_str()
        .unwrap();
    assert!(script.contains("chmod +x ~/.p/p"), "{script}");
}

#[test]
fn constants_live_from_fence_to_fence() {
    let text = "# P\n## A\n```bash\nexport BASE=https://a.example/v1\n```\n## B\n```bash\ncurl $BASE/x\n```\n";
    assert_eq!(
        shown(&operation(text)),
        "8 b (x) GET https://a.example/v1/x tier=1"
    );
}

#[test]
fn a_response_that_holds_a_credential_makes_the_operation_return_a_secret() {
    let skill = skill(include_str!("markdown/onboarded.md"));
    let register = &skill["operations"][0];
    assert_eq!(register["returns-secret"], json!(["/api_key"]));
    assert!(
        !skill["operations"].to_string().contains("mp_live_"),
        "{skill}"
    );
}

#[test]
fn steps_that_name_an_operation_call_it() {
    let onboarding = skill(include_str!("markdown/onboarded.md"))["onboarding"].clone();
    assert_eq!(onboarding["required"], json!(true));
    let steps = onboarding["steps"].as_array().unwrap();
    let told: Vec<(&str, &str, Option<&str>)> = steps
        .iter()
        .map(|step| {
            (
                step["id"].as_str().unwrap(),
                step["type"].as_str().unwrap(),
                step["operation"].as_str(),
            )
        })
        .collect();
    assert_eq!(
        told,
        [
            ("register", "api_call", Some("register")),
            ("confirm-the-address", "human_action", None),
            ("send-letter", "api_call", Some("send-letter")),
        ]
    );
}

#[test]
fn confidence_of_what_is_listed() {
    let text = "# P\n- `GET https://a.example/x`\n";
    assert_eq!(operation(text)["confidence"], json!(0.7));
}

#[test]
fn an_invalid_annotation_is_told_and_its_fence_yields_nothing() {
    let answer = load(include_str!("markdown/mixed.md"));
    let diagnostics = answer["skill"]["diagnostics"].as_array().unwrap();
    let codes: Vec<&str> = diagnostics
        .iter()
        .map(|diagnostic| diagnostic["code"].as_str().unwrap())
        .collect();
    assert!(codes.contains(&"annotation-invalid"), "{codes:?}");
    let operations = answer["skill"]["operations"].to_string();
    assert!(!operations.contains("broken-annotation") && !operations.contains("never"));
}

/// What the host waits for; the component runs slower than this test, on a machine that is less busy.
const MOST: std::time::Duration = std::time::Duration::from_secs(2);

#[test]
fn a_mebibyte_of_one_thing_is_answered_in_time() {
    let fence = |text: &str| format!("```bash\n{text}\n```\n");
    let repeated = |piece: &str| piece.repeat((1 << 20) / piece.len());
    let several = "# One\ncurl https://a.example/x -d '{\"a\": [1, 2]}'\n".repeat(60);
    for document in [
        repeated("# Heading\n"),
        repeated(&fence("curl https://a.example/x")),
        repeated(&fence(
            "curl 'https://a.example/{x}' \\\n -H 'A: b' \\\n -d '{\"a\": {\"b\": 1}}'",
        )),
        repeated(&fence(&several)),
        repeated(&fence(&"(".repeat(60_000))),
        repeated(&fence(&"a && ".repeat(12_000))),
        repeated(&fence("ls && rm x")),
        repeated(&format!(
            "## A\n{}Response:\n```json\n[{{\"a\": \"b\"}}]\n```\n",
            fence("curl https://a.example/x")
        )),
        repeated("## A\n**Endpoint**: `POST /a/{b}`\n"),
        repeated("- `GET /a/{b}`\n"),
        format!("```bash\n{}", repeated("curl https://a.example/x\n")),
        format!("```http\n{}", repeated("GET /x\n\n{}\n###\n")),
        format!("```json\n{}", repeated("[")),
    ] {
        let document = format!("# T\n{document}");
        let (document, _) = document.split_at(document.floor_char_boundary(1 << 20));
        let begun = processor_time::Stopwatch::started();
        let answer = load(document);
        let beginning: String = document.chars().take(60).collect();
        assert!(
            begun.elapsed() < MOST,
            "{beginning:?}: {:?}",
            begun.elapsed()
        );
        assert!(answer["ok"].is_boolean());
    }
}
