//! Sizes of what is delivered: each component as it is pinned, and the program without what debuggers read.
//!
//! `cargo bench --bench sizes` prints one table; the arguments are explained in `harness`.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    clippy::indexing_slicing,
    reason = "a benchmark that cannot run has nothing to tell"
)]

#[path = "harness/mod.rs"]
mod harness;

use std::fs;
use std::path::Path;
use std::process::ExitCode;

use harness::Measured;
use object::elf::SHF_ALLOC;
use object::{Object, ObjectSection, SectionFlags};

const KIB: u64 = 1024;
/// No target; more would be a surprise.
const PROGRAM: u64 = 64 * 1024 * KIB;

fn main() -> ExitCode {
    harness::run(&[
        ("size of content.hydrate", |_| {
            component("content.hydrate", 1024)
        }),
        ("size of fs.read_text", |_| component("fs.read_text", 1024)),
        ("size of fs.read_tree", |_| component("fs.read_tree", 1024)),
        ("size of fs.write_patch", |_| {
            component("fs.write_patch", 1024)
        }),
        ("size of shell.exec_safe", |_| {
            component("shell.exec_safe", 1024)
        }),
        ("size of search.ripgrep", |_| {
            component("search.ripgrep", 1536)
        }),
        ("size of git.status", |_| component("git.status", 1024)),
        ("size of git.diff", |_| component("git.diff", 1024)),
        ("size of http.fetch_text", |_| {
            component("http.fetch_text", 1024)
        }),
        ("size of json.validate", |_| {
            component("json.validate", 2048)
        }),
        ("size of extract.text", |_| component("extract.text", 2048)),
        ("size of data.filter", |_| component("data.filter", 2048)),
        ("size of skill.interpret", |_| {
            component("skill.interpret", 2048)
        }),
        ("size of prompt.hydrate", |_| {
            component("prompt.hydrate", 1024)
        }),
        ("size of prompt.hydrate.llm", |_| {
            component("prompt.hydrate.llm", 1024)
        }),
        ("size of the program, stripped", |_| program()),
    ])
}

/// Of the pinned version: there is one folder for each that is kept, and the lock names one of them.
fn component(id: &str, most_kib: u64) -> Measured {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let lock = fs::read(root.join("pins/skills.lock.json")).unwrap();
    let lock: serde_json::Value = serde_json::from_slice(&lock).unwrap();
    let pinned = lock["skills"].as_array().unwrap().iter();
    let version = pinned
        .filter(|skill| skill["id"] == id)
        .map(|skill| skill["version"].as_str().unwrap())
        .next_back()
        .unwrap();
    let file = root.join(format!("skills/{id}/{version}/skill.wasm"));
    Measured::size(fs::metadata(file).unwrap().len(), most_kib * KIB)
}

/// What of the program is loaded to run it: code, data, tables.
fn program() -> Measured {
    let bytes = fs::read(env!("CARGO_BIN_EXE_hydrant")).unwrap();
    let file = object::File::parse(&*bytes).unwrap();
    let loaded = file
        .sections()
        .filter(|section| {
            let SectionFlags::Elf { sh_flags } = section.flags() else {
                return false;
            };
            sh_flags & u64::from(SHF_ALLOC) != 0
        })
        .map(|section| section.file_range().map_or(0, |(_, size)| size))
        .sum();
    Measured::size(loaded, PROGRAM)
}
