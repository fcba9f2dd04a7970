//! OpenAPI descriptions, through the component's entry.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "a failed expectation is a failed test, in a fixture as in the test itself"
)]

mod requests;

use requests::{codes, error, load, operation, skill};
use serde_json::{Value, json};

const TWO: &str = include_str!("fixtures/books-2.0.json");
const THREE: &str = include_str!("fixtures/books-3.0.yaml");
const URL: &str = "https://shop.example/api/openapi.yaml";

fn properties(operation: &Value) -> &Value {
    &operation["input-schema"]["properties"]
}

/// The literal text of a list of segments, an input as `{name}`.
fn text(segments: &Value) -> String {
    let segments = segments.as_array().unwrap();
    let one = |segment: &Value| match segment["lit"].as_str() {
        Some(text) => text.to_owned(),
        None => format!("{{{}}}", segment["input"].as_str().unwrap_or("secret")),
    };
    segments.iter().map(one).collect()
}

fn url(operation: &Value) -> String {
    text(&operation["stages"][0]["url"])
}

/// A description of 3.0 with these paths and components.
fn three(rest: &str) -> String {
    format!(
        "openapi: 3.0.0\ninfo: {{title: T, version: '1'}}\nservers: [{{url: 'https://api.e.org'}}]\n{rest}"
    )
}

#[test]
fn the_skill_is_what_info_says() {
    let skill = skill(URL, THREE);
    assert_eq!(skill["id"], "book-shop");
    assert_eq!(skill["name"], "Book Shop");
    assert_eq!(skill["version"], "2.0");
    assert_eq!(skill["description"], "Books, and who reads them.");
    assert_eq!(skill["format"], "openapi");
    assert_eq!(skill["format-version"], "3.0.3");
    let text = "openapi: 3.1.0\ninfo: {version: '1'}\npaths: {}\n";
    let refused = error(URL, text);
    assert_eq!(
        (&refused["code"], &refused["path"]),
        (&json!("openapi"), &json!("info.title"))
    );
    let none = requests::skill(URL, &three("paths: {}\n"));
    assert_eq!(none["operations"], json!([]));
}

#[test]
fn one_operation_for_each_method() {
    let skill = skill(URL, THREE);
    let ids: Vec<&str> = skill["operations"]
        .as_array()
        .unwrap()
        .iter()
        .map(|o| o["id"].as_str().unwrap())
        .collect();
    assert_eq!(
        ids,
        [
            "listBooks",
            "addBook",
            "getBook",
            "replaceBook",
            "label",
            "put-files-name",
            "upload",
            "dangling",
            "remote",
            "digest",
            "literal"
        ]
    );
    assert_eq!(operation(&skill, "listBooks")["line"], 16);
    assert_eq!(operation(&skill, "listBooks")["description"], "All books");
    let ignored = codes(&skill)
        .iter()
        .filter(|code| **code == "openapi-ignored")
        .count();
    assert_eq!(ignored, 2);
    let two = requests::skill(URL, TWO);
    let ids: Vec<&str> = two["operations"]
        .as_array()
        .unwrap()
        .iter()
        .map(|o| o["id"].as_str().unwrap())
        .collect();
    assert_eq!(
        ids,
        [
            "listBooks",
            "add-book",
            "get-books-book-id",
            "removeBook",
            "setCover"
        ]
    );
    let twice = three("paths: {/a: {get: {operationId: x}}, /b: {get: {operationId: X}}}\n");
    assert_eq!(error(URL, &twice)["code"], "op-collision");
}

