//! Which workflow prompts take: the seed's examples, illustrative prompts, and what a prompt says outright.
mod routing;

use prompt_hydrate::catalogue::{Catalogue, File};
use prompt_hydrate::session::Facts;
use routing::{route_of, routed, session, skill};

const CUSTODIET: &str = "check the custodiet agent -- make sure it doesn't use inline python:\n\n  ⎿  Bash(python3 -c \"\n  import sys; sys.path.insert(0, '/home/nic/src/academicOps/lib')\n  from session_state import set_custodiet_block\n  set_custodiet_block('$CLAUDE_SESSION_ID', 'Agent modified setup.sh without user approval after discovering root cause - violates P#5 (Do One Thing) and\n  P#31\n  (Acceptance Criteria Own Success)')\n  \"\n  )\n\n  it should package a script if required\n";

const EXAMPLES: &[(&str, &str)] = &[
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
];

#[test]
fn the_seeds_examples_take_their_workflows() {
    for (prompt, workflow) in EXAMPLES {
        let route = route_of(prompt);
        assert_eq!(
            (route.workflow.as_str(), route.abstained),
            (*workflow, false),
            "{prompt}"
        );
    }
}

#[test]
fn white_space_crlf_please_and_capitals_do_not_change_the_seeds_examples() {
    for (prompt, workflow) in EXAMPLES {
        let spaced = prompt
            .lines()
            .map(|line| format!("{}  ", line.replace(' ', "  ")))
            .collect::<Vec<_>>()
            .join("\n");
        let variants = [
            spaced,
            prompt.replace('\n', "\r\n"),
            format!("please {prompt}"),
            prompt.to_uppercase(),
            format!("\n\n  {prompt}"),
        ];
        for variant in variants {
            assert_eq!(route_of(&variant).workflow, *workflow, "{variant}");
        }
    }
}

/// Prompts without a session.
const ILLUSTRATIVE: &[(&str, &[&str])] = &[
    (
        "how does the retention sweep pick which blobs to keep?",
        &["simple-question"],
    ),
    (
        "how would I evict a stale lease by hand?",
        &["simple-question"],
    ),
    (
        "shorten the tooltip on the archive button to one line",
        &["minor-edit"],
    ),
    (
        "ensure the exporter never writes absolute paths",
        &["minor-edit"],
    ),
    (
        "ensure the exporter copes with a read-only disk image",
        &["qa-demo", "minor-edit"],
    ),
    (
        "raise the upload cap to 40 MB; then tell me which services read it",
        &["minor-edit"],
    ),
    (
        "the thumbnail worker dies after about forty jobs",
        &["debugging"],
    ),
    (
        "thread 'main' panicked at src/lease.rs:41:9:\nindex out of bounds: the len is 3 but the index is 3",
        &["debugging"],
    ),
    ("give reviewers a way to pin a remark", &["feature-dev"]),
    (
        "put a link captioned \"what is this?\" in the page header",
        &["minor-edit", "feature-dev"],
    ),
    (
        "red-green this: parse_duration has to accept 1h30m",
        &["tdd-cycle"],
    ),
    (
        "set out how tenant quotas ought to work and argue both sides before anyone codes",
        &["spec-review"],
    ),
    (
        "demonstrate that last night's snapshot restores onto an empty host",
        &["qa-demo"],
    ),
    (
        "stamp a checksum into each of the 63 manifests under out/",
        &["batch-processing"],
    ),
    (
        "I have to get this tool certified for hospital use within eighteen months",
        &["decompose"],
    ),
    ("use the sql-lint skill on reports/", &["direct-skill"]),
    (
        "show me a plan for splitting billing.rs before touching anything",
        &["plan-mode"],
    ),
    (".gitattributes is ignored on checkout", &["debugging"]),
];

#[test]
fn the_illustrative_prompts_take_their_workflows() {
    for (prompt, workflows) in ILLUSTRATIVE {
        let route = route_of(prompt);
        assert!(
            workflows.contains(&route.workflow.as_str()) && !route.abstained,
            "{prompt}: {} {:?}",
            route.workflow,
            route.alternatives
        );
    }
}

