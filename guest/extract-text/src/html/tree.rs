//! The document as an arena of nodes that know their neighbours by index.
//!
//! Nothing recurses, neither when it is walked nor when it is dropped.

use html5ever::tendril::StrTendril;

use super::role::Role;

/// A node, by its place in the arena.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Id(u32);

/// What a node is.
#[derive(Debug)]
pub(super) enum Content {
    Document,
    Element(Role),
    /// An image with its alternative text.
    Image(StrTendril),
    Text(StrTendril),
    /// A comment or what else is not read.
    Other,
}

#[derive(Debug)]
struct Node {
    content: Content,
    /// Levels below the document, when it was put where it is.
    depth: u32,
    parent: Option<Id>,
    previous: Option<Id>,
    next: Option<Id>,
    first: Option<Id>,
    last: Option<Id>,
}

/// All nodes; the document is the first.
#[derive(Debug)]
pub(super) struct Tree {
    nodes: Vec<Node>,
}

impl Tree {
    pub(super) const DOCUMENT: Id = Id(0);

    pub(super) fn new() -> Self {
        let mut tree = Self { nodes: Vec::new() };
        tree.create(Content::Document);
        tree
    }

    /// How many nodes there are.
    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// A node without neighbours.
    pub(super) fn create(&mut self, content: Content) -> Id {
        // The bound of nodes is far below.
        let id = Id(u32::try_from(self.nodes.len()).unwrap_or(u32::MAX));
        self.nodes.push(Node {
            content,
            depth: 0,
            parent: None,
            previous: None,
            next: None,
            first: None,
            last: None,
        });
        id
    }

    pub(super) fn content(&self, id: Id) -> &Content {
        self.node(id).map_or(&Content::Other, |node| &node.content)
    }

    pub(super) fn first(&self, id: Id) -> Option<Id> {
        self.node(id)?.first
    }

    pub(super) fn next(&self, id: Id) -> Option<Id> {
        self.node(id)?.next
    }

    pub(super) fn parent(&self, id: Id) -> Option<Id> {
        self.node(id)?.parent
    }

    pub(super) fn depth(&self, id: Id) -> u32 {
        self.node(id).map_or(0, |node| node.depth)
    }

    /// Puts a node behind the last child of another.
    pub(super) fn append(&mut self, parent: Id, child: Id) {
        self.detach(child);
        let last = self.node(parent).and_then(|node| node.last);
        self.link(parent, last, None, child);
    }

    /// Puts a node before another that has a parent.
    pub(super) fn insert_before(&mut self, sibling: Id, child: Id) {
        if sibling == child {
            return;
        }
        self.detach(child);
        if let Some(parent) = self.parent(sibling) {
            let previous = self.node(sibling).and_then(|node| node.previous);
            self.link(parent, previous, Some(sibling), child);
        }
    }

    /// Adds text behind the last child, as part of it if it is text.
    pub(super) fn append_text(&mut self, parent: Id, text: StrTendril) {
        let last = self.node(parent).and_then(|node| node.last);
        if let Some(text) = self.extend_text(last, text) {
            let child = self.create(Content::Text(text));
            self.link(parent, last, None, child);
        }
    }

    /// Adds text before a node, as part of what stands there if it is text.
    pub(super) fn insert_text_before(&mut self, sibling: Id, text: StrTendril) {
        let previous = self.node(sibling).and_then(|node| node.previous);
        if let Some(text) = self.extend_text(previous, text) {
            let child = self.create(Content::Text(text));
            self.insert_before(sibling, child);
        }
    }

    /// Adds to a text; gives back what was not added.
    fn extend_text(&mut self, id: Option<Id>, text: StrTendril) -> Option<StrTendril> {
        match id.and_then(|id| self.node_mut(id)) {
            Some(Node {
                content: Content::Text(present),
                ..
            }) => {
                present.push_tendril(&text);
                None
            }
            _ => Some(text),
        }
    }

    /// Moves all children of a node behind those of another.
    pub(super) fn move_children(&mut self, from: Id, to: Id) {
        while let Some(child) = self.first(from) {
            self.append(to, child);
        }
    }

    /// Takes a node from its parent.
    pub(super) fn detach(&mut self, id: Id) {
        let Some(node) = self.node_mut(id) else {
            return;
        };
        let parent = node.parent.take();
        let (previous, next) = (node.previous.take(), node.next.take());
        match previous.and_then(|id| self.node_mut(id)) {
            Some(node) => node.next = next,
            None => {
                if let Some(parent) = parent.and_then(|id| self.node_mut(id)) {
                    parent.first = next;
                }
            }
        }
        match next.and_then(|id| self.node_mut(id)) {
            Some(node) => node.previous = previous,
            None => {
                if let Some(parent) = parent.and_then(|id| self.node_mut(id)) {
                    parent.last = previous;
                }
            }
        }
    }

    fn link(&mut self, parent: Id, previous: Option<Id>, next: Option<Id>, child: Id) {
        let depth = self.depth(parent).saturating_add(1);
        if let Some(node) = self.node_mut(child) {
            node.parent = Some(parent);
            node.previous = previous;
            node.next = next;
            node.depth = depth;
        }
        match previous.and_then(|id| self.node_mut(id)) {
            Some(node) => node.next = Some(child),
            None => {
                if let Some(parent) = self.node_mut(parent) {
                    parent.first = Some(child);
                }
            }
        }
        match next.and_then(|id| self.node_mut(id)) {
            Some(node) => node.previous = Some(child),
            None => {
                if let Some(parent) = self.node_mut(parent) {
                    parent.last = Some(child);
                }
            }
        }
    }

    fn node(&self, id: Id) -> Option<&Node> {
        self.nodes.get(usize::try_from(id.0).ok()?)
    }

    fn node_mut(&mut self, id: Id) -> Option<&mut Node> {
        self.nodes.get_mut(usize::try_from(id.0).ok()?)
    }
}
