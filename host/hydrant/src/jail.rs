//! The jail of child processes, which is a crate of its own ([`hydrant_jail`]), and what the program does before all else:
//! a jail begins as a fresh image of it.

pub use crate::entry::enter_if_asked;
pub use hydrant_capability::process::survive_file_size_limit;
pub use hydrant_jail::*;
