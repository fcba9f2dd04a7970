//! Bearer tokens. The service knows their digests only, and nothing it writes or answers shows a token.
//!
//! A token is 32 random bytes, so that its digest tells nothing about it; it is compared with all known digests, each in
//! constant time, so that the time of an answer does not tell how much of it was right or whose it is.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use subtle::{ConditionallySelectable, ConstantTimeEq};

use hydrant_base::Digest;

/// Longer ones are none.
const MAX_TOKEN_BYTES: usize = 512;
/// What `new_token` makes has 43 characters behind the prefix.
const PREFIX: &str = "hyd_";

/// What the holder of a token may do.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// An agent: hydrates, runs, plans, loads and executes. It decides no approval.
    Caller,
    /// A person: sees and decides approvals, and what was done.
    Approver,
    /// Both, and removes skills.
    Operator,
}

impl Role {
    /// As the tenants file writes it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Caller => "caller",
            Self::Approver => "approver",
            Self::Operator => "operator",
        }
    }
}

/// Digests of tokens, each with what it stands for.
#[derive(Debug, Clone, Default)]
pub struct Tokens {
    digests: Vec<([u8; 32], u32)>,
}

impl Tokens {
    /// Adds a token by its digest; `index` is what [`find`](Self::find) then answers.
    pub fn add(&mut self, digest: &Digest, index: u32) {
        let mut bytes = [0; 32];
        // A `Digest` has 64 hex digits.
        let hex = digest.as_str().trim_start_matches("sha256:");
        for (byte, pair) in bytes.iter_mut().zip(hex.as_bytes().chunks_exact(2)) {
            let text = std::str::from_utf8(pair).unwrap_or_default();
            *byte = u8::from_str_radix(text, 16).unwrap_or_default();
        }
        self.digests.push((bytes, index));
    }

    /// What this token stands for. Every digest is looked at, whichever fits.
    #[must_use]
    pub fn find(&self, token: &str) -> Option<u32> {
        if token.is_empty() || token.len() > MAX_TOKEN_BYTES {
            return None;
        }
        let presented: [u8; 32] = Sha256::digest(token.as_bytes()).into();
        let mut found = u32::MAX;
        for (digest, index) in &self.digests {
            found.conditional_assign(index, digest.ct_eq(&presented));
        }
        (found != u32::MAX).then_some(found)
    }
}

/// The digest of a token, as the tenants file has it.
#[must_use]
pub fn token_digest(token: &str) -> Digest {
    Digest::of(token.as_bytes())
}

/// A new token: `hyd_` and 256 random bits.
///
/// # Errors
///
/// The system gives no random bytes.
pub fn new_token() -> Result<String, getrandom::Error> {
    let mut bytes = [0_u8; 32];
    getrandom::fill(&mut bytes)?;
    Ok(format!("{PREFIX}{}", URL_SAFE_NO_PAD.encode(bytes)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_found_by_its_digest_and_nothing_else() {
        let (one, two) = (new_token().unwrap(), new_token().unwrap());
        let mut tokens = Tokens::default();
        tokens.add(&token_digest(&one), 7);
        tokens.add(&token_digest(&two), 8);
        assert_eq!(tokens.find(&one), Some(7));
        assert_eq!(tokens.find(&two), Some(8));
        assert_eq!(tokens.find(token_digest(&one).as_str()), None);
        assert_eq!(tokens.find(""), None);
        assert_eq!(tokens.find(one.get(1..).unwrap()), None);
        assert_eq!(tokens.find(&"x".repeat(10_000)), None);
        assert_ne!(one, two);
        assert_eq!(one.len(), PREFIX.len() + 43);
    }
}
