//! What makes a text a script, for the reason list.

/// Constructs, each once, in the order in which they were found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Constructs(Vec<String>);

/// Names of the reason list; hostile text may hold thousands of different ones.
const MOST: usize = 32;

impl Constructs {
    pub(super) fn add(&mut self, construct: impl Into<String>) {
        let construct = construct.into();
        if self.0.len() < MOST && !self.0.contains(&construct) {
            self.0.push(construct);
        }
    }

    pub(super) fn append(&mut self, other: Self) {
        for construct in other.0 {
            self.add(construct);
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn into_list(self) -> Vec<String> {
        self.0
    }
}
