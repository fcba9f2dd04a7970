//! What a child process gets before it executes anything.
//!
//! For now a session of its own and no inherited descriptor; the confinement of files, network and
//! system calls is not built yet, which is why [`crate::capability::process`] starts nothing unless the
//! policy says `process: unjailed`.

mod session;

pub(crate) use session::own_session;
