//! Replies of a language model.

use super::*;
use crate::plan::accept;
use serde_json::{Value, json};

fn good() -> Value {
    json!({
        "intent": "Shorten the tooltip",
        "workflow": "minor-edit",
        "guardrails": ["verify_before_complete", "test_changes"],
        "relevant_context": ["`src/tip.rs` holds the text"],
        "todos": [
            {"content": "Step 1: Create bd task to track the tooltip", "status": "pending", "activeForm": "Creating task"},
            {"content": "Step 2: Shorten the text in src/tip.rs", "status": "pending", "activeForm": "Shortening"},
            {"content": "CHECKPOINT: Run cargo test", "status": "pending", "activeForm": "Verifying"},
            {"content": "Step 3: Commit and push", "status": "pending", "activeForm": "Committing"},
            {"content": "Step 4: Close bd task", "status": "pending", "activeForm": "Closing task"},
        ],
    })
}

fn case() -> Case {
    let mut case = Case::new("plan-mode", "the tooltip, shorter").mutating();
    case.route.abstained = true;
    case.route.confidence = 0.4;
    case
}

fn reply(text: &str) -> Result<Plan, Vec<String>> {
    let case = case();
    accept(
        text,
        &case.question(),
        &case.route,
        &case.settings,
        "- `src/tip.rs`: name",
    )
}

#[test]
fn a_good_reply_is_a_plan_of_the_model() {
    for text in [good().to_string(), format!("```json\n{}\n```\n", good())] {
        let plan = reply(&text).unwrap();
        round_trips(&plan);
        assert_eq!(plan.planner, "llm");
        assert_eq!(plan.quality_gate, "Verification required");
        assert_eq!(plan.alternatives[0], ("plan-mode".to_owned(), 0.4));
        assert!(plan.commit_required && !plan.abstained);
        assert_eq!(
            plan.todos[1].content,
            "Step 2: Shorten the text in src/tip.rs"
        );
    }
}

#[test]
fn anything_but_one_object_is_refused() {
    let good = good().to_string();
    let doubled = good.replacen("{", "{\"intent\":\"x\",", 1);
    for text in [
        String::new(),
        "Here is the plan.".to_owned(),
        format!("Sure: {good}"),
        format!("{good} Good luck!"),
        format!("{good}{good}"),
        format!("[{good}]"),
        format!("```\n{good}"),
        good.chars().take(100).collect(),
        doubled,
    ] {
        assert!(reply(&text).is_err(), "{text}");
    }
}

fn failed(change: impl Fn(&mut Value)) -> String {
    let mut value = good();
    change(&mut value);
    reply(&value.to_string()).unwrap_err().join("; ")
}

/// Spoils a good reply.
type Fault = fn(&mut Value);

#[test]
fn each_check_refuses_its_fault() {
    let faults: [(&str, Fault); 26] = [
        ("JSON object", |v| v["quality_gate"] = json!("x")),
        ("JSON object", |v| v["todos"][0]["id"] = json!(1)),
        ("JSON object", |v| v["intent"] = json!(null)),
        ("not active", |v| v["workflow"] = json!("fly")),
        ("simple-question is excluded", |v| {
            v["workflow"] = json!("simple-question");
        }),
        ("not \"pending\"", |v| {
            v["todos"][1]["status"] = json!("completed");
        }),
        ("intent", |v| v["intent"] = json!(" \n ")),
        ("not registered", |v| {
            v["guardrails"].as_array_mut().unwrap().push(json!("fly"));
        }),
        ("is missing", |v| v["guardrails"] = json!(["test_changes"])),
        ("not gathered", |v| {
            v["relevant_context"][0] = json!("see src/other.rs");
        }),
        ("not gathered", |v| {
            v["relevant_context"][0] = json!("see `/etc/passwd`");
        }),
        ("not gathered", |v| {
            v["relevant_context"][0] = json!("see other.py");
        }),
        ("1 to 12 items", |v| {
            let item = v["todos"][1].clone();
            v["todos"] = json!(vec![item; 13]);
        }),
        ("fewer than 1 CHECKPOINTs", |v| {
            v["todos"][2]["content"] = json!("Step 3: Run cargo test");
        }),
        ("before the commit", |v| {
            let items = v["todos"].as_array_mut().unwrap();
            items.swap(1, 2);
        }),
        ("Commit and push", |v| {
            v["todos"][3]["content"] = json!("Step 3: Ship it");
        }),
        ("first item", |v| {
            v["todos"][0]["content"] = json!("Step 1: Look around");
        }),
        ("last item", |v| {
            v["todos"][4]["content"] = json!("Step 4: Rest");
        }),
        ("first item", |v| {
            v["todos"][0]["content"] = json!("Step 1: Read the bd issue");
        }),
        ("first item", |v| {
            v["todos"][0]["content"] = json!("CHECKPOINT: Create bd task to track the tooltip");
        }),
        ("last item", |v| {
            v["todos"][4]["content"] = json!("Step 4: Read the bd issue again");
        }),
        ("two items are equal", |v| {
            let items = v["todos"].as_array_mut().unwrap();
            items.insert(1, items[1].clone());
        }),
        ("\"workflows/minor-edit\"", |v| {
            v["todos"][1]["content"] = json!("Step 2: Do as in workflows/minor-edit");
        }),
        ("\"the answer is\"", |v| {
            v["todos"][1]["content"] = json!("Step 2: The answer is 42");
        }),
        ("workflows/", |v| {
            v["todos"][1]["content"] = json!("Step 2: Read workflows/minor-edit.md");
        }),
        ("requires a human", |v| {
            v["todos"][1]["content"] = json!("Step 2: Skip this, it requires a human");
        }),
    ];
    for (reason, change) in faults {
        let failed = failed(change);
        assert!(failed.contains(reason), "{reason}: {failed}");
    }
}

