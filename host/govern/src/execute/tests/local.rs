//! json-filter, text-transform, println and read-file.

use serde_json::json;

use super::{Around, b64, code, output, response};
use crate::failure::Code;
use crate::request::CallFiles;
use crate::request::tests::operation;
use hydrant_plan::Stage;

fn given() -> serde_json::Value {
    json!({"files": {"notes.txt": {"content-b64": "eA=="}}})
}

#[test]
fn each_stage_receives_what_the_one_before_produced() {
    let around = Around::new([response(200, &[], b"[{\"title\":\"Emma\"}]")]);
    around.answers.lock().unwrap().extend([
        json!({"ok": true, "output-b64": b64(b"Emma\n")}),
        json!({"ok": true, "built-in": true, "output-b64": b64(b"Emma first\n")}),
    ]);
    let done = around.call("kit", "titles", json!({"WORD": "Emma\"; $ENV"}));
    assert_eq!(output(&done), &json!({"body": "Emma first\n"}));
    assert_eq!(
        around.asked(),
        [
            json!({
                "op": "filter",
                "path": ".[] | select(.title == $word) | .title",
                "input-b64": b64(b"[{\"title\":\"Emma\"}]"),
                "args": {"word": "Emma\"; $ENV"},
                "raw": true,
            }),
            json!({
                "op": "transform",
                "tool": "head",
                "args": ["-n", "3"],
                "input-b64": b64(b"Emma\n"),
            }),
        ]
    );
}

#[test]
fn a_program_that_fails_ends_the_plan_with_its_code() {
    let around = Around::new([response(200, &[], b"{}")]);
    around.answers.lock().unwrap().push_back(json!({
        "ok": false,
        "error": {"code": "json-filter", "message": "cannot index 1"},
        "diagnostics": [],
    }));
    let done = around.call("kit", "titles", json!({"WORD": "w"}));
    assert_eq!(code(&done), Code::JsonFilter);
    assert_eq!(around.asked().len(), 1, "later stages do not start");

    for answer in [json!({"ok": true}), json!({"ok": true, "output-b64": "!"})] {
        let around = Around::new([response(200, &[], b"{}")]);
        around.answers.lock().unwrap().push_back(answer);
        let done = around.call("kit", "titles", json!({"WORD": "w"}));
        assert_eq!(code(&done), Code::InvalidPlan);
    }
}

#[test]
fn a_tool_that_is_not_built_in_runs_in_a_jail() {
    let around = Around::new([response(200, &[], b"aa\n")]);
    around
        .answers
        .lock()
        .unwrap()
        .push_back(json!({"ok": true, "built-in": false}));
    let done = around.call("kit", "sed", json!({}));
    assert_eq!(output(&done), &json!({"body": "from the jail\n"}));
    assert_eq!(
        *around.jailed.lock().unwrap(),
        [json!({"tool": "sed", "args": ["-e", "s/a/b/"], "stdin": "aa\n"})]
    );
    assert_eq!(done.used.cpu_ms, 7);
}

#[test]
fn a_line_of_text() {
    let around = Around::new([]);
    let done = around.call("kit", "hello", json!({"name": "$(x) \"y\""}));
    assert_eq!(output(&done), &json!({"body": "hello $(x) \"y\"\n"}));
}

#[test]
fn files_and_parts_of_them() {
    let mut around = Around::new([]);
    around.files = CallFiles::of(&[("notes.txt", b"one\ntwo\nthree")]);
    for (tool, unit, count, mode, expected) in [
        ("tail", "lines", 2, "only", "two\nthree"),
        ("tail", "lines", 9, "only", "one\ntwo\nthree"),
        ("tail", "lines", 0, "only", ""),
        ("tail", "lines", 2, "from", "two\nthree"),
        ("tail", "lines", 0, "from", "one\ntwo\nthree"),
        ("tail", "lines", 9, "from", ""),
        ("tail", "bytes", 3, "only", "ree"),
        ("tail", "bytes", 11, "from", "ree"),
        ("head", "lines", 2, "only", "one\ntwo\n"),
        ("head", "lines", 0, "only", ""),
        ("head", "lines", u64::MAX, "only", "one\ntwo\nthree"),
        ("head", "lines", 1, "all-but", "one\ntwo\n"),
        ("head", "lines", 9, "all-but", ""),
        ("head", "bytes", 5, "only", "one\nt"),
        ("head", "bytes", 5, "all-but", "one\ntwo\n"),
    ] {
        let mut lines = operation("kit", "last-lines");
        let Stage::ReadFile(stage) = &mut lines.stages[0] else {
            panic!()
        };
        let excerpt = stage.excerpt.as_mut().unwrap();
        excerpt.tool = tool.to_owned();
        excerpt.unit = unit.to_owned();
        excerpt.count = count;
        excerpt.mode = mode.to_owned();
        let done = around.call_of("kit", &lines, given());
        let shown = output(&done);
        assert_eq!(shown["body"], expected, "{tool} {unit} {count} {mode}");
    }
}

#[test]
fn a_file_that_was_not_given_is_missing() {
    let around = Around::new([]);
    let done = around.call("kit", "last-lines", given());
    assert_eq!(code(&done), Code::MissingInput);
}
