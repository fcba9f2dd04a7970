//! Onboarding, step by step.

use hydrant_govern::failure::{Code, Failure};
use hydrant_govern::governor::{Approve, Onboard};
use hydrant_govern::ports::WireValue;
use serde_json::{Value, json};

use crate::house::{API, House, agent, operator};

/// A service that one registers with: it gives a key, a person confirms, then `search` can be used.
fn document() -> String {
    format!(
        "name: one
operations:
- name: register
  method: POST
  endpoint: {API}/register
  input: {{handle: {{type: string, required: true}}}}
- name: status
  endpoint: {API}/status
  input: {{id: {{type: string, required: true}}}}
  auth: {{type: bearer, env_var: ONE_KEY}}
- name: search
  endpoint: {API}/search
  auth: {{type: bearer, env_var: ONE_KEY}}
onboarding:
  steps:
  - id: sign-up
    type: api_call
    operation: register
    params: {{handle: 'agent-{{{{user_input}}}}'}}
    store:
    - {{from: account.key, to: 'secret:ONE_KEY'}}
    - {{from: account.id, to: 'memory:account'}}
  - id: confirm
    type: human_action
    depends_on: [sign-up]
    action:
      title: Confirm the account
      instructions: Post the code and give the address of the post.
      required_response: {{type: object, required: [url], properties: {{url: {{type: string}}}}}}
    store:
    - {{from: url, to: 'memory:post'}}
  - id: check
    type: condition
    operation: status
    depends_on: [confirm]
    params: {{id: '{{{{memory:account}}}}'}}
"
    )
}

/// A skill whose key a person has to give.
fn asking() -> String {
    format!(
        "name: One_Skill\noperations:\n- name: search\n  endpoint: {API}/search\n  auth: {{type: bearer, env_var: ONE_KEY}}\nonboarding:\n  \
         steps:\n  - id: ask\n    type: human_action\n    action: {{title: Give the key, required_response: {{type: object, \
         required: [key]}}}}\n    store: [{{from: key, to: 'secret:ONE_KEY'}}]\nid: one\n"
    )
}

fn house() -> House {
    let house = House::new();
    let loaded = house.load(&document());
    assert_eq!(loaded["onboarding"], "needs-setup");
    house.approve_all();
    house.servers_say(json!({"account": {"key": "k-99887766", "id": "acc-7"}, "ok": true}));
    house
}

fn onboard(house: &House, input: Option<&Value>) -> Value {
    house.governor.onboard(&operator(), "one", input).unwrap()
}

fn statuses(answer: &Value) -> Vec<&str> {
    let steps = answer["steps"].as_array().unwrap();
    steps
        .iter()
        .map(|step| step["status"].as_str().unwrap())
        .collect()
}

fn pending(house: &House, kind: &str) -> String {
    let pending = house.pending();
    let found: Vec<&Value> = pending.iter().filter(|one| one["kind"] == kind).collect();
    assert_eq!(found.len(), 1, "{pending:?}");
    found[0]["id"].as_str().unwrap().to_owned()
}

fn respond(house: &House, response: Value) -> Result<Value, Failure> {
    let approve = Approve {
        response: Some(response),
        ..Approve::default()
    };
    let id = pending(house, "human-action");
    house.governor.approve(&operator(), &id, approve)
}

fn grant(house: &House, kind: &str) {
    house
        .governor
        .approve(&operator(), &pending(house, kind), Approve::default())
        .unwrap();
}