#[test]
fn checkpoints_may_be_reworded_but_not_be_fewer() {
    let mut value = good();
    value["todos"][2]["content"] = json!("CHECKPOINT: See it on the page");
    assert!(reply(&value.to_string()).is_ok());
    value["workflow"] = json!("feature-dev");
    value["guardrails"] = json!(["require_acceptance_test", "verify_before_complete"]);
    let failed = reply(&value.to_string()).unwrap_err().join("; ");
    assert!(failed.contains("fewer than 2 CHECKPOINTs"), "{failed}");
}

#[test]
fn words_of_the_work_are_no_faults() {
    for text in [
        "Step 2: Update `.github/workflows/ci.yml`",
        "Step 2: Check that the answer is cached",
        "Step 2: Show the label \"answer: yes\"",
    ] {
        let mut value = good();
        value["todos"][1]["content"] = json!(text);
        assert!(reply(&value.to_string()).is_ok(), "{text}");
    }
    let mut value = good();
    let answer = json!({"content": "Step 3: Answer the question", "status": "pending", "activeForm": "Answering"});
    value["todos"].as_array_mut().unwrap().insert(3, answer);
    assert!(reply(&value.to_string()).is_ok());
}

#[test]
fn without_a_tracker_no_task_is_added() {
    let mut case = case();
    let accepted = |case: &Case, value: &Value| {
        let (question, text) = (case.question(), value.to_string());
        accept(
            &text,
            &question,
            &case.route,
            &case.settings,
            "- `src/tip.rs`: name",
        )
    };
    "none".clone_into(&mut case.settings.tracker);
    let failed = accepted(&case, &good()).unwrap_err().join("; ");
    assert!(
        failed.contains("a task item where none belongs"),
        "{failed}"
    );
    let mut value = good();
    let items = value["todos"].as_array_mut().unwrap();
    items.pop();
    items.remove(0);
    assert!(accepted(&case, &value).is_ok());
}

#[test]
fn the_workflow_is_told_by_its_cleaned_id() {
    let mut case = Case::new("minor-edit", "the tooltip, shorter").mutating();
    case.route.refusal = true;
    let mut value = good();
    let plan = |case: &Case, value: &Value| {
        accept(
            &value.to_string(),
            &case.question(),
            &case.route,
            &case.settings,
            "- `src/tip.rs`: name",
        )
    };
    let clean = plan(&case, &value);
    value["workflow"] = json!(" minor-edit\n");
    assert_eq!(plan(&case, &value), clean);
}

#[test]
fn labels_numbers_and_lengths_of_a_reply_are_put_right() {
    let mut value = good();
    value["intent"] = json!(format!("Shorten it\n{}", "x ".repeat(100)));
    value["guardrails"]
        .as_array_mut()
        .unwrap()
        .push(json!("test_changes"));
    value["todos"][1]["content"] = json!("step 7: shorten it");
    value["todos"][1]["activeForm"] = json!("doing what was asked for");
    let plan = reply(&value.to_string()).unwrap();
    round_trips(&plan);
    assert!(plan.intent.chars().count() <= 120 && plan.intent.starts_with("Shorten it x"));
    assert_eq!(plan.guardrails, ["verify_before_complete", "test_changes"]);
    assert_eq!(plan.todos[1].content, "Step 2: Shorten it");
    assert_eq!(plan.todos[1].active_form, "Doing what was");
}

#[test]
fn none_is_the_empty_list() {
    let mut case = Case::new("plan-mode", "what is it?");
    case.route.abstained = true;
    let text = json!({
        "intent": "Say what it is", "workflow": "simple-question", "guardrails": ["none"],
        "relevant_context": [],
        "todos": [{"content": "Answer the question about it", "status": "pending", "activeForm": "Answering"}],
    });
    let accepted = |text: &Value| {
        accept(
            &text.to_string(),
            &case.question(),
            &case.route,
            &case.settings,
            "",
        )
    };
    let plan = accepted(&text).unwrap();
    assert!(plan.guardrails.is_empty());
    assert_eq!(plan.relevant_context, ["(none found)"]);
    let mut tracked = text.clone();
    let task = json!({"content": "Create bd task to track the question", "status": "pending", "activeForm": "Creating task"});
    tracked["todos"].as_array_mut().unwrap().insert(0, task);
    let failed = accepted(&tracked).unwrap_err().join("; ");
    assert!(failed.contains("where none belongs"), "{failed}");
    let mut answer = text;
    answer["todos"][0]["content"] = json!("The answer is 42");
    assert!(accepted(&answer).is_err());
}
