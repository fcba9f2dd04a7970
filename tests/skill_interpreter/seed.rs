//! The examples of the seed, its blocks unchanged.

use serde_json::{Value, json};

use crate::house::{House, capability, code, list, shown, string};
use crate::recorder::{Recorder, Reply};

const SCHEMA_YAML: &str = include_str!("../fixtures/seed/skill_schema.yaml");
/// The same document, converted.
const SCHEMA_JSON: &str = include_str!("../fixtures/seed/skill_schema.json");
const MARKDOWN: &str = include_str!("../fixtures/seed/skill.md");
const UNKNOWN_TOOLS: &str = include_str!("../fixtures/seed/unknown_tools.yaml");
const PRIMITIVE_MAP: &str = include_str!("../fixtures/seed/primitive_map.edn");
const MAPPINGS: &str = include_str!("../fixtures/seed/primitive_mappings.md");
const EXECUTE: &str = include_str!("../fixtures/seed/skill_execute.edn");
const KEY: &str = "mb-5f0c2b7788aa91d3";

/// The YAML document without the `skill` wrapper.
fn bare_yaml() -> String {
    SCHEMA_YAML
        .lines()
        .skip(1)
        .map(|line| format!("{}\n", line.strip_prefix("  ").unwrap_or(line)))
        .collect()
}

#[test]
fn the_primitive_that_is_mapped() {
    let command = PRIMITIVE_MAP
        .split('"')
        .find(|part| part.starts_with("curl"))
        .unwrap();
    let mapped = House::new().map(command);
    assert_eq!(mapped["maps-to"], "ccos.network.http-fetch");
    assert_eq!(
        mapped["params"],
        json!({"url": "https://api.example.com", "method": "POST"})
    );
    assert_eq!(mapped["confidence"], 0.95);
}

fn assert_moltbook(loaded: &Value) {
    assert_eq!(loaded["skill-id"], "moltbook", "{loaded}");
    assert_eq!(loaded["version"], "1.0.0");
    let capabilities: Vec<(String, String, String)> = list(&loaded["capabilities"])
        .iter()
        .map(|one| {
            (
                string(&one["id"]),
                string(&one["maps-to"]),
                string(&one["status"]),
            )
        })
        .collect();
    let expected = [
        ("moltbook.search", "ccos.network.http-fetch"),
        ("moltbook.create_notebook", "ccos.network.http-fetch"),
        ("moltbook.run_analysis", "ccos.sandbox.python"),
    ];
    let expected: Vec<_> = expected
        .iter()
        .map(|(id, to)| ((*id).into(), (*to).into(), "pending".into()))
        .collect();
    assert_eq!(capabilities, expected);
    let search = list(&capability(loaded, "moltbook.search")["requires"]);
    assert!(
        search.contains(&json!("secret:MOLTBOOK_API_KEY")),
        "{search:?}"
    );
    let analysis = capability(loaded, "moltbook.run_analysis");
    assert_eq!(analysis["tier"], 2);
    assert_eq!(analysis["requires-approval"], true);
    assert_eq!(loaded["pending-approvals"], 3);
    assert_eq!(
        loaded["hint"],
        "an operator decides: `hydrant approvals list --status pending` shows what waits"
    );
}

#[test]
fn the_canonical_form() {
    let house = House::new();
    assert_moltbook(&house.load("skill.yaml", SCHEMA_YAML));
    let analysis = shown(&house, "moltbook", "moltbook.run_analysis");
    let policy = &analysis["manifest"]["sandbox-policy"];
    assert_eq!(
        policy["network"]["egress"],
        json!(["api.moltbook.com:443"]),
        "{policy}"
    );
}

#[test]
fn the_same_as_json_and_without_the_wrapper() {
    let json: Value = serde_json::from_str(SCHEMA_JSON).unwrap();
    let documents = [
        ("skill.yaml", SCHEMA_YAML.to_owned()),
        ("bare.yaml", bare_yaml()),
        ("skill.json", SCHEMA_JSON.to_owned()),
        ("bare.json", json["skill"].to_string()),
    ];
    let mut results = documents.map(|(name, text)| {
        let house = House::new();
        let loaded = house.load(name, &text);
        assert_moltbook(&loaded);
        let format = if name.ends_with("yaml") {
            "yaml"
        } else {
            "json"
        };
        assert_eq!(loaded["format"], format);
        loaded
    });
    for result in &mut results {
        let members = result.as_object_mut().unwrap();
        for own in ["format", "skill-digest", "source-url"] {
            members.remove(own);
        }
        for one in members["capabilities"].as_array_mut().unwrap() {
            one.as_object_mut().unwrap().remove("approval-id");
        }
    }
    let [first, others @ ..] = &results;
    for other in others {
        assert_eq!(other, first);
    }
}

