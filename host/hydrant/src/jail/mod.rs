//! Confining child processes: the jail, which is a crate of its own ([`hydrant_jail`]), and what children get that run
//! outside of it because the policy says `process: unjailed`.

mod session;

pub use crate::entry::enter_if_asked;
pub use hydrant_jail::*;
pub use session::survive_file_size_limit;

#[cfg(test)]
pub(crate) use session::ignore_sigchld;
pub(crate) use session::{own_session, require_exit_statuses};