#[test]
fn references() {
    let skill = skill(URL, THREE);
    for (id, code) in [
        ("dangling", "openapi-ref"),
        ("remote", "openapi-remote-ref"),
    ] {
        let unusable = operation(&skill, id);
        assert_eq!(unusable["status"], "unusable");
        assert_eq!(unusable["code"], code);
        assert_eq!(unusable["stages"], json!([]));
    }
    // A body stands in its place, and what it refers to in `$defs`.
    let body = &properties(operation(&skill, "addBook"))["body"];
    let definitions = &operation(&skill, "addBook")["input-schema"]["$defs"];
    assert_eq!(body["properties"], definitions["Book"]["properties"]);
    // A cycle.
    let parent = body["properties"]["parent"]["$ref"].as_str().unwrap();
    let parent = &definitions[parent.strip_prefix("#/$defs/").unwrap()];
    assert_eq!(
        parent["properties"]["books"]["items"],
        json!({"$ref": "#/$defs/Book"})
    );
    let plain = three(
        "paths: {/a: {post: {operationId: a, requestBody: {content: {application/json: {schema: {$ref: '#/components/schemas/A'}}}}}}}\ncomponents: {schemas: {A: {$ref: '#/components/schemas/B~1c%20d'}, 'B/c d': {type: integer}}}\n",
    );
    let plain = requests::skill(URL, &plain);
    assert_eq!(
        properties(operation(&plain, "a"))["body"],
        json!({"type": "integer"})
    );
    // What refers to nothing but itself.
    let circle = three(
        "paths: {/a: {get: {operationId: a, parameters: [{$ref: '#/components/parameters/A'}]}}}\ncomponents: {parameters: {A: {$ref: '#/components/parameters/A'}}}\n",
    );
    assert_eq!(
        operation(&requests::skill(URL, &circle), "a")["code"],
        "limit"
    );
}

#[test]
fn schemas_refer_to_each_other_as_deep_as_they_like() {
    let schemas: String = (0..500)
        .map(|n| format!("    S{n}: {{type: object, properties: {{p: {{$ref: '#/components/schemas/S{}'}}}}}}\n", n + 1))
        .collect();
    let paths = "paths: {/a: {post: {operationId: a, requestBody: {content: {application/json: {schema: {$ref: '#/components/schemas/S0'}}}}}}}\n";
    let text = three(&format!(
        "{paths}components:\n  schemas:\n{schemas}    S500: {{type: string}}\n    Unused: {{}}\n"
    ));
    let skill = skill(URL, &text);
    let definitions = operation(&skill, "a")["input-schema"]["$defs"].as_object();
    assert_eq!(definitions.map(|all| all.len()), Some(500));
}

#[test]
fn a_default_that_is_no_exact_number_is_left_out() {
    let text = three(
        "paths: {/a: {get: {operationId: a, parameters: [{name: q, in: query, schema: {type: integer, default: 12345678901234567890123, maximum: 18446744073709551615}}]}}}\n",
    );
    assert_eq!(
        properties(operation(&skill(URL, &text), "a"))["q"],
        json!({"type": "integer", "maximum": u64::MAX})
    );
}

#[test]
fn parameters() {
    let skill = skill(URL, THREE);
    let list = operation(&skill, "listBooks");
    let names: Vec<&String> = properties(list).as_object().unwrap().keys().collect();
    assert_eq!(
        names,
        [
            "q", "tags", "ids", "sizes", "colours", "filter", "X-Trace", "session"
        ]
    );
    let query = list["stages"][0]["query"].as_array().unwrap();
    let style = |name: &str| {
        let pair = query
            .iter()
            .find(|pair| text(&pair["name"]) == name)
            .unwrap();
        pair["value"][0]["style"].clone()
    };
    assert_eq!(style("q"), Value::Null);
    assert_eq!(style("tags"), "form-explode");
    assert_eq!(style("ids"), "form");
    assert_eq!(style("sizes"), "space-delimited");
    assert_eq!(style("colours"), "pipe-delimited");
    assert_eq!(style("filter"), "deep-object");
    assert_eq!(list["stages"][0]["headers"][0]["name"], "X-Trace");
    assert_eq!(text(&list["stages"][0]["cookies"][0]["name"]), "session");
    assert_eq!(list["input-schema"].get("required"), None);
    assert_eq!(list["input-schema"]["additionalProperties"], false);

    // The operation's own parameter wins; the later name of two gets its place before it.
    let get = operation(&skill, "getBook");
    assert_eq!(
        properties(get)["id"],
        json!({"type": "integer", "description": "the book"})
    );
    assert_eq!(properties(get)["query-id"], json!({"type": "integer"}));
    assert_eq!(get["input-schema"]["required"], json!(["id"]));
    assert_eq!(url(get), "https://eu.books.example.org/v2/books/{id}");
    assert_eq!(text(&get["stages"][0]["query"][0]["name"]), "id");
    assert_eq!(
        get["stages"][0]["query"][0]["value"][0]["input"],
        "query-id"
    );
    assert_eq!(operation(&skill, "label")["code"], "openapi-style");

    // A path parameter that the path does not have.
    let text = three(
        "paths: {/a: {get: {operationId: a, parameters: [{name: b, in: path, required: true}]}}}\n",
    );
    let none = requests::skill(URL, &text);
    assert_eq!(properties(operation(&none, "a")), &json!({}));

    // A name in the path without a parameter, and text that only looks like a variable.
    assert_eq!(
        properties(operation(&skill, "put-files-name"))["name"],
        json!({"type": "string"})
    );
    assert_eq!(
        url(operation(&skill, "literal")),
        "https://eu.books.example.org/v2/PETS_ALL/:batch"
    );
}

