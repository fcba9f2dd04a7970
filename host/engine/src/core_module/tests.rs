//! Modules written as text: each import, each outcome, each limit.

mod abi;
mod limits;
mod outcome;

use std::fmt::Write;
use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use super::*;
use hydrant_capability::core_module::StateDirectories;
use hydrant_capability::fetch::Fetcher;
use hydrant_trust::Capability;

/// Every import but [`imports::OUTPUT`], with its type.
const IMPORTS: [(&str, &str); 13] = [
    ("input_len", "(result i32)"),
    ("input_read", "(param i32 i32 i32) (result i32)"),
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

/// Where the first and the second text of a module are, and where it lets the host write: four pages of memory.
const FIRST: usize = 0;
const SECOND: usize = 65_536;
const OUT: usize = 131_072;
const END: usize = 4 * 65_536;

/// A place for files and state, what is declared, and the budgets.
struct Site {
    _directory: tempfile::TempDir,
    root: PathBuf,
    declared: Vec<Capability>,
    budgets: CoreBudgets,
    input: Vec<u8>,
    /// The import module.
    module: &'static str,
}

impl Site {
    fn new() -> Site {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().canonicalize().unwrap();
        Site {
            _directory: directory,
            root,
            declared: Vec::new(),
            budgets: CoreBudgets::default(),
            input: b"abc".to_vec(),
            module: "provenact",
        }
    }

    fn at(&self, name: &str) -> String {
        self.root.join(name).to_str().unwrap().to_owned()
    }

    fn declare(&mut self, kind: &str, value: &str) {
        self.declared.push(Capability {
            kind: kind.to_owned(),
            value: value.to_owned(),
        });
    }

    /// Declares every kind for everything, files below `root` only.
    fn declare_everything(&mut self) {
        let root = self.at("");
        for kind in ["fs.read", "fs.write"] {
            self.declare(kind, &root);
        }
        for kind in ["time.now", "random.bytes", "kv.read", "kv.write"] {
            self.declare(kind, "*");
        }
        for kind in ["queue.publish", "queue.consume"] {
            self.declare(kind, "*");
        }
    }

    /// Runs the export `run` of a module in text form.
    fn run(&self, text: &str) -> CoreOutcome {
        self.run_export(text, "run")
    }

    fn run_export(&self, text: &str, entrypoint: &str) -> CoreOutcome {
        self.run_bytes(&wat::parse_str(text).unwrap(), entrypoint)
    }

    fn run_bytes(&self, wasm: &[u8], entrypoint: &str) -> CoreOutcome {
        let call = CoreCall::new(
            &self.declared,
            StateDirectories::from_environment(Some(&self.root.join("home"))),
            Arc::default(),
            Arc::new(Fetcher::new(&[]).unwrap()),
            self.budgets.meter_from(Instant::now()),
        );
        let engine = CoreEngine::new().unwrap();
        engine.run(
            wasm,
            entrypoint,
            &self.input,
            &Arc::new(call),
            &self.budgets,
        )
    }

    /// The text of a module whose entrypoint is `body`, with two texts in its memory.
    fn module(&self, extra: &str, texts: [&[u8]; 2], body: &str) -> String {
        let mut module = String::from("(module\n");
        for (name, kind) in IMPORTS {
            let from = self.module;
            writeln!(
                module,
                "(import \"{from}\" \"{name}\" (func ${name} {kind}))"
            )
            .unwrap();
        }
        module.push_str(extra);
        module.push_str("(memory (export \"memory\") 4)\n");
        for (place, text) in [FIRST, SECOND].into_iter().zip(texts) {
            let escaped: String = text.iter().map(|byte| format!("\\{byte:02x}")).collect();
            writeln!(module, "(data (i32.const {place}) \"{escaped}\")").unwrap();
        }
        writeln!(
            module,
            "(func (export \"run\") (result i32) (local $n i32) {body}))"
        )
        .unwrap();
        module
    }

    /// What an expression of type i32 is worth, or why the run failed.
    fn value(&self, texts: [&[u8]; 2], expression: &str) -> Result<i32, String> {
        match self.run(&self.module("", texts, expression)).result {
            Ok(output) => Ok(String::from_utf8(output).unwrap().parse().unwrap()),
            Err(CoreFailure::NonzeroReturn { value, .. }) => Ok(value),
            Err(failure) => Err(failure.to_string()),
        }
    }

    /// The bytes at [`OUT`], as many as an expression is worth; its value where that is negative.
    fn answer(&self, texts: [&[u8]; 2], expression: &str) -> Result<Vec<u8>, String> {
        let import = format!(
            "(import \"{}\" \"output_write\" (func $output_write (param i32 i32) (result i32)))\n",
            self.module
        );
        let body = format!(
            "(local.set $n {expression})
             (if (i32.lt_s (local.get $n) (i32.const 0)) (then (return (local.get $n))))
             (call $output_write (i32.const {OUT}) (local.get $n))"
        );
        let outcome = self.run(&self.module(&import, texts, &body));
        outcome.result.map_err(|failure| failure.to_string())
    }

    /// As [`Site::answer`], for an import that is asked with a name.
    fn ask(&self, import: &str, name: &[u8]) -> Result<Vec<u8>, String> {
        let length = name.len();
        let room = END - OUT;
        let expression = format!(
            "(call ${import} (i32.const {FIRST}) (i32.const {length}) (i32.const {OUT}) (i32.const {room}))"
        );
        self.answer([name, b""], &expression)
    }

    /// The value of an import that is asked with a name and given bytes.
    fn give(&self, import: &str, name: &[u8], bytes: &[u8]) -> Result<i32, String> {
        let expression = format!(
            "(call ${import} (i32.const {FIRST}) (i32.const {}) (i32.const {SECOND}) (i32.const {}))",
            name.len(),
            bytes.len()
        );
        self.value([name, bytes], &expression)
    }
}

/// A module without imports.
fn plain(body: &str) -> String {
    format!("(module (memory (export \"memory\") 1) (func (export \"run\") {body}))")
}
