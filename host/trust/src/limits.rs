//! The largest sizes that are read, in bytes.

/// `skill.wasm`.
pub const MAX_WASM_BYTES: u64 = 16_777_216;
/// Any JSON file, policies included.
pub const MAX_JSON_BYTES: u64 = 1_048_576;
/// A packed archive.
pub const MAX_ARCHIVE_BYTES: u64 = 134_217_728;
/// A secret key file.
pub const MAX_SECRET_KEY_BYTES: u64 = 16_384;
/// `pins/skills.lock.json.sig`.
pub const MAX_LOCK_SIGNATURE_BYTES: u64 = 65_536;
/// The input of a run.
pub const MAX_INPUT_BYTES: u64 = 16_777_216;
