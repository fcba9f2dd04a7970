//! `search.ripgrep` against `rg`.
//!
//! What is different on purpose, and therefore computed or switched off here: a glob does not unhide what is
//! ignored or hidden, a file with a NUL anywhere is skipped, UTF-16 is not decoded,
//! nothing of the user's configuration counts, and the order is fixed.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::desk::Desk;
use crate::search_ripgrep::ID;
use crate::seeded::Seeded;

const CASES: usize = 150;

/// A search: pattern, options and globs.
struct Case {
    pattern: &'static str,
    case_sensitive: bool,
    hidden: bool,
    ignore: bool,
    globs: Vec<&'static str>,
    paths: Vec<&'static str>,
}

/// One match: path by segments, line, column, match, text.
type Found = (Vec<Vec<u8>>, u64, usize, String, String);

/// `rg` in this directory of the workspace with these arguments.
fn rg(desk: &Desk, directory: &str, case: &Case, arguments: &[&str]) -> Vec<u8> {
    let mut command = Command::new("rg");
    command
        .current_dir(desk.path(directory))
        .env("HOME", desk.beside("."))
        .env("XDG_CONFIG_HOME", desk.beside("."))
        .env_remove("RIPGREP_CONFIG_PATH")
        .args([
            "--no-config",
            "--no-require-git",
            "--no-ignore-global",
            "--no-messages",
            "--crlf",
        ])
        .args(["--encoding", "none", "--no-mmap"]);
    command.arg(if case.case_sensitive {
        "--case-sensitive"
    } else {
        "--ignore-case"
    });
    if case.hidden {
        // `.git` never.
        command.args(["--hidden", "--glob", "!.git"]);
    }
    if !case.ignore {
        command.arg("--no-ignore");
    }
    let output = command.args(arguments).output();
    let output = output.expect("`rg` is needed to compare with; scripts/test.sh installs it");
    assert!(
        output.status.code().is_some_and(|code| code < 2),
        "{arguments:?}: {output:?}"
    );
    output.stdout
}

/// Paths as `rg` prints them, with and without `./`.
fn normalized(path: &str) -> String {
    path.trim_start_matches("./").to_owned()
}

/// The files that are neither ignored nor hidden and match the globs, each by itself.
fn files(desk: &Desk, case: &Case) -> BTreeSet<String> {
    let list = |directory: &str, more: &[String]| -> BTreeSet<String> {
        let mut arguments = vec!["--files"];
        arguments.extend(more.iter().map(String::as_str));
        arguments.push(".");
        let listed = String::from_utf8(rg(desk, directory, case, &arguments)).unwrap();
        let from_root = |file: &str| normalized(&format!("{directory}/{}", normalized(file)));
        listed.lines().map(from_root).collect()
    };
    // From the mount root, because releases of rg differ in how rules above a named directory apply.
    let mut visible = list(".", &[]);
    visible.retain(|file| {
        let below = |path: &&str| *path == "." || file.starts_with(&format!("{path}/"));
        case.paths.iter().any(below)
    });
    if case.globs.is_empty() {
        return visible;
    }
    // Globs are relative to the path that leads to a file.
    let globs = case.globs.iter().map(|glob| format!("--glob={glob}"));
    let more: Vec<String> = globs.chain(["--no-ignore".to_owned()]).collect();
    let chosen: BTreeSet<String> = case
        .paths
        .iter()
        .flat_map(|path| list(path, &more))
        .collect();
    visible.intersection(&chosen).cloned().collect()
}

fn text(value: &Value) -> Vec<u8> {
    match value["text"].as_str() {
        Some(text) => text.as_bytes().to_vec(),
        None => STANDARD.decode(value["bytes"].as_str().unwrap()).unwrap(),
    }
}

