//! A tenant: hosts, governor, receipts, limits and events of its own.

use std::fs::DirBuilder;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Mutex, PoisonError};

use arc_swap::ArcSwap;
use tokio::sync::broadcast;

use super::{Definition, Profile};
use crate::audit::AuditTarget;
use crate::capability::real;
use crate::engine::{Engine, EngineOptions};
use crate::govern::config::{Config as GovernConfig, HostPattern, JailedClients};
use crate::govern::failure::Failure;
use crate::govern::governor::Governor;
use crate::govern::{Lazy, Ports};
use crate::hook::Settings;
use crate::policy::{CliMount, Confinement, VirtualPath};
use crate::serve::config::ServeConfig;
use crate::serve::service::Pace;
use crate::serve::service::events::Event;
use crate::serve::service::rate::Bucket;
use crate::serve::service::receipts::Receipts;
use crate::{Host, HostBuilder, HostError, home};

/// Bytes of hydrations that are kept for one tenant.
const KEPT_BYTES: usize = 4 * 1024 * 1024;
/// Events that a slow reader may be behind.
const EVENTS: usize = 256;
/// Requests that may come for each operation that may.
const REQUESTS: u32 = 4;

/// Why there is no such tenant.
#[derive(Debug, thiserror::Error)]
pub enum TenantError {
    /// Its folder cannot be used.
    #[error("tenant {name:?}: home {path}: {reason}")]
    Home {
        /// The tenant.
        name: String,
        /// The folder.
        path: String,
        /// In words.
        reason: String,
    },
    /// One of its directories cannot be mounted.
    #[error("tenant {name:?}: mounts: {reason}")]
    Mount {
        /// The tenant.
        name: String,
        /// In words.
        reason: String,
    },
    /// Its policy is refused, or no host can be made.
    #[error("tenant {name:?}: policy: {source}")]
    Host {
        /// The tenant.
        name: String,
        /// Why.
        source: Box<HostError>,
    },
}

/// The user of this machine as the only tenant, as `hydrant mcp` serves him.
pub struct LocalUser {
    /// The host of his calls: his policy, mounts and audit log. Where he named no `workspace`, nothing is at `/workspace`
    /// until [`Tenant::show_workspace`] is called.
    pub host: HostBuilder,
    /// The host of the planner, without mounts.
    pub planner: HostBuilder,
    /// His home folder; his state is in `state`, his receipts in `receipts`.
    pub home: PathBuf,
    /// The directory that he named for `/workspace`, which `host` mounts there.
    pub workspace: Option<PathBuf>,
    /// `[govern]`.
    pub govern: GovernConfig,
    /// `[hydrate]`.
    pub hydrate: Settings,
}

/// The host of a tenant's calls, and what it mounts.
struct CallHost {
    host: Arc<Host>,
    /// The directory at `/workspace`.
    workspace: Option<PathBuf>,
}

type MakeHost = Box<dyn Fn() -> Result<Arc<Host>, String> + Send + Sync>;

/// See the module.
pub struct Tenant {
    definition: Definition,
    current: ArcSwap<CallHost>,
    /// Without mounts, made when the first plan is asked for.
    planner: Mutex<Option<Arc<Host>>>,
    make_planner: MakeHost,
    governor: Lazy,
    state: PathBuf,
    /// Makes the host again with another workspace; for the user of this machine who named none.
    local: Option<HostBuilder>,
    hydrate: Settings,
    pub(crate) receipts: Receipts,
    /// Of operations.
    pub(crate) rate: Bucket,
    /// Of requests, which are more than operations: those that are refused, and messages of a protocol.
    pub(crate) requests: Bucket,
    /// How long its calls take.
    pub(crate) pace: Arc<Pace>,
    /// Connections that its tokens use now.
    pub(crate) connections: AtomicUsize,
    pub(crate) events: broadcast::Sender<Event>,
}

impl std::fmt::Debug for Tenant {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tenant")
            .field("name", &self.definition.name)
            .finish_non_exhaustive()
    }
}

