//! An instance: its text, and a table of where in the text each value is.
//!
//! A value costs 16 bytes, whatever it is, so that the 8 MiB of a request cannot become more than 64 MiB here. Values
//! stand in the order of the text, a container before what is in it and a name before its value.

use std::borrow::Cow;
use std::cell::Cell;
use std::cmp::Ordering;
use std::collections::HashMap;
use std::ops::Range;

use crate::reader::{self, Refusal};

/// What the errors of one call may hold, in bytes: paths, previews and what each error costs by itself.
const ERROR_BYTES: usize = 32 * 1024 * 1024;

/// What an error costs without its paths and its preview.
const ERROR_COST: usize = 512;

/// Names of an object that are looked through one by one; a larger object has them sorted.
const FEW_NAMES: usize = 16;

/// What a value is. `Name` is the name of an object's member.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Null,
    True,
    False,
    Number,
    String,
    Name,
    Array,
    Object,
}

/// One value, or the name of one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Entry {
    start: u32,
    end: u32,
    /// The entry behind this one and everything in it.
    next: u32,
    /// Kind, whether it has escapes (text) or a later namesake (name), and how much is in it (container).
    packed: u32,
}

const KIND_MASK: u32 = 0b111;
const ESCAPED: u32 = 0b1000;
const REPLACED: u32 = 0b1_0000;
const COUNT_SHIFT: u32 = 5;

impl Entry {
    pub(crate) fn new(kind: Kind, span: Range<usize>, escaped: bool, next: usize) -> Self {
        let kind = match kind {
            Kind::Null => 0,
            Kind::True => 1,
            Kind::False => 2,
            Kind::Number => 3,
            Kind::String => 4,
            Kind::Name => 5,
            Kind::Array => 6,
            Kind::Object => 7,
        };
        Self {
            start: narrow(span.start),
            end: narrow(span.end),
            next: narrow(next),
            packed: if escaped { kind | ESCAPED } else { kind },
        }
    }

    pub(crate) fn kind(self) -> Kind {
        match self.packed & KIND_MASK {
            0 => Kind::Null,
            1 => Kind::True,
            2 => Kind::False,
            3 => Kind::Number,
            4 => Kind::String,
            5 => Kind::Name,
            6 => Kind::Array,
            _ => Kind::Object,
        }
    }

    /// Items of an array, members of an object without those that a later namesake replaces.
    pub(crate) fn count(self) -> usize {
        wide(self.packed >> COUNT_SHIFT)
    }

    pub(crate) fn add_child(&mut self) {
        self.packed = self.packed.saturating_add(1 << COUNT_SHIFT);
    }

    fn drop_child(&mut self) {
        self.packed = self.packed.saturating_sub(1 << COUNT_SHIFT);
    }

    pub(crate) fn close(&mut self, end: usize, next: usize) {
        self.end = narrow(end);
        self.next = narrow(next);
    }

    pub(crate) fn next(self) -> usize {
        wide(self.next)
    }

    fn is_escaped(self) -> bool {
        self.packed & ESCAPED != 0
    }

    pub(crate) fn is_replaced(self) -> bool {
        self.packed & REPLACED != 0
    }
}

/// Offsets and counts: a text has at most 8 MiB.
fn narrow(offset: usize) -> u32 {
    u32::try_from(offset).unwrap_or(u32::MAX)
}

fn wide(offset: u32) -> usize {
    usize::try_from(offset).unwrap_or(usize::MAX)
}

/// An instance.
pub(crate) struct Document {
    text: String,
    entries: Vec<Entry>,
    /// Names of the objects that have many, sorted, each by its entry.
    sorted: Vec<u32>,
    /// By the entry of an object: where in `sorted` its names are.
    large: HashMap<usize, Range<usize>>,
    /// Bytes that errors may still hold.
    left: Cell<usize>,
}

impl Document {
    /// Reads one JSON text.
    pub(crate) fn read(text: String) -> Result<Self, Refusal> {
        let entries = reader::read(&text)?;
        let mut document = Self {
            text,
            entries,
            sorted: Vec::new(),
            large: HashMap::new(),
            left: Cell::new(ERROR_BYTES),
        };
        document.index_names();
        Ok(document)
    }

    pub(crate) fn entry(&self, at: usize) -> Option<Entry> {
        self.entries.get(at).copied()
    }

    pub(crate) fn entries(&self) -> impl Iterator<Item = (usize, Entry)> {
        self.entries.iter().copied().enumerate()
    }

    /// Bytes of the longest string or name, as it is written.
    pub(crate) fn longest_text(&self) -> usize {
        self.entries
            .iter()
            .filter(|entry| matches!(entry.kind(), Kind::String | Kind::Name))
            .map(|entry| self.source(*entry).len())
            .max()
            .unwrap_or(0)
    }

    /// Containers in one another at most.
    pub(crate) fn depth(&self) -> usize {
        let mut ends = Vec::new();
        let mut deepest = 0;
        for (at, entry) in self.entries() {
            while ends.last().is_some_and(|end| *end <= at) {
                ends.pop();
            }
            if matches!(entry.kind(), Kind::Array | Kind::Object) {
                ends.push(entry.next());
                deepest = deepest.max(ends.len());
            }
        }
        deepest
    }