#[test]
fn follow_ups_need_their_session() {
    let catalogue = Catalogue::embedded(&[]);
    let open = session("I dropped the foreign key. Shall I drop the old index as well?");
    for (prompt, refusal) in [("go for it", false), ("nah, leave it", true)] {
        let (route, _) = routed(prompt, &open, None, &catalogue);
        assert_eq!(
            (route.workflow.as_str(), route.refusal, route.abstained),
            ("interactive-followup", refusal, false),
            "{prompt}"
        );
        // Without a session.
        let alone = route_of(prompt);
        assert_eq!(
            (alone.workflow.as_str(), alone.abstained),
            ("plan-mode", true),
            "{prompt}"
        );
    }
    let nonsense = route_of("blorp the frunk");
    assert_eq!(
        (nonsense.workflow.as_str(), nonsense.abstained),
        ("plan-mode", true)
    );
}

#[test]
fn a_workflow_is_taken_by_name_and_an_unknown_one_is_a_warning() {
    for prompt in [
        "workflow: spec-review\nsync the settings",
        "use the spec-review workflow for the settings sync",
        "--workflow spec-review settings sync",
    ] {
        let route = route_of(prompt);
        assert_eq!(
            (route.workflow.as_str(), route.confidence),
            ("spec-review", 1.0),
            "{prompt}"
        );
    }
    let route = route_of("workflow: no-such-thing rename getUser to loadUser");
    assert_eq!(route.warnings.len(), 1);
    assert_ne!(route.workflow, "no-such-thing");
}

#[test]
fn a_plan_before_changes_is_a_commitment() {
    for prompt in [
        "plan first: move the cron jobs to systemd timers",
        "show me your plan before you change anything in the scheduler",
        "don't code yet, I want to approve the approach to caching",
    ] {
        let route = route_of(prompt);
        assert_eq!(
            (route.workflow.as_str(), route.abstained, route.confidence),
            ("plan-mode", false, 1.0),
            "{prompt}"
        );
    }
}

#[test]
fn a_named_skill_is_delegated_to_and_one_missing_from_the_list_is_marked() {
    let catalogue = Catalogue::embedded(&[]);
    for (prompt, name) in [
        ("/sql-lint reports", "sql-lint"),
        ("please run /sql-lint", "sql-lint"),
        ("invoke the sql-lint command", "sql-lint"),
        ("call the skill \"sql-lint\" on x", "sql-lint"),
    ] {
        let listed = [skill("sql-lint", &[])];
        for (skills, missing) in [
            (None, false),
            (Some(&listed[..]), false),
            (Some(&[][..]), true),
        ] {
            let (route, _) = routed(prompt, &Facts::default(), skills, &catalogue);
            assert_eq!(route.workflow, "direct-skill", "{prompt}");
            assert_eq!(route.skill, Some((name.to_owned(), missing)), "{prompt}");
        }
    }
    assert_ne!(
        route_of("how do I use the sql-lint skill?").workflow,
        "direct-skill"
    );
    assert_ne!(route_of("/var fills up again").workflow, "direct-skill");
}

#[test]
fn a_skills_trigger_in_an_order_names_it() {
    let catalogue = Catalogue::embedded(&[]);
    let skills = [skill(
        "invoice-export",
        &["export the invoices", "invoices"],
    )];
    let (route, _) = routed(
        "could you export the invoices for May",
        &Facts::default(),
        Some(&skills),
        &catalogue,
    );
    assert_eq!(route.skill, Some(("invoice-export".to_owned(), false)));
    let (route, _) = routed(
        "how does one export the invoices?",
        &Facts::default(),
        Some(&skills),
        &catalogue,
    );
    assert_eq!(route.skill, None);
}

#[test]
fn a_self_contained_prompt_is_scored_although_a_session_is_open() {
    let open = session("Done, 12 tests pass.");
    let (route, _) = routed(
        "rename the column user_name to login in the accounts table and its migration",
        &open,
        None,
        &Catalogue::embedded(&[]),
    );
    assert_eq!(route.workflow, "minor-edit");
    for prompt in [
        "the second one",
        "same for the archive page",
        "only on weekdays",
        "also in the footer please",
    ] {
        let (route, _) = routed(prompt, &open, None, &Catalogue::embedded(&[]));
        assert_eq!(route.workflow, "interactive-followup", "{prompt}");
    }
}

