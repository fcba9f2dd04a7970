//! Main text cut into clauses.

use super::lemma::{self, Classes, Form};
use super::lexicon::function_words::{
    AUXILIARIES, DETERMINERS, OPENERS, PREPOSITIONS, PRONOUNS, QUESTION_WORDS, SUBORDINATORS,
};
use super::token::{Kind, Stop, Token};

/// How a clause is tied to the one before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Tie {
    /// A sentence of its own.
    #[default]
    Sentence,
    /// After a comma or a conjunction.
    Joined,
}

/// Where each clause starts, and how it is tied.
#[must_use]
pub fn cuts(tokens: &[Token]) -> Vec<(usize, Tie)> {
    let mut cuts = Vec::new();
    let mut start = 0;
    for place in 0..tokens.len() {
        if place == 0 {
            cuts.push((0, Tie::Sentence));
            continue;
        }
        let Some(before) = tokens.get(place - 1) else {
            continue;
        };
        if before.stop.cuts() {
            cuts.push((place, Tie::Sentence));
            start = place;
        } else if place > start && joined(tokens, start, place) {
            cuts.push((place, Tie::Joined));
            start = place;
        }
    }
    cuts
}

/// Whether a new clause starts at `place` of the clause that started at `start`.
fn joined(tokens: &[Token], start: usize, place: usize) -> bool {
    let (Some(token), Some(before)) = (tokens.get(place), tokens.get(place - 1)) else {
        return false;
    };
    let comma = before.stop == Stop::Comma;
    let conjunction = token.among(&["and", "then", "also", "but", "plus", "so", "or"]);
    if !comma && !conjunction {
        return false;
    }
    // "find and fix": the conjunction belongs to the word before it, unless that one ended something.
    let after = skip_openers(tokens, place);
    let then = tokens
        .get(place..after)
        .unwrap_or_default()
        .iter()
        .any(|token| {
            token.among(&[
                "then",
                "also",
                "please",
                "but",
                "finally",
                "next",
                "afterwards",
            ])
        });
    if token.among(&["or"]) {
        return comma && opens_order(tokens, after) && then;
    }
    let head = tokens.get(start..place).unwrap_or_default();
    if head.is_empty() || skip_openers(tokens, start) >= place {
        return false;
    }
    if opens_order(tokens, after) {
        // "unicode, empty string, …": after a bare comma a word that is a noun or adjective as well opens no clause.
        let bare = comma && !conjunction && after == place;
        let doubtful = token.verb.is_some_and(|verb| verb.noun)
            && !tokens.get(after + 1).is_some_and(object_opens);
        if bare && doubtful {
            return false;
        }
        // "between upload and publish": a last word without an object goes on with the one before.
        let last = after + 1 == tokens.len()
            || tokens
                .get(after)
                .is_some_and(|token| token.stop != Stop::None);
        if last && !comma && !then && before.verb.is_some() {
            return false;
        }
        return !embedded(head, tokens, after, comma, then);
    }
    // "…, and how does it …": a question of its own; "the page where …" is none.
    if tokens.get(after).is_some_and(|token| {
        token.within(QUESTION_WORDS)
            && !token.among(&["which", "who", "whose", "whom", "when", "where"])
    }) {
        return conjunction && !relative(head);
    }
    // "…, but it fails": a subject and a finite verb after the conjunction.
    (conjunction || comma) && subject_and_verb(tokens, after) && has_verb(head)
}

/// "explain how A and B": the second question word goes on with the first.
fn relative(head: &[Token]) -> bool {
    head.iter().any(|token| token.within(QUESTION_WORDS))
}

/// Whether a verb after a conjunction goes on with a verb inside the clause before it, rather than being an order.
fn embedded(head: &[Token], tokens: &[Token], verb: usize, comma: bool, then: bool) -> bool {
    let Some(asked) = head
        .iter()
        .position(|token| token.within(QUESTION_WORDS) || token.among(&["if", "that", "to"]))
    else {
        // "does it parse and load": goes on with the question; "can you A and B" is an order twice.
        return head.first().is_some_and(|token| token.within(AUXILIARIES))
            && !head.get(1).is_some_and(|token| token.among(&["you"]))
            && !comma
            && !then;
    };
    if comma
        && (then
            || tokens
                .get(verb)
                .is_some_and(|token| !token.verb.is_some_and(|verb| verb.noun)))
    {
        return false;
    }
    // "how to build and run", "which parse and load": the verb stands right before.
    let inner = head.get(asked + 1..).unwrap_or_default();
    let adjacent = head.last().is_some_and(|token| {
        token
            .verb
            .is_some_and(|verb| verb.form == Form::Base && !verb.noun)
    });
    if adjacent && inner.len() > 1 {
        return true;
    }
    let order_before = opens_order(head, skip_openers(head, 0));
    let plural = inner
        .first()
        .is_some_and(|token| token.among(&["we", "you", "i", "they", "users", "people"]));
    let infinitive = head.get(asked).is_some_and(|token| token.among(&["to"]));
    let inverted = inner.first().is_some_and(|token| {
        token.within(AUXILIARIES) && !token.among(&["is", "are", "was", "were"])
    });
    if then {
        // "tell me why we … and then swap it"; "how does it … and then delete it" goes on.
        return inverted || (infinitive && !order_before);
    }
    if order_before {
        return plural || infinitive && !comma;
    }
    inverted || plural || infinitive
}

