//! The 14 imports as a module sees them.

use super::*;
use std::io::{Read, Write as _};
use std::net::TcpListener;
use std::thread;

/// sha256 of `abc`.
const ABC: &[u8] = b"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

const NO_TEXTS: [&[u8]; 2] = [b"", b""];

/// What each import answers when all is well, under both names of the module.
#[test]
fn each_import_does_what_its_row_says() {
    for module in imports::MODULES {
        let mut site = Site::new();
        site.module = module;
        site.declare_everything();
        fs::create_dir(site.root.join("d")).unwrap();
        let (file, tree) = (site.at("d/f"), site.at("d"));
        let (url, _server) = server("HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nbody");
        site.declare("net.http", &url);
        assert_eq!(site.value(NO_TEXTS, "(call $input_len)"), Ok(3));
        let part = format!("(call $input_read (i32.const {OUT}) (i32.const 1) (i32.const 2))");
        assert_eq!(site.answer(NO_TEXTS, &part), Ok(b"bc".to_vec()));
        let hash = format!("(call $sha256_input_hex (i32.const {OUT}) (i32.const 64))");
        assert_eq!(site.answer(NO_TEXTS, &hash), Ok(ABC.to_vec()));
        let time = "(i32.gt_s (i32.wrap_i64 (call $time_now_unix)) (i32.const 1700000000))";
        assert_eq!(site.value(NO_TEXTS, time), Ok(1));
        let random = format!("(call $random_fill (i32.const {OUT}) (i32.const 32))");
        let bytes = site.answer(NO_TEXTS, &random).unwrap();
        assert!(bytes.len() == 32 && bytes != [0; 32]);
        assert_eq!(site.give("fs_write_file", file.as_bytes(), b"text"), Ok(0));
        assert_eq!(
            site.ask("fs_read_file", file.as_bytes()),
            Ok(b"text".to_vec())
        );
        let listed = site.ask("fs_read_tree", tree.as_bytes()).unwrap();
        let expected = format!(
            r#"{{"entries":[{{"bytes":4,"kind":"file","path":"f"}}],"root":"{tree}","truncated":false}}"#
        );
        assert_eq!(String::from_utf8(listed).unwrap(), expected);
        assert_eq!(site.ask("http_fetch", url.as_bytes()), Ok(b"body".to_vec()));
        assert_eq!(site.give("kv_put", b"key", b"value"), Ok(0));
        assert_eq!(site.ask("kv_get", b"key"), Ok(b"value".to_vec()));
        assert_eq!(site.give("queue_publish", b"topic", b"message"), Ok(0));
        assert_eq!(site.ask("queue_consume", b"topic"), Ok(b"message".to_vec()));
    }
}

/// A server that answers once, to whatever it is asked, and the URL of it.
fn server(answer: &'static str) -> (String, thread::JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/x", listener.local_addr().unwrap());
    let thread = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let _ = stream.read(&mut [0; 4096]);
        let _ = stream.write_all(answer.as_bytes());
    });
    (url, thread)
}

fn constants(numbers: &[i32]) -> String {
    numbers
        .iter()
        .map(|number| format!("(i32.const {number}) "))
        .collect()
}

#[test]
fn and_others_pointers_and_lengths_prove_nothing() {
    let mut site = Site::new();
    site.declare_everything();
    let end = i32::try_from(END).unwrap();
    let cases: [(&str, &[i32]); 14] = [
        ("input_read", &[-1, 0, 1]),
        ("input_read", &[0, -1, 1]),
        ("input_read", &[0, 0, -1]),
        ("input_read", &[0, 0, 4]),
        ("input_read", &[0, 4, 0]),
        ("input_read", &[end, 0, 1]),
        ("input_read", &[0, i32::MAX, 1]),
        ("sha256_input_hex", &[0, 63]),
        ("sha256_input_hex", &[end - 63, 64]),
        ("sha256_input_hex", &[0, i32::MIN]),
        ("random_fill", &[i32::MIN, 1]),
        ("random_fill", &[1, end]),
        ("random_fill", &[0, 8_388_609]),
        ("random_fill", &[i32::MAX, i32::MAX]),
    ];
    for (call, numbers) in cases {
        let expression = format!("(call ${call} {})", constants(numbers));
        assert_eq!(site.value(NO_TEXTS, &expression), Ok(-1), "{expression}");
    }
    // All of it, and nothing at the very end, are within the bounds.
    for (expression, value) in [
        (
            format!("(call $random_fill (i32.const 0) (i32.const {END}))"),
            262_144,
        ),
        (
            format!("(call $random_fill (i32.const {END}) (i32.const 0))"),
            0,
        ),
        (
            "(call $input_read (i32.const 0) (i32.const 3) (i32.const 0))".to_owned(),
            0,
        ),
    ] {
        assert_eq!(site.value(NO_TEXTS, &expression), Ok(value), "{expression}");
    }
}