#[test]
fn a_new_file_is_routed_to_by_its_trigger_and_a_removed_one_no_longer() {
    let train = File {
        path: "workflows/release-train.md".to_owned(),
        text: "---\nid: release-train\ndescription: Cut a release\ntriggers: [\"cut the train\"]\nsteps:\n  - name: Cut it\n---\n".to_owned(),
    };
    let edit = File {
        path: "workflows/minor-edit.md".to_owned(),
        text: "---\nid: minor-edit\ndescription: A focused change\nexamples: [\"shorten the label\"]\nsteps:\n  - name: Do it\n---\n".to_owned(),
    };
    let with = Catalogue::load(&[train, edit.clone()], &[]);
    let (route, _) = routed("cut the train for 4.2", &Facts::default(), None, &with);
    assert_eq!(route.workflow, "release-train");
    let without = Catalogue::load(&[edit], &[]);
    let (route, why) = routed("cut the train for 4.2", &Facts::default(), None, &without);
    assert_ne!(route.workflow, "release-train");
    // The ids that are gone are no candidates.
    let (_, shares) = routed(
        "shorten the tooltip on the archive button",
        &Facts::default(),
        None,
        &without,
    );
    let ids: Vec<&str> = shares
        .candidates
        .iter()
        .map(|candidate| candidate.workflow.as_str())
        .collect();
    assert_eq!(ids, ["minor-edit", "plan-mode"], "{:?}", why.candidates);
}

#[test]
fn a_file_without_training_is_scored_by_its_examples() {
    let own = File {
        path: "workflows/bake.md".to_owned(),
        text: "---\nid: bake\ndescription: Bake bread\nexamples: [\"bake a loaf of rye bread\", \"bake twelve rolls of bread\"]\nsteps:\n  - name: Bake\n---\n".to_owned(),
    };
    let catalogue = Catalogue::load(&[own], &[]);
    let (route, why) = routed("bake a loaf of bread", &Facts::default(), None, &catalogue);
    let bake = why
        .candidates
        .iter()
        .find(|candidate| candidate.workflow == "bake")
        .unwrap();
    assert!(bake.model.is_none() && bake.likeness.is_some_and(|likeness| likeness > 0.5));
    assert_eq!(route.workflow, "bake");
}

#[test]
fn confidence_and_alternatives_are_within_their_bounds() {
    for (prompt, _) in ILLUSTRATIVE {
        let route = route_of(prompt);
        assert!((0.0..=1.0).contains(&route.confidence));
        assert!(
            route.alternatives.len() == 3
                && route
                    .alternatives
                    .iter()
                    .all(|(id, _)| *id != route.workflow)
        );
        assert!(!route.abstained || route.confidence <= 0.49);
    }
    assert!(route_of("blorp the frunk").confidence <= 0.49);
}

#[test]
fn no_change_keeps_the_changing_workflows_out() {
    for prompt in [
        "shorten the tooltips in the sidebar, but do not edit anything",
        "just look at the retry code, no changes",
    ] {
        let route = route_of(prompt);
        assert!(
            !["minor-edit", "feature-dev", "tdd-cycle", "batch-processing"]
                .contains(&route.workflow.as_str()),
            "{prompt}: {}",
            route.workflow
        );
    }
    // It limits the change, rather than forbidding one.
    assert_eq!(
        route_of("don't touch anything else, only bump the version in package.json").workflow,
        "minor-edit"
    );
}

#[test]
fn equal_prompts_give_equal_routes() {
    let once = format!("{:?}", route_of(CUSTODIET));
    for _ in 0..5 {
        assert_eq!(format!("{:?}", route_of(CUSTODIET)), once);
    }
}

#[test]
fn the_explanation_names_what_decided() {
    let (_, why) = routed(
        "hi, shorten the tooltip on the archive button, thanks",
        &Facts::default(),
        None,
        &Catalogue::embedded(&[]),
    );
    assert!(
        why.signals
            .iter()
            .any(|fired| fired.signal == "change" && fired.words.starts_with("shorten"))
    );
    assert!(
        why.mutating.is_some()
            && why
                .veto
                .iter()
                .any(|veto| veto.starts_with("simple-question"))
    );
    assert!(["certain", "forced"].contains(&why.decision) && !why.thresholds.is_empty());
}

