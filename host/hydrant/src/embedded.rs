//! The files compiled into this program by `build.rs`, by their paths relative to the workspace, sorted.
//!
//! Nothing in them is believed because it is here: bundles are verified against the signed lock like those of any
//! other root. Two things are taken from here: the digest of the key ring, which is the anchor of that verification
//! where nobody names another, and the contract with the guests, whose id the lock names.

use std::sync::OnceLock;

use crate::pins::{Anchor, MinSigners, RING, Root, world_id};
use hydrant_base::Digest;
use hydrant_trust::Carried;

mod files {
    include!(concat!(env!("OUT_DIR"), "/embedded.rs"));
}

/// The pins and bundles of this program, and what they are verified against: a ring with two signers or more.
#[must_use]
pub fn embedded_pins() -> (Root, Anchor) {
    let anchor = Anchor {
        keys_digest: keys_digest().clone(),
        world: host_world_id().to_owned(),
        min_signers: MinSigners::default(),
    };
    let root = Root::embedded(files::ROOT).carrying(carried_components());
    (root, anchor)
}

/// The components that this program was built with.
#[must_use]
pub fn carried_components() -> &'static [Carried] {
    static CARRIED: OnceLock<Vec<Carried>> = OnceLock::new();
    CARRIED.get_or_init(|| {
        let components = hydrant_precompiled::COMPONENTS.iter();
        let carried = components.map(|component| Carried {
            path: component.path,
            digest: component.digest,
            zstd: component.compressed_wasm,
            length: component.wasm_bytes,
            imports: component.imports,
            description: component.description,
        });
        carried.collect()
    })
}

/// The digest of the key ring compiled into this program.
#[must_use]
pub fn keys_digest() -> &'static Digest {
    static DIGEST: OnceLock<Digest> = OnceLock::new();
    DIGEST.get_or_init(|| {
        let ring = files::ROOT.iter().find(|(path, _)| *path == RING);
        // Of a program built without a ring, no ring is the right one.
        ring.map_or_else(Digest::zero, |(_, bytes)| Digest::of(bytes))
    })
}

/// The id of the host world of this program: 40 hex digits.
#[must_use]
pub fn host_world_id() -> &'static str {
    static ID: OnceLock<String> = OnceLock::new();
    ID.get_or_init(|| {
        let files: Vec<(&str, &[u8])> = files::WIT
            .iter()
            .filter(|(path, _)| path.ends_with(".wit"))
            .map(|(path, bytes)| (path.strip_prefix("wit/").unwrap_or(path), *bytes))
            .collect();
        world_id(&files)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// No file of the contract is left out.
    #[test]
    fn the_whole_contract_is_compiled_in() {
        let mut names: Vec<_> = std::fs::read_dir("../../wit")
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        let embedded: Vec<_> = files::WIT
            .iter()
            .map(|(path, _)| path.strip_prefix("wit/").unwrap())
            .collect();
        assert_eq!(embedded, names);
        assert_eq!(host_world_id().len(), 40);
    }
}
