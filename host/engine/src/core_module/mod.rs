//! Core modules: the older form of a skill, with a host ABI of its own.
//!
//! One run is one module, one instance and one call of its entrypoint, in an engine of its own: allocation on demand,
//! the simplest compiler, and no compiled code that is kept. The module is vetted before it is compiled
//! ([`super::vetting`]), and compiled in a process of its own ([`super::contained`]), or on a thread of its own, because
//! compiling cannot be interrupted there. What the module
//! may do is not decided here but in [`hydrant_capability::core_module`].

mod failure;
mod imports;
mod limits;
mod memory;
mod state;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use wasmparser::{Parser, Payload};
use wasmtime::{ExternType, Instance, Linker, Module, Store, UpdateDeadline};

use self::failure::reason;
use self::state::State;
use super::apart::{self, NotCompiled};
use super::contained::{self, Kind};
use super::room::Room;
use super::ticker::Ticker;
use super::{EngineError, cache, setup, vetting};
use hydrant_capability::core_module::CoreCall;
use hydrant_jail::Launcher;

pub use self::failure::CoreFailure;
pub use self::limits::CoreBudgets;

/// An engine for core modules. Make one for a process or for a run; it is cheap.
pub struct CoreEngine {
    wasmtime: wasmtime::Engine,
    linker: Linker<State>,
    /// Where modules are compiled.
    jail: Option<Launcher>,
    // Dropped last: its thread ends once the engine above is gone.
    ticker: Ticker,
}

/// What came of a run.
#[derive(Debug)]
pub struct CoreOutcome {
    /// The output, or why there is none.
    pub result: Result<Vec<u8>, CoreFailure>,
    /// The kinds whose check passed.
    pub caps_used: BTreeSet<String>,
    /// What was refused, `<kind>:<value>`: at most one, since it ends the run.
    pub denied: Vec<String>,
}

/// What the entrypoint returns.
#[derive(Clone, Copy)]
enum Returns {
    Number,
    Nothing,
}

impl CoreEngine {
    /// Sets the engine up.
    ///
    /// # Errors
    ///
    /// [`EngineError`] where wasmtime cannot run at all.
    pub fn new() -> Result<Self, EngineError> {
        let (wasmtime, _) = setup::tool_engine()?;
        let mut linker = Linker::new(&wasmtime);
        imports::add_to_linker(&mut linker)
            .map_err(|error| EngineError::Setup(format!("{error:#}")))?;
        let ticker = Ticker::start(&wasmtime)?;
        Ok(Self {
            wasmtime,
            linker,
            ticker,
            jail: None,
        })
    }

    /// The same, which compiles in a process of its own in the `jail`, if there is one: nobody vouches for a module.
    #[must_use]
    pub fn compiling_in(self, jail: Option<Launcher>) -> Self {
        Self { jail, ..self }
    }

    /// Runs the entrypoint of a module once. The clock of `call` counts from where its meter began.
    #[must_use]
    pub fn run(
        &self,
        wasm: &[u8],
        entrypoint: &str,
        input: &[u8],
        call: &Arc<CoreCall>,
        budgets: &CoreBudgets,
    ) -> CoreOutcome {
        let result = self.result(wasm, entrypoint, input, call, budgets);
        let denied = match &result {
            Err(CoreFailure::CapabilityDenied(denied)) => vec![denied.to_string()],
            _ => Vec::new(),
        };
        CoreOutcome {
            result,
            caps_used: call.caps_used(),
            denied,
        }
    }

    fn result(
        &self,
        wasm: &[u8],
        entrypoint: &str,
        input: &[u8],
        call: &Arc<CoreCall>,
        budgets: &CoreBudgets,
    ) -> Result<Vec<u8>, CoreFailure> {
        if longer(input, budgets.input_bytes) {
            let most = budgets.input_bytes;
            let text = format!("the input is longer than {most} bytes");
            return Err(CoreFailure::InstantiationFailed(text));
        }
        let module = self.compile(wasm, call)?;
        let memories = module.resources_required().num_memories;
        let _room = Room::of_process()
            .instance(memories)
            .map_err(|no_room| CoreFailure::InstantiationFailed(reason(&no_room.to_string())))?;
        let linked = self
            .linker
            .instantiate_pre(&module)
            .map_err(|error| CoreFailure::of_instantiation(&error))?;
        let mut store = Store::new(&self.wasmtime, State::new(Arc::clone(call), input, budgets));
        store.limiter(|state| &mut state.limiter);
        store.set_epoch_deadline(1);
        store.epoch_deadline_callback(|store| {
            store.data().call.meter().remaining()?;
            Ok(UpdateDeadline::Continue(1))
        });
        let _running = self.ticker.run();
        let instance = store
            .set_fuel(budgets.fuel)
            .and_then(|()| linked.instantiate(&mut store))
            .map_err(|error| {
                // A trap is one of the module's code only if it has code that runs now.
                if has_start(wasm) && error.is::<wasmtime::Trap>() {
                    CoreFailure::of_run(&error, &store.data().limiter, budgets.memory_bytes)
                } else {
                    CoreFailure::of_instantiation(&error)
                }
            })?;
        let returns = returns(&module, entrypoint)
            .ok_or_else(|| CoreFailure::EntrypointNotFound(reason(entrypoint)))?;
        let value =
            call_entrypoint(&mut store, &instance, entrypoint, returns).map_err(|error| {
                CoreFailure::of_run(&error, &store.data().limiter, budgets.memory_bytes)
            })?;
        let written = store.into_data().output;
        outcome(value, written, writes_output(&module), budgets)
    }

