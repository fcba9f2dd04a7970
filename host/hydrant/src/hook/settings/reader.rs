//! Reading a table key by key, and telling what is left.

use std::collections::BTreeSet;
use std::path::Path;

use toml::{Table, Value};

use super::Problem;

/// A table of which each known key is asked for once; what is left is not known.
pub(super) struct Reader<'a> {
    name: String,
    table: &'a Table,
    file: &'a Path,
    notes: &'a mut Notes,
}

/// What reading found.
#[derive(Default)]
pub(super) struct Notes {
    pub(super) problems: Vec<Problem>,
    /// The keys that were asked for, from `hydrate` on.
    pub(super) known: BTreeSet<String>,
}

impl<'a> Reader<'a> {
    pub(super) fn new(
        name: &str,
        value: &'a Value,
        file: &'a Path,
        notes: &'a mut Notes,
    ) -> Option<Self> {
        match value.as_table() {
            Some(table) => Some(Self {
                name: name.to_owned(),
                table,
                file,
                notes,
            }),
            None => {
                notes.problems.push(Problem {
                    key: name.to_owned(),
                    message: format!("{}: {name} must be a table", file.display()),
                    unknown: false,
                });
                None
            }
        }
    }

    /// Replaces the default by the value of a key.
    pub(super) fn set<T>(
        &mut self,
        key: &'static str,
        target: &mut T,
        rule: &str,
        read: impl FnOnce(&Value) -> Option<T>,
    ) {
        self.notes.known.insert(format!("{}.{key}", self.name));
        let Some(value) = self.table.get(key) else {
            return;
        };
        match read(value) {
            Some(value) => *target = value,
            None => self.problem(key, &format!("must be {rule}")),
        }
    }

    pub(super) fn table(&mut self, key: &'static str) -> Option<Reader<'_>> {
        let name = format!("{}.{key}", self.name);
        self.notes.known.insert(name.clone());
        let value = self.table.get(key)?;
        Reader::new(&name, value, self.file, self.notes)
    }

    pub(super) fn problem(&mut self, key: &str, rule: &str) {
        let key = format!("{}.{key}", self.name);
        self.notes.problems.push(Problem {
            message: format!("{}: {key} {rule}", self.file.display()),
            key,
            unknown: false,
        });
    }

    /// What nobody asked for.
    pub(super) fn end(self) {
        for key in self.table.keys() {
            let key = format!("{}.{key}", self.name);
            if !self.notes.known.contains(&key) {
                self.notes.problems.push(Problem {
                    message: format!("{}: {key} is not known", self.file.display()),
                    key,
                    unknown: true,
                });
            }
        }
    }
}
