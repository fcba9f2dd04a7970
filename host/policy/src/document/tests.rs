mod kept;
mod schema;

use proptest::prelude::*;

use super::*;
use crate::{Confinement, DocumentFault, Limits, Tools, VirtualPath};

/// A valid document; tests replace single lines of it.
const VALID: &str = r#"version: 1
trusted_signers: [a, b]
capability_ceiling:
  fs: {read: [/workspace, /os], write: null}
  net: ["https://docs.example/"]
  kv: {read: ["*"]}
  env: [HOME, _X1]
  exec: true
  time: false
host:
  mounts:
    - {at: /workspace, dir: ".", mode: rw}
    - {at: /os/lib, url: "https://docs.example/os/"}
  net:
    - {url: "https://docs.example/guide/", methods: [GET, HEAD]}
  process:
    - {program: git, args: [["status", "..."], []], cwd: [/workspace], env: {CI: "1"}, network: true, writable: [/workspace]}
  discovery: {run: [/os/tools], runners: {.py: [python3, -B]}, remote: true, env: {LANG: C}}
  jail: {process: unjailed}
  tls_roots: [ca.pem]
  limits: {wall_ms: 60000}
  tools: describe
"#;

fn parse(text: &str) -> Result<Document, PolicyError> {
    Document::parse("policy.yaml", text.as_bytes())
}

/// The message for [`VALID`] with `from` replaced by `to`.
fn refusal(from: &str, to: &str) -> String {
    assert!(VALID.contains(from), "{from}");
    parse(&VALID.replacen(from, to, 1))
        .expect_err(to)
        .to_string()
}

#[test]
fn every_member_is_read() {
    let document = parse(VALID).unwrap();
    assert_eq!(document.trusted_signers, ["a", "b"]);
    assert_eq!(document.ceiling.fs.read.line, 4);
    assert_eq!(document.ceiling.exec.line, 8);
    let host = document.host;
    assert_eq!(
        host.mounts
            .value
            .iter()
            .map(|mount| mount.line)
            .collect::<Vec<_>>(),
        [12, 13]
    );
    let limits = host.limits.or(Limits::default());
    assert_eq!((limits.wall_ms, limits.fuel), (60_000, 20_000_000_000));
    assert_eq!(host.tls_roots, ["ca.pem"]);
    assert_eq!(host.tools, Tools::Describe);
    assert_eq!(
        host.discovery.runners.iter().next().unwrap().2.arguments,
        ["-B"]
    );
    assert!(host.discovery.remote.value && host.process.value[0].value.network);
}

#[test]
fn the_same_document_as_json_has_the_same_meaning_and_lines() {
    let json = "{\n\"version\": 1,\n\"trusted_signers\": [\"a\"],\n\"capability_ceiling\":\n{\"fs\": {\"read\": [\"\\/os\"]}}}";
    let document = parse(json).unwrap();
    assert_eq!(document.ceiling.fs.read.value[0].line, 5);
    assert_eq!(
        document.ceiling.fs.read.value[0].value.0,
        Some(VirtualPath::os())
    );
}

#[test]
fn unknown_members_are_refused_with_line_and_suggestion() {
    assert_eq!(
        refusal("  net: [", "  nett: ["),
        "invalid policy document: unknown member `nett` at line 5; did you mean `net`? (policy.yaml:5)"
    );
    for (from, to, said) in [
        (
            "tools: describe",
            "tool: describe",
            "unknown member `tool` at line 22; did you mean `tools`?",
        ),
        ("wall_ms", "wall", "unknown member `wall` at line 21"),
        ("mode: rw", "mdoe: rw", "did you mean `mode`?"),
        (
            "version: 1",
            "version: 1\nvolumes: []",
            "unknown member `volumes` at line 2 (policy.yaml:2)",
        ),
        (".py:", ".rb:", "unknown member `.rb` at line 18"),
        ("kv: {read", "kv: {get", "unknown member `get`"),
        ("fs: {read", "fs: {list: [], read", "unknown member `list`"),
        ("time:", "clock:", "unknown member `clock`"),
        (
            "{process: unjailed}",
            "{program: unjailed}",
            "unknown member `program`",
        ),
        (
            "  jail: {",
            "  jail: {\"a\\nb\": 1, ",
            "unknown member `a\\nb`",
        ),
    ] {
        let message = refusal(from, to);
        assert!(
            message.starts_with("invalid policy document: ") && message.contains(said),
            "{message}"
        );
    }
}

#[test]
fn only_version_1_is_supported() {
    for (version, shown) in [("2", "2"), ("1.0", "1.0"), ("\"1\"", "1"), ("true", "true")] {
        let message = refusal("version: 1", &format!("version: {version}"));
        assert_eq!(
            message,
            format!("unsupported policy version: {shown} (policy.yaml:1)")
        );
    }
    assert!(refusal("version: 1\n", "").contains("missing member `policy.version`"));
    assert!(refusal("version: 1\n", "version:\n").starts_with("invalid policy document: "));
}

