//! References, canonical URIs, and what becomes of those that do not resolve.

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
const INPUTS: &[(&str, Expected)] = &[
    ("os://crew/pilot.md", File("os://crew/pilot.md")),
    ("os:///crew/pilot.md", File("os://crew/pilot.md")),
    ("OS:////crew//pilot.md", File("os://crew/pilot.md")),
    ("os://Crew/Pilot.md", File("os://Crew/Pilot.md")),
    ("crew/pilot.md", File("os://crew/pilot.md")),
    ("/crew/./pilot.md", File("os://crew/pilot.md")),
    ("../crew/pilot.md", Escape),
    ("os:/crew/pilot.md", Failed),
    ("os:crew/pilot.md", Failed),
    ("os://", Directory("os://")),
    (" ", Failed),
    (" crew/pilot.md", Failed),
    ("file:///etc/passwd", Scheme),
];

#[rustfmt::skip]
const DECLARED: &[(&str, Expected)] = &[
    ("map.md", File("os://crew/map.md")),
    ("./charts/map.md", File("os://crew/charts/map.md")),
    ("../kits/rope/SKILL.md", File("os://kits/rope/SKILL.md")),
    ("/kits/rope/SKILL.md", File("os://kits/rope/SKILL.md")),
    ("../../kits/rope.md", Escape),
    ("os://kits/../../rope.md", Escape),
    ("os://kits/old/../rope.md", File("os://kits/rope.md")),
    ("os://kits/%2E/%72ope.md", File("os://kits/rope.md")),
    ("os://kits/%2E%2e/%2e./rope.md", Escape),
    // Percent-encoding.
    ("os://kits/rope ladder.md", File("os://kits/rope%20ladder.md")),
    ("os://kits/rope%20ladder.md", File("os://kits/rope%20ladder.md")),
    ("os://kits/a+b;c=[1].md", File("os://kits/a+b;c=[1].md")),
    ("os://kits/%c3%a9t%c3%a9.md", File("os://kits/%C3%A9t%C3%A9.md")),
    ("os://kits/\u{e9}t\u{e9}.md", File("os://kits/%C3%A9t%C3%A9.md")),
    ("os://kits/e\u{301}te\u{301}.md", File("os://kits/e%CC%81te%CC%81.md")),
    ("os://kits%2Frope.md", Failed),
    ("os://kits/%5crope.md", Failed),
    ("rope%00.md", Failed),
    ("os://kits/100%.md", Failed),
    ("os://kits/100%25.md", File("os://kits/100%25.md")),
    (r"..\kits\rope.md", Failed),
    // Fragments and queries.
    ("os://kits/rope.md#knots", File("os://kits/rope.md")),
    ("#knots", Failed),
    ("../kits/rope.md?v=2", Failed),
    ("os://kits/rope%3fv=2.md", File("os://kits/rope%3Fv=2.md")),
    // What is no reference, or hardly one.
    ("", Failed),
    ("os://kits/rope.md ", Failed),
    ("//kits/rope.md", Failed),
    ("os://kits/rope.md/", File("os://kits/rope.md")),
    // Schemes, and what only looks like one.
    ("file:///etc/passwd", Scheme),
    ("javascript:alert('xss')", Scheme),
    ("http://lib.example/kits/rope.md", Scheme),
    (r"C:\kits\rope.md", Scheme),
    ("skill:rope.md", Scheme),
    ("./skill:rope.md", File("os://crew/skill:rope.md")),
    ("2nd:rope.md", File("os://crew/2nd:rope.md")),
    ("HTTPS://Lib.Example:443/kits/../a%2fb.md#x", Remote("https://lib.example/a%2fb.md")),
    ("https:lib.example/rope.md", Failed),
    ("os://kits/rope.md#a#b?c", File("os://kits/rope.md")),
    ("os://kits/rope.md?v=2", Failed),
    ("os://kits/\"<>`{}^|.md", File("os://kits/%22%3C%3E%60%7B%7D%5E%7C.md")),
    ("os://kits/a\u{7f}.md", Failed),
    ("os://kits/%41%2d%7E.md", File("os://kits/A-~.md")),
    ("os://kits/%0a.md", File("os://kits/%0A.md")),
    ("os://kits/%FF.md", Unnameable("os://kits/%FF.md")),
    // URLs.
    (r"https://lib.example\rope.md", Failed),
    ("https:///lib.example/rope.md", Failed),
    ("https://me@lib.example/rope.md", Failed),
    ("https://lib.example/a?b=1#c", Remote("https://lib.example/a?b=1")),
    ("\u{2003}os://kits/rope.md", Failed),
    ("../kits/./rope.md", File("os://kits/rope.md")),
];

#[test]
fn the_input_resolves_against_the_os_root() {
    let root = with_files(INPUTS);
    for (input, expected) in INPUTS {
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
                assert_eq!(payload.uri(), *uri, "{input:?}");
                assert!(payload.text.starts_with(r#"{"content":"","#), "{input:?}");
            }
            Scheme => assert_eq!(payload.text, failed("UNSUPPORTED_SCHEME", ""), "{input:?}"),
            _ => assert_eq!(payload.text, failed("FETCH_FAILED", ""), "{input:?}"),
        }
    }
}

#[test]
fn a_declaration_resolves_against_its_document() {
    let root = with_files(DECLARED);
    for (reference, expected) in DECLARED {
        declare(&root, "os://crew/pilot.md", reference, *expected);
    }
}

#[test]
fn a_skill_in_its_own_directory_is_a_base_like_any_other() {
    let root = OsRoot::new();
    let base = "os://kits/rope/SKILL.md";
    declare(&root, base, ".", Directory("os://kits/rope"));
    declare(&root, base, "../../..", Escape);
}

/// Declares `reference` as a skill and as a tool: the skill shows what is read, the tool, which is not started, tells the
/// reasons of a failure apart.
fn declare(root: &OsRoot, base: &str, reference: &str, expected: Expected) {
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
    assert_eq!(skill["uri"], uri, "{reference:?}, a skill");
    assert_eq!(skill["name"], name, "{reference:?}, a skill");
    assert_eq!(tool["uri"], uri, "{reference:?}, a tool");
    assert_eq!(tool["description"], description, "{reference:?}, a tool");
}

/// A root with the file of every row that names one; the file's skill name is its canonical URI.
fn with_files(rows: &[(&str, Expected)]) -> OsRoot {
    let root = OsRoot::new();
    for (_, expected) in rows {
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
fn a_remote_document_is_the_base_of_what_it_declares() {
    let declared = |port: u16| {
        [
            (
                "rope.md?v=2#top".to_owned(),
                format!("http://127.0.0.1:{port}/kits/rope.md?v=2"),
            ),
            (
                "/rope.md".to_owned(),
                format!("http://127.0.0.1:{port}/rope.md"),
            ),
            (
                "../../../deep.md".to_owned(),
                format!("http://127.0.0.1:{port}/deep.md"),
            ),
            (
                format!("//localhost:{port}/rope.md"),
                format!("http://localhost:{port}/rope.md"),
            ),
            (
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
                    .map(|(reference, _)| reference)
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
    for (reference, uri) in declared(server.port()) {
        let name = match uri.as_str() {
            "os://kits/rope.md" => "here",
            // Resolved, then refused by the allowlist.
            other if other.contains("localhost") => "ERROR: FETCH_FAILED",
            _ => uri.split_once(&format!(":{}", server.port())).unwrap().1,
        };
        assert_eq!(payload.skill(&uri)["name"], name, "{reference}");
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
