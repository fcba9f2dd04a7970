//! The first call of a pinned skill, on a machine that has never run one: nothing is compiled, and what is wrong with the
//! machine code in the program is said and survived.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a failed expectation is a failed test, in a fixture as in the test itself"
)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A user with an empty home, and a workspace with one file.
struct User {
    folder: tempfile::TempDir,
}

impl User {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("work")).unwrap();
        fs::write(folder.path().join("work/note.txt"), "hello\n").unwrap();
        Self { folder }
    }

    fn cache(&self) -> PathBuf {
        self.folder.path().join("cache")
    }

    /// A call of `program` by this user.
    fn command(&self, program: &Path, arguments: &[&str]) -> Command {
        let mut command = Command::new(program);
        command
            .args(arguments)
            .current_dir(self.folder.path().join("work"))
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap())
            .env("HOME", self.folder.path())
            .env("XDG_CACHE_HOME", self.cache());
        command
    }

    fn read_note(&self, program: &Path) -> Command {
        self.command(program, &["run", "fs.read_text", r#"{"path":"note.txt"}"#])
    }

    /// Files of machine code in the user's cache.
    fn compiled(&self) -> usize {
        let Ok(entries) = fs::read_dir(self.cache().join("hydrant")) else {
            return 0;
        };
        entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .filter(|name| name.ends_with(".cwasm"))
            .count()
    }
}

fn hydrant() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_hydrant"))
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

fn is_note(output: &Output) -> bool {
    output.status.success()
        && String::from_utf8_lossy(&output.stdout).contains(r#""text":"hello\n""#)
}

/// The ids of all pinned skills.
fn skills(user: &User) -> Vec<String> {
    let output = user
        .command(hydrant(), &["skills", "--format", "json"])
        .output()
        .unwrap();
    let listed: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let ids = listed.as_array().unwrap().iter();
    ids.map(|skill| skill["id"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn no_first_call_of_a_pinned_skill_compiles() {
    let user = User::new();
    let skills = skills(&user);
    assert!(skills.len() >= 14, "{skills:?}");
    for skill in &skills {
        // An empty request is refused by most of them, which takes a component that runs.
        let output = user
            .command(hydrant(), &["run", skill, "{}"])
            .output()
            .unwrap();
        assert!(
            matches!(output.status.code(), Some(0 | 5)),
            "{skill}: {}",
            stderr(&output)
        );
        assert!(
            !stderr(&output).contains("compil"),
            "{skill}: {}",
            stderr(&output)
        );
    }
    assert_eq!(user.compiled(), 0);
}

#[test]
fn without_the_machine_code_in_the_program_a_component_is_compiled_once() {
    let user = User::new();
    for _ in 0..2 {
        let output = user
            .read_note(hydrant())
            .env("HYDRANT_PRECOMPILED", "off")
            .output()
            .unwrap();
        assert!(is_note(&output), "{}", stderr(&output));
        assert_eq!(user.compiled(), 1);
    }
}

#[test]
fn a_cache_that_cannot_be_written_is_said_and_survived() {
    let user = User::new();
    fs::write(user.cache(), "a file where the folder should be").unwrap();
    let output = user
        .read_note(hydrant())
        .env("HYDRANT_PRECOMPILED", "off")
        .output()
        .unwrap();
    assert!(is_note(&output), "{}", stderr(&output));
    assert!(stderr(&output).contains("cache"), "{}", stderr(&output));
    // Nothing is written where nothing is compiled.
    let output = user.read_note(hydrant()).output().unwrap();
    assert!(is_note(&output), "{}", stderr(&output));
    assert_eq!(stderr(&output), "");
}

/// The beginning of machine code that wasmtime serialised: an ELF file whose system is number 200.
const MACHINE_CODE: &[u8] = b"\x7fELF\x02\x01\x01\xc8";

/// A copy of the program with a change of every piece of machine code in it.
fn damaged(folder: &Path, change: impl Fn(&mut [u8])) -> PathBuf {
    let mut bytes = fs::read(hydrant()).unwrap();
    let places: Vec<usize> = bytes
        .windows(MACHINE_CODE.len())
        .enumerate()
        .filter(|(_, window)| *window == MACHINE_CODE)
        .map(|(place, _)| place)
        .collect();
    assert!(places.len() >= 14, "{}", places.len());
    for place in places {
        change(&mut bytes[place..]);
    }
    let program = folder.join("damaged");
    fs::copy(hydrant(), &program).unwrap();
    fs::write(&program, bytes).unwrap();
    program
}

#[test]
fn damaged_machine_code_is_said_and_the_component_is_compiled() {
    let user = User::new();
    type Change<'a> = &'a dyn Fn(&mut [u8]);
    let changes: [Change<'_>; 2] = [
        // The header, and an instruction.
        &|code| code[16] ^= 0xff,
        &|code| code[100_000] ^= 1,
    ];
    for change in changes {
        let program = damaged(user.folder.path(), change);
        let output = user.read_note(&program).output().unwrap();
        assert!(is_note(&output), "{}", stderr(&output));
        let said = stderr(&output);
        assert!(
            said.contains("skills/fs.read_text/0.1.0/skill.wasm") && said.contains("damaged"),
            "{said}"
        );
    }
}
