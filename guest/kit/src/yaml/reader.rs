//! From the parser's events to nodes.

use std::{borrow::Cow, collections::BTreeMap};

use granit_parser::{
    Event, Marker, Parser, ScalarStyle, ScanError, Span, StructureStyle, Tag, options,
};

use super::{
    MAX_DEPTH, MAX_NODES, YamlError, tag,
    tree::{Kind, Node, Style, Yaml},
};

/// Reads one document.
pub(super) fn read(text: &str) -> Result<Yaml<'_>, YamlError> {
    let options = options! {
        // Y-09: lines of flow collections and scalars that are not indented are no YAML 1.2.
        strict_indentation: true,
        // Y-01
        disallow_directives: true,
        // Where an anchored node begins, its anchor included.
        emit_anchor_events: true,
        // Y-11: bounds the parser's own stacks; the sum of both is counted below.
        flow_nesting_limit: MAX_DEPTH,
        block_nesting_limit: MAX_DEPTH,
    };
    let mut reader = Reader::new(text);
    for next in Parser::new_from_str_with_options(text, options) {
        let (event, span) = next.map_err(|error| syntax(&error))?;
        reader.take(event, span)?;
    }
    reader.finish()
}

fn syntax(error: &ScanError) -> YamlError {
    at(error.marker())
}

fn at(marker: &Marker) -> YamlError {
    YamlError::Syntax {
        line: marker.line(),
        column: marker.col().saturating_add(1),
    }
}

struct Reader<'a> {
    text: &'a str,
    nodes: Vec<Node<'a>>,
    /// The collections that have begun and not ended, outermost first.
    open: Vec<usize>,
    /// The parser's number of an anchor, and the node that carries it.
    anchors: BTreeMap<usize, usize>,
    documents: usize,
}

impl<'a> Reader<'a> {
    fn new(text: &'a str) -> Self {
        Self {
            text,
            nodes: Vec::new(),
            open: Vec::new(),
            anchors: BTreeMap::new(),
            documents: 0,
        }
    }

    fn take(&mut self, event: Event<'a>, span: Span) -> Result<(), YamlError> {
        match event {
            Event::DocumentStart(..) => {
                self.documents = self.documents.saturating_add(1);
                if self.documents > 1 {
                    return Err(YamlError::SecondDocument);
                }
            }
            Event::Scalar(text, style, anchor, tag) => {
                let kind = self.scalar(text, style, tag.as_deref(), span)?;
                self.leaf(kind, 1, 0, anchor, span)?;
            }
            Event::Alias(anchor) => self.alias(anchor, span)?,
            Event::SequenceStart(style, anchor, tag) => {
                tag::check_collection(tag.as_deref(), "seq", self.text, span)?;
                self.refuse_tab_before(style, span)?;
                self.begin(Kind::Sequence, anchor, span)?;
            }
            Event::MappingStart(style, anchor, tag) => {
                tag::check_collection(tag.as_deref(), "map", self.text, span)?;
                self.refuse_tab_before(style, span)?;
                let style = match style {
                    StructureStyle::Block => Style::Block {
                        column: span.start.col(),
                    },
                    StructureStyle::Flow => Style::Flow,
                };
                self.begin(Kind::Mapping(style), anchor, span)?;
            }
            Event::SequenceEnd | Event::MappingEnd => self.end(span),
            Event::Anchor(..) => self.anchor(span),
            _ => {}
        }
        Ok(())
    }

