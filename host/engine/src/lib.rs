//! The engine: compiles components, and calls each in a fresh instance under its budgets.
//!
//! One [`Engine`] serves a whole process. A [`Skill`] is a component that is compiled and linked once;
//! a call takes a slot from the pool, instantiates, runs and gives the slot back, so nothing survives
//! between calls. This folder is the only one that knows wasmtime. It decides nothing about
//! capabilities: hostcalls go to [`hydrant_capability`].

mod apart;
mod bindings;
mod budget;
mod cache;
mod contained;
mod core_module;
mod describe;
mod error;
mod hostcalls;
mod load;
mod permits;
mod precompiled;
mod room;
mod setup;
mod state;
mod ticker;
mod vetting;
mod wasi;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use wasmtime::component::{Component, ComponentExportIndex, Instance, InstancePre, Linker};
use wasmtime::{Store, UpdateDeadline};

use self::bindings::hydrant::host::types::SkillError;
use self::cache::CodeCache;
use self::contained::Kind;
use self::permits::Permits;
use self::room::Held;
use self::state::State;
use self::ticker::Ticker;
use hydrant_capability::{Budget, BudgetExceeded, Call, Used};
use hydrant_jail::Launcher;
use hydrant_trust::Wasm;

pub use self::apart::SLOW_COMPILATION;
pub use self::budget::Budgets;
pub use self::cache::DescriptionCache;
pub use self::cache::{CacheError, CodeCacheFolders};
pub use self::contained::compile_if_asked;
pub use self::core_module::{CoreBudgets, CoreEngine, CoreFailure, CoreOutcome};
pub use self::describe::{ComponentDescriber, THREAD as DESCRIBE_THREAD};
pub use self::error::{CallError, EngineError, ProbeFailure};
use self::room::Room;
pub use self::room::{NoRoom, Taker, Wall, most_slots};
pub use self::setup::{Allocation, EngineOptions};

/// A set-up WebAssembly engine. Cheap to clone; all clones share the pool and the cache.
#[derive(Clone)]
pub struct Engine {
    inner: Arc<Inner>,
}

struct Inner {
    wasmtime: wasmtime::Engine,
    linker: Linker<State>,
    allocation: Allocation,
    /// Instances at a time; further calls wait for one of them to end.
    slots: Permits,
    /// What the kernel leaves for components, and for instances where there is no pool.
    room: Arc<Room>,
    cache: Option<CodeCache>,
    /// Loaded from this program.
    precompiled: precompiled::Components,
    // Dropped last: its thread ends once the engine above is gone.
    ticker: Ticker,
}

/// A component, compiled and linked, ready to be called.
pub struct Skill {
    instance: InstancePre<State>,
    describe: ComponentExportIndex,
    run: ComponentExportIndex,
    /// Counted for as long as it is loaded.
    _mapped: Held,
}

/// What a call returned, and what it used.
#[derive(Debug)]
pub struct Answer {
    /// The bytes that `run` returned.
    pub response: Vec<u8>,
    /// Units of fuel.
    pub fuel: u64,
    /// Bytes of linear memory at the end.
    pub memory_bytes: u64,
    /// Hostcalls, bytes read, egress.
    pub used: Used,
}

impl Engine {
    /// Sets the engine up: a pooling allocator where the machine allows one, else one allocation a call.
    ///
    /// # Errors
    ///
    /// [`EngineError::Setup`] where wasmtime cannot run at all.
    pub fn new(options: &EngineOptions) -> Result<Self, EngineError> {
        Self::within(options, Room::of_process())
    }

    fn within(options: &EngineOptions, room: Arc<Room>) -> Result<Self, EngineError> {
        let (wasmtime, allocation) = setup::engine(options, &room)?;
        let cache = options
            .cache
            .clone()
            .map(|folders| CodeCache::new(folders, &wasmtime));
        let slots = match &allocation {
            Allocation::Pooling { slots, .. } => *slots,
            Allocation::OnDemand { .. } => options.slots(),
        };
        Self::assemble(wasmtime, allocation, slots, room, cache)
    }

