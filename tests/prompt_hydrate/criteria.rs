//! Acceptance criteria of prompt hydration, and its examples.

use std::fs;

use serde_json::json;

use crate::desk::{Desk, Hydrated, context};
use crate::grammar::{self, Plan};

/// A prompt for each workflow of the default catalogue, with the words of its gate.
const EACH: [(&str, &str, &str); 11] = [
    (
        "use the sql-lint skill on reports/",
        "direct-skill",
        "Delegated",
    ),
    (
        "what workflows are available?",
        "simple-question",
        "Answer accuracy",
    ),
    (
        "I have to get this tool certified for hospital use within eighteen months",
        "decompose",
        "Next step ready",
    ),
    (
        "stamp a checksum into each of the 63 manifests under out/",
        "batch-processing",
        "All items processed",
    ),
    (
        "figure out why the memory server isn't returning results",
        "debugging",
        "Evidence gathered",
    ),
    (
        "set out how tenant quotas ought to work and argue both sides before anyone codes",
        "spec-review",
        "Convergence",
    ),
    (
        "demonstrate that last night's snapshot restores onto an empty host",
        "qa-demo",
        "Evidence shown",
    ),
    (
        "shorten the tooltip on the archive button to one line",
        "minor-edit",
        "Verification required",
    ),
    (
        "red-green this: parse_duration has to accept 1h30m",
        "tdd-cycle",
        "Tests pass",
    ),
    (
        "give reviewers a way to pin a remark",
        "feature-dev",
        "Tests pass, QA verified",
    ),
    (
        "show me a plan for splitting billing.rs before touching anything",
        "plan-mode",
        "User approval required",
    ),
];

#[test]
fn thirty_different_prompts_give_thirty_files() {
    let desk = Desk::new();
    let more = [
        "hi",
        "?",
        "thanks!",
        "go for it",
        "1",
        "é",
        "你好，请修复登录页面",
        "привет",
        "blorp the frunk",
        "fix it",
        "TODO",
        "make the tests pass and then tell me what was wrong",
        "why?",
        "the thumbnail worker dies after about forty jobs",
        "run the build",
        "how would I evict a stale lease by hand?",
        "put a link captioned \"what is this?\" in the page header",
        "x = 1\ny = 2",
        "raise the upload cap to 40 MB; then tell me which services read it",
    ];
    let prompts = EACH.iter().map(|(prompt, ..)| *prompt).chain(more);
    let mut count = 0;
    for prompt in prompts {
        let hydrated = desk.prompt(prompt);
        assert!(hydrated.text.contains(prompt));
        assert_eq!(hydrated.stderr, "");
        grammar::read(&hydrated.draft());
        count += 1;
    }
    assert!(count >= 30, "{count}");
    assert_eq!(desk.files().len(), count);
}

#[test]
fn every_workflow_has_its_gate_and_its_checkpoints() {
    let desk = Desk::new();
    for (prompt, workflow, gate) in EACH {
        let plan = desk.plan_with(&["--no-context", "--workflow", workflow], prompt);
        assert_eq!(plan["workflow"], workflow, "{prompt}");
        assert_eq!(plan["quality_gate"], gate, "{prompt}");
        let contents: Vec<_> = plan["todos"]
            .as_array()
            .unwrap()
            .iter()
            .map(|todo| todo["content"].as_str().unwrap())
            .collect();
        let checkpoint = contents
            .iter()
            .position(|one| one.starts_with("CHECKPOINT: "));
        let commit = contents
            .iter()
            .position(|one| one.ends_with("Commit and push"));
        match workflow {
            "direct-skill" | "simple-question" => assert_eq!(contents.len(), 1),
            "batch-processing" | "minor-edit" | "tdd-cycle" | "feature-dev" => {
                assert!(checkpoint.unwrap() < commit.unwrap(), "{contents:?}");
            }
            _ => {
                assert!(checkpoint.is_some(), "{contents:?}");
                assert!(commit.is_none(), "{contents:?}");
            }
        }
        assert_eq!(plan["commit_required"], json!(commit.is_some()));
        for content in contents {
            for word in ["workflows/", ".md`", "choose a workflow", "pick a workflow"] {
                assert!(!content.contains(word), "{content}");
            }
        }
    }
}

