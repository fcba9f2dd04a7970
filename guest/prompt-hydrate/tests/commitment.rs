//! Scores and when they are enough (Q-135 to Q-144), and triggers, which need none (Q-132 to Q-134).
#![allow(
    missing_docs,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::panic,
    unreachable_pub,
    reason = "tests"
)]

mod routing;

use prompt_hydrate::catalogue::{Catalogue, File};
use prompt_hydrate::route::Explanation;
use prompt_hydrate::route::score::{Scored, decide};
use prompt_hydrate::route::thresholds::Thresholds;
use prompt_hydrate::session::Facts;
use routing::{route_of, routed};

/// Prompts of all kinds that name nothing outright.
const PROMPTS: [&str; 8] = [
    "shorten the tooltip on the archive button to one line",
    "the thumbnail worker dies after about forty jobs",
    "give reviewers a way to pin a remark",
    "stamp a checksum into each of the 63 manifests under out/",
    "how does the retention sweep pick which blobs to keep?",
    "set out how tenant quotas ought to work before anyone codes",
    "demonstrate that last night's snapshot restores onto an empty host",
    "blorp the frunk",
];

fn explained(prompt: &str) -> Explanation {
    routed(prompt, &Facts::default(), None, &Catalogue::embedded(&[])).1
}

/// Numbers for the rules alone, easier to follow than the calibrated ones.
fn thresholds() -> Thresholds {
    Thresholds {
        weight_r: 0.25,
        weight_b: 0.25,
        weight_m: 0.5,
        theta_agree: 0.3,
        theta_alone: 0.5,
        tau: 0.2,
        question_extra: 0.1,
        signal_scale: 0.5,
    }
}

fn scored(workflow: &str, opinions: [f64; 3], total: f64) -> Scored {
    let [r, b, m] = opinions.map(Some);
    Scored {
        workflow: workflow.to_owned(),
        r,
        b,
        m,
        total,
    }
}

fn verdict(candidates: &[Scored]) -> (Option<&str>, &'static str) {
    let verdict = decide(candidates, &thresholds());
    let best = verdict.best.map(|at| candidates[at].workflow.as_str());
    (best, verdict.decision)
}

#[test]
fn q_132_without_a_session_an_answer_or_a_pronoun_is_never_guessed() {
    for prompt in [
        "yes",
        "ok, go ahead",
        "sure",
        "no thanks",
        "don't",
        "the second one",
        "option b",
        "fix it",
        "do that",
        "please remove them",
        "try it again",
    ] {
        let route = route_of(prompt);
        assert_eq!(
            (route.workflow.as_str(), route.abstained),
            ("plan-mode", true),
            "{prompt}"
        );
        assert!(route.confidence <= 0.49 && !route.refusal, "{prompt}");
    }
}

/// Two workflows that know nothing but their triggers.
fn triggered(one: &str, other: &str, prompt: &str) -> (String, Explanation) {
    let file = |id: &str, lines: &str| File {
        path: format!("workflows/{id}.md"),
        text: format!(
            "---\nid: {id}\nquality_gate: Ok\nmodifies_files: no\n{lines}\nsteps: [{{name: Go}}]\n---\n"
        ),
    };
    let catalogue = Catalogue::load(
        &[
            File {
                path: "WORKFLOWS.md".to_owned(),
                text: "- [[one]]\n- [[other]]\n".to_owned(),
            },
            file("one", one),
            file("other", other),
        ],
        &[],
    );
    let (route, why) = routed(prompt, &Facts::default(), None, &catalogue);
    (route.workflow, why)
}

#[test]
fn q_133_a_trigger_of_two_words_or_with_an_anchor_takes_its_workflow() {
    let strong = |one: &str, prompt: &str| {
        let (workflow, why) = triggered(one, "triggers: [\"feed the cat\"]", prompt);
        let forced = why
            .forced
            .is_some_and(|reason| reason.starts_with("trigger"));
        assert_eq!(forced, why.decision == "forced", "{prompt}");
        forced && workflow == "one"
    };
    let train = "triggers: [\"cut the train\"]";
    // An order and a statement.
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
    // Pasted text is no main text.
    assert!(!strong(train, "look at this log\n```\ncut the train\n```"));
    // One word is worth something all the same.
    let (_, with) = triggered(
        "triggers: [\"bake\"]",
        "triggers: [x]",
        "bake the rye bread",
    );
    let (_, without) = triggered(
        "triggers: [\"boil\"]",
        "triggers: [x]",
        "bake the rye bread",
    );
    let total = |why: &Explanation| why.candidates[0].total;
    assert!(total(&with) > total(&without));
}