    /// An engine for components of unknown origin: its compiler is the simplest one, on one thread; it shares
    /// no pool and no cache with the engine of pinned skills.
    fn for_tools() -> Result<Self, EngineError> {
        let (wasmtime, allocation) = setup::tool_engine()?;
        let room = Room::of_process();
        Self::assemble(wasmtime, allocation, describe::AT_ONCE, room, None)
    }

    fn assemble(
        wasmtime: wasmtime::Engine,
        allocation: Allocation,
        slots: u32,
        room: Arc<Room>,
        cache: Option<CodeCache>,
    ) -> Result<Self, EngineError> {
        let linker = setup::linker(&wasmtime)?;
        let ticker = Ticker::start(&wasmtime)?;
        let slots = Permits::new(slots);
        Ok(Self {
            inner: Arc::new(Inner {
                wasmtime,
                linker,
                allocation,
                slots,
                room,
                cache,
                precompiled: precompiled::Components::default(),
                ticker,
            }),
        })
    }

    /// How instances get their memory.
    #[must_use]
    pub fn allocation(&self) -> &Allocation {
        &self.inner.allocation
    }

    /// Calls `run` in a fresh instance.
    ///
    /// # Errors
    ///
    /// [`CallError`]: what the skill says, the budget that ran out, or a trap.
    pub fn run(
        &self,
        skill: &Skill,
        request: &[u8],
        call: Arc<Call>,
        budgets: &Budgets,
    ) -> Result<Answer, CallError> {
        within(Budget::RequestBytes, budgets.request_bytes, request.len())?;
        let result = self.enter(&skill.instance, call, budgets, |store, instance| {
            let run = instance.get_typed_func::<(&[u8],), (Result<Vec<u8>, SkillError>,)>(
                &mut *store,
                skill.run,
            )?;
            let result = run.call(&mut *store, (request,))?.0;
            let fuel = budgets.fuel.saturating_sub(store.get_fuel()?);
            Ok(result.map(|response| Answer {
                response,
                fuel,
                memory_bytes: store.data().limiter.memory_bytes(),
                used: store.data().call.meter.used(),
            }))
        })?;
        let answer = result
            .map_err(|error| CallError::of_skill(error.code, error.message, error.details))?;
        within(
            Budget::ResponseBytes,
            budgets.response_bytes,
            answer.response.len(),
        )?;
        Ok(answer)
    }

    /// Calls `describe` in a fresh instance.
    ///
    /// # Errors
    ///
    /// [`CallError`]: the budget that ran out, or a trap.
    pub fn describe(
        &self,
        skill: &Skill,
        call: Arc<Call>,
        budgets: &Budgets,
    ) -> Result<String, CallError> {
        self.describe_instance(&skill.instance, skill.describe, call, budgets)
    }

    /// Instantiates a component whatever its manifest declares, and calls its `describe`. The clock of
    /// `call`, which is made once the component is compiled, does not count the compiler's time.
    ///
    /// # Errors
    ///
    /// [`ProbeFailure`] tells a component that cannot be instantiated from one that does not answer.
    pub fn probe(
        &self,
        component: &Wasm,
        call: impl FnOnce() -> Arc<Call>,
        budgets: &Budgets,
    ) -> Result<String, ProbeFailure> {
        let linked = self
            .compiled(component, load::PATIENCE, None)
            .and_then(|component| self.link(&component))
            .map_err(|error| ProbeFailure::Instantiation(error.to_string()))?;
        self.describe(&linked, call(), budgets)
            .map_err(|error| match error {
                CallError::Instantiation(reason) => ProbeFailure::Instantiation(reason),
                error => ProbeFailure::Description(error),
            })
    }

    fn describe_instance(
        &self,
        instance: &InstancePre<State>,
        describe: ComponentExportIndex,
        call: Arc<Call>,
        budgets: &Budgets,
    ) -> Result<String, CallError> {
        let text = self.enter(instance, call, budgets, |store, instance| {
            let describe = instance.get_typed_func::<(), (String,)>(&mut *store, describe)?;
            Ok(describe.call(store, ())?.0)
        })?;
        within(Budget::ResponseBytes, budgets.response_bytes, text.len())?;
        Ok(text)
    }

