//! From an inflected word to its base form and class: the lemma step before every rule.

use super::lexicon::{self, function_words, nouns, verbs, within};

/// A set of verb classes, one bit each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Classes(u32);

impl Classes {
    /// No class.
    pub const NONE: Self = Self(0);
    /// Changing what exists.
    pub const EDIT: Self = Self(1);
    /// Making.
    pub const BUILD: Self = Self(1 << 1);
    /// Taking away.
    pub const REMOVE: Self = Self(1 << 2);
    /// Changing place or name.
    pub const MOVE: Self = Self(1 << 3);
    /// Looking for a cause.
    pub const INVESTIGATE: Self = Self(1 << 4);
    /// Showing that something is so.
    pub const VERIFY: Self = Self(1 << 5);
    /// Judging.
    pub const REVIEW: Self = Self(1 << 6);
    /// Working out on paper.
    pub const DESIGN: Self = Self(1 << 7);
    /// Ordering what is to be done.
    pub const PLAN: Self = Self(1 << 8);
    /// Writing tests.
    pub const TEST: Self = Self(1 << 9);
    /// Exchanging a technology.
    pub const MIGRATE: Self = Self(1 << 10);
    /// Running with effects.
    pub const RUN: Self = Self(1 << 11);
    /// Reading or finding.
    pub const READ: Self = Self(1 << 12);
    /// Telling.
    pub const TELL: Self = Self(1 << 13);
    /// Misbehaving.
    pub const FAIL: Self = Self(1 << 14);
    /// Doing that says nothing more.
    pub const DO: Self = Self(1 << 15);

    /// The classes whose verbs change something.
    pub const CHANGE: Self = Self(
        Self::EDIT.0
            | Self::BUILD.0
            | Self::REMOVE.0
            | Self::MOVE.0
            | Self::MIGRATE.0
            | Self::RUN.0,
    );

    const LISTS: &'static [(Self, &'static lexicon::Words)] = &[
        (Self::EDIT, &verbs::EDIT),
        (Self::BUILD, &verbs::BUILD),
        (Self::REMOVE, &verbs::REMOVE),
        (Self::MOVE, &verbs::MOVE),
        (Self::INVESTIGATE, &verbs::INVESTIGATE),
        (Self::VERIFY, &verbs::VERIFY),
        (Self::REVIEW, &verbs::REVIEW),
        (Self::DESIGN, &verbs::DESIGN),
        (Self::PLAN, &verbs::PLAN),
        (Self::TEST, &verbs::TEST),
        (Self::MIGRATE, &verbs::MIGRATE),
        (Self::RUN, &verbs::RUN),
        (Self::READ, &verbs::READ),
        (Self::TELL, &verbs::TELL),
        (Self::FAIL, &verbs::FAIL),
        (Self::DO, &verbs::DO),
    ];

    /// Of a base form.
    #[must_use]
    pub fn of(base: &str) -> Self {
        let mut classes = Self::NONE;
        for (class, list) in Self::LISTS {
            if within(list, base) {
                classes = classes.with(*class);
            }
        }
        classes
    }

    /// Whether one of `other` is among them.
    #[must_use]
    pub fn any(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_none(self) -> bool {
        self.0 == 0
    }

    /// Both.
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Without those of `other`.
    #[must_use]
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// The lists that hold it, by number: features of the model.
    pub fn bits(self) -> impl Iterator<Item = u32> {
        (0..16).filter(move |bit| self.0 & (1 << bit) != 0)
    }
}

/// How a verb is inflected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// As in the lexicon.
    Base,
    /// Third person, or a plural noun.
    S,
    /// Past or participle.
    Past,
    /// `-ing`
    Ing,
}

/// A word that can be a verb.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Verb {
    /// One of the lexicon.
    pub base: &'static str,
    /// How it is inflected here.
    pub form: Form,
    /// What it can mean.
    pub classes: Classes,
    /// The same word is as often a noun.
    pub noun: bool,
}

