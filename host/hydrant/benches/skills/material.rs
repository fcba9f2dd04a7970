//! What the skills work on: trees of files, a repository, a policy, a server.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Stdio};

use tempfile::TempDir;

/// Everything that the ten skills need, below `/workspace` and at this URL alone.
pub(crate) fn policy(url: &str) -> String {
    POLICY.replace("URL", url)
}

const POLICY: &str = "\
version: 1
trusted_signers: [hydrant.build, hydrant.release]
capability_ceiling:
  fs: {read: [/workspace], write: [/workspace]}
  net: [\"URL\"]
  exec: true
host:
  mounts: [{at: /workspace, dir: \"@cli\", mode: rw}]
  net: [{url: \"URL\", methods: [GET]}]
  process:
    - {program: git, args: [[\"...\"]], cwd: [/workspace]}
    - {program: \"true\", args: [[]], cwd: [/workspace]}
";

/// 100 MiB in 8,000 files of source text in 800 directories; ten of the files hold what is looked for.
pub(crate) fn source_tree() -> TempDir {
    let tree = tempfile::tempdir().unwrap();
    let words = [
        "let", "mut", "value", "=", "match", "self", "state", "{", "}", "=>", "return", "needle",
        "(", ")", "fn", "Result", "Option", "haystack", "//", "the", "of", "and",
    ];
    let mut random = 0x9E37_79B9_7F4A_7C15_u64;
    let mut next = move |below: usize| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        usize::try_from(random % u64::try_from(below).unwrap()).unwrap()
    };
    for directory in 0..800 {
        let directory_path = tree.path().join(format!(
            "crate-{}/module-{}",
            directory / 20,
            directory % 20
        ));
        fs::create_dir_all(&directory_path).unwrap();
        for file in 0..10 {
            let mut text = String::with_capacity(14_000);
            while text.len() < 13_107 {
                for _ in 0..=next(9) {
                    text.push_str(words[next(words.len())]);
                    text.push(' ');
                }
                text.push('\n');
            }
            if file == 0 && directory % 80 == 0 {
                text.push_str("// needle_in_the_haystack\n");
            }
            fs::write(directory_path.join(format!("file-{file}.rs")), text).unwrap();
        }
    }
    tree
}

/// A repository with a changed file of 64 KiB.
pub(crate) fn workspace() -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    let text = "A line of a text with some words.\n";
    let text: String = text.chars().cycle().take(64 * 1024).collect();
    let file = directory.path().join("text.txt");
    fs::write(&file, text).unwrap();
    fs::write(directory.path().join("small.txt"), "before\n").unwrap();
    git(directory.path(), &["init", "--quiet"]);
    git(directory.path(), &["add", "."]);
    git(
        directory.path(),
        &[
            "-c",
            "user.name=b",
            "-c",
            "user.email=b@b",
            "commit",
            "--quiet",
            "-m",
            "first",
        ],
    );
    fs::write(directory.path().join("small.txt"), "after\n").unwrap();
    directory
}

fn git(directory: &Path, arguments: &[&str]) {
    let status = Command::new("git")
        .args(arguments)
        .current_dir(directory)
        .stdout(Stdio::null())
        .status()
        .unwrap();
    assert!(status.success());
}

/// Answers every request with a short text, until the benchmark ends.
pub(crate) struct Server {
    url: String,
}

impl Server {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/text", listener.local_addr().unwrap());
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                answer(stream);
            }
        });
        Self { url }
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }
}

fn answer(mut stream: std::net::TcpStream) {
    let mut head = [0; 4096];
    let _ = stream.read(&mut head);
    let _ = stream.write_all(
        b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 5\r\nconnection: close\r\n\r\nhello",
    );
}
