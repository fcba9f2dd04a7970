//! `HEAD`: where the chain ended after the last append.

use ed25519_dalek::VerifyingKey;
use serde::{Deserialize, Serialize};

use super::error::ChainError;
use super::key::{self, ChainKey};
use super::record::Tail;
use crate::digest::canonical;
use crate::state::Folder;
use crate::time::Time;

pub(crate) const NAME: &str = "HEAD";

/// The longest file.
pub(crate) const LONGEST: u64 = 4096;

// Another domain than a record's: whoever cuts records off finds no signature among the others that would serve as HEAD's.
const SIGNED: &str = "hydrant.head.v1\n";

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Head {
    seq: u64,
    hash: String,
    ts: Time,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    sig: Option<String>,
}

impl Head {
    /// What is signed: all but the signature.
    fn message(&self) -> Result<Vec<u8>, serde_json::Error> {
        canonical(&Self {
            seq: self.seq,
            hash: self.hash.clone(),
            ts: self.ts,
            sig: None,
        })
    }
}

/// The file for a chain that ends there.
pub(crate) fn write(tail: &Tail, key: &ChainKey) -> Result<Vec<u8>, ChainError> {
    let mut head = Head {
        seq: tail.seq,
        hash: tail.hash.clone(),
        ts: tail.ts,
        sig: None,
    };
    head.sig = Some(key.sign(SIGNED, &head.message()?));
    let mut file = canonical(&head)?;
    file.push(b'\n');
    Ok(file)
}

/// What a file says; none if it is not as [`write`] makes it or not signed.
pub(crate) fn read(file: &[u8], key: &VerifyingKey) -> Option<Tail> {
    let head: Head = serde_json::from_slice(file).ok()?;
    let message = head.message().ok()?;
    if file.strip_suffix(b"\n")? != canonical(&head).ok()? {
        return None;
    }
    key::signed(key, SIGNED, &message, head.sig.as_deref()?).then_some(Tail {
        seq: head.seq,
        hash: head.hash,
        ts: head.ts,
    })
}

/// Returns the time in `HEAD`, as it stands there; none where there is no `HEAD` or it cannot be read.
pub(crate) fn newest(state: &Folder) -> Option<Time> {
    let file = state.child("chain").ok()??.read(NAME, LONGEST).ok()??;
    let head: Head = serde_json::from_slice(&file).ok()?;
    Some(head.ts)
}
