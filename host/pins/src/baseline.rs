//! What was pinned before: manifests by their hash, never by trust in a path, and the root of `--baseline`.
//!
//! A manifest is looked for in the bundle directory, then with `git` in the last commit. Wherever its bytes come from, they count
//! only if their manifest hash is the one that the old lock pins. Git is started without a shell, without this process's
//! environment, and without anything that could make the repository run a program; its output is bounded in size and time. A
//! manifest that is not found covers nothing.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use super::finding::Finding;
use super::root::{LOCK, RING};
use super::widening::{
    Declared, Gate, differences, key_changes, signer_changes, signer_findings, widening_findings,
};
use hydrant_base::{Digest, FileError, read_at_most, read_bounded};
use hydrant_trust::limits::MAX_JSON_BYTES;
use hydrant_trust::{Capability, KeyError, KeyRing, Lock, LockEntry, LockError, Manifest};

/// How long `git` may take: a repository can be made to stop it, with an object that is a FIFO. The manifest then counts as not
/// found.
const GIT_TIME: Duration = Duration::from_secs(10);

/// What `git` reads one object with: no configuration but the repository's own, nothing fetched, nothing replaced, nothing
/// asked.
const GIT_ENVIRONMENT: [(&str, &str); 16] = [
    ("GIT_CONFIG_NOSYSTEM", "1"),
    ("GIT_CONFIG_GLOBAL", "/dev/null"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_NO_REPLACE_OBJECTS", "1"),
    ("GIT_ALLOW_PROTOCOL", "none"),
    ("GIT_PAGER", "cat"),
    ("GIT_EDITOR", "false"),
    ("GIT_CONFIG_COUNT", "3"),
    ("GIT_CONFIG_KEY_0", "core.fsmonitor"),
    ("GIT_CONFIG_VALUE_0", "false"),
    ("GIT_CONFIG_KEY_1", "core.hooksPath"),
    ("GIT_CONFIG_VALUE_1", "/dev/null"),
    // A checkout that belongs to another user, as in CI, may be read: nothing of it is run, and the hash decides.
    ("GIT_CONFIG_KEY_2", "safe.directory"),
    ("GIT_CONFIG_VALUE_2", "*"),
];

/// The manifest in `root` that this lock entry pins, wherever it is found.
pub(super) fn manifest(root: &Path, bundle_dir: &str, pinned: &Digest) -> Option<Manifest> {
    let path = format!("{bundle_dir}/manifest.json");
    let pinned_one = |bytes: Vec<u8>| {
        Manifest::parse(&bytes)
            .ok()
            .filter(|manifest| manifest.hash() == *pinned)
    };
    read_bounded(&root.join(&path), MAX_JSON_BYTES)
        .ok()
        .and_then(pinned_one)
        .or_else(|| committed(root, &path).and_then(pinned_one))
}

/// Every entry of an old lock with the capabilities of its manifest.
pub(super) fn declared(root: &Path, lock: &Lock) -> Vec<Declared> {
    lock.skills
        .iter()
        .map(|entry| {
            let manifest = manifest(root, &entry.bundle_dir, &entry.manifest_hash);
            Declared {
                pin: entry.clone(),
                capabilities: manifest.map(|manifest| manifest.capabilities),
            }
        })
        .collect()
}

/// `git cat-file blob HEAD:<path>`, started in `root`.
fn committed(root: &Path, path: &str) -> Option<Vec<u8>> {
    let mut child = Command::new(git(root)?)
        .args(["--no-pager", "cat-file", "blob"])
        // `./`: the root may lie below the top level of the repository.
        .arg(format!("HEAD:./{path}"))
        .current_dir(root)
        .env_clear()
        .envs(GIT_ENVIRONMENT)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let output = child.stdout.take()?;
    let (sender, receiver) = mpsc::channel();
    let reader = std::thread::spawn(move || {
        // The receiver is gone if this took too long.
        let _ = sender.send(read_at_most(output, 0, MAX_JSON_BYTES));
    });
    let read = receiver.recv_timeout(GIT_TIME).ok();
    let whole = read.and_then(Result::ok).flatten();
    if whole.is_none() {
        // It may have ended already.
        let _ = child.kill();
    }
    let succeeded = child.wait().is_ok_and(|status| status.success());
    // Its end of the pipe is closed with the child.
    let _ = reader.join();
    whole.filter(|_| succeeded)
}

/// The first `git` of an absolute directory of `PATH` that does not lie in the root, nor in the work tree around it:
/// either may have brought its own.
fn git(root: &Path) -> Option<PathBuf> {
    first_program(OsStr::new("git"), &std::env::var_os("PATH")?, root)
}

fn first_program(name: &OsStr, search: &OsStr, root: &Path) -> Option<PathBuf> {
    let root = root.canonicalize().ok()?;
    let work_tree = root
        .ancestors()
        .find(|folder| folder.join(".git").symlink_metadata().is_ok());
    let brought = work_tree.unwrap_or(&root);
    std::env::split_paths(search)
        .filter(|directory| directory.is_absolute())
        .filter_map(|directory| directory.join(name).canonicalize().ok())
        .find(|program| {
            program.is_file() && !program.starts_with(brought) && !program.starts_with(&root)
        })
}

/// An older root that the operator names: its lock and its ring, whose signatures are not checked.
#[derive(Debug)]
pub struct Baseline {
    lock: Lock,
    ring: KeyRing,
    declared: Vec<Declared>,
}

/// A baseline that cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum BaselineError {
    /// A file of it.
    #[error("baseline: {0}")]
    File(#[from] FileError),
    /// Its lock.
    #[error("baseline: {LOCK}: {0}")]
    Lock(#[from] LockError),
    /// Its ring.
    #[error("baseline: {RING}: {0}")]
    Ring(#[from] KeyError),
}

impl Baseline {
    /// Reads the lock, the ring and every manifest that is found.
    ///
    /// # Errors
    ///
    /// [`BaselineError`]: lock or ring are missing or unreadable. A missing manifest is no error.
    pub fn open(directory: &Path) -> Result<Self, BaselineError> {
        let read = |path: &str| read_bounded(&directory.join(path), MAX_JSON_BYTES);
        let lock = Lock::parse(&read(LOCK)?)?;
        let ring = KeyRing::parse(&read(RING)?)?;
        let declared = declared(directory, &lock);
        Ok(Self {
            lock,
            ring,
            declared,
        })
    }

    /// What `lock` widens, and whose signers or keys differ.
    ///
    /// `capabilities` are those of an entry's verified manifest; an entry without has findings of its own.
    #[must_use]
    pub fn check(
        &self,
        lock: &Lock,
        ring: &KeyRing,
        capabilities: &dyn Fn(&LockEntry) -> Option<Vec<Capability>>,
    ) -> Vec<Finding> {
        let new: Vec<_> = lock
            .skills
            .iter()
            .map(|entry| Declared {
                pin: entry.clone(),
                capabilities: capabilities(entry),
            })
            .collect();
        let mut signers = signer_changes(&self.declared, &new);
        // Key by key, also those of the ring that signed nothing in the lock.
        let named = self.lock.skills.iter().flat_map(|entry| &entry.signers);
        let names = named.map(String::as_str).chain(self.ring.names());
        signers.extend(key_changes(names, &self.ring, ring));
        let mut findings = widening_findings(&differences(&self.declared, &new), Gate::Baseline);
        findings.extend(signer_findings(&signers, Gate::Baseline));
        findings
    }
}

#[cfg(test)]
mod tests;
