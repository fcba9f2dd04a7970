//! Whether a call may run.

use std::time::Duration;

use crate::failure::Code;
use crate::registry::Who;
use crate::registry::approvals::{
    self, Permit, Scope, Status, Verdict, consume, deny, end_session, expire, permit, revoke,
};
use crate::registry::tests::testing::{
    Home, Setting, get, moltbook, post, python, session_of, unknown_tool,
};

fn loaded(operation: serde_json::Value, around: &Setting) -> (Home, String) {
    let home = Home::new();
    let answer = home.load(&moltbook(vec![operation]), around);
    let id = answer.capabilities[0].approval_id.clone().unwrap();
    (home, id)
}

fn verdict(scope: Scope, ttl: Option<Duration>) -> Verdict {
    Verdict {
        by: "ada".to_owned(),
        scope: Some(scope),
        ttl,
        ..Verdict::default()
    }
}

#[test]
fn a_pending_request_denies_and_is_named() {
    let around = Setting::default();
    let (home, id) = loaded(get("one"), &around);
    let before = home.head();
    let failure = home.call("one", "s-1", &around).unwrap_err();
    assert_eq!(failure.code, Code::ApprovalRequired);
    assert_eq!(failure.approval_id.as_deref(), Some(id.as_str()));
    // Asking again opens nothing.
    assert_eq!(home.head(), before);
}

#[test]
fn a_grant_permits_until_it_is_revoked() {
    let around = Setting::default();
    let (home, id) = loaded(get("one"), &around);
    home.approve(&id, None).unwrap();
    let expected = Permit {
        approval: Some(id.clone()),
        by_policy: false,
        once: false,
    };
    assert_eq!(home.call("one", "s-1", &around).unwrap(), expected);
    assert_eq!(home.call("one", "s-2", &around).unwrap(), expected);
    revoke(&home.state, &id, &Verdict::default(), &Who::default()).unwrap();
    let failure = home.call("one", "s-1", &around).unwrap_err();
    assert_eq!(failure.code, Code::ApprovalRevoked);
}

#[test]
fn a_denied_request_stays_decided() {
    let around = Setting::default();
    let (home, id) = loaded(get("one"), &around);
    deny(&home.state, &id, &Verdict::default(), &Who::default()).unwrap();
    let before = home.head();
    for session in ["s-1", "s-2"] {
        let failure = home.call("one", session, &around).unwrap_err();
        assert_eq!(failure.code, Code::ApprovalDenied);
    }
    assert_eq!(home.head(), before);
    // A reload of the same text opens nothing, either.
    let again = home.load(&moltbook(vec![get("one")]), &around);
    assert_eq!(again.pending_approvals, 0);
    assert_eq!(
        home.call("one", "s-1", &around).unwrap_err().code,
        Code::ApprovalDenied
    );
}

#[test]
fn an_agent_may_ask_once_more_after_a_denial() {
    let around = Setting::default();
    let (home, first) = loaded(get("one"), &around);
    let ask = || {
        let who = session_of("s-1");
        approvals::request(
            &home.state,
            "moltbook.one",
            Some("please\u{1b}[2J"),
            &who,
            &around,
        )
        .unwrap()
    };
    // While it is pending, it is the answer.
    assert_eq!(ask().approval_id.as_deref(), Some(first.as_str()));
    deny(&home.state, &first, &Verdict::default(), &Who::default()).unwrap();
    let second = ask();
    assert_eq!(second.status, Status::Pending);
    let second = second.approval_id.unwrap();
    assert_ne!(second, first);
    assert_eq!(ask().approval_id.as_deref(), Some(second.as_str()));
    let shown = home.show(&second).approval;
    assert_eq!(shown.subject.asked.as_deref(), Some("please [2J"));
    assert_eq!(
        home.call("one", "s-1", &around).unwrap_err().code,
        Code::ApprovalRequired
    );
}

#[test]
fn asking_never_grants() {
    let around = Setting::default();
    let (home, id) = loaded(get("one"), &around);
    home.approve(&id, None).unwrap();
    revoke(&home.state, &id, &Verdict::default(), &Who::default()).unwrap();
    let asked = approvals::request(
        &home.state,
        "moltbook.one",
        None,
        &session_of("s-1"),
        &around,
    )
    .unwrap();
    assert_eq!(asked.status, Status::Pending);
    assert_ne!(asked.approval_id.unwrap(), id);
    assert_eq!(
        home.call("one", "s-1", &around).unwrap_err().code,
        Code::ApprovalRequired
    );
}

#[test]
fn a_once_grant_is_for_one_call() {
    let around = Setting::default();
    let (home, id) = loaded(get("one"), &around);
    home.approve(&id, Some(Scope::Once)).unwrap();
    let permit = home.call("one", "s-1", &around).unwrap();
    assert!(permit.once);
    // Two calls were permitted before either used it: one gets it.
    let rival = home.call("one", "s-2", &around).unwrap();
    consume(&home.state, &permit).unwrap();
    assert_eq!(
        consume(&home.state, &rival).unwrap_err().code,
        Code::ApprovalRequired
    );
    assert_eq!(home.show(&id).approval.status, Status::Consumed);
    let failure = home.call("one", "s-1", &around).unwrap_err();
    assert_eq!(failure.code, Code::ApprovalRequired);
    let next = failure.approval_id.unwrap();
    assert_ne!(next.as_ref(), id);
    assert_eq!(home.show(&next).approval.subject.previous, Some(id));
}

