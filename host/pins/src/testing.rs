//! A root made for a test: two signers with keys of their own, bundles, and a lock that can be altered and signed again.

use std::cell::Cell;
use std::fs;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};
use tempfile::TempDir;

use super::{
    Anchor, ComponentProbe, Finding, LOCK, LOCK_SIGNATURE, MinSigners, Options, ProbeError, RING,
    Root, Verification, verify,
};
use hydrant_base::Digest;
use hydrant_trust::{
    Experimental, Lock, LockEntry, LockSignatures, Manifest, SecretKey, SubstratePin, Wasm, pack,
    sign,
};

pub(super) const WORLD: &str = "0123456789012345678901234567890123456789";
pub(super) const ONE: &str = "test.one";
pub(super) const TWO: &str = "test.two";

/// A component that imports these interfaces of the host, each with a function.
pub(super) fn component(interfaces: &[&str]) -> Vec<u8> {
    let imports: String = interfaces
        .iter()
        .map(|name| format!(r#"(import "{name}" (instance (export "f" (func))))"#))
        .collect();
    wat::parse_str(format!("(component {imports})")).unwrap()
}

/// The key of a signer; nobody else knows it, unlike the published example keys.
pub(super) fn key(signer: &str) -> SecretKey {
    let seed: Vec<u8> = Digest::of(format!("pins test key of {signer}").as_bytes())
        .hex()
        .bytes()
        .take(32)
        .collect();
    SecretKey::parse(STANDARD.encode(seed).as_bytes()).unwrap()
}

/// A description as a component has to return it.
pub(super) fn description(id: &str) -> String {
    format!(
        r#"{{"name":"{id}","description":"does nothing","input_schema":{{"type":"object","additionalProperties":false}},"output_schema":{{}}}}"#
    )
}

/// Answers for every component what the test says, and counts how often it was asked.
pub(super) struct FakeProbe {
    pub(super) answer: Option<Result<String, ProbeError>>,
    pub(super) asked: Cell<usize>,
}

impl ComponentProbe for FakeProbe {
    fn instantiate_and_describe(&self, _: &Wasm) -> Result<String, ProbeError> {
        self.asked.set(self.asked.get() + 1);
        self.answer
            .clone()
            .unwrap_or_else(|| Ok(description("a.skill")))
    }
}

/// A probe that finds nothing wrong.
pub(super) fn content() -> FakeProbe {
    FakeProbe {
        answer: None,
        asked: Cell::new(0),
    }
}

/// The root. Its one skill is `a.skill@0.1.0`, which reads `/os`.
pub(super) struct Scratch {
    directory: TempDir,
}

impl Scratch {
    /// A root in which everything is right.
    pub(super) fn new() -> Self {
        let scratch = Self::empty();
        let wasm = component(&["hydrant:host/fs-read@0.1.0"]);
        scratch.bundle("a.skill", "0.1.0", &wasm, &["fs.read:/os"]);
        scratch.pin(&[("a.skill", "0.1.0")]);
        scratch
    }

    /// A root with a ring and nothing else.
    pub(super) fn empty() -> Self {
        let directory = tempfile::tempdir().unwrap();
        fs::create_dir_all(directory.path().join("pins")).unwrap();
        fs::create_dir_all(directory.path().join("skills")).unwrap();
        let scratch = Self { directory };
        scratch.write(RING, &ring(&[ONE, TWO]));
        scratch
    }

    pub(super) fn path(&self, relative: &str) -> PathBuf {
        self.directory.path().join(relative)
    }

    pub(super) fn read(&self, relative: &str) -> Vec<u8> {
        fs::read(self.path(relative)).unwrap()
    }

    pub(super) fn write(&self, relative: &str, bytes: &[u8]) {
        let path = self.path(relative);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    pub(super) fn remove(&self, relative: &str) {
        fs::remove_file(self.path(relative)).unwrap();
    }

    /// Replaces text in a file.
    pub(super) fn edit(&self, relative: &str, old: &str, new: &str) {
        let text = String::from_utf8(self.read(relative)).unwrap();
        assert!(text.contains(old), "{relative} without {old}");
        self.write(relative, text.replacen(old, new, 1).as_bytes());
    }

    /// Writes a bundle signed by both, with its ring copy and its `SKILL.md`.
    pub(super) fn bundle(&self, id: &str, version: &str, wasm: &[u8], capabilities: &[&str]) {
        let capabilities: Vec<_> = capabilities
            .iter()
            .map(|text| text.split_once(':').unwrap())
            .map(|(kind, value)| json!({"kind": kind, "value": value}))
            .collect();
        let manifest = json!({
            "name": id, "version": version, "entrypoint": "run", "artifact": Digest::of(wasm),
            "capabilities": capabilities, "signers": [ONE, TWO],
        });
        self.bundle_of(&format!("skills/{id}/{version}"), wasm, &manifest);
        self.write(&format!("skills/{id}/SKILL.md"), b"# A skill\n");
    }

    /// Writes a bundle with this manifest, signed by both.
    pub(super) fn bundle_of(&self, directory: &str, wasm: &[u8], manifest: &Value) {
        let path = self.path(directory);
        let manifest = serde_json::to_vec(manifest).unwrap();
        fs::create_dir_all(&path).unwrap();
        pack(&path, wasm, &manifest, Experimental::Allowed).unwrap();
        for signer in [ONE, TWO] {
            sign(&path, signer, &key(signer), Experimental::Allowed).unwrap();
        }
        self.write(&format!("{directory}/public-keys.json"), &self.read(RING));
    }

    /// The manifest of `a.skill` with some members replaced, wherever it lies.
    pub(super) fn manifest_with(&self, changes: &[(&str, Value)]) -> Value {
        let bytes = self.read("skills/a.skill/0.1.0/manifest.json");
        let mut manifest: Map<String, Value> = serde_json::from_slice(&bytes).unwrap();
        for (member, value) in changes {
            manifest.insert((*member).to_owned(), value.clone());
        }
        Value::Object(manifest)
    }

    /// The lock entry that fits what is on disk.
    pub(super) fn entry(&self, id: &str, version: &str) -> LockEntry {
        let bundle_dir = format!("skills/{id}/{version}");
        let manifest = Manifest::parse(&self.read(&format!("{bundle_dir}/manifest.json"))).unwrap();
        LockEntry {
            id: id.to_owned(),
            version: version.to_owned(),
            artifact: manifest.artifact.clone(),
            manifest_hash: manifest.hash(),
            keys_file: "public-keys.json".to_owned(),
            keys_digest: Digest::of(&self.read(RING)),
            signers: vec![ONE.to_owned(), TWO.to_owned()],
            skill_md: Digest::of(&self.read(&format!("skills/{id}/SKILL.md"))),
            bundle_dir,
        }
    }

    /// Writes and signs a lock of these bundles.
    pub(super) fn pin(&self, skills: &[(&str, &str)]) {
        let skills = skills.iter().map(|(id, version)| self.entry(id, version));
        self.write_lock(&Lock {
            generated_at: "2026-01-01T00:00:00.000Z".to_owned(),
            substrate_pin: SubstratePin {
                repo: "hydrant".to_owned(),
                commit: WORLD.to_owned(),
            },
            skills: skills.collect(),
        });
    }

    pub(super) fn lock(&self) -> Lock {
        Lock::parse(&self.read(LOCK)).unwrap()
    }

    /// Alters the lock and signs it again.
    pub(super) fn alter_lock(&self, alter: impl FnOnce(&mut Lock)) {
        let mut lock = self.lock();
        alter(&mut lock);
        self.write_lock(&lock);
    }

    /// Alters the one entry and signs again.
    pub(super) fn alter_entry(&self, alter: impl FnOnce(&mut LockEntry)) {
        self.alter_lock(|lock| alter(&mut lock.skills[0]));
    }

    pub(super) fn write_lock(&self, lock: &Lock) {
        self.write_lock_bytes(&lock.to_bytes());
    }

    /// Writes and signs these bytes as the lock.
    pub(super) fn write_lock_bytes(&self, bytes: &[u8]) {
        self.write(LOCK, bytes);
        self.sign_lock(&[ONE, TWO]);
    }

    pub(super) fn sign_lock(&self, signers: &[&str]) {
        let digest = Digest::of(&self.read(LOCK));
        let mut signatures = LockSignatures::default();
        for signer in signers {
            signatures.sign(signer, &key(signer), &digest);
        }
        self.write(LOCK_SIGNATURE, &signatures.to_bytes());
    }

    pub(super) fn root(&self) -> Root {
        Root::open(self.directory.path()).unwrap()
    }

    pub(super) fn directory(&self) -> &Path {
        self.directory.path()
    }

    /// The anchor of the ring as it is now.
    pub(super) fn anchor(&self) -> Anchor {
        Anchor {
            keys_digest: Digest::of(&self.read(RING)),
            world: WORLD.to_owned(),
            min_signers: MinSigners::default(),
        }
    }

    pub(super) fn verify(&self) -> Verification {
        self.verify_with(&Options::default(), &content())
    }

    pub(super) fn verify_with(&self, options: &Options<'_>, probe: &FakeProbe) -> Verification {
        verify(&self.root(), &self.anchor(), options, probe)
    }

    /// The findings as `<skill or lock> <row>`, each once.
    pub(super) fn rows(&self) -> Vec<String> {
        rows(&self.verify())
    }

    /// The one finding there is, as `error:` shows it.
    pub(super) fn only(&self) -> Finding {
        let verification = self.verify();
        assert_eq!(rows(&verification).len(), 1, "{:?}", verification.findings);
        verification.findings.found()[0].clone()
    }
}

/// The findings as `<skill or lock> <row>`, each once, in order.
pub(super) fn rows(verification: &Verification) -> Vec<String> {
    let mut rows: Vec<_> = verification
        .findings
        .found()
        .iter()
        .map(|finding| {
            format!(
                "{} {}",
                finding.skill.as_deref().unwrap_or("lock"),
                finding.row
            )
        })
        .collect();
    rows.dedup();
    rows
}

/// The ring of these signers, in the form that pins ask for.
pub(super) fn ring(signers: &[&str]) -> Vec<u8> {
    let entries: Map<String, Value> = signers
        .iter()
        .map(|signer| {
            let key = key(signer).public().to_base64();
            ((*signer).to_owned(), Value::String(key))
        })
        .collect();
    let mut bytes = serde_json::to_vec_pretty(&entries).unwrap();
    bytes.push(b'\n');
    bytes
}
