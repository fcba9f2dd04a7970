//! The outline and where its entries lead (ISO 32000-2, 12.3).

use std::collections::{HashMap, HashSet};

use super::document::Document;
use super::object::{Dict, Object};
use super::pages::Pages;
use super::strings;
use crate::output::{MAX_SECTIONS, title};

/// Entries that are visited at most.
const MAX_ENTRIES: usize = 10_000;

/// Levels at most.
const MAX_LEVEL: u32 = 64;

/// Nodes and names of the tree of destinations at most.
const MAX_NAMES: usize = 100_000;

/// Bytes of a title or a name that are read at most.
const MAX_STRING: usize = 4_096;

/// One entry that leads to a page.
#[derive(Debug)]
pub(super) struct Entry {
    /// From 1.
    pub(super) level: u32,
    pub(super) title: String,
    /// From 1.
    pub(super) page: u32,
}

struct Outline<'d> {
    document: &'d Document<'d>,
    pages: &'d Pages,
    catalog: &'d Dict,
    names: Option<HashMap<Box<[u8]>, Object>>,
}

/// The entries in their order (TS-138); those without a page are left out, and those whose page is not kept. One more
/// than can be kept shows that there are more.
pub(super) fn read(
    document: &Document<'_>,
    catalog: &Dict,
    pages: &Pages,
    is_kept: impl Fn(u32) -> bool,
) -> Vec<Entry> {
    let mut outline = Outline {
        document,
        pages,
        catalog,
        names: None,
    };
    let mut entries = Vec::new();
    let mut visited = HashSet::new();
    let root = document.get(catalog, "Outlines");
    let mut stack: Vec<(Object, u32)> = Vec::new();
    if let Some(first) = root.dict().and_then(|dict| dict.get("First")) {
        stack.push((first.clone(), 1));
    }
    while let Some((item, level)) = stack.pop() {
        if let Object::Reference(number) = item
            && !visited.insert(number)
        {
            continue;
        }
        let object = document.resolve(&item);
        let Some(dict) = object.dict() else { continue };
        entries.extend(outline.entry(dict, level, &is_kept));
        if visited.len() >= MAX_ENTRIES || entries.len() > MAX_SECTIONS {
            break;
        }
        stack.extend(next(dict, "Next").map(|next| (next, level)));
        if level < MAX_LEVEL {
            stack.extend(next(dict, "First").map(|first| (first, level.saturating_add(1))));
        }
    }
    entries
}

/// The entry that a key leads to; entries are indirect objects, and so none is visited twice.
fn next(dict: &Dict, key: &str) -> Option<Object> {
    let next = dict.get(key)?;
    matches!(next, Object::Reference(_)).then(|| next.clone())
}

impl Outline<'_> {
    fn entry(&mut self, dict: &Dict, level: u32, is_kept: impl Fn(u32) -> bool) -> Option<Entry> {
        let page = self.page(dict).filter(|page| is_kept(*page))?;
        let text = self.document.get(dict, "Title");
        let text = text.string()?;
        let text = text.get(..MAX_STRING).unwrap_or(text);
        let title = title(&strings::text(text)).unwrap_or_default();
        Some(Entry { level, title, page })
    }

    fn page(&mut self, dict: &Dict) -> Option<u32> {
        let destination = self.document.get(dict, "Dest");
        if *destination != Object::Null {
            return self.page_of(&destination);
        }
        let action = self.document.get(dict, "A");
        let action = action.dict()?;
        if !action.is("S", "GoTo") {
            return None;
        }
        let destination = self.document.get(action, "D");
        self.page_of(&destination)
    }

    /// The page of a destination, which may be named.
    fn page_of(&mut self, destination: &Object) -> Option<u32> {
        match destination {
            Object::Name(name) | Object::String(name) => self.named(name),
            destination => self.page_at(destination),
        }
    }

    /// The page of a destination that is no name.
    fn page_at(&self, destination: &Object) -> Option<u32> {
        // A named destination may be a dictionary around the array.
        let inner = destination.dict().map(|dict| self.document.get(dict, "D"));
        match inner.as_deref().unwrap_or(destination).array()?.first()? {
            Object::Reference(number) => self.pages.numbers.get(number).copied(),
            Object::Integer(index) => {
                let page = u32::try_from(*index).ok()?.checked_add(1)?;
                (usize::try_from(page).ok()? <= self.pages.pages.len()).then_some(page)
            }
            _ => None,
        }
    }

    fn named(&mut self, name: &[u8]) -> Option<u32> {
        if name.len() > MAX_STRING {
            return None;
        }
        let old = self.document.get(self.catalog, "Dests");
        if let Some(found) = old.dict().and_then(|dict| dict.get_bytes(name)) {
            return self.page_at(&self.document.resolve(found));
        }
        let names = self.names.take().unwrap_or_else(|| self.read_names());
        let page = names
            .get(name)
            .and_then(|object| self.page_at(&self.document.resolve(object)));
        self.names = Some(names);
        page
    }

    /// A destination without what is not needed of it: many nodes may share a long one.
    fn short(&self, destination: &Object) -> Object {
        match destination {
            Object::Reference(number) => Object::Reference(*number),
            direct => match self.page_at(direct) {
                Some(page) => Object::Array(vec![Object::Integer(i64::from(page) - 1)]),
                None => Object::Null,
            },
        }
    }

    /// The name tree of destinations, flat.
    fn read_names(&self) -> HashMap<Box<[u8]>, Object> {
        let mut names = HashMap::new();
        let mut visited = HashSet::new();
        let root = self.document.get(self.catalog, "Names");
        let root = root.dict().and_then(|dict| dict.get("Dests")).cloned();
        let mut stack: Vec<Object> = root.into_iter().collect();
        let mut left = MAX_NAMES;
        while let Some(node) = stack.pop() {
            if let Object::Reference(number) = node
                && !visited.insert(number)
            {
                continue;
            }
            let object = self.document.resolve(&node);
            let Some(dict) = object.dict() else { continue };
            let pairs = self.document.get(dict, "Names");
            let (pairs, _) = pairs.array().unwrap_or_default().as_chunks::<2>();
            let kids = self.document.get(dict, "Kids");
            let kids = kids.array().unwrap_or_default();
            let Some(rest) = left.checked_sub(pairs.len().saturating_add(kids.len())) else {
                break;
            };
            left = rest;
            for [name, value] in pairs {
                if let Some(name) = name.string().filter(|name| name.len() <= MAX_STRING) {
                    names.insert(name.into(), self.short(value));
                }
            }
            stack.extend(kids.iter().rev().cloned());
        }
        names
    }
}
