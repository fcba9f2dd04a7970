//! The pages in their order (ISO 32000-2, 7.7.3).

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use kit::SkillError;

use super::document::Document;
use super::object::Object;
use crate::error::too_large;

/// TS-139
const MAX_PAGES: usize = 2_000;

/// Nodes of the tree at most.
const MAX_NODES: usize = 20_000;

/// One page.
#[derive(Debug)]
pub(super) struct Page {
    pub(super) object: Rc<Object>,
    /// Its own or inherited.
    pub(super) resources: Rc<Object>,
}

/// All pages, and which page an object is.
#[derive(Debug, Default)]
pub(super) struct Pages {
    pub(super) pages: Vec<Page>,
    /// From 1.
    pub(super) numbers: HashMap<u32, u32>,
}

impl Pages {
    /// The pages that the catalog leads to.
    ///
    /// # Errors
    /// `too_large`
    pub(super) fn read(document: &Document<'_>, catalog: &Object) -> Result<Self, SkillError> {
        let mut pages = Self::default();
        let mut visited = HashSet::new();
        let mut nodes = 0_usize;
        let root = catalog.dict().and_then(|dict| dict.get("Pages"));
        // What is still to be visited, the next one last, each with the resources above it.
        let mut stack: Vec<(Object, Rc<Object>)> = root
            .map(|root| (root.clone(), Rc::new(Object::Null)))
            .into_iter()
            .collect();
        while let Some((node, resources)) = stack.pop() {
            let number = match node {
                Object::Reference(number) => Some(number),
                _ => None,
            };
            if number.is_some_and(|number| !visited.insert(number)) {
                continue;
            }
            nodes = nodes.saturating_add(1);
            if nodes > MAX_NODES {
                return Err(too_large(
                    "pages",
                    "the PDF has more than 20000 nodes of pages",
                ));
            }
            let object = document.resolve(&node).shared();
            let Some(dict) = object.dict() else { continue };
            let resources = match dict.get("Resources") {
                Some(own) => document.resolve(own).shared(),
                None => resources,
            };
            if let Some(kids) = document.get(dict, "Kids").array() {
                let left = MAX_NODES.saturating_sub(nodes).saturating_add(1);
                let kids = kids.get(..left).unwrap_or(kids);
                stack.extend(
                    kids.iter()
                        .rev()
                        .map(|kid| (kid.clone(), Rc::clone(&resources))),
                );
                if stack.len() > MAX_NODES {
                    return Err(too_large(
                        "pages",
                        "the PDF has more than 20000 nodes of pages",
                    ));
                }
            } else if !dict.is("Type", "Pages") {
                pages.add(number, Page { object, resources })?;
            }
        }
        document.check()?;
        Ok(pages)
    }

    fn add(&mut self, number: Option<u32>, page: Page) -> Result<(), SkillError> {
        if self.pages.len() >= MAX_PAGES {
            return Err(too_large(
                "pages",
                &format!("the PDF has more than {MAX_PAGES} pages"),
            ));
        }
        self.pages.push(page);
        if let (Some(number), Ok(page)) = (number, u32::try_from(self.pages.len())) {
            self.numbers.insert(number, page);
        }
        Ok(())
    }
}
