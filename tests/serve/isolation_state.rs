//! Registry, approvals, chain, receipts, audit, sessions, events: each tenant has its own, and another's id is no id.

use std::fs;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::authentication::walk;
use crate::house::{House, foreign, pending, shared};

#[test]
fn registry_a_loaded_skill_is_the_tenants_own() {
    let (_, server) = shared();
    let (alpha, beta) = (
        server.client("alpha", "caller"),
        server.client("beta", "caller"),
    );
    alpha
        .post("/v1/capabilities", &foreign("only-alpha-loads"))
        .ok();
    assert!(
        !beta
            .get("/v1/capabilities")
            .text()
            .contains("only-alpha-loads")
    );
    let others = beta.get("/v1/capabilities/only-alpha-loads");
    let nobodys = beta.get("/v1/capabilities/only-nobody-loads");
    assert_eq!(others.status, 404);
    assert_eq!(
        others.text().replace("only-alpha-loads", "X"),
        nobodys.text().replace("only-nobody-loads", "X")
    );
}

#[test]
fn registry_another_tenant_may_have_the_same_name() {
    let (_, server) = shared();
    for tenant in ["alpha", "beta"] {
        let caller = server.client(tenant, "caller");
        caller.post("/v1/capabilities", &foreign("same-name")).ok();
        assert_eq!(caller.get("/v1/capabilities/same-name").status, 200);
    }
    let operator = server.client("alpha", "operator");
    assert_eq!(operator.delete("/v1/capabilities/same-name").status, 200);
    assert_eq!(
        server
            .client("beta", "caller")
            .get("/v1/capabilities/same-name")
            .status,
        200
    );
}

#[test]
fn registry_another_tenants_skill_is_not_executed() {
    let (_, server) = shared();
    server
        .client("alpha", "caller")
        .post("/v1/capabilities", &foreign("not-for-beta"))
        .ok();
    let beta = server.client("beta", "caller");
    let refused = beta.post("/v1/capabilities/not-for-beta/look", &json!({}));
    assert_eq!(
        (refused.status, refused.code().as_str()),
        (404, "unknown-skill")
    );
}

#[test]
fn registry_another_tenants_skill_is_not_removed() {
    let (_, server) = shared();
    server
        .client("alpha", "caller")
        .post("/v1/capabilities", &foreign("stays"))
        .ok();
    let refused = server
        .client("beta", "operator")
        .delete("/v1/capabilities/stays");
    assert_eq!(refused.status, 404);
    assert_eq!(
        server
            .client("alpha", "caller")
            .get("/v1/capabilities/stays")
            .status,
        200
    );
}

#[test]
fn approvals_another_tenants_request_is_unknown() {
    let (_, server) = shared();
    let id = pending(&server, "alpha", "unseen-request");
    let beta = server.client("beta", "approver");
    let others = beta.get(&format!("/v1/approvals/{id}"));
    let nobodys = beta.get("/v1/approvals/ap-00000000000000000000000000000000");
    assert_eq!(others.status, 404);
    assert_eq!(others.json(), nobodys.json());
    assert!(!beta.get("/v1/approvals").text().contains(&id));
}

#[test]
fn approvals_another_tenants_request_is_not_decided() {
    let (_, server) = shared();
    let id = pending(&server, "alpha", "undecided-request");
    let beta = server.client("beta", "operator");
    for decision in ["approve", "deny", "revoke"] {
        let refused = beta.post(&format!("/v1/approvals/{id}/{decision}"), &json!({}));
        assert_eq!(
            (refused.status, refused.code().as_str()),
            (404, "unknown-approval"),
            "{decision}"
        );
    }
    let shown = server
        .client("alpha", "approver")
        .get(&format!("/v1/approvals/{id}"))
        .ok();
    assert!(shown.to_string().contains("pending"), "{shown}");
}

