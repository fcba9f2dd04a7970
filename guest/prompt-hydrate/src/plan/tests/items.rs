//! What every item and every plan keeps to, whatever workflow it is of.

use super::*;
use crate::catalogue::Modifies;

/// A plan of every workflow, of the pack too, with and without the signals that steps wait for.
fn plans() -> Vec<(Modifies, Plan)> {
    let catalogue = Catalogue::embedded(&["extended".to_owned()]);
    let mut plans = Vec::new();
    for workflow in &catalogue.workflows {
        for signals in [&[][..], &[Cue::ErrorReport, Cue::ErrorText]] {
            let mut case = Case::new(&workflow.id, "look after the lease reaper").signals(signals);
            case.catalogue = catalogue.clone();
            plans.push((workflow.modifies, case.plan()));
        }
    }
    assert_eq!(plans.len(), 46);
    plans
}

#[test]
fn only_what_changes_files_commits_after_its_checkpoint_and_before_the_task_closes() {
    for (modifies, plan) in plans() {
        let all = contents(&plan);
        let at = |found: &dyn Fn(&str) -> bool| all.iter().position(|text| found(text));
        let commits = all
            .iter()
            .filter(|text| text.ends_with(": Commit and push"))
            .count();
        assert_eq!(commits, usize::from(modifies == Modifies::Yes), "{all:#?}");
        match modifies {
            Modifies::Yes => {
                let checkpoint = at(&|text| text.starts_with("CHECKPOINT: ")).unwrap();
                let commit = at(&|text| text.ends_with(": Commit and push")).unwrap();
                assert!(checkpoint < commit, "{all:#?}");
                if let Some(close) = at(&|text| text.contains(": Close bd task")) {
                    assert!(commit < close, "{all:#?}");
                }
            }
            Modifies::Maybe => {
                for text in all.iter().filter(|text| text.contains("ommit ")) {
                    assert!(
                        text.contains("If files changed") || text.contains("if files changed"),
                        "{text}"
                    );
                }
            }
            Modifies::No => assert!(!all.join("\n").contains("ommit and push"), "{all:#?}"),
        }
        assert_eq!(plan.commit_required, modifies == Modifies::Yes);
    }
}

#[test]
fn a_commit_is_never_in_a_plan_that_changes_nothing_whatever_the_file_says() {
    for (modifies, steps) in [
        (
            "no",
            "[{name: Look}, {name: Commit and push, kind: commit}]",
        ),
        (
            "maybe",
            "[{name: Look, kind: checkpoint}, {name: Commit and push, kind: commit}]",
        ),
    ] {
        let text = format!("modifies_files: {modifies}\nneeds_task: no\nsteps: {steps}\n");
        let plan = Case::file(&text, "x").plan();
        assert!(!plan.commit_required, "{plan:#?}");
        for text in contents(&plan) {
            assert!(
                !text.contains("ommit") || modifies == "maybe" && text.contains("If files changed"),
                "{text}"
            );
        }
    }
}

#[test]
fn steps_are_numbered_from_one_without_gaps_and_one_alone_is_not() {
    for (_, plan) in plans() {
        let all = contents(&plan);
        if let [only] = all.as_slice() {
            assert!(
                !only.starts_with("Step ") && !only.starts_with("CHECKPOINT"),
                "{only}"
            );
            continue;
        }
        let steps = all.iter().filter(|text| !text.starts_with("CHECKPOINT: "));
        for (place, text) in steps.enumerate() {
            assert!(
                text.starts_with(&format!("Step {}: ", place + 1)),
                "{all:#?}"
            );
        }
    }
}

#[test]
fn every_active_form_is_one_to_three_words_with_a_capital() {
    for (_, plan) in plans() {
        for todo in &plan.todos {
            let words: Vec<_> = todo.active_form.split(' ').collect();
            assert!((1..=3).contains(&words.len()), "{todo:?}");
            assert!(words.iter().all(|word| !word.is_empty()), "{todo:?}");
            assert!(todo.active_form.starts_with(char::is_uppercase), "{todo:?}");
        }
    }
    // Of the file, else of the first verb, else of no verb at all.
    let plan = Case::file(
        "modifies_files: no\nneeds_task: no\nsteps: [{name: Look around, active: peering}, {name: Verify the sum}, {name: \"\u{fc}ber 3\"}]\n",
        "x",
    )
    .plan();
    let forms: Vec<_> = plan.todos.iter().map(|t| t.active_form.as_str()).collect();
    assert_eq!(forms, ["Peering", "Verifying", "Working"]);
}

#[test]
fn every_item_is_pending() {
    for (_, plan) in plans() {
        let json: serde_json::Value = serde_json::to_value(&plan).unwrap();
        let todos = json["todos"].as_array().unwrap();
        assert_eq!(todos.len(), plan.todos.len());
        assert!(todos.iter().all(|todo| todo["status"] == "pending"));
        let markdown = plan.markdown();
        let pending = markdown.matches(", status: \"pending\", activeForm: ");
        assert_eq!(pending.count(), todos.len(), "{markdown}");
    }
}

#[test]
fn the_keys_stand_in_their_order_and_items_have_three() {
    const KEYS: [&str; 14] = [
        "schema",
        "intent",
        "workflow",
        "quality_gate",
        "guardrails",
        "relevant_context",
        "todos",
        "commit_required",
        "confidence",
        "abstained",
        "alternatives",
        "skill",
        "planner",
        "degraded",
    ];
    for (_, plan) in plans() {
        let text = serde_json::to_string(&plan).unwrap();
        // The text, not what a parser makes of it: parsers may sort.
        let places = KEYS.map(|key| text.find(&format!("\"{key}\":")).unwrap());
        assert!(places.is_sorted(), "{text}");
        let json: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(json.as_object().unwrap().len(), KEYS.len());
        assert_eq!(json["schema"], "hydrant.plan/1");
        for todo in json["todos"].as_array().unwrap() {
            let mut keys: Vec<_> = todo.as_object().unwrap().keys().collect();
            keys.sort();
            assert_eq!(keys, ["activeForm", "content", "status"]);
        }
        for other in json["alternatives"].as_array().unwrap() {
            assert_eq!(other.as_object().unwrap().len(), 2);
            assert!(other["workflow"].is_string() && other["score"].is_number());
        }
    }
}
