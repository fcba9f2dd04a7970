//! Walls that are stated here, in place of those of the machine.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use super::*;
use crate::{Allocation, Engine as HostEngine, EngineError, EngineOptions};
use hydrant_trust::{Capability, Wasm};

/// A kernel with these limits, of which so much is used.
#[derive(Clone, Default)]
struct Stated {
    address_space: Option<u64>,
    mappings: Option<u64>,
    used: Arc<AtomicU64>,
    counted: Arc<AtomicUsize>,
    /// As without a descriptor: nothing can be asked.
    silent: Arc<AtomicBool>,
}

impl Stated {
    fn asked(&self) -> io::Result<()> {
        if self.silent.load(Ordering::Relaxed) {
            return Err(io::ErrorKind::Other.into());
        }
        Ok(())
    }
}

impl Kernel for Stated {
    fn limit(&self, wall: Wall) -> io::Result<Option<u64>> {
        self.asked()?;
        Ok(match wall {
            Wall::AddressSpace => self.address_space,
            Wall::Mappings => self.mappings,
        })
    }

    fn used(&self, _: Wall) -> io::Result<u64> {
        self.asked()?;
        self.counted.fetch_add(1, Ordering::Relaxed);
        Ok(self.used.load(Ordering::Relaxed))
    }
}

fn mappings(limit: u64, used: u64) -> Stated {
    Stated {
        mappings: Some(limit),
        used: Arc::new(AtomicU64::new(used)),
        ..Stated::default()
    }
}

const COMPONENT: &[u8] = include_bytes!("../../../../skills/fs.read_text/0.1.0/skill.wasm");

fn engine(slots: u32, kernel: Stated) -> HostEngine {
    let options = EngineOptions { slots, cache: None };
    HostEngine::within(&options, Arc::new(Room::new(kernel))).unwrap()
}

#[test]
fn the_reserve_holds_every_thread_that_is_not_counted() {
    let threads = hydrant_capability::MAX_HELPERS + hydrant_base::MAX_WAITING;
    let threads = u64::try_from(threads).unwrap();
    assert!(RESERVE >= 1_000 + 4 * threads);
}

#[test]
fn without_limits_all_slots_fit_and_nothing_is_counted() {
    let kernel = Stated::default();
    let room = Arc::new(Room::new(kernel.clone()));
    let fit = room.slots(10_000);
    assert_eq!((fit.slots, fit.short), (10_000, None));
    let _components: Vec<_> = (0..100_000).map(|_| room.component().unwrap()).collect();
    room.instance(8).unwrap();
    assert_eq!(kernel.counted.load(Ordering::Relaxed), 0);
}

#[test]
fn mappings_are_not_counted_while_half_of_them_is_enough() {
    let kernel = mappings(65_530, 300);
    let room = Arc::new(Room::new(kernel.clone()));
    assert!(room.slots(1_000).short.is_none());
    let _components: Vec<_> = (0..1_000).map(|_| room.component().unwrap()).collect();
    let _calls: Vec<_> = (0..500).map(|_| room.instance(1).unwrap()).collect();
    assert_eq!(kernel.counted.load(Ordering::Relaxed), 0);
}

#[test]
fn what_else_the_process_has_is_counted_before_much_is_promised() {
    let room = Room::new(mappings(65_530, 50_000));
    let fit = room.slots(3_000);
    assert!(fit.slots < 1_400, "{}", fit.slots);
}

/// What was known stands, and the wall with it.
#[test]
fn a_kernel_that_cannot_be_asked_is_no_kernel_without_limits() {
    let kernel = mappings(5_500, 500);
    let (silent, used) = (Arc::clone(&kernel.silent), Arc::clone(&kernel.used));
    let room = Arc::new(Room::new(kernel));
    let mut loaded = vec![room.component().unwrap()];
    silent.store(true, Ordering::Relaxed);
    std::thread::sleep(COUNTED_EVERY);
    while let Ok(held) = room.component() {
        loaded.push(held);
        assert!(loaded.len() < 1_000, "there is a wall");
    }
    silent.store(false, Ordering::Relaxed);
    let mapped = OF_COMPONENT * u64::try_from(loaded.len()).unwrap();
    used.store(100 + mapped, Ordering::Relaxed);
    std::thread::sleep(COUNTED_EVERY);
    room.component().unwrap();

    let never = mappings(1_000_000, 500);
    never.silent.store(true, Ordering::Relaxed);
    assert!(Room::new(never).slots(10_000).slots < 10_000);
}

#[test]
fn slots_that_the_mappings_do_not_suffice_for_are_fewer_and_it_is_said_why() {
    let room = Room::new(mappings(20_000, 500));
    let fit = room.slots(10_000);
    let short = fit.short.unwrap();
    assert_eq!((short.wall, short.limit), (Wall::Mappings, 20_000));
    assert_eq!(short.taker, Taker::Slots(10_000));
    // What is promised, what there is, and what is left for others are no more than the limit, and one slot more would be.
    let with = |slots| of_pool(slots) + 500 + RESERVE + FOR_COMPONENTS;
    assert!(with(fit.slots) <= 20_000 && with(fit.slots + 1) > 20_000);
    let text = short.to_string();
    assert!(
        text.starts_with("10000 slots for instances need 100032 memory mappings"),
        "{text}"
    );
    assert!(
        text.contains("vm.max_map_count") && text.ends_with("fewer slots"),
        "{text}"
    );
}

