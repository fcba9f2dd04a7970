//! What a bad request is answered, and answers that are too long.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use crate::os_root::OsRoot;

const GOOD: &str = r#"{"type":"query","name":"Content.Hydrate","payload":{"uri":"os://a.md"}}"#;
const GOOD_MESSAGE: &str =
    r#"{"kind":"query","type":"Content.Hydrate","data":{"uri":"os://a.md"}}"#;

fn with_a() -> OsRoot {
    let root = OsRoot::new();
    root.file("a.md", "Hi");
    root
}

/// The one error that this line is answered, with both its code and its name.
fn error(root: &OsRoot, line: &str) -> (Value, Value) {
    let run = root.syscall(&[], &[line.to_owned()]);
    assert_eq!(run.status, 1, "{line}: {}", run.stdout);
    let answer = run.answers().into_iter().next().unwrap();
    if answer.get("kind").is_some() {
        assert_eq!(answer["kind"], "error", "{line}");
        assert!(answer["data"]["message"].is_string(), "{line}");
        (answer["data"]["code"].clone(), answer["type"].clone())
    } else {
        assert_eq!(answer["type"], "error", "{line}");
        assert!(answer["payload"]["message"].is_string(), "{line}");
        (answer["payload"]["code"].clone(), answer["name"].clone())
    }
}