/// Past forms that no rule gives.
static IRREGULAR: &[(&str, &str)] = &[
    ("became", "become"),
    ("began", "begin"),
    ("begun", "begin"),
    ("bound", "bind"),
    ("broke", "break"),
    ("broken", "break"),
    ("brought", "bring"),
    ("built", "build"),
    ("came", "come"),
    ("chose", "choose"),
    ("chosen", "choose"),
    ("died", "die"),
    ("dug", "dig"),
    ("dying", "die"),
    ("forgot", "forget"),
    ("forgotten", "forget"),
    ("found", "find"),
    ("froze", "freeze"),
    ("frozen", "freeze"),
    ("gave", "give"),
    ("given", "give"),
    ("gone", "go"),
    ("got", "get"),
    ("gotten", "get"),
    ("held", "hold"),
    ("hid", "hide"),
    ("hidden", "hide"),
    ("hung", "hang"),
    ("kept", "keep"),
    ("left", "leave"),
    ("lost", "lose"),
    ("made", "make"),
    ("meant", "mean"),
    ("overflown", "overflow"),
    ("overridden", "override"),
    ("overrode", "override"),
    ("overwritten", "overwrite"),
    ("overwrote", "overwrite"),
    ("ran", "run"),
    ("rewritten", "rewrite"),
    ("rewrote", "rewrite"),
    ("said", "say"),
    ("saw", "see"),
    ("seen", "see"),
    ("sent", "send"),
    ("showed", "show"),
    ("shown", "show"),
    ("shrank", "shrink"),
    ("shrunk", "shrink"),
    ("spun", "spin"),
    ("stuck", "stick"),
    ("taken", "take"),
    ("taught", "teach"),
    ("threw", "throw"),
    ("thrown", "throw"),
    ("told", "tell"),
    ("took", "take"),
    ("went", "go"),
    ("withdrawn", "withdraw"),
    ("written", "write"),
    ("wrote", "write"),
];

/// The verb that a lower-case word may be.
#[must_use]
pub fn verb(word: &str) -> Option<Verb> {
    if let Some(base) = known(word) {
        return Some(base_verb(base, Form::Base));
    }
    if let Ok(place) = IRREGULAR.binary_search_by(|(past, _)| (*past).cmp(word)) {
        let base = IRREGULAR.get(place).and_then(|(_, base)| known(base))?;
        let form = if word.ends_with("ing") {
            Form::Ing
        } else {
            Form::Past
        };
        return Some(base_verb(base, form));
    }
    for (ending, form, replacements) in ENDINGS {
        let Some(stem) = word.strip_suffix(ending) else {
            continue;
        };
        if stem.len() < 2 {
            continue;
        }
        for replacement in *replacements {
            let candidate = format!("{stem}{replacement}");
            if let Some(base) = known(&candidate) {
                return Some(base_verb(base, *form));
            }
        }
        // "stopped", "running": the doubled consonant.
        let mut letters = stem.chars().rev();
        if *ending != "s"
            && let (Some(last), Some(before)) = (letters.next(), letters.next())
            && last == before
            && last.is_ascii_alphabetic()
            && let Some(base) = stem.strip_suffix(last).and_then(known)
        {
            return Some(base_verb(base, *form));
        }
    }
    None
}

static ENDINGS: &[(&str, Form, &[&str])] = &[
    ("ies", Form::S, &["y"]),
    ("es", Form::S, &["", "e"]),
    ("s", Form::S, &[""]),
    ("ied", Form::Past, &["y"]),
    ("ed", Form::Past, &["", "e"]),
    ("ing", Form::Ing, &["", "e"]),
];

fn base_verb(base: &'static str, form: Form) -> Verb {
    Verb {
        base,
        form,
        classes: Classes::of(base),
        noun: within(nouns::NOUN_VERBS, base),
    }
}

/// The word of the lexicon, if it is a base form there.
fn known(word: &str) -> Option<&'static str> {
    Classes::LISTS.iter().find_map(|(_, list)| {
        list.binary_search(&word)
            .ok()
            .and_then(|place| list.get(place).copied())
    })
}

/// The singular of a noun: regular endings only.
#[must_use]
pub fn singular(word: &str) -> String {
    if word.len() > 4
        && let Some(stem) = word.strip_suffix("ies")
    {
        return format!("{stem}y");
    }
    for ending in ["sses", "xes", "ches", "shes", "zes"] {
        if word.ends_with(ending) {
            return word.strip_suffix("es").unwrap_or(word).to_owned();
        }
    }
    if word.len() > 3
        && !["ss", "us", "is", "os"]
            .iter()
            .any(|ending| word.ends_with(ending))
    {
        return word.strip_suffix('s').unwrap_or(word).to_owned();
    }
    word.to_owned()
}

/// Whether a noun looks like a plural.
#[must_use]
pub fn plural(word: &str) -> bool {
    word.len() > 3
        && word.ends_with('s')
        && !["ss", "us", "is"]
            .iter()
            .any(|ending| word.ends_with(ending))
        || matches!(
            word,
            "people" | "children" | "indices" | "data" | "media" | "criteria" | "prs" | "ids"
        )
}

