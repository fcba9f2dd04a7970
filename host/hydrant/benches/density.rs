//! Density: what a call in flight and a loaded component take of memory and of memory mappings, and so how many of them
//! fit into 4 GiB.
//!
//! `cargo bench --bench density` prints one table; the arguments are explained in `harness`. `-- --walls` also holds as
//! many calls and components as fit, and says what stops there being more. Each measurement is made in a process of its
//! own, so that nothing of one is counted as another's.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::indexing_slicing,
    clippy::as_conversions,
    reason = "a benchmark that cannot run has nothing to tell, and its figures are far below 2^53"
)]

#[path = "harness/mod.rs"]
mod harness;
#[path = "density/held.rs"]
mod held;
#[path = "density/memory.rs"]
mod memory;

use std::fs;
use std::process::{Command, ExitCode, Stdio};
use std::thread;

use harness::Measured;
use held::HeldServer;
use hydrant::engine::{CodeCacheFolders, Engine, EngineError, EngineOptions, most_slots};
use hydrant::trust::{Capability, Wasm};
use hydrant::{Host, SkillCall};
use memory::{Memory, Range};
use serde::{Deserialize, Serialize};
use serde_json::json;

const KIB: u64 = 1024;
const GIB: u64 = 1024 * 1024 * KIB;
/// What all of it is to fit into.
const HOUSE: u64 = 4 * GIB;
/// The design's: beyond what the guest touches.
const CALL: u64 = 192 * KIB;
/// No target; more would be a surprise.
const COMPONENT: u64 = 1024 * KIB;
/// Slots of the engine that serves them.
const SLOTS: u32 = 10_000;

/// What a process was made to hold, and what that took.
#[derive(Serialize, Deserialize)]
struct Holding {
    /// Calls or components.
    count: u64,
    before: Memory,
    held: Memory,
    /// Why there are no more, if more were wanted.
    stopped: Option<String>,
}

impl Holding {
    fn each(&self, of: impl Fn(&Memory) -> u64) -> f64 {
        let more = of(&self.held).saturating_sub(of(&self.before));
        more as f64 / self.count.max(1) as f64
    }

    /// Bytes of each that are not the guests' own.
    fn beyond(&self) -> u64 {
        self.each(Memory::beyond).ceil() as u64
    }

    fn print(&self, what: &str) {
        let kib = |of: fn(&Memory) -> u64| self.each(of) / KIB as f64;
        println!(
            "{} {what}: each {:.0} KiB of its guest's, {:.0} KiB beyond that ({:.0} KiB of it from files), {:.0} KiB of page tables, \
             {:.1} mappings; the process: {:.0} MiB, {} mappings, {} threads",
            self.count,
            kib(|memory| memory.guests),
            kib(Memory::beyond),
            kib(|memory| memory.of_files),
            kib(|memory| memory.page_tables),
            self.each(|memory| memory.mappings),
            self.held.resident as f64 / (KIB * KIB) as f64,
            self.held.mappings,
            self.held.threads,
        );
        if let Some(reason) = &self.stopped {
            println!("    no more: {reason}");
        }
    }
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let count = || arguments[1].parse().unwrap();
    match arguments.first().map(String::as_str) {
        Some("--serve") => held::serve(),
        Some("--calls") => tell(&hold_calls(count())),
        Some("--components") => tell(&hold_components(count())),
        _ => return report(&arguments),
    }
    ExitCode::SUCCESS
}

fn report(arguments: &[String]) -> ExitCode {
    let flag = |name: &str| arguments.iter().any(|argument| argument == name);
    let code = harness::run(&[
        (
            "memory of a call in flight, beyond the guest's",
            |samples| Measured::size(measured("--calls", samples * 2).beyond(), CALL),
        ),
        ("memory of a loaded component", |samples| {
            Measured::size(measured("--components", samples).beyond(), COMPONENT)
        }),
    ]);
    if flag("--walls") {
        walls();
    }
    code
}

