//! Core modules: the 14 functions that they import, and their grants.

use std::os::unix::fs::{PermissionsExt, symlink};

use serde_json::json;

use crate::canonical::digest;
use crate::execution::Execution;
use crate::guests::{bare, core, core_of, put_out};
use crate::loopback::Loopback;
use crate::program::{Folder, Run};

/// Reads into 8192 by `function`, whose two strings are the string at 0.
pub(crate) fn get(function: &str, argument: &str) -> String {
    put_out(&format!(
        "(call ${function} (i32.const 0) (i32.const {}) (i32.const 8192) (i32.const 65536))",
        argument.len()
    ))
}

/// Gives the strings at 0 and 4096 to `function`, and returns what it returns.
pub(crate) fn give(function: &str, first: &str, second: &str) -> String {
    format!(
        "(call ${function} (i32.const 0) (i32.const {}) (i32.const 4096) (i32.const {}))",
        first.len(),
        second.len()
    )
}

pub(crate) fn reading(path: &str) -> Vec<u8> {
    core(path, "", &get("fs_read_file", path))
}

/// A run of this module whose only capability is that ceiling's.
pub(crate) fn granted(folder: Folder, wasm: &[u8], kind: &str, value: &str) -> Execution {
    let (group, verb) = kind.split_once('.').unwrap();
    let ceiling = match group {
        "net" => json!({"net": [value]}),
        "time" | "random" => json!({ group: true }),
        _ => json!({ group: { verb: [value] } }),
    };
    Execution::in_folder(folder, wasm, &[(kind, value)], &ceiling)
}

const READ_INPUT: &str = "(call $input_read (i32.const 8192) (i32.const 0) (call $input_len))";

/// Under the module name and under the old one.
#[test]
fn input_goes_in_and_output_comes_out() {
    for module in ["provenact", "inactu"] {
        let execution = Execution::plain(&core_of(module, "", "", &put_out(READ_INPUT)));
        execution.folder.write("input", b"\0some\xff");
        assert_eq!(execution.output(&[]), b"\0some\xff", "{module}");
        assert_eq!(execution.receipt()["outputs_hash"], digest(b"\0some\xff"));
    }
}

#[test]
fn reading_beyond_the_input_is_an_error() {
    for (offset, length) in [(0, 3), (1, 2), (-1, 1), (0, -1)] {
        let run = format!(
            "(call $input_read (i32.const 8192) (i32.const {offset}) (i32.const {length}))"
        );
        let execution = Execution::plain(&core("", "", &run));
        execution
            .run(&[])
            .assert_failed("skill failed: nonzero_return -1: ");
    }
}

#[test]
fn the_last_output_counts() {
    let run = "(drop (call $output_write (i32.const 0) (i32.const 5)))
               (drop (call $output_write (i32.const 4096) (i32.const 6))) (i32.const 0)";
    assert_eq!(
        Execution::plain(&core("first", "second", run)).output(&[]),
        b"second"
    );
}

#[test]
fn the_digest_of_the_input() {
    let run = "(drop (call $sha256_input_hex (i32.const 8192) (i32.const 64)))
               (drop (call $output_write (i32.const 8192) (i32.const 64)))
               (i32.add (i32.const 1) (call $sha256_input_hex (i32.const 8192) (i32.const 63)))";
    let output = Execution::plain(&core("", "", run)).output(&[]);
    assert_eq!(
        format!("sha256:{}", String::from_utf8(output).unwrap()),
        digest("{}")
    );
}

#[test]
fn time_and_random_need_their_capability() {
    // 2020 to 2100.
    let time = core(
        "",
        "",
        "(i32.eqz (i64.lt_u
        (i64.sub (call $time_now_unix) (i64.const 1577836800)) (i64.const 2524608000)))",
    );
    let random = core(
        "",
        "",
        "(i32.ne (call $random_fill (i32.const 8192) (i32.const 64)) (i32.const 64))",
    );
    for (wasm, kind) in [(time, "time.now"), (random, "random.bytes")] {
        let execution = granted(Folder::new(), &wasm, kind, "true");
        let run = execution.run(&[]);
        assert_eq!(run.status, 0, "{kind}: {run:?}");
        assert_eq!(execution.receipt()["caps_used"], json!([kind]));
        let denied = Execution::plain(&wasm).run(&[]);
        denied.assert_failed(&format!(
            "wasm execution failed: capability denied: {kind}:"
        ));
    }
}

#[test]
fn files_below_the_declared_directory_are_read() {
    let folder = Folder::new();
    folder.write("data/a.txt", "contents");
    let path = folder.argument("data//a.txt");
    let data = folder.argument("data");
    let execution = granted(folder, &reading(&path), "fs.read", &data);
    assert_eq!(execution.output(&[]), b"contents");
    assert_eq!(execution.receipt()["caps_used"], json!(["fs.read"]));
}