#[test]
fn two_is_read_like_three() {
    let skill = skill(URL, TWO);
    let list = operation(&skill, "listBooks");
    assert_eq!(url(list), "https://books.example.org/v1/books");
    assert_eq!(
        properties(list)["limit"],
        json!({"type": "integer", "exclusiveMinimum": 0, "maximum": 100})
    );
    let names: Vec<&String> = properties(list).as_object().unwrap().keys().collect();
    assert_eq!(names, ["limit", "tags", "ids", "X-Trace"]);
    let query = list["stages"][0]["query"].as_array().unwrap();
    assert_eq!(query[1]["value"][0]["style"], "form-explode");
    assert_eq!(query[2]["value"][0]["style"], "pipe-delimited");
    assert_eq!(
        list["output-schema"]["items"],
        json!({"$ref": "#/$defs/Book"})
    );
    assert_eq!(
        list["output-schema"]["$defs"]["Book"]["properties"]["title"]["examples"],
        json!(["Emma"])
    );

    let add = operation(&skill, "add-book");
    assert_eq!(add["input-schema"]["required"], json!(["book"]));
    assert_eq!(
        add["stages"][0]["body"]["input"],
        json!({"name": "book", "media": "json"})
    );
    let headers = add["stages"][0]["headers"].as_array().unwrap();
    let content_type = headers
        .iter()
        .find(|header| header["name"] == "Content-Type");
    assert_eq!(content_type.unwrap()["value"][0]["lit"], "application/json");
    assert_eq!(add["notes"], json!(["scopes of oauth: write, read"]));

    let cover = operation(&skill, "setCover");
    let parts = &cover["stages"][0]["body"]["multipart"];
    assert_eq!(parts[0], json!({"name": "image", "file": "image"}));
    assert_eq!(properties(cover)["caption"], json!({"type": "string"}));
    assert_eq!(cover["files"]["read"], json!(["image"]));
    assert_eq!(
        operation(&skill, "removeBook")["stages"][0]["method"],
        "DELETE"
    );
}

#[test]
fn schemas_of_three_become_2020_12() {
    let skill = skill(URL, THREE);
    let book = &operation(&skill, "addBook")["input-schema"]["$defs"]["Book"]["properties"];
    assert_eq!(book["title"], json!({"type": ["string", "null"]}));
    assert_eq!(
        book["year"],
        json!({"type": "integer", "exclusiveMinimum": 1450})
    );
    assert_eq!(
        book["kind"],
        json!({"type": ["string", "null"], "enum": ["a", "b", null]})
    );
    let output = &operation(&skill, "listBooks")["output-schema"];
    assert_eq!(
        output["properties"]["next_token"],
        json!({"type": ["string", "null"]})
    );
    let one = three(
        "paths: {/a: {post: {operationId: a, requestBody: {content: {application/json: {schema: {$ref: '#/components/schemas/A', description: beside}}}}}}}\ncomponents: {schemas: {A: {type: string, description: own, x-y: 1, xml: {}, discriminator: {}}}}\n",
    );
    let body = |text: &str| properties(operation(&requests::skill(URL, text), "a"))["body"].clone();
    assert_eq!(body(&one), json!({"type": "string", "description": "own"}));
    let newer = one.replace("openapi: 3.0.0", "openapi: 3.1.0");
    assert_eq!(
        body(&newer),
        json!({"type": "string", "description": "beside"})
    );
}

