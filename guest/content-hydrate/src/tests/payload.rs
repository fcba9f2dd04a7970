//! The payload: the tests and examples of RFC 0020 §7 and §11, and what the RFC leaves open about the resource and its lists.

use super::*;

fn empty(uri: &str, content: &str) -> String {
    let content = serde_json::json!(content);
    format!(
        r#"{{"content":{content},"metadata":{{"uri":"{uri}","dependencies":{{"skills":[],"tools":[]}}}}}}"#
    )
}

#[test]
fn simple() {
    let mut host = FakeHost::new(&[
        (
            "agents/test-agent.md",
            "---\nskills:\n  - os://skills/test-skill.md\n---\nTest agent content",
        ),
        (
            "skills/test-skill.md",
            "---\nname: Test Skill\ndescription: A test skill for validation\nskills: []\ntools: []\n---\nSkill content",
        ),
    ]);
    assert_eq!(
        host.payload("os://agents/test-agent.md"),
        r#"{"content":"Test agent content","metadata":{"uri":"os://agents/test-agent.md","dependencies":{"skills":[{"uri":"os://skills/test-skill.md","name":"Test Skill","description":"A test skill for validation","skills":[],"tools":[]}],"tools":[]}}}"#
    );
}

#[test]
fn missing_name_and_missing_file() {
    let mut host = FakeHost::new(&[
        (
            "test/agent.md",
            "---\nskills:\n  - os://skills/no-name.md\n  - os://skills/does-not-exist.md\n---\nAgent content",
        ),
        (
            "skills/no-name.md",
            "---\ndescription: Missing name field\n---\n",
        ),
    ]);
    assert_eq!(
        host.payload("os://test/agent.md"),
        r#"{"content":"Agent content","metadata":{"uri":"os://test/agent.md","dependencies":{"skills":[{"uri":"os://skills/does-not-exist.md","name":"ERROR: FETCH_FAILED","description":"ERROR: FETCH_FAILED","skills":[],"tools":[]},{"uri":"os://skills/no-name.md","name":"ERROR: MISSING_NAME","description":"Missing name field","skills":[],"tools":[]}],"tools":[]}}}"#
    );
}

