//! A command twice: as the interpreter reads it, and as the shell runs the real curl.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command as Process, Stdio};

use super::random::Random;

/// A piece of a word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Piece {
    Text(String),
    /// The name of a variable of [`Command::values`].
    Variable(String),
}

/// A word of a command line.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Word(pub Vec<Piece>);

impl Word {
    pub(crate) fn text(text: impl Into<String>) -> Self {
        Self(vec![Piece::Text(text.into())])
    }

    pub(crate) fn then(mut self, other: Self) -> Self {
        self.0.extend(other.0);
        self
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0
            .iter()
            .all(|piece| matches!(piece, Piece::Text(text) if text.is_empty()))
    }
}

/// A command and all it depends on.
#[derive(Debug, Clone, Default)]
pub(crate) struct Command {
    /// What the interpreter reads, word by word, without `curl -q`.
    pub(crate) words: Vec<Word>,
    /// The same as text.
    pub(crate) text: String,
    /// Text that the shell runs: the same, but that curl has no `--option=value`.
    pub(crate) real: String,
    /// What the variables stand for.
    pub(crate) values: BTreeMap<String, String>,
    /// Standard input; `@-` reads it.
    pub(crate) stdin: Option<String>,
    /// Requests that it makes.
    pub(crate) requests: usize,
}

impl Command {
    /// Runs the real curl in a folder, with no configuration and no environment of its own.
    ///
    /// Returns its exit status and what it says.
    pub(crate) fn run(&self, folder: &Path) -> (i32, String) {
        let mut process = Process::new("sh");
        process
            .arg("-c")
            .arg(&self.real)
            .current_dir(folder)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", folder)
            .env("LC_ALL", "C.UTF-8")
            .envs(&self.values)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        let mut child = process.spawn().expect("sh runs");
        let mut stdin = child.stdin.take().unwrap();
        let text = self.stdin.clone().unwrap_or_default();
        // A curl that does not read it closes the pipe, which is no failure.
        let _ = std::io::Write::write_all(&mut stdin, text.as_bytes());
        drop(stdin);
        let output = child.wait_with_output().unwrap();
        (
            output.status.code().unwrap_or(-1),
            String::from_utf8_lossy(&output.stderr).into_owned(),
        )
    }
}

/// A word as a shell reads it, quoted in one of several ways.
pub(crate) fn quoted(word: &Word, random: &mut Random) -> String {
    let mut text = String::new();
    if word.is_empty() {
        return (*random.pick(&["''", "\"\""])).to_owned();
    }
    let in_one_pair = random.chance(1, 3);
    if in_one_pair {
        text.push('"');
    }
    for piece in &word.0 {
        match piece {
            Piece::Text(piece) if in_one_pair => text.push_str(&in_double(piece)),
            Piece::Text(piece) => text.push_str(&quoted_text(piece, random)),
            Piece::Variable(name) => {
                let variable = format!("${{{name}}}");
                text.push_str(&if in_one_pair {
                    variable
                } else {
                    format!("\"{variable}\"")
                });
            }
        }
    }
    if in_one_pair {
        text.push('"');
    }
    text
}

fn quoted_text(text: &str, random: &mut Random) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@%+,".contains(c);
    match random.below(4) {
        0 if !text.contains('\'') => format!("'{text}'"),
        1 => format!("\"{}\"", in_double(text)),
        2 if !text.contains(['\n', '\'']) => text
            .chars()
            .flat_map(|c| (!is_plain(c)).then_some('\\').into_iter().chain([c]))
            .collect(),
        _ if !text.is_empty() && text.chars().all(is_plain) => text.to_owned(),
        _ => format!("'{}'", text.replace('\'', "'\\''")),
    }
}

fn in_double(text: &str) -> String {
    text.chars()
        .flat_map(|c| {
            matches!(c, '"' | '\\' | '$' | '`')
                .then_some('\\')
                .into_iter()
                .chain([c])
        })
        .collect()
}
