//! Policy, tenant and run: up to three documents of one grammar, and an operation needs the consent of each.
//!
//! A layer above the policy only narrows it; an absent layer restricts nothing. A single policy is the common case, and
//! costs nothing more than itself.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::json;

use super::limits::MAXIMA;
use super::mount::{MountHandle, MountTable, Mounted};
use super::{
    CliMount, Confinement, Limits, Policy, PolicyError, Tools, UntrustedSigner, VirtualPath,
};
use hydrant_base::{Digest, canonical_digest};
use hydrant_trust::{Capability, WasmForm};

/// The files of the layers.
#[derive(Clone, Copy, Debug, Default)]
pub struct LayerFiles<'a> {
    /// `--policy FILE`. Default: the default policy.
    pub policy: Option<&'a Path>,
    /// `--tenant FILE`.
    pub tenant: Option<&'a Path>,
    /// `--grant FILE`, for one run.
    pub run: Option<&'a Path>,
}

/// The policy and what narrows it. Cheap to clone; `Send` and `Sync`.
#[derive(Clone, Debug)]
pub struct Layers {
    policy: Arc<Policy>,
    tenant: Option<Arc<Policy>>,
    run: Option<Arc<Policy>>,
    /// The mounts of the call, where tenant or run list any.
    mounts: Option<Arc<MountTable>>,
}

impl From<Arc<Policy>> for Layers {
    fn from(policy: Arc<Policy>) -> Self {
        Self {
            policy,
            tenant: None,
            run: None,
            mounts: None,
        }
    }
}

impl From<Policy> for Layers {
    fn from(policy: Policy) -> Self {
        Self::from(Arc::new(policy))
    }
}

impl From<Arc<Self>> for Layers {
    fn from(layers: Arc<Self>) -> Self {
        Arc::unwrap_or_clone(layers)
    }
}

impl Layers {
    /// Reads the layers; `cli` are the `--mount` and `--root` flags, relative to the working directory.
    ///
    /// # Errors
    /// Why a layer is refused; [`PolicyError::is_usage`] tells a wrong flag from a wrong file.
    pub fn load(files: LayerFiles<'_>, cli: &[CliMount]) -> Result<Self, PolicyError> {
        let policy = match files.policy {
            Some(file) => Policy::load(file, cli)?,
            None => Policy::built_in(Path::new("."), cli)?,
        };
        Self::over(policy, files.tenant, files.run, cli)
    }

    /// The same without any mount, program or TLS root: for who only lists skills. What runs under it reads no file.
    ///
    /// # Errors
    /// Why a document is refused.
    pub fn load_unmounted(files: LayerFiles<'_>) -> Result<Self, PolicyError> {
        let policy = match files.policy {
            Some(file) => Policy::load_unmounted(file)?,
            None => Policy::built_in_unmounted()?,
        };
        let load = |file: Option<&Path>| file.map(Policy::load_unmounted).transpose();
        Self::stack(Arc::new(policy), load(files.tenant)?, load(files.run)?)
    }

    /// The same over a policy that is loaded already.
    ///
    /// # Errors
    /// Why the tenant or the run is refused.
    pub fn over(
        policy: impl Into<Arc<Policy>>,
        tenant: Option<&Path>,
        run: Option<&Path>,
        cli: &[CliMount],
    ) -> Result<Self, PolicyError> {
        let policy = policy.into();
        let load = |file: Option<&Path>| {
            file.map(|file| Policy::load_file(file, cli, Some(&policy)))
                .transpose()
        };
        let (tenant, run) = (load(tenant)?, load(run)?);
        Self::stack(policy, tenant, run)
    }

    /// Checks the mounts of the layers against each other, and says which hold.
    pub(super) fn stack(
        policy: Arc<Policy>,
        tenant: Option<Policy>,
        run: Option<Policy>,
    ) -> Result<Self, PolicyError> {
        let mut layers = Self::from(policy);
        for layer in [&tenant, &run].into_iter().flatten() {
            if layer.document.host.lists_mounts {
                let narrowed = layers.mounts().narrowed(
                    &layer.mounts,
                    &layers.policy.mounts,
                    layer.source(),
                )?;
                layers.mounts = Some(Arc::new(narrowed));
            }
        }
        layers.tenant = tenant.map(Arc::new);
        layers.run = run.map(Arc::new);
        Ok(layers)
    }

    /// The policy layer.
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// `policy_hash` of a call: of the policy alone, or of all layers.
    pub fn hash(&self) -> Digest {
        if self.tenant.is_none() && self.run.is_none() {
            return self.policy.hash().clone();
        }
        canonical_digest(&json!({
            "policy": self.policy.hash(),
            "run": self.run.as_deref().map(Policy::hash),
            "tenant": self.tenant.as_deref().map(Policy::hash),
        }))
    }

