//! The table.

use serde_json::json;

use super::answer;
use crate::mapping::registry::{Pattern, confidence};

#[test]
fn the_registry_is_listed_with_its_version() {
    let answer = answer(&json!({"op": "map", "list": true}));
    assert_eq!(answer["mapping-version"], "2");
    let rows = answer["registry"].as_array().unwrap();
    assert_eq!(rows.len(), 14);
    assert_eq!(rows[0]["maps-to"], "ccos.network.http-fetch");
    assert_eq!(rows[0]["confidence"], 1.0);
    assert_eq!(rows[13]["tier"], 3);
}

#[test]
fn a_plan_has_the_least_of_its_stages() {
    let cases = [
        (vec![Pattern::Endpoint], false, 1.0),
        (vec![Pattern::Curl, Pattern::JsonFilter], false, 0.9),
        (vec![Pattern::Curl, Pattern::Println], false, 0.7),
        (vec![Pattern::Curl], true, 0.8),
        (vec![Pattern::CurlDerived], true, 0.55),
        (vec![Pattern::Runtime, Pattern::Shell], false, 0.3),
    ];
    for (patterns, noted, expected) in cases {
        assert!((confidence(&patterns, noted) - expected).abs() < 1e-12);
    }
}

#[test]
fn a_malformed_request_is_an_error_of_the_call() {
    for request in [
        "",
        "[]",
        "{}",
        r#"{"op":"execute"}"#,
        r#"{"op":"map","command":7}"#,
        r#"{"op":"map","command":"a","command":"b"}"#,
        r#"{"op":"map","comand":"a"}"#,
        r#"{"op":"map","command":"echo","context":{"constants":{"A_TOKEN":"x"}}}"#,
    ] {
        let error = crate::run(request.as_bytes()).unwrap_err();
        assert_eq!(error.code(), "invalid_request", "{request}");
    }
}
