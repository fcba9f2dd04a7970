//! One run of a bundle that its caller verified: with all that it declares, or not at all.

use std::sync::Arc;
use std::time::Instant;

use super::pinned::check_ceilings;
use super::run::{Delivery, Ended, Journaled, Prepared, Run};
use super::{Failure, Host, HostError};
use crate::audit::{AuditedCall, RuntimeProfile};
use crate::capability::core_module::{CoreCall, StateDirectories};
use crate::capability::fs::Reads;
use crate::engine::{Budgets, CoreBudgets, CoreEngine, CoreOutcome};
use crate::policy::Grant;
use crate::trust::{Bundle, VerifiedBundle, WasmForm};
use hydrant_base::Timestamp;

impl Host {
    /// Runs a bundle that the caller verified, with all of the capabilities that it declares or not at all.
    /// A component takes a request in JSON, a core module whatever it likes.
    ///
    /// # Errors
    ///
    /// As [`run`](Self::run); [`HostError::CapabilityDenied`] and [`HostError::Untrusted`] before anything is executed.
    pub fn run_bundle(&self, bundle: &VerifiedBundle, request: &[u8]) -> Result<Run, HostError> {
        let call = self.begin()?;
        self.run_bundle_delivering(bundle, request, call, &mut |_| Ok(None))
    }

    /// As [`run_bundle`](Self::run_bundle), recorded as `call`, with something to do before it is recorded.
    ///
    /// # Errors
    ///
    /// As [`run_bundle`](Self::run_bundle), and [`HostError::Delivery`].
    pub fn run_bundle_delivering(
        &self,
        bundle: &VerifiedBundle,
        request: &[u8],
        call: AuditedCall,
        deliver: Delivery<'_>,
    ) -> Result<Run, HostError> {
        let started = Timestamp::now();
        let (manifest, form) = (bundle.manifest(), bundle.form());
        // Signers first, then ceilings.
        let allowed = self
            .check_signers(bundle)
            .and_then(|()| check_ceilings(&self.layers, bundle, form));
        if let Err(error) = allowed {
            return Err(self.refuse(call, Some(bundle), request, error));
        }
        let (result, journal, profile) = match form {
            WasmForm::CoreModule => {
                let (result, journal) = self.core_module(bundle, request);
                (result, journal, RuntimeProfile::ProvenactCoreV0)
            }
            WasmForm::Component | WasmForm::Other => {
                let (result, journal) = self.component(bundle, request);
                (result, journal, RuntimeProfile::ComponentV0)
            }
        };
        let ended = Ended {
            granted: manifest.capabilities.clone(),
            bundle,
            profile,
            journal,
            started,
        };
        self.record(call, request, result, ended, deliver)
    }

    fn component(&self, bundle: &Bundle, request: &[u8]) -> (Result<Vec<u8>, Failure>, Journaled) {
        let manifest = bundle.manifest();
        if manifest.entrypoint != "run" {
            let failure = Failure::NoEntrypoint(manifest.entrypoint.clone());
            return (Err(failure), Journaled::default());
        }
        let capabilities = &manifest.capabilities;
        let mut budgets = Budgets::of(&self.layers.limits());
        // Compiling what is not pinned is a part of the call, and takes of its time.
        let started = Instant::now();
        let (patience, jail) = (budgets.wall_clock, self.jail.as_ref());
        let loaded = self
            .engine
            .load_within(bundle.wasm(), capabilities, patience, jail);
        let skill = match loaded {
            Ok(skill) => skill,
            Err(error) => return (Err(Failure::NotLoadable(error)), Journaled::default()),
        };
        budgets.wall_clock = budgets.wall_clock.saturating_sub(started.elapsed());
        let prepared = Prepared {
            grant: Grant::new(Arc::clone(&self.layers), capabilities),
            budgets,
            credential: None,
        };
        self.call_with(&skill, request, prepared)
    }

    fn core_module(
        &self,
        bundle: &Bundle,
        request: &[u8],
    ) -> (Result<Vec<u8>, Failure>, Journaled) {
        let manifest = bundle.manifest();
        let engine = match CoreEngine::new() {
            Ok(engine) => engine.compiling_in(self.jail.clone()),
            Err(error) => return (Err(Failure::NotLoadable(error)), Journaled::default()),
        };
        let budgets = CoreBudgets::default().at_most(&self.layers.limits_at_most());
        let call = Arc::new(CoreCall::new(
            &manifest.capabilities,
            StateDirectories::from_environment(self.home.as_deref()),
            Arc::clone(&self.own),
            Arc::clone(&self.fetcher),
            budgets.meter_from(Instant::now()),
        ));
        let CoreOutcome {
            result,
            caps_used,
            denied,
        } = engine.run(
            bundle.wasm().bytes(),
            &manifest.entrypoint,
            request,
            &call,
            &budgets,
        );
        let journal = Journaled {
            used: caps_used,
            denied,
            reads: Reads::default(),
        };
        (result.map_err(Failure::CoreModule), journal)
    }
}