#[test]
fn slots_that_the_address_space_does_not_suffice_for_are_fewer_and_it_is_said_why() {
    let kernel = Stated {
        address_space: Some(100 * SLOT_BYTES),
        ..mappings(65_530, 0)
    };
    let fit = Room::new(kernel).slots(1_000);
    let short = fit.short.unwrap();
    assert_eq!(
        (short.wall, short.limit),
        (Wall::AddressSpace, 100 * SLOT_BYTES)
    );
    assert!((80..=91).contains(&fit.slots), "{}", fit.slots);
    assert!(short.to_string().contains("ulimit -v"), "{short}");
}

#[test]
fn an_engine_has_the_slots_that_fit_or_no_pool_at_all() {
    let of = |limit| engine(1_000, mappings(limit, 200)).allocation().clone();
    let Allocation::Pooling { slots, short, .. } = of(6_500) else {
        panic!("there is room for some slots");
    };
    assert!((8..1_000).contains(&slots) && short.is_some(), "{slots}");
    let Allocation::OnDemand { reason } = of(4_740) else {
        panic!("there is room for no more than a few slots");
    };
    assert!(reason.contains("vm.max_map_count"), "{reason}");
}

#[test]
fn one_component_too_many_is_refused_and_one_less_makes_room() {
    let kernel = mappings(4_000, 400);
    let used = Arc::clone(&kernel.used);
    let engine = engine(1, kernel);
    let declared = [Capability {
        kind: "fs.read".into(),
        value: "/os".into(),
    }];
    let component = Wasm::from(COMPONENT);
    let load = || engine.load(&component, &declared);
    let kept = load().unwrap();
    used.fetch_add(OF_COMPONENT, Ordering::Relaxed);
    let mut loaded = Vec::new();
    let refused = loop {
        match load() {
            Ok(skill) => loaded.push(skill),
            Err(EngineError::NoRoom(refused)) => break refused,
            Err(other) => panic!("{other}"),
        }
        used.fetch_add(OF_COMPONENT, Ordering::Relaxed);
        assert!(loaded.len() < 100, "the wall is nearer than that");
    };
    assert!(loaded.len() > 10);
    assert_eq!(
        (refused.taker, refused.wall),
        (Taker::Component, Wall::Mappings)
    );
    assert_eq!((refused.limit, refused.asked), (4_000, OF_COMPONENT));
    assert!(refused.left < OF_COMPONENT);
    drop(kept);
    load().unwrap();
}

#[test]
fn a_call_outside_of_a_pool_is_refused_before_the_kernel_would() {
    let room = Arc::new(Room::new(Stated {
        address_space: Some(3 * ON_DEMAND_BYTES),
        ..mappings(65_530, ON_DEMAND_BYTES)
    }));
    room.instance(1).unwrap();
    let refused = room.instance(2).err().unwrap();
    assert_eq!(
        (refused.taker, refused.wall),
        (Taker::Call, Wall::AddressSpace)
    );
    assert_eq!(refused.asked, 2 * ON_DEMAND_BYTES);

    let kernel = mappings(4_500, 900);
    let used = Arc::clone(&kernel.used);
    let room = Arc::new(Room::new(kernel));
    let calls: Vec<_> = std::iter::from_fn(|| {
        let held = room.instance(1).ok()?;
        used.fetch_add(OF_MEMORY_ON_DEMAND + OF_THREAD, Ordering::Relaxed);
        Some(held)
    })
    .collect();
    let fit = (4_500 - 900 - RESERVE) / (OF_MEMORY_ON_DEMAND + OF_THREAD);
    assert_eq!(u64::try_from(calls.len()).unwrap(), fit);
    drop(calls);
    room.instance(1).unwrap();
}

#[test]
fn what_a_pool_has_promised_is_given_back_with_its_engine() {
    let kernel = mappings(7_500, 200);
    let room = Arc::new(Room::new(kernel));
    let options = EngineOptions {
        slots: 200,
        cache: None,
    };
    let engine = HostEngine::within(&options, Arc::clone(&room)).unwrap();
    assert!(matches!(
        engine.allocation(),
        Allocation::Pooling { short: None, .. }
    ));
    let beside = room.slots(200).slots;
    assert!(beside < 200, "{beside}");
    drop(engine);
    std::thread::sleep(COUNTED_EVERY);
    assert_eq!(room.slots(200).slots, 200);
}

/// The kernel of the machine that runs this.
#[cfg(target_os = "linux")]
#[test]
fn the_machine_says_how_much_there_is_and_how_much_is_used() {
    assert!(ThisProcess.limit(Wall::Mappings).unwrap().unwrap() > 1_000);
    for wall in [Wall::Mappings, Wall::AddressSpace] {
        let used = ThisProcess.used(wall).unwrap();
        assert!(used > 10 && used < 1 << 47, "{wall:?}: {used}");
    }
}
