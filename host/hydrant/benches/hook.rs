//! The hook of every prompt against a process that does nothing: whole processes, second run and later.
//!
//! `cargo bench --bench hook` prints one table; the arguments are explained in `harness`.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::indexing_slicing,
    reason = "a benchmark that cannot run has nothing to tell"
)]

#[path = "harness/mod.rs"]
mod harness;

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::time::Duration;

use harness::{Measured, Target, alternate};
use serde_json::json;
use tempfile::TempDir;

const MIB: usize = 1 << 20;
/// Words of transcripts and notes; some of them are those of [`PROMPT`].
const WORDS: &[&str] = &[
    "pager", "the", "page", "shows", "last", "module", "value", "with", "render", "table",
];
const PROMPT: &str = "fix the off-by-one in pager.rs of module 7, the last page is never shown";

fn main() -> ExitCode {
    harness::run(&[
        ("hook, 1 MiB session, 2,000 files, 200 notes", typical),
        ("hook, 10 MiB session, 20,000 files", large),
        ("hook, prompt of 200 kB", long_prompt),
    ])
}

/// A working tree, session and notes of usual size.
fn typical(samples: usize) -> Measured {
    let desk = Desk::new(MIB, 2_000);
    desk.add_notes(200);
    desk.measure(PROMPT, samples, Target::Ratio(20.0))
}

fn large(samples: usize) -> Measured {
    Desk::new(10 * MIB, 20_000).measure(PROMPT, samples, Target::Time(Duration::from_millis(80)))
}

/// A prompt of 200 kB.
fn long_prompt(samples: usize) -> Measured {
    let mut prompt = String::from(PROMPT);
    while prompt.len() < 200_000 {
        prompt.push_str(". The table of the last page shows the value of the module");
    }
    Desk::new(MIB, 2_000).measure(&prompt, samples, Target::Time(Duration::from_millis(150)))
}

/// A home, a repository and a transcript.
struct Desk(TempDir);

impl Desk {
    fn new(transcript_bytes: usize, files: usize) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let repository = folder.path().join("repository");
        for file in 0..files {
            let directory = repository.join(format!("part{}/module{}", file % 20, file % 200));
            fs::create_dir_all(&directory).unwrap();
            fs::write(directory.join(format!("file{file}.rs")), "fn work() {}\n").unwrap();
        }
        fs::write(repository.join("part7/module7/pager.rs"), "fn page() {}\n").unwrap();
        let desk = Self(folder);
        fs::write(desk.path("session.jsonl"), transcript(transcript_bytes)).unwrap();
        desk
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.0.path().join(name)
    }

    fn add_notes(&self, count: usize) {
        let notes = self.path("home/notes");
        fs::create_dir_all(&notes).unwrap();
        for note in 0..count {
            let text = format!("# Note {note}\n\n{}\n", sentence(note, 60));
            fs::write(notes.join(format!("note{note}.md")), text).unwrap();
        }
    }

    fn measure(&self, prompt: &str, samples: usize, target: Target) -> Measured {
        let input = json!({
            "prompt": prompt,
            "session_id": "bench",
            "transcript_path": self.path("session.jsonl"),
            "cwd": self.path("repository"),
        })
        .to_string();
        // The first run compiles the component.
        self.hook(&input);
        let (hydrant, floor) = alternate(
            samples.min(200),
            || {
                let (answer, warnings) = self.hook(&input);
                assert!(answer.contains("hydrate_"), "a file is named: {answer}");
                assert!(warnings.is_empty(), "{warnings}");
            },
            || spawn_nothing(self.0.path()),
        );
        Measured::new(hydrant, floor, target)
    }

    /// What the hook prints, and its warnings.
    fn hook(&self, input: &str) -> (String, String) {
        let mut child = Command::new(env!("CARGO_BIN_EXE_hydrant"))
            .args(["hook", "user-prompt-submit", "--tmp-dir"])
            .arg(self.path("files"))
            .env("HYDRANT_HOME", self.path("home"))
            .env("XDG_CACHE_HOME", self.path("cache"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(input.as_bytes()).unwrap();
        drop(stdin);
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success());
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (text(output.stdout), text(output.stderr))
    }
}

fn spawn_nothing(folder: &Path) {
    let status = Command::new("/bin/true")
        .current_dir(folder)
        .status()
        .unwrap();
    assert!(status.success());
}

fn transcript(bytes: usize) -> String {
    let mut lines = String::new();
    for turn in 0.. {
        if lines.len() >= bytes {
            break;
        }
        let role = if turn % 2 == 0 { "user" } else { "assistant" };
        let content = sentence(turn, 80);
        let line = json!({"type": role, "message": {"role": role, "content": content}});
        lines.push_str(&line.to_string());
        lines.push('\n');
    }
    lines
}

/// Words in an order that depends on `seed`.
fn sentence(seed: usize, words: usize) -> String {
    let word = |at: usize| WORDS[(seed * 7 + at * (seed % 5 + 1)) % WORDS.len()];
    (0..words).map(word).collect::<Vec<_>>().join(" ")
}