/// The first place after words that say nothing: "and then please just …".
#[must_use]
pub fn skip_openers(tokens: &[Token], mut place: usize) -> usize {
    while let Some(token) = tokens.get(place) {
        // "after that add …": a place in time, then an order.
        if token.among(&["after"])
            && tokens
                .get(place + 1)
                .is_some_and(|next| next.among(&["that", "this", "which"]))
            && opens_order(tokens, place + 2)
        {
            place += 2;
            continue;
        }
        let opener = token.within(OPENERS)
            || token.among(&[
                "just",
                "simply",
                "now",
                "immediately",
                "afterwards",
                "once",
                "go",
                "ahead",
                "next",
                "always",
                "carefully",
                "quickly",
                "or",
            ]) && opens_after(tokens, place)
            || token.word.len() > 5
                && token.word.ends_with("ly")
                && token.verb.is_none()
                && token.kind == Kind::Word
                && !token.word.starts_with("fami");
        if !opener {
            break;
        }
        // "so that …", "first one": not an opener.
        if token.among(&["so"])
            && tokens
                .get(place + 1)
                .is_some_and(|next| next.among(&["that", "many", "much", "far"]))
        {
            break;
        }
        // "still fails", "next page is blank": what follows decides.
        place += 1;
    }
    place
}

fn opens_after(tokens: &[Token], place: usize) -> bool {
    let Some(next) = tokens.get(place + 1) else {
        return false;
    };
    if tokens
        .get(place)
        .is_some_and(|token| token.among(&["go", "once", "ahead"]))
    {
        return next.among(&["ahead", "and", "done"]);
    }
    next.verb.is_some_and(|verb| verb.form == Form::Base)
        || next.within(OPENERS)
        || next.within(AUXILIARIES)
        || next.among(&["just", "make"])
}

/// Whether an order starts here: a base form with what an object starts with, or a form of asking for it.
#[must_use]
pub fn opens_order(tokens: &[Token], place: usize) -> bool {
    let Some(token) = tokens.get(place) else {
        return false;
    };
    let next = tokens.get(place + 1);
    if token.among(&["lets", "please"]) {
        return true;
    }
    if token.among(&["can", "could", "would", "will"]) {
        return next.is_some_and(|next| next.among(&["you", "we"]));
    }
    if token.among(&["do", "never"]) {
        return next.is_some_and(|next| {
            next.is("not")
                || (token.is("never") && next.verb.is_some_and(|verb| verb.form == Form::Base))
        });
    }
    if token.among(&["i", "we"]) {
        return next.is_some_and(|next| next.among(&["want", "need", "would"]));
    }
    let Some(verb) = token.verb else { return false };
    if verb.form != Form::Base || token.within(AUXILIARIES) {
        return false;
    }
    if verb
        .classes
        .without(Classes::DO.with(Classes::FAIL))
        .is_none()
        && !token.among(&[
            "make", "get", "give", "let", "put", "take", "keep", "have", "bring", "handle", "throw",
        ])
    {
        return false;
    }
    match next {
        None => !verb.noun,
        Some(next) => {
            object_opens(next)
                || (!verb.noun && !next.within(AUXILIARIES))
                || (verb.noun && noun_like(next) && !finite_soon(tokens, place + 1))
        }
    }
}

/// Whether an object may start with this token.
#[must_use]
pub fn object_opens(token: &Token) -> bool {
    token.kind != Kind::Word && token.kind != Kind::Number
        || token.within(DETERMINERS)
        || token.within(PRONOUNS)
        || token.within(QUESTION_WORDS)
        || token.among(&[
            "up", "out", "down", "off", "over", "against", "through", "into", "on", "at", "for",
            "whether", "if", "sure",
        ])
        || token.word.len() > 4 && token.word.ends_with("ly")
}

