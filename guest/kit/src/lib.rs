//! What hydrant's components share.
//!
//! A component gets one JSON request and answers bytes or a [`SkillError`]. On the way it reads Markdown
//! and YAML that a stranger wrote; everything here is total (no input makes it panic), takes time about
//! linear in its input, and never recurses as deep as the input says. It has no effects: reading,
//! fetching and executing are hostcalls, which belong to each component.

pub mod charset;
pub mod cut;
pub mod error;
pub mod fetch;
pub mod front_matter;
pub mod glob;
pub mod host;
pub mod json;
pub mod json_reader;
pub mod media;
pub mod members;
pub mod path;
pub mod process;
pub mod redact;
pub mod request;
pub mod text;
pub mod tree;
pub mod yaml;

pub use error::SkillError;
