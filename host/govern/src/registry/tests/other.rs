//! Approvals of other kinds, budgets of sessions, memory.

use serde_json::json;

use crate::failure::Code;
use crate::registry::approvals::{
    Answer, Kind, OVER, Scope, SecretWrite, Status, Verdict, approve, ask_budget, ask_human,
    ask_secret_write, deny, end_session, expire, permit_source_host, revoke, secret_writes,
    supersede_earlier,
};
use crate::registry::tests::testing::{Home, Setting, get, moltbook, session_of};
use crate::registry::{Who, memory, session, store, unload};

const PAIR: &str = "skills.example:443";

fn source(home: &Home, around: &Setting) -> Result<(), crate::failure::Failure> {
    permit_source_host(&home.state, PAIR, &session_of("s-1"), around)
}

#[test]
fn a_source_host_needs_a_live_grant() {
    let home = Home::new();
    let around = Setting::default();
    let failure = source(&home, &around).unwrap_err();
    assert_eq!(failure.code, Code::HostApprovalRequired);
    let id = failure.approval_id.unwrap();
    assert_eq!(
        source(&home, &around).unwrap_err().approval_id.as_ref(),
        Some(&id)
    );
    let shown = home.show(&id).approval;
    assert_eq!(shown.kind, Kind::SourceHost);
    assert_eq!(shown.subject.hosts, [PAIR]);
    home.approve(&id, None).unwrap();
    source(&home, &around).unwrap();
    // Host and port.
    let other = permit_source_host(
        &home.state,
        "skills.example:8443",
        &session_of("s-1"),
        &around,
    );
    assert_eq!(other.unwrap_err().code, Code::HostApprovalRequired);
    revoke(&home.state, &id, &Verdict::default(), &Who::default()).unwrap();
    let failure = source(&home, &around).unwrap_err();
    assert_eq!(failure.code, Code::HostApprovalRequired);
    assert_eq!(failure.approval_id.as_ref(), Some(&id));
}

#[test]
fn a_once_grant_of_a_source_is_for_one_load() {
    let home = Home::new();
    let around = Setting::default();
    let id = source(&home, &around).unwrap_err().approval_id.unwrap();
    home.approve(&id, Some(Scope::Once)).unwrap();
    source(&home, &around).unwrap();
    assert_eq!(home.show(&id).approval.status, Status::Consumed);
    let failure = source(&home, &around).unwrap_err();
    assert_ne!(failure.approval_id.unwrap(), id);
}

#[test]
fn a_denied_source_stays_denied() {
    let home = Home::new();
    let around = Setting::default();
    let id = source(&home, &around).unwrap_err().approval_id.unwrap();
    deny(&home.state, &id, &Verdict::default(), &Who::default()).unwrap();
    let before = home.head();
    let failure = source(&home, &around).unwrap_err();
    assert_eq!(failure.code, Code::HostApprovalRequired);
    assert_eq!(failure.approval_id, Some(id));
    assert_eq!(home.head(), before);
}

#[test]
fn a_granted_budget_extends_its_session() {
    let home = Home::new();
    let around = Setting::default();
    let who = session_of("s-1");
    let ask = || ask_budget(&home.state, "s-1", "network-bytes", 1000, &who, &around).unwrap();
    let extensions = |session: &str| {
        home.state
            .read(|database| session::extensions(database, session))
            .unwrap()
    };
    let first = ask();
    assert_eq!(ask().id, first.id);
    assert!(extensions("s-1").is_empty());
    home.approve(&first.id, None).unwrap();
    assert_eq!(
        home.events(0).last().map(String::as_str),
        Some("budget-extended")
    );
    assert_eq!(extensions("s-1")["network-bytes"], 1000);
    assert!(extensions("s-2").is_empty());
    let second = ask();
    home.approve(&second.id, None).unwrap();
    assert_eq!(extensions("s-1")["network-bytes"], 2000);
    let third = ask();
    deny(&home.state, &third.id, &Verdict::default(), &who).unwrap();
    assert_eq!(ask().status, Status::Denied);
    end_session(&home.state, "s-1", &who).unwrap();
    assert!(extensions("s-1").is_empty());
}

#[test]
fn budgets_of_open_sessions_survive() {
    let home = Home::new();
    let used = json!({"steps": 3});
    home.state
        .write(|change| session::keep_budget(change, "s-1", &used))
        .unwrap();
    let home = home.reopen();
    let budget = |id: &str| {
        home.state
            .read(|database| session::budget::<serde_json::Value>(database, id))
            .unwrap()
    };
    assert_eq!(budget("s-1"), Some(used));
    assert_eq!(budget("s-2"), None);
    end_session(&home.state, "s-1", &Who::default()).unwrap();
    assert_eq!(budget("s-1"), None);
}