#[test]
fn names_and_room_must_lie_in_memory() {
    let mut site = Site::new();
    site.declare_everything();
    site.declare("net.http", "http://127.0.0.1:1/");
    fs::write(site.root.join("f"), "text").unwrap();
    let name = site.at("f");
    let length = name.len();
    for import in IMPORTS
        .iter()
        .filter(|(_, kind)| kind.matches("i32").count() == 5)
    {
        let import = import.0;
        for numbers in [
            [-1, 1, OUT.try_into().unwrap(), 1],
            [0, -1, OUT.try_into().unwrap(), 1],
            [0, 1, -1, 1],
            [0, 1, OUT.try_into().unwrap(), -1],
            [i32::MAX, i32::MAX, 0, 1],
            [0, 1, i32::MAX, i32::MAX],
            [0, 1, (END + 1).try_into().unwrap(), 0],
        ] {
            let expression = format!("(call ${import} {})", constants(&numbers));
            assert_eq!(
                site.value([name.as_bytes(), b""], &expression),
                Ok(-1),
                "{expression}"
            );
        }
    }
    // What does not fit is no answer; more room than there is memory is no harm.
    for (room, value) in [(3, -1), (4, 4), (8_388_608, 4), (8_388_609, -1)] {
        let expression = format!(
            "(call $fs_read_file (i32.const 0) (i32.const {length}) (i32.const {OUT}) (i32.const {room}))"
        );
        assert_eq!(
            site.value([name.as_bytes(), b""], &expression),
            Ok(value),
            "{room}"
        );
    }
    let near_the_end = format!(
        "(call $fs_read_file (i32.const 0) (i32.const {length}) (i32.const {}) (i32.const 100))",
        END - 3
    );
    assert_eq!(site.value([name.as_bytes(), b""], &near_the_end), Ok(-1));
}

#[test]
fn a_message_that_does_not_fit_into_memory_stays() {
    let mut site = Site::new();
    site.declare_everything();
    assert_eq!(site.give("queue_publish", b"t", b"message"), Ok(0));
    let at = |pointer: usize, room: usize| {
        let expression = format!(
            "(call $queue_consume (i32.const 0) (i32.const 1) (i32.const {pointer}) (i32.const {room}))"
        );
        site.value([b"t", b""], &expression)
    };
    assert_eq!(at(OUT, 6), Ok(-1));
    assert_eq!(at(END - 6, 100), Ok(-1));
    assert_eq!(at(END - 7, 100), Ok(7));
    assert_eq!(at(OUT, 100), Ok(-1), "it is gone");
}

#[test]
fn the_last_output_counts() {
    let module = |body: &str| {
        format!(
            r#"(module
              (import "provenact" "output_write" (func $out (param i32 i32) (result i32)))
              (memory (export "memory") 1) (data (i32.const 0) "first, second")
              (func (export "run") {body}))"#
        )
    };
    let site = Site::new();
    let write = |pointer: i64, length: i64| {
        format!("(call $out (i32.const {pointer}) (i32.const {length}))")
    };
    let twice = format!("(drop {}) (drop {})", write(0, 5), write(7, 6));
    assert_eq!(site.run(&module(&twice)).result.unwrap(), b"second");
    let empty = format!("(drop {}) (drop {})", write(0, 5), write(65_536, 0));
    assert_eq!(site.run(&module(&empty)).result.unwrap(), b"");
    // What is refused leaves the output as it was.
    for (pointer, length) in [
        (-1, 1),
        (0, -1),
        (0, 65_537),
        (65_536, 1),
        (i64::from(i32::MAX), 1),
    ] {
        let body = format!("(drop {}) (drop {})", write(0, 5), write(pointer, length));
        assert_eq!(site.run(&module(&body)).result.unwrap(), b"first");
        let value = format!("(result i32) {}", write(pointer, length));
        let failure = site.run(&module(&value)).result.unwrap_err();
        assert_eq!(failure.to_string(), "skill failed: nonzero_return -1: -1");
    }
}

