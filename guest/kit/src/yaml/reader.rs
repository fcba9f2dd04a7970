//! YAML 1.2 as a tree, by granit-parser's events.

use std::borrow::Cow;
use std::collections::BTreeMap;

use granit_parser::{
    ErrorKind, Event, Parser, ScalarStyle, ScanError, Span, StructureStyle, Tag, options,
};

use super::{
    Error, Index, Kind, MAX_DEPTH, MAX_NODES, MAX_TEXT, Scalar, Style, Text, Tree, cut, front,
    number, scalar,
};

/// What is taken for YAML.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dialect {
    /// YAML 1.2 to the letter, without directives. `<<` is a key like any other, a list may be a key, and what aliases
    /// expand to is for the caller to bound.
    FrontMatter,
    /// What people write: lines of flow collections may lack their indentation, and `<<` merges maps as in YAML 1.1.
    Lenient,
}

/// Reads one YAML document; `first_line` is the line of the whole document on which the text begins.
pub(super) fn read(source: &str, first_line: u32, dialect: Dialect) -> Result<Tree<'_>, Error> {
    let is_lenient = dialect == Dialect::Lenient;
    let (depth, nodes) = match dialect {
        Dialect::FrontMatter => (front::MAX_DEPTH, MAX_NODES),
        Dialect::Lenient => (MAX_DEPTH, MAX_NODES.max(source.len() / 8)),
    };
    let options = options! {
        strict_indentation: !is_lenient,
        disallow_directives: !is_lenient,
        // Where an anchored node begins, its anchor included.
        emit_anchor_events: true,
        // They bound the parser's own stacks; the sum of both is counted below.
        flow_nesting_limit: depth.saturating_mul(2),
        block_nesting_limit: depth.saturating_mul(2),
    };
    let mut reader = Reader {
        tree: Tree::new(source),
        is_lenient,
        depth,
        nodes,
        lines_before: first_line.saturating_sub(1),
        open: Vec::new(),
        anchors: BTreeMap::new(),
        documents: 0,
        second: None,
    };
    for next in Parser::new_from_str_with_options(source, options) {
        let (event, span) = next.map_err(|error| reader.scan_error(&error))?;
        reader.take(event, span)?;
    }
    let mut tree = reader.tree;
    tree.merges = is_lenient;
    tree.index = Index::new(&tree, is_lenient)?;
    Ok(tree)
}

struct Reader<'a> {
    tree: Tree<'a>,
    is_lenient: bool,
    /// Lists and maps within each other at most.
    depth: usize,
    /// Nodes at most.
    nodes: usize,
    lines_before: u32,
    /// The positions of the collections that have begun and not ended, outermost first.
    open: Vec<usize>,
    /// The parser's number of an anchor, and the node that carries it. An anchor may be set again; the parser numbers each
    /// setting.
    anchors: BTreeMap<usize, usize>,
    documents: usize,
    /// The line on which a second document began of which nothing was seen yet.
    second: Option<u32>,
}

/// How far a value reaches: in the source, and with all aliases in it followed.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Extent {
    /// The byte at which it begins, its tag and anchor included.
    pub(super) start: u32,
    /// The byte after its last token, its tag and anchor being tokens; 0 for a value without any.
    pub(super) end: u32,
    /// Nodes, itself included.
    pub(super) nodes: usize,
    /// Bytes of the texts of scalars.
    text: usize,
    /// Collections within each other; 0 for a scalar.
    pub(super) height: usize,
}

impl<'a> Reader<'a> {
    fn take(&mut self, event: Event<'a>, span: Span) -> Result<(), Error> {
        match event {
            Event::DocumentStart(..) => {
                self.documents = self.documents.saturating_add(1);
                if self.documents == 2 {
                    self.second = Some(self.line(span));
                } else if self.documents > 2 {
                    let line = self.line(span);
                    return Err(Error::SecondDocument { line });
                }
            }
            Event::Scalar(text, style, anchor, tag) => {
                self.scalar(text, style, anchor, tag.as_deref(), span)?;
            }
            Event::Alias(anchor) => self.alias(anchor, span)?,
            Event::SequenceStart(style, anchor, tag) => {
                self.begin(Kind::List, style, anchor, tag.as_deref(), span)?;
            }
            Event::MappingStart(style, anchor, tag) => {
                self.begin(Kind::Map, style, anchor, tag.as_deref(), span)?;
            }
            Event::SequenceEnd | Event::MappingEnd => self.end(span)?,
            Event::Anchor(..) => self.anchor(span),
            _ => {}
        }
        Ok(())
    }

