//! The effects behind the imports of core modules: files, URLs, keys, queues, time and random bytes.
//!
//! A core module names real paths, URLs and keys of the host, and its manifest declares them; the policy's ceiling
//! was checked before the call. So what is asked here is one question: does a declared value cover this? What none
//! covers ends the run with [`Denied`], without anything having been touched. What is covered and cannot be
//! done is "no answer", which the module sees as -1.
//!
//! Relies on [`hydrant_policy`] for the grammar of paths and URL prefixes, and on [`super::fetch`] for the resolver
//! and the address check. It knows no WebAssembly, and asks no policy.

mod declared;
mod files;
mod http;
mod lock;
mod place;
mod replace;
mod state;
#[cfg(test)]
mod tests;
mod tree;

use std::collections::BTreeSet;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use self::declared::Declared;
use super::fetch::Fetcher;
use super::{BudgetExceeded, Meter, OwnFiles};
use hydrant_base::escaped;
use hydrant_trust::Capability;

pub use self::state::StateDirectories;

/// Characters of a denied value that a message or a record shows.
const SHOWN_OF_A_VALUE: usize = 1024;

/// The kinds of capability that a core module can use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CoreKind {
    /// `fs.read`
    FsRead,
    /// `fs.write`
    FsWrite,
    /// `net.http`
    NetHttp,
    /// `time.now`
    TimeNow,
    /// `random.bytes`
    RandomBytes,
    /// `kv.read`
    KvRead,
    /// `kv.write`
    KvWrite,
    /// `queue.publish`
    QueuePublish,
    /// `queue.consume`
    QueueConsume,
}

impl CoreKind {
    /// The kind as manifests and receipts write it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::FsRead => "fs.read",
            Self::FsWrite => "fs.write",
            Self::NetHttp => "net.http",
            Self::TimeNow => "time.now",
            Self::RandomBytes => "random.bytes",
            Self::KvRead => "kv.read",
            Self::KvWrite => "kv.write",
            Self::QueuePublish => "queue.publish",
            Self::QueueConsume => "queue.consume",
        }
    }
}

impl fmt::Display for CoreKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// A capability that was needed and is not declared. `Display` is `<kind>:<value>`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{kind}:{value}")]
pub struct Denied {
    /// The kind.
    pub kind: CoreKind,
    /// What was asked for, escaped and cut: the path, the URL without credentials, the key or the topic; `*` for a kind
    /// without values.
    pub value: String,
}

/// What ends a run in the middle of a hostcall.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Ended {
    /// The module asks for something that its manifest does not declare.
    #[error("capability denied: {0}")]
    Denied(#[from] Denied),
    /// The time is up.
    #[error(transparent)]
    Budget(#[from] BudgetExceeded),
}

/// What one run of a core module may do and has left: made for the run, dropped with it.
pub struct CoreCall {
    declared: Declared,
    state: StateDirectories,
    own: Arc<OwnFiles>,
    meter: Meter,
    fetcher: Arc<Fetcher>,
    used: Mutex<BTreeSet<CoreKind>>,
}

impl CoreCall {
    /// `capabilities` are those of the manifest that every layer allows; `own` is read and changed by none of them, and
    /// `meter` has begun to count.
    #[must_use]
    pub fn new(
        capabilities: &[Capability],
        state: StateDirectories,
        own: Arc<OwnFiles>,
        fetcher: Arc<Fetcher>,
        meter: Meter,
    ) -> Self {
        Self {
            declared: Declared::new(capabilities),
            state,
            own,
            meter,
            fetcher,
            used: Mutex::default(),
        }
    }

    /// What is left of the time.
    #[must_use]
    pub fn meter(&self) -> &Meter {
        &self.meter
    }

    /// The kinds whose check passed at least once.
    #[must_use]
    pub fn caps_used(&self) -> BTreeSet<String> {
        let used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        used.iter().map(|kind| kind.as_str().to_owned()).collect()
    }

    /// Seconds since 1970.
    ///
    /// # Errors
    /// [`Ended`].
    pub fn time_now(&self) -> Result<i64, Ended> {
        self.require(CoreKind::TimeNow)?;
        let since = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        Ok(i64::try_from(since.as_secs()).unwrap_or(i64::MAX))
    }

    /// Fills `bytes` with random ones; none if the system has none.
    ///
    /// # Errors
    /// [`Ended`].
    pub fn random(&self, bytes: &mut [u8]) -> Result<Option<()>, Ended> {
        self.require(CoreKind::RandomBytes)?;
        Ok(getrandom::fill(bytes).ok())
    }

    /// Checks a kind that needs no more than a value that is not empty.
    fn require(&self, kind: CoreKind) -> Result<(), Ended> {
        if !self.declared.any(kind) {
            return Err(denied(kind, "*"));
        }
        self.note(kind);
        Ok(())
    }

    /// Checks a key or a topic.
    fn require_name(&self, kind: CoreKind, name: &[u8]) -> Result<(), Ended> {
        if !self.declared.names(kind, name) {
            return Err(denied(kind, &String::from_utf8_lossy(name)));
        }
        self.note(kind);
        Ok(())
    }

    /// A check has passed, whatever becomes of the operation.
    fn note(&self, kind: CoreKind) {
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        used.insert(kind);
    }

    /// Notes the use unless the outcome is that it is denied.
    fn noted<T>(
        &self,
        kind: CoreKind,
        outcome: Result<Option<T>, Ended>,
    ) -> Result<Option<T>, Ended> {
        if !matches!(outcome, Err(Ended::Denied(_))) {
            self.note(kind);
        }
        outcome
    }
}

/// The denial of `value`, as it may be shown.
fn denied(kind: CoreKind, value: &str) -> Ended {
    let part: String = value.chars().take(SHOWN_OF_A_VALUE).collect();
    let value = escaped(&part);
    Ended::Denied(Denied { kind, value })
}
