//! `search.ripgrep` against the `rg` program, over generated trees, ignore files, globs, patterns and line ends.
//!
//! What the two mean to do differently is taken out of rg's answer here, each with its reason:
//!
//! - Globs of the request and the rules for hidden names only ever take away. For rg a glob, and in an
//!   ignore file one with `!`, also brings back what is ignored or hidden. So rg runs twice, once for the globs
//!   and once for the ignore files, always with `--hidden`, and both must agree; hidden names are taken out after.
//! - `.git` is never searched; rg does with `--hidden`.
//! - One NUL anywhere makes a file binary; rg stops where it sees one. It runs with `--text`, and the files
//!   with a NUL are taken out after.
//! - `.gitignore` holds whether or not there is a repository: `--no-require-git`, and no nested repositories are
//!   generated, at which rg stops looking further up.
//! - A lone CR is no line end; rg without `--crlf` takes the CR of CR LF as part of the line. It runs on a
//!   copy of the tree with LF line ends.
//! - A glob of nothing but `!` or `/` matches nothing, as git has it; for rg it matches everything. None is generated.
//! - For some lines that match with nothing, rg says no place: column 0 here.

#![allow(
    missing_docs,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::as_conversions,
    clippy::string_slice,
    unreachable_pub,
    dead_code,
    reason = "tests"
)]

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::process::{Command, Output};

use serde_json::{Value, json};

use support::Disk;

/// Trees that are generated, and requests to each.
const TREES: u64 = 60;
const REQUESTS: u64 = 8;

/// Numbers from a seed (xorshift), so that a failure can be seen again.
struct Dice(u64);

impl Dice {
    fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    fn below(&mut self, count: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).unwrap() % count
    }

    fn one_in(&mut self, count: usize) -> bool {
        self.below(count) == 0
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.below(from.len())]
    }
}

const DIRECTORIES: &[&str] = &[
    "src",
    "build",
    "a",
    "a-b",
    "b",
    ".config",
    "node_modules",
    "deep",
    "é",
];
const FILES: &[&str] = &[
    "main.rs",
    "lib.rs",
    "a.log",
    "b.log",
    "README.md",
    ".env",
    "x",
    "a.c",
    "a",
    "Makefile",
    "#hash#",
    "a b.txt",
    "!bang",
    "x.min.js",
    "é.md",
    "[z]",
    "back\\slash",
];
const IGNORE_FILES: &[&str] = &[
    ".gitignore",
    ".gitignore",
    ".ignore",
    ".rgignore",
    ".git/info/exclude",
];
const IGNORE_LINES: &[&str] = &[
    "*.log",
    "!b.log",
    "build",
    "build/",
    "/build",
    "/src/*.rs",
    "src/**/x",
    "**/a",
    "a/**",
    "a/*",
    "!a/x",
    "# a",
    "\\#hash#",
    "\\!bang",
    "!*",
    "*",
    "*/",
    "!*/",
    ".*",
    "!.env",
    "a b.txt",
    "a b.txt  ",
    "x\\ ",
    "[a-b].log",
    "[!a].log",
    "*.{rs,md}",
    "{",
    "[",
    "deep/",
    "/deep/**/a",
    "**/src/**",
    "*.min.*",
    "é*",
    "\\[z\\]",
    "?",
    "a?b",
    "",
    "**",
    "src/",
    "!src/main.rs",
    "/a/",
    "a-b",
    "node_modules/",
    "x/",
    "lib.rs\r",
];
const GLOBS: &[&str] = &[
    "*.rs",
    "*.log",
    "!*.log",
    "src/**",
    "!src/**",
    "!build",
    "!build/",
    "/a/*",
    "a",
    "*",
    "!*",
    "**/x",
    "*.{md,c}",
    "!.*",
    "deep/**/a",
    "[ab].log",
    "!a/",
    "src",
    "src/",
    "/*",
    "!/*.md",
    "é*",
];
const WORDS: &[&str] = &[
    "foo",
    "FOO",
    "Foo bar",
    "x",
    "",
    " ",
    "needle",
    "\tneedle",
    "foobar",
    "bar",
    "é",
    "É",
    "straße",
    "\u{212a}elvin",
    "kelvin",
    "a.b",
    "(x)",
    "foo foo",
    "nee",
    "dle",
    "42",
    "_",
    "\u{fffd}",
    "needle;",
];
const PATTERNS: &[&str] = &[
    "foo",
    "FOO",
    "needle",
    "^",
    "$",
    "^$",
    "x*",
    "foo|bar",
    "^foo",
    "bar$",
    r"\bfoo\b",
    r"\w+",
    "[^a]",
    "é",
    "k",
    r"\d+",
    "fo+",
    ".",
    r"\s",
    r"(foo|needle)\s",
    "n[a-f]{2}dle",
    r"a\.b",
    "zzz",
    r"^\s*$",
    "(?-i)Foo",
    "needle;?$",
    r"\Afoo",
    r"foo\z",
    "[[:upper:]]",
    r"\p{Lu}",
    "straSSe",
    "dle",
    "ee",
];

