//! What several commands share: where the pins are, under which policy a call runs, where it is recorded; and the
//! configuration file, `hydrant.toml` in the home folder, or `--config FILE`. Never a file that merely lies in the
//! working tree.
//!
//! Flags go before `HYDRANT_*` variables, these before the file. Read so far: `policy`, `audit` and the tables `[govern]`,
//! `[hydrate]` and `[serve]`.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::{Args, Subcommand};
use hydrant::audit::{AuditTarget, ContextId, TargetSources};
use hydrant::base::{Digest, read_bounded};
use hydrant::jail::Launcher;
use hydrant::pins::Anchor;
use hydrant::serve::document;
use hydrant::trust::limits;
use hydrant::{Host, HostBuilder, govern, home, hook, keys_digest, schema};
use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::output::{Exit, print};
use super::pins::variable;

/// The options that say under which policy a command works.
#[derive(Args)]
pub(super) struct PolicyOptions {
    /// Policy file [default: `policy` of the configuration, else reading /os and /workspace, nothing else]
    #[arg(long, value_name = "FILE", env = "HYDRANT_POLICY")]
    policy: Option<PathBuf>,

    /// Configuration file [default: hydrant.toml in $HYDRANT_HOME, else in $HOME/.hydrant]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,

    /// What the file says; it is read once, so that nothing decides by another version of it.
    #[arg(skip)]
    read: OnceCell<Box<Config>>,
}

/// The layers that can only narrow the policy.
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

    /// Digest of the key ring of the pins [default: with --root $HYDRANT_KEYS_DIGEST, else of the ring compiled into
    /// this program]
    #[arg(long, value_name = "DIGEST")]
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

/// Ask about the configuration file, hydrant.toml
#[derive(Args)]
pub(super) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Print the JSON Schema of hydrant.toml, for editors
    #[command(after_long_help = "\
Example:
  hydrant config schema > hydrant.schema.json

An editor with the TOML language server taplo reads it where the file begins with `#:schema ./hydrant.schema.json`.")]
    Schema,
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<Exit> {
    match arguments.command {
        Command::Schema => {
            let schema = schema::for_toml::<Config>("Configuration of hydrant");
            print(schema::text(&schema).as_bytes())?;
            Ok(Exit::Done)
        }
    }
}

/// The file `hydrant.toml` in the home folder of hydrant, or the one that `--config` names.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Config {
    /// The policy file, where no `--policy` is given; relative to this file. Default: reading /os and /workspace, nothing
    /// else.
    policy: Option<PathBuf>,
    /// The file of the audit record, where no `--audit` is given, or `off`; relative to this file. Default:
    /// state/audit.jsonl in the home folder.
    audit: Option<PathBuf>,
    /// What the operator decided about foreign skills.
    #[serde(default)]
    govern: govern::config::Config,
    // Read by its own rules: what is wrong in it is no reason to refuse the rest.
    /// How prompts are hydrated.
    #[schemars(with = "Option<hook::Settings>")]
    hydrate: Option<toml::Value>,
    /// The service of `hydrant serve`.
    #[serde(default)]
    serve: hydrant::serve::config::Table,
    /// Where the file lies: relative paths in it mean files beside it.
    #[serde(skip)]
    folder: PathBuf,
    /// The file itself.
    #[serde(skip)]
    text: Vec<u8>,
}

