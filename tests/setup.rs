//! Black-box tests of `hydrant setup`: each client's configuration written, the server started as it says, and taken out
//! again; and configurations that are hostile, or the user's own.
#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "a failed expectation is a failed test, in a fixture as in the test itself"
)]

#[allow(
    dead_code,
    reason = "made for bundles_and_trust, which needs more of it"
)]
#[path = "bundles_and_trust/program.rs"]
mod program;

#[path = "setup/configurations.rs"]
mod configurations;
#[path = "setup/desk.rs"]
mod desk;
#[path = "setup/refusals.rs"]
mod refusals;
#[path = "setup/registration.rs"]
mod registration;
#[path = "setup/subagent.rs"]
mod subagent;
