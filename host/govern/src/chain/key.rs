//! The key that signs the chain, and the one of digests derived from it.

use std::io::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ed25519_dalek::{Signature, Signer as _, SigningKey, VerifyingKey};
use hmac::{Hmac, KeyInit as _, Mac as _};
use rustix::fs::OFlags;
use sha2::Sha256;
use zeroize::Zeroizing;

use super::error::ChainError;
use crate::digest::hex;
use crate::state::{Folder, FolderError};

const SECRET: &str = "audit.key";
const PUBLIC: &str = "audit.pub";
const LONGEST: u64 = 1024;

/// Signs records. Wiped when dropped.
pub(crate) struct ChainKey {
    signing: SigningKey,
    digests: Zeroizing<[u8; 32]>,
}

impl ChainKey {
    /// The key of the state directory. One is made only where there is no chain yet (`fresh`): a chain whose key is gone
    /// cannot be continued.
    pub(crate) fn load(state: &Folder, fresh: bool) -> Result<Self, ChainError> {
        let key = match state.read(SECRET, LONGEST)?.map(Zeroizing::new) {
            Some(text) => Self::parse(&text)
                .ok_or_else(|| ChainError::Broken(format!("{SECRET} holds no key")))?,
            None if fresh && state.stat(PUBLIC)?.is_none() => Self::make(state)?,
            None => return Err(ChainError::Broken(format!("{SECRET} is missing"))),
        };
        match verifying(state)? {
            Some(public) if public == key.signing.verifying_key() => {}
            Some(_) => {
                return Err(ChainError::Broken(format!(
                    "{PUBLIC} is not the public half of {SECRET}"
                )));
            }
            None if state.stat(PUBLIC)?.is_some() => {
                return Err(ChainError::Broken(format!("{PUBLIC} holds no key")));
            }
            // A crash between both files.
            None => write_new(
                state,
                PUBLIC,
                STANDARD.encode(key.verifying().as_bytes()).as_bytes(),
            )?,
        }
        Ok(key)
    }

    fn make(state: &Folder) -> Result<Self, ChainError> {
        let mut seed = Zeroizing::new([0_u8; 32]);
        getrandom::fill(seed.as_mut_slice()).map_err(|error| ChainError::Write {
            what: SECRET,
            source: std::io::Error::other(error.to_string()),
        })?;
        let text = Zeroizing::new(STANDARD.encode(seed.as_slice()));
        write_new(state, SECRET, text.as_bytes())?;
        Ok(Self::from_seed(&seed))
    }

    fn parse(text: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(text).ok()?;
        let bytes = Zeroizing::new(STANDARD.decode(text.trim()).ok()?);
        let seed: &[u8; 32] = bytes.as_slice().try_into().ok()?;
        Some(Self::from_seed(seed))
    }

    fn from_seed(seed: &[u8; 32]) -> Self {
        let digests = keyed(seed, &[b"hydrant.chain.digests.v1\n"]);
        Self {
            signing: SigningKey::from_bytes(seed),
            digests: Zeroizing::new(digests),
        }
    }

    /// What verifies its signatures.
    pub(crate) fn verifying(&self) -> VerifyingKey {
        self.signing.verifying_key()
    }

    /// Base64 of the signature over a domain and a text.
    pub(crate) fn sign(&self, domain: &str, text: &[u8]) -> String {
        STANDARD.encode(self.signing.sign(&message(domain, text)).to_bytes())
    }

    /// `hmac-sha256:` and 64 hex digits.
    pub(crate) fn digest(&self, bytes: &[u8]) -> String {
        format!(
            "hmac-sha256:{}",
            hex(&keyed(self.digests.as_slice(), &[bytes]))
        )
    }
}

/// The public key of a state directory; none if it is not there or is none.
pub(crate) fn verifying(state: &Folder) -> Result<Option<VerifyingKey>, FolderError> {
    let Some(bytes) = state.read(PUBLIC, LONGEST)? else {
        return Ok(None);
    };
    Ok(std::str::from_utf8(&bytes)
        .ok()
        .and_then(|text| STANDARD.decode(text.trim()).ok())
        .and_then(|bytes| <[u8; 32]>::try_from(bytes).ok())
        .and_then(|bytes| VerifyingKey::from_bytes(&bytes).ok())
        .filter(|key| !key.is_weak()))
}

/// Whether `signature` (base64) is this key's over a domain and a text.
pub(crate) fn signed(key: &VerifyingKey, domain: &str, text: &[u8], signature: &str) -> bool {
    STANDARD
        .decode(signature)
        .ok()
        .and_then(|bytes| Signature::from_slice(&bytes).ok())
        .is_some_and(|signature| {
            key.verify_strict(&message(domain, text), &signature)
                .is_ok()
        })
}

fn message(domain: &str, text: &[u8]) -> Vec<u8> {
    let mut message = domain.as_bytes().to_vec();
    message.extend_from_slice(text);
    message
}

fn keyed(key: &[u8], parts: &[&[u8]]) -> [u8; 32] {
    // An HMAC takes a key of any length.
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(key) else {
        return [0; 32];
    };
    for part in parts {
        mac.update(part);
    }
    mac.finalize().into_bytes().into()
}

fn write_new(state: &Folder, name: &'static str, bytes: &[u8]) -> Result<(), ChainError> {
    // Under a name of its own first: a crash leaves no half key.
    let draft = format!("{name}.new");
    let failed = |source| ChainError::Write { what: name, source };
    state.remove(&draft)?;
    let mut file = state.create(&draft, OFlags::WRONLY)?;
    file.write_all(bytes)
        .and_then(|()| file.write_all(b"\n"))
        .and_then(|()| file.sync_all())
        .map_err(failed)?;
    rustix::fs::renameat_with(
        state.fd(),
        &*draft,
        state.fd(),
        name,
        rustix::fs::RenameFlags::NOREPLACE,
    )
    .map_err(|error| failed(error.into()))?;
    state.sync()?;
    Ok(())
}
