//! The two dialects of `hydrant syscall`, and what a good request is answered.

use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;
use std::sync::mpsc;
use std::time::Duration;

use serde_json::{Value, json};

use crate::os_root::{NONE, OsRoot, agent, failed, skill};

/// The root of the examples.
fn with_cook() -> OsRoot {
    let root = OsRoot::new();
    root.file("crew/cook.md", "---\ntype: Agent\n---\nCook.");
    root
}

/// A request for `os://crew/cook.md` in each dialect.
const EVENT: &str = r#"{"type":"query","name":"Content.Hydrate","payload":{"uri":"os://crew/cook.md"},"metadata":{"id":"e1"}}"#;
const MESSAGE: &str = r#"{"kind":"query","type":"Content.Hydrate","data":{"uri":"os://crew/cook.md"},"metadata":{"id":"m1"}}"#;

#[test]
fn a_request_is_answered_in_its_dialect() {
    let examples = [
        (
            r#"{"type":"query","name":"Content.Hydrate","payload":{"uri":"os://crew/cook.md"},"metadata":{"id":"q1","timestamp":1767225600000,"correlation":"flight-7"}}"#,
            r#"{"type":"response","name":"Content.Hydrate","payload":{"content":"Cook.","metadata":{"uri":"os://crew/cook.md","dependencies":{"skills":[],"tools":[]}}},"metadata":{"id":"…","timestamp":…,"correlation":"flight-7","causation":"q1"}}"#,
        ),
        (
            r#"{"kind":"command","type":"Content.Hydrate","data":{"uri":"os://crew/nobody.md"},"metadata":{"id":"q2","timestamp":1767225600000}}"#,
            r#"{"kind":"reply","type":"Content.Hydrate","data":{"content":"","metadata":{"uri":"ERROR: FETCH_FAILED","dependencies":{"skills":[],"tools":[]}}},"metadata":{"id":"…","timestamp":…,"causation":"q2"}}"#,
        ),
        (
            r#"{"type":"command","name":"pwosIngest","payload":{"uri":"/crew/cook.md"}}"#,
            r#"{"type":"response","name":"pwosIngest","payload":{"content":"---\ntype: Agent\n---\nCook."},"metadata":{"id":"…","timestamp":…}}"#,
        ),
        (
            r#"{"kind":"query","type":"Content.Hydrate","data":{"uri":7},"metadata":{"id":"q4","timestamp":1767225600000}}"#,
            r#"{"kind":"error","type":"Content.Hydrate","data":{"code":422,"message":"uri must be a non-empty string"},"metadata":{"id":"…","timestamp":…,"causation":"q4"}}"#,
        ),
        (
            r#"{"type":"command","name":"Shell.Run","payload":["ls"],"metadata":{"id":"q5","timestamp":1767225600000}}"#,
            r#"{"type":"error","name":"Shell.Run","payload":{"message":"unsupported syscall: Shell.Run","code":"NOT_FOUND"},"metadata":{"id":"…","timestamp":…,"causation":"q5"}}"#,
        ),
    ];
    let requests = examples.map(|(request, _)| request.to_owned());
    let run = with_cook().syscall(&[], &requests);
    for ((request, expected), line) in examples.iter().zip(run.stdout.lines()) {
        // The last two are what varies; no other member is named like them here.
        let metadata = line.rfind(r#""metadata":{"#).unwrap();
        let answer: Value = serde_json::from_str(line).unwrap();
        let id = answer["metadata"]["id"].as_str().unwrap();
        let masked = line[metadata..].replace(&format!("{id:?}"), "\"…\"");
        let timestamp = answer["metadata"]["timestamp"].to_string();
        let masked = line[..metadata].to_owned() + &masked.replace(&timestamp, "…");
        assert_eq!(masked, *expected, "{request}");
    }
    assert_eq!(run.stdout.lines().count(), 5);
    assert_eq!(run.status, 1);
}

#[test]
fn ids_are_random_and_timestamps_are_now_in_milliseconds() {
    let run = with_cook().syscall(
        &[],
        &[EVENT.to_owned(), MESSAGE.to_owned(), EVENT.to_owned()],
    );
    assert_eq!(run.status, 0);
    let mut ids = Vec::new();
    for answer in run.answers() {
        let id = answer["metadata"]["id"].as_str().unwrap().to_owned();
        assert!(
            id.len() == 8
                && id
                    .bytes()
                    .all(|b| b.is_ascii_alphanumeric() || b"-_".contains(&b)),
            "{id}"
        );
        ids.push(id);
        let timestamp = u128::from(answer["metadata"]["timestamp"].as_u64().unwrap());
        let now = std::time::SystemTime::now()
            .duration_since(std::time::UNIX_EPOCH)
            .unwrap();
        assert!(now.as_millis().abs_diff(timestamp) < 120_000, "{timestamp}");
    }
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 3);
}

