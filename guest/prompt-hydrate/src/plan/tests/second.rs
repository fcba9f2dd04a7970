//! Plans of two intents.

use super::*;
use crate::route::Second;

fn second(case: &mut Case, workflow: Option<&str>, main: &str, before: bool) {
    case.route.second = Some(Second {
        workflow: workflow.map(str::to_owned),
        prompt: Prompt {
            main: main.to_owned(),
            object: Some(main.to_owned()),
            ..Prompt::default()
        },
        signals: Signals::default(),
        before,
    });
}

#[test]
fn q_145_a_question_before_a_change_is_answered_first() {
    let mut case = Case::new(
        "minor-edit",
        "tell me why we vendor zlib and then swap it for the system copy",
    );
    second(
        &mut case,
        Some("simple-question"),
        "tell me why we vendor zlib",
        true,
    );
    let plan = case.plan();
    let all = contents(&plan);
    assert!(all[0].contains("Create bd task"));
    assert_eq!(
        all[1],
        "Step 2: Answer the question about tell me why we vendor zlib"
    );
    assert!(all[2].starts_with("Step 3: Read"));
    assert!(
        all.iter()
            .any(|t| t.contains("swap it for the system copy")),
        "{all:?}"
    );
    assert_eq!(plan.secondary, ["simple-question"]);
    assert!(plan.intent.contains("zlib") && plan.intent.contains("system copy"));
    assert!(plan.commit_required);
}

#[test]
fn q_145_a_question_after_a_change_stands_before_its_commit() {
    let mut case = Case::new(
        "minor-edit",
        "raise the upload cap to 40 MB; then tell me which services read it",
    );
    second(
        &mut case,
        Some("simple-question"),
        "tell me which services read it",
        false,
    );
    let plan = case.plan();
    let all = contents(&plan);
    let answer = all.iter().position(|t| t.contains(": Answer")).unwrap();
    assert!(all[answer - 1].starts_with("CHECKPOINT"), "{all:?}");
    assert!(all[answer + 1].ends_with("Commit and push"));
}

#[test]
fn q_145_two_changes_share_one_commit() {
    let mut case = Case::new("minor-edit", "rename the flag and fix the manual");
    second(&mut case, Some("minor-edit"), "fix the manual", false);
    let plan = case.plan();
    let all = contents(&plan);
    assert_eq!(
        all.iter()
            .filter(|t| t.ends_with("Commit and push"))
            .count(),
        1
    );
    assert_eq!(
        all.iter().filter(|t| t.starts_with("CHECKPOINT")).count(),
        2
    );
    assert!(plan.todos.len() <= 12);
}

#[test]
fn q_145_an_edit_after_an_investigation_may_be_committed() {
    let mut case = Case::new("debugging", "find out why it dies and rename the flag");
    second(&mut case, Some("minor-edit"), "rename the flag", false);
    let plan = case.plan();
    assert!(!plan.commit_required);
    assert!(
        contents(&plan)
            .iter()
            .any(|t| t.ends_with("If files changed, commit and push"))
    );
}

#[test]
fn q_145_a_half_that_would_abstain_is_one_item() {
    let mut case = Case::new("minor-edit", "rename the flag, then blorp the frunk");
    second(&mut case, None, "blorp the frunk", false);
    let plan = case.plan();
    let all = contents(&plan);
    let named = all
        .iter()
        .position(|t| t.contains("Then: blorp the frunk"))
        .unwrap();
    assert!(all[named + 1].starts_with("CHECKPOINT"), "{all:?}");
    assert_eq!(plan.secondary, [""; 0]);
    assert_eq!(all.len(), 7);
}

#[test]
fn q_154_the_other_half_shrinks_first() {
    let mut case = Case::new("feature-dev", "add the pin and design the export format");
    second(
        &mut case,
        Some("spec-review"),
        "design the export format",
        false,
    );
    let plan = case.plan();
    let text = contents(&plan).join("\n");
    assert!(text.contains("Then: design the export format"), "{text}");
    assert!(plan.todos.len() <= 12);
}

#[test]
fn q_146_the_main_clause_is_in_the_intent_of_a_long_prompt_with_two_halves() {
    let story =
        "We have kept the list by hand for years and everybody knows how that ends. ".repeat(4);
    let main = format!("{story}Sort the rehearsal dates by the day, and fix the manual");
    let mut case = Case::new("minor-edit", "");
    case.prompt = Prompt::read(&main);
    second(&mut case, Some("minor-edit"), "fix the manual", false);
    let intent = case.plan().intent;
    assert!(
        intent.contains("ort the rehearsal dates by the day"),
        "{intent}"
    );
    assert!(intent.contains("manual"), "{intent}");
}
