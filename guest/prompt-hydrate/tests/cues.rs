//! What the cues read, and the vetoes that rest on them.
#[path = "../../skill-interpreter/tests/processor_time/mod.rs"]
mod processor_time;
mod routing;

use prompt_hydrate::catalogue::Catalogue;
use prompt_hydrate::cues::Cue;
use prompt_hydrate::session::Facts;
use prompt_hydrate::text::Prompt;
use proptest::prelude::*;
use routing::{cues_of, names, route_of, routed};

/// Each cue with a prompt in which it holds.
const VOCABULARY: [(&str, &str); 13] = [
    ("interrogative", "what does the flag do?"),
    ("change", "rename the flag"),
    (
        "corrective_constraint",
        "make sure the export never writes nulls",
    ),
    ("requirement_clause", "add an export. it should write csv"),
    ("error_report", "fix the type error in parser.py"),
    (
        "error_text",
        "look:\n```\nerror[E0433]: failed to resolve\n```",
    ),
    (
        "no_change",
        "look at the retry code, but do not edit anything",
    ),
    ("plan_first", "plan first: move the jobs"),
    ("vague", "blorp"),
    ("confirmation", "yes"),
    ("refusal", "no thanks"),
    ("choice", "the second one"),
    ("continuation", "also in the footer"),
];

#[test]
fn every_cue_has_its_name_can_hold_and_says_why() {
    assert_eq!(VOCABULARY.len(), Cue::ALL.len());
    for (name, prompt) in VOCABULARY {
        let cue = Cue::parse(name).unwrap();
        let cues = cues_of(prompt);
        assert!(
            cues.words(cue).is_some_and(|words| !words.is_empty()),
            "{name}: {:?}",
            names(&cues)
        );
        assert!(
            VOCABULARY.iter().any(|(_, other)| !cues_of(other).has(cue)),
            "{name}"
        );
    }
}

#[test]
fn a_request_with_a_verb_of_doing_is_a_change_and_one_with_a_verb_of_telling_asks() {
    for opening in [
        "can you",
        "could you",
        "would you",
        "please",
        "I need you to",
        "could you please",
        "I'd like you to",
    ] {
        let doing = cues_of(&format!("{opening} rename the flag"));
        assert!(
            doing.has(Cue::Change) && !doing.has(Cue::Interrogative),
            "{opening}: {:?}",
            names(&doing)
        );
        let telling = cues_of(&format!("{opening} explain the flag"));
        assert!(
            telling.has(Cue::Interrogative) && !telling.has(Cue::Change),
            "{opening}: {:?}",
            names(&telling)
        );
    }
}

#[test]
fn make_sure_it_works_is_no_change_and_make_sure_it_never_is_one() {
    assert!(!cues_of("make sure the export works").has(Cue::Change));
    for prompt in [
        "make sure the export never writes nulls",
        "make sure it doesn't use inline python",
        "ensure that it only reads public rows",
    ] {
        let cues = cues_of(prompt);
        assert!(
            cues.has(Cue::CorrectiveConstraint) && cues.has(Cue::Change),
            "{prompt}: {:?}",
            names(&cues)
        );
    }
}

#[test]
fn a_change_is_seen_in_an_order_a_wish_a_requirement_and_behind_a_question() {
    for prompt in [
        "drop the old index",
        "would you mind moving the badge to the left",
        "I'd like the header to be blue",
        "we need a dark theme",
        "parse_duration has to accept 1h30m",
        "install ripgrep in the image",
        "tell me how it works, then repair it",
        "could you tell me why we vendor zlib and then swap it for the system copy",
        "what does the sweep do? if it deletes drafts, remove it",
        "is there a way to mute it? if so mute it, and remove the beep",
        "explain the retry loop and fix the backoff",
        "is the flag still used? delete it please",
        "which line must I alter so that the port is free",
        "what do I need to change to get longer sessions?",
    ] {
        assert!(cues_of(prompt).has(Cue::Change), "{prompt}");
    }
}

#[test]
fn a_verb_of_change_inside_a_question_is_no_change() {
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
        "give me a summary of the release notes",
    ] {
        let cues = cues_of(prompt);
        assert!(
            !cues.has(Cue::Change),
            "{prompt}: {:?}",
            cues.words(Cue::Change)
        );
    }
}

#[test]
fn a_change_behind_a_question_or_asked_politely_is_never_answered_as_a_question() {
    for prompt in [
        "can you tell me what foo does and rename it",
        "explain how auth works and refactor it",
        "tell me what this does and clean it up",
        "is there any chance you could swap the two columns?",
        "would it be OK to bump the version?",
        "which tests are flaky? skip them",
        "what would it take to support IPv6? do it please",
        "who wrote this? anyway rename it to util.rs",
        "is the api key in the repo? take it out",
        "could you describe what the cron entry is for and disable it",
        "show me where the banner is rendered and hide it",
        "say what the shim is good for, and then drop it",
        "summarize what the migration does and split it in two",
        "list the flags nobody reads and delete them",
        "outline how the cache works and shrink it to 10 MB",
        "any chance you can make the sidebar narrower?",
        "any chance of renaming the package to lowercase?",
        "would it be fine to merge the two config files?",
        "would it be alright if you moved the tests next to the code?",
        "would it be too much trouble to sort the imports?",
        "do you think you could convert these callbacks to async?",
        "are you able to remove the unused feature flags?",
        "is it possible for you to pin the compiler version?",
        "I was wondering if you could add a dark theme",
        "could I ask you to shorten the error texts?",
        "might you be willing to translate the labels to German?",
        "what would it take to drop the lodash dependency? do it",
        "why is this fixture still here? throw it away",
        "are these snapshots stale? regenerate them",
        "how old is the vendored zlib? either way upgrade it",
        "does anything call legacy_sum? wipe it from the module",
        "what is this comment about, remove it",
        "which of the jobs are obsolete? turn them off",
        "where does the warning come from? mute it",
        "why do we log the token? comment it out",
        "can you walk me through the parser and rewrite the slow part",
        "can you see what the hook does and port it to python",
        "explain the config loader and also rename it to settings",
        "would you consider moving to pnpm?",
        "what would you say to renaming the module?",
        "would you be able to rename the topic?",
        "could you possibly reorder the columns?",
        "is there any way you could speed up the import?",
        "it would be great if you could split this file",
        "can someone fix the broken link in the footer",
        "why don't you move the helper into utils?",
        "how about dropping the second cache?",
        "how does login work, and can you make it faster?",
    ] {
        let route = route_of(prompt);
        assert!(route.cues.has(Cue::Change), "{prompt}");
        assert_ne!(route.workflow, "simple-question", "{prompt}");
    }
}

