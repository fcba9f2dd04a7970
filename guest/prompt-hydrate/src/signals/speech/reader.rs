//! The reader of one clause: what it opens with decides what is read next.

use super::{Act, Asked, Reading};
use crate::signals::order::{self, Order};
use crate::text::clause::{finite, finite_soon, object_opens, opens_order, skip_openers};
use crate::text::lemma::{self, Classes, Form};
use crate::text::lexicon::function_words::{
    AUXILIARIES, DETERMINERS, PREPOSITIONS, PRONOUNS, QUESTION_WORDS, SUBORDINATORS,
};
use crate::text::token::{Kind, Stop, Token};

/// Reads one clause.
pub(super) struct Reader<'a> {
    pub(super) tokens: &'a [Token],
}

impl Reader<'_> {
    pub(super) fn at(&self, place: usize) -> Option<&Token> {
        self.tokens.get(place)
    }

    pub(super) fn is(&self, place: usize, words: &[&str]) -> bool {
        self.at(place).is_some_and(|token| token.among(words))
    }

    pub(super) fn clause(&self) -> Reading {
        let start = skip_openers(self.tokens, 0);
        let mut place = skip_openers(self.tokens, self.adjunct(start));
        // "under what circumstances …", "in which file …"
        if self
            .at(place)
            .is_some_and(|token| token.within(PREPOSITIONS))
            && self.is(place + 1, &["what", "which", "whom", "whose"])
        {
            place += 1;
        }
        let courtesy = ["please", "kindly", "pls", "plz"];
        let polite = self
            .tokens
            .iter()
            .take(place)
            .any(|token| token.among(&courtesy))
            || self
                .tokens
                .last()
                .is_some_and(|token| token.among(&courtesy));
        let mut reading = self.from(place);
        if polite && reading.act == Act::Order {
            reading.act = Act::Polite;
        }
        let asked = self
            .tokens
            .last()
            .is_some_and(|token| token.stop == Stop::Question);
        if asked
            && reading.act == Act::Fragment
            && self.tokens.len() > 3
            && self
                .tokens
                .iter()
                .any(|token| token.among(&["or", "vs", "versus"]))
        {
            // "A or B for the ingestion?": a choice.
            reading = Reading {
                decision: true,
                ..self.decided()
            };
        } else if asked && matches!(reading.act, Act::Statement | Act::Fragment) {
            reading = Reading {
                act: Act::Question,
                asked: Some(Asked::YesNo),
                info: true,
                ..reading
            };
        }
        reading
    }

    pub(super) fn adjunct(&self, start: usize) -> usize {
        let Some(first) = self.at(start) else {
            return start;
        };
        let opens = first.within(PREPOSITIONS) || first.within(SUBORDINATORS);
        let asks = first.among(&["when"])
            && self
                .at(start + 1)
                .is_some_and(|next| next.within(AUXILIARIES));
        if !opens || asks {
            return start;
        }
        for (place, token) in self.tokens.iter().enumerate().skip(start + 1) {
            if token.stop == Stop::Comma {
                let next = skip_openers(self.tokens, place + 1);
                if opens_order(self.tokens, next)
                    || self.at(next).is_some_and(|token| {
                        token.within(QUESTION_WORDS) || token.within(AUXILIARIES)
                    })
                    || self.order_at(next).is_some()
                {
                    return place + 1;
                }
            }
        }
        // Without a comma: "in the abstract replace x with y".
        if first.among(&["in", "on", "at", "for", "under", "inside", "within", "from"]) {
            for place in start + 2..self.tokens.len().min(start + 8) {
                let verb = self
                    .at(place)
                    .and_then(|token| token.verb)
                    .is_some_and(|verb| {
                        verb.form == Form::Base
                            && !verb
                                .classes
                                .without(Classes::DO.with(Classes::FAIL))
                                .is_none()
                    });
                if verb
                    && self.at(place + 1).is_some_and(|next| {
                        object_opens(next)
                            && !next.within(QUESTION_WORDS)
                            && !next.among(&["in", "on", "for", "at", "out", "off", "up"])
                    })
                    && !self.at(place - 1).is_some_and(|before| {
                        before.within(DETERMINERS)
                            || before.within(PREPOSITIONS)
                            || before.among(&[
                                "and", "or", "that", "who", "we", "you", "i", "they", "to", "can",
                                "should", "not",
                            ])
                    })
                {
                    return place;
                }
                if self
                    .at(place - 1)
                    .is_some_and(|before| before.stop != Stop::None)
                {
                    break;
                }
            }
        }
        start
    }

    pub(super) fn from(&self, place: usize) -> Reading {
        let Some(token) = self.at(place) else {
            return Reading::default();
        };
        if token.within(QUESTION_WORDS)
            && token.kind == Kind::Word
            && let Some(reading) = self.question_word(place)
        {
            return reading;
        }
        if token.within(AUXILIARIES)
            && let Some(reading) = self.auxiliary(place)
        {
            return reading;
        }
        if let Some(reading) = self.idiom(place) {
            return reading;
        }
        if token.among(&["i", "we"])
            && let Some(reading) = self.first_person(place)
        {
            return reading;
        }
        if token.among(&[
            "need",
            "needs",
            "want",
            "wanted",
            "require",
            "would",
            "looking",
            "trying",
            "wondering",
            "thinking",
            "hoping",
            "curious",
        ]) && let Some(reading) = self.wish(place)
        {
            return reading;
        }
        if token.among(&["do", "never", "stop", "avoid"])
            && let Some(reading) = self.negated(place)
        {
            return reading;
        }
        if let Some(order) = self.order_at(place) {
            return self.ordered(place, order, Act::Order);
        }
        self.told(place)
    }

    pub(super) fn order_at(&self, place: usize) -> Option<Order> {
        let token = self.at(place)?;
        if token.kind != Kind::Word || token.within(DETERMINERS) || token.within(PRONOUNS) {
            return None;
        }
        if order::particle_verb(self.tokens, place) {
            return Some(order::read(self.tokens, place));
        }
        if let Some(verb) = token.verb {
            let finite_next = self.at(place + 1).is_some_and(|next| {
                finite(next)
                    || next.within(AUXILIARIES) && !next.among(&["do", "have", "can", "will"])
            });
            let of =
                self.is(place + 1, &["of"]) && !matches!(verb.base, "dispose" | "think" | "get");
            if verb.form != Form::Base
                || finite_next
                || of
                || verb.noun && finite_soon(self.tokens, place + 1)
            {
                return None;
            }
            let failing = verb.classes.without(Classes::FAIL).is_none();
            if failing && !self.at(place + 1).is_some_and(object_opens) {
                return None;
            }
            if verb.noun
                && self
                    .at(place + 1)
                    .is_some_and(|next| next.among(&["for", "on", "in", "of", "from", "is", "and"]))
                && !order::read(self.tokens, place).classes.any(
                    Classes::INVESTIGATE
                        .with(Classes::REVIEW)
                        .with(Classes::PLAN)
                        .with(Classes::DESIGN),
                )
            {
                // "report on x", "error in y": a noun, unless it is one of the verbs that take a preposition.
                return self
                    .is(
                        place,
                        &[
                            "commit",
                            "look",
                            "search",
                            "switch",
                            "log",
                            "point",
                            "work",
                            "move",
                            "test",
                            "subscribe",
                            "host",
                            "plan",
                        ],
                    )
                    .then(|| order::read(self.tokens, place));
            }
            return Some(order::read(self.tokens, place));
        }
        let next = self.at(place + 1)?;
        let opens = next.within(DETERMINERS) && !next.among(&["no"])
            || next.among(&["it", "them", "me", "us"])
            || next.kind == Kind::Path
            || next.kind == Kind::Identifier
            || next.kind == Kind::Quoted;
        if let Some(verb) = lemma::misspelt(&token.word)
            && (opens
                || !verb.noun
                    && !next.within(PREPOSITIONS)
                    && !next.within(AUXILIARIES)
                    && !finite(next))
        {
            let mut tokens = self.tokens.to_vec();
            if let Some(token) = tokens.get_mut(place) {
                token.verb = Some(verb);
            }
            return Some(order::read(&tokens, place));
        }
        let plain = !lemma::in_lexicon(&token.word) && token.word.chars().all(char::is_alphabetic);
        let finite_later = self
            .tokens
            .iter()
            .skip(place + 1)
            .any(|token| finite(token) || token.within(AUXILIARIES));
        (plain
            && opens
            && !finite_later
            && token.stop == Stop::None
            && !token.word.ends_with("ing"))
        .then(|| Order {
            classes: Classes::NONE,
            object: place + 1,
            info: false,
        })
    }

    pub(super) fn ordered(&self, place: usize, order: Order, act: Act) -> Reading {
        // "try to …", "start by …", "go on to …": the verb that follows is meant.
        let base = self
            .at(place)
            .and_then(|token| token.verb)
            .map_or("", |verb| verb.base);
        if matches!(
            base,
            "try"
                | "start"
                | "begin"
                | "continue"
                | "proceed"
                | "finish"
                | "keep"
                | "go"
                | "remember"
                | "want"
                | "need"
        ) && let Some(next) =
            self.tokens
                .iter()
                .enumerate()
                .skip(place + 1)
                .take(2)
                .find(|(_, token)| {
                    token.verb.is_some_and(|verb| verb.form == Form::Ing) || token.is("to")
                })
        {
            let inner = if next.1.is("to") { next.0 + 1 } else { next.0 };
            if self.at(inner).is_some_and(|token| token.verb.is_some()) {
                return self.ordered(inner, order::read(self.tokens, inner), act);
            }
        }
        let mut reading = Reading {
            act,
            info: order.info,
            verb: Some(place),
            classes: order.classes,
            object: order.object,
            unknown: order.classes.is_none()
                && self.at(place).is_some_and(|token| {
                    token.verb.is_none_or(|verb| {
                        verb.classes
                            .without(Classes::DO.with(Classes::FAIL))
                            .is_none()
                            && base.is_empty()
                    })
                }),
            ..Reading::default()
        };
        if order.info
            || order.classes.any(
                Classes::INVESTIGATE
                    .with(Classes::DESIGN)
                    .with(Classes::READ),
            )
        {
            reading.asked = self.embedded_question(order.object.saturating_sub(1));
            reading.decision = order::deciding(self.tokens, order.object)
                && (self
                    .tokens
                    .iter()
                    .skip(order.object)
                    .any(|token| token.among(&["should", "ought"])));
            if reading.decision && !order.info {
                reading.classes = reading.classes.with(Classes::DESIGN);
            }
        }
        reading
    }

    pub(super) fn embedded_question(&self, from: usize) -> Option<Asked> {
        self.tokens
            .iter()
            .enumerate()
            .skip(from)
            .take(5)
            .find_map(|(place, token)| {
                if token.is("why") {
                    Some(Asked::Why)
                } else if token.is("how") {
                    Some(
                        if self.is(place + 1, &["to"])
                            || self.is(place + 1, &["i", "we", "you", "one"])
                        {
                            Asked::HowTo
                        } else {
                            Asked::What
                        },
                    )
                } else if token.among(&["what", "which", "where", "who", "when", "whose"]) {
                    Some(Asked::What)
                } else if token.among(&["whether", "if"]) {
                    Some(Asked::YesNo)
                } else {
                    None
                }
            })
    }

    pub(super) fn next_base(&self, from: usize, within: usize) -> Option<usize> {
        self.tokens
            .iter()
            .enumerate()
            .skip(from)
            .take(within)
            .find(|(_, token)| {
                token.verb.is_some_and(|verb| verb.form == Form::Base) && !token.within(AUXILIARIES)
            })
            .map(|(place, _)| place)
    }
}
