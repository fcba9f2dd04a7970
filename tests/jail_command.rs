//! Black-box tests of `hydrant jail` and of `Capability.Call`.
//!
//! Everything runs the binary in a private folder. What is tried in a jail is a script for `sh`, `perl` or `python3` of
//! the system.
#![cfg(target_os = "linux")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a failed expectation is a failed test, in a fixture as in the test itself"
)]

#[allow(
    dead_code,
    reason = "made for bundles_and_trust, which needs more of it"
)]
#[path = "bundles_and_trust/program.rs"]
mod program;
#[allow(dead_code, reason = "made for content_hydrate, which needs more of it")]
#[path = "content_hydrate/server.rs"]
mod server;

#[path = "jail_command/cell.rs"]
mod cell;

#[path = "jail_command/operator.rs"]
mod operator;

#[path = "jail_command/acceptance.rs"]
mod acceptance;
#[path = "jail_command/capability_call.rs"]
mod capability_call;
#[path = "jail_command/directories.rs"]
mod directories;
#[path = "jail_command/ends.rs"]
mod ends;
#[path = "jail_command/inside.rs"]
mod inside;
#[path = "jail_command/sockets.rs"]
mod sockets;
#[path = "jail_command/terminal.rs"]
mod terminal;