    /// The effective limits of a component: of each row the least that a layer states, and never more than the policy
    /// layer gives.
    pub fn limits(&self) -> Limits {
        self.narrowing()
            .fold(self.policy.limits(), |limits, layer| {
                limits.at_most(layer.document.host.limits.or(MAXIMA))
            })
    }

    /// The least that a layer states of each row; the maximum where none states anything. For core modules, whose
    /// defaults are their own.
    pub fn limits_at_most(&self) -> Limits {
        self.all().fold(MAXIMA, |limits, layer| {
            limits.at_most(layer.document.host.limits.or(MAXIMA))
        })
    }

    /// Whether components may be instantiated to be listed: unless a layer forbids it.
    pub fn tools(&self) -> Tools {
        if self.all().any(|layer| layer.tools() == Tools::Skip) {
            Tools::Skip
        } else {
            Tools::Describe
        }
    }

    /// PEM files with roots that `fetch` trusts besides its own, of the policy layer: a layer above it adds none.
    pub fn tls_roots(&self) -> &[PathBuf] {
        self.policy.tls_roots()
    }

    /// The declared capabilities that the ceiling of a layer denies, in the order of the manifest. `run --bundle` stops
    /// at the first.
    pub fn denied(&self, capabilities: &[Capability], form: WasmForm) -> Vec<Capability> {
        let denied = capabilities.iter().filter(|one| !self.consents(one, form));
        denied.cloned().collect()
    }

    /// The declared capabilities that are left: those that the ceiling of every layer allows, in the order of the
    /// manifest (`caps_granted` of a receipt).
    pub fn granted(&self, capabilities: &[Capability], form: WasmForm) -> Vec<Capability> {
        let granted = capabilities.iter().filter(|one| self.consents(one, form));
        granted.cloned().collect()
    }

    fn consents(&self, capability: &Capability, form: WasmForm) -> bool {
        self.all()
            .all(|layer| layer.ceiling_allows(capability, form))
    }

    /// Checks the trusted-signer rule in every layer.
    ///
    /// # Errors
    /// The first part of the rule that does not hold, in the first layer where it does not.
    pub fn check_signers(
        &self,
        manifest_signers: &[impl AsRef<str>],
        signature_signers: &[impl AsRef<str>],
    ) -> Result<(), UntrustedSigner> {
        self.all()
            .try_for_each(|layer| layer.check_signers(manifest_signers, signature_signers))
    }

    /// The layers that are present, the policy first.
    pub(super) fn all(&self) -> impl Iterator<Item = &Policy> {
        std::iter::once(self.policy()).chain(self.narrowing())
    }

    /// The layers above the policy.
    pub(super) fn narrowing(&self) -> impl Iterator<Item = &Policy> {
        self.tenant
            .as_deref()
            .into_iter()
            .chain(self.run.as_deref())
    }

    /// The mounted directories of the calls, the outermost first, and whether each may be written.
    pub fn directories(&self) -> Vec<(MountHandle, bool)> {
        let mut directories: Vec<_> = self.mounts().directories().collect();
        directories.sort_by_key(|mount| mount.at().as_str().len());
        let with_mode = |mount: MountHandle| {
            let writable = self.is_writable(mount.at());
            (mount, writable)
        };
        directories.into_iter().map(with_mode).collect()
    }

    /// The directories that are mounted read-only, as each layer has them.
    pub fn read_only(&self) -> impl Iterator<Item = &MountHandle> {
        self.all().flat_map(|layer| layer.mounts.read_only())
    }

    /// The mounts of the call.
    pub(super) fn mounts(&self) -> &MountTable {
        self.mounts.as_deref().unwrap_or(&self.policy.mounts)
    }

    /// The layer whose `mounts` leave this one out, if one does.
    pub(super) fn leaves_out(&self, mount: &Mounted) -> Option<&Policy> {
        self.narrowing()
            .find(|layer| layer.document.host.lists_mounts && layer.mounts.at(&mount.at).is_none())
    }

    /// Whether a directory may be written by the mount that holds it.
    pub(super) fn is_writable(&self, directory: &VirtualPath) -> bool {
        self.mounts()
            .holding(directory)
            .is_some_and(Mounted::is_writable)
    }

    /// Where programs run: in the jail, unless every layer lets them run outside of it.
    #[must_use]
    pub fn confinement(&self) -> Confinement {
        let confines = |layer: &Policy| layer.document.host.jail.process == Confinement::Required;
        if self.all().any(confines) {
            Confinement::Required
        } else {
            Confinement::Unjailed
        }
    }
}

#[cfg(test)]
mod tests;