#[test]
fn from_nothing_to_operational() {
    let house = house();
    // Nothing but the steps can be called before.
    let failure = house.execute("one", "search", json!({})).unwrap_err();
    assert_eq!(failure.code, Code::OnboardingRequired);
    assert_eq!(house.events("capability-denied").len(), 1);
    assert_eq!(house.sent().len(), 0);

    // What a step needs of the user it says.
    let answer = onboard(&house, None);
    assert_eq!(answer["state"], "needs-setup");
    assert_eq!(answer["steps"][0]["error"]["code"], "missing-input");
    assert_eq!(
        answer["steps"][0]["error"]["path"],
        "onboarding.steps[0].params.handle"
    );

    let answer = onboard(&house, Some(&json!("ann")));
    assert_eq!(
        house.sent()[0].body.as_deref(),
        Some(&br#"{"handle":"agent-ann"}"#[..])
    );
    assert_eq!(statuses(&answer), ["done", "pending", "blocked"]);
    assert_eq!(answer["state"], "pending-human-action");
    assert_eq!(
        answer["steps"][0]["output"]["json"]["account"]["key"],
        json!({"secret-ref": "secret:ONE_KEY"})
    );
    // No step is repeated, and no question asked twice.
    let again = onboard(&house, Some(&json!("ann")));
    assert_eq!(
        again["steps"][1]["approval-id"],
        answer["steps"][1]["approval-id"]
    );
    assert_eq!(house.sent().len(), 1);

    // The answer has to fit.
    let failure = respond(&house, json!({"url": 7})).unwrap_err();
    assert_eq!(
        (failure.code, failure.path.as_deref()),
        (Code::InvalidInput, Some("url"))
    );
    respond(&house, json!({"url": "https://x.example/1"})).unwrap();

    // The last step needs the key, which nobody may use yet.
    let answer = onboard(&house, None);
    assert_eq!(answer["state"], "pending-secret-approval");
    assert_eq!(statuses(&answer), ["done", "done", "ready"]);
    assert_eq!(answer["steps"][1]["answer"]["url"], "https://x.example/1");
    assert_eq!(answer["steps"][2]["error"]["code"], "secret-missing");
    assert_eq!(
        house.code("one", "search", json!({})),
        Code::OnboardingRequired
    );

    grant(&house, "secret-write");
    let answer = onboard(&house, None);
    assert_eq!(answer["state"], "operational", "{answer}");
    let sent = house.sent();
    assert!(
        sent[1].url.as_str().ends_with("/status?id=acc-7"),
        "{}",
        sent[1].url
    );
    house.execute("one", "search", json!({})).unwrap();

    let shown = house.governor.show(&operator(), "one").unwrap();
    assert_eq!(shown["onboarding-progress"]["state"], "operational");
    let list = house.governor.list(&operator(), None).unwrap();
    assert_eq!(list["skills"][0]["onboarding"], "operational");
    assert_eq!(house.load(&document())["onboarding"], "operational");
    // Each end of a step is in the chain, and no value anywhere.
    let steps: Vec<Value> = house
        .events("onboarding-step")
        .iter()
        .map(|record| json!([record["subject"], record["outcome"], record["code"]]))
        .collect();
    assert_eq!(
        json!(steps),
        json!([
            ["sign-up", "error", "missing-input"],
            ["sign-up", "ok", null],
            ["confirm", "ok", null],
            ["check", "error", "secret-missing"],
            ["check", "ok", null]
        ])
    );
    assert!(!json!(house.chain()).to_string().contains("k-99887766"));
    assert!(house.is_whole());
}

#[test]
fn a_changed_operation_is_a_step_to_be_repeated() {
    let house = house();
    onboard(&house, Some(&json!("ann")));
    respond(&house, json!({"url": "https://x.example/1"})).unwrap();
    grant(&house, "secret-write");
    assert_eq!(onboard(&house, None)["state"], "operational");
    let changed = house.load(&document().replace("/status", "/v2/status"));
    assert_eq!(changed["onboarding"], "needs-setup");
    assert_eq!(
        house.code("one", "search", json!({})),
        Code::OnboardingRequired
    );
    house.approve_all();
    let answer = onboard(&house, None);
    assert_eq!(answer["state"], "operational", "{answer}");
    assert_eq!(house.sent().len(), 3);
}

#[test]
fn what_a_step_keeps_as_a_secret_no_caller_sees() {
    let house = house();
    // Called by itself, not as a step.
    let result = house
        .execute("one", "register", json!({"handle": "x"}))
        .unwrap();
    assert_eq!(
        result["output"]["json"]["account"]["key"],
        json!({"secret-ref": "secret:ONE_KEY"})
    );
    assert!(!result.to_string().contains("k-99887766"));
    // That is covered by the approval: a document that drops the step asks anew.
    let loaded = house.load(&document().replace("secret:ONE_KEY", "memory:key"));
    assert_eq!(loaded["delta"]["changed"], json!(["register"]));
}

#[test]
fn a_refused_secret_makes_its_step_undone() {
    let house = house();
    onboard(&house, Some(&json!("ann")));
    let id = pending(&house, "secret-write");
    house.governor.deny(&operator(), &id, None).unwrap();
    let secrets = house.governor.list_secrets().unwrap();
    assert_eq!(secrets["secrets"], json!([]));
    let shown = house.governor.show(&operator(), "one").unwrap();
    assert_eq!(shown["onboarding-progress"]["steps"][0]["status"], "ready");
    assert_eq!(
        shown["onboarding-progress"]["steps"][1]["status"],
        "blocked"
    );
}

#[test]
fn credentials_that_an_operator_has_already_are_not_asked_for() {
    let house = House::new();
    house.load(&document().replace("    - {from: account.id, to: 'memory:account'}\n", ""));
    house.approve_all();
    house.secret("ONE_KEY", "ONE", "k-1234567890");
    let answer = onboard(&house, None);
    assert_eq!(answer["steps"][0]["status"], "done");
    assert_eq!(house.sent().len(), 0);
}

#[test]
fn a_secret_that_a_person_gives_is_staged_and_never_shown() {
    let house = House::new();
    house.load(&asking());
    house.approve_all();
    assert_eq!(onboard(&house, None)["state"], "pending-human-action");
    // Where the answer goes is part of the question.
    let asked = house
        .governor
        .approval(&pending(&house, "human-action"))
        .unwrap();
    assert_eq!(
        asked["details"]["store"],
        json!([{"from": "/key", "to": "secret:ONE_KEY"}])
    );
    assert_eq!(
        respond(&house, json!({"other": "x"})).unwrap_err().code,
        Code::InvalidInput
    );
    let approved = respond(&house, json!({"key": "k-99887766"})).unwrap();
    assert_eq!(
        approved["response"],
        json!({"key": {"secret-ref": "secret:ONE_KEY"}})
    );
    let answer = onboard(&house, None);
    assert_eq!(answer["state"], "pending-secret-approval");
    grant(&house, "secret-write");
    assert_eq!(onboard(&house, None)["state"], "operational");
    house.execute("one", "search", json!({})).unwrap();
    let sent = house.sent();
    let header = sent[0]
        .headers
        .iter()
        .find(|(name, _)| name.eq_ignore_ascii_case("authorization"));
    assert_eq!(header.unwrap().1.0, b"Bearer k-99887766");
    let mut folders = vec![house.state()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let bytes = std::fs::read(&path).unwrap_or_default();
            let holds = bytes.windows(10).any(|part| part == b"k-99887766");
            assert_eq!(holds, path.ends_with("secrets.toml"), "{path:?}");
        }
    }
}

