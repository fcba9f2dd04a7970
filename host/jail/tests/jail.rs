//! The jail from outside: what runs, how it ends, and what it cannot do.
//!
//! Run as root and as an ordinary user: both must hold. The escape suite has the attacks; this has the properties.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::panic)]

#[path = "jail/ending.rs"]
mod ending;
#[path = "jail/files.rs"]
mod files;
#[path = "jail/limits.rs"]
mod limits;
#[path = "jail/network.rs"]
mod network;
#[path = "jail/privileges.rs"]
mod privileges;
#[path = "jail/returned.rs"]
mod returned;
#[path = "jail/sockets.rs"]
mod sockets;
#[path = "jail/starting.rs"]
mod starting;
#[path = "jail/support.rs"]
mod support;
