//! What the caller of a verification decides and no file of the root may: which ring to trust, and how many must have signed.

use std::num::NonZeroU32;

use hydrant_base::{Digest, InvalidDigest};

/// What a root is verified against.
#[derive(Debug, Clone)]
pub struct Anchor {
    /// The digest of the ring. There is no trust on first use.
    pub keys_digest: Digest,
    /// The world id of this host.
    pub world: String,
    /// How many distinct keys must have signed.
    pub min_signers: MinSigners,
}

impl Anchor {
    /// `--keys-digest`, else `HYDRANT_KEYS_DIGEST`, else the digest compiled into this binary.
    ///
    /// # Errors
    /// [`KeysDigestError`] for what is empty or no digest; an unusable value never falls back to the next one.
    pub fn keys_digest(
        flag: Option<&str>,
        environment: Option<&str>,
        built_in: &Digest,
    ) -> Result<Digest, KeysDigestError> {
        let (place, stated) = match (flag, environment) {
            (Some(stated), _) => ("--keys-digest", stated),
            (None, Some(stated)) => ("HYDRANT_KEYS_DIGEST", stated),
            (None, None) => return Ok(built_in.clone()),
        };
        if stated.is_empty() {
            return Err(KeysDigestError::Empty { place });
        }
        stated
            .parse()
            .map_err(|error| KeysDigestError::Invalid { place, error })
    }
}

/// An unusable digest of the ring: a usage error.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KeysDigestError {
    /// Empty, as a variable that a CI system does not set.
    #[error(
        "{place} is empty: give it the digest of the key ring that you trust, which `hydrant keys digest FILE` prints, or \
         leave it out to trust the ring of this program"
    )]
    Empty {
        /// The flag or the variable.
        place: &'static str,
    },
    /// Anything but `sha256:` and 64 hex digits.
    #[error("{place}: {error}")]
    Invalid {
        /// The flag or the variable.
        place: &'static str,
        /// What it holds.
        error: InvalidDigest,
    },
}

/// MIN_SIGNERS: how many distinct keys must have signed a lock and each bundle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MinSigners(NonZeroU32);

/// A number of signers that may not be asked for: a usage error.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MinSignersError {
    /// `--min-signers 0`.
    #[error("--min-signers must be at least 1")]
    Flag,
    /// The environment may only raise the number.
    #[error("MIN_SIGNERS must be a number of at least {DEFAULT}, not {:?}; only --min-signers may lower it", .0.escape_default().to_string())]
    Environment(String),
}

/// How many signers are needed by default: 2.
const DEFAULT: NonZeroU32 = NonZeroU32::MIN.saturating_add(1);

impl MinSigners {
    /// The flag decides; without it the variable `MIN_SIGNERS` may raise the 2. An empty variable counts as none.
    ///
    /// # Errors
    /// [`MinSignersError`]: a flag of 0; a variable that is no number or below 2, also when the flag is given.
    pub fn from(flag: Option<u32>, environment: Option<&str>) -> Result<Self, MinSignersError> {
        let raised = match environment.filter(|text| !text.is_empty()) {
            None => DEFAULT,
            Some(text) => text
                .parse()
                .ok()
                .filter(|number| *number >= DEFAULT)
                .ok_or_else(|| MinSignersError::Environment(text.to_owned()))?,
        };
        match flag {
            None => Ok(Self(raised)),
            Some(number) => NonZeroU32::new(number)
                .map(Self)
                .ok_or(MinSignersError::Flag),
        }
    }

    /// The number.
    #[must_use]
    pub fn count(self) -> usize {
        usize::try_from(self.0.get()).unwrap_or(usize::MAX)
    }

    /// Whether the flag lowered it, which the output says.
    #[must_use]
    pub fn is_lowered(self) -> bool {
        self.0 < DEFAULT
    }
}

impl Default for MinSigners {
    fn default() -> Self {
        Self(DEFAULT)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_signers_are_needed_and_either_side_may_raise_that() {
        let count = |flag, environment| MinSigners::from(flag, environment).unwrap().count();
        assert_eq!(count(None, None), 2);
        assert_eq!(count(None, Some("")), 2);
        assert_eq!(count(None, Some("3")), 3);
        assert_eq!(count(Some(4), Some("3")), 4);
        assert_eq!(MinSigners::default().count(), 2);
    }

    #[test]
    fn only_the_flag_lowers_it_to_one() {
        let lowered = MinSigners::from(Some(1), Some("3")).unwrap();
        assert_eq!((lowered.count(), lowered.is_lowered()), (1, true));
        assert!(!MinSigners::default().is_lowered());
        assert_eq!(MinSigners::from(Some(0), None), Err(MinSignersError::Flag));
    }

    #[test]
    fn the_environment_never_lowers_it() {
        for bad in ["0", "1", "-1", "two", " 2", "2.0", "4294967296"] {
            for flag in [None, Some(1)] {
                let error = MinSigners::from(flag, Some(bad)).unwrap_err();
                assert_eq!(error, MinSignersError::Environment(bad.to_owned()));
            }
        }
    }

    #[test]
    fn the_flag_goes_before_the_variable_and_that_before_what_is_compiled_in() {
        let [flag, environment, built_in] = [b"a", b"b", b"c"].map(|bytes| Digest::of(bytes));
        let pick = |flag: Option<&Digest>, environment: Option<&Digest>| {
            let text = |digest: Option<&Digest>| digest.map(ToString::to_string);
            let (flag, environment) = (text(flag), text(environment));
            Anchor::keys_digest(flag.as_deref(), environment.as_deref(), &built_in).unwrap()
        };
        assert_eq!(pick(Some(&flag), Some(&environment)), flag);
        assert_eq!(pick(None, Some(&environment)), environment);
        assert_eq!(pick(None, None), built_in);
    }

    #[test]
    fn a_value_that_is_no_digest_is_an_error_and_never_passed_over() {
        let built_in = Digest::of(b"c");
        for (flag, environment) in [(Some("x"), None), (None, Some("")), (Some(""), Some("x"))] {
            assert!(Anchor::keys_digest(flag, environment, &built_in).is_err());
        }
    }
}
