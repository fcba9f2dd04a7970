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
