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
