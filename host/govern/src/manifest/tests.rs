use serde_json::json;

use super::*;
use hydrant_plan::show::{approval_reason, params};
use hydrant_plan::{
    Body, Encoding, HttpStage, JsonMember, JsonNode, OutputFile, Pair, Segment, Segments, Stage,
};

fn transform(stage: Value) -> Value {
    let stage: Stage = serde_json::from_value(stage).unwrap();
    Value::Object(params(&stage))
}

#[test]
fn words_of_names() {
    for (text, expected) in [
        ("create_notebook", "Create Notebook"),
        ("Search  Notebooks", "Search Notebooks"),
        ("convert-video", "Convert Video"),
        ("éclair ΣΑΣ", "Éclair ΣΑΣ"),
        ("listBooks", "ListBooks"),
        ("__", ""),
        ("", ""),
    ] {
        assert_eq!(words(text), expected);
    }
}

#[test]
fn the_heaviest_reason_is_the_sentence() {
    let sentence = |reasons: &[&str]| {
        let reasons: Vec<String> = reasons.iter().map(|reason| (*reason).to_owned()).collect();
        approval_reason(&reasons)
    };
    assert_eq!(
        sentence(&["host:a.org:443", "unknown-tool:ffmpeg"]).unwrap(),
        "Unknown tool 'ffmpeg' requires sandboxed execution"
    );
    assert_eq!(
        sentence(&["script", "script:loop"]).unwrap(),
        "A script (loop) requires sandboxed execution"
    );
    assert_eq!(
        sentence(&["pii", "skill-requested"]).unwrap(),
        "Approval is required: pii, skill-requested"
    );
    assert_eq!(sentence(&[]), None);
}

#[test]
fn a_request_reads_as_it_is_sent() {
    let shown = transform(json!({"kind": "http", "method": "PUT",
        "url": [{"lit": "https://a.org/v1/"}, {"input": "id", "enc": "path"}],
        "query": [
            {"name": [{"lit": "lang"}], "value": [{"lit": "en"}]},
            {"name": [{"lit": "flag"}]},
            {"name": [{"lit": "key"}], "value": [{"secret": "A_KEY", "enc": "query"}]}],
        "headers": [
            {"name": "Accept", "value": [{"lit": "a/b"}]},
            {"name": "Accept", "value": [{"lit": "c/d"}]}],
        "body": {"json": {"object": [
            {"key": "a\"b", "value": {"text": [{"lit": "x"}, {"input": "y", "enc": "json-string"}]}},
            {"key": "n", "value": {"array": [{"value": 1}, {"value": null}, {"input": "z"}]}},
            {"key": "f", "value": {"text-of-file": "a.txt"}},
            {"key": "j", "value": {"json-of-file": "a.json"}}]}},
        "follow": true, "output-file": {"path": [{"lit": "out.bin"}]}}));
    assert_eq!(
        shown,
        json!({"url": "https://a.org/v1/{id}?lang=en&flag&key={A_KEY}", "method": "PUT",
            "headers": {"Accept": "a/b, c/d"},
            "body": r#"{"a\"b":"x{y}","n":[1,null,{z}],"f":"@a.txt","j":@a.json}"#,
            "output-file": "out.bin", "follow": true})
    );
}

