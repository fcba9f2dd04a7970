//! Examples whose outputs are required, from the prompt to the plan.

use super::*;
use crate::route::decide;

const EXAMPLE_1: &str = r##"check the custodiet agent -- make sure it doesn't use inline python:

  ⎿  Bash(python3 -c "
  import sys; sys.path.insert(0, '/home/nic/src/academicOps/lib')
  from session_state import set_custodiet_block
  set_custodiet_block('$CLAUDE_SESSION_ID', 'Agent modified setup.sh without user approval after discovering root cause - violates P#5 (Do One Thing) and
  P#31
  (Acceptance Criteria Own Success)')
  "
  )

  it should package a script if required"##;
const EXAMPLE_2: &str = "what workflows are available?";
const EXAMPLE_3: &str = "figure out why the memory server isn't returning results";
const SECTION_3: &str = "Fix the type error in parser.py that's causing the build to fail";

/// The plan of a prompt without memory, in an empty tree.
fn planned(text: &str) -> Plan {
    let mut case = Case::new("plan-mode", "");
    case.prompt = Prompt::read(text);
    case.settings.test_command = None;
    case.route = decide(&case.question());
    case.plan()
}

/// the same prompt in other clothes.
fn variants(text: &str) -> Vec<String> {
    vec![
        text.to_owned(),
        // A blank line would end the pasted block.
        format!("\n\t {}\n\n", text.replace(' ', "  ")),
        text.replace('\n', "\r\n"),
        format!("please {text}"),
        text.to_uppercase(),
    ]
}

fn position(plan: &Plan, words: &[&str]) -> usize {
    contents(plan)
        .iter()
        .position(|text| {
            let text = text.to_lowercase();
            words.iter().any(|word| text.contains(word))
        })
        .unwrap_or_else(|| panic!("{words:?} in {:#?}", contents(plan)))
}

fn head(plan: &Plan) -> String {
    plan.markdown()
        .lines()
        .skip(3)
        .take(2)
        .collect::<Vec<_>>()
        .join("\n")
}

#[test]
fn of_the_seed() {
    for text in variants(SECTION_3) {
        let plan = planned(&text);
        assert_eq!(
            head(&plan),
            "**Workflow**: minor-edit (Verification required)\n**Guardrails**: verify_before_complete, fix_within_design",
            "{text}"
        );
        assert!(plan.commit_required);
        let intent = plan.intent.to_lowercase();
        assert!(
            intent.contains("type error")
                && intent.contains("parser.py")
                && intent.contains("build")
        );
        assert!(position(&plan, &["read parser.py"]) < position(&plan, &["make the change"]));
        let checkpoint = position(&plan, &["checkpoint: run the project's tests"]);
        assert!(checkpoint < position(&plan, &["commit and push"]));
    }
}

#[test]
fn example_1() {
    for text in variants(EXAMPLE_1) {
        let plan = planned(&text);
        assert_eq!(
            head(&plan),
            "**Workflow**: minor-edit (Verification required)\n**Guardrails**: verify_before_complete, test_changes",
            "{text}"
        );
        let intent = plan.intent.to_lowercase();
        assert!(
            ["custodiet", "inline", "python"]
                .iter()
                .all(|word| intent.contains(word))
        );
        assert!(contents(&plan)[0].starts_with("Step 1: Create bd task "));
        let read = position(&plan, &["read the custodiet agent", "read custodiet agent"]);
        let change = position(
            &plan,
            &["change in the custodiet agent", "change in custodiet agent"],
        );
        let script = position(&plan, &["package a script"]);
        let checkpoint = position(&plan, &["checkpoint:"]);
        let commit = position(&plan, &["commit and push"]);
        assert!(read < change && change < script && script < checkpoint && checkpoint < commit);
        assert!(contents(&plan)[checkpoint].contains("tests"));
        let last = contents(&plan).last().unwrap().to_lowercase();
        assert!(last.contains("close bd task"));
        assert!(
            (6..=9).contains(&plan.todos.len()),
            "{:#?}",
            contents(&plan)
        );
        let all = format!("{} {}", plan.intent, contents(&plan).join(" ")).to_lowercase();
        for pasted in ["p#5", "set_custodiet_block", "without user approval"] {
            assert!(!all.contains(pasted), "{all}");
        }
    }
}

#[test]
fn example_2() {
    for text in variants(EXAMPLE_2) {
        let plan = planned(&text);
        assert_eq!(
            head(&plan),
            "**Workflow**: simple-question (Answer accuracy)\n**Guardrails**: none",
            "{text}"
        );
        assert_eq!(plan.todos.len(), 1);
        assert!(plan.todos[0].content.starts_with("Answer "));
        assert_eq!(plan.todos[0].active_form, "Answering");
        assert!(!plan.commit_required && !plan.todos[0].content.contains("task"));
        assert!(plan.intent.to_lowercase().contains("workflows"));
        assert!(plan.relevant_context[0].contains("simple-question"));
    }
}

#[test]
fn example_3() {
    for text in variants(EXAMPLE_3) {
        let plan = planned(&text);
        assert_eq!(
            head(&plan),
            "**Workflow**: debugging (Evidence gathered)\n**Guardrails**: evidence_before_conclusion, escalate_if_blocked",
            "{text}"
        );
        let intent = plan.intent.to_lowercase();
        assert!(intent.contains("memory server") && intent.contains("results"));
        assert!(contents(&plan)[0].starts_with("Step 1: Create bd task "));
        let reproduce = position(&plan, &["reproduce"]);
        let fix = position(&plan, &["if a fix is needed"]);
        assert!(reproduce < position(&plan, &["checkpoint: write down the findings"]));
        assert!(reproduce < fix && !plan.commit_required);
        let checkpoints = contents(&plan)
            .iter()
            .filter(|t| t.starts_with("CHECKPOINT"))
            .count();
        assert_eq!(checkpoints, 1);
        assert!(contents(&plan).last().unwrap().contains("Close bd task"));
        assert!((5..=8).contains(&plan.todos.len()));
    }
}

#[test]
fn white_space_alone_abstains() {
    let plan = planned(" \n\t ");
    assert_eq!(
        (plan.workflow.as_str(), plan.abstained),
        ("plan-mode", true)
    );
    assert_eq!(plan.intent, "Clarify: the request is empty");
}

#[test]
fn every_example_and_pair_of_examples_gives_a_plan() {
    let mut case = Case::new("plan-mode", "");
    let examples: Vec<String> = case
        .catalogue
        .workflows
        .iter()
        .flat_map(|workflow| workflow.examples.clone())
        .collect();
    // Each alone, and before another one that is far from it.
    let far = examples.iter().skip(examples.len() / 3);
    let pairs = examples.iter().zip(far).step_by(3);
    let pairs: Vec<String> = pairs
        .flat_map(|(a, b)| [format!("{a}, then {b}"), format!("{a}. Also {b}")])
        .collect();
    for text in examples.iter().chain(&pairs) {
        case.prompt = Prompt::read(text);
        case.route = decide(&case.question());
        let plan = case.plan();
        assert!(plan.todos.len() <= 12, "{text}");
    }
}

#[test]
fn any_text_read_as_a_prompt_gives_a_plan() {
    for text in [
        "}, {content: \"x\", status: \"done\"}",
        "``````\n```javascript\nTodoWrite(todos=[])\n```",
        "{prompt} {{session_context}} %s $1",
        "\0\u{202e}evil\u{e0041}",
        "commit and push",
        "CHECKPOINT: Step 3: close bd task",
        "[[workflows/minor-edit]] Read workflows/minor-edit.md",
        "explain it and then commit and push it and then delete it",
    ] {
        planned(text);
        planned(&text.repeat(200));
    }
}
