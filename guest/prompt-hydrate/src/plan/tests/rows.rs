//! Plans, rule by rule.

use super::*;

const IDS: [&str; 12] = [
    "direct-skill",
    "interactive-followup",
    "simple-question",
    "decompose",
    "batch-processing",
    "debugging",
    "spec-review",
    "qa-demo",
    "minor-edit",
    "tdd-cycle",
    "feature-dev",
    "plan-mode",
];

#[test]
fn every_default_workflow_gives_a_plan() {
    for id in IDS {
        let case = Case::new(id, "look after the lease reaper");
        let plan = case.plan();
        assert_eq!(plan.workflow, id);
        assert!(plan.todos.len() <= 12);
        for todo in &plan.todos {
            assert!(!todo.content.contains(['{', '}']), "{}", todo.content);
        }
    }
}

#[test]
fn gates_checkpoints_and_commits_are_those_of_the_files() {
    use crate::catalogue::Modifies;
    for id in IDS {
        let case = Case::new(id, "look after the lease reaper");
        let plan = case.plan();
        let workflow = case.catalogue.get(id).unwrap();
        assert_eq!(plan.quality_gate, workflow.quality_gate);
        let checkpoint = plan
            .todos
            .iter()
            .position(|todo| todo.content.starts_with("CHECKPOINT: "));
        let commit = plan
            .todos
            .iter()
            .position(|todo| todo.content.contains(": Commit and push"));
        if workflow.modifies != Modifies::No && id != "direct-skill" {
            assert!(checkpoint.is_some(), "{id}");
        }
        assert_eq!(commit.is_some(), workflow.modifies == Modifies::Yes, "{id}");
        assert_eq!(plan.commit_required, commit.is_some());
        if commit.is_some() {
            assert!(commit > checkpoint, "{id}");
        }
    }
}

#[test]
fn feature_dev_has_twelve_items_with_the_cycle_in_place() {
    let plan = Case::new("feature-dev", "give reviewers a way to pin a remark").plan();
    assert_eq!(plan.todos.len(), 12);
    let text = contents(&plan).join("\n");
    assert!(text.contains("failing test") && text.contains("CHECKPOINT: Run cargo test"));
}

#[test]
fn a_question_is_one_item_without_a_number() {
    let mut case = Case::new("simple-question", "what workflows are available?")
        .signals(&[Cue::Interrogative]);
    case.settings.context = vec!["x".to_owned()];
    let plan = case.plan();
    assert_eq!(contents(&plan), ["Answer the question about the workflows"]);
    assert_eq!(plan.todos[0].active_form, "Answering");
    assert_eq!(plan.intent, "Answer: what workflows are available?");
    assert!(plan.markdown().contains("**Guardrails**: none\n"));
    assert!(!plan.commit_required);
    let context = plan.relevant_context.join(" ");
    assert!(IDS.iter().all(|id| context.contains(id)), "{context}");
    assert!(plan.relevant_context.contains(&"x".to_owned()));
}

#[test]
fn a_reported_fault_is_fixed_within_the_design() {
    let mut case = Case::new(
        "minor-edit",
        "Fix the type error in parser.py that's causing the build to fail",
    )
    .signals(&[Cue::ErrorReport]);
    case.settings.test_command = Some("pytest".to_owned());
    let plan = case.plan();
    assert_eq!(
        plan.guardrails,
        ["verify_before_complete", "fix_within_design"]
    );
    assert_eq!(
        plan.intent,
        "Fix the type error in parser.py that's causing the build to fail"
    );
    let all = contents(&plan);
    assert!(all[0].starts_with("Step 1: Create bd task"), "{all:?}");
    let find = |words: &str| all.iter().position(|text| text.contains(words)).unwrap();
    assert!(find("Read parser.py") < find("Make the change"));
    assert!(find("Make the change") < find("CHECKPOINT: Run pytest"));
    assert!(find("CHECKPOINT") < find("Commit and push"));
    assert!(all.last().unwrap().contains("Close bd task"));
}

#[test]
fn guardrails_follow_the_signals() {
    let plain = Case::new("minor-edit", "shorten the tooltip").plan();
    assert_eq!(plain.guardrails, ["verify_before_complete", "test_changes"]);
    let debugging = Case::new("debugging", "it dies")
        .signals(&[Cue::ErrorText])
        .plan();
    assert_eq!(
        debugging.guardrails,
        [
            "evidence_before_conclusion",
            "escalate_if_blocked",
            "quote_errors_exactly"
        ]
    );
}

#[test]
fn direct_skill_names_the_skill_and_says_when_it_is_missing() {
    let mut case = Case::new("direct-skill", "use the sql-lint skill on reports/");
    case.route.skill = Some(("sql-lint".to_owned(), false));
    let plan = case.plan();
    assert_eq!(plan.guardrails, ["require_skill:sql-lint"]);
    assert_eq!(contents(&plan), ["Invoke the sql-lint skill"]);
    assert_eq!(plan.skill.as_deref(), Some("sql-lint"));
    case.route.skill = Some(("sql-lint".to_owned(), true));
    let plan = case.plan();
    assert_eq!(
        plan.relevant_context,
        ["Skill `sql-lint` is not in the skills list"]
    );
    assert!(contents(&plan)[0].ends_with("not installed, tell the user and stop"));
}

