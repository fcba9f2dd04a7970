//! What a component can and cannot do to its host: one small guest for one behaviour, through the library.
//!
//! The guests are WebAssembly text below `tests/engine/`; each is a whole skill whose `run` misbehaves in
//! one way. Every test that cites a limit hits it.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a failed expectation is a failed test, in a fixture as in the test itself"
)]

use std::sync::Arc;
use std::time::{Duration, Instant};

use hydrant::capability::fetch::Fetcher;
use hydrant::capability::{Budget, BudgetExceeded, Call, Cancellation, Journal};
use hydrant::engine::{
    Answer, Budgets, CallError, ComponentDescriber, Engine, EngineError, EngineOptions, Skill,
};
use hydrant::policy::{Grant, Limits};
use hydrant::trust::{Capability, Wasm};

#[cfg(target_os = "linux")]
#[path = "engine/contained.rs"]
mod contained;
#[path = "engine/guests.rs"]
mod guests;

fn engine() -> Engine {
    Engine::new(&EngineOptions {
        slots: 8,
        cache: None,
    })
    .unwrap()
}

fn load(engine: &Engine, guest: &str) -> Result<Skill, EngineError> {
    let bytes = wat::parse_str(guest).unwrap();
    let declared = [("fs.read", "/os"), ("exec.safe", "*"), ("net.http", "*")];
    let capabilities = declared.map(|(kind, value)| Capability {
        kind: kind.into(),
        value: value.into(),
    });
    engine.load(&Wasm::from(bytes), &capabilities)
}

fn budgets() -> Budgets {
    let mut budgets = Budgets::of(&Limits::default());
    budgets.wall_clock = Duration::from_secs(5);
    budgets
}

/// As [`load`], for a component that nobody vouches for.
#[cfg(target_os = "linux")]
fn load_contained(
    engine: &Engine,
    bytes: &[u8],
    patience: Duration,
    jail: &hydrant::jail::Launcher,
) -> Result<Skill, EngineError> {
    engine.load_within(&Wasm::from(bytes.to_vec()), &[], patience, Some(jail))
}

fn run(guest: &str, budgets: &Budgets) -> Result<Answer, CallError> {
    let engine = engine();
    run_on(&engine, &load(&engine, guest).unwrap(), b"{}", budgets)
}

fn run_on(
    engine: &Engine,
    skill: &Skill,
    request: &[u8],
    budgets: &Budgets,
) -> Result<Answer, CallError> {
    let fetcher = Arc::new(Fetcher::new(&[]).unwrap());
    let call = Arc::new(Call {
        grant: Grant::nothing(),
        meter: budgets.meter_from(Instant::now()),
        journal: Journal::default(),
        limits: Limits::default(),
        fetcher: Arc::clone(&fetcher),
        components: Arc::new(ComponentDescriber::new(fetcher)),
        journals: None,
        credential: None,
        own: Arc::default(),
        jail: None,
        descriptions: None,
    });
    engine.run(skill, request, call, budgets)
}

fn exceeded(result: Result<Answer, CallError>) -> BudgetExceeded {
    match result {
        Err(CallError::Budget(exceeded)) => exceeded,
        Err(error) => panic!("not a budget: {error}"),
        Ok(_) => panic!("no budget was exceeded"),
    }
}

#[test]
fn a_skill_answers_what_its_run_returns() {
    let answer = run(&guests::returning("hello"), &budgets()).unwrap();
    assert_eq!(answer.response, b"hello");
    assert!(
        answer.fuel > 0 && answer.memory_bytes >= 65_536,
        "{answer:?}"
    );
}

