//! Calls that share a budget and run at the same time.

use std::fs;
use std::sync::Barrier;
use std::thread;
use std::time::Duration;

use hydrant_govern::failure::{Code, Failure};
use hydrant_govern::governor::{Approve, Caller};
use serde_json::{Value, json};

use crate::house::{House, agent, operator, ready};

const STEPS: &str = "[govern.budgets]\nsteps = ";

/// Calls at the same time, each long enough for the others to begin.
fn at_once(house: &House, callers: &[Caller]) -> Vec<Result<Value, Failure>> {
    house.meanwhile(|_| thread::sleep(Duration::from_millis(50)));
    let begin = Barrier::new(callers.len());
    thread::scope(|scope| {
        let calls: Vec<_> = callers
            .iter()
            .map(|caller| {
                let begin = &begin;
                scope.spawn(move || {
                    begin.wait();
                    house.governor.call(caller, "one.open", json!({}))
                })
            })
            .collect();
        calls.into_iter().map(|call| call.join().unwrap()).collect()
    })
}

fn named() -> Caller {
    Caller::joining(operator().client(), "work").unwrap()
}

/// Another connection each time, but the account of one tenant.
fn tenant() -> Caller {
    agent().charged_to("tenant").unwrap()
}

#[test]
fn of_calls_at_the_same_time_no_more_run_than_there_are_steps() {
    let connection = agent();
    let sharing: [(&str, &dyn Fn() -> Caller); 3] = [
        ("connection", &|| connection.clone()),
        ("named", &named),
        ("account", &tenant),
    ];
    for (what, caller) in sharing {
        for steps in [1, 3] {
            let house = ready(&format!("{STEPS}{steps}"));
            let callers: Vec<Caller> = (0..6).map(|_| caller()).collect();
            let ends = at_once(&house, &callers);
            let ran = ends.iter().filter(|end| end.is_ok()).count();
            assert_eq!(
                (ran, house.sent().len()),
                (steps, steps),
                "{what}: {ends:?}"
            );
            for failure in ends.into_iter().filter_map(Result::err) {
                assert_eq!(failure.code, Code::BudgetExhausted, "{what}");
            }
            assert_eq!(house.events("budget-exhausted").len(), 6 - steps, "{what}");
            assert!(house.is_whole());
        }
    }
}

/// What a call uses while another runs is seen by the one that ends later.
#[test]
fn calls_at_the_same_time_are_charged_together() {
    // Each is charged 1,000 bytes, and needs 10,000 to be left.
    let house = ready("[govern.budgets]\nnetwork_bytes = 13000");
    let callers = [named(), named(), named(), named()];
    assert!(at_once(&house, &callers).iter().all(Result::is_ok));
    let failure = house
        .governor
        .call(&named(), "one.open", json!({}))
        .unwrap_err();
    assert_eq!(failure.code, Code::BudgetExhausted);
    assert!(failure.message.contains("network-bytes"), "{failure:?}");
}

#[test]
fn a_call_that_cannot_be_recorded_uses_no_step() {
    let house = ready(&format!("{STEPS}1"));
    let caller = agent();
    let call = || house.governor.call(&caller, "one.open", json!({}));
    let chain = house.state().join("chain");
    fs::rename(chain.join("HEAD"), chain.join("HEAD.away")).unwrap();
    fs::create_dir(chain.join("HEAD")).unwrap();
    assert_eq!(call().unwrap_err().code, Code::AuditUnavailable);
    fs::remove_dir(chain.join("HEAD")).unwrap();
    fs::rename(chain.join("HEAD.away"), chain.join("HEAD")).unwrap();
    call().unwrap();
    assert_eq!(call().unwrap_err().code, Code::BudgetExhausted);
}

#[test]
fn a_call_that_another_step_refuses_uses_no_step() {
    let house = ready(&format!("{STEPS}1"));
    let call = |capability, params| house.governor.call(&named(), capability, params);
    house.governor.remove_secret("TOKEN", Some("one")).unwrap();
    let refused = call("one.read", json!({"q": "x"})).unwrap_err();
    assert_eq!(refused.code, Code::SecretMissing);
    call("one.open", json!({})).unwrap();
    // Budgets are asked before secrets.
    let refused = call("one.read", json!({"q": "x"})).unwrap_err();
    assert_eq!(refused.code, Code::BudgetExhausted);
}

/// Of two calls with one grant for a single call, the one that does not run gives its step back.
#[test]
fn a_call_whose_grant_another_has_used_uses_no_step() {
    for _ in 0..8 {
        let house = House::with(&format!("{STEPS}2"));
        house.load(&crate::house::document());
        let grant = || {
            for one in house.pending() {
                let approve = Approve {
                    scope: Some(serde_json::from_value(json!("once")).unwrap()),
                    ..Approve::default()
                };
                let id = one["id"].as_str().unwrap();
                house.governor.approve(&operator(), id, approve).unwrap();
            }
        };
        let call = || house.governor.call(&named(), "one.open", json!({}));
        grant();
        let ends = at_once(&house, &[named(), named()]);
        assert_eq!(ends.iter().filter(|end| end.is_ok()).count(), 1, "{ends:?}");
        for code in [Ok(()), Err(Code::BudgetExhausted)] {
            drop(call());
            grant();
            let end = call().map(drop).map_err(|failure| failure.code);
            assert_eq!(end, code);
        }
    }
}
