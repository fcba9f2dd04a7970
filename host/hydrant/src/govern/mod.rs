//! Governed execution of foreign skills: what [`hydrant_govern`] needs of this host.
//!
//! The crate decides; here are its ports: the pinned components `skill.interpret` and `data.filter`, HTTP by the client whose addresses are
//! checked, and the egress proxy of a jail.

mod components;
#[cfg(target_os = "linux")]
mod egress;
#[cfg(not(target_os = "linux"))]
mod unsupported;
mod wire;

use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

pub use hydrant_govern::*;

use self::config::Config;
use self::failure::Failure;
use self::governor::Governor;
use crate::host::Host;

/// A host, as the governor sees it.
#[derive(Clone)]
pub struct Ports(Arc<Host>);

impl Ports {
    /// The ports of this host.
    #[must_use]
    pub fn new(host: Arc<Host>) -> Self {
        Self(host)
    }

    /// A governor of the state in this folder.
    ///
    /// # Errors
    ///
    /// `store-unavailable`, `audit-unavailable`: the state cannot be opened, and nothing is assumed of it.
    pub fn governor(self, state: &std::path::Path, config: Config) -> Result<Governor, Failure> {
        let installed = self
            .0
            .pinned_ids()
            .map_err(|error| Failure::new(failure::Code::StoreUnavailable, error.to_string()))?;
        Governor::open(
            state,
            config,
            governor::Ports {
                launcher: self.0.launcher().cloned(),
                components: Box::new(self.clone()),
                wire: Box::new(self.clone()),
                egress: Box::new(self),
                installed,
            },
        )
    }
}

/// The name of the user who runs this program, for what he decides; his number where he has none.
#[must_use]
pub fn user_name() -> String {
    let uid = rustix::process::getuid().as_raw().to_string();
    let users = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
    users
        .lines()
        .find_map(|line| {
            let mut fields = line.split(':');
            let name = fields.next()?;
            (fields.nth(1)? == uid).then(|| name.to_owned())
        })
        .unwrap_or_else(|| format!("uid {uid}"))
}

/// A governor that is opened when it is first asked: who never calls a governed capability needs no state.
pub struct Lazy {
    ports: Ports,
    state: PathBuf,
    config: Config,
    opened: OnceLock<Governor>,
    /// One at a time opens it.
    opening: Mutex<()>,
}

impl Lazy {
    /// A governor of the state in this folder, to be opened later.
    #[must_use]
    pub fn new(ports: Ports, state: PathBuf, config: Config) -> Self {
        Self {
            ports,
            state,
            config,
            opened: OnceLock::new(),
            opening: Mutex::default(),
        }
    }

    /// The governor.
    ///
    /// # Errors
    ///
    /// As [`Ports::governor`]. Who asks again after an error may have an answer: what was in the way may be gone.
    pub fn get(&self) -> Result<&Governor, Failure> {
        if let Some(governor) = self.opened.get() {
            return Ok(governor);
        }
        let _one = self.opening.lock().unwrap_or_else(PoisonError::into_inner);
        // Whoever was first may have opened it meanwhile.
        if let Some(governor) = self.opened.get() {
            return Ok(governor);
        }
        let governor = self
            .ports
            .clone()
            .governor(&self.state, self.config.clone())?;
        Ok(self.opened.get_or_init(|| governor))
    }

    /// A stream ended; where nothing was opened there is nothing to end.
    pub fn end_session(&self, caller: &governor::Caller) {
        if let Some(governor) = self.opened.get() {
            governor.end_session(caller);
        }
    }
}