/// The id is of the heading, the segment of the URL is an alias.
#[test]
fn parsing_from_markdown() {
    let house = House::new();
    let loaded = house.load("skill.md", MARKDOWN);
    assert_eq!(loaded["skill-id"], "moltbook-skill", "{loaded}");
    let all = list(&loaded["capabilities"]);
    assert_eq!(all.len(), 1);
    assert_eq!(all[0]["id"], "moltbook-skill.search-notebooks");
    assert_eq!(all[0]["aliases"], json!(["search"]));
    assert_eq!(all[0]["status"], "pending");
    let manifest = shown(&house, "moltbook-skill", "moltbook-skill.search-notebooks");
    let manifest = &manifest["manifest"];
    let transform = &manifest["implementation"]["transform"];
    assert_eq!(transform["method"], "POST");
    assert_eq!(transform["url"], "https://api.moltbook.com/v1/search");
    assert_eq!(
        transform["headers"]["Authorization"],
        "Bearer {MOLTBOOK_API_KEY}"
    );
    assert_eq!(manifest["requires-secret"], json!(["MOLTBOOK_API_KEY"]));
    let properties = &manifest["input-schema"]["properties"];
    assert_eq!(properties["query"]["type"], "string", "{manifest}");
    assert_eq!(properties["limit"]["type"], "integer");
    let by_alias = house.denied(
        "moltbook-skill",
        "search",
        &json!({"query": "x", "limit": 1}),
    );
    assert_eq!(code(&by_alias), "approval-required");
}

#[test]
fn the_auth_of_the_command_in_the_fence() {
    let command = MARKDOWN
        .split("```bash\n")
        .nth(1)
        .unwrap()
        .split("```")
        .next()
        .unwrap();
    let mapped = House::new().map(command);
    assert_eq!(
        mapped["auth"],
        json!({"type": "bearer", "env_var": "MOLTBOOK_API_KEY"}),
        "{mapped}"
    );
    assert_eq!(mapped["secrets"], json!(["MOLTBOOK_API_KEY"]));
}

#[test]
fn the_generated_manifest() {
    let house = House::new();
    let loaded = house.load("skill.yaml", SCHEMA_YAML);
    let mut manifest = shown(&house, "moltbook", "moltbook.search")["manifest"].clone();
    let members = manifest.as_object_mut().unwrap();
    assert_eq!(
        members.remove("skill-digest").unwrap(),
        loaded["skill-digest"]
    );
    assert_eq!(
        members.remove("derived-from").unwrap(),
        loaded["source-url"]
    );
    for digest in ["op-digest", "policy-digest"] {
        let digest = string(&members.remove(digest).unwrap());
        assert!(
            digest.starts_with("sha256:") && digest.len() == 71,
            "{digest}"
        );
    }
    // One sentence that a person reads; which one is not stated.
    string(&members.remove("approval-reason").unwrap());
    assert_eq!(
        manifest,
        json!({
            "id": "moltbook.search", "name": "Moltbook Search",
            "description": "Search notebooks by query", "version": "1.0.0",
            "implementation": {"type": "delegate", "capability": "ccos.network.http-fetch", "transform": {
                "url": "https://api.moltbook.com/v1/search", "method": "POST",
                "headers": {"Authorization": "Bearer {MOLTBOOK_API_KEY}", "Content-Type": "application/json"},
                "body": "input-json"}},
            "input-schema": {"type": "object",
                "properties": {"query": {"type": "string"}, "limit": {"type": "integer", "default": 10}},
                "required": ["query"], "additionalProperties": false},
            "output-schema": {"type": "object",
                "properties": {"results": {"type": "array", "items": {"type": "object"}}}},
            "effects": ["network-egress"], "requires-secret": ["MOLTBOOK_API_KEY"],
            "hosts": ["api.moltbook.com:443"], "tier": 1, "trust-tier": "pending", "requires-approval": true,
            "reasons": ["host:api.moltbook.com:443", "secret:MOLTBOOK_API_KEY", "pii"],
            "estimated-resources": {"network-bytes": 10000, "wall-clock-ms": 2000},
        })
    );
}

#[test]
fn an_unknown_tool_is_routed_to_the_sandbox() {
    let house = House::new();
    let loaded = house.load("skill.yaml", &format!("name: skill\n{UNKNOWN_TOOLS}"));
    assert_eq!(capability(&loaded, "skill.convert_video")["tier"], 3);
    let manifest = &shown(&house, "skill", "skill.convert_video")["manifest"];
    assert_eq!(manifest["name"], "Convert Video (Sandboxed)");
    let implementation = &manifest["implementation"];
    assert_eq!(implementation["type"], "sandbox");
    assert_eq!(implementation["packages"], json!(["ffmpeg"]));
    assert_eq!(
        implementation["command"],
        json!(["ffmpeg", "-i", "input.mp4", "-c:v", "libx264", "output.mp4"])
    );
    let policy = &manifest["sandbox-policy"];
    assert_eq!(policy["network"]["egress"], "none");
    assert_eq!(
        policy["filesystem"],
        json!({"read": ["/input"], "write": ["/output"]})
    );
    assert_eq!(policy["resources"]["cpu-seconds"], 60);
    assert_eq!(policy["resources"]["memory-mb"], 512);
    assert_eq!(manifest["requires-approval"], true);
    assert_eq!(
        manifest["approval-reason"],
        "Unknown tool 'ffmpeg' requires sandboxed execution"
    );
}