#[test]
fn a_grant_that_was_revoked_after_the_decision_permits_nothing() {
    let around = Setting::default();
    for scope in [Scope::Once, Scope::UntilChanged] {
        let (home, id) = loaded(get("one"), &around);
        home.approve(&id, Some(scope)).unwrap();
        let permit = home.call("one", "s-1", &around).unwrap();
        revoke(&home.state, &id, &Verdict::default(), &Who::default()).unwrap();
        let failure = consume(&home.state, &permit).unwrap_err();
        assert_eq!(failure.code, Code::ApprovalRequired);
    }
}

#[test]
fn a_session_grant_is_for_one_session() {
    let around = Setting::default();
    let (home, id) = loaded(get("one"), &around);
    home.approve(&id, Some(Scope::Session)).unwrap();
    // No session opened the request, so the first that uses the grant has it.
    home.call("one", "s-1", &around).unwrap();
    home.call("one", "s-1", &around).unwrap();
    let failure = home.call("one", "s-2", &around).unwrap_err();
    assert_eq!(failure.code, Code::ApprovalRequired);
    let second = failure.approval_id.unwrap();
    assert_ne!(second.as_ref(), id);
    // That request is of session s-2, and so is its grant.
    home.approve(&second, Some(Scope::Session)).unwrap();
    assert_eq!(
        home.call("one", "s-3", &around).unwrap_err().code,
        Code::ApprovalRequired
    );
    home.call("one", "s-2", &around).unwrap();
    home.call("one", "s-1", &around).unwrap();
    end_session(&home.state, "s-1", &Who::default()).unwrap();
    assert_eq!(home.show(&id).approval.status, Status::Expired);
    assert!(home.call("one", "s-1", &around).is_err());
    home.call("one", "s-2", &around).unwrap();
}

#[test]
fn a_grant_ends_with_its_ttl() {
    let around = Setting::default();
    for scope in [Scope::Once, Scope::Session, Scope::UntilChanged] {
        let (home, id) = loaded(get("one"), &around);
        let short = verdict(scope, Some(Duration::ZERO));
        approvals::approve(&home.state, &id, &short, &Who::default()).unwrap();
        let before = home.head();
        let failure = home.call("one", "s-1", &around).unwrap_err();
        assert_eq!(failure.code, Code::ApprovalExpired);
        assert_eq!(home.show(&id).approval.status, Status::Expired);
        assert_ne!(failure.approval_id.as_deref(), Some(id.as_str()));
        assert_eq!(
            home.events(before),
            ["approval-expired", "approval-requested"]
        );
        // Now a new request is pending.
        assert_eq!(
            home.call("one", "s-1", &around).unwrap_err().code,
            Code::ApprovalRequired
        );
    }
}

#[test]
fn a_request_expires() {
    let hasty = Setting::hasty();
    let (home, id) = loaded_hasty(&hasty);
    let failure = home.approve(&id, None).unwrap_err();
    assert_eq!(failure.code, Code::ApprovalExpired);
    assert_eq!(home.show(&id).approval.status, Status::Expired);
    // What was written although the answer was a failure stays.
    assert_eq!(home.events(0).last().unwrap(), "approval-expired");
    let failure = home.call("one", "s-1", &Setting::default()).unwrap_err();
    assert_eq!(failure.code, Code::ApprovalExpired);
    home.approve(&failure.approval_id.unwrap(), None).unwrap();
    home.call("one", "s-1", &Setting::default()).unwrap();
}

fn loaded_hasty(hasty: &Setting) -> (Home, String) {
    let home = Home::new();
    home.load(&moltbook(vec![get("one")]), hasty);
    let all = home
        .state
        .read(|database| approvals::list(database, None, home.state.now()))
        .unwrap();
    (home, all[0].id.clone())
}

#[test]
fn expiry_is_written_down_once() {
    let hasty = Setting::hasty();
    let (home, id) = loaded_hasty(&hasty);
    // Listed as it is, also before anybody wrote it down.
    let listed = home
        .state
        .read(|database| approvals::list(database, Some(Status::Expired), home.state.now()))
        .unwrap();
    assert_eq!(listed.len(), 1);
    let over = expire(&home.state).unwrap();
    assert_eq!(over.len(), 1);
    assert_eq!(over[0].id, id);
    assert!(expire(&home.state).unwrap().is_empty());
    let expired = |event: &&String| event.as_str() == "approval-expired";
    assert_eq!(home.events(0).iter().filter(expired).count(), 1);
}