    /// A value as it is written.
    pub(crate) fn source(&self, entry: Entry) -> &str {
        self.text
            .get(wide(entry.start)..wide(entry.end))
            .unwrap_or_default()
    }

    /// What a string or a name stands for.
    pub(crate) fn string(&self, entry: Entry) -> Cow<'_, str> {
        let source = self.source(entry);
        let inner = source
            .strip_prefix('"')
            .and_then(|rest| rest.strip_suffix('"'));
        match inner {
            Some(inner) if !entry.is_escaped() => Cow::Borrowed(inner),
            _ => serde_json::from_str::<String>(source)
                .map(Cow::Owned)
                .unwrap_or_default(),
        }
    }

    /// The name at `at`.
    pub(crate) fn name(&self, at: usize) -> Cow<'_, str> {
        self.entry(at)
            .map(|entry| self.string(entry))
            .unwrap_or_default()
    }

    /// The entry of the value that has `name` in an object.
    pub(crate) fn member(&self, object: usize, name: &str) -> Option<usize> {
        if let Some(names) = self.large.get(&object) {
            let names = self.sorted.get(names.clone())?;
            let found = names
                .binary_search_by(|at| (*self.name(wide(*at))).cmp(name))
                .ok()?;
            return Some(wide(*names.get(found)?).saturating_add(1));
        }
        self.names(object)
            .find(|at| *self.name(*at) == *name)
            .map(|at| at.saturating_add(1))
    }

    /// The names of an object that count, in the order of the text.
    pub(crate) fn names(&self, object: usize) -> impl Iterator<Item = usize> {
        self.all_names(object)
            .filter(|at| self.entry(*at).is_some_and(|name| !name.is_replaced()))
    }

    fn all_names(&self, object: usize) -> impl Iterator<Item = usize> {
        let end = self.entry(object).map_or(0, Entry::next);
        let mut at = object.saturating_add(1);
        std::iter::from_fn(move || {
            let name = (at < end).then_some(at)?;
            at = self.entry(name.saturating_add(1))?.next();
            Some(name)
        })
    }

    /// The items of an array.
    pub(crate) fn items(&self, array: usize) -> impl Iterator<Item = usize> {
        let end = self.entry(array).map_or(0, Entry::next);
        let mut at = array.saturating_add(1);
        std::iter::from_fn(move || {
            let item = (at < end).then_some(at)?;
            at = self.entry(item)?.next();
            Some(item)
        })
    }

    /// TS-124: of members with one name the last one counts. Sorts the names of large objects.
    fn index_names(&mut self) {
        for object in 0..self.entries.len() {
            let Some(entry) = self.entry(object) else {
                return;
            };
            if entry.kind() != Kind::Object || entry.count() < 2 {
                continue;
            }
            if entry.count() <= FEW_NAMES {
                self.replace_in_small(object);
            } else {
                self.sort_names(object);
            }
        }
    }

    fn replace_in_small(&mut self, object: usize) {
        let names: Vec<usize> = self.all_names(object).collect();
        for (position, at) in names.iter().enumerate() {
            let later = names.iter().skip(position.saturating_add(1));
            let name = self.name(*at);
            if later.into_iter().any(|later| self.name(*later) == name) {
                drop(name);
                self.replace(object, *at);
            }
        }
    }

    fn sort_names(&mut self, object: usize) {
        let mut names: Vec<u32> = self.all_names(object).map(narrow).collect();
        names.sort_unstable_by(|a, b| self.compare_names(*a, *b).then(a.cmp(b)));
        let replaced: Vec<u32> = names
            .array_windows()
            .filter(|[a, b]| self.compare_names(*a, *b).is_eq())
            .map(|[a, _]| *a)
            .collect();
        for at in replaced {
            self.replace(object, wide(at));
        }
        let start = self.sorted.len();
        let entries = &self.entries;
        names.retain(|at| {
            entries
                .get(wide(*at))
                .is_some_and(|name| !name.is_replaced())
        });
        self.sorted.append(&mut names);
        self.large.insert(object, start..self.sorted.len());
    }

    fn compare_names(&self, a: u32, b: u32) -> Ordering {
        self.name(wide(a)).cmp(&self.name(wide(b)))
    }

    fn replace(&mut self, object: usize, name: usize) {
        if let Some(name) = self.entries.get_mut(name) {
            name.packed |= REPLACED;
        }
        if let Some(object) = self.entries.get_mut(object) {
            object.drop_child();
        }
    }

    /// Takes what one more error holds from what errors may hold; false when it is used up.
    pub(crate) fn charge(&self, bytes: usize) -> bool {
        let cost = bytes.saturating_add(ERROR_COST);
        match self.left.get().checked_sub(cost) {
            Some(left) => {
                self.left.set(left);
                true
            }
            None => {
                self.left.set(0);
                false
            }
        }
    }

    /// Whether errors hold as much as they may. Containers then look empty, so that validation ends soon; what is
    /// found after that is not reported.
    pub(crate) fn is_exhausted(&self) -> bool {
        self.left.get() == 0
    }
}