fn noun_like(token: &Token) -> bool {
    !(token.within(AUXILIARIES)
        || token.within(PREPOSITIONS)
        || token.within(SUBORDINATORS)
        || token.among(&["and", "or", "but", "then", "not"]))
}

/// Whether a finite verb follows a run of nouns: "cache invalidation is broken", "build fails".
#[must_use]
pub fn finite_soon(tokens: &[Token], from: usize) -> bool {
    for (distance, token) in tokens.iter().skip(from).take(4).enumerate() {
        if token.within(AUXILIARIES) {
            return !token.among(&["may", "might"]) || distance > 0;
        }
        if finite(token) {
            return true;
        }
        if token.within(DETERMINERS)
            || token.within(PRONOUNS)
            || token.within(PREPOSITIONS)
            || token.within(QUESTION_WORDS)
            || token.stop != Stop::None
            || token.among(&["and", "or", "to", "if", "so", "but"])
        {
            return false;
        }
    }
    false
}

/// Whether a word can only be a finite verb, or nearly so: "crashes", "returns", "kept".
#[must_use]
pub fn finite(token: &Token) -> bool {
    token.verb.is_some_and(|verb| match verb.form {
        Form::S => {
            !verb.noun
                || verb.classes.any(Classes::FAIL)
                    && !token.among(&[
                        "bugs",
                        "errors",
                        "exceptions",
                        "drops",
                        "issues",
                        "leaks",
                        "crashes",
                        "locks",
                        "loops",
                        "conflicts",
                    ])
                || token.among(&[
                    "returns", "starts", "stops", "needs", "shows", "works", "takes", "looks",
                    "crashes", "leaks", "loops",
                ])
        }
        Form::Past => verb.classes.any(Classes::FAIL) || verb.classes.any(Classes::DO),
        _ => false,
    })
}

fn has_verb(tokens: &[Token]) -> bool {
    tokens
        .iter()
        .any(|token| token.verb.is_some() || token.within(AUXILIARIES))
}

/// A subject and its finite verb: "it fails", "the page is blank".
fn subject_and_verb(tokens: &[Token], from: usize) -> bool {
    let Some(first) = tokens.get(from) else {
        return false;
    };
    if !(first.within(DETERMINERS)
        || first.among(&[
            "it",
            "they",
            "we",
            "i",
            "he",
            "she",
            "nothing",
            "everything",
            "there",
            "this",
            "that",
        ]))
    {
        return false;
    }
    if first.among(&["that", "all", "some", "any", "each", "every"]) {
        return false;
    }
    tokens.iter().skip(from + 1).take(4).any(|token| {
        token.within(AUXILIARIES)
            || finite(token)
            || token.among(&["should", "must", "keep", "get"])
    })
}

/// Whether a word that the lexicon does not have is a finite verb, by its ending and what stands around it: "the track
/// jumps to zero", "latency doubled on Monday".
#[must_use]
pub fn probably_finite(tokens: &[Token], at: usize) -> bool {
    let (Some(token), Some(before)) = (tokens.get(at), tokens.get(at.wrapping_sub(1))) else {
        return false;
    };
    let named = before.kind != Kind::Word && before.kind != Kind::Number;
    let subject = before.stop == Stop::None
        && (named
            || before.kind == Kind::Word
                && !before.within(PREPOSITIONS)
                && !before.within(DETERMINERS)
                && !before.among(&["and", "or", "to", "not", "with"]));
    let ending = token.word.len() > 3
        && (token.word.ends_with('s')
            && !token.word.ends_with("ss")
            && !token.word.ends_with("us")
            || token.word.ends_with("ed") && !token.word.ends_with("eed"));
    if token.kind != Kind::Word || !subject || !ending {
        return false;
    }
    let known = lemma::in_lexicon(&token.word);
    let verb = token.verb.is_some_and(|verb| !verb.noun);
    let next = tokens.get(at + 1).filter(|_| token.stop == Stop::None);
    let follows = next.is_none_or(|next| {
        next.within(DETERMINERS)
            || next.within(PRONOUNS)
            || next.within(PREPOSITIONS) && !next.among(&["of", "for"])
            || next.kind == Kind::Number
            || next.word.ends_with("ly")
            || next.among(&[
                "not", "again", "twice", "back", "when", "if", "up", "down", "out", "too", "only",
                "even", "no",
            ])
    });
    // At the end a plural is as likely as a verb.
    follows && (verb || !known) && (next.is_some() || token.word.ends_with("ed"))
}
