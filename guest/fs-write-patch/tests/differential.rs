//! The same diffs on the same files, by this component, by `git apply` and by `patch`.
//!
//! All cases are generated from fixed seeds. Where the three differ, the test says why they may:
//!
//! * **Nearest or only.** For a hunk that is not where it says, git and GNU patch take the nearest place that matches.
//!   This component takes the only one, and rejects (`ambiguous`) where there are several. This needs a hunk whose old lines
//!   stand more than once in the file.
//! * **Ends of the file.** A hunk without context lines at one end is held to that end of the file by git and by GNU
//!   patch. Here there is no such rule: the lines have to be the only ones of their kind, wherever they stand.
//! * **Behind the hunk before.** GNU patch lets a hunk begin on the trailing context lines of the one before it, where
//!   the file has lost the lines between them. This component looks behind the hunk before.
//! * **Newline at the end.** git takes a line without newline for one that has a newline, and for the beginning of a
//!   longer one, and may join two lines so; GNU patch lets lines follow the one that a hunk leaves without newline.
//!   Here a line that the diff says has no newline matches only such a line, and keeps it the last. A file whose last
//!   line has none takes a diff that does not know that, with a note.
//! * **Counts.** Lines behind the counted ones of a hunk are ignored by the others. Here the lines decide, with a note.
//! * **Strictness.** What cannot be read in one way only is `malformed`; a text that is not applied is never applied in
//!   part.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::as_conversions,
    clippy::expect_used,
    clippy::panic,
    missing_docs
)]

mod support;

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use support::{Choices, Entry, Host, call, hunks, patch};

/// A text of up to `most` lines of few kinds, so that they repeat, or of `kinds` many.
fn text(choices: &mut Choices, most: usize, kinds: usize) -> String {
    let mut text = String::new();
    for _ in 0..choices.below(most + 1) {
        text += &format!("l{}\n", choices.below(kinds));
    }
    if choices.below(4) == 0 {
        text.pop();
    }
    text
}

/// A text with some of its lines removed, replaced and added to.
fn edited(choices: &mut Choices, old: &str, one_in: usize, kinds: usize) -> String {
    let mut new = String::new();
    let end = |text: &mut String| {
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
    };
    for line in old.split_inclusive('\n') {
        match choices.below(one_in * 3) {
            0 => {}
            1 => {
                end(&mut new);
                new += &format!("n{}\n", choices.below(kinds));
            }
            2 => {
                end(&mut new);
                new += &format!("n{}\n", choices.below(kinds));
                new += line;
            }
            _ => {
                end(&mut new);
                new += line;
            }
        }
    }
    if choices.below(8) == 0 {
        end(&mut new);
        new += "last";
    }
    new
}

/// `f` in a folder of its own, patched by another program; none if that refuses.
fn by(program: &[&str], file: &str, diff: &str) -> Option<String> {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("f"), file).unwrap();
    fs::write(folder.path().join("diff"), diff).unwrap();
    let status = command(program, folder.path())
        .arg("diff")
        .status()
        .unwrap();
    // A folder without `f` is one with an empty file here: GNU patch may remove what becomes empty.
    let left = fs::read_to_string(folder.path().join("f")).unwrap_or_default();
    status.success().then_some(left)
}

fn command(program: &[&str], folder: &Path) -> Command {
    let mut command = Command::new(program[0]);
    command
        .args(&program[1..])
        .current_dir(folder)
        .env("HOME", folder)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CEILING_DIRECTORIES", folder.parent().unwrap())
        .env("LC_ALL", "C")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command
}

const GIT: [&str; 3] = ["git", "apply", "-p1"];
const GIT_ZERO: [&str; 4] = ["git", "apply", "-p1", "--unidiff-zero"];
const GNU: [&str; 8] = [
    "patch",
    "-p1",
    "-f",
    "--fuzz=0",
    "--binary",
    "--no-backup-if-mismatch",
    "-r-",
    "-i",
];

/// The file as this component leaves it, or none and its answer.
fn ours(file: &str, diff: &str) -> (Option<String>, Value) {
    let mut host = Host::new(&[("f", file)]);
    match call(&mut host, diff, json!({})) {
        Ok(answer) if answer["applied"] == true => {
            (Some(host.text("f").unwrap_or_default().to_owned()), answer)
        }
        Ok(answer) => {
            assert_eq!(host.text("f"), Some(file), "changed and not applied");
            (None, answer)
        }
        Err(error) => {
            assert_eq!(host.text("f"), Some(file), "changed and failed");
            (
                None,
                json!({ "code": error.code(), "message": error.message() }),
            )
        }
    }
}

