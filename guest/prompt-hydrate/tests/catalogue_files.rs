//! What the files of a catalogue say, as plans and routes show it.
#![allow(
    missing_docs,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::panic,
    clippy::as_conversions,
    clippy::string_slice,
    unreachable_pub,
    reason = "tests"
)]

mod routing;
mod support;

use prompt_hydrate::catalogue::{Catalogue, File, check, embedded_catalogue};
use prompt_hydrate::session::Facts;
use routing::{routed, session};
use serde_json::{Value, json};
use support::{answer, good, text};

fn file(path: &str, text: &str) -> File {
    File {
        path: path.to_owned(),
        text: text.to_owned(),
    }
}

/// A workflow with these lines in its front matter.
fn workflow(id: &str, lines: &str) -> File {
    file(
        &format!("workflows/{id}.md"),
        &format!(
            "---\nid: {id}\nquality_gate: Ok\nmodifies_files: no\n{lines}steps: [{{name: \"Do {id}\"}}]\n---\n"
        ),
    )
}

fn ids(catalogue: &Catalogue) -> Vec<&str> {
    catalogue.workflows.iter().map(|w| w.id.as_str()).collect()
}

fn inline(files: &[File]) -> Value {
    let files = files
        .iter()
        .map(|file| json!({"path": file.path, "text": file.text}));
    json!({"inline": files.collect::<Vec<_>>()})
}

fn planned(files: &[File], prompt: &str) -> Value {
    good("plan", json!({"prompt": prompt, "catalog": inline(files)}))
}

#[test]
fn each_file_of_the_layout_has_its_say() {
    let files = [
        file(
            "WORKFLOWS.md",
            "- [[workflows/bake]]\n- [[workflows/audit-kitchen]]\n",
        ),
        workflow("audit-kitchen", "description: Look at a kitchen\n"),
        workflow(
            "bake",
            "description: Make bread\nguardrails: [clean_hands]\n",
        ),
        file(
            "examples/bake.txt",
            "# a comment about zebras\n\nknead the sourdough overnight\nproof the brioche twice\n",
        ),
        file(
            "guardrails.md",
            "# Rules\n\n- `clean_hands`: Wash them first.\n",
        ),
        file("skills.md", "- `oven`: preheat the oven\n"),
    ];
    let catalogue = Catalogue::load(&files, &[]);
    assert_eq!(catalogue.warnings, [""; 0]);
    assert_eq!(ids(&catalogue), ["bake", "audit-kitchen", "plan-mode"]);
    assert_eq!(
        catalogue.get("bake").unwrap().examples,
        ["knead the sourdough overnight", "proof the brioche twice"]
    );
    assert_eq!(
        catalogue.definition("clean_hands"),
        Some("Wash them first.")
    );
    let plan = &planned(&files, "knead the sourdough overnight")["plan"];
    assert_eq!(plan["workflow"], "bake", "{plan}");
    assert_eq!(plan["guardrails"], json!(["clean_hands"]));
    // The file of skills needs the workflow that delegates.
    let with = [&files[..], &[workflow("direct-skill", "")]].concat();
    let plan = &planned(&with, "please preheat the oven now")["plan"];
    assert_eq!(
        (&plan["workflow"], &plan["skill"]),
        (&json!("direct-skill"), &json!("oven"))
    );
}

#[test]
fn gate_guardrails_and_steps_are_what_the_file_says_now() {
    let embedded = embedded_catalogue();
    let prompt = "shorten the tooltip on the archive button to one line";
    assert_eq!(
        planned(&embedded, prompt)["plan"]["quality_gate"],
        "Verification required"
    );
    let edited: Vec<_> = embedded
        .into_iter()
        .map(|one| {
            if one.path != "workflows/minor-edit.md" {
                return one;
            }
            let text = one
                .text
                .replace("\"Verification required\"", "\"Seen by two\"")
                .replace(
                    "guardrails: [verify_before_complete]",
                    "guardrails: [critic_review]",
                )
                .replace("Read {object} and", "Print {object} out and");
            assert!(text.contains("Seen by two") && text.contains("critic_review"));
            file(&one.path, &text)
        })
        .collect();
    let plan = &planned(&edited, prompt)["plan"];
    assert_eq!(plan["workflow"], "minor-edit");
    assert_eq!(plan["quality_gate"], "Seen by two");
    assert_eq!(plan["guardrails"], json!(["critic_review", "test_changes"]));
    assert!(
        plan["todos"].to_string().contains("Print the tooltip"),
        "{plan}"
    );
}

