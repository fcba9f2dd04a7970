//! What a document declares, as one sorted list without duplicates.

use std::cmp::Ordering;

use kit::yaml::Node;

use crate::{
    code::Code,
    uri::{Resolver, Unresolved, Uri},
};

/// Entries of both arrays together.
pub(crate) const MAX_DEPENDENCIES: usize = 1_000;

/// More candidates than this are sorted and cut before more are taken.
const MAX_CANDIDATES: usize = 16 * MAX_DEPENDENCIES;

/// One declaration, resolved as far as it goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Reference {
    /// A canonical URI.
    Resolved(Uri),
    /// A list, a mapping or null where a string belongs.
    NotAScalar,
    /// What the document says, verbatim, and why it is no URI.
    Unresolved(String, Unresolved),
}

impl Reference {
    /// Resolves a declaration of the document `base`; none stands for one that is no scalar.
    pub(crate) fn new(declared: Option<&str>, base: &Uri, resolver: Resolver) -> Self {
        match declared {
            None => Self::NotAScalar,
            Some(text) => match resolver.resolve(text, Some(base)) {
                Ok(uri) => Self::Resolved(uri),
                Err(why) => Self::Unresolved(text.to_owned(), why),
            },
        }
    }

    /// The `uri` of its entry.
    pub(crate) fn emitted(&self) -> &str {
        match self {
            Self::Resolved(uri) => uri.as_str(),
            Self::NotAScalar => Code::ParseError.as_str(),
            Self::Unresolved(declared, _) => declared,
        }
    }

    /// The same, owned.
    pub(crate) fn into_emitted(self) -> String {
        match self {
            Self::Resolved(uri) => uri.into_string(),
            Self::NotAScalar => Code::ParseError.text(),
            Self::Unresolved(declared, _) => declared,
        }
    }

    /// Bytewise by what is emitted. Declarations that are emitted alike and fail differently have an
    /// order too, so that the one that stays does not depend on which came first.
    fn compare(&self, other: &Self) -> Ordering {
        let rank = |reference: &Self| match reference {
            Self::Resolved(_) => 0_u8,
            Self::NotAScalar => 1,
            Self::Unresolved(..) => 2,
        };
        self.emitted()
            .cmp(other.emitted())
            .then_with(|| rank(self).cmp(&rank(other)))
    }
}

/// A declaration and the document that makes it, by its number.
#[derive(Debug, Clone)]
pub(crate) struct Candidate {
    pub(crate) reference: Reference,
    pub(crate) declared_by: usize,
}

/// Declarations on their way to a list.
#[derive(Debug, Default)]
pub(crate) struct Candidates {
    candidates: Vec<Candidate>,
    cut: bool,
}

impl Candidates {
    pub(crate) fn push(&mut self, reference: Reference, declared_by: usize) {
        self.candidates.push(Candidate {
            reference,
            declared_by,
        });
        if self.candidates.len() >= MAX_CANDIDATES {
            // Nothing after the first thousand can come back, whatever else is declared.
            self.cut(MAX_DEPENDENCIES);
        }
    }

    /// The first `room` in order, and whether there were more.
    pub(crate) fn take(mut self, room: usize) -> (Vec<Candidate>, bool) {
        self.cut(room);
        (self.candidates, self.cut)
    }

    fn cut(&mut self, room: usize) {
        // Stable, so that of equal ones the first declaration stays.
        self.candidates
            .sort_by(|a, b| a.reference.compare(&b.reference));
        self.candidates
            .dedup_by(|later, first| later.reference.emitted() == first.reference.emitted());
        self.cut |= self.candidates.len() > room;
        self.candidates.truncate(room);
    }
}

/// The declarations of a value: scalars as text, everything else as none.
///
/// Items that are aliases of one node are one declaration, so that no text is copied more often than it
/// stands in the source.
pub(crate) fn declared(value: Option<Node<'_>>) -> Vec<Option<&str>> {
    match value {
        Some(list) if list.is_list() => {
            let mut items: Vec<_> = list.items().collect();
            items.sort_by_key(Node::identity);
            items.dedup_by_key(|item| item.identity());
            items.iter().map(Node::scalar).collect()
        }
        Some(value) if !value.is_null() => vec![None],
        _ => Vec::new(),
    }
}
