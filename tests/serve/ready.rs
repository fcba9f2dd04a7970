//! The cold start: the service says that it is ready when its skills are compiled, and has not kept what that took.

use std::fs;
use std::time::{Duration, Instant};

use crate::house::House;

/// Bytes that an idle service may hold.
const IDLE: u64 = 60 * 1024 * 1024;

#[test]
fn a_tenant_whose_programs_are_not_confined_is_named_in_the_log() {
    let house = House::new();
    let ceiling = "capability_ceiling: {exec: true, fs: {read: [/os, /workspace]}}";
    let mounts =
        "mounts: [{at: /os, dir: \"@cli\", mode: ro}, {at: /workspace, dir: \"@cli\", mode: ro}]";
    for (name, jail) in [("confined", "required"), ("unjailed", "unjailed")] {
        let policy = format!(
            "version: 1\ntrusted_signers: [hydrant.build]\n{ceiling}\nhost:\n  {mounts}\n  jail: {{process: {jail}}}\n"
        );
        house.write(&format!("{name}.yaml"), &policy);
    }
    house.tenants(&[
        ("alpha", "profile = \"trusted\"\npolicy = \"unjailed.yaml\""),
        ("beta", "profile = \"trusted\"\npolicy = \"confined.yaml\""),
    ]);
    // A tenant can only narrow what the server's own policy says.
    let policy = house.path("unjailed.yaml");
    let server = house.serve_with(&["--policy", policy.to_str().unwrap()]);
    server.says("process: unjailed");
    let log = server.log();
    let warned: Vec<&str> = log
        .lines()
        .filter(|line| line.contains("unjailed"))
        .collect();
    assert!(warned.iter().any(|line| line.contains("alpha")), "{log}");
    assert!(!warned.iter().any(|line| line.contains("beta")), "{log}");
}

#[test]
fn the_service_is_ready_once_its_skills_are_compiled() {
    let house = House::new();
    // Two small ones: compiling all of them takes long on a busy machine.
    let few = "skills = [\"content.hydrate\", \"fs.read_text\"]";
    house.tenants(&[("alpha", few), ("beta", few)]);
    let cache = house.path("cold");
    let server = house.serve_cold(&cache);
    let client = server.with_token(None);
    let first = client.get("/readyz");
    assert_eq!(client.get("/healthz").status, 200);
    let until = Instant::now() + Duration::from_secs(300);
    let mut refused = 0;
    loop {
        let answer = client.get("/readyz");
        if answer.status == 200 {
            break;
        }
        assert_eq!(answer.code(), "not-ready");
        assert!(answer.header("retry-after").is_some());
        refused += 1;
        assert!(Instant::now() < until, "never ready: {}", server.log());
        std::thread::sleep(Duration::from_millis(20));
    }
    // Compiling takes longer than asking once does.
    assert_eq!(first.status, 503, "{}", first.text());
    assert!(refused > 0);
    let compiled = |folder: &std::path::Path| {
        let mut folders = vec![folder.to_owned()];
        let mut files = Vec::new();
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    files.push((
                        path.clone(),
                        fs::metadata(&path).unwrap().modified().unwrap(),
                    ));
                }
            }
        }
        files.sort();
        files
    };
    let before = compiled(&cache);
    assert!(before.len() >= 2, "{before:?}");
    assert!(
        server.resident_bytes() <= IDLE,
        "{}",
        server.resident_bytes()
    );
    server
        .client("alpha", "caller")
        .hydrate("os://agents/own.md")
        .ok();
    // The call compiled nothing more.
    assert_eq!(compiled(&cache), before);
    // What takes long is said, and nothing else.
    let log = server.log();
    let is_known = |line: &str| line.contains("compiling a component for this processor");
    assert!(log.lines().all(is_known), "{log}");
}

#[test]
fn a_cache_that_cannot_be_used_hinders_nobody() {
    let house = House::new();
    let one = "skills = [\"content.hydrate\"]";
    house.tenants(&[("alpha", one), ("beta", one)]);
    house.write("cold", "no folder");
    let server = house.serve_cold(&house.path("cold"));
    let until = Instant::now() + Duration::from_secs(300);
    while server.with_token(None).get("/readyz").status != 200 {
        assert!(Instant::now() < until, "never ready: {}", server.log());
        std::thread::sleep(Duration::from_millis(50));
    }
    server
        .client("alpha", "caller")
        .hydrate("os://agents/own.md")
        .ok();
}
