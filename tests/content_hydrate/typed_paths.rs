//! What people type in place of a URI: files and folders of this machine, several at once, lists on stdin; and where
//! results go.

use std::fs;

use serde_json::Value;

use crate::os_root::{NONE, OsRoot, Run, agent, failed, skill};

/// The URI of each line of a run's output.
fn uris(run: &Run) -> Vec<String> {
    let uri = |answer: &Value| answer["metadata"]["uri"].as_str().unwrap().to_owned();
    run.answers().iter().map(uri).collect()
}

#[test]
fn a_file_of_this_machine_is_the_document_that_the_root_shows_there() {
    let root = OsRoot::new();
    root.file("crew/pi lot#1?é.md", "Fly.");
    let uri = "os://crew/pi%20lot%231%3F%C3%A9.md";
    let real = root.path("crew/pi lot#1?é.md");
    for typed in [
        "os/crew/pi lot#1?é.md",
        "./os/crew/pi lot#1?é.md",
        "os/crew/../crew/pi lot#1?é.md",
        real.to_str().unwrap(),
        "crew/pi lot#1?é.md",
    ] {
        let payload = root.payload(&[typed]);
        assert_eq!((payload.uri(), payload.content()), (uri, "Fly."), "{typed}");
    }
}

#[test]
fn a_file_is_found_through_the_mount_that_shows_it_and_through_no_other() {
    let root = OsRoot::new();
    root.file("lib/a.md", "hidden by the mount")
        .file("../ours/a.md", "mounted");
    let mounted = |typed: &str| root.hydrate(&[typed, "--mount", "/lib/=ours"]);
    let run = mounted("ours/a.md");
    assert_eq!(uris(&run), ["os://lib/a.md"], "{}", run.stderr);
    assert!(run.stdout.contains("\"mounted\""));
    let run = mounted("os/lib/a.md");
    assert_eq!((run.status, run.stdout.as_str()), (1, ""));
    assert!(run.stderr.contains("not below"), "{}", run.stderr);
}

#[test]
fn a_link_keeps_its_own_place_and_one_that_leads_out_is_not_read() {
    let root = OsRoot::new();
    root.file("kits/rope.md", "Rope.")
        .link("crew/rope.md", "../kits/rope.md")
        .file("../secret.md", "Secret.")
        .link("crew/secret.md", root.project().join("secret.md"));
    assert_eq!(
        root.payload(&["os/crew/rope.md"]).uri(),
        "os://crew/rope.md"
    );
    let run = root.hydrate(&["os/crew/secret.md"]);
    assert_eq!(run.stdout, failed("FETCH_FAILED", "") + "\n");
    assert!(
        run.stderr.contains("leads out of its mount"),
        "{}",
        run.stderr
    );
}

#[test]
fn a_path_outside_of_the_root_is_an_error_that_says_so() {
    let root = OsRoot::new();
    root.file("a.md", "Hi").file("../b.md", "beside it");
    let run = root.hydrate(&["b.md"]);
    assert_eq!((run.status, run.stdout.as_str()), (1, ""));
    assert_eq!(run.stderr.lines().count(), 1, "{}", run.stderr);
    assert!(
        run.stderr.contains("b.md is not below") && run.stderr.contains("--root"),
        "{}",
        run.stderr
    );
}

#[test]
fn a_file_that_is_not_there_is_named_with_the_nearest_ones() {
    let root = OsRoot::new();
    root.file("crew/pilot.md", "Fly.")
        .file("kits/rope.md", "Rope.");
    let path = root.hydrate(&["crew/pilott.md"]);
    assert_eq!((path.status, path.stdout.as_str()), (1, ""));
    let said = "no file os://crew/pilott.md; did you mean os://crew/pilot.md?";
    assert_eq!(path.stderr, format!("hydrant: {said}\n"));
    // A URI keeps the payload of RFC 0020.
    let uri = root.hydrate(&["os://crew/pilott.md"]);
    assert_eq!(
        (uri.status, uri.stdout),
        (0, failed("FETCH_FAILED", "") + "\n")
    );
    assert!(uri.stderr.contains(said), "{}", uri.stderr);
    let nothing_like_it = root.hydrate(&["os://zzzzzzzzzzzzzzzzzzzzzzzz"]);
    assert!(!nothing_like_it.stderr.contains("did you mean"));
    assert!(nothing_like_it.stderr.contains("no file os://zzz"));
}

