//! Who calls.

use serde::{Deserialize, Serialize};

/// Over what a call arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Frontend {
    /// The command line.
    Cli,
    /// `hydrant syscall`, and the socket of `hydrant jail`.
    Syscall,
    /// The Model Context Protocol.
    Mcp,
    /// HTTP.
    Http,
}

/// What the host knows of a caller; nothing a caller sends can set it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Client {
    /// Over what it came.
    pub frontend: Frontend,
    /// Whether it came through a socket that `hydrant jail` made.
    pub jailed: bool,
}
