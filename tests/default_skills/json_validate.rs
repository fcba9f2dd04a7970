//! `json.validate`.

use serde_json::{Value, json};

use crate::desk::Desk;

const ID: &str = "json.validate";

const DRAFTS: [(&str, &str); 5] = [
    ("https://json-schema.org/draft/2020-12/schema", "2020-12"),
    ("https://json-schema.org/draft/2019-09/schema", "2019-09"),
    ("http://json-schema.org/draft-07/schema", "7"),
    ("http://json-schema.org/draft-06/schema", "6"),
    ("http://json-schema.org/draft-04/schema", "4"),
];

fn request(json: &str, schema: &Value, more: &Value) -> Value {
    let mut request = json!({"json": json, "schema": schema});
    for (name, value) in more.as_object().unwrap() {
        request[name] = value.clone();
    }
    request
}

fn validate(json: &str, schema: &Value) -> Value {
    let answer = Desk::bare().ok(ID, &request(json, schema, &json!({})));
    let errors = answer["errors"].as_array().unwrap();
    assert_eq!(answer["valid"], errors.is_empty(), "{answer}");
    for error in errors {
        let names: Vec<&String> = error.as_object().unwrap().keys().collect();
        assert!(
            names == ["instance_path", "schema_path", "message"]
                || names == ["instance_path", "schema_path", "message", "branches"]
        );
        let message = error["message"].as_str().unwrap();
        assert!((1..=512).contains(&message.chars().count()), "{message}");
    }
    answer
}

fn valid(json: &str, schema: &Value) -> bool {
    validate(json, schema)["valid"] == true
}

/// Where the errors are: instance path and schema path.
fn places(answer: &Value) -> Vec<(&str, &str)> {
    let errors = answer["errors"].as_array().unwrap();
    errors
        .iter()
        .map(|error| {
            (
                error["instance_path"].as_str().unwrap(),
                error["schema_path"].as_str().unwrap(),
            )
        })
        .collect()
}

#[test]
fn drafts() {
    for (uri, draft) in DRAFTS {
        for uri in [uri.to_owned(), format!("{uri}#")] {
            let answer = validate("1", &json!({"$schema": uri, "type": "integer"}));
            assert_eq!(
                (&answer["valid"], &answer["draft"]),
                (&json!(true), &json!(draft))
            );
        }
    }
    assert_eq!(validate("1", &json!({}))["draft"], "2020-12");
    assert_eq!(validate("1", &json!(true))["draft"], "2020-12");
    for other in [
        "http://json-schema.org/draft-03/schema",
        "https://example.org/schema",
        "http://json-schema.org/schema",
        "",
    ] {
        let schema = json!({"$schema": other});
        Desk::bare().refused(
            ID,
            &request("1", &schema, &json!({})),
            "unsupported",
            &json!({"reason": "draft"}),
        );
    }
}

/// What differs between the drafts.
#[test]
fn each_draft_has_its_own_meaning() {
    let of = |draft: usize, schema: &Value| {
        let mut schema = schema.clone();
        schema["$schema"] = json!(DRAFTS[draft].0);
        schema
    };
    let tuple = json!({"prefixItems": [{"type": "string"}]});
    assert!(!valid("[1]", &of(0, &tuple)) && valid("[1]", &of(2, &tuple)));
    let items = json!({"items": [{"type": "string"}]});
    assert!(!valid("[1]", &of(1, &items)) && !valid("[1]", &of(4, &items)));
    let constant = json!({"const": 1});
    assert!(!valid("2", &of(3, &constant)) && valid("2", &of(4, &constant)));
    let branch = json!({"if": {"const": 1}, "then": false});
    assert!(!valid("1", &of(2, &branch)) && valid("1", &of(3, &branch)));
    let exclusive = json!({"minimum": 1, "exclusiveMinimum": true});
    assert!(!valid("1", &of(4, &exclusive)));
    let beside = json!({"definitions": {"a": true}, "$ref": "#/definitions/a", "type": "string"});
    assert!(valid("1", &of(2, &beside)) && !valid("1", &of(1, &beside)));
}

