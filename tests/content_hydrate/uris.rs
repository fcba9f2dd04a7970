//! §7: references, canonical URIs, and what becomes of those that do not resolve.

use proptest::prelude::*;

use crate::os_root::{NONE, OsRoot, agent, failed, skill};
use crate::policy;
use crate::server::{Answer, Server};
use Expected::{Directory, Escape, Failed, File, Remote, Scheme, Unnameable};

/// What a reference comes to. One that does not resolve is emitted as it was declared.
#[derive(Clone, Copy, Debug)]
enum Expected {
    /// This canonical URI, and its file is read.
    File(&'static str),
    /// This canonical URI, which names no file.
    Directory(&'static str),
    /// This canonical URI, whose segments are not UTF-8 and so name no file.
    Unnameable(&'static str),
    /// This https URL, which the default policy does not fetch.
    Remote(&'static str),
    /// `..` above the root.
    Escape,
    /// FETCH_FAILED.
    Failed,
    /// UNSUPPORTED_SCHEME.
    Scheme,
}

#[rustfmt::skip]
const INPUTS: &[(&str, &str, Expected)] = &[
    ("U-01", "os://crew/pilot.md", File("os://crew/pilot.md")),
    ("U-02", "os:///crew/pilot.md", File("os://crew/pilot.md")),
    ("U-02", "OS:////crew//pilot.md", File("os://crew/pilot.md")),
    ("U-03", "os://Crew/Pilot.md", File("os://Crew/Pilot.md")),
    ("U-04", "crew/pilot.md", File("os://crew/pilot.md")),
    ("U-05", "/crew/./pilot.md", File("os://crew/pilot.md")),
    ("U-06", "../crew/pilot.md", Escape),
    ("U-07", "os:/crew/pilot.md", Failed),
    ("U-07", "os:crew/pilot.md", Failed),
    ("U-08", "os://", Directory("os://")),
    ("H-10", " ", Failed),
    ("H-10", " crew/pilot.md", Failed),
    ("H-13", "file:///etc/passwd", Scheme),
];

#[rustfmt::skip]
const DECLARED: &[(&str, &str, Expected)] = &[
    ("U-09", "map.md", File("os://crew/map.md")),
    ("U-10", "./charts/map.md", File("os://crew/charts/map.md")),
    ("U-11", "../kits/rope/SKILL.md", File("os://kits/rope/SKILL.md")),
    ("U-12", "/kits/rope/SKILL.md", File("os://kits/rope/SKILL.md")),
    ("U-13", "../../kits/rope.md", Escape),
    ("U-14", "os://kits/../../rope.md", Escape),
    ("U-15", "os://kits/old/../rope.md", File("os://kits/rope.md")),
    ("U-16", "os://kits/%2E/%72ope.md", File("os://kits/rope.md")),
    ("U-17", "os://kits/%2E%2e/%2e./rope.md", Escape),
    ("U-18", "os://kits/rope ladder.md", File("os://kits/rope%20ladder.md")),
    ("U-18", "os://kits/rope%20ladder.md", File("os://kits/rope%20ladder.md")),
    ("U-19", "os://kits/a+b;c=[1].md", File("os://kits/a+b;c=[1].md")),
    ("U-20", "os://kits/%c3%a9t%c3%a9.md", File("os://kits/%C3%A9t%C3%A9.md")),
    ("U-21", "os://kits/\u{e9}t\u{e9}.md", File("os://kits/%C3%A9t%C3%A9.md")),
    ("U-22", "os://kits/e\u{301}te\u{301}.md", File("os://kits/e%CC%81te%CC%81.md")),
    ("U-23", "os://kits%2Frope.md", Failed),
    ("U-23", "os://kits/%5crope.md", Failed),
    ("U-23", "rope%00.md", Failed),
    ("U-24", "os://kits/100%.md", Failed),
    ("U-25", "os://kits/100%25.md", File("os://kits/100%25.md")),
    ("U-26", r"..\kits\rope.md", Failed),
    ("U-27", "os://kits/rope.md#knots", File("os://kits/rope.md")),
    ("U-28", "#knots", Failed),
    ("U-29", "../kits/rope.md?v=2", Failed),
    ("U-30", "os://kits/rope%3fv=2.md", File("os://kits/rope%3Fv=2.md")),
    ("U-31", "", Failed),
    ("U-32", "os://kits/rope.md ", Failed),
    ("U-33", "//kits/rope.md", Failed),
    ("U-34", "os://kits/rope.md/", File("os://kits/rope.md")),
    ("U-37", "file:///etc/passwd", Scheme),
    ("U-37", "javascript:alert('xss')", Scheme),
    ("U-38", "http://lib.example/kits/rope.md", Scheme),
    ("U-39", r"C:\kits\rope.md", Scheme),
    ("U-40", "skill:rope.md", Scheme),
    ("U-41", "./skill:rope.md", File("os://crew/skill:rope.md")),
    ("U-42", "2nd:rope.md", File("os://crew/2nd:rope.md")),
    ("U-43", "HTTPS://Lib.Example:443/kits/../a%2fb.md#x", Remote("https://lib.example/a%2fb.md")),
    ("U-44", "https:lib.example/rope.md", Failed),
    ("§7.1 2", "os://kits/rope.md#a#b?c", File("os://kits/rope.md")),
    ("§7.1 3", "os://kits/rope.md?v=2", Failed),
    ("§7.2", "os://kits/\"<>`{}^|.md", File("os://kits/%22%3C%3E%60%7B%7D%5E%7C.md")),
    ("§7.2", "os://kits/a\u{7f}.md", Failed),
    ("§7.2", "os://kits/%41%2d%7E.md", File("os://kits/A-~.md")),
    ("§7.2", "os://kits/%0a.md", File("os://kits/%0A.md")),
    ("§7.2", "os://kits/%FF.md", Unnameable("os://kits/%FF.md")),
    ("§7.3", r"https://lib.example\rope.md", Failed),
    ("§7.3", "https:///lib.example/rope.md", Failed),
    ("§7.3", "https://me@lib.example/rope.md", Failed),
    ("H-09", "https://lib.example/a?b=1#c", Remote("https://lib.example/a?b=1")),
    ("H-10", "\u{2003}os://kits/rope.md", Failed),
    ("H-11", "../kits/./rope.md", File("os://kits/rope.md")),
];

#[test]
fn to_u_08_the_input_resolves_against_the_os_root() {
    let root = with_files(INPUTS);
    for (row, input, expected) in INPUTS {
        // A path of nothing is an error of the command; a URI of nothing has a payload.
        if !input.contains(':') && !matches!(expected, File(_)) {
            let run = root.hydrate(&["--", input]);
            assert_eq!((run.status, run.stdout.as_str()), (1, ""), "{input:?}");
            assert!(run.stderr.contains("no file"), "{}", run.stderr);
            continue;
        }
        let payload = root.payload(&["--", input]);
        match expected {
            File(uri) => {
                assert_eq!(payload.uri(), *uri, "{row} {input:?}");
                assert!(payload.text.starts_with(r#"{"content":"","#), "{row}");
            }
            Scheme => assert_eq!(payload.text, failed("UNSUPPORTED_SCHEME", ""), "{row}"),
            _ => assert_eq!(payload.text, failed("FETCH_FAILED", ""), "{row} {input:?}"),
        }
    }
}

#[test]
fn to_u_44_a_declaration_resolves_against_its_document() {
    let root = with_files(DECLARED);
    for (row, reference, expected) in DECLARED {
        declare(&root, "os://crew/pilot.md", row, reference, *expected);
    }
}

#[test]
fn a_skill_in_its_own_directory_is_a_base_like_any_other() {
    let root = OsRoot::new();
    let base = "os://kits/rope/SKILL.md";
    declare(&root, base, "U-35", ".", Directory("os://kits/rope"));
    declare(&root, base, "U-36", "../../..", Escape);
}

/// Declares `reference` as a skill and as a tool: the skill shows what is read, the tool, which is not started, tells the
/// reasons of a failure apart.
fn declare(root: &OsRoot, base: &str, row: &str, reference: &str, expected: Expected) {
    let document = base.strip_prefix("os://").unwrap();
    root.file(document, agent(&[reference], &[reference]));
    let payload = root.payload(&[base, "--no-exec"]);
    let (skill, tool) = (&payload.skills()[0], &payload.tools()[0]);
    let (uri, name, description) = match expected {
        File(uri) => (uri, uri, "ERROR: EXECUTION_SKIPPED"),
        Directory(uri) | Remote(uri) => (uri, "ERROR: FETCH_FAILED", "ERROR: EXECUTION_SKIPPED"),
        Unnameable(uri) => (uri, "ERROR: FETCH_FAILED", "ERROR: NOT_FOUND"),
        Escape => (reference, "ERROR: FETCH_FAILED", "ERROR: PERMISSION_DENIED"),
        Failed => (reference, "ERROR: FETCH_FAILED", "ERROR: FETCH_FAILED"),
        Scheme => (
            reference,
            "ERROR: UNSUPPORTED_SCHEME",
            "ERROR: UNSUPPORTED_SCHEME",
        ),
    };
    assert_eq!(skill["uri"], uri, "{row} {reference:?}, a skill");
    assert_eq!(skill["name"], name, "{row} {reference:?}, a skill");
    assert_eq!(tool["uri"], uri, "{row} {reference:?}, a tool");
    assert_eq!(
        tool["description"], description,
        "{row} {reference:?}, a tool"
    );
}

/// A root with the file of every row that names one; the file's skill name is its canonical URI.
fn with_files(rows: &[(&str, &str, Expected)]) -> OsRoot {
    let root = OsRoot::new();
    for (_, _, expected) in rows {
        if let File(uri) = expected {
            let path = uri.strip_prefix("os://").unwrap();
            root.file(&percent_decoded(path), skill(uri));
        }
    }
    root
}

fn percent_decoded(path: &str) -> String {
    let mut parts = path.split('%');
    let mut bytes = parts.next().unwrap().as_bytes().to_vec();
    for part in parts {
        bytes.push(u8::from_str_radix(&part[..2], 16).unwrap());
        bytes.extend_from_slice(&part.as_bytes()[2..]);
    }
    String::from_utf8(bytes).unwrap()
}

/// The development flag makes loopback http resolve like https, so the https rows are played
/// on a loopback host: `lib.example` is 127.0.0.1, `cdn.example` is localhost.
#[test]
fn to_u_50_a_remote_document_is_the_base_of_what_it_declares() {
    let declared = |port: u16| {
        [
            (
                "U-45",
                "rope.md?v=2#top".to_owned(),
                format!("http://127.0.0.1:{port}/kits/rope.md?v=2"),
            ),
            (
                "U-46",
                "/rope.md".to_owned(),
                format!("http://127.0.0.1:{port}/rope.md"),
            ),
            (
                "U-47",
                "../../../deep.md".to_owned(),
                format!("http://127.0.0.1:{port}/deep.md"),
            ),
            (
                "U-48",
                format!("//localhost:{port}/rope.md"),
                format!("http://localhost:{port}/rope.md"),
            ),
            (
                "U-49",
                "os://kits/rope.md".to_owned(),
                "os://kits/rope.md".to_owned(),
            ),
        ]
    };
    let server = Server::new(move |request| {
        let port = request
            .headers
            .iter()
            .find(|(name, _)| name == "host")
            .unwrap();
        let port = port.1.rsplit(':').next().unwrap().parse().unwrap();
        match request.path.as_str() {
            "/kits/index.md" => {
                let mut references: Vec<String> = declared(port)
                    .into_iter()
                    .map(|(_, reference, _)| reference)
                    .collect();
                references.push("https://me:pw@lib.example/rope.md".to_owned());
                Answer::Body(agent(&references, &references[5..]).into_bytes())
            }
            path => Answer::Body(skill(path).into_bytes()),
        }
    });
    let root = OsRoot::new();
    root.policy(&policy::fetches(&[&server.url("/")]));
    root.file("kits/rope.md", skill("here"));
    let payload = root.payload(&["--allow-http-loopback", &server.url("/kits/index.md")]);
    for (row, reference, uri) in declared(server.port()) {
        let name = match row {
            "U-48" => "ERROR: FETCH_FAILED", // resolved, then refused by the allowlist
            "U-49" => "here",
            _ => uri.split_once(&format!(":{}", server.port())).unwrap().1,
        };
        assert_eq!(payload.skill(&uri)["name"], name, "{row} {reference}");
    }
    let failed = payload.skill("https://me:pw@lib.example/rope.md");
    assert_eq!(failed["name"], "ERROR: FETCH_FAILED");
    let tool = payload.tool("https://me:pw@lib.example/rope.md");
    assert_eq!(tool, "ERROR: FETCH_FAILED");
    assert_eq!(payload.skills().len(), 6);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Whatever resolves is emitted in a form that resolves to itself.
    #[test]
    fn a_canonical_uri_is_its_own_canonical_form(
        references in prop::collection::vec("(os:/{1,3})?([a-c%2Ef. é~|?#:]|%[2-7][0-9a-fA-F]|/){1,24}", 40)
    ) {
        let root = OsRoot::new();
        let resolved = |references: &[String]| -> Vec<String> {
            root.file("crew/pilot.md", agent(NONE, references));
            let payload = root.payload(&["os://crew/pilot.md", "--no-exec"]);
            let skipped = payload.tools().iter().filter(|tool| tool["description"] == "ERROR: EXECUTION_SKIPPED");
            skipped.map(|tool| tool["uri"].as_str().unwrap().to_owned()).collect()
        };
        let first = resolved(&references);
        prop_assert_eq!(resolved(&first), first);
    }
}
