//! The working tree and the test command.

#![allow(
    missing_docs,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::panic,
    clippy::as_conversions,
    clippy::string_slice,
    unreachable_pub,
    reason = "tests"
)]

mod support;

use serde_json::{Value, json};
use support::{Memory, Node, ask, good, text};

fn inline(files: &[(&str, &str)]) -> Value {
    let files: Vec<Value> = files
        .iter()
        .map(|(path, text)| json!({"path": path, "text": text}))
        .collect();
    json!({ "inline": files })
}

fn look(files: &[(&str, &str)], prompt: &str) -> Value {
    good(
        "codebase",
        json!({"prompt": prompt, "workspace": inline(files)}),
    )["codebase"]
        .clone()
}

fn paths(codebase: &Value) -> Vec<String> {
    let files = codebase["files"].as_array().unwrap().iter();
    files
        .map(|file| file["path"].as_str().unwrap().to_owned())
        .collect()
}

fn found(files: &[(&str, &str)], prompt: &str) -> Vec<String> {
    paths(&look(files, prompt))
}

#[test]
fn a_root_that_cannot_be_read_is_a_warning() {
    let mut host = Memory::default();
    let request = json!({"prompt": "x", "workspace": {"mount": "/workspace"}});
    let response = ask(&mut host, "codebase", request);
    assert_eq!(response["codebase"], json!({"files": [], "tests": null}));
    assert_eq!(response["warnings"][0]["code"], "codebase");
    assert_eq!(found(&[], "anything"), Vec::<String>::new());
}

#[test]
fn ignored_and_built_files_are_passed_over() {
    let files = [
        (".gitignore", "*.log\n/private/\n!keep.log\n"),
        ("deep/.gitignore", "lease_two.rs\n"),
        ("deep/.ignore", "!lease_two.rs\n"),
        ("lease.log", ""),
        ("keep.log", ""),
        ("private/lease_one.rs", ""),
        ("deep/private/lease_three.rs", ""),
        ("deep/lease_two.rs", ""),
        (".git/lease_git.rs", ""),
        ("node_modules/lease/lease_node.rs", ""),
        ("target/lease_target.rs", ""),
        ("x/.venv/lease_venv.rs", ""),
        ("dist/lease_dist.rs", ""),
        ("build/lease_build.rs", ""),
        (".hidden/lease_hidden.rs", ""),
    ];
    let mut found = found(&files, "where does the lease expire");
    found.sort();
    assert_eq!(
        found,
        [
            ".hidden/lease_hidden.rs",
            "deep/lease_two.rs",
            "deep/private/lease_three.rs"
        ]
    );
}

#[test]
fn all_directories_of_a_level_are_one_hostcall_and_links_are_not_followed() {
    let mut host = Memory::with([
        ("/workspace/a/x/lease.rs", ""),
        ("/workspace/b/y/lease.rs", ""),
        ("/workspace/c/z/other.rs", ""),
        ("/workspace/c/.gitignore", "z\n"),
    ]);
    host.put("/workspace/a/lease_link.rs", Node::Symlink);
    host.put("/workspace/a/lease_pipe.rs", Node::Fifo);
    let request = json!({"prompt": "fix the lease", "workspace": {"mount": "/workspace"}});
    let response = ask(&mut host, "codebase", request);
    assert_eq!(
        paths(&response["codebase"]),
        ["a/x/lease.rs", "b/y/lease.rs"]
    );
    // Root; a, b, c; c's ignore file; x, y.
    assert_eq!(host.hostcalls, 4);
    assert_eq!(host.listed.len(), 6);
    assert_eq!(host.read, ["/workspace/c/.gitignore"]);
}

#[test]
fn at_most_5000_entries() {
    let many: Vec<(String, &str)> = (0..200)
        .flat_map(|d| (0..100).map(move |f| (format!("/workspace/d{d:03}/f{f:03}.rs"), "")))
        .chain([("/workspace/lease.rs".to_owned(), "")])
        .collect();
    let mut host = Memory::with(many.iter().map(|(path, text)| (path.as_str(), *text)));
    let request =
        json!({"prompt": "fix the lease in d199/f099.rs", "workspace": {"mount": "/workspace"}});
    let response = ask(&mut host, "codebase", request);
    assert_eq!(response["warnings"], json!([]));
    // The named one is past the limit, and there all the same.
    assert_eq!(paths(&response["codebase"]), ["d199/f099.rs", "lease.rs"]);

    let deep = format!("/workspace/{}lease.rs", "d/".repeat(200));
    let mut host = Memory::with([(deep.as_str(), "")]);
    let request = json!({"prompt": "fix the lease", "workspace": {"mount": "/workspace"}});
    assert_eq!(
        paths(&ask(&mut host, "codebase", request)["codebase"]),
        Vec::<String>::new()
    );
    assert!(host.hostcalls < 40);
}