#[test]
fn a_skill_error_keeps_code_and_message() {
    match run(&guests::failing("not_found", "no such thing"), &budgets()) {
        Err(CallError::Skill {
            code,
            message,
            details: None,
        }) => {
            assert_eq!(
                (code.as_str(), message.as_str()),
                ("not_found", "no such thing")
            );
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_tight_loop_runs_out_of_fuel() {
    let budgets = Budgets {
        fuel: 1_000_000,
        ..budgets()
    };
    let exceeded = exceeded(run(&guests::looping(), &budgets));
    assert_eq!((exceeded.budget, exceeded.limit), (Budget::Fuel, 1_000_000));
}

#[test]
fn a_tight_loop_ends_when_its_call_is_cancelled() {
    let engine = engine();
    let looping = load(&engine, &guests::looping()).unwrap();
    let budgets = Budgets {
        fuel: u64::MAX,
        wall_clock: Duration::from_secs(600),
        ..budgets()
    };
    let cancellation = Cancellation::new();
    // The best of some: the machine may be busy with something else at the moment.
    let best = (0..5).map(|_| {
        let cancellation = Cancellation::new();
        std::thread::scope(|scope| {
            let running =
                scope.spawn(|| cancellation.during(|| run_on(&engine, &looping, b"{}", &budgets)));
            std::thread::sleep(Duration::from_millis(100));
            assert!(!running.is_finished());
            let cancelled = Instant::now();
            cancellation.cancel();
            let exceeded = exceeded(running.join().unwrap());
            assert_eq!(exceeded.budget, Budget::Cancelled);
            cancelled.elapsed()
        })
    });
    let best = best.min().unwrap();
    assert!(best < Duration::from_millis(50), "{best:?}");
    // What is cancelled before it begins does not begin.
    cancellation.cancel();
    let ended = cancellation.during(|| run_on(&engine, &looping, b"{}", &budgets));
    assert_eq!(exceeded(ended).budget, Budget::Cancelled);
}

#[test]
fn a_tight_loop_ends_at_its_deadline() {
    let budgets = Budgets {
        wall_clock: Duration::from_millis(100),
        ..budgets()
    };
    let started = Instant::now();
    let exceeded = exceeded(run(&guests::looping(), &budgets));
    assert_eq!((exceeded.budget, exceeded.limit), (Budget::WallClock, 100));
    assert!(exceeded.used >= 100, "{exceeded}");
    assert!(
        started.elapsed() < Duration::from_secs(5),
        "the deadline interrupts the guest"
    );
}

#[test]
fn memory_is_counted_over_all_memories_of_an_instance() {
    let budgets = Budgets {
        memory_bytes: 32 * 65_536,
        ..budgets()
    };
    assert!(
        run(&guests::growing(&[15, 15]), &budgets).is_ok(),
        "two memories of 16 pages fit"
    );
    let exceeded = exceeded(run(&guests::growing(&[15, 16]), &budgets));
    let pages = |n: u64| n * 65_536;
    assert_eq!(
        (exceeded.budget, exceeded.limit, exceeded.used),
        (Budget::Memory, pages(32), pages(33))
    );
}

#[test]
fn a_memory_that_begins_too_large_is_not_instantiated() {
    let budgets = Budgets {
        memory_bytes: 65_536,
        ..budgets()
    };
    let exceeded = exceeded(run(&guests::growing(&[0, 0]), &budgets));
    assert_eq!(
        (exceeded.budget, exceeded.used),
        (Budget::Memory, 2 * 65_536)
    );
}

#[test]
fn table_elements_are_limited() {
    assert_eq!(
        exceeded(run(&guests::growing_table(), &budgets())).budget,
        Budget::Tables
    );
}

#[test]
fn a_request_over_its_budget_never_reaches_the_guest() {
    let engine = engine();
    let skill = load(&engine, &guests::returning("")).unwrap();
    let budgets = Budgets {
        request_bytes: 10,
        ..budgets()
    };
    assert!(run_on(&engine, &skill, &[b' '; 10], &budgets).is_ok());
    let exceeded = exceeded(run_on(&engine, &skill, &[b' '; 11], &budgets));
    assert_eq!(
        (exceeded.budget, exceeded.limit, exceeded.used),
        (Budget::RequestBytes, 10, 11)
    );
}

#[test]
fn a_response_over_its_budget_is_not_delivered() {
    let budgets = Budgets {
        response_bytes: 4,
        ..budgets()
    };
    assert!(run(&guests::returning("1234"), &budgets).is_ok());
    let exceeded = exceeded(run(&guests::returning("12345"), &budgets));
    assert_eq!(
        (exceeded.budget, exceeded.limit, exceeded.used),
        (Budget::ResponseBytes, 4, 5)
    );
}

#[test]
fn hostcalls_are_counted_by_item() {
    let budgets = Budgets {
        hostcalls: 100,
        ..budgets()
    };
    assert!(run(&guests::reading(100), &budgets).is_ok());
    let exceeded = exceeded(run(&guests::reading(101), &budgets));
    assert_eq!(
        (exceeded.budget, exceeded.limit, exceeded.used),
        (Budget::Hostcalls, 100, 101)
    );
}

#[test]
fn a_list_that_would_fill_the_memory_of_the_host_is_refused_before_it_is_taken() {
    // 2^28 items of 16 bytes do not even fit the guest's memory; a list over the hostcall limit that does fit:
    match run(&guests::reading_from(200 * 65_536, 5_000_000), &budgets()) {
        Err(CallError::Trap(_) | CallError::Budget(_)) => {}
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_trap_is_an_error_and_the_engine_goes_on() {
    let engine = engine();
    let trapping = load(&engine, &guests::trapping()).unwrap();
    let fine = load(&engine, &guests::returning("fine")).unwrap();
    for _ in 0..20 {
        assert!(matches!(
            run_on(&engine, &trapping, b"", &budgets()),
            Err(CallError::Trap(_))
        ));
        assert_eq!(
            run_on(&engine, &fine, b"", &budgets()).unwrap().response,
            b"fine"
        );
    }
}

#[test]
fn nothing_survives_between_calls() {
    let engine = engine();
    let skill = load(&engine, &guests::counting()).unwrap();
    for _ in 0..3 {
        assert_eq!(
            run_on(&engine, &skill, b"", &budgets()).unwrap().response,
            b"1"
        );
    }
}

#[test]
fn a_component_that_imports_sockets_or_http_does_not_load() {
    for import in [
        "wasi:sockets/network@0.2.0",
        "wasi:http/types@0.2.0",
        "evil:host/everything",
    ] {
        let error = load(&engine(), &guests::importing(import))
            .err()
            .expect(import);
        assert!(matches!(error, EngineError::World(_)), "{import}: {error}");
    }
}

#[test]
fn an_import_that_the_manifest_does_not_declare_is_refused() {
    let bytes = wat::parse_str(guests::reading(1)).unwrap();
    let error = engine()
        .load(&Wasm::from(bytes), &[])
        .err()
        .expect("undeclared");
    assert_eq!(
        error.to_string(),
        "the component imports hydrant:host/fs-read, but its manifest declares no fs.read capability"
    );
}

#[test]
fn a_core_module_and_random_bytes_are_no_components() {
    let engine = engine();
    for bytes in [&b"\0asm\x01\0\0\0"[..], b"", b"(component)", b"MZ"] {
        let error = engine
            .load(&Wasm::from(bytes.to_vec()), &[])
            .err()
            .expect("no component");
        assert!(matches!(error, EngineError::Compile(_)), "{error}");
    }
}

#[test]
fn a_timer_cannot_hold_a_thread_of_the_host() {
    let budgets = Budgets {
        wall_clock: Duration::from_secs(2),
        ..budgets()
    };
    let started = Instant::now();
    // Waits an hour by its own clock, which is frozen: the timer is due at once.
    assert_eq!(
        run(&guests::waiting(), &budgets).unwrap().response,
        b"waited"
    );
    assert!(started.elapsed() < Duration::from_secs(30));
}

/// The same in every call, however much time has passed.
#[test]
fn a_guest_has_no_clock_no_chance_and_no_environment() {
    let engine = engine();
    let skill = load(&engine, &guests::looking_around()).unwrap();
    let look = || run_on(&engine, &skill, b"{}", &budgets()).unwrap().response;
    let first = look();
    std::thread::sleep(Duration::from_millis(1_100));
    assert_eq!(look(), first, "another call");
    let other = run(&guests::looking_around(), &budgets()).unwrap();
    assert_eq!(other.response, first, "another engine");
    let numbers: Vec<u64> = first
        .chunks_exact(8)
        .map(|bytes| u64::from_le_bytes(bytes.try_into().unwrap()))
        .collect();
    assert_eq!(numbers.len(), 6, "{numbers:?}");
    assert_ne!(numbers[0], numbers[1], "nothing was drawn");
    // 2026-01-01T00:00:00Z, and neither variables nor arguments.
    assert_eq!(numbers[3..], [1_767_225_600, 0, 0]);
}

#[test]
fn handles_cannot_fill_the_memory_of_the_host() {
    match run(&guests::hoarding(), &budgets()) {
        Err(CallError::Trap(reason)) => {
            assert!(reason.contains("table has no free keys"), "{reason}");
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_a_guest_prints_is_bounded_and_never_an_error() {
    // write-zeroes of 2^62 bytes, then 1,000 writes of 4 KiB.
    assert_eq!(
        run(&guests::printing(), &budgets()).unwrap().response,
        b"printed"
    );
}

#[test]
fn more_calls_than_slots_wait_in_line() {
    let engine = Engine::new(&EngineOptions {
        slots: 1,
        cache: None,
    })
    .unwrap();
    let fine = load(&engine, &guests::returning("fine")).unwrap();
    std::thread::scope(|scope| {
        let call = || scope.spawn(|| run_on(&engine, &fine, b"", &budgets()).unwrap().response);
        let calls: Vec<_> = (0..50).map(|_| call()).collect();
        for call in calls {
            assert_eq!(call.join().unwrap(), b"fine");
        }
    });
}

#[test]
fn who_waits_in_line_past_its_deadline_is_told_so() {
    let engine = Engine::new(&EngineOptions {
        slots: 1,
        cache: None,
    })
    .unwrap();
    let looping = load(&engine, &guests::looping()).unwrap();
    let budgets = Budgets {
        wall_clock: Duration::from_millis(200),
        ..budgets()
    };
    std::thread::scope(|scope| {
        let calls: Vec<_> = (0..3)
            .map(|_| scope.spawn(|| run_on(&engine, &looping, b"", &budgets)))
            .collect();
        for call in calls {
            assert_eq!(exceeded(call.join().unwrap()).budget, Budget::WallClock);
        }
    });
}
