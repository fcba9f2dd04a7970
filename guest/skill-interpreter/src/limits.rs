//! How much of everything there may be. Whatever walks an input as deep as it is nested checks one of these first.

/// A skill document, in bytes.
pub const DOCUMENT_BYTES: usize = 1 << 20;
/// An OpenAPI description, in bytes.
pub const DESCRIPTION_BYTES: usize = 16 << 20;
/// Operations of one skill.
pub const OPERATIONS: usize = 512;
/// Operations of one fence.
pub const FENCE_OPERATIONS: usize = 64;
/// The text of one command or fence, in bytes.
pub const COMMAND_BYTES: usize = 64 << 10;
/// Constructs of the shell within each other.
pub const SHELL_NESTING: usize = 64;
/// Collections of JSON or YAML within each other.
pub const DATA_NESTING: usize = kit::yaml::MAX_DEPTH;
/// `$ref` within `$ref`.
pub const REFERENCE_DEPTH: usize = 32;
/// Diagnostics of one answer; further ones are left out, and the last says so.
pub const DIAGNOSTICS: usize = 1_000;