#[test]
fn trusted_signers_are_non_empty_and_unique() {
    let message = refusal("[a, b]", "[]");
    assert_eq!(
        message,
        "policy constraint violation: policy.trusted_signers must be non-empty (policy.yaml:2)"
    );
    assert!(refusal("[a, b]", "[a, a]").contains("policy.trusted_signers[1] repeats \"a\""));
}

#[test]
fn a_ceiling_may_be_empty_and_null_means_denied() {
    let document = parse("version: 1\ntrusted_signers: [a]\ncapability_ceiling: {}\n").unwrap();
    assert!(document.ceiling.fs.read.value.is_empty() && !document.ceiling.exec.value);
    let text =
        "version: 1\ntrusted_signers: [a]\ncapability_ceiling:\n  fs: ~\n  net: null\n  exec:\n";
    assert!(!parse(text).unwrap().ceiling.exec.value);
    assert!(
        parse("version: 1\ntrusted_signers: [a]\n")
            .unwrap_err()
            .to_string()
            .contains("capability_ceiling")
    );
}

#[test]
fn each_rule_is_a_constraint_violation_or_a_type_error() {
    let constraints = [
        ("[/workspace, /os]", "[workspace]", "must begin with `/`"),
        ("[/workspace, /os]", "[/os, /os]", "repeats \"/os\""),
        ("write: null", "write: [x]", "must begin with `/`"),
        ("write: null", "write: [\"\"]", "must begin with `/`"),
        ("write: null", "write: [/a, /a]", "repeats \"/a\""),
        (
            "[\"https://docs.example/\"]",
            "[docs.example]",
            "must be an absolute URL",
        ),
        (
            "[\"https://docs.example/\"]",
            "[\"https://docs.example/?q\"]",
            "no query",
        ),
        (
            "[\"https://docs.example/\"]",
            "[\"https://docs.example/#f\"]",
            "no fragment",
        ),
        (
            "[\"https://docs.example/\"]",
            "[\"https://docs.example/%41\"]",
            "`%` escapes",
        ),
        (
            "[\"https://docs.example/\"]",
            "['https://docs.example\\\\x']",
            "must not hold `\\`",
        ),
        (
            "[\"https://docs.example/\"]",
            "[\"https://docs.example/\", \"https://docs.example/\"]",
            "repeats",
        ),
        ("[\"*\"]", "[\"\"]", "must be a name or `*`"),
        ("[\"*\"]", "[a, b, a]", "repeats \"a\""),
        (
            "kv: {read: [\"*\"]}",
            "queue: {consume: [\"\"]}",
            "must be a name or `*`",
        ),
        (
            "kv: {read: [\"*\"]}",
            "queue: {publish: [t, t]}",
            "repeats \"t\"",
        ),
        ("_X1", "x1", "capital letters"),
        ("_X1", "1X", "capital letters"),
        ("_X1", "A-B", "capital letters"),
        ("_X1", "\"\"", "capital letters"),
        ("_X1", "HOME", "repeats \"HOME\""),
        ("at: /workspace", "at: /Workspace", "must be `/name`"),
        ("at: /workspace", "at: /workspace/x", "must be `/name`"),
        ("at: /os/lib", "at: /os/../x", "must be `/name`"),
        ("at: /os/lib", "at: /web", "at or below `/os` only"),
        (
            "at: /os/lib, url",
            "at: /os/lib, mode: ro, url",
            "neither `dir` nor `mode`",
        ),
        (
            "https://docs.example/os/",
            "https://docs.example/os",
            "must end with `/`",
        ),
        (
            "https://docs.example/os/",
            "http://docs.example/os/",
            "must be an https URL",
        ),
        ("mode: rw", "mode: w", "must be `ro` or `rw`"),
        (
            "at: /os/lib, url: \"https://docs.example/os/\"",
            "at: /workspace, dir: x, mode: ro",
            "maps `/workspace` twice",
        ),
        (
            "https://docs.example/guide/",
            "https://other.example/",
            "outside every prefix",
        ),
        (
            "https://docs.example/guide/",
            "ftp://docs.example/",
            "must be http or https",
        ),
        ("[GET, HEAD]", "[]", "must be non-empty"),
        ("[GET, HEAD]", "[get]", "must be `GET` or"),
        ("[GET, HEAD]", "[GET, GET]", "repeats"),
        ("exec: true", "exec: false", "needs `exec: true`"),
        ("program: git", "program: ./git", "must be a bare name"),
        ("[[\"status\", \"...\"], []]", "[]", "must be non-empty"),
        ("program: git", "program: bash", "must be literal"),
        (
            "program: git, args: [[\"status\", \"...\"]",
            "program: /usr/bin/env, args: [[\"s*\"]",
            "must be literal",
        ),
        ("cwd: [/workspace]", "cwd: []", "must be non-empty"),
        (
            "cwd: [/workspace]",
            "cwd: [x]",
            "must be a virtual directory",
        ),
        ("{CI: \"1\"}", "{ci: \"1\"}", "capital letters"),
        ("{CI: \"1\"}", "{CI: \"\\0\"}", "NUL"),
        (
            "writable: [/workspace]",
            "writable: [/workspace/..]",
            "must be a virtual directory",
        ),
        (
            "wall_ms: 60000",
            "wall_ms: 0",
            "must be from 1 to 660000, not 0",
        ),
        ("wall_ms: 60000", "wall_ms: 660001", "not 660001"),
        ("wall_ms: 60000", "wall_ms: -1", "not -1"),
        (
            "wall_ms: 60000",
            "fuel: 200000000001",
            "from 1 to 200000000000",
        ),
        (
            "tools: describe",
            "tools: list",
            "must be `describe` or `skip`",
        ),
        ("run: [/os/tools]", "run: [/workspace]", "at or below `/os`"),
        ("[python3, -B]", "[]", "must be non-empty"),
        ("[python3, -B]", "[\"python3 -B\"]", "must be a bare name"),
        (
            "process: unjailed",
            "process: none",
            "must be `required` or `unjailed`",
        ),
    ];
    for (from, to, said) in constraints {
        let message = refusal(from, to);
        assert!(
            message.starts_with("policy constraint violation: policy."),
            "{to}: {message}"
        );
        assert!(
            message.contains(said) && message.contains("(policy.yaml:"),
            "{to}: {message}"
        );
    }
    let shapes = [
        ("[a, b]", "a", "policy.trusted_signers must be a list"),
        ("[a, b]", "[1]", "must be a string; write it in quotes"),
        ("[a, b]", "~", "policy.trusted_signers must be a list"),
        (
            "[/workspace, /os]",
            "/os",
            "policy.capability_ceiling.fs.read must be a list",
        ),
        (
            "write: null",
            "write: [~]",
            "policy.capability_ceiling.fs.write[0] must be a string",
        ),
        ("env: [HOME, _X1]", "env: {HOME: a}", "must be a list"),
        (
            "kv: {read: [\"*\"]}",
            "kv: [a]",
            "policy.capability_ceiling.kv must be a mapping",
        ),
        (
            "time: false",
            "time: 0",
            "policy.capability_ceiling.time must be true or false",
        ),
        (
            "time: false",
            "random: \"true\"",
            "policy.capability_ceiling.random must be true or false",
        ),
        (
            "exec: true",
            "exec: yes",
            "policy.capability_ceiling.exec must be true or false (policy.yaml:8)",
        ),
        (
            "mode: rw}",
            "}",
            "missing member `policy.host.mounts[0].mode`",
        ),
        (
            "dir: \".\", ",
            "",
            "missing member `policy.host.mounts[0].dir`",
        ),
        (
            ", methods: [GET, HEAD]",
            "",
            "missing member `policy.host.net[0].methods`",
        ),
        (
            "cwd: [/workspace], ",
            "",
            "missing member `policy.host.process[0].cwd`",
        ),
        ("CI: \"1\"", "CI: 1", "must be a string; write it in quotes"),
        ("network: true", "network: 1", "must be true or false"),
        ("wall_ms: 60000", "wall_ms: \"1\"", "must be a whole number"),
        ("[ca.pem]", "ca.pem", "policy.host.tls_roots must be a list"),
        (
            "jail: {process: unjailed}",
            "jail: unjailed",
            "must be a mapping",
        ),
        (
            "[\"status\", \"...\"]",
            "status",
            "policy.host.process[0].args[0] must be a list",
        ),
    ];
    for (from, to, said) in shapes {
        let message = refusal(from, to);
        assert!(
            message.starts_with("invalid policy document: ") && message.contains(said),
            "{to}: {message}"
        );
    }
}

