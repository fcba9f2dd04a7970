//! How sentences are read: Q-117 to Q-126, and the veto that rests on it (Q-142).
mod routing;

use prompt_hydrate::catalogue::Catalogue;
use prompt_hydrate::session::Facts;
use prompt_hydrate::signals::Signal;
use prompt_hydrate::text::Prompt;
use proptest::prelude::*;
use routing::{names, routed, signals_of};

#[test]
fn q_124_requests_with_a_verb_of_doing_are_directives_and_with_one_of_telling_ask_for_information()
{
    for opening in [
        "can you",
        "could you",
        "would you",
        "please",
        "I need you to",
        "let's",
        "could you please",
        "I'd like you to",
    ] {
        let doing = signals_of(&format!("{opening} rename the flag"));
        assert!(
            doing.has(Signal::Imperative) && doing.mutating(),
            "{opening}: {:?}",
            names(&doing)
        );
        assert!(!doing.has(Signal::InfoRequest), "{opening}");
        if opening != "let's" {
            let telling = signals_of(&format!("{opening} explain the flag"));
            assert!(
                telling.has(Signal::InfoRequest) && !telling.mutating(),
                "{opening}: {:?}",
                names(&telling)
            );
        }
    }
}

#[test]
fn q_124_a_duration_date_size_or_percentage_is_no_item_count() {
    for prompt in [
        "wait 30 seconds before the retry",
        "raise the cap to 40 MB",
        "cut the cost by 15 percent",
        "the worker dies after about forty jobs",
        "finish by 12 December",
    ] {
        assert!(!signals_of(prompt).has(Signal::ItemCount), "{prompt}");
    }
    for prompt in [
        "stamp the 63 manifests",
        "translate all 14 pages",
        "rename these twelve notebooks",
    ] {
        assert!(signals_of(prompt).has(Signal::ItemCount), "{prompt}");
    }
}

#[test]
fn q_124_make_sure_it_works_verifies_and_make_sure_it_never_changes() {
    let verify = signals_of("make sure the export works");
    assert!(
        verify.has(Signal::VVerify)
            && !verify.has(Signal::CorrectiveConstraint)
            && !verify.mutating()
    );
    for prompt in [
        "make sure the export never writes nulls",
        "make sure it doesn't use inline python",
        "ensure that it only reads public rows",
    ] {
        let change = signals_of(prompt);
        assert!(
            change.has(Signal::CorrectiveConstraint) && change.mutating(),
            "{prompt}: {:?}",
            names(&change)
        );
    }
}

#[test]
fn q_124_a_why_question_is_about_a_fault_or_about_a_choice() {
    let fault = signals_of("why does the importer crash on empty files?");
    assert!(fault.has(Signal::WhyQuestion) && fault.has(Signal::Symptom));
    let choice = signals_of("why do we use kafka instead of a table?");
    assert!(choice.has(Signal::WhyQuestion) && !choice.has(Signal::Symptom));
}

#[test]
fn q_124_exchanging_a_technology_and_deciding_how_are_not_focused_changes() {
    assert!(signals_of("replace webpack with vite").has(Signal::VMigrate));
    assert!(!signals_of("replace the word cart with basket").has(Signal::VMigrate));
    for prompt in [
        "how should we store the drafts before we build the editor?",
        "work out how tenants should share a queue, then build it",
    ] {
        assert!(
            signals_of(prompt).has(Signal::VDesign),
            "{prompt}: {:?}",
            names(&signals_of(prompt))
        );
    }
}

#[test]
fn q_125_a_change_asked_for_is_mutating_in_all_three_forms() {
    for prompt in [
        // (a)
        "drop the old index",
        "would you mind moving the badge to the left",
        "I'd like the header to be blue",
        "we need a dark theme",
        "parse_duration has to accept 1h30m",
        "install ripgrep in the image",
        // (b)
        "tell me how it works, then repair it",
        "could you tell me why we vendor zlib and then swap it for the system copy",
        "what does the sweep do? if it deletes drafts, remove it",
        "explain the retry loop and fix the backoff",
        "is the flag still used? delete it please",
        // (c)
        "which line must I alter so that the port is free",
        "what do I need to change to get longer sessions?",
    ] {
        assert!(signals_of(prompt).mutating(), "{prompt}");
    }
}

#[test]
fn q_125_a_change_verb_inside_a_question_is_not_mutating() {
    for prompt in [
        "how would I evict a stale lease by hand?",
        "how do I delete a branch",
        "what happens when I remove the lock file?",
        "does the sweep delete drafts?",
        "what does it mean to rebase?",
        "explain how the sweep deletes blobs and updates the index",
        "what is the difference between merge and rebase?",
        "why do we build twice?",
        "show me where we create the token",
        "who wrote the parser?",
    ] {
        assert!(
            !signals_of(prompt).mutating(),
            "{prompt}: {:?}",
            signals_of(prompt).mutating_words()
        );
    }
}

