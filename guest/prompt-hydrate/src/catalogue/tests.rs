//! Loading and checking: one small catalogue, and what happens when a file of it changes.

use super::*;
use crate::cues::Cue;
use proptest::prelude::*;

/// `minor-edit` and `simple-question` in an index, `extra` beside it, a registry, examples.
fn small() -> Vec<File> {
    let edit = "---\nid: minor-edit\ntitle: Edit\ndescription: A change\ncategory: development\nquality_gate: Checked\nguardrails: [test_changes]\nguardrails_when:\n  \"!error_report\": [fix_within_design]\nmodifies_files: yes\ntriggers: [\"fix the\"]\nsteps:\n  - name: \"Read {object}\"\n    active: Reading\n    kind: step\n  - name: \"CHECKPOINT: Run {test_cmd}\"\n    kind: checkpoint\n  - name: Commit and push\n    kind: commit\n---\nBody.\n";
    let question = "---\nid: simple-question\ncategory: information\nquality_gate: Right\nmodifies_files: no\nexamples: [what is this]\nsteps:\n  - name: \"Answer the question about {object}\"\n---\n";
    let extra = "---\nquality_gate: Ok\nmodifies_files: maybe\npriority: 7\nsteps:\n  - {name: Go, kind: step}\n  - {name: Look, kind: checkpoint}\n---\n";
    [
        (
            "WORKFLOWS.md",
            "- [[workflows/simple-question]]\n- [[minor-edit]]\n",
        ),
        ("workflows/minor-edit.md", edit),
        ("workflows/simple-question.md", question),
        ("workflows/extra.md", extra),
        (
            "examples/minor-edit.txt",
            "# three\nfix the typo\n\n rename  it \n",
        ),
        (
            "guardrails.md",
            "- `test_changes`: Test.\n- `fix_within_design`: Keep.\n- `skill:<name>`: With it.\n",
        ),
    ]
    .map(|(path, text)| File {
        path: path.to_owned(),
        text: text.to_owned(),
    })
    .to_vec()
}

fn with(path: &str, text: &str) -> Vec<File> {
    let mut files = small();
    files.retain(|file| file.path != path);
    files.push(File {
        path: path.to_owned(),
        text: text.to_owned(),
    });
    files
}

fn ids(catalogue: &Catalogue) -> Vec<&str> {
    catalogue.workflows.iter().map(|w| w.id.as_str()).collect()
}

#[test]
fn a_file_is_read_with_its_defaults() {
    let catalogue = Catalogue::load(&small(), &[]);
    assert_eq!(catalogue.warnings, [""; 0]);
    let edit = catalogue.get("minor-edit").unwrap();
    assert_eq!(edit.modifies, Modifies::Yes);
    assert!(edit.needs_task);
    assert_eq!(edit.triggers, ["fix the"]);
    assert_eq!(edit.examples, ["fix the typo", "rename it"]);
    assert_eq!(
        edit.guardrails_when,
        [(
            Condition {
                cue: Cue::ErrorReport,
                negated: true
            },
            vec!["fix_within_design".to_owned()]
        )]
    );
    let kinds: Vec<_> = edit.steps.iter().map(|step| step.kind).collect();
    assert_eq!(
        kinds,
        [StepKind::Step, StepKind::Checkpoint, StepKind::Commit]
    );
    assert_eq!(edit.steps[1].name, "Run {test_cmd}");
    assert_eq!(edit.body, "Body.");
    let question = catalogue.get("simple-question").unwrap();
    assert!(!question.needs_task, "modifies_files: no");
    let extra = catalogue.get("extra").unwrap();
    assert_eq!((extra.title.as_str(), extra.needs_task), ("extra", true));
}

#[test]
fn listed_ones_come_first_then_by_priority() {
    let catalogue = Catalogue::load(&small(), &[]);
    assert_eq!(
        ids(&catalogue),
        ["simple-question", "minor-edit", "extra", "plan-mode"]
    );
    let closed = with(
        "WORKFLOWS.md",
        "---\nindex: closed\n---\n- [[minor-edit]]\n",
    );
    assert_eq!(
        ids(&Catalogue::load(&closed, &[])),
        ["minor-edit", "plan-mode"]
    );
    let mut files = small();
    files.retain(|file| file.path != "WORKFLOWS.md");
    assert_eq!(
        ids(&Catalogue::load(&files, &[])),
        ["extra", "minor-edit", "simple-question", "plan-mode"]
    );
}

#[test]
fn a_file_added_or_removed_or_disabled_counts_at_the_next_load() {
    let added = with("workflows/new-one.md", "---\nsteps: [{name: Go}]\n---\n");
    assert!(Catalogue::load(&added, &[]).get("new-one").is_some());
    let hidden = with(
        "workflows/extra.md",
        "---\nenabled: no\nsteps: [{name: Go}]\n---\n",
    );
    assert!(Catalogue::load(&hidden, &[]).get("extra").is_none());
}

