//! How a clause speaks: orders, asks, wishes, tells (Q-122 *speech act*, Q-124).

mod auxiliary;
mod idiom;
mod question;
mod reader;
mod wish;

use reader::Reader;

use crate::text::Clause;
use crate::text::lemma::Classes;
use crate::text::lexicon::function_words::{DETERMINERS, PREPOSITIONS, PRONOUNS};
use crate::text::token::{Kind, Token};

/// The speech act of a clause.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Act {
    /// It orders.
    Order,
    /// An order in the form of a question, or with *please*.
    Polite,
    /// "I want", "we should", "X must".
    Wish,
    /// It asks.
    Question,
    /// It tells, with a finite verb.
    Statement,
    /// No finite verb: "typo in the readme".
    #[default]
    Fragment,
}

/// What kind of question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asked {
    /// For a reason.
    Why,
    /// For a way.
    HowTo,
    /// Any other question word.
    What,
    /// For yes or no.
    YesNo,
}

/// What a clause says and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Reading {
    /// The speech act.
    pub act: Act,
    /// The question, also one inside an order.
    pub asked: Option<Asked>,
    /// Something is to be told.
    pub info: bool,
    /// Place of the verb among the clause's tokens.
    pub verb: Option<usize>,
    /// What the verb asks for, with its particle and its light verb's noun.
    pub classes: Classes,
    /// "do not …", "never …".
    pub negated: bool,
    /// An order whose verb the lexicon does not have.
    pub unknown: bool,
    /// Where the object starts.
    pub object: usize,
    /// "which line must I alter": a question about a change in hand (Q-125 c).
    pub obliged: bool,
    /// How something should be done is to be decided.
    pub decision: bool,
    /// "X should …", "it must …".
    pub requirement: bool,
    /// "I am trying to …": told before what is wanted.
    pub background: bool,
    /// "how about adding", "can we", "let's".
    pub suggestion: bool,
}

impl Reading {
    /// Reads a clause.
    #[must_use]
    pub fn of(tokens: &[Token]) -> Self {
        Reader { tokens }.clause()
    }

    /// Whether the clause wants something of the agent.
    #[must_use]
    pub fn wants(&self) -> bool {
        matches!(
            self.act,
            Act::Order | Act::Polite | Act::Wish | Act::Question
        )
    }

    /// Whether it directs the agent to do something, rather than to tell.
    #[must_use]
    pub fn directs(&self) -> bool {
        matches!(self.act, Act::Order | Act::Polite | Act::Wish) && !self.info
    }
}

/// The main clause: the first that wants something and is not background, else the first with a verb.
#[must_use]
pub fn main_clause(clauses: &[Clause]) -> Option<usize> {
    let empty = |clause: &Clause| {
        let reading = clause.reading;
        let words = clause.tokens.iter().skip(reading.object).any(|token| {
            token.kind != Kind::Word
                || !(token.within(PRONOUNS)
                    || token.within(PREPOSITIONS)
                    || token.within(DETERMINERS)
                    || token.among(&[
                        "please",
                        "now",
                        "here",
                        "look",
                        "and",
                        "out",
                        "again",
                        "happening",
                    ]))
        });
        // "take a look", "please help", "fix it", "any ideas?": what they are about stands elsewhere.
        !words
            && reading
                .classes
                .without(Classes::READ.with(Classes::INVESTIGATE).with(Classes::DO))
                .is_none()
            && reading
                .asked
                .is_none_or(|asked| asked == Asked::What && clause.tokens.len() < 4)
    };
    let wants =
        |clause: &&(usize, &Clause)| clause.1.reading.wants() && !clause.1.reading.background;
    let all: Vec<(usize, &Clause)> = clauses.iter().enumerate().collect();
    // "A dashboard: … Use what we have": the order only says how.
    let manner = |clause: &Clause| {
        let base = clause
            .reading
            .verb
            .and_then(|place| clause.tokens.get(place))
            .and_then(|token| token.verb)
            .map_or("", |verb| verb.base);
        matches!(
            base,
            "use" | "keep" | "remember" | "note" | "leave" | "take" | "mind"
        )
    };
    let thing = clauses
        .iter()
        .position(|clause| clause.reading.act == Act::Fragment && clause.tokens.len() > 2);
    let order = all
        .iter()
        .find(|clause| wants(clause) && !empty(clause.1) && !clause.1.reading.negated);
    if let (Some(thing), Some((place, clause))) = (thing, order)
        && thing < *place
        && manner(clause)
    {
        return Some(thing);
    }
    all.iter()
        .find(|clause| wants(clause) && !empty(clause.1) && !clause.1.reading.negated)
        .or_else(|| {
            all.iter()
                .find(|(_, clause)| clause.reading.act == Act::Wish && !clause.reading.negated)
        })
        .or_else(|| {
            all.iter()
                .find(|(_, clause)| clause.reading.act == Act::Statement)
        })
        .or_else(|| {
            all.iter()
                .find(|(_, clause)| clause.reading.act == Act::Fragment && clause.tokens.len() > 1)
        })
        .or_else(|| all.iter().find(wants))
        .or_else(|| all.first())
        .map(|(place, _)| *place)
}

/// "… does not", "… never", "… only": how a thing is built is to change.
#[must_use]
pub fn corrective(tokens: &[Token], from: usize) -> bool {
    let rest = tokens.get(from..).unwrap_or_default();
    rest.iter().any(|token| {
        token.among(&[
            "not", "never", "only", "always", "no", "without", "instead", "must", "nobody", "none",
            "cannot",
        ])
    }) && !rest.iter().any(|token| {
        token.among(&[
            "works",
            "working",
            "passes",
            "passing",
            "broke",
            "regressed",
            "broken",
        ])
    })
}
