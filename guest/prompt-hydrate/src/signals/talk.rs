//! Signals of speech act, of the main clause's verbs, and of the session.

use super::speech::{Act, Asked, Reading};
use super::{Signal, Signals, phrase, words};
use crate::text::lemma::Classes;
use crate::text::lexicon::function_words::{
    CHOICE_WORDS, CHOICES, CONFIRMATIONS, NO_WORDS, PRONOUNS, REFUSALS, YES_WORDS,
};
use crate::text::lexicon::phrases;
use crate::text::lexicon::{Words, within};
use crate::text::token::{Kind, Token};
use crate::text::{Clause, Prompt};

/// Speech act of the main clause.
pub(super) fn speech_acts(prompt: &Prompt, signals: &mut Signals) {
    let Some(clause) = prompt.main_clause() else {
        return;
    };
    let reading = clause.reading;
    let opening = || {
        clause
            .text
            .split_whitespace()
            .take(3)
            .collect::<Vec<_>>()
            .join(" ")
    };
    match reading.act {
        Act::Order => signals.add(Signal::Imperative, opening()),
        Act::Polite => {
            signals.add(Signal::Imperative, opening());
            signals.add(Signal::PoliteRequest, opening());
        }
        Act::Wish => signals.add(Signal::Wish, opening()),
        Act::Question => signals.add(Signal::Interrogative, opening()),
        Act::Statement | Act::Fragment => signals.add(Signal::Statement, opening()),
    }
    if reading.info {
        signals.add(Signal::InfoRequest, opening());
    }
    let asked = reading.asked.filter(|_| {
        reading.info || reading.act == Act::Question || reading.classes.any(Classes::INVESTIGATE)
    });
    match asked {
        Some(Asked::HowTo) => signals.add(Signal::HowTo, opening()),
        Some(Asked::Why) => signals.add(Signal::WhyQuestion, opening()),
        Some(Asked::YesNo) if reading.act == Act::Question => signals.add(Signal::YesNo, opening()),
        _ => {}
    }
}

/// Which class of verb gives which signal.
static VERB_SIGNALS: &[(Classes, Signal)] = &[
    (Classes::EDIT, Signal::VEdit),
    (Classes::BUILD, Signal::VBuild),
    (Classes::REMOVE, Signal::VRemove),
    (Classes::MOVE, Signal::VMove),
    (Classes::INVESTIGATE, Signal::VInvestigate),
    (Classes::VERIFY, Signal::VVerify),
    (Classes::REVIEW, Signal::VReview),
    (Classes::DESIGN, Signal::VDesign),
    (Classes::PLAN, Signal::VPlan),
    (Classes::TEST, Signal::VTest),
    (Classes::MIGRATE, Signal::VMigrate),
    (Classes::RUN, Signal::VRun),
    (Classes::READ, Signal::VRead),
];

