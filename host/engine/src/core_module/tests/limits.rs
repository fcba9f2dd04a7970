//! Fuel, memory, time, sizes.

use super::*;
use hydrant_policy::Limits;
use std::net::TcpListener;

fn code(outcome: &CoreOutcome) -> &'static str {
    outcome
        .result
        .as_ref()
        .map_or_else(|failure| failure.code().as_str(), |_| "ok")
}

#[test]
fn the_defaults_are_those_of_the_table() {
    let budgets = CoreBudgets::default();
    assert_eq!(budgets.fuel, 10_000_000);
    assert_eq!(budgets.memory_bytes, 8_388_608);
    assert_eq!(budgets.wall_clock, Duration::from_millis(30_000));
    assert_eq!(budgets.input_bytes, 16_777_216);
    assert_eq!(
        (budgets.output_bytes, budgets.copy_bytes),
        (8_388_608, 8_388_608)
    );
}

#[test]
fn a_policy_can_only_lower_the_limits() {
    let own = CoreBudgets::default();
    let wide = Limits::default();
    assert_eq!(own.at_most(&wide), own);
    let mut narrow = wide;
    narrow.fuel = 1;
    narrow.wall_ms = 2;
    narrow.memory_bytes = 3;
    narrow.output_bytes = 4;
    let lowered = own.at_most(&narrow);
    assert_eq!(
        (lowered.fuel, lowered.memory_bytes, lowered.output_bytes),
        (1, 3, 4)
    );
    assert_eq!(lowered.wall_clock, Duration::from_millis(2));
}

#[test]
fn fuel_ends_a_loop() {
    let site = Site::new();
    let outcome = site.run(&plain("(loop $l (br $l))"));
    let failure = outcome.result.unwrap_err();
    assert_eq!(failure.to_string(), "wasm execution failed: fuel exhausted");
    assert_eq!(failure.code().as_str(), "fuel_exhausted");
    // A million rounds of four instructions are within it.
    let body = "(result i32) (local $n i32)
      (loop $l (local.set $n (i32.add (local.get $n) (i32.const 1)))
        (br_if $l (i32.lt_u (local.get $n) (i32.const 1000000))))
      (local.get $n)";
    assert_eq!(site.run(&plain(body)).result.unwrap(), b"1000000");
}

#[test]
fn time_ends_a_loop_that_has_fuel_left() {
    let mut site = Site::new();
    site.budgets.fuel = u64::MAX / 2;
    site.budgets.wall_clock = Duration::from_millis(150);
    let started = Instant::now();
    let outcome = site.run(&plain("(loop $l (br $l))"));
    let failure = outcome.result.unwrap_err();
    assert_eq!(
        failure.to_string(),
        "wasm execution failed: deadline exceeded"
    );
    assert_eq!(failure.code().as_str(), "timeout");
    assert!(started.elapsed() < Duration::from_secs(5));
}

/// Cheap calls are no way around the clock.
#[test]
fn time_ends_a_loop_of_cheap_calls() {
    let mut site = Site::new();
    site.declare_everything();
    site.budgets.fuel = u64::MAX / 2;
    site.budgets.wall_clock = Duration::from_millis(150);
    for call in [
        "(drop (call $input_len))",
        "(drop (call $random_fill (i32.const 0) (i32.const 100000)))",
        "(drop (call $kv_get (i32.const 0) (i32.const 1) (i32.const 8) (i32.const 1)))",
    ] {
        let body = format!("(loop $l {call} (br $l)) (i32.const 0)");
        let started = Instant::now();
        let outcome = site.run(&site.module("", [b"k", b""], &body));
        assert_eq!(code(&outcome), "timeout", "{call}");
        assert!(started.elapsed() < Duration::from_secs(5), "{call}");
    }
}

#[test]
fn time_ends_a_hostcall() {
    let mut site = Site::new();
    // It takes connections and never answers.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    site.declare("net.http", &url);
    site.declare("kv.write", "*");
    site.budgets.wall_clock = Duration::from_millis(400);
    let started = Instant::now();
    let deadline = "wasm execution failed: deadline exceeded".to_owned();
    assert_eq!(
        site.ask("http_fetch", url.as_bytes()),
        Err(deadline.clone())
    );
    assert!(started.elapsed() < Duration::from_secs(4));
    // And while it waits for a lock.
    assert_eq!(site.give("kv_put", b"a", b"1"), Ok(0));
    let kv = site.root.join("home/runtime/kv");
    let entry = fs::read_dir(&kv).unwrap().next().unwrap().unwrap();
    let name = entry.file_name().into_string().unwrap();
    fs::write(kv.join(format!("{name}.lock")), "").unwrap();
    assert_eq!(site.give("kv_put", b"a", b"2"), Err(deadline));
}

