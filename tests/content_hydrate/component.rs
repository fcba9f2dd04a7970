//! Component tools, assembled from text when a test needs them.

/// The parts of a component that exports `describe: func() -> string`, in the text format.
pub(crate) struct Tool<'a> {
    /// Imports of the component, which it does not use.
    pub(crate) imports: &'a str,
    /// Pages of 64 KiB that its memory begins with.
    pub(crate) pages: u32,
    /// Fields of the core module: data, functions.
    pub(crate) fields: &'a str,
    /// The core function: leaves the address of a pointer and a length.
    pub(crate) body: &'a str,
}

impl Tool<'_> {
    /// Describes itself as `plain`: the tool from which the others differ in one part.
    pub(crate) const PLAIN: Self = Tool {
        imports: "",
        pages: 4,
        fields: r#"(data (i32.const 0) "\10\00\00\00\17\00\00\00")
            (data (i32.const 16) "{\22description\22:\22plain\22}")"#,
        body: "i32.const 0",
    };

    pub(crate) fn build(&self) -> Vec<u8> {
        let Self {
            imports,
            pages,
            fields,
            body,
        } = self;
        assemble(&format!(
            r#"(component
              {imports}
              (core module $tool
                (memory (export "memory") {pages})
                {fields}
                (func (export "describe") (result i32) {body}))
              (core instance $tool (instantiate $tool))
              (func (export "describe") (result string)
                (canon lift (core func $tool "describe") (memory (core memory $tool "memory")))))"#
        ))
    }
}

/// A component whose `describe` returns exactly these bytes.
pub(crate) fn returning(answer: impl AsRef<[u8]>) -> Vec<u8> {
    let answer = answer.as_ref();
    let literal: String = answer.iter().map(|byte| format!("\\{byte:02x}")).collect();
    let answer_at_16 = pair(16, answer.len());
    let fields =
        format!(r#"(data (i32.const 0) "{answer_at_16}") (data (i32.const 16) "{literal}")"#);
    Tool {
        fields: &fields,
        ..Tool::PLAIN
    }
    .build()
}

/// A component whose description is this text.
pub(crate) fn described(description: &str) -> Vec<u8> {
    returning(serde_json::json!({ "description": description }).to_string())
}

/// A component that reads `/os/secret.md` through the host and describes itself as the outcome:
/// `denied` for the error `denied`, `leaked` for anything else.
pub(crate) fn reading() -> Vec<u8> {
    let denied = r#"{\22description\22:\22denied\22}"#;
    let leaked = r#"{\22description\22:\22leaked\22}"#;
    assemble(&format!(
        r#"(component
          (import "hydrant:host/fs-read@0.1.0" (instance $fs
            (type $error (enum "denied" "not-found" "is-directory" "not-directory" "special" "leaves-mount"
              "not-accessible" "too-large" "invalid-path" "fetch-failed" "conflict" "symlink" "io"))
            (export "fs-error" (type $fs-error (eq $error)))
            (type $overflow (enum "refuse" "cut"))
            (export "overflow" (type $overflow-name (eq $overflow)))
            (type $links (enum "follow" "refuse"))
            (export "symlinks" (type $links-name (eq $links)))
            (type $request (record (field "path" string) (field "max-bytes" u32) (field "overflow" $overflow-name)
              (field "symlinks" $links-name)))
            (export "read-request" (type $read-request (eq $request)))
            (type $content (record (field "bytes" (list u8)) (field "truncated" bool) (field "executable" bool)))
            (export "file" (type $file (eq $content)))
            (export "read" (func (param "requests" (list $read-request))
              (result (list (result $file (error $fs-error))))))))
          (core module $memory
            (memory (export "memory") 4)
            (func (export "realloc") (param i32 i32 i32 i32) (result i32) i32.const 65536))
          (core instance $memory (instantiate $memory))
          (core func $read (canon lower (func $fs "read")
            (memory (core memory $memory "memory")) (realloc (core func $memory "realloc"))))
          (core module $tool
            (import "memory" "memory" (memory 4))
            (import "host" "read" (func $read (param i32 i32 i32)))
            (data (i32.const 100) "/os/secret.md")
            ;; one read-request: the path, 64 bytes at most, overflow.cut
            (data (i32.const 200) "{path}{most}\01")
            (data (i32.const 300) "{denied}")
            (data (i32.const 400) "{leaked}")
            (data (i32.const 500) "{when_denied}{when_leaked}")
            (func (export "describe") (result i32)
              (call $read (i32.const 200) (i32.const 1) (i32.const 600))
              ;; the first item is an error, and its case is the first one
              (select (i32.const 500) (i32.const 508)
                (i32.and
                  (i32.eq (i32.load8_u (i32.load (i32.const 600))) (i32.const 1))
                  (i32.eqz (i32.load8_u offset=4 (i32.load (i32.const 600))))))))
          (core instance $tool (instantiate $tool
            (with "memory" (instance $memory))
            (with "host" (instance (export "read" (func $read))))))
          (func (export "describe") (result string)
            (canon lift (core func $tool "describe") (memory (core memory $memory "memory")))))"#,
        path = pair(100, 13),
        most = word(64),
        when_denied = pair(300, 24),
        when_leaked = pair(400, 24),
    ))
}

/// A component that looks at the clock before and after some work and describes itself as `frozen`
/// or `running`.
pub(crate) fn timing() -> Vec<u8> {
    assemble(
        r#"(component
          (import "wasi:clocks/monotonic-clock@0.2.0" (instance $clock (export "now" (func (result u64)))))
          (core func $now (canon lower (func $clock "now")))
          (core module $tool
            (import "clock" "now" (func $now (result i64)))
            (memory (export "memory") 1)
            (data (i32.const 0) "\10\00\00\00\18\00\00\00\40\00\00\00\19\00\00\00")
            (data (i32.const 16) "{\22description\22:\22frozen\22}")
            (data (i32.const 64) "{\22description\22:\22running\22}")
            (func (export "describe") (result i32) (local $start i64) (local $turns i32)
              (local.set $start (call $now))
              (loop $work
                (br_if $work (i32.lt_u
                  (local.tee $turns (i32.add (local.get $turns) (i32.const 1))) (i32.const 1000000))))
              (select (i32.const 0) (i32.const 8) (i64.eq (local.get $start) (call $now)))))
          (core instance $tool (instantiate $tool
            (with "clock" (instance (export "now" (func $now))))))
          (func (export "describe") (result string)
            (canon lift (core func $tool "describe") (memory (core memory $tool "memory")))))"#,
    )
}

/// Text format to bytes: a component or a core module.
pub(crate) fn assemble(text: &str) -> Vec<u8> {
    wat::parse_str(text).unwrap()
}

/// A pointer and a length, as data.
fn pair(pointer: usize, length: usize) -> String {
    word(pointer) + &word(length)
}

fn word(value: usize) -> String {
    let bytes = u32::try_from(value).unwrap().to_le_bytes();
    bytes.iter().map(|byte| format!("\\{byte:02x}")).collect()
}
