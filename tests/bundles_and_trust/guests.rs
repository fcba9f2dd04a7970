//! Components of the world `hydrant:host/skill` and core modules, assembled from text.

use serde_json::json;

/// The parts in which the components differ.
pub(crate) struct Parts<'a> {
    /// What `describe` returns.
    pub(crate) description: &'a str,
    /// Code before the description is returned.
    pub(crate) describing: &'a str,
    /// Component-level imports and what is lowered of them.
    pub(crate) imports: &'a str,
    /// How the core module gets them: ` (with …)`.
    pub(crate) with: &'a str,
    /// Items of the core module.
    pub(crate) core: &'a str,
    /// Code of `run`: leaves the address of the result. Parameters 0 and 1 are the request.
    pub(crate) run: &'a str,
}

/// Where `run` puts its result.
const RESULT: u32 = 1024;

/// Answers ok with the bytes at these expressions.
pub(crate) fn answer(pointer: &str, length: &str) -> String {
    format!(
        "(i32.store8 (i32.const {RESULT}) (i32.const 0))
         (i32.store offset=4 (i32.const {RESULT}) {pointer})
         (i32.store offset=8 (i32.const {RESULT}) {length})
         (i32.const {RESULT})"
    )
}

/// The description that a skill of this name returns.
pub(crate) fn description(name: &str) -> String {
    json!({
        "name": name, "description": "A skill for tests.",
        "input_schema": {"type": "object", "properties": {}, "additionalProperties": false},
        "output_schema": {"type": "object"},
    })
    .to_string()
}

pub(crate) fn component(parts: &Parts<'_>) -> Vec<u8> {
    let Parts {
        description,
        describing,
        imports,
        with,
        core,
        run,
    } = parts;
    let at = pair(16_384, description.len());
    let text = escaped(description.as_bytes());
    assemble(&format!(
        r#"(component
  (core module $memory
    (memory (export "memory") 4)
    (global $free (mut i32) (i32.const 131072))
    (func (export "realloc") (param i32 i32 i32 i32) (result i32)
      (local $at i32)
      (local.set $at (i32.and (i32.add (global.get $free) (i32.const 7)) (i32.const -8)))
      (global.set $free (i32.add (local.get $at) (local.get 3)))
      (block $fits
        (br_if $fits (i32.le_u (global.get $free) (i32.mul (memory.size) (i32.const 65536))))
        (drop (memory.grow (i32.add (i32.const 1) (i32.div_u (local.get 3) (i32.const 65536))))))
      (local.get $at)))
  (core instance $memory (instantiate $memory))
  {imports}
  (core module $main
    (import "memory" "memory" (memory 4))
    {core}
    (data (i32.const 512) "{at}")
    (data (i32.const 16384) "{text}")
    (func (export "describe") (result i32) {describing} (i32.const 512))
    (func (export "run") (param i32 i32) (result i32) (local $i i32) {run}))
  (core instance $main (instantiate $main (with "memory" (instance $memory)) {with}))
  (type $error (record (field "code" string) (field "message" string) (field "details" (option string))))
  (export $skill-error "skill-error" (type $error))
  (func $describe (result string)
    (canon lift (core func $main "describe") (memory (core memory $memory "memory"))
      (realloc (core func $memory "realloc"))))
  (func $run (param "request" (list u8)) (result (result (list u8) (error $skill-error)))
    (canon lift (core func $main "run") (memory (core memory $memory "memory"))
      (realloc (core func $memory "realloc"))))
  (export "describe" (func $describe))
  (export "run" (func $run)))"#
    ))
}

fn plain(name: &str, run: &str) -> Vec<u8> {
    component(&Parts {
        description: &description(name),
        describing: "",
        imports: "",
        with: "",
        core: "",
        run,
    })
}

/// Answers with its request.
pub(crate) fn echo(name: &str) -> Vec<u8> {
    plain(name, &answer("(local.get 0)", "(local.get 1)"))
}

