//! How wasmtime is set up: features, allocation strategy, the linker, and what a component may import.

use wasmtime::component::{Component, HasSelf, Linker};
use wasmtime::{
    Config, Enabled, InstanceAllocationStrategy, OptLevel, PoolingAllocationConfig,
    RegallocAlgorithm,
};

use super::CodeCacheFolders;
use super::bindings::Skill as World;
use super::budget::{INSTANCES, MEMORIES, TABLES};
use super::error::EngineError;
use super::room::{NoRoom, Room};
use super::state::State;
use super::{precompiled, wasi};
use hydrant_trust::{Capability, HostInterface};

/// How an engine is set up.
#[derive(Debug, Clone)]
pub struct EngineOptions {
    /// Instances at a time, 1 to 10,000; further calls wait. Each reserves 4 GiB of address space, which costs no memory,
    /// and some memory mappings. Where the kernel has not so many to give there are fewer slots, and
    /// [`Engine::allocation`](super::Engine::allocation) says why; where it has too few for a pool, calls that find no room
    /// do not wait but fail.
    pub slots: u32,
    /// Where compiled code is kept between processes; none: nowhere.
    pub cache: Option<CodeCacheFolders>,
}

/// Slots where nobody asks for a number.
const SLOTS: u32 = 64;

/// Slots that a pool may be asked for.
pub(super) const MOST_SLOTS: u32 = 10_000;

/// A pool of fewer is none: interpreters and planners run inside of calls, and all would wait for each other.
const FEWEST_SLOTS: u32 = 8;

impl Default for EngineOptions {
    /// 64 slots, and the cache in the user's cache folder.
    fn default() -> Self {
        Self {
            slots: SLOTS,
            cache: super::default_cache_folders(),
        }
    }
}

impl EngineOptions {
    /// The number of slots within its bounds.
    pub(super) fn slots(&self) -> u32 {
        self.slots.clamp(1, MOST_SLOTS)
    }
}

/// How instances get their memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Allocation {
    /// From a pool of slots that stay mapped.
    Pooling {
        /// Instances at a time.
        slots: u32,
        /// Slots are reset by scanning for the pages that were touched (Linux 6.7), not by unmapping.
        pagemap_scan: bool,
        /// Why there are fewer than were asked for, if so.
        short: Option<NoRoom>,
    },
    /// Mapped anew for each call.
    OnDemand {
        /// Why there is no pool.
        reason: String,
    },
}

/// Bytes of each memory that stay mapped between calls, at most.
const KEEP_RESIDENT: usize = 4 * 1024 * 1024;
/// The same of all memories of a pool together: what a burst of calls has touched is not kept for good.
const KEEP_RESIDENT_OF_ALL: usize = 64 * KEEP_RESIDENT;
/// The most that any policy may give one call.
const MAX_MEMORY: usize = 1024 * 1024 * 1024;

/// The settings that decide about machine code, for an engine that may run code where it lies in this program.
fn config() -> Config {
    let mut config = hydrant_precompiled::config();
    precompiled::run_in_place(&mut config);
    config
}

fn pooling(slots: u32) -> PoolingAllocationConfig {
    let mut pool = PoolingAllocationConfig::new();
    // A component may hold several memories, tables and core instances; nearly all hold one.
    let spare = slots.saturating_add(MEMORIES);
    pool.total_component_instances(slots)
        .total_core_instances(slots.saturating_mul(4).saturating_add(INSTANCES))
        .total_memories(spare)
        .total_tables(slots.saturating_mul(4).saturating_add(TABLES))
        .total_stacks(1)
        .max_core_instances_per_component(INSTANCES)
        .max_memories_per_component(MEMORIES)
        .max_tables_per_component(TABLES)
        .max_memories_per_module(MEMORIES)
        .max_tables_per_module(TABLES)
        .max_memory_size(MAX_MEMORY)
        .linear_memory_keep_resident(keep_resident(slots))
        .table_keep_resident(64 * 1024)
        .pagemap_scan(Enabled::Auto);
    pool
}

/// Whole pages of each memory.
fn keep_resident(slots: u32) -> usize {
    let slots = usize::try_from(slots).unwrap_or(usize::MAX).max(1);
    let share = KEEP_RESIDENT_OF_ALL / slots / 4096 * 4096;
    share.min(KEEP_RESIDENT)
}