/// A description with so many operations, each of which sends and returns one of as many schemas.
fn large(operations: usize) -> String {
    let mut paths = serde_json::Map::new();
    let mut schemas = serde_json::Map::new();
    for n in 0..operations {
        paths.insert(format!("/things{n}/{{id}}"), json!({
            "post": {
                "operationId": format!("change{n}"),
                "summary": format!("Changes thing {n}"),
                "parameters": [
                    {"name": "id", "in": "path", "required": true, "schema": {"type": "string"}},
                    {"$ref": "#/components/parameters/Page"}
                ],
                "requestBody": {"required": true, "content": {"application/json": {"schema": {"$ref": format!("#/components/schemas/Thing{n}")}}}},
                "responses": {"200": {"description": "ok", "content": {"application/json": {"schema": {"$ref": format!("#/components/schemas/Thing{n}")}}}}}
            }
        }));
        let next = (n + 1) % operations;
        schemas.insert(format!("Thing{n}"), json!({
            "type": "object",
            "required": ["name"],
            "properties": {
                "name": {"type": "string", "maxLength": 100, "description": "what it is called"},
                "size": {"type": "integer", "nullable": true},
                "labels": {"type": "array", "items": {"$ref": "#/components/schemas/Label"}},
                "kin": if n % 10 == 9 { json!({"type": "string"}) } else { json!({"$ref": format!("#/components/schemas/Thing{next}")}) }
            }
        }));
    }
    schemas.insert(
        "Label".to_owned(),
        json!({"type": "object", "properties": {"key": {"type": "string"}, "value": {}}}),
    );
    json!({
        "openapi": "3.0.1",
        "info": {"title": "Large", "version": "1"},
        "servers": [{"url": "https://large.example.org/api"}],
        "paths": paths,
        "components": {
            "schemas": schemas,
            "parameters": {"Page": {"name": "page", "in": "query", "schema": {"type": "integer", "default": 1}}},
            "securitySchemes": {"key": {"type": "apiKey", "in": "header", "name": "X-Key"}}
        },
        "security": [{"key": []}]
    })
    .to_string()
}

#[test]
fn a_hundred_operations() {
    let skill = skill("https://large.example.org/openapi.json", &large(100));
    let operations = skill["operations"].as_array().unwrap();
    assert_eq!(operations.len(), 100);
    for (n, operation) in operations.iter().enumerate() {
        assert_eq!(operation["status"], "ok");
        assert_eq!(
            url(operation),
            format!("https://large.example.org/api/things{n}/{{id}}")
        );
        assert_eq!(
            properties(operation)["body"]["properties"]["name"]["maxLength"],
            100
        );
        assert_eq!(operation["output-schema"]["type"], "object");
        assert_eq!(operation["secrets"][0]["name"], "LARGE_KEY");
    }
    let other = load(
        "https://large.example.org/openapi.json",
        &large(100),
        json!({}),
    )
    .unwrap();
    assert_eq!(other["skill"], skill);
}

#[test]
fn the_most_operations_and_one_more() {
    let url = "https://large.example.org/openapi.json";
    assert_eq!(
        skill(url, &large(512))["operations"]
            .as_array()
            .map(Vec::len),
        Some(512)
    );
    assert_eq!(error(url, &large(513))["code"], "limit");
}

#[test]
fn merge_keys_of_yaml_are_merged() {
    let text = three(
        "x-common: &common\n  parameters: [{name: q, in: query, schema: {type: string}}]\n  summary: common\npaths:\n  /a:\n    get:\n      <<: *common\n      operationId: a\n      summary: own\n      responses: {}\n",
    );
    let skill = skill(URL, &text);
    let a = operation(&skill, "a");
    assert_eq!(a["description"], "own");
    assert_eq!(properties(a)["q"]["type"], "string");
}

