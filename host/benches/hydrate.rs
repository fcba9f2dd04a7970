//! Hydration against its floors, side by side in one run: the same work by the guest's own code compiled
//! natively, by bare wasmtime on the same bytes, and by a process that does nothing.
//!
//! `cargo bench --bench hydrate` prints one table; `-- --check` also exits with 1 when a target is missed,
//! `-- --quick` takes a tenth of the samples. Samples of both sides alternate and medians are compared, so
//! that a machine that is busy for a moment slows both.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    clippy::indexing_slicing,
    reason = "a benchmark that cannot run has nothing to tell"
)]

#[path = "hydrate/floor.rs"]
mod floor;
#[path = "hydrate/server.rs"]
mod server;

use std::fmt::Write as _;
use std::fs;
use std::hint::black_box;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use floor::{BareWasmtime, native_hydrate};
use hydrant::policy::CliMount;
use hydrant::{Host, HydrateRequest};

const AGENT: &str = "os://agents/pilot.md";

fn describe(host: &Host) -> String {
    let skill = host.describe("content.hydrate", None).unwrap();
    skill.description.unwrap()
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let flag = |name: &str| arguments.iter().any(|argument| argument == name);
    let wanted = |operation: &str| {
        let mut words = arguments
            .iter()
            .filter(|argument| !argument.starts_with('-'))
            .peekable();
        words.peek().is_none() || words.any(|word| operation.contains(word.as_str()))
    };
    let samples = if flag("--quick") { 50 } else { 500 };
    let os = tempfile::tempdir().unwrap();
    write_os_root(os.path(), 10);

    println!(
        "{:<44} {:>10} {:>10} {:>7}  {:<12} met",
        "operation", "hydrant", "floor", "ratio", "target"
    );
    let mut all_met = true;
    for (operation, measure) in OPERATIONS {
        if wanted(operation) {
            let measured = measure(os.path(), samples);
            println!(
                "{}",
                Row {
                    operation,
                    measured: &measured
                }
            );
            all_met &= measured.met();
        }
    }
    if flag("--check") && !all_met {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    }
}

type Measure = fn(&Path, usize) -> Measured;

const OPERATIONS: [(&str, Measure); 5] = [
    ("hydrate 10 local skills, in process", in_process),
    ("fresh instance and call (bare wasmtime)", fresh_instance),
    ("hydrate 10 local skills, whole process", whole_process),
    ("verify all pins, whole process", verify_pins),
    ("hydrate 100 skills over HTTP, 20 ms each", over_http),
];

struct Measured {
    hydrant: Duration,
    floor: Duration,
    target: Target,
}

enum Target {
    Ratio(f64),
    Time(Duration),
}

impl Measured {
    fn ratio(&self) -> f64 {
        self.hydrant.as_secs_f64() / self.floor.as_secs_f64()
    }

    fn met(&self) -> bool {
        match self.target {
            Target::Ratio(most) => self.ratio() <= most,
            Target::Time(most) => self.hydrant <= most,
        }
    }
}

struct Row<'a> {
    operation: &'static str,
    measured: &'a Measured,
}

impl std::fmt::Display for Row<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Measured {
            hydrant,
            floor,
            target,
        } = self.measured;
        let target = match target {
            Target::Ratio(most) => format!("<= {most} x"),
            Target::Time(most) => format!("<= {most:?}"),
        };
        let met = if self.measured.met() { "yes" } else { "NO" };
        let (hydrant, floor) = (format!("{hydrant:.1?}"), format!("{floor:.1?}"));
        let (operation, ratio) = (self.operation, self.measured.ratio());
        write!(
            f,
            "{operation:<44} {hydrant:>10} {floor:>10} {ratio:>7.2}  {target:<12} {met}"
        )
    }
}

/// Medians of alternating samples, after a tenth of them to warm up.
fn alternate(
    samples: usize,
    mut one: impl FnMut(),
    mut other: impl FnMut(),
) -> (Duration, Duration) {
    let time = |work: &mut dyn FnMut()| {
        let start = Instant::now();
        work();
        start.elapsed()
    };
    let (mut ones, mut others) = (Vec::new(), Vec::new());
    for sample in 0..samples + samples / 10 {
        let (first, second) = (time(&mut one), time(&mut other));
        if sample >= samples / 10 {
            ones.push(first);
            others.push(second);
        }
    }
    (median(ones), median(others))
}

fn median(mut samples: Vec<Duration>) -> Duration {
    samples.sort_unstable();
    samples[samples.len() / 2]
}

fn in_process(os: &Path, samples: usize) -> Measured {
    let host = Host::builder().os_root(os).build().unwrap();
    let request = HydrateRequest::new(AGENT);
    assert_eq!(
        host.hydrate(&request).unwrap(),
        native_hydrate(os, AGENT),
        "both sides do the same work"
    );
    let (hydrant, floor) = alternate(
        samples,
        || drop(black_box(host.hydrate(&request).unwrap())),
        || drop(black_box(native_hydrate(os, AGENT))),
    );
    Measured {
        hydrant,
        floor,
        target: Target::Ratio(2.0),
    }
}

