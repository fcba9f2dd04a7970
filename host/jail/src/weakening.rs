//! Layers that tests can take away (feature `jail-weakening`), to show that each one is there for something.
//!
//! Without the feature, which is how hydrant is released, there is no field, no message and no way to ask for it.

#[cfg(feature = "jail-weakening")]
use serde::{Deserialize, Serialize};

/// A layer that can be taken away.
#[cfg_attr(not(feature = "jail-weakening"), allow(unreachable_pub))] // Named by tests only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(
    feature = "jail-weakening",
    derive(Serialize, Deserialize),
    serde(rename_all = "kebab-case")
)]
pub enum Removed {
    /// The root of its own: the program sees the host's.
    Mount,
    /// The pid namespace.
    Pid,
    /// The network namespace.
    Net,
    /// The namespace of System V objects.
    Ipc,
    /// Dropping capabilities and `no_new_privs`.
    Privileges,
    /// Landlock.
    Landlock,
    /// Resource limits.
    Rlimits,
    /// The system call filter.
    Seccomp,
    /// Sampling by the host.
    Sampling,
    /// Closing descriptors.
    Descriptors,
}

/// The layers that are left away when the namespaces are made, which is before the plan comes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Without {
    #[cfg(feature = "jail-weakening")]
    removed: Vec<Removed>,
}

#[cfg(not(feature = "jail-weakening"))]
impl Without {
    pub(super) fn of(_: &super::order::Order) -> Self {
        Self {}
    }

    /// For the launcher.
    pub(super) fn arguments(&self) -> [&str; 0] {
        []
    }

    /// In the launcher.
    pub(super) fn named(_: impl Iterator) -> Self {
        Self {}
    }

    pub(super) const fn keeps(&self, _: Removed) -> bool {
        true
    }
}

#[cfg(feature = "jail-weakening")]
impl Without {
    pub(super) fn of(order: &super::order::Order) -> Self {
        Self {
            removed: order.without.clone(),
        }
    }

    /// For the launcher.
    pub(super) fn arguments(&self) -> [String; 1] {
        [serde_json::to_string(&self.removed).unwrap_or_default()]
    }

    /// In the launcher.
    pub(super) fn named(mut arguments: impl Iterator<Item = std::ffi::OsString>) -> Self {
        let argument = arguments.next().unwrap_or_default();
        Self {
            removed: serde_json::from_str(&argument.to_string_lossy()).unwrap_or_default(),
        }
    }

    pub(super) fn keeps(&self, layer: Removed) -> bool {
        !self.removed.contains(&layer)
    }
}
