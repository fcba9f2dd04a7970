//! Fixed openings, negated orders, and what is only told.

use super::reader::Reader;
use super::{Act, Asked, Reading, corrective};
use crate::signals::order::{self};
use crate::text::clause::{finite, object_opens, probably_finite, skip_openers};
use crate::text::lemma::{Classes, Form};
use crate::text::lexicon::function_words::{AUXILIARIES, DETERMINERS, QUESTION_WORDS};

impl Reader<'_> {
    pub(super) fn idiom(&self, place: usize) -> Option<Reading> {
        if self.is(place, &["lets"]) {
            let verb = skip_openers(self.tokens, place + 1);
            let mut reading = self.ordered(verb, order::read(self.tokens, verb), Act::Order);
            reading.suggestion = true;
            return Some(reading);
        }
        if self.is(place, &["any"]) {
            if self.is(
                place + 1,
                &["idea", "ideas", "clue", "thoughts", "reason", "explanation"],
            ) {
                let asked = if self.is(place + 1, &["reason"]) {
                    Some(Asked::Why)
                } else {
                    self.embedded_question(place + 2)
                };
                return Some(self.question(asked.unwrap_or(Asked::What), None));
            }
            if self.is(place + 1, &["chance", "way"]) {
                let you = self
                    .tokens
                    .iter()
                    .enumerate()
                    .skip(place + 2)
                    .take(3)
                    .find(|(_, token)| token.among(&["could", "can", "would"]));
                if let Some((at, _)) = you {
                    return Some(self.polite(at + 1));
                }
                let verb = self
                    .tokens
                    .iter()
                    .enumerate()
                    .skip(place + 2)
                    .take(4)
                    .find(|(_, token)| token.verb.is_some_and(|verb| verb.form == Form::Ing));
                return match verb {
                    Some((at, _)) => self.gerund(at),
                    None => Some(self.question(Asked::HowTo, None)),
                };
            }
        }
        if self.is(place, &["anyone", "anybody", "someone"])
            && self.is(place + 1, &["know", "knows"])
        {
            return Some(self.question(
                self.embedded_question(place + 2).unwrap_or(Asked::What),
                None,
            ));
        }
        if self.is(place, &["it"])
            && self.is(place + 1, &["would", "might"])
            && self.is(place + 2, &["be"])
        {
            let verb = self
                .tokens
                .iter()
                .enumerate()
                .skip(place + 3)
                .find(|(_, token)| token.among(&["to", "if", "having"]));
            let verb = verb.and_then(|(at, _)| self.next_base(at + 1, 6));
            return Some(verb.map_or(
                Reading {
                    act: Act::Wish,
                    requirement: true,
                    ..Reading::default()
                },
                |verb| self.wished(verb),
            ));
        }
        let sure =
            self.is(place, &["make", "be", "making"]) && self.is(place + 1, &["sure", "certain"]);
        if sure
            || self.is(place, &["ensure", "guarantee", "see"])
                && (self.is(place, &["ensure", "guarantee"])
                    || self.is(place + 1, &["to"]) && self.is(place + 2, &["it"]))
        {
            let from = if sure { place + 2 } else { place + 1 };
            let classes = if corrective(self.tokens, from) {
                Classes::EDIT
            } else {
                Classes::VERIFY
            };
            return Some(Reading {
                act: Act::Order,
                verb: Some(place),
                classes,
                object: from,
                ..Reading::default()
            });
        }
        None
    }

    pub(super) fn negated(&self, place: usize) -> Option<Reading> {
        if self.is(place, &["stop", "avoid"]) {
            // "stop logging passwords" changes; "stop" alone refuses.
            let next = self.at(place + 1)?;
            return (next.verb.is_some_and(|verb| verb.form == Form::Ing) || object_opens(next))
                .then(|| Reading {
                    act: Act::Order,
                    verb: Some(place),
                    classes: Classes::EDIT,
                    object: place + 1,
                    ..Reading::default()
                });
        }
        let verb = if self.is(place, &["do"]) && self.is(place + 1, &["not"]) {
            skip_openers(self.tokens, place + 2)
        } else if self.is(place, &["never"]) {
            place + 1
        } else {
            return None;
        };
        let base = self.at(verb)?.verb?.base;
        let work = matches!(
            base,
            "edit"
                | "change"
                | "modify"
                | "touch"
                | "write"
                | "commit"
                | "fix"
                | "implement"
                | "code"
                | "alter"
                | "delete"
                | "remove"
                | "refactor"
                | "push"
                | "update"
                | "start"
                | "make"
                | "do"
                | "run"
                | "break"
                | "forget"
                | "worry"
                | "add"
                | "rename"
                | "bother"
                | "use"
                | "need"
        );
        let classes = if work { Classes::NONE } else { Classes::EDIT };
        Some(Reading {
            act: Act::Order,
            negated: work,
            verb: Some(verb),
            classes,
            object: verb + 1,
            ..Reading::default()
        })
    }

    pub(super) fn told(&self, place: usize) -> Reading {
        let modal = self
            .tokens
            .iter()
            .enumerate()
            .skip(place + 1)
            .find(|(at, token)| {
                token.among(&["should", "must", "shall"])
                    || token.among(&["needs", "need", "has", "have", "ought"])
                        && (self.is(at + 1, &["to"]) || token.among(&["needs"]))
            });
        let asks_inside = self
            .tokens
            .iter()
            .skip(place)
            .take(3)
            .any(|token| token.within(QUESTION_WORDS));
        if let Some((at, token)) = modal
            && !asks_inside
        {
            let verb = if self.is(at + 1, &["to", "not", "never", "only", "always", "be"]) {
                at + 2
            } else {
                at + 1
            };
            let after = self.at(verb).and_then(|token| token.verb);
            // "the parser needs refactoring", "it should be blue", "X needs a Y".
            let mut classes = after.map_or(Classes::NONE, |verb| {
                verb.classes.without(Classes::DO.with(Classes::FAIL))
            });
            if token.among(&["needs"])
                && self.at(at + 1).is_some_and(|next| next.within(DETERMINERS))
            {
                classes = Classes::BUILD;
            }
            let past = self
                .tokens
                .iter()
                .skip(at + 1)
                .take(2)
                .any(|token| token.is("have"));
            if !past {
                return Reading {
                    act: Act::Wish,
                    requirement: true,
                    verb: Some(verb),
                    classes,
                    object: place,
                    ..Reading::default()
                };
            }
        }
        let has_finite = self
            .tokens
            .iter()
            .enumerate()
            .skip(place)
            .any(|(at, token)| {
                token.within(AUXILIARIES)
                    || finite(token)
                    || token.among(&["keeps", "gets", "goes", "got"])
                    || at > place && probably_finite(self.tokens, at)
            });
        // "adding x": what is wanted, as a gerund at the start.
        if !has_finite
            && let Some(token) = self.at(place)
            && let Some(verb) = token.verb
            && verb.form == Form::Ing
            && self.at(place + 1).is_some_and(object_opens)
        {
            let order = order::read(self.tokens, place);
            return Reading {
                act: Act::Fragment,
                verb: Some(place),
                classes: order.classes,
                object: order.object,
                ..Reading::default()
            };
        }
        Reading {
            act: if has_finite {
                Act::Statement
            } else {
                Act::Fragment
            },
            object: place,
            ..Reading::default()
        }
    }
}
