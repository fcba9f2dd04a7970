//! From the tree to the text.

use ego_tree::iter::Edge;
use ego_tree::{NodeId, NodeRef, Tree};
use html5ever::{Attribute, local_name};

use super::dom::Node;
use super::role::Role;
use crate::output::{Gap, Output, title};

/// What holds inside an element, and again behind an element in it that changes it.
#[derive(Debug, Clone, Copy, Default)]
struct Context {
    preformatted: bool,
    in_item: bool,
    /// Inside a row that is a line of a table.
    in_row: bool,
}

struct Walk<'o> {
    output: &'o mut Output,
    title: Option<String>,
    context: Context,
    /// The open elements and what holds around them.
    open: Vec<(Role, Context)>,
    /// The element that is being left out.
    dropped: Option<NodeId>,
}

/// Writes the text of a tree; returns the first `title` that has text.
pub(super) fn walk(tree: &Tree<Node>, output: &mut Output) -> Option<String> {
    let mut walk = Walk {
        output,
        title: None,
        context: Context::default(),
        open: Vec::new(),
        dropped: None,
    };
    for edge in tree.root().traverse() {
        match edge {
            Edge::Open(node) if walk.dropped.is_none() => walk.enter(node),
            Edge::Close(node) => walk.leave(node),
            Edge::Open(_) => {}
        }
    }
    walk.title
}

impl Walk<'_> {
    fn enter(&mut self, node: NodeRef<'_, Node>) {
        match node.value() {
            Node::Text(text) if self.context.preformatted => self.output.preformatted(text),
            Node::Text(text) => self.output.flowing(text),
            Node::Element { name, attributes } => match Role::of(name, attributes) {
                Role::Dropped => self.dropped = Some(node.id()),
                Role::Title => {
                    self.dropped = Some(node.id());
                    self.read_title(node);
                }
                role => {
                    self.open.push((role, self.context));
                    self.begin(role, node, attributes);
                }
            },
            Node::Other => {}
        }
    }

    fn begin(&mut self, role: Role, node: NodeRef<'_, Node>, attributes: &[Attribute]) {
        match role {
            Role::Heading(level) => self.output.begin_heading(level),
            Role::LineBreak => self.output.line_break(),
            Role::Image => {
                let is_alt = |attribute: &&Attribute| attribute.name.local == local_name!("alt");
                if let Some(alt) = attributes.iter().find(is_alt) {
                    self.output.flowing(&alt.value);
                }
            }
            Role::Item => {
                self.output.begin_item("- ".to_owned());
                self.context.in_item = true;
            }
            Role::Preformatted => {
                self.output.gap(Gap::EmptyLine);
                self.context.preformatted = true;
            }
            Role::Row if is_layout(node) => {
                self.output.gap(Gap::Line);
                self.context.in_row = false;
            }
            Role::Row => {
                self.output.begin_row();
                self.context.in_row = true;
            }
            Role::Cell if self.context.in_row => self.output.begin_cell(),
            role => self.gap(role),
        }
    }

    fn leave(&mut self, node: NodeRef<'_, Node>) {
        if let Some(dropped) = self.dropped {
            self.dropped = Some(dropped).filter(|dropped| *dropped != node.id());
            return;
        }
        if !matches!(node.value(), Node::Element { .. }) {
            return;
        }
        let Some((role, outer)) = self.open.pop() else {
            return;
        };
        match role {
            Role::Heading(_) => self.output.end_heading(),
            Role::Item => self.output.end_item(),
            Role::Preformatted => self.output.gap(Gap::EmptyLine),
            Role::Row if self.context.in_row => self.output.end_row(),
            Role::Row => self.output.gap(Gap::Line),
            Role::Cell => {}
            role => self.gap(role),
        }
        self.context = outer;
    }

    fn gap(&mut self, role: Role) {
        match role {
            Role::Block | Role::Cell => self.output.gap(Gap::Line),
            Role::List if self.context.in_item => self.output.gap(Gap::Line),
            Role::Paragraph | Role::List | Role::Table => self.output.gap(Gap::EmptyLine),
            _ => {}
        }
    }

    fn read_title(&mut self, node: NodeRef<'_, Node>) {
        if self.title.is_none()
            && let Some(Node::Text(text)) = node.first_child().map(|child| child.value())
        {
            self.title = title(text);
        }
    }
}

/// Whether a row arranges parts of a page instead of being a line of a table.
///
/// It looks no further than a table within the row, whose rows are looked at by themselves.
fn is_layout(row: NodeRef<'_, Node>) -> bool {
    row.descendants().any(|node| match node.value() {
        Node::Element { name, attributes } => Role::of(name, attributes).is_layout(),
        _ => false,
    })
}