/// The same plan by either way, in either form.
#[test]
fn markdown_json_hook_and_command_tell_the_same_plan() {
    let desk = Desk::new();
    for (prompt, ..) in EACH {
        let json = desk.plan(prompt);
        let markdown = desk
            .folder()
            .ok(&["plan", "--no-context", "--", prompt])
            .stdout;
        let plan = grammar::read(&markdown);
        assert_eq!(plan.workflow, json["workflow"].as_str().unwrap());
        assert_eq!(plan.gate, json["quality_gate"].as_str().unwrap());
        assert_eq!(plan.intent, json["intent"].as_str().unwrap());
        assert_eq!(json!(plan.guardrails), json["guardrails"]);
        assert_eq!(json!(plan.context), json["relevant_context"]);
        assert_eq!(json!(plan.todos), json["todos"]);
        assert_eq!(desk.prompt(prompt).draft(), markdown);
    }
}

#[test]
fn a_hundred_equal_requests_give_equal_bytes() {
    let desk = Desk::new();
    let plan = || {
        desk.folder()
            .ok(&["plan", "--format", "json", "--no-context", "--", EACH[7].0])
            .stdout
    };
    let first = plan();
    for _ in 1..100 {
        assert_eq!(plan(), first);
    }
}

#[test]
fn a_workflow_file_counts_from_the_next_run_on() {
    let desk = Desk::new();
    let catalog = desk.folder().path("flows");
    let file = catalog.join("workflows/release-train.md");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    let workflow = |gate: &str| {
        format!(
            "---\nid: release-train\ntitle: Release train\ndescription: Cut a release\ncategory: operations\n\
             quality_gate: {gate}\nmodifies_files: maybe\nneeds_task: false\ntriggers: [\"cut the train\"]\n\
             steps:\n  - {{name: \"Freeze the branch\", active: Freezing}}\n\
             \u{20} - {{name: \"Look at the freeze\", active: Checking, kind: checkpoint}}\n---\n\nCut it.\n"
        )
    };
    let routed = || {
        let catalog = catalog.to_str().unwrap();
        let run = desk.folder().ok(&[
            "route",
            "--format",
            "json",
            "--catalog",
            catalog,
            "cut the train for 4.2",
        ]);
        run.json()["workflow"].as_str().unwrap().to_owned()
    };
    let gate = || {
        let plan = desk.plan_with(
            &["--no-context", "--catalog", catalog.to_str().unwrap()],
            "cut the train for 4.2",
        );
        plan["quality_gate"].as_str().unwrap().to_owned()
    };
    let before = routed();
    assert_ne!(before, "release-train");
    fs::write(&file, workflow("Train left")).unwrap();
    assert_eq!(routed(), "release-train");
    assert_eq!(gate(), "Train left");
    fs::write(&file, workflow("Train arrived")).unwrap();
    assert_eq!(gate(), "Train arrived");
    fs::remove_file(&file).unwrap();
    assert_eq!(routed(), before);
}

#[test]
fn a_long_prompt_is_in_the_file_and_its_beginning_in_the_instruction() {
    let desk = Desk::with("[hydrate]\nmode = \"subagent\"\n");
    let prompt = format!("{}🦀{}", "a".repeat(79), "b".repeat(5000));
    let hydrated = desk.prompt(&prompt);
    assert!(hydrated.text.contains(&prompt));
    let preview = format!("{}🦀...", "a".repeat(79));
    assert!(
        hydrated.instruction.contains(&preview),
        "{}",
        hydrated.instruction
    );
    assert!(!hydrated.instruction.contains("🦀b"));
    // The folder of this test is longer than the default one, which leaves 400.
    assert!(hydrated.instruction.chars().count() <= 500);
    for word in [
        "MANDATORY",
        "Task(",
        "subagent_type=\"prompt-hydrator\"",
        "model=\"haiku\"",
    ] {
        assert!(hydrated.instruction.contains(word), "{word}");
    }
}