#[test]
fn every_answer_is_flushed_before_the_next_line_is_read() {
    let root = with_cook();
    let mut child = root
        .command(&["syscall"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let stdout = BufReader::new(child.stdout.take().unwrap());
    let (lines, answers) = mpsc::channel();
    let reader = std::thread::spawn(move || {
        for line in stdout.lines() {
            lines.send(line.unwrap()).unwrap();
        }
    });
    for request in [EVENT, MESSAGE, EVENT] {
        writeln!(stdin, "{request}").unwrap();
        let answer = answers
            .recv_timeout(Duration::from_secs(20))
            .expect("flushed");
        assert!(answer.contains("Cook."), "{answer}");
    }
    drop(stdin);
    reader.join().unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn blank_lines_and_a_missing_last_line_end() {
    let root = with_cook();
    let run = root.syscall_bytes(&[], format!("\n  \n{EVENT}\r\n\n{MESSAGE}").as_bytes());
    let kinds: Vec<Value> = run
        .answers()
        .iter()
        .map(|answer| answer["type"].clone())
        .collect();
    assert_eq!(kinds, ["response", "Content.Hydrate"]);
    let run = root.syscall_bytes(&[], b"");
    assert_eq!((run.status, run.stdout.as_str()), (0, ""), "no prologue");
}

#[test]
fn the_dialect_and_the_behaviour_of_a_request() {
    let root = with_cook();
    for behaviour in ["command", "query"] {
        let run = root.syscall(
            &[],
            &[
                EVENT.replace("query", behaviour),
                MESSAGE.replace("query", behaviour),
            ],
        );
        let answers = run.answers();
        assert_eq!(
            (&answers[0]["type"], answers[0].get("kind")),
            (&json!("response"), None)
        );
        assert_eq!(
            (&answers[1]["kind"], &answers[1]["type"]),
            (&json!("reply"), &json!("Content.Hydrate"))
        );
        assert_eq!(answers[0]["payload"], answers[1]["data"], "{behaviour}");
    }
    for behaviour in ["event", "response", "reply", "error"] {
        let run = root.syscall(
            &[],
            &[
                EVENT.replace("query", behaviour),
                MESSAGE.replace("query", behaviour),
            ],
        );
        assert_eq!((run.status, run.stdout.as_str()), (0, ""), "{behaviour}");
    }
}

#[test]
fn the_aliases_answer_the_linked_document() {
    let root = OsRoot::new();
    root.file("a.md", "---\nskills:\n  - b.md # b\n---\nGo\n")
        .file("b.md", skill("B"));
    let linked = root.hydrate(&["a.md", "--format", "link"]).stdout;
    let requests = [
        json!({"type": "query", "name": "Content.Ingest", "payload": {"uri": "os://a.md"}}),
        json!({"type": "query", "name": "pwosIngest", "payload": {"uri": "os://a.md"}}),
        json!({"kind": "command", "type": "Content.Ingest", "data": {"uri": "os://a.md"}}),
        json!({"kind": "command", "type": "pwosIngest", "data": {"uri": "os://a.md"}}),
    ];
    let run = root.syscall(&[], &requests.map(|request| request.to_string()));
    for (answer, member) in run
        .answers()
        .iter()
        .zip(["payload", "payload", "data", "data"])
    {
        assert_eq!(
            answer[member],
            json!({"content": linked}),
            "exactly this member"
        );
    }
}

#[test]
fn what_a_request_adds_changes_nothing() {
    let root = OsRoot::new();
    root.file("a.md", agent(&["b.md"], &["t.sh"]))
        .file("b.md", agent(&["c.md"], NONE));
    root.file("../secret/a.md", "secret");
    let payload = json!({
        "uri": "os://a.md",
        "root": "secret",
        "mounts": {"/": "secret"},
        "policy": {"jail": {"process": "unjailed"}},
        "maxDepth": 5,
        "depth": 5,
        "format": "link",
        "checksums": true,
    });
    let request =
        json!({"type": "query", "name": "Content.Hydrate", "payload": payload, "root": "secret"});
    let run = root.syscall(&[], &[request.to_string()]);
    let plain: Value = root.payload(&["os://a.md"]).json;
    assert_eq!(run.answers()[0]["payload"], plain);
}

#[test]
fn metadata_may_be_missing_or_partial() {
    let metadata = [
        None,
        Some(json!({})),
        Some(json!({"id": "x"})),
        Some(json!({"timestamp": 0})),
        Some(json!({"timestamp": 1.5, "more": [1]})),
        Some(json!({"correlation": null, "causation": null})),
        Some(json!({"id": "x", "causation": "y"})),
    ];
    let requests: Vec<String> = metadata
        .iter()
        .map(|metadata| {
            let mut request: Value = serde_json::from_str(EVENT).unwrap();
            request.as_object_mut().unwrap().remove("metadata");
            if let Some(metadata) = metadata {
                request["metadata"] = metadata.clone();
            }
            request.to_string()
        })
        .collect();
    let run = with_cook().syscall(&[], &requests);
    assert_eq!(run.status, 0, "{}", run.stdout);
    for (metadata, answer) in metadata.iter().zip(run.answers()) {
        let id = metadata.as_ref().and_then(|metadata| metadata.get("id"));
        assert_eq!(answer["metadata"].get("causation"), id, "{metadata:?}");
        assert_eq!(answer["metadata"].get("correlation"), None, "{metadata:?}");
    }
}

#[test]
fn a_blank_uri_is_a_reference_that_fails_softly() {
    let request = EVENT.replace("os://crew/cook.md", " ");
    let run = with_cook().syscall(&[], &[request]);
    assert_eq!(run.status, 0);
    assert!(
        run.stdout.contains(&failed("FETCH_FAILED", "")),
        "{}",
        run.stdout
    );
}

#[test]
fn options_hold_for_every_request_of_the_stream() {
    let root = OsRoot::new();
    root.file("../elsewhere/a.md", agent(&["b.md"], NONE));
    root.file(
        "../elsewhere/b.md",
        "---\nname: B\ndescription: a: b\nskills: [c.md]\n---\n",
    );
    let options = [
        "--root",
        "elsewhere",
        "--depth",
        "2",
        "--checksums",
        "--no-exec",
    ];
    let request = EVENT.replace("os://crew/cook.md", "os://a.md");
    let run = root.syscall(
        &[&options[..], &["--lenient"]].concat(),
        &[request.clone(), request],
    );
    let direct = root.payload(&[&["os://a.md", "--lenient"], &options[..]].concat());
    assert!(direct.text.contains("sha256:") && direct.text.contains("os://c.md"));
    for line in run.stdout.lines() {
        assert!(
            line.contains(&format!(r#""payload":{},"metadata""#, direct.text)),
            "{line}"
        );
    }
    assert_eq!(run.stdout.lines().count(), 2);
}