#[test]
fn q_118_pasted_text_never_routes() {
    let pasted = "```\nplease delete the index and plan first\n```";
    let plain = signals_of("what does this do?");
    let with = signals_of(&format!("what does this do?\n{pasted}"));
    assert_eq!(names(&plain), names(&with));
    let (route, _) = routed(
        "KeyError: 'tenant'",
        &Facts::default(),
        None,
        &Catalogue::embedded(&[]),
    );
    assert_eq!(route.workflow, "debugging");
    let (route, _) = routed(pasted, &Facts::default(), None, &Catalogue::embedded(&[]));
    assert!(route.abstained);
}

#[test]
fn q_119_quoted_text_is_one_noun() {
    let signals = signals_of("put a link captioned \"what is this? delete it\" in the page header");
    assert!(!signals.has(Signal::Interrogative) && signals.has(Signal::Imperative));
}

#[test]
fn q_120_clauses_are_cut_at_conjunctions_before_a_verb() {
    let clauses = |text: &str| {
        Prompt::read(text)
            .clauses
            .iter()
            .map(|clause| clause.text.clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(
        clauses("rename the flag and then drop the alias; why is it there?"),
        [
            "rename the flag",
            "and then drop the alias",
            "why is it there"
        ]
    );
    assert_eq!(
        clauses("rename the bed and breakfast page"),
        ["rename the bed and breakfast page"]
    );
    // Background is not the main clause.
    let prompt = Prompt::read("I was reading the docs yesterday. How does the sweep pick blobs?");
    assert_eq!(
        prompt.main_clause().map(|clause| clause.text.as_str()),
        Some("How does the sweep pick blobs")
    );
}

#[test]
fn q_121_case_quotes_spaces_and_spelling_do_not_change_what_is_read() {
    for (one, other) in [
        (
            "normalise the colour of the label",
            "NORMALIZE the  color of the label",
        ),
        ("don't log passwords", "don’t  log passwords"),
        (
            "why isn't the cache behaving",
            "Why isnt the cache behaving",
        ),
    ] {
        assert_eq!(names(&signals_of(one)), names(&signals_of(other)), "{one}");
    }
}

#[test]
fn q_149_requirements_become_instructions() {
    let prompt = Prompt::read("check the agent. it should package a script if required");
    assert_eq!(prompt.requirements, ["package a script if required"]);
}

#[test]
fn q_171_of_a_long_prompt_the_start_and_the_end_are_read() {
    let prompt = format!(
        "shorten the tooltip. {} rename the last flag",
        "Some more words here. ".repeat(10_000)
    );
    let read = Prompt::read(&prompt);
    assert!(read.main.len() <= 21_000);
    assert!(
        read.main.starts_with("shorten the tooltip") && read.main.ends_with("rename the last flag")
    );
}

/// Words that a prompt may be made of.
const WORDS: &[&str] = &[
    "delete",
    "rename",
    "the",
    "a",
    "index",
    "how",
    "why",
    "what",
    "does",
    "do",
    "i",
    "you",
    "can",
    "could",
    "please",
    "then",
    "and",
    "if",
    "it",
    "tell",
    "me",
    "explain",
    "works",
    "is",
    "broken",
    ",",
    ";",
    "?",
    ".",
    "\n",
    "parser.py",
    "\"x y\"",
    "`z`",
    "not",
    "never",
    "make",
    "sure",
    "which",
    "line",
    "must",
    "alter",
    "want",
    "to",
    "need",
    "we",
    "should",
    "list",
    "show",
    "fix",
    "all",
    "63",
    "files",
    "yes",
    "no",
    "plan",
    "first",
    "workflow:",
    "simple-question",
    "use",
    "skill",
    "/foo",
    "--",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn q_22_no_text_makes_the_planner_panic(text in "\\PC{0,200}", tail in "[\\x00-\\x7f]{0,120}") {
        let catalogue = Catalogue::default();
        let (route, _) = routed(&format!("{text}\n{tail}"), &Facts::default(), None, &catalogue);
        prop_assert!(route.confidence <= 1.0);
    }

    #[test]
    fn q_142_no_change_is_ever_answered_as_a_question(places in proptest::collection::vec(0..WORDS.len(), 1..14)) {
        let text = places.iter().filter_map(|place| WORDS.get(*place)).copied().collect::<Vec<_>>().join(" ");
        let catalogue = small();
        let (route, _) = routed(&text, &Facts::default(), None, &catalogue);
        if route.signals.mutating() {
            prop_assert_ne!(route.workflow, "simple-question", "{}", text);
        }
        // An order that opens with a verb of change is seen as one.
        let (route, _) = routed(&format!("delete the index. {text}"), &Facts::default(), None, &catalogue);
        prop_assert!(route.signals.mutating());
        prop_assert_ne!(route.workflow, "simple-question");
    }
}

/// The default catalogue's files once, as reading them for each case takes long.
fn small() -> Catalogue {
    static CATALOGUE: std::sync::OnceLock<Catalogue> = std::sync::OnceLock::new();
    CATALOGUE.get_or_init(|| Catalogue::embedded(&[])).clone()
}
