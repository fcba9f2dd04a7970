//! One run: verified, allowed, executed, delivered, recorded - in this order, whatever is run. Of pinned skills here, of
//! other bundles in `bundle`.

use std::collections::BTreeSet;
use std::error::Error;
use std::sync::Arc;

use super::pinned::PinnedSkill;
use super::{Failure, Host, HostError};
use crate::audit::{
    AuditTarget, AuditedCall, Code, Denial, Execution, Outcome, Reason, Receipt, ReceiptFormat,
    RuntimeProfile,
};
use crate::capability::fetch::Credential;
use crate::capability::fs::Reads;
use crate::capability::{Entries, fs};
use crate::engine::{Budgets, CallError, EngineError, Skill};
use crate::policy::Grant;
use crate::trust::{Bundle, Capability, WasmForm};
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

/// How a pinned skill is about to be called.
pub(super) struct Prepared {
    pub(super) grant: Grant,
    pub(super) budgets: Budgets,
    /// The key of the language model, which the guest never sees.
    pub(super) credential: Option<Arc<Credential>>,
}

/// A pinned skill that was called, and of which nothing is recorded yet.
pub(super) struct Called {
    call: AuditedCall,
    pub(super) skill: Arc<PinnedSkill>,
    result: Result<Vec<u8>, Failure>,
    pub(super) journal: Journaled,
    started: Timestamp,
}

/// `id` or `id@version`.
fn parts(skill: &str) -> (&str, Option<&str>) {
    match skill.split_once('@') {
        Some((id, version)) => (id, Some(version)),
        None => (skill, None),
    }
}

impl Run {
    /// The receipt of this run; none in the v0 form for a run that failed.
    #[must_use]
    pub fn receipt(&self, format: ReceiptFormat) -> Option<Receipt> {
        Receipt::of(&self.execution, format)
    }
}

impl Host {
    /// Runs a pinned skill, `id` or `id@version`, with a request in JSON. What the policy does not allow of its
    /// capabilities is answered `denied` when it is used.
    ///
    /// # Errors
    ///
    /// [`HostError`] when nothing was executed or the record of it cannot be written. A skill that fails is a [`Run`].
    pub fn run(&self, skill: &str, request: &[u8]) -> Result<Run, HostError> {
        self.run_delivering(skill, request, &mut |_| Ok(None))
    }

    /// As [`run`](Self::run), with something to do before the run is recorded.
    ///
    /// # Errors
    ///
    /// As [`run`](Self::run), and [`HostError::Delivery`].
    pub fn run_delivering(
        &self,
        skill: &str,
        request: &[u8],
        deliver: Delivery<'_>,
    ) -> Result<Run, HostError> {
        let (id, version) = parts(skill);
        self.run_pinned(id, version, request, |prepared| prepared, deliver)
    }

    pub(super) fn run_pinned(
        &self,
        id: &str,
        version: Option<&str>,
        request: &[u8],
        prepare: impl FnOnce(Prepared) -> Prepared,
        deliver: Delivery<'_>,
    ) -> Result<Run, HostError> {
        let called = self.call_pinned(id, version, request, prepare)?;
        self.record_pinned(called, request, deliver)
    }

    /// Calls a pinned skill. Where it may not be called that is recorded; where it was, that is still to do.
    pub(super) fn call_pinned(
        &self,
        id: &str,
        version: Option<&str>,
        request: &[u8],
        prepare: impl FnOnce(Prepared) -> Prepared,
    ) -> Result<Called, HostError> {
        let started = Timestamp::now();
        let call = self.begin()?;
        let skill = match self.load(id, version) {
            Ok(skill) => skill,
            Err(error) => return Err(self.refuse(call, None, request, error)),
        };
        let bundle = &skill.pinned.bundle;
        if let Err(error) = self.check_signers(bundle) {
            return Err(self.refuse(call, Some(bundle), request, error));
        }
        let (result, journal) = self.call(&skill, request, prepare);
        Ok(Called {
            call,
            skill,
            result,
            journal,
            started,
        })
    }

    pub(super) fn record_pinned(
        &self,
        called: Called,
        request: &[u8],
        deliver: Delivery<'_>,
    ) -> Result<Run, HostError> {
        let bundle = &called.skill.pinned.bundle;
        let capabilities = &bundle.manifest().capabilities;
        let ended = Ended {
            granted: self.layers.granted(capabilities, WasmForm::Component),
            bundle,
            profile: RuntimeProfile::ComponentV0,
            journal: called.journal,
            started: called.started,
        };
        self.record(called.call, request, called.result, ended, deliver)
    }

    /// Runs a pinned skill, `id` or `id@version`, for its response alone. It is recorded where there is an audit log;
    /// where there is none, the digests that a receipt needs are not computed.
    ///
    /// # Errors
    ///
    /// As [`run`](Self::run). A skill that fails is a [`Failure`].
    pub fn answer(
        &self,
        skill: &str,
        request: &[u8],
    ) -> Result<Result<Vec<u8>, Failure>, HostError> {
        let (id, version) = parts(skill);
        self.answer_pinned(id, version, request, |prepared| prepared)
    }

    /// As [`answer`](Self::answer), and no process starts, whatever the policy says.
    ///
    /// # Errors
    ///
    /// As [`answer`](Self::answer).
    pub fn answer_without_processes(
        &self,
        skill: &str,
        request: &[u8],
    ) -> Result<Result<Vec<u8>, Failure>, HostError> {
        let (id, version) = parts(skill);
        self.answer_pinned(id, version, request, |prepared| Prepared {
            grant: prepared.grant.without_processes(),
            ..prepared
        })
    }

