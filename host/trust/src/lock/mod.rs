//! `pins/skills.lock.json` and its signature: which bytes may run, and who said so.
//!
//! Both files have exactly one byte sequence for one content, so a changed byte is always a changed content.
//! Relies on strict JSON and on the ring for keys. Reads no file and decides nothing about
//! what is on disk: that is `pins`.

mod document;
mod signature;

pub use document::{Lock, LockEntry, LockError, LockFault, SubstratePin, compare_versions};
pub use signature::{LockSignatureError, LockSignatures};
