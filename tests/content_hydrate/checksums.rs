//! Checksums of the bytes as read, and what stands where none were.

use sha2::{Digest, Sha256};

use crate::os_root::{NONE, OsRoot, agent, failed, skill};
use crate::policy;

const CHECKSUMS: &str = "--checksums";

fn sha256(bytes: impl AsRef<[u8]>) -> String {
    let digest = Sha256::digest(bytes);
    let hex: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("sha256:{hex}")
}

#[test]
fn the_members_stand_where_the_row_says() {
    let root = OsRoot::new();
    let rope = "\u{FEFF}---\r\nname: Rope\r\ndescription: d\r\n---\r\n";
    root.file("rope.md", rope);
    let document = agent(&["rope.md"], &["t.sh"]);
    root.file("a.md", &document);
    let expected = format!(
        concat!(
            r#"{{"content":"Go.","metadata":{{"uri":"os://a.md","checksum":"{}","dependencies":{{"#,
            r#""skills":[{{"uri":"os://rope.md","name":"Rope","description":"d","skills":[],"tools":[],"checksum":"{}"}}],"#,
            r#""tools":[{{"uri":"os://t.sh","description":"ERROR: EXECUTION_SKIPPED","checksum":"ERROR: EXECUTION_SKIPPED"}}]}}}}}}"#
        ),
        sha256(&document),
        sha256(rope)
    );
    let payload = root.payload(&["os://a.md", CHECKSUMS, "--no-exec"]);
    assert_eq!(payload.text, expected);
    assert!(
        !root.payload(&["os://a.md"]).text.contains("checksum"),
        "only when asked for"
    );
    assert_eq!(
        sha256(""),
        "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    );
}

#[test]
fn every_entry_has_one_or_its_own_code() {
    let root = OsRoot::new();
    root.file("bad.md", b"---\n[\n---\n\xFF")
        .file("empty.md", "");
    root.sparse("long.md", (4 << 20) + 1);
    root.file(
        "a.md",
        "---\nskills: [bad.md, empty.md, gone.md, long.md, 'x:y', ~]\ntools: [../x, ~]\n---\n",
    );
    let payload = root.payload(&["os://a.md", CHECKSUMS]);
    #[rustfmt::skip]
    let rows = [
        ("os://bad.md", sha256(b"---\n[\n---\n\xFF")),
        ("os://empty.md", sha256("")),
        ("os://gone.md", "ERROR: FETCH_FAILED".to_owned()),
        ("os://long.md", "ERROR: FETCH_FAILED".to_owned()),
        ("x:y", "ERROR: UNSUPPORTED_SCHEME".to_owned()),
        ("ERROR: PARSE_ERROR", "ERROR: PARSE_ERROR".to_owned()),
    ];
    for (uri, checksum) in rows {
        assert_eq!(payload.skill(uri)["checksum"], checksum, "{uri}");
    }
    let checksums: Vec<_> = payload
        .tools()
        .iter()
        .map(|tool| &tool["checksum"])
        .collect();
    assert_eq!(
        checksums,
        ["ERROR: PERMISSION_DENIED", "ERROR: PARSE_ERROR"]
    );
}

#[test]
fn a_resource_that_failed() {
    let root = OsRoot::new();
    root.file("bad.md", b"Hi\xFF");
    let with = |code: &str, content: &str, checksum: &str| {
        let uri = format!(r#""uri":"ERROR: {code}","#);
        failed(code, content).replace(&uri, &format!(r#"{uri}"checksum":"{checksum}","#))
    };
    let gone = root.payload(&["os://gone.md", CHECKSUMS]).text;
    assert_eq!(gone, with("FETCH_FAILED", "", "ERROR: FETCH_FAILED"));
    let bad = root.payload(&["os://bad.md", CHECKSUMS]).text;
    assert_eq!(bad, with("PARSE_ERROR", "Hi\u{FFFD}", &sha256(b"Hi\xFF")));
}

#[test]
fn the_sentinel_has_its_own_code() {
    let root = OsRoot::new();
    let skills: Vec<String> = (0..1001).map(|n| format!("{n:04}.md")).collect();
    root.file("a.md", agent(&skills, NONE));
    let payload = root.payload(&["os://a.md", CHECKSUMS]);
    assert_eq!(payload.skills()[1000]["checksum"], "ERROR: LIMIT_EXCEEDED");
}

#[test]
fn a_tool_that_was_allowed_has_a_checksum_however_it_ended() {
    let root = OsRoot::new();
    root.policy(&policy::tools_run());
    let good = "#!/bin/sh\necho D\n";
    let bad = "#!/bin/sh\nexit 1\n";
    root.tool("good.sh", good)
        .tool("bad.sh", bad)
        .file("plain.sh", good);
    root.sparse("long.sh", (4 << 20) + 1).mode("long.sh", 0o755);
    root.file("bad.wasm", "no component");
    root.file(
        "a.md",
        agent(
            &[NONE, &["s.md"]].concat(),
            &[
                "good.sh", "bad.sh", "plain.sh", "gone.sh", "long.sh", "bad.wasm",
            ],
        ),
    );
    root.file("s.md", skill("S"));
    let payload = root.payload(&["os://a.md", CHECKSUMS]);
    #[rustfmt::skip]
    let rows = [
        ("good.sh", "D", sha256(good)),
        ("bad.sh", "ERROR: EXECUTION_FAILED", sha256(bad)),
        ("gone.sh", "ERROR: NOT_FOUND", "ERROR: NOT_FOUND".to_owned()),
        ("long.sh", "ERROR: EXECUTION_FAILED", "ERROR: FETCH_FAILED".to_owned()),
        ("bad.wasm", "ERROR: EXECUTION_FAILED", sha256("no component")),
    ];
    for (name, description, checksum) in rows {
        let uri = format!("os://{name}");
        let entry = payload
            .tools()
            .iter()
            .find(|entry| entry["uri"] == uri.as_str())
            .unwrap();
        assert_eq!(entry["description"], description, "{name}");
        assert_eq!(entry["checksum"], checksum, "{name}");
    }
    assert_eq!(payload.tool("os://plain.sh"), "ERROR: PERMISSION_DENIED");
}