#[test]
fn what_needs_no_approval_is_granted_by_policy() {
    let home = Home::new();
    let safe = Setting::safe();
    let answer = home.load(&moltbook(vec![get("one")]), &safe);
    assert_eq!(answer.pending_approvals, 0);
    let row = &answer.capabilities[0];
    assert!(!row.requires_approval);
    let shown = home.show(row.approval_id.as_ref().unwrap()).approval;
    assert_eq!(shown.by.as_deref(), Some("policy"));
    assert_eq!(home.events(0).last().unwrap(), "approval-granted");
    let permit = home.call("one", "s-1", &safe).unwrap();
    assert!(permit.by_policy);
    // Evaluated again at every call: the host is not safe any more.
    let strict = Setting::default();
    let failure = home.call("one", "s-1", &strict).unwrap_err();
    assert_eq!(failure.code, Code::ApprovalRequired);
    // And safe again.
    assert!(home.call("one", "s-1", &safe).is_ok());
}

#[test]
fn an_operators_refusal_counts_more_than_policy() {
    let home = Home::new();
    let safe = Setting::safe();
    let answer = home.load(&moltbook(vec![get("one")]), &safe);
    let id = answer.capabilities[0].approval_id.clone().unwrap();
    revoke(&home.state, &id, &Verdict::default(), &Who::default()).unwrap();
    assert_eq!(
        home.call("one", "s-1", &safe).unwrap_err().code,
        Code::ApprovalRevoked
    );
    home.load(&moltbook(vec![get("one")]), &safe);
    assert_eq!(
        home.call("one", "s-1", &safe).unwrap_err().code,
        Code::ApprovalRevoked
    );
}

#[test]
fn policy_never_grants_a_sandbox() {
    let home = Home::new();
    let safe = Setting::safe();
    for operation in [python("one", "print(1)"), unknown_tool("one", "ffmpeg")] {
        let answer = home.load(&moltbook(vec![operation]), &safe);
        assert_eq!(answer.pending_approvals, 1);
        assert_eq!(
            home.call("one", "s-1", &safe).unwrap_err().code,
            Code::ApprovalRequired
        );
    }
}

#[test]
fn a_decision_about_an_outdated_operation_opens_nothing() {
    let around = Setting::default();
    let (home, id) = loaded(get("one"), &around);
    home.approve(&id, None).unwrap();
    let stale = home.find("moltbook", "one").unwrap();
    home.load(&moltbook(vec![post("one", "other")]), &around);
    let before = home.head();
    let failure = permit(&home.state, &stale, &session_of("s-1"), &around).unwrap_err();
    assert_eq!(failure.code, Code::ApprovalRequired);
    assert_eq!(home.head(), before);
    let pending = failure.approval_id.unwrap();
    assert_ne!(pending.as_ref(), id);
    // Removed meanwhile.
    home.load(&moltbook(vec![get("two")]), &around);
    let failure = permit(&home.state, &stale, &session_of("s-1"), &around).unwrap_err();
    assert_eq!(failure.code, Code::CapabilityRemoved);
}

#[test]
fn an_unknown_state_denies() {
    let around = Setting::default();
    let (home, id) = loaded(get("one"), &around);
    home.approve(&id, None).unwrap();
    let database = home.folder.path().join("state/govern.sqlite");
    let outside = rusqlite::Connection::open(database).unwrap();
    outside
        .execute_batch(
            "DROP TRIGGER approvals_transition; UPDATE approvals SET status = 'blessed';",
        )
        .unwrap();
    drop(outside);
    let failure = home.call("one", "s-1", &around).unwrap_err();
    assert_eq!(failure.code, Code::ApprovalStore);
}

#[test]
fn a_broken_store_denies() {
    let around = Setting::default();
    let (home, id) = loaded(get("one"), &around);
    home.approve(&id, None).unwrap();
    let found = home.find("moltbook", "one").unwrap();
    let database = home.folder.path().join("state/govern.sqlite");
    let outside = rusqlite::Connection::open(database).unwrap();
    outside
        .execute_batch("PRAGMA foreign_keys = OFF; ALTER TABLE approvals RENAME TO approvals_gone;")
        .unwrap();
    drop(outside);
    let failure = permit(&home.state, &found, &session_of("s-1"), &around).unwrap_err();
    assert_eq!(failure.code, Code::ApprovalStore);
}

#[test]
fn the_database_refuses_other_transitions() {
    let around = Setting::default();
    let (home, id) = loaded(get("one"), &around);
    deny(&home.state, &id, &Verdict::default(), &Who::default()).unwrap();
    for forbidden in [
        "UPDATE approvals SET status = 'approved'",
        "UPDATE approvals SET status = 'pending'",
        "UPDATE approvals SET op_digest = 'sha256:0'",
        "UPDATE approvals SET body = '{}'",
        "DELETE FROM approvals",
    ] {
        let outcome = home.state.write(|change| {
            change
                .database
                .execute(forbidden, [])
                .map_err(crate::registry::store)
        });
        assert!(outcome.is_err(), "{forbidden}");
    }
}
