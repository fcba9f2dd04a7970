//! Escapes from the jail: each is tried in a jail, where it must fail as its row says and
//! leave the host unharmed, and once more where it must succeed (its control), so that no row is vacuous.
//!
//! One module for each group of ways out, with its table: `name of the test: "attempt and its words" in shape of the
//! jail, "what stops it", control`. The attempts are functions of the program `attempt`; the words in braces are
//! things of the host (`host.rs`), the shapes are in `inside.rs`, the kinds of controls in `escape.rs`. A control that
//! the machine does not permit is reported on stderr as `no control: …`.
//!
//! Nothing here leaves loopback, changes the machine or lives on. Needs the feature `jail-weakening`.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a failed expectation is a failed test, in a fixture as in the test itself"
)]

#[path = "jail_escape/escape.rs"]
mod escape;
#[path = "jail_escape/host.rs"]
mod host;
#[path = "jail_escape/inside.rs"]
mod inside;
#[path = "jail_escape/objects.rs"]
mod objects;

#[path = "jail_escape/executing.rs"]
mod executing;
#[path = "jail_escape/exhausting.rs"]
mod exhausting;
#[path = "jail_escape/inheriting.rs"]
mod inheriting;
#[path = "jail_escape/kernel.rs"]
mod kernel;
#[path = "jail_escape/layers.rs"]
mod layers;
#[path = "jail_escape/mounting.rs"]
mod mounting;
#[path = "jail_escape/namespaces.rs"]
mod namespaces;
#[path = "jail_escape/network.rs"]
mod network;
#[path = "jail_escape/outliving.rs"]
mod outliving;
#[path = "jail_escape/privileges.rs"]
mod privileges;
#[path = "jail_escape/processes.rs"]
mod processes;
#[path = "jail_escape/reading.rs"]
mod reading;
#[path = "jail_escape/sockets.rs"]
mod sockets;
#[path = "jail_escape/succeeding.rs"]
mod succeeding;
#[path = "jail_escape/writing.rs"]
mod writing;