fn tree(dice: &mut Dice) -> Disk {
    let disk = Disk::new();
    let mut directories = vec![String::new()];
    for _ in 0..dice.below(12) {
        let parent = directories[dice.below(directories.len())].clone();
        directories.push(format!("{parent}{}/", dice.pick(DIRECTORIES)));
    }
    for directory in &directories {
        for _ in 0..dice.below(6) {
            let path = format!("{directory}{}", dice.pick(FILES));
            // A name may be a directory already.
            if !disk.root().join(&path).is_dir() && !directories.contains(&format!("{path}/")) {
                disk.write(&path, &contents(dice));
            }
        }
        for _ in 0..dice.below(3) {
            let name = dice.pick(IGNORE_FILES);
            if name.starts_with(".git/") && !directory.is_empty() {
                continue;
            }
            let lines: Vec<_> = (0..dice.below(5))
                .map(|_| dice.pick(IGNORE_LINES))
                .collect();
            disk.write(&format!("{directory}{name}"), lines.join("\n").as_bytes());
        }
    }
    disk
}

fn contents(dice: &mut Dice) -> Vec<u8> {
    let mut contents = Vec::new();
    if dice.one_in(10) {
        contents.extend_from_slice(b"\xEF\xBB\xBF");
    }
    let crlf = dice.below(3);
    for _ in 0..dice.below(20) {
        for _ in 0..dice.below(4) {
            contents.extend_from_slice(dice.pick(WORDS).as_bytes());
            if dice.one_in(20) {
                contents.push(0xFF);
            }
            if dice.one_in(30) {
                contents.push(b'\r');
                contents.push(b'.');
            }
        }
        match crlf {
            0 => contents.extend_from_slice(b"\n"),
            1 => contents.extend_from_slice(b"\r\n"),
            _ if dice.one_in(2) => contents.extend_from_slice(b"\r\n"),
            _ => contents.extend_from_slice(b"\n"),
        }
    }
    contents.extend_from_slice(dice.pick(WORDS).as_bytes());
    if dice.one_in(12) {
        let at = dice.below(contents.len() + 1);
        contents.insert(at, 0);
    }
    contents
}

/// The tree with LF line ends, as far as files are searched.
fn with_line_feeds(disk: &Disk) -> Disk {
    let copy = Disk::new();
    let mut directories = vec![disk.root().to_owned()];
    while let Some(directory) = directories.pop() {
        for entry in std::fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                directories.push(path);
                continue;
            }
            let bytes = std::fs::read(&path).unwrap();
            let mut kept = Vec::with_capacity(bytes.len());
            for (at, byte) in bytes.iter().enumerate() {
                if *byte != b'\r' || bytes.get(at + 1) != Some(&b'\n') {
                    kept.push(*byte);
                }
            }
            let below = path.strip_prefix(disk.root()).unwrap();
            copy.write(below.to_str().unwrap(), &kept);
        }
    }
    copy
}

fn rg(disk: &Disk, arguments: &[String]) -> Output {
    let common = [
        "--no-config",
        "--no-ignore-global",
        "--no-require-git",
        "--no-messages",
        "-j1",
        "--hidden",
    ];
    Command::new("rg")
        .args(common)
        .args(arguments)
        .current_dir(disk.root())
        .output()
        .expect("the program `rg` is what this test compares with: install ripgrep 13 or later")
}

fn without_dot(path: &str) -> String {
    path.strip_prefix("./").unwrap_or(path).to_owned()
}

/// The files that the globs let through, as rg lists them.
fn files_of_globs(disk: &Disk, globs: &[&str]) -> BTreeSet<String> {
    let mut arguments = vec!["--files".to_owned(), "--no-ignore".to_owned()];
    for glob in globs {
        arguments.extend(["--glob".to_owned(), (*glob).to_owned()]);
    }
    arguments.push("./".to_owned());
    let output = rg(disk, &arguments);
    String::from_utf8(output.stdout)
        .unwrap()
        .lines()
        .map(without_dot)
        .collect()
}

type Line = (String, u64, u64, String, String);