#[test]
fn bad_requests_in_the_event_dialect() {
    let root = with_a();
    let invalid = "Validation.Failed";
    let hydrate = "Content.Hydrate";
    #[rustfmt::skip]
    let rows = [
        // A name that is not served.
        (r#"{"type":"query","name":"Shell.Run","payload":{}}"#, "NOT_FOUND", "Shell.Run"),
        (r#"{"type":"command","name":"Bin.Sh","payload":["-c","id"]}"#, "NOT_FOUND", "Bin.Sh"),
        // A member that is missing or wrong.
        (r#"{"type":"query","name":"ls","payload":{}}"#, "SCHEMA_VIOLATION", invalid),
        (r#"{"type":"query","name":"content.hydrate","payload":{}}"#, "SCHEMA_VIOLATION", invalid),
        (r#"{"type":"query","name":"Content.Hydrate.X","payload":{}}"#, "SCHEMA_VIOLATION", invalid),
        (r#"{"type":"query","name":"Content.Hydrate\n","payload":{}}"#, "SCHEMA_VIOLATION", invalid),
        (r#"{"type":"query","name":7,"payload":{}}"#, "SCHEMA_VIOLATION", invalid),
        (r#"{"type":"query","payload":{"uri":"os://a.md"}}"#, "SCHEMA_VIOLATION", invalid),
        (r#"{"name":"Content.Hydrate","payload":{"uri":"os://a.md"}}"#, "SCHEMA_VIOLATION", hydrate),
        (r#"{"type":"wish","name":"Content.Hydrate","payload":{"uri":"os://a.md"}}"#, "SCHEMA_VIOLATION", hydrate),
        (r#"{"type":"query","name":"Content.Hydrate"}"#, "SCHEMA_VIOLATION", hydrate),
        // A payload that is wrong.
        (r#"{"type":"query","name":"Content.Hydrate","payload":{}}"#, "SCHEMA_VIOLATION", hydrate),
        (r#"{"type":"query","name":"Content.Hydrate","payload":{"uri":""}}"#, "SCHEMA_VIOLATION", hydrate),
        (r#"{"type":"query","name":"Content.Hydrate","payload":{"uri":null}}"#, "SCHEMA_VIOLATION", hydrate),
        (r#"{"type":"query","name":"Content.Hydrate","payload":["os://a.md"]}"#, "SCHEMA_VIOLATION", hydrate),
        // No JSON object.
        ("{", "INVALID_JSON", invalid),
        ("[]", "INVALID_JSON", invalid),
        ("7 8", "INVALID_JSON", invalid),
        ("os://a.md", "INVALID_JSON", invalid),
    ];
    for (line, code, name) in rows {
        assert_eq!(error(&root, line), (json!(code), json!(name)), "{line}");
    }
}

#[test]
fn bad_requests_in_the_message_dialect() {
    let root = with_a();
    #[rustfmt::skip]
    let rows = [
        (r#"{"kind":"query","type":"Shell.Run","data":{}}"#, 404, "Shell.Run"),
        (r#"{"kind":"query","type":"ls","data":{}}"#, 422, "Validation.Failed"),
        (r#"{"kind":"wish","type":"Content.Hydrate","data":{"uri":"os://a.md"}}"#, 422, "Content.Hydrate"),
        (r#"{"kind":7,"type":"Content.Hydrate","data":{"uri":"os://a.md"}}"#, 422, "Content.Hydrate"),
        (r#"{"kind":"query","type":"Content.Hydrate","payload":{"uri":"os://a.md"}}"#, 422, "Content.Hydrate"),
        (r#"{"kind":"query","type":"Content.Hydrate","data":{"uri":""}}"#, 422, "Content.Hydrate"),
    ];
    for (line, code, name) in rows {
        assert_eq!(error(&root, line), (json!(code), json!(name)), "{line}");
    }
}

#[test]
fn metadata_of_the_wrong_shape() {
    let root = with_a();
    let wrong = [
        json!(null),
        json!([]),
        json!("q1"),
        json!({"id": ""}),
        json!({"id": 7}),
        json!({"id": null}),
        json!({"timestamp": -1}),
        json!({"timestamp": "now"}),
        json!({"correlation": ""}),
        json!({"correlation": 1}),
        json!({"causation": ""}),
        json!({"causation": {}}),
    ];
    for metadata in wrong {
        let mut request: Value = serde_json::from_str(GOOD).unwrap();
        request["metadata"] = metadata.clone();
        let expected = (json!("SCHEMA_VIOLATION"), json!("Content.Hydrate"));
        assert_eq!(error(&root, &request.to_string()), expected, "{metadata}");
    }
}

#[test]
fn a_line_without_a_dialect_is_answered_in_that_of_the_last_good_line() {
    let root = with_a();
    let lines = ["{", GOOD_MESSAGE, "{", "[]", GOOD, "nonsense"].map(str::to_owned);
    let run = root.syscall(&[], &lines);
    let answers = run.answers();
    assert_eq!(
        answers[0]["payload"]["code"], "INVALID_JSON",
        "first OsEvent"
    );
    assert_eq!(answers[1]["kind"], "reply", "the stream goes on");
    assert_eq!(answers[2]["data"]["code"], 400);
    assert_eq!(answers[3]["data"]["code"], 400);
    assert_eq!(answers[4]["type"], "response");
    assert_eq!(answers[5]["payload"]["code"], "INVALID_JSON");
    assert_eq!((answers.len(), run.status), (6, 1));
}

#[test]
fn a_link_form_without_a_document() {
    let root = with_a();
    root.file("bad.md", "---\n[\n---\n");
    #[rustfmt::skip]
    let rows = [
        ("os://gone.md", "FETCH_FAILED", 404),
        ("ftp://h.example/a.md", "UNSUPPORTED_SCHEME", 400),
        ("os://bad.md", "PARSE_ERROR", 422),
    ];
    for (uri, code, number) in rows {
        for name in ["Content.Ingest", "pwosIngest"] {
            let event = json!({"type": "query", "name": name, "payload": {"uri": uri}});
            assert_eq!(
                error(&root, &event.to_string()),
                (json!(code), json!(name)),
                "{uri}"
            );
            let message = json!({"kind": "query", "type": name, "data": {"uri": uri}});
            assert_eq!(
                error(&root, &message.to_string()),
                (json!(number), json!(name)),
                "{uri}"
            );
        }
    }
}

/// `request` made exactly this long by a member that nobody reads.
fn padded(request: &str, length: usize) -> String {
    let open = request.strip_suffix('}').unwrap();
    let filler = length - open.len() - r#","x":""}"#.len();
    format!(r#"{open},"x":"{}"}}"#, "x".repeat(filler))
}

#[test]
fn a_request_line_has_a_limit_in_each_dialect() {
    let root = with_a();
    let (mib, kib) = (1 << 20, 16_384);
    let lines = [
        padded(GOOD, mib),
        padded(GOOD, mib + 1),
        padded(GOOD_MESSAGE, kib),
        padded(GOOD_MESSAGE, kib + 1),
        padded(GOOD_MESSAGE, mib + 1), // skipped unparsed: the dialect is that of the last good line
        "x".repeat(5 << 20),
        GOOD.to_owned(),
        padded(GOOD_MESSAGE, mib + 1),
    ];
    let run = root.syscall(&[], &lines);
    let answers = run.answers();
    assert_eq!(answers[0]["type"], "response", "1 MiB");
    assert_eq!(answers[1]["payload"]["code"], "LINE_TOO_LONG");
    assert_eq!(answers[2]["kind"], "reply", "16,384 bytes");
    assert_eq!(answers[3]["data"]["code"], 413);
    assert_eq!(answers[4]["data"]["code"], 413);
    assert_eq!(answers[5]["data"]["code"], 413);
    assert_eq!(answers[6]["type"], "response");
    assert_eq!(answers[7]["payload"]["code"], "LINE_TOO_LONG");
    assert_eq!(answers.len(), 8);
}

#[test]
fn an_answer_that_is_too_long_is_an_error() {
    let root = with_a();
    root.file("16k.md", "x".repeat(16_384))
        .file("1m.md", "x".repeat(1 << 20));
    let request = |line: &str, uri: &str| line.replace("os://a.md", uri);
    let run = root.syscall(
        &[],
        &[
            request(GOOD, "os://16k.md"),
            request(GOOD, "os://1m.md"),
            request(GOOD_MESSAGE, "os://16k.md"),
            request(GOOD_MESSAGE, "os://a.md"),
        ],
    );
    let answers = run.answers();
    assert_eq!(answers[0]["type"], "response");
    assert_eq!(answers[1]["payload"]["code"], "LINE_TOO_LONG");
    assert_eq!(
        (&answers[2]["kind"], &answers[2]["data"]["code"]),
        (&json!("error"), &json!(413))
    );
    assert_eq!(answers[3]["kind"], "reply", "the stream goes on");
}

#[test]
fn with_a_blob_directory_long_content_is_a_pointer() {
    let root = with_a();
    let content = "é".repeat(9_000);
    root.file("long.md", &content);
    let skills: Vec<String> = (0..300).map(|n| format!("skill-number-{n}.md")).collect();
    root.file(
        "wide.md",
        crate::os_root::agent(&skills, crate::os_root::NONE),
    );
    let blobs = root.project().join("blobs");
    fs::create_dir(&blobs).unwrap();
    let request = |uri: &str| GOOD_MESSAGE.replace("os://a.md", uri);
    let ingest = request("os://long.md").replace("Content.Hydrate", "Content.Ingest");
    let lines = [
        request("os://long.md"),
        request("os://long.md"),
        ingest,
        request("os://a.md"),
        request("os://wide.md"),
    ];
    let run = root.syscall(&["--blob-dir", "blobs"], &lines);
    let answers = run.answers();
    let pointer = &answers[0]["data"]["content"];
    assert_eq!(pointer["scheme"], "file", "{}", run.stdout);
    let path = pointer["path"].as_str().unwrap();
    let name = path
        .strip_prefix(blobs.to_str().unwrap())
        .expect("DIR, absolute");
    assert_eq!(name.len(), 1 + 64 + 3, "<sha256 of the content>.md: {name}");
    assert_eq!(fs::read_to_string(path).unwrap(), content);
    assert_eq!(
        fs::metadata(path).unwrap().permissions().mode() & 0o777,
        0o600
    );
    assert_eq!(answers[0]["data"]["metadata"]["uri"], "os://long.md");
    assert_eq!(&answers[1]["data"]["content"], pointer, "written once");
    assert_eq!(&answers[2]["data"], &json!({"content": pointer}));
    assert_eq!(
        answers[3]["data"]["content"], "Hi",
        "only an answer that is too long"
    );
    assert_eq!(answers[4]["data"]["code"], 413, "still too long");
    let names: Vec<_> = fs::read_dir(&blobs)
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert!(
        names.iter().any(|blob| blob.to_str() == Some(&name[1..])),
        "{names:?}"
    );
    assert!(run.stdout.lines().all(|line| line.len() <= 16_384));
}

#[test]
fn deep_nesting_of_a_request_is_refused_not_followed() {
    let root = with_a();
    let deep = format!(
        r#"{{"type":"query","name":"Content.Hydrate","payload":{}{}}}"#,
        "[".repeat(300_000),
        "]".repeat(300_000)
    );
    let run = root.syscall(&[], &[deep, GOOD.to_owned()]);
    assert_eq!(run.answers()[0]["type"], "error");
    assert_eq!(run.answers()[1]["type"], "response");
}
