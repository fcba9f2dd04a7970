//! Signals of the group *symptom*: something misbehaves, or a concrete fault is to be corrected.

use super::speech::{Act, Asked};
use super::{Signal, Signals, phrase, words};
use crate::text::lemma::{Classes, Form, singular};
use crate::text::lexicon::function_words::{AUXILIARIES, DETERMINERS};
use crate::text::lexicon::nouns::{FAULTS, FAULTY};
use crate::text::lexicon::phrases;
use crate::text::lexicon::within;
use crate::text::token::{Kind, Token};
use crate::text::{Clause, Prompt};

phrases! {
    /// Phrases that tell of misbehaviour wherever they stand in a statement.
    SYMPTOMS =
    "|no longer|nothing happens|no effect|no response|no output|not respected|not working|not responding\
     |even though|all of a sudden|for no reason|out of nowhere|too slow|too long|takes forever|take forever\
     |taking forever|ages to|used to work|stopped working|stops working|acting up|acting weird|goes blank\
     |goes missing|gone missing|gone|fills up|filling up|full disk|out of memory|eats memory|eating memory\
     |eats up|pegged at|100% cpu|comes back empty|comes up empty|comes out|come out|turns up|shows up as\
     |ends up|end up|only half|twice|keeps asking|logged out|logs me out|kicks me out|instead of\
     |rather than the|but got|but gets|but get|when it should|does nothing|do nothing|did nothing|off by one\
     |wrong order|out of order|cannot reproduce|cannot connect|cannot log in|cannot login|exit code\
     |exits with|memory keeps|never finishes|never ends|never returns|never arrives|never fires|never shows\
     |not found|connection refused|timed out|times out|timing out|status 500|http 500|a 500|500s|a 404|404s\
     |a 502|a 503|a 401|a 403|502s|503s|getting a|i am getting|i get|we get|we see|i am seeing|we are seeing\
     |climbs|climbing|creeps|piles up|piling up|hours behind|minutes behind|lags behind|in circles\
     |half the time|every so often|now and then|every few|went down|is down|are down|goes down|blows up\
     |blew up|falls over|fell over|out of sync"
}

/// What a person does to a fault that is known.
static REPAIRS: &[&str] = &[
    "fix", "repair", "correct", "resolve", "patch", "remedy", "solve", "rectify", "hotfix",
    "address", "sort",
];

phrases! {
    /// When it went wrong.
    TIMES =
    "|yesterday|last night|this morning|this afternoon|overnight|since|ever since|recently|lately|last week\
     |last month|as of|after the|after upgrading|after updating|after merging|after deploying\
     |after the upgrade|after the update|after the deploy|after restarting|after a restart|after a reboot\
     |since the|since yesterday|since monday|around midnight|at midnight|today|tonight|this week\
     |a few days ago|days ago|hours ago|on friday|on monday|on tuesday"
}

phrases! {
    REGRESSIONS =
    "|used to|no longer|anymore|any more|stopped working|worked before|worked fine|it worked|was working\
     |worked until|worked yesterday|regression|since the upgrade|since the update|since upgrading\
     |since updating|since the last|since the release|since the deploy|since the migration|ever since\
     |after upgrading|after the upgrade|after updating|after the update|after bumping|after merging\
     |after the merge|after the deploy|all of a sudden|suddenly|worked last|was fine|were fine|fine before\
     |fine until"
}

