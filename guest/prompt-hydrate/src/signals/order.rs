//! What an order asks for: its verb together with its particle, its light verb's noun, and its object.

use super::phrasal::{LIGHT, NOUN_CLASSES, PARTICLE_VERBS, PHRASAL};
use crate::text::clause::object_opens;
use crate::text::lemma::{self, Classes, Form};
use crate::text::lexicon::function_words::{DETERMINERS, QUESTION_WORDS};
use crate::text::lexicon::{nouns, within};
use crate::text::token::{Kind, Token};

/// What an order asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Order {
    /// What the verb asks for, with its particle and noun.
    pub classes: Classes,
    /// Where the object starts, behind verb and particle.
    pub object: usize,
    /// Something is to be told, not done.
    pub info: bool,
}

/// Reads the order whose verb stands at `place`.
#[must_use]
pub fn read(tokens: &[Token], place: usize) -> Order {
    let Some(token) = tokens.get(place) else {
        return Order::default();
    };
    let base = token.verb.map_or(token.word.as_str(), |verb| verb.base);
    let next = tokens.get(place + 1);
    let after = tokens.get(place + 2);
    let is_next = |words: &[&str]| next.is_some_and(|next| next.among(words));
    let tell = |object| Order {
        classes: Classes::TELL,
        object,
        info: true,
    };
    let order = |classes, object| Order {
        classes,
        object,
        info: false,
    };

    if let Some(found) = phrasal(tokens, place, base) {
        return found;
    }
    match base {
        "make" | "be" if is_next(&["sure", "certain"]) => return order(Classes::VERIFY, place + 2),
        "tell" | "teach" | "remind" | "inform" | "brief" if is_next(&["me", "us"]) => {
            return tell(place + 2);
        }
        "let"
            if is_next(&["me", "us"])
                && after.is_some_and(|after| after.among(&["know", "see"])) =>
        {
            return tell(place + 3);
        }
        "let" => return order(Classes::BUILD, place + 1),
        "walk" | "talk" | "run" | "take" | "guide"
            if is_next(&["me", "us"]) && after.is_some_and(|after| after.is("through")) =>
        {
            return tell(place + 3);
        }
        "point" if is_next(&["me", "us"]) => return tell(place + 2),
        "help" => {
            let verb = tokens
                .iter()
                .skip(place + 1)
                .take(3)
                .position(|token| token.verb.is_some_and(|verb| verb.form == Form::Base));
            return match verb {
                Some(offset) => {
                    let mut found = read(tokens, place + 1 + offset);
                    if tokens
                        .get(place + 1 + offset)
                        .is_some_and(|token| token.among(&["understand", "see", "get"]))
                    {
                        found.info = true;
                    }
                    found
                }
                None if tokens
                    .iter()
                    .skip(place)
                    .take(4)
                    .any(|token| token.is("understand")) =>
                {
                    tell(place + 2)
                }
                None => order(Classes::NONE, place + 1),
            };
        }
        "show" | "display" | "print" => return shown(tokens, place, base),
        "explain" | "describe" | "summarize" | "recap" | "enumerate" | "elaborate" | "recite"
        | "tldr" | "answer" => return tell(place + 1),
        "clarify" | "outline" | "illustrate" | "state" | "detail" | "define" | "say"
            if next.is_some_and(|next| next.within(QUESTION_WORDS))
                || matches!(base, "say" | "state") =>
        {
            return tell(place + 1);
        }
        "list" | "name" | "count" | "locate" | "grep" | "lookup" | "search" | "browse"
            if !plan_noun(tokens, place) =>
        {
            return tell(place + 1);
        }
        "find" => return found(tokens, place),
        // "compare the output with the reference" checks, "compare A and B" weighs.
        "compare" => {
            let against = tokens
                .iter()
                .skip(place + 1)
                .take(12)
                .any(|token| token.among(&["with", "against", "to"]));
            return order(
                if against {
                    Classes::REVIEW
                } else {
                    Classes::DESIGN
                },
                place + 1,
            );
        }
        "check" | "see" | "test" | "confirm" | "verify" | "determine" | "try" | "prove"
            if is_next(&["if", "whether", "that"]) =>
        {
            return order(Classes::VERIFY, place + 2);
        }
        "check" | "see" | "determine" | "identify"
            if is_next(&["why", "what", "how", "where", "which"]) =>
        {
            return order(
                if is_next(&["why"]) || base == "determine" {
                    Classes::INVESTIGATE
                } else {
                    Classes::READ
                },
                place + 1,
            );
        }
        "give" if is_next(&["me", "us"]) => {
            let noun = light_noun(tokens, place + 2);
            return match noun {
                Some((classes, object)) if !classes.any(Classes::TELL) => order(classes, object),
                _ => tell(place + 2),
            };
        }
        "give" if is_next(&["it", "this", "that"]) => {
            if let Some((classes, object)) = light_noun(tokens, place + 2) {
                return order(classes, object);
            }
        }
        "have" | "take"
            if tokens
                .iter()
                .skip(place + 1)
                .take(4)
                .any(|token| token.among(&["look", "peek", "glance", "gander"])) =>
        {
            let object = tokens
                .iter()
                .skip(place)
                .take(7)
                .position(|token| token.among(&["at", "into", "through"]))
                .map_or(place + 3, |offset| place + offset + 1);
            let critical = tokens.iter().skip(place).take(5).any(|token| {
                token.among(&[
                    "critical", "close", "closer", "hard", "careful", "second", "thorough", "good",
                    "proper",
                ])
            });
            return order(
                if critical {
                    Classes::REVIEW
                } else {
                    Classes::READ
                },
                object,
            );
        }
        _ => {}
    }
    if LIGHT.contains(&base)
        && let Some((classes, object)) = light_noun(tokens, place + 1)
    {
        let info = classes.any(Classes::TELL)
            && matches!(
                base,
                "do" | "give" | "make" | "get" | "need" | "want" | "provide" | "write" | "prepare"
            );
        // "create a list of all …" in the interface is a thing to build; "write a summary" is told.
        if !classes.any(Classes::TELL) || info {
            return Order {
                classes,
                object,
                info,
            };
        }
    }
    let classes = token.verb.map_or(Classes::NONE, |verb| verb.classes);
    let classes = match base {
        "make" if next.is_some_and(|next| next.among(&["a", "an", "another"])) => Classes::BUILD,
        "make" | "get" | "have" | "keep" | "put" | "take" | "bring" | "leave" | "handle"
        | "return" | "throw" | "accept" | "respond" | "act" | "stop" | "avoid" | "end"
        | "ignore" | "refuse" | "reject" | "forget" | "truncate" | "lock" => classes
            .without(Classes::DO.with(Classes::FAIL))
            .with(Classes::EDIT),
        "cover"
            if !tokens
                .iter()
                .skip(place)
                .any(|token| token.among(&["test", "tests", "case", "cases", "unit"])) =>
        {
            Classes::EDIT
        }
        "test" => Classes::TEST.with(Classes::VERIFY),
        _ => classes.without(Classes::DO),
    };
    order(classes.without(Classes::FAIL), place + 1)
}

