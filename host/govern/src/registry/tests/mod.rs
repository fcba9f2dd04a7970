//! The registry as the governor uses it.

mod binding;
mod decision;
mod listing;
mod loading;
mod other;
mod permitting;
pub(super) mod testing;
