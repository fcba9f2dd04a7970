//! Manifests of what was checked.

use serde_json::Value;

use super::*;
use crate::manifest::{Implementation, Manifest, TrustTier};

#[test]
fn the_manifest_of_the_seed() {
    let skill = checked(MOLTBOOK);
    let manifest = operation(&skill, "search").manifest.clone().unwrap();
    let mut shown = serde_json::to_value(&manifest).unwrap();
    let shown = shown.as_object_mut().unwrap();
    for digest in ["skill-digest", "op-digest", "policy-digest"] {
        assert!(
            shown
                .shift_remove(digest)
                .unwrap()
                .as_str()
                .unwrap()
                .starts_with("sha256:")
        );
    }
    let expected = serde_json::json!({
        "id": "moltbook.search", "name": "Moltbook Search", "description": "Search notebooks by query", "version": "1.0.0",
        "implementation": {"type": "delegate", "capability": "ccos.network.http-fetch",
            "transform": {"url": "https://api.moltbook.com/v1/search", "method": "POST",
                "headers": {"Authorization": "Bearer {MOLTBOOK_API_KEY}", "Content-Type": "application/json"},
                "body": "input-json"}},
        "input-schema": {"type": "object",
            "properties": {"query": {"type": "string"}, "limit": {"type": "integer", "default": 10}},
            "required": ["query"], "additionalProperties": false},
        "output-schema": {"type": "object", "properties": {"results": {"type": "array", "items": {"type": "object"}}}},
        "effects": ["network-egress"], "requires-secret": ["MOLTBOOK_API_KEY"], "hosts": ["api.moltbook.com:443"],
        "tier": 1, "trust-tier": "pending", "requires-approval": true,
        "approval-reason": "Secret 'MOLTBOOK_API_KEY' is new for this skill and these hosts",
        "reasons": ["host:api.moltbook.com:443", "secret:MOLTBOOK_API_KEY", "pii"],
        "estimated-resources": {"network-bytes": 10_000, "wall-clock-ms": 2_000},
        "derived-from": "https://moltbook.com/skill.yaml",
    });
    assert_eq!(Value::Object(shown.clone()), expected);
    assert_eq!(manifest.trust_tier, TrustTier::Pending);
    let back: Manifest = serde_json::from_value(serde_json::to_value(&manifest).unwrap()).unwrap();
    assert_eq!(back, manifest);
}

#[test]
fn an_unknown_tool() {
    let skill = checked(KIT);
    let checked = operation(&skill, "convert-video");
    let manifest = checked.manifest.as_ref().unwrap();
    assert_eq!(manifest.name, "Convert Video (Sandboxed)");
    assert_eq!(
        manifest.description,
        "Convert Video - REQUIRES SANDBOX APPROVAL"
    );
    assert_eq!(
        manifest.approval_reason.as_deref(),
        Some("Unknown tool 'ffmpeg' requires sandboxed execution")
    );
    assert_eq!((manifest.tier, manifest.requires_approval), (3, true));
    let Implementation::Sandbox {
        runtime,
        command,
        packages,
        ..
    } = &manifest.implementation
    else {
        panic!("not a sandbox");
    };
    assert_eq!(runtime, "jail:linux");
    assert_eq!(packages, &["ffmpeg"]);
    assert_eq!(
        command.as_deref().unwrap(),
        ["ffmpeg", "-i", "input.mp4", "-c:v", "libx264", "output.mp4"]
    );
    let resources = &manifest.estimated_resources;
    assert_eq!(resources.get("cpu-seconds"), Some(&60.into()));
    assert_eq!(resources.get("memory-mb"), Some(&512.into()));
}

#[test]
fn code_pipelines_and_files() {
    let skill = checked(KIT);
    let implementation = |id: &str| {
        let manifest = operation(&skill, id).manifest.clone().unwrap();
        serde_json::to_value(manifest.implementation).unwrap()
    };
    assert_eq!(
        implementation("titles"),
        serde_json::json!({"type": "pipeline", "stages": [
            {"type": "delegate", "capability": "ccos.network.http-fetch",
                "transform": {"url": "https://books.example.org/v2/items", "method": "GET"}},
            {"type": "delegate", "capability": "ccos.json.parse", "transform": {"path": ".[] | .title", "raw": true}},
            {"type": "delegate", "capability": "ccos.text.transform", "transform": {"tool": "head", "args": ["-n", "3"]}},
        ]})
    );
    assert_eq!(
        implementation("inline-code"),
        serde_json::json!({"type": "sandbox", "runtime": "jail:python",
            "script-digest": digest::of_bytes(b"print(2)"), "packages": []})
    );
    assert_eq!(
        implementation("code-file"),
        serde_json::json!({"type": "sandbox", "runtime": "jail:python", "command": ["script.py"],
            "script-digest": format!("sha256:{}", "ab".repeat(32)), "args": ["--n", "3"], "packages": []})
    );
    assert_eq!(
        implementation("upload")["transform"]["multipart"],
        serde_json::json!([{"name": "note", "value": "{note}"}, {"name": "doc", "file": "a.pdf", "type": "application/pdf"}])
    );
    let headers = &implementation("basic")["transform"]["headers"];
    assert_eq!(
        headers["Authorization"],
        "Basic {USER_NAME}:{USER_PASSWORD}"
    );
    assert_eq!(headers["Cookie"], "sid={SID}");
    assert_eq!(
        implementation("basic")["transform"]["body"],
        "title={title}&q={q}"
    );
    assert_eq!(
        implementation("file")["stages"][0]["transform"],
        serde_json::json!({"path": "notes.txt"})
    );
    assert_eq!(
        implementation("packages")["packages"],
        serde_json::json!(["pip", "requests"])
    );
}
