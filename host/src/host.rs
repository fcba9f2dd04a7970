//! [`Host`]: what an embedding program holds, one for each policy.
//!
//! It ties the pinned bundles, the engine and a policy together and adds no rule of its own.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use serde::Serialize;

use crate::capability::Call;
use crate::capability::fetch::{Fetcher, FetcherError};
use crate::engine::{
    Answer, Budgets, CallError, ComponentDescriber, Engine, EngineError, EngineOptions, Skill,
};
use crate::policy::{CliMount, Grant, Policy, PolicyError};
use crate::trust::{self, Capability, TrustError};

/// The skill behind [`Host::hydrate`].
const HYDRATE: &str = "content.hydrate";
/// L-04: bytes read in one hydration.
const HYDRATE_READ_BYTES: u64 = 64 * 1024 * 1024;

/// Runs pinned skills under one policy. Share it between threads; every call is independent.
pub struct Host {
    engine: Engine,
    policy: Arc<Policy>,
    fetcher: Arc<Fetcher>,
    components: Arc<ComponentDescriber>,
    hydrate: OnceLock<Pinned>,
}

/// A pinned skill, verified and compiled.
struct Pinned {
    /// Its manifest ∩ the policy.
    grant: Grant,
    skill: Skill,
}

/// Why a host cannot be made, or a call has no answer.
#[derive(Debug, thiserror::Error)]
pub enum HostError {
    /// The policy is refused.
    #[error(transparent)]
    Policy(#[from] PolicyError),
    /// The skill is not what was pinned.
    #[error(transparent)]
    Trust(#[from] TrustError),
    /// The engine or the component cannot be set up.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The TLS roots of the policy cannot be used.
    #[error(transparent)]
    Fetcher(#[from] FetcherError),
    /// The call failed.
    #[error(transparent)]
    Call(#[from] CallError),
    /// The working directory, which the default policy mounts, is not there.
    #[error("the working directory cannot be used: {0}")]
    WorkingDirectory(#[from] std::io::Error),
}

/// The form of a hydrated document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// The payload of RFC 0020 v1.1.0, compact JSON.
    #[default]
    Json,
    /// The document with its lists replaced by hydrated objects (the older RFC 0020, §3.4).
    Link,
    /// As `Link`, with mappings keyed by URI (RFC 0020 v2.0.0).
    V2,
}

/// What to hydrate, and how.
#[derive(Debug, Clone, Serialize)]
pub struct HydrateRequest {
    /// `os://…`, `https://…`, or a path relative to `os://`; not empty.
    pub uri: String,
    /// The form of the answer.
    pub format: Format,
    /// Levels of dependencies, 1 to 16.
    pub depth: u8,
    /// Add the SHA-256 digest of every resource.
    pub checksums: bool,
    /// Repair unquoted `: ` in `name` and `description` (Y-13).
    pub lenient: bool,
    /// Development only: allow `http://` to loopback (N-09).
    pub allow_http_loopback: bool,
    /// Start no process, whatever the policy says (EC-08).
    #[serde(skip)]
    pub no_exec: bool,
}

impl HydrateRequest {
    /// A request with the defaults of the protocol: JSON, depth 1, nothing optional.
    #[must_use]
    pub fn new(uri: impl Into<String>) -> Self {
        Self {
            uri: uri.into(),
            format: Format::Json,
            depth: 1,
            checksums: false,
            lenient: false,
            allow_http_loopback: false,
            no_exec: false,
        }
    }
}

impl Host {
    /// Starts with the default policy, the user's cache folder and 64 instances at a time.
    #[must_use]
    pub fn builder() -> HostBuilder {
        HostBuilder::default()
    }

    /// Hydrates a resource: the payload without a final newline, or the document in link or v2 form.
    ///
    /// Problems of the resource and its dependencies are `ERROR: <CODE>` strings in the answer, not errors.
    ///
    /// # Errors
    ///
    /// [`HostError::Call`]: a budget ran out, the request is not valid, or there is no document to link (LF-09).
    /// [`HostError::Trust`]: the component is not the pinned one.
    pub fn hydrate(&self, request: &HydrateRequest) -> Result<Vec<u8>, HostError> {
        let pinned = self.hydrate_skill()?;
        let mut grant = pinned.grant.clone();
        if request.no_exec {
            grant = grant.without_processes();
        }
        if request.allow_http_loopback {
            grant = grant.with_http_loopback();
        }
        let mut budgets = Budgets::of(&self.policy.limits());
        budgets.read_bytes = HYDRATE_READ_BYTES;
        // A struct of strings, numbers and booleans always serialises.
        let bytes = serde_json::to_vec(request).unwrap_or_default();
        Ok(self.call(&pinned.skill, &bytes, grant, &budgets)?.response)
    }

    /// What a pinned skill says of itself: JSON with name, description and schemas.
    ///
    /// # Errors
    ///
    /// [`HostError::Trust`] for a skill that is not pinned, [`HostError::Call`] for one that does not answer.
    pub fn describe(&self, id: &str) -> Result<String, HostError> {
        let budgets = Budgets::describe_skill();
        let call = self.context(Grant::nothing(), &budgets);
        if id == HYDRATE {
            let skill = &self.hydrate_skill()?.skill;
            return Ok(self.engine.describe(skill, call, &budgets)?);
        }
        let pinned = self.load(id)?;
        Ok(self.engine.describe(&pinned.skill, call, &budgets)?)
    }

    /// What a pinned skill may do under this host's policy.
    ///
    /// # Errors
    ///
    /// [`HostError::Trust`] for a skill that is not pinned.
    pub fn grant_of(&self, id: &str) -> Result<Grant, HostError> {
        Ok(self.grant(&trust::pinned_bundle(id)?.manifest.capabilities))
    }

    /// The engine, for `doctor` and benchmarks.
    #[must_use]
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    fn hydrate_skill(&self) -> Result<&Pinned, HostError> {
        if let Some(pinned) = self.hydrate.get() {
            return Ok(pinned);
        }
        let pinned = self.load(HYDRATE)?;
        Ok(self.hydrate.get_or_init(|| pinned))
    }

    fn load(&self, id: &str) -> Result<Pinned, HostError> {
        let bundle = trust::pinned_bundle(id)?;
        let capabilities = &bundle.manifest.capabilities;
        let skill = self
            .engine
            .load(&bundle.component, &bundle.artifact, capabilities)?;
        Ok(Pinned {
            grant: self.grant(capabilities),
            skill,
        })
    }

    fn grant(&self, capabilities: &[Capability]) -> Grant {
        Grant::new(Arc::clone(&self.policy), capabilities)
    }

    fn context(&self, grant: Grant, budgets: &Budgets) -> Arc<Call> {
        Arc::new(Call {
            grant,
            meter: budgets.meter_from(Instant::now()),
            limits: self.policy.limits(),
            fetcher: Arc::clone(&self.fetcher),
            components: Arc::<ComponentDescriber>::clone(&self.components),
        })
    }

    fn call(
        &self,
        skill: &Skill,
        request: &[u8],
        grant: Grant,
        budgets: &Budgets,
    ) -> Result<Answer, CallError> {
        self.engine
            .run(skill, request, self.context(grant, budgets), budgets)
    }
}

/// Makes a [`Host`].
#[derive(Debug, Default)]
pub struct HostBuilder {
    policy: Option<PathBuf>,
    mounts: Vec<CliMount>,
    engine: EngineOptions,
}

impl HostBuilder {
    /// The policy file. Default: reading `/workspace` (the working directory) and `/os` (`./os`), nothing else.
    #[must_use]
    pub fn policy(mut self, file: impl Into<PathBuf>) -> Self {
        self.policy = Some(file.into());
        self
    }

    /// The directory behind `os://`, in place of `./os`.
    #[must_use]
    pub fn os_root(self, directory: impl AsRef<Path>) -> Self {
        self.mount(CliMount::root(directory.as_ref()))
    }

    /// One more mount, as `--mount` adds it.
    #[must_use]
    pub fn mount(mut self, mount: CliMount) -> Self {
        self.mounts.push(mount);
        self
    }

    /// How the engine is set up. Default: 64 slots, compiled code kept in the user's cache folder.
    #[must_use]
    pub fn engine(mut self, options: EngineOptions) -> Self {
        self.engine = options;
        self
    }

    /// Reads the policy, opens the mounts and sets the engine up.
    ///
    /// # Errors
    ///
    /// [`HostError`]: the policy or a mount is refused, or WebAssembly cannot run here.
    pub fn build(self) -> Result<Host, HostError> {
        let policy = match &self.policy {
            Some(file) => Policy::load(file, &self.mounts)?,
            None => Policy::built_in(&std::env::current_dir()?, &self.mounts)?,
        };
        let fetcher = Arc::new(Fetcher::new(policy.tls_roots())?);
        let components = Arc::new(ComponentDescriber::new(Arc::clone(&fetcher)));
        let engine = Engine::new(&self.engine)?;
        Ok(Host {
            engine,
            policy: Arc::new(policy),
            fetcher,
            components,
            hydrate: OnceLock::new(),
        })
    }
}
