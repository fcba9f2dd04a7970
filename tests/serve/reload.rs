//! The tenants file: what it may be, and reading it again while calls run.

use std::fs;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use rustix::process::Signal;

use crate::house::{House, foreign, token};

fn refused(house: &House) -> String {
    let checked = house.command(&["serve", "--check"]).output().unwrap();
    assert!(!checked.status.success());
    String::from_utf8_lossy(&checked.stderr).into_owned()
}

#[test]
fn a_file_that_others_may_read_is_refused() {
    let house = House::new();
    for mode in [0o644, 0o640, 0o602] {
        fs::set_permissions(house.path("tenants.toml"), fs::Permissions::from_mode(mode)).unwrap();
        assert!(refused(&house).contains("0600"), "{mode:o}");
    }
}

/// As one that was cut off: nobody's token would hold any more, and nothing would say why.
#[test]
fn a_file_without_a_tenant_is_refused() {
    let house = House::new();
    house.tenants(&[]);
    let message = refused(&house);
    assert!(message.contains("no [[tenant]]"), "{message}");
}

#[test]
fn what_is_wrong_is_named_with_its_table_and_key() {
    let house = House::new();
    for (lines, said) in [
        ("concurrency = 0", ["\"alpha\"", "concurrency"]),
        (
            "rate = { per_second = 0.0, burst = 1 }",
            ["\"alpha\"", "rate"],
        ),
        (
            "mounts = { \"workspace\" = \"x\" }",
            ["\"alpha\"", "mounts"],
        ),
        ("unknown_key = 1", ["tenants.toml", "unknown_key"]),
        ("policy = \"none.yaml\"", ["alpha", "policy"]),
        ("profile = \"open\"", ["tenants.toml", "profile"]),
    ] {
        house.tenants(&[("alpha", lines)]);
        let message = refused(&house);
        for part in said {
            assert!(message.contains(part), "{lines}: {message}");
        }
        assert!(!message.contains("hyd_test"), "{message}");
    }
    house.tenants(&[("alpha", ""), ("alpha", "")]);
    assert!(refused(&house).contains("name"));
    house.tenants(&[("../alpha", "")]);
    assert!(refused(&house).contains("name"));
}

#[test]
fn a_tenant_that_is_added_may_ask_and_one_that_is_removed_may_not() {
    let house = House::new();
    let server = house.serve();
    assert_eq!(
        server.client("gamma", "caller").get("/v1/skills").status,
        401
    );
    house.tenants(&[("alpha", ""), ("gamma", "")]);
    server.signal(Signal::HUP);
    server.says("read again");
    assert_eq!(
        server.client("gamma", "caller").get("/v1/skills").status,
        200
    );
    assert_eq!(
        server.client("alpha", "caller").get("/v1/skills").status,
        200
    );
    assert_eq!(
        server.client("beta", "caller").get("/v1/skills").status,
        401
    );
}

#[test]
fn a_file_that_is_wrong_changes_nothing() {
    let house = House::new();
    let server = house.serve();
    house.write("tenants.toml", "[[tenant]]\nname = 1\n");
    server.signal(Signal::HUP);
    server.says("nothing changes");
    assert_eq!(
        server.client("alpha", "caller").get("/v1/skills").status,
        200
    );
}

#[test]
fn what_of_the_configuration_holds_only_after_a_restart_is_said() {
    let house = House::new();
    let server = house.serve();
    house.tenants(&[("alpha", ""), ("gamma", "")]);
    server.signal(Signal::HUP);
    server.says("read again");
    assert!(!server.log().contains("restart"), "{}", server.log());
    let text = fs::read_to_string(house.path("hydrant.toml")).unwrap();
    let text = text.replace("[serve]", "jailed_clients = \"all\"\n[serve]\nworkers = 3");
    house.write("hydrant.toml", &format!("policy = \"other.yaml\"\n{text}"));
    server.signal(Signal::HUP);
    server.says("needs a restart: [govern] jailed_clients, [serve] workers, policy");
    house.write("hydrant.toml", "[serve\n");
    server.signal(Signal::HUP);
    server.says("the configuration is not as it was, and cannot be read");
}

#[test]
fn what_a_tenant_used_of_its_rate_stays_used_when_others_change() {
    let house = House::new();
    let tight = "rate = { per_second = 0.01, burst = 1 }";
    house.tenants(&[("alpha", tight), ("beta", "")]);
    let server = house.serve();
    assert_eq!(
        server.client("alpha", "caller").get("/v1/receipts").status,
        200
    );
    house.tenants(&[("alpha", tight), ("gamma", "")]);
    server.signal(Signal::HUP);
    server.says("read again");
    assert_eq!(
        server.client("alpha", "caller").get("/v1/receipts").status,
        429
    );
}

#[test]
fn calls_are_answered_while_the_file_is_read_again() {
    let house = House::new();
    let server = house.serve();
    server
        .client("alpha", "caller")
        .hydrate("os://agents/own.md")
        .ok();
    let stop = AtomicBool::new(false);
    let answered = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    server
                        .client("alpha", "caller")
                        .hydrate("os://agents/own.md")
                        .ok();
                    answered.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        for round in 0..10 {
            let lines = format!("concurrency = {}", 3 + round % 2);
            house.tenants(&[("alpha", &lines), ("beta", "")]);
            server.signal(Signal::HUP);
            std::thread::sleep(Duration::from_millis(50));
        }
        stop.store(true, Ordering::Relaxed);
    });
    assert!(answered.load(Ordering::Relaxed) > 10);
}