impl PolicyOptions {
    /// The first option that was given, by flag or by variable.
    pub(super) fn given(&self) -> Option<&'static str> {
        let policy = self.policy.is_some().then_some("--policy");
        policy.or(self.config.is_some().then_some("--config"))
    }

    /// Whether a policy was named on the command line, or by the variable that stands for it.
    #[cfg(target_os = "linux")]
    pub(super) fn is_named(&self) -> bool {
        self.policy.is_some()
    }

    /// The policy file to use, or none for the default policy.
    pub(super) fn policy_file(&self) -> anyhow::Result<Option<PathBuf>> {
        if self.policy.is_some() {
            return Ok(self.policy.clone());
        }
        let config = self.config()?;
        let policy = config.policy.as_ref();
        Ok(policy.map(|policy| config.folder.join(policy)))
    }

    /// The same, for a host.
    pub(super) fn apply(&self, builder: HostBuilder) -> anyhow::Result<HostBuilder> {
        let builder = match &self.config {
            Some(config) => builder.own_file(config),
            None => builder,
        };
        Ok(match self.policy_file()? {
            Some(policy) => builder.policy(policy),
            None => builder,
        })
    }

    /// What `[govern]` of the configuration says. Relative paths in it mean directories beside the file;
    /// `.` alone is the working directory, as it is where nothing is said.
    pub(super) fn govern(&self) -> anyhow::Result<govern::config::Config> {
        let config = self.config()?;
        let mut govern = config.govern.clone();
        let named = [
            &mut govern.skill_roots,
            &mut govern.fs_read,
            &mut govern.fs_write,
        ];
        for path in named.into_iter().flatten() {
            if path.as_path() != Path::new(".") {
                *path = config.folder.join(&path);
            }
        }
        Ok(govern)
    }

    /// What `[hydrate]` of the configuration says, and what in it does not count.
    pub(super) fn hydrate(&self) -> anyhow::Result<(hook::Settings, Vec<hook::Problem>)> {
        let config = self.config()?;
        let file = self.config_file().unwrap_or_default();
        Ok(hook::Settings::read(config.hydrate.as_ref(), &file))
    }

    /// What `[serve]` of the configuration says. Relative paths in it mean files beside the configuration.
    pub(super) fn serve(&self) -> anyhow::Result<hydrant::serve::config::Table> {
        let config = self.config()?;
        let mut table = config.serve.clone();
        let file = self.config_file().unwrap_or_default();
        let folder = file.parent().unwrap_or(Path::new(""));
        table.tenants = folder.join(&table.tenants);
        Ok(table)
    }

    /// The configuration file, which need not be there.
    fn config_file(&self) -> Option<PathBuf> {
        let file = || home::folder().map(|home| home.join("hydrant.toml"));
        self.config.clone().or_else(file)
    }

    /// The files that are read for the policy.
    pub(super) fn files_read(&self) -> anyhow::Result<Vec<PathBuf>> {
        Ok(self
            .policy_file()?
            .into_iter()
            .chain(self.config_file())
            .collect())
    }

    fn config(&self) -> anyhow::Result<&Config> {
        if let Some(read) = self.read.get() {
            return Ok(read);
        }
        let config = self.read_config()?;
        Ok(self.read.get_or_init(|| Box::new(config)))
    }

    fn read_config(&self) -> anyhow::Result<Config> {
        let file = self.config_file().unwrap_or_default();
        let text = self.text_now()?;
        let config: Config = self.parse(&text)?;
        Ok(Config {
            folder: file.parent().unwrap_or(Path::new("")).to_owned(),
            text,
            ..config
        })
    }

    /// The configuration file as it is now; one that is not there, and that nobody named, is empty.
    fn text_now(&self) -> anyhow::Result<Vec<u8>> {
        let Some(file) = self.config_file() else {
            return Ok(Vec::new());
        };
        match read_bounded(&file, limits::MAX_JSON_BYTES) {
            Err(error) if error.is_missing() && self.config.is_none() => Ok(Vec::new()),
            read => read.with_context(|| format!("configuration {}", file.display())),
        }
    }

    fn parse<T: DeserializeOwned>(&self, text: &[u8]) -> anyhow::Result<T> {
        let file = self.config_file().unwrap_or_default();
        document::parse(text)
            .map_err(anyhow::Error::msg)
            .with_context(|| format!("configuration {}", file.display()))
    }

    /// Returns every key of the configuration that the command goes by, with its value; keys of tables begin with
    /// `[table]`.
    pub(super) fn keys(&self) -> anyhow::Result<BTreeMap<String, toml::Value>> {
        self.keys_of(&self.config()?.text)
    }

    /// Returns the same of the configuration file as it is now.
    pub(super) fn keys_now(&self) -> anyhow::Result<BTreeMap<String, toml::Value>> {
        self.keys_of(&self.text_now()?)
    }

    fn keys_of(&self, text: &[u8]) -> anyhow::Result<BTreeMap<String, toml::Value>> {
        let mut keys = BTreeMap::new();
        for (name, value) in self.parse::<toml::Table>(text)? {
            match value {
                toml::Value::Table(table) => {
                    keys.extend(
                        table
                            .into_iter()
                            .map(|(key, value)| (format!("[{name}] {key}"), value)),
                    );
                }
                value => drop(keys.insert(name, value)),
            }
        }
        Ok(keys)
    }
}

