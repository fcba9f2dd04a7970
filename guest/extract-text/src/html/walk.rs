//! From the tree to the text.

use super::role::Role;
use super::tree::{Content, Id, Tree};
use crate::output::{Gap, Output, title};
use crate::response::Response;

/// One step: into a node, or out of an element.
enum Step {
    Enter(Id),
    Leave(Role, Context),
}

/// What holds where the walk is, and again behind an element that changes it.
#[derive(Debug, Clone, Copy, Default)]
struct Context {
    preformatted: bool,
    in_item: bool,
    row: Row,
}

/// The row that is being read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Row {
    #[default]
    None,
    /// One line; whether a cell was read.
    Line { cell: bool },
    /// Each cell stands by itself.
    Layout,
}

struct Walk<'t> {
    tree: &'t Tree,
    output: Output,
    title: Option<String>,
    context: Context,
    steps: Vec<Step>,
}

/// The answer for a document.
pub(super) fn walk(tree: &Tree, max_bytes: usize) -> Response {
    let mut walk = Walk {
        tree,
        output: Output::new(max_bytes),
        title: None,
        context: Context::default(),
        steps: tree
            .first(Tree::DOCUMENT)
            .map(Step::Enter)
            .into_iter()
            .collect(),
    };
    while let Some(step) = walk.steps.pop() {
        match step {
            Step::Enter(id) => walk.enter(id),
            Step::Leave(role, outer) => walk.leave(role, outer),
        }
        if walk.output.is_full() && (walk.title.is_some() || walk.output.has_title()) {
            break;
        }
    }
    walk.output.finish(walk.title, None)
}

impl Walk<'_> {
    fn enter(&mut self, id: Id) {
        self.steps.extend(self.tree.next(id).map(Step::Enter));
        match self.tree.content(id) {
            Content::Text(text) if self.context.preformatted => self.output.preformatted(text),
            Content::Text(text) => self.output.flowing(text),
            Content::Image(alt) => self.output.flowing(alt),
            Content::Element(Role::Dropped) | Content::Other | Content::Document => {}
            Content::Element(Role::Title) => self.read_title(id),
            Content::Element(role) => {
                let outer = self.context;
                self.begin(*role, id);
                self.steps
                    .push(Step::Leave(*role, self.behind(*role, outer)));
                self.steps.extend(self.tree.first(id).map(Step::Enter));
            }
        }
    }

    /// The context behind an element: that before it, except that a row knows of its cell.
    fn behind(&self, role: Role, outer: Context) -> Context {
        match (role, outer.row) {
            (Role::Cell, Row::Line { .. }) => Context {
                row: Row::Line { cell: true },
                ..outer
            },
            _ => outer,
        }
    }

    fn begin(&mut self, role: Role, id: Id) {
        match role {
            Role::Heading(level) => self.output.begin_heading(level.into()),
            Role::LineBreak => self.output.line_break(),
            Role::Item => {
                self.output.begin_item("- ".to_owned());
                self.context.in_item = true;
            }
            Role::Preformatted => {
                self.output.gap(Gap::EmptyLine);
                self.context.preformatted = true;
            }
            Role::Row if self.is_layout(id) => {
                self.output.gap(Gap::Line);
                self.context.row = Row::Layout;
            }
            Role::Row => {
                self.output.begin_row();
                self.context.row = Row::Line { cell: false };
            }
            Role::Cell => match self.context.row {
                Row::Line { cell: true } => self.output.next_cell(),
                Row::Line { cell: false } => {}
                Row::None | Row::Layout => self.output.gap(Gap::Line),
            },
            role => self.gap(role),
        }
    }

    fn leave(&mut self, role: Role, outer: Context) {
        match role {
            Role::Heading(_) => self.output.end_heading(),
            Role::Item => self.output.end_item(),
            Role::Preformatted => self.output.gap(Gap::EmptyLine),
            Role::Row if matches!(self.context.row, Row::Line { .. }) => self.output.end_row(),
            Role::Row => self.output.gap(Gap::Line),
            role => self.gap(role),
        }
        self.context = outer;
    }

    fn gap(&mut self, role: Role) {
        match role {
            Role::Block => self.output.gap(Gap::Line),
            Role::List if self.context.in_item => self.output.gap(Gap::Line),
            Role::Paragraph | Role::List | Role::Table => self.output.gap(Gap::EmptyLine),
            _ => {}
        }
    }

    /// TS-136: the first `title` with text.
    fn read_title(&mut self, id: Id) {
        if self.title.is_none()
            && let Some(Content::Text(text)) = self.tree.first(id).map(|id| self.tree.content(id))
        {
            self.title = title(text);
        }
    }

    /// Whether a row arranges parts of a page instead of being a line of a table.
    ///
    /// It ends at a table within the row, whose rows are looked at by themselves: each node is visited once.
    fn is_layout(&self, row: Id) -> bool {
        let mut at = self.tree.first(row);
        while let Some(id) = at {
            if let Content::Element(role) = self.tree.content(id)
                && role.is_layout()
            {
                return true;
            }
            at = self.tree.first(id).or_else(|| self.after(id, row));
        }
        false
    }

    /// The node behind a node and its descendants, within `root`.
    fn after(&self, mut id: Id, root: Id) -> Option<Id> {
        while id != root {
            if let Some(next) = self.tree.next(id) {
                return Some(next);
            }
            id = self.tree.parent(id)?;
        }
        None
    }
}