/// A decision stage whose workflow is not there is passed over, and what is left decides.
#[test]
fn a_stage_without_its_file_is_passed_over() {
    let without = |gone: &str| {
        let mut files = embedded_catalogue();
        files.retain(|one| one.path != format!("workflows/{gone}.md"));
        Catalogue::load(&files, &[])
    };
    let open = session("The index is unused. Shall I drop it?");
    for (stage, prompt, facts) in [
        (
            "simple-question",
            "what workflows are available?",
            &Facts::default(),
        ),
        (
            "direct-skill",
            "use the sql-lint skill on reports/",
            &Facts::default(),
        ),
        ("interactive-followup", "go for it", &open),
    ] {
        let whole = Catalogue::embedded(&[]);
        assert_eq!(routed(prompt, facts, None, &whole).0.workflow, stage);
        let catalogue = without(stage);
        let (route, why) = routed(prompt, facts, None, &catalogue);
        assert_ne!(route.workflow, stage, "{prompt}");
        assert!(catalogue.get(&route.workflow).is_some());
        let named = why.candidates.iter().any(|one| one.workflow == stage)
            || route.alternatives.iter().any(|(id, _)| id == stage);
        assert!(!named, "{stage}: {route:?}");
        assert_eq!(route.skill, None);
    }
    // Without the file of its own a catalogue has the embedded one.
    assert!(without("plan-mode").get("plan-mode").is_some());
}

#[test]
fn all_three_forms_of_a_link_order_and_the_rest_goes_by_priority_and_id() {
    let mut files = vec![
        file(
            "WORKFLOWS.md",
            "# Index\n\n| [[workflows/delta.md]] | x |\n- [[charlie]] then\n- [[workflows/bravo]]\n- [[charlie]] again\n",
        ),
        workflow("alpha", "priority: 20\n"),
        workflow("bravo", "priority: 1\n"),
        workflow("charlie", "priority: 2\n"),
        workflow("delta", "priority: 3\n"),
        workflow("zulu", "priority: 10\n"),
        workflow("echo", "priority: 20\n"),
        workflow("plain", ""),
    ];
    assert_eq!(
        ids(&Catalogue::load(&files, &[])),
        [
            "delta",
            "charlie",
            "bravo",
            "zulu",
            "alpha",
            "echo",
            "plain",
            "plan-mode"
        ]
    );
    files.remove(0);
    assert_eq!(
        ids(&Catalogue::load(&files, &[])),
        [
            "bravo",
            "charlie",
            "delta",
            "zulu",
            "alpha",
            "echo",
            "plain",
            "plan-mode"
        ]
    );
}

#[test]
fn ids_yes_and_no_and_unknown_keys() {
    let read = |id: &str, lines: &str| {
        let text = format!("---\n{lines}steps:\n  - name: Go\n---\n");
        let files = [file(&format!("workflows/{id}.md"), &text)];
        Catalogue::load(&files, &[])
    };
    for id in ["a", "a-1", &"a".repeat(40)] {
        assert!(read(id, "").get(id).is_some(), "{id}");
    }
    for id in ["A", "1a", "a_b", &"a".repeat(41)] {
        assert!(read(id, "").get(id).is_none(), "{id}");
    }
    assert!(read("x", "id: y\n").get("x").is_none());
    let of = |lines: &str| read("x", lines).get("x").unwrap().clone();
    for (one, other) in [("yes", "true"), ("no", "false")] {
        assert_eq!(
            of(&format!("modifies_files: {one}\n")).modifies,
            of(&format!("modifies_files: {other}\n")).modifies
        );
        assert_eq!(
            of(&format!("needs_task: {one}\n")).needs_task,
            of(&format!("needs_task: {other}\n")).needs_task
        );
    }
    // Unknown keys are allowed; a list may stand in one line or in several.
    let flow = of("mood: good\ntriggers: [one two, 'three four']\n");
    let block = of("mood: {good: 1}\ntriggers:\n  - one two\n  - \"three four\"\n");
    assert_eq!(flow.triggers, ["one two", "three four"]);
    assert_eq!(flow.triggers, block.triggers);
    for broken in [
        "triggers: [*t]\n",
        "title: [a, b]\n",
        "title: x\n---\ntitle: y\n",
    ] {
        let catalogue = read("x", broken);
        assert!(catalogue.get("x").is_none(), "{broken}");
        assert!(
            catalogue
                .warnings
                .iter()
                .any(|warning| warning.starts_with("workflows/x.md: ")),
            "{broken}: {:?}",
            catalogue.warnings
        );
    }
}

