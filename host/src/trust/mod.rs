//! What is trusted, and why: digests, manifests, the lock, and the bundles embedded in this binary.
//!
//! Relies on nothing but the bytes it is given. Refuses any artifact whose digest is not the one the
//! lock names. Signatures over the lock and the manifests are not checked here yet; the lock that is
//! used is the one compiled into the binary, so it is exactly as trustworthy as the binary itself.

mod digest;
mod embedded;
mod lock;
mod manifest;
mod skill_id;

pub use digest::{Digest, InvalidDigest};
pub use embedded::{EmbeddedBundle, embedded_bundle, embedded_lock};
pub use lock::{Lock, LockEntry, LockError};
pub use manifest::{Capability, Manifest, ManifestError};
pub use skill_id::{InvalidSkillId, SkillId};

/// A skill whose every byte is what the lock pins.
#[derive(Debug, Clone)]
pub struct VerifiedBundle {
    /// Its signed declaration.
    pub manifest: Manifest,
    /// `sha256` of [`component`](Self::component), equal to the pinned one.
    pub artifact: Digest,
    /// The component.
    pub component: std::borrow::Cow<'static, [u8]>,
}

/// Why a skill may not run.
#[derive(Debug, thiserror::Error)]
pub enum TrustError {
    /// No entry of the lock has this id.
    #[error("skill {id} is not pinned; pinned are: {pinned}")]
    NotPinned {
        /// The id that was asked for.
        id: String,
        /// All ids of the lock, separated by commas.
        pinned: String,
    },
    /// The lock pins a skill that this binary does not carry.
    #[error("skill {id}@{version} is pinned, but its bundle is not in this binary")]
    NoBundle {
        /// The pinned id.
        id: SkillId,
        /// The pinned version.
        version: String,
    },
    /// A file is not the one that was pinned.
    #[error("{id}@{version}: {file} has digest {actual}, the lock pins {expected}")]
    DigestMismatch {
        /// The pinned id.
        id: SkillId,
        /// The pinned version.
        version: String,
        /// `skill.wasm` or `manifest.json`.
        file: &'static str,
        /// What the lock says.
        expected: Digest,
        /// What the bytes say.
        actual: Digest,
    },
    /// The manifest names another skill than the lock entry it is pinned by.
    #[error("the manifest of {id}@{version} says {actual}")]
    OtherSkill {
        /// The pinned id.
        id: SkillId,
        /// The pinned version.
        version: String,
        /// `name@version` of the manifest.
        actual: String,
    },
    /// The lock cannot be read.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// The manifest cannot be read.
    #[error(transparent)]
    Manifest(#[from] ManifestError),
}

/// The pinned bundle of `id`, from this binary, checked byte for byte against the lock of this binary.
///
/// Without a version the highest pinned one is taken (the lock is sorted).
///
/// # Errors
///
/// [`TrustError`]: the skill is not pinned, or one of its files is not the pinned one.
pub fn pinned_bundle(id: &str) -> Result<VerifiedBundle, TrustError> {
    let lock = embedded_lock()?;
    let entry = lock.newest(id).ok_or_else(|| TrustError::NotPinned {
        id: id.escape_default().to_string(),
        pinned: lock.ids().collect::<Vec<_>>().join(", "),
    })?;
    let bundle =
        embedded_bundle(&entry.id, &entry.version).ok_or_else(|| TrustError::NoBundle {
            id: entry.id.clone(),
            version: entry.version.clone(),
        })?;
    verify(entry, bundle)
}

/// TV-14, TV-15, TV-16: artifact, manifest and id are what the lock says.
fn verify(entry: &LockEntry, bundle: EmbeddedBundle) -> Result<VerifiedBundle, TrustError> {
    let mismatch = |file, expected: &Digest, actual: &Digest| TrustError::DigestMismatch {
        id: entry.id.clone(),
        version: entry.version.clone(),
        file,
        expected: expected.clone(),
        actual: actual.clone(),
    };
    let artifact = Digest::of(bundle.component);
    if artifact != entry.artifact {
        return Err(mismatch("skill.wasm", &entry.artifact, &artifact));
    }
    let manifest = Manifest::parse(bundle.manifest)?;
    let manifest_hash = manifest.hash();
    if manifest_hash != entry.manifest_hash {
        return Err(mismatch(
            "manifest.json",
            &entry.manifest_hash,
            &manifest_hash,
        ));
    }
    if manifest.artifact != artifact {
        return Err(mismatch("skill.wasm", &manifest.artifact, &artifact));
    }
    if manifest.name != entry.id.as_str() || manifest.version != entry.version {
        return Err(TrustError::OtherSkill {
            id: entry.id.clone(),
            version: entry.version.clone(),
            actual: format!("{}@{}", manifest.name, manifest.version),
        });
    }
    Ok(VerifiedBundle {
        manifest,
        artifact,
        component: bundle.component.into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lock_entry() -> LockEntry {
        embedded_lock()
            .unwrap()
            .newest("content.hydrate")
            .unwrap()
            .clone()
    }

    fn bundle() -> EmbeddedBundle {
        let entry = lock_entry();
        embedded_bundle(&entry.id, &entry.version).unwrap()
    }

    #[test]
    fn the_embedded_bundle_is_the_pinned_one() {
        let verified = pinned_bundle("content.hydrate").unwrap();
        assert_eq!(verified.manifest.name, "content.hydrate");
        assert_eq!(Digest::of(&verified.component), verified.artifact);
    }

    #[test]
    fn tv_14_a_component_with_one_bit_flipped_is_refused() {
        let mut component = bundle().component.to_vec();
        component[4096] ^= 1;
        let changed = EmbeddedBundle {
            component: component.leak(),
            ..bundle()
        };
        let error = verify(&lock_entry(), changed).unwrap_err();
        assert!(
            matches!(
                error,
                TrustError::DigestMismatch {
                    file: "skill.wasm",
                    ..
                }
            ),
            "{error}"
        );
    }

    #[test]
    fn tv_15_a_manifest_that_asks_for_more_is_refused() {
        let manifest = bundle().manifest.replace("/os", "/workspace").leak();
        let error = verify(
            &lock_entry(),
            EmbeddedBundle {
                manifest,
                ..bundle()
            },
        )
        .unwrap_err();
        assert!(
            matches!(
                error,
                TrustError::DigestMismatch {
                    file: "manifest.json",
                    ..
                }
            ),
            "{error}"
        );
    }

    #[test]
    fn tv_16_an_entry_under_another_name_is_refused() {
        let entry = LockEntry {
            id: "content.other".parse().unwrap(),
            ..lock_entry()
        };
        let error = verify(&entry, bundle()).unwrap_err();
        assert!(matches!(error, TrustError::OtherSkill { .. }), "{error}");
    }

    #[test]
    fn a_skill_that_is_not_pinned_is_refused_with_the_names_that_are() {
        let error = pinned_bundle("content.hydrat\n").unwrap_err().to_string();
        assert_eq!(
            error,
            "skill content.hydrat\\n is not pinned; pinned are: content.hydrate"
        );
    }
}
