//! How an operation reads: parameters, one sentence, what a command maps to. Execution uses the stages, never these.

mod mapping;
mod params;
mod text;

pub use mapping::{approval_reason, mapping};
pub use params::params;
pub use text::{display, escaped, is_of_name};
