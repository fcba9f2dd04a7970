//! Black-box tests of governed execution: `hydrant skill`, `map`, `approvals`, `secrets` and `audit`, the same over
//! `hydrant syscall` and in `hydrant jail`.
//!
//! Everything runs the binary in a private home; what skills call is a server on the loopback.
#![cfg(target_os = "linux")]
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

#[path = "skill_interpreter/house.rs"]
mod house;
#[path = "jail_command/operator.rs"]
mod operator;
#[path = "skill_interpreter/recorder.rs"]
mod recorder;

#[path = "skill_interpreter/approvals.rs"]
mod approvals;
#[path = "skill_interpreter/budgets.rs"]
mod budgets;
#[path = "skill_interpreter/commands.rs"]
mod commands;
#[path = "skill_interpreter/component.rs"]
mod component;
#[path = "skill_interpreter/criteria.rs"]
mod criteria;
#[path = "skill_interpreter/deciding.rs"]
mod deciding;
#[path = "skill_interpreter/frontends.rs"]
mod frontends;
#[path = "skill_interpreter/hostile.rs"]
mod hostile;
#[path = "skill_interpreter/map.rs"]
mod map;
#[path = "skill_interpreter/negative_addresses.rs"]
mod negative_addresses;
#[path = "skill_interpreter/negative_chain.rs"]
mod negative_chain;
#[path = "skill_interpreter/negative_documents.rs"]
mod negative_documents;
#[path = "skill_interpreter/negative_governance.rs"]
mod negative_governance;
#[path = "skill_interpreter/onboarding.rs"]
mod onboarding;
#[path = "skill_interpreter/sandbox.rs"]
mod sandbox;
#[path = "skill_interpreter/secrets.rs"]
mod secrets;
#[path = "skill_interpreter/seed.rs"]
mod seed;
#[path = "skill_interpreter/telling.rs"]
mod telling;
