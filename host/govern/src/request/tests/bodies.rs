use serde_json::{Value, json};

use super::super::CallFiles;
use super::{body, header, operation, requested, requested_with};
use hydrant_plan::{Body, JsonMember, JsonNode, Segments, Stage};

fn b64(text: &str) -> Value {
    use base64::Engine as _;
    json!({"content-b64": base64::engine::general_purpose::STANDARD.encode(text)})
}

#[test]
fn members_of_absent_inputs_are_left_out() {
    let request = requested("forms", "register", json!({"name": "a\"\n"})).unwrap();
    assert_eq!(body(&request), r#"{"name":"a\"\n"}"#);
}

#[test]
fn null_is_a_value_of_a_json_body() {
    let request = requested("moltbook", "create_notebook", json!({"body": null})).unwrap();
    assert_eq!(body(&request), "null");
}

#[test]
fn a_secret_within_json_is_escaped_and_marked() {
    let mut json = operation("kit", "json");
    let Stage::Http(stage) = &mut json.stages[0] else {
        panic!()
    };
    let mut text = Segments::literal("key: ");
    for segment in Segments::secret("A\"B", hydrant_plan::Encoding::JsonString).0 {
        text.push(segment);
    }
    stage.body = Some(Body::Json(JsonNode::Object(vec![JsonMember {
        key: "to\"ken".to_owned(),
        value: JsonNode::Array(vec![
            JsonNode::Input("absent".to_owned()),
            JsonNode::Text(text),
            JsonNode::Value(json!(1)),
        ]),
    }])));
    let inputs = super::Inputs::of(json!({}));
    let request = super::filled(&json, &inputs, &CallFiles::default()).unwrap();
    assert!(request.secret_in_body);
    let sent: Value = serde_json::from_str(&body(&request)).unwrap();
    assert_eq!(sent, json!({"to\"ken": ["key: value of A\"B/+", 1]}));
}

#[test]
fn multipart_has_a_part_for_each_value_and_file() {
    let upload = operation("kit", "upload");
    let files = CallFiles::of(&[("a.pdf", b"%PDF\r\n--x\r\n")]);
    let params = json!({"note": "n\r\n", "files": {"a.pdf": b64("x")}});
    let request = requested_with(&upload, params, &files).unwrap();
    let content_type = header(&request, "content-type").unwrap();
    let boundary = content_type
        .strip_prefix("multipart/form-data; boundary=")
        .unwrap();
    assert_eq!(
        body(&request),
        format!(
            "--{boundary}\r\nContent-Disposition: form-data; name=\"note\"\r\n\r\nn\r\n\r\n\
             --{boundary}\r\nContent-Disposition: form-data; name=\"doc\"; filename=\"a.pdf\"\r\n\
             Content-Type: application/pdf\r\n\r\n%PDF\r\n--x\r\n\r\n--{boundary}--\r\n"
        )
    );
    let again = requested_with(&upload, json!({"files": {"a.pdf": b64("x")}}), &files).unwrap();
    assert_ne!(header(&again, "content-type"), Some(content_type));
    assert!(body(&again).contains("\r\n\r\nhi\r\n"), "the default");
}

#[test]
fn a_name_of_a_part_cannot_end_its_header() {
    let upload = operation("books", "upload");
    let params = json!({"name": "f", "body": {"a\"; filename=\"x\r\nX: y": "v", "o": {"a": 1}}});
    let request = requested_with(&upload, params, &CallFiles::default()).unwrap();
    let sent = body(&request);
    assert!(
        sent.contains("name=\"a%22; filename=%22x%0D%0AX: y\"\r\n\r\nv\r\n"),
        "{sent}"
    );
    assert!(sent.contains("name=\"o\"\r\nContent-Type: application/json\r\n\r\n{\"a\":1}"));
}

#[test]
fn files_are_sent_as_they_are_stripped_or_encoded() {
    let files = CallFiles::of(&[("notes.txt", b"a b\r\n\0c&d\n")]);
    let params = json!({"files": {"notes.txt": b64("x")}});
    let request = requested_with(&operation("kit", "stripped"), params.clone(), &files).unwrap();
    assert_eq!(body(&request), "a bc&d");
    let request = requested_with(&operation("kit", "urlencoded"), params, &files).unwrap();
    assert_eq!(body(&request), "text=a+b%0D%0A%00c%26d%0A&x=1");
    let files = CallFiles::of(&[("body", b"\x89PNG\0\r\n")]);
    let params = json!({"name": "n", "files": {"body": b64("x")}});
    let put = operation("books", "put-files-name");
    let request = requested_with(&put, params, &files).unwrap();
    assert_eq!(request.body.unwrap().as_slice(), b"\x89PNG\0\r\n");
}

#[test]
fn an_object_as_a_form() {
    let params =
        json!({"id": "7", "body": {"title": "a&b=c", "n": 1, "tags": ["x", "y"], "no": null}});
    let request = requested("books", "replaceBook", params).unwrap();
    assert_eq!(body(&request), "title=a%26b%3Dc&n=1&tags=x&tags=y");
}
