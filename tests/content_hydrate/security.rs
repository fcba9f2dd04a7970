//! Hostile input: what it gets, and that the host stays whole. Cases about links are in `mounts`,
//! about requests in `network` and `syscall`, about tools in the modules of tools.

use std::os::unix::net::UnixListener;
use std::time::{Duration, Instant};

use proptest::prelude::*;
use serde_json::json;

use crate::os_root::{NONE, OsRoot, agent, failed};
use crate::policy;

const SCHEME: &str = "ERROR: UNSUPPORTED_SCHEME";
const FETCH: &str = "ERROR: FETCH_FAILED";
const PARSE: &str = "ERROR: PARSE_ERROR";

#[test]
fn references_of_every_forbidden_kind() {
    // The reference, what it gets as a skill, what as a tool.
    #[rustfmt::skip]
    let rows = [
        // Schemes.
        ("file:///etc/passwd", SCHEME, SCHEME),
        ("FILE:/etc/passwd", SCHEME, SCHEME),
        ("data:text/plain,hi", SCHEME, SCHEME),
        ("ftp://h.example/a", SCHEME, SCHEME),
        ("javascript:alert(1)", SCHEME, SCHEME),
        ("jar:file:///a!/b", SCHEME, SCHEME),
        ("unix:/run/docker.sock", SCHEME, SCHEME),
        // Above the root.
        ("../../../../etc/passwd", FETCH, "ERROR: PERMISSION_DENIED"),
        ("os://%2e%2e/etc/passwd", FETCH, "ERROR: PERMISSION_DENIED"),
        ("os://x/%2E./%2e%2e/etc/passwd", FETCH, "ERROR: PERMISSION_DENIED"),
        ("os://..", FETCH, "ERROR: PERMISSION_DENIED"),
        // Separators, control characters and escapes that hide them.
        ("..%2f..%2fetc/passwd", FETCH, FETCH),
        ("os://a%5c..%5cb", FETCH, FETCH),
        ("os://a%00.md", FETCH, FETCH),
        ("..\\..\\etc\\passwd", FETCH, FETCH),
        ("os://a\u{1}b", FETCH, FETCH),
        ("os://a\nb", FETCH, FETCH),
        ("https://h.example/a\tb", FETCH, FETCH),
        ("os://%u0041", FETCH, FETCH),
    ];
    let root = OsRoot::new();
    root.policy(&policy::tools_run());
    let references = rows.map(|(reference, ..)| reference);
    root.file("crew/pilot.md", agent(&references, &references));
    let payload = root.payload(&["os://crew/pilot.md"]);
    for (reference, skill, tool) in rows {
        assert_eq!(payload.skill(reference)["name"], skill, "{reference:?}");
        assert_eq!(payload.tool(reference), tool, "{reference:?}");
        let code = skill.strip_prefix("ERROR: ").unwrap();
        if reference.contains(':') {
            assert_eq!(
                root.payload(&[reference]).text,
                failed(code, ""),
                "{reference:?}"
            );
        }
    }
}

#[test]
fn what_is_no_regular_file_or_far_too_large_fails_at_once() {
    let root = OsRoot::new();
    let fifo = rustix::fs::FileType::Fifo;
    rustix::fs::mknodat(rustix::fs::CWD, root.path("fifo.md"), fifo, 0o644.into(), 0).unwrap();
    let socket = UnixListener::bind(root.path("socket.md")).unwrap();
    root.link("zero.md", "/dev/zero").file("directory.md/x", "");
    root.sparse("sparse.md", 10 << 30)
        .sparse("64mib.md", 64 << 20);
    let skills = [
        "fifo.md",
        "socket.md",
        "zero.md",
        "directory.md",
        "sparse.md",
        "64mib.md",
    ];
    root.file("agent.md", agent(&skills, NONE));
    let started = Instant::now();
    let payload = root.payload(&["os://agent.md"]);
    for skill in skills {
        let uri = format!("os://{skill}");
        assert_eq!(payload.skill(&uri)["name"], FETCH, "{skill}");
        assert_eq!(
            root.payload(&[&uri]).text,
            failed("FETCH_FAILED", ""),
            "{skill}"
        );
    }
    assert!(started.elapsed() < Duration::from_secs(5), "at once");
    drop(socket);
}

#[test]
fn hostile_front_matter_is_a_parse_error_in_bounded_time() {
    let many = 100_000;
    let keys: String = (0..450_000).map(|n| format!("{n:06}:\n")).collect();
    let repeated = |item: &str| item.repeat(many);
    let bomb: String = (1..40)
        .map(|n| format!("a{n}: &a{n} [*a{0}, *a{0}]\n", n - 1))
        .collect();
    #[rustfmt::skip]
    let rows = [
        // Depth, numbers and expansion.
        format!("x: {}", repeated("[")),
        format!("x: {}{}", repeated("["), repeated("]")),
        format!("x: {}", repeated("{a: ")),
        format!("x: {}", repeated("? ")),
        format!("x:\n  {}a", repeated("- ")),
        (0..1_500).map(|n| format!("{}a:\n", " ".repeat(n))).collect(),
        format!("x: {}", repeated("!!seq [")),
        format!("x: &a [*a, {}]", repeated("*a,")),
        format!("a0: &a0 [x, x]\n{bomb}skills: *a39"),
        keys,
        format!("x: \"{}", repeated("\\\\")),
        format!("x: {}", repeated("&a ")),
        // Tags that ask for code.
        "x: !!js/function 'function () {}'".to_owned(),
        "x: !!python/object/apply:os.system [id]".to_owned(),
        "x: !ruby/object:Gem::Installer {}".to_owned(),
    ];
    let root = OsRoot::new();
    let mut skills = Vec::new();
    for (index, front) in rows.iter().enumerate() {
        root.file(&format!("{index:02}.md"), format!("---\n{front}\n---\nHi"));
        skills.push(format!("{index:02}.md"));
    }
    root.file("agent.md", agent(&skills, NONE));
    let started = Instant::now();
    let payload = root.payload(&["os://agent.md"]);
    assert!(started.elapsed() < Duration::from_secs(30), "bounded time");
    for (front, entry) in rows.iter().zip(payload.skills()) {
        assert_eq!(entry["name"], PARSE, "{front:.60}");
    }
}