pub(super) fn read(prompt: &Prompt, signals: &mut Signals) {
    let all = words(prompt);
    if prompt.error.is_some() {
        signals.add(
            Signal::ErrorText,
            prompt
                .error
                .clone()
                .unwrap_or_default()
                .chars()
                .take(80)
                .collect::<String>(),
        );
    }
    for clause in &prompt.clauses {
        if let Some(found) = symptom(clause) {
            signals.add(Signal::Symptom, found);
        }
        if let Some(found) = report(clause) {
            signals.add(Signal::ErrorReport, found);
        }
    }
    // "the page is blank, fix it", "it dies on null. treat those as empty": what is told beside the order is the fault.
    let repaired = prompt.clauses.iter().find(|clause| {
        repairs(clause).is_some()
            || clause.reading.directs()
                && !clause.reading.negated
                && clause
                    .reading
                    .classes
                    .any(Classes::EDIT.with(Classes::REMOVE))
                && !clause.reading.classes.any(Classes::INVESTIGATE)
    });
    if (signals.has(Signal::Symptom) || signals.has(Signal::ErrorText))
        && let Some(clause) = repaired
        && !signals.has(Signal::ErrorReport)
    {
        signals.add(
            Signal::ErrorReport,
            clause.text.chars().take(40).collect::<String>(),
        );
    }
    let told = signals.has(Signal::Symptom)
        || signals.has(Signal::ErrorReport)
        || signals.has(Signal::VInvestigate)
        || signals.has(Signal::ErrorText);
    if told {
        if let Some(found) = phrase(&all, REGRESSIONS) {
            signals.add(Signal::Regression, found);
        }
        if let Some(found) = phrase(&all, TIMES) {
            signals.add(Signal::IncidentTime, found);
        }
    }
}

/// Whether a clause can tell of a fault at all: an order to build does not, even with "when a request fails" in it.
fn tells(clause: &Clause) -> bool {
    let reading = clause.reading;
    match reading.act {
        Act::Statement | Act::Fragment => true,
        Act::Question => {
            matches!(reading.asked, Some(Asked::Why | Asked::YesNo))
                || clause.tokens.iter().any(|token| token.is("not"))
        }
        Act::Order | Act::Polite => {
            repairs(clause).is_some()
                || reading.asked == Some(Asked::Why)
                || reading
                    .classes
                    .any(Classes::INVESTIGATE.with(Classes::READ))
                    && !reading.info
        }
        Act::Wish => reading.background,
    }
}

fn symptom(clause: &Clause) -> Option<String> {
    if !tells(clause) {
        return None;
    }
    let tokens = &clause.tokens;
    let mut words = String::from(" ");
    for token in tokens {
        words.push_str(if matches!(token.kind, Kind::Word | Kind::Number) {
            &token.word
        } else {
            "\u{0}"
        });
        words.push(' ');
    }
    let yes_no = clause.reading.act == Act::Question && clause.reading.asked == Some(Asked::YesNo);
    if let Some(found) = phrase(&words, SYMPTOMS)
        .filter(|found| {
            clause.reading.asked != Some(Asked::Why)
                || !matches!(*found, "instead of" | "rather than the")
        })
        .filter(|found| {
            !yes_no
                || !matches!(
                    *found,
                    "instead of" | "twice" | "gone" | "come out" | "a 404" | "a 500" | "too long"
                )
        })
    {
        return Some(found.to_owned());
    }
    if clause.reading.act == Act::Question
        && !matches!(clause.reading.asked, Some(Asked::Why))
        && !words.contains(" not ")
    {
        // "is the build broken?" asks; "does it fail twice" too. Only a fault that is told counts.
        return None;
    }
    for (at, token) in tokens.iter().enumerate() {
        if let Some(found) = negated_ability(tokens, at) {
            return Some(found);
        }
        if token.kind == Kind::Word
            && token.verb.is_some_and(|verb| {
                verb.classes.any(Classes::FAIL) && failing(tokens, at, verb.form, verb.noun)
            })
        {
            return Some(token.word.clone());
        }
        if token.kind == Kind::Word && within(FAULTY, &token.word) && predicate(tokens, at) {
            return Some(token.word.clone());
        }
        if token.kind == Kind::Word
            && (within(FAULTS, &token.word) || within(FAULTS, &singular(&token.word)))
            && !small_fault(&token.word)
            && !matches!(clause.reading.act, Act::Order | Act::Polite if token.among(&["warning", "warnings", "issue", "issues"]))
            && !tokens.get(at + 1).is_some_and(|next| {
                next.among(&[
                    "message",
                    "messages",
                    "page",
                    "pages",
                    "handling",
                    "handler",
                    "text",
                    "code",
                    "codes",
                    "type",
                    "types",
                    "class",
                    "report",
                    "reports",
                    "reporting",
                    "tracker",
                    "budget",
                    "boundary",
                    "boundaries",
                    "banner",
                ]) && clause.reading.act != Act::Statement
            })
        {
            return Some(token.word.clone());
        }
    }
    // "nothing shows up"
    if let Some(pair) = tokens.windows(2).find(|pair| matches!(pair, [nothing, next] if nothing.among(&["nothing", "nobody", "none"]) && next.verb.is_some_and(|verb| matches!(verb.form, Form::S | Form::Past)) && matches!(clause.reading.act, Act::Statement))) {
        return Some(pair.iter().map(|token| token.word.as_str()).collect::<Vec<_>>().join(" "));
    }
    // "why is it showing the old one again": what is asked about comes back or goes on.
    if clause.reading.asked == Some(Asked::Why)
        && let Some(found) = tokens.iter().find(|token| {
            token.among(&[
                "again",
                "still",
                "suddenly",
                "half",
                "sometimes",
                "randomly",
                "always",
                "every",
                "constantly",
                "everywhere",
            ])
        })
        && !tokens
            .iter()
            .take(4)
            .any(|token| token.among(&["we", "you", "they"]))
    {
        return Some(format!("why … {}", found.word));
    }
    // "keeps restarting", "keeps on asking"
    tokens.windows(2).find_map(|pair| match pair {
        [keep, next]
            if keep.among(&["keeps", "keep", "kept", "still"])
                && next.verb.is_some_and(|verb| verb.form == Form::Ing) =>
        {
            Some(format!("{} {}", keep.word, next.word))
        }
        [slow, next]
            if slow.among(&["takes", "took", "taking"])
                && (next.kind == Kind::Number
                    || next.among(&[
                        "forever", "ages", "hours", "minutes", "over", "about", "almost",
                        "several", "twice", "longer", "too",
                    ])) =>
        {
            Some(format!("{} {}", slow.word, next.word))
        }
        [too, next]
            if too.is("too")
                && next.among(&[
                    "slow", "big", "large", "late", "early", "many", "much", "high", "low",
                    "often", "fast", "long", "small",
                ])
                && clause.reading.act == Act::Statement =>
        {
            Some(format!("too {}", next.word))
        }
        _ => None,
    })
}

