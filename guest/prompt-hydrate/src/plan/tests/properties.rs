//! Any prompt, any route, any catalogue: a plan that parses and passes (Q-159, Q-185, Q-191, Q-211).

use super::*;
use crate::plan::accept;
use crate::route::Second;
use proptest::prelude::*;

/// Text with everything that could close a string, a fence or a line.
const HOSTILE: &str = "(\\PC|[ -~]|[\n\r\t\0`{}\"\\\\\u{202e}\u{e0041}\u{2028}]|```|\\}, \\{content: \"|CHECKPOINT: |Step 3: |commit and push|create bd task |close bd task|workflows/minor-edit.md|\\[\\[x\\]\\]|answer: |requires a human|also |please ){0,24}";

fn prompts() -> impl Strategy<Value = Prompt> {
    (
        HOSTILE,
        prop::option::of(HOSTILE),
        prop::option::of(HOSTILE),
        prop::collection::vec(HOSTILE, 0..5),
        prop::option::of(HOSTILE),
    )
        .prop_map(|(main, object, error, list, count)| Prompt {
            main,
            object,
            error,
            requirements: list.clone(),
            paths: list.clone(),
            quoted: list,
            count,
            ..Prompt::default()
        })
}

fn signals() -> impl Strategy<Value = Signals> {
    prop::collection::vec(prop::sample::select(Signal::ALL.to_vec()), 0..5)
        .prop_map(|signals| Signals::given(&signals, false))
}

/// A workflow id of the default catalogue and what a route may say beside it.
fn cases() -> impl Strategy<Value = Case> {
    let catalogue = Catalogue::embedded(&["extended".to_owned()]);
    let ids: Vec<String> = catalogue.workflows.iter().map(|w| w.id.clone()).collect();
    let id = prop::sample::select(ids);
    let second = prop::option::of((
        prop::option::of(id.clone()),
        prompts(),
        signals(),
        any::<bool>(),
    ));
    (
        (prompts(), id, signals(), second),
        (
            any::<bool>(),
            any::<bool>(),
            prop::option::of((HOSTILE, any::<bool>())),
        ),
        (
            1_usize..=12,
            "none|bd|the board|x!",
            HOSTILE,
            prop::option::of(HOSTILE),
        ),
    )
        .prop_map(
            move |(
                (prompt, id, signals, second),
                (abstained, refusal, skill),
                (max, tracker, context, asked),
            )| {
                let mut case = Case::new(&id, "");
                case.catalogue = catalogue.clone();
                case.prompt = prompt;
                case.session.question = asked;
                case.route.signals = signals;
                case.route.abstained = abstained;
                case.route.refusal = refusal && id == "interactive-followup";
                case.route.skill = skill;
                case.route.second = second.map(|(workflow, prompt, signals, before)| Second {
                    workflow,
                    prompt,
                    signals,
                    before,
                });
                case.settings.max_todos = max;
                case.settings.tracker = tracker;
                case.settings.context = vec![context];
                case
            },
        )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn q_211_any_route_of_any_prompt_gives_a_plan_that_parses_and_passes(case in cases()) {
        let plan = case.plan();
        prop_assert!(plan.todos.len() <= 12);
        prop_assert!(plan.intent.chars().count() <= 120);
        prop_assert_eq!(case.plan(), plan);
    }

    #[test]
    fn q_185_the_number_of_items_is_what_the_workflow_gives(text in HOSTILE) {
        let plain = Case::new("minor-edit", "fix it").object("it").plan();
        let hostile = Case::new("minor-edit", &text).object(&text).plan();
        prop_assert_eq!(plain.todos.len(), hostile.todos.len());
    }

    #[test]
    fn q_191_any_workflow_file_gives_a_plan(
        modifies in "yes|no|maybe",
        task in "yes|no",
        steps in prop::collection::vec(("(\\PC|[ -~]|\\{object\\}|\\{intent\\}|commit |Create bd task|close bd task |CHECKPOINT: |workflows/x.md|`y` skill |answer: ){1,12}", "step|checkpoint|task_open|task_close|commit", prop::option::of("\\[\\[(x|y|tdd-cycle)\\]\\]")), 1..20),
        main in HOSTILE,
        max in 1_usize..=12,
    ) {
        let steps: Vec<serde_json::Value> = steps
            .into_iter()
            .map(|(name, kind, workflow)| match workflow {
                Some(workflow) => serde_json::json!({"name": name, "kind": kind, "workflow": workflow}),
                None => serde_json::json!({"name": name, "kind": kind}),
            })
            .collect();
        // JSON is YAML enough.
        let steps = serde_json::to_string(&steps).unwrap();
        let text = format!("modifies_files: {modifies}\nneeds_task: {task}\nsteps: {steps}\n");
        let mut case = Case::file(&text, &main);
        prop_assume!(case.catalogue.get("x").is_some());
        case.settings.max_todos = max;
        prop_assert!(case.plan().todos.len() <= 12);
    }

    #[test]
    fn q_178_any_reply_is_a_plan_or_refused(text in HOSTILE, intent in HOSTILE, content in HOSTILE) {
        let case = Case::new("minor-edit", "fix it");
        let json = serde_json::json!({
            "intent": intent, "workflow": "qa-demo", "guardrails": ["evidence_required", "quote_errors_exactly"],
            "relevant_context": [text],
            "todos": [{"content": format!("Step 1: {content}"), "status": "pending", "activeForm": "Working"},
                      {"content": "CHECKPOINT: Look", "status": "pending", "activeForm": "Looking"}],
        })
        .to_string();
        for text in [text, json] {
            if let Ok(plan) = accept(&text, &case.question(), &case.route, &case.settings, "") {
                round_trips(&plan);
            }
        }
    }
}

#[test]
fn q_151_what_is_joined_to_fit_leaves_the_commit_its_checkpoint() {
    let names = [
        "a", "b", "c", "d", "e", "f", "save", "g", "h", "i", "j", "k",
    ];
    let steps: Vec<serde_json::Value> = names
        .into_iter()
        .enumerate()
        .map(|(place, name)| {
            let kind = match (name, place % 2) {
                ("save", _) => "commit",
                (_, 0) => "checkpoint",
                _ => "step",
            };
            serde_json::json!({"name": name, "kind": kind})
        })
        .collect();
    let steps = serde_json::to_string(&steps).unwrap();
    let text = format!("modifies_files: yes\nneeds_task: yes\nsteps: {steps}\n");
    let mut case = Case::file(&text, "carry on");
    case.settings.max_todos = 1;
    assert!(case.plan().todos.len() <= 12);
}