#[test]
fn a_module_without_memory_gets_nothing_that_needs_one() {
    let site = Site::new();
    for memory in [
        "",
        "(memory 1)",
        "(memory (export \"mem\") 1)",
        "(func (export \"memory\"))",
    ] {
        let module = format!(
            r#"(module
              (import "provenact" "input_len" (func $len (result i32)))
              (import "provenact" "input_read" (func $read (param i32 i32 i32) (result i32)))
              {memory}
              (func (export "len") (result i32) (call $len))
              (func (export "run") (result i32)
                (call $read (i32.const 0) (i32.const 0) (i32.const 0))))"#
        );
        let failure = site.run(&module).result.unwrap_err();
        assert!(
            matches!(failure, CoreFailure::NonzeroReturn { value: -1, .. }),
            "{memory}"
        );
        assert_eq!(site.run_export(&module, "len").result.unwrap(), b"3");
    }
}

#[test]
fn a_missing_capability_stops_the_run_and_is_named() {
    let mut site = Site::new();
    site.declare("fs.read", &site.at("in"));
    fs::create_dir(site.root.join("in")).unwrap();
    let secret = site.at("secret");
    fs::write(&secret, "secret").unwrap();
    let denied = |kind: &str, value: &str| {
        format!("wasm execution failed: capability denied: {kind}:{value}")
    };
    for (import, kind) in [("fs_read_file", "fs.read"), ("fs_read_tree", "fs.read")] {
        assert_eq!(
            site.ask(import, secret.as_bytes()),
            Err(denied(kind, &secret))
        );
    }
    let url = "http://127.0.0.1:1/x";
    assert_eq!(
        site.ask("http_fetch", url.as_bytes()),
        Err(denied("net.http", url))
    );
    assert_eq!(site.ask("kv_get", b"k"), Err(denied("kv.read", "k")));
    assert_eq!(
        site.ask("queue_consume", b"t"),
        Err(denied("queue.consume", "t"))
    );
    for (import, kind) in [("kv_put", "kv.write"), ("queue_publish", "queue.publish")] {
        assert_eq!(site.give(import, b"n", b"x"), Err(denied(kind, "n")));
    }
    let written = site.give("fs_write_file", secret.as_bytes(), b"x");
    assert_eq!(written, Err(denied("fs.write", &secret)));
    let time = site.value(NO_TEXTS, "(drop (call $time_now_unix)) (i32.const 1)");
    assert_eq!(time, Err(denied("time.now", "*")));
    let random = site.value(NO_TEXTS, "(call $random_fill (i32.const 0) (i32.const 1))");
    assert_eq!(random, Err(denied("random.bytes", "*")));
    assert_eq!(fs::read(&secret).unwrap(), b"secret");
}

#[test]
fn what_was_used_before_a_denial_is_still_told() {
    let mut site = Site::new();
    site.declare("time.now", "*");
    let body = "(drop (call $time_now_unix))
                (drop (call $random_fill (i32.const 0) (i32.const 1))) (i32.const 0)";
    let outcome = site.run(&site.module("", NO_TEXTS, body));
    assert_eq!(
        outcome.result.unwrap_err().code().as_str(),
        "capability_denied"
    );
    assert_eq!(outcome.caps_used, BTreeSet::from(["time.now".to_owned()]));
    assert_eq!(outcome.denied, ["random.bytes:*"]);
    let outcome = site.run(&site.module("", NO_TEXTS, "(i32.const 0)"));
    assert!(outcome.caps_used.is_empty() && outcome.denied.is_empty());
}
