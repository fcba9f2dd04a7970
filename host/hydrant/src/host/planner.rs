//! The planner of prompts: the pinned skill `prompt.hydrate`, with directories that the host mounts for it alone, and
//! within limits of its own.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use super::run::Prepared;
use super::{Failure, Host, HostError};
use crate::capability::fetch::Credential;
use crate::engine::Budgets;
use crate::policy::{Limits, OwnMount, VirtualPath};

/// The skill behind [`Host::ask_planner`].
const PLANNER: &str = "prompt.hydrate";
/// The skill behind [`Host::ask_model`].
const MODEL: &str = "prompt.hydrate.llm";
/// A hook's input of 8 MiB, as a JSON string in a JSON string, twice.
const REQUEST_BYTES: u64 = 64 * 1024 * 1024;
/// A file of 16 MiB as a JSON string.
const RESPONSE_BYTES: u64 = 64 * 1024 * 1024;

/// What `prompt.hydrate` sees at its two mount points. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct PlannerMounts {
    workspace: Option<OwnMount>,
    catalog: Option<OwnMount>,
}

impl PlannerMounts {
    /// Mounts a working tree at `/workspace`, as far as the policy lets skills read that.
    ///
    /// # Errors
    /// It is no directory that can be read.
    pub fn with_workspace(self, directory: &Path) -> io::Result<Self> {
        let at = VirtualPath::workspace();
        Ok(Self {
            workspace: Some(OwnMount::under_ceilings(at, directory)?),
            ..self
        })
    }

    /// Mounts a catalogue at `/catalog`.
    ///
    /// # Errors
    /// As [`with_workspace`](Self::with_workspace).
    pub fn with_catalog(self, directory: &Path) -> io::Result<Self> {
        let at = mount_point("/catalog")?;
        Ok(Self {
            catalog: Some(OwnMount::granted(at, directory)?),
            ..self
        })
    }

    /// Whether there is a working tree.
    #[must_use]
    pub fn has_workspace(&self) -> bool {
        self.workspace.is_some()
    }

    /// Whether there is a catalogue.
    #[must_use]
    pub fn has_catalog(&self) -> bool {
        self.catalog.is_some()
    }

    fn own(&self) -> Arc<[OwnMount]> {
        self.workspace
            .iter()
            .chain(&self.catalog)
            .cloned()
            .collect()
    }
}

fn mount_point(path: &str) -> io::Result<VirtualPath> {
    VirtualPath::parse(path).map_err(io::Error::other)
}

impl Host {
    /// Verifies and loads `prompt.hydrate`, so that the first call of it need not.
    ///
    /// # Errors
    /// As [`ask_planner`](Self::ask_planner).
    pub fn load_planner(&self) -> Result<(), HostError> {
        self.load_pinned(PLANNER)
    }

    /// What `prompt.hydrate` answers to a request of its own. It may read `mounts` and nothing else, and has at
    /// most `time`; a policy can only give it less.
    ///
    /// # Errors
    /// [`HostError`] when nothing was executed. What ended the component is a [`Failure`].
    pub fn ask_planner(
        &self,
        request: &[u8],
        mounts: &PlannerMounts,
        time: Duration,
    ) -> Result<Result<Vec<u8>, Failure>, HostError> {
        self.answer_pinned(PLANNER, None, request, |prepared| {
            let budgets = Budgets {
                wall_clock: prepared.budgets.wall_clock.min(time),
                request_bytes: REQUEST_BYTES,
                fuel: own_or_less(fuel(time), prepared.budgets.fuel, Limits::default().fuel),
                response_bytes: own_or_less(
                    RESPONSE_BYTES,
                    prepared.budgets.response_bytes,
                    Limits::default().output_bytes,
                ),
                ..prepared.budgets
            };
            Prepared {
                grant: prepared
                    .grant
                    .without_processes()
                    .with_own_mounts(mounts.own()),
                budgets,
                ..prepared
            }
        })
    }

    /// What `prompt.hydrate.llm` answers to a request of its own, with a key that is added for one server, within
    /// `time`. It may send what the policy allows, and starts nothing.
    ///
    /// # Errors
    /// As [`ask_planner`](Self::ask_planner).
    pub fn ask_model(
        &self,
        request: &[u8],
        credential: Option<Credential>,
        time: Duration,
    ) -> Result<Result<Vec<u8>, Failure>, HostError> {
        self.answer_pinned(MODEL, None, request, |prepared| Prepared {
            grant: prepared.grant.without_processes(),
            budgets: Budgets {
                wall_clock: prepared.budgets.wall_clock.min(time),
                ..prepared.budgets
            },
            credential: credential.map(Arc::new),
        })
    }
}

/// What others have for a call of two seconds, for every two seconds: whoever checks a catalogue or evaluates a file
/// waits longer than a hook.
fn fuel(time: Duration) -> u64 {
    let shares = time.as_secs().div_ceil(2).clamp(1, 30);
    Limits::default().fuel.saturating_mul(shares)
}

/// A limit of this skill's own, unless the policy has lowered that of all skills.
fn own_or_less(own: u64, policy: u64, default: u64) -> u64 {
    if policy < default { policy } else { own }
}
