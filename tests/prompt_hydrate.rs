//! Black-box tests of prompt hydration: `hydrant hook user-prompt-submit`, `hook install`, `plan`, `route`,
//! `catalog check`.
//!
//! Everything runs the binary in a private home with a private folder for its files; servers are on the loopback.
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

#[path = "prompt_hydrate/desk.rs"]
mod desk;
#[path = "prompt_hydrate/grammar.rs"]
mod grammar;
#[path = "prompt_hydrate/server.rs"]
mod server;

#[path = "prompt_hydrate/commands.rs"]
mod commands;
#[path = "prompt_hydrate/configuration.rs"]
mod configuration;
#[path = "prompt_hydrate/criteria.rs"]
mod criteria;
#[path = "prompt_hydrate/failures.rs"]
mod failures;
#[path = "prompt_hydrate/hostile.rs"]
mod hostile;
#[path = "prompt_hydrate/input.rs"]
mod input;
#[path = "prompt_hydrate/install.rs"]
mod install;
#[path = "prompt_hydrate/model.rs"]
mod model;
#[path = "prompt_hydrate/session.rs"]
mod session;
#[path = "prompt_hydrate/tempfile.rs"]
mod temp_file;