#[test]
fn ids_that_are_equal_once_they_are_cut_are_told_apart() {
    let long = "list every thing that is there ".repeat(3);
    let text = three(&format!(
        "paths:\n  /a: {{get: {{operationId: '{long}one', responses: {{}}}}}}\n  /b: {{get: {{operationId: '{long}two', responses: {{}}}}}}\n"
    ));
    let skill = skill(URL, &text);
    let ids: Vec<&str> = skill["operations"]
        .as_array()
        .unwrap()
        .iter()
        .map(|operation| operation["id"].as_str().unwrap())
        .collect();
    assert_eq!(ids.len(), 2);
    assert!(ids[1].ends_with("-2") && ids[1].len() <= 64, "{ids:?}");
}

#[test]
fn a_parameter_with_content_is_text_of_that_media_type() {
    let text = three(
        "paths:\n  /a:\n    get:\n      operationId: a\n      parameters: [{name: filter, in: query, content: {application/json: {schema: {type: object}}}}]\n      responses: {}\n",
    );
    let skill = skill(URL, &text);
    let a = operation(&skill, "a");
    assert_eq!(a["status"], "ok");
    assert_eq!(
        properties(a)["filter"],
        json!({"type": "string", "contentMediaType": "application/json", "contentSchema": {"type": "object"}})
    );
}

#[test]
fn files_of_a_form_go_through_files() {
    let text = three(
        "paths:\n  /a:\n    post:\n      operationId: a\n      requestBody:\n        content:\n          multipart/form-data:\n            schema: {$ref: '#/components/schemas/Form'}\n      responses: {}\ncomponents:\n  schemas:\n    Form:\n      type: object\n      required: [photo]\n      properties: {photo: {type: string, format: binary}, title: {type: string}}\n",
    );
    let skill = skill(URL, &text);
    let a = operation(&skill, "a");
    assert_eq!(a["files"]["read"], json!(["photo"]));
    assert_eq!(properties(a)["title"]["type"], "string");
    let parts = &a["stages"][0]["body"]["multipart"];
    assert_eq!(parts[0], json!({"name": "photo", "file": "photo"}));
}

#[test]
fn the_requested_base_goes_before_servers() {
    let text = three("paths:\n  /a: {get: {operationId: a, responses: {}}}\n");
    let base = json!({"base-url": "https://staging.e.org/v2/"});
    let skill = requests::skill_with(URL, &text, base);
    assert_eq!(url(operation(&skill, "a")), "https://staging.e.org/v2/a");
}

#[test]
fn a_part_of_a_description_may_be_loaded() {
    let text = three(
        "paths:\n  /pets: {get: {operationId: pets, tags: [Pets], responses: {}}}\n  /pets/{id}: {get: {operationId: pet, responses: {}}}\n  /orders: {get: {operationId: orders, responses: {}}}\n",
    );
    for (only, ids) in [
        (json!(["pets"]), vec!["pets"]),
        (json!(["/pets"]), vec!["pets", "pet"]),
        (json!(["orders", "PETS"]), vec!["pets", "orders"]),
    ] {
        let skill = requests::skill_with(URL, &text, json!({"only": only}));
        let operations = skill["operations"].as_array().unwrap();
        let found: Vec<&str> = operations
            .iter()
            .map(|operation| operation["id"].as_str().unwrap())
            .collect();
        assert_eq!(found, ids);
    }
    let nothing = load(URL, &text, json!({"only": ["nothing"]}));
    assert_eq!(nothing.unwrap_err(), "invalid_request");
}

#[test]
fn a_description_may_be_larger_than_a_skill() {
    let remark = "x".repeat(4 << 20);
    let skill = skill(
        URL,
        &three(&format!(
            "paths:\n  /a:\n    get:\n      responses: {{}}\nx-remark: {remark}\n"
        )),
    );
    assert_eq!(skill["operations"].as_array().unwrap().len(), 1);
}
