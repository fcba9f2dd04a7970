use serde_json::{Value, json};

use super::outline;
use crate::document::markdown::labels::Groups;
use crate::document::markdown::outline::{Kind, Outline};

/// The operations of all groups, and the fences that belong to none.
fn groups(text: &str) -> (Vec<Value>, usize) {
    let outline: Outline = outline(text);
    let groups = Groups::read(&outline);
    let operations = (0..outline.blocks.len())
        .flat_map(|position| groups.at(position))
        .map(|group| group.operation("A_API_KEY"))
        .collect();
    let fences = outline.blocks.iter().enumerate();
    let free = fences
        .filter(|(position, block)| matches!(block.kind, Kind::Fence(_)) && !groups.has(*position));
    (operations, free.count())
}

fn one(text: &str) -> Value {
    let (operations, free) = groups(text);
    assert_eq!((operations.len(), free), (1, 0), "{text}");
    operations[0].clone()
}

#[test]
fn k_98_labels_in_items_or_paragraphs_make_one_operation() {
    let items = "## S\n- **Method**: POST\n- **Endpoint**: `https://a.example/s`\n- **Auth**: Bearer `A_TOKEN`\n";
    let lines =
        "## S\n**Method:** POST\n**Endpoint:** https://a.example/s\n**Auth:** bearer, A_TOKEN\n";
    let paragraphs = "## S\n**method** post\n\n**ENDPOINT** `https://a.example/s`.\n\n**auth:** bearer (`A_TOKEN`)\n";
    let row = "## S\n**Endpoint**: `POST https://a.example/s` **Auth**: OAuth `A_TOKEN`\n";
    for text in [items, lines, paragraphs, row] {
        let expected = json!({"endpoint": "https://a.example/s", "method": "POST",
            "auth": {"type": "bearer", "env_var": "A_TOKEN"}});
        assert_eq!(one(text), expected, "{text}");
    }
}

#[test]
fn k_98_a_fence_in_a_labels_item_is_its_value() {
    let text = "### S\n- **Endpoint**: `/s`\n- **Input Schema**:\n  ```json\n  {\"q\": \"string\"}\n  ```\n- **Output Schema**: as\n\n  > ```yaml\n  > r: list\n  > ```\n";
    assert_eq!(
        one(text),
        json!({"endpoint": "/s", "input_schema": {"q": "string"}, "output_schema": {"r": "list"}})
    );
    let paragraph = "### S\n**Endpoint**: `/s`\n\n**Input Schema**:\n```yaml\nq: {type: string, required: true}\n```\n";
    assert_eq!(
        one(paragraph),
        json!({"endpoint": "/s", "input_schema": {"q": {"type": "string", "required": true}}})
    );
}

#[test]
fn k_98_a_fence_elsewhere_is_no_value() {
    let text =
        "### S\n**Endpoint**: `/s`\n\n**Input Schema**: none\n\nUse:\n```bash\ncurl x\n```\n";
    let (operations, free) = groups(text);
    assert_eq!((operations, free), (vec![json!({"endpoint": "/s"})], 1));
    let after_item = "### S\n- **Endpoint**: `/s`\n\n```bash\ncurl x\n```\n";
    assert_eq!(groups(after_item).1, 1);
}

#[test]
fn k_98_without_an_endpoint_there_is_no_group() {
    for text in [
        "## S\n**Method**: POST\n",
        "## S\n**Endpoint**: see below\n",
        "**Method**: GET\n## S\nEndpoint: `/s`\n",
        "## S\n**Endpoints**: `/s`\n",
        "## S\nthe **Endpoint**: `/s`\n",
    ] {
        assert_eq!(groups(text), (vec![], 0), "{text}");
    }
}

#[test]
fn k_98_a_schema_that_cannot_be_read_is_kept_to_be_refused() {
    let text = "## S\n- **Endpoint**: `/s`\n- **Input Schema**:\n  ```json\n  {\"q\": \n  ```\n";
    assert_eq!(one(text), json!({"endpoint": "/s", "input_schema": ""}));
}

#[test]
fn k_98_each_heading_has_its_own_group_and_each_endpoint_its_own_operation() {
    let text = "## A\n**Endpoint**: `/a`\n## B\n- **Method**: PUT\n- **Endpoint**: `/b`\n- **Endpoint**: `GET /c`\n- **Method**: POST\n";
    let expected = vec![
        json!({"endpoint": "/a"}),
        json!({"endpoint": "/b", "method": "PUT"}),
        json!({"endpoint": "/c", "method": "GET"}),
    ];
    assert_eq!(groups(text), (expected, 0));
}

#[test]
fn k_98_auth_in_words() {
    for (words, expected) in [
        ("None", json!({"type": "none"})),
        (
            "Bearer token",
            json!({"type": "bearer", "env_var": "A_API_KEY"}),
        ),
        (
            "API key in `X-Find-Key` (`FIND_KEY`)",
            json!({"type": "api_key", "env_var": "FIND_KEY", "name": "X-Find-Key"}),
        ),
        (
            "Basic `A_USER`:`A_PASS`",
            json!({"type": "basic", "env_vars": ["A_USER", "A_PASS"]}),
        ),
        ("`A_TOKEN`", json!({"type": "bearer", "env_var": "A_TOKEN"})),
    ] {
        let text = format!("## S\n**Endpoint**: `/s`\n**Auth**: {words}\n");
        assert_eq!(one(&text)["auth"], expected, "{words}");
    }
    let fence = "## S\n- **Endpoint**: `/s`\n- **Auth**:\n  ```yaml\n  type: query\n  secret: A_KEY\n  name: k\n  ```\n";
    assert_eq!(
        one(fence)["auth"],
        json!({"type": "query", "secret": "A_KEY", "name": "k"})
    );
}
