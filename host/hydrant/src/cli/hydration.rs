//! The options that `hydrate`, `check`, `syscall` and others share: what lies behind os://, and how it is hydrated.

use std::ops::Deref;
use std::path::{Path, PathBuf};

use anyhow::anyhow;
use clap::{Args, value_parser};
use hydrant::govern::config::Config;
use hydrant::policy::{CliMount, MountTarget, PolicyError, VirtualPath};
use hydrant::serve::tenants::LocalUser;
use hydrant::{Host, HostBuilder, HydrateRequest, home};

use super::config::{self, AuditOptions, PolicyOptions};
use super::output::{fail, in_one_line};

/// What lies behind os://, under which policy it is read, and how.
#[derive(Args)]
pub(super) struct Source {
    /// Directory behind os:// [default: ./os]
    #[arg(long, value_name = "DIR")]
    root: Option<PathBuf>,

    /// Also mount TARGET, a directory or an https:// base ending in `/`, at the os:// path PREFIX
    ///
    /// PREFIX begins and ends with `/`. The longest prefix wins. May be given more than once, as in
    /// `--mount /lib/=https://docs.example.org/os/ --mount /lib/ours/=../ours`. Without the last `/`, it is a mount of the
    /// policy, as in `--mount /workspace=../project`.
    #[arg(long = "mount", value_name = "PREFIX=TARGET")]
    mounts: Vec<String>,

    #[command(flatten)]
    policy: PolicyOptions,

    #[command(flatten)]
    audit: AuditOptions,

    /// Start no process, whatever the policy says: tools answer ERROR: EXECUTION_SKIPPED
    #[arg(long)]
    no_exec: bool,

    /// Read name and description also in front matter that is no YAML
    #[arg(long)]
    lenient: bool,

    /// Development: allow http:// URLs of this machine
    #[arg(long)]
    allow_http_loopback: bool,
}

#[derive(Args)]
pub(super) struct Hydration {
    #[command(flatten)]
    source: Source,

    /// Levels of dependencies to hydrate, 1 to 16
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = value_parser!(u8).range(1..=16))]
    depth: u8,

    /// Add the SHA-256 digest of each resource
    #[arg(long)]
    checksums: bool,
}

impl Deref for Hydration {
    type Target = Source;

    fn deref(&self) -> &Source {
        &self.source
    }
}

impl Source {
    /// The host of one call under these options.
    pub(super) fn host(&self) -> anyhow::Result<Host> {
        self.warn_of_empty_root()?;
        Ok(self.builder(config::host())?.build()?)
    }

    /// Home folder and configuration of governed execution; none where there is no home.
    pub(super) fn governed(&self) -> anyhow::Result<Option<(PathBuf, Config)>> {
        let config = self.policy.govern()?;
        Ok(home::folder().map(|home| (home, config)))
    }

    /// The user of this machine, whose calls are answered by `host`, completed with these options.
    pub(super) fn local_user(
        &self,
        host: HostBuilder,
        workspace: Option<PathBuf>,
    ) -> anyhow::Result<LocalUser> {
        let home = home::folder().ok_or_else(|| {
            anyhow!("there is no home folder for approvals and receipts; set HYDRANT_HOME")
        })?;
        let mut host = self.builder(host)?.home(&home);
        if self.no_exec {
            host = host.without_processes();
        }
        let (hydrate, problems) = self.policy.hydrate()?;
        for problem in problems {
            fail(&in_one_line(&anyhow!(problem.message)));
        }
        Ok(LocalUser {
            host,
            planner: self.builder(Host::builder())?,
            workspace,
            home,
            govern: self.policy.govern()?,
            hydrate,
        })
    }

    /// Says so where the default policy shows nothing at `os://`.
    pub(super) fn warn_of_empty_root(&self) -> anyhow::Result<()> {
        if self.policy.policy_file()?.is_none()
            && self.root.is_none()
            && self.mounts.is_empty()
            && !Path::new("os").is_dir()
        {
            fail("there is no ./os here, so os:// is empty; --root DIR names another directory");
        }
        Ok(())
    }

    /// The same of `builder`, to be completed.
    pub(super) fn builder(&self, mut builder: HostBuilder) -> anyhow::Result<HostBuilder> {
        let policy = self.policy.policy_file()?;
        if let Some(root) = &self.root {
            builder = builder.os_root(root);
        }
        for mount in self.mounts()? {
            builder = builder.mount(mount);
        }
        if let Some(policy) = policy {
            builder = builder.policy(policy);
        }
        self.audit.apply(&self.policy, builder)
    }

    /// Whether a policy was named, and not the default one is used, or that of the configuration.
    #[cfg(target_os = "linux")]
    pub(super) fn names_policy(&self) -> bool {
        self.policy.is_named()
    }

    /// The first option that is the operator's alone.
    pub(super) fn given(&self) -> Option<&'static str> {
        let flags = [
            (self.root.is_some(), "--root"),
            (!self.mounts.is_empty(), "--mount"),
            (self.no_exec, "--no-exec"),
            (self.allow_http_loopback, "--allow-http-loopback"),
        ];
        let given = flags
            .iter()
            .find(|(given, _)| *given)
            .map(|(_, name)| *name);
        given.or(self.policy.given()).or(self.audit.given())
    }

    fn mounts(&self) -> Result<Vec<CliMount>, PolicyError> {
        let mount = |flag: &String| CliMount::parse(flag, self.allow_http_loopback);
        self.mounts.iter().map(mount).collect()
    }

    /// The directory that `--mount` puts at `/workspace`.
    pub(super) fn mounted_workspace(&self) -> anyhow::Result<Option<PathBuf>> {
        let mounts = self.mounts()?.into_iter();
        let mut directories = mounts.filter(|mount| mount.at == VirtualPath::workspace());
        Ok(directories.find_map(|mount| match mount.target {
            MountTarget::Directory(directory) => Some(directory),
            MountTarget::Https(_) | MountTarget::Nothing => None,
        }))
    }

    /// Puts `directory` behind os:// where nothing else says what is there; whether it did.
    pub(super) fn default_root(&mut self, directory: &Path) -> anyhow::Result<bool> {
        let is_open = self.root.is_none() && self.policy.policy_file()?.is_none();
        if is_open {
            self.root = Some(directory.to_owned());
        }
        Ok(is_open)
    }

    /// A request of one level with these options.
    pub(super) fn request(&self, uri: String) -> HydrateRequest {
        HydrateRequest {
            lenient: self.lenient,
            allow_http_loopback: self.allow_http_loopback,
            no_exec: self.no_exec,
            ..HydrateRequest::new(uri)
        }
    }
}

impl Hydration {
    /// The first option that every request of a stream would get; behind a jail's socket that is the operator's to say.
    pub(super) fn changes_requests(&self) -> Option<&'static str> {
        let flags = [
            (self.depth != 1, "--depth"),
            (self.checksums, "--checksums"),
            (self.lenient, "--lenient"),
        ];
        flags
            .iter()
            .find(|(given, _)| *given)
            .map(|(_, name)| *name)
    }

    /// A request with these options.
    pub(super) fn request(&self, uri: String) -> HydrateRequest {
        HydrateRequest {
            depth: self.depth,
            checksums: self.checksums,
            ..self.source.request(uri)
        }
    }
}