/// A host that may start processes, in the jail: `main` has seen to it that this program can make one.
pub(super) fn host() -> HostBuilder {
    Host::builder().jail(Launcher::this_binary())
}

/// The same for a program that runs long: its first process is preceded by a test of the jail. One that makes a
/// single call would pay for the test each time; the jail is checked at every start anyway.
pub(super) fn lasting_host() -> HostBuilder {
    Host::builder().jail(Launcher::this_binary().checked().ready())
}

impl LayerOptions {
    /// As [`PolicyOptions::given`].
    pub(super) fn given(&self) -> Option<&'static str> {
        let tenant = self.tenant.is_some().then_some("--tenant");
        tenant.or(self.grant.is_some().then_some("--grant"))
    }

    /// The files of the layers.
    pub(super) fn files_read(&self) -> impl Iterator<Item = PathBuf> {
        self.tenant.iter().chain(&self.grant).cloned()
    }

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
    /// As [`PolicyOptions::given`].
    pub(super) fn given(&self) -> Option<&'static str> {
        let root = self.root.is_some().then_some("--root");
        root.or(self.keys_digest.is_some().then_some("--keys-digest"))
    }

    pub(super) fn apply(&self, mut builder: HostBuilder) -> anyhow::Result<HostBuilder> {
        let (root, digest) = self.named()?;
        if let Some(root) = root {
            builder = builder.root(root);
        }
        Ok(match digest {
            Some(digest) => builder.keys_digest(digest),
            None => builder,
        })
    }

    /// The root and the digest of its ring, where somebody names them.
    pub(super) fn named(&self) -> anyhow::Result<(Option<PathBuf>, Option<Digest>)> {
        let mut digest = self.keys_digest.clone();
        if self.root.is_some() {
            // The variable is asked for a named root only: the ring of the skills in this program is the one in this program,
            // whatever a team's is.
            if digest.is_none() {
                let named = variable("HYDRANT_KEYS_DIGEST")?;
                let named = named.as_deref();
                digest = named
                    .map(|text| Anchor::keys_digest(None, Some(text), keys_digest()))
                    .transpose()?;
            }
        }
        Ok((self.root.clone(), digest))
    }

    /// The directory with pins/ and skills/, if one was named.
    pub(super) fn root(&self) -> Option<&Path> {
        self.root.as_deref()
    }
}

impl AuditOptions {
    /// As [`PolicyOptions::given`].
    pub(super) fn given(&self) -> Option<&'static str> {
        let audit = self.audit.is_some().then_some("--audit");
        audit.or(self.context.is_some().then_some("--context"))
    }

    /// The flag, the variable, the configuration, the home folder. An empty one counts as absent.
    pub(super) fn target(&self, policy: &PolicyOptions) -> anyhow::Result<AuditTarget> {
        let named = self.audit.as_deref().filter(|named| !named.is_empty());
        let configured = match named {
            Some(_) => None,
            None => {
                let config = policy.config()?;
                let audit = config.audit.as_ref();
                audit.map(|audit| match audit.to_str() {
                    Some("off" | "") => audit.clone(),
                    _ => config.folder.join(audit),
                })
            }
        };
        let home = home::folder();
        Ok(AuditTarget::of(TargetSources {
            // The command line fills the flag from the variable.
            flag: named,
            variable: None,
            configuration: configured.as_deref().map(Path::as_os_str),
            home: home.as_deref(),
        }))
    }

    /// The tenant's name.
    pub(super) fn context(&self) -> Option<ContextId> {
        self.context.clone()
    }

    pub(super) fn apply(
        &self,
        policy: &PolicyOptions,
        mut builder: HostBuilder,
    ) -> anyhow::Result<HostBuilder> {
        let target = self.target(policy)?;
        if let Some(context) = &self.context {
            builder = builder.context(context.clone());
        }
        Ok(builder.audit(target))
    }
}