/// Verbs of the main clause.
pub(super) fn verbs(prompt: &Prompt, signals: &mut Signals) {
    if let Some(clause) = prompt.main_clause() {
        let word = verb_word(clause, clause.reading);
        for (class, signal) in VERB_SIGNALS {
            if clause.reading.classes.any(*class) && !clause.reading.negated {
                signals.add(*signal, word.clone());
            }
        }
    }
    // "are the links alive? check them": the order says what is to be done about the question.
    if prompt
        .main_clause()
        .is_some_and(|clause| clause.reading.act == Act::Question && !clause.reading.decision)
    {
        for clause in prompt.clauses.iter().filter(|clause| {
            matches!(clause.reading.act, Act::Order | Act::Polite)
                && !clause.reading.info
                && !clause.reading.negated
        }) {
            for (class, signal) in VERB_SIGNALS {
                if clause.reading.classes.any(*class) {
                    signals.add(*signal, verb_word(clause, clause.reading));
                }
            }
        }
    }
    let all = words(prompt);
    if let Some(found) = phrase(&all, DESIGNS)
        && !prompt.main_clause().is_some_and(|clause| {
            clause.reading.info && !clause.reading.decision && clause.reading.act == Act::Question
        })
    {
        signals.add(Signal::VDesign, found);
    }
    if let Some(found) = phrase(&all, EVIDENCE)
        && prompt.clauses.iter().any(|clause| clause.reading.directs())
    {
        signals.add(Signal::VVerify, found);
    }
    let tests = [
        "test first",
        "tests first",
        "test-first",
        "tests-first",
        "failing test",
        "failing tests",
        "red-green",
        "red green",
        "tdd",
        "test-driven",
        "test driven",
        "red/green",
        "regression test",
        "regression tests",
        "unit test",
        "unit tests",
        "write tests",
        "write a test",
        "add tests",
        "add a test",
        "test coverage",
        "more coverage",
        "property test",
        "property tests",
        "integration test",
        "integration tests",
        "test cases",
        "test case",
        "snapshot tests",
        "tests for",
        "test for",
        "test suite for",
        "tests covering",
        "start with tests",
        "start with a test",
        "tests before",
        "red test",
        "no test",
        "no tests",
        "untested",
        "acceptance test",
        "acceptance tests",
        "e2e test",
        "e2e tests",
        "tests only",
        "only tests",
        "just tests",
        "tests written up front",
        "spec first",
        "failing integration test",
        "failing unit test",
        "characterization tests",
        "pytest for",
    ];
    let working = prompt.main_clause().is_some_and(|clause| {
        clause.reading.directs() || matches!(clause.reading.act, Act::Fragment | Act::Statement)
    });
    if working && let Some(found) = phrase(&all, &tests) {
        let building = prompt.main_clause().is_some_and(|clause| {
            clause
                .reading
                .classes
                .any(Classes::BUILD.with(Classes::TEST))
                || clause.reading.act == Act::Fragment
                || clause.reading.requirement
        }) || prompt.clauses.iter().any(|clause| {
            clause.reading.act == Act::Fragment
                && clause
                    .tokens
                    .iter()
                    .take(3)
                    .any(|token| token.among(&["test", "tests", "pytest", "spec"]))
        });
        let first = [
            "test first",
            "tests first",
            "test-first",
            "tests-first",
            "failing test",
            "failing tests",
            "red-green",
            "red green",
            "tdd",
            "test-driven",
            "test driven",
            "red/green",
            "start with tests",
            "start with a test",
            "tests before",
            "red test",
            "tests written up front",
            "spec first",
            "failing integration test",
            "failing unit test",
            "tests only",
            "only tests",
            "just tests",
            "no tests",
            "no test",
            "untested",
            "acceptance test",
        ];
        let names_fault = signals.has(Signal::VInvestigate);
        if (building || first.contains(&found))
            && !(names_fault || found.starts_with("failing") && !building)
        {
            signals.add(Signal::VTest, found);
        }
    }
    // Exchanging one technology for another is no focused change.
    let technologies: Vec<&Token> = prompt
        .tokens()
        .filter(|token| token.within(crate::text::lexicon::function_words::TECHNOLOGIES))
        .collect();
    let exchange = prompt.main_clause().is_some_and(|clause| {
        let verb = clause
            .reading
            .verb
            .and_then(|place| clause.tokens.get(place))
            .and_then(|token| token.verb)
            .map_or("", |verb| verb.base);
        matches!(
            verb,
            "switch"
                | "swap"
                | "replace"
                | "rewrite"
                | "move"
                | "convert"
                | "port"
                | "migrate"
                | "upgrade"
                | "translate"
                | "transition"
                | "adopt"
                | "change"
                | "get"
                | "turn"
                | "ditch"
                | "drop"
        ) && clause.reading.directs()
            && clause.tokens.iter().any(|token| {
                token.among(&[
                    "to", "with", "for", "from", "in", "into", "off", "onto", "by",
                ])
            })
    });
    if exchange && let Some(first) = technologies.first() {
        signals.add(Signal::VMigrate, first.word.clone());
    } else if exchange
        && let Some(clause) = prompt.main_clause()
        && let Some(name) = named_exchange(clause)
    {
        signals.add(Signal::VMigrate, name);
    }
    if prompt
        .main_clause()
        .is_some_and(|clause| clause.reading.act == Act::Fragment)
    {
        signals.add(
            Signal::Fragment,
            prompt
                .main_clause()
                .map_or("", |clause| clause.text.as_str())
                .chars()
                .take(40)
                .collect::<String>(),
        );
    }
}

/// "swap Redshift for DuckDB", "move from Foo to Bar": a proper name on both sides.
fn named_exchange(clause: &Clause) -> Option<String> {
    let proper = |token: &Token| {
        matches!(token.kind, Kind::Word | Kind::Identifier)
            && token.text.starts_with(char::is_uppercase)
            && token.text.chars().any(char::is_lowercase)
    };
    let from = clause.reading.verb? + 1;
    let link = clause
        .tokens
        .iter()
        .enumerate()
        .skip(from)
        .take(6)
        .find(|(_, token)| token.among(&["for", "with", "to", "by"]))?
        .0;
    let left = clause
        .tokens
        .get(from..link)?
        .iter()
        .find(|token| proper(token))?;
    clause
        .tokens
        .iter()
        .skip(link + 1)
        .take(3)
        .find(|token| proper(token))
        .map(|right| format!("{} {}", left.text, right.text))
}

