//! The tree of a document: `html5ever` parses it, an arena holds it.
//!
//! Nothing recurses, neither when the tree is walked nor when it is dropped.

use std::borrow::Cow;
use std::cell::{Ref, RefCell};

use ego_tree::{NodeId, NodeMut, Tree};
use html5ever::interface::{ElementFlags, NodeOrText, QuirksMode, TreeSink};
use html5ever::tendril::{StrTendril, TendrilSink};
use html5ever::{Attribute, QualName, local_name, ns};

/// A node of a document.
#[derive(Debug)]
pub(super) enum Node {
    Element {
        name: QualName,
        attributes: Vec<Attribute>,
    },
    Text(StrTendril),
    /// The document, a comment or what else is not read.
    Other,
}

/// Parses a document.
pub(super) fn parse(html: &str) -> Tree<Node> {
    let sink = Sink {
        dom: RefCell::new(Dom {
            tree: Tree::new(Node::Other),
            unnamed: QualName::new(None, ns!(), local_name!("")),
        }),
    };
    html5ever::parse_document(sink, Default::default()).one(html)
}

/// What the tree builder writes into.
struct Sink {
    dom: RefCell<Dom>,
}

struct Dom {
    tree: Tree<Node>,
    /// The name of what has none.
    unnamed: QualName,
}

impl Sink {
    fn orphan(&self, node: Node) -> NodeId {
        self.dom.borrow_mut().tree.orphan(node).id()
    }

    fn change(&self, id: NodeId, change: impl FnOnce(&mut NodeMut<'_, Node>)) {
        if let Some(mut node) = self.dom.borrow_mut().tree.get_mut(id) {
            change(&mut node);
        }
    }
}

/// Adds text to a neighbour that is text too; gives back what was not added.
fn joined(neighbour: Option<NodeMut<'_, Node>>, text: StrTendril) -> Option<StrTendril> {
    if let Some(mut node) = neighbour
        && let Node::Text(present) = node.value()
    {
        present.push_tendril(&text);
        return None;
    }
    Some(text)
}

impl TreeSink for Sink {
    type Handle = NodeId;
    type Output = Tree<Node>;
    type ElemName<'a> = Ref<'a, QualName>;

    fn finish(self) -> Tree<Node> {
        self.dom.into_inner().tree
    }

    fn parse_error(&self, _: Cow<'static, str>) {}

    fn get_document(&self) -> NodeId {
        self.dom.borrow().tree.root().id()
    }

    fn elem_name<'a>(&'a self, target: &'a NodeId) -> Ref<'a, QualName> {
        Ref::map(self.dom.borrow(), |dom| {
            match dom.tree.get(*target).map(|node| node.value()) {
                Some(Node::Element { name, .. }) => name,
                _ => &dom.unnamed,
            }
        })
    }

    fn create_element(
        &self,
        name: QualName,
        attributes: Vec<Attribute>,
        _: ElementFlags,
    ) -> NodeId {
        self.orphan(Node::Element { name, attributes })
    }

    fn create_comment(&self, _: StrTendril) -> NodeId {
        self.orphan(Node::Other)
    }

    fn create_pi(&self, _: StrTendril, _: StrTendril) -> NodeId {
        self.orphan(Node::Other)
    }

    fn append(&self, parent: &NodeId, child: NodeOrText<NodeId>) {
        self.change(*parent, |parent| match child {
            NodeOrText::AppendNode(child) => {
                parent.append_id(child);
            }
            NodeOrText::AppendText(text) => {
                if let Some(text) = joined(parent.last_child(), text) {
                    parent.append(Node::Text(text));
                }
            }
        });
    }

    fn append_based_on_parent_node(
        &self,
        element: &NodeId,
        previous: &NodeId,
        child: NodeOrText<NodeId>,
    ) {
        let parent = |dom: &Dom| dom.tree.get(*element)?.parent().map(|parent| parent.id());
        let has_parent = parent(&self.dom.borrow()).is_some();
        if has_parent {
            self.append_before_sibling(element, child);
        } else {
            self.append(previous, child);
        }
    }

    fn append_doctype_to_document(&self, _: StrTendril, _: StrTendril, _: StrTendril) {}

    /// The content of a template is below the template, which is not read.
    fn get_template_contents(&self, target: &NodeId) -> NodeId {
        *target
    }

    fn same_node(&self, x: &NodeId, y: &NodeId) -> bool {
        x == y
    }

    fn set_quirks_mode(&self, _: QuirksMode) {}

    fn append_before_sibling(&self, sibling: &NodeId, child: NodeOrText<NodeId>) {
        self.change(*sibling, |sibling| match child {
            NodeOrText::AppendNode(child) => {
                sibling.insert_id_before(child);
            }
            NodeOrText::AppendText(text) => {
                if let Some(text) = joined(sibling.prev_sibling(), text) {
                    sibling.insert_before(Node::Text(text));
                }
            }
        });
    }

    fn add_attrs_if_missing(&self, _: &NodeId, _: Vec<Attribute>) {}

    fn remove_from_parent(&self, target: &NodeId) {
        self.change(*target, |target| target.detach());
    }

    fn reparent_children(&self, node: &NodeId, new_parent: &NodeId) {
        self.change(*new_parent, |parent| parent.reparent_from_id_append(*node));
    }
}
