//! A temporary OS root, and the binary run beside it in an empty environment.
//!
//! The working directory holds `os/` (the default root) and whatever a test puts next to it. Home is
//! the test's own; the cache of compiled components is shared, so that they are compiled once.

use std::fs::{self, File, Permissions};
use std::io::Write;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;

use serde_json::Value;
use tempfile::TempDir;

/// An OS root with a working directory, a home and, once given, a policy file.
pub(crate) struct OsRoot {
    directory: TempDir,
}

/// One finished run of the binary.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) status: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// A payload: its exact text, and what it says.
#[derive(Debug)]
pub(crate) struct Payload {
    pub(crate) text: String,
    pub(crate) json: Value,
}

impl OsRoot {
    pub(crate) fn new() -> Self {
        let directory = TempDir::new().unwrap();
        fs::create_dir_all(directory.path().join("project/os")).unwrap();
        fs::create_dir(directory.path().join("home")).unwrap();
        Self { directory }
    }

    /// The working directory of every run; canonical, because a policy refuses links in mounts.
    pub(crate) fn project(&self) -> PathBuf {
        let directory = self.directory.path().canonicalize().unwrap();
        directory.join("project")
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.directory.path().join("home")
    }

    /// The real path of something in the root.
    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.project().join("os").join(path)
    }

    /// Writes a file; `path` is relative to the root, `../` leads beside it.
    pub(crate) fn file(&self, path: &str, contents: impl AsRef<[u8]>) -> &Self {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, contents).unwrap();
        self
    }

    /// A file of `bytes` zero bytes that takes no space.
    pub(crate) fn sparse(&self, path: &str, bytes: u64) -> &Self {
        self.file(path, "");
        let file = File::options().write(true).open(self.path(path)).unwrap();
        file.set_len(bytes).unwrap();
        self
    }

    /// An executable file.
    pub(crate) fn tool(&self, path: &str, contents: impl AsRef<[u8]>) -> &Self {
        self.file(path, contents).mode(path, 0o755)
    }

    pub(crate) fn mode(&self, path: &str, mode: u32) -> &Self {
        fs::set_permissions(self.path(path), Permissions::from_mode(mode)).unwrap();
        self
    }

    pub(crate) fn link(&self, path: &str, target: impl AsRef<Path>) -> &Self {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        symlink(target, path).unwrap();
        self
    }

    /// Every later run gets `--policy` with this document.
    pub(crate) fn policy(&self, policy: &Value) -> &Self {
        self.file("../policy.json", policy.to_string())
    }

    /// The binary with these arguments, and `--policy` if there is one.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = isolated(&self.project(), &self.home());
        command
            .args(arguments)
            .env("XDG_CACHE_HOME", cache())
            .env("HYDRANT_HOME", cache().join("home"));
        if self.path("../policy.json").exists() {
            command.args(["--policy", "policy.json"]);
        }
        command
    }

    /// `hydrant hydrate` with these arguments.
    pub(crate) fn hydrate(&self, arguments: &[&str]) -> Run {
        let run = Run::from(self.command(&["hydrate"]).args(arguments).output().unwrap());
        self.assert_no_real_path(&run.stdout);
        run
    }

    /// The payload of a hydration that succeeds.
    pub(crate) fn payload(&self, arguments: &[&str]) -> Payload {
        let run = self.hydrate(arguments);
        assert_eq!(run.status, 0, "{arguments:?}: {}", run.stderr);
        Payload::from(run)
    }

    /// `hydrant syscall` with these options, fed these lines.
    pub(crate) fn syscall(&self, options: &[&str], lines: &[String]) -> Run {
        let mut input = lines.join("\n").into_bytes();
        input.push(b'\n');
        self.syscall_bytes(options, &input)
    }

    /// `hydrant syscall` with exactly these bytes as its standard input.
    pub(crate) fn syscall_bytes(&self, options: &[&str], input: &[u8]) -> Run {
        self.fed(&[&["syscall"][..], options].concat(), input)
    }

    /// The binary with these arguments and exactly these bytes as its standard input.
    pub(crate) fn fed(&self, arguments: &[&str], input: &[u8]) -> Run {
        let mut child = self
            .command(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let input = input.to_vec();
        // A thread of its own: an answer may be written before all of the input is read. Its error is
        // a closed pipe, which the run's status explains better.
        let writer = std::thread::spawn(move || stdin.write_all(&input));
        let run = Run::from(child.wait_with_output().unwrap());
        drop(writer.join());
        run
    }

    /// What is answered never shows where the root really is.
    fn assert_no_real_path(&self, answer: &str) {
        let real = self.directory.path().to_str().unwrap();
        assert!(!answer.contains(real), "a real path in {answer}");
    }
}

