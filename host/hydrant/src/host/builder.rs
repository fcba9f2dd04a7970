//! Makes a [`Host`].

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::kept::Kept;
use super::pinned::PinnedSkills;
use super::{Host, HostError};
use crate::audit::{AuditTarget, ContextId};
use crate::capability::fetch::Fetcher;
use crate::capability::{KeepDescriptions, OwnFiles};
use crate::embedded::{carried_components, embedded_pins};
use crate::engine::{
    ComponentDescriber, DescriptionCache, Engine, EngineOptions, default_cache_folders,
};
use crate::home;
use crate::jail::Launcher;
use crate::pins::Root;
use crate::policy::{CliMount, LayerFiles, Layers};
use hydrant_base::Digest;

/// Makes a [`Host`]. Whatever is not said is the narrowest that works.
#[derive(Clone, Default)]
pub struct HostBuilder {
    policy: Option<PathBuf>,
    tenant: Option<PathBuf>,
    grant: Option<PathBuf>,
    mounts: Vec<CliMount>,
    unmounted: bool,
    root: Option<PathBuf>,
    keys_digest: Option<Digest>,
    audit: Option<AuditTarget>,
    context: Option<ContextId>,
    home: Option<PathBuf>,
    own: Vec<PathBuf>,
    jail: Option<Launcher>,
    engine: EngineOptions,
    shared: Option<Engine>,
    no_processes: bool,
    binds_governed: bool,
    kept_bytes: usize,
}

impl HostBuilder {
    /// The policy file. Default: reading `/workspace` (the working directory) and `/os` (`./os`), nothing else.
    #[must_use]
    pub fn policy(mut self, file: impl Into<PathBuf>) -> Self {
        self.policy = Some(file.into());
        self
    }

    /// The tenant's layer, which can only narrow the policy. Default: none.
    #[must_use]
    pub fn tenant(mut self, file: impl Into<PathBuf>) -> Self {
        self.tenant = Some(file.into());
        self
    }

    /// The layer of this host's runs, which can only narrow policy and tenant. Default: none.
    #[must_use]
    pub fn grant(mut self, file: impl Into<PathBuf>) -> Self {
        self.grant = Some(file.into());
        self
    }

