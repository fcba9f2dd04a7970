//! The pinned skills of a host: each verified before its first use, and again when a file of it has changed.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::HostError;
use crate::engine::{Engine, Skill};
use crate::pins::{self, Anchor, PinnedBundle, Root};
use crate::policy::{Grant, Layers};
use crate::trust::{Capability, WasmForm};

/// A root of pins, and what was loaded from it.
pub(super) struct PinnedSkills {
    root: Root,
    anchor: Anchor,
    loaded: Mutex<Loaded>,
}

/// By id and the version that was asked for, if one was.
type Loaded = BTreeMap<(String, Option<String>), Arc<PinnedSkill>>;

/// A skill that was verified, compiled and granted what it may do.
pub(super) struct PinnedSkill {
    pub(super) pinned: PinnedBundle,
    /// Its manifest ∩ the layers.
    pub(super) grant: Grant,
    pub(super) skill: Skill,
}

impl PinnedSkills {
    pub(super) fn new(root: Root, anchor: Anchor) -> Self {
        Self {
            root,
            anchor,
            loaded: Mutex::default(),
        }
    }

    pub(super) fn root(&self) -> &Root {
        &self.root
    }

    pub(super) fn anchor(&self) -> &Anchor {
        &self.anchor
    }

    /// Id and version of every entry of the verified lock.
    pub(super) fn entries(&self) -> Result<Vec<(String, String)>, HostError> {
        let lock = pins::open_lock(&self.root, &self.anchor)?;
        let entries = lock.lock().skills.iter();
        Ok(entries
            .map(|entry| (entry.id.clone(), entry.version.clone()))
            .collect())
    }

    /// The bundle as it is now, verified. Nothing is compiled.
    pub(super) fn verified(
        &self,
        id: &str,
        version: Option<&str>,
    ) -> Result<PinnedBundle, HostError> {
        Ok(pins::verify_entry(&self.root, &self.anchor, id, version)?)
    }

    /// The skill as it was loaded, while no file of it has changed since. It looks at files, and waits for nothing else.
    pub(super) fn current(&self, id: &str, version: Option<&str>) -> Option<Arc<PinnedSkill>> {
        let key = (id.to_owned(), version.map(str::to_owned));
        let known = self.loaded().get(&key).cloned()?;
        let stamp = pins::stamp(&self.root, &known.pinned.entry);
        (stamp == known.pinned.stamp).then_some(known)
    }

    /// The skill, ready to be called. A file that changed since it was loaded is noticed here: all is verified anew. As
    /// soon as it is known, `verified` hears what it declares.
    pub(super) fn load(
        &self,
        id: &str,
        version: Option<&str>,
        engine: &Engine,
        layers: &Arc<Layers>,
        verified: impl FnOnce(&[Capability]),
    ) -> Result<Arc<PinnedSkill>, HostError> {
        if let Some(known) = self.current(id, version) {
            verified(&known.pinned.bundle.manifest().capabilities);
            return Ok(known);
        }
        let lock = pins::open_lock(&self.root, &self.anchor)?;
        let entry = lock.entry(id, version)?;
        let pinned = lock.bundle(&self.root, entry)?;
        let (bundle, capabilities) = (&pinned.bundle, &pinned.bundle.manifest().capabilities);
        verified(capabilities);
        let skill = engine.load(bundle.wasm(), capabilities)?;
        let loaded = Arc::new(PinnedSkill {
            grant: Grant::new(Arc::clone(layers), capabilities),
            skill,
            pinned,
        });
        let key = (id.to_owned(), version.map(str::to_owned));
        self.loaded().insert(key, Arc::clone(&loaded));
        Ok(loaded)
    }

    fn loaded(&self) -> MutexGuard<'_, Loaded> {
        self.loaded.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The first declared capability that a layer's ceiling denies.
pub(super) fn check_ceilings(
    layers: &Layers,
    bundle: &crate::trust::Bundle,
    form: WasmForm,
) -> Result<(), HostError> {
    let denied = layers.denied(&bundle.manifest().capabilities, form);
    match denied.into_iter().next() {
        Some(capability) => Err(HostError::CapabilityDenied(capability)),
        None => Ok(()),
    }
}
