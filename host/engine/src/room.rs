//! The walls of a process: how much address space and how many memory mappings the kernel lets it have, and what of that
//! engines take.
//!
//! Past a wall the kernel refuses every mapping, also one of the process's own allocator, which then ends the process. So
//! what engines are about to take is added up and compared before it is taken, with something left for the rest of the
//! process. That costs an addition. Mappings are counted (`/proc/self/maps` has a line for each) only where the sum says
//! that there may be no room, or not much: part of it is a promise, since slots of a pool are mapped when they are first
//! used. Address space is compared alone, so that of calls outside of a pool which begin at the same moment some may find
//! the kernel's own error.

use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use std::{fmt, io};

use wasmtime::{Engine, EngineWeak};

use super::budget::MEMORIES;

/// Mappings of one slot of a pool, or of one memory outside of it, at most: what lies before the memory image, the image,
/// what lies behind it, and what guards it. Measured by `benches/density.rs`, as the others are.
const OF_MEMORY: u64 = 4;
/// Outside of a pool there is a guard on both sides.
const OF_MEMORY_ON_DEMAND: u64 = 5;
/// Mappings of the thread that makes a call: its stack, the stack of its signals and that of wasmtime's, each with what
/// guards it.
const OF_THREAD: u64 = 6;
/// Mappings of a loaded component: its code, and what lies before and behind it.
const OF_COMPONENT: u64 = 3;
/// Bytes of address space of one slot: 4 GiB, the guard behind them, and its tables.
const SLOT_BYTES: u64 = (4 << 30) + (36 << 20);
/// The same outside of a pool, where there is a guard on both sides.
const ON_DEMAND_BYTES: u64 = (4 << 30) + (64 << 20);

/// Mappings that are left for the rest of the process: 1,000 for its allocator, threads, files and databases, and four for each
/// thread that helps a hostcall or waits for a lock.
const RESERVE: u64 = 3_500;
/// Mappings that a pool leaves for components.
const FOR_COMPONENTS: u64 = 1_000;
/// Bytes of address space that a pool leaves for everything else.
const BESIDE_A_POOL: u64 = 1 << 30;
/// The same of one call outside of a pool.
const BESIDE_A_CALL: u64 = 64 << 20;
/// While there is no room mappings are not counted more often.
const COUNTED_EVERY: Duration = Duration::from_millis(100);
/// While there is not much they are counted this often: what else the process has grows too.
const COUNTED_NEAR: Duration = Duration::from_secs(5);
/// Mappings that a process may have where nobody says: the kernel's default.
const USUAL: u64 = 65_530;

/// What the kernel limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wall {
    /// Bytes of address space (`ulimit -v`).
    AddressSpace,
    /// Memory mappings (`vm.max_map_count`).
    Mappings,
}

/// What asks for room.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Taker {
    /// So many slots of a pool.
    Slots(u32),
    /// A component, to be loaded.
    Component,
    /// A call that gets its memory outside of a pool.
    Call,
}

/// Something does not fit into what the kernel lets this process have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub struct NoRoom {
    /// What it is that has no room.
    pub taker: Taker,
    /// What there is too little of.
    pub wall: Wall,
    /// Bytes or mappings that it takes.
    pub asked: u64,
    /// Bytes or mappings that are left for it.
    pub left: u64,
    /// Bytes or mappings that this process may have.
    pub limit: u64,
}

impl fmt::Display for NoRoom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            asked, left, limit, ..
        } = self;
        match self.taker {
            Taker::Slots(slots) => write!(f, "{slots} slots for instances need ")?,
            Taker::Component => f.write_str("one more component needs ")?,
            Taker::Call => f.write_str("one more call needs ")?,
        }
        match self.wall {
            Wall::AddressSpace => write!(
                f,
                "{asked} bytes of address space, and {left} are left of {limit}: raise the limit (`ulimit -v`)"
            )?,
            Wall::Mappings => write!(
                f,
                "{asked} memory mappings, and {left} are left of {limit}: raise the limit (`sysctl vm.max_map_count`)"
            )?,
        }
        f.write_str(match self.taker {
            Taker::Slots(_) => ", or ask for fewer slots",
            Taker::Component => ", ask for fewer slots, or load fewer components",
            Taker::Call => ", or make fewer calls at a time",
        })
    }
}