    fn scalar(
        &self,
        text: Cow<'a, str>,
        style: ScalarStyle,
        tag: Option<&Tag>,
        span: Span,
    ) -> Result<Kind<'a>, YamlError> {
        let plain = style == ScalarStyle::Plain;
        // The parser writes `~` for a node that is not there.
        let text = if plain && span.is_empty() {
            Cow::Borrowed("")
        } else {
            text
        };
        if style == ScalarStyle::DoubleQuoted {
            self.refuse_surrogates(span)?;
        }
        let null = tag::scalar_is_null(tag, &text, plain, self.text, span)?;
        Ok(Kind::Scalar { text, null })
    }

    /// Y-08: the parser reads `\uD834\uDD1E` as one character, as JSON does; neither half is a scalar value.
    fn refuse_surrogates(&self, span: Span) -> Result<(), YamlError> {
        let mut rest = span.slice(self.text).unwrap_or_default();
        while let Some((_, escape)) = rest.split_once('\\') {
            let digits = escape.strip_prefix('u').and_then(|digits| digits.get(..4));
            let code = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok());
            if code.is_some_and(|code| char::from_u32(code).is_none()) {
                return Err(at(&span.start));
            }
            let mut characters = escape.chars();
            characters.next();
            rest = characters.as_str();
        }
        Ok(())
    }

    /// Y-32: the parser takes a tab before the first block collection for separation; it is indentation.
    fn refuse_tab_before(&self, style: StructureStyle, span: Span) -> Result<(), YamlError> {
        // The root alone: what comes before it is looked at once.
        if style != StructureStyle::Block || !self.nodes.is_empty() {
            return Ok(());
        }
        let before = self.text.get(..offset(span).0).unwrap_or_default();
        let line = before.rsplit(['\n', '\r']).next().unwrap_or_default();
        if line.contains('\t') {
            return Err(at(&span.start));
        }
        Ok(())
    }

    /// An anchor, which follows the node that carries it.
    fn anchor(&mut self, span: Span) {
        let (start, end) = offset(span);
        if let Some(node) = self.nodes.last_mut() {
            node.start = node.start.min(start);
            node.end = node.end.max(end);
        }
        if let Some(parent) = self.open.last().and_then(|open| self.nodes.get_mut(*open)) {
            parent.end = parent.end.max(end);
        }
    }

    fn alias(&mut self, anchor: usize, span: Span) -> Result<(), YamlError> {
        let target = self.anchors.get(&anchor).copied();
        let target = target.ok_or_else(|| at(&span.start))?;
        // Y-06: a node that is still open contains this alias.
        if self.open.contains(&target) {
            return Err(YamlError::Cycle);
        }
        let (size, height) = self
            .nodes
            .get(target)
            .map_or((1, 0), |node| (node.size, node.height));
        self.leaf(Kind::Alias(target), size, height, 0, span)
    }

    /// Adds a node without children.
    fn leaf(
        &mut self,
        kind: Kind<'a>,
        size: usize,
        height: usize,
        anchor: usize,
        span: Span,
    ) -> Result<(), YamlError> {
        self.push(kind, size, height, anchor, span)?;
        self.close_into_parent();
        Ok(())
    }

    fn begin(&mut self, kind: Kind<'a>, anchor: usize, span: Span) -> Result<(), YamlError> {
        if self.open.len() >= MAX_DEPTH {
            return Err(YamlError::TooDeep);
        }
        let position = self.push(kind, 1, 1, anchor, span)?;
        self.open.push(position);
        Ok(())
    }

    fn end(&mut self, span: Span) {
        let Some(position) = self.open.pop() else {
            return;
        };
        let next = self.nodes.len();
        if let Some(node) = self.nodes.get_mut(position) {
            node.next = next;
            // A flow collection ends with its bracket; a block collection with its last child.
            if !span.is_empty() {
                node.end = node.end.max(offset(span).1);
            }
        }
        self.add_to_parent(position);
    }

    fn push(
        &mut self,
        kind: Kind<'a>,
        size: usize,
        height: usize,
        anchor: usize,
        span: Span,
    ) -> Result<usize, YamlError> {
        // Y-10: every node of the source counts, an alias as one.
        if self.nodes.len() >= MAX_NODES {
            return Err(YamlError::TooManyNodes);
        }
        let position = self.nodes.len();
        let (mut start, mut end) = offset(span);
        if span.is_empty() {
            // Of a node that is not there the parser tells where it noticed, which may be after comments.
            end = 0;
        }
        if let Some(tag) = span.tag_span() {
            let (tag_start, tag_end) = offset(tag);
            start = start.min(tag_start);
            end = end.max(tag_end);
        }
        self.nodes.push(Node {
            kind,
            start,
            end,
            next: position.saturating_add(1),
            size,
            height,
        });
        if anchor != 0 {
            // Y-06: an anchor may be set again; the parser numbers each setting.
            self.anchors.insert(anchor, position);
        }
        Ok(position)
    }

    fn close_into_parent(&mut self) {
        if let Some(position) = self.nodes.len().checked_sub(1) {
            self.add_to_parent(position);
        }
    }

    fn add_to_parent(&mut self, child: usize) {
        let Some(&Node {
            end, size, height, ..
        }) = self.nodes.get(child)
        else {
            return;
        };
        let parent = self.open.last().and_then(|open| self.nodes.get_mut(*open));
        if let Some(parent) = parent {
            parent.end = parent.end.max(end);
            parent.size = parent.size.saturating_add(size);
            parent.height = parent.height.max(height.saturating_add(1));
        }
    }

    fn finish(self) -> Result<Yaml<'a>, YamlError> {
        let root = match self.nodes.first().map(|node| &node.kind) {
            None | Some(Kind::Scalar { null: true, .. }) => None,
            Some(Kind::Mapping(_)) => Some(0),
            // H-24
            Some(_) => return Err(YamlError::RootIsNoMapping),
        };
        Ok(Yaml {
            nodes: self.nodes,
            root,
        })
    }
}

/// The bytes a span covers; the parser always knows them for a string.
fn offset(span: Span) -> (usize, usize) {
    let range = span.byte_range().unwrap_or_default();
    (range.start, range.end)
}
