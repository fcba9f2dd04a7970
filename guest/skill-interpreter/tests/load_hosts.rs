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

const CURL: &str =
    "```bash\ncurl \"https://$BOX_TENANT/v1/items\" -H \"X-Box-Key: $BOX_KEY\"\n```\n";

#[test]
fn the_request_gives_a_host_that_the_environment_is_asked_for() {
    for (name, url, value) in [
        (
            "BOX_TENANT",
            "https://$BOX_TENANT/v1/items",
            "acme.boxes.test",
        ),
        (
            "BOX_TENANT",
            "https://${BOX_TENANT}.boxes.test/v1/items",
            "acme",
        ),
        ("BOX_URL", "$BOX_URL/v1/items", "https://acme.boxes.test"),
        ("BOX_URL", "$BOX_URL", "https://acme.boxes.test/v1/items"),
    ] {
        let text = format!("```bash\ncurl \"{url}\" -H \"X-Box-Key: $BOX_KEY\"\n```\n");
        let names = [name, "BOX_KEY"];
        let without = skill(&names, "BOX_KEY", &text, json!({})).unwrap();
        let error = &without["operations"][0]["error"];
        assert!(
            error["hint"]
                .as_str()
                .unwrap()
                .contains(&format!("--set {name}=")),
            "{url}"
        );
        let with = skill(&names, "BOX_KEY", &text, json!({name: value})).unwrap();
        assert_eq!(
            requests(&with),
            ["GET https://acme.boxes.test/v1/items"],
            "{url}"
        );
        assert_eq!(with["secrets"], json!(["BOX_KEY"]));
    }
}

#[test]
fn the_request_gives_no_secret_a_value() {
    for (names, primary, given) in [
        // It is the secret that the skill is about.
        (&["BOX_TENANT"][..], "BOX_TENANT", "BOX_TENANT"),
        // Its name says so, wherever it stands.
        (&["BOX_TOKEN"], "", "BOX_TOKEN"),
        // It stands for no host.
        (&["BOX_USER"], "", "BOX_USER"),
        // Whoever knows the address of a webhook may use it.
        (&["BOX_WEBHOOK_URL"], "", "BOX_WEBHOOK_URL"),
    ] {
        let text = format!(
            "{CURL}\n```bash\ncurl \"$BOX_WEBHOOK_URL\"\ncurl https://$BOX_TOKEN/x -u \"$BOX_USER:\"\n```\n"
        );
        let refused = skill(names, primary, &text, json!({given: "a.test"}));
        assert_eq!(refused.unwrap_err(), "invalid_request", "{given}");
        let skill = skill(names, primary, &text, json!({})).unwrap();
        let hint = &skill["operations"][1]["error"]["hint"];
        assert_eq!(hint.is_null(), given == "BOX_WEBHOOK_URL", "{hint}");
    }
}

#[test]
fn the_value_of_an_account_is_an_example_and_a_region_is_none() {
    let text = |value: &str| {
        format!(
            "```bash\nexport BOX_TENANT=\"{value}\"\n```\n\n{}",
            CURL.replace("$BOX_TENANT/", "$BOX_TENANT.boxes.test/")
        )
    };
    let names = ["BOX_TENANT", "BOX_KEY"];
    for (value, expected) in [
        ("us3", "GET https://us3.boxes.test/v1/items"),
        ("eu", "GET https://eu.boxes.test/v1/items"),
        ("acme", "host-variable"),
        ("your-tenant", "host-variable"),
        ("u\u{e4}1", "host-variable"),
    ] {
        let skill = skill(&names, "BOX_KEY", &text(value), json!({})).unwrap();
        assert_eq!(requests(&skill), [expected], "{value}");
    }
    for value in ["us3", "acme"] {
        let skill = skill(
            &names,
            "BOX_KEY",
            &text(value),
            json!({"BOX_TENANT": "ap2"}),
        )
        .unwrap();
        assert_eq!(
            requests(&skill),
            ["GET https://ap2.boxes.test/v1/items"],
            "{value}"
        );
    }
}

#[test]
fn the_request_goes_before_a_constant_of_the_document() {
    let text = "```bash\nBOX_URL=https://one.test\ncurl \"$BOX_URL/items\"\n```\n";
    let skill = skill(&[], "", text, json!({"BOX_URL": "https://two.test"})).unwrap();
    assert_eq!(requests(&skill), ["GET https://two.test/items"]);
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
        "- **All endpoints** use the base URL `https://api.boxes.test/v3/...`",
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
        "Unlike at Crates, where all endpoints are at https://api.crates.test/v3/..., ours are elsewhere.",
        "All endpoints except ours are at https://api.crates.test/v3/...",
        "Not all endpoints are at https://api.crates.test/v3/...",
        "All endpoints: https://a.boxes.test/... or https://b.boxes.test/...",
    ] {
        let text = format!("{said}\n\n| GET | /items | all |\n|---|---|---|\n");
        assert_eq!(requests_of(&text), ["no-base-url"], "{said}");
    }
}

#[test]
fn a_header_that_the_text_names_is_a_constant() {
    let curl = "```bash\ncurl https://a.test/x -H \"$AUTH\"\n```\n";
    let with = |said: &str| skill(&[], "", &format!("{said}\n\n{curl}"), json!({})).unwrap();
    let known = with("Send `AUTH=\"Authorization: Bearer $BOX_KEY\"` along:");
    assert_eq!(requests(&known), ["GET https://a.test/x"]);
    assert_eq!(known["secrets"], json!(["BOX_KEY"]));
    for said in [
        "Send `AUTH=\"plain text\"` along:",
        "Send `AUTH=\"Authorization: $(cat key)\"` along:",
        "Send `AUTH=\"X-A: b\"; rm \"x: y\"` along:",
    ] {
        assert_eq!(requests(&with(said)), ["header-refused"], "{said}");
    }
}

#[test]
fn a_header_that_the_text_names_replaces_nothing_and_is_a_known_one() {
    let of = |said: &str, set: &str| {
        let text = format!(
            "```bash\n{set}\n```\n\n{said}\n\n```bash\ncurl https://a.test/x -H \"$AUTH\"\n```\n"
        );
        skill(&[], "", &text, json!({})).unwrap()
    };
    let said = "Send `AUTH=\"Authorization: Token $OTHER_KEY\"` along:";
    assert_eq!(of(said, "B=1")["secrets"], json!(["OTHER_KEY"]));
    let set = of(said, "AUTH=\"Authorization: Bearer $BOX_KEY\"");
    assert_eq!(set["secrets"], json!(["BOX_KEY"]));
    // A name that is set to what nobody can read is set.
    let unread = of(said, "AUTH=\"$(printauth)\"");
    assert_eq!(requests(&unread).last().unwrap(), "header-refused");
    for said in [
        "Never send `AUTH=\"Authorization: Token $OTHER_KEY\"` along.",
        "Once it was `AUTH=\"Authorization: Token $OTHER_KEY\"`, which is deprecated.",
        "Keep `AUTH=\"Remember: $OTHER_KEY\"` in mind.",
    ] {
        assert_eq!(requests(&of(said, "B=1")), ["header-refused"], "{said}");
    }
}