/// A verb of misbehaving as a finite verb or participle, rather than a noun.
fn failing(tokens: &[Token], at: usize, form: Form, noun: bool) -> bool {
    let before = at.checked_sub(1).and_then(|before| tokens.get(before));
    let determined = before.is_some_and(|before| {
        before.within(DETERMINERS) && !before.among(&["this", "that", "it", "all"])
    });
    match form {
        Form::S | Form::Past => !determined,
        Form::Ing => {
            before.is_some_and(|before| {
                before.within(AUXILIARIES)
                    || before.among(&[
                        "keeps",
                        "keep",
                        "started",
                        "starts",
                        "not",
                        "still",
                        "kept",
                        "be",
                        "always",
                        "constantly",
                        "randomly",
                        "it",
                        "tests",
                        "test",
                        "ci",
                    ])
            }) || at + 1 == tokens.len()
                || at == 0
        }
        // "the tests fail", "why do they hang": a base form that is no noun, or stands behind an auxiliary.
        Form::Base => {
            !determined
                && at > 0
                && (!noun
                    || before.is_some_and(|before| {
                        before.word.ends_with('s')
                            || before.within(AUXILIARIES)
                            || before.among(&["to", "not", "it", "they", "sometimes", "often"])
                            || before.word.ends_with("ly")
                    }))
                && !before.is_some_and(|before| before.among(&["to", "should", "must"]))
        }
    }
}

/// "is broken", "looks wrong", "stale data", but not "remove dead code" or "an empty string".
fn predicate(tokens: &[Token], at: usize) -> bool {
    let Some(token) = tokens.get(at) else {
        return false;
    };
    if token.among(&[
        "invalid",
        "negative",
        "missing",
        "slow",
        "down",
        "absent",
        "random",
        "dead",
        "off",
        "duplicated",
        "undefined",
        "failed",
        "lost",
        "odd",
        "empty",
        "orphaned",
        "overlapping",
        "outdated",
        "hanging",
        "strange",
        "blank",
    ]) {
        return tokens
            .iter()
            .skip(at.saturating_sub(4))
            .take(4.min(at))
            .any(|before| {
                before.within(AUXILIARIES)
                    || before.among(&[
                        "looks", "look", "looked", "seems", "seem", "goes", "gets", "get", "got",
                        "comes", "feels", "appears", "turns", "been", "stays", "went", "becomes",
                        "became", "be", "shows", "stay", "keeps", "returns", "running", "runs",
                        "renders", "prints", "gives", "has",
                    ])
            })
            || (at > 0
                && at + 1 == tokens.len()
                && token.among(&["missing", "down", "undefined", "slow"]));
    }
    true
}