#[test]
fn q_133_of_several_strong_triggers_most_words_win_and_then_the_order() {
    let prompt = "cut the train for 4.2 and tell sales";
    let (workflow, _) = triggered(
        "triggers: [\"cut the train\"]",
        "triggers: [\"the train for 4.2\"]",
        prompt,
    );
    assert_eq!(workflow, "other");
    let (workflow, _) = triggered(
        "triggers: [\"cut the train\"]",
        "triggers: [\"train for 4.2\"]",
        prompt,
    );
    assert_eq!(workflow, "one");
}

#[test]
fn q_134_what_a_workflow_is_not_for_excludes_it_from_triggers_and_scores() {
    let one = "triggers: [\"cut the train\"]\nnot_for: [\"for 4.2\"]";
    let (workflow, _) = triggered(one, "triggers: [x]", "cut the train for 5.0");
    assert_eq!(workflow, "one");
    let (workflow, why) = triggered(one, "triggers: [x]", "cut the train for 4.2");
    assert_ne!(workflow, "one");
    assert!(why.candidates.iter().all(|one| one.workflow != "one"));
    assert!(
        why.veto
            .iter()
            .any(|veto| veto.starts_with("one: ") && veto.contains("for 4.2")),
        "{:?}",
        why.veto
    );
}

#[test]
fn q_135_three_opinions_from_nothing_to_one_each_of_its_own_kind() {
    for prompt in PROMPTS {
        let why = explained(prompt);
        assert!(why.candidates.len() > 4, "{prompt}");
        for candidate in &why.candidates {
            for opinion in [candidate.r, candidate.b, candidate.m] {
                let opinion = opinion.unwrap_or_else(|| panic!("{prompt}: {candidate:?}"));
                assert!((0.0..=1.0).contains(&opinion), "{prompt}: {candidate:?}");
            }
        }
        let sum = |opinion: fn(&prompt_hydrate::route::Candidate) -> Option<f64>| {
            why.candidates.iter().filter_map(opinion).sum::<f64>()
        };
        assert!(sum(|one| one.m) <= 1.0 + 1e-6 && sum(|one| one.r) <= 1.0 + 1e-6);
    }
    let best = |prompt: &str, opinion: fn(&prompt_hydrate::route::Candidate) -> Option<f64>| {
        let why = explained(prompt);
        let mut all = why.candidates;
        all.sort_by(|a, b| opinion(b).unwrap().total_cmp(&opinion(a).unwrap()));
        all[0].workflow.clone()
    };
    // B is likeness to what the files say: an example of a workflow is like that workflow.
    let catalogue = Catalogue::embedded(&[]);
    for id in ["decompose", "minor-edit", "qa-demo"] {
        let example = catalogue.get(id).unwrap().examples[0].clone();
        assert_eq!(best(&example, |one| one.b), id, "{example}");
    }
    // R is signals alone: other nouns, the same opinion.
    let r = |prompt: &str| {
        let why = explained(prompt);
        why.candidates
            .into_iter()
            .map(|one| one.r)
            .collect::<Vec<_>>()
    };
    assert_eq!(
        r("why does the frobnicator crash?"),
        r("why does the quuxinator crash?")
    );
}

#[test]
fn q_138_the_total_is_the_weighted_mean_and_the_explanation_shows_the_weights() {
    let named = [
        "weight_r",
        "weight_b",
        "weight_m",
        "theta_agree",
        "theta_alone",
        "tau",
    ];
    for prompt in PROMPTS {
        let why = explained(prompt);
        let of = |name: &str| {
            let found = why.thresholds.iter().find(|(known, _)| *known == name);
            found.unwrap_or_else(|| panic!("{name}")).1
        };
        assert!(named.iter().all(|name| of(name) > 0.0));
        for one in &why.candidates {
            let parts = [
                (one.r, of("weight_r")),
                (one.b, of("weight_b")),
                (one.m, of("weight_m")),
            ];
            let weights: f64 = parts
                .iter()
                .filter(|part| part.0.is_some())
                .map(|part| part.1)
                .sum();
            let sum: f64 = parts
                .iter()
                .map(|part| part.0.unwrap_or(0.0) * part.1)
                .sum();
            assert!(
                (one.total - sum / weights).abs() < 1e-9,
                "{prompt}: {one:?}"
            );
        }
    }
}