/// Whether the lexicon has the word in any class.
#[must_use]
pub fn in_lexicon(word: &str) -> bool {
    verb(word).is_some()
        || [
            nouns::SMALL,
            nouns::ITEMS,
            nouns::GOALS,
            nouns::FAULTS,
            nouns::FAULTY,
            function_words::DETERMINERS,
            function_words::PRONOUNS,
            function_words::PREPOSITIONS,
            function_words::AUXILIARIES,
            function_words::QUESTION_WORDS,
            function_words::OPENERS,
            function_words::SUBORDINATORS,
            function_words::STOP_WORDS,
            function_words::CONFIRMATIONS,
            function_words::REFUSALS,
            function_words::CHOICES,
            function_words::TIME_NOUNS,
            function_words::MEASURES,
            function_words::NUMBER_WORDS,
            function_words::PEOPLE,
            function_words::TECHNOLOGIES,
        ]
        .iter()
        .any(|list| within(list, word) || within(list, &singular(word)))
}

/// The verb that a word in a verb's place was meant to be: one letter more, less, other, or two exchanged. The first
/// letter has to be right (or exchanged with the second), and the word has to be long enough that few words are near it.
#[must_use]
pub fn misspelt(word: &str) -> Option<Verb> {
    if word.len() < 4
        || word.len() > 24
        || !word.bytes().all(|byte| byte.is_ascii_lowercase())
        || in_lexicon(word)
    {
        return None;
    }
    let mut best: Option<&'static str> = None;
    for (_, list) in Classes::LISTS {
        for base in list.iter().copied() {
            if base.len() >= 4
                && base.len().abs_diff(word.len()) <= 1
                && near(word.as_bytes(), base.as_bytes())
            {
                // The longest wins: more letters in common.
                if best.is_none_or(|found| found.len() < base.len()) {
                    best = Some(base);
                }
            }
        }
    }
    best.map(|base| base_verb(base, Form::Base))
}

/// Edit distance of at most one, an exchange of neighbours counting as one, with a right first letter unless exchanged.
#[must_use]
pub fn near(left: &[u8], right: &[u8]) -> bool {
    let (short, long) = if left.len() <= right.len() {
        (left, right)
    } else {
        (right, left)
    };
    if long.len() - short.len() > 1 {
        return false;
    }
    let head = short
        .iter()
        .zip(long)
        .take_while(|(one, other)| one == other)
        .count();
    let (short, long) = (
        short.get(head..).unwrap_or_default(),
        long.get(head..).unwrap_or_default(),
    );
    if short.len() < long.len() {
        return head > 0 && long.get(1..) == Some(short);
    }
    let exchanged = short.first() == long.get(1)
        && short.get(1) == long.first()
        && short.get(2..) == long.get(2..);
    short.is_empty()
        || (short.len() >= 2 && exchanged)
        || (head > 0 && short.get(1..) == long.get(1..))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn q_121_every_list_is_in_order_so_that_it_can_be_searched() {
        for (_, list) in Classes::LISTS {
            assert!(list.is_sorted(), "{:?}", list.first());
        }
        assert!(IRREGULAR.is_sorted_by_key(|(past, _)| *past));
        for list in [
            nouns::SMALL,
            nouns::ITEMS,
            nouns::GOALS,
            nouns::FAULTS,
            nouns::FAULTY,
            nouns::NOUN_VERBS,
        ] {
            assert!(list.is_sorted(), "{:?}", list.first());
        }
    }

    #[test]
    fn q_123_inflected_verbs_have_their_base_form() {
        for (word, base, form) in [
            ("fixes", "fix", Form::S),
            ("renaming", "rename", Form::Ing),
            ("dropped", "drop", Form::Past),
            ("copies", "copy", Form::S),
            ("built", "build", Form::Past),
            ("crashes", "crash", Form::S),
            ("verified", "verify", Form::Past),
            ("running", "run", Form::Ing),
        ] {
            let verb = verb(word).unwrap();
            assert_eq!((verb.base, verb.form), (base, form), "{word}");
        }
        assert!(verb("banana").is_none());
    }

    #[test]
    fn q_123_a_verb_with_one_wrong_letter_is_understood() {
        for (word, base) in [
            ("renmae", "rename"),
            ("invesigate", "investigate"),
            ("udpate", "update"),
            ("ad", ""),
        ] {
            assert_eq!(misspelt(word).map_or("", |verb| verb.base), base, "{word}");
        }
        assert!(misspelt("blorp").is_none());
    }
}