/// [`echo`], with bytes that make it another artifact.
pub(crate) fn echo_variant(name: &str, mark: &str) -> Vec<u8> {
    let data = format!(r#"(data (i32.const 8192) "{mark}")"#);
    component(&Parts {
        description: &description(name),
        describing: "",
        imports: "",
        with: "",
        core: &data,
        run: &answer("(local.get 0)", "(local.get 1)"),
    })
}

pub(crate) fn trapping(name: &str) -> Vec<u8> {
    plain(name, "(unreachable)")
}

pub(crate) fn looping(name: &str) -> Vec<u8> {
    plain(name, "(loop $again (br $again)) (unreachable)")
}

/// Answers with an error, without details.
pub(crate) fn failing(name: &str, code: &str, message: &str) -> Vec<u8> {
    let data = format!(r#"(data (i32.const 2048) "{code}{message}")"#);
    let run = format!(
        "(i32.store8 (i32.const {RESULT}) (i32.const 1))
         (i32.store offset=4 (i32.const {RESULT}) (i32.const 2048))
         (i32.store offset=8 (i32.const {RESULT}) (i32.const {code_length}))
         (i32.store offset=12 (i32.const {RESULT}) (i32.const {message_at}))
         (i32.store offset=16 (i32.const {RESULT}) (i32.const {message_length}))
         (i32.const {RESULT})",
        code_length = code.len(),
        message_at = 2048 + code.len(),
        message_length = message.len(),
    );
    component(&Parts {
        description: &description(name),
        describing: "",
        imports: "",
        with: "",
        core: &data,
        run: &run,
    })
}

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
  (core func $read (canon lower (func $fs "read") (memory (core memory $memory "memory"))
    (realloc (core func $memory "realloc"))))"#;

/// Reads `path` so many times; answers with what it read last, or with `"denied"` or `"failed"`.
pub(crate) fn reading(name: &str, path: &str, times: u32) -> Vec<u8> {
    let run = format!(
        "(loop $again
           (call $read (i32.const 4096) (i32.const 1) (i32.const 600))
           (br_if $again (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1))) (i32.const {times}))))
         (if (i32.load8_u (i32.load (i32.const 600)))
           (then
             (i32.store (i32.const 700) (select (i32.const 3000) (i32.const 3100)
               (i32.eqz (i32.load8_u offset=4 (i32.load (i32.const 600))))))
             (i32.store (i32.const 704) (i32.const 8)))
           (else
             (i32.store (i32.const 700) (i32.load offset=4 (i32.load (i32.const 600))))
             (i32.store (i32.const 704) (i32.load offset=8 (i32.load (i32.const 600))))))
         {}",
        answer("(i32.load (i32.const 700))", "(i32.load (i32.const 704))")
    );
    fs_reader(name, path, "", &run)
}

/// Reads a file in `describe`, which must not.
pub(crate) fn describing_by_hostcall(name: &str) -> Vec<u8> {
    let call = "(call $read (i32.const 4096) (i32.const 1) (i32.const 600))";
    let run = answer("(local.get 0)", "(local.get 1)");
    fs_reader(name, "/workspace/note.txt", call, &run)
}

fn fs_reader(name: &str, path: &str, describing: &str, run: &str) -> Vec<u8> {
    let core = format!(
        r#"(import "host" "read" (func $read (param i32 i32 i32)))
        (data (i32.const 2048) "{path}")
        (data (i32.const 3000) "\22denied\22") (data (i32.const 3100) "\22failed\22")
        (data (i32.const 4096) "{request}\00\10\00\00\01")"#,
        request = pair(2048, path.len()),
    );
    component(&Parts {
        description: &description(name),
        describing,
        imports: FS_READ,
        with: r#"(with "host" (instance (export "read" (func $read))))"#,
        core: &core,
        run,
    })
}