fn without_line_end(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

fn segments(path: &str) -> Vec<Vec<u8>> {
    path.split('/')
        .map(|segment| segment.as_bytes().to_vec())
        .collect()
}

/// What `rg` finds in these files.
fn expected(desk: &Desk, case: &Case, files: &BTreeSet<String>) -> Vec<Found> {
    if files.is_empty() {
        return Vec::new();
    }
    let mut arguments = vec!["--json", "--text", "--regexp", case.pattern, "--"];
    arguments.extend(files.iter().map(String::as_str));
    let output = rg(desk, ".", case, &arguments);
    let messages = output
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty());
    let messages = messages.map(|line| serde_json::from_slice::<Value>(line).unwrap());
    let mut found: Vec<Found> = messages
        .filter(|message| message["type"] == "match")
        .map(|message| {
            let data = &message["data"];
            let first = &data["submatches"][0];
            let column = usize::try_from(first["start"].as_u64().unwrap()).unwrap() + 1;
            let lossy = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            let path = lossy(&text(&data["path"]));
            let line = text(&data["lines"]);
            let shown = lossy(without_line_end(&line));
            (
                segments(&path),
                data["line_number"].as_u64().unwrap(),
                column,
                lossy(&text(&first["match"])),
                shown,
            )
        })
        .collect();
    found.sort();
    found
}

fn actual(answer: &Value) -> Vec<Found> {
    let matches = answer["matches"].as_array().unwrap().iter();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    matches
        .map(|one| {
            let column = usize::try_from(one["column"].as_u64().unwrap()).unwrap();
            (
                segments(one["file"].as_str().unwrap()),
                one["line"].as_u64().unwrap(),
                column,
                text(&one["match"]),
                text(&one["text"]),
            )
        })
        .collect()
}

/// Compares the neighbouring lines of each match with those of the file itself.
fn check_context(desk: &Desk, answer: &Value, count: usize) {
    for one in answer["matches"].as_array().unwrap() {
        let bytes = desk.read(one["file"].as_str().unwrap());
        let lines: Vec<String> = bytes
            .split_inclusive(|byte| *byte == b'\n')
            .map(|line| String::from_utf8_lossy(without_line_end(line)).into_owned())
            .collect();
        let at = usize::try_from(one["line"].as_u64().unwrap()).unwrap() - 1;
        let before = lines[at.saturating_sub(count)..at].join("\n");
        let after = lines[at + 1..lines.len().min(at + 1 + count)].join("\n");
        assert_eq!(
            (&one["context_before"], &one["context_after"]),
            (&json!(before), &json!(after)),
            "{one}"
        );
    }
}

const WORDS: [&str; 12] = [
    "foo", "Foo", "bar", "fn x", "é", "É", "1", "(", "\t", "TODO:", "aab", "ß",
];

/// Where ignore rules stand.
const PLACES: [&str; 7] = [
    ".gitignore",
    ".ignore",
    ".rgignore",
    "src/.gitignore",
    "src/.ignore",
    "src/deep/.rgignore",
    ".git/info/exclude",
];

/// A tree of files, ignore files and hidden names.
fn tree(desk: &Desk, seeded: &mut Seeded) {
    let directories = [
        "",
        "src/",
        "src/deep/",
        "Target/",
        ".hidden/",
        "a-b/",
        ".git/",
    ];
    let names = ["a.rs", "b.md", "c.txt", "d.log", ".dot", "e.RS", "build"];
    for _ in 0..14 {
        let path = format!("{}{}", seeded.pick(&directories), seeded.pick(&names));
        let end = seeded.pick(&["\n", "\n", "\n", "\r\n"]);
        let mut content = Vec::new();
        for _ in 0..seeded.below(12) {
            for _ in 0..seeded.below(4) {
                content.extend(seeded.pick(&WORDS).bytes());
                content.push(b' ');
            }
            if seeded.one_in(20) {
                content.push(0xff);
            }
            content.extend(end.bytes());
        }
        if seeded.one_in(3) {
            content.extend(b"last foo");
        }
        if seeded.one_in(15) {
            content.push(0);
        }
        desk.write(&path, content);
    }
    let rules = [
        "*.log",
        "!d.log",
        "Target/",
        "/a.rs",
        "src/*.md",
        "build",
        "*.rs",
        "!src/deep/*.rs",
        "deep",
        "# c",
        "c.t?t",
        "**/e.*",
    ];
    for place in PLACES {
        if seeded.one_in(3) {
            let lines: Vec<&str> = (0..1 + seeded.below(3))
                .map(|_| *seeded.pick(&rules))
                .collect();
            desk.write(place, lines.join("\n"));
        }
    }
}