#[test]
fn the_schema_must_be_valid() {
    let desk = Desk::bare();
    for schema in [
        json!({"type": "strin"}),
        json!({"minimum": "1"}),
        json!({"properties": {"a": {"type": 1}}}),
        json!({"required": ["a", "a"]}),
        json!({"pattern": "("}),
        json!({"patternProperties": {"[": true}}),
        json!({"properties": {"unused": {"pattern": "a{2,1}"}}}),
        json!({"$schema": DRAFTS[4].0, "exclusiveMinimum": 1}),
    ] {
        let details = desk.error(ID, &request("1", &schema, &json!({})), "invalid_request");
        assert_eq!(details["reason"], "schema", "{schema}: {details}");
        let errors = details["errors"].as_array().unwrap();
        assert!((1..=20).contains(&errors.len()), "{schema}: {details}");
        for error in errors {
            let names: Vec<&String> = error.as_object().unwrap().keys().collect();
            assert_eq!(names[..3], ["instance_path", "schema_path", "message"]);
        }
    }
    let many: serde_json::Map<String, Value> = (0..50)
        .map(|n| (format!("p{n}"), json!({"type": "strin"})))
        .collect();
    let details = desk.error(
        ID,
        &request("1", &json!({ "properties": many }), &json!({})),
        "invalid_request",
    );
    let count = details["errors"].as_array().unwrap().len();
    assert!((1..=20).contains(&count), "{count}");
}

