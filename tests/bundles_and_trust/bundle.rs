//! Bundles, signed here and not by the binary.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::canonical::{canonical_digest, digest, pretty};
use crate::keys::{self, Signer};

/// The 8 bytes of the component preamble: enough for every command that takes wasm as opaque bytes.
pub(crate) const PREAMBLE: &[u8] = b"\0asm\x0d\0\x01\0";

/// The parts of a bundle. A test may spoil each before it is written.
#[derive(Clone)]
pub(crate) struct Bundle {
    pub(crate) wasm: Vec<u8>,
    pub(crate) manifest: Value,
    pub(crate) signatures: Value,
    pub(crate) meta: Value,
    pub(crate) ring: Vec<u8>,
}

impl Bundle {
    /// Signed by all of `signers`, who are also those that the manifest declares.
    pub(crate) fn new(
        (name, version): (&str, &str),
        wasm: &[u8],
        capabilities: &[(&str, &str)],
        signers: &[Signer],
    ) -> Self {
        let capabilities: Vec<Value> = capabilities
            .iter()
            .map(|(kind, value)| json!({ "kind": kind, "value": value }))
            .collect();
        let names: Vec<&str> = signers.iter().map(|signer| signer.name.as_str()).collect();
        let manifest = json!({
            "name": name, "version": version, "entrypoint": "run", "artifact": digest(wasm),
            "capabilities": capabilities, "signers": names,
        });
        Self::of(wasm, manifest, signers)
    }

    /// This manifest as it is, signed by all of `signers`.
    pub(crate) fn of(wasm: &[u8], manifest: Value, signers: &[Signer]) -> Self {
        let mut bundle = Self {
            wasm: wasm.to_vec(),
            manifest,
            signatures: Value::Null,
            meta: Value::Null,
            ring: keys::ring(signers),
        };
        bundle.sign(signers);
        bundle
    }

    /// `example.null`, the worked example, with both signatures.
    pub(crate) fn example() -> Self {
        let signers = [keys::example_a(), keys::example_b()];
        let capabilities = [("fs.read", "/workspace")];
        Self::new(("example.null", "0.1.0"), PREAMBLE, &capabilities, &signers)
    }

    /// Makes signatures and meta agree with the manifest as it is now.
    pub(crate) fn sign(&mut self, signers: &[Signer]) {
        let hash = self.manifest_hash();
        let entries: Vec<Value> = signers.iter().map(|signer| signer.entry(&hash)).collect();
        self.signatures = json!({
            "artifact": self.manifest["artifact"], "manifest_hash": hash, "signatures": entries,
        });
        self.meta = json!({
            "artifact": self.manifest["artifact"], "manifest_hash": hash, "schema_version": "1.0.0",
        });
    }

    /// Of a manifest without `schema_version`, or with one that is a string.
    pub(crate) fn manifest_hash(&self) -> String {
        canonical_digest(&self.manifest)
    }

    pub(crate) fn artifact(&self) -> &str {
        text(&self.manifest["artifact"])
    }

    pub(crate) fn name(&self) -> &str {
        text(&self.manifest["name"])
    }

    pub(crate) fn version(&self) -> &str {
        text(&self.manifest["version"])
    }

    pub(crate) fn directory(&self) -> String {
        format!("skills/{}/{}", self.name(), self.version())
    }

    pub(crate) fn files(&self) -> Vec<(&'static str, Vec<u8>)> {
        vec![
            ("skill.wasm", self.wasm.clone()),
            ("manifest.json", pretty(&self.manifest)),
            ("signatures.json", pretty(&self.signatures)),
            ("bundle-meta.json", pretty(&self.meta)),
            ("public-keys.json", self.ring.clone()),
        ]
    }

    pub(crate) fn write(&self, directory: &Path) {
        fs::create_dir_all(directory).unwrap();
        for (name, bytes) in self.files() {
            fs::write(directory.join(name), bytes).unwrap();
        }
    }

    pub(crate) fn bundle_hash(&self) -> String {
        canonical_digest(&json!({
            "artifact": self.artifact(), "manifest_hash": self.manifest_hash(),
            "signatures_hash": canonical_digest(&self.signatures),
        }))
    }
}

fn text(value: &Value) -> &str {
    value.as_str().expect("a string")
}