#[test]
fn the_known_primitive_mappings() {
    let house = House::new();
    let piped = house.map("curl https://api.example.com/a | jq .foo");
    assert_eq!(
        piped["maps-to"],
        json!(["ccos.network.http-fetch", "ccos.json.parse"])
    );
    for (command, to) in [
        ("python script.py", "ccos.sandbox.python"),
        ("node script.js", "ccos.sandbox.node"),
        ("echo hello", "ccos.io.println"),
        ("printf hello", "ccos.io.println"),
        ("cat file", "ccos.io.read-file"),
        ("jq .path", "ccos.json.parse"),
    ] {
        assert!(
            MAPPINGS.contains(command.split(' ').next().unwrap()),
            "{command}"
        );
        assert_eq!(house.map(command)["maps-to"], to, "{command}");
    }
    assert_eq!(house.map("cat file")["params"]["path"], "file");
    assert_eq!(house.map("jq .path")["params"]["path"], ".path");
}

/// The seed's document with its endpoints at the stub.
fn at(stub: &Recorder) -> String {
    let text = SCHEMA_YAML.replace("https://api.moltbook.com", &stub.url(""));
    assert_ne!(text, SCHEMA_YAML);
    text
}

/// Loads, stores the key, approves.
fn approved(stub: &Recorder) -> House {
    let house = House::beside(&[stub]);
    house.load("skill.yaml", &at(stub));
    house.secret("MOLTBOOK_API_KEY", "moltbook", KEY);
    house.approve_all();
    house
}

#[test]
fn nothing_is_sent_before_the_approval() {
    let stub = Recorder::content();
    let house = House::beside(&[&stub]);
    house.load("skill.yaml", &at(&stub));
    let params = json!({"query": "machine learning", "limit": 5});
    let error = house.denied("moltbook", "search", &params);
    assert_eq!(code(&error), "approval-required");
    assert!(string(&error["approval-id"]).starts_with("ap-"), "{error}");
    assert_eq!(stub.requests(), []);
}

#[test]
fn the_approved_call_carries_the_secret_that_the_caller_never_sees() {
    // The stub says the key back, and it is redacted.
    let stub = Recorder::new(|request| {
        Reply::json(&json!({"results": [], "echo": request.header("authorization")}))
    });
    let house = approved(&stub);
    assert!(EXECUTE.contains(r#":params {:query "machine learning" :limit 5}"#));
    let params = json!({"query": "machine learning", "limit": 5});
    let run = house.folder().ok(&[
        "skill",
        "execute",
        "moltbook",
        "search",
        &params.to_string(),
    ]);
    let seen = stub.only();
    assert_eq!(
        (seen.method.as_str(), seen.target.as_str()),
        ("POST", "/v1/search")
    );
    assert_eq!(
        seen.header("authorization"),
        Some(format!("Bearer {KEY}").as_str())
    );
    assert_eq!(seen.json(), params);
    assert!(
        !run.stdout.contains(KEY) && !run.stderr.contains(KEY),
        "{run:?}"
    );
    assert_eq!(
        run.json()["output"]["json"]["echo"],
        "Bearer ***REDACTED***"
    );
    house.execute("moltbook", "search", &json!({"query": "foo"}));
    assert_eq!(stub.last().json(), json!({"query": "foo", "limit": 10}));
}

/// The keys of the seed with plain strings; digests and the line are further members.
#[test]
fn the_record_of_the_execution() {
    let stub = Recorder::content();
    let house = approved(&stub);
    let result = house.execute("moltbook", "search", &json!({"query": "foo"}));
    let records = house.events("capability-executed");
    assert_eq!(records.len(), 1);
    let record = &records[0];
    assert_eq!(record["seq"], result["chain-seq"]);
    assert_eq!(record["capability"], "moltbook.search");
    assert_eq!(
        record["derived-from"],
        house.folder().argument("skill.yaml")
    );
    assert_eq!(record["delegated-to"], "ccos.network.http-fetch");
    assert!(record["line"].is_u64(), "{record}");
    for digest in ["skill-digest", "op-digest", "policy-digest"] {
        assert!(string(&record[digest]).starts_with("sha256:"), "{digest}");
    }
    let used = &record["resources-consumed"];
    assert!(used["network-bytes"].as_u64().unwrap() > 0, "{record}");
    assert!(used["wall-clock-ms"].is_u64(), "{record}");
    house.assert_whole_chain();
}

/// What `force` overrides is the look of the address, and no other check.
#[test]
fn an_address_that_an_operation_asked_for_is_no_skill() {
    let house = House::new();
    let address = "https://x.com/a/status/1";
    let error = house.error(&["skill", "load", address]);
    assert_eq!(code(&error), "url-tweet");
    assert_eq!(
        error["message"],
        "X/Twitter addresses are not skills. If an operation asked for this address, give it to that operation; \
         --force (in a request `force`) loads it regardless."
    );
    // Forced it is tried: it comes as far as the question whether skills may be loaded from there.
    let forced = house.error(&["skill", "load", "--force", address]);
    assert_eq!(code(&forced), "host-approval-required");
    assert_eq!(house.events("skill-rejected").len(), 2);
}
