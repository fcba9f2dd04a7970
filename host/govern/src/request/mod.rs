//! From the params of a caller to what is sent.
//!
//! A caller controls values only. They are validated, encoded for their place, and put where the approved
//! segments name them; nothing is built by splicing text. Secrets come last and only from the host.
//!
//! - [`validate`] checks params against an operation: schema, defaults, and that each value can stand in its place.
//! - [`CallFiles`] are the files of a call.
//! - [`Fill`] puts inputs and secrets into segments; [`http_request`] makes a whole request of a stage.

pub(crate) mod beneath;
mod body;
mod encode;
mod files;
mod http;
mod inputs;
mod json;
mod multipart;
mod schema;
mod style;
mod target;
mod text;

#[cfg(test)]
pub(crate) mod tests;

pub use files::CallFiles;
pub use http::{FilledHeader, FilledRequest, http_request};
pub use inputs::{Inputs, validate};
pub use schema::{Schema, Schemas};
pub use text::{Fill, Filled, Secrets};

pub(crate) use inputs::NEEDED;
pub(crate) use target::{filled_pairs, has_credentials, origin};