impl Tenant {
    /// Opens the folder of a tenant, its mounts and its policy. Calls of all tenants share `engine`.
    ///
    /// # Errors
    ///
    /// [`TenantError`]
    pub(crate) fn open(
        definition: Definition,
        config: &Arc<ServeConfig>,
        reserved: &Arc<Reserved>,
        engine: &Engine,
    ) -> Result<Self, TenantError> {
        let name = definition.name.clone();
        if definition.home.is_none() {
            let tenants = config.home.join("tenants");
            private_folder(&tenants).map_err(|reason| unusable(&name, &tenants, reason))?;
        }
        let home = home_of(&definition, config);
        let state = home.join("state");
        let empty = home.join("empty");
        for folder in [&home, &state, &empty] {
            private_folder(folder).map_err(|reason| unusable(&name, folder, reason))?;
        }
        let host = builder(&definition, config, reserved, engine, &home)
            .and_then(|builder| mounted(builder, &definition, &empty).map_err(Problem::Mount))
            .and_then(|builder| builder.build().map_err(|error| Problem::Host(error.into())))
            .map_err(|problem| problem.of(&name))?;
        let host = Arc::new(host);
        warn_of_unjailed(&name, &host);
        let making = (
            definition.clone(),
            Arc::clone(config),
            Arc::clone(reserved),
            engine.clone(),
            home.clone(),
        );
        let make_planner = move || {
            let (definition, config, reserved, engine, home) = &making;
            let builder = builder(definition, config, reserved, engine, home)
                .map_err(|problem| problem.of(&definition.name).to_string())?;
            let host = builder.without_mounts().build();
            host.map(Arc::new).map_err(|error| error.to_string())
        };
        let workspace = definition.mounts.get("/workspace").cloned();
        let govern = own_govern(&config.govern, &definition);
        Ok(Self {
            make_planner: Box::new(make_planner),
            hydrate: own_settings(&config.hydrate),
            ..Self::new(definition, CallHost { host, workspace }, &home, govern)
        })
    }

    /// The user of this machine, for commands and syscalls: `host` answers calls, and there are no plans.
    #[must_use]
    pub fn of_host(host: Arc<Host>, home: &Path, govern: GovernConfig) -> Self {
        let host = CallHost {
            host,
            workspace: None,
        };
        Self::new(local_definition(), host, home, govern)
    }

    fn new(definition: Definition, host: CallHost, home: &Path, govern: GovernConfig) -> Self {
        let state = home.join("state");
        let ports = Ports::new(Arc::clone(&host.host));
        Self {
            governor: Lazy::new(ports, state.clone(), govern),
            current: ArcSwap::from_pointee(host),
            local: None,
            planner: Mutex::default(),
            make_planner: Box::new(|| Err("no plans are made here".to_owned())),
            receipts: Receipts::new(home.join("receipts"), definition.receipts),
            rate: Bucket::new(definition.rate),
            requests: Bucket::new(definition.rate.times(REQUESTS)),
            pace: Arc::default(),
            connections: AtomicUsize::new(0),
            events: broadcast::channel(EVENTS).0,
            state,
            hydrate: Settings::default(),
            definition,
        }
    }

    /// The user of this machine, whose limits are those of the machine.
    ///
    /// # Errors
    ///
    /// [`TenantError`]
    pub fn local(user: LocalUser) -> Result<Self, TenantError> {
        let failed = |error: HostError| Problem::Host(error.into()).of("local");
        private_folder(&user.home).map_err(|reason| unusable("local", &user.home, reason))?;
        let (host, local) = match &user.workspace {
            Some(_) => (user.host, None),
            None => (
                user.host
                    .clone()
                    .mount(CliMount::nothing(VirtualPath::workspace())),
                Some(user.host),
            ),
        };
        let host = Arc::new(host.build().map_err(failed)?);
        warn_of_unjailed("local", &host);
        let planner = Arc::new(user.planner.without_mounts().build().map_err(failed)?);
        let host = CallHost {
            host,
            workspace: user.workspace,
        };
        Ok(Self {
            local,
            make_planner: Box::new(move || Ok(Arc::clone(&planner))),
            hydrate: user.hydrate,
            ..Self::new(local_definition(), host, &user.home, user.govern)
        })
    }

