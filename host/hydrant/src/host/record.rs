//! What is recorded of a call: its execution, the lines of the audit log, and that it was refused.

use std::collections::BTreeSet;
use std::error::Error;

use super::call::Executed;
use super::{Failure, Host, HostError};
use crate::audit::{AuditedCall, Code, Denial, Execution, Outcome, Reason, Receipt, ReceiptFormat};
use crate::capability::Entries;
use crate::capability::fs::Reads;
use crate::engine::EngineError;
use crate::trust::{Bundle, Capability};
use hydrant_base::Digest;
use hydrant_base::Timestamp;

/// What came of one execution.
#[derive(Debug)]
pub struct Run {
    /// The response, or how the skill failed.
    pub result: Result<Vec<u8>, Failure>,
    /// What receipts and the audit line are made of.
    pub execution: Execution,
}

/// What happens with a run before it is recorded, such as writing files; answers the hash of the receipt, if
/// one was made. Where it fails, or the record cannot be written, the caller takes back what it did.
pub type Delivery<'a> =
    &'a mut dyn FnMut(&Run) -> Result<Option<Digest>, Box<dyn Error + Send + Sync>>;

impl Run {
    /// The receipt of this run; none in the v0 form for a run that failed.
    #[must_use]
    pub fn receipt(&self, format: ReceiptFormat) -> Option<Receipt> {
        Receipt::of(&self.execution, format)
    }
}

impl Host {
    /// Records a call that was executed, after its delivery.
    pub(super) fn record(
        &self,
        executed: Executed<'_>,
        request: &[u8],
        deliver: Option<Delivery<'_>>,
    ) -> Result<Run, HostError> {
        let execution = self.execution(&executed, request);
        let Executed {
            audited,
            skill,
            journal,
            result,
            ..
        } = executed;
        let run = Run { result, execution };
        let delivered = deliver.map_or(Ok(None), |deliver| deliver(&run));
        // What was executed is recorded, also where its delivery failed.
        let receipt_hash = delivered.as_ref().ok().and_then(Option::as_ref);
        if let Some(audited) = audited {
            let (bundle, denied) = (skill.bundle(), &journal.denied);
            write_down(audited, &run.execution, bundle, denied, receipt_hash)?;
        }
        delivered.map_err(HostError::Delivery)?;
        Ok(run)
    }

    /// What receipts and the audit line are made of.
    fn execution(&self, executed: &Executed<'_>, request: &[u8]) -> Execution {
        let bundle = executed.skill.bundle();
        let (outcome, outputs_hash) = match &executed.result {
            Ok(response) => (Outcome::success(), Digest::of(response)),
            Err(failure) => (failure.outcome(), Digest::of(&failure.output())),
        };
        let names =
            |capabilities: &[Capability]| capabilities.iter().map(ToString::to_string).collect();
        Execution {
            artifact: bundle.artifact().clone(),
            manifest_hash: bundle.manifest_hash().clone(),
            policy_hash: self.layers.hash(),
            bundle_hash: bundle.bundle_hash(),
            inputs_hash: Digest::of(request),
            outputs_hash,
            caps_requested: names(&bundle.manifest().capabilities),
            caps_granted: names(&executed.granted(self)),
            caps_used: executed.journal.used.clone(),
            outcome,
            profile: executed.profile,
            started_at: executed.started,
            finished_at: Timestamp::now(),
            signer_ids: bundle
                .signatures()
                .signers()
                .into_iter()
                .map(str::to_owned)
                .collect(),
        }
    }

    /// Records that nothing was executed. Where even that fails, that is the error, as an unrecorded denial is one too.
    pub(super) fn refuse(
        &self,
        audited: Option<AuditedCall>,
        bundle: Option<&Bundle>,
        request: &[u8],
        error: HostError,
    ) -> HostError {
        let (Some(audited), Some(reason)) = (audited, reason(&error)) else {
            return error;
        };
        let mut denial = bundle.map(Denial::of_bundle).unwrap_or_default();
        denial.policy_hash = Some(self.layers.hash());
        denial.input_hash = Some(Digest::of(request));
        match audited.denied(denial, reason) {
            Ok(()) => error,
            Err(unrecorded) => unrecorded.into(),
        }
    }
}

/// Writes the audit lines of a call that was executed: one for each refused operation, then its own.
pub(super) fn write_down(
    mut call: AuditedCall,
    execution: &Execution,
    bundle: &Bundle,
    denied: &[String],
    receipt_hash: Option<&Digest>,
) -> Result<(), HostError> {
    if !denied.is_empty() {
        let denial = Denial {
            policy_hash: Some(execution.policy_hash.clone()),
            ..Denial::of_bundle(bundle)
        };
        for capability in denied {
            let (kind, value) = capability.split_once(':').unwrap_or((capability, ""));
            call.operation_denied(&denial, kind, value);
        }
    }
    Ok(call.executed(execution, receipt_hash)?)
}

/// What a guest used and was refused.
#[derive(Default)]
pub(super) struct Journaled {
    pub(super) used: BTreeSet<String>,
    pub(super) denied: Vec<String>,
    pub(super) reads: Reads,
}

impl From<Entries> for Journaled {
    fn from(entries: Entries) -> Self {
        Self {
            used: entries.used.into_iter().map(str::to_owned).collect(),
            denied: entries.denied,
            reads: entries.reads,
        }
    }
}

/// What the audit log calls it; none for what is no denial but a wrong command.
fn reason(error: &HostError) -> Option<Reason> {
    Some(match error {
        HostError::Pin(error) => Reason::PinFailed {
            row: error.row()?.to_string(),
        },
        HostError::Untrusted(_) => Reason::UntrustedSigner,
        HostError::CapabilityDenied(capability) => {
            Reason::capability_denied(&capability.kind, &capability.value)
        }
        HostError::Policy(_) => Reason::PolicyInvalid,
        // The bundle is what was pinned; the machine has too little for it.
        HostError::Engine(EngineError::NoRoom(_)) => Reason::ExecutionFailed {
            code: Code::InstantiationFailed,
            skill_code: None,
        },
        HostError::Engine(error) => Reason::PinFailed {
            row: match error {
                EngineError::Undeclared { .. } => "TV-25".into(),
                // A verified component that this machine cannot load.
                _ => "TV-27".into(),
            },
        },
        _ => return None,
    })
}