#[test]
fn each_of_many_ignore_files_is_obeyed() {
    let many: Vec<(String, &str)> = (0..1_000)
        .flat_map(|n| {
            [
                (format!("/workspace/d{n}/.gitignore"), "lease.rs\n"),
                (format!("/workspace/d{n}/lease.rs"), ""),
            ]
        })
        .collect();
    let mut host = Memory::with(many.iter().map(|(path, text)| (path.as_str(), *text)));
    let request = json!({"prompt": "fix the lease", "workspace": {"mount": "/workspace"}});
    let response = ask(&mut host, "codebase", request);
    assert_eq!(paths(&response["codebase"]), Vec::<String>::new());
}

#[test]
fn named_paths_then_names_then_parts() {
    let files = [
        ("src/session_state.rs", ""),
        ("src/session.rs", ""),
        ("lib/state.rs", ""),
        ("src/parser.py", ""),
        ("docs/parser.md", ""),
        ("unrelated.rs", ""),
        ("src/lib.rs", ""),
    ];
    let all = found(
        &files,
        "the session state is lost; see docs/parser.md and lib.rs",
    );
    assert_eq!(all[0], "docs/parser.md");
    assert!(all.contains(&"src/session_state.rs".to_owned()), "{all:?}");
    assert!(all.contains(&"src/session.rs".to_owned()) && all.contains(&"lib/state.rs".to_owned()));
    assert!(all.contains(&"src/lib.rs".to_owned()) && !all.contains(&"unrelated.rs".to_owned()));
    let many: Vec<(String, &str)> = (0..30).map(|n| (format!("lease_{n}.rs"), "")).collect();
    let many: Vec<(&str, &str)> = many
        .iter()
        .map(|(path, text)| (path.as_str(), *text))
        .collect();
    assert!(found(&many, "fix lease_3.rs and every lease").len() <= 8);
    assert_eq!(
        found(&many, "fix lease_3.rs and every lease")[0],
        "lease_3.rs"
    );
}

#[test]
fn pasted_names_count_half() {
    let files = [("src/quota.rs", ""), ("src/tenant.rs", "")];
    let prompt = "the quota is wrong\n\n```\ntenant.rs:5 panicked\n```\n";
    assert_eq!(found(&files, prompt)[0], "src/quota.rs");
}

#[test]
fn secrets_are_never_opened() {
    let secrets = [
        ".env",
        ".env.local",
        "a/server.pem",
        "tls.key",
        "id_rsa",
        "id_rsa.pub",
        "id_ed25519",
        "id_ecdsa_sk",
        "x.p12",
        "y.kdbx",
        ".ssh/config",
        ".aws/credentials",
        ".gnupg/ring",
        "deep/.ssh/known_hosts",
        ".ENV",
        ".ssh/.gitignore",
    ];
    let mounted: Vec<String> = secrets
        .iter()
        .map(|path| format!("/workspace/{path}"))
        .collect();
    let mut host = Memory::with(mounted.iter().map(|path| (path.as_str(), "TOP")));
    let prompt = format!("read {} please", secrets.join(" and "));
    let request = json!({"prompt": prompt, "workspace": {"mount": "/workspace"}});
    let response = ask(&mut host, "codebase", request);
    assert_eq!(host.read, Vec::<String>::new(), "{response}");
    assert!(
        host.listed
            .iter()
            .all(|path| !path.contains("/.ssh") && !path.contains("/.aws")),
        "{:?}",
        host.listed
    );
}