#[test]
fn q_139_opinions_that_agree_need_less_than_one_that_stands_alone() {
    // R and M name the same one.
    let agreed = |total| {
        [
            scored("one", [0.9, 0.1, 0.9], total),
            scored("other", [0.1, 0.9, 0.1], 0.2),
        ]
    };
    assert_eq!(verdict(&agreed(0.31)), (Some("one"), "agree"));
    assert_eq!(verdict(&agreed(0.29)), (Some("one"), "abstain"));
    // R and B name the same one.
    let agreed = [
        scored("one", [0.9, 0.9, 0.1], 0.31),
        scored("other", [0.1, 0.1, 0.9], 0.2),
    ];
    assert_eq!(verdict(&agreed), (Some("one"), "agree"));
    // M and B agree against R: not enough but with a high total and a margin.
    let alone = |total, second| {
        [
            scored("one", [0.1, 0.9, 0.9], total),
            scored("other", [0.9, 0.1, 0.1], second),
        ]
    };
    assert_eq!(verdict(&alone(0.49, 0.1)), (Some("one"), "abstain"));
    assert_eq!(verdict(&alone(0.55, 0.4)), (Some("one"), "abstain"));
    assert_eq!(verdict(&alone(0.55, 0.3)), (Some("one"), "alone"));
    // R's top is another one than the best total: no agreement on it.
    let other = [
        scored("one", [0.4, 0.4, 0.9], 0.45),
        scored("other", [0.9, 0.9, 0.1], 0.44),
    ];
    assert_eq!(verdict(&other), (Some("one"), "abstain"));
    assert_eq!(verdict(&[]), (None, "abstain"));
}

#[test]
fn q_139_a_tie_goes_to_the_one_that_comes_first() {
    let even = |one: &str, other: &str| {
        let candidates = [
            scored(one, [0.5, 0.5, 0.5], 0.6),
            scored(other, [0.5, 0.5, 0.5], 0.6),
        ];
        decide(&candidates, &thresholds()).best
    };
    assert_eq!(even("a", "z"), Some(0));
    assert_eq!(even("z", "a"), Some(0));
}

#[test]
fn q_139_the_decision_row_and_the_route_say_the_same() {
    for prompt in PROMPTS {
        let (route, why) = routed(prompt, &Facts::default(), None, &Catalogue::embedded(&[]));
        assert!(["forced", "agree", "alone", "abstain"].contains(&why.decision));
        assert_eq!(route.abstained, why.decision == "abstain", "{prompt}");
        if matches!(why.decision, "agree" | "alone") && why.secondary.is_none() {
            let best = why.candidates.iter().fold(
                None::<&prompt_hydrate::route::Candidate>,
                |best, one| match best {
                    Some(best) if best.total >= one.total => Some(best),
                    _ => Some(one),
                },
            );
            assert_eq!(best.unwrap().workflow, route.workflow, "{prompt}");
        }
    }
}

#[test]
fn q_144_a_question_needs_more_than_any_other_route() {
    let at = |id: &str, agree: bool, total: f64| {
        let opinions = if agree {
            [0.9, 0.1, 0.9]
        } else {
            [0.1, 0.9, 0.9]
        };
        verdict(&[
            scored(id, opinions, total),
            scored("other", [0.5, 0.5, 0.1], 0.05),
        ])
        .1
    };
    for (agree, total, decision) in [(true, 0.35, "agree"), (false, 0.55, "alone")] {
        assert_eq!(at("minor-edit", agree, total), decision);
        assert_eq!(at("simple-question", agree, total), "abstain");
        assert_eq!(at("simple-question", agree, total + 0.1), decision);
    }
    assert!(Thresholds::embedded().question_extra > 0.0);
}
