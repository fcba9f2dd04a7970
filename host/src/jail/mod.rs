//! What a child process gets before it executes anything.
//!
//! For now a session of its own, no inherited descriptor, and a parent that learns how it ended; the
//! confinement of files, network and system calls is not built yet, which is why
//! [`crate::capability::process`] starts nothing unless the policy says `process: unjailed`.

mod session;

pub use session::survive_file_size_limit;

#[cfg(test)]
pub(crate) use session::ignore_sigchld;
pub(crate) use session::{own_session, require_exit_statuses};