/// What the kernel says.
pub(super) trait Kernel: Send + Sync {
    /// What this process may have; none: no end to it.
    fn limit(&self, wall: Wall) -> io::Result<Option<u64>>;
    /// What it has.
    fn used(&self, wall: Wall) -> io::Result<u64>;
}

/// Of this process.
struct ThisProcess;

#[cfg(target_os = "linux")]
impl Kernel for ThisProcess {
    fn limit(&self, wall: Wall) -> io::Result<Option<u64>> {
        use rustix::process::{Resource, getrlimit};

        match wall {
            Wall::AddressSpace => Ok(getrlimit(Resource::As).current),
            Wall::Mappings => {
                number(&std::fs::read_to_string("/proc/sys/vm/max_map_count")?).map(Some)
            }
        }
    }

    fn used(&self, wall: Wall) -> io::Result<u64> {
        match wall {
            Wall::AddressSpace => {
                let pages = number(&std::fs::read_to_string("/proc/self/statm")?)?;
                let page = u64::try_from(rustix::param::page_size()).unwrap_or(4096);
                Ok(pages.saturating_mul(page))
            }
            Wall::Mappings => {
                let maps = std::fs::read("/proc/self/maps")?;
                let lines = memchr::memchr_iter(b'\n', &maps).count();
                Ok(u64::try_from(lines).unwrap_or(u64::MAX))
            }
        }
    }
}

/// The first number of a file of `/proc`.
#[cfg(target_os = "linux")]
fn number(text: &str) -> io::Result<u64> {
    let first = text.split_ascii_whitespace().next().unwrap_or_default();
    first.parse().map_err(|_| io::ErrorKind::InvalidData.into())
}

/// Elsewhere nobody says.
#[cfg(not(target_os = "linux"))]
impl Kernel for ThisProcess {
    fn limit(&self, _: Wall) -> io::Result<Option<u64>> {
        Ok(None)
    }

    fn used(&self, _: Wall) -> io::Result<u64> {
        Ok(0)
    }
}

/// What is left for the engines of a process.
pub(crate) struct Room {
    kernel: Box<dyn Kernel>,
    mappings: Mutex<Mappings>,
    /// Held from the question how many slots fit until they are promised.
    making_a_pool: Mutex<()>,
}

#[derive(Default)]
struct Mappings {
    /// What may be had, and what everything has that is not counted here; none: nobody has asked yet.
    known: Option<Known>,
    /// Of components, and of instances outside of pools.
    held: u64,
    pools: Vec<Pool>,
}

#[derive(Clone, Copy)]
struct Known {
    limit: Option<u64>,
    others: u64,
    /// None: this is a guess.
    counted: Option<Instant>,
}

/// A pool of instances, which is there for as long as its engine.
struct Pool {
    engine: EngineWeak,
    slots: u32,
}

impl Pool {
    /// Mappings that it has when all of it is in use, with the threads that use it.
    fn promised(&self) -> u64 {
        of_pool(self.slots)
    }

    /// Mappings that it has now.
    fn used(&self) -> u64 {
        let Some(engine) = self.engine.upgrade() else {
            return 0;
        };
        let Some(pool) = engine.pooling_allocator_metrics() else {
            return 0;
        };
        let live = u64::try_from(pool.memories()).unwrap_or(u64::MAX);
        let touched = live.saturating_add(pool.unused_warm_memories().into());
        let used = touched
            .saturating_mul(OF_MEMORY)
            .saturating_add(live.saturating_mul(OF_THREAD));
        used.min(self.promised())
    }
}

fn of_pool(slots: u32) -> u64 {
    let slots = u64::from(slots);
    let spare = u64::from(MEMORIES).saturating_mul(OF_MEMORY);
    slots
        .saturating_mul(OF_MEMORY.saturating_add(OF_THREAD))
        .saturating_add(spare)
}

