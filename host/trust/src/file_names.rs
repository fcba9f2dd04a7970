//! The names of the files of a bundle.

/// The component or core module.
pub const WASM: &str = "skill.wasm";
/// What the skill is and declares.
pub const MANIFEST: &str = "manifest.json";
/// Who signed the manifest.
pub const SIGNATURES: &str = "signatures.json";
/// The unsigned summary.
pub const BUNDLE_META: &str = "bundle-meta.json";
/// A key ring, also outside of bundles.
pub const KEYS: &str = "public-keys.json";
/// An SBOM, opaque.
pub const SBOM: &str = "sbom.spdx.json";
/// A sigstore bundle, opaque.
pub const SIGSTORE: &str = "sigstore.bundle.json";

/// Everything that a bundle may hold.
pub const BUNDLE_FILES: [&str; 7] = [
    WASM,
    MANIFEST,
    SIGNATURES,
    BUNDLE_META,
    KEYS,
    SBOM,
    SIGSTORE,
];

/// The files of a bundle that nothing reads.
pub const OPAQUE_FILES: [&str; 2] = [SBOM, SIGSTORE];
