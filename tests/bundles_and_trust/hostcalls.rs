//! Components that make one hostcall of `fetch` or `process` and answer with its outcome: `"ok"`, or
//! `"error N"` with the number of the error's case.

use crate::guests::{Parts, answer, component, description, escaped, pair};

/// `"error 0"`: the first case of both error enumerations.
pub(crate) const DENIED: &[u8] = b"\"error 0\"";

/// `arguments-denied` and `directory-denied` of `process`.
pub(crate) const ARGUMENTS_DENIED: &[u8] = b"\"error 1\"";
pub(crate) const DIRECTORY_DENIED: &[u8] = b"\"error 2\"";

const FETCH: &str = r#"
  (import "hydrant:host/fetch@0.1.0" (instance $fetch
    (type $e (enum "denied" "redirect-denied" "redirects" "invalid-request" "unsupported-encoding"
      "too-large" "timeout" "dns" "connect" "tls" "protocol"))
    (export "fetch-error" (type $fetch-error (eq $e)))
    (type $m (enum "get" "head" "post" "put" "patch" "delete"))
    (export "method" (type $method (eq $m)))
    (type $c (enum "identity" "gzip"))
    (export "encodings" (type $encodings (eq $c)))
    (type $o (enum "refuse" "cut"))
    (export "overflow" (type $overflow (eq $o)))
    (type $q (record (field "method" $method) (field "url" string)
      (field "headers" (list (tuple string string))) (field "body" (option (list u8)))
      (field "encodings" $encodings) (field "max-bytes" u32) (field "overflow" $overflow)
      (field "timeout-ms" u32) (field "max-redirects" u8) (field "body-types" (list string))))
    (export "http-request" (type $request (eq $q)))
    (type $s (record (field "status" u16) (field "url" string)
      (field "headers" (list (tuple string string))) (field "body" (list u8)) (field "truncated" bool)
      (field "unread" bool)))
    (export "http-response" (type $response (eq $s)))
    (type $a (record (field "reason" $fetch-error) (field "url" string)))
    (export "fetch-failure" (type $failure (eq $a)))
    (export "send" (func (param "requests" (list $request))
      (result (list (result $response (error $failure))))))))
  (core func $call (canon lower (func $fetch "send") (memory (core memory $memory "memory"))
    (realloc (core func $memory "realloc"))))"#;

const PROCESS: &str = r#"
  (import "hydrant:host/process@0.1.0" (instance $process
    (type $e (enum "denied" "arguments-denied" "directory-denied" "unconfined" "not-found"
      "not-permitted" "fetch-failed" "not-startable" "no-directory" "not-directory" "invalid-request"))
    (export "process-error" (type $process-error (eq $e)))
    (type $p (record (field "name" string) (field "directory" string)))
    (export "program" (type $program (eq $p)))
    (type $t (record (field "path" string) (field "declared-by" string)))
    (export "tool" (type $tool (eq $t)))
    (type $v (variant (case "program" $program) (case "tool" $tool)))
    (export "target" (type $target (eq $v)))
    (type $c (record (field "target" $target) (field "arguments" (list string))
      (field "timeout-ms" u32) (field "max-output-bytes" u32)))
    (export "command" (type $command (eq $c)))
    (type $n (variant (case "exited" u8) (case "signaled" u8) (case "timed-out")))
    (export "ending" (type $ending (eq $n)))
    (type $x (record (field "ending" $ending) (field "stdout" (list u8)) (field "stdout-truncated" bool)
      (field "stderr" (list u8)) (field "stderr-truncated" bool) (field "duration-ms" u32)))
    (export "exit" (type $exit (eq $x)))
    (export "run" (func (param "commands" (list $command))
      (result (list (result $exit (error $process-error))))))))
  (core func $call (canon lower (func $process "run") (memory (core memory $memory "memory"))
    (realloc (core func $memory "realloc"))))"#;

/// A request of this method (the number of its case) to this URL, following up to five redirects.
pub(crate) fn fetching(method: u8, url: &str) -> Vec<u8> {
    let data = format!(
        "\\{method:02x}\\00\\00\\00{url}{nothing}{nothing}\\00\\00\\00\\00{identity}{most}{refuse}{wait}\\05\\00\\00\\00{nothing}",
        url = pair(2048, url.len()),
        // No headers; no body, whose bytes are then not looked at.
        nothing = pair(0, 0),
        identity = word(0),
        most = word(4096),
        refuse = word(0),
        wait = word(5000),
    );
    calling(FETCH, &[(2048, url)], &data)
}

/// Starts this program in `/workspace` with one argument.
pub(crate) fn starting(program: &str, argument: &str, directory: &str) -> Vec<u8> {
    let data = format!(
        "{case}{program}{directory}{arguments}{wait}{most}",
        case = word(0),
        program = pair(2048, program.len()),
        directory = pair(2304, directory.len()),
        arguments = pair(2816, 1),
        wait = word(5000),
        most = word(4096),
    );
    let list = pair(2560, argument.len());
    let strings = [(2048, program), (2304, directory), (2560, argument)];
    calling_with(
        PROCESS,
        &strings,
        &data,
        &format!(r#"(data (i32.const 2816) "{list}")"#),
    )
}

fn calling(imports: &str, strings: &[(usize, &str)], request: &str) -> Vec<u8> {
    calling_with(imports, strings, request, "")
}

fn calling_with(imports: &str, strings: &[(usize, &str)], request: &str, more: &str) -> Vec<u8> {
    let strings: String = strings
        .iter()
        .map(|(at, text)| format!(r#"(data (i32.const {at}) "{}")"#, escaped(text.as_bytes())))
        .collect();
    let core = format!(
        r#"(import "host" "call" (func $call (param i32 i32 i32)))
        {strings} {more} (data (i32.const 4096) "{request}")
        (data (i32.const 3000) "\22ok\22") (data (i32.const 3100) "\22error 0\22")"#
    );
    let run = format!(
        "(call $call (i32.const 4096) (i32.const 1) (i32.const 600))
         (i32.store (i32.const 700) (i32.const 3000)) (i32.store (i32.const 704) (i32.const 4))
         (if (i32.load8_u (i32.load (i32.const 600)))
           (then
             (i32.store8 (i32.const 3107)
               (i32.add (i32.const 48) (i32.load8_u offset=4 (i32.load (i32.const 600)))))
             (i32.store (i32.const 700) (i32.const 3100)) (i32.store (i32.const 704) (i32.const 9))))
         {}",
        answer("(i32.load (i32.const 700))", "(i32.load (i32.const 704))")
    );
    component(&Parts {
        description: &description("demo.echo"),
        describing: "",
        imports,
        with: r#"(with "host" (instance (export "call" (func $call))))"#,
        core: &core,
        run: &run,
    })
}

fn word(value: u32) -> String {
    escaped(&value.to_le_bytes())
}