/// "figure it out", "look into", "turn the flag off".
fn phrasal(tokens: &[Token], place: usize, base: &str) -> Option<Order> {
    let close = tokens.iter().enumerate().skip(place + 1).take(5);
    for (at, token) in close {
        if token.kind != Kind::Word {
            continue;
        }
        if let Some((_, particle, classes)) = PHRASAL
            .iter()
            .find(|(verb, particle, _)| *verb == base && token.is(particle))
        {
            let next = at == place + 1;
            // Away from its verb the particle ends the clause, or a place follows.
            let ends = tokens.get(at + 1).is_none_or(|after| {
                after.among(&[
                    "and", "then", "so", "because", "in", "for", "of", "with", "by", "as", "please",
                ])
            });
            if !next
                && (!ends || ["at", "for", "into", "through", "about", "over"].contains(particle))
            {
                continue;
            }
            let after = if next { at + 1 } else { place + 1 };
            let noun = light_noun(tokens, at + 1)
                .filter(|_| matches!(base, "put" | "come" | "draw" | "write" | "set"));
            let mut classes = noun.map_or(*classes, |(classes, _)| classes);
            if classes.any(Classes::TELL) && !matches!(base, "look" | "spell" | "talk" | "point") {
                classes = Classes::DESIGN;
            }
            if matches!(
                (base, *particle),
                ("work", "out") | ("figure", "out") | ("find", "out")
            ) && deciding(tokens, at + 1)
            {
                classes = Classes::DESIGN;
            }
            if (base, *particle) == ("walk", "through")
                && tokens
                    .get(place + 1)
                    .is_some_and(|token| token.among(&["me", "us"]))
            {
                classes = Classes::TELL;
            }
            let info = classes.any(Classes::TELL);
            return Some(Order {
                classes,
                object: after,
                info,
            });
        }
        if token
            .verb
            .is_some_and(|verb| verb.form == Form::Base && !verb.noun)
            && at > place + 1
        {
            break;
        }
    }
    None
}

/// "how we should store it", "how to structure", "which of them to use": a decision.
#[must_use]
pub fn deciding(tokens: &[Token], from: usize) -> bool {
    let rest = tokens.get(from..).unwrap_or_default();
    let asked = rest
        .iter()
        .take(2)
        .any(|token| token.among(&["how", "which", "whether", "what", "where"]));
    asked
        && rest
            .iter()
            .take(12)
            .any(|token| token.among(&["should", "ought", "best", "to"]))
}

/// Whether a plan is what the order wants to see.
fn plan_noun(tokens: &[Token], place: usize) -> bool {
    tokens
        .iter()
        .skip(place + 1)
        .take(4)
        .any(|token| token.among(&["plan", "roadmap", "proposal"]))
}

