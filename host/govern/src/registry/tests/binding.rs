//! Bindings of secrets.

use std::time::Duration;

use crate::failure::Code;
use crate::registry::approvals::{Scope, Verdict, approve, consume, revoke};
use crate::registry::bindings::{self, Bound, bind, bound, unbind};
use crate::registry::tests::testing::{HOST, Home, KEY, Setting, checked, moltbook, post};
use crate::registry::{CapabilityStatus, Who, unload};
use crate::secrets::Place;

fn bound_now(home: &Home, name: &str, host: &str, grant: Option<&str>) -> Option<Bound> {
    let head = home.find("moltbook", "one").unwrap().skill;
    home.state
        .read(|database| bound(database, &head, name, host, grant, home.state.now()))
        .unwrap()
}

fn loaded(around: &Setting) -> (Home, String) {
    let home = Home::new();
    let answer = home.load(&moltbook(vec![post("one", "one")]), around);
    let id = answer.capabilities[0].approval_id.clone().unwrap();
    (home, id)
}

fn own() -> Bound {
    Bound {
        stored: KEY.to_owned(),
        place: Place::Skill,
    }
}

#[test]
fn a_grant_binds_the_skills_own_secret_to_its_hosts() {
    let (home, id) = loaded(&Setting::default());
    assert_eq!(bound_now(&home, KEY, HOST, None), None);
    home.approve(&id, None).unwrap();
    assert_eq!(bound_now(&home, KEY, HOST, None), Some(own()));
    // For no other host, name or skill.
    assert_eq!(bound_now(&home, KEY, "evil.example:443", None), None);
    assert_eq!(bound_now(&home, KEY, "api.moltbook.com:8443", None), None);
    assert_eq!(bound_now(&home, "OTHER", HOST, None), None);
    revoke(&home.state, &id, &Verdict::default(), &Who::default()).unwrap();
    assert_eq!(bound_now(&home, KEY, HOST, Some(&id)), None);
}

#[test]
fn a_bound_secret_is_no_reason_any_more() {
    let safe = Setting::safe();
    let (home, id) = loaded(&safe);
    let asked = home.show(&id).approval.subject.reasons;
    assert_eq!(asked, [format!("secret:{KEY}")]);
    home.approve(&id, None).unwrap();
    // Another operation with the same secret to the same host needs nobody.
    let skill = moltbook(vec![post("one", "one"), post("two", "two")]);
    let answer = home.load(&skill, &safe);
    assert_eq!(answer.capabilities[1].status, CapabilityStatus::Approved);
    assert!(home.call("two", "s-1", &safe).unwrap().by_policy);
    // The grant goes, and with it what it bound.
    revoke(&home.state, &id, &Verdict::default(), &Who::default()).unwrap();
    assert_eq!(
        home.call("two", "s-1", &safe).unwrap_err().code,
        Code::ApprovalRequired
    );
}

#[test]
fn a_once_grant_binds_for_its_call_only() {
    let safe = Setting::safe();
    let (home, id) = loaded(&safe);
    home.approve(&id, Some(Scope::Once)).unwrap();
    let permit = home.call("one", "s-1", &safe).unwrap();
    // It is an operator's grant, used up, although the secret is all that was asked for.
    assert!(permit.once);
    consume(&home.state, &permit).unwrap();
    assert_eq!(bound_now(&home, KEY, HOST, Some(&id)), Some(own()));
    assert_eq!(bound_now(&home, KEY, HOST, None), None);
    assert_eq!(
        home.call("one", "s-1", &safe).unwrap_err().code,
        Code::ApprovalRequired
    );
}

#[test]
fn a_session_or_ttl_grant_does_not_bind_for_others() {
    let safe = Setting::safe();
    let (home, id) = loaded(&safe);
    home.approve(&id, Some(Scope::Session)).unwrap();
    home.call("one", "s-1", &safe).unwrap();
    assert_eq!(
        home.call("one", "s-2", &safe).unwrap_err().code,
        Code::ApprovalRequired
    );
    let (home, id) = loaded(&safe);
    let verdict = Verdict {
        scope: Some(Scope::UntilChanged),
        ttl: Some(Duration::ZERO),
        ..Verdict::default()
    };
    approve(&home.state, &id, &verdict, &Who::default()).unwrap();
    assert_eq!(bound_now(&home, KEY, HOST, None), None);
    assert_eq!(
        home.call("one", "s-1", &safe).unwrap_err().code,
        Code::ApprovalExpired
    );
}

#[test]
fn a_bound_global_secret_counts_before_the_skills_own() {
    let (home, id) = loaded(&Setting::default());
    home.approve(&id, None).unwrap();
    home.state
        .write(|change| bind(change, "MoltBook", KEY, "SHARED", Place::Global, HOST))
        .unwrap();
    let shared = Bound {
        stored: "SHARED".to_owned(),
        place: Place::Global,
    };
    assert_eq!(bound_now(&home, KEY, HOST, None), Some(shared));
    let all = home
        .state
        .read(|database| bindings::list(database, home.state.now()))
        .unwrap();
    assert_eq!(all.len(), 2);
    assert_eq!(all[0].approval, None);
    assert_eq!(all[1].approval, Some(id));
    home.state
        .write(|change| unbind(change, "SHARED", Place::Global, None))
        .unwrap();
    assert_eq!(bound_now(&home, KEY, HOST, None), Some(own()));
}

#[test]
fn a_binding_is_for_one_source() {
    let home = Home::new();
    let around = Setting::default();
    // Bound before the skill is there: for the first source.
    home.state
        .write(|change| bind(change, "moltbook", KEY, "SHARED", Place::Global, HOST))
        .unwrap();
    home.load(&moltbook(vec![post("one", "one")]), &around);
    assert!(bound_now(&home, KEY, HOST, None).is_some());
    home.state
        .write(|change| unload(change, "moltbook", false, &Who::default()))
        .unwrap();
    let other = checked(
        "moltbook",
        "https://evil.example/skill.yaml",
        vec![post("one", "one")],
    );
    home.load(&other, &around);
    assert_eq!(bound_now(&home, KEY, HOST, None), None);
    home.state
        .write(|change| unload(change, "moltbook", false, &Who::default()))
        .unwrap();
    home.load(&moltbook(vec![post("one", "one")]), &around);
    assert!(bound_now(&home, KEY, HOST, None).is_some());
}
