//! Hydration against its floors, side by side in one run: the same work by the guest's own code compiled
//! natively, by bare wasmtime on the same bytes, and by a process that does nothing.
//!
//! `cargo bench --bench hydrate` prints one table; the arguments are explained in `harness`.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    clippy::indexing_slicing,
    reason = "a benchmark that cannot run has nothing to tell"
)]

#[path = "hydrate/floor.rs"]
mod floor;
#[path = "harness/mod.rs"]
mod harness;
#[path = "hydrate/material.rs"]
mod material;
#[path = "hydrate/server.rs"]
mod server;

use std::fmt::Write as _;
use std::fs;
use std::hint::black_box;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt;
use std::process::{Command, ExitCode, Stdio};
use std::time::Duration;

use floor::{BareWasmtime, native_hydrate};
use harness::{Measured, Target, alternate};
use hydrant::policy::CliMount;
use hydrant::{Host, HydrateRequest};
use material::{AGENT, os_root};

fn describe(host: &Host) -> String {
    let skill = host.describe("content.hydrate", None).unwrap();
    skill.description.unwrap()
}

fn main() -> ExitCode {
    harness::run(&[
        ("hydrate 10 local skills, in process", in_process),
        ("fresh instance and call; bare wasmtime", fresh_instance),
        ("fresh instance and call; a warm instance", over_warm),
        ("hydrate 10 local skills, whole process", whole_process),
        ("hydrate 10 tools asked before, whole process", kept_tools),
        ("hydrate 10 tools, never asked, beside 1", first_tools),
        ("hydrate 100 skills over HTTP, 20 ms each", over_http),
    ])
}

fn in_process(samples: usize) -> Measured {
    let os = os_root(10);
    let os = os.path();
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
    Measured::new(hydrant, floor, Target::Ratio(1.7))
}

fn fresh_instance(samples: usize) -> Measured {
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
    Measured::new(hydrant, floor, Target::Ratio(1.25))
}

fn over_warm(samples: usize) -> Measured {
    let host = Host::builder().build().unwrap();
    let bare = BareWasmtime::new();
    let mut warm = bare.warm();
    assert_eq!(describe(&host), warm(), "both sides do the same work");
    let (hydrant, floor) = alternate(
        samples * 4,
        || drop(black_box(describe(&host))),
        || drop(black_box(warm())),
    );
    Measured::new(hydrant, floor, Target::Beyond(Duration::from_micros(20)))
}

fn whole_process(samples: usize) -> Measured {
    let os = os_root(10);
    let root = os.path().to_str().unwrap();
    let arguments = ["hydrate", AGENT, "--root", root];
    processes(&arguments.map(str::to_owned), samples, Target::Ratio(5.0))
}

/// Ten tools in the jail that all were asked in the first run, which is not counted.
fn kept_tools(samples: usize) -> Measured {
    let os = tools(10);
    processes(
        &tool_arguments(&os),
        samples,
        Target::Time(Duration::from_millis(20)),
    )
}

/// Ten tools in the jail that nobody has asked before, beside one such: whole processes, with the component compiled.
fn first_tools(samples: usize) -> Measured {
    let (ten, one) = (tools(10), tools(1));
    let home = tempfile::tempdir().unwrap();
    let hydrate = |os: &tempfile::TempDir| {
        // Next to the compiled component, which stays.
        let kept = home.path().join("hydrant/descriptions");
        if kept.exists() {
            fs::remove_dir_all(kept).unwrap();
        }
        let output = Command::new(env!("CARGO_BIN_EXE_hydrant"))
            .args(tool_arguments(os))
            .env("XDG_CACHE_HOME", home.path())
            .env("HYDRANT_HOME", home.path().join("home"))
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let described = String::from_utf8(output.stdout).unwrap();
        assert!(
            described.contains("What it does") && !described.contains("ERROR"),
            "{described}"
        );
    };
    let (hydrant, floor) = alternate(samples.min(100), || hydrate(&ten), || hydrate(&one));
    Measured::new(hydrant, floor, Target::Ratio(2.5))
}

/// Tools, each a script that a shell runs, an agent that has them, and a policy that lets them be asked.
fn tools(count: usize) -> tempfile::TempDir {
    let os = tempfile::tempdir().unwrap();
    fs::create_dir(os.path().join("agents")).unwrap();
    let mut agent = String::from("---\ntools:\n");
    for tool in 0..count {
        let (name, text) = (format!("tool-{tool}.sh"), "#!/bin/sh\necho What it does\n");
        let mut options = fs::OpenOptions::new();
        let file = options.write(true).create_new(true).mode(0o755);
        let mut file = file.open(os.path().join(&name)).unwrap();
        file.write_all(text.as_bytes()).unwrap();
        writeln!(agent, "  - ../{name}").unwrap();
    }
    fs::write(os.path().join("agents/pilot.md"), agent + "---\nFly.\n").unwrap();
    let policy = os.path().join("policy.yaml");
    let text = "version: 1\ntrusted_signers: [hydrant.build]\n\
                capability_ceiling: {fs: {read: [/os]}, exec: true}\n\
                host:\n  mounts: [{at: /os, dir: \"@cli\", mode: ro}]\n  discovery: {run: [/os]}\n";
    fs::write(&policy, text).unwrap();
    os
}

fn tool_arguments(os: &tempfile::TempDir) -> Vec<String> {
    let root = os.path().to_str().unwrap();
    let policy = format!("{root}/policy.yaml");
    ["hydrate", AGENT, "--root", root, "--policy", &policy]
        .map(str::to_owned)
        .into()
}

/// The program with these arguments, beside a process that does nothing. The first run, which compiles, is not counted.
fn processes(arguments: &[String], samples: usize, target: Target) -> Measured {
    let home = tempfile::tempdir().unwrap();
    let spawn = |program: &str, arguments: &[String]| {
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
    Measured::new(hydrant, floor, target)
}

fn over_http(samples: usize) -> Measured {
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
    Measured::new(hydrant, floor, Target::Ratio(1.15))
}