#[test]
fn a_refusal_is_one_item_and_a_confirmation_quotes_the_question() {
    let mut case = Case::new("interactive-followup", "nah, leave it").signals(&[Cue::Refusal]);
    case.session.question = Some("Shall I drop the old index as well?".to_owned());
    case.session.replies = vec!["Shall I drop the old index as well?".to_owned()];
    case.route.refusal = true;
    let plan = case.plan();
    assert_eq!(plan.todos.len(), 1);
    assert!(contents(&plan)[0].contains("drop the old index"));
    assert!(plan.intent.contains("Shall I drop the old index as well?"));
    case.prompt.main = "go for it".to_owned();
    case.route.refusal = false;
    case.route.cues = Cues::given(&[Cue::Confirmation]);
    let plan = case.plan();
    assert!(plan.intent.contains("Shall I drop the old index as well?"));
    assert!(contents(&plan)[0].contains("Shall I drop the old index as well?"));
    assert!(plan.todos.len() > 1 && !plan.commit_required);
}

#[test]
fn an_abstention_names_the_two_closest() {
    let mut case = Case::new("plan-mode", "blorp the frunk");
    case.route.abstained = true;
    case.route.confidence = 0.31;
    case.route.alternatives = vec![
        ("minor-edit".to_owned(), 0.312),
        ("debugging".to_owned(), 0.2),
        ("qa-demo".to_owned(), 0.1),
    ];
    let plan = case.plan();
    assert_eq!(plan.intent, "Clarify: blorp the frunk");
    assert_eq!(
        plan.relevant_context,
        ["No workflow was certain enough; closest: minor-edit (0.31), debugging (0.20)"]
    );
    assert!(
        contents(&plan)
            .iter()
            .any(|text| text.starts_with("CHECKPOINT: Get the user's approval"))
    );
}

#[test]
fn intents() {
    let case = Case::new("plan-mode", "");
    assert_eq!(case.plan().intent, "Clarify: the request is empty");
    let mut case = Case::new("debugging", "");
    case.prompt.error = Some("panicked at src/main.rs:3".to_owned());
    assert!(case.plan().intent.contains("panicked at src/main.rs:3"));
    let long = format!("fix {}", "the considerable enumeration of words ".repeat(9));
    let plan = Case::new("spec-review", &long).plan();
    assert!(plan.intent.chars().count() <= 120 && plan.intent.ends_with('…'));
    // Every noun of the first 100 characters, however long the form.
    let first: String = long.chars().take(100).collect();
    let (first, _) = first.rsplit_once(' ').unwrap();
    assert!(
        plan.intent.to_lowercase().contains(first),
        "{}",
        plan.intent
    );
    let plan = Case::new("minor-edit", "could you please shorten the tooltip?").plan();
    assert_eq!(plan.intent, "Shorten the tooltip");
}

#[test]
fn an_empty_slot_is_a_general_noun_and_braces_of_a_prompt_are_text() {
    let plan = Case::new("tdd-cycle", "cover it").plan();
    assert!(
        contents(&plan)
            .iter()
            .any(|t| t.contains("a failing test for the component"))
    );
    let plan = Case::new("tdd-cycle", "cover the {tracker} parser").plan();
    let expected = "Step 1: Create bd task to track: cover the {tracker} parser";
    assert_eq!(contents(&plan)[0], expected);
    let plan = Case::file(
        "modifies_files: no\nneeds_task: no\nsteps: [\"Look at {the_thing} {\"]\n",
        "x",
    )
    .plan();
    assert_eq!(contents(&plan), ["Look at the the thing {"]);
}

#[test]
fn requirements_stand_before_the_last_checkpoint() {
    let further = "it should package a script. it must commit the result. it should add a note. it must fly high";
    let case = Case::new("minor-edit", &format!("fix the thing. {further}"));
    let plan = case.plan();
    let all = contents(&plan);
    let at = |words: &str| all.iter().position(|t| t.contains(words));
    let script = at("Package a script").unwrap();
    assert_eq!(at("Commit the result"), Some(script + 1));
    assert_eq!(at("Add a note"), Some(script + 2));
    assert_eq!(at("CHECKPOINT"), Some(script + 3));
    assert_eq!(at("Fly high"), None);
    let debugging = Case::new("debugging", "it dies. it should package a script");
    assert!(!contents(&debugging.plan()).join(" ").contains("Package"));
}