#[test]
fn approvals_a_grant_holds_for_its_tenant_alone() {
    let (_, server) = shared();
    let id = pending(&server, "alpha", "granted-to-alpha");
    pending(&server, "beta", "granted-to-alpha");
    server
        .client("alpha", "approver")
        .post(
            &format!("/v1/approvals/{id}/approve"),
            &json!({"scope": "until-changed"}),
        )
        .ok();
    let refused = server
        .client("beta", "caller")
        .post("/v1/capabilities/granted-to-alpha/look", &json!({}));
    assert_eq!(refused.code(), "approval-required");
}

#[test]
fn chain_it_holds_what_its_tenant_did_alone() {
    let (_, server) = shared();
    server
        .client("alpha", "caller")
        .post("/v1/capabilities", &foreign("chained-by-alpha"))
        .ok();
    let of = |tenant: &str| {
        server
            .client(tenant, "approver")
            .get("/v1/chain?limit=1000")
            .text()
    };
    assert!(of("alpha").contains("chained-by-alpha"));
    assert!(!of("beta").contains("chained-by-alpha"));
}

#[test]
fn chain_its_head_does_not_move_by_what_another_does() {
    let house = House::new();
    let server = house.serve();
    let head = || server.client("beta", "approver").get("/v1/chain").ok()["head"].clone();
    server
        .client("beta", "caller")
        .post("/v1/capabilities", &foreign("mine"))
        .ok();
    let before = head();
    server
        .client("alpha", "caller")
        .post("/v1/capabilities", &foreign("theirs"))
        .ok();
    assert_eq!(head(), before);
}

#[test]
fn chain_a_damaged_one_is_its_tenants_problem_alone() {
    let house = House::new();
    let mut server = house.serve();
    for tenant in ["alpha", "beta"] {
        server
            .client(tenant, "caller")
            .post("/v1/capabilities", &foreign("one"))
            .ok();
    }
    server.signal(rustix::process::Signal::TERM);
    server.ended();
    drop(server);
    let chain = walk(&house.path("states/alpha/state/chain"));
    let segment = chain
        .iter()
        .find(|file| file.extension().is_some_and(|end| end == "jsonl"));
    let segment = segment.unwrap_or_else(|| panic!("{chain:?}"));
    let mut bytes = fs::read(segment).unwrap();
    let at = bytes.len() / 2;
    bytes[at] ^= 1;
    fs::write(segment, bytes).unwrap();
    let server = house.serve();
    let alpha = server
        .client("alpha", "approver")
        .get("/v1/chain?verify=true");
    assert!(
        alpha.status != 200 || alpha.json()["verified"] == false,
        "{}",
        alpha.text()
    );
    let beta = server.client("beta", "approver");
    assert_eq!(beta.get("/v1/chain?verify=true").ok()["verified"], true);
    server
        .client("beta", "caller")
        .post("/v1/capabilities", &foreign("two"))
        .ok();
}

#[test]
fn receipts_another_tenants_is_unknown() {
    let (_, server) = shared();
    let run = server.client("alpha", "caller").post(
        "/v1/skills/fs.read_text/run",
        &json!({"path": "/workspace/own.txt"}),
    );
    let id = run.header("hydrant-receipt").unwrap().to_owned();
    let beta = server.client("beta", "caller");
    let others = beta.get(&format!("/v1/receipts/{id}"));
    let nobodys = beta.get("/v1/receipts/rcpt_00000000000000000000000000");
    let none = beta.get("/v1/receipts/..%2f..%2falpha%2freceipts%2fx");
    assert_eq!(others.status, 404);
    assert_eq!(others.json(), nobodys.json());
    assert_eq!(none.json(), nobodys.json());
    assert!(!beta.get("/v1/receipts?limit=1000").text().contains(&id));
}

