//! What nobody vouches for is compiled in a process of its own in the jail.

use std::fs;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use hydrant::engine::EngineError;
use hydrant::jail::Launcher;

use crate::{budgets, engine, guests, load_contained, run_on};

const LONG: Duration = Duration::from_secs(60);

fn hydrant() -> Launcher {
    Launcher::at(env!("CARGO_BIN_EXE_hydrant"))
}

/// One test after the other: they look for each other's processes.
static ONE: Mutex<()> = Mutex::new(());

/// How many processes compile that this process has started.
fn compilers() -> usize {
    let parent = |pid: &str| {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        let (_, rest) = stat.rsplit_once(')')?;
        rest.split_whitespace().nth(1).map(ToOwned::to_owned)
    };
    let this = std::process::id().to_string();
    let is_ours = |pid: String| {
        let mut above = std::iter::successors(Some(pid), |pid| parent(pid)).take(8);
        above.any(|pid| pid == this)
    };
    let compiles = |pid: &str| {
        fs::read(format!("/proc/{pid}/cmdline"))
            .is_ok_and(|line| line.starts_with(b"hydrant-compile\0"))
    };
    let names = fs::read_dir("/proc").unwrap();
    let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names
        .filter(|pid| compiles(pid) && is_ours(pid.clone()))
        .count()
}

/// Vetting lets it through, and the optimizer takes seconds for it.
fn slow() -> Vec<u8> {
    let step =
        "local.get 0 i64.const 3 i64.mul local.get 0 i32.wrap_i64 i64.load i64.add local.set 0 ";
    let function = format!(
        "(func (param i64) (result i64) {} local.get 0)",
        step.repeat(20_000)
    );
    let module = format!("(memory 1) {}", function.repeat(40));
    wat::parse_str(format!("(component (core module {module}))")).unwrap()
}

#[test]
fn a_component_is_compiled_in_the_jail_as_it_is_here() {
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let engine = engine();
    let bytes = wat::parse_str(guests::returning("hello")).unwrap();
    let skill = load_contained(&engine, &bytes, LONG, &hydrant()).unwrap();
    let answer = run_on(&engine, &skill, b"{}", &budgets()).unwrap();
    assert_eq!(answer.response, b"hello");
    // What is wrong with it is said as it is here.
    for text in [
        "(component (core module (func (result i32))))",
        "(module)",
        "(component (import \"evil:host/door@1.0.0\" (instance)))",
        "(component)",
    ] {
        let bytes = wat::parse_str(text).unwrap();
        let here = engine.load(&hydrant::trust::Wasm::from(bytes.clone()), &[]);
        let there = load_contained(&engine, &bytes, LONG, &hydrant());
        let said = |result: Result<_, EngineError>| result.err().map(|error| error.to_string());
        let here = said(here.map(drop));
        assert!(here.is_some());
        assert_eq!(said(there.map(drop)), here, "{text}");
    }
}

/// In this process a compiler could not be stopped, and nobody else could compile until it is done.
#[test]
fn a_compiler_whose_time_is_up_is_gone() {
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let engine = engine();
    let slow = slow();
    let started = Instant::now();
    let time = Duration::from_millis(600);
    let mut seen = false;
    std::thread::scope(|scope| {
        let loading = scope.spawn(|| load_contained(&engine, &slow, time, &hydrant()).map(drop));
        while !loading.is_finished() {
            seen |= compilers() > 0;
            std::thread::sleep(Duration::from_millis(10));
        }
        let result = loading.join().unwrap();
        assert!(
            matches!(result, Err(EngineError::CompileTimeout)),
            "{result:?}"
        );
    });
    assert!(seen, "nobody compiled it elsewhere");
    while compilers() > 0 {
        assert!(started.elapsed() < Duration::from_secs(4), "it goes on");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// A launcher that makes no jail, and one that is no compiler: then it is compiled here, within the same bounds.
#[test]
fn without_a_jail_a_component_is_compiled_here() {
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let engine = engine();
    let bytes = wat::parse_str(guests::returning("hello")).unwrap();
    for launcher in ["/bin/true", "/nowhere"] {
        assert!(launcher == "/nowhere" || Path::new(launcher).exists());
        let skill = load_contained(&engine, &bytes, LONG, &Launcher::at(launcher)).unwrap();
        let answer = run_on(&engine, &skill, b"{}", &budgets()).unwrap();
        assert_eq!(answer.response, b"hello", "{launcher}");
    }
}
