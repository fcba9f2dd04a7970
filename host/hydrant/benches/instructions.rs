//! Instructions of the hot paths, counted by callgrind and compared with the numbers that were committed: what a clock on a
//! shared machine cannot tell, a count can.
//!
//! `cargo bench --bench instructions` prints both. `-- --check` exits with 1 where one is more than 5 of 100 above what was
//! committed, `-- --update` writes the numbers down. Counted is the thread that calls, without the kernel; the code is that
//! for the processor which valgrind plays, whatever the machine is. The first run compiles a component under valgrind, which
//! takes a minute or two, and keeps it in the target folder. `-- --only PATH CALLS` does one of them so often, for a profiler.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::indexing_slicing,
    reason = "a benchmark that cannot run has nothing to tell"
)]

#[path = "govern/document.rs"]
mod document;
#[path = "hydrate/floor.rs"]
#[allow(dead_code, reason = "bare wasmtime is not counted")]
mod floor;
#[path = "hydrate/material.rs"]
mod material;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use floor::native_hydrate;
use hydrant::audit::AuditTarget;
use hydrant::{Host, HydrateRequest, SkillCall};
use material::{AGENT, os_root};
use serde_json::json;

/// What was committed.
const BASELINE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/instructions.txt");
/// In hundredths: hash maps are seeded anew in each process.
const TOLERANCE: u64 = 5;
/// Calls that are counted together, unless the arguments say how many.
const CALLS: u64 = 10;
static CALLED: AtomicU64 = AtomicU64::new(CALLS);

/// Gets everything ready and gives the work to [`counted`].
type Work = fn();

const PATHS: [(&str, Work); 5] = [
    ("fresh instance and call", fresh_instance),
    ("hydrate 10 local skills", hydrate),
    (
        "hydrate 10 local skills, the guest natively",
        hydrate_natively,
    ),
    ("hydrate 10 local skills that did not change", hydrate_again),
    (
        "read a skill.md of 74 KiB, the guest natively",
        interpret_natively,
    ),
];