#[test]
fn a_secret_that_a_person_gives_twice_is_refused() {
    let house = House::new();
    house.load(&asking());
    onboard(&house, None);
    let failure = respond(
        &house,
        json!({"key": "k-99887766", "note": "it is k-99887766"}),
    )
    .unwrap_err();
    assert_eq!(failure.code, Code::InvalidInput);
    assert!(!failure.to_string().contains("k-99887766"));
    // The request is open still: nothing was decided.
    for unfit in [
        json!({"key": ""}),
        json!({"key": {"a": 1}}),
        json!({"key": "k".repeat(70_000)}),
    ] {
        respond(&house, unfit).unwrap_err();
    }
    respond(&house, json!({"key": "k-99887766"})).unwrap();
}

#[test]
fn a_grant_is_for_the_value_that_it_was_asked_for() {
    let house = house();
    onboard(&house, Some(&json!("ann")));
    grant(&house, "secret-write");
    // The service gives another one: the first stays in use, and the skill operational, until somebody decides.
    respond(&house, json!({"url": "https://x.example/1"})).unwrap();
    assert_eq!(onboard(&house, None)["state"], "operational");
    house.servers_say(json!({"account": {"key": "k-second-00", "id": "acc-8"}}));
    house
        .execute("one", "register", json!({"handle": "x"}))
        .unwrap();
    house.execute("one", "search", json!({})).unwrap();
    let last = house.sent().pop().unwrap();
    let is_first = |(name, value): &(String, WireValue)| {
        name.eq_ignore_ascii_case("authorization") && value.0 == b"Bearer k-99887766"
    };
    assert!(last.headers.iter().any(is_first));
    // Denied: the second is erased, the first is still there.
    let id = pending(&house, "secret-write");
    house.governor.deny(&operator(), &id, None).unwrap();
    house.execute("one", "search", json!({})).unwrap();
}

#[test]
fn a_grant_that_is_taken_back_takes_its_value() {
    let house = house();
    onboard(&house, Some(&json!("ann")));
    let id = pending(&house, "secret-write");
    grant(&house, "secret-write");
    house.governor.revoke(&operator(), &id, None).unwrap();
    assert_eq!(house.governor.list_secrets().unwrap()["secrets"], json!([]));
    let shown = house.governor.show(&operator(), "one").unwrap();
    assert_eq!(shown["onboarding-progress"]["steps"][0]["status"], "ready");
}

#[test]
fn a_step_is_done_when_it_is_verified() {
    let house = House::new();
    let text = document()
        .replace(
            "params: {handle",
            "verify_on_success: search\n    params: {handle",
        )
        .replace("    - {from: account.id, to: 'memory:account'}\n", "");
    house.load(&text);
    house.approve_all();
    house.servers_say(json!({"account": {"key": "k-99887766"}}));
    let answer = onboard(&house, Some(&json!("ann")));
    // What verifies it needs the key that it got: called it is, done it is not.
    assert_eq!(answer["steps"][0]["error"]["code"], "secret-missing");
    assert_eq!(statuses(&answer), ["ready", "blocked", "blocked"]);
    grant(&house, "secret-write");
    let answer = onboard(&house, None);
    assert_eq!(statuses(&answer), ["done", "pending", "blocked"]);
    // Nobody registered twice.
    let urls: Vec<String> = house
        .sent()
        .iter()
        .map(|sent| sent.url.to_string())
        .collect();
    assert_eq!(urls, [format!("{API}/register"), format!("{API}/search")]);
}

