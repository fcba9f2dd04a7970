//! What a run may use and leave, and several processes at one time.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::house::{House, code, error_of, list, string};
use crate::recorder::{Recorder, Reply};

const SKILL: &str = "name: one\noperations:\n- name: say\n  command: echo a\n";

fn house(budgets: &str) -> House {
    let house = House::with(&format!("[govern.budgets]\n{budgets}"));
    house.load("one.yaml", SKILL);
    house
}

#[test]
fn a_run_is_one_session() {
    let house = house("steps = 2\n");
    let execute = ["skill", "execute", "one", "say", "{}", "--session", "work"];
    house.ok(&execute);
    house.ok(&execute);
    let error = error_of(&house.folder().run(&execute));
    assert_eq!(code(&error), "budget-exhausted");
    assert!(error["message"].to_string().contains("steps"), "{error}");
    // Another session has its own.
    house.execute("one", "say", &json!({}));
    let calls: Vec<(&str, Value)> = (0..3).map(|_| ("one.say", json!({}))).collect();
    let answers = house.syscall(&calls);
    assert_eq!(answers[1]["type"], "response", "{answers:?}");
    assert_eq!(answers[2]["payload"]["code"], "budget-exhausted");
    assert_eq!(house.events("capability-executed").len(), 5);
}

/// A server that takes its time, and an approved operation that asks it.
fn slow(budgets: &str, delay: Duration) -> (Recorder, House) {
    let server = Recorder::new(move |_| Reply::json(&json!({"ok": true})).after(delay));
    let house = House::beside_with(&[&server], &format!("[govern.budgets]\n{budgets}"));
    let get = format!("curl -s {}", server.url("/x"));
    let text = format!("name: one\noperations:\n- name: get\n  command: {get}\n");
    house.load("one.yaml", &text);
    house.approve_all();
    (server, house)
}

const WORK: [&str; 7] = ["skill", "execute", "one", "get", "{}", "--session", "work"];

#[test]
fn of_processes_at_the_same_time_no_more_run_than_there_are_steps() {
    let (server, house) = slow("steps = 1\n", Duration::from_millis(500));
    let runs: Vec<_> = thread::scope(|scope| {
        let calls: Vec<_> = (0..4)
            .map(|_| scope.spawn(|| house.folder().run(&WORK)))
            .collect();
        calls.into_iter().map(|call| call.join().unwrap()).collect()
    });
    let (ran, refused): (Vec<_>, Vec<_>) = runs.iter().partition(|run| run.status == 0);
    assert_eq!((ran.len(), server.requests().len()), (1, 1), "{runs:?}");
    for run in refused {
        assert_eq!(code(&error_of(run)), "budget-exhausted");
    }
    house.assert_whole_chain();
}

#[test]
fn a_call_that_is_killed_has_used_its_step() {
    let (server, house) = slow("steps = 2\n", Duration::from_secs(3));
    let mut child = house
        .folder()
        .command(&WORK)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let begin = Instant::now();
    while server.requests().is_empty() && begin.elapsed() < Duration::from_secs(10) {
        thread::sleep(Duration::from_millis(5));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(server.requests().len(), 1);
    // One is left.
    house.ok(&WORK);
    assert_eq!(house.code(&WORK), "budget-exhausted");
    assert_eq!(server.requests().len(), 2);
    house.assert_whole_chain();
}

#[test]
fn soft_warn_goes_on() {
    let house = house("steps = {limit = 1, policy = 'soft-warn'}\n");
    let calls: Vec<(&str, Value)> = (0..3).map(|_| ("one.say", json!({}))).collect();
    for answer in house.syscall(&calls) {
        assert_eq!(answer["type"], "response", "{answer}");
    }
}

#[test]
fn a_warning_at_half_and_at_four_fifths() {
    let house = house("steps = 5\n");
    let calls: Vec<(&str, Value)> = (0..5).map(|_| ("one.say", json!({}))).collect();
    let answers = house.syscall(&calls);
    let warned: Vec<bool> = answers
        .iter()
        .map(|answer| !list(&answer["payload"]["warnings"]).is_empty())
        .collect();
    assert_eq!(warned, [false, false, true, true, false], "{answers:?}");
    assert_eq!(house.events("budget-warning").len(), 2);
}

#[test]
fn processes_at_one_time_write_one_chain() {
    let house = house("");
    thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| house.execute("one", "say", &json!({})));
        }
    });
    assert_eq!(house.events("capability-executed").len(), 6);
    house.assert_whole_chain();
}

#[test]
fn what_a_call_with_personal_data_wrote_goes_with_its_session() {
    let server = Recorder::content();
    let house = House::beside(&[&server]);
    for (name, classes) in [("plain", "[]"), ("personal", "[pii.user_query]")] {
        let text = format!(
            "name: {name}\ndata_classifications: {classes}\noperations:\n- name: get\n  command: curl -s -o page {}\n",
            server.url("/page")
        );
        house.load(&format!("{name}.yaml"), &text);
    }
    house.approve_all();
    let kept = |skill: &str| {
        let result = house.execute(skill, "get", &json!({}));
        let path = string(&result["output"]["files"][0]["path"]);
        Path::new(&path).exists()
    };
    assert!(kept("plain"));
    assert!(!kept("personal"));
    // A session with a name ends never: what others have put there stays.
    let named = |skill: &str| {
        let call = [
            "skill",
            "execute",
            skill,
            "get",
            "{}",
            "--session",
            "s-keep",
        ];
        let result = house.ok(&call);
        PathBuf::from(string(&result["output"]["files"][0]["path"]))
    };
    let plain = named("plain");
    let other = plain.with_file_name("other");
    std::fs::rename(&plain, &other).unwrap();
    assert!(!named("personal").exists());
    assert!(other.exists());
}