/// Nothing that a count would say more of than that of ten.
const LARGE: (&str, Work) = ("hydrate 1,000 local skills", || hydrate_of(1_000));

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [only, name, calls @ ..] = arguments.as_slice()
        && only == "--only"
    {
        if let [calls] = calls {
            CALLED.store(calls.parse().unwrap(), Ordering::Relaxed);
        }
        let mut paths = PATHS.iter().chain([&LARGE]);
        let (_, path) = paths.find(|(known, _)| known == name).unwrap();
        path();
        return ExitCode::SUCCESS;
    }
    let flag = |name: &str| arguments.iter().any(|argument| argument == name);
    let before = baseline();
    let mut after = String::new();
    let mut worse = false;
    println!(
        "{:<50} {:>14} {:>14} {:>8}",
        "instructions of a call", "now", "committed", "change"
    );
    for (name, _) in PATHS {
        let now = count(name);
        writeln!(after, "{now:>12}  {name}").unwrap();
        let Some(&before) = before.get(name) else {
            println!("{name:<50} {now:>14} {:>14}", "-");
            worse |= !flag("--update");
            continue;
        };
        let more = now > before + before * TOLERANCE / 100;
        worse |= more;
        let change = (f64(now) / f64(before) - 1.0) * 100.0;
        let verdict = if more { "  MORE" } else { "" };
        println!("{name:<50} {now:>14} {before:>14} {change:>+7.1}%{verdict}");
    }
    if flag("--update") {
        fs::write(BASELINE, after).unwrap();
    } else if flag("--check") && worse {
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

fn fresh_instance() {
    let host = Host::builder().build().unwrap();
    // A request that the skill refuses at once.
    let mut call = || {
        drop(black_box(
            host.answer(SkillCall::new("fs.read_text", b"{}")).unwrap(),
        ));
    };
    counted(&mut call);
}

fn hydrate() {
    hydrate_of(10);
}

fn hydrate_of(skills: usize) {
    let os = os_root(skills);
    let host = Host::builder().os_root(os.path()).build().unwrap();
    let request = HydrateRequest::new(AGENT);
    counted(&mut || drop(black_box(host.hydrate(&request).unwrap())));
}

fn hydrate_natively() {
    let os = os_root(10);
    counted(&mut || drop(black_box(native_hydrate(os.path(), AGENT))));
}

/// As the service answers it, with its line of the audit record.
fn hydrate_again() {
    let os = os_root(10);
    let host = Host::builder()
        .os_root(os.path())
        .keep_hydrations(1 << 20)
        .audit(AuditTarget::Required(os.path().join("audit.jsonl")))
        .build()
        .unwrap();
    let request = HydrateRequest::new(AGENT);
    // Nothing is kept of files that are new.
    std::thread::sleep(Duration::from_secs(4));
    host.hydrate_keeping(&request).unwrap();
    counted(&mut || drop(black_box(host.hydrate_again(&request).unwrap().unwrap())));
}

fn interpret_natively() {
    let text = document::skill(40, 74 * 1024);
    let request = json!({"op": "load", "source-url": "https://api.example.org/skill.md",
        "content-b64": STANDARD.encode(&text)});
    let request = serde_json::to_vec(&request).unwrap();
    counted(&mut || drop(black_box(skill_interpreter::run(&request).unwrap())));
}

/// What the first call alone has to do is not counted.
fn counted(work: &mut dyn FnMut()) {
    work();
    for _ in 0..CALLED.load(Ordering::Relaxed) {
        hydrant_counted_by_callgrind(work);
    }
}

/// Callgrind knows it by its name.
#[inline(never)]
fn hydrant_counted_by_callgrind(work: &mut dyn FnMut()) {
    black_box(work)();
}

/// The instructions of a call, counted in a process of its own.
fn count(name: &str) -> u64 {
    let folder = cache();
    let out = folder.join("callgrind.out");
    let status = Command::new("valgrind")
        .args(["--quiet", "--tool=callgrind", "--collect-atstart=no"])
        .arg("--toggle-collect=*hydrant_counted_by_callgrind*")
        .arg(format!("--callgrind-out-file={}", out.display()))
        .arg(std::env::current_exe().unwrap())
        .args(["--only", name])
        .env("XDG_CACHE_HOME", folder.join("cache"))
        .env("HYDRANT_HOME", folder.join("home"))
        // Of calls that valgrind does not know and answers as an old kernel would.
        .stderr(Stdio::null())
        .status()
        .unwrap_or_else(|error| panic!("valgrind: {error}: install it"));
    assert!(status.success(), "{name}: {status}");
    let text = fs::read_to_string(out).unwrap();
    let total = text
        .lines()
        .find_map(|line| line.strip_prefix("totals: "))
        .unwrap();
    let total: u64 = total.trim().parse().unwrap();
    assert!(total > 0, "{name}: nothing was counted");
    total / CALLS
}

/// Below the target folder, with a home that only its owner may enter.
fn cache() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("instructions");
    for name in ["cache", "home"] {
        use std::os::unix::fs::DirBuilderExt;
        let mut made = fs::DirBuilder::new();
        made.recursive(true)
            .mode(0o700)
            .create(folder.join(name))
            .unwrap();
    }
    folder
}

fn baseline() -> BTreeMap<String, u64> {
    let text = fs::read_to_string(BASELINE).unwrap_or_default();
    let lines = text
        .lines()
        .map(|line| line.trim().split_once(' ').unwrap());
    lines
        .map(|(count, name)| (name.trim().to_owned(), count.parse().unwrap()))
        .collect()
}

#[allow(clippy::as_conversions, reason = "counts are far below 2^53")]
fn f64(count: u64) -> f64 {
    count as f64
}