#[test]
fn a_captured_secret_waits_for_its_grant() {
    let home = Home::new();
    let around = Setting::default();
    home.load(&moltbook(vec![get("one")]), &around);
    let head = home.find("moltbook", "one").unwrap().skill;
    let state_of = |id: &str| {
        home.state
            .read(|database| secret_writes(database, &[id], home.state.now()))
            .unwrap()
            .pop()
            .unwrap()
            .1
    };
    let who = Who::default();
    let ask = |around: &Setting| {
        home.state
            .write(|change| ask_secret_write(change, &head, "MOLTBOOK_TOKEN", false, &who, around))
            .unwrap()
    };
    assert_eq!(state_of("ap-0"), SecretWrite::Unknown);
    let first = ask(&around);
    assert_eq!(state_of(&first.id), SecretWrite::Waiting);
    home.approve(&first.id, None).unwrap();
    assert_eq!(state_of(&first.id), SecretWrite::Granted);
    // A new value is a new decision, and takes nothing from the one in use; of two that wait the newer counts, once it is kept.
    let undecided = ask(&around);
    let second = ask(&around);
    assert_eq!(state_of(&undecided.id), SecretWrite::Waiting);
    home.state
        .write(|change| supersede_earlier(change, &second.id, &who))
        .unwrap();
    assert_eq!(state_of(&first.id), SecretWrite::Granted);
    assert_eq!(state_of(&second.id), SecretWrite::Waiting);
    assert_eq!(state_of(&undecided.id), SecretWrite::Ended);
    let superseded = home.show(&undecided.id).approval;
    assert_eq!(superseded.status, Status::Superseded);
    let ids = [second.id.as_str(), "ap-0", &first.id];
    let in_order = home
        .state
        .read(|database| secret_writes(database, &ids, home.state.now()))
        .unwrap();
    assert_eq!(
        in_order,
        [
            ("ap-0".to_owned(), SecretWrite::Unknown),
            (first.id.clone(), SecretWrite::Granted),
            (second.id.clone(), SecretWrite::Waiting),
        ]
    );
    deny(&home.state, &second.id, &Verdict::default(), &who).unwrap();
    assert_eq!(state_of(&second.id), SecretWrite::Ended);
    // Nobody decided: whoever sweeps learns that the value has to go.
    let hasty = ask(&Setting::hasty());
    assert_eq!(state_of(&hasty.id), SecretWrite::Ended);
    let over = expire(&home.state).unwrap();
    assert_eq!(over.len(), 1);
    assert_eq!(over[0].kind, Kind::SecretWrite);
    assert_eq!(over[0].subject.secrets, ["MOLTBOOK_TOKEN"]);
}

#[test]
fn a_secret_is_granted_until_it_is_taken_back_or_its_time_is_over() {
    let home = Home::new();
    let around = Setting::default();
    home.load(&moltbook(vec![get("one")]), &around);
    let head = home.find("moltbook", "one").unwrap().skill;
    let asked = home
        .state
        .write(|change| ask_secret_write(change, &head, "KEY", true, &Who::default(), &around))
        .unwrap();
    for scope in [Scope::Once, Scope::Session] {
        let failure = home.approve(&asked.id, Some(scope)).unwrap_err();
        assert_eq!(failure.code, Code::InvalidRequest);
    }
    home.approve(&asked.id, Some(Scope::UntilChanged)).unwrap();
    // Secrets stay, and so does what takes them back.
    home.state
        .write(|change| unload(change, "moltbook", true, &Who::default()))
        .unwrap();
    assert_eq!(home.show(&asked.id).approval.status, Status::Approved);
    let who = Who::default();
    let revoked = revoke(&home.state, &asked.id, &Verdict::default(), &who).unwrap();
    assert_eq!(revoked.status, Status::Revoked);
}

#[test]
fn what_is_over_is_found_by_its_time() {
    let home = Home::new();
    let plan: String = home
        .state
        .read(|database| {
            let explain =
                format!("EXPLAIN QUERY PLAN SELECT id FROM approvals WHERE {OVER} ORDER BY number");
            let mut query = database.prepare(&explain).map_err(store)?;
            let rows = query
                .query_map([0, 0, 0], |row| row.get(3))
                .map_err(store)?;
            Ok(rows.map(Result::unwrap).collect::<Vec<String>>().join("; "))
        })
        .unwrap();
    assert!(
        plan.contains("approvals_expires (status=? AND expires_at<?)"),
        "{plan}"
    );
    assert!(
        plan.contains("approvals_valid (status=? AND valid_until"),
        "{plan}"
    );
}