#[test]
fn agents_cannot_answer_for_a_person() {
    let house = house();
    onboard(&house, Some(&json!("ann")));
    let id = pending(&house, "human-action");
    let given = json!({"url": "https://x.example/1"});
    let input = json!({"skill": "one", "response": given});
    assert!(serde_json::from_value::<Onboard>(input).is_err());
    // What they give for `user_input` is no answer either.
    let answer = house
        .governor
        .onboard(&agent(), "one", Some(&given))
        .unwrap();
    assert_eq!(answer["state"], "pending-human-action");
    assert_eq!(house.governor.approval(&id).unwrap()["status"], "pending");
    // Denied: nobody is asked again for now.
    house.governor.deny(&operator(), &id, None).unwrap();
    let answer = onboard(&house, None);
    assert_eq!(answer["state"], "pending-secret-approval");
    assert_eq!(statuses(&answer), ["done", "denied", "blocked"]);
}

#[test]
fn what_an_onboarding_brought_goes_with_the_skill() {
    let house = house();
    onboard(&house, Some(&json!("ann")));
    house.governor.unload(&operator(), "one", true).unwrap();
    // Both requests are gone, and the value that waited is erased.
    assert!(house.pending().is_empty());
    assert_eq!(house.governor.list_secrets().unwrap()["secrets"], json!([]));
    assert_eq!(house.load(&document())["onboarding"], "needs-setup");
    let shown = house.governor.show(&operator(), "one").unwrap();
    assert_eq!(shown["onboarding-progress"]["steps"][0]["status"], "ready");
}

#[test]
fn two_calls_at_once_register_once() {
    let house = house();
    let other = house.beside();
    // Long enough for the other to come to the same step.
    house.meanwhile(|_| std::thread::sleep(std::time::Duration::from_millis(300)));
    std::thread::scope(|scope| {
        for governor in [&house.governor, &other] {
            scope.spawn(|| {
                governor
                    .onboard(&operator(), "one", Some(&json!("ann")))
                    .unwrap()
            });
        }
    });
    assert_eq!(house.sent().len(), 1);
}

#[test]
fn documents_that_cannot_be_gone_through_do_not_load() {
    let house = House::new();
    for (from, to, path) in [
        (
            "operation: register",
            "operation: nothing",
            "onboarding.steps[0].operation",
        ),
        (
            "memory:post",
            "file:/etc/passwd",
            "onboarding.steps[1].store[0].to",
        ),
    ] {
        let failure = house.try_load(&document().replace(from, to)).unwrap_err();
        assert_eq!(
            (failure.code, failure.path.as_deref()),
            (Code::Schema, Some(path))
        );
    }
    let text = document().replace("{{user_input}}", "{{secret:ONE_KEY}}");
    assert_eq!(house.try_load(&text).unwrap_err().code, Code::Schema);
    assert_eq!(
        house
            .governor
            .onboard(&operator(), "one", None)
            .unwrap_err()
            .code,
        Code::UnknownSkill
    );
    house.load(&crate::house::document());
    assert_eq!(
        house
            .governor
            .onboard(&operator(), "one", None)
            .unwrap_err()
            .code,
        Code::InvalidRequest
    );
}

#[test]
fn onboarding_as_text_waits_only_where_it_says_so() {
    let house = House::new();
    let text = |line: &str| {
        format!(
            "---\nname: one\n---\n# One\n\n## Search\n\n```bash\ncurl {API}/search\n```\n\n## Onboarding\n\n{line}\n\n1. **Read the \
             rules** on the page.\n2. **search** once.\n"
        )
    };
    let load = |line: &str| {
        house
            .try_load_from("https://e.org/skill.md", &text(line))
            .unwrap()
    };
    load("");
    house.approve_all();
    house.execute("one", "search", json!({})).unwrap();
    let loaded = load("Required: true");
    assert_eq!(loaded["onboarding"], "needs-setup");
    let answer = onboard(&house, None);
    assert_eq!(statuses(&answer), ["pending", "blocked"]);
    respond(&house, json!("done")).unwrap();
    assert_eq!(onboard(&house, None)["state"], "operational");
}

#[test]
fn an_answer_without_what_is_kept_leaves_the_step_undone() {
    let house = house();
    house.servers_say(json!({"error": "no such page"}));
    let answer = onboard(&house, Some(&json!("ann")));
    assert_eq!(answer["state"], "needs-setup");
    // The answer has no key: nothing is kept of it.
    assert_eq!(answer["steps"][0]["error"]["code"], "invalid-input");
    assert_eq!(statuses(&answer), ["ready", "blocked", "blocked"]);
    assert_eq!(house.events("onboarding-step")[0]["outcome"], "error");
}