fn case(desk: &Desk, seeded: &mut Seeded) -> Case {
    let patterns = [
        "foo",
        "FOO",
        "f.o",
        r"^\w+",
        "é",
        "[[:alpha:]]+ b",
        r"\bbar\b",
        "^$",
        " $",
        "(a)(b)?",
        "TODO:?",
        r"\(",
        r"\d",
        "foo|bar",
        r"\S+ \S+$",
        "x*",
        "ß",
        r"(?-i)Foo",
        r"\pL{3}",
        "last",
    ];
    let globs = [
        "*.rs",
        "*.md",
        "!*.md",
        "src/**",
        "!src/deep",
        "**/*.{txt,rs}",
        "/*.rs",
        "!*.RS",
        "a-b/*",
        "!.dot",
        "b*",
    ];
    let paths: Vec<&str> = ["src", "a-b", "."]
        .into_iter()
        .filter(|path| desk.path(path).is_dir())
        .collect();
    let pattern = *seeded.pick(&patterns);
    Case {
        pattern,
        case_sensitive: seeded.one_in(2),
        hidden: seeded.one_in(3),
        ignore: !seeded.one_in(4),
        globs: (0..seeded.below(3)).map(|_| *seeded.pick(&globs)).collect(),
        paths: if seeded.one_in(3) {
            vec![*seeded.pick(&paths)]
        } else {
            vec!["."]
        },
    }
}

/// A NUL anywhere.
fn is_binary(root: &Path, file: &str) -> bool {
    std::fs::read(root.join(file)).unwrap().contains(&0)
}

#[test]
fn it_finds_what_rg_finds() {
    let mut seeded = Seeded::new(7);
    let mut some = 0;
    for number in 0..CASES {
        let desk = Desk::reading();
        tree(&desk, &mut seeded);
        for _ in 0..2 {
            let case = case(&desk, &mut seeded);
            let most = *seeded.pick(&[1, 3, 500, 500]);
            let context = seeded.below(4);
            let files = files(&desk, &case);
            let root = desk.path("");
            let (binary, searched): (BTreeSet<_>, BTreeSet<_>) =
                files.into_iter().partition(|file| is_binary(&root, file));
            let expected = expected(&desk, &case, &searched);
            let request = json!({
                "pattern": case.pattern, "paths": case.paths, "glob": case.globs, "case_sensitive": case.case_sensitive,
                "include_hidden": case.hidden, "use_ignore": case.ignore, "max_matches": most, "context_lines": context,
                "max_bytes": 8_388_608,
            });
            let answer = desk.ok(ID, &request);
            let rules = PLACES.map(|place| (place, std::fs::read_to_string(root.join(place)).ok()));
            let names = crate::program::listing(&root);
            let shown = format!("case {number}: {request}\nin {names:?}\nunder {rules:?}");
            assert_eq!(answer["truncated"], expected.len() > most, "{shown}");
            assert_eq!(
                actual(&answer),
                expected[..expected.len().min(most)],
                "{shown}"
            );
            if expected.len() <= most {
                assert_eq!(answer["files_searched"], searched.len(), "{shown}");
                assert_eq!(answer["files_skipped"]["binary"], binary.len(), "{shown}");
            }
            check_context(&desk, &answer, context);
            some += usize::from(!expected.is_empty());
        }
    }
    assert!(some > CASES / 2, "too few cases find anything: {some}");
}
