//! What the tree builder of html5ever writes into: the arena, within its bounds.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::rc::Rc;

use html5ever::interface::{ElementFlags, NodeOrText, QuirksMode, TreeSink};
use html5ever::tendril::StrTendril;
use html5ever::{Attribute, ExpandedName, QualName, local_name, ns};

use super::role::Role;
use super::tree::{Content, Id, Tree};
use super::{Bound, MAX_DEPTH, MAX_NODES, MAX_STEPS};

/// A node and, if it is an element, its name.
#[derive(Debug, Clone)]
pub(super) struct Handle {
    id: Id,
    name: Rc<QualName>,
}

/// The document that is being built.
#[derive(Debug)]
pub(super) struct Sink {
    tree: RefCell<Tree>,
    exceeded: Cell<Option<Bound>>,
    /// Open elements, about.
    open: Cell<u32>,
    /// Steps over open elements.
    steps: Cell<u64>,
    /// The name of what has none.
    unnamed: Rc<QualName>,
}

impl Sink {
    pub(super) fn new() -> Self {
        Self {
            tree: RefCell::new(Tree::new()),
            exceeded: Cell::new(None),
            open: Cell::new(0),
            steps: Cell::new(0),
            unnamed: Rc::new(QualName::new(None, ns!(), local_name!(""))),
        }
    }

    /// The bound that was passed, if one was.
    pub(super) fn exceeded(&self) -> Option<Bound> {
        self.exceeded.get()
    }

    /// Counts what a tag costs: the tree builder looks through the open elements.
    pub(super) fn count_tag(&self) {
        let steps = self.steps.get().saturating_add(self.open.get().into());
        self.steps.set(steps);
        if steps > MAX_STEPS {
            self.exceeded.set(Some(Bound::Steps));
        }
    }

    fn node(&self, content: Content) -> Handle {
        self.named(content, Rc::clone(&self.unnamed))
    }

    fn named(&self, content: Content, name: Rc<QualName>) -> Handle {
        let mut tree = self.tree.borrow_mut();
        if tree.len() >= MAX_NODES {
            self.exceeded.set(Some(Bound::Nodes));
        }
        Handle {
            id: tree.create(content),
            name,
        }
    }

    fn check_depth(&self, id: Id) {
        let depth = self.tree.borrow().depth(id);
        self.open.set(depth);
        if depth > MAX_DEPTH {
            self.exceeded.set(Some(Bound::Depth));
        }
    }
}

impl TreeSink for Sink {
    type Handle = Handle;
    type Output = Tree;
    type ElemName<'a> = ExpandedName<'a>;

    fn finish(self) -> Tree {
        self.tree.into_inner()
    }

    fn parse_error(&self, _: Cow<'static, str>) {}

    fn get_document(&self) -> Handle {
        Handle {
            id: Tree::DOCUMENT,
            name: Rc::clone(&self.unnamed),
        }
    }

    fn elem_name<'a>(&'a self, target: &'a Handle) -> ExpandedName<'a> {
        target.name.expanded()
    }

    fn create_element(&self, name: QualName, attrs: Vec<Attribute>, _: ElementFlags) -> Handle {
        let has = |wanted| attrs.iter().any(|attribute| attribute.name.local == wanted);
        let role = match Role::of(&name.ns, &name.local) {
            // TS-135
            _ if has(local_name!("hidden")) => Role::Dropped,
            role => role,
        };
        let content = match role {
            Role::Image => {
                let alt = attrs
                    .into_iter()
                    .find(|attribute| attribute.name.local == local_name!("alt"));
                Content::Image(alt.map(|attribute| attribute.value).unwrap_or_default())
            }
            role => Content::Element(role),
        };
        self.named(content, Rc::new(name))
    }

    fn create_comment(&self, _: StrTendril) -> Handle {
        self.node(Content::Other)
    }

    fn create_pi(&self, _: StrTendril, _: StrTendril) -> Handle {
        self.node(Content::Other)
    }

    fn append(&self, parent: &Handle, child: NodeOrText<Handle>) {
        match child {
            NodeOrText::AppendNode(child) => {
                self.tree.borrow_mut().append(parent.id, child.id);
                self.check_depth(child.id);
            }
            NodeOrText::AppendText(text) => self.tree.borrow_mut().append_text(parent.id, text),
        }
    }

    fn append_based_on_parent_node(
        &self,
        element: &Handle,
        prev_element: &Handle,
        child: NodeOrText<Handle>,
    ) {
        let has_parent = self.tree.borrow().parent(element.id).is_some();
        if has_parent {
            self.append_before_sibling(element, child);
        } else {
            self.append(prev_element, child);
        }
    }

    fn append_doctype_to_document(&self, _: StrTendril, _: StrTendril, _: StrTendril) {}

    /// A template's content is not read: it is a node of its own that nothing leads to.
    fn get_template_contents(&self, _: &Handle) -> Handle {
        self.node(Content::Other)
    }

    fn same_node(&self, x: &Handle, y: &Handle) -> bool {
        x.id == y.id
    }

    fn pop(&self, node: &Handle) {
        self.open
            .set(self.tree.borrow().depth(node.id).saturating_sub(1));
    }

    fn set_quirks_mode(&self, _: QuirksMode) {}

    fn append_before_sibling(&self, sibling: &Handle, new_node: NodeOrText<Handle>) {
        let mut tree = self.tree.borrow_mut();
        match new_node {
            NodeOrText::AppendNode(node) => tree.insert_before(sibling.id, node.id),
            NodeOrText::AppendText(text) => tree.insert_text_before(sibling.id, text),
        }
    }

    fn add_attrs_if_missing(&self, _: &Handle, _: Vec<Attribute>) {}

    fn remove_from_parent(&self, target: &Handle) {
        self.tree.borrow_mut().detach(target.id);
    }

    fn reparent_children(&self, node: &Handle, new_parent: &Handle) {
        self.tree.borrow_mut().move_children(node.id, new_parent.id);
    }
}