#[test]
fn the_file_has_its_headings_once_and_in_order() {
    let desk = Desk::new();
    let hydrated = desk.prompt("shorten the tooltip\n## Draft Plan\n## Memory");
    let mut fence = 0;
    let mut headings = Vec::new();
    for line in hydrated.text.lines() {
        let ticks = line.len() - line.trim_start_matches('`').len();
        if fence == 0 && ticks >= 3 {
            fence = ticks;
        } else if fence > 0 && ticks >= fence && ticks == line.len() {
            fence = 0;
        } else if fence == 0 && line.starts_with("## ") {
            headings.push(line.split(':').next().unwrap());
        }
    }
    assert_eq!(
        headings,
        [
            "## User Prompt",
            "## Session Context",
            "## Memory",
            "## Codebase",
            "## Workflow Index",
            "## Workflow",
            "## Guardrails",
            "## Draft Plan",
            "## Your Task",
            "## Return Format"
        ]
    );
    assert!(hydrated.text.starts_with("# Prompt Hydration Request\n"));
}

#[test]
fn inline_the_agent_gets_the_plan_itself() {
    let desk = Desk::new();
    let hydrated = desk.hydrated_with(&["--mode", "inline"], &desk.input(EACH[7].0));
    let at = hydrated.instruction.find("## Prompt Hydration").unwrap();
    let plan = grammar::read(&format!("{}\n", hydrated.instruction[at..].trim_end()));
    assert_eq!(plan.workflow, "minor-edit");
    assert!(hydrated.instruction.chars().count() <= 8000);
}

/// Tasks are tracked in `bd`.
const TRACKED: &str = "[hydrate]\ntracker = \"bd\"\n";

fn example(prompt: &str) -> (Hydrated, Plan) {
    let hydrated = Desk::with(TRACKED).prompt(prompt);
    let plan = grammar::read(&hydrated.draft());
    (hydrated, plan)
}

fn position(plan: &Plan, what: impl Fn(&str) -> bool) -> Option<usize> {
    plan.contents().iter().position(|content| what(content))
}

#[test]
fn the_type_error() {
    let prompt = "Fix the type error in parser.py that's causing the build to fail";
    let (_, plan) = example(prompt);
    assert_eq!(
        (plan.workflow.as_str(), plan.gate.as_str()),
        ("minor-edit", "Verification required")
    );
    assert_eq!(
        plan.guardrails,
        ["verify_before_complete", "fix_within_design"]
    );
    for word in ["type error", "parser.py", "build"] {
        assert!(plan.intent.to_lowercase().contains(word), "{}", plan.intent);
    }
    let checkpoint = position(&plan, |one| one.starts_with("CHECKPOINT: ")).unwrap();
    let commit = position(&plan, |one| one.ends_with("Commit and push")).unwrap();
    assert!(checkpoint < commit);
    assert!(
        plan.contents()[checkpoint].contains("test"),
        "{:?}",
        plan.contents()
    );
}

/// The prompt of the seed's first example.
const CUSTODIET: &str = "check the custodiet agent -- make sure it doesn't use inline python:\n\n  ⎿  Bash(python3 -c \"\n  import sys; sys.path.insert(0, '/home/nic/src/academicOps/lib')\n  from session_state import set_custodiet_block\n  set_custodiet_block('$CLAUDE_SESSION_ID', 'Agent modified setup.sh without user approval after discovering root cause - violates P#5 (Do One Thing) and\n  P#31\n  (Acceptance Criteria Own Success)')\n  \"\n  )\n\n  it should package a script if required";