#[test]
fn a_human_action_takes_the_answer_it_asks_for() {
    let home = Home::new();
    let around = Setting::default();
    home.load(&moltbook(vec![get("one")]), &around);
    let head = home.find("moltbook", "one").unwrap().skill;
    let action = json!({"title": "Verify", "required-response": {"type": "object",
        "properties": {"post": {"type": "object", "properties": {"url": {"type": "string"}}}}, "required": ["post"]}});
    let who = Who::default();
    let opened = ask_human(&home.state, &head, "verify", &action, &who, &around).unwrap();
    let answer = |response: Option<serde_json::Value>| {
        let verdict = Verdict {
            response: response.map(|response| answered(response, &action)),
            ..Verdict::default()
        };
        approve(&home.state, &opened.id, &verdict, &Who::default())
    };
    assert_eq!(answer(None).unwrap_err().code, Code::InvalidRequest);
    let failure = answer(Some(json!({"post": {"url": 7}}))).unwrap_err();
    assert_eq!(failure.code, Code::InvalidInput);
    assert_eq!(failure.path.as_deref(), Some("post.url"));
    let good = json!({"post": {"url": "https://x.example/1"}});
    assert_eq!(answer(Some(good.clone())).unwrap().response, Some(good));
    // No other request takes one.
    let failure = source(&home, &around).unwrap_err();
    let verdict = Verdict {
        response: Some(answered(json!(1), &action)),
        ..Verdict::default()
    };
    let outcome = approve(
        &home.state,
        &failure.approval_id.unwrap(),
        &verdict,
        &Who::default(),
    );
    assert_eq!(outcome.unwrap_err().code, Code::InvalidRequest);
}

fn answered(response: serde_json::Value, question: &serde_json::Value) -> Answer {
    Answer {
        given: response.clone(),
        kept: response,
        question: Some(question.clone()),
    }
}

#[test]
fn an_answer_to_another_question_comes_too_late() {
    let home = Home::new();
    let around = Setting::default();
    home.load(&moltbook(vec![get("one")]), &around);
    let head = home.find("moltbook", "one").unwrap().skill;
    let ask = |title: &str| {
        let action = json!({ "title": title });
        ask_human(
            &home.state,
            &head,
            "verify",
            &action,
            &Who::default(),
            &around,
        )
        .unwrap()
    };
    let first = ask("Give your number");
    assert_eq!(ask("Give your number").id, first.id);
    let verdict = |question: &str| Verdict {
        response: Some(answered(json!(1), &json!({ "title": question }))),
        ..Verdict::default()
    };
    let late = approve(
        &home.state,
        &first.id,
        &verdict("Give your key"),
        &Who::default(),
    );
    assert_eq!(late.unwrap_err().code, Code::ApprovalStale);
    // Another question is another request, and supersedes the one that is open.
    let second = ask("Give your number");
    let third = ask("Give your key");
    assert_ne!(second.id, third.id);
    let late = approve(
        &home.state,
        &second.id,
        &verdict("Give your number"),
        &Who::default(),
    );
    assert_eq!(late.unwrap_err().code, Code::ApprovalStale);
    approve(
        &home.state,
        &third.id,
        &verdict("Give your key"),
        &Who::default(),
    )
    .unwrap();
}

#[test]
fn memory_is_each_skills_own_and_bounded() {
    let home = Home::new();
    let get = |skill: &str, name: &str| {
        home.state
            .read(|database| memory::get(database, skill, name))
            .unwrap()
    };
    let set = |skill: &str, name: &str, value: serde_json::Value| {
        home.state
            .write(|change| memory::set(change, skill, name, &value))
    };
    set("moltbook", "handle", json!({"a": 1})).unwrap();
    assert_eq!(get("MoltBook", "handle"), Some(json!({"a": 1})));
    assert_eq!(get("other", "handle"), None);
    let long = json!("x".repeat(64 * 1024));
    assert_eq!(set("moltbook", "long", long).unwrap_err().code, Code::Limit);
    home.state
        .write(|change| {
            for index in 0..255 {
                memory::set(change, "moltbook", &format!("k{index}"), &json!(index))?;
            }
            Ok(())
        })
        .unwrap();
    assert_eq!(
        set("moltbook", "more", json!(1)).unwrap_err().code,
        Code::Limit
    );
    set("moltbook", "handle", json!(2)).unwrap();
    assert_eq!(get("moltbook", "handle"), Some(json!(2)));
}
