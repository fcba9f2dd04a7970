//! The governor: what a host asks, from loading a skill to the record of what it did.
//!
//! | file | subject |
//! |---|---|
//! | `caller` | who calls, in which session |
//! | `load` | a document becomes registered operations |
//! | `execute` | a call of an operation: the steps, in their order |
//! | `checks` | checks of a call: client, hosts, tools, secrets |
//! | `budgets` | the budget of a session |
//! | `redaction` | no answer holds a value of a secret |
//! | `personal` | output with personal data |
//! | `call` | capabilities by their ids |
//! | `map` | what a command would do |
//! | `onboard`, `human_answer` | what a document wants done first, and what a person answers to it |
//! | `staged_secrets` | secrets that wait for an approval |
//! | `operate` | what an operator does: approvals, secrets, unloading, the chain |
//! | `surroundings` | what the registry asks of configuration and machine |
//!
//! It keeps no state of its own but ports and configuration: two governors of one directory, in one process or two, are
//! as good as one.

mod budgets;
mod call;
mod caller;
mod checks;
mod execute;
mod human_answer;
mod load;
mod map;
mod onboard;
mod operate;
mod personal;
mod redaction;
mod staged_secrets;
mod surroundings;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use hydrant_jail::Launcher;
use rusqlite::Connection;

use crate::budget::Budget;
use crate::config::Config;
use crate::failure::{Code, Failure};
use crate::ports::{Components, Egress, Wire};
use crate::registry::fold;
use crate::request::Schemas;
use crate::sandbox::{Sandbox, Settings};
use crate::secrets::SecretStore;
use crate::state::State;
use crate::time::Time;
use redaction::CachedRedactor;

pub use call::{Execute, Onboard, Show};
pub use caller::Caller;
pub use load::LoadRequest;
pub use operate::{Approve, Bind, Shown, glance_at_approvals, verify, verify_until};

/// What a host gives.
pub struct Ports {
    /// The components that it asks.
    pub components: Box<dyn Components>,
    /// HTTP.
    pub wire: Box<dyn Wire>,
    /// The proxies of jails.
    pub egress: Box<dyn Egress>,
    /// What starts jails; none: every sandbox stage is `jail-unavailable`.
    pub launcher: Option<Launcher>,
    /// Ids of installed components, which no capability may have.
    pub installed: Vec<String>,
}

/// Governs one state directory.
pub struct Governor {
    state: State,
    config: Config,
    secrets: SecretStore,
    sandbox: Option<Sandbox>,
    components: Box<dyn Components>,
    wire: Box<dyn Wire>,
    egress: Box<dyn Egress>,
    /// Ids of installed components, as names are compared.
    installed: BTreeSet<String>,
    outputs: PathBuf,
    schemas: Schemas,
    /// Budgets of sessions that end with their connection.
    connections: Mutex<BTreeMap<String, Budget>>,
    /// Sessions of connections that hold personal data in their output directories.
    personal: Mutex<BTreeSet<String>>,
    /// Takes the values of secrets out of every answer.
    redactor: CachedRedactor,
}

impl Governor {
    /// Opens the state in this directory, made (0700) if it is not there; what a crash left is recovered.
    ///
    /// Values of secrets are then in memory: see [`forbid_core_dumps`](crate::secrets::forbid_core_dumps).
    ///
    /// # Errors
    ///
    /// `store-unavailable` where the database cannot be opened, migrated or checked.
    pub fn open(folder: &Path, config: Config, ports: Ports) -> Result<Self, Failure> {
        let state = State::open(folder)?;
        let folder = state.folder().to_owned();
        outside(&config, &protected(&folder))?;
        let sandbox = ports.launcher.map(|launcher| {
            let settings = Settings::new(&config, protected(&folder));
            Sandbox::new(launcher.checked(), settings)
        });
        Ok(Self {
            secrets: SecretStore::new(&folder, &config.env_secrets),
            connections: Mutex::default(),
            personal: Mutex::default(),
            redactor: CachedRedactor::default(),
            outputs: folder.join("outputs"),
            schemas: Schemas::default(),
            state,
            config,
            sandbox,
            components: ports.components,
            wire: ports.wire,
            egress: ports.egress,
            installed: ports.installed.iter().map(|id| fold(id)).collect(),
        })
    }

    /// Reads the database at the chain's time.
    fn look<T>(
        &self,
        look: impl FnOnce(&Connection, Time) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let now = self.state.now();
        self.state.read(|database| look(database, now))
    }
}

/// Files of calls are read and written below these directories: none of hydrant's own may lie there, for who reads the
/// secrets or replaces the approvals needs no approval.
fn outside(config: &Config, own: &[PathBuf]) -> Result<(), Failure> {
    let own = own.iter().filter_map(|own| own.canonicalize().ok());
    let own: Vec<PathBuf> = own.collect();
    let named = [("fs_read", &config.fs_read), ("fs_write", &config.fs_write)];
    for (key, directories) in named {
        for directory in directories {
            let Ok(real) = directory.canonicalize() else {
                continue;
            };
            if own
                .iter()
                .any(|own| own.starts_with(&real) || real.starts_with(own))
            {
                return Err(Failure::new(
                    Code::PathNotAllowed,
                    format!(
                        "{key} of [govern]: {} holds hydrant's home folder, or lies in it",
                        directory.display()
                    ),
                ));
            }
        }
    }
    Ok(())
}

/// hydrant's own: the state, and the home that it lies in.
fn protected(state: &Path) -> Vec<PathBuf> {
    let home = state.parent().filter(|_| state.file_name().is_some());
    std::iter::once(state)
        .chain(home)
        .map(Path::to_owned)
        .collect()
}