#[test]
fn diffs_of_what_the_file_holds_apply_alike_everywhere() {
    let mut choices = Choices(1);
    let mut cases = 0;
    while cases < 160 {
        let kinds = [2, 5, 1_000][choices.below(3)];
        let old = text(&mut choices, 30, kinds);
        let new = edited(&mut choices, &old, 3, kinds);
        let context = choices.below(4);
        let body = hunks(&old, &new, context);
        // git and GNU patch lack something to do for a file that does not change.
        if body.is_empty() {
            continue;
        }
        cases += 1;
        let diff = format!("--- a/f\n+++ b/f\n{body}");
        let git: &[_] = if context == 0 { &GIT_ZERO } else { &GIT };
        assert_eq!(
            ours(&old, &diff).0.as_deref(),
            Some(&*new),
            "{old:?}\n{diff}"
        );
        // Newline at the end: without context git then finds the last line elsewhere.
        if context > 0 || !diff.contains("\n\\") {
            let git = by(git, &old, &diff);
            assert_eq!(git.as_deref(), Some(&*new), "git: {old:?}\n{diff}");
        }
        assert_eq!(
            by(&GNU, &old, &diff).as_deref(),
            Some(&*new),
            "patch: {old:?}\n{diff}"
        );
    }
}

/// The old sides of the hunks of a diff of one file, each with its count of context lines before and behind.
fn old_sides(diff: &str) -> Vec<(String, usize, usize)> {
    let mut sides = Vec::new();
    for hunk in diff.split("\n@@ ").skip(1) {
        let lines: Vec<&str> = hunk.lines().skip(1).collect();
        let is_line = |line: &&&str| !line.starts_with('\\');
        let is_context = |line: &&&str| line.is_empty() || line.starts_with(' ');
        let before = lines.iter().take_while(is_context).count();
        let behind = lines
            .iter()
            .rev()
            .filter(is_line)
            .take_while(is_context)
            .count();
        let mut old = String::new();
        for line in &lines {
            match line.chars().next() {
                Some('+') => {}
                Some('\\') => {
                    old.pop();
                }
                _ => old += &format!("{}\n", line.get(1..).unwrap_or_default()),
            }
        }
        sides.push((old, before, behind));
    }
    sides
}

/// How often lines stand in a text.
fn occurrences(file: &str, lines: &str) -> usize {
    let starts = (0..=file.len()).filter(|at| *at == 0 || file.as_bytes()[at - 1] == b'\n');
    starts
        .filter(|at| {
            let rest = &file[*at..];
            rest.starts_with(lines) && (lines.ends_with('\n') || rest.len() == lines.len())
        })
        .count()
}

/// Why another program may do something else with this file and diff; none if it may not.
fn explanation(
    name: &str,
    file: &str,
    diff: &str,
    mine: &(Option<String>, Value),
    other: Option<&str>,
) -> Option<&'static str> {
    if mine.1["code"] == "malformed" {
        return Some("strictness");
    }
    if mine.1["notes"].is_array() {
        return Some("read loosely");
    }
    let sides = old_sides(diff);
    let repeated = sides
        .iter()
        .any(|(old, _, _)| old.is_empty() || occurrences(file, old) > 1);
    let open = diff.contains("\n\\");
    match (&mine.0, other) {
        (_, Some(_)) if open && name == "git" => Some("newline at the end"),
        (None, Some(_)) if open => Some("newline at the end"),
        (None, Some(_)) if mine.1["rejects"][0]["reason"] == "context_mismatch" && !repeated => {
            let hunk = mine.1["rejects"][0]["hunk"].as_u64().unwrap() as usize;
            let (old, _, _) = &sides[hunk - 1];
            (hunk > 1 && occurrences(file, old) == 1).then_some("behind the hunk before")
        }
        (None, Some(_)) if mine.1["rejects"][0]["reason"] == "ambiguous" => {
            repeated.then_some("nearest or only")
        }
        // One hunk was placed, and the place of another then is behind it.
        (None | Some(_), Some(_)) if repeated => Some("nearest or only"),
        (Some(_), None) => {
            let held = sides
                .iter()
                .any(|(_, before, behind)| before != behind || *before == 0);
            held.then_some("ends of the file")
        }
        _ => None,
    }
}