    fn scalar(
        &mut self,
        text: Cow<'a, str>,
        style: ScalarStyle,
        anchor: usize,
        tag: Option<&Tag>,
        span: Span,
    ) -> Result<(), Error> {
        // The parser writes `~` for a node that is not there.
        let absent = style == ScalarStyle::Plain && span.is_empty();
        let text = if absent { Cow::Borrowed("") } else { text };
        // What a `---` at the very end begins is no second document.
        if self.second.is_some() && absent && anchor == 0 && tag.is_none() {
            return Ok(());
        }
        if style == ScalarStyle::DoubleQuoted {
            self.refuse_surrogates(span)?;
        }
        let kind = match tag {
            Some(tag) => scalar::tagged(tag, &text, self.tree.source, span)
                .ok_or_else(|| self.misfit(tag, span))?,
            None if style == ScalarStyle::Plain => scalar::plain(&text),
            None => Scalar::Text,
        };
        let blank_lines = match style {
            // The parser begins a block scalar with the first line that is not blank.
            ScalarStyle::Literal | ScalarStyle::Folded => {
                text.bytes().take_while(|byte| *byte == b'\n').count()
            }
            _ => 0,
        };
        let size = Extent {
            nodes: 1,
            text: text.len(),
            ..Extent::default()
        };
        let text = self.keep(text, span);
        let line = self.line(span).saturating_sub(number(blank_lines));
        self.leaf((Kind::Scalar(kind, text), line), size, anchor, span)
    }

    /// A text, by its place in the source where it stands there as it is.
    fn keep(&mut self, text: Cow<'_, str>, span: Span) -> Text {
        let start = span.byte_range().map_or(0, |range| range.start);
        // A quoted text stands behind its quote.
        for start in [start, start.saturating_add(1)] {
            let end = start.saturating_add(text.len());
            if self.tree.source.get(start..end) == Some(&*text) {
                return Text::Source {
                    start: number(start),
                    end: number(end),
                };
            }
        }
        self.tree.keep(text.into_owned().into_boxed_str())
    }

