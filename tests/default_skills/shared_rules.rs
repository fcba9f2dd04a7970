//! What holds for all ten skills.

use std::fs;

use serde_json::{Value, json};

use crate::desk::{Desk, SKILLS, finish};
use crate::program::{Folder, Run};

/// A request that each skill accepts as far as its form goes.
fn request(skill: &str) -> Value {
    match skill {
        "fs.read_text" => json!({"path": "f"}),
        "fs.write_patch" => json!({"unified_diff": "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-x\n+y\n"}),
        "shell.exec_safe" => json!({"argv": ["none"]}),
        "search.ripgrep" => json!({"pattern": "x"}),
        "http.fetch_text" => json!({"url": "http://127.0.0.1:9/"}),
        "json.validate" => json!({"json": "1", "schema": {}}),
        "extract.text" => json!({"content_type": "text/html", "bytes_b64": ""}),
        _ => json!({}),
    }
}

fn with(skill: &str, member: &str, value: &Value) -> Value {
    let mut request = request(skill);
    request[member] = value.clone();
    request
}

/// Integers: skill, member, least, most.
const INTEGERS: [(&str, &str, u32, u32); 19] = [
    ("fs.read_text", "max_bytes", 1, 2_097_152),
    ("fs.read_text", "offset", 0, 14_680_064),
    ("fs.read_tree", "max_entries", 1, 10_000),
    ("fs.read_tree", "max_bytes", 1_024, 16_711_680),
    ("fs.read_tree", "skip", 0, 90_000),
    ("fs.read_tree", "max_depth", 1, 64),
    ("fs.write_patch", "fuzz", 0, 2),
    ("shell.exec_safe", "timeout_ms", 1, 600_000),
    ("shell.exec_safe", "max_output_bytes", 1, 1_048_576),
    ("search.ripgrep", "max_matches", 1, 10_000),
    ("search.ripgrep", "max_bytes", 1_024, 8_388_608),
    ("search.ripgrep", "skip", 0, u32::MAX),
    ("search.ripgrep", "context_lines", 0, 10),
    ("git.status", "max_entries", 1, 10_000),
    ("git.diff", "max_bytes", 1, 2_097_152),
    ("http.fetch_text", "max_bytes", 1, 2_097_152),
    ("json.validate", "max_errors", 1, 1_000),
    ("extract.text", "max_bytes", 1, 2_097_152),
    ("fs.write_patch", "strip", 0, 1),
];

/// Members of other types: skill, member, values that are refused.
fn others() -> Vec<(&'static str, &'static str, Vec<Value>)> {
    let text = |more: &[Value]| [&[json!(1), json!([]), json!("a\0b")][..], more].concat();
    let flag = || vec![json!(0), json!("true"), json!([])];
    let list = |more: &[Value]| [&[json!("x"), json!([1]), json!(["a\0b"])][..], more].concat();
    let long = |count: usize| json!("x".repeat(count));
    #[rustfmt::skip]
    let rows = vec![
        ("fs.read_text", "path", text(&[long(4_097)])),
        ("fs.read_text", "encoding", text(&[])),
        ("fs.read_tree", "root", text(&[long(4_097)])),
        ("fs.read_tree", "include_hidden", flag()),
        ("fs.write_patch", "base", text(&[long(4_097)])),
        ("fs.write_patch", "unified_diff", text(&[json!(""), long(4_194_305)])),
        ("fs.write_patch", "strip", vec![json!("1"), json!("AUTO"), json!(true)]),
        ("fs.write_patch", "partial", flag()),
        ("fs.write_patch", "dry_run", flag()),
        ("shell.exec_safe", "argv", list(&[json!([]), json!(vec!["a"; 257])])),
        ("shell.exec_safe", "cwd", text(&[long(4_097)])),
        ("search.ripgrep", "pattern", text(&[json!(""), long(4_097)])),
        ("search.ripgrep", "paths", list(&[json!([]), json!(vec!["a"; 65])])),
        ("search.ripgrep", "glob", list(&[json!(vec!["a"; 65])])),
        ("search.ripgrep", "case_sensitive", flag()),
        ("search.ripgrep", "include_hidden", flag()),
        ("search.ripgrep", "use_ignore", flag()),
        ("git.status", "path", text(&[long(4_097)])),
        ("git.diff", "target", text(&[json!("index"), json!("Working"), json!("")])),
        ("git.diff", "path", text(&[long(4_097)])),
        ("http.fetch_text", "url", text(&[json!(""), long(8_193)])),
        ("json.validate", "json", text(&[long(8_388_609)])),
        ("json.validate", "schema", vec![json!(1), json!("true"), json!([])]),
        ("json.validate", "assert_formats", flag()),
        ("extract.text", "content_type", text(&[])),
        ("extract.text", "bytes_b64", vec![json!(1), json!([])]),
        ("extract.text", "path", text(&[long(4_097)])),
        ("extract.text", "url", text(&[json!(""), long(8_193)])),
    ];
    rows
}