phrases! {
    /// Phrases that want something worked out on paper.
    DESIGNS =
    "|on paper|pros and cons|pros & cons|pros cons|trade-offs|tradeoffs|trade offs|decision paper\
     |decision record|written recommendation|recommendation|in writing|design doc|design document|design note\
     |a design for|design for|a spec for|spec for|specification for|a proposal|proposal for|propose how|rfc\
     |adr|white paper|position paper|concept paper|a concept|concept for|options for|some options\
     |a few options|three options|different options|two options|the options|alternatives for\
     |before anyone codes|before anybody codes|before we build|before we implement|before we code\
     |before we write|before we commit to|before coding starts|both sides|weigh up|weigh the|how we should\
     |how we could|how it should work|how this should work|how should we|what should the|which approach\
     |best approach|architecture for|data model for|api design|evaluate and recommend|evaluate & recommend\
     |recommend one|recommend which|should look like|should we go|or should we|think through|on the table\
     |for and against|arguments for|i decide afterwards|decide later"
}

phrases! {
    /// Phrases that want proof.
    EVIDENCE =
    "|evidence that|evidence for|proof that|proof of|show that|see it work|see it working|with evidence\
     |acceptance criteria|acceptance points|side by side|sanity check|smoke test|dry run|end to end and"
}

fn verb_word(clause: &Clause, reading: Reading) -> String {
    reading
        .verb
        .and_then(|place| clause.tokens.get(place))
        .map_or_else(
            || {
                clause
                    .text
                    .split_whitespace()
                    .next()
                    .unwrap_or_default()
                    .to_owned()
            },
            |token| token.word.clone(),
        )
}

phrases! {
    /// Phrases that tie a prompt to what came before.
    CONTINUATIONS =
    "|also|too|instead|one more|as well|while you are there|while you are at it|while youre at it|while at it\
     |same for|same with|same thing|same here|do the same|again|another one|the other one|the rest|the others\
     |next one|that one|this one|those|that|it|them|these|now do|keep going|carry on|continue|go on\
     |what about|how about|and then|after that|the same|as before|like before|undo that|the other|both\
     |back to|one thing|more thing"
}

/// What ties a prompt to a session, if there is one; whether there is one is the route's business.
pub(super) fn session(prompt: &Prompt, signals: &mut Signals) {
    let all: Vec<&Token> = prompt.tokens().collect();
    let count = all.len();
    if count == 0 {
        return;
    }
    let text = || prompt.main.chars().take(60).collect::<String>();
    let only = |words: Words| {
        all.iter().all(|token| {
            matches!(token.kind, Kind::Word | Kind::Number) && within(words, &token.word)
        })
    };
    let some = |words: Words| all.iter().any(|token| within(words, &token.word));
    let question = all
        .last()
        .is_some_and(|token| token.stop == crate::text::token::Stop::Question);
    if count <= 8 && !question {
        let why_not = all
            .windows(2)
            .any(|pair| matches!(pair, [why, not] if why.is("why") && not.is("not")));
        let negative = !why_not && all.iter().any(|token| token.is("not")) || some(NO_WORDS);
        if only(REFUSALS) && some(NO_WORDS) {
            signals.add(Signal::Refusal, text());
        } else if only(CONFIRMATIONS) && some(YES_WORDS) && !negative {
            signals.add(Signal::Confirmation, text());
        } else if only(CHOICES) && some(CHOICE_WORDS) {
            signals.add(Signal::Choice, text());
        }
    }
    let plain = words(prompt);
    if let Some(found) = phrase(&plain, CONTINUATIONS) {
        signals.add(Signal::Continuation, found);
    }
    if let Some(clause) = prompt.main_clause()
        && let Some(token) = clause.tokens.get(clause.reading.object)
        && token.within(PRONOUNS)
        && !token.among(&[
            "me",
            "us",
            "i",
            "we",
            "you",
            "nothing",
            "everything",
            "one",
            "there",
            "they",
            "everyone",
            "anyone",
        ])
        && pronoun_alone(clause, clause.reading.object)
        && (clause.reading.wants() && clause.reading.verb.is_some())
    {
        signals.add(Signal::Anaphora, token.word.clone());
    }
}

/// "fix that", not "fix that bug".
fn pronoun_alone(clause: &Clause, place: usize) -> bool {
    clause.tokens.get(place + 1).is_none_or(|next| {
        let end = clause
            .tokens
            .get(place)
            .is_some_and(|token| token.stop != crate::text::token::Stop::None);
        end || next.kind == Kind::Word
            && (within(
                crate::text::lexicon::function_words::PREPOSITIONS,
                &next.word,
            ) || next.among(&[
                "and", "or", "please", "now", "again", "too", "instead", "so", "then", "back",
                "up", "out", "off", "if", "when", "as", "down",
            ]) || clause
                .tokens
                .get(place)
                .is_some_and(|token| token.among(&["it", "them"])))
    })
}
