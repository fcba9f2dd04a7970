//! One call of a skill: found and verified, allowed, executed, delivered, recorded, in this order.
//!
//! A [`SkillCall`] says which skill is called with which request, and what narrows what the skill may do. A run, a hydration, a
//! plan, a question to a language model and a run of a bundle are all such calls.

use std::sync::Arc;
use std::time::Duration;

use super::pinned::{PinnedSkill, check_ceilings};
use super::record::{Delivery, Journaled, Run};
use super::{Failure, Host, HostError};
use crate::audit::{AuditTarget, AuditedCall, RuntimeProfile};
use crate::capability::fetch::Credential;
use crate::capability::fs;
use crate::engine::{Budgets, CallError, Skill};
use crate::policy::{Grant, OwnMount};
use crate::trust::{Bundle, Capability, VerifiedBundle, WasmForm};
use hydrant_base::Timestamp;

/// A request to a skill, which gets what the policy grants it, within the limits of the policy, unless the call says otherwise.
pub struct SkillCall<'a> {
    target: Target<'a>,
    pub(super) request: &'a [u8],
    no_processes: bool,
    http_loopback: bool,
    mounts: Arc<[OwnMount]>,
    /// What the limits of the policy become for this call.
    limits: Option<Box<dyn FnOnce(Budgets) -> Budgets + 'a>>,
    credential: Option<Arc<Credential>>,
    audited: Option<AuditedCall>,
    deliver: Option<Delivery<'a>>,
}

/// What is called.
enum Target<'a> {
    /// A pinned skill, of which the call gets the capabilities that the policy leaves; without a version, the newest one.
    Pinned {
        id: &'a str,
        version: Option<&'a str>,
    },
    /// A bundle that its caller verified, which gets all the capabilities that it declares or is not called.
    Bundle(&'a VerifiedBundle),
}

/// A target that was found, verified and allowed.
pub(super) enum Resolved<'a> {
    /// A pinned skill, loaded.
    Pinned(Arc<PinnedSkill>),
    /// A bundle, not compiled yet.
    Bundle(&'a VerifiedBundle),
}

/// A call whose guest has ended, and of which nothing is recorded yet.
pub(super) struct Executed<'a> {
    /// None where there is no audit log.
    pub(super) audited: Option<AuditedCall>,
    pub(super) skill: Resolved<'a>,
    pub(super) profile: RuntimeProfile,
    pub(super) journal: Journaled,
    pub(super) started: Timestamp,
    pub(super) result: Result<Vec<u8>, Failure>,
}

impl<'a> SkillCall<'a> {
    /// A call of a pinned skill, `id` or `id@version`, with a request in JSON. What the policy does not allow of its
    /// capabilities is answered `denied` when the skill uses it.
    #[must_use]
    pub fn new(skill: &'a str, request: &'a [u8]) -> Self {
        let (id, version) = match skill.split_once('@') {
            Some((id, version)) => (id, Some(version)),
            None => (skill, None),
        };
        Self::with_target(Target::Pinned { id, version }, request)
    }

    /// A call of a bundle that the caller verified, with all of the capabilities that it declares or not at all. A component
    /// takes a request in JSON, a core module any bytes.
    #[must_use]
    pub fn bundle(bundle: &'a VerifiedBundle, request: &'a [u8]) -> Self {
        Self::with_target(Target::Bundle(bundle), request)
    }

    fn with_target(target: Target<'a>, request: &'a [u8]) -> Self {
        Self {
            target,
            request,
            no_processes: false,
            http_loopback: false,
            mounts: Arc::default(),
            limits: None,
            credential: None,
            audited: None,
            deliver: None,
        }
    }

    /// If `yes`, lets the skill start no process, whatever the policy says.
    #[must_use]
    pub fn without_processes(mut self, yes: bool) -> Self {
        self.no_processes |= yes;
        self
    }

    /// Gives the call at most `time`.
    #[must_use]
    pub fn within(self, time: Duration) -> Self {
        self.limited(move |budgets| Budgets {
            wall_clock: budgets.wall_clock.min(time),
            ..budgets
        })
    }

