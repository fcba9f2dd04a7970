//! [`Host`]: what an embedding program holds, one for each policy.
//!
//! It ties the pinned bundles, the engine, a policy with its layers and the audit log together, and adds no rule of
//! its own. Every call of a skill goes through [`call`]: verified first, recorded at the end. Describing one, which is
//! done without any capability, is not recorded.

mod builder;
mod bundle;
mod call;
mod documents;
mod error;
mod failure;
mod hydrate;
mod kept;
mod pinned;
mod record;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use serde_json::{Value, json};

use crate::audit::{AuditTarget, ContextId};
use crate::capability::fetch::{Credential, Fetcher};
use crate::capability::fs::Journals;
use crate::capability::{Call, Journal, KeepDescriptions, OwnFiles};
use crate::embedded::carried_components;
use crate::engine::{Budgets, ComponentDescriber, Engine, ProbeFailure};
use crate::jail::Launcher;
use crate::pins::{Anchor, ComponentProbe, ProbeError, Root};
use crate::policy::{Grant, Layers, Tools};
use crate::trust::{Capability, Carried, Wasm};
use hydrant_base::Digest;

use self::kept::Kept;
use self::pinned::PinnedSkills;

pub use self::builder::HostBuilder;
pub use self::call::SkillCall;
pub use self::documents::{Documents, Found, Listing, MAX_DOCUMENTS};
pub use self::error::HostError;
pub use self::failure::Failure;
pub use self::hydrate::{Format, HydrateRequest};
pub use self::record::{Delivery, Run};

/// Runs skills under one policy. Share it between threads; every call is independent.
pub struct Host {
    engine: Engine,
    layers: Arc<Layers>,
    fetcher: Arc<Fetcher>,
    components: Arc<ComponentDescriber>,
    pins: PinnedSkills,
    audit: AuditTarget,
    context: Option<ContextId>,
    /// Where core modules keep keys and queues, and changes of files are journalled.
    home: Option<PathBuf>,
    /// What no skill reads or changes.
    own: Arc<OwnFiles>,
    jail: Option<Launcher>,
    /// Whatever the policies say.
    no_processes: bool,
    /// Whether requests of governed execution have to be allowed by the policies too.
    binds_governed: bool,
    /// Hydrations; none: each is done anew.
    kept: Option<Kept>,
    /// Where answers of tools are kept.
    descriptions: Option<Arc<dyn KeepDescriptions>>,
}

/// A pinned skill, as its manifest and itself tell of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PinnedSkillInfo {
    /// Its id.
    pub id: String,
    /// Its SemVer version.
    pub version: String,
    /// What it declares, sorted; the most it may ever do.
    pub capabilities: Vec<Capability>,
    /// What `describe` returned: JSON with name, description and schemas. None where the policy says `tools: skip`, and
    /// this program was not built with the skill.
    pub description: Option<String>,
}

impl PinnedSkillInfo {
    /// What `hydrant skills` tells of it.
    #[must_use]
    pub fn summary(&self) -> Value {
        // The skill's own words; none where it may not be asked.
        let described = self
            .description
            .as_deref()
            .and_then(|text| serde_json::from_str::<Value>(text).ok());
        let description = described.and_then(|described| {
            let description = described.get("description")?.as_str()?;
            Some(description.to_owned())
        });
        let capabilities = self.capabilities.iter().map(ToString::to_string);
        json!({
            "id": self.id,
            "version": self.version,
            "description": description,
            "capabilities": capabilities.collect::<Vec<_>>(),
        })
    }

    /// What the skill says, with its version at the end.
    ///
    /// # Errors
    ///
    /// It does not describe itself in JSON.
    pub fn described(&self) -> Result<Value, serde_json::Error> {
        let Some(text) = &self.description else {
            return Ok(json!({ "name": self.id, "version": self.version }));
        };
        let mut description: Value = serde_json::from_str(text)?;
        if let Value::Object(members) = &mut description {
            members.insert("version".into(), self.version.clone().into());
        }
        Ok(description)
    }
}

impl Host {
    /// Starts with the default policy, the embedded skills, no audit log, the user's cache folder and 64 instances
    /// at a time.
    #[must_use]
    pub fn builder() -> HostBuilder {
        HostBuilder::default()
    }

    /// The ids of the pinned skills.
    ///
    /// # Errors
    ///
    /// [`HostError::Pin`]: the lock does not verify.
    pub(crate) fn pinned_ids(&self) -> Result<Vec<String>, HostError> {
        let entries = self.pins.entries()?;
        Ok(entries.into_iter().map(|(id, _)| id).collect())
    }

    /// Id and version of each pinned skill, sorted.
    ///
    /// # Errors
    ///
    /// [`HostError::Pin`]: the lock does not verify.
    pub fn pinned_entries(&self) -> Result<Vec<(String, String)>, HostError> {
        self.pins.entries()
    }