    /// The parser reads `\uD834\uDD1E` as one character, as JSON does; neither half is a character of YAML.
    fn refuse_surrogates(&self, span: Span) -> Result<(), Error> {
        let mut rest = span.slice(self.tree.source).unwrap_or_default();
        while let Some((_, escape)) = rest.split_once('\\') {
            let digits = escape.strip_prefix('u').and_then(|digits| digits.get(..4));
            let code = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok());
            if code.is_some_and(|code| char::from_u32(code).is_none()) {
                return Err(self.syntax("an escape in a string is no character", span));
            }
            let mut characters = escape.chars();
            characters.next();
            rest = characters.as_str();
        }
        Ok(())
    }

    fn alias(&mut self, anchor: usize, span: Span) -> Result<(), Error> {
        let line = self.line(span);
        let target = self.anchors.get(&anchor).copied();
        let target = target.ok_or_else(|| self.syntax("an alias names nothing", span))?;
        // A node that is still open contains this alias.
        if self.open.contains(&target) {
            return Err(Error::Cycle { line });
        }
        let size = self.tree.extents.get(target).copied().unwrap_or_default();
        self.leaf((Kind::Alias(number(target)), line), size, 0, span)
    }

    /// Adds a node without children.
    fn leaf(
        &mut self,
        node: (Kind, u32),
        size: Extent,
        anchor: usize,
        span: Span,
    ) -> Result<(), Error> {
        let position = self.push(node, size, anchor, span)?;
        self.add_to_parent(position)
    }

    fn begin(
        &mut self,
        kind: Kind,
        style: StructureStyle,
        anchor: usize,
        tag: Option<&Tag>,
        span: Span,
    ) -> Result<(), Error> {
        let name = if kind == Kind::Map { "map" } else { "seq" };
        if let Some(tag) = tag
            && !scalar::fits_collection(tag, name, self.tree.source, span)
        {
            return Err(self.misfit(tag, span));
        }
        if self.open.len() >= self.depth {
            return Err(Error::too_deep(self.depth, self.line(span)));
        }
        if self.tree.nodes.is_empty() {
            self.root(kind, style, span)?;
        }
        let size = Extent {
            nodes: 1,
            height: 1,
            ..Extent::default()
        };
        let position = self.push((kind, self.line(span)), size, anchor, span)?;
        self.open.push(position);
        Ok(())
    }

    /// A collection that is the whole document.
    fn root(&mut self, kind: Kind, style: StructureStyle, span: Span) -> Result<(), Error> {
        let column = span.start.col();
        if style == StructureStyle::Block && !self.is_lenient {
            // The parser takes a tab before the first block collection for separation; it is indentation.
            let start = span.byte_range().unwrap_or_default().start;
            let before = self.tree.source.get(..start).unwrap_or_default();
            let line = before.rsplit(['\n', '\r']).next().unwrap_or_default();
            if line.contains('\t') {
                return Err(self.syntax("a tab is no indentation", span));
            }
        }
        self.tree.style = (kind == Kind::Map).then_some(match style {
            StructureStyle::Block => Style::Block { column },
            StructureStyle::Flow => Style::Flow,
        });
        Ok(())
    }

    fn end(&mut self, span: Span) -> Result<(), Error> {
        let Some(position) = self.open.pop() else {
            return Ok(());
        };
        self.tree.end(position);
        // A flow collection ends with its bracket; a block collection with its last child.
        if !span.is_empty()
            && let Some(extent) = self.tree.extents.get_mut(position)
        {
            extent.end = extent.end.max(bytes(span).1);
        }
        self.add_to_parent(position)
    }

    fn push(
        &mut self,
        (kind, line): (Kind, u32),
        size: Extent,
        anchor: usize,
        span: Span,
    ) -> Result<usize, Error> {
        if let Some(line) = self.second {
            return Err(Error::SecondDocument { line });
        }
        let position = self.tree.nodes.len();
        if position >= self.nodes {
            return Err(Error::too_many_nodes(self.nodes, line));
        }
        let (mut start, mut end) = bytes(span);
        if span.is_empty() {
            // Of a node that is not there the parser tells where it noticed, which may be after comments.
            end = 0;
        }
        if let Some(tag) = span.tag_span() {
            let tag = bytes(tag);
            (start, end) = (start.min(tag.0), end.max(tag.1));
        }
        self.tree.push(kind, line);
        self.tree.extents.push(Extent { start, end, ..size });
        if anchor != 0 {
            self.anchors.insert(anchor, position);
        }
        Ok(position)
    }

    /// An anchor, which follows the node that carries it.
    fn anchor(&mut self, span: Span) {
        let (start, end) = bytes(span);
        if let Some(extent) = self.tree.extents.last_mut() {
            extent.start = extent.start.min(start);
            extent.end = extent.end.max(end);
        }
        let parent = self.open.last().copied();
        if let Some(parent) = parent.and_then(|parent| self.tree.extents.get_mut(parent)) {
            parent.end = parent.end.max(end);
        }
    }

    /// What a child reaches to counts for its parent.
    fn add_to_parent(&mut self, child: usize) -> Result<(), Error> {
        let line = self.tree.line(number(child));
        let child = self.tree.extents.get(child).copied().unwrap_or_default();
        // An alias may nest deeper than what is written.
        if self.is_lenient && self.open.len().saturating_add(child.height) > self.depth {
            return Err(Error::too_deep(self.depth, line));
        }
        let parent = self.open.last().copied();
        let Some(parent) = parent.and_then(|parent| self.tree.extents.get_mut(parent)) else {
            return Ok(());
        };
        parent.end = parent.end.max(child.end);
        parent.nodes = parent.nodes.saturating_add(child.nodes);
        parent.text = parent.text.saturating_add(child.text);
        parent.height = parent.height.max(child.height.saturating_add(1));
        if self.is_lenient && parent.nodes > self.nodes {
            return Err(Error::too_many_nodes(self.nodes, line));
        }
        let most = MAX_TEXT.max(self.tree.source.len().saturating_mul(2));
        if self.is_lenient && parent.text > most {
            return Err(Error::Limit {
                what: "bytes of text with aliases followed",
                most,
                line,
            });
        }
        Ok(())
    }

    fn line(&self, span: Span) -> u32 {
        number(span.start.line()).saturating_add(self.lines_before)
    }

    fn scan_error(&self, error: &ScanError) -> Error {
        let line = number(error.marker().line()).saturating_add(self.lines_before);
        if *error.kind() == ErrorKind::RecursionLimitExceeded {
            return Error::too_deep(self.depth, line);
        }
        let what = cut(&error.kind().to_string());
        let column = error.marker().col().saturating_add(1);
        Error::Syntax {
            language: "YAML",
            reason: format!("{what} (column {column})"),
            line,
        }
    }

    fn syntax(&self, reason: &str, span: Span) -> Error {
        Error::Syntax {
            language: "YAML",
            reason: reason.to_owned(),
            line: self.line(span),
        }
    }

    fn misfit(&self, tag: &Tag, span: Span) -> Error {
        Error::Tag {
            tag: cut(&tag.original()),
            line: self.line(span),
        }
    }
}

/// The bytes a span covers; the parser always knows them for a string.
fn bytes(span: Span) -> (u32, u32) {
    let range = span.byte_range().unwrap_or_default();
    (number(range.start), number(range.end))
}
