//! A private folder, and the binary run in it with an environment of its own.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// A temporary folder with a working directory, a home and hydrant's own home.
pub(crate) struct Folder {
    directory: TempDir,
}

/// One finished run of the binary.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) status: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Folder {
    pub(crate) fn new() -> Self {
        let folder = Self {
            directory: TempDir::new().unwrap(),
        };
        for name in ["work", "home"] {
            fs::create_dir(folder.base().join(name)).unwrap();
        }
        folder
    }

    /// Canonical, because a policy refuses links in mounts.
    fn base(&self) -> PathBuf {
        self.directory.path().canonicalize().unwrap()
    }

    /// A path in the working directory; `../` leads beside it.
    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.base().join("work").join(path)
    }

    /// [`path`](Self::path) as an argument.
    pub(crate) fn argument(&self, path: &str) -> String {
        self.path(path).to_str().unwrap().to_owned()
    }

    /// `HYDRANT_HOME`: store, index and state.
    pub(crate) fn home(&self) -> PathBuf {
        self.base().join("home/.hydrant")
    }

    pub(crate) fn write(&self, path: &str, bytes: impl AsRef<[u8]>) -> &Self {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
        self
    }

    /// [`write`](Self::write) as a statement.
    pub(crate) fn put(&self, path: &str, bytes: impl AsRef<[u8]>) {
        self.write(path, bytes);
    }

    pub(crate) fn read(&self, path: &str) -> Vec<u8> {
        let path = self.path(path);
        fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    pub(crate) fn text(&self, path: &str) -> String {
        String::from_utf8(self.read(path)).unwrap()
    }

    pub(crate) fn json(&self, path: &str) -> Value {
        serde_json::from_slice(&self.read(path)).unwrap()
    }

    pub(crate) fn exists(&self, path: &str) -> bool {
        self.path(path).symlink_metadata().is_ok()
    }

    /// The binary with these arguments; nothing in its environment but homes and a shared cache.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        share_the_cache(&self.home().join("state"));
        let mut command = Command::new(program());
        command
            .args(arguments)
            .current_dir(self.path(""))
            .env_clear()
            .env("HOME", self.base().join("home"))
            .env("HYDRANT_HOME", self.home())
            .env("XDG_CACHE_HOME", cache())
            .stdin(Stdio::null());
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Run {
        Run::of(&mut self.command(arguments))
    }

    /// `verify --bundle` with this ring file and digest.
    pub(crate) fn verify_bundle(&self, bundle: &str, keys: &str, digest: &str) -> Run {
        self.run(&[
            "verify",
            "--bundle",
            bundle,
            "--keys",
            keys,
            "--keys-digest",
            digest,
        ])
    }

    /// A run that must succeed.
    pub(crate) fn ok(&self, arguments: &[&str]) -> Run {
        let run = self.run(arguments);
        assert_eq!(run.status, 0, "{arguments:?}: {}", run.stderr);
        run
    }
}

impl Run {
    pub(crate) fn of(command: &mut Command) -> Self {
        Self::from(command.output().unwrap())
    }

    /// Exit 1 and `command failed: `, with this text behind it.
    pub(crate) fn assert_failed(&self, text: &str) {
        assert_eq!(self.status, 1, "{self:?}");
        let (_, message) = self
            .stderr
            .split_once("command failed: ")
            .unwrap_or_else(|| panic!("no `command failed: ` in {self:?}"));
        assert!(message.contains(text), "{text:?} is not in {message:?}");
    }

    /// Exit 1 and the usage.
    pub(crate) fn assert_usage(&self) {
        assert_eq!(self.status, 1, "{self:?}");
        assert!(self.stderr.contains("usage:"), "{self:?}");
        assert!(self.stdout.is_empty(), "{self:?}");
    }

    /// Exactly this line on stdout.
    pub(crate) fn assert_line(&self, line: &str) {
        assert_eq!(self.status, 0, "{self:?}");
        assert_eq!(self.stdout, format!("{line}\n"), "{}", self.stderr);
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:?}"))
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

/// Every name below a directory, relative, sorted: what was written, or that nothing was.
pub(crate) fn listing(directory: &Path) -> Vec<String> {
    let mut names = Vec::new();
    let mut open = vec![directory.to_path_buf()];
    while let Some(next) = open.pop() {
        let Ok(entries) = fs::read_dir(&next) else {
            continue;
        };
        for entry in entries {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(directory).unwrap().to_str().unwrap();
            if !is_shared_key(&path) {
                names.push(name.to_owned());
            }
            if path.symlink_metadata().unwrap().is_dir() {
                open.push(path);
            }
        }
    }
    names.sort();
    names
}

/// The permission bits of a file.
pub(crate) fn mode(path: &Path) -> u32 {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().unwrap().permissions().mode() & 0o777
}

pub(crate) fn program() -> &'static str {
    env!("CARGO_BIN_EXE_hydrant")
}

/// The repository: its own pins, the WIT files, the scripts.
pub(crate) fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Compiled code is sealed with a key of the home folder; one key for all homes here, so that a component is compiled
/// once and not for each test.
fn share_the_cache(state: &Path) {
    use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
    let key = state.join("cache.key");
    if key.exists() {
        return;
    }
    let mut private = fs::DirBuilder::new();
    // Some tests have a file in place of the home: then there is no cache.
    if private.recursive(true).mode(0o700).create(state).is_err() {
        return;
    }
    let mut new = fs::OpenOptions::new();
    let file = new.write(true).create_new(true).mode(0o600).open(key);
    file.unwrap().write_all(&[7; 32]).unwrap();
}

/// Of [`share_the_cache`]: the key, and the folder that holds nothing else.
fn is_shared_key(path: &Path) -> bool {
    let only_the_key = |folder: &Path| {
        let mut entries = fs::read_dir(folder).unwrap();
        entries.all(|entry| entry.unwrap().file_name() == "cache.key")
    };
    path.ends_with("state/cache.key") || (path.ends_with("state") && only_the_key(path))
}

fn cache() -> PathBuf {
    let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join("bundles-and-trust-cache");
    fs::create_dir_all(&cache).unwrap();
    cache
}