#[test]
fn a_limit_at_its_maximum_is_accepted() {
    let document =
        parse(&VALID.replace("wall_ms: 60000", "process_pids: 4096, hostcalls: 1")).unwrap();
    let limits = document.host.limits.or(Limits::default());
    assert_eq!((limits.process_pids, limits.hostcalls), (4096, 1));
}

#[test]
fn what_is_no_single_plain_document_is_refused() {
    let error = parse("version: 1\nversion: 1\n").unwrap_err();
    let PolicyError::Document { fault, .. } = &error else {
        panic!("{error}")
    };
    assert_eq!(*fault, DocumentFault::Duplicate("version".to_owned()));
    for text in [
        "",
        "1",
        "[]",
        "a",
        "version: 1\n---\nversion: 1",
        "{",
        "\u{0}",
    ] {
        assert!(
            parse(text)
                .unwrap_err()
                .to_string()
                .starts_with("invalid policy document: "),
            "{text:?}"
        );
    }
}

proptest! {
    #[test]
    fn a_damaged_document_never_panics_the_parser(at in 0..VALID.len(), drop in 0usize..40, insert in "[-a-z0-9:{}\\[\\]\", \n/*&.]{0,6}") {
        let end = (at + drop).min(VALID.len());
        let (kept, (_, rest)) = (VALID.split_at(at).0, VALID.split_at(end));
        let text = format!("{kept}{insert}{rest}");
        let _ = parse(&text);
    }
}