    /// Its name, for logs and metrics of the operator; no answer has it.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.definition.name
    }

    /// What the tenants file says of it.
    #[must_use]
    pub fn definition(&self) -> &Definition {
        &self.definition
    }

    /// The host of its calls.
    #[must_use]
    pub fn host(&self) -> Arc<Host> {
        Arc::clone(&self.current.load().host)
    }

    /// Whether [`show_workspace`](Self::show_workspace) changes anything: the user of this machine named no directory.
    #[must_use]
    pub fn has_open_workspace(&self) -> bool {
        self.local.is_some()
    }

    /// Puts another directory, or nothing, at `/workspace`, for the calls that begin from now on. Where the user named one,
    /// that stays.
    ///
    /// # Errors
    ///
    /// The directory cannot be mounted, or the policy is refused; everything stays as it was.
    pub fn show_workspace(&self, directory: Option<&Path>) -> Result<(), HostError> {
        let Some(builder) = &self.local else {
            return Ok(());
        };
        let at = VirtualPath::workspace();
        let mount = match directory {
            Some(directory) => CliMount::offered(at, directory),
            None => CliMount::nothing(at),
        };
        let engine = self.host().engine().clone();
        let host = builder.clone().shared_engine(engine).mount(mount).build()?;
        self.current.store(Arc::new(CallHost {
            host: Arc::new(host),
            workspace: directory.map(Path::to_owned),
        }));
        Ok(())
    }

    /// The folder of its governor, chain and audit log.
    #[must_use]
    pub fn state(&self) -> &Path {
        &self.state
    }

    /// Whether it sees and runs this pinned skill.
    #[must_use]
    pub fn may_use(&self, id: &str) -> bool {
        let listed = self.definition.skills.as_ref();
        listed.is_none_or(|skills| skills.contains(id))
    }

    /// The governor of its state, which is opened when it is first asked for.
    ///
    /// # Errors
    ///
    /// The state cannot be used.
    pub fn governor(&self) -> Result<&Governor, Failure> {
        self.governor.get()
    }

    pub(crate) fn end_session(&self, caller: &crate::govern::governor::Caller) {
        self.governor.end_session(caller);
    }

    pub(crate) fn planner(&self) -> Result<Arc<Host>, String> {
        let mut made = self.planner.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(planner) = &*made {
            return Ok(Arc::clone(planner));
        }
        // Only what could be made is kept: what was in the way may be gone when the next plan is asked for.
        let planner = (self.make_planner)()?;
        *made = Some(Arc::clone(&planner));
        Ok(planner)
    }

    pub(crate) fn workspace(&self) -> Option<PathBuf> {
        self.current.load().workspace.clone()
    }

    pub(crate) fn hydrate_settings(&self) -> &Settings {
        &self.hydrate
    }
}

/// Says in the log that the programs of a tenant are not confined.
fn warn_of_unjailed(tenant: &str, host: &Host) {
    if host.layers().confinement() == Confinement::Unjailed {
        tracing::warn!(
            tenant,
            "the policy says `jail: {{process: unjailed}}`: programs run with all rights of this user, and what they start \
            may outlive their call"
        );
    }
}

/// The limits of the user of this machine.
fn local_definition() -> Definition {
    Definition {
        profile: Profile::Trusted,
        rate: super::Rate {
            per_second: 1_000.0,
            burst: 1_000,
        },
        concurrency: 16,
        ..Definition::new("local")
    }
}

/// What of `[govern]` holds for tenants: what names directories or the environment of the server is the server's own, and
/// of what saves an approval or reaches what is not public, what the tenant's table names too.
fn own_govern(config: &GovernConfig, definition: &Definition) -> GovernConfig {
    let covered = |servers: &[HostPattern], own: &[HostPattern]| {
        let own = own.iter();
        own.filter(|own| servers.iter().any(|server| server.covers(own)))
            .cloned()
            .collect()
    };
    let private = definition.allow_private.iter();
    GovernConfig {
        safe_hosts: covered(&config.safe_hosts, &definition.safe_hosts),
        plain_http_hosts: covered(&config.plain_http_hosts, &definition.plain_http_hosts),
        allow_private: private
            .filter(|own| config.allow_private.contains(own))
            .cloned()
            .collect(),
        // Here the Model Context Protocol comes over HTTP.
        jailed_clients: JailedClients {
            mcp: config.jailed_clients.http,
            ..config.jailed_clients
        },
        skill_roots: Vec::new(),
        fs_read: Vec::new(),
        fs_write: Vec::new(),
        env_secrets: Vec::new(),
        ..config.clone()
    }
}

/// What of `[hydrate]` holds for tenants: neither the notes of the server's user nor his model.
fn own_settings(settings: &Settings) -> Settings {
    Settings {
        memory: crate::hook::MemorySettings::Off,
        llm: None,
        ..settings.clone()
    }
}

enum Problem {
    Mount(String),
    Host(Box<HostError>),
}

impl Problem {
    fn of(self, name: &str) -> TenantError {
        let name = name.to_owned();
        match self {
            Self::Mount(reason) => TenantError::Mount { name, reason },
            Self::Host(source) => TenantError::Host { name, source },
        }
    }
}

