//! The default catalogue, workflow by workflow: what each plan holds.

use super::*;
use crate::catalogue::Modifies;
use crate::catalogue::StepKind::{self, Checkpoint, Commit, Step, TaskClose, TaskOpen};

/// An item: what it is, and words of it.
type Item = (StepKind, &'static [&'static str]);

const OPEN: Item = (TaskOpen, &["Create bd task to track"]);
const CLOSE: Item = (TaskClose, &["Close bd task"]);
const COMMIT: Item = (Commit, &["Commit and push"]);

/// A prompt with all that the slots ask for.
fn case(id: &str, signals: &[Cue]) -> Case {
    let mut case = Case::new(id, "look after the lease reaper").signals(signals);
    case.prompt.error = Some("E0433: no such lease".to_owned());
    case
}

fn kind(content: &str) -> StepKind {
    let (label, text) = content.split_once(": ").unwrap_or(("", content));
    match text {
        _ if label == "CHECKPOINT" => Checkpoint,
        "Commit and push" => Commit,
        _ if text.starts_with("Create bd task") => TaskOpen,
        _ if text.starts_with("Close bd task") => TaskClose,
        _ => Step,
    }
}

/// The plan has these items and no others, and so has the file, but for what it refers to.
fn gives(case: &Case, expected: &[Item]) {
    let plan = case.plan();
    let all = contents(&plan);
    assert_eq!(all.len(), expected.len(), "{all:#?}");
    for (content, (wanted, words)) in all.iter().zip(expected) {
        assert_eq!(kind(content), *wanted, "{content}");
        for word in *words {
            assert!(content.contains(word), "{word:?} is not in {content:?}");
        }
    }
    let workflow = case.catalogue.get(&plan.workflow).unwrap();
    if workflow.steps.iter().any(|step| step.workflow.is_some()) {
        return;
    }
    let holds = |step: &&crate::catalogue::Step| {
        step.when
            .is_none_or(|when| case.route.cues.has(when.cue) != when.negated)
    };
    let steps = workflow.steps.iter().filter(holds);
    assert_eq!(
        steps.map(|step| step.kind).collect::<Vec<_>>(),
        expected.iter().map(|(kind, _)| *kind).collect::<Vec<_>>()
    );
}

/// Category, gate, guardrails, whether it changes files and whether it is tracked, in decision order.
#[test]
fn the_table_of_the_default_workflows() {
    use Modifies::{Maybe, No, Yes};
    type Line = (
        &'static str,
        &'static str,
        &'static str,
        &'static [&'static str],
        Modifies,
        bool,
    );
    let table: [Line; 12] = [
        (
            "direct-skill",
            "routing",
            "Delegated",
            &["require_skill:sql-lint"],
            Maybe,
            false,
        ),
        (
            "interactive-followup",
            "routing",
            "Continuity checked",
            &["verify_before_complete"],
            Maybe,
            false,
        ),
        (
            "simple-question",
            "information",
            "Answer accuracy",
            &[],
            No,
            false,
        ),
        (
            "decompose",
            "planning",
            "Next step ready",
            &["critic_review", "use_todowrite"],
            No,
            true,
        ),
        (
            "batch-processing",
            "operations",
            "All items processed",
            &["per_item_verification", "aggregate_qa"],
            Yes,
            true,
        ),
        (
            "debugging",
            "development",
            "Evidence gathered",
            &["evidence_before_conclusion", "escalate_if_blocked"],
            Maybe,
            true,
        ),
        (
            "spec-review",
            "planning",
            "Convergence",
            &["critic_review"],
            Maybe,
            true,
        ),
        (
            "qa-demo",
            "qa",
            "Evidence shown",
            &["evidence_required", "quote_errors_exactly"],
            No,
            false,
        ),
        (
            "minor-edit",
            "development",
            "Verification required",
            &["verify_before_complete", "test_changes"],
            Yes,
            true,
        ),
        (
            "tdd-cycle",
            "development",
            "Tests pass",
            &["require_acceptance_test", "verify_before_complete"],
            Yes,
            true,
        ),
        (
            "feature-dev",
            "development",
            "Tests pass, QA verified",
            &["require_acceptance_test", "verify_before_complete"],
            Yes,
            true,
        ),
        (
            "plan-mode",
            "planning",
            "User approval required",
            &["plan_mode", "critic_review", "user_approval_required"],
            Maybe,
            false,
        ),
    ];
    let order: Vec<_> = EMBEDDED.workflows.iter().map(|w| w.id.as_str()).collect();
    assert_eq!(order, table.map(|line| line.0));
    for (id, category, gate, guardrails, modifies, task) in table {
        let mut case = case(id, &[]);
        case.route.skill = (id == "direct-skill").then(|| ("sql-lint".to_owned(), false));
        let plan = case.plan();
        assert_eq!(
            (plan.quality_gate.as_str(), plan.guardrails.as_slice()),
            (
                gate,
                &*guardrails
                    .iter()
                    .map(|g| (*g).to_owned())
                    .collect::<Vec<_>>()
            ),
            "{id}"
        );
        let workflow = case.catalogue.get(id).unwrap();
        assert_eq!(
            (
                workflow.category.as_str(),
                workflow.modifies,
                workflow.needs_task
            ),
            (category, modifies, task),
            "{id}"
        );
        let tracked = contents(&plan).join("\n").contains("bd task");
        assert_eq!(tracked, task, "{id}");
    }
}

