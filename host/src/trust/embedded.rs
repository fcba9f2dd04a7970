//! The bundles and the lock compiled into this binary, so that a lone `hydrant` file works anywhere.

use super::{Lock, LockError, SkillId};

/// The files of a bundle that are needed to run it.
#[derive(Debug, Clone, Copy)]
pub struct EmbeddedBundle {
    /// `manifest.json`
    pub manifest: &'static str,
    /// `skill.wasm`
    pub component: &'static [u8],
}

const LOCK: &str = include_str!("../../../pins/skills.lock.json");

macro_rules! bundle {
    ($directory:literal) => {
        EmbeddedBundle {
            manifest: include_str!(concat!("../../../skills/", $directory, "/manifest.json")),
            component: include_bytes!(concat!("../../../skills/", $directory, "/skill.wasm")),
        }
    };
}

/// The lock of this binary.
///
/// # Errors
///
/// [`LockError`] if the binary was built from a tree with a broken lock.
pub fn embedded_lock() -> Result<Lock, LockError> {
    Lock::parse(LOCK)
}

/// The bundle of a skill, unverified: [`pinned_bundle`](super::pinned_bundle) compares it with the lock.
#[must_use]
pub fn embedded_bundle(id: &SkillId, version: &str) -> Option<EmbeddedBundle> {
    match (id.as_str(), version) {
        ("content.hydrate", "0.1.0") => Some(bundle!("content.hydrate/0.1.0")),
        _ => None,
    }
}
