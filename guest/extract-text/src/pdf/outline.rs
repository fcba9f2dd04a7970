//! The outline and where its entries lead (ISO 32000-2, 12.3).

use std::collections::{HashMap, HashSet};

use hayro_syntax::object::{
    Array, Dict, MaybeRef, Name, Object, ObjectIdentifier, String as PdfString,
};

use super::strings;
use crate::output::title;

/// One entry that leads to a page.
#[derive(Debug)]
pub(super) struct Entry {
    /// From 1.
    pub(super) level: u32,
    pub(super) title: String,
    /// From 1.
    pub(super) page: u32,
}

struct Outline<'a, 'p> {
    pages: &'p HashMap<ObjectIdentifier, u32>,
    catalog: &'p Dict<'a>,
    /// Destinations by name, as the first versions of PDF have them.
    old: Dict<'a>,
    /// Pages by the names of destinations, once one was looked for.
    names: Option<HashMap<Vec<u8>, u32>>,
}

/// Returns the entries that lead to a page, in their order.
pub(super) fn read<'a>(catalog: &Dict<'a>, pages: &HashMap<ObjectIdentifier, u32>) -> Vec<Entry> {
    let mut outline = Outline {
        pages,
        catalog,
        old: catalog.get("Dests").unwrap_or_default(),
        names: None,
    };
    let mut entries = Vec::new();
    let mut visited = HashSet::new();
    let root = catalog.get::<Dict<'a>>("Outlines").unwrap_or_default();
    let mut stack: Vec<(Dict<'a>, u32)> = Vec::new();
    stack.extend(root.get("First").map(|first| (first, 1)));
    while let Some((item, level)) = stack.pop() {
        // Entries are indirect objects, and so none is visited twice.
        if !item.obj_id().is_some_and(|id| visited.insert(id)) {
            continue;
        }
        let page = outline.page(&item);
        entries.extend(page.and_then(|page| entry(&item, level, page)));
        stack.extend(item.get("Next").map(|next| (next, level)));
        let first = item.get("First");
        stack.extend(first.map(|first| (first, level.saturating_add(1))));
    }
    entries
}

fn entry(item: &Dict<'_>, level: u32, page: u32) -> Option<Entry> {
    let text = item.get::<PdfString<'_>>("Title")?;
    let title = title(&strings::text(&text)).unwrap_or_default();
    Some(Entry { level, title, page })
}

impl<'a> Outline<'a, '_> {
    fn page(&mut self, item: &Dict<'a>) -> Option<u32> {
        if let Some(destination) = item.get::<Object<'a>>("Dest") {
            return self.page_of(destination);
        }
        let action = item.get::<Dict<'a>>("A")?;
        if action.get::<Name<'_>>("S")?.as_ref() != b"GoTo" {
            return None;
        }
        self.page_of(action.get("D")?)
    }

    /// The page of a destination, which may be named.
    fn page_of(&mut self, destination: Object<'a>) -> Option<u32> {
        match destination {
            Object::Name(name) => self.named(&name),
            Object::String(name) => self.named(&name),
            destination => page_at(self.pages, destination),
        }
    }

    fn named(&mut self, name: &[u8]) -> Option<u32> {
        if let Some(found) = self.old.get::<Object<'a>>(name) {
            return page_at(self.pages, found);
        }
        let names = self
            .names
            .get_or_insert_with(|| read_names(self.catalog, self.pages));
        names.get(name).copied()
    }
}

/// The page of a destination that is no name: an array, perhaps in a dictionary.
fn page_at(pages: &HashMap<ObjectIdentifier, u32>, destination: Object<'_>) -> Option<u32> {
    let array = match destination {
        Object::Array(array) => array,
        Object::Dict(dict) => dict.get::<Array<'_>>("D")?,
        _ => return None,
    };
    match array.raw_iter().next()? {
        MaybeRef::Ref(reference) => pages.get(&reference.into()).copied(),
        MaybeRef::NotRef(Object::Number(index)) => {
            let page = u32::try_from(index.as_i64()).ok()?.checked_add(1)?;
            (usize::try_from(page).ok()? <= pages.len()).then_some(page)
        }
        MaybeRef::NotRef(_) => None,
    }
}

/// The name tree of destinations, flat.
fn read_names(catalog: &Dict<'_>, pages: &HashMap<ObjectIdentifier, u32>) -> HashMap<Vec<u8>, u32> {
    let mut names = HashMap::new();
    let mut visited = HashSet::new();
    let root = catalog.get::<Dict<'_>>("Names");
    let root = root.and_then(|names| names.get::<Dict<'_>>("Dests"));
    let mut stack: Vec<Dict<'_>> = root.into_iter().collect();
    while let Some(node) = stack.pop() {
        if node.obj_id().is_some_and(|id| !visited.insert(id)) {
            continue;
        }
        let mut pairs = node
            .get::<Array<'_>>("Names")
            .unwrap_or_default()
            .flex_iter();
        while let Some((name, destination)) = pairs.next::<(PdfString<'_>, Object<'_>)>() {
            if let Some(page) = page_at(pages, destination) {
                names.insert(name.to_vec(), page);
            }
        }
        stack.extend(node.get::<Array<'_>>("Kids").unwrap_or_default().iter());
    }
    names
}
