//! Files of a run.

use std::os::unix::fs::{PermissionsExt, symlink};

use serde_json::json;

use super::{Around, code, output, response};
use crate::failure::Code;

#[test]
fn a_response_goes_to_a_file_of_the_run() {
    let around = Around::new([response(200, &[], b"[1]")]);
    let done = around.call("kit", "fetch-to-file", json!({}));
    let path = around.output().join("out/items.json");
    assert_eq!(
        output(&done),
        &json!({
            "status": 200,
            "headers": {},
            "redirects": [],
            "files": [{
                "name": "out/items.json",
                "bytes": 3,
                "digest": crate::digest::of_bytes(b"[1]"),
                "path": path,
            }],
        })
    );
    assert_eq!(std::fs::read(&path).unwrap(), b"[1]");
    let mode = |path: &std::path::Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&path), 0o600);
    assert_eq!(mode(&around.output()), 0o700);
    assert_eq!(mode(path.parent().unwrap()), 0o700);
    assert_eq!(done.used.storage_bytes, 3);
}

#[test]
fn a_path_out_of_the_run_is_not_allowed() {
    for id in ["fetch-upwards", "fetch-to-passwd"] {
        let around = Around::new([response(200, &[], b"x")]);
        let done = around.call("kit", id, json!({}));
        assert_eq!(code(&done), Code::PathNotAllowed, "{id}");
    }
}

#[test]
fn an_absolute_path_is_honoured_within_fs_write_only() {
    let permitted = tempfile::tempdir().unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    symlink(elsewhere.path(), permitted.path().join("link")).unwrap();
    symlink(
        elsewhere.path().join("file"),
        permitted.path().join("link.json"),
    )
    .unwrap();
    let write = |below: &str| {
        let mut fetch = crate::request::tests::operation("kit", "fetch-to-passwd");
        let hydrant_plan::Stage::Http(stage) = &mut fetch.stages[0] else {
            panic!()
        };
        let path = format!("{}/{below}", permitted.path().display());
        stage.output_file.as_mut().unwrap().path = hydrant_plan::Segments::literal(path);
        let config = format!("fs_write = [\"{}\"]", permitted.path().display());
        let around = Around::new([response(200, &[], b"x")]).config(&config);
        around
            .call_of("kit", &fetch, json!({}))
            .end
            .map_err(|failure| failure.code)
    };
    write("a/b.json").unwrap();
    assert_eq!(
        std::fs::read(permitted.path().join("a/b.json")).unwrap(),
        b"x"
    );
    assert_eq!(write("../b.json"), Err(Code::PathNotAllowed));
    for through_a_link in ["link/b.json", "link.json"] {
        assert!(write(through_a_link).is_err(), "{through_a_link}");
    }
    assert_eq!(elsewhere.path().read_dir().unwrap().count(), 0);
}

#[test]
fn a_caller_names_no_absolute_path_of_an_output() {
    let permitted = tempfile::tempdir().unwrap();
    let kept = permitted.path().join("keep");
    std::fs::write(&kept, "mine").unwrap();
    let config = format!("fs_write = [\"{}\"]", permitted.path().display());
    let mut fetch = crate::request::tests::operation("kit", "fetch-to-passwd");
    fetch.input_schema = json!({"type": "object", "properties": {"to": {"type": "string"}}});
    let hydrant_plan::Stage::Http(stage) = &mut fetch.stages[0] else {
        panic!()
    };
    stage.output_file.as_mut().unwrap().path =
        hydrant_plan::Segments::input("to".to_owned(), hydrant_plan::Encoding::None);
    let write = |to: &str| {
        let around = Around::new([response(200, &[], b"x")]).config(&config);
        let done = around.call_of("kit", &fetch, json!({"to": to}));
        done.end.map_err(|failure| failure.code)
    };
    write("below").unwrap();
    let refused = write(kept.to_str().unwrap());
    assert_eq!(refused.unwrap_err(), Code::PathNotAllowed);
    assert_eq!(std::fs::read(&kept).unwrap(), b"mine");
}

#[test]
fn a_link_in_the_output_directory_is_not_followed() {
    let around = Around::new([response(200, &[], b"x")]);
    let elsewhere = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(around.output()).unwrap();
    symlink(elsewhere.path(), around.output().join("out")).unwrap();
    let done = around.call("kit", "fetch-to-file", json!({}));
    assert_eq!(code(&done), Code::StoreUnavailable);
    assert_eq!(elsewhere.path().read_dir().unwrap().count(), 0);
}

#[test]
fn large_binary_output_goes_to_a_file() {
    let mut body = vec![0xff; (1 << 20) + 1];
    let around = Around::new([response(200, &[], &body)]);
    let done = around.call("moltbook", "search", json!({"query": "x"}));
    let file = &output(&done)["files"][0];
    assert_eq!(file["bytes"], (1 << 20) + 1);
    assert_eq!(file["unscanned"], true);
    assert_eq!(std::fs::read(file["path"].as_str().unwrap()).unwrap(), body);
    assert!(output(&done).get("body-b64").is_none());

    body.truncate(1 << 20);
    let around = Around::new([response(200, &[], &body)]);
    let done = around.call("moltbook", "search", json!({"query": "x"}));
    assert!(output(&done)["body-b64"].is_string());
}

#[test]
fn a_file_holds_no_value_that_went_out() {
    let mut search = crate::request::tests::operation("moltbook", "search");
    let hydrant_plan::Stage::Http(stage) = &mut search.stages[0] else {
        panic!()
    };
    stage.output_file = Some(hydrant_plan::OutputFile {
        path: hydrant_plan::Segments::literal("echo"),
    });
    let around = Around::new([response(200, &[], b"a s3cr3t/MOLTBOOK_API_KEY+ b")]);
    output(&around.call_of("moltbook", &search, json!({"query": "x"})));
    assert_eq!(
        std::fs::read(around.output().join("echo")).unwrap(),
        b"a ***REDACTED*** b"
    );
}