#[test]
fn older_files_load_too() {
    let file = with(
        "workflows/old.md",
        "---\nid: old\ntitle: Old\ncategory: session\nsteps:\n  - id: a\n    name: Do it\n  - id: quality-gate-1\n    description: Look\n---\n",
    );
    let catalogue = Catalogue::load(&file, &[]);
    let steps = &catalogue.get("old").unwrap().steps;
    assert_eq!(
        (steps[0].kind, steps[1].kind),
        (StepKind::Step, StepKind::Checkpoint)
    );
    assert_eq!(steps[1].name, "Look");
    let headings = with(
        "workflows/old.md",
        "---\nid: old\n---\n## Why\n### 1. Not this\n## Steps\n\n### 1. Find it\ntext\n### 2. Verify that it works\n### Note\n## More\n### 3. Nor this\n",
    );
    let catalogue = Catalogue::load(&headings, &[]);
    let old = catalogue.get("old").unwrap();
    let steps: Vec<_> = old
        .steps
        .iter()
        .map(|s| (s.name.as_str(), s.kind))
        .collect();
    assert_eq!(
        steps,
        [
            ("Find it", StepKind::Step),
            ("Verify that it works", StepKind::Checkpoint)
        ]
    );
    assert_eq!(old.quality_gate, "Review required");
}

#[test]
fn a_broken_file_is_passed_over_with_one_warning() {
    for (text, reason) in [
        ("no front matter", "there is no front matter"),
        (
            "---\nid: other\nsteps: [{name: Go}]\n---\n",
            "the id is not the file's name",
        ),
        ("---\ntitle: x\n---\n", "there are no steps"),
        (
            "---\npriority: high\nsteps: [{name: Go}]\n---\n",
            "priority: expected a whole number",
        ),
        (
            "---\nneeds_task: perhaps\nsteps: [{name: Go}]\n---\n",
            "needs_task: expected yes or no",
        ),
        (
            "---\nsteps: [{name: Go, kind: stop}]\n---\n",
            "steps[0]: unknown variant `stop`, expected one of `step`, `checkpoint`, `task_open`, `task_close`, `commit`",
        ),
    ] {
        let catalogue = Catalogue::load(&with("workflows/extra.md", text), &[]);
        assert!(catalogue.get("extra").is_none(), "{text}");
        assert_eq!(
            catalogue.warnings,
            [format!("workflows/extra.md: {reason}")],
            "{text}"
        );
    }
}

#[test]
fn an_alias_is_what_it_stands_for() {
    let text = "---\ntriggers: &words [go on]\nexamples: *words\nsteps: [{name: Go}]\n---\n";
    let catalogue = Catalogue::load(&with("workflows/extra.md", text), &[]);
    assert_eq!(catalogue.get("extra").unwrap().examples, ["go on"]);
}

#[test]
fn unknown_names_are_dropped_and_the_file_stays() {
    let text = "---\nguardrails: [test_changes, fly]\nsteps:\n  - {name: Go}\n  - {name: No, when: psychic}\n---\n";
    let catalogue = Catalogue::load(&with("workflows/extra.md", text), &[]);
    let extra = catalogue.get("extra").unwrap();
    assert_eq!(extra.guardrails, ["test_changes"]);
    assert_eq!(extra.steps.len(), 1);
    assert_eq!(catalogue.warnings.len(), 2, "{:?}", catalogue.warnings);
}

#[test]
fn where_nothing_loads_the_embedded_catalogue_is_used() {
    let empty = Catalogue::load(&[], &[]);
    assert_eq!(ids(&empty), ids(&Catalogue::embedded(&[])));
    assert_eq!(empty.warnings.len(), 1);
    assert!(Catalogue::embedded(&[]).warnings.is_empty());
}

#[test]
fn every_file_of_the_default_catalogue_is_compiled_in() {
    fn collect(directory: &std::path::Path, prefix: &str, paths: &mut Vec<String>) {
        for entry in std::fs::read_dir(directory).unwrap() {
            let entry = entry.unwrap();
            let path = format!("{prefix}{}", entry.file_name().to_str().unwrap());
            if !entry.file_type().unwrap().is_dir() {
                paths.push(path);
            } else if path != "training" {
                collect(&entry.path(), &format!("{path}/"), paths);
            }
        }
    }
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/catalog");
    let mut on_disk = Vec::new();
    collect(root.as_ref(), "", &mut on_disk);
    on_disk.retain(|path| path.ends_with(".md") || path.ends_with(".txt"));
    on_disk.sort();
    let mut compiled: Vec<_> = embedded_catalogue()
        .into_iter()
        .map(|file| file.path)
        .collect();
    compiled.sort();
    assert_eq!(compiled, on_disk);
}