    /// What a pinned skill says of itself; without a version, the newest one.
    ///
    /// # Errors
    ///
    /// [`HostError::Pin`] for a skill that is not pinned, [`HostError::Call`] for one that does not answer.
    pub fn describe(&self, id: &str, version: Option<&str>) -> Result<PinnedSkillInfo, HostError> {
        let known = self.pins.current(id, version);
        let verified;
        let pinned = match &known {
            Some(known) => &known.pinned,
            None => {
                verified = self.pins.verified(id, version)?;
                &verified
            }
        };
        let manifest = pinned.bundle.manifest();
        // A component answers always the same: what this program was built with was asked then.
        if let Some(known) = pinned.bundle.wasm().description() {
            return Ok(info(manifest, Some(known.to_owned())));
        }
        if self.layers.tools() == Tools::Skip {
            return Ok(info(manifest, None));
        }
        let skill = self.load(id, version, |_| {})?;
        let budgets = Budgets::describe_skill();
        let call = self.context(Grant::nothing(), &budgets, None);
        let description = self.engine.describe(&skill.skill, call, &budgets)?;
        Ok(info(skill.pinned.bundle.manifest(), Some(description)))
    }

    /// All pinned skills, sorted by id and version.
    ///
    /// # Errors
    ///
    /// As [`describe`](Self::describe), for the first skill that fails.
    pub fn skills(&self) -> Result<Vec<PinnedSkillInfo>, HostError> {
        self.pins
            .entries()?
            .iter()
            .map(|(id, version)| self.describe(id, Some(version)))
            .collect()
    }

    /// What a pinned skill may do under this host's policy.
    ///
    /// # Errors
    ///
    /// [`HostError::Pin`] for a skill that is not pinned.
    pub fn grant_of(&self, id: &str) -> Result<Grant, HostError> {
        let pinned = self.pins.verified(id, None)?;
        let capabilities = &pinned.bundle.manifest().capabilities;
        Ok(Grant::new(Arc::clone(&self.layers), capabilities))
    }

    /// `policy_hash` of this host's calls: of the policy, or of all layers.
    #[must_use]
    pub fn policy_hash(&self) -> Digest {
        self.layers.hash()
    }

    /// The engine, for `doctor` and benchmarks.
    #[must_use]
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// The root of the pins.
    #[must_use]
    pub fn root(&self) -> &Root {
        self.pins.root()
    }

    /// What the pins are verified against.
    #[must_use]
    pub fn anchor(&self) -> &Anchor {
        self.pins.anchor()
    }

    pub(crate) fn layers(&self) -> &Layers {
        &self.layers
    }

    /// The policies that bind requests of governed execution; none: their approval alone does.
    pub(crate) fn governed_layers(&self) -> Option<&Layers> {
        self.binds_governed.then_some(&*self.layers)
    }

    pub(crate) fn fetcher(&self) -> &Fetcher {
        &self.fetcher
    }

    /// What no call reads or changes.
    #[cfg(target_os = "linux")]
    pub(crate) fn own(&self) -> &OwnFiles {
        &self.own
    }

    #[cfg(target_os = "linux")]
    pub(crate) fn home(&self) -> Option<&std::path::Path> {
        self.home.as_deref()
    }

    pub(crate) fn launcher(&self) -> Option<&Launcher> {
        self.jail.as_ref()
    }

    fn context(
        &self,
        grant: Grant,
        budgets: &Budgets,
        credential: Option<Arc<Credential>>,
    ) -> Arc<Call> {
        Arc::new(Call {
            grant,
            credential,
            meter: budgets.meter_from(Instant::now()),
            journal: Journal::default(),
            limits: self.layers.limits(),
            fetcher: Arc::clone(&self.fetcher),
            components: Arc::<ComponentDescriber>::clone(&self.components),
            journals: self
                .home
                .as_ref()
                .map(|home| Journals::new(home.join("state/changes"))),
            own: Arc::clone(&self.own),
            jail: self.jail.clone(),
            descriptions: self.descriptions.clone(),
        })
    }
}

fn info(manifest: &crate::trust::Manifest, description: Option<String>) -> PinnedSkillInfo {
    PinnedSkillInfo {
        id: manifest.name.clone(),
        version: manifest.version.clone(),
        capabilities: manifest.capabilities.clone(),
        description,
    }
}

/// Without any capability, under budgets of its own, of which a single hostcall is too much.
impl ComponentProbe for Host {
    fn instantiate_and_describe(&self, component: &Wasm) -> Result<String, ProbeError> {
        let budgets = Budgets::describe_skill();
        let call = || self.context(Grant::nothing(), &budgets, None);
        self.engine
            .probe(component, call, &budgets)
            .map_err(|failure| match failure {
                ProbeFailure::Instantiation(reason) => ProbeError::DoesNotInstantiate(reason),
                ProbeFailure::Description(error) => ProbeError::NoDescription(error.to_string()),
            })
    }

    fn carried(&self) -> &'static [Carried] {
        carried_components()
    }
}