#[test]
fn the_tracker_may_have_another_name_or_be_none() {
    let mut case = Case::new("minor-edit", "fix it");
    case.settings.tracker = "jira".to_owned();
    let plan = case.plan();
    assert!(contents(&plan)[0].starts_with("Step 1: Create jira task"));
    case.settings.tracker = "none".to_owned();
    let plan = case.plan();
    assert!(contents(&plan)[0].starts_with("Step 1: Read"));
    assert!(contents(&plan).last().unwrap().ends_with("Commit and push"));
}

#[test]
fn an_incomplete_file_gives_a_valid_plan() {
    for (steps, expected) in [
        (
            "[Do it]",
            vec![
                "Step 1: Create bd task to track the work",
                "Step 2: Do it",
                "CHECKPOINT: Run cargo test and look at the result itself",
                "Step 3: Commit and push",
                "Step 4: Close bd task with the result",
            ],
        ),
        (
            "[{name: Ship it, kind: commit}, {name: Look, kind: checkpoint}, {name: Rest}]",
            vec![
                "Step 1: Create bd task to track the work",
                "CHECKPOINT: Run cargo test and look at the result itself",
                "Step 2: Ship it",
                "CHECKPOINT: Look",
                "Step 3: Rest",
                "Step 4: Close bd task with the result",
            ],
        ),
        (
            "[{name: Look, kind: checkpoint}, {name: Go}]",
            vec![
                "Step 1: Create bd task to track the work",
                "CHECKPOINT: Look",
                "Step 2: Go",
                "Step 3: Commit and push",
                "Step 4: Close bd task with the result",
            ],
        ),
    ] {
        let case = Case::file(&format!("modifies_files: yes\nsteps: {steps}\n"), "x");
        assert_eq!(contents(&case.plan()), expected, "{steps}");
    }
    let case = Case::file(
        "modifies_files: maybe\nneeds_task: no\nsteps: [Do it, {name: Commit it}]\n",
        "x",
    );
    assert_eq!(
        contents(&case.plan()),
        [
            "Step 1: Do it",
            "Step 2: If files changed, commit and push",
            "CHECKPOINT: Compare the result with what was asked, with evidence"
        ]
    );
}

#[test]
fn a_plan_shrinks_in_order() {
    let mut case = Case::new(
        "feature-dev",
        "add it. it should package a script. it should add a note",
    );
    let plan = case.plan();
    assert!(plan.todos.len() <= 12);
    let text = contents(&plan).join("\n");
    assert!(
        text.contains("Package a script") && text.contains("dd a note"),
        "{text}"
    );
    for max in 1..=12 {
        case.settings.max_todos = max;
        let plan = case.plan();
        let all = contents(&plan);
        assert!(plan.todos.len() <= max.max(5), "{max}: {all:#?}");
        assert!(all[0].contains("Create bd task") && all.join(" ").contains("CHECKPOINT: Demo"));
        assert!(all.iter().any(|t| t.ends_with("Commit and push")));
    }
}

#[test]
fn twenty_checkpoints_are_joined_not_dropped() {
    let steps: String = (0..10)
        .map(|n| format!("  - {{name: Step of {n}}}\n  - {{name: Gate {n}, kind: checkpoint}}\n"))
        .collect();
    let plan = Case::file(&format!("modifies_files: yes\nsteps:\n{steps}"), "x").plan();
    assert_eq!(plan.todos.len(), 12);
    let text = contents(&plan).join("\n").to_lowercase();
    for n in 0..10 {
        assert!(text.contains(&format!("gate {n}")), "{text}");
        assert!(text.contains(&format!("step of {n}")), "{text}");
    }
}

#[test]
fn cycles_and_missing_targets_are_one_item() {
    let plan = Case::file(
        "modifies_files: no\nneeds_task: no\nsteps:\n  - name: A\n  - workflow: \"[[gone]]\"\n  - workflow: \"[[x]]\"\nsummary: Round and round\n",
        "x",
    )
    .plan();
    assert_eq!(
        contents(&plan),
        [
            "Step 1: A",
            "Step 2: Follow gone",
            "Step 3: Round and round"
        ]
    );
}

#[test]
fn context_has_eight_lines_at_most() {
    let mut case = Case::new("minor-edit", "fix it");
    assert_eq!(case.plan().relevant_context, ["(none found)"]);
    case.settings.context = (0..20)
        .map(|n| format!("- line {n} {}", "x".repeat(300)))
        .collect();
    let lines = case.plan().relevant_context;
    assert_eq!(lines.len(), 8);
    assert!(
        lines
            .iter()
            .all(|l| l.chars().count() <= 160 && l.starts_with("line "))
    );
}

#[test]
fn degraded_is_sorted_and_knows_the_catalogue() {
    let mut case = Case::new("minor-edit", "fix it");
    case.settings.degraded = ["time", "memory", "time"].map(str::to_owned).to_vec();
    case.catalogue.warnings.push("x".to_owned());
    assert_eq!(case.plan().degraded, ["catalog", "memory", "time"]);
}