#[test]
fn direct_skill_invokes_the_skill() {
    let mut case = case("direct-skill", &[]);
    case.route.skill = Some(("sql-lint".to_owned(), false));
    gives(&case, &[(Step, &["Invoke the sql-lint skill"])]);
}

#[test]
fn interactive_followup_carries_on_or_leaves_it() {
    gives(
        &case("interactive-followup", &[Cue::Continuation]),
        &[
            (
                Step,
                &["work already open", "carry on with: ", "lease reaper"],
            ),
            (Checkpoint, &["the result", "what was just asked"]),
            (Step, &["If files changed, commit", "with the open work"]),
        ],
    );
    let mut refused = case("interactive-followup", &[Cue::Refusal]);
    refused.session.question = Some("Shall I drop it?".to_owned());
    refused.route.refusal = true;
    gives(
        &refused,
        &[(Step, &["Leave it undone", "ask the user for the next step"])],
    );
}

#[test]
fn simple_question_answers() {
    gives(
        &case("simple-question", &[Cue::Interrogative]),
        &[(Step, &["Answer the question about the lease reaper"])],
    );
}

#[test]
fn decompose_makes_the_next_task_ready() {
    gives(
        &case("decompose", &[]),
        &[
            OPEN,
            (Step, &["State the goal", "finished means"]),
            (Step, &["assumptions", "could be wrong"]),
            (
                Step,
                &["coarse parts", "order them by what each would teach"],
            ),
            (Step, &["Expand only the first part into tasks"]),
            (Checkpoint, &["the breakdown with the user"]),
            (Step, &["next task ready"]),
            CLOSE,
        ],
    );
}

#[test]
fn batch_processing_accounts_for_every_item() {
    gives(
        &case("batch-processing", &[]),
        &[
            OPEN,
            (Step, &["item list", "note its count"]),
            (Step, &["one item completely", "check it"]),
            (Step, &["the rest", "for each"]),
            (Step, &["sample of the whole"]),
            (Checkpoint, &["accounted for as done, skipped or failed"]),
            COMMIT,
            CLOSE,
        ],
    );
}

#[test]
fn debugging_finds_the_cause_before_any_fix() {
    for (signals, symptom) in [
        (
            &[Cue::ErrorText][..],
            &["Reproduce", "E0433: no such lease"],
        ),
        (&[], &["Reproduce", "the symptom"]),
    ] {
        gives(
            &case("debugging", signals),
            &[
                OPEN,
                (Step, &["right behaviour of the lease reaper"]),
                (Step, symptom),
                (Step, &["root cause", "one hypothesis"]),
                (
                    Checkpoint,
                    &["findings", "evidence", "configuration, data or code"],
                ),
                (
                    Step,
                    &[
                        "If a fix is needed",
                        "scope in the task",
                        "implement it and run the reproduction again",
                    ],
                ),
                CLOSE,
            ],
        );
    }
}

