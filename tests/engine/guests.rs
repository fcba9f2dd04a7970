//! The guests, as WebAssembly text. [`skill`] wraps the code of one `run` into a whole component.

/// A component of the world `hydrant:host/skill`: `imports` are component-level declarations, `core_imports` what the
/// core module imports of them, `with` how they are handed over, `items` further core items, and `run` the code
/// of `run`, which leaves a pointer to its result on the stack.
struct Parts<'a> {
    imports: &'a str,
    with: &'a str,
    core: &'a str,
    run: &'a str,
}

const NOTHING: Parts<'_> = Parts {
    imports: "",
    with: "",
    core: "",
    run: "",
};

/// Where `run` finds memory for its result.
const RESULT: u32 = 1024;

fn skill(parts: &Parts<'_>) -> String {
    let Parts {
        imports,
        with,
        core,
        run,
    } = parts;
    format!(
        r#"(component
  {imports}
  (core module $main
    {core}
    (memory (export "memory") 1)
    (global $free (mut i32) (i32.const 32768))
    (func (export "realloc") (param i32 i32 i32 i32) (result i32)
      (local $at i32)
      (local.set $at (global.get $free))
      (global.set $free (i32.add (global.get $free) (local.get 3)))
      (block $fits
        (br_if $fits (i32.le_u (global.get $free) (i32.mul (memory.size) (i32.const 65536))))
        (drop (memory.grow (i32.add (i32.const 1) (i32.div_u (local.get 3) (i32.const 65536))))))
      (local.get $at))
    (func (export "describe") (result i32) (i32.const 0))
    (func (export "run") (param i32 i32) (result i32)
      (local $i i32) (local $j i32) {run}))
  (core instance $instance (instantiate $main {with}))
  (type $error (record (field "code" string) (field "message" string) (field "details" (option string))))
  (export $skill-error "skill-error" (type $error))
  (func $describe (result string)
    (canon lift (core func $instance "describe") (memory (core memory $instance "memory"))
      (realloc (core func $instance "realloc"))))
  (func $run (param "request" (list u8)) (result (result (list u8) (error $skill-error)))
    (canon lift (core func $instance "run") (memory (core memory $instance "memory"))
      (realloc (core func $instance "realloc"))))
  (export "describe" (func $describe))
  (export "run" (func $run)))"#
    )
}

/// Core code that answers `ok` with `length` bytes at `pointer`.
fn answer(pointer: u32, length: usize) -> String {
    format!(
        "(i32.store8 (i32.const {RESULT}) (i32.const 0))
         (i32.store offset=4 (i32.const {RESULT}) (i32.const {pointer}))
         (i32.store offset=8 (i32.const {RESULT}) (i32.const {length}))
         (i32.const {RESULT})"
    )
}

