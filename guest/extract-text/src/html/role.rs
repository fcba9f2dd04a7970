//! What an element means for the text (TS-135).

use html5ever::{LocalName, Namespace, local_name, ns};

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
    Heading(u8),
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
    /// The role of an element of a namespace.
    pub(super) fn of(namespace: &Namespace, name: &LocalName) -> Self {
        if *namespace == ns!(svg) {
            return Self::Dropped;
        }
        if *namespace != ns!(html) {
            return Self::Inline;
        }
        match *name {
            local_name!("script")
            | local_name!("style")
            | local_name!("noscript")
            | local_name!("template")
            | local_name!("iframe")
            | local_name!("object") => Self::Dropped,
            local_name!("title") => Self::Title,
            local_name!("h1") => Self::Heading(1),
            local_name!("h2") => Self::Heading(2),
            local_name!("h3") => Self::Heading(3),
            local_name!("h4") => Self::Heading(4),
            local_name!("h5") => Self::Heading(5),
            local_name!("h6") => Self::Heading(6),
            local_name!("p")
            | local_name!("blockquote")
            | local_name!("figure")
            | local_name!("hr")
            | local_name!("dl") => Self::Paragraph,
            local_name!("ul") | local_name!("ol") | local_name!("menu") | local_name!("dir") => {
                Self::List
            }
            local_name!("li") => Self::Item,
            local_name!("pre")
            | local_name!("listing")
            | local_name!("xmp")
            | local_name!("plaintext")
            | local_name!("textarea") => Self::Preformatted,
            local_name!("br") => Self::LineBreak,
            local_name!("img") => Self::Image,
            local_name!("table") => Self::Table,
            local_name!("tr") => Self::Row,
            local_name!("td") | local_name!("th") => Self::Cell,
            _ if is_block(name) => Self::Block,
            _ => Self::Inline,
        }
    }

    /// Whether a row that holds it is a layout and not a line of a table.
    pub(super) fn is_layout(self) -> bool {
        matches!(
            self,
            Self::Heading(_) | Self::Table | Self::List | Self::Preformatted
        )
    }
}

fn is_block(name: &LocalName) -> bool {
    matches!(
        *name,
        local_name!("address")
            | local_name!("article")
            | local_name!("aside")
            | local_name!("body")
            | local_name!("caption")
            | local_name!("center")
            | local_name!("dd")
            | local_name!("details")
            | local_name!("dialog")
            | local_name!("div")
            | local_name!("dt")
            | local_name!("fieldset")
            | local_name!("figcaption")
            | local_name!("footer")
            | local_name!("form")
            | local_name!("frameset")
            | local_name!("header")
            | local_name!("hgroup")
            | local_name!("html")
            | local_name!("legend")
            | local_name!("main")
            | local_name!("nav")
            | local_name!("optgroup")
            | local_name!("option")
            | local_name!("search")
            | local_name!("section")
            | local_name!("summary")
            | local_name!("tbody")
            | local_name!("tfoot")
            | local_name!("thead")
    )
}
