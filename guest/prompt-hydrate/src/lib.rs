//! The component `prompt.hydrate`: from a terse prompt to a plan, without a language model.
//!
//! 1. [`request`] reads the request, [`hook`] reads the JSON of the hook and decides whether the prompt is skipped.
//! 2. [`text`] takes the prompt apart, [`session`] the transcript, [`catalogue`] the workflow files.
//! 3. [`cues`] reads what its words say outright, [`route`] which workflow it takes, or that none is certain enough.
//! 4. [`plan`] makes the items of that workflow for this prompt, and checks every plan, its own and a model's.
//! 5. [`document`] renders the file and the short instruction; [`respond`] answers.
//!
//! Nothing here trusts its input, keeps state, or has another effect than reading files of its two mounts.

pub mod catalogue;
pub mod codebase;
pub mod cues;
pub mod document;
pub mod hook;
pub mod plan;
pub mod request;
pub mod respond;
pub mod route;
pub mod session;
pub mod text;

pub use kit::redact;
pub use respond::{describe, run};

kit::component!(crate::describe, crate::run);