/// An engine with a pool of as many slots as there is room for, if that is more than a few.
pub(super) fn engine(
    options: &EngineOptions,
    room: &Room,
) -> Result<(wasmtime::Engine, Allocation), EngineError> {
    let asked = options.slots();
    let making = room.making_a_pool();
    let fit = room.slots(asked);
    let reason = match fit.short {
        Some(short) if fit.slots < asked.min(FEWEST_SLOTS) => short.to_string(),
        short => match pooled(fit.slots) {
            Ok(engine) => {
                room.promise(&engine, fit.slots);
                drop(making);
                if let Some(short) = short {
                    tell(
                        options,
                        &short.to_string(),
                        "there are fewer slots for instances",
                    );
                }
                let allocation = Allocation::Pooling {
                    slots: fit.slots,
                    pagemap_scan: PoolingAllocationConfig::is_pagemap_scan_available(),
                    short,
                };
                return Ok((engine, allocation));
            }
            Err(error) => format!("{error:#}"),
        },
    };
    tell(
        options,
        &reason,
        "no pool of instances: memory is mapped anew for each call",
    );
    let engine = wasmtime::Engine::new(&config())
        .map_err(|error| EngineError::Setup(format!("{error:#}")))?;
    Ok((engine, Allocation::OnDemand { reason }))
}

/// Who asks for more slots than the default serves many, and is to hear of it; one command is as well served with fewer.
fn tell(options: &EngineOptions, reason: &str, what: &str) {
    if options.slots > SLOTS {
        tracing::warn!(%reason, "{what}");
    } else {
        tracing::info!(%reason, "{what}");
    }
}

fn pooled(slots: u32) -> wasmtime::Result<wasmtime::Engine> {
    let mut config = config();
    config.allocation_strategy(InstanceAllocationStrategy::Pooling(pooling(slots)));
    wasmtime::Engine::new(&config)
}

/// An engine that compiles for [`engine`]: where instances get their memory makes no difference to the code.
pub(super) fn compiling_engine() -> Result<wasmtime::Engine, EngineError> {
    wasmtime::Engine::new(&config()).map_err(|error| EngineError::Setup(format!("{error:#}")))
}

/// An engine whose compiler takes time and memory in proportion to the code, and whose instances share nothing
/// with those of pinned skills.
pub(super) fn tool_engine() -> Result<(wasmtime::Engine, Allocation), EngineError> {
    let mut config = config();
    config
        .cranelift_opt_level(OptLevel::None)
        .cranelift_regalloc_algorithm(RegallocAlgorithm::SinglePass)
        .parallel_compilation(false);
    let engine =
        wasmtime::Engine::new(&config).map_err(|error| EngineError::Setup(format!("{error:#}")))?;
    Ok((
        engine,
        Allocation::OnDemand {
            reason: "tools do not share the pool".into(),
        },
    ))
}

/// The one linker: the hostcalls and inert WASI.
pub(super) fn linker(engine: &wasmtime::Engine) -> Result<Linker<State>, EngineError> {
    let setup = |error: wasmtime::Error| EngineError::Setup(format!("{error:#}"));
    let mut linker = Linker::new(engine);
    World::add_to_linker::<State, HasSelf<State>>(&mut linker, |state| state).map_err(setup)?;
    wasi::add_to_linker(&mut linker).map_err(setup)?;
    Ok(linker)
}

/// What a component may import. WASI is provided inertly, in any 0.2 version.
const WASI_PACKAGES: [&str; 5] = ["cli", "io", "clocks", "random", "filesystem"];

/// Refuses a component that imports anything else. The linker alone would accept an empty instance of any name; of
/// interfaces with functions it has only those of the contract.
pub(super) fn check_imports(
    component: &Component,
    engine: &wasmtime::Engine,
) -> Result<(), EngineError> {
    let allowed = |name: &str| {
        let Some((interface, version)) = name.split_once('@') else {
            return false;
        };
        match interface.split_once(':') {
            Some(("hydrant", path)) => version == "0.1.0" && path.starts_with("host/"),
            Some(("wasi", path)) => {
                let package = path.split('/').next().unwrap_or_default();
                version.starts_with("0.2.") && WASI_PACKAGES.contains(&package)
            }
            _ => false,
        }
    };
    match component
        .component_type()
        .imports(engine)
        .find(|(name, _)| !allowed(name))
    {
        None => Ok(()),
        Some((name, _)) => Err(EngineError::World(format!(
            "guests do not get the import {name}"
        ))),
    }
}

/// Checks at every load that each imported interface that grants something has a capability of its kind in the manifest.
pub(super) fn check_declared(
    component: &Component,
    engine: &wasmtime::Engine,
    capabilities: &[Capability],
) -> Result<(), EngineError> {
    for interface in HostInterface::ALL {
        let import = format!("hydrant:host/{}", interface.name());
        let imported = component
            .component_type()
            .imports(engine)
            .any(|(name, _)| name.split('@').next() == Some(&import));
        let kind = interface.kind();
        let declared = capabilities
            .iter()
            .any(|capability| capability.kind == kind);
        if imported && !declared {
            return Err(EngineError::Undeclared { import, kind });
        }
    }
    Ok(())
}
