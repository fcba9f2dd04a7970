//! Resources: what is below `os://`.

use std::collections::BTreeSet;

use serde_json::json;

use super::stdio::Place;

#[test]
fn agents_and_skills_are_listed_page_by_page() {
    let mut place = Place::new();
    for number in 0..230 {
        place = place.with(
            &format!("skills/many/{number:03}.md"),
            "---\nname: N\ndescription: D\n---\n",
        );
    }
    let listed = place.client(&[]).all("resources/list", "resources");
    let uris: BTreeSet<_> = listed
        .iter()
        .map(|resource| resource["uri"].as_str().unwrap())
        .collect();
    assert_eq!(uris.len(), listed.len());
    assert_eq!(uris.len(), 232);
    assert!(uris.contains("os://agents/captain.md") && uris.contains("os://skills/many/229.md"));
    assert!(
        listed
            .iter()
            .all(|resource| resource["mimeType"] == "text/markdown")
    );
}

#[test]
fn a_resource_is_read_hydrated_or_as_it_is() {
    let place = Place::new();
    let mut client = place.client(&[]);
    let mut read = |uri: &str| {
        let result = client.result("resources/read", json!({ "uri": uri }));
        let contents = result["contents"][0].clone();
        assert_eq!(contents["uri"], uri);
        (
            contents["mimeType"].as_str().unwrap().to_owned(),
            contents["text"].as_str().unwrap().to_owned(),
        )
    };
    let (kind, text) = read("os://agents/captain.md");
    assert_eq!(kind, "text/markdown");
    assert!(text.contains("Ties what must hold"), "{text}");
    let (_, raw) = read("os://agents/captain.md?format=raw");
    assert_eq!(
        raw,
        "---\nname: Captain\nskills: [../skills/knots.md]\n---\nSail.\n"
    );
    let (kind, payload) = read("os://agents/captain.md?format=json");
    assert_eq!(kind, "application/json");
    let payload: serde_json::Value = serde_json::from_str(&payload).unwrap();
    assert_eq!(payload["metadata"]["uri"], "os://agents/captain.md");
    let (_, mapped) = read("os://agents/captain.md?format=v2");
    assert!(mapped.contains("\"os://skills/knots.md\":"), "{mapped}");
}

#[test]
fn what_is_not_there_or_not_below_the_root_is_an_error() {
    let place = Place::new();
    std::fs::write(place.work().join("secret.md"), "secret").unwrap();
    let mut client = place.client(&[]);
    for uri in [
        "os://nothing.md",
        "os://nothing.md?format=raw",
        "os://../work/secret.md",
        "os://../work/secret.md?format=raw",
        "os://%2e%2e/work/secret.md?format=raw",
        "os://agents?format=raw",
        "file:///etc/passwd",
        "https://example.org/",
        "os://agents/captain.md?format=exe",
        "",
    ] {
        let error = client.error("resources/read", json!({ "uri": uri }));
        let code = error["code"].as_i64().unwrap();
        assert!([-32002, -32602].contains(&code), "{uri}: {error}");
        assert!(
            !error.to_string().contains(place.work().to_str().unwrap()),
            "{error}"
        );
    }
}

#[test]
fn a_cursor_of_nobody_is_an_error() {
    let place = Place::new();
    let mut client = place.client(&[]);
    for method in ["resources/list", "tools/list", "prompts/list"] {
        let error = client.error(method, json!({ "cursor": "\u{1F6B0}" }));
        assert_eq!(error["code"], -32602, "{method}: {error}");
    }
}

#[test]
fn templates_say_how_a_uri_is_made() {
    let place = Place::new();
    let templates = place
        .client(&[])
        .all("resources/templates/list", "resourceTemplates");
    let uris: Vec<_> = templates
        .iter()
        .map(|template| template["uriTemplate"].as_str().unwrap())
        .collect();
    assert_eq!(uris, ["os://{+path}", "os://{+path}{?format}"]);
}
