//! What goes out does not come back.

use secrecy::SecretString;
use serde_json::json;

use super::{Around, b64, code, events, failed, json_response, output, response};
use crate::chain::Event;
use crate::failure::{Code, Failure};

const SECRET: &str = "s3cr3t/MOLTBOOK_API_KEY+";

#[test]
fn an_echoed_value_is_replaced_in_every_form() {
    let basic = b64(format!("user:{SECRET}").as_bytes());
    let inner = basic.get(8..basic.len() - 6).unwrap().to_owned();
    for body in [
        SECRET.to_owned(),
        format!("before {SECRET} after {SECRET}"),
        "s3cr3t%2FMOLTBOOK_API_KEY%2B".to_owned(),
        "s3cr3t%2fMOLTBOOK_API_KEY%2b".to_owned(),
        "s3cr3t\\/MOLTBOOK_API_KEY+".to_owned(),
        b64(SECRET.as_bytes()),
        basic,
    ] {
        let headers = [("X-Echo", body.as_str()), ("content-type", "text/html")];
        let around = Around::new([response(200, &headers, body.as_bytes())]);
        let done = around.call("moltbook", "search", json!({"query": "x"}));
        let shown = output(&done).to_string();
        assert!(shown.contains("***REDACTED***"), "{body}: {shown}");
        for form in [SECRET, "s3cr3t", "s3cr3t%2F", inner.as_str()] {
            assert!(!shown.contains(form), "{body}: {shown}");
        }
        assert_eq!(
            events(&done)[1],
            (Event::SecretEcho, "MOLTBOOK_API_KEY"),
            "{body}"
        );
    }
}

#[test]
fn escapes_of_json_hide_nothing() {
    let body = br#"{"a": "\u0073\u0033cr3t\u002fMOLTBOOK_API_KEY\u002B", "\u00733cr3t/MOLTBOOK_API_KEY+": 1}"#;
    let around = Around::new([response(200, &[("content-type", "application/json")], body)]);
    let done = around.call("moltbook", "search", json!({"query": "x"}));
    assert_eq!(
        output(&done)["json"],
        json!({"a": "***REDACTED***", "***REDACTED***": 1})
    );
    assert!(events(&done).contains(&(Event::SecretEcho, "MOLTBOOK_API_KEY")));
}

#[test]
fn what_does_not_come_back_is_no_echo() {
    let around = Around::new([json_response(&json!({"results": ["s3cr3t"]}))]);
    let done = around.call("moltbook", "search", json!({"query": "x"}));
    assert_eq!(output(&done)["json"]["results"][0], "s3cr3t");
    assert_eq!(events(&done).len(), 1);
}

#[test]
fn a_filter_does_not_see_an_echo() {
    let mut titles = crate::request::tests::operation("kit", "titles");
    let with_secret = crate::request::tests::operation("moltbook", "search");
    titles.stages[0] = with_secret.stages[0].clone();
    titles.hosts = with_secret.hosts;
    titles.input_schema = json!({"type": "object"});
    let around = Around::new([response(200, &[], SECRET.as_bytes())]);
    around.answers.lock().unwrap().extend([
        json!({"ok": true, "output-b64": b64(b"x")}),
        json!({"ok": true, "built-in": true, "output-b64": b64(b"x")}),
    ]);
    let done = around.call_of("kit", &titles, json!({"query": "x", "WORD": "w"}));
    output(&done);
    assert_eq!(around.asked()[0]["input-b64"], b64(b"***REDACTED***"));
}

#[test]
fn without_a_binding_nothing_is_sent() {
    for refused in [Code::SecretMissing, Code::SecretUnbound] {
        let mut around = Around::new([]);
        around.secret = if refused == Code::SecretMissing {
            |_, _| Err(Failure::new(Code::SecretMissing, "no value"))
        } else {
            |_, _| Err(Failure::new(Code::SecretUnbound, "no binding"))
        };
        let done = around.call("moltbook", "search", json!({"query": "x"}));
        assert_eq!(code(&done), refused);
        assert!(done.entries.is_empty());
    }
}

#[test]
fn a_secret_is_asked_for_with_the_host_it_goes_to() {
    let mut around = Around::new([response(200, &[], b"")]);
    around.secret = |name, host| {
        assert_eq!((name, host), ("MOLTBOOK_API_KEY", "api.moltbook.com:443"));
        Ok(SecretString::from("value"))
    };
    output(&around.call("moltbook", "search", json!({"query": "x"})));
}

#[test]
fn a_failure_holds_no_value() {
    let mut around = Around::new([failed(Code::Connect)]);
    around.responses.lock().unwrap()[0] = Err(crate::ports::WireFailure {
        failure: Failure::new(Code::Connect, format!("no way to {SECRET}"))
            .with_hint(format!("try {SECRET}")),
        network_bytes: 0,
    });
    let done = around.call("moltbook", "search", json!({"query": "x"}));
    let failure = done.end.unwrap_err();
    assert!(failure.message.contains("***REDACTED***"), "{failure:?}");
    assert!(!format!("{failure:?}").contains(SECRET), "{failure:?}");
    around.secret = |_, _| Ok(SecretString::from("short"));
}

#[test]
fn a_secret_is_never_given_to_the_interpreter() {
    let mut titles = crate::request::tests::operation("kit", "titles");
    let hydrant_plan::Stage::JsonFilter { args, .. } = &mut titles.stages[1] else {
        panic!()
    };
    args.insert(
        "k".to_owned(),
        hydrant_plan::Segments::secret("K", hydrant_plan::Encoding::None),
    );
    let around = Around::new([response(200, &[], b"[]")]);
    let done = around.call_of("kit", &titles, json!({"WORD": "w"}));
    assert_eq!(code(&done), Code::SecretUnbound);
    assert_eq!(around.asked().len(), 0);
}