fn fresh_instance(_os: &Path, samples: usize) -> Measured {
    let host = Host::builder().build().unwrap();
    let bare = BareWasmtime::new();
    assert_eq!(
        describe(&host),
        bare.describe(),
        "both sides do the same work"
    );
    let (hydrant, floor) = alternate(
        samples * 4,
        || drop(black_box(describe(&host))),
        || drop(black_box(bare.describe())),
    );
    Measured {
        hydrant,
        floor,
        target: Target::Ratio(1.3),
    }
}

fn whole_process(os: &Path, samples: usize) -> Measured {
    let root = os.to_str().unwrap();
    let arguments = ["hydrate", AGENT, "--root", root];
    processes(&arguments, samples, Duration::from_millis(15))
}

fn verify_pins(_os: &Path, samples: usize) -> Measured {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
    let arguments = ["verify", "--root", root];
    processes(&arguments, samples, Duration::from_millis(60))
}

/// The program with these arguments, beside a process that does nothing. The first run, which compiles, is not counted.
fn processes(arguments: &[&str], samples: usize, target: Duration) -> Measured {
    let home = tempfile::tempdir().unwrap();
    let spawn = |program: &str, arguments: &[&str]| {
        let status = Command::new(program)
            .args(arguments)
            .env("XDG_CACHE_HOME", home.path())
            .env("HYDRANT_HOME", home.path().join("home"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .status()
            .unwrap();
        assert!(status.success());
    };
    let hydrant = env!("CARGO_BIN_EXE_hydrant");
    let (hydrant, floor) = alternate(
        samples.min(100),
        || spawn(hydrant, arguments),
        || spawn("/bin/true", &[]),
    );
    Measured {
        hydrant,
        floor,
        target: Target::Time(target),
    }
}

fn over_http(_os: &Path, samples: usize) -> Measured {
    let delay = Duration::from_millis(20);
    let server = server::SlowServer::start(delay);
    let os = tempfile::tempdir().unwrap();
    let mut agent = String::from("---\nskills:\n");
    for skill in 0..100 {
        writeln!(agent, "  - os://remote/skill-{skill}.md").unwrap();
    }
    fs::write(os.path().join("pilot.md"), agent + "---\nFly.\n").unwrap();
    let policy = os.path().join("policy.yaml");
    let url = server.url();
    let text = format!(
        "version: 1\ntrusted_signers: [hydrant.build]\n\
         capability_ceiling: {{fs: {{read: [/os]}}, net: [\"{url}\"]}}\n\
         host:\n  mounts: [{{at: /os, dir: \"@cli\", mode: ro}}]\n  net: [{{url: \"{url}\", methods: [GET]}}]\n"
    );
    fs::write(&policy, text).unwrap();
    let mount = CliMount::os_prefix(&format!("/remote/={url}"), true).unwrap();
    let host = Host::builder()
        .policy(policy)
        .os_root(os.path())
        .mount(mount)
        .build()
        .unwrap();
    let request = HydrateRequest {
        allow_http_loopback: true,
        ..HydrateRequest::new("os://pilot.md")
    };
    let payload = String::from_utf8(host.hydrate(&request).unwrap()).unwrap();
    assert!(
        payload.contains("Skill 99") && !payload.contains("ERROR"),
        "{payload}"
    );
    let (hydrant, floor) = alternate(
        samples.min(20),
        || drop(black_box(host.hydrate(&request).unwrap())),
        // What the delays alone cost, ten at a time.
        || std::thread::sleep(delay * 10),
    );
    let target = Target::Time(Duration::from_millis(300));
    Measured {
        hydrant,
        floor,
        target,
    }
}

fn write_os_root(os: &Path, skills: usize) {
    fs::create_dir_all(os.join("agents")).unwrap();
    fs::create_dir_all(os.join("skills")).unwrap();
    let mut agent = String::from("---\nname: Pilot\nskills:\n");
    for skill in 0..skills {
        writeln!(agent, "  - ../skills/skill-{skill}.md").unwrap();
        let body =
            "Read the checklist aloud, one item at a time, and wait for the answer.\n".repeat(40);
        let text = format!(
            "---\nname: Skill {skill}\ndescription: What skill {skill} is for, in a sentence or two of ordinary length.\n\
             skills: [./skill-0.md]\ntools: [../tools/check.sh]\n---\n# Skill {skill}\n\n{body}"
        );
        fs::write(os.join(format!("skills/skill-{skill}.md")), text).unwrap();
    }
    fs::write(os.join("agents/pilot.md"), agent + "---\nFly the plane.\n").unwrap();
}