/// Code that answers `text`, which lies at 2048.
fn answer_text(text: &str) -> (String, String) {
    (
        format!(r#"(data (i32.const 2048) "{text}")"#),
        answer(2048, text.len()),
    )
}

pub(crate) fn returning(text: &str) -> String {
    let (core, run) = answer_text(text);
    skill(&Parts {
        core: &core,
        run: &run,
        ..NOTHING
    })
}

pub(crate) fn failing(code: &str, message: &str) -> String {
    let core = format!(r#"(data (i32.const 2048) "{code}{message}")"#);
    let message_at = 2048 + code.len();
    let run = format!(
        "(i32.store8 (i32.const {RESULT}) (i32.const 1))
         (i32.store offset=4 (i32.const {RESULT}) (i32.const 2048))
         (i32.store offset=8 (i32.const {RESULT}) (i32.const {}))
         (i32.store offset=12 (i32.const {RESULT}) (i32.const {message_at}))
         (i32.store offset=16 (i32.const {RESULT}) (i32.const {}))
         (i32.const {RESULT})",
        code.len(),
        message.len()
    );
    skill(&Parts {
        core: &core,
        run: &run,
        ..NOTHING
    })
}

pub(crate) fn looping() -> String {
    skill(&Parts {
        run: "(loop $again (br $again)) (unreachable)",
        ..NOTHING
    })
}

pub(crate) fn trapping() -> String {
    skill(&Parts {
        run: "(unreachable)",
        ..NOTHING
    })
}

/// Grows its own memory, and a second one, by so many pages.
pub(crate) fn growing(pages: &[u32; 2]) -> String {
    let run = format!(
        "(drop (memory.grow (i32.const {}))) (drop (memory.grow $second (i32.const {}))) {}",
        pages[0],
        pages[1],
        answer(0, 0)
    );
    // The second memory belongs to another core instance: a limit for each memory would not see the sum.
    let imports = r#"(core module $other (memory (export "memory") 1)) (core instance $other (instantiate $other))"#;
    let core = r#"(import "other" "memory" (memory $second 1))"#;
    skill(&Parts {
        imports,
        with: r#"(with "other" (instance $other))"#,
        core,
        run: &run,
    })
}

pub(crate) fn growing_table() -> String {
    let run = format!(
        "(drop (table.grow $t (ref.null func) (i32.const 100001))) {}",
        answer(0, 0)
    );
    skill(&Parts {
        core: "(table $t 0 funcref)",
        run: &run,
        ..NOTHING
    })
}

/// Answers how often it was called, by a counter in its memory.
pub(crate) fn counting() -> String {
    let run = format!(
        "(i32.store (i32.const 512) (i32.add (i32.load (i32.const 512)) (i32.const 1)))
         (i32.store8 (i32.const 2048) (i32.add (i32.const 48) (i32.load (i32.const 512)))) {}",
        answer(2048, 1)
    );
    skill(&Parts {
        run: &run,
        ..NOTHING
    })
}

pub(crate) fn importing(interface: &str) -> String {
    let (core, run) = answer_text("");
    let imports = format!(r#"(import "{interface}" (instance (export "f" (func))))"#);
    skill(&Parts {
        imports: &imports,
        core: &core,
        run: &run,
        ..NOTHING
    })
}

/// Imports `fs-read.read` as core function `read`, its own memory being that of a module made before.
const FS_READ: &str = r#"
  (import "hydrant:host/fs-read@0.1.0" (instance $fs
    (type $e (enum "denied" "not-found" "is-directory" "not-directory" "special" "leaves-mount"
      "not-accessible" "too-large" "invalid-path" "fetch-failed" "conflict" "symlink" "io"))
    (export "fs-error" (type $fs-error (eq $e)))
    (type $o (enum "refuse" "cut"))
    (export "overflow" (type $overflow (eq $o)))
    (type $l (enum "follow" "refuse"))
    (export "symlinks" (type $symlinks (eq $l)))
    (type $r (record (field "path" string) (field "max-bytes" u32) (field "overflow" $overflow)
      (field "symlinks" $symlinks)))
    (export "read-request" (type $read-request (eq $r)))
    (type $f (record (field "bytes" (list u8)) (field "truncated" bool) (field "executable" bool)))
    (export "file" (type $file (eq $f)))
    (export "read" (func (param "requests" (list $read-request)) (result (list (result $file (error $fs-error))))))))
  (core module $libc
    (memory (export "memory") 1)
    (global $free (mut i32) (i32.const 4096))
    (func (export "realloc") (param i32 i32 i32 i32) (result i32)
      (local $at i32)
      (local.set $at (global.get $free))
      (global.set $free (i32.add (global.get $free) (local.get 3)))
      (block $fits
        (br_if $fits (i32.le_u (global.get $free) (i32.mul (memory.size) (i32.const 65536))))
        (drop (memory.grow (i32.add (i32.const 1) (i32.div_u (local.get 3) (i32.const 65536))))))
      (local.get $at)))
  (core instance $libc (instantiate $libc))
  (core func $read (canon lower (func $fs "read") (memory (core memory $libc "memory"))
    (realloc (core func $libc "realloc"))))
  (core instance $host (export "read" (func $read)))
"#;

/// Asks for so many files in one list; every path is empty.
pub(crate) fn reading(count: u32) -> String {
    reading_from(1, count)
}

/// As [`reading`], in a memory that was grown by so many bytes first.
pub(crate) fn reading_from(bytes: u32, count: u32) -> String {
    let run = format!(
        "(drop (memory.grow $libc (i32.const {})))
         (call $read (i32.const 65536) (i32.const {count}) (i32.const 16)) {}",
        bytes.div_ceil(65_536) + 1,
        answer(0, 0)
    );
    let core = r#"
    (import "host" "read" (func $read (param i32 i32 i32)))
    (import "libc" "memory" (memory $libc 1))"#;
    let with = r#"(with "host" (instance $host)) (with "libc" (instance $libc))"#;
    skill(&Parts {
        imports: FS_READ,
        with,
        core,
        run: &run,
    })
}

/// The WASI interfaces that the guests below import.
const WASI: &str = r#"
  (import "wasi:io/poll@0.2.0" (instance $poll
    (export "pollable" (type $pollable (sub resource)))
    (export "[method]pollable.block" (func (param "self" (borrow $pollable))))))
  (alias export $poll "pollable" (type $pollable))
  (import "wasi:clocks/monotonic-clock@0.2.0" (instance $clock
    (alias outer 1 $pollable (type $p))
    (export "pollable" (type $pollable' (eq $p)))
    (export "subscribe-duration" (func (param "when" u64) (result (own $pollable'))))))
  (import "wasi:io/error@0.2.0" (instance $errors (export "error" (type (sub resource)))))
  (alias export $errors "error" (type $io-error))
  (import "wasi:io/streams@0.2.0" (instance $streams
    (alias outer 1 $io-error (type $e))
    (export "error" (type $error (eq $e)))
    (export "output-stream" (type $stream (sub resource)))
    (type $s (variant (case "last-operation-failed" (own $error)) (case "closed")))
    (export "stream-error" (type $stream-error (eq $s)))
    (export "[method]output-stream.write"
      (func (param "self" (borrow $stream)) (param "contents" (list u8)) (result (result (error $stream-error)))))
    (export "[method]output-stream.write-zeroes"
      (func (param "self" (borrow $stream)) (param "len" u64) (result (result (error $stream-error)))))))
  (alias export $streams "output-stream" (type $output-stream))
  (import "wasi:cli/stdout@0.2.0" (instance $stdout
    (alias outer 1 $output-stream (type $o))
    (export "output-stream" (type $stream (eq $o)))
    (export "get-stdout" (func (result (own $stream))))))
  (core module $libc (memory (export "memory") 1))
  (core instance $libc (instantiate $libc))
  (core func $block (canon lower (func $poll "[method]pollable.block")))
  (core func $subscribe (canon lower (func $clock "subscribe-duration")))
  (core func $get-stdout (canon lower (func $stdout "get-stdout")))
  (core func $write (canon lower (func $streams "[method]output-stream.write")
    (memory (core memory $libc "memory"))))
  (core func $zeroes (canon lower (func $streams "[method]output-stream.write-zeroes")
    (memory (core memory $libc "memory"))))
  (core instance $host
    (export "block" (func $block)) (export "subscribe" (func $subscribe))
    (export "get-stdout" (func $get-stdout)) (export "write" (func $write)) (export "zeroes" (func $zeroes)))
"#;

fn with_wasi(text: &str, run: &str) -> String {
    let (data, answer) = answer_text(text);
    let core = format!(
        r#"(import "host" "block" (func $block (param i32)))
    (import "host" "subscribe" (func $subscribe (param i64) (result i32)))
    (import "host" "get-stdout" (func $get-stdout (result i32)))
    (import "host" "write" (func $write (param i32 i32 i32 i32)))
    (import "host" "zeroes" (func $zeroes (param i32 i64 i32)))
    {data}"#
    );
    let run = format!("{run} {answer}");
    skill(&Parts {
        imports: WASI,
        with: r#"(with "host" (instance $host))"#,
        core: &core,
        run: &run,
    })
}

/// Waits for an hour.
pub(crate) fn waiting() -> String {
    with_wasi(
        "waited",
        "(call $block (call $subscribe (i64.const 3600000000000)))",
    )
}

/// Takes handles for ever.
pub(crate) fn hoarding() -> String {
    with_wasi("", "(loop $again (drop (call $get-stdout)) (br $again))")
}

/// Asks for 2^62 zeroes, then writes 1,000 times 4 KiB.
pub(crate) fn printing() -> String {
    let run = "(local.set $i (call $get-stdout))
      (call $zeroes (local.get $i) (i64.const 0x4000000000000000) (i32.const 0))
      (loop $again
        (call $write (local.get $i) (i32.const 0) (i32.const 4096) (i32.const 8192))
        (br_if $again (i32.lt_u (local.tee $j (i32.add (local.get $j) (i32.const 1))) (i32.const 1000))))";
    with_wasi("printed", run)
}

/// What a guest could measure, draw or learn of its surroundings: chance, the time, the environment and arguments.
const SURROUNDINGS: &str = r#"
  (import "wasi:random/random@0.2.0" (instance $random
    (export "get-random-u64" (func (result u64)))))
  (import "wasi:random/insecure@0.2.0" (instance $insecure
    (export "get-insecure-random-u64" (func (result u64)))))
  (import "wasi:clocks/wall-clock@0.2.0" (instance $clock
    (type $t (record (field "seconds" u64) (field "nanoseconds" u32)))
    (export "datetime" (type $datetime (eq $t)))
    (export "now" (func (result $datetime)))))
  (import "wasi:cli/environment@0.2.0" (instance $environment
    (export "get-environment" (func (result (list (tuple string string)))))
    (export "get-arguments" (func (result (list string))))))
  (core module $libc
    (memory (export "memory") 1)
    (func (export "realloc") (param i32 i32 i32 i32) (result i32) (i32.const 4096))
    (func (export "load") (param i32) (result i64) (i64.load32_u (local.get 0))))
  (core instance $libc (instantiate $libc))
  (core func $random (canon lower (func $random "get-random-u64")))
  (core func $insecure (canon lower (func $insecure "get-insecure-random-u64")))
  (core func $now (canon lower (func $clock "now") (memory (core memory $libc "memory"))))
  (core func $variables (canon lower (func $environment "get-environment")
    (memory (core memory $libc "memory")) (realloc (core func $libc "realloc"))))
  (core func $arguments (canon lower (func $environment "get-arguments")
    (memory (core memory $libc "memory")) (realloc (core func $libc "realloc"))))
  (core instance $host
    (export "random" (func $random)) (export "insecure" (func $insecure)) (export "now" (func $now))
    (export "variables" (func $variables)) (export "arguments" (func $arguments)) (export "load" (func $libc "load")))
"#;

/// Answers six numbers of eight bytes: two random ones, one of the other source, the seconds of the clock, and how many
/// variables and arguments there are.
pub(crate) fn looking_around() -> String {
    let core = r#"
    (import "host" "random" (func $random (result i64)))
    (import "host" "insecure" (func $insecure (result i64)))
    (import "host" "now" (func $now (param i32)))
    (import "host" "variables" (func $variables (param i32)))
    (import "host" "arguments" (func $arguments (param i32)))
    (import "host" "load" (func $load (param i32) (result i64)))"#;
    let run = format!(
        "(i64.store (i32.const 2048) (call $random))
         (i64.store (i32.const 2056) (call $random))
         (i64.store (i32.const 2064) (call $insecure))
         (call $now (i32.const 16))
         (i64.store (i32.const 2072) (call $load (i32.const 16)))
         (call $variables (i32.const 32))
         (i64.store (i32.const 2080) (call $load (i32.const 36)))
         (call $arguments (i32.const 32))
         (i64.store (i32.const 2088) (call $load (i32.const 36))) {}",
        answer(2048, 48)
    );
    skill(&Parts {
        imports: SURROUNDINGS,
        with: r#"(with "host" (instance $host))"#,
        core,
        run: &run,
    })
}