#[test]
fn a_document_that_cannot_be_parsed_is_said_with_its_line_and_reason() {
    let root = OsRoot::new();
    #[rustfmt::skip]
    let rows: [(&str, &[u8], &str); 3] = [
        ("colon.md", b"---\nx: 1\ndescription: Use: when: asked\n---\n", "os/colon.md:3: PARSE_ERROR: a value with `: `"),
        ("latin.md", b"---\nx: 1\n---\nHi\n\xe9\n", "os/latin.md:5: PARSE_ERROR: the file is not UTF-8"),
        ("bracket.md", b"---\n[\n---\n", "os/bracket.md:1: PARSE_ERROR: the front matter"),
    ];
    for (file, document, said) in rows {
        root.file(file, document);
        let run = root.hydrate(&[&format!("os://{file}")]);
        assert_eq!(run.status, 0, "{file}");
        assert!(run.stdout.contains("\"uri\":\"ERROR: PARSE_ERROR\""));
        assert_eq!(run.stderr.lines().count(), 1, "{}", run.stderr);
        assert!(run.stderr.contains(said), "{file}: {}", run.stderr);
    }
}

#[test]
fn strict_lists_every_marker_and_exits_with_1() {
    let root = OsRoot::new();
    root.file(
        "crew/a.md",
        "---\nskills:\n  - ../kits/gone.md\n  - b.md\ntools: [ftp://h/x]\n---\n",
    )
    .file("crew/b.md", "---\ndescription: d\n---\n")
    .file("good.md", "Hi");
    for format in ["json", "text", "link", "v2"] {
        let strict = |uri: &str| root.hydrate(&[uri, "--strict", "--format", format]);
        let run = strict("os://crew/a.md");
        assert_eq!(run.status, 1, "{format}");
        assert!(run.stdout.contains("FETCH_FAILED"), "{}", run.stdout);
        for said in [
            "os/crew/a.md:3: os://kits/gone.md: FETCH_FAILED: no file",
            "os/crew/a.md:4: os://crew/b.md: MISSING_NAME: ",
            "os/crew/a.md:5: ftp://h/x: UNSUPPORTED_SCHEME: ",
        ] {
            assert!(run.stderr.contains(said), "{format} {said}: {}", run.stderr);
        }
        assert_eq!(run.stderr.lines().count(), 3, "{}", run.stderr);
        let good = strict("os://good.md");
        assert_eq!((good.status, good.stderr.as_str()), (0, ""), "{format}");
    }
    let without = root.hydrate(&["os://crew/a.md"]);
    assert_eq!((without.status, without.stderr.as_str()), (0, ""));
}

#[test]
fn of_a_folder_every_document_is_one_line_in_order() {
    let root = OsRoot::new();
    root.file("crew/b.md", "B")
        .file("crew/deep/c.MD", "C")
        .file("crew/a.md", "A")
        .file("crew/.hidden.md", "hidden")
        .file("crew/tool.sh", "x")
        .file("else.md", "E");
    let expected = ["os://crew/a.md", "os://crew/b.md", "os://crew/deep/c.MD"];
    let real = root.path("crew");
    for typed in ["crew", "os/crew/", real.to_str().unwrap()] {
        let run = root.hydrate(&[typed]);
        assert_eq!((run.status, run.stderr.as_str()), (0, ""));
        assert_eq!(uris(&run), expected, "{typed}");
    }
    let all = root.hydrate(&["/"]);
    assert_eq!(all.stdout, root.hydrate(&["os"]).stdout);
    assert_eq!(uris(&all).len(), 4);
    // Each document once, however often it is named.
    let run = root.hydrate(&["else.md", "crew", "os://crew/a.md"]);
    assert_eq!(uris(&run)[0], "os://else.md");
    assert_eq!(uris(&run).len(), 4);
    fs::create_dir(root.path("empty")).unwrap();
    let run = root.hydrate(&["empty"]);
    assert_eq!((run.status, run.stdout.as_str()), (1, ""));
    assert!(run.stderr.contains("no .md file"), "{}", run.stderr);
}

