//! Sandbox stages, black-box: real programs in real jails.
#![cfg(target_os = "linux")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

mod egress;
mod ends;
mod programs;
mod refusals;
mod returned;
mod sight;
mod support;
mod text_tools;