/// Two workflows that the model does not know, of which only the first has a text for the prompt.
fn triggered(one: &str, other: &str, prompt: &str) -> (String, prompt_hydrate::route::Explanation) {
    let file = |id: &str, lines: &str| File {
        path: format!("workflows/{id}.md"),
        text: format!(
            "---\nid: {id}\nquality_gate: Ok\nmodifies_files: no\n{lines}\nsteps: [{{name: Go}}]\n---\n"
        ),
    };
    let catalogue = Catalogue::load(&[file("one", one), file("other", other)], &[]);
    let (route, why) = routed(prompt, &Facts::default(), None, &catalogue);
    (route.workflow, why)
}

#[test]
fn a_trigger_of_two_words_or_with_an_anchor_takes_its_workflow() {
    let strong = |one: &str, prompt: &str| {
        let (workflow, why) = triggered(one, "triggers: [\"feed the cat\"]", prompt);
        why.forced
            .is_some_and(|reason| reason.starts_with("trigger"))
            && workflow == "one"
    };
    let train = "triggers: [\"cut the train\"]";
    assert!(strong(train, "cut the train for 4.2"));
    assert!(strong(train, "somebody has to cut the train for 4.2"));
    // A question, unless the trigger asks itself.
    assert!(!strong(train, "who may cut the train for 4.2?"));
    assert!(strong(
        "triggers: [\"who may cut the train\"]",
        "who may cut the train for 4.2?"
    ));
    // One word is strong behind an anchor only.
    assert!(!strong("triggers: [\"bake\"]", "bake the rye bread"));
    assert!(strong("triggers: [\"^bake\"]", "bake the rye bread"));
    assert!(!strong(train, "look at this log\n```\ncut the train\n```"));
}

#[test]
fn of_several_triggers_most_words_win_and_what_a_workflow_is_not_for_excludes_it() {
    let prompt = "cut the train for 4.2 and tell sales";
    let longer = triggered(
        "triggers: [\"cut the train\"]",
        "triggers: [\"the train for 4.2\"]",
        prompt,
    );
    assert_eq!(longer.0, "other");
    let one = "triggers: [\"cut the train\"]\nnot_for: [\"for 4.2\"]";
    assert_eq!(
        triggered(one, "triggers: [x]", "cut the train for 5.0").0,
        "one"
    );
    let (workflow, why) = triggered(one, "triggers: [x]", "cut the train for 4.2");
    assert_ne!(workflow, "one");
    assert!(
        why.veto
            .iter()
            .any(|veto| veto.starts_with("one: ") && veto.contains("for 4.2")),
        "{:?}",
        why.veto
    );
}

#[test]
fn a_workflow_of_ones_own_is_routed_to_by_three_examples_and_takes_nothing_else() {
    let own = File {
        path: "workflows/translate-subtitles.md".to_owned(),
        text: "---\nid: translate-subtitles\ndescription: Subtitles of a film in another language\nexamples:\n  - translate the subtitles of the interview into Dutch\n  - make Polish subtitles for episode 4\n  - the subs of the trailer in French please\nsteps:\n  - name: Translate\n---\n".to_owned(),
    };
    let mut files = prompt_hydrate::catalogue::embedded_catalogue();
    files.push(own);
    let catalogue = Catalogue::load(&files, &[]);
    let route = |prompt: &str| {
        routed(prompt, &Facts::default(), None, &catalogue)
            .0
            .workflow
    };
    for prompt in [
        "translate the subtitles of the documentary into Greek",
        "can you make italian subtitles for the second episode",
        "make danish subtitles for the trailer",
        "subtitle this film in Norwegian",
        "I need the subs of the film in another language",
    ] {
        assert_eq!(route(prompt), "translate-subtitles", "{prompt}");
    }
    for (prompt, workflow) in EXAMPLES {
        assert_eq!(route(prompt), *workflow, "{prompt}");
    }
    assert_ne!(
        route("why is the subtitle font so small on tv?"),
        "translate-subtitles"
    );
}
