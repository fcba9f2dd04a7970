//! The tenants file.
//!
//! TOML, one table `[[tenant]]` for each tenant. It says who may call, so a file that others than its owner may read or
//! change is refused, like one that names a tenant or a token twice, or has a key that nobody knows. Errors name the file,
//! the table and the key, and never a token.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::Read as _;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::Deserialize;

use super::Role;
use crate::audit::ContextId;
use crate::govern::config::{HostPattern, HostPort};
use crate::policy::CliMount;
use crate::serve::document::parse;
use crate::trust::limits;
use hydrant_base::Digest;

/// Tenants of one service.
const MAX_TENANTS: usize = 1_000;
/// Tokens of one tenant.
const MAX_TOKENS: usize = 64;
/// The characters of a tenant's name, which is the name of its folder.
const MAX_NAME: usize = 64;
/// Calls of one tenant that run at a time.
const CONCURRENCY: (usize, usize) = (1, 1_000);
/// Calls of one tenant that wait.
const QUEUE: (usize, usize) = (0, 10_000);
/// Connections and event streams of one tenant at a time.
const CONNECTIONS: (usize, usize) = (1, 10_000);
/// Receipts of one tenant that are kept.
const RECEIPTS: (usize, usize) = (1, 1_000_000);

/// Why the tenants file is refused.
#[derive(Debug, thiserror::Error)]
pub enum TenantsError {
    /// It cannot be read.
    #[error("tenants file {file}: {reason}")]
    File {
        /// The file.
        file: String,
        /// In words.
        reason: String,
    },
    /// One table of it is wrong.
    #[error("tenants file {file}: tenant {table}: {key}: {reason}")]
    Tenant {
        /// The file.
        file: String,
        /// The name, or the number from 1 on.
        table: String,
        /// The key.
        key: &'static str,
        /// In words.
        reason: String,
    },
}

/// What starts processes for a tenant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Profile {
    /// Nothing: tools answer `ERROR: EXECUTION_SKIPPED`, sandbox stages `jail-unavailable`.
    #[default]
    MultiTenant,
    /// What the policies allow, in the jail.
    Trusted,
}

/// Calls a second, and how many may come at once.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Rate {
    /// Calls a second on average, more than 0.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub per_second: f64,
    /// Calls at once after a pause, 1 or more.
    #[schemars(range(min = 1))]
    pub burst: u32,
}

impl Rate {
    /// So many times as often.
    #[must_use]
    pub fn times(self, factor: u32) -> Self {
        Self {
            per_second: self.per_second * f64::from(factor),
            burst: self.burst.saturating_mul(factor),
        }
    }
}

impl Default for Rate {
    fn default() -> Self {
        Self {
            per_second: 50.0,
            burst: 100,
        }
    }
}

/// A token and what its holder may do.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TokenEntry {
    /// `sha256:…` of the token.
    pub digest: Digest,
    /// `caller`, `approver` or `operator`.
    pub role: Role,
}

/// One table `[[tenant]]`.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Definition {
    /// 1 to 64 characters of `a-z 0-9 . _ -`, beginning with a letter or digit.
    #[schemars(length(min = 1, max = MAX_NAME), pattern(r"^[a-z0-9][a-z0-9._-]*$"))]
    pub name: String,
    /// Digests of tokens with the role `caller`.
    #[serde(default)]
    pub token_digests: Vec<Digest>,
    /// Digests of tokens with a role.
    #[serde(default, rename = "token")]
    pub tokens: Vec<TokenEntry>,
    /// A policy that narrows the server's; relative to the tenants file.
    #[serde(default)]
    pub policy: Option<PathBuf>,
    /// The directory behind `os://`. Default: an empty one.
    #[serde(default)]
    pub os_root: Option<PathBuf>,
    /// Directories, by where they appear: `/workspace`, `/os/lib`, a mount of the policy.
    #[serde(default)]
    pub mounts: BTreeMap<String, PathBuf>,
    /// Calls that run at a time, 1 to 1,000. Default: 4.
    #[serde(default = "concurrency")]
    #[schemars(range(min = CONCURRENCY.0, max = CONCURRENCY.1))]
    pub concurrency: usize,
    /// Calls that wait, 0 to 10,000. Default: 64.
    #[serde(default = "queue")]
    #[schemars(range(min = QUEUE.0, max = QUEUE.1))]
    pub queue: usize,
    /// Connections and event streams at a time, 1 to 10,000. Default: 128.
    #[serde(default = "connections")]
    #[schemars(range(min = CONNECTIONS.0, max = CONNECTIONS.1))]
    pub connections: usize,
    /// How often it may call. Default: 50 a second, 100 at once.
    #[serde(default)]
    pub rate: Rate,
    /// What starts processes for it. Default: `multi-tenant`.
    #[serde(default)]
    pub profile: Profile,
    /// Pinned skills that it sees and runs. Default: all.
    #[serde(default)]
    pub skills: Option<BTreeSet<String>>,
    /// Where its state lies; relative to the tenants file. Default: `tenants/<name>` in the home folder.
    #[serde(default)]
    pub home: Option<PathBuf>,
    /// Receipts that are kept, 1 to 1,000,000, the newest. Default: 10,000.
    #[serde(default = "receipts")]
    #[schemars(range(min = RECEIPTS.0, max = RECEIPTS.1))]
    pub receipts: usize,
    /// Of `safe_hosts` of `[govern]`, those that hold for it. Default: none.
    #[serde(default)]
    pub safe_hosts: Vec<HostPattern>,
    /// Of `allow_private` of `[govern]`, those that hold for it. Default: none.
    #[serde(default)]
    pub allow_private: Vec<HostPort>,
    /// Of `plain_http_hosts` of `[govern]`, those that hold for it. Default: none.
    #[serde(default)]
    pub plain_http_hosts: Vec<HostPattern>,
}

