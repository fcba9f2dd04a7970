//! Why a host cannot be made, or a call was not executed.

use super::Failure;
use crate::audit::{AuditError, CannotRecord};
use crate::capability::fetch::FetcherError;
use crate::engine::{CallError, EngineError};
use crate::pins::{PinError, RootError};
use crate::policy::{PolicyError, UntrustedSigner};
use crate::trust::Capability;
use hydrant_base::escaped;

/// Nothing was executed, or (for [`HostError::Call`], [`HostError::Audit`] and [`HostError::Delivery`]) there is no
/// answer although something was. How a skill itself failed is a [`Failure`](super::Failure) of its [`Run`](super::Run).
#[derive(Debug, thiserror::Error)]
pub enum HostError {
    /// The policy is refused.
    #[error(transparent)]
    Policy(#[from] PolicyError),
    /// The root of the pins cannot be opened.
    #[error(transparent)]
    Root(#[from] RootError),
    /// The skill is not what was pinned, or what was pinned is not trusted.
    #[error(transparent)]
    Pin(#[from] PinError),
    /// None of the policy's trusted signers signed the skill.
    #[error(transparent)]
    Untrusted(#[from] UntrustedSigner),
    /// A declared capability is above a ceiling, and the run wants all or nothing.
    #[error("capability denied: {}", escaped(&.0.to_string()))]
    CapabilityDenied(Capability),
    /// The engine or the component cannot be set up.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The TLS roots of the policy cannot be used.
    #[error(transparent)]
    Fetcher(#[from] FetcherError),
    /// The call has no answer.
    #[error(transparent)]
    Call(#[from] CallError),
    /// The call cannot be recorded, so it was not started.
    #[error(transparent)]
    CannotRecord(#[from] CannotRecord),
    /// The call was not recorded although it must be.
    #[error(transparent)]
    Audit(#[from] AuditError),
    /// What was to happen with the result before it is recorded failed.
    #[error(transparent)]
    Delivery(Box<dyn std::error::Error + Send + Sync>),
    /// No directory for temporary files can be made or used.
    #[error("no directory for temporary files can be used: {0}")]
    Temporary(#[source] std::io::Error),
    /// The working directory, which the default policy mounts, is not there.
    #[error("the working directory cannot be used: {0}")]
    WorkingDirectory(#[from] std::io::Error),
}

impl HostError {
    /// Of the failure of a component that was loaded before.
    pub(super) fn of_failure(failure: Failure) -> Self {
        match failure {
            Failure::Component(error) => Self::Call(error),
            Failure::NotLoadable(error) => Self::Engine(error),
            failure => Self::Call(CallError::Trap(failure.to_string())),
        }
    }
}