/// "show me how", "show that it works", "show the build number in the footer".
fn shown(tokens: &[Token], place: usize, base: &str) -> Order {
    let rest = tokens.get(place + 1..).unwrap_or_default();
    let me = rest.first().is_some_and(|token| token.among(&["me", "us"]));
    let at = place + 1 + usize::from(me);
    let next = tokens.get(at);
    if base == "show"
        && (next.is_some_and(|next| next.is("that")) && finite_later(tokens, at)
            || rest.iter().take(8).any(|token| {
                token.among(&[
                    "working", "works", "behaves", "succeed", "proof", "evidence",
                ])
            }))
    {
        return Order {
            classes: Classes::VERIFY,
            object: at + 1,
            info: false,
        };
    }
    if me
        && let Some((classes, object)) = light_noun(tokens, at)
        && !classes.any(Classes::TELL)
    {
        return Order {
            classes,
            object,
            info: false,
        };
    }
    let asked = next.is_some_and(|next| next.within(QUESTION_WORDS));
    let placed = tokens.iter().skip(at + 1).any(|token| {
        token.among(&[
            "in", "on", "next", "under", "beside", "above", "below", "as", "when", "after", "only",
            "instead", "at", "while", "before", "if",
        ])
    });
    if me || asked || !placed {
        return Order {
            classes: Classes::TELL,
            object: at,
            info: true,
        };
    }
    Order {
        classes: Classes::BUILD.with(Classes::EDIT),
        object: at,
        info: false,
    }
}

fn finite_later(tokens: &[Token], from: usize) -> bool {
    tokens.iter().skip(from).any(|token| {
        token.verb.is_some_and(|verb| verb.form == Form::S)
            || token.among(&["is", "are", "does", "can", "has", "will", "still"])
    })
}

/// "find the bug" looks for a cause, "find every caller" for a place.
fn found(tokens: &[Token], place: usize) -> Order {
    let rest = tokens.get(place + 1..).unwrap_or_default();
    let cause = rest.iter().take(6).any(|token| {
        token.within(nouns::FAULTS)
            || token.among(&[
                "cause",
                "reason",
                "culprit",
                "source",
                "root",
                "why",
                "origin",
                "bottleneck",
            ])
    });
    let way = rest
        .iter()
        .take(3)
        .any(|token| token.among(&["way", "approach", "solution", "alternative", "alternatives"]));
    if cause {
        Order {
            classes: Classes::INVESTIGATE,
            object: place + 1,
            info: false,
        }
    } else if way {
        Order {
            classes: Classes::DESIGN,
            object: place + 1,
            info: false,
        }
    } else {
        Order {
            classes: Classes::TELL.with(Classes::READ),
            object: place + 1,
            info: true,
        }
    }
}

/// The class that the noun phrase at `from` gives to a light verb, by its head, and where its complement starts.
fn light_noun(tokens: &[Token], from: usize) -> Option<(Classes, usize)> {
    let mut head = None;
    let mut before = "";
    let from = from
        + usize::from(
            tokens
                .get(from)
                .is_some_and(|token| token.among(&["me", "us"])),
        );
    for (at, token) in tokens.iter().enumerate().skip(from).take(7) {
        if token.kind != Kind::Word && token.kind != Kind::Number || token.within(QUESTION_WORDS) {
            if token.kind == Kind::Identifier || token.kind == Kind::Path {
                continue;
            }
            break;
        }
        if at > from
            && (within(
                crate::text::lexicon::function_words::PREPOSITIONS,
                &token.word,
            ) || token.among(&["that", "which", "and", "to", "so", "or"]))
        {
            if matches!(before, "second") {
                continue;
            }
            break;
        }
        if at > from && token.within(DETERMINERS) {
            break;
        }
        let noun = lemma::singular(&token.word);
        if noun == "run" && before == "dry"
            || noun == "check" && before != "type"
            || noun == "pass"
                && !before.is_empty()
                && tokens
                    .get(at + 1)
                    .is_some_and(|after| after.among(&["over", "through", "on"]))
        {
            head = Some((
                if noun == "pass" {
                    Classes::REVIEW
                } else {
                    Classes::VERIFY
                },
                at + 1,
            ));
        } else if let Some((_, classes)) = NOUN_CLASSES.iter().find(|(known, _)| *known == noun) {
            head = Some((*classes, at + 1));
        } else if noun == "doc" && before == "design"
            || matches!(noun.as_str(), "document" | "note" | "option")
                && matches!(
                    before,
                    "design" | "decision" | "architecture" | "requirement"
                )
        {
            head = Some((Classes::DESIGN, at + 1));
        } else if !token.within(DETERMINERS)
            && token.word != "me"
            && !token.among(&["case", "cases", "suite", "coverage"])
        {
            // "a test runner": the head is the last noun.
            head = None;
        }
        before = token.word.as_str();
        if token.stop != crate::text::token::Stop::None {
            break;
        }
    }
    head
}

/// Whether a word may be the verb of an order without standing in the lexicon of verbs.
#[must_use]
pub fn particle_verb(tokens: &[Token], place: usize) -> bool {
    tokens.get(place).is_some_and(|token| {
        token.among(PARTICLE_VERBS) && phrasal(tokens, place, &token.word).is_some()
            || token.among(&["walk", "talk", "guide"])
                && tokens.get(place + 1).is_some_and(object_opens)
    })
}
