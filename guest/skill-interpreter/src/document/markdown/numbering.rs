//! Names that are told apart by numbers.

use std::collections::{BTreeMap, BTreeSet};

/// Characters of an id.
const ID_CHARACTERS: usize = 64;

/// The names that are taken.
#[derive(Debug, Default)]
pub(crate) struct Taken {
    names: BTreeSet<String>,
    /// For each name that had to be numbered, the last number, so that many of one name take no longer each.
    numbers: BTreeMap<String, u32>,
}

impl Taken {
    /// Whether a name is taken.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.names.contains(name)
    }

    /// Takes a name; whether it was free.
    pub(crate) fn take(&mut self, name: String) -> bool {
        self.names.insert(name)
    }

    /// Takes a name, or it with the first number from 2 on that makes it a free one.
    pub(crate) fn numbered(&mut self, name: &str) -> String {
        if self.names.insert(name.to_owned()) {
            return name.to_owned();
        }
        let number = self.numbers.entry(name.to_owned()).or_insert(1);
        loop {
            *number = number.saturating_add(1);
            let suffix = format!("-{number}");
            // With its number it is an id too.
            let length = ID_CHARACTERS.saturating_sub(suffix.len());
            let candidate = name.chars().take(length).collect::<String>() + &suffix;
            if self.names.insert(candidate.clone()) || *number == u32::MAX {
                return candidate;
            }
        }
    }
}