#[test]
fn references_inside_the_schema() {
    #[rustfmt::skip]
    let rows = [
        (json!({"$defs": {"a~/b": {"type": "string"}}, "$ref": "#/$defs/a~0~1b"}), "1"),
        (json!({"$defs": {"é x": {"type": "string"}}, "$ref": "#/$defs/%C3%A9%20x"}), "1"),
        (json!({"$defs": {"a": {"$anchor": "x", "type": "string"}}, "$ref": "#x"}), "1"),
        (json!({"$id": "https://example.org/root", "$defs": {"a": {"$id": "inner", "type": "string"}}, "$ref": "inner"}), "1"),
        (json!({"$id": "https://example.org/root", "$defs": {"a": {"$id": "/o/i", "$defs": {"b": {"type": "string"}}}}, "$ref": "https://example.org/o/i#/$defs/b"}), "1"),
        (json!({"type": "object", "properties": {"next": {"$ref": "#"}}, "required": ["v"]}), r#"{"v":1,"next":{"v":1,"next":{}}}"#),
        (json!({"$ref": "https://json-schema.org/draft/2020-12/schema"}), r#"{"type":"strin"}"#),
        (json!({"$ref": "http://json-schema.org/draft-07/schema#"}), r#"{"type":"strin"}"#),
        (json!({"$schema": DRAFTS[1].0, "$recursiveAnchor": true, "type": "object", "additionalProperties": {"$recursiveRef": "#"}}), r#"{"a":{"b":1}}"#),
        (json!({"$dynamicAnchor": "node", "type": "object", "additionalProperties": {"$dynamicRef": "#node"}}), r#"{"a":{"b":1}}"#),
        (json!({"$schema": DRAFTS[4].0, "id": "http://x.example/r", "definitions": {"a": {"id": "#foo", "type": "string"}}, "$ref": "#foo"}), "1"),
    ];
    for (schema, bad) in rows {
        assert!(!valid(bad, &schema), "{schema}");
    }
    assert!(valid(
        r#"{"v":1,"next":{"v":1,"next":{"v":2}}}"#,
        &json!({"properties": {"next": {"$ref": "#"}}, "required": ["v"]})
    ));
}

/// Wherever it stands, used or not; and no server is asked.
#[test]
fn other_references_are_never_fetched() {
    use crate::server::{Answer, Request, Server};
    let server = Server::new(|_: &Request| Answer::Body(b"true".into()));
    let url = server.url("/schema.json");
    let desk = Desk::fetching(&[server.url("/")]);
    for schema in [
        json!({"$ref": url}),
        json!({"$defs": {"unused": {"$ref": url}}}),
        json!({"properties": {"a": {"items": {"$ref": url}}}}),
        json!({"anyOf": [true, {"$dynamicRef": url}]}),
        json!({"$schema": DRAFTS[4].0, "definitions": {"a": {"$ref": url}}}),
    ] {
        let expected = json!({"reason": "remote_ref", "ref": url});
        desk.refused(
            ID,
            &request("1", &schema, &json!({})),
            "unsupported",
            &expected,
        );
    }
    for reference in [
        "other.json",
        "file:///etc/passwd",
        "https://example.org/x#/a",
        "urn:x:y",
    ] {
        let schema = json!({"$defs": {"unused": {"$ref": reference}}});
        let details = desk.error(ID, &request("1", &schema, &json!({})), "unsupported");
        assert_eq!(details["reason"], "remote_ref", "{reference}: {details}");
    }
    // A name, not a reference.
    assert!(valid(
        "{}",
        &json!({"properties": {"$ref": {"type": "string"}}, "enum": [{}, {"$ref": url}]})
    ));
    assert_eq!(server.connections(), 0);
}

#[test]
fn text_that_is_not_json() {
    for bad in [
        "",
        " ",
        "{",
        "[1,]",
        "nul",
        "1 2",
        "{\"a\":1,}",
        "'a'",
        "\u{feff}1",
        "01",
        "\"\u{1}\"",
        "NaN",
        "// x\n1",
    ] {
        let answer = validate(bad, &json!(true));
        assert_eq!(places(&answer), [("", "")], "{bad:?}");
        let message = answer["errors"][0]["message"].as_str().unwrap();
        assert!(message.starts_with("not valid JSON"), "{bad:?}: {message}");
    }
    assert!(valid(" {\"a\" : 1}\r\n", &json!(true)));
    let twice = json!({"properties": {"a": {"const": 2}}});
    assert!(
        valid(r#"{"a":1,"a":2}"#, &twice) && !valid(r#"{"a":2,"a":1}"#, &twice),
        "the last one counts"
    );
}

#[test]
fn nesting() {
    let nested = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
    assert!(valid(&nested(128), &json!(true)));
    for levels in [129, 1_000, 2_000_000] {
        Desk::bare().error(
            ID,
            &request(&nested(levels), &json!(true), &json!({})),
            "too_large",
        );
    }
    let object = format!("{}1{}", "{\"a\":".repeat(129), "}".repeat(129));
    Desk::bare().error(ID, &request(&object, &json!(true), &json!({})), "too_large");
}

#[test]
fn paths_are_pointers_that_end_in_the_keyword() {
    let schema = json!({
        "properties": {
            "a/b": {"items": {"type": "string"}},
            "c~d": {"minLength": 2},
            "no": false,
            "deep": {"allOf": [{"properties": {"x": {"enum": [1]}}}]},
        },
        "required": ["must"],
    });
    let answer = validate(
        r#"{"a/b":["x",1],"c~d":"é","no":0,"deep":{"x":2}}"#,
        &schema,
    );
    let expected = [
        ("", "/required"),
        ("/a~1b/1", "/properties/a~1b/items/type"),
        ("/c~0d", "/properties/c~0d/minLength"),
        ("/deep/x", "/properties/deep/allOf/0/properties/x/enum"),
        ("/no", "/properties/no"),
    ];
    assert_eq!(places(&answer), expected);
    let behind = validate(
        "1",
        &json!({"$defs": {"a": {"type": "string"}}, "$ref": "#/$defs/a"}),
    );
    let (instance, schema) = places(&behind)[0];
    assert_eq!(instance, "");
    assert!(schema.ends_with("/type"), "{schema}");
    assert_eq!(places(&validate("1", &json!(false))), [("", "")]);
}

/// An instance with a long value makes no long message.
#[test]
fn messages_are_short() {
    let long = json!("é".repeat(5_000)).to_string();
    let answer = validate(
        &long,
        &json!({"enum": ["x".repeat(5_000)], "type": "integer"}),
    );
    assert_eq!(answer["errors"].as_array().unwrap().len(), 2);
}

#[test]
fn sorted_without_duplicates_and_cut() {
    let desk = Desk::bare();
    let instance = "[9,\"b\",9,\"a\",9,9,9,9,9,9,9]";
    let schema = json!({"items": {"type": "string", "maximum": 1}, "maxItems": 2});
    let whole = validate(instance, &schema);
    let all = whole["errors"].as_array().unwrap();
    let key = |error: &Value| {
        let text = |name: &str| error[name].as_str().unwrap().as_bytes().to_vec();
        (text("instance_path"), text("schema_path"), text("message"))
    };
    assert!(
        all.windows(2).all(|pair| key(&pair[0]) < key(&pair[1])),
        "{whole}"
    );
    assert_eq!(all.len(), 1 + 9 * 2);
    assert_eq!(
        (places(&whole)[1].0, places(&whole)[3].0),
        ("/0", "/10"),
        "by bytes"
    );
    assert_eq!(whole["truncated"], false);
    for most in [1, 2, 18, 19, 20] {
        let answer = desk.ok(
            ID,
            &request(instance, &schema, &json!({ "max_errors": most })),
        );
        let errors = answer["errors"].as_array().unwrap();
        assert_eq!(errors[..], all[..most.min(19)]);
        assert_eq!(
            (&answer["valid"], &answer["truncated"]),
            (&json!(false), &json!(most < 19))
        );
    }
    let duplicate = json!({"allOf": [{"$ref": "#/$defs/a"}, {"$ref": "#/$defs/a"}], "$defs": {"a": {"type": "string"}}});
    let errors = validate("1", &duplicate);
    let mut seen: Vec<String> = errors["errors"]
        .as_array()
        .unwrap()
        .iter()
        .map(ToString::to_string)
        .collect();
    let count = seen.len();
    seen.dedup();
    assert_eq!(seen.len(), count);
    let hundred = format!("[{}]", vec!["1"; 150].join(","));
    let answer = validate(&hundred, &json!({"items": {"type": "string"}}));
    assert_eq!(
        (
            answer["errors"].as_array().unwrap().len(),
            &answer["truncated"]
        ),
        (100, &json!(true)),
        "the default"
    );
}

#[test]
fn formats_and_numbers() {
    let desk = Desk::bare();
    for (format, bad) in [
        ("date", "\"x\""),
        ("email", "\"x\""),
        ("uri", "\"x y\""),
        ("ipv4", "\"1.2.3\""),
        ("uuid", "\"x\""),
    ] {
        for (uri, _) in DRAFTS {
            let schema = json!({"$schema": uri, "format": format});
            assert!(valid(bad, &schema), "an annotation: {format} {uri}");
        }
        let asserted = desk.ok(
            ID,
            &request(
                bad,
                &json!({ "format": format }),
                &json!({"assert_formats": true}),
            ),
        );
        assert_eq!(asserted["valid"], false, "{format}");
    }
    let content = json!({"contentEncoding": "base64", "contentMediaType": "application/json"});
    for (uri, _) in DRAFTS {
        let mut schema = content.clone();
        schema["$schema"] = json!(uri);
        assert!(valid("\"!\"", &schema), "an annotation: {uri}");
    }
    #[rustfmt::skip]
    let rows = [
        ("1.0", json!({"type": "integer"}), true), ("1.0", json!({"const": 1}), true),
        ("1", json!({"enum": [1.0]}), true), ("[1,1.0]", json!({"uniqueItems": true}), false),
        ("1e2", json!({"const": 100}), true), ("0.3", json!({"multipleOf": 0.1}), true),
        ("-0", json!({"const": 0}), true), ("9007199254740993", json!({"const": 9_007_199_254_740_992_i64}), false),
        ("1.5", json!({"type": "integer"}), false), ("true", json!({"const": 1}), false),
        ("18446744073709551615", json!({"maximum": 18_446_744_073_709_551_614_u64}), false),
    ];
    for (json, schema, expected) in rows {
        assert_eq!(valid(json, &schema), expected, "{json} {schema}");
    }
    // Digits that a schema has beyond 64 bits count too.
    let exact = r#"{"json":"123456789012345678901234567890","schema":{"KEYWORD":VALUE}}"#;
    for (keyword, value, expected) in [
        ("const", "123456789012345678901234567890", true),
        ("const", "123456789012345678901234567891", false),
        ("minimum", "123456789012345678901234567891", false),
        ("maximum", "123456789012345678901234567890.5", true),
    ] {
        let request = exact.replace("KEYWORD", keyword).replace("VALUE", value);
        let run = desk.send(ID, request.as_bytes());
        assert_eq!(run.json()["valid"], expected, "{request}");
    }
}

#[test]
fn a_failing_union_says_why_each_branch_failed() {
    let schema = json!({"oneOf": [{"type": "string"}, {"required": ["a"]}]});
    let answer = validate("{}", &schema);
    let branches = answer["errors"][0]["branches"].as_array().unwrap();
    let paths: Vec<&str> = branches
        .iter()
        .map(|branch| branch["schema_path"].as_str().unwrap())
        .collect();
    assert_eq!(paths, ["/oneOf/0/type", "/oneOf/1/required"]);
}

/// What takes other engines years takes no time here, or is refused.
#[test]
fn explosive_patterns() {
    let text = json!(format!("{}!", "a".repeat(50_000))).to_string();
    let desk = Desk::bare();
    for pattern in [
        "^(a+)+$",
        "^(a|a)*$",
        "^(a*)*b$",
        "^(.*a){20}$",
        "^(?=a+)a*b$",
        "(a*)*c",
        "^(a+)+\\1$",
    ] {
        let started = std::time::Instant::now();
        let answer = desk.ask(
            ID,
            &request(&text, &json!({ "pattern": pattern }), &json!({})),
        );
        assert!(started.elapsed().as_secs() < 60, "{pattern}");
        match answer {
            Ok(answer) => assert_eq!(answer["draft"], "2020-12", "{pattern}"),
            Err(error) => {
                let limit =
                    error["code"] == "too_large" && error["details"] == json!({"reason": "regex"});
                let syntax =
                    error["code"] == "invalid_request" && error["details"]["reason"] == "schema";
                assert!(limit || syntax, "{pattern}: {error}");
            }
        }
    }
    assert!(
        !valid(&text, &json!({"pattern": "^(a+)+$"}))
            && valid("\"aaa\"", &json!({"pattern": "^(a+)+$"}))
    );
}