#[test]
fn one_level_only() {
    let mut host = FakeHost::new(&[
        (
            "agents/multi-level.md",
            "---\nskills:\n  - os://skills/level-1.md\n---\nAgent content",
        ),
        (
            "skills/level-1.md",
            "---\nname: Level 1 Skill\ndescription: Has transitive dependency\nskills:\n  - os://skills/level-2.md\n---\n",
        ),
        (
            "skills/level-2.md",
            "---\nname: Level 2 Skill\ndescription: Transitive dependency\n---\n",
        ),
    ]);
    let payload = host.payload("os://agents/multi-level.md");
    assert!(payload.contains(r#""skills":["os://skills/level-2.md"]"#));
    assert!(!payload.contains("Level 2 Skill"));
    assert_eq!(
        host.all_reads(),
        ["/os/agents/multi-level.md", "/os/skills/level-1.md"]
    );
}

#[test]
fn example_7_1() {
    let mut host = FakeHost::new(&[
        (
            "agents/writer.md",
            "---\ntype: Agent\nskills:\n  - os://skills/grammar-check.md\n---\nYou are a writing assistant specializing in technical documentation.",
        ),
        (
            "skills/grammar-check.md",
            "---\nname: Grammar Checker\ndescription: Validates English grammar and style using industry-standard rules\ntools:\n  - ./grammar-cli.sh\n---\nThis skill checks grammar, spelling, and style compliance.",
        ),
    ]);
    assert_eq!(
        host.payload("os://agents/writer.md"),
        r#"{"content":"You are a writing assistant specializing in technical documentation.","metadata":{"uri":"os://agents/writer.md","dependencies":{"skills":[{"uri":"os://skills/grammar-check.md","name":"Grammar Checker","description":"Validates English grammar and style using industry-standard rules","skills":[],"tools":["./grammar-cli.sh"]}],"tools":[]}}}"#
    );
}

#[test]
fn example_7_2() {
    let mut host = FakeHost::new(&[
        (
            "agents/researcher.md",
            "---\nskills:\n  - os://skills/web-search.md\n  - os://skills/citation-formatter.md\n---\nYou are a research assistant.",
        ),
        (
            "skills/web-search.md",
            "---\nname: Web Search\ndescription: Searches the web using semantic queries\nskills: []\ntools:\n  - os://tools/search-api.ts\n---\n",
        ),
        (
            "skills/citation-formatter.md",
            "---\nname: Citation Formatter\ndescription: Formats citations in APA, MLA, and Chicago styles\nskills:\n  - os://skills/bibliography-parser.md\ntools: []\n---\n",
        ),
    ]);
    let payload = host.payload("os://agents/researcher.md");
    assert_eq!(
        members(&payload, "skills", "uri"),
        [
            "os://skills/citation-formatter.md",
            "os://skills/web-search.md"
        ]
    );
    assert!(payload.contains(
        r#""skills":["os://skills/bibliography-parser.md"],"tools":[]},{"uri":"os://skills/web-search.md""#
    ));
    assert!(
        payload.ends_with(r#""skills":[],"tools":["os://tools/search-api.ts"]}],"tools":[]}}}"#)
    );
}

#[test]
fn a_resource_that_cannot_be_had() {
    let failed = empty("ERROR: FETCH_FAILED", "");
    let mut host = FakeHost::default();
    for uri in [
        "os://nobody.md",
        " ",
        "../x",
        "os:/x",
        "a?b",
        "%FF",
        "https://lib.example/x",
    ] {
        assert_eq!(host.payload(uri), failed, "{uri:?}");
    }
    for error in [
        FsError::Denied,
        FsError::IsDirectory,
        FsError::Special,
        FsError::TooLarge,
    ] {
        host.files.insert("/os/x".to_owned(), Err(error));
        assert_eq!(host.payload("x"), failed, "{error:?}");
    }
    let scheme = empty("ERROR: UNSUPPORTED_SCHEME", "");
    for uri in ["file:///etc/passwd", "http://127.0.0.1/x", "data:,x"] {
        let before = host.reads.len();
        assert_eq!(host.payload(uri), scheme, "{uri}");
        assert_eq!(host.reads.len(), before, "nothing is opened");
    }
}

#[test]
fn a_resource_that_cannot_be_parsed_keeps_its_text() {
    let files: [(&str, &[u8], &str); 7] = [
        (
            "f-16",
            b"---\nname: Ann\n---x\n---\nHi",
            "---\nname: Ann\n---x\n---\nHi",
        ),
        (
            "f-17",
            b"---\nname: Ann\n--- x\n---\nHi",
            "---\nname: Ann\n--- x\n---\nHi",
        ),
        ("f-18", b"---\nAnn\n---\nHi", "---\nAnn\n---\nHi"),
        ("f-24", b"Hi\xff", "Hi\u{FFFD}"),
        ("bom", b"\xef\xbb\xbf---\n[\n---\nHi", "---\n[\n---\nHi"),
        (
            "bom-and-utf-8",
            b"\xef\xbb\xbfa\xe2\x82b\xffc",
            "a\u{FFFD}b\u{FFFD}c",
        ),
        ("truncated", b"\xf0\x9f\xa7", "\u{FFFD}"),
    ];
    for (path, bytes, content) in files {
        let mut host = FakeHost::new(&[(path, bytes)]);
        assert_eq!(
            host.payload(path),
            empty("ERROR: PARSE_ERROR", content),
            "{path}"
        );
    }
}

#[test]
fn content_is_what_follows() {
    let files = [
        ("---\nx: 1\n---\nHi\n", "Hi\n"),
        ("---\nx: 1\n---\n\n\nHi", "\n\nHi"),
        ("---\r\nx: 1\r\n---\r\nHi\r\n", "Hi\r\n"),
        ("\u{FEFF}---\nx: 1\n---\nHi", "Hi"),
        ("\u{FEFF}Hi", "Hi"),
        ("---\n---\nHi", "Hi"),
        ("---\n# later\n---\nHi", "Hi"),
        ("---\n~\n---\nHi", "Hi"),
        ("---\nnever closed", "---\nnever closed"),
        ("", ""),
        ("---\nx: 1\n---\na\0b\u{2028}\u{7f}", "a\0b\u{2028}\u{7f}"),
    ];
    for (file, content) in files {
        let mut host = FakeHost::new(&[("a.md", file)]);
        assert_eq!(
            host.payload("a.md"),
            empty("os://a.md", content),
            "{file:?}"
        );
    }
}

#[test]
fn the_uri_is_canonical_and_relative_to_the_root() {
    let mut host = FakeHost::new(&[("crew/rope ladder.md", "Hi")]);
    for uri in [
        "crew/rope ladder.md",
        "/crew/./rope%20ladder.md",
        "OS:///crew//rope ladder.md#x",
    ] {
        assert_eq!(
            host.payload(uri),
            empty("os://crew/rope%20ladder.md", "Hi"),
            "{uri}"
        );
    }
    assert_eq!(host.all_reads(), ["/os/crew/rope ladder.md"; 3]);
}

#[test]
fn entries_are_sorted_and_each_uri_stands_once() {
    let mut host = FakeHost::new(&[(
        "crew/a.md",
        "---\nskills: [./Z.md, ./b.md, os://crew/b.md, b.md#x, ../crew/a b.md, ./é.md, /b.md]\n---\n",
    )]);
    let payload = host.payload("crew/a.md");
    assert_eq!(
        members(&payload, "skills", "uri"),
        [
            "os://b.md",
            "os://crew/%C3%A9.md",
            "os://crew/Z.md",
            "os://crew/a%20b.md",
            "os://crew/b.md",
        ]
    );
    assert_eq!(host.reads.len(), 2, "one list for all skills");
}

#[test]
fn what_does_not_resolve_stands_as_declared() {
    let mut host = FakeHost::new(&[(
        "a.md",
        "---\nskills: ['../x', 'ftp://x', ' y', 'z?1', '']\ntools: ['../x', 'ftp://x', ' y', '%FF']\n---\n",
    )]);
    let payload = host.payload("a.md");
    assert_eq!(
        members(&payload, "skills", "uri"),
        ["", " y", "../x", "ftp://x", "z?1"]
    );
    let (failed, scheme) = ("ERROR: FETCH_FAILED", "ERROR: UNSUPPORTED_SCHEME");
    for member in ["name", "description"] {
        assert_eq!(
            members(&payload, "skills", member),
            [failed, failed, failed, scheme, failed]
        );
    }
    assert_eq!(
        members(&payload, "tools", "uri"),
        [" y", "../x", "ftp://x", "os://%FF"]
    );
    assert_eq!(
        members(&payload, "tools", "description"),
        [
            failed,
            "ERROR: PERMISSION_DENIED",
            scheme,
            "ERROR: NOT_FOUND"
        ],
        "and 7.2"
    );
    assert!(host.runs.is_empty(), "nothing is asked of the host");
}

#[test]
fn what_is_no_string_is_one_parse_error() {
    let error = "ERROR: PARSE_ERROR";
    for value in [
        "Read, Grep",
        "{a: b}",
        "''",
        "[[a]]",
        "[{a: b}, ~, [c], '']",
    ] {
        let file = format!("---\nskills: {value}\ntools: {value}\n---\n");
        let mut host = FakeHost::new(&[("a.md", file)]);
        let payload = host.payload("a.md");
        for (array, member) in [
            ("skills", "name"),
            ("skills", "uri"),
            ("tools", "description"),
        ] {
            let members = members(&payload, array, member);
            assert_eq!(members.last().map(String::as_str), Some(error), "{value}");
        }
        assert_eq!(host.all_reads(), ["/os/a.md"], "{value}");
        assert!(host.runs.is_empty());
    }
    for value in ["", "~", "null", "[]", "!!null ''"] {
        let mut host = FakeHost::new(&[("a.md", format!("---\nskills: {value}\n---\n"))]);
        assert_eq!(host.payload("a.md"), empty("os://a.md", ""), "{value}");
    }
    let mut host = FakeHost::new(&[
        (
            "crew/pilot.md",
            "---\nskills:\n  - - ./a.md\n  - ./b.md\n---\n",
        ),
        ("crew/b.md", ""),
    ]);
    let payload = host.payload("crew/pilot.md");
    assert_eq!(
        members(&payload, "skills", "uri"),
        [error, "os://crew/b.md"]
    );
}

#[test]
fn scalars_of_any_kind_are_their_text() {
    let mut host = FakeHost::new(&[("a.md", "---\nskills: [7, 1.10, true, !!str ~]\n---\n")]);
    let payload = host.payload("a.md");
    assert_eq!(
        members(&payload, "skills", "uri"),
        ["os://1.10", "os://7", "os://true", "os://~"]
    );
}

#[test]
fn declarations_that_fail_alike_do_not_depend_on_their_order() {
    let one = "---\nskills: ['ERROR: PARSE_ERROR', [x]]\n---\n";
    let other = "---\nskills: [[x], 'ERROR: PARSE_ERROR']\n---\n";
    assert_eq!(
        FakeHost::new(&[("a.md", one)]).payload("a.md"),
        FakeHost::new(&[("a.md", other)]).payload("a.md")
    );
}

#[test]
fn a_uri_is_read_once_and_a_resource_that_declares_itself_not_again() {
    let mut host = FakeHost::new(&[(
        "a.md",
        "---\nname: A\ndescription: Itself\nskills: [a.md, ./a.md]\n---\nHi",
    )]);
    let payload = host.payload("a.md");
    assert_eq!(members(&payload, "skills", "name"), ["A"]);
    assert_eq!(host.all_reads(), ["/os/a.md"]);
}

#[test]
fn any_2xx_body_is_the_resource_and_its_url_the_base() {
    let mut host = FakeHost::default();
    host.page(
        "https://lib.example/kits/a.md",
        "---\nskills: [b.md, os://c.md]\ntools: [t.sh]\n---\nHi",
    );
    host.pages.insert(
        "https://lib.example/kits/b.md".to_owned(),
        Ok((206, b"---\nname: B\ndescription: x\n---\n".to_vec())),
    );
    host.file("c.md", "---\nname: C\ndescription: y\n---\n");
    let payload = host.payload("HTTPS://lib.example/kits/a.md#x");
    assert_eq!(members(&payload, "skills", "name"), ["B", "C"]);
    assert_eq!(path(&host.runs[0][0]), "https://lib.example/kits/t.sh");
    assert_eq!(
        tool(&host.runs[0][0]).declared_by,
        "https://lib.example/kits/a.md"
    );
    for (status, error) in [(404, None), (304, None), (0, Some(FetchError::Timeout))] {
        let page = error.map_or(Ok((status, b"Hi".to_vec())), Err);
        host.pages.insert("https://lib.example/x".to_owned(), page);
        assert_eq!(
            host.payload("https://lib.example/x"),
            empty("ERROR: FETCH_FAILED", "")
        );
    }
}

#[test]
fn what_is_accepted_is_said() {
    struct Recorder(Vec<(String, String)>);
    impl ReadFiles for Recorder {
        fn read(&mut self, _: &[ReadRequest]) -> Vec<Result<File, FsError>> {
            Vec::new()
        }
        fn tree(&mut self, _: &[TreeRequest]) -> Vec<Result<Listing, FsError>> {
            Vec::new()
        }
    }
    impl Fetch for Recorder {
        fn send(&mut self, requests: &[HttpRequest]) -> Vec<Result<HttpResponse, FetchFailure>> {
            self.0.clone_from(&requests[0].headers);
            Vec::new()
        }
    }
    impl RunCommands for Recorder {
        fn run(&mut self, _: &[Command]) -> Vec<Result<Exit, ProcessError>> {
            Vec::new()
        }
    }
    let mut recorder = Recorder(Vec::new());
    // A host that answers less than it was asked is no reason to panic.
    hydrate(&mut recorder, &Request::new("https://lib.example/")).unwrap();
    let accept = "text/markdown, text/plain;q=0.9, */*;q=0.1";
    assert_eq!(recorder.0, [("accept".to_owned(), accept.to_owned())]);
}

#[test]
fn an_empty_uri_is_no_request() {
    let error = hydrate(&mut FakeHost::default(), &Request::new("")).unwrap_err();
    assert_eq!(
        (error.code(), error.message()),
        ("invalid_request", "uri must be a non-empty string")
    );
}