#[test]
fn the_embedded_catalogue_is_what_its_files_are_by_value() {
    let packs = ["extended".to_owned()];
    let embedded = Catalogue::embedded(&packs);
    let by_value = Catalogue::load(&embedded_catalogue(), &packs);
    assert_eq!(format!("{embedded:?}"), format!("{by_value:?}"));
}

#[test]
fn plan_mode_and_a_registry_are_always_there() {
    let mut files = small();
    files.retain(|file| file.path != "guardrails.md");
    let catalogue = Catalogue::load(&files, &[]);
    assert!(catalogue.definition("require_skill:x").is_some());
    // With a registry of its own, plan-mode keeps its guardrails.
    let catalogue = Catalogue::load(&small(), &[]);
    let plan = catalogue.get("plan-mode").unwrap();
    assert_eq!(
        plan.guardrails,
        ["plan_mode", "critic_review", "user_approval_required"]
    );
    assert!(catalogue.definition("plan_mode").is_some());
    let disabled = with(
        "workflows/plan-mode.md",
        "---\nenabled: no\nsteps: [{name: Go}]\n---\n",
    );
    assert!(Catalogue::load(&disabled, &[]).get("plan-mode").is_some());
}

#[test]
fn a_pack_is_active_when_it_is_asked_for() {
    let mut files = small();
    for (path, text) in [
        (
            "packs/p/workflows/more.md",
            "---\nguardrails: [of_pack]\nsteps: [{name: Go}]\n---\n",
        ),
        (
            "packs/p/workflows/extra.md",
            "---\nsteps: [{name: Other}]\n---\n",
        ),
        ("packs/p/guardrails.md", "- `of_pack`: Yes.\n"),
        ("packs/p/skills.md", "- `lint`: check it all\n"),
    ] {
        files.push(File {
            path: path.to_owned(),
            text: text.to_owned(),
        });
    }
    assert!(Catalogue::load(&files, &[]).get("more").is_none());
    let catalogue = Catalogue::load(&files, &["p".to_owned()]);
    assert_eq!(catalogue.get("more").unwrap().guardrails, ["of_pack"]);
    assert_eq!(catalogue.get("extra").unwrap().steps[0].name, "Go");
    assert_eq!(catalogue.skills[0].name, "lint");
    assert!(catalogue.warnings[0].contains("packs/p/workflows/extra.md"));
    let none = Catalogue::load(&files, &["q".to_owned()]);
    assert!(none.warnings[0].contains("no pack"), "{:?}", none.warnings);
}

#[test]
fn limits_cost_one_warning_each() {
    let many: String = (0..60).map(|n| format!("  - \"say {n}\"\n")).collect();
    let text = format!("---\ntriggers:\n{many}steps: [{{name: Go}}]\n---\n");
    let catalogue = Catalogue::load(&with("workflows/extra.md", &text), &[]);
    assert_eq!(catalogue.get("extra").unwrap().triggers.len(), 50);
    assert_eq!(catalogue.warnings.len(), 1);
    let steps = "  - name: Go\n".repeat(21);
    let text = format!("---\nsteps:\n{steps}---\n");
    assert!(
        Catalogue::load(&with("workflows/extra.md", &text), &[])
            .get("extra")
            .is_none()
    );
    let big = format!("---\nsteps: [{{name: Go}}]\n---\n{}", "x".repeat(70_000));
    assert!(
        Catalogue::load(&with("workflows/extra.md", &big), &[])
            .get("extra")
            .is_none()
    );
    let files: Vec<File> = (0..400)
        .map(|n| File {
            path: format!("workflows/w{n}.md"),
            text: "---\nsteps: [{name: Go}]\n---\n".to_owned(),
        })
        .collect();
    let catalogue = Catalogue::load(&files, &[]);
    assert_eq!(catalogue.workflows.len(), 201, "and plan-mode");
    assert_eq!(catalogue.warnings.len(), 1);
}

fn codes(files: &[File]) -> Vec<(&'static str, String, usize)> {
    check(files)
        .into_iter()
        // The examples of three lines are judged in the default catalogue.
        .filter(|finding| !matches!(finding.code, "C23" | "C24"))
        .map(|finding| (finding.code, finding.file, finding.line))
        .collect()
}

#[test]
fn a_sound_catalogue_has_no_finding() {
    assert_eq!(codes(&small()), []);
}

