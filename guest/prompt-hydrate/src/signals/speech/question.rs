//! Questions: by question word, by auxiliary, and those that ask for a decision or a change.

use super::reader::Reader;
use super::{Act, Asked, Reading};
use crate::signals::order::{self};
use crate::text::clause::skip_openers;
use crate::text::lemma::{Classes, Form};
use crate::text::lexicon::function_words::{AUXILIARIES, DETERMINERS, PRONOUNS};

impl Reader<'_> {
    pub(super) fn question(&self, asked: Asked, verb: Option<usize>) -> Reading {
        Reading {
            act: Act::Question,
            asked: Some(asked),
            info: true,
            verb,
            ..Reading::default()
        }
    }

    pub(super) fn question_word(&self, place: usize) -> Option<Reading> {
        let word = self.at(place)?.word.as_str();
        let next = self.at(place + 1);
        let aux = next.is_some_and(|next| next.within(AUXILIARIES));
        let person = self.is(
            place + 2,
            &[
                "i", "we", "you", "one", "someone", "anyone", "people", "users",
            ],
        );
        let decides = self
            .tokens
            .iter()
            .skip(place)
            .take(8)
            .any(|token| token.among(&["should", "ought", "shall"]))
            && self
                .tokens
                .iter()
                .skip(place)
                .take(9)
                .any(|token| token.among(&["we", "i", "our", "the"]));
        match word {
            "how" if self.is(place + 1, &["come"]) => Some(self.question(Asked::Why, None)),
            "how" | "what" if self.is(place + 1, &["about"]) => {
                self.gerund(place + 2).map(|mut reading| {
                    reading.suggestion = true;
                    reading
                })
            }
            "how" if self.is(place + 1, &["to"]) => {
                Some(self.question(Asked::HowTo, Some(place + 2)))
            }
            "how"
                if aux
                    && person
                    && self.is(place + 1, &["should", "shall", "would"])
                    && self.is(place + 1, &["should", "shall"]) =>
            {
                Some(self.decided())
            }
            "how" if self.is(place + 1, &["best"]) => Some(self.decided()),
            "how"
                if aux
                    && person
                    && self.is(
                        place + 1,
                        &["do", "can", "could", "would", "might", "did", "must"],
                    ) =>
            {
                let mut reading = self.question(Asked::HowTo, self.next_base(place + 3, 3));
                reading.decision = false;
                Some(reading)
            }
            "how" if aux && self.is(place + 1, &["should", "ought", "shall"]) => {
                Some(self.decided())
            }
            "why"
                if self.is(place + 1, &["not"])
                    && self.at(place + 2).is_some_and(|token| token.verb.is_some()) =>
            {
                Some(self.suggested(place + 2))
            }
            "why"
                if self.is(place + 1, &["do"])
                    && self.is(place + 2, &["not"])
                    && self.is(place + 3, &["we", "you"]) =>
            {
                Some(self.suggested(place + 4))
            }
            "why" => Some(self.question(Asked::Why, None)),
            "what"
                if self.is(place + 1, &["is", "was", "are"])
                    && self.tokens.iter().skip(place + 2).take(4).any(|token| {
                        token.among(&[
                            "wrong",
                            "causing",
                            "happening",
                            "broken",
                            "breaking",
                            "killing",
                            "eating",
                            "leaking",
                            "blocking",
                            "slowing",
                            "failing",
                            "matter",
                            "problem",
                            "going",
                            "making",
                        ])
                    }) =>
            {
                Some(Reading {
                    classes: Classes::INVESTIGATE,
                    ..self.question(Asked::Why, None)
                })
            }
            "what"
                if self.is(
                    place + 1,
                    &[
                        "causes",
                        "caused",
                        "broke",
                        "breaks",
                        "happened",
                        "makes",
                        "made",
                        "went",
                        "triggers",
                        "triggered",
                        "changed",
                        "goes",
                        "could",
                        "might",
                        "can",
                        "would",
                    ],
                ) && (self.tokens.iter().skip(place + 1).take(4).any(|token| {
                    token.among(&[
                        "causes", "caused", "cause", "causing", "broke", "breaks", "break",
                        "happened", "went", "make", "goes",
                    ])
                }) || self.is(place + 1, &["makes", "made"])) =>
            {
                Some(Reading {
                    classes: Classes::INVESTIGATE,
                    ..self.question(Asked::Why, None)
                })
            }
            "what"
                if self.is(place + 1, &["i", "we"])
                    && self.is(place + 2, &["want", "need", "would"]) =>
            {
                let verb = self
                    .tokens
                    .iter()
                    .position(|token| token.is("to"))
                    .map_or(place + 3, |to| to + 1);
                Some(self.wished(verb))
            }
            "when" | "where"
                if !aux
                    && self
                        .at(place + 1)
                        .is_some_and(|next| next.within(PRONOUNS) || next.within(DETERMINERS))
                    && word == "when" =>
            {
                None
            }
            "where" if self.is(place + 1, &["possible", "applicable"]) => None,
            _ => {
                let mut reading = self.question(Asked::What, None);
                reading.obliged = self.obliged(place);
                if reading.obliged {
                    // What is asked for is the change.
                    reading.classes = Classes::EDIT;
                    reading.info = false;
                }
                // "which store should we use", "what should the format look like".
                if decides && !reading.obliged {
                    return Some(self.decided());
                }
                Some(reading)
            }
        }
    }

    pub(super) fn obliged(&self, from: usize) -> bool {
        self.tokens
            .iter()
            .enumerate()
            .skip(from)
            .take(10)
            .any(|(place, token)| {
                if !token.among(&["i", "we"]) {
                    return false;
                }
                let must = place > 0 && self.is(place - 1, &["must", "should"]);
                let need = self.is(place + 1, &["need", "have", "must", "should", "ought"]);
                let verb = if must {
                    place + 1
                } else if self.is(place + 1, &["must", "should"]) {
                    place + 2
                } else {
                    place + 3
                };
                (must
                    || need
                        && (self.is(place + 2, &["to"]) || self.is(place + 1, &["must", "should"])))
                    && self
                        .at(verb)
                        .and_then(|token| token.verb)
                        .is_some_and(|verb| {
                            verb.form == Form::Base
                                && verb.classes.any(Classes::CHANGE)
                                && !matches!(verb.base, "use" | "call" | "run")
                        })
            })
    }

    pub(super) fn decided(&self) -> Reading {
        Reading {
            decision: true,
            classes: Classes::DESIGN,
            info: false,
            ..self.question(Asked::HowTo, None)
        }
    }

    pub(super) fn suggested(&self, verb: usize) -> Reading {
        let order = order::read(self.tokens, verb);
        let mut reading = self.ordered(verb, order, Act::Polite);
        reading.suggestion = true;
        reading
    }

    pub(super) fn gerund(&self, place: usize) -> Option<Reading> {
        let place = skip_openers(self.tokens, place);
        let verb = self.at(place)?.verb?;
        matches!(verb.form, Form::Ing | Form::Base)
            .then(|| self.ordered(place, order::read(self.tokens, place), Act::Polite))
    }
}
