//! What an operator decides.

use serde_json::json;

use crate::failure::Code;
use crate::registry::Who;
use crate::registry::approvals::{self, Scope, Status, Verdict, approve, deny, revoke};
use crate::registry::tests::testing::{
    HOST, Home, Setting, get, moltbook, post, python, unknown_tool,
};

fn pending(home: &Home, operation: serde_json::Value) -> String {
    let answer = home.load(&moltbook(vec![operation]), &Setting::default());
    answer.capabilities[0].approval_id.clone().unwrap()
}

#[test]
fn what_changed_since_the_request_is_stale() {
    let home = Home::new();
    let id = pending(&home, get("one"));
    // The load supersedes the request itself; a request that slipped through is found by the digests.
    let database = home.folder.path().join("state/govern.sqlite");
    let outside = rusqlite::Connection::open(database).unwrap();
    outside
        .execute("UPDATE operations SET policy_digest = 'sha256:1'", [])
        .unwrap();
    let before = home.head();
    let failure = home.approve(&id, None).unwrap_err();
    assert_eq!(failure.code, Code::ApprovalStale);
    assert_eq!(home.show(&id).approval.status, Status::Superseded);
    assert_eq!(home.events(before), ["approval-superseded"]);
    assert_eq!(
        home.approve(&id, None).unwrap_err().code,
        Code::ApprovalStale
    );
}

#[test]
fn what_is_gone_is_stale() {
    let home = Home::new();
    let id = pending(&home, get("one"));
    home.load(&moltbook(vec![get("two")]), &Setting::default());
    assert_eq!(
        home.approve(&id, None).unwrap_err().code,
        Code::ApprovalStale
    );
}

#[test]
fn tier_3_needs_a_scope() {
    let home = Home::new();
    let id = pending(&home, unknown_tool("convert", "ffmpeg"));
    let shown = home.show(&id).approval;
    assert_eq!(
        shown.subject.warning.as_deref(),
        Some("Unknown tool requires full sandbox")
    );
    let failure = home.approve(&id, None).unwrap_err();
    assert_eq!(failure.code, Code::InvalidRequest);
    assert!(
        failure
            .message
            .contains("Unknown tool requires full sandbox")
    );
    assert_eq!(home.show(&id).approval.status, Status::Pending);
    home.approve(&id, Some(Scope::UntilChanged)).unwrap();
}

#[test]
fn terminal_states_stay() {
    let home = Home::new();
    let around = Setting::default();
    let answer = home.load(&moltbook(vec![get("one"), get("two")]), &around);
    let id = |index: usize| answer.capabilities[index].approval_id.clone().unwrap();
    let decide = |what: &str, id: &str| {
        let (verdict, who) = (Verdict::default(), Who::default());
        match what {
            "approve" => approve(&home.state, id, &verdict, &who),
            "deny" => deny(&home.state, id, &verdict, &who),
            _ => revoke(&home.state, id, &verdict, &who),
        }
    };
    let (denied, revoked) = (id(0), id(1));
    assert_eq!(
        decide("revoke", &denied).unwrap_err().code,
        Code::InvalidRequest
    );
    decide("deny", &denied).unwrap();
    decide("approve", &revoked).unwrap();
    assert_eq!(
        decide("approve", &revoked).unwrap_err().code,
        Code::InvalidRequest
    );
    decide("revoke", &revoked).unwrap();
    let before = home.head();
    for (id, status) in [(denied, Status::Denied), (revoked, Status::Revoked)] {
        for what in ["approve", "deny", "revoke"] {
            assert_eq!(decide(what, &id).unwrap_err().code, Code::InvalidRequest);
        }
        assert_eq!(home.show(&id).approval.status, status);
    }
    assert_eq!(home.head(), before);
    assert_eq!(
        decide("approve", "ap-00").unwrap_err().code,
        Code::UnknownApproval
    );
}