#[test]
fn a_bomb_that_nothing_uses_is_harmless() {
    let root = OsRoot::new();
    let bomb: String = (1..60)
        .map(|n| format!("a{n}: &a{n} [*a{0}, *a{0}]\n", n - 1))
        .collect();
    root.file(
        "a.md",
        format!("---\nname: Ann\ndescription: d\na0: &a0 [x]\n{bomb}---\n"),
    );
    root.file("agent.md", agent(&["a.md"], NONE));
    assert_eq!(root.payload(&["os://agent.md"]).skills()[0]["name"], "Ann");
}

#[test]
fn ten_thousand_tools_start_at_most_a_thousand_processes() {
    let root = OsRoot::new();
    let marks = root.project().join("marks");
    std::fs::write(&marks, "").unwrap();
    let mut policy = policy::tools_run();
    policy["host"]["discovery"]["env"] = json!({"MARKS": marks});
    root.policy(&policy);
    // Only the last ones exist, and they are cut: none may run.
    let tools: Vec<String> = (0..10_000).map(|n| format!("{n:05}.sh")).collect();
    for tool in &tools[1_000..1_010] {
        root.tool(tool, "#!/bin/sh\necho x >> $MARKS\n");
    }
    root.file("agent.md", agent(NONE, &tools));
    assert_eq!(root.payload(&["os://agent.md"]).tools().len(), 1001);
    assert_eq!(
        std::fs::read_to_string(marks).unwrap(),
        "",
        "cut entries cause no process"
    );
}

#[test]
fn no_message_shows_a_real_path_or_the_environment() {
    let root = OsRoot::new();
    root.file("bad.md", "---\n[\n---\n")
        .link("out.md", "../secret.md")
        .file("../secret.md", "");
    let mut run = root.hydrate(&["os://bad.md", "--format", "link"]);
    run.stderr += &root.hydrate(&["os://out.md", "--format", "link"]).stderr;
    run.stderr += &root.hydrate(&["os://gone.md", "--format", "v2"]).stderr;
    assert!(run.stderr.contains("os://out.md"), "{}", run.stderr);
    let real = root.project();
    assert!(
        !run.stderr
            .contains(real.parent().unwrap().to_str().unwrap()),
        "{}",
        run.stderr
    );
    assert!(!run.stderr.contains("secret"), "{}", run.stderr);
}

#[test]
fn skills_that_declare_each_other_end() {
    let root = OsRoot::new();
    let all: Vec<String> = (0..40).map(|n| format!("{n:02}.md")).collect();
    for file in &all {
        root.file(file, agent(&all, NONE));
    }
    let payload = root.payload(&["os://00.md", "--depth", "16"]);
    assert_eq!(payload.skills().len(), 40, "each once");
    let cycles = payload.json["metadata"]["cycles"].as_array().unwrap();
    assert_eq!((cycles.len(), cycles[0].as_array().unwrap().len()), (1, 40));
}

/// Fragments of which hostile documents are made; random bytes alone hardly ever reach the parser.
fn document() -> impl Strategy<Value = Vec<u8>> {
    let pieces = [
        "---\n",
        "---",
        "\n",
        "\r\n",
        "name: ",
        "description: ",
        "skills:",
        "tools: ",
        "  - ",
        "[",
        "]",
        "{",
        "}",
        ": ",
        ", ",
        "&a ",
        "*a",
        "!!str ",
        "!x ",
        "\"",
        "'",
        "|\n",
        ">-\n",
        "# ",
        "? ",
        "<<: ",
        "...",
        "%YAML 1.2\n",
        "\t",
        "~",
        "\u{FEFF}",
        "é",
        "\\",
        "os://",
        "../",
        "https://",
        "%2e",
        "x",
    ];
    let piece = prop_oneof![
        8 => prop::sample::select(pieces.to_vec()).prop_map(|piece| piece.as_bytes().to_vec()),
        1 => prop::collection::vec(any::<u8>(), 1..4),
    ];
    let body = prop::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat());
    body.prop_map(|body| [b"---\n", &body[..], b"\n---\nHi"].concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn whatever_a_document_holds_there_is_a_payload(documents in prop::collection::vec(document(), 25)) {
        let root = OsRoot::new();
        let skills: Vec<String> = (0..documents.len()).map(|n| format!("{n}.md")).collect();
        for (file, document) in skills.iter().zip(&documents) {
            root.file(file, document);
        }
        root.file("agent.md", agent(&skills, NONE));
        let payload = root.payload(&["os://agent.md", "--depth", "3", "--lenient"]);
        prop_assert_eq!(payload.uri(), "os://agent.md");
        root.payload(&["os://0.md"]);
        let run = root.hydrate(&["os://0.md", "--format", "link"]);
        prop_assert!(run.status == 0 || run.stderr.contains(PARSE), "{}", run.stderr);
    }
}
