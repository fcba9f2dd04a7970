//! Whole roots, `pins/` and `skills/`, that verify, and their spoiling.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::bundle::Bundle;
use crate::canonical::{digest, hex, pretty_line};
use crate::guests;
use crate::keys::{self, Signer};
use crate::program::{Folder, Run, repository};

pub(crate) const LOCK: &str = "pins/skills.lock.json";
pub(crate) const SIGNATURE: &str = "pins/skills.lock.json.sig";
pub(crate) const RING: &str = "pins/public-keys.json";

/// The skill that every root has.
pub(crate) const ECHO: &str = "demo.echo";

/// A root in the working directory of a folder.
pub(crate) struct Root {
    pub(crate) folder: Folder,
    pub(crate) bundles: Vec<Bundle>,
}

/// What `verify --format json` says.
pub(crate) struct Verdict {
    pub(crate) run: Run,
    pub(crate) report: Value,
}

/// `demo.echo`, which answers with its request and needs nothing.
pub(crate) fn echo(version: &str) -> Bundle {
    let wasm = guests::echo(ECHO);
    Bundle::new((ECHO, version), &wasm, &[], &keys::team())
}

/// A skill that reads `/workspace/note.txt` and declares just that.
pub(crate) fn reader(name: &str, version: &str) -> Bundle {
    let wasm = guests::reading(name, "/workspace/note.txt", 1);
    let capabilities = [("fs.read", "/workspace")];
    Bundle::new((name, version), &wasm, &capabilities, &keys::team())
}

impl Root {
    /// One entry, `demo.echo@0.1.0`.
    pub(crate) fn new() -> Self {
        Self::of(vec![echo("0.1.0")])
    }

    /// These bundles, pinned and signed by the team.
    pub(crate) fn of(bundles: Vec<Bundle>) -> Self {
        let root = Self::unpinned(bundles);
        root.pin();
        root
    }

    /// The bundles and the ring, without a lock.
    pub(crate) fn unpinned(bundles: Vec<Bundle>) -> Self {
        let root = Self {
            folder: Folder::new(),
            bundles,
        };
        root.folder.write(RING, keys::ring(&keys::team()));
        for bundle in &root.bundles {
            root.put(bundle);
        }
        root
    }

    /// Writes a bundle and its `SKILL.md`.
    pub(crate) fn put(&self, bundle: &Bundle) {
        bundle.write(&self.folder.path(&bundle.directory()));
        let text = format!("---\nname: {}\ndescription: d\n---\n", bundle.name());
        self.folder
            .write(&format!("skills/{}/SKILL.md", bundle.name()), text);
    }

    /// Writes and signs the lock of the bundles as they are.
    pub(crate) fn pin(&self) {
        self.write_lock(&self.lock_of(&self.bundles));
    }

    pub(crate) fn lock_of(&self, bundles: &[Bundle]) -> Value {
        let mut bundles: Vec<&Bundle> = bundles.iter().collect();
        bundles.sort_by_key(|bundle| (bundle.name().to_owned(), bundle.version().to_owned()));
        let ring = digest(self.folder.read(RING));
        let entries: Vec<Value> = bundles
            .into_iter()
            .map(|bundle| {
                let skill_md = self
                    .folder
                    .path(&format!("skills/{}/SKILL.md", bundle.name()));
                let mut signers: Vec<&str> = bundle.signatures["signatures"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .map(|entry| entry["signer"].as_str().unwrap())
                    .collect();
                signers.sort_unstable();
                json!({
                    "id": bundle.name(), "version": bundle.version(),
                    "bundle_dir": bundle.directory(), "artifact": bundle.artifact(),
                    "manifest_hash": bundle.manifest_hash(), "keys_file": "public-keys.json",
                    "keys_digest": ring, "signers": signers,
                    "skill_md": digest(fs::read(skill_md).unwrap()),
                })
            })
            .collect();
        lock(&world(), &entries)
    }

    pub(crate) fn lock(&self) -> Value {
        self.folder.json(LOCK)
    }

    pub(crate) fn write_lock(&self, lock: &Value) {
        self.write_lock_bytes(&pretty_line(lock));
    }

    /// These bytes, signed by the team.
    pub(crate) fn write_lock_bytes(&self, lock: &[u8]) {
        self.folder.write(LOCK, lock);
        self.folder
            .write(SIGNATURE, keys::lock_signature(lock, &keys::team()));
    }

    pub(crate) fn keys_digest(&self) -> String {
        digest(keys::ring(&keys::team()))
    }

    /// The key files of these signers, outside the root.
    pub(crate) fn key_files(&self, signers: &[Signer]) -> String {
        for signer in signers {
            self.folder
                .write(&format!("../keys/{}.key", signer.name), signer.secret());
        }
        self.folder.argument("../keys")
    }

    /// The binary in the root, its ring being the anchor.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.folder.command(arguments);
        command.env("HYDRANT_KEYS_DIGEST", self.keys_digest());
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Run {
        Run::of(&mut self.command(arguments))
    }

    pub(crate) fn verify(&self, arguments: &[&str]) -> Verdict {
        let mut command = self.command(&["verify", "--format", "json"]);
        Verdict::of(Run::of(command.args(arguments)))
    }

    pub(crate) fn assert_verifies(&self) {
        let verdict = self.verify(&[]);
        assert_eq!(verdict.run.status, 0, "{:?}", verdict.run);
    }
}

impl Verdict {
    pub(crate) fn of(run: Run) -> Self {
        let report = run.json();
        assert_eq!(report["exit_code"], run.status, "{run:?}");
        Self { run, report }
    }

    pub(crate) fn findings(&self) -> &[Value] {
        self.report["findings"].as_array().unwrap()
    }

    pub(crate) fn rows(&self) -> Vec<&str> {
        let findings = self.findings().iter();
        findings.map(|f| f["row"].as_str().unwrap()).collect()
    }

    /// This exit code; a finding of this row whose message has this text; the same on stderr.
    pub(crate) fn assert(&self, status: i32, row: &str, path: &str, message: &str) {
        assert_eq!(self.run.status, status, "{row}: {:?}", self.run);
        let found = self.findings().iter().find(|finding| {
            finding["row"] == row
                && finding["path"].as_str().is_some_and(|p| p.contains(path))
                && finding["message"].as_str().unwrap().contains(message)
        });
        let finding = found.unwrap_or_else(|| {
            panic!(
                "no {row} with {path:?} and {message:?} in {}",
                self.run.stdout
            )
        });
        let subject = finding["skill"].as_str().unwrap_or("lock");
        let line = format!("error: {subject} {row} ");
        assert!(self.run.stderr.contains(&line), "{:?}", self.run);
    }
}

/// A lock with a fixed time.
pub(crate) fn lock(commit: &str, entries: &[Value]) -> Value {
    json!({
        "schema_version": "1.0.0", "generated_at": "2026-01-01T00:00:00.000Z",
        "substrate_pin": { "repo": "hydrant", "commit": commit }, "skills": entries,
    })
}

/// The host world id, from the WIT files of the repository.
pub(crate) fn world() -> String {
    use sha2::{Digest, Sha256};
    let wit = repository().join("wit");
    let mut files = crate::program::listing(&wit);
    files.retain(|name| Path::new(name).extension().is_some_and(|e| e == "wit"));
    let mut hasher = Sha256::new();
    for name in files {
        hasher.update(name.as_bytes());
        hasher.update([0]);
        hasher.update(fs::read(wit.join(&name)).unwrap());
        hasher.update([0]);
    }
    hex(&hasher.finalize()).chars().take(40).collect()
}

/// Copies a tree of plain files.
pub(crate) fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}