#[test]
fn the_request_holds_the_whole_subject() {
    let home = Home::new();
    let id = pending(&home, python("run", "print(1)"));
    let shown = serde_json::to_value(home.show(&id)).unwrap();
    assert_eq!(shown["id"], id.as_str());
    assert_eq!(id.len(), 35);
    assert_eq!(shown["kind"], "capability");
    assert_eq!(shown["capability"], "moltbook.run");
    assert_eq!(shown["skill-id"], "moltbook");
    assert_eq!(shown["tier"], 2);
    assert_eq!(shown["reasons"], json!(["sandbox:python"]));
    assert_eq!(shown["script"], "print(1)");
    assert_eq!(shown["policy"]["network"]["egress"], json!([HOST]));
    assert_eq!(shown["manifest"]["id"], "moltbook.run");
    assert_eq!(shown["status"], "pending");
    for digest in ["skill-digest", "op-digest", "policy-digest"] {
        assert!(shown[digest].as_str().unwrap().starts_with("sha256:"));
    }
    assert!(shown["requested-at"].as_str().unwrap().ends_with('Z'));
    assert!(shown["expires-at"].as_str() > shown["requested-at"].as_str());
    assert_eq!(
        shown["derivation"],
        json!([format!("egress {HOST}: line 37"), "cpu-seconds 60: default"])
    );
    assert_eq!(shown["difference"], json!([]));
}

#[test]
fn a_changed_operation_is_shown_with_its_difference() {
    let home = Home::new();
    let around = Setting::default();
    let first = pending(&home, post("one", "search"));
    home.approve(&first, None).unwrap();
    let second = home.load(&moltbook(vec![post("one", "delete")]), &around);
    let id = second.capabilities[0].approval_id.clone().unwrap();
    let shown = home.show(&id);
    assert_eq!(shown.approval.subject.previous, Some(first));
    let paths: Vec<&str> = shown.difference.iter().map(|it| it.path.as_str()).collect();
    assert!(paths.contains(&"op-digest"));
    assert!(!paths.contains(&"hosts"));
    let url = shown
        .difference
        .iter()
        .find(|it| it.path == "manifest.implementation.transform.url")
        .unwrap();
    assert_eq!(
        url.before,
        Some(json!("https://api.moltbook.com/v1/search"))
    );
    assert_eq!(url.after, Some(json!("https://api.moltbook.com/v1/delete")));
}

#[test]
fn a_decision_names_who_and_why() {
    let home = Home::new();
    let id = pending(&home, get("one"));
    let verdict = Verdict {
        by: "ada".to_owned(),
        reason: Some("needed\nfor the demo".to_owned()),
        ..Verdict::default()
    };
    approve(&home.state, &id, &verdict, &Who::default()).unwrap();
    let shown = home.show(&id).approval;
    assert_eq!(shown.by.as_deref(), Some("ada"));
    assert_eq!(shown.reason.as_deref(), Some("needed for the demo"));
    assert_eq!(shown.scope, Some(Scope::UntilChanged));
    assert!(shown.decided_at.is_some());
    let record = home.records().pop().unwrap();
    assert_eq!(record["event"], "approval-granted");
    assert_eq!(record["approval"], id.as_str());
    assert_eq!(record["capability"], "moltbook.one");
    // Nobody can decide in the name of policy.
    let other = home.load(&moltbook(vec![get("one"), get("two")]), &Setting::default());
    let id = other.capabilities[1].approval_id.clone().unwrap();
    let forged = Verdict {
        by: approvals::POLICY.to_owned(),
        ..Verdict::default()
    };
    assert!(approve(&home.state, &id, &forged, &Who::default()).is_err());
}

#[test]
fn a_transition_whose_event_cannot_be_written_does_not_happen() {
    let home = Home::new();
    let id = pending(&home, get("one"));
    let head = home.folder.path().join("state/chain/HEAD");
    let whole = std::fs::read(&head).unwrap();
    std::fs::write(&head, b"{}").unwrap();
    let failure = home.approve(&id, None).unwrap_err();
    assert_eq!(failure.code, Code::AuditUnavailable);
    std::fs::write(&head, whole).unwrap();
    let home = home.reopen();
    assert_eq!(home.show(&id).approval.status, Status::Pending);
    home.approve(&id, None).unwrap();
}