/// Required members.
const REQUIRED: [(&str, &str); 9] = [
    ("fs.read_text", "path"),
    ("fs.write_patch", "unified_diff"),
    ("shell.exec_safe", "argv"),
    ("search.ripgrep", "pattern"),
    ("http.fetch_text", "url"),
    ("json.validate", "json"),
    ("json.validate", "schema"),
    ("extract.text", "content_type"),
    ("extract.text", "bytes_b64"),
];

#[test]
fn a_request_is_one_strict_json_object() {
    let desk = Desk::reading();
    let deep = format!("{{\"a\":{}{}}}", "[".repeat(200), "]".repeat(200));
    let requests: [&[u8]; 9] = [
        b"",
        b"[]",
        b"null",
        b"{} {}",
        b"{\"a\":",
        b"\xef\xbb\xbf{}",
        b"{\"path\":\"f\",\"path\":\"f\"}",
        b"{\"path\":\"\xff\"}",
        deep.as_bytes(),
    ];
    for skill in SKILLS {
        for bad in requests {
            let run = desk.send(skill, bad);
            let shown = String::from_utf8_lossy(bad);
            assert_eq!(run.status, 5, "{skill} {shown}: {run:?}");
            assert!(
                run.stderr.contains("\"invalid_request\""),
                "{skill} {shown}: {run:?}"
            );
            assert!(run.stdout.is_empty(), "{run:?}");
        }
    }
}

#[test]
fn a_request_has_at_most_16777216_bytes() {
    let desk = Desk::reading();
    let mut request = b"{\"root\":\".\"}".to_vec();
    request.resize(16_777_216, b' ');
    assert_eq!(desk.send("fs.read_tree", &request).status, 0);
    request.push(b' ');
    let refused = desk.send("fs.read_tree", &request);
    assert_ne!(refused.status, 0, "{refused:?}");
    assert!(refused.stdout.is_empty());
}