#[test]
fn a_tenant_that_cannot_be_served_does_not_keep_a_removal_from_holding() {
    let house = House::new();
    let server = house.serve();
    let status = |tenant: &str| server.client(tenant, "caller").get("/v1/skills").status;
    assert_eq!((status("alpha"), status("beta")), (200, 200));
    house.tenants(&[("alpha", "policy = \"none.yaml\""), ("gamma", "")]);
    server.signal(Signal::HUP);
    server.says("read again");
    assert!(server.log().contains("left out: tenant \"alpha\""));
    assert_eq!(
        (status("alpha"), status("beta"), status("gamma")),
        (401, 401, 200)
    );
    house.tenants(&[("alpha", ""), ("gamma", "")]);
    server.signal(Signal::HUP);
    let until = std::time::Instant::now() + Duration::from_secs(30);
    while status("alpha") != 200 {
        assert!(std::time::Instant::now() < until, "{}", server.log());
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn one_tenant_that_cannot_be_served_fails_the_check_and_not_the_others() {
    let house = House::new();
    house.tenants(&[("alpha", "policy = \"none.yaml\""), ("beta", "")]);
    let message = refused(&house);
    assert!(message.contains("\"alpha\""), "{message}");
    let server = house.serve();
    let status = |tenant: &str| server.client(tenant, "caller").get("/v1/skills").status;
    assert_eq!((status("alpha"), status("beta")), (401, 200));
}

#[test]
fn no_tenant_mounts_what_says_who_may_do_what_nor_anothers_home() {
    let house = House::new();
    let policy = "version: 1\ntrusted_signers: [hydrant.build, hydrant.release]\n";
    house.write("policies/own.yaml", policy);
    house.write("states/own.txt", "");
    for (mount, said) in [
        ("policies", "policy"),
        ("states", "home folder"),
        ("states/beta", "home folder"),
        (".", "alpha"),
    ] {
        fs::create_dir_all(house.path("states/beta")).unwrap();
        let private = fs::Permissions::from_mode(0o700);
        fs::set_permissions(house.path("states/beta"), private).unwrap();
        house.tenants(&[
            (
                "alpha",
                &format!("mounts = {{ \"/workspace\" = {mount:?} }}"),
            ),
            ("beta", "policy = \"policies/own.yaml\""),
        ]);
        let message = refused(&house);
        assert!(message.contains("\"alpha\""), "{mount}: {message}");
        assert!(message.contains(said), "{mount}: {message}");
    }
}

#[test]
fn a_token_that_was_pasted_by_mistake_is_not_shown() {
    let token = token("alpha", "caller");
    for line in [
        format!("token_digests = [\"{token}\"]\n"),
        format!("profile = \"{token}\"\n"),
        format!("{token} = 1\n"),
        format!("{token}\n"),
    ] {
        let house = House::new();
        house.write("tenants.toml", &format!("[[tenant]]\nname = \"a\"\n{line}"));
        let message = refused(&house);
        assert!(message.contains("line 3"), "{message}");
        assert!(!message.contains("0123456789"), "{message}");
        let house = House::with(&format!("metrics_token_digests = [\"{token}\"]"));
        let message = refused(&house);
        assert!(!message.contains("0123456789"), "{message}");
    }
}

#[test]
fn a_file_of_somebody_else_is_refused() {
    // Only the system's user can give a file away.
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let house = House::new();
    std::os::unix::fs::chown(house.path("tenants.toml"), Some(12_345), None).unwrap();
    let message = refused(&house);
    assert!(message.contains("somebody else"), "{message}");
}

#[test]
fn a_stream_of_a_tenant_that_was_changed_ends_so_that_its_client_asks_again() {
    let house = House::new();
    let server = house.serve();
    let begin = |tenant: &str| {
        let client = server.client(tenant, "approver");
        client.begin("GET", "/v1/events", &[], None)
    };
    let (mut changed, mut kept) = (begin("alpha"), begin("beta"));
    for stream in [&mut changed, &mut kept] {
        stream.read_exact(&mut [0]).unwrap();
    }
    house.tenants(&[("alpha", "concurrency = 3"), ("beta", "")]);
    server.signal(Signal::HUP);
    server.says("read again");
    // At its next line, which says nothing if nothing happens.
    changed.read_to_end(&mut Vec::new()).unwrap();
    server
        .client("beta", "caller")
        .post("/v1/capabilities", &foreign("told-of"))
        .ok();
    let (mut told, mut chunk) = (String::new(), [0; 1024]);
    while !told.contains("told-of") {
        let amount = kept.read(&mut chunk).unwrap();
        assert!(amount > 0, "{told}");
        told += &String::from_utf8_lossy(&chunk[..amount]);
    }
}

#[test]
fn a_state_that_is_put_right_is_used_without_another_start() {
    let house = House::new();
    let mut server = house.serve();
    server
        .client("alpha", "caller")
        .post("/v1/capabilities", &foreign("one"))
        .ok();
    server.signal(Signal::TERM);
    assert!(server.ended().success());
    let database = house.path("states/alpha/state/govern.sqlite");
    let whole = fs::read(&database).unwrap();
    fs::write(&database, "x".repeat(4096)).unwrap();
    let server = house.serve();
    let approver = server.client("alpha", "approver");
    assert_eq!(approver.get("/v1/chain").status, 500);
    fs::write(&database, whole).unwrap();
    assert_eq!(approver.get("/v1/chain?verify=true").ok()["verified"], true);
}
