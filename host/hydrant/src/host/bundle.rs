//! What an unpinned bundle runs as: a component that is compiled within the time of its call, or a core module.

use std::sync::Arc;
use std::time::Instant;

use super::call::SkillCall;
use super::record::Journaled;
use super::{Failure, Host};
use crate::audit::RuntimeProfile;
use crate::capability::core_module::{CoreCall, StateDirectories};
use crate::capability::fs::Reads;
use crate::engine::{Budgets, CoreBudgets, CoreEngine, CoreOutcome};
use crate::policy::Grant;
use crate::trust::{Bundle, VerifiedBundle, WasmForm};

impl Host {
    /// Runs a bundle within budgets as what it is: a component or a core module.
    pub(super) fn run_bundle(
        &self,
        bundle: &VerifiedBundle,
        budgets: Budgets,
        call: SkillCall<'_>,
    ) -> (Result<Vec<u8>, Failure>, Journaled, RuntimeProfile) {
        let (ran, profile) = match bundle.form() {
            WasmForm::CoreModule => (
                self.core_module(bundle, &budgets, call.request),
                RuntimeProfile::ProvenactCoreV0,
            ),
            WasmForm::Component | WasmForm::Other => (
                self.component(bundle, budgets, call),
                RuntimeProfile::ComponentV0,
            ),
        };
        let (result, journal) = ran.unwrap_or_else(|failure| (Err(failure), Journaled::default()));
        (result, journal, profile)
    }

    fn component(
        &self,
        bundle: &Bundle,
        mut budgets: Budgets,
        call: SkillCall<'_>,
    ) -> Result<(Result<Vec<u8>, Failure>, Journaled), Failure> {
        let manifest = bundle.manifest();
        if manifest.entrypoint != "run" {
            return Err(Failure::NoEntrypoint(manifest.entrypoint.clone()));
        }
        let capabilities = &manifest.capabilities;
        // Compiling what is not pinned is a part of the call, and takes of its time.
        let started = Instant::now();
        let (patience, jail) = (budgets.wall_clock, self.jail.as_ref());
        let skill = self
            .engine
            .load_within(bundle.wasm(), capabilities, patience, jail)
            .map_err(Failure::NotLoadable)?;
        budgets.wall_clock = budgets.wall_clock.saturating_sub(started.elapsed());
        let grant = Grant::new(Arc::clone(&self.layers), capabilities);
        Ok(self.run_component(&skill, grant, budgets, call))
    }

    fn core_module(
        &self,
        bundle: &Bundle,
        of_call: &Budgets,
        request: &[u8],
    ) -> Result<(Result<Vec<u8>, Failure>, Journaled), Failure> {
        let manifest = bundle.manifest();
        let engine = CoreEngine::new()
            .map_err(Failure::NotLoadable)?
            .compiling_in(self.jail.clone());
        let mut budgets = CoreBudgets::default().at_most(&self.layers.limits_at_most());
        budgets.wall_clock = budgets.wall_clock.min(of_call.wall_clock);
        let hostcalls = Arc::new(CoreCall::new(
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
            &hostcalls,
            &budgets,
        );
        let journal = Journaled {
            used: caps_used,
            denied,
            reads: Reads::default(),
        };
        Ok((result.map_err(Failure::CoreModule), journal))
    }
}
