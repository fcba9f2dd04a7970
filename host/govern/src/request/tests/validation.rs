use serde_json::json;

use super::{operation, validate};
use crate::failure::Code;

#[test]
fn defaults_are_filled_before_the_schema_is_applied() {
    let search = operation("moltbook", "search");
    let inputs = validate(&search, &json!({"query": "foo"})).unwrap();
    assert_eq!(inputs.get("limit"), Some(&json!(10).into()));

    let register = operation("forms", "register");
    let params = json!({"name": "a", "options": {"size": 3}});
    let inputs = validate(&register, &params).unwrap();
    assert_eq!(
        inputs.get("options"),
        Some(&json!({"size": 3, "colour": "red"}).into())
    );
    let inputs = validate(&register, &json!({"name": "a"})).unwrap();
    assert_eq!(inputs.get("options"), None, "an absent object stays absent");
}

#[test]
fn missing_inputs_are_listed_in_the_message_of_the_seed() {
    let mixed = operation("kit", "mixed");
    let failure = validate(&mixed, &json!({"shelf": "a"})).unwrap_err();
    assert_eq!(failure.code, Code::MissingInput);
    assert_eq!(failure.missing, ["version", "word", "TRACE"]);
    assert_eq!(
        failure.message,
        "PROMPT_MISSING_INPUT: version, word, TRACE"
    );

    let failure = validate(&operation("moltbook", "search"), &json!({})).unwrap_err();
    assert_eq!(failure.message, "PROMPT_MISSING_INPUT: query");
}

#[test]
fn a_missing_file_is_a_missing_input() {
    let upload = operation("kit", "upload");
    let failure = validate(&upload, &json!({})).unwrap_err();
    assert_eq!(failure.missing, ["files"]);
    let failure = validate(&upload, &json!({"files": {}})).unwrap_err();
    assert_eq!(
        (failure.code, failure.missing),
        (Code::MissingInput, vec!["files.a.pdf".to_owned()])
    );
}

#[test]
fn nobody_chooses_url_method_or_headers() {
    let search = operation("moltbook", "search");
    for name in ["url", "method", "headers", "Authorization", "__proto__"] {
        // Also where something else is missing.
        for params in [json!({name: "x"}), json!({"query": "x", name: "x"})] {
            let failure = validate(&search, &params).unwrap_err();
            assert_eq!(failure.code, Code::InvalidInput, "{params}");
            assert_eq!(failure.path.as_deref(), Some(name), "{params}");
        }
    }
}

#[test]
fn what_does_not_fit_is_named_by_its_path_and_never_by_its_value() {
    let register = operation("forms", "register");
    let marker = "hunter2-hunter2";
    for (params, path) in [
        (json!({"name": 7}), "name"),
        (json!({"name": ""}), "name"),
        (
            json!({"name": "a", "options": {"size": marker}}),
            "options.size",
        ),
        (json!({"name": "a", "options": {}}), "options.size"),
        (
            json!({"name": "a", "options": {"size": 1, "other": marker}}),
            "options.other",
        ),
        (json!({"name": "a", "options": [marker]}), "options"),
    ] {
        let failure = validate(&register, &params).unwrap_err();
        assert_eq!(failure.code, Code::InvalidInput, "{params}");
        assert_eq!(failure.path.as_deref(), Some(path), "{params}");
        assert!(!failure.message.contains(marker), "{}", failure.message);
    }
}

#[test]
fn params_is_an_object() {
    let search = operation("moltbook", "search");
    for params in [json!(null), json!([]), json!("query"), json!(7)] {
        let failure = validate(&search, &params).unwrap_err();
        assert_eq!(failure.code, Code::InvalidInput, "{params}");
    }
}

#[test]
fn what_cannot_be_sent_is_refused_with_the_params() {
    let mixed = operation("kit", "mixed");
    let good = json!({"shelf": "a", "version": 2, "word": "w", "TRACE": "t"});
    validate(&mixed, &good).unwrap();
    for (name, value) in [
        ("shelf", ".."),
        ("shelf", "."),
        ("shelf", ""),
        ("TRACE", "a\r\nX-Admin: 1"),
        ("TRACE", "a\0b"),
        ("TRACE", "a\nb"),
    ] {
        let mut params = good.clone();
        params[name] = value.into();
        let failure = validate(&mixed, &params).unwrap_err();
        assert_eq!(failure.code, Code::InvalidInput, "{name} {value:?}");
        assert_eq!(failure.path.as_deref(), Some(name), "{name} {value:?}");
    }
    let convert = operation("kit", "convert-video");
    let failure = validate(&convert, &json!({"source": "a\0b"})).unwrap_err();
    assert_eq!(failure.code, Code::InvalidInput);
    validate(&convert, &json!({"source": "$(rm -rf /); `x` \n"})).unwrap();
    let setup = operation("kit", "setup");
    let failure = validate(&setup, &json!({"WHO": "a\0LD_PRELOAD=x"})).unwrap_err();
    assert_eq!(failure.code, Code::InvalidInput);
}