    pub(super) fn answer_pinned(
        &self,
        id: &str,
        version: Option<&str>,
        request: &[u8],
        prepare: impl FnOnce(Prepared) -> Prepared,
    ) -> Result<Result<Vec<u8>, Failure>, HostError> {
        if self.audit != AuditTarget::Off {
            let run = self.run_pinned(id, version, request, prepare, &mut |_| Ok(None))?;
            return Ok(run.result);
        }
        let skill = self.load(id, version)?;
        self.check_signers(&skill.pinned.bundle)?;
        Ok(self.call(&skill, request, prepare).0)
    }

    /// Loads a skill, so that the next call of it finds it.
    pub(super) fn load_pinned(&self, id: &str) -> Result<(), HostError> {
        self.load(id, None).map(|_| ())
    }

    /// Loads a skill that is about to be called. If it may start a program, its jail is begun meanwhile.
    pub(super) fn load(
        &self,
        id: &str,
        version: Option<&str>,
    ) -> Result<Arc<PinnedSkill>, HostError> {
        let verified = |capabilities: &[Capability]| {
            if let Some(jail) = &self.jail
                && self.layers.may_confine_for(capabilities)
            {
                jail.prepare();
            }
        };
        self.pins
            .load(id, version, &self.engine, &self.layers, verified)
    }

    /// With the capabilities that the policy leaves of the declared ones.
    pub(super) fn call(
        &self,
        skill: &PinnedSkill,
        request: &[u8],
        prepare: impl FnOnce(Prepared) -> Prepared,
    ) -> (Result<Vec<u8>, Failure>, Journaled) {
        let prepared = prepare(Prepared {
            grant: skill.grant.clone(),
            budgets: Budgets::of(&self.layers.limits()),
            credential: None,
        });
        self.call_with(&skill.skill, request, prepared)
    }

    pub(super) fn call_with(
        &self,
        skill: &Skill,
        request: &[u8],
        prepared: Prepared,
    ) -> (Result<Vec<u8>, Failure>, Journaled) {
        let Prepared {
            mut grant,
            budgets,
            credential,
        } = prepared;
        if self.no_processes {
            grant = grant.without_processes();
        }
        let context = self.context_with(grant, &budgets, credential);
        // What a killed host left half done is finished before anything is read.
        let result = fs::recover(&context)
            .map_err(CallError::Budget)
            .and_then(|()| {
                self.engine
                    .run(skill, request, Arc::clone(&context), &budgets)
            });
        let entries = context.journal.take();
        let result = result.map(|answer| answer.response).map_err(|error| {
            let failure = Failure::of_component(error).because(entries.obstacle);
            if entries.files_changed {
                failure.after_changes()
            } else {
                failure
            }
        });
        (result, entries.into())
    }

    /// Refuses a bundle unless every layer trusts a signer that its manifest declares and that signed.
    pub(super) fn check_signers(&self, bundle: &Bundle) -> Result<(), HostError> {
        let declared = &bundle.manifest().signers;
        Ok(self
            .layers
            .check_signers(declared, &bundle.signatures().signers())?)
    }

    /// Opens the audit log and gives a call its id, before anything else of the call is done.
    ///
    /// # Errors
    ///
    /// [`HostError::CannotRecord`]: the call must not start.
    pub fn begin(&self) -> Result<AuditedCall, HostError> {
        Ok(AuditedCall::begin(&self.audit, self.context.clone())?)
    }

    /// Records that nothing was executed. Where even that fails, that is the error, as an unrecorded denial is one too.
    pub(super) fn refuse(
        &self,
        call: AuditedCall,
        bundle: Option<&Bundle>,
        request: &[u8],
        error: HostError,
    ) -> HostError {
        let Some(reason) = reason(&error) else {
            return error;
        };
        let mut denial = bundle.map(Denial::of_bundle).unwrap_or_default();
        denial.policy_hash = Some(self.layers.hash());
        denial.input_hash = Some(Digest::of(request));
        match call.denied(denial, reason) {
            Ok(()) => error,
            Err(unrecorded) => unrecorded.into(),
        }
    }

    pub(super) fn record(
        &self,
        call: AuditedCall,
        request: &[u8],
        result: Result<Vec<u8>, Failure>,
        ended: Ended<'_>,
        deliver: Delivery<'_>,
    ) -> Result<Run, HostError> {
        let bundle = ended.bundle;
        let denied = ended.journal.denied.clone();
        let execution = self.execution(request, &result, ended);
        let run = Run { result, execution };
        let delivered = deliver(&run);
        // What was executed is recorded, also where its delivery failed.
        let receipt_hash = delivered.as_ref().ok().and_then(Option::as_ref);
        write_down(call, &run.execution, bundle, &denied, receipt_hash)?;
        delivered.map_err(HostError::Delivery)?;
        Ok(run)
    }

    /// What receipts and the audit line are made of.
    fn execution(
        &self,
        request: &[u8],
        result: &Result<Vec<u8>, Failure>,
        ended: Ended<'_>,
    ) -> Execution {
        let bundle = ended.bundle;
        let (outcome, outputs_hash) = match result {
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
            caps_granted: names(&ended.granted),
            caps_used: ended.journal.used,
            outcome,
            profile: ended.profile,
            started_at: ended.started,
            finished_at: Timestamp::now(),
            signer_ids: bundle
                .signatures()
                .signers()
                .into_iter()
                .map(str::to_owned)
                .collect(),
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

/// What is known of a run when the guest has ended.
pub(super) struct Ended<'a> {
    pub(super) bundle: &'a Bundle,
    pub(super) granted: Vec<Capability>,
    pub(super) profile: RuntimeProfile,
    pub(super) journal: Journaled,
    pub(super) started: Timestamp,
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