    /// Requests of governed execution must be allowed by the rules for the network of policy, tenant and run, besides being
    /// approved: for a host whose approvals are not its operator's. Default: the approval is what allows them.
    #[must_use]
    pub fn bind_governed_requests(mut self) -> Self {
        self.binds_governed = true;
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

    /// Opens no mount of any layer, so that a policy whose directories are elsewhere can be used: for a host that only
    /// lists and describes skills. What it runs reads no file and starts nothing.
    #[must_use]
    pub fn without_mounts(mut self) -> Self {
        self.unmounted = true;
        self
    }

    /// The directory with `pins/` and `skills/`. Default: the skills compiled into this program.
    #[must_use]
    pub fn root(mut self, directory: impl Into<PathBuf>) -> Self {
        self.root = Some(directory.into());
        self
    }

    /// The digest of the key ring that signs the pins. Default: that of the ring compiled into this program.
    #[must_use]
    pub fn keys_digest(mut self, digest: Digest) -> Self {
        self.keys_digest = Some(digest);
        self
    }

    /// Where calls are recorded. Default: nowhere; the program records to `state/audit.jsonl` of the home folder.
    #[must_use]
    pub fn audit(mut self, target: AuditTarget) -> Self {
        self.audit = Some(target);
        self
    }

    /// The tenant's name, for the audit log. Default: none.
    #[must_use]
    pub fn context(mut self, context: ContextId) -> Self {
        self.context = Some(context);
        self
    }

    /// The folder whose `state` holds the journals of changes of files, and under which core modules keep keys and
    /// queues. Default: none: a call changes one file at a time, and core modules keep nothing.
    #[must_use]
    pub fn home(mut self, folder: impl Into<PathBuf>) -> Self {
        self.home = Some(folder.into());
        self
    }

    /// A further file or directory that no call may read or write, such as the configuration of the program that builds
    /// this host. The policies, the home folder, the audit log and compiled code are so anyway.
    #[must_use]
    pub fn own_file(mut self, file: impl Into<PathBuf>) -> Self {
        self.own.push(file.into());
        self
    }

    /// What starts processes in the jail. A program that calls [`jail::enter_if_asked`](crate::jail::enter_if_asked) as
    /// the first thing of its `main` gives [`Launcher::this_binary`]; others name a `hydrant` program. Default: none, so
    /// that no process starts that the policy wants confined.
    #[must_use]
    pub fn jail(mut self, launcher: Launcher) -> Self {
        self.jail = Some(launcher);
        self
    }

    /// How the engine is set up. Default: 64 slots, compiled code and descriptions of tools kept in the user's cache
    /// folder.
    #[must_use]
    pub fn engine(mut self, options: EngineOptions) -> Self {
        self.engine = options;
        self
    }

    /// Uses an engine that other hosts use too, in place of one of its own: instances come from one pool, compiled code
    /// from one cache. What a call may do is no matter of the engine.
    #[must_use]
    pub fn shared_engine(mut self, engine: Engine) -> Self {
        self.shared = Some(engine);
        self
    }

    /// No call starts a process, whatever the policies say: tools answer `ERROR: EXECUTION_SKIPPED`.
    #[must_use]
    pub fn without_processes(mut self) -> Self {
        self.no_processes = true;
        self
    }

    /// Keeps hydrations of local files in memory, at most so many bytes, for as long as those files do not change. Default:
    /// 0, each is done anew.
    #[must_use]
    pub fn keep_hydrations(mut self, bytes: usize) -> Self {
        self.kept_bytes = bytes;
        self
    }

    /// Reads the policy and its layers, opens the mounts and the root, and sets the engine up.
    ///
    /// # Errors
    ///
    /// [`HostError`]: a policy, a mount or the root is refused, or WebAssembly cannot run here.
    pub fn build(self) -> Result<Host, HostError> {
        let own = OwnFiles::new(self.own_files().iter().map(PathBuf::as_path));
        let files = LayerFiles {
            policy: self.policy.as_deref(),
            tenant: self.tenant.as_deref(),
            run: self.grant.as_deref(),
        };
        let layers = if self.unmounted {
            Layers::load_unmounted(files)?
        } else {
            Layers::load(files, &self.mounts)?
        };
        let (mut root, mut anchor) = embedded_pins();
        if let Some(directory) = &self.root {
            root = Root::open(directory)?.carrying(carried_components());
        }
        if let Some(digest) = self.keys_digest {
            anchor.keys_digest = digest;
        }
        let fetcher = Arc::new(Fetcher::new(layers.tls_roots())?);
        let descriptions = self.engine.cache.as_ref().map(DescriptionCache::new);
        let kept = descriptions.clone();
        Ok(Host {
            engine: match self.shared {
                Some(engine) => engine,
                None => Engine::new(&self.engine)?,
            },
            no_processes: self.no_processes,
            binds_governed: self.binds_governed,
            kept: (self.kept_bytes > 0).then(|| Kept::new(self.kept_bytes)),
            layers: Arc::new(layers),
            components: Arc::new(ComponentDescriber::keeping(
                Arc::clone(&fetcher),
                descriptions,
            )),
            descriptions: kept.map(|cache| -> Arc<dyn KeepDescriptions> { Arc::new(cache) }),
            fetcher,
            pins: PinnedSkills::new(root, anchor),
            audit: self.audit.unwrap_or(AuditTarget::Off),
            context: self.context,
            own: Arc::new(own),
            jail: self.jail,
            home: self.home,
        })
    }

    /// What no call reads or writes, whatever is mounted.
    fn own_files(&self) -> Vec<PathBuf> {
        let audit = self.audit.clone().and_then(AuditTarget::into_path);
        let caches = self.engine.cache.clone().into_iter();
        let named = [&self.home, &self.policy, &self.tenant, &self.grant];
        let named = named.into_iter().flatten().chain(&self.own).cloned();
        named
            .chain(audit)
            .chain(
                caches
                    .chain(default_cache_folders())
                    .map(|cache| cache.code),
            )
            .chain(home::own_folders())
            .collect()
    }
}