/// Outside the grant, what exists and what does not look alike; inside, missing is -1.
#[test]
fn outside_the_grant_existing_and_missing_look_alike() {
    let outcome = |name: &str| {
        let folder = Folder::new();
        folder.write("data/x", "").write("data2/there", "secret");
        let (path, data) = (folder.argument(name), folder.argument("data"));
        let execution = granted(folder, &reading(&path), "fs.read", &data);
        let run = execution.run(&[]);
        (
            run.status,
            run.stderr
                .replace(execution.folder.path("").to_str().unwrap(), ""),
        )
    };
    let (there, missing) = (outcome("data2/there"), outcome("data2/none!"));
    assert_eq!(there.0, 1);
    assert!(
        there
            .1
            .contains("wasm execution failed: capability denied: fs.read:"),
        "{there:?}"
    );
    assert!(there.1.contains("data2/there"), "{there:?}");
    assert_eq!(there.1.replace("there", "none!"), missing.1);
    let inside = outcome("data/missing");
    assert!(
        inside.1.contains("skill failed: nonzero_return 7"),
        "{inside:?}"
    );
}

#[test]
fn malformed_paths_are_an_error_and_no_denial() {
    for path in ["data/x", "/data/../x", "/data/./x", "/data/a\nb", ""] {
        let execution = granted(Folder::new(), &reading(path), "fs.read", "/");
        execution
            .run(&[])
            .assert_failed("skill failed: nonzero_return 7");
    }
}

#[test]
fn a_symlink_does_not_lead_out_of_the_grant() {
    let folder = Folder::new();
    folder
        .write("secret/a.txt", "secret")
        .write("data/in.txt", "inside");
    symlink(folder.path("secret"), folder.path("data/link")).unwrap();
    symlink("../secret/a.txt", folder.path("data/file")).unwrap();
    symlink(folder.path("secret"), folder.path("root")).unwrap();
    let data = folder.argument("data");
    let paths = ["data/link/a.txt", "data/file"].map(|path| folder.argument(path));
    let through_root = (folder.argument("root/a.txt"), folder.argument("root"));
    let mut execution = granted(folder, &reading(&paths[0]), "fs.read", &data);
    execution
        .run(&[])
        .assert_failed("capability denied: fs.read:");
    execution = granted(execution.folder, &reading(&paths[1]), "fs.read", &data);
    execution
        .run(&[])
        .assert_failed("capability denied: fs.read:");
    // A declared value with a symlink in it grants nothing.
    execution = granted(
        execution.folder,
        &reading(&through_root.0),
        "fs.read",
        &through_root.1,
    );
    let run = execution.run(&["--output", "output"]);
    assert_eq!(run.status, 1, "{run:?}");
    assert!(!execution.folder.exists("output"));
}

#[test]
fn a_tree_is_listed_without_links() {
    let folder = Folder::new();
    folder
        .write("x/b/n.md", "123456789")
        .write("x/a", "")
        .write("x/b.c", "1");
    symlink("a", folder.path("x/link")).unwrap();
    let root = folder.argument("x");
    let wasm = core(&root, "", &get("fs_read_tree", &root));
    let output = granted(folder, &wasm, "fs.read", &root).output(&[]);
    let expected = format!(
        concat!(
            r#"{{"entries":[{{"bytes":0,"kind":"file","path":"a"}},{{"kind":"dir","path":"b"}},"#,
            r#"{{"bytes":1,"kind":"file","path":"b.c"}},{{"bytes":9,"kind":"file","path":"b/n.md"}}],"#,
            r#""root":"{}","truncated":false}}"#
        ),
        root
    );
    assert_eq!(String::from_utf8(output).unwrap(), expected);
}

#[test]
fn files_are_written_below_the_declared_directory_only() {
    let folder = Folder::new();
    folder.write("out/old", "old");
    std::fs::set_permissions(folder.path("out/old"), PermissionsExt::from_mode(0o640)).unwrap();
    let write = |folder: &Folder, name: &str| {
        let path = folder.argument(name);
        core(&path, "new", &give("fs_write_file", &path, "new"))
    };
    let out = folder.argument("out");
    let wasm = write(&folder, "out/deep/er/new");
    let mut execution = granted(folder, &wasm, "fs.write", &out);
    assert_eq!(execution.run(&[]).status, 0);
    assert_eq!(execution.folder.text("out/deep/er/new"), "new");
    let wasm = write(&execution.folder, "out/old");
    execution = granted(execution.folder, &wasm, "fs.write", &out);
    assert_eq!(execution.run(&[]).status, 0);
    assert_eq!(execution.folder.text("out/old"), "new");
    assert_eq!(
        crate::program::mode(&execution.folder.path("out/old")),
        0o640
    );
    // A path that is longer or shorter than the declared one: the run stops, the path is named.
    for name in ["out2/new", "ou"] {
        let wasm = write(&execution.folder, name);
        execution = granted(execution.folder, &wasm, "fs.write", &out);
        let denied = execution.run(&[]);
        denied.assert_failed("wasm execution failed: capability denied: fs.write:");
        assert!(denied.stderr.contains(name));
        assert!(!execution.folder.exists(name));
    }
    // fs.read gives no right to write.
    let wasm = write(&execution.folder, "out/more");
    execution = granted(execution.folder, &wasm, "fs.read", &out);
    execution
        .run(&[])
        .assert_failed("capability denied: fs.write:");
}