/// What rg finds, without what the request leaves out.
fn expected(disk: &Disk, request: &Value, globs: &[&str]) -> Vec<Line> {
    let mut arguments = vec!["--json".to_owned(), "--text".to_owned()];
    if request["case_sensitive"] != true {
        arguments.push("--ignore-case".to_owned());
    }
    if request["use_ignore"] == false {
        arguments.push("--no-ignore".to_owned());
    }
    arguments.extend([
        "-e".to_owned(),
        request["pattern"].as_str().unwrap().to_owned(),
        "./".to_owned(),
    ]);
    let output = rg(disk, &arguments);
    let passing = files_of_globs(disk, globs);
    let mut lines = Vec::new();
    for line in output
        .stdout
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty())
    {
        let message: Value = serde_json::from_slice(line).unwrap();
        let data = &message["data"];
        if message["type"] != "match" {
            continue;
        }
        let path = without_dot(data["path"]["text"].as_str().unwrap());
        let mut names = path.split('/');
        let hidden = names.clone().any(|name| name.starts_with('.'));
        if names.any(|name| name == ".git") || (hidden && request["include_hidden"] != true) {
            continue;
        }
        let binary = std::fs::read(disk.root().join(&path)).unwrap().contains(&0);
        if binary || !passing.contains(&path) {
            continue;
        }
        let text = bytes(&data["lines"]);
        let text = text.strip_suffix(b"\n").unwrap_or(&text);
        let first = &data["submatches"][0];
        lines.push((
            path,
            data["line_number"].as_u64().unwrap(),
            first["start"].as_u64().map_or(0, |start| start + 1),
            if first.is_null() {
                String::new()
            } else {
                String::from_utf8_lossy(&bytes(&first["match"])).into_owned()
            },
            String::from_utf8_lossy(text).into_owned(),
        ));
    }
    lines.sort_by(|one, other| {
        let path = |line: &Line| line.0.split('/').map(str::to_owned).collect::<Vec<_>>();
        (path(one), one.1).cmp(&(path(other), other.1))
    });
    lines
}

/// Text, or bytes in base64 where they are not UTF-8.
fn bytes(value: &Value) -> Vec<u8> {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    if let Some(text) = value["text"].as_str() {
        return text.as_bytes().to_vec();
    }
    let digits = value["bytes"]
        .as_str()
        .unwrap()
        .bytes()
        .filter(|byte| *byte != b'=');
    let (mut bits, mut count, mut bytes) = (0_u32, 0, Vec::new());
    for digit in digits {
        let value = DIGITS.iter().position(|byte| *byte == digit).unwrap();
        bits = bits << 6 | u32::try_from(value).unwrap();
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push(u8::try_from(bits >> count & 0xFF).unwrap());
        }
    }
    bytes
}

fn found(disk: &mut Disk, request: &Value) -> Vec<Line> {
    let response = disk.search(&request.to_string()).unwrap();
    assert_eq!(response["truncated"], false);
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    response["matches"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| {
            (
                text(&entry["file"]),
                entry["line"].as_u64().unwrap(),
                entry["column"].as_u64().unwrap(),
                text(&entry["match"]),
                text(&entry["text"]),
            )
        })
        .collect()
}

/// The shape of a tree, for the message of a failure.
fn shown(disk: &Disk) -> BTreeMap<String, String> {
    let output = rg(disk, &["--files".to_owned(), "--no-ignore".to_owned()]);
    let files = String::from_utf8(output.stdout).unwrap();
    files
        .lines()
        .map(|path| {
            let ignore = path.ends_with("ignore") || path.ends_with("exclude");
            let bytes = std::fs::read(disk.root().join(path)).unwrap();
            let text = String::from_utf8_lossy(&bytes).into_owned();
            (path.to_owned(), if ignore { text } else { String::new() })
        })
        .collect()
}

#[test]
fn the_answer_is_that_of_ripgrep() {
    let mut lines = 0;
    for seed in 0..TREES {
        let mut dice = Dice::new(seed + 1);
        let mut disk = tree(&mut dice);
        let copy = with_line_feeds(&disk);
        for number in 0..REQUESTS {
            let globs: Vec<_> = if number % 2 == 0 {
                Vec::new()
            } else {
                (0..=dice.below(3)).map(|_| dice.pick(GLOBS)).collect()
            };
            let request = json!({
                "pattern": dice.pick(PATTERNS),
                "glob": globs,
                "case_sensitive": dice.one_in(2),
                "include_hidden": dice.one_in(2),
                "use_ignore": !dice.one_in(4),
                "max_matches": 10_000,
                "max_bytes": 8 << 20,
            });
            let mut found = found(&mut disk, &request);
            let expected = expected(&copy, &request, &globs);
            for (found, expected) in found.iter_mut().zip(&expected) {
                if expected.2 == 0 {
                    (found.2, found.3) = (0, String::new());
                }
            }
            assert_eq!(
                found,
                expected,
                "tree {seed}, {request}, {:#?}",
                shown(&disk)
            );
            lines += found.len();
        }
    }
    // Empty answers would agree as well.
    assert!(lines > 5_000, "{lines} lines");
}