    /// Vets and compiles, within the time of the call.
    fn compile(&self, wasm: &[u8], call: &CoreCall) -> Result<Module, CoreFailure> {
        let remaining = call.meter().remaining();
        let patience = remaining.map_err(|_| CoreFailure::Timeout)?;
        let (engine, wasm, jail) = (self.wasmtime.clone(), wasm.to_vec(), self.jail.clone());
        let work = move || vet_and_compile(&engine, &wasm, jail.as_ref(), patience);
        apart::compile(patience, work).map_err(|error| match error {
            NotCompiled::Timeout => CoreFailure::Timeout,
            NotCompiled::Failed(text) => CoreFailure::InstantiationFailed(reason(&text)),
        })
    }
}

fn vet_and_compile(
    engine: &wasmtime::Engine,
    wasm: &[u8],
    jail: Option<&Launcher>,
    time: Duration,
) -> Result<Module, String> {
    let said = |error: wasmtime::Error| error.root_cause().to_string();
    vetting::vet_bundle(wasm).map_err(|refused| refused.to_string())?;
    match jail.map(|jail| contained::compile(jail, Kind::CoreModule, engine, wasm, time)) {
        None => Module::from_binary(engine, wasm).map_err(said),
        Some(Ok(code)) => cache::module_from_compiler(engine, &code).map_err(said),
        Some(Err(contained::NotCompiled::Unavailable(reason))) => {
            contained::warn_of_missing_jail(&reason);
            Module::from_binary(engine, wasm).map_err(said)
        }
        Some(Err(error)) => Err(error.to_string()),
    }
}

/// The type of the entrypoint, if there is one that can be called.
fn returns(module: &Module, entrypoint: &str) -> Option<Returns> {
    let ExternType::Func(function) = module.get_export(entrypoint)? else {
        return None;
    };
    let mut results = function.results();
    if function.params().len() > 0 {
        return None;
    }
    match (results.next(), results.next()) {
        (None, _) => Some(Returns::Nothing),
        (Some(result), None) if result.is_i32() => Some(Returns::Number),
        _ => None,
    }
}

fn call_entrypoint(
    store: &mut Store<State>,
    instance: &Instance,
    name: &str,
    returns: Returns,
) -> wasmtime::Result<Option<i32>> {
    match returns {
        Returns::Number => {
            let function = instance.get_typed_func::<(), i32>(&mut *store, name)?;
            function.call(store, ()).map(Some)
        }
        Returns::Nothing => {
            let function = instance.get_typed_func::<(), ()>(&mut *store, name)?;
            function.call(store, ()).map(|()| None)
        }
    }
}

/// Returns the output of a run: what was written last, else the returned number as text, else nothing. A negative number is
/// a failure; where the module writes its output, so is every other number but 0.
fn outcome(
    value: Option<i32>,
    written: Option<Vec<u8>>,
    writes_output: bool,
    budgets: &CoreBudgets,
) -> Result<Vec<u8>, CoreFailure> {
    let output = match (written, value) {
        (Some(written), _) => written,
        (None, Some(value)) => value.to_string().into_bytes(),
        (None, None) => Vec::new(),
    };
    match value {
        Some(value) if value < 0 || (writes_output && value != 0) => {
            Err(CoreFailure::NonzeroReturn { value, output })
        }
        _ if longer(&output, budgets.output_bytes) => {
            Err(CoreFailure::OutputTooLarge(budgets.output_bytes))
        }
        _ => Ok(output),
    }
}

/// Whether the module has another way to answer than its return value.
fn writes_output(module: &Module) -> bool {
    module.imports().any(|import| {
        imports::MODULES.contains(&import.module()) && import.name() == imports::OUTPUT
    })
}

/// Whether code runs when the module is instantiated.
fn has_start(wasm: &[u8]) -> bool {
    Parser::new(0)
        .parse_all(wasm)
        .any(|payload| matches!(payload, Ok(Payload::StartSection { .. })))
}

fn longer(bytes: &[u8], most: u64) -> bool {
    u64::try_from(bytes.len()).unwrap_or(u64::MAX) > most
}