#[test]
fn a_list_on_stdin_names_one_document_a_line() {
    let root = OsRoot::new();
    root.file("a.md", "A").file("b c.md", "B");
    let list = |lines: &str| root.fed(&["hydrate", "-"], lines.as_bytes());
    let run = list("os://a.md\n\n  os/b c.md  \r\nos://gone.md");
    assert_eq!(
        uris(&run),
        ["os://a.md", "os://b%20c.md", "ERROR: FETCH_FAILED"]
    );
    assert_eq!((run.status, run.stderr.lines().count()), (0, 1));
    let run = list(&"x".repeat(1024 * 1024 + 1));
    assert_eq!((run.status, run.stdout.as_str()), (1, ""));
}

#[test]
fn one_result_goes_to_a_file_and_several_into_a_folder() {
    let root = OsRoot::new();
    root.file("crew/a.md", "A").file("b.md", "B");
    let read = |path: &str| fs::read_to_string(root.project().join(path)).unwrap();
    let one = root.hydrate(&["b.md", "--output", "b.json"]);
    assert_eq!((one.status, one.stdout.as_str()), (0, ""));
    assert_eq!(read("b.json"), root.hydrate(&["b.md"]).stdout);
    let several = root.hydrate(&["b.md", "crew", "--output", "out", "--format", "link"]);
    assert_eq!((several.status, several.stdout.as_str()), (0, ""));
    assert_eq!(read("out/b.md"), "B");
    assert_eq!(read("out/crew/a.md"), "A");
    // A folder that is there takes one as well.
    root.hydrate(&["b.md", "--output", "out"]);
    assert!(read("out/b.md.json").contains("os://b.md"));
    let together = root.hydrate(&["b.md", "crew/a.md", "--format", "link"]);
    assert_eq!((together.status, together.stdout.as_str()), (2, ""));
    assert!(together.stderr.contains("--output"), "{}", together.stderr);
}

#[test]
fn no_uri_leads_out_of_the_folder_of_results() {
    let root = OsRoot::new();
    root.file("a.md", "A");
    let run = root.hydrate(&[
        "os://x/../../../../escaped",
        "ftp://../../escaped",
        "https:///../../escaped",
        "os://a.md",
        "--output",
        "deep/out",
    ]);
    assert_eq!(run.status, 0, "{}", run.stderr);
    let mut found: Vec<String> = Vec::new();
    let mut folders = vec![root.project()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
            if entry.path().is_dir() {
                folders.push(entry.path());
            } else {
                let path = entry.path();
                let path = path.strip_prefix(root.project()).unwrap();
                found.push(path.to_str().unwrap().to_owned());
            }
        }
    }
    let outside: Vec<_> = found
        .iter()
        .filter(|file| !file.starts_with("deep/out/") && *file != "os/a.md")
        .collect();
    assert!(outside.is_empty(), "{found:?}");
    assert_eq!(found.len(), 5, "{found:?}");
}

#[test]
fn the_text_form_is_readable_and_obeys_nothing() {
    let root = OsRoot::new();
    root.file(
        "a.md",
        "---\nskills: [s.md]\ntools: [\"x\\e]0;title\\a:y\"]\n---\nHällo\u{1b}[2J\u{202e}\n\tGo.\n",
    )
    .file("s.md", skill("Rope\u{85}"));
    let run = root.hydrate(&["os://a.md", "--format", "text"]);
    assert_eq!(
        run.stdout,
        "os://a.md\n\nSkills\n  Rope\\u{85}  os://s.md\n    d\n\nTools\n  x\\u{1b}]0;title\\u{7}:y\n    \
         ERROR: FETCH_FAILED\n\nHällo\\u{1b}[2J\\u{202e}\n\tGo.\n"
    );
    let strict = root.hydrate(&["os://a.md", "--strict"]);
    assert!(
        strict.stderr.contains("\\u{1b}]0;title"),
        "{}",
        strict.stderr
    );
    assert!(!strict.stderr.contains('\u{1b}'));
    let missing = root.hydrate(&["gone\u{1b}[2J.md"]);
    assert!(!missing.stderr.contains('\u{1b}'), "{}", missing.stderr);
}

#[test]
fn in_the_text_form_several_documents_stand_apart() {
    let root = OsRoot::new();
    root.file("a.md", agent(NONE, NONE)).file("b.md", "B");
    let run = root.hydrate(&["a.md", "b.md", "--format", "text"]);
    assert_eq!(run.stdout, "os://a.md\n\nGo.\n\nos://b.md\n\nB\n");
}