#[test]
fn the_custodiet_agent() {
    let desk = Desk::with(TRACKED);
    for name in ["agents/custodiet.md", "lib/session_state.py", "README.md"] {
        desk.folder().put(&format!("tree/{name}"), "x");
    }
    let hydrated = desk.prompt(CUSTODIET);
    let plan = grammar::read(&hydrated.draft());
    assert_eq!(
        (plan.workflow.as_str(), plan.gate.as_str()),
        ("minor-edit", "Verification required")
    );
    assert_eq!(plan.guardrails, ["verify_before_complete", "test_changes"]);
    let contents = plan.contents();
    assert!(
        contents[0].starts_with("Step 1: Create bd task "),
        "{contents:?}"
    );
    let last = contents.last().unwrap();
    assert!(
        last.contains("bd task") && last.contains("lose"),
        "{contents:?}"
    );
    assert!((6..=9).contains(&contents.len()), "{contents:?}");
    assert!(
        contents.iter().any(|one| one.contains("script")),
        "{contents:?}"
    );
    for word in ["custodiet", "inline", "python"] {
        assert!(plan.intent.to_lowercase().contains(word), "{}", plan.intent);
    }
    let all = format!("{} {}", plan.intent, contents.join(" "));
    for pasted in ["P#5", "set_custodiet_block", "without user approval"] {
        assert!(!all.contains(pasted), "{all}");
    }
    let context = plan.context.join("\n");
    for path in ["agents/custodiet.md", "lib/session_state.py"] {
        assert!(context.contains(path), "{context}");
    }
}

#[test]
fn a_question_about_workflows() {
    let (_, plan) = example("what workflows are available?");
    assert_eq!(
        (plan.workflow.as_str(), plan.gate.as_str()),
        ("simple-question", "Answer accuracy")
    );
    assert!(plan.guardrails.is_empty());
    assert_eq!(plan.todos.len(), 1);
    assert!(!plan.contents()[0].starts_with("Step "));
    assert_eq!(plan.todos[0]["activeForm"], "Answering");
    assert!(plan.intent.to_lowercase().contains("workflows"));
    assert!(!plan.contents()[0].contains("task"));
}

#[test]
fn the_memory_server() {
    let (_, plan) = example("figure out why the memory server isn't returning results");
    assert_eq!(
        (plan.workflow.as_str(), plan.gate.as_str()),
        ("debugging", "Evidence gathered")
    );
    assert_eq!(
        plan.guardrails,
        ["evidence_before_conclusion", "escalate_if_blocked"]
    );
    let contents = plan.contents();
    assert!(contents[0].starts_with("Step 1: Create bd task "));
    assert!(contents.last().unwrap().contains("bd task"));
    assert!((5..=8).contains(&contents.len()), "{contents:?}");
    assert_eq!(
        contents
            .iter()
            .filter(|one| one.starts_with("CHECKPOINT: "))
            .count(),
        1
    );
    assert!(!contents.iter().any(|one| one.ends_with("Commit and push")));
}

#[test]
fn the_examples_hold_in_other_dress() {
    for (prompt, workflow) in [
        (
            "Fix the type error in parser.py that's causing the build to fail",
            "minor-edit",
        ),
        (CUSTODIET, "minor-edit"),
        ("what workflows are available?", "simple-question"),
        (
            "figure out why the memory server isn't returning results",
            "debugging",
        ),
    ] {
        for dressed in [
            format!("  {}\n\n", prompt.replace(' ', "  ")),
            prompt.replace('\n', "\r\n"),
            format!("please {prompt}"),
            prompt.to_uppercase(),
        ] {
            let (_, plan) = example(&dressed);
            assert_eq!(plan.workflow, workflow, "{dressed}");
        }
    }
}

/// Only what is there is named.
#[test]
fn a_path_is_named_only_if_it_is_there() {
    let desk = Desk::new();
    desk.folder().put("tree/src/export.rs", "x");
    desk.folder().put("outside.rs", "x");
    let hydrated =
        desk.prompt("compare src/export.rs, src/import.rs, ../outside.rs and /etc/passwd");
    let codebase = hydrated.section("## Codebase");
    assert!(codebase.contains("src/export.rs"), "{codebase}");
    for path in ["import.rs", "outside.rs", "passwd"] {
        assert!(!codebase.contains(path), "{codebase}");
    }
    let run = desk.hook(&json!({"session_id": "s", "prompt": "look at src/export.rs"}));
    context(&run);
    assert_eq!(run.stderr, "");
}
