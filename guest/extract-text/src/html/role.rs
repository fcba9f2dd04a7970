//! What an element means for the text.

use html5ever::{Attribute, QualName, local_name, ns};

/// What is done with an element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// Its content is read as if it were not there.
    Inline,
    /// Its content is left out.
    Dropped,
    /// `title` of the document.
    Title,
    /// It begins and ends a line.
    Block,
    /// It stands apart by an empty line.
    Paragraph,
    /// A list: apart by an empty line unless it is inside an item.
    List,
    /// `li`
    Item,
    /// `h1` to `h6`.
    Heading(u32),
    /// `pre` and what is like it.
    Preformatted,
    /// `br`
    LineBreak,
    /// `img`
    Image,
    /// `table`
    Table,
    /// `tr`
    Row,
    /// `td`, `th`
    Cell,
}

impl Role {
    /// The role of an element.
    pub(super) fn of(name: &QualName, attributes: &[Attribute]) -> Self {
        let is_hidden = |attribute: &Attribute| attribute.name.local == local_name!("hidden");
        if name.ns == ns!(svg) || attributes.iter().any(is_hidden) {
            return Self::Dropped;
        }
        if name.ns != ns!(html) {
            return Self::Inline;
        }
        match &*name.local {
            "script" | "style" | "noscript" | "template" | "iframe" | "object" => Self::Dropped,
            "title" => Self::Title,
            "h1" => Self::Heading(1),
            "h2" => Self::Heading(2),
            "h3" => Self::Heading(3),
            "h4" => Self::Heading(4),
            "h5" => Self::Heading(5),
            "h6" => Self::Heading(6),
            "p" | "blockquote" | "figure" | "hr" | "dl" => Self::Paragraph,
            "ul" | "ol" | "menu" | "dir" => Self::List,
            "li" => Self::Item,
            "pre" | "listing" | "xmp" | "plaintext" | "textarea" => Self::Preformatted,
            "br" => Self::LineBreak,
            "img" => Self::Image,
            "table" => Self::Table,
            "tr" => Self::Row,
            "td" | "th" => Self::Cell,
            "address" | "article" | "aside" | "body" | "caption" | "center" | "dd" | "details"
            | "dialog" | "div" | "dt" | "fieldset" | "figcaption" | "footer" | "form"
            | "frameset" | "header" | "hgroup" | "html" | "legend" | "main" | "nav"
            | "optgroup" | "option" | "search" | "section" | "summary" | "tbody" | "tfoot"
            | "thead" => Self::Block,
            _ => Self::Inline,
        }
    }

    /// Whether a row that holds it arranges parts of a page instead of being a line of a table.
    pub(super) fn is_layout(self) -> bool {
        matches!(
            self,
            Self::Heading(_) | Self::Table | Self::List | Self::Preformatted
        )
    }
}
