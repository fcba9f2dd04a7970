//! Governed execution of foreign skills.
//!
//! The interpreter, a component without any capability, says what a document or a command would do. This crate decides
//! whether it may be done and does it: it registers operations, asks an operator for approval, injects secrets, keeps
//! budgets, and writes each step down in a chain that nobody can alter unseen.
//!
//! It knows neither the engine nor the network: what it needs of a host are the [`ports`]. It does know the jail.

pub mod budget;
pub mod chain;
pub mod check;
pub mod client;
pub mod config;
pub mod execute;
pub mod governor;
pub mod guard;
pub mod manifest;
pub mod onboarding;
pub mod ports;
pub mod redact;
pub mod registry;
pub mod request;
pub mod sandbox;
pub mod secrets;
pub mod state;
pub mod time;

pub use hydrant_plan::{digest, failure, header};

/// Locks a mutex. What it protects is whole after a panic too: no change of it is left halfway.
fn locked<T>(mutex: &std::sync::Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
}