/// An address that is not public is reached only where the manifest names it.
#[test]
fn only_a_2xx_body_is_delivered() {
    let fetch = |server: &Loopback, declared: &str| {
        let url = server.url("/base/x?q=1");
        granted(
            Folder::new(),
            &core(&url, "", &get("http_fetch", &url)),
            "net.http",
            declared,
        )
    };
    let good = Loopback::new("200 OK", "", b"the body");
    assert_eq!(fetch(&good, &good.url("/base")).output(&[]), b"the body");
    for status in ["404 Not Found", "500 Oops", "302 Found"] {
        let server = Loopback::new(
            status,
            &format!("location: {}\r\n", good.url("/base/y")),
            b"x",
        );
        let before = good.connections();
        let run = fetch(&server, &server.url("/base")).run(&[]);
        run.assert_failed("skill failed: nonzero_return 7");
        assert_eq!(good.connections(), before, "a redirect is not followed");
    }
    let before = good.connections();
    let outside = fetch(&good, &good.url("/other")).run(&[]);
    outside.assert_failed("wasm execution failed: capability denied: net.http:");
    assert_eq!(good.connections(), before);
}

/// A name that resolves to loopback is no literal address.
#[test]
fn a_name_does_not_open_loopback() {
    let server = Loopback::new("200 OK", "", b"internal");
    let port = server.port();
    let resolvable = format!("http://localhost.localdomain:{port}/");
    let execution = granted(
        Folder::new(),
        &core(&resolvable, "", &get("http_fetch", &resolvable)),
        "net.http",
        &resolvable,
    );
    let run = execution.run(&["--output", "output"]);
    assert_eq!(run.status, 1, "{run:?}");
    assert_eq!(server.connections(), 0);
    // The same with another form of the address than the declared one.
    let (declared, asked) = (server.url("/"), format!("http://localhost:{port}/"));
    let execution = granted(
        Folder::new(),
        &core(&asked, "", &get("http_fetch", &asked)),
        "net.http",
        &declared,
    );
    execution
        .run(&[])
        .assert_failed("capability denied: net.http:");
    assert_eq!(server.connections(), 0);
}

#[test]
fn a_star_is_no_url_for_a_core_module() {
    let execution = Execution::new(
        &bare("(result i32) (i32.const 0)"),
        &[("net.http", "*")],
        &json!({"net": ["https://example.org/"]}),
    );
    execution
        .run(&[])
        .assert_failed("capability denied: net.http:*");
}

/// What is hydrant's own a module neither reads nor writes, though its ceiling covers all around it.
#[test]
fn the_home_folder_and_the_audit_record_are_out_of_reach_of_a_module() {
    let run = |folder: Folder, wasm: &[u8], kind: &str| {
        let all = folder.argument("");
        let execution = granted(folder, wasm, kind, &all);
        let mut command = execution.command(&["--audit", "log/audit.jsonl"]);
        command.env("HYDRANT_HOME", execution.folder.path("own"));
        (Run::of(&mut command), execution.folder)
    };
    let denied = "wasm execution failed: capability denied: ";
    let mut folder = Folder::new();
    folder
        .write("own/state/secrets.toml", "secret")
        .write("other/state/secrets.toml", "secret")
        .write("log/audit.jsonl", "");
    for (path, allowed) in [
        ("own/state/secrets.toml", false),
        ("log/audit.jsonl", false),
        ("policy.json", false),
        ("other/state/secrets.toml", true),
    ] {
        let wasm = reading(&folder.argument(path));
        let answer;
        (answer, folder) = run(folder, &wasm, "fs.read");
        assert_eq!(answer.status == 0, allowed, "{path}: {answer:?}");
        assert_eq!(
            !answer.stderr.contains(denied),
            allowed,
            "{path}: {answer:?}"
        );
    }
    for (path, allowed) in [
        ("log/audit.jsonl", false),
        ("own/hydrant.toml", false),
        ("own/new/deep/file", false),
        ("other/hydrant.toml", true),
    ] {
        let path_inside = folder.argument(path);
        let wasm = core(
            &path_inside,
            "forged",
            &give("fs_write_file", &path_inside, "forged"),
        );
        let answer;
        (answer, folder) = run(folder, &wasm, "fs.write");
        assert_eq!(answer.status == 0, allowed, "{path}: {answer:?}");
        let written = std::fs::read_to_string(folder.path(path)).is_ok_and(|text| text == "forged");
        assert_eq!(written, allowed, "{path}: {answer:?}");
    }
    assert!(!folder.exists("own/new"), "nothing was made on the way");
    // One line for each call, and one for each refusal: none was lost.
    let lines = folder.text("log/audit.jsonl").lines().count();
    assert_eq!(lines, 8 + 6);
}
