//! What is trusted, and why: digests, canonical JSON, keys, signatures, manifests, bundles, archives and the lock.
//!
//! Knows the formats and nothing of the engine, and never asks a policy. Refuses every file that is not exactly
//! what its format says, and every bundle whose parts do not name each other; only a [`VerifiedBundle`] has a
//! signature of a key the caller chose. Three places do more than read and write files: [`export`] writes a policy
//! document, [`source`] makes HTTP requests, and the check by cosign starts that program.

pub mod archive;
mod bundle;
mod bundle_meta;
mod component;
mod cosign;
pub mod export;
pub mod file_names;
mod inspect;
pub mod install;
mod keys;
pub mod limits;
mod load;
mod lock;
mod manifest;
mod manifest_v1;
mod packing;
mod profile;
mod registry;
mod signature;
mod signatures;
pub mod source;
pub mod store;
#[cfg(test)]
mod vectors;
mod wasm;

pub use bundle::{Bundle, BundleError, BundleFiles, Step, VerifiedBundle};
pub use bundle_meta::{BundleMeta, BundleMetaError};
pub use component::{
    HostInterface, Imports, MAX_NESTED_TYPES, NotAComponent, imports, nested_types,
};
pub use cosign::{CosignCheck, CosignEnvironment, CosignError};
pub use file_names::{BUNDLE_FILES, OPAQUE_FILES};
pub use inspect::inspect;
pub use keys::{KeyError, KeyRing, PublicKey, SecretKey, refuse_inside, signing_key_path};
pub use load::LoadError;
pub use lock::{
    Lock, LockEntry, LockError, LockFault, LockSignatureError, LockSignatures, SubstratePin,
    compare_versions,
};
pub use manifest::{Capability, Experimental, Manifest, ManifestError};
pub use manifest_v1::{
    CompatibilityV1, EntryPointV1, ManifestV1, ManifestV1Error, WasiEntryPointV1,
};
pub use packing::{PackError, pack, sign};
pub use profile::ProfileError;
pub use registry::{RegistryError, verify_registry_entry};
pub use signature::{SignatureEntry, SignatureError, verify_entry};
pub use signatures::{Signatures, SignaturesError};
pub use wasm::Carried;
pub use wasm::{Wasm, WasmForm};
