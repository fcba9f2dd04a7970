//! Checksums.

use super::*;

fn request(uri: &str) -> Request {
    Request {
        checksums: true,
        ..Request::new(uri)
    }
}

/// Of the empty file.
const EMPTY: &str = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
/// Of `abc`.
const ABC: &str = "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

#[test]
fn the_checksum_follows_the_uri_and_ends_every_entry() {
    let mut host = FakeHost::new(&[
        ("a.md", "---\nskills: [s.md]\ntools: [t.sh]\n---\n"),
        ("s.md", "abc"),
        ("t.sh", ""),
    ]);
    host.tool("/os/t.sh", exit(0, "T"), exit(0, ""));
    let payload = host.hydrate(&request("a.md"));
    let own = crate::checksum::of(b"---\nskills: [s.md]\ntools: [t.sh]\n---\n");
    assert_eq!(
        payload,
        format!(
            r#"{{"content":"","metadata":{{"uri":"os://a.md","checksum":"{own}","dependencies":{{"skills":[{{"uri":"os://s.md","name":"ERROR: MISSING_NAME","description":"ERROR: MISSING_DESCRIPTION","skills":[],"tools":[],"checksum":"{ABC}"}}],"tools":[{{"uri":"os://t.sh","description":"T","checksum":"{EMPTY}"}}]}}}}}}"#
        )
    );
}

#[test]
fn over_the_bytes_as_read_also_of_what_does_not_parse() {
    let bytes = b"\xef\xbb\xbf---\nname: [\n---\n\xff".as_slice();
    let mut host = FakeHost::new(&[
        ("a.md", b"---\nskills: [s.md]\n---\n".as_slice()),
        ("s.md", bytes),
    ]);
    let expected = crate::checksum::of(bytes);
    let payload = host.hydrate(&request("a.md"));
    assert_eq!(members(&payload, "skills", "checksum"), [&*expected]);
    let payload = json(&host.hydrate(&request("s.md")));
    assert_eq!(payload["metadata"]["uri"], "ERROR: PARSE_ERROR");
    assert_eq!(payload["metadata"]["checksum"], *expected);
    host.file("s.md", "---\nname: [\n---\n");
    let payload = json(&host.hydrate(&request("s.md")));
    let expected = crate::checksum::of(b"---\nname: [\n---\n");
    assert_eq!(payload["metadata"]["checksum"], *expected);
}

#[test]
fn where_no_bytes_were_read_the_member_is_the_code() {
    let file = "---\nskills: [gone, 'ftp://x', [y]]\ntools: [denied, ../up, gone]\n---\n";
    let mut host = FakeHost::new(&[("a.md", file)]);
    host.tool("/os/gone", Err(ProcessError::NotFound), exit(0, ""));
    let payload = host.hydrate(&request("a.md"));
    assert_eq!(
        members(&payload, "skills", "checksum"),
        [
            "ERROR: PARSE_ERROR",
            "ERROR: UNSUPPORTED_SCHEME",
            "ERROR: FETCH_FAILED"
        ]
    );
    assert_eq!(
        members(&payload, "tools", "checksum"),
        [
            "ERROR: PERMISSION_DENIED",
            "ERROR: EXECUTION_SKIPPED",
            "ERROR: NOT_FOUND"
        ]
    );
    let payload = json(&host.hydrate(&request("nobody.md")));
    assert_eq!(payload["metadata"]["checksum"], "ERROR: FETCH_FAILED");
    let items: Vec<String> = (0..1_001).map(|i| format!("s{i}")).collect();
    host.file(
        "b.md",
        format!("---\nskills: [{}]\ntools: [t]\n---\n", items.join(",")),
    );
    let payload = host.hydrate(&request("b.md"));
    assert_eq!(
        members(&payload, "skills", "checksum")[1_000],
        "ERROR: LIMIT_EXCEEDED"
    );
    assert_eq!(
        members(&payload, "tools", "checksum"),
        ["ERROR: LIMIT_EXCEEDED"]
    );
}

#[test]
fn a_tool_that_may_run_has_a_checksum_whatever_became_of_it() {
    let mut host = FakeHost::new(&[
        ("a.md", "---\ntools: [a, b, c, d.wasm]\n---\n"),
        ("a", "abc"),
        ("b", "abc"),
        ("d.wasm", "abc"),
    ]);
    host.file("c", vec![b'a'; (4 << 20) + 1]);
    host.tool("/os/a", ended(Ending::TimedOut), exit(0, ""));
    host.tool("/os/b", exit(1, ""), exit(1, ""));
    host.tool("/os/c", exit(0, "C"), exit(0, ""));
    host.tool("/os/d.wasm", Err(ProcessError::NotStartable), exit(0, ""));
    let payload = host.hydrate(&request("a.md"));
    assert_eq!(
        members(&payload, "tools", "checksum"),
        [ABC, ABC, "ERROR: FETCH_FAILED", ABC]
    );
}

#[test]
fn what_was_read_as_a_skill_is_not_read_again_as_a_tool() {
    let mut host = FakeHost::new(&[
        (
            "a.md",
            "---\nskills: [s.md, a.md]\ntools: [s.md, a.md]\n---\n",
        ),
        ("s.md", "abc"),
    ]);
    host.tool("/os/s.md", exit(0, "S"), exit(0, ""));
    host.tool("/os/a.md", exit(0, "A"), exit(0, ""));
    let payload = host.hydrate(&request("a.md"));
    assert_eq!(
        members(&payload, "tools", "checksum"),
        members(&payload, "skills", "checksum")
    );
    assert_eq!(host.all_reads(), ["/os/a.md", "/os/s.md"]);
}

#[test]
fn link_and_v2_objects_have_it_last() {
    let mut host = FakeHost::new(&[("a.md", "---\nskills: [s.md]\n---\n"), ("s.md", "abc")]);
    let link = Request {
        format: Format::Link,
        ..request("a.md")
    };
    assert_eq!(
        host.hydrate(&link),
        format!(
            "---\nskills:\n  - uri: \"os://s.md\"\n    name: \"ERROR: MISSING_NAME\"\n    description: \"ERROR: MISSING_DESCRIPTION\"\n    checksum: \"{ABC}\"\n---\n"
        )
    );
    let v2 = Request {
        format: Format::V2,
        ..request("a.md")
    };
    assert!(
        host.hydrate(&v2)
            .ends_with(&format!("    checksum: \"{ABC}\"\n---\n"))
    );
}
