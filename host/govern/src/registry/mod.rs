//! What is registered, and what an operator decided about it.
//!
//! | the host wants | call | chain |
//! |---|---|---|
//! | a checked skill registered | [`load`] | `skill-loaded` or `skill-reloaded`; for each operation `capability-registered`, `-updated`, `-removed`; for each request `approval-requested` (or `approval-granted`, by policy), `approval-superseded` |
//! | an operation, by name | [`find`], [`find_capability`] | nothing |
//! | to know whether a call may run | [`approvals::permit`] | `approval-requested`, `approval-expired` where that happens; never `capability-denied`, which is the caller's |
//! | a `once` grant used up | [`approvals::consume`] | nothing: the `capability-call` after it names the grant |
//! | an operator's decision | [`approvals::approve`], [`approvals::deny`], [`approvals::revoke`] | `approval-granted`, `-denied`, `-revoked`; `-superseded` or `-expired` where it came too late |
//! | a request of an agent | [`approvals::request`] | `approval-requested`, if one is opened |
//! | what is pending or decided | [`approvals::list`], [`approvals::show`] | nothing |
//! | what there is | [`list`], [`list_since`], [`show`] | nothing |
//! | a skill gone | [`unload`] | `skill-unloaded`, `capability-removed`, `approval-superseded` |
//! | a secret bound | [`bindings::bind`], [`bindings::bound`] | nothing (`secret-injected` is written when it is used) |
//! | a step of an onboarding done | [`onboarding`] | `onboarding-step` |
//! | a session's budget | [`session`] | `approval-expired` where a session ends with a grant |
//!
//! What changes more than one table is one transaction. Functions that take a [`crate::state::Change`] are part of the
//! caller's; those that take a [`crate::state::State`] make their own. Nothing here reads a document, a secret or the
//! network.

pub mod approvals;
pub mod bindings;
mod capability_row;
mod find;
mod history;
mod listing;
mod load;
pub mod memory;
mod name;
pub mod onboarding;
mod rows;
pub mod session;
pub(crate) mod sql;
mod unload;
pub mod unmapped;

#[cfg(test)]
mod tests;

pub(crate) use approvals::View;
pub use capability_row::{CapabilityRow, CapabilityStatus};
pub(crate) use find::still_registered;
pub use find::{code_file, find, find_capability};
pub use history::{Since, generation, list_since};
pub use listing::{CapabilityDetails, List, ListedSkill, SkillDetails, list, show};
pub use load::{Delta, Loaded, NewSkill, load};
pub(crate) use name::mixes_scripts;
pub use name::{fold, fold_capability};
pub use rows::{Registered, SkillHead};
pub use unload::{Unloaded, unload};

/// The tables, as migrations in order: [`crate::state`] runs them and keeps count. A released one is never changed.
pub(crate) const MIGRATIONS: [&str; 3] = [
    include_str!("schema_1.sql"),
    include_str!("schema_2.sql"),
    include_str!("schema_3.sql"),
];

use std::collections::BTreeMap;
use std::time::Duration;

use rusqlite::Connection;

use crate::chain::{Entry, Event};
use crate::client::Client;
use crate::failure::{Code, Failure};
use crate::secrets::SecretState;
use crate::time::Time;
use hydrant_plan::JudgedOperation;

/// Who causes what is recorded.
#[derive(Debug, Clone, Default)]
pub struct Who {
    /// None: the host itself.
    pub client: Option<Client>,
    /// `s-…`
    pub session: Option<String>,
    /// Whether the session outlives this command: a connection, or `--session`. A request that a passing session opens
    /// belongs to none; a `session` grant on it is then the first session's that uses it.
    pub lasting: bool,
    /// `r-…`
    pub run: Option<String>,
}

impl Who {
    /// Returns a chain entry with who caused it.
    pub(crate) fn entry(&self, event: Event) -> Entry {
        Entry {
            client: self.client,
            session: self.session.clone(),
            run: self.run.clone(),
            ..Entry::new(event)
        }
    }

    /// The session that requests belong to.
    pub(crate) fn lasting_session(&self) -> Option<&str> {
        self.session.as_deref().filter(|_| self.lasting)
    }
}

/// What the registry cannot know and asks for: the operator's configuration and this machine.
pub trait Surroundings {
    /// Returns why this operation needs an approval, given the configuration. `bound` tells whether a secret (name,
    /// hosts) has a granted binding for this skill. Empty and Tier 1: granted by policy.
    fn reasons(
        &self,
        operation: &JudgedOperation,
        bound: &dyn Fn(&str, &[String]) -> bool,
    ) -> Vec<String>;

    /// Tools and runtimes that it needs and this machine has not.
    fn missing(&self, operation: &JudgedOperation) -> Vec<String>;

    /// Whether an installed component has this id; it comes folded.
    fn installed(&self, folded: &str) -> bool;

    /// How long a request waits for a decision.
    fn pending_ttl(&self) -> Duration;

    /// The secrets that a skill (folded) has of its own, by name.
    fn secrets(
        &self,
        database: &Connection,
        skill: &str,
        now: Time,
    ) -> Result<BTreeMap<String, SecretState>, Failure>;
}

/// `store-unavailable`: the database failed.
pub(crate) fn store(error: impl std::fmt::Display) -> Failure {
    Failure::new(Code::StoreUnavailable, format!("registry: {error}"))
}