/// What all hosts of a tenant have in common.
fn builder(
    definition: &Definition,
    config: &ServeConfig,
    reserved: &Reserved,
    engine: &Engine,
    home: &Path,
) -> Result<HostBuilder, Problem> {
    // Descriptions of tools are not kept: how fast an answer comes would tell a tenant what another one asked.
    let options = EngineOptions {
        cache: None,
        ..EngineOptions::default()
    };
    let mut builder = Host::builder()
        .engine(options)
        .shared_engine(engine.clone())
        .audit(AuditTarget::Required(home.join("state/audit.jsonl")))
        .home(home)
        .keep_hydrations(KEPT_BYTES)
        // Who approves for a tenant decides within the policies, not over the server's network.
        .bind_governed_requests();
    for own in reserved.homes.iter().chain(&reserved.files) {
        builder = builder.own_file(own);
    }
    if let Some(policy) = &config.policy {
        builder = builder.policy(policy);
    }
    if let Some(policy) = &definition.policy {
        builder = builder.tenant(policy);
    }
    if let Some(root) = &config.root {
        builder = builder.root(root);
    }
    if let Some(digest) = &config.keys_digest {
        builder = builder.keys_digest(digest.clone());
    }
    if let Ok(context) = definition.name.parse() {
        builder = builder.context(context);
    }
    Ok(match (definition.profile, &config.jail) {
        (Profile::Trusted, Some(jail)) => builder.jail(jail.clone()),
        (Profile::Trusted, None) => builder,
        (Profile::MultiTenant, _) => builder.without_processes(),
    })
}

/// With the tenant's directories. What it does not name is an empty one: never what lies where the server was started.
fn mounted(
    mut builder: HostBuilder,
    definition: &Definition,
    empty: &Path,
) -> Result<HostBuilder, String> {
    for mount in definition.cli_mounts()? {
        builder = builder.mount(mount);
    }
    builder = match &definition.os_root {
        Some(root) => builder.os_root(root),
        None => builder.mount(CliMount::granted(VirtualPath::os(), empty)),
    };
    if !definition.mounts.contains_key("/workspace") {
        builder = builder.mount(CliMount::granted(VirtualPath::workspace(), empty));
    }
    Ok(builder)
}

/// Where the state of a tenant lies.
fn home_of(definition: &Definition, config: &ServeConfig) -> PathBuf {
    let own = || config.home.join("tenants").join(&definition.name);
    definition.home.clone().unwrap_or_else(own)
}

/// What no tenant may mount, or reach by a mount.
#[derive(Debug)]
pub(crate) struct Reserved {
    /// Home folders of the server and of all tenants, that are there or will be.
    homes: Vec<PathBuf>,
    /// The tenants file, the configuration, the policies.
    files: Vec<PathBuf>,
}

impl Reserved {
    pub(crate) fn of(definitions: &[Definition], config: &ServeConfig) -> Self {
        let homes = definitions.iter().map(|one| home_of(one, config));
        let policies = definitions.iter().filter_map(|one| one.policy.as_ref());
        let files = std::iter::once(&config.table.tenants)
            .chain(&config.own_files)
            .chain(&config.policy)
            .chain(policies);
        Self {
            homes: std::iter::once(config.home.clone())
                .chain(homes)
                .map(|home| real(&home))
                .collect(),
            files: files.map(|file| real(file)).collect(),
        }
    }

    /// No directory of a tenant holds a home folder or lies in one, beside its own empty one, or holds what says who may
    /// do what: who mounts that reads tokens' digests, secrets and approvals.
    ///
    /// # Errors
    ///
    /// [`TenantError::Mount`]
    pub(crate) fn check(&self, definition: &Definition) -> Result<(), TenantError> {
        let directories = definition.os_root.iter().chain(definition.mounts.values());
        for directory in directories {
            let refused = |reason: String| Problem::Mount(reason).of(&definition.name);
            let shown = directory.display();
            let real = directory
                .canonicalize()
                .map_err(|error| refused(format!("{shown}: {error}")))?;
            let overlaps = |home: &PathBuf| home.starts_with(&real) || real.starts_with(home);
            if self.homes.iter().any(overlaps) {
                return Err(refused(format!(
                    "{shown} holds a home folder of hydrant, or lies in it"
                )));
            }
            if home::holds_home(&real) {
                return Err(refused(format!(
                    "{shown} is a home directory, or holds one"
                )));
            }
            if self.files.iter().any(|file| file.starts_with(&real)) {
                return Err(refused(format!(
                    "{shown} holds the tenants file, the configuration or a policy"
                )));
            }
        }
        Ok(())
    }
}

fn unusable(name: &str, path: &Path, reason: String) -> TenantError {
    TenantError::Home {
        name: name.to_owned(),
        path: path.display().to_string(),
        reason,
    }
}

/// Makes a folder for its owner alone, or checks that it is one.
fn private_folder(path: &Path) -> Result<(), String> {
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(path)
        .map_err(|error| error.to_string())?;
    let metadata = std::fs::symlink_metadata(path).map_err(|error| error.to_string())?;
    if !metadata.is_dir() {
        return Err("it is no folder".into());
    }
    if metadata.uid() != rustix::process::geteuid().as_raw() {
        return Err("it belongs to somebody else".into());
    }
    if metadata.mode() & 0o077 != 0 {
        return Err(format!(
            "its mode is {:04o}, so that others may look into it; it must be 0700",
            metadata.mode() & 0o7777
        ));
    }
    Ok(())
}
