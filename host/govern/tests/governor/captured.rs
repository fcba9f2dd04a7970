//! Values follow the requests that they came with, whatever happens in between.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::time::{Duration, Instant};

use hydrant_govern::failure::Code;
use hydrant_govern::governor::Approve;
use serde_json::{Value, json};

use crate::house::{API, House, operator};

const KEY: &str = "k-99887766";

fn document() -> String {
    format!(
        "name: one\noperations:\n- name: register\n  method: POST\n  endpoint: {API}/register\n  returns_secret: [/key]\n\
         - name: search\n  endpoint: {API}/search\n  auth: {{type: bearer, env_var: ONE_KEY}}\n"
    )
}

/// A key was captured; its request.
fn captured() -> (House, String) {
    let house = House::new();
    house.load(&document());
    house.approve_all();
    house.servers_say(json!({"key": KEY, "ok": true}));
    let result = house.execute("one", "register", json!({})).unwrap();
    assert_eq!(
        result["output"]["json"]["key"],
        json!({"secret-ref": "secret:ONE_KEY"})
    );
    let id = waiting(&house).pop().unwrap();
    (house, id)
}

/// The requests about secrets that are pending.
fn waiting(house: &House) -> Vec<String> {
    let pending = house.pending();
    let secrets = pending.iter().filter(|one| one["kind"] == "secret-write");
    secrets
        .map(|one| one["id"].as_str().unwrap().to_owned())
        .collect()
}

fn approve(house: &House, id: &str, ttl: Option<Duration>) -> Value {
    let approve = Approve {
        ttl,
        ..Approve::default()
    };
    house.governor.approve(&operator(), id, approve).unwrap()
}

fn stored(house: &House) -> String {
    fs::read_to_string(house.state().join("secrets.toml")).unwrap()
}

#[test]
fn the_newer_of_two_values_waits_once_it_is_kept() {
    let (house, first) = captured();
    house.servers_say(json!({"key": "k-second-00"}));
    house.execute("one", "register", json!({})).unwrap();
    let waiting = waiting(&house);
    assert_eq!(waiting.len(), 1);
    assert_ne!(waiting[0], first);
    assert!(!stored(&house).contains(KEY));
    // What cannot be kept replaces nothing, and asks nothing.
    fs::create_dir(house.state().join("secrets.toml.new")).unwrap();
    house.servers_say(json!({"key": "k-third-000"}));
    assert_eq!(
        house.code("one", "register", json!({})),
        Code::StoreUnavailable
    );
    assert_eq!(self::waiting(&house), waiting);
    fs::remove_dir(house.state().join("secrets.toml.new")).unwrap();
    let shown = house.governor.approval(&waiting[0]).unwrap();
    assert_eq!(shown["details"], Value::Null);
    approve(&house, &waiting[0], None);
    house.execute("one", "register", json!({})).unwrap();
    let shown = house.governor.approval(&self::waiting(&house)[0]).unwrap();
    assert_eq!(shown["details"]["replaces"], "the value that is in use");
    house.execute("one", "search", json!({})).unwrap();
    let sent = house.sent().pop().unwrap();
    assert!(
        sent.headers
            .iter()
            .any(|(_, value)| value.0 == b"Bearer k-second-00")
    );
}

#[test]
fn the_time_of_a_grant_ends_also_when_its_skill_was_away() {
    let (house, id) = captured();
    let ttl = Duration::from_secs(3);
    let granted = Instant::now();
    approve(&house, &id, Some(ttl));
    house.execute("one", "search", json!({})).unwrap();
    house.governor.unload(&operator(), "one", true).unwrap();
    house.load(&document());
    std::thread::sleep((ttl + Duration::from_millis(100)).saturating_sub(granted.elapsed()));
    assert_eq!(house.code("one", "search", json!({})), Code::SecretMissing);
    assert!(!stored(&house).contains(KEY));
}

#[test]
fn a_grant_can_be_taken_back_after_its_skill_is_gone() {
    let (house, id) = captured();
    approve(&house, &id, None);
    house.governor.unload(&operator(), "one", false).unwrap();
    assert!(stored(&house).contains(KEY));
    house.governor.revoke(&operator(), &id, None).unwrap();
    assert!(!stored(&house).contains(KEY));
}

#[test]
fn a_value_whose_request_is_not_known_is_neither_used_nor_erased() {
    let (house, id) = captured();
    approve(&house, &id, None);
    let known = stored(&house);
    let path = house.state().join("secrets.toml");
    fs::write(
        &path,
        known.replace(&id, "ap-00000000000000000000000000000000"),
    )
    .unwrap();
    assert_eq!(house.code("one", "search", json!({})), Code::SecretMissing);
    let listed = house.governor.list_secrets().unwrap();
    assert_eq!(listed["secrets"][0]["usable"], false);
    assert!(stored(&house).contains(KEY));
    // The right one is there again.
    fs::write(&path, known).unwrap();
    house.execute("one", "search", json!({})).unwrap();
}

#[test]
fn a_grant_counts_although_the_store_could_not_be_written() {
    let (house, id) = captured();
    let obstacle = house.state().join("secrets.toml.new");
    fs::create_dir(&obstacle).unwrap();
    assert_eq!(approve(&house, &id, None)["status"], "approved");
    assert_eq!(
        house.code("one", "search", json!({})),
        Code::StoreUnavailable
    );
    fs::remove_dir(&obstacle).unwrap();
    house.execute("one", "search", json!({})).unwrap();
    // Taken back it does not count either.
    fs::create_dir(&obstacle).unwrap();
    house.governor.revoke(&operator(), &id, None).unwrap();
    let sent = house.sent().len();
    house.execute("one", "search", json!({})).unwrap_err();
    assert_eq!(house.sent().len(), sent);
    fs::remove_dir(&obstacle).unwrap();
    assert_eq!(house.code("one", "search", json!({})), Code::SecretMissing);
    assert!(!stored(&house).contains(KEY));
}

#[test]
fn a_store_that_serves_nothing_keeps_nobody_from_the_rest() {
    let (house, id) = captured();
    let path = house.state().join("secrets.toml");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    house.load(&document().replace("name: one", "name: two"));
    assert_eq!(
        house.governor.list(&operator(), None).unwrap()["skills"]
            .as_array()
            .unwrap()
            .len(),
        2
    );
    house.governor.deny(&operator(), &id, None).unwrap();
    house.governor.approvals(None).unwrap();
    // What comes back once could not be kept: it is not sent for.
    let sent = house.sent().len();
    assert_eq!(
        house.code("one", "register", json!({})),
        Code::SecretStorePermissions
    );
    assert_eq!(house.sent().len(), sent);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    house.governor.list_secrets().unwrap();
    assert!(!stored(&house).contains(KEY));
}
