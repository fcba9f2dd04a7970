use serde_json::json;

use super::{codes, has, map, refused};

#[test]
fn the_seeds_example() {
    let answer = map("curl -X POST https://api.example.com");
    assert_eq!(answer["maps-to"], "ccos.network.http-fetch");
    assert_eq!(
        answer["params"],
        json!({"url": "https://api.example.com", "method": "POST"})
    );
    assert_eq!(answer["confidence"], 0.95);
}

#[test]
fn a_request_and_a_filter() {
    let answer = map("curl https://api.example.com/x | jq .foo");
    assert_eq!(
        answer["maps-to"],
        json!(["ccos.network.http-fetch", "ccos.json.parse"])
    );
    assert_eq!(answer["pipeline"][1]["params"]["path"], ".foo");
}

#[test]
fn the_other_primitives() {
    let cases = [
        (
            "python script.py",
            "ccos.sandbox.python",
            "script",
            "script.py",
        ),
        ("node script.js", "ccos.sandbox.node", "script", "script.js"),
        ("echo hello", "ccos.io.println", "text", "hello"),
        ("cat file", "ccos.io.read-file", "path", "file"),
        ("jq .path", "ccos.json.parse", "path", ".path"),
    ];
    for (command, capability, name, value) in cases {
        let answer = map(command);
        assert_eq!(answer["maps-to"], capability, "{command}");
        assert_eq!(answer["params"][name], value, "{command}");
    }
}

#[test]
fn inputs_and_a_secret() {
    let answer = map(
        r#"curl -sS "https://books.example.org/v2/items/{item_id}?lang=en" -H "X-Api-Key: $BOOKS_KEY""#,
    );
    assert_eq!(answer["params"]["method"], "GET");
    assert_eq!(answer["input-schema"]["required"], json!(["item_id"]));
    assert_eq!(
        answer["input-schema"]["properties"]["lang"]["default"],
        "en"
    );
    assert_eq!(answer["secrets"], json!(["BOOKS_KEY"]));
    assert_eq!(
        answer["auth"],
        json!({"type": "header", "name": "X-Api-Key", "env_var": "BOOKS_KEY"})
    );
    assert_eq!(answer["confidence"], 0.95);
}

#[test]
fn json() {
    let answer =
        map(r#"curl https://books.example.org/v2/items --json '{"title":"Emma","year":1815}'"#);
    assert_eq!(answer["params"]["method"], "POST");
    assert_eq!(answer["input-schema"]["required"], json!(["title", "year"]));
    let properties = &answer["input-schema"]["properties"];
    assert_eq!(properties["title"]["type"], "string");
    assert_eq!(properties["year"]["type"], "integer");
    assert_eq!(
        answer["params"]["headers"],
        json!({"Content-Type": "application/json", "Accept": "application/json"})
    );
    assert_eq!(answer["params"]["body"], r#"{"title":"Emma","year":1815}"#);
}

#[test]
fn multipart() {
    let answer = map("curl -F note=hi -F doc=@a.pdf https://files.example.org/up");
    assert_eq!(answer["params"]["method"], "POST");
    assert_eq!(
        answer["params"]["multipart"],
        json!([{"name": "note", "value": "hi"}, {"name": "doc", "file": "a.pdf", "type": "application/pdf"}])
    );
    assert!(has(&answer["requires"], "file-read:a.pdf"));
}

#[test]
fn three_stages() {
    let answer = map("curl -s https://books.example.org/v2/items | jq -r '.[] | .title' | head -3");
    assert_eq!(
        answer["maps-to"],
        json!([
            "ccos.network.http-fetch",
            "ccos.json.parse",
            "ccos.text.transform"
        ])
    );
    assert_eq!(answer["confidence"], 0.7);
    assert_eq!(answer["pipeline"][1]["params"]["path"], ".[] | .title");
}

#[test]
fn a_constant() {
    let answer = map("BASE=https://books.example.org\ncurl \"$BASE/v2/ping\"");
    assert_eq!(
        answer["params"],
        json!({"url": "https://books.example.org/v2/ping", "method": "GET"})
    );
    assert_eq!(answer["confidence"], 0.7);
    assert!(codes(&answer).contains(&"constant"), "{answer}");
}

#[test]
fn a_bare_verb() {
    let answer = map("PUT /v2/items/:id\nBody: {\"year\":1816}");
    assert_eq!(answer["params"]["method"], "PUT");
    assert_eq!(answer["params"]["url"], "/v2/items/{id}");
    assert_eq!(answer["input-schema"]["required"], json!(["id", "year"]));
    assert_eq!(answer["confidence"], 0.9);
}

#[test]
fn a_loop() {
    let answer = map("for i in 1 2; do curl https://books.example.org/v2/items/$i; done");
    assert_eq!(answer["tier"], 3);
    assert_eq!(answer["maps-to"], "ccos.sandbox.shell");
    assert!(
        answer["reason"].as_str().unwrap().contains("loop"),
        "{answer}"
    );
    assert_eq!(
        answer["policy"]["network"],
        json!({"egress": ["books.example.org:443"]})
    );
    assert_eq!(answer["policy"]["shell"], true);
    assert_eq!(answer["input-schema"]["properties"], json!({}));
}

#[test]
fn an_unknown_tool() {
    let answer = map("convert in.png -resize {size} out.png");
    assert_eq!(answer["tier"], 3);
    let argv = &answer["stages"][0]["program"]["argv"];
    assert_eq!(argv.as_array().unwrap().len(), 5);
    assert_eq!(argv[3], json!([{"input": "size", "enc": "argv"}]));
    assert_eq!(answer["policy"]["network"], json!({"egress": "none"}));
    assert_eq!(answer["policy"]["shell"], false);
}

#[test]
fn a_refused_option() {
    let (code, message) = refused("curl --netrc https://books.example.org/");
    assert_eq!(code, "curl-option-refused");
    assert!(message.contains("--netrc"), "{message}");
}

#[test]
fn two_requests_are_two_operations() {
    let answer = map("curl https://a.example/x\ncurl -X DELETE https://a.example/y");
    let operations = answer["operations"].as_array().unwrap();
    assert_eq!(operations.len(), 2);
    assert_eq!(operations[1]["params"]["method"], "DELETE");
}

#[test]
fn noted_options_take_confidence_off_once() {
    assert_eq!(map("curl -i -v https://a.example/")["confidence"], 0.8);
}

#[test]
fn a_request_without_url() {
    let answer = map("curl -X POST");
    assert_eq!(answer["needs"], json!(["url"]));
    assert_eq!(answer["confidence"], 0.5);
}

#[test]
fn nothing_to_map() {
    assert_eq!(refused("  \n ").0, "empty-command");
    assert_eq!(refused("").0, "empty-command");
    assert_eq!(refused("Authorization: Bearer x").0, "not-an-operation");
}
