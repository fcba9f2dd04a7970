//! What every other crate of the host uses, each once: digests, canonical and strict JSON, escapes for terminals and logs,
//! bounded reads and atomic replacement of files, stamps from which a change shows, locks and leases, time.

pub mod address;
mod canonical;
mod digest;
mod escape;
mod file_lock;
mod file_stamp;
mod files;
pub mod home;
mod json;
mod lease_file;
mod timestamp;

pub use canonical::{canonical_digest, canonical_json};
pub use digest::{Digest, Hex, InvalidDigest, is_lower_hex, random_hex};
pub use escape::{escaped, escaped_path, excerpt};
pub use file_lock::{FileLock, LockKind, MAX_WAITING};
pub use file_stamp::FileStamp;
pub use files::{
    FileError, read_at_most, read_bounded, read_bounded_as, temporary_path, write_replacing,
};
pub use json::{JsonError, parse as parse_json, pretty as pretty_json};
pub use lease_file::LeaseFile;
pub use timestamp::Timestamp;
