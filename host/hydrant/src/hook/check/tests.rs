use serde_json::json;

use super::*;

fn plan() -> Value {
    json!({
        "schema": "hydrant.plan/1", "intent": "Fix the tooltip", "workflow": "minor-edit",
        "quality_gate": "Verification required",
        "guardrails": ["verify_before_complete", "require_skill:sql-lint"],
        "relevant_context": ["a"],
        "todos": [
            {"content": "Step 1: Read it", "status": "pending", "activeForm": "Reading"},
            {"content": "CHECKPOINT: Run the tests", "status": "pending", "activeForm": "Verifying"},
            {"content": "Step 2: Commit and push", "status": "pending", "activeForm": "Committing"}
        ],
        "commit_required": true, "confidence": 0.9, "abstained": false,
        "alternatives": [{"workflow": "feature-dev", "score": 0.3}],
        "skill": null, "planner": "deterministic", "degraded": ["memory", "time"]
    })
}

#[test]
fn a_plan_of_the_right_form_passes() {
    check_plan(&plan()).unwrap();
    let mut single = plan();
    single["todos"] =
        json!([{"content": "Answer the question", "status": "pending", "activeForm": "Answering"}]);
    single["commit_required"] = json!(false);
    check_plan(&single).unwrap();
}

#[test]
fn a_plan_that_breaks_a_row_does_not_get_out() {
    let item = |content: &str| json!({"content": content, "status": "pending", "activeForm": "X"});
    for (path, value) in [
        ("/schema", json!("hydrant.plan/2")),
        ("/intent", json!("a\nb")),
        ("/intent", json!("x".repeat(121))),
        ("/intent", json!("")),
        ("/workflow", json!("../minor-edit")),
        ("/workflow", json!("Minor")),
        ("/quality_gate", json!("x".repeat(61))),
        ("/guardrails", json!(["none"])),
        ("/guardrails", json!(["a b"])),
        ("/guardrails/1", json!("require_skill:$(x)")),
        ("/relevant_context", json!([])),
        ("/relevant_context", json!(vec!["a"; 9])),
        ("/relevant_context/0", json!("```")),
        ("/todos", json!([])),
        ("/todos/0/status", json!("completed")),
        ("/todos/0/content", json!("Read it")),
        ("/todos/0/content", json!("Step 2: Read it")),
        (
            "/todos/0/content",
            json!(format!("Step 1: {}", "x".repeat(200))),
        ),
        ("/todos/0/content", json!("Step 1: Commit and push")),
        ("/todos/0/activeForm", json!("")),
        ("/todos/1", item("Step 2: Look around")),
        ("/commit_required", json!(false)),
        ("/confidence", json!(1.5)),
        ("/confidence", json!("high")),
        ("/abstained", json!(true)),
        (
            "/alternatives",
            json!(vec![json!({"workflow": "a", "score": 0.1}); 4]),
        ),
        ("/alternatives/0/score", json!(-1)),
        ("/skill", json!("a\u{1b}")),
        ("/planner", json!("me")),
        ("/degraded", json!(["time", "memory"])),
        ("/degraded", json!(["memory", "memory"])),
        ("/degraded", json!(["weather"])),
    ] {
        let mut plan = plan();
        *plan.pointer_mut(path).unwrap() = value;
        assert!(check_plan(&plan).is_err(), "{path}: {plan}");
    }
    let mut more = plan();
    more["more"] = json!(1);
    assert!(check_plan(&more).is_err());
    let mut key = plan();
    key["todos"][0]["id"] = json!(1);
    assert!(check_plan(&key).is_err());
    let mut long = plan();
    long["todos"] = (1..=13)
        .map(|number| item(&format!("Step {number}: Do {number}")))
        .collect();
    long["commit_required"] = json!(false);
    assert!(check_plan(&long).is_err());
    let mut lone = plan();
    lone["todos"] = json!([item("Step 1: Answer")]);
    lone["commit_required"] = json!(false);
    assert!(check_plan(&lone).is_err());
}

#[test]
fn a_file_holds_the_prompt_and_has_a_size() {
    let long = format!("# T\n{}\nprompt \0 {{{{x}}}}", "x".repeat(500));
    check_file(&long, "prompt \0 {{x}}").unwrap();
    assert!(check_file(&long, "other prompt").is_err());
    assert!(check_file("short prompt", "prompt").is_err());
    let huge = "x".repeat(MAX_FILE_BYTES + 1);
    assert!(check_file(&huge, "x").is_err());
}

#[test]
fn an_instruction_names_the_file_and_is_short() {
    let asked = |mode, all_default| Asked {
        path: "/tmp/claude-hydrator/hydrate_abc.md",
        mode,
        all_default,
    };
    let text = |length: usize| {
        let path = "/tmp/claude-hydrator/hydrate_abc.md";
        format!("{path}{}", "é".repeat(length - path.len()))
    };
    use Mode::{Inline, Subagent};
    check_instruction(&text(400), asked(Subagent, true)).unwrap();
    assert!(check_instruction(&text(401), asked(Subagent, true)).is_err());
    check_instruction(&text(500), asked(Subagent, false)).unwrap();
    assert!(check_instruction(&text(501), asked(Subagent, false)).is_err());
    check_instruction(&text(8000), asked(Inline, true)).unwrap();
    assert!(check_instruction(&text(8001), asked(Inline, true)).is_err());
    assert!(check_instruction("Read /tmp/other.md", asked(Subagent, true)).is_err());
    let hidden = format!("{}\u{1b}[8m", text(100));
    assert!(check_instruction(&hidden, asked(Subagent, true)).is_err());
}