#[test]
fn memory_is_refused_beyond_8_mib_and_the_module_goes_on() {
    let site = Site::new();
    // One page is there; 127 more are 8 MiB.
    let grow = |pages: u32| format!("(memory.grow (i32.const {pages}))");
    let value = |pages| {
        let outcome = site.run(&plain(&format!("(result i32) {}", grow(pages))));
        match outcome.result {
            Ok(output) => String::from_utf8(output).unwrap(),
            Err(failure) => failure.code().to_string() + " " + &failure.to_string(),
        }
    };
    assert_eq!(value(127), "1");
    assert_eq!(
        value(128),
        "nonzero_return skill failed: nonzero_return -1: -1"
    );
    // Only a trap afterwards is put down to it.
    let ignored = format!("(drop {})", grow(128));
    assert!(site.run(&plain(&ignored)).result.is_ok());
    let failure = site
        .run(&plain(&format!("{ignored} unreachable")))
        .result
        .unwrap_err();
    assert_eq!(failure.code().as_str(), "memory_limit");
    assert!(
        failure.to_string().starts_with("wasm execution failed: "),
        "{failure}"
    );
    let granted = format!("(drop {}) unreachable", grow(127));
    assert_eq!(code(&site.run(&plain(&granted))), "trap");
    let too_large = "(module (memory 129) (func (export \"run\")))";
    assert_eq!(code(&site.run(too_large)), "instantiation_failed");
    let two = "(module (memory 65) (memory 64) (func (export \"run\")))";
    assert_eq!(code(&site.run(two)), "instantiation_failed", "all together");
}

#[test]
fn tables_and_memories_are_bounded() {
    let site = Site::new();
    let module = |inside: &str| format!("(module {inside} (func (export \"run\")))");
    for (inside, outcome) in [
        ("(table 10000 funcref)".to_owned(), "ok"),
        ("(table 10001 funcref)".to_owned(), "instantiation_failed"),
        (
            "(table 5000 funcref) (table 5001 funcref)".to_owned(),
            "instantiation_failed",
        ),
        ("(table 1 funcref)".repeat(8), "ok"),
        ("(table 1 funcref)".repeat(9), "instantiation_failed"),
        ("(memory 1)".repeat(4), "ok"),
        ("(memory 1)".repeat(5), "instantiation_failed"),
    ] {
        assert_eq!(code(&site.run(&module(&inside))), outcome, "{inside}");
    }
    let grow = r#"(module (table $t 0 funcref) (func (export "run") (result i32)
      (drop (table.grow $t (ref.null func) (i32.const 10000)))
      (table.grow $t (ref.null func) (i32.const 1))))"#;
    let failure = site.run(grow).result.unwrap_err();
    assert!(matches!(
        failure,
        CoreFailure::NonzeroReturn { value: -1, .. }
    ));
}

#[test]
fn input_and_output_are_bounded() {
    let mut site = Site::new();
    site.budgets.input_bytes = 3;
    site.budgets.output_bytes = 3;
    assert_eq!(site.value([b"", b""], "(call $input_len)"), Ok(3));
    assert_eq!(
        site.run(&plain("(result i32) (i32.const 999)"))
            .result
            .unwrap(),
        b"999"
    );
    let outcome = site.run(&plain("(result i32) (i32.const 1000)"));
    assert_eq!(code(&outcome), "output_too_large");
    site.input.push(b'd');
    let failure = site.run(&plain("")).result.unwrap_err();
    let text = failure.to_string();
    assert_eq!(
        text,
        "wasm instantiation failed: the input is longer than 3 bytes"
    );
}

#[test]
fn an_input_of_16_mib_is_read_in_parts() {
    let mut site = Site::new();
    site.input = vec![b'x'; 16 * 1024 * 1024];
    assert_eq!(site.value([b"", b""], "(call $input_len)"), Ok(16_777_216));
    let last = format!("(call $input_read (i32.const {OUT}) (i32.const 16777215) (i32.const 1))");
    assert_eq!(site.answer([b"", b""], &last), Ok(b"x".to_vec()));
}

/// What a compiler cannot bear is refused before it sees it.
#[test]
fn a_module_that_would_cost_the_compiler_too_much_is_refused() {
    let site = Site::new();
    let dense = format!(
        "(local {}) {}",
        "i64 ".repeat(20_000),
        "block end ".repeat(500)
    );
    let failure = site.run(&plain(&dense)).result.unwrap_err();
    let text = failure.to_string();
    assert!(
        text.starts_with("wasm instantiation failed: values at branches"),
        "{text}"
    );
    let mut large = wat::parse_str("(module (func (export \"run\")))").unwrap();
    // A custom section of 16 MiB.
    large.extend([0x00, 0x80, 0x80, 0x80, 0x08, 0x01, b'x']);
    large.resize(large.len() + 16 * 1024 * 1024 - 2, 0);
    let failure = site.run_bytes(&large, "run").result.unwrap_err();
    assert_eq!(
        failure.to_string(),
        "wasm instantiation failed: bytes: at most 16777216"
    );
}

#[test]
fn compiling_counts_against_the_time() {
    let mut site = Site::new();
    site.budgets.wall_clock = Duration::ZERO;
    assert_eq!(code(&site.run(&plain(""))), "timeout");
}

/// Nothing of one run is there in the next.
#[test]
fn runs_share_nothing() {
    let site = Site::new();
    let engine = CoreEngine::new().unwrap();
    let wasm = wat::parse_str(
        r#"(module (global $n (mut i32) (i32.const 0))
          (func (export "run") (result i32)
            (global.set $n (i32.add (global.get $n) (i32.const 1))) (global.get $n)))"#,
    )
    .unwrap();
    for _ in 0..2 {
        let call = CoreCall::new(
            &[],
            StateDirectories::default(),
            Arc::default(),
            Arc::new(Fetcher::new(&[]).unwrap()),
            site.budgets.meter_from(Instant::now()),
        );
        let outcome = engine.run(&wasm, "run", b"", &Arc::new(call), &site.budgets);
        assert_eq!(outcome.result.unwrap(), b"1");
    }
}