impl From<Output> for Run {
    fn from(output: Output) -> Self {
        Self {
            status: output.status.code().expect("the binary was killed"),
            stdout: String::from_utf8(output.stdout).expect("stdout is UTF-8"),
            stderr: String::from_utf8(output.stderr).expect("stderr is UTF-8"),
        }
    }
}

impl Run {
    /// The lines of a syscall stream.
    pub(crate) fn answers(&self) -> Vec<Value> {
        let lines = self.stdout.lines();
        lines
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }
}

impl From<Run> for Payload {
    fn from(run: Run) -> Self {
        let text = run.stdout.strip_suffix('\n').expect("one line");
        Self {
            text: text.to_owned(),
            json: serde_json::from_str(text).expect("the payload is JSON"),
        }
    }
}

impl Payload {
    pub(crate) fn content(&self) -> &str {
        self.json["content"].as_str().unwrap()
    }

    pub(crate) fn uri(&self) -> &str {
        self.json["metadata"]["uri"].as_str().unwrap()
    }

    pub(crate) fn skills(&self) -> &[Value] {
        let dependencies = &self.json["metadata"]["dependencies"];
        dependencies["skills"].as_array().unwrap()
    }

    pub(crate) fn tools(&self) -> &[Value] {
        let dependencies = &self.json["metadata"]["dependencies"];
        dependencies["tools"].as_array().unwrap()
    }

    /// The skill entry with this URI.
    pub(crate) fn skill(&self, uri: &str) -> &Value {
        let found = self.skills().iter().find(|entry| entry["uri"] == uri);
        found.unwrap_or_else(|| panic!("no skill {uri} in {}", self.text))
    }

    /// The description of the tool entry with this URI.
    pub(crate) fn tool(&self, uri: &str) -> &str {
        let found = self.tools().iter().find(|entry| entry["uri"] == uri);
        let entry = found.unwrap_or_else(|| panic!("no tool {uri} in {}", self.text));
        entry["description"].as_str().unwrap()
    }
}

/// A document that declares these skills and tools, controls escaped; its content is `Go.`.
pub(crate) fn agent<S: AsRef<str>, T: AsRef<str>>(skills: &[S], tools: &[T]) -> String {
    let skills: Vec<&str> = skills.iter().map(AsRef::as_ref).collect();
    let tools: Vec<&str> = tools.iter().map(AsRef::as_ref).collect();
    let (skills, tools) = (Value::from(skills), Value::from(tools));
    let document = format!("---\nskills: {skills}\ntools: {tools}\n---\nGo.");
    document.replace('\u{7f}', "\\u007f")
}

/// A skill with this name and the description `d`.
pub(crate) fn skill(name: &str) -> String {
    format!("---\nname: {}\ndescription: d\n---\n", Value::from(name))
}

/// No names: the empty list of [`agent`].
pub(crate) const NONE: &[&str] = &[];

/// The payload of a resource that failed with this code.
pub(crate) fn failed(code: &str, content: &str) -> String {
    format!(
        r#"{{"content":{},"metadata":{{"uri":"ERROR: {code}","dependencies":{{"skills":[],"tools":[]}}}}}}"#,
        Value::from(content)
    )
}

/// The binary in a directory, with nothing in its environment but a home.
fn isolated(directory: &Path, home: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hydrant"));
    command
        .current_dir(directory)
        .env_clear()
        .env("HOME", home)
        .stdin(Stdio::null());
    command
}

/// The shared cache, filled by one run before it is handed out.
fn cache() -> &'static Path {
    static CACHE: OnceLock<PathBuf> = OnceLock::new();
    CACHE.get_or_init(|| {
        let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join("content-hydrate-cache");
        fs::create_dir_all(&cache).unwrap();
        let empty = TempDir::new().unwrap();
        isolated(empty.path(), empty.path())
            .args(["hydrate", "os://warm.md"])
            .env("XDG_CACHE_HOME", &cache)
            .env("HYDRANT_HOME", cache.join("home"))
            .output()
            .unwrap();
        cache
    })
}