#[test]
fn errors_have_file_and_line() {
    let at = |code, line| vec![(code, "workflows/extra.md".to_owned(), line)];
    let gate = "quality_gate: Ok\n";
    let cases = [
        (format!("---\n{gate}steps: [\n---\n"), at("C01", 3)),
        (
            format!("---\n{gate}id: other\nsteps: [{{name: Go}}]\n---\n"),
            at("C01", 3),
        ),
        (format!("---\n{gate}---\n"), at("C01", 1)),
        (
            format!(
                "---\n{gate}modifies_files: no\nsteps:\n  - name: Go\n    workflow: \"[[gone]]\"\n---\n"
            ),
            at("C05", 6),
        ),
        (
            format!(
                "---\n{gate}modifies_files: no\nsteps:\n  - name: Go\n    workflow: \"[[extra]]\"\n---\n"
            ),
            at("C05", 6),
        ),
        (
            format!("---\n{gate}modifies_files: maybe\nsteps: [{{name: Go}}]\n---\n"),
            at("C08", 3),
        ),
        (
            format!(
                "---\n{gate}modifies_files: yes\nsteps: [{{name: Commit it, kind: commit}}, {{name: Look, kind: checkpoint}}]\n---\n"
            ),
            at("C08", 3),
        ),
        (
            format!(
                "---\n{gate}modifies_files: no\nguardrails:\n  - test_changes\n  - fly\nsteps: [{{name: Go}}]\n---\n"
            ),
            at("C05", 6),
        ),
        (
            format!(
                "---\n{gate}modifies_files: no\nsteps:\n  - {{name: Go}}\n  - {{name: No, when: psychic}}\n---\n"
            ),
            at("C05", 6),
        ),
        (
            format!(
                "---\n{gate}modifies_files: no\nsignals: {{mood: 1}}\nsteps: [{{name: Go}}]\n---\n"
            ),
            at("C21", 4),
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(
            codes(&with("workflows/extra.md", &text)),
            expected,
            "{text}"
        );
    }
}

#[test]
fn the_index_and_the_files_are_compared() {
    let files = with(
        "WORKFLOWS.md",
        "- [[minor-edit]]\n- [[simple-question]]\n- [[gone]]\n",
    );
    assert_eq!(codes(&files), [("C05", "WORKFLOWS.md".to_owned(), 3)]);
    let mut twice = small();
    twice.extend(small());
    let codes: Vec<_> = codes(&twice).into_iter().map(|(code, ..)| code).collect();
    assert_eq!(codes, ["C01"; 3]);
}

#[test]
fn a_workflow_without_checkpoint_is_an_error() {
    let text = "---\nquality_gate: Ok\nmodifies_files: yes\nsteps:\n  - {name: Go}\n  - {name: Commit and push, kind: commit}\n---\n";
    assert_eq!(
        codes(&with("workflows/extra.md", text)),
        [("C08", "workflows/extra.md".to_owned(), 3)]
    );
}

#[test]
fn the_default_catalogue_and_its_pack_pass() {
    let findings: Vec<_> = check(&embedded_catalogue())
        .into_iter()
        .filter(|finding| !(finding.code == "C24" && finding.file.starts_with("packs/")))
        // Routing has its own test.
        .filter(|finding| finding.code != "C23")
        .collect();
    assert!(findings.is_empty(), "{findings:#?}");
}

#[test]
fn each_default_workflow_has_forty_distinct_examples() {
    let catalogue = Catalogue::embedded(&[]);
    assert_eq!(catalogue.workflows.len(), 12);
    for workflow in &catalogue.workflows {
        let mut own = workflow.examples.clone();
        own.sort();
        own.dedup();
        assert!(own.len() >= 40, "{}: {}", workflow.id, own.len());
    }
}

#[test]
fn the_extended_pack_has_its_eleven_workflows() {
    let catalogue = Catalogue::embedded(&["extended".to_owned()]);
    assert_eq!(catalogue.warnings, [""; 0]);
    assert_eq!(catalogue.workflows.len(), 23);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn any_files_load_and_are_checked(
        texts in prop::collection::vec("(---\n)?([a-z_]{1,8}: ?|- |\\[\\[|\\]\\]|steps:\n|  - name: |modifies_files: yes\n|\\{object\\}|[ -~é\u{202e}]|\n|### 1. |## Steps\n){0,30}(\n---\n)?", 1..4),
        paths in prop::collection::vec("WORKFLOWS.md|guardrails.md|skills.md|workflows/[a-c].md|packs/p/workflows/[a-c].md|examples/a.txt", 3),
    ) {
        let files: Vec<File> = texts
            .into_iter()
            .zip(paths)
            .map(|(text, path)| File { path, text })
            .collect();
        let catalogue = Catalogue::load(&files, &["p".to_owned()]);
        prop_assert!(catalogue.get("plan-mode").is_some());
        for workflow in &catalogue.workflows {
            prop_assert!(!workflow.steps.is_empty() && workflow.steps.len() <= 20);
        }
        let _ = check(&files);
    }
}
