//! Black-box tests of `hydrant serve`: who may ask, every route, what tenants can learn of each other, overload, cancelling,
//! reload, and what a kill leaves.
//!
//! Everything runs the binary; what it serves lies in a private folder, and clients speak HTTP on the loopback.
#![cfg(target_os = "linux")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::as_conversions,
    reason = "a failed expectation is a failed test, in a fixture as in the test itself"
)]

#[path = "serve/client.rs"]
mod client;
#[allow(dead_code, reason = "tests/bundles_and_trust.rs uses the others")]
#[path = "bundles_and_trust/guests.rs"]
mod guests;
#[path = "serve/house.rs"]
mod house;

#[path = "serve/authentication.rs"]
mod authentication;
#[path = "serve/bounds.rs"]
mod bounds;
#[path = "serve/ends.rs"]
mod ends;
#[path = "serve/hostile.rs"]
mod hostile;
#[path = "serve/isolation.rs"]
mod isolation;
#[path = "serve/isolation_load.rs"]
mod isolation_load;
#[path = "serve/isolation_state.rs"]
mod isolation_state;
#[path = "serve/kept.rs"]
mod kept;
#[path = "serve/reach.rs"]
mod reach;
#[path = "serve/ready.rs"]
mod ready;
#[path = "serve/reload.rs"]
mod reload;
#[path = "serve/routes.rs"]
mod routes;
#[path = "serve/traces.rs"]
mod traces;