#[test]
fn diffs_of_another_state_apply_alike_or_the_difference_is_explained() {
    let mut choices = Choices(2);
    let mut seen: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    let mut cases = 0;
    while cases < 240 {
        let kinds = [3, 40, 1_000][choices.below(3)];
        let old = text(&mut choices, 40, kinds);
        let new = edited(&mut choices, &old, 6, kinds);
        // What the file holds by now: other lines elsewhere, mostly few.
        let one_in = [8, 20][choices.below(2)];
        let file = edited(&mut choices, &old, one_in, kinds);
        let context = 1 + choices.below(3);
        let body = hunks(&old, &new, context);
        if body.is_empty() || file.is_empty() {
            continue;
        }
        cases += 1;
        let diff = format!("--- a/f\n+++ b/f\n{body}");
        let mine = ours(&file, &diff);
        for (name, program) in [("git", &GIT[..]), ("patch", &GNU[..])] {
            let other = by(program, &file, &diff);
            let why = if other == mine.0 {
                if other.is_some() {
                    "applied alike"
                } else {
                    "refused alike"
                }
            } else {
                explanation(name, &file, &diff, &mine, other.as_deref()).unwrap_or_else(|| {
                    panic!("{name}: {other:?}\nours: {mine:?}\nfile: {file:?}\n{diff}")
                })
            };
            *seen.entry((name, why)).or_default() += 1;
        }
    }
    // The comparison is one: most cases agree, and both outcomes occur.
    for name in ["git", "patch"] {
        let count = |why| seen.get(&(name, why)).copied().unwrap_or(0);
        assert!(
            count("applied alike") >= 60 && count("refused alike") >= 20,
            "{seen:?}"
        );
        assert!(
            count("nearest or only") + count("ends of the file") <= 100,
            "{seen:?}"
        );
    }
}

/// One byte or line of a diff changed.
fn mutated(choices: &mut Choices, diff: &str) -> String {
    let mut lines: Vec<String> = diff.split_inclusive('\n').map(str::to_owned).collect();
    let at = choices.below(lines.len());
    match choices.below(5) {
        0 => {
            lines.remove(at);
        }
        1 => lines.insert(at, lines[choices.below(lines.len())].clone()),
        2 => lines.swap(at, choices.below(diff.lines().count())),
        3 => {
            let mark = ["+", "-", " ", "\\", "@", "\n"][choices.below(6)];
            lines[at].replace_range(0..1, mark);
        }
        _ => {
            let digit = format!("{}", choices.below(10));
            if let Some(place) = lines[at].find(|c: char| c.is_ascii_digit()) {
                lines[at].replace_range(place..=place, &digit);
            }
        }
    }
    lines.concat()
}

#[test]
fn a_spoiled_diff_gives_what_git_gives_or_nothing() {
    let mut choices = Choices(3);
    let (mut applied, mut refused) = (0, 0);
    for _ in 0..200 {
        let old = text(&mut choices, 25, 1_000) + "end\n";
        let new = edited(&mut choices, &old, 4, 1_000) + "more\n";
        let diff = format!("--- a/f\n+++ b/f\n{}", hunks(&old, &new, 3));
        let diff = mutated(&mut choices, &diff);
        let mine = ours(&old, &diff);
        if mine.0.is_none() {
            refused += 1;
            continue;
        }
        applied += 1;
        let git = by(&GIT, &old, &diff);
        if git.is_some() && git != mine.0 {
            let why = explanation("git", &old, &diff, &mine, git.as_deref());
            assert!(
                why.is_some(),
                "git: {git:?}\nours: {mine:?}\nfile: {old:?}\n{diff}"
            );
        }
    }
    assert!(applied > 20 && refused > 60, "{applied} {refused}");
}

/// A tree of files with names of every kind.
fn tree(choices: &mut Choices) -> BTreeMap<String, (String, bool)> {
    let names = [
        "a",
        "with blank",
        "d/ä",
        "d/e/\"q\"",
        "b",
        "x.txt",
        "back\\slash",
        "d/b/b",
        "ta b/c d",
    ];
    let mut tree = BTreeMap::new();
    for name in names {
        if choices.below(3) > 0 {
            let text = text(choices, 20, 1_000);
            tree.insert(name.to_owned(), (text, choices.below(3) == 0));
        }
    }
    tree
}

