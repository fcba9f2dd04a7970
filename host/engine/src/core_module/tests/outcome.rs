//! Entrypoints, outputs, and what is said about a failure.

use super::*;

fn failure(site: &Site, text: &str) -> CoreFailure {
    site.run(text).result.unwrap_err()
}

#[test]
fn the_entrypoint_is_an_export_without_parameters() {
    let site = Site::new();
    let module = r#"(module
      (global (export "global") i32 (i32.const 1))
      (func (export "one") (param i32))
      (func (export "long") (result i64) (i64.const 1))
      (func (export "two") (result i32 i32) (i32.const 1) (i32.const 2))
      (func (export "run\0a") (result i32) (i32.const 7)))"#;
    for name in ["run", "", "global", "one", "long", "two"] {
        let failure = site.run_export(module, name).result.unwrap_err();
        assert_eq!(failure.to_string(), format!("entrypoint not found: {name}"));
    }
    assert_eq!(site.run_export(module, "run\n").result.unwrap(), b"7");
    let escaped = site.run_export(module, "a\nb").result.unwrap_err();
    assert_eq!(escaped.to_string(), "entrypoint not found: a\\u{a}b");
}

#[test]
fn nothing_but_the_14_functions_can_be_imported() {
    let site = Site::new();
    for import in [
        r#""wasi_snapshot_preview1" "proc_exit" (func (param i32))"#,
        r#""env" "memory" (memory 1)"#,
        r#""provenact" "exec" (func)"#,
        r#""provenact" "input_len" (func)"#,
        r#""provenact" "input_len" (func (result i64))"#,
        r#""provenact" "memory" (memory 1)"#,
        r#""PROVENACT" "input_len" (func (result i32))"#,
        r#""a\0ab" "c" (func)"#,
    ] {
        let failure = failure(&site, &format!("(module (import {import}))"));
        let text = failure.to_string();
        assert!(text.starts_with("wasm instantiation failed: "), "{text}");
        assert!(!text.contains('\n') && text.len() < 1000, "{text}");
        assert_eq!(failure.code().as_str(), "instantiation_failed");
    }
}

#[test]
fn what_is_no_core_module_is_not_instantiated() {
    let site = Site::new();
    let component = wat::parse_str("(component)").unwrap();
    let invalid = wat::parse_str("(module (func (result i32)))").unwrap();
    for bytes in [&b""[..], b"\0asm", b"(module)", &component, &invalid] {
        let failure = site.run_bytes(bytes, "run").result.unwrap_err();
        assert!(
            failure
                .to_string()
                .starts_with("wasm instantiation failed: "),
            "{failure}"
        );
    }
}

#[test]
fn the_output_is_what_was_written_or_the_number_or_nothing() {
    let site = Site::new();
    for (body, output) in [
        ("(result i32) (i32.const 42)", "42"),
        ("(result i32) (i32.const 2147483647)", "2147483647"),
        ("(result i32) (i32.const 0)", "0"),
        ("", ""),
    ] {
        assert_eq!(site.run(&plain(body)).result.unwrap(), output.as_bytes());
    }
}

#[test]
fn zero_is_success_where_there_is_another_way_to_answer() {
    let site = Site::new();
    for module in imports::MODULES {
        let text = |value: i32| {
            format!(
                r#"(module
                  (import "{module}" "output_write" (func $out (param i32 i32) (result i32)))
                  (memory (export "memory") 1) (data (i32.const 0) "said")
                  (func (export "run") (result i32)
                    (drop (call $out (i32.const 0) (i32.const 4))) (i32.const {value}))
                  (func (export "silent") (result i32) (i32.const {value})))"#
            )
        };
        assert_eq!(site.run(&text(0)).result.unwrap(), b"said");
        assert_eq!(site.run_export(&text(0), "silent").result.unwrap(), b"0");
        for value in [1, -1, i32::MIN] {
            let output = b"said".to_vec();
            let failed = CoreFailure::NonzeroReturn { value, output };
            assert_eq!(failure(&site, &text(value)), failed);
        }
    }
    // Without it, only a negative number is a failure.
    let negative = plain("(result i32) (i32.const -5)");
    let output = b"-5".to_vec();
    assert_eq!(
        failure(&site, &negative),
        CoreFailure::NonzeroReturn { value: -5, output }
    );
    // An import of that name elsewhere is none.
    assert!(
        site.run(&plain("(result i32) (i32.const 5)"))
            .result
            .is_ok()
    );
}

#[test]
fn a_failure_shows_the_beginning_of_the_output_escaped() {
    let failed = |output: &[u8]| CoreFailure::NonzeroReturn {
        value: 3,
        output: output.to_vec(),
    };
    let text = failed("caf\u{e9} \u{1b}[1m\n\"x\"\\".as_bytes()).to_string();
    let shown = r#"caf\u{e9} \u{1b}[1m\u{a}"x"\"#;
    assert_eq!(text, format!("skill failed: nonzero_return 3: {shown}"));
    assert_eq!(
        failed(b"\xff").to_string(),
        "skill failed: nonzero_return 3: \\u{fffd}"
    );
    let long = failed(&[b'x'; 5000]);
    assert_eq!(long.to_string().matches('x').count(), 1024);
    assert_eq!(long.code().as_str(), "nonzero_return");
}

#[test]
fn a_trap_is_told_by_its_kind_without_frames_and_addresses() {
    let site = Site::new();
    for (body, kind) in [
        ("unreachable", "unreachable"),
        (
            "(drop (i32.div_s (i32.const 1) (i32.const 0)))",
            "divide by zero",
        ),
        (
            "(drop (i32.load (i32.const 65536)))",
            "out of bounds memory access",
        ),
        (
            "(call $secret_name)) (func $secret_name (call $secret_name)",
            "call stack exhausted",
        ),
    ] {
        let failure = failure(&site, &plain(body));
        let text = failure.to_string();
        assert!(text.starts_with("wasm execution failed: "), "{text}");
        assert!(text.contains(kind), "{text}");
        for leak in ["0x", "secret_name", "backtrace", "\n", "/"] {
            assert!(!text.contains(leak), "{leak} {text}");
        }
        assert_eq!(failure.code().as_str(), "trap");
    }
}

#[test]
fn code_that_runs_at_the_start_counts_as_execution() {
    let site = Site::new();
    let start = |body: &str| {
        format!(
            r#"(module (import "provenact" "time_now_unix" (func $time (result i64)))
              (func $start {body}) (start $start) (func (export "run")))"#
        )
    };
    for (body, code) in [
        ("unreachable", "trap"),
        ("(loop $l (br $l))", "fuel_exhausted"),
        ("(drop (call $time))", "capability_denied"),
    ] {
        assert_eq!(failure(&site, &start(body)).code().as_str(), code, "{body}");
    }
    assert!(site.run(&start("")).result.is_ok());
    // Data that does not fit is no code.
    let data = "(module (memory 1) (data (i32.const 65536) \"x\") (func (export \"run\")))";
    assert_eq!(failure(&site, data).code().as_str(), "instantiation_failed");
}