/// A component that imports an interface with one function that no host has.
pub(crate) fn importing(name: &str, interface: &str) -> Vec<u8> {
    component(&Parts {
        description: &description(name),
        describing: "",
        imports: &format!(r#"(import "{interface}" (instance (export "read" (func))))"#),
        with: "",
        core: "",
        run: &answer("(local.get 0)", "(local.get 1)"),
    })
}

/// A component whose `describe` runs this code and returns this text.
pub(crate) fn describing(code: &str, text: &str) -> Vec<u8> {
    component(&Parts {
        description: text,
        describing: code,
        imports: "",
        with: "",
        core: "",
        run: &answer("(local.get 0)", "(local.get 1)"),
    })
}

/// The 14 functions of the ABI of core modules, from this module.
pub(crate) fn core_imports(module: &str) -> String {
    let functions = [
        ("input_len", "(result i32)"),
        ("input_read", "(param i32 i32 i32) (result i32)"),
        ("output_write", "(param i32 i32) (result i32)"),
        ("sha256_input_hex", "(param i32 i32) (result i32)"),
        ("time_now_unix", "(result i64)"),
        ("random_fill", "(param i32 i32) (result i32)"),
        ("fs_read_file", "(param i32 i32 i32 i32) (result i32)"),
        ("fs_read_tree", "(param i32 i32 i32 i32) (result i32)"),
        ("fs_write_file", "(param i32 i32 i32 i32) (result i32)"),
        ("http_fetch", "(param i32 i32 i32 i32) (result i32)"),
        ("kv_put", "(param i32 i32 i32 i32) (result i32)"),
        ("kv_get", "(param i32 i32 i32 i32) (result i32)"),
        ("queue_publish", "(param i32 i32 i32 i32) (result i32)"),
        ("queue_consume", "(param i32 i32 i32 i32) (result i32)"),
    ];
    let imports = functions
        .iter()
        .map(|(name, kind)| format!(r#"(import "{module}" "{name}" (func ${name} {kind}))"#));
    imports.collect::<Vec<_>>().join("\n")
}

/// A core module with all 14 imports, strings at 0 (`first`) and 4096 (`second`), and this `run`.
pub(crate) fn core(first: &str, second: &str, run: &str) -> Vec<u8> {
    core_of("provenact", first, second, run)
}

pub(crate) fn core_of(module: &str, first: &str, second: &str, run: &str) -> Vec<u8> {
    assemble(&format!(
        r#"(module {imports}
          (memory (export "memory") 2)
          (data (i32.const 0) "{first}") (data (i32.const 4096) "{second}")
          (func (export "run") (result i32) (local $n i32) {run}))"#,
        imports = core_imports(module),
        first = escaped(first.as_bytes()),
        second = escaped(second.as_bytes()),
    ))
}

/// A core module without imports, and the body of `run`.
pub(crate) fn bare(run: &str) -> Vec<u8> {
    assemble(&format!(
        r#"(module (memory (export "memory") 1) (func (export "run") {run}))"#
    ))
}

/// Puts `length` bytes at 8192 out, and the length as a decimal digit is not needed: negative = `failed`.
pub(crate) fn put_out(call: &str) -> String {
    format!(
        "(local.set $n {call})
         (if (i32.lt_s (local.get $n) (i32.const 0))
           (then (return (i32.const 7)))
           (else (drop (call $output_write (i32.const 8192) (local.get $n)))))
         (i32.const 0)"
    )
}

pub(crate) fn assemble(text: &str) -> Vec<u8> {
    wat::parse_str(text).unwrap()
}

pub(crate) fn escaped(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("\\{byte:02x}")).collect()
}

/// A pointer and a length, as data.
pub(crate) fn pair(pointer: usize, length: usize) -> String {
    let word = |value| escaped(&u32::try_from(value).unwrap().to_le_bytes());
    word(pointer) + &word(length)
}
