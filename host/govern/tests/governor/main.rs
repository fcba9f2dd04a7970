//! The governor as a host sees it: the interpreter's own code, compiled natively, in place of its component, and a wire that
//! answers as a test says.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::panic_in_result_fn,
    clippy::indexing_slicing,
    reason = "a failed expectation is a failed test, in a fixture as in the test itself"
)]

mod agents;
mod budgets;
mod captured;
mod chain;
mod house;
mod loading;
mod manifests;
mod onboarding;
mod steps;