fn concurrency() -> usize {
    4
}

fn queue() -> usize {
    64
}

fn connections() -> usize {
    128
}

fn receipts() -> usize {
    10_000
}

/// Who may call the service, and how much. At least one `[[tenant]]`.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TenantsFile {
    /// The tenants, in the order of the file.
    #[serde(default, rename = "tenant")]
    #[schemars(length(min = 1, max = MAX_TENANTS))]
    pub tenants: Vec<Definition>,
}

impl TenantsFile {
    /// Reads the file. Paths in it mean files beside it.
    ///
    /// # Errors
    ///
    /// [`TenantsError`].
    pub fn read(file: &Path) -> Result<Self, TenantsError> {
        let refused = |reason: String| TenantsError::File {
            file: file.display().to_string(),
            reason,
        };
        let bytes = read_private(file).map_err(refused)?;
        let mut read: Self = parse(&bytes).map_err(refused)?;
        if read.tenants.is_empty() {
            return Err(refused("it has no [[tenant]]".to_owned()));
        }
        let folder = file.parent().unwrap_or(Path::new(""));
        for tenant in &mut read.tenants {
            tenant.place_beside(folder);
        }
        read.check().map_err(|(at, key, reason)| {
            let named = read.tenants.get(at).map(|tenant| tenant.name.as_str());
            TenantsError::Tenant {
                file: file.display().to_string(),
                table: match named {
                    Some(name) if is_name(name) => format!("{name:?}"),
                    _ => format!("number {}", at.saturating_add(1)),
                },
                key,
                reason,
            }
        })?;
        Ok(read)
    }