    /// Has `deliver` deal with the run before it is recorded.
    #[must_use]
    pub fn delivering(mut self, deliver: Delivery<'a>) -> Self {
        self.deliver = Some(deliver);
        self
    }

    /// Records the call as one that [`AuditedCall::begin`] began, before what the caller did first could fail.
    #[must_use]
    pub fn recorded_as(mut self, audited: AuditedCall) -> Self {
        self.audited = Some(audited);
        self
    }

    /// Adds a key to requests for one server, which the guest never sees.
    pub(crate) fn with_credential(mut self, credential: Option<Credential>) -> Self {
        self.credential = credential.map(Arc::new);
        self
    }

    /// Adds directories of the caller's to what the skill sees.
    pub(crate) fn with_mounts(mut self, mounts: Arc<[OwnMount]>) -> Self {
        self.mounts = mounts;
        self
    }

    /// Allows `http://` to loopback if `yes`: for development.
    pub(super) fn with_http_loopback(mut self, yes: bool) -> Self {
        self.http_loopback = yes;
        self
    }

    /// Changes the limits that the policy sets, besides what changed them before.
    pub(crate) fn limited(mut self, change: impl FnOnce(Budgets) -> Budgets + 'a) -> Self {
        self.limits = Some(match self.limits.take() {
            Some(before) => Box::new(move |budgets| change(before(budgets))),
            None => Box::new(change),
        });
        self
    }
}

impl Resolved<'_> {
    /// The pinned skill, if it is one.
    pub(super) fn pinned(&self) -> Option<&Arc<PinnedSkill>> {
        match self {
            Self::Pinned(skill) => Some(skill),
            Self::Bundle(_) => None,
        }
    }

    /// The verified bundle.
    pub(super) fn bundle(&self) -> &Bundle {
        match self {
            Self::Pinned(skill) => &skill.pinned.bundle,
            Self::Bundle(bundle) => bundle,
        }
    }
}

impl Host {
    /// Calls a skill.
    ///
    /// # Errors
    ///
    /// [`HostError`] when nothing was executed, or when the record of it cannot be written or its delivery failed. A skill
    /// that fails is a [`Run`].
    pub fn call(&self, mut call: SkillCall<'_>) -> Result<Run, HostError> {
        let (request, deliver) = (call.request, call.deliver.take());
        self.record(self.execute(call)?, request, deliver)
    }

    /// Calls a skill for its response alone. Without an audit log the digests of a record are not computed.
    ///
    /// # Errors
    ///
    /// As [`call`](Self::call). A skill that fails is a [`Failure`].
    pub fn answer(&self, call: SkillCall<'_>) -> Result<Result<Vec<u8>, Failure>, HostError> {
        if self.audit == AuditTarget::Off && call.deliver.is_none() && call.audited.is_none() {
            return Ok(self.execute(call)?.result);
        }
        Ok(self.call(call)?.result)
    }

    /// Verifies and compiles a pinned skill, so that no call of it waits for the compiler. Nothing of it runs.
    ///
    /// # Errors
    ///
    /// [`HostError::Pin`], [`HostError::Engine`]
    pub fn compile(&self, id: &str, version: Option<&str>) -> Result<(), HostError> {
        self.load(id, version, |_| {}).map(|_| ())
    }

