//! Where requests go: what a document says of it in other ways than an address, and what only the request can say.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a failed expectation is a failed test, in a fixture as in the test itself"
)]

mod requests;

use requests::request;
use serde_json::{Value, json};

const URL: &str = "/skills/boxes/SKILL.md";

/// The skill of a text whose front matter asks the environment for these names.
fn skill(names: &[&str], primary: &str, text: &str, constants: Value) -> Result<Value, String> {
    let metadata = json!({"agent": {"requires": {"env": names}, "primaryEnv": primary}});
    let text = format!("---\nname: boxes\ndescription: Boxes.\nmetadata: {metadata}\n---\n{text}");
    requests::load(URL, &text, json!({"constants": constants}))
        .map(|answer| answer["skill"].clone())
}

fn requests(skill: &Value) -> Vec<String> {
    let operations = skill["operations"].as_array().unwrap();
    operations.iter().map(request).collect()
}

/// The requests of a text without such names.
fn requests_of(text: &str) -> Vec<String> {
    requests(&skill(&[], "BOX_KEY", text, json!({})).unwrap())
}

#[test]
fn a_constant_that_is_to_be_filled_in_is_an_input() {
    let text = "```bash\nBOX=\"<BOX_ID>\"\ncurl \"https://a.test/boxes/${BOX}/lid\"\n```\n";
    assert_eq!(requests_of(text), ["GET https://a.test/boxes/{BOX}/lid"]);
    let host = "```bash\nBOX=\"<BOX_HOST>\"\ncurl \"https://${BOX}/lid\"\n```\n";
    assert_eq!(requests_of(host), ["host-variable"]);
    // A program of jq in the same letters is one.
    let filter = "```bash\nFIELDS='{id}'\ncurl https://a.test/boxes | jq \"$FIELDS\"\n```\n";
    let skill = skill(&[], "", filter, json!({})).unwrap();
    assert_eq!(skill["operations"][0]["stages"][1]["program"], "{id}");
}

#[test]
fn a_placeholder_of_a_query_that_closes_as_a_tag_is_an_input() {
    let text = "- `GET https://a.test/boxes?size={S>&lid=yes`\n";
    let skill = skill(&[], "", text, json!({})).unwrap();
    assert_eq!(requests(&skill), ["GET https://a.test/boxes"]);
    assert!(
        skill["operations"][0]["input-schema"]["properties"]
            .get("size")
            .is_some()
    );
    assert_eq!(
        requests_of("- `GET https://a.test/{boxes>?lid=yes`\n"),
        ["url-glob"]
    );
}

#[test]
fn an_address_of_all_endpoints_that_goes_on_with_dots_is_the_base() {
    for said in [
        "All endpoints: `https://api.boxes.test/v3/...`",
        "All endpoints are below https://api.boxes.test/v3/…",
        "所有端点的地址：`https://api.boxes.test/v3/...`",
    ] {
        let text = format!("{said}\n\n| GET | /items | all |\n|---|---|---|\n");
        assert_eq!(
            requests_of(&text),
            ["GET https://api.boxes.test/v3/items"],
            "{said}"
        );
        let labelled = format!("{text}\nBase URL: https://boxes.test\n");
        assert_eq!(
            requests_of(&labelled),
            ["GET https://boxes.test/items"],
            "{said}"
        );
    }
    for said in [
        "All endpoints are told of at https://docs.boxes.test/v3",
        "See https://docs.boxes.test/v3/...",
        "All endpoints: https://a.boxes.test/... or https://b.boxes.test/...",
    ] {
        let text = format!("{said}\n\n| GET | /items | all |\n|---|---|---|\n");
        assert_eq!(requests_of(&text), ["no-base-url"], "{said}");
    }
}
