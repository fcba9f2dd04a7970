//! Why a call was allowed or denied: a closed list, because programs count and alert on it.

use std::fmt;

use serde::{Serialize, Serializer};

use hydrant_base::escaped;
use hydrant_trust::Step;

use super::{Code, Outcome};

/// The `reason` of an audit line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reason {
    /// The skill ran and answered.
    VerifiedExecutionSuccess,
    /// The skill ran and failed.
    ExecutionFailed {
        /// Why it failed; never [`Code::Ok`].
        code: Code,
        /// The component's own code, with [`Code::SkillError`].
        skill_code: Option<String>,
    },
    /// The bundle was refused at this step of its verification.
    VerificationFailed(Step),
    /// The policy, or one of its layers, cannot be read or is refused.
    PolicyInvalid,
    /// Manifest, signatures and policy have no trusted signer in common.
    UntrustedSigner,
    /// A declared capability or one operation was refused.
    CapabilityDenied {
        /// Such as `fs.read`.
        kind: String,
        /// What was asked for: a virtual path, a URL, a program.
        value: String,
    },
    /// More operations were refused than are written.
    CapabilityDeniedMore,
    /// The pin of the skill failed at this row.
    PinFailed {
        /// Such as `TV-14`.
        row: String,
    },
}

/// Characters of a refused value; what a guest asks for may be as long as it likes.
const MAX_VALUE: usize = 512;

impl Reason {
    /// The reason of a call that was executed.
    #[must_use]
    pub fn of(outcome: &Outcome) -> Self {
        match outcome.code() {
            Code::Ok => Self::VerifiedExecutionSuccess,
            code => Self::ExecutionFailed {
                code,
                skill_code: outcome.skill_code().map(str::to_owned),
            },
        }
    }

    /// A refused capability or operation.
    #[must_use]
    pub fn capability_denied(kind: &str, value: &str) -> Self {
        Self::CapabilityDenied {
            kind: kind.to_owned(),
            value: value.to_owned(),
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bounded = |text: &str| -> String { escaped(text).chars().take(MAX_VALUE).collect() };
        match self {
            Self::VerifiedExecutionSuccess => f.write_str("verified_execution_success"),
            Self::ExecutionFailed {
                code,
                skill_code: None,
            } => write!(f, "execution_failed:{code}"),
            Self::ExecutionFailed {
                code,
                skill_code: Some(skill_code),
            } => write!(f, "execution_failed:{code}:{}", bounded(skill_code)),
            Self::VerificationFailed(step) => write!(f, "verification_failed:{step}"),
            Self::PolicyInvalid => f.write_str("policy_invalid"),
            Self::UntrustedSigner => f.write_str("untrusted_signer"),
            Self::CapabilityDenied { kind, value } => {
                write!(f, "capability_denied:{}:{}", bounded(kind), bounded(value))
            }
            Self::CapabilityDeniedMore => f.write_str("capability_denied:more"),
            Self::PinFailed { row } => write!(f, "pin_failed:{}", bounded(row)),
        }
    }
}

impl Serialize for Reason {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_execution_gives_its_code_and_the_skills_code() {
        for (outcome, reason) in [
            (Outcome::success(), "verified_execution_success"),
            (
                Outcome::failure(Code::FuelExhausted, "x"),
                "execution_failed:fuel_exhausted",
            ),
            (
                Outcome::skill_error("not_found", "x"),
                "execution_failed:skill_error:not_found",
            ),
        ] {
            assert_eq!(Reason::of(&outcome).to_string(), reason);
        }
    }

    #[test]
    fn a_refusal_gives_its_step() {
        for (step, name) in [
            (Step::Read, "read"),
            (Step::Manifest, "manifest"),
            (Step::Signatures, "signatures"),
            (Step::Artifact, "artifact"),
            (Step::ManifestHash, "manifest_hash"),
            (Step::Schema, "schema"),
            (Step::KeysDigest, "keys_digest"),
            (Step::Keys, "keys"),
            (Step::Signature, "signature"),
            (Step::Cosign, "cosign"),
        ] {
            assert_eq!(
                Reason::VerificationFailed(step).to_string(),
                format!("verification_failed:{name}")
            );
        }
    }

    #[test]
    fn the_other_refusals_have_fixed_texts() {
        for (reason, text) in [
            (Reason::PolicyInvalid, "policy_invalid"),
            (Reason::UntrustedSigner, "untrusted_signer"),
            (
                Reason::capability_denied("fs.read", "/workspace"),
                "capability_denied:fs.read:/workspace",
            ),
            (Reason::CapabilityDeniedMore, "capability_denied:more"),
            (
                Reason::PinFailed {
                    row: "TV-14".into(),
                },
                "pin_failed:TV-14",
            ),
        ] {
            assert_eq!(reason.to_string(), text);
        }
    }

    #[test]
    fn a_refused_value_is_escaped_and_bounded() {
        let reason = Reason::capability_denied("fs.read", &format!("/a\n{}", "b".repeat(9999)));
        let text = reason.to_string();
        assert!(text.starts_with("capability_denied:fs.read:/a\\u{a}bbb"));
        assert_eq!(
            text.chars().count(),
            "capability_denied:fs.read:".len() + 512
        );
    }
}
