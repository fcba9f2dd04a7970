//! First persons and wishes: "I want you to …", "we need …", "I wonder whether …".

use super::reader::Reader;
use super::{Act, Asked, Reading};
use crate::signals::order::{self};
use crate::text::clause::skip_openers;
use crate::text::lemma::{Classes, Form};
use crate::text::lexicon::function_words::{DETERMINERS, QUESTION_WORDS};

impl Reader<'_> {
    pub(super) fn first_person(&self, place: usize) -> Option<Reading> {
        let mut at = place + 1;
        while self.is(
            at,
            &[
                "am",
                "are",
                "was",
                "were",
                "have",
                "been",
                "also",
                "just",
                "really",
                "would",
                "still",
                "now",
                "will",
                "think",
                "guess",
                "believe",
                "then",
                "do",
                "only",
                "kind",
                "of",
                "feel",
                "definitely",
                "probably",
            ],
        ) {
            at += 1;
            // "I think we should …"
            if self.is(at, &["that"]) {
                at += 1;
            }
            if self.is(at, &["we", "you", "it", "i"])
                && self.is(at - 1, &["think", "guess", "believe", "feel", "that"])
            {
                at += 1;
            }
        }
        if self.is(at, &["not"]) {
            let knows = self.is(
                at + 1,
                &[
                    "understand",
                    "get",
                    "know",
                    "see",
                    "sure",
                    "clear",
                    "certain",
                    "follow",
                    "remember",
                    "familiar",
                ],
            );
            if knows {
                let asked = self.embedded_question(at + 2);
                return asked.map(|asked| {
                    if asked == Asked::HowTo && !self.is(place + 1, &["do", "am"]) {
                        self.decided()
                    } else {
                        self.question(asked, None)
                    }
                });
            }
            if self.is(at + 1, &["want"]) {
                return Some(Reading {
                    act: Act::Wish,
                    classes: Classes::EDIT,
                    verb: Some(at + 1),
                    object: at + 2,
                    ..Reading::default()
                });
            }
            return None;
        }
        if self.is(
            at,
            &[
                "wonder",
                "wondering",
                "curious",
                "unsure",
                "confused",
                "wondered",
            ],
        ) {
            if let Some((modal, _)) = self
                .tokens
                .iter()
                .enumerate()
                .skip(at)
                .take(5)
                .find(|(_, token)| token.among(&["could", "can", "would", "might"]))
                && self.is(modal - 1, &["you", "we"])
            {
                return Some(self.polite(modal + 1));
            }
            return Some(
                self.question(self.embedded_question(at + 1).unwrap_or(Asked::What), None),
            );
        }
        self.wish(at)
    }

    pub(super) fn wish(&self, at: usize) -> Option<Reading> {
        let word = self.at(at)?.word.as_str();
        let next = self.at(at + 1)?;
        let background = matches!(word, "trying" | "tried" | "attempting" | "working");
        let told = |place: usize| {
            self.is(
                place,
                &["know", "understand", "learn", "hear", "find", "ask", "see"],
            ) && (!self.is(place, &["learn"])
                || self.at(place + 1).is_some_and(|next| {
                    next.within(QUESTION_WORDS) || next.among(&["about", "more"])
                }))
                && (!self.is(place, &["see"])
                    || self.is(place + 1, &["how", "what", "why", "which", "where"]))
                && (!self.is(place, &["find"]) || self.is(place + 1, &["out"]))
        };
        match word {
            "wondering" => {
                Some(self.question(self.embedded_question(at + 1).unwrap_or(Asked::What), None))
            }
            "want" | "wanted" | "need" | "needs" | "like" | "love" | "prefer" | "wish" | "hope"
            | "hoping" | "require" | "plan" | "planning" | "aim" | "intend" | "going"
            | "trying" | "have" | "got" | "ought" | "would" | "looking" | "must" | "should"
            | "could" | "thinking" | "expect" | "supposed" | "decided" | "dream" => {
                // "I want you to rename it": the order; "I want to rename it": the wish.
                if next.is("you") {
                    let to = self
                        .tokens
                        .iter()
                        .enumerate()
                        .skip(at)
                        .take(4)
                        .find(|(_, token)| token.is("to"))?;
                    return Some(self.polite(to.0 + 1));
                }
                if matches!(word, "must" | "should" | "could") {
                    return next.verb.is_some().then(|| self.wished(at + 1));
                }
                if matches!(word, "would" | "like" | "love") && next.among(&["like", "love", "be"])
                {
                    return self.wish(at + 1);
                }
                if next.is("to") {
                    let verb = skip_openers(self.tokens, at + 2);
                    if told(verb) {
                        let asked = self.embedded_question(verb + 1);
                        if self.is(verb, &["figure"]) {
                            return Some(self.decided());
                        }
                        return Some(self.question(asked.unwrap_or(Asked::What), None));
                    }
                    let mut reading = self.wished(verb);
                    reading.background = background;
                    return Some(reading);
                }
                if matches!(
                    word,
                    "going" | "have" | "got" | "ought" | "would" | "supposed" | "decided"
                ) {
                    return None;
                }
                if matches!(word, "need") && next.is("help") {
                    let inner = self
                        .tokens
                        .iter()
                        .enumerate()
                        .skip(at + 2)
                        .find(|(_, token)| token.verb.is_some_and(|verb| verb.form == Form::Ing));
                    return inner.map(|(place, _)| self.wished(place));
                }
                // "I need the config moved": the participle says what is to be done; else what is wanted is new.
                if let Some((classes, object)) = Some(order::read(self.tokens, at))
                    .filter(|order| {
                        !order.classes.is_none()
                            && matches!(word, "need" | "want")
                            && !order.classes.any(Classes::BUILD.with(Classes::EDIT))
                    })
                    .map(|order| (order.classes, order.object))
                {
                    return Some(Reading {
                        act: Act::Wish,
                        verb: Some(at),
                        classes,
                        object,
                        info: classes.any(Classes::TELL),
                        ..Reading::default()
                    });
                }
                let participle =
                    self.tokens
                        .iter()
                        .enumerate()
                        .skip(at + 2)
                        .take(10)
                        .find(|(_, token)| {
                            token.verb.is_some_and(|verb| {
                                verb.form == Form::Past && verb.classes.any(Classes::CHANGE)
                            })
                        });
                let to = self
                    .tokens
                    .iter()
                    .enumerate()
                    .skip(at + 2)
                    .take(8)
                    .find(|(_, token)| token.is("to"));
                let (classes, verb) = match (participle, to) {
                    (Some((place, token)), _) => {
                        (token.verb.map_or(Classes::EDIT, |verb| verb.classes), place)
                    }
                    (None, Some((_, _)))
                        if next.within(DETERMINERS) && !next.among(&["a", "an", "some"]) =>
                    {
                        (Classes::EDIT, at)
                    }
                    _ => (Classes::BUILD, at),
                };
                Some(Reading {
                    act: Act::Wish,
                    verb: Some(verb),
                    classes,
                    object: at + 1,
                    background,
                    ..Reading::default()
                })
            }
            _ => None,
        }
    }

    pub(super) fn wished(&self, verb: usize) -> Reading {
        let order = order::read(self.tokens, verb);
        let mut reading = self.ordered(verb, order, Act::Wish);
        reading.unknown = false;
        reading
    }
}