/// Mappings that are counted, until it is dropped.
pub(crate) struct Held {
    room: Arc<Room>,
    mappings: u64,
}

impl Drop for Held {
    fn drop(&mut self) {
        let mut mappings = self.room.lock();
        mappings.held = mappings.held.saturating_sub(self.mappings);
    }
}

/// How many slots there is room for, and why not for all.
pub(super) struct Fit {
    pub(super) slots: u32,
    pub(super) short: Option<NoRoom>,
}

impl Room {
    /// Of this process, for all of its engines.
    pub(crate) fn of_process() -> Arc<Self> {
        static ROOM: LazyLock<Arc<Room>> = LazyLock::new(|| Arc::new(Room::new(ThisProcess)));
        Arc::clone(&ROOM)
    }

    pub(super) fn new(kernel: impl Kernel + 'static) -> Self {
        Self {
            kernel: Box::new(kernel),
            mappings: Mutex::default(),
            making_a_pool: Mutex::default(),
        }
    }

    /// Nobody else is told how many slots fit meanwhile.
    pub(super) fn making_a_pool(&self) -> MutexGuard<'_, ()> {
        let making = self.making_a_pool.lock();
        making.unwrap_or_else(PoisonError::into_inner)
    }

    /// How many of these slots there is room for: those that fit both walls.
    pub(super) fn slots(&self, asked: u32) -> Fit {
        let by_address = self.slots_by_address(asked);
        let by_mappings = self.slots_by_mappings(asked);
        if by_address.slots < by_mappings.slots {
            by_address
        } else {
            by_mappings
        }
    }

    fn slots_by_address(&self, asked: u32) -> Fit {
        let spare = u64::from(MEMORIES).saturating_add(1);
        let needed = spare
            .saturating_add(asked.into())
            .saturating_mul(SLOT_BYTES);
        let all = Fit {
            slots: asked,
            short: None,
        };
        let Some((left, limit)) = self.address_space(BESIDE_A_POOL) else {
            return all;
        };
        if needed <= left {
            return all;
        }
        let slots = (left / SLOT_BYTES).saturating_sub(spare);
        Fit {
            slots: u32::try_from(slots).unwrap_or(asked).min(asked),
            short: Some(NoRoom {
                taker: Taker::Slots(asked),
                wall: Wall::AddressSpace,
                asked: needed,
                left,
                limit,
            }),
        }
    }

    /// Bytes that are left, but for so many, and the limit; none: no end to them.
    fn address_space(&self, beside: u64) -> Option<(u64, u64)> {
        let limit = self.kernel.limit(Wall::AddressSpace).ok().flatten()?;
        // What cannot be asked is taken for used up.
        let used = self.kernel.used(Wall::AddressSpace).unwrap_or(limit);
        Some((limit.saturating_sub(used).saturating_sub(beside), limit))
    }

    fn slots_by_mappings(&self, asked: u32) -> Fit {
        let needed = of_pool(asked);
        let mut mappings = self.lock();
        let left = self.left(&mut mappings, needed.saturating_add(FOR_COMPONENTS));
        let Some((left, limit)) = left else {
            return Fit {
                slots: asked,
                short: None,
            };
        };
        drop(mappings);
        let left = left.saturating_sub(FOR_COMPONENTS);
        let spare = of_pool(0);
        let slots = left.saturating_sub(spare) / OF_MEMORY.saturating_add(OF_THREAD);
        Fit {
            slots: u32::try_from(slots).unwrap_or(asked).min(asked),
            short: Some(NoRoom {
                taker: Taker::Slots(asked),
                wall: Wall::Mappings,
                asked: needed,
                left,
                limit,
            }),
        }
    }

    /// Counts a pool that was made, for as long as its engine is there.
    pub(super) fn promise(&self, engine: &Engine, slots: u32) {
        let mut mappings = self.lock();
        mappings
            .pools
            .retain(|pool| pool.engine.upgrade().is_some());
        mappings.pools.push(Pool {
            engine: engine.weak(),
            slots,
        });
    }

    /// Room for a component that is loaded, for as long as it is.
    pub(super) fn component(self: &Arc<Self>) -> Result<Held, NoRoom> {
        self.hold(Taker::Component, OF_COMPONENT)
    }

    /// Room for an instance with so many memories outside of a pool, for as long as it is there.
    pub(super) fn instance(self: &Arc<Self>, memories: u32) -> Result<Held, NoRoom> {
        let memories = u64::from(memories);
        if let Some((left, limit)) = self.address_space(BESIDE_A_CALL) {
            let asked = memories.saturating_mul(ON_DEMAND_BYTES);
            if asked > left {
                return Err(NoRoom {
                    taker: Taker::Call,
                    wall: Wall::AddressSpace,
                    asked,
                    left,
                    limit,
                });
            }
        }
        let of_memories = memories.saturating_mul(OF_MEMORY_ON_DEMAND);
        self.hold(Taker::Call, of_memories.saturating_add(OF_THREAD))
    }

    fn hold(self: &Arc<Self>, taker: Taker, asked: u64) -> Result<Held, NoRoom> {
        let mut mappings = self.lock();
        if let Some((left, limit)) = self.left(&mut mappings, asked) {
            return Err(NoRoom {
                taker,
                wall: Wall::Mappings,
                asked,
                left,
                limit,
            });
        }
        mappings.held = mappings.held.saturating_add(asked);
        drop(mappings);
        Ok(Held {
            room: Arc::clone(self),
            mappings: asked,
        })
    }

    /// None where so many mappings may be had; else how many may, and the limit.
    fn left(&self, mappings: &mut Mappings, asked: u64) -> Option<(u64, u64)> {
        mappings
            .pools
            .retain(|pool| pool.engine.upgrade().is_some());
        let mut known = *mappings.known.get_or_insert_with(|| {
            let limit = self.kernel.limit(Wall::Mappings).unwrap_or(Some(USUAL));
            Known {
                limit,
                // Counting takes longer than all the rest: it is put off where half of what may be had is more than
                // enough.
                others: limit.unwrap_or_default() / 2,
                counted: None,
            }
        });
        let mut left = mappings.left(&known)?;
        let age = known.counted.map(|counted| counted.elapsed());
        let counts = match left.checked_sub(asked) {
            None => age.is_none_or(|age| age >= COUNTED_EVERY),
            Some(rest) => rest < known.limit? / 4 && age.is_none_or(|age| age >= COUNTED_NEAR),
        };
        if counts {
            known = self.counted(known, mappings.mapped());
            mappings.known = Some(known);
            left = mappings.left(&known)?;
        }
        (asked > left).then_some((left, known.limit?))
    }

    /// What the kernel says now. Where it cannot be asked, as without a free descriptor, what was known stands.
    fn counted(&self, known: Known, mapped: u64) -> Known {
        let used = self.kernel.used(Wall::Mappings);
        Known {
            limit: self.kernel.limit(Wall::Mappings).unwrap_or(known.limit),
            others: used.map_or(known.others, |used| used.saturating_sub(mapped)),
            counted: Some(Instant::now()),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Mappings> {
        self.mappings.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Mappings {
    /// What is left beside what was taken and promised; none: no end to it.
    fn left(&self, known: &Known) -> Option<u64> {
        let promised: u64 = self.pools.iter().map(Pool::promised).sum();
        let taken = [known.others, self.held, promised, RESERVE];
        Some(taken.into_iter().fold(known.limit?, u64::saturating_sub))
    }

    /// What the kernel counts of what is counted here.
    fn mapped(&self) -> u64 {
        let pools: u64 = self.pools.iter().map(Pool::used).sum();
        self.held.saturating_add(pools)
    }
}

/// How many slots a pool of this process could have now, up to the most that it may be asked for, and why not all.
#[must_use]
pub fn most_slots() -> (u32, Option<NoRoom>) {
    let fit = Room::of_process().slots(super::setup::MOST_SLOTS);
    (fit.slots, fit.short)
}

#[cfg(test)]
mod tests;