/// A later state: files changed, renamed, copied, deleted, created, made executable.
fn later(
    choices: &mut Choices,
    tree: &BTreeMap<String, (String, bool)>,
) -> BTreeMap<String, (String, bool)> {
    let mut later = BTreeMap::new();
    for (name, (text, executable)) in tree {
        match choices.below(8) {
            0 => {}
            1 => {
                later.insert(
                    format!("moved/{name}"),
                    (edited(choices, text, 9, 1_000), *executable),
                );
            }
            2 => {
                later.insert(
                    format!("{name} copy"),
                    (edited(choices, text, 9, 1_000), *executable),
                );
                later.insert(name.clone(), (edited(choices, text, 5, 1_000), *executable));
            }
            3 => {
                later.insert(name.clone(), (text.clone(), !executable));
            }
            4 | 5 => {
                later.insert(
                    name.clone(),
                    (edited(choices, text, 4, 1_000), choices.below(2) == 0),
                );
            }
            _ => {
                later.insert(name.clone(), (text.clone(), *executable));
            }
        }
    }
    if choices.below(2) == 0 {
        later.insert(
            "new/file".into(),
            (text(choices, 9, 9), choices.below(2) == 0),
        );
    }
    later
}

fn put(folder: &Path, tree: &BTreeMap<String, (String, bool)>) {
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        if entry.file_name() == ".git" {
        } else if entry.file_type().unwrap().is_dir() {
            fs::remove_dir_all(entry.path()).unwrap();
        } else {
            fs::remove_file(entry.path()).unwrap();
        }
    }
    for (name, (text, executable)) in tree {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        let mode = if *executable { 0o755 } else { 0o644 };
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
    }
}

#[test]
fn what_git_diff_prints_leads_from_one_tree_to_the_other_and_back() {
    let mut choices = Choices(4);
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let git = |arguments: &[&str]| {
        let mut command = command(&["git"], folder);
        let output = command
            .args(arguments)
            .stdout(Stdio::piped())
            .output()
            .unwrap();
        assert!(output.status.success(), "{arguments:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    git(&["init", "-q"]);
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    for _ in 0..40 {
        let old = tree(&mut choices);
        let new = later(&mut choices, &old);
        let mut ids = Vec::new();
        for state in [&old, &new] {
            put(folder, state);
            git(&["add", "-A"]);
            ids.push(git(&["write-tree"]).trim().to_owned());
        }
        for (from, before, after) in [(&ids[0], &old, &new), (&ids[1], &new, &old)] {
            put(folder, after);
            git(&["add", "-A"]);
            let quoting = format!("core.quotePath={}", choices.below(2) == 0);
            let unified = format!("-U{}", choices.below(6));
            let prefixes = ["noprefix=false", "noprefix=true", "mnemonicPrefix=true"];
            let prefixes = format!("diff.{}", prefixes[choices.below(3)]);
            let order = ["--histogram", "-R", "--patience"][choices.below(3)];
            let arguments = [
                "-c",
                &quoting,
                "-c",
                &prefixes,
                "diff",
                "--full-index",
                "--no-ext-diff",
                "-M40%",
                "-C40%",
                "--find-copies-harder",
                &unified,
                order,
                "--cached",
                from,
            ];
            let diff = git(&arguments);
            let (before, after) = if order == "-R" {
                (after, before)
            } else {
                (before, after)
            };
            if diff.is_empty() {
                continue;
            }
            let mut host = Host::default();
            for (name, (text, executable)) in before {
                host.entries
                    .insert(name.clone(), Entry::File(text.clone().into(), *executable));
            }
            let answer = patch(&mut host, &diff);
            assert_eq!(answer["rejects"], json!([]), "{diff}");
            let expected: BTreeMap<_, _> = after
                .iter()
                .map(|(name, (text, executable))| {
                    (name.clone(), Entry::File(text.clone().into(), *executable))
                })
                .collect();
            assert_eq!(host.entries, expected, "{diff}");
            for file in answer["files"].as_array().unwrap() {
                *seen
                    .entry(file["action"].as_str().unwrap().to_owned())
                    .or_default() += 1;
            }
        }
    }
    for action in [
        "modified", "created", "deleted", "renamed", "copied", "mode",
    ] {
        assert!(
            seen.get(action).is_some_and(|count| *count >= 5),
            "{action}: {seen:?}"
        );
    }
}
