//! What several commands share: where the pins are, under which policy a call runs, where it is recorded; and the
//! configuration file, `hydrant.toml` in the home folder, or `--config FILE`. Never a file that merely lies in the
//! working tree.
//!
//! Flags go before `HYDRANT_*` variables, these before the file. Two keys are read so far: `policy` and `audit`.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use clap::Args;
use hydrant::audit::{AuditTarget, ContextId, TargetSources};
use hydrant::trust::Digest;
use hydrant::{HostBuilder, home};
use serde::Deserialize;

/// Bytes of a configuration file.
const MAX_BYTES: u64 = 1024 * 1024;

/// The options that say under which policy a command works.
#[derive(Args)]
pub(super) struct PolicyOptions {
    /// Policy file [default: `policy` of the configuration, else reading /os and /workspace, nothing else]
    #[arg(long, value_name = "FILE", env = "HYDRANT_POLICY")]
    policy: Option<PathBuf>,

    /// Configuration file [default: hydrant.toml in $HYDRANT_HOME, else in $HOME/.hydrant]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
}

/// The layers that can only narrow the policy (TP-40).
#[derive(Args)]
pub(super) struct LayerOptions {
    /// Policy of the tenant, which can only narrow --policy
    #[arg(long, value_name = "FILE")]
    tenant: Option<PathBuf>,

    /// Policy of this run, which can only narrow --policy and --tenant
    #[arg(long, value_name = "FILE")]
    grant: Option<PathBuf>,
}

/// The options that say whose pins are believed.
#[derive(Args)]
pub(super) struct PinOptions {
    /// Directory with pins/ and skills/ [default: the skills compiled into this program]
    #[arg(long, value_name = "DIR")]
    root: Option<PathBuf>,

    /// Digest of the key ring of the pins [default: of the ring compiled into this program]
    #[arg(long, value_name = "DIGEST", env = "HYDRANT_KEYS_DIGEST")]
    keys_digest: Option<Digest>,
}

/// The options that say where calls are recorded.
#[derive(Args)]
pub(super) struct AuditOptions {
    /// Append the audit record to FILE, or `off` [default: `audit` of the configuration, else state/audit.jsonl in
    /// the home folder]
    #[arg(long, value_name = "FILE", env = "HYDRANT_AUDIT")]
    audit: Option<OsString>,

    /// Name of the tenant, for the audit record
    #[arg(long, value_name = "ID")]
    context: Option<ContextId>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Config {
    policy: Option<PathBuf>,
    audit: Option<PathBuf>,
    /// Where the file lies: relative paths in it mean files beside it.
    #[serde(skip)]
    folder: PathBuf,
}

impl PolicyOptions {
    /// The policy file to use, or none for the default policy.
    pub(super) fn policy_file(&self) -> anyhow::Result<Option<PathBuf>> {
        if self.policy.is_some() {
            return Ok(self.policy.clone());
        }
        let config = self.config()?;
        Ok(config.policy.map(|policy| config.folder.join(policy)))
    }

    /// The same, for a host.
    pub(super) fn apply(&self, builder: HostBuilder) -> anyhow::Result<HostBuilder> {
        Ok(match self.policy_file()? {
            Some(policy) => builder.policy(policy),
            None => builder,
        })
    }

    fn config(&self) -> anyhow::Result<Config> {
        let file = match &self.config {
            Some(file) => file.clone(),
            None => match home::folder().map(|home| home.join("hydrant.toml")) {
                Some(file) if file.exists() => file,
                _ => return Ok(Config::default()),
            },
        };
        let config = read(&file).with_context(|| format!("configuration {}", file.display()))?;
        Ok(Config {
            folder: file.parent().unwrap_or(Path::new("")).to_owned(),
            ..config
        })
    }
}

impl LayerOptions {
    pub(super) fn apply(&self, mut builder: HostBuilder) -> HostBuilder {
        if let Some(tenant) = &self.tenant {
            builder = builder.tenant(tenant);
        }
        if let Some(grant) = &self.grant {
            builder = builder.grant(grant);
        }
        builder
    }
}

impl PinOptions {
    pub(super) fn apply(&self, mut builder: HostBuilder) -> HostBuilder {
        if let Some(root) = &self.root {
            builder = builder.root(root);
        }
        if let Some(digest) = &self.keys_digest {
            builder = builder.keys_digest(digest.clone());
        }
        builder
    }
}

impl AuditOptions {
    /// TU-01: the flag, the variable, the configuration, the home folder.
    pub(super) fn apply(
        &self,
        policy: &PolicyOptions,
        mut builder: HostBuilder,
    ) -> anyhow::Result<HostBuilder> {
        let configured = match &self.audit {
            Some(_) => None,
            None => {
                let config = policy.config()?;
                config.audit.map(|audit| match audit.to_str() {
                    Some("off") => audit,
                    _ => config.folder.join(audit),
                })
            }
        };
        let home = home::folder();
        let target = AuditTarget::of(TargetSources {
            flag: self.audit.as_deref(),
            variable: None, // The flag's own default.
            configuration: configured.as_deref().map(Path::as_os_str),
            home: home.as_deref(),
        });
        if let Some(context) = &self.context {
            builder = builder.context(context.clone());
        }
        Ok(builder.audit(target))
    }
}

fn read(file: &Path) -> anyhow::Result<Config> {
    if fs::metadata(file)?.len() > MAX_BYTES {
        bail!("over {MAX_BYTES} bytes");
    }
    Ok(toml::from_str(&fs::read_to_string(file)?)?)
}