    /// Executes a call. That it may not be executed is recorded here; that it was is still to be recorded.
    pub(super) fn execute<'a>(&self, mut call: SkillCall<'a>) -> Result<Executed<'a>, HostError> {
        let started = Timestamp::now();
        let audited = match call.audited.take() {
            Some(audited) => Some(audited),
            None => self.begin()?,
        };
        let skill = match self.resolve(&call.target) {
            Ok(skill) => skill,
            Err((bundle, error)) => {
                let bundle = bundle.as_ref().map(Resolved::bundle);
                return Err(self.refuse(audited, bundle, call.request, error));
            }
        };
        let limits = call.limits.take();
        let budgets = Budgets::of(&self.layers.limits());
        let budgets = limits.map_or(budgets, |limits| limits(budgets));
        let (result, journal, profile) = match &skill {
            Resolved::Pinned(pinned) => {
                let (result, journal) =
                    self.run_component(&pinned.skill, pinned.grant.clone(), budgets, call);
                (result, journal, RuntimeProfile::ComponentV0)
            }
            Resolved::Bundle(bundle) => self.run_bundle(bundle, budgets, call),
        };
        Ok(Executed {
            audited,
            skill,
            profile,
            journal,
            started,
            result,
        })
    }

    /// Finds what is called, verified, and allowed to be called. With the error comes the bundle, where it is known.
    fn resolve<'a>(
        &self,
        target: &Target<'a>,
    ) -> Result<Resolved<'a>, (Option<Resolved<'a>>, HostError)> {
        let (resolved, all_or_nothing) = match *target {
            Target::Pinned { id, version } => {
                let prepare_jail = |capabilities: &[Capability]| {
                    if let Some(jail) = &self.jail
                        && self.layers.may_confine_for(capabilities)
                    {
                        jail.prepare();
                    }
                };
                let skill = self.load(id, version, prepare_jail);
                (
                    Resolved::Pinned(skill.map_err(|error| (None, error))?),
                    None,
                )
            }
            Target::Bundle(bundle) => (Resolved::Bundle(bundle), Some(bundle.form())),
        };
        // Signers first, then ceilings.
        let allowed = self
            .check_signers(resolved.bundle())
            .and_then(|()| match all_or_nothing {
                Some(form) => check_ceilings(&self.layers, resolved.bundle(), form),
                None => Ok(()),
            });
        match allowed {
            Ok(()) => Ok(resolved),
            Err(error) => Err((Some(resolved), error)),
        }
    }

    /// Opens the audit log, if there is one, and gives a call its id, before anything else of the call is done.
    ///
    /// # Errors
    ///
    /// [`HostError::CannotRecord`]: the call must not start.
    pub(super) fn begin(&self) -> Result<Option<AuditedCall>, HostError> {
        if self.audit == AuditTarget::Off {
            return Ok(None);
        }
        Ok(Some(AuditedCall::begin(&self.audit, self.context.clone())?))
    }

    /// Loads a pinned skill. As soon as it is verified, `verified` is called with the capabilities that it declares.
    pub(super) fn load(
        &self,
        id: &str,
        version: Option<&str>,
        verified: impl FnOnce(&[Capability]),
    ) -> Result<Arc<PinnedSkill>, HostError> {
        self.pins
            .load(id, version, &self.engine, &self.layers, verified)
    }

    /// Runs a component within budgets, under a grant and what the call takes from it or adds to it.
    pub(super) fn run_component(
        &self,
        skill: &Skill,
        mut grant: Grant,
        budgets: Budgets,
        call: SkillCall<'_>,
    ) -> (Result<Vec<u8>, Failure>, Journaled) {
        if self.no_processes || call.no_processes {
            grant = grant.without_processes();
        }
        if call.http_loopback {
            grant = grant.with_http_loopback();
        }
        if !call.mounts.is_empty() {
            grant = grant.with_own_mounts(call.mounts);
        }
        let context = self.context(grant, &budgets, call.credential);
        // What a killed host left half done is finished before anything is read.
        let result = fs::recover(&context)
            .map_err(CallError::Budget)
            .and_then(|()| {
                self.engine
                    .run(skill, call.request, Arc::clone(&context), &budgets)
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
    fn check_signers(&self, bundle: &Bundle) -> Result<(), HostError> {
        let declared = &bundle.manifest().signers;
        Ok(self
            .layers
            .check_signers(declared, &bundle.signatures().signers())?)
    }
}

impl Executed<'_> {
    /// What the policy granted of what the skill declares: of a bundle everything.
    pub(super) fn granted(&self, host: &Host) -> Vec<Capability> {
        let declared = &self.skill.bundle().manifest().capabilities;
        match &self.skill {
            Resolved::Pinned(_) => host.layers.granted(declared, WasmForm::Component),
            Resolved::Bundle(_) => declared.clone(),
        }
    }
}