/// Faults that are corrected where they stand, rather than looked into.
fn small_fault(word: &str) -> bool {
    matches!(
        word,
        "typo" | "typos" | "misspelling" | "off-by-one" | "warning" | "warnings"
    )
}

/// "does not start", "won't load", "cannot connect", "isn't returning".
fn negated_ability(tokens: &[Token], at: usize) -> Option<String> {
    let token = tokens.get(at)?;
    let next = tokens.get(at + 1)?;
    if token.among(&[
        "does", "do", "did", "will", "can", "is", "are", "was", "were", "has", "could", "would",
        "have",
    ]) && next.is("not")
    {
        let verb = tokens.iter().skip(at + 2).take(4).find(|token| {
            token.verb.is_some()
                || token.kind != Kind::Word
                || token.word.ends_with("ing")
                || token.word.ends_with("ed")
        });
        let own = at > 0
            && tokens.get(at - 1).is_some_and(|before| {
                before.among(&["i", "we", "you"]) && !token.among(&["can", "could"])
            });
        if !own && (verb.is_some() || at + 2 >= tokens.len()) {
            return Some(
                format!(
                    "{} not {}",
                    token.word,
                    verb.map_or("", |verb| verb.word.as_str())
                )
                .trim_end()
                .to_owned(),
            );
        }
    }
    (token.is("not")
        && at > 0
        && (next.word.ends_with("ing") || next.verb.is_some_and(|verb| verb.form == Form::Past))
        && tokens
            .get(at - 1)
            .is_some_and(|before| !before.among(&["or", "if", "is", "are", "why"])))
    .then(|| format!("not {}", next.word))
}

/// The verb of repair that a clause orders.
fn repairs(clause: &Clause) -> Option<&str> {
    if !clause.reading.directs() {
        return None;
    }
    let verb = clause
        .reading
        .verb
        .and_then(|place| clause.tokens.get(place))?;
    let base = verb.verb?.base;
    (REPAIRS.contains(&base)
        || matches!(base, "make" | "get")
            && clause
                .tokens
                .iter()
                .any(|token| token.among(&["pass", "work", "green", "passing", "working"])))
    .then_some(verb.word.as_str())
}

/// A concrete fault to be corrected: "fix the type error", "typo in the footer", "the label says X instead of Y".
fn report(clause: &Clause) -> Option<String> {
    let tokens = &clause.tokens;
    let fault = tokens.iter().find(|token| {
        token.kind == Kind::Word
            && (within(FAULTS, &token.word)
                || within(FAULTS, &singular(&token.word))
                || within(FAULTY, &token.word)
                || token
                    .verb
                    .is_some_and(|verb| verb.classes.any(Classes::FAIL) && verb.form != Form::Base)
                || token.among(&[
                    "mistake",
                    "mistakes",
                    "inconsistency",
                    "misspelled",
                    "misspelt",
                    "leaking",
                    "failing",
                ]))
    });
    if let Some(verb) = repairs(clause) {
        return Some(
            fault.map_or_else(|| verb.to_owned(), |fault| format!("{verb} {}", fault.word)),
        );
    }
    let named = tokens.iter().find(|token| {
        token.among(&[
            "typo",
            "typos",
            "misspelling",
            "misspelled",
            "misspelt",
            "mistyped",
            "off-by-one",
            "wrong",
            "incorrect",
            "outdated",
            "mislabeled",
            "misaligned",
            "mistake",
        ])
    });
    if matches!(clause.reading.act, Act::Statement | Act::Fragment)
        && let Some(fault) = named
    {
        return Some(fault.word.clone());
    }
    None
}