#[test]
fn receipts_a_cursor_of_another_tenant_shows_ones_own() {
    let (_, server) = shared();
    let run = |tenant: &str| {
        let run = server.client(tenant, "caller").post(
            "/v1/skills/fs.read_text/run",
            &json!({"path": "/workspace/own.txt"}),
        );
        run.header("hydrant-receipt").unwrap().to_owned()
    };
    let mine = run("beta");
    std::thread::sleep(Duration::from_millis(3));
    let theirs = run("alpha");
    let path = format!("/v1/receipts?limit=1000&cursor={theirs}");
    let listed = server.client("beta", "caller").get(&path).text();
    assert!(listed.contains(&mine));
    assert!(!listed.contains(&theirs));
}

#[test]
fn receipts_the_oldest_of_ones_own_go_first() {
    let house = House::new();
    house.tenants(&[("alpha", "receipts = 5"), ("beta", "receipts = 5")]);
    let server = house.serve();
    let run = |tenant: &str| {
        server
            .client(tenant, "caller")
            .post(
                "/v1/skills/fs.read_text/run",
                &json!({"path": "/workspace/own.txt"}),
            )
            .header("hydrant-receipt")
            .unwrap()
            .to_owned()
    };
    let kept = run("beta");
    for _ in 0..12 {
        run("alpha");
    }
    let count = |tenant: &str| {
        let listed = server.client(tenant, "caller").get("/v1/receipts").ok();
        listed["receipts"].as_array().unwrap().len()
    };
    assert!(count("alpha") <= 5);
    assert_eq!(count("beta"), 1);
    let path = format!("/v1/receipts/{kept}");
    assert_eq!(server.client("beta", "caller").get(&path).status, 200);
}

#[test]
fn audit_each_call_stands_in_its_tenants_log_alone() {
    let house = House::new();
    let server = house.serve();
    server
        .client("alpha", "caller")
        .hydrate("os://agents/own.md")
        .ok();
    let log = |tenant: &str| {
        fs::read_to_string(house.path(&format!("states/{tenant}/state/audit.jsonl")))
            .unwrap_or_default()
    };
    let lines = log("alpha");
    let line: Value = serde_json::from_str(lines.lines().last().unwrap()).unwrap();
    assert_eq!(line["context_id"], "alpha");
    assert_eq!(line["decision"], "allow");
    assert_eq!(log("beta"), "");
}

#[test]
fn audit_a_call_that_cannot_be_recorded_fails_for_its_tenant_alone() {
    let house = House::new();
    let server = house.serve();
    let log = house.path("states/alpha/state/audit.jsonl");
    let _ = fs::remove_file(&log);
    fs::create_dir(&log).unwrap();
    let refused = server
        .client("alpha", "caller")
        .hydrate("os://agents/own.md");
    assert_eq!(
        (refused.status, refused.code().as_str()),
        (500, "audit-unavailable")
    );
    assert!(!refused.text().contains("states"));
    server
        .client("beta", "caller")
        .hydrate("os://agents/own.md")
        .ok();
}

#[test]
fn state_every_folder_and_file_is_for_its_owner_alone() {
    let house = House::new();
    let server = house.serve();
    for tenant in ["alpha", "beta"] {
        pending(&server, tenant, "private");
        server
            .client(tenant, "caller")
            .post(
                "/v1/skills/fs.read_text/run",
                &json!({"path": "/workspace/own.txt"}),
            )
            .ok();
        let home = house.path(&format!("states/{tenant}"));
        let mut all = walk(&home);
        assert!(all.len() > 4, "{all:?}");
        let folders: Vec<_> = all
            .iter()
            .filter_map(|file| file.parent().map(Into::into))
            .collect();
        all.extend(folders);
        all.push(home);
        for path in all {
            let mode = fs::metadata(&path).unwrap().permissions().mode();
            assert_eq!(mode & 0o077, 0, "{}: {mode:o}", path.display());
        }
    }
}