    /// The number of the first table that is wrong, its key, and why.
    fn check(&self) -> Result<(), (usize, &'static str, String)> {
        let mut names = BTreeSet::new();
        let mut homes = BTreeSet::new();
        let mut digests = BTreeSet::new();
        for (at, tenant) in self.tenants.iter().enumerate() {
            let wrong = |(key, reason): (&'static str, String)| (at, key, reason);
            if at >= MAX_TENANTS {
                return Err(wrong(("name", format!("more than {MAX_TENANTS} tenants"))));
            }
            tenant.check().map_err(wrong)?;
            if !names.insert(&tenant.name) {
                return Err(wrong(("name", "another tenant has this name".into())));
            }
            if let Some(home) = &tenant.home
                && !homes.insert(home)
            {
                return Err(wrong(("home", "another tenant has this folder".into())));
            }
            for entry in tenant.all_tokens() {
                if !digests.insert(entry.digest.as_str().to_owned()) {
                    let reason = "a token is there twice".to_owned();
                    return Err(wrong(("token_digests", reason)));
                }
            }
        }
        Ok(())
    }
}

impl Definition {
    /// A tenant with this name and the defaults.
    #[must_use]
    pub fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            token_digests: Vec::new(),
            tokens: Vec::new(),
            policy: None,
            os_root: None,
            mounts: BTreeMap::new(),
            concurrency: concurrency(),
            queue: queue(),
            connections: connections(),
            rate: Rate::default(),
            profile: Profile::default(),
            skills: None,
            home: None,
            receipts: receipts(),
            safe_hosts: Vec::new(),
            allow_private: Vec::new(),
            plain_http_hosts: Vec::new(),
        }
    }

    /// Every token with its role.
    pub fn all_tokens(&self) -> impl Iterator<Item = TokenEntry> + '_ {
        let callers = self.token_digests.iter().map(|digest| TokenEntry {
            digest: digest.clone(),
            role: Role::Caller,
        });
        callers.chain(self.tokens.iter().cloned())
    }

    /// The mounts as the command line would have them.
    ///
    /// # Errors
    ///
    /// What no mount can be.
    pub fn cli_mounts(&self) -> Result<Vec<CliMount>, String> {
        let mount = |(at, directory): (&String, &PathBuf)| {
            let target = directory.display();
            let flag = match at.strip_prefix("/os/") {
                Some(below) => {
                    let below = below.trim_end_matches('/');
                    CliMount::os_prefix(&format!("/{below}/={target}"), false)
                }
                None => CliMount::of_policy(&format!("{at}={target}")),
            };
            flag.map_err(|error| error.to_string())
        };
        self.mounts.iter().map(mount).collect()
    }

    fn place_beside(&mut self, folder: &Path) {
        let named = [&mut self.policy, &mut self.os_root, &mut self.home];
        for path in named.into_iter().flatten() {
            *path = folder.join(&path);
        }
        for path in self.mounts.values_mut() {
            *path = folder.join(&path);
        }
    }

    fn check(&self) -> Result<(), (&'static str, String)> {
        if !is_name(&self.name) || self.name.parse::<ContextId>().is_err() {
            let reason = format!(
                "it must be 1 to {MAX_NAME} characters of a-z 0-9 . _ -, beginning with a letter or digit"
            );
            return Err(("name", reason));
        }
        let tokens = self.all_tokens().count();
        if tokens > MAX_TOKENS {
            return Err(("token_digests", format!("more than {MAX_TOKENS}")));
        }
        let bounds = [
            ("concurrency", self.concurrency, CONCURRENCY),
            ("queue", self.queue, QUEUE),
            ("connections", self.connections, CONNECTIONS),
            ("receipts", self.receipts, RECEIPTS),
        ];
        for (key, value, (least, most)) in bounds {
            if !(least..=most).contains(&value) {
                return Err((key, format!("it must be {least} to {most}")));
            }
        }
        let rate = self.rate;
        if !(rate.per_second.is_finite() && rate.per_second > 0.0 && rate.burst > 0) {
            return Err(("rate", "per_second and burst must be more than 0".into()));
        }
        self.cli_mounts()
            .map(drop)
            .map_err(|reason| ("mounts", reason))
    }
}

/// `O_NONBLOCK`
fn nonblocking() -> i32 {
    i32::try_from(rustix::fs::OFlags::NONBLOCK.bits()).unwrap_or_default()
}

/// The bytes of a file that nobody but its owner, who is this user or the system's, reads or changes. It is opened once, so
/// that what is read is what was looked at.
fn read_private(path: &Path) -> Result<Vec<u8>, String> {
    let said = |error: std::io::Error| error.to_string();
    // It must not wait for whoever writes into a pipe.
    let file = File::options()
        .read(true)
        .custom_flags(nonblocking())
        .open(path)
        .map_err(said)?;
    let metadata = file.metadata().map_err(said)?;
    if !metadata.is_file() {
        return Err("it is no regular file".into());
    }
    let owner = metadata.uid();
    if owner != rustix::process::geteuid().as_raw() && owner != 0 {
        return Err("it belongs to somebody else".into());
    }
    if metadata.mode() & 0o077 != 0 {
        return Err(format!(
            "its mode is {:04o}, so that others than its owner may use it; it must be 0600",
            metadata.mode() & 0o7777
        ));
    }
    let mut bytes = Vec::new();
    file.take(limits::MAX_JSON_BYTES.saturating_add(1))
        .read_to_end(&mut bytes)
        .map_err(said)?;
    if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > limits::MAX_JSON_BYTES {
        return Err(format!("it has more than {} bytes", limits::MAX_JSON_BYTES));
    }
    Ok(bytes)
}

fn is_name(name: &str) -> bool {
    let plain =
        |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '.' | '_' | '-');
    !name.is_empty()
        && name.len() <= MAX_NAME
        && name.chars().all(plain)
        && name.starts_with(|first: char| first.is_ascii_alphanumeric())
}