#[test]
fn bodies_of_every_kind() {
    let body = |body: Value| {
        transform(json!({"kind": "http", "method": "POST", "url": [{"lit": "https://a.org/"}], "follow": false,
            "body": body}))["body"]
            .clone()
    };
    assert_eq!(
        body(json!({"text": [{"lit": "a"}, {"input": "b", "enc": "none"}]})),
        "a{b}"
    );
    assert_eq!(
        body(json!({"input": {"name": "body", "media": "json"}})),
        "{body}"
    );
    assert_eq!(
        body(json!({"input": {"name": "file", "media": "file"}})),
        "@{file}"
    );
    assert_eq!(
        body(
            json!({"pieces": [{"text": [{"lit": "a="}]}, {"file": {"name": "f", "use": "verbatim"}},
            {"previous": {"use": "stripped"}}]})
        ),
        "a=@f@-"
    );
    let whole = json!({"object": [{"key": "a", "value": {"input": "a"}}]});
    assert_eq!(body(json!({"json": whole})), "input-json");
    let renamed = json!({"object": [{"key": "a", "value": {"input": "b"}}]});
    assert_eq!(body(json!({"json": renamed})), r#"{"a":{b}}"#);
    assert_eq!(body(json!({"json": {"object": []}})), "{}");
}

#[test]
fn other_stages() {
    assert_eq!(
        transform(
            json!({"kind": "json-filter", "program": ".a", "options": ["raw"],
            "args": {"x": [{"input": "y", "enc": "none"}]}, "json-args": {"n": 1}})
        ),
        json!({"path": ".a", "raw": true, "args": {"x": "{y}", "n": 1}})
    );
    assert_eq!(
        transform(json!({"kind": "read-file", "paths": ["a", "b"],
            "excerpt": {"tool": "tail", "unit": "lines", "count": 3, "mode": "from"}})),
        json!({"paths": ["a", "b"], "tail": {"lines": 3, "mode": "from"}})
    );
    assert_eq!(
        transform(
            json!({"kind": "println", "text": [{"lit": "hi "}, {"input": "name", "enc": "none"}]})
        ),
        json!({"text": "hi {name}"})
    );
}

#[test]
fn an_address_of_the_caller() {
    let mut stage = HttpStage {
        method: "GET".to_owned(),
        url: Segments::default(),
        url_input: Some("url".to_owned()),
        domains: vec!["a.org".to_owned()],
        query: Vec::new(),
        headers: Vec::new(),
        removed_headers: Vec::new(),
        cookies: Vec::new(),
        basic: None,
        auth: None,
        body: None,
        follow: false,
        limits: hydrant_plan::HttpLimits::default(),
        output_file: None,
    };
    let shown = params(&Stage::Http(Box::new(stage.clone())));
    assert_eq!(
        Value::Object(shown),
        json!({"url": "{url}", "method": "GET"})
    );
    stage.url_input = None;
    stage.url = Segments(vec![Segment::Literal {
        lit: "https://a.org/".to_owned(),
    }]);
    stage.cookies = vec![Pair {
        name: Segments::literal("s"),
        value: Some(Segments::secret("SID", Encoding::Header)),
    }];
    stage.body = Some(Body::Json(JsonNode::Object(vec![JsonMember {
        key: "a".to_owned(),
        value: JsonNode::Value(json!("b")),
    }])));
    stage.output_file = Some(OutputFile {
        path: Segments::input("f", Encoding::None),
    });
    let shown = params(&Stage::Http(Box::new(stage)));
    assert_eq!(
        Value::Object(shown),
        json!({"url": "https://a.org/", "method": "GET", "headers": {"Cookie": "s={SID}"}, "body": r#"{"a":"b"}"#,
            "output-file": "{f}"})
    );
}

#[test]
fn no_text_of_a_document_looks_like_a_placeholder() {
    for (text, shown) in [
        ("{NAME}", r"\u{7b}NAME}"),
        ("a {secret X} {{input", r"a \u{7b}secret X} {\u{7b}input"),
        (
            r#"{"a":{}} { b } {a:1} {"#,
            r#"{"a":{}} { b } {a:1} \u{7b}"#,
        ),
    ] {
        assert_eq!(hydrant_plan::show::escaped(text, true), shown, "{text}");
    }
    assert_eq!(hydrant_plan::show::escaped("{secret", false), "{secret");
}

/// A stage with these members beside a URL, and what it sends.
fn sent(members: Value, schema: Value) -> Vec<Sends> {
    let mut stage = json!({"kind": "http", "method": "POST", "url": [{"lit": "https://a.org/x"}], "follow": false});
    let members = members.as_object().unwrap().clone();
    stage.as_object_mut().unwrap().extend(members);
    let mut operation = crate::request::tests::operation("moltbook", "search");
    operation.stages = vec![serde_json::from_value(stage).unwrap()];
    operation.input_schema = schema;
    sends(&operation)
}

fn shown(rows: &[Row]) -> Vec<String> {
    let text = |row: &Row| row.parts.iter().map(|part| part.shown.as_str()).collect();
    rows.iter().map(text).collect()
}

#[test]
fn without_input_defaults_stand_where_they_are_sent_and_the_rest_is_left_out() {
    let members = json!({
        "query": [
            {"name": [{"lit": "a"}], "value": [{"input": "a", "enc": "query"}]},
            {"name": [{"lit": "b"}], "value": [{"input": "b", "enc": "query", "style": "form-explode"}]},
            {"name": [{"lit": "c"}], "value": [{"input": "c", "enc": "query"}]}],
        "headers": [{"name": "X-Key", "value": [{"lit": "k "}, {"secret": "KEY", "enc": "header"}]}],
        "body": {"json": {"object": [
            {"key": "n", "value": {"input": "n"}},
            {"key": "c", "value": {"input": "c"}},
            {"key": "d", "value": {"input": "d"}}]}}});
    let schema = json!({"type": "object", "required": ["d"], "properties": {
        "a": {"default": "x y"}, "b": {"default": [1, 2]}, "n": {"default": {"}": 1}}, "c": {}, "d": {}}});
    let [sends] = &sent(members, schema)[..] else {
        panic!();
    };
    assert_eq!(
        shown(&sends.rows),
        [
            r#"POST https://a.org/x?a={input a, default "x y"}&b={input b, default [1,2]}&c={input c, optional}"#,
            "X-Key: k {secret KEY}",
            r#"{"n":{input n, default \u007b"\u007d":1\u007d},"c":{input c, optional},"d":{input d}}"#,
        ]
    );
    assert_eq!(
        shown(&sends.without_input),
        [
            "POST https://a.org/x?a=x%20y&b=1&b=2",
            "X-Key: k {secret KEY}",
            r#"{"n":{"}":1},"d":{input d}}"#,
        ]
    );
}