#[test]
fn spec_review_puts_a_proposal_to_the_user() {
    gives(
        &case("spec-review", &[]),
        &[
            OPEN,
            (Step, &["Collect what the lease reaper has to do", "limits"]),
            (Step, &["Write the proposal", "options", "cost"]),
            (Step, &["criticised"]),
            (Step, &["Revise", "until no new objection comes"]),
            (
                Checkpoint,
                &["the proposal and its open questions to the user"],
            ),
            CLOSE,
        ],
    );
}

#[test]
fn qa_demo_judges_by_real_output() {
    gives(
        &case("qa-demo", &[]),
        &[
            (Step, &["List what the lease reaper must do"]),
            (Step, &["end to end as its user would"]),
            (Step, &["Keep the real output"]),
            (Checkpoint, &["Judge each point", "evidence"]),
            (
                Step,
                &["Report the verdict", "each failure as follow-up work"],
            ),
        ],
    );
}

#[test]
fn minor_edit_reads_changes_and_verifies() {
    let mut edit = case("minor-edit", &[]);
    edit.prompt = Prompt::read("look after the lease reaper. it should package a script");
    let read: Item = (Step, &["Read the lease reaper", "what has to change"]);
    let change: Item = (Step, &["Make the change in the lease reaper"]);
    let required: Item = (Step, &["Package a script"]);
    let verify: Item = (Checkpoint, &["Run cargo test", "look at"]);
    // What the prompt requires beside it is no step of the file.
    let plan = edit.plan();
    let kinds: Vec<_> = contents(&plan).into_iter().map(kind).collect();
    assert_eq!(
        kinds,
        [TaskOpen, Step, Step, Step, Checkpoint, Commit, TaskClose]
    );
    assert!(contents(&plan)[3].contains(required.1[0]), "{plan:#?}");
    gives(
        &case("minor-edit", &[]),
        &[OPEN, read, change, verify, COMMIT, CLOSE],
    );
    let show: Item = (Step, &["Get", "E0433: no such lease", "to show in a check"]);
    gives(
        &case("minor-edit", &[Cue::ErrorReport]),
        &[OPEN, read, show, change, verify, COMMIT, CLOSE],
    );
}

/// from the failing test to tidy code.
const CYCLE: [Item; 5] = [
    (Step, &["Write a failing test for the lease reaper"]),
    (Step, &["see it fail for the expected reason"]),
    (Step, &["Write the least code that makes it pass"]),
    (Step, &["Tidy", "green"]),
    (
        Checkpoint,
        &["Run cargo test: all pass", "nothing else broke"],
    ),
];

#[test]
fn tdd_cycle_starts_with_a_failing_test() {
    let items = [&[OPEN][..], &CYCLE, &[COMMIT, CLOSE]].concat();
    gives(&case("tdd-cycle", &[]), &items);
}

#[test]
fn feature_dev_holds_the_cycle_between_criteria_and_demonstration() {
    let before: [Item; 4] = [
        OPEN,
        (Step, &["Write acceptance criteria for the lease reaper"]),
        (Step, &["Plan the change", "files it touches"]),
        (Step, &["Have the plan criticised once"]),
    ];
    let after: [Item; 3] = [
        (
            Checkpoint,
            &[
                "Demonstrate the lease reaper against the acceptance criteria",
                "keep the evidence",
            ],
        ),
        COMMIT,
        CLOSE,
    ];
    let items = [&before[..], &CYCLE, &after].concat();
    assert_eq!(items.len(), 12);
    gives(&case("feature-dev", &[]), &items);
}

#[test]
fn plan_mode_changes_nothing_before_approval() {
    gives(
        &case("plan-mode", &[]),
        &[
            (Step, &["Restate the goal", "what is unclear"]),
            (Step, &["Look into the lease reaper read-only"]),
            (Step, &["Write a plan with acceptance criteria"]),
            (Step, &["criticised"]),
            (
                Checkpoint,
                &["the user's approval before changing anything"],
            ),
            (
                Step,
                &["After approval, open a task", "under the workflow it names"],
            ),
        ],
    );
}