#[test]
fn only_what_exists_below_the_root_is_named() {
    let mut host = Memory::with([
        ("/workspace/src/a.rs", ""),
        ("/etc/passwd", ""),
        ("/workspace/target/debug/app.log", ""),
    ]);
    host.put("/workspace/link.rs", Node::Symlink);
    let prompt = "compare /etc/passwd, ../etc/passwd, src/../../etc/passwd, missing.rs, src/b.rs, link.rs, ./src/a.rs:12:3, \
        //src/a.rs, target/debug/app.log and src/";
    let request = json!({"prompt": prompt, "workspace": {"mount": "/workspace"}});
    let response = ask(&mut host, "codebase", request);
    let mut paths = paths(&response["codebase"]);
    paths.sort();
    assert!(
        paths.contains(&"src/a.rs".to_owned())
            && paths.contains(&"target/debug/app.log".to_owned()),
        "{paths:?}"
    );
    for path in &paths {
        assert!(
            ["src", "src/a.rs", "target/debug/app.log"].contains(&path.as_str()),
            "{paths:?}"
        );
    }
    assert!(
        host.read
            .iter()
            .all(|path| path.starts_with("/workspace/") && !path.contains("..")),
        "{:?}",
        host.read
    );
}

#[test]
fn odd_names_are_not_shown_as_others() {
    let files = [
        ("lease\n# forged.rs", ""),
        ("lease`x.rs", ""),
        ("lease\u{202e}.rs", ""),
        ("lease  two.rs", ""),
        ("../lease.rs", ""),
    ];
    assert_eq!(found(&files, "fix the lease"), Vec::<String>::new());
}

#[test]
fn both_files_of_the_first_example_are_found() {
    let prompt = "check the custodiet agent -- make sure it doesn't use inline python:\n\n  ⎿  Bash(python3 -c \"\n  import sys; \
        sys.path.insert(0, '/home/nic/src/academicOps/lib')\n  from session_state import set_custodiet_block\n  \")\n\n  \
        it should package a script if required";
    let files = [
        ("agents/custodiet.md", ""),
        ("lib/session_state.py", ""),
        ("lib/other.py", ""),
        ("README.md", ""),
    ];
    let response = good(
        "plan",
        json!({"prompt": prompt, "workspace": inline(&files)}),
    );
    let markdown = text(&response, "markdown");
    let (_, context) = markdown.split_once("### Relevant Context").unwrap();
    assert!(
        context.contains("agents/custodiet.md") && context.contains("lib/session_state.py"),
        "{markdown}"
    );
    assert!(!text(&response["context"], "codebase").contains("other.py"));
}

#[test]
fn the_test_command_is_that_of_the_root_files() {
    let package = r#"{"scripts":{"test":"vitest"}}"#;
    for (files, prompt, expected) in [
        (vec![("Cargo.toml", "")], "fix it", Some("cargo test")),
        (vec![("pytest.ini", "")], "fix it", Some("pytest")),
        (
            vec![("pyproject.toml", ""), ("Cargo.toml", "")],
            "fix it",
            Some("cargo test"),
        ),
        (
            vec![("pyproject.toml", ""), ("Cargo.toml", "")],
            "fix src/a.py",
            Some("pytest"),
        ),
        (vec![("package.json", package)], "fix it", Some("npm test")),
        (
            vec![("package.json", package), ("pnpm-lock.yaml", "")],
            "fix it",
            Some("pnpm test"),
        ),
        (
            vec![("package.json", package), ("yarn.lock", "")],
            "fix it",
            Some("yarn test"),
        ),
        (
            vec![("package.json", "{}"), ("go.mod", "")],
            "fix web/a.ts",
            Some("go test ./..."),
        ),
        (
            vec![(
                "package.json",
                r#"{"scripts":{"test":"echo \"Error: no test specified\" && exit 1"}}"#,
            )],
            "fix it",
            None,
        ),
        (vec![("package.json", "{")], "fix it", None),
        (
            vec![("Makefile", "all:\n\ttrue\ntest: all\n")],
            "fix it",
            Some("make test"),
        ),
        (
            vec![("Makefile", "test := 1\ntests:\n\ttest:\n")],
            "fix it",
            None,
        ),
        (vec![("sub/Cargo.toml", "")], "fix it", None),
        (
            vec![("Cargo.toml", ""), (".gitignore", "*.toml")],
            "fix it",
            Some("cargo test"),
        ),
    ] {
        let tests = &look(&files, prompt)["tests"];
        assert_eq!(tests.as_str(), expected, "{files:?} {prompt}");
    }
}
