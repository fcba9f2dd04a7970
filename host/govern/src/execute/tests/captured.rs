use secrecy::ExposeSecret;
use serde_json::json;

use super::{Around, events, json_response, output, response};
use crate::chain::Event;
use crate::request::tests::operation;

#[test]
fn a_returned_secret_is_replaced_by_a_reference() {
    let body = json!({
        "id": "7",
        "access_token": "tok-1234567",
        "hint": "your token is tok-1234567",
    });
    let headers = [
        ("Set-Cookie", "t=tok-1234567"),
        ("content-type", "application/json"),
    ];
    let around = Around::new([response(201, &headers, body.to_string().as_bytes())]);
    let done = around.call("forms", "register", json!({"name": "a"}));
    assert_eq!(
        output(&done)["json"],
        json!({
            "id": "7",
            "access_token": {"secret-ref": "secret:FORMS_ACCESS_TOKEN"},
            "hint": "your token is ***REDACTED***",
        })
    );
    assert_eq!(output(&done)["headers"]["set-cookie"], "t=***REDACTED***");
    assert_eq!(done.captured.len(), 1);
    assert_eq!(done.captured[0].name, "FORMS_ACCESS_TOKEN");
    assert_eq!(done.captured[0].value.expose_secret(), "tok-1234567");
    assert_eq!(
        events(&done)[1..],
        [(Event::SecretCaptured, "FORMS_ACCESS_TOKEN")],
        "it is no echo"
    );
}

#[test]
fn each_element_is_taken_out_under_its_own_name() {
    let mut register = operation("forms", "register");
    register.returns_secret = vec!["/keys/*/apiKey".to_owned(), "/n~1a".to_owned()];
    register.output_schema = None;
    let body = json!({"keys": [{"apiKey": "aaaaaaa"}, {"apiKey": 123_456_789}, {"apiKey": null}, 7], "n/a": "ccccccc"});
    let around = Around::new([json_response(&body)]);
    let done = around.call_of("forms", &register, json!({"name": "a"}));
    assert_eq!(
        output(&done)["json"],
        json!({
            "keys": [
                {"apiKey": {"secret-ref": "secret:FORMS_API_KEY"}},
                {"apiKey": {"secret-ref": "secret:FORMS_API_KEY_2"}},
                {"apiKey": null},
                7,
            ],
            "n/a": {"secret-ref": "secret:FORMS_N_A"},
        })
    );
    let values: Vec<&str> = done
        .captured
        .iter()
        .map(|captured| captured.value.expose_secret())
        .collect();
    assert_eq!(values, ["aaaaaaa", "123456789", "ccccccc"]);
}

#[test]
fn what_is_not_there_is_not_captured() {
    let around = Around::new([json_response(&json!({"id": "7"}))]);
    let done = around.call("forms", "register", json!({"name": "a"}));
    assert!(done.captured.is_empty());
    assert_eq!(output(&done)["json"], json!({"id": "7"}));
}

#[test]
fn what_is_not_json_is_withheld() {
    let answer = response(
        200,
        &[("Content-Type", "text/plain")],
        b"apiKey=aaaaaaa&x=1",
    );
    let around = Around::new([answer]);
    let done = around.call("forms", "register", json!({"name": "a"}));
    assert!(done.captured.is_empty());
    assert!(!format!("{:?}", done.end).contains("aaaaaaa"));
    assert!(
        done.warnings
            .iter()
            .any(|warning| warning.contains("withheld"))
    );
}

#[test]
fn of_more_than_are_kept_nothing_is_shown() {
    let mut register = operation("forms", "register");
    register.returns_secret = vec!["/keys/*".to_owned(), "/keys/0".to_owned()];
    register.output_schema = None;
    let keys: Vec<String> = (0..65).map(|number| format!("key-{number:08}")).collect();
    for (count, is_shown) in [(64, true), (65, false)] {
        let body = json!({"keys": keys[..count], "again": keys[count - 1]});
        let around = Around::new([json_response(&body)]);
        let done = around.call_of("forms", &register, json!({"name": "a"}));
        assert_eq!(done.captured.len(), 64);
        let shown = format!("{:?}", done.end);
        assert!(!shown.contains("key-000000"), "{shown}");
        assert_eq!(shown.contains("secret:FORMS_KEYS_64"), is_shown, "{shown}");
        let withheld = done
            .warnings
            .iter()
            .any(|warning| warning.contains("withheld"));
        assert_eq!(withheld, !is_shown);
    }
}