#[test]
fn state_a_folder_that_others_may_enter_is_refused() {
    let house = House::new();
    fs::create_dir_all(house.path("states/alpha")).unwrap();
    fs::set_permissions(
        house.path("states/alpha"),
        fs::Permissions::from_mode(0o755),
    )
    .unwrap();
    let checked = house.command(&["serve", "--check"]).output().unwrap();
    let said = String::from_utf8_lossy(&checked.stderr).into_owned();
    assert!(!checked.status.success());
    assert!(said.contains("0700"), "{said}");
}

#[test]
fn state_two_tenants_cannot_have_one_home() {
    let house = House::new();
    fs::create_dir_all(house.path("states/alpha")).unwrap();
    fs::set_permissions(
        house.path("states/alpha"),
        fs::Permissions::from_mode(0o700),
    )
    .unwrap();
    std::os::unix::fs::symlink("alpha", house.path("states/beta")).unwrap();
    let checked = house.command(&["serve", "--check"]).output().unwrap();
    assert!(!checked.status.success());
}

#[test]
fn sessions_a_name_is_each_tenants_own() {
    let house = House::new().governed("[govern.budgets]\n");
    let server = house.serve();
    for tenant in ["alpha", "beta"] {
        server
            .client(tenant, "caller")
            .post("/v1/capabilities", &foreign("session"))
            .ok();
        let refused = server.client(tenant, "caller").send(
            "POST",
            "/v1/capabilities/session/look",
            &[("hydrant-session", "shared-name")],
            Some(b"{}"),
        );
        assert_eq!(refused.code(), "approval-required", "{}", refused.text());
    }
    let of = |tenant: &str| {
        server
            .client(tenant, "approver")
            .get("/v1/approvals")
            .text()
    };
    assert_ne!(of("alpha"), of("beta"));
    let wrong = server.client("alpha", "caller").send(
        "POST",
        "/v1/capabilities/session/look",
        &[("hydrant-session", "../beta")],
        Some(b"{}"),
    );
    assert_eq!(wrong.code(), "invalid-request");
}

#[test]
fn events_of_another_tenant_are_not_heard() {
    let house = House::new();
    let server = house.serve();
    let listening = server
        .client("beta", "approver")
        .begin("GET", "/v1/events", &[], None);
    listening
        .set_read_timeout(Some(Duration::from_secs(2)))
        .unwrap();
    let mut listening = listening;
    let mut seen = String::new();
    let mut chunk = [0_u8; 4096];
    while !seen.contains("retry") {
        let amount = listening.read(&mut chunk).unwrap();
        seen += &String::from_utf8_lossy(&chunk[..amount]);
    }
    pending(&server, "alpha", "unheard");
    let own = pending(&server, "beta", "heard");
    server
        .client("beta", "approver")
        .post(&format!("/v1/approvals/{own}/deny"), &json!({}))
        .ok();
    while !seen.contains("approval-decided") {
        let amount = listening.read(&mut chunk).unwrap();
        seen += &String::from_utf8_lossy(&chunk[..amount]);
    }
    assert!(!seen.contains("unheard"), "{seen}");
}

#[test]
fn ids_the_time_of_an_answer_does_not_tell_another_tenants_from_nobodys() {
    let (_, server) = shared();
    let theirs = pending(&server, "alpha", "timed");
    let beta = server.client("beta", "approver");
    let median = |id: &str| {
        let path = format!("/v1/approvals/{id}");
        let mut times: Vec<Duration> = (0..41)
            .map(|_| {
                let started = Instant::now();
                assert_eq!(beta.get(&path).status, 404);
                started.elapsed()
            })
            .collect();
        times.sort_unstable();
        times[20]
    };
    let nobodys = "ap-00000000000000000000000000000000";
    median(nobodys);
    let (one, other) = (median(&theirs), median(nobodys));
    // Each tenant has a database of its own, so there is nothing to differ by; the bound is for a busy machine.
    let (less, more) = (one.min(other), one.max(other));
    assert!(
        more < less * 4 + Duration::from_millis(5),
        "{one:?} {other:?}"
    );
}