#[test]
fn a_question_in_similar_words_stays_a_question() {
    for prompt in [
        "can you tell me how to rename a branch?",
        "what does it take to build this?",
        "is it ok that the tests are skipped?",
        "can you explain how to stop the daemon and remove it?",
        "tell me what happens when I remove the lock and restart it",
        "tell me how I can export a table and import it elsewhere",
        "explain what the sweep does and whether it deletes drafts",
        "explain what this module does and how it is tested",
        "describe how the writer opens a file and locks it",
        "list the flags and tell me which of them are read",
        "show me what the cache holds and check it against the docs",
        "is it possible to rename a branch on the server?",
        "is there a way to rotate the logs?",
        "is there any chance that the upload fails silently?",
        "are you sure that the sweep deletes drafts?",
        "do you think the parser is fast enough?",
        "do you know who added the retry?",
        "would it be faster with a larger buffer?",
        "would you say that the lock is needed?",
        "what would it take to support IPv6?",
        "what would it cost to host this?",
        "is it safe to delete the target folder?",
        "can I remove a tag after a release?",
        "could the cache have dropped the row?",
        "how do I open the archive and extract it?",
        "which tests are flaky? are they skipped in CI?",
        "who wrote this? is it still used?",
        "do these tests pass?",
        "do those need a lock?",
        "what about the retry, is it tested?",
        "how about memory, does it grow?",
        "why not a queue?",
        "can I move a tag, and how? no need to do it now",
        "what about format support?",
        "does it also delete drafts?",
        "how can you tell that the row is stale?",
        "where can you set the port?",
        "do you have to rebuild after an update?",
        "if it fails, who is told?",
    ] {
        let cues = cues_of(prompt);
        assert!(
            cues.has(Cue::Interrogative) && !cues.has(Cue::Change),
            "{prompt}: {:?}",
            cues.words(Cue::Change)
        );
    }
}

#[test]
fn pasted_and_quoted_text_is_not_read() {
    let pasted = "```\nplease delete the index and plan first\n```";
    assert_eq!(
        names(&cues_of("what does this parser do?")),
        names(&cues_of(&format!("what does this parser do?\n{pasted}")))
    );
    assert!(route_of(pasted).abstained);
    assert_eq!(route_of("KeyError: 'tenant'").workflow, "debugging");
    let cues = cues_of("put a link captioned \"what is this? delete it\" in the page header");
    assert!(!cues.has(Cue::Interrogative) && cues.has(Cue::Change));
}

#[test]
fn of_a_long_prompt_the_start_and_the_end_are_read() {
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

#[test]
fn a_long_sentence_is_read_in_linear_time() {
    let kib_16 = |begin: &str, unit: &str| {
        let times = (16 * 1024_usize).div_ceil(unit.len());
        format!("{begin}{}", unit.repeat(times))
    };
    for prompt in [
        kib_16("", "so, "),
        kib_16("", "i, "),
        kib_16("why ", "i, "),
        kib_16("why i ", "and a "),
        kib_16("", "could you, "),
    ] {
        let start = processor_time::Stopwatch::started();
        route_of(&prompt);
        let elapsed = start.elapsed();
        let begin: String = prompt.chars().take(16).collect();
        // Reading the rest of the sentence for each of its clauses takes seconds.
        assert!(elapsed.as_secs() < 4, "{begin}: {elapsed:?}");
    }
}

#[test]
fn without_a_session_an_answer_or_a_pronoun_is_never_guessed() {
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

/// Words that a prompt may be made of.
const WORDS: &str = "delete rename the a index how why what does do i you can could please then and if it tell me explain works is \
    broken , ; ? . \n parser.py \"x y\" `z` not never make sure which line must alter want to need we should list show fix all 63 \
    files yes no plan first workflow: simple-question use skill /foo --";

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn no_text_makes_the_router_panic(text in "\\PC{0,200}", tail in "[\\x00-\\x7f]{0,120}") {
        let (route, _) = routed(&format!("{text}\n{tail}"), &Facts::default(), None, &Catalogue::default());
        prop_assert!(route.confidence <= 1.0);
    }

    #[test]
    fn no_change_is_ever_answered_as_a_question(places in proptest::collection::vec(0..70_usize, 1..14)) {
        let known: Vec<&str> = WORDS.split(' ').filter(|word| !word.is_empty()).collect();
        let text = places.iter().filter_map(|place| known.get(*place)).copied().collect::<Vec<_>>().join(" ");
        let route = route_of(&text);
        if route.cues.has(Cue::Change) {
            prop_assert_ne!(route.workflow, "simple-question", "{}", text);
        }
        // An order that opens with a verb of change is seen as one.
        let route = route_of(&format!("delete the index. {text}"));
        prop_assert!(route.cues.has(Cue::Change));
        prop_assert_ne!(route.workflow, "simple-question");
    }
}