/// As many as fit into the house, counted from a thousand of them, and then held.
fn walls() {
    for (what, argument) in [
        ("calls in flight", "--calls"),
        ("components", "--components"),
    ] {
        let some = measured(argument, 1_000);
        some.print(what);
        let each = some.each(|memory| memory.resident + memory.page_tables);
        let left = HOUSE.saturating_sub(some.before.resident) as f64;
        println!("    {:.0} would take 4 GiB", left / each);
        let most = (left / each).min(f64::from(SLOTS)) as usize;
        measured(argument, most).print(what);
    }
}

/// In a process of its own.
fn measured(argument: &str, count: usize) -> Holding {
    let output = Command::new(std::env::current_exe().unwrap())
        .args([argument, &count.to_string()])
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{argument} {count}: {}",
        output.status
    );
    serde_json::from_slice(&output.stdout).unwrap()
}

fn tell(holding: &Holding) {
    println!("{}", serde_json::to_string(holding).unwrap());
}

/// So many calls of `http.fetch_text` at a time, all waiting for the same server.
fn hold_calls(count: u64) -> Holding {
    // Each comes with a thread of its own, which a pool counts, and which nobody else would keep from failing.
    let (most, short) = most_slots();
    let stopped = short.filter(|_| count > most.into());
    let count = count.min(most.into());
    let mut server = HeldServer::start();
    let folder = tempfile::tempdir().unwrap();
    let url = server.url();
    let policy = folder.path().join("policy.yaml");
    let text = format!(
        "version: 1\ntrusted_signers: [hydrant.build]\ncapability_ceiling: {{net: [\"{url}\"]}}\n\
         host:\n  net: [{{url: \"{url}\", methods: [GET]}}]\n"
    );
    fs::write(&policy, text).unwrap();
    let options = EngineOptions {
        slots: SLOTS,
        cache: Some(cache(folder.path())),
    };
    let before_pool = Range::largest();
    let host = Host::builder()
        .policy(policy)
        .engine(options)
        .build()
        .unwrap();
    let pool = Range::largest();
    assert!(pool.length() > before_pool.length(), "there is a pool");
    let request = json!({"url": format!("{url}doc.txt")}).to_string();
    let call = || {
        let answer = host
            .answer(SkillCall::new("http.fetch_text", request.as_bytes()))
            .unwrap();
        String::from_utf8(answer.unwrap()).unwrap()
    };
    // The first loads the component, and the rest of it happens once.
    thread::scope(|scope| {
        let first = scope.spawn(call);
        server.wait_for(1);
        server.release();
        assert!(first.join().unwrap().contains("late"));
    });
    let before = Memory::now(Some(&pool));
    let held = thread::scope(|scope| {
        let calls: Vec<_> = (0..count).map(|_| scope.spawn(call)).collect();
        server.wait_for(count);
        let held = Memory::now(Some(&pool));
        server.release();
        for call in calls {
            assert!(call.join().unwrap().contains("late"));
        }
        held
    });
    Holding {
        count,
        before,
        held,
        stopped: stopped.map(|short| short.to_string()),
    }
}

/// A component, loaded so many times from the cache of compiled code.
fn hold_components(count: u64) -> Holding {
    let folder = tempfile::tempdir().unwrap();
    let options = EngineOptions {
        slots: 64,
        cache: Some(cache(folder.path())),
    };
    let engine = Engine::new(&options).unwrap();
    let bytes = include_bytes!("../../../skills/http.fetch_text/0.1.0/skill.wasm");
    let component = Wasm::from(&bytes[..]);
    let declared = [Capability {
        kind: "net.http".into(),
        value: "*".into(),
    }];
    let load = || engine.load(&component, &declared);
    // The first is compiled.
    drop(load().unwrap());
    drop(load().unwrap());
    let before = Memory::now(None);
    let mut loaded = Vec::with_capacity(count as usize);
    let mut stopped = None;
    while (loaded.len() as u64) < count {
        match load() {
            Ok(skill) => loaded.push(skill),
            Err(EngineError::NoRoom(no_room)) => {
                stopped = Some(no_room.to_string());
                break;
            }
            Err(error) => panic!("{error}"),
        }
    }
    Holding {
        count: loaded.len() as u64,
        before,
        held: Memory::now(None),
        stopped,
    }
}

fn cache(folder: &std::path::Path) -> CodeCacheFolders {
    CodeCacheFolders {
        code: folder.join("code"),
        key: folder.join("state"),
    }
}
