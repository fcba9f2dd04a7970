//! Clauses that open with an auxiliary: "can you …", "is there …", "should we …".

use super::reader::Reader;
use super::{Act, Asked, Reading};
use crate::signals::order::{self};
use crate::text::clause::skip_openers;
use crate::text::lemma::{self, Form};
use crate::text::lexicon::function_words::DETERMINERS;
use crate::text::token::Stop;

impl Reader<'_> {
    pub(super) fn auxiliary(&self, place: usize) -> Option<Reading> {
        let word = self.at(place)?.word.as_str();
        let second = self.at(place + 1)?;
        let yes_no = || Some(self.question(Asked::YesNo, None));
        match word {
            "can" | "could" | "would" | "will"
                if second.among(&["you", "someone", "anyone", "somebody", "anybody", "it"])
                    && !(second.is("it") && word != "would") =>
            {
                if second.is("it") {
                    // "would it be possible to …"
                    let to = self
                        .tokens
                        .iter()
                        .enumerate()
                        .skip(place)
                        .take(9)
                        .find(|(_, token)| token.is("to"))
                        .map(|(at, _)| at);
                    return match to {
                        Some(to) if self.is(place + 3, &["possible", "ok", "okay", "feasible"]) => {
                            Some(self.polite(to + 1))
                        }
                        _ => yes_no(),
                    };
                }
                if self.is(
                    place + 2,
                    &[
                        "recommend",
                        "suggest",
                        "prefer",
                        "say",
                        "advise",
                        "expect",
                        "consider",
                    ],
                ) {
                    return Some(
                        if self
                            .tokens
                            .iter()
                            .any(|token| token.among(&["should", "how", "or"]))
                        {
                            self.decided()
                        } else {
                            self.question(Asked::What, None)
                        },
                    );
                }
                if self.is(place + 2, &["mind"]) {
                    return Some(self.polite(place + 3));
                }
                if self.is(place + 2, &["be"]) {
                    return self
                        .tokens
                        .iter()
                        .enumerate()
                        .skip(place)
                        .find(|(_, token)| token.is("to"))
                        .map(|(to, _)| self.polite(to + 1))
                        .or_else(yes_no);
                }
                Some(self.polite(place + 2))
            }
            "can" | "could" | "shall" if second.is("we") => {
                let reading = self.polite(place + 2);
                Some(Reading {
                    suggestion: true,
                    ..reading
                })
            }
            "can" | "could" | "may" if second.is("i") => {
                if self.is(place + 2, &["get", "have", "see", "ask", "please"]) {
                    let wants = self.tokens.iter().skip(place + 3).take(5).any(|token| {
                        token.among(&[
                            "summary",
                            "overview",
                            "explanation",
                            "list",
                            "answer",
                            "rundown",
                            "recap",
                            "idea",
                            "question",
                        ])
                    });
                    return Some(if wants || self.is(place + 2, &["see", "ask"]) {
                        self.question(Asked::What, None)
                    } else {
                        self.wished(place + 2)
                    });
                }
                let mut reading = self.question(Asked::HowTo, None);
                reading.asked = Some(Asked::YesNo);
                Some(reading)
            }
            "should" if second.among(&["we", "i"]) => {
                let options = self.tokens.iter().any(|token| {
                    token.among(&["or", "instead", "rather", "better", "versus", "vs"])
                });
                Some(if options || second.is("we") {
                    self.decided()
                } else {
                    self.question(Asked::YesNo, None)
                })
            }
            "do" if second.is("not") => None,
            "do" if second.among(&[
                "you", "we", "i", "they", "any", "these", "those", "all", "our", "your", "my",
                "the",
            ]) && !self.light(place) =>
            {
                let asked = self.embedded_question(place + 2);
                Some(self.question(asked.unwrap_or(Asked::YesNo), None))
            }
            "do" if self
                .tokens
                .last()
                .is_some_and(|token| token.stop == Stop::Question)
                && !self.light(place) =>
            {
                yes_no()
            }
            "do" | "have" if second.within(DETERMINERS) || self.light(place) => None,
            "have" if !second.among(&["we", "you", "they", "i", "there"]) => None,
            "is" | "are" | "was" | "were"
                if second.is("there")
                    && self
                        .tokens
                        .iter()
                        .skip(place)
                        .take(7)
                        .any(|token| token.among(&["way", "possible"])) =>
            {
                Some(self.question(Asked::HowTo, None))
            }
            "is" if second.is("it") && self.is(place + 2, &["possible", "feasible"]) => {
                Some(self.question(Asked::HowTo, None))
            }
            "might" | "must" | "had" | "am"
                if !second.among(&[
                    "we", "you", "it", "i", "the", "there", "they", "this", "that",
                ]) =>
            {
                None
            }
            "would" if second.among(&["be", "like", "love"]) => None,
            // "… rounds down; should round half up": the subject stands in the clause before.
            "should" | "must"
                if second.verb.is_some_and(|verb| verb.form == Form::Base)
                    || second.among(&["be", "not", "never", "only", "always"]) =>
            {
                Some(Reading {
                    requirement: true,
                    ..self.wished(place + 1)
                })
            }
            "will" | "would" | "should" | "can" | "could" | "is" | "are" | "was" | "were"
            | "does" | "did" | "has" | "have" | "do" | "must" | "might" | "may" | "am" | "had"
            | "shall" => yes_no(),
            _ => None,
        }
    }

    pub(super) fn light(&self, place: usize) -> bool {
        !order::read(self.tokens, place).classes.is_none()
    }

    pub(super) fn polite(&self, from: usize) -> Reading {
        let place = skip_openers(self.tokens, from);
        let place = if self.is(place, &["help"])
            && !self.is(place + 1, &["me", "us", "with", "the", "a"])
        {
            place + 1
        } else {
            place
        };
        if self.is(place, &["not"]) {
            return Reading {
                negated: true,
                ..self.ordered(place + 1, order::read(self.tokens, place + 1), Act::Polite)
            };
        }
        if let Some(order) = self.idiom(place) {
            return Reading {
                act: Act::Polite,
                ..order
            };
        }
        let mut order = order::read(self.tokens, place);
        let mut unknown = false;
        if let Some(token) = self.at(place)
            && token.verb.is_none()
            && order.classes.is_none()
        {
            match lemma::misspelt(&token.word) {
                Some(verb) => {
                    let mut tokens = self.tokens.to_vec();
                    if let Some(token) = tokens.get_mut(place) {
                        token.verb = Some(verb);
                    }
                    order = order::read(&tokens, place);
                }
                None => unknown = true,
            }
        }
        Reading {
            unknown,
            ..self.ordered(place, order, Act::Polite)
        }
    }
}