    /// Instantiates under the budgets, runs `body`, and sorts what went wrong. The instance is gone when this
    /// returns, before its slot is given to the next call.
    fn enter<R>(
        &self,
        instance: &InstancePre<State>,
        call: Arc<Call>,
        budgets: &Budgets,
        body: impl FnOnce(&mut Store<State>, &Instance) -> wasmtime::Result<R>,
    ) -> Result<R, CallError> {
        // Waiting in line counts against the call's own deadline.
        let patience = call.meter.remaining()?;
        let Some(_slot) = self.inner.slots.take(patience) else {
            call.meter.remaining()?;
            return Err(CallError::Busy);
        };
        let _room = match &self.inner.allocation {
            Allocation::Pooling { .. } => None,
            Allocation::OnDemand { .. } => Some(self.inner.room.instance(memories(instance))?),
        };
        let _running = self.inner.ticker.run();
        let mut store = Store::new(&self.inner.wasmtime, State::new(call, budgets));
        store.limiter(|state| &mut state.limiter);
        store.set_hostcall_fuel(budgets.hostcall_bytes);
        store.set_epoch_deadline(1);
        store.epoch_deadline_callback(|store| {
            store.data().call.meter.remaining()?;
            Ok(UpdateDeadline::Continue(1))
        });
        let failed = |error| CallError::of(&error, budgets.fuel);
        store.set_fuel(budgets.fuel).map_err(failed)?;
        let result = match instance.instantiate(&mut store) {
            Ok(instance) => body(&mut store, &instance).map_err(failed),
            Err(error) => Err(failed(error).while_instantiating()),
        };
        log_output(&store);
        result
    }
}

impl Budgets {
    /// The state that the effects of one call share.
    #[must_use]
    pub fn meter_from(&self, started: Instant) -> hydrant_capability::Meter {
        hydrant_capability::Meter::new(self.meter(), started)
    }
}

/// Compiles what was vetted: in the jail if there is one and it can be made, else in this process, within its bounds.
fn component(
    engine: &wasmtime::Engine,
    kind: Kind,
    code: &[u8],
    jail: Option<&Launcher>,
    time: Duration,
) -> Result<Component, String> {
    let said = |error: wasmtime::Error| format!("{error:#}");
    match jail.map(|jail| contained::compile(jail, kind, engine, code, time)) {
        None => Component::from_binary(engine, code).map_err(said),
        Some(Ok(code)) => cache::component_from_compiler(engine, &code).map_err(said),
        Some(Err(contained::NotCompiled::Unavailable(reason))) => {
            contained::warn_of_missing_jail(&reason);
            Component::from_binary(engine, code).map_err(said)
        }
        Some(Err(error)) => Err(error.to_string()),
    }
}

fn within(budget: Budget, limit: u64, used: usize) -> Result<(), BudgetExceeded> {
    let used = u64::try_from(used).unwrap_or(u64::MAX);
    if used > limit {
        Err(BudgetExceeded {
            budget,
            limit,
            used,
        })
    } else {
        Ok(())
    }
}

/// Memories of an instance; one where that cannot be told.
fn memories(instance: &InstancePre<State>) -> u32 {
    let required = instance.component().resources_required();
    required.map_or(1, |required| required.num_memories)
}

fn log_output(store: &Store<State>) {
    let text = store.data().log.text();
    if !text.is_empty() {
        tracing::debug!(target: "hydrant::guest", "{text}");
    }
}

/// Where compiled code is kept: `hydrant/` in `$XDG_CACHE_HOME`, else in `$HOME/.cache`, with the key in `state/`
/// of `home`; nowhere if there is neither, or `HYDRANT_CACHE` says `off`. Descriptions of tools are kept there as well.
#[must_use]
pub fn default_cache_folders() -> Option<CodeCacheFolders> {
    if std::env::var_os("HYDRANT_CACHE").is_some_and(|value| value == "off") {
        return None;
    }
    let absolute = |name| {
        std::env::var_os(name)
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
    };
    let code = absolute("XDG_CACHE_HOME")
        .or_else(|| absolute("HOME").map(|home| home.join(".cache")))?
        .join("hydrant");
    let key = hydrant_base::home::folder()?.join("state");
    Some(CodeCacheFolders { code, key })
}

/// Whether the cache in `folders` would be used.
///
/// # Errors
///
/// [`CacheError`] says why not.
pub fn check_cache_folders(folders: &CodeCacheFolders) -> Result<(), CacheError> {
    cache::check(folders)
}