/// `run ID` sends `{}`; and the default policy is enough to list.
#[test]
fn no_request_is_the_empty_object() {
    let folder = Folder::new();
    folder.put("src/a.txt", "x");
    let listed = folder.ok(&["run", "fs.read_tree"]).json();
    let entries = json!([
        {"path": "src", "kind": "dir"}, {"path": "src/a.txt", "kind": "file", "bytes": 1},
    ]);
    assert_eq!(
        listed,
        json!({"root": ".", "entries": entries, "truncated": false})
    );
    let given = folder
        .ok(&["run", "fs.read_text", r#"{"path":"src/a.txt"}"#])
        .json();
    assert_eq!(given["text"], "x");
    folder.put("request.json", r#"{"path":"src/a.txt"}"#);
    let from_file = folder.ok(&["run", "fs.read_text", "@request.json"]).json();
    assert_eq!(from_file, given);
}

#[test]
fn unknown_missing_and_null_members() {
    let desk = Desk::reading();
    for skill in SKILLS {
        desk.invalid(skill, &with(skill, "unknown", &json!(1)), "unknown");
    }
    for (skill, member) in REQUIRED {
        let mut without = request(skill);
        without.as_object_mut().unwrap().shift_remove(member);
        desk.invalid(skill, &without, member);
        desk.invalid(skill, &with(skill, member, &Value::Null), member);
    }
}

#[test]
fn integers_stay_within_their_bounds_and_are_not_clamped() {
    let desk = Desk::reading();
    desk.write("f", "x\n");
    for (skill, member, least, most) in INTEGERS {
        let mut bad = vec![
            json!(i64::from(most) + 1),
            json!(1.5),
            json!("1"),
            json!(-1),
        ];
        bad.extend([json!(null), json!(true), json!(1e300), json!(u64::MAX)]);
        if let Some(below) = least.checked_sub(1) {
            bad.push(json!(below));
        }
        for value in bad {
            desk.invalid(skill, &with(skill, member, &value), member);
        }
        for value in [least, most] {
            if let Err(error) = desk.ask(skill, &with(skill, member, &json!(value))) {
                assert_ne!(
                    error["code"], "invalid_request",
                    "{skill} {member} {value}: {error}"
                );
            }
        }
    }
}

#[test]
fn members_of_the_wrong_type_or_length() {
    let desk = Desk::reading();
    for (skill, member, values) in others() {
        for value in values {
            desk.invalid(skill, &with(skill, member, &value), member);
        }
        desk.invalid(skill, &with(skill, member, &Value::Null), member);
    }
    // An element of a list may not be null, and `commit` belongs to the target `commit` only.
    desk.invalid(
        "search.ripgrep",
        &json!({"pattern": "x", "paths": [null]}),
        "paths",
    );
    desk.invalid("git.diff", &json!({"commit": "HEAD"}), "commit");
    desk.invalid(
        "git.diff",
        &json!({"target": "staged", "commit": "HEAD"}),
        "commit",
    );
}

/// Every response of these tests is checked for its members and for being compact; here its end and its repetition.
#[test]
fn the_same_request_gives_the_same_bytes_without_a_line_end() {
    let desk = Desk::reading();
    desk.write("f", "x é\n")
        .write("d/g", "x\n")
        .write(".h", "x\n");
    for skill in [
        "fs.read_text",
        "fs.read_tree",
        "search.ripgrep",
        "json.validate",
        "extract.text",
    ] {
        let request = request(skill).to_string();
        let mut answers = Vec::new();
        for name in ["one", "two"] {
            let output = desk.beside(name);
            let mut command = desk.command(skill);
            command.arg("--output").arg(&output);
            let run = finish(command, request.as_bytes());
            assert_eq!(run.status, 0, "{run:?}");
            answers.push(fs::read(output).unwrap());
        }
        assert_eq!(answers[0], answers[1], "{skill}");
        assert_eq!(answers[0].last(), Some(&b'}'), "{skill}");
    }
}

/// The form of every error is checked by `Desk::error`; here that a long path does not make a long message.
#[test]
fn a_message_is_one_short_line_without_host_paths() {
    let desk = Desk::reading();
    let long = format!("{}\n{}", "é/".repeat(900), "x".repeat(200));
    for skill in ["fs.read_text", "search.ripgrep"] {
        let request = match skill {
            "fs.read_text" => json!({ "path": long }),
            _ => json!({"pattern": "x", "paths": [long]}),
        };
        let error = desk.ask(skill, &request).unwrap_err();
        assert_ne!(error["code"], "internal", "{error}");
    }
}

#[test]
fn paths_are_normalised_and_may_not_climb() {
    let desk = Desk::reading();
    desk.write("a/b", "x\n");
    for path in [
        "a/b",
        "./a//b",
        "a/./b/",
        "a/none/../b",
        "/workspace/a/b",
        "//workspace/a/../a/b",
    ] {
        let read = desk.ok("fs.read_text", &json!({ "path": path }));
        assert_eq!(read["text"], "x\n", "{path}");
    }
    let of = |skill: &str, path: &str| match skill {
        "fs.read_text" => json!({ "path": path }),
        "fs.read_tree" => json!({ "root": path }),
        "search.ripgrep" => json!({"pattern": "x", "paths": ["a", path]}),
        "fs.write_patch" => with(skill, "base", &json!(path)),
        "shell.exec_safe" => with(skill, "cwd", &json!(path)),
        _ => json!({ "path": path }),
    };
    let skills = [
        "fs.read_text",
        "fs.read_tree",
        "search.ripgrep",
        "fs.write_patch",
    ];
    for skill in skills
        .into_iter()
        .chain(["shell.exec_safe", "git.status", "git.diff"])
    {
        for path in [
            "..",
            "a/../..",
            "../workspace/a/b",
            "/..",
            "/workspace/..",
            "/os/../workspace/a/b",
        ] {
            desk.error(skill, &of(skill, path), "denied");
        }
    }
}

#[test]
fn responses_show_paths_in_the_form_of_the_request() {
    let desk = Desk::reading();
    desk.write("a/b", "x\n");
    for (path, shown) in [("./a//b", "a/b"), ("/workspace/./a/b", "/workspace/a/b")] {
        let read = desk.ok("fs.read_text", &json!({ "path": path }));
        assert_eq!(read["path"], shown);
        let found = desk.ok("search.ripgrep", &json!({"pattern": "x", "paths": [path]}));
        assert_eq!(found["matches"][0]["file"], shown);
    }
    let roots = [
        (".", "."),
        ("a/..", "."),
        ("./a/", "a"),
        ("/workspace", "/workspace"),
        ("/workspace//a", "/workspace/a"),
    ];
    for (root, shown) in roots {
        assert_eq!(
            desk.ok("fs.read_tree", &json!({ "root": root }))["root"],
            shown
        );
    }
    let whole = desk.ok(
        "search.ripgrep",
        &json!({"pattern": "x", "paths": ["/workspace"]}),
    );
    assert_eq!(whole["matches"][0]["file"], "/workspace/a/b");
}

#[cfg(target_os = "linux")]
#[test]
fn a_name_that_is_not_utf_8_shows_u_fffd() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let desk = Desk::reading();
    let name = OsStr::from_bytes(b"a\xffb");
    fs::write(desk.path("").join(name), "x\n").unwrap();
    let tree = desk.ok("fs.read_tree", &json!({}));
    assert_eq!(tree["entries"][0]["path"], "a\u{fffd}b");
}

/// The responses of these calls match the schemas of their skills, by `json.validate`.
#[test]
fn describe_and_its_schemas() {
    let desk = Desk::reading();
    desk.write("f", "x\n");
    let metaschema = json!({"$ref": "https://json-schema.org/draft/2020-12/schema"});
    let validates = |schema: &Value, value: &Value| {
        let request = json!({"json": value.to_string(), "schema": schema});
        let answer = desk.ok("json.validate", &request);
        assert_eq!(answer["valid"], true, "{value} under {schema}: {answer}");
    };
    for skill in SKILLS {
        let run = desk.folder().ok(&["describe", skill, "--format", "json"]);
        let mut description = run.json();
        assert_eq!(description["version"], "0.1.0", "{skill}");
        description.as_object_mut().unwrap().shift_remove("version");
        let names: Vec<&String> = description.as_object().unwrap().keys().collect();
        assert_eq!(
            names,
            ["name", "description", "input_schema", "output_schema"]
        );
        assert_eq!(description["name"], skill);
        let text = description["description"].as_str().unwrap();
        assert!(
            (1..=1024).contains(&text.chars().count()) && !text.contains('\n'),
            "{text}"
        );
        let input = &description["input_schema"];
        assert_eq!(input["additionalProperties"], false, "{skill}");
        for schema in [input, &description["output_schema"]] {
            assert!(schema.is_object());
            validates(&metaschema, schema);
        }
        validates(input, &request(skill));
        if let Ok(answer) = desk.ask(skill, &request(skill)) {
            validates(&description["output_schema"], &answer);
        }
    }
}

#[test]
fn the_input_schema_has_the_bounds() {
    let folder = Folder::new();
    for (skill, member, least, most) in INTEGERS {
        if member == "strip" {
            continue;
        }
        let description = folder.ok(&["describe", skill, "--format", "json"]).json();
        let schema = &description["input_schema"]["properties"][member];
        assert_eq!(schema["minimum"], least, "{skill} {member}");
        assert_eq!(schema["maximum"], most, "{skill} {member}");
        assert!(schema.get("default").is_some(), "{skill} {member}");
    }
    for (skill, member) in REQUIRED {
        // What it needs depends on where the document is.
        if skill == "extract.text" {
            continue;
        }
        let description = folder.ok(&["describe", skill, "--format", "json"]).json();
        let required = description["input_schema"]["required"].as_array().unwrap();
        assert!(required.contains(&json!(member)), "{skill} {member}");
    }
}

#[test]
fn every_call_is_audited_also_one_that_fails() {
    let desk = Desk::reading();
    desk.write("f", "x");
    desk.ok("fs.read_text", &request("fs.read_text"));
    desk.error("fs.read_text", &json!({"path": "none"}), "not_found");
    desk.denied("fs.read_text", &json!({"path": "/etc/x"}), "fs.read:/etc/x");
    let log = fs::read_to_string(desk.folder().home().join("state/audit.jsonl")).unwrap();
    let reasons: Vec<String> = log
        .lines()
        .map(|line| {
            serde_json::from_str::<Value>(line).unwrap()["reason"]
                .as_str()
                .unwrap()
                .to_owned()
        })
        .collect();
    let expected = [
        "verified_execution_success",
        "execution_failed:skill_error:not_found",
        "execution_failed:skill_error:denied",
    ];
    for reason in expected {
        assert!(
            reasons.iter().any(|actual| actual == reason),
            "{reason} in {reasons:?}"
        );
    }
    assert!(
        reasons.contains(&"capability_denied:fs.read:/etc/x".to_owned()),
        "{reasons:?}"
    );
    assert!(!log.contains(desk.path("").to_str().unwrap()));
}

/// Nothing tells whether what lies outside exists.
#[test]
fn outside_the_grant_all_is_denied_alike() {
    let desk = Desk::bare();
    desk.write("f", "x");
    for path in [
        "/workspace/f",
        "/workspace/none",
        "/etc/passwd",
        "/etc/none",
    ] {
        desk.denied(
            "fs.read_text",
            &json!({ "path": path }),
            &format!("fs.read:{path}"),
        );
        desk.denied(
            "fs.read_tree",
            &json!({ "root": path }),
            &format!("fs.read:{path}"),
        );
        let search = json!({"pattern": "x", "paths": [path]});
        desk.denied("search.ripgrep", &search, &format!("fs.read:{path}"));
    }
    for program in ["ls", "no-such-program"] {
        let details = desk.error("shell.exec_safe", &json!({"argv": [program]}), "denied");
        assert_eq!(details["capability"], format!("exec.safe:{program}"));
    }
    for skill in ["git.status", "git.diff"] {
        desk.denied(skill, &json!({}), "exec.safe:git");
    }
    let url = "http://127.0.0.1:9/x";
    desk.denied(
        "http.fetch_text",
        &json!({ "url": url }),
        &format!("net.http:{url}"),
    );
    desk.error("fs.write_patch", &request("fs.write_patch"), "denied");
}

/// Only a grant to write is missing.
#[test]
fn writing_needs_its_own_grant() {
    let desk = Desk::reading();
    desk.write("f", "x\n");
    let capability = "fs.write:/workspace/f";
    desk.denied("fs.write_patch", &request("fs.write_patch"), capability);
    // A mount that is read-only, and a ceiling without `fs.write`.
    let ceilings = [
        json!({"fs": {"read": ["/workspace"], "write": ["/workspace"]}}),
        json!({"fs": {"read": ["/workspace"]}}),
    ];
    for (ceiling, mode) in ceilings.iter().zip(["ro", "rw"]) {
        desk.policy(ceiling, &json!({"mounts": desk.mounts(mode)}));
        desk.denied("fs.write_patch", &request("fs.write_patch"), capability);
    }
    assert_eq!(desk.read("f"), b"x\n");
}

/// No skill declares more than it needs.
#[test]
fn capabilities_of_the_manifests() {
    let rows: [(&str, &[&str]); 10] = [
        (
            "extract.text",
            &["fs.read:/os", "fs.read:/workspace", "net.http:*"],
        ),
        ("fs.read_text", &["fs.read:/os", "fs.read:/workspace"]),
        ("fs.read_tree", &["fs.read:/os", "fs.read:/workspace"]),
        (
            "fs.write_patch",
            &["fs.read:/workspace", "fs.write:/workspace"],
        ),
        ("git.diff", &["exec.safe:git"]),
        ("git.status", &["exec.safe:git"]),
        ("http.fetch_text", &["net.http:*"]),
        ("json.validate", &[]),
        ("search.ripgrep", &["fs.read:/os", "fs.read:/workspace"]),
        ("shell.exec_safe", &["exec.safe:*"]),
    ];
    for (skill, expected) in rows {
        let path = crate::program::repository().join(format!("skills/{skill}/0.1.0/manifest.json"));
        let manifest: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        let mut declared: Vec<String> = manifest["capabilities"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| {
                format!(
                    "{}:{}",
                    one["kind"].as_str().unwrap(),
                    one["value"].as_str().unwrap()
                )
            })
            .collect();
        declared.sort();
        assert_eq!(declared, expected, "{skill}");
    }
}

/// The binary holds exactly these ten beside its other skills.
#[test]
fn the_ten_skills_are_embedded() {
    let listed: Run = Folder::new().ok(&["skills", "--format", "json"]);
    for skill in SKILLS {
        assert!(listed.stdout.contains(&format!("\"{skill}\"")), "{skill}");
    }
}