#[test]
fn a_file_with_id_title_category_and_named_steps_gives_a_plan() {
    let old = "---\nid: old\ntitle: Old\ncategory: session\nsteps:\n  - id: do\n    name: Do it\n  - id: quality-gate\n    name: Look\n  - name: Verify the sum\n  - description: CHECKPOINT with the user\n  - name: Tell everybody\n---\n";
    let plan = &planned(
        &[file("workflows/old.md", old)],
        "workflow: old and be quick about the letters",
    )["plan"];
    assert_eq!(plan["quality_gate"], "Review required");
    let contents: Vec<_> = plan["todos"]
        .as_array()
        .unwrap()
        .iter()
        .map(|todo| text(todo, "content"))
        .collect();
    assert!(contents[0].starts_with("Step 1: Create bd task"));
    let rest: Vec<_> = contents[1..contents.len() - 1].to_vec();
    assert_eq!(rest[0], "Step 2: Do it");
    assert_eq!(rest[1], "CHECKPOINT: Look");
    assert_eq!(rest[2], "CHECKPOINT: Verify the sum");
    assert!(
        rest[3].starts_with("CHECKPOINT: ") && rest[3].ends_with("ith the user"),
        "{rest:?}"
    );
    assert_eq!(rest[4], "Step 3: Tell everybody");
}

#[test]
fn every_limit_is_kept_at_its_number() {
    let many = |count: usize, line: &str| {
        (0..count)
            .map(|number| format!("{line}{number}\n"))
            .collect::<String>()
    };
    for (examples, kept) in [(500, 500), (501, 500)] {
        let files = [
            workflow("x", ""),
            file("examples/x.txt", &many(examples, "prompt number ")),
        ];
        let catalogue = Catalogue::load(&files, &[]);
        assert_eq!(catalogue.get("x").unwrap().examples.len(), kept);
        let over = check(&files)
            .into_iter()
            .filter(|finding| finding.code == "C12")
            .count();
        assert_eq!(over, examples - kept);
    }
    for (steps, loads) in [(20, true), (21, false)] {
        let text = format!("---\nsteps:\n{}---\n", many(steps, "  - name: step "));
        let catalogue = Catalogue::load(&[file("workflows/x.md", &text)], &[]);
        assert_eq!(catalogue.get("x").is_some(), loads, "{steps}");
    }
    for (triggers, kept) in [(50, 50), (51, 50)] {
        let lines = format!("triggers:\n{}", many(triggers, "  - say it "));
        let catalogue = Catalogue::load(&[workflow("x", &lines)], &[]);
        assert_eq!(catalogue.get("x").unwrap().triggers.len(), kept);
        assert_eq!(catalogue.warnings.len(), triggers - kept);
    }
    for (bytes, loads) in [(65_536, true), (65_537, false)] {
        let mut one = workflow("x", "");
        one.text.push_str(&"x".repeat(bytes - one.text.len()));
        assert_eq!(Catalogue::load(&[one], &[]).get("x").is_some(), loads);
    }
    let files: Vec<_> = (0..201)
        .map(|number| workflow(&format!("w{number}"), ""))
        .collect();
    let catalogue = Catalogue::load(&files, &[]);
    let own = catalogue.workflows.iter().filter(|w| w.id != "plan-mode");
    assert_eq!(own.count(), 200);
}

#[test]
fn by_default_no_skill_is_listed_and_none_is_named() {
    assert!(Catalogue::embedded(&[]).skills.is_empty());
    assert!(
        Catalogue::embedded(&["extended".to_owned()])
            .skills
            .is_empty()
    );
    let response = answer("plan", json!({"prompt": "lint the sql under reports/"}));
    assert_eq!(response["plan"]["skill"], Value::Null);
    assert!(!text(&response, "markdown").contains("skill"), "{response}");
}

#[test]
fn every_example_of_the_default_catalogue_and_its_pack_takes_its_own_workflow() {
    let astray: Vec<_> = check(&embedded_catalogue())
        .into_iter()
        .filter(|finding| finding.code == "C23")
        .collect();
    assert!(astray.is_empty(), "{astray:#?}");
}
