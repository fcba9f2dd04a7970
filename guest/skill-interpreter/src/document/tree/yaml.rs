//! YAML 1.2 as a tree, by granit-parser's events.
//!
//! The parser is linear, bounded and gives bytes. What it is laxer about than K-05 and K-50 is checked here: tags,
//! cycles, halves of surrogate pairs, the number of documents and nodes, and what aliases expand to.

use std::borrow::Cow;
use std::collections::BTreeMap;

use granit_parser::{ErrorKind, Event, Parser, ScalarStyle, ScanError, Span, Tag, options};

use super::{Kind, MAX_YAML_TEXT, Scalar, Stored, Text, Tree, TreeError, cut, number, scalar};
use crate::limits::{DATA_NESTING, YAML_NODES};

/// Reads one YAML document; `first_line` is the line of the whole document on which the text begins.
///
/// # Errors
///
/// See [`TreeError`].
pub fn read(source: &str, first_line: u32) -> Result<Tree<'_>, TreeError> {
    let options = options! {
        // They bound the parser's own stacks; the sum of both is counted below.
        flow_nesting_limit: DATA_NESTING.saturating_mul(2),
        block_nesting_limit: DATA_NESTING.saturating_mul(2),
    };
    let mut reader = Reader {
        source,
        lines_before: first_line.saturating_sub(1),
        nodes: Vec::new(),
        texts: Vec::new(),
        expansions: Vec::new(),
        open: Vec::new(),
        anchors: BTreeMap::new(),
        documents: 0,
        second: None,
    };
    for next in Parser::new_from_str_with_options(source, options) {
        let (event, span) = next.map_err(|error| reader.syntax(&error))?;
        reader.take(event, span)?;
    }
    Tree::new(source, reader.nodes, reader.texts, true)
}

struct Reader<'a> {
    source: &'a str,
    lines_before: u32,
    nodes: Vec<Stored>,
    texts: Vec<Box<str>>,
    /// What each node stands for with all aliases in it followed.
    expansions: Vec<Expansion>,
    /// The positions of the collections that have begun and not ended, outermost first.
    open: Vec<usize>,
    /// The parser's number of an anchor, and the node that carries it.
    anchors: BTreeMap<usize, usize>,
    documents: usize,
    /// The line on which a second document began of which nothing was seen yet.
    second: Option<u32>,
}

/// The size of a value.
#[derive(Debug, Clone, Copy)]
struct Expansion {
    /// Nodes, itself included.
    nodes: usize,
    /// Bytes of the texts of scalars.
    text: usize,
    /// Collections within each other; 0 for a scalar.
    height: usize,
}

impl Reader<'_> {
    fn take(&mut self, event: Event<'_>, span: Span) -> Result<(), TreeError> {
        match event {
            Event::DocumentStart(..) => {
                self.documents = self.documents.saturating_add(1);
                if self.documents == 2 {
                    self.second = Some(self.line(span));
                } else if self.documents > 2 {
                    let line = self.line(span);
                    return Err(TreeError::SecondDocument { line });
                }
            }
            Event::Scalar(text, style, anchor, tag) => {
                if self.is_void(style, anchor, tag.as_deref(), span) {
                    return Ok(());
                }
                self.scalar(text, style, anchor, tag.as_deref(), span)?;
            }
            Event::Alias(anchor) => self.alias(anchor, span)?,
            Event::SequenceStart(_, anchor, tag) => {
                self.begin(Kind::List, "seq", anchor, tag.as_deref(), span)?;
            }
            Event::MappingStart(_, anchor, tag) => {
                self.begin(Kind::Map, "map", anchor, tag.as_deref(), span)?;
            }
            Event::SequenceEnd | Event::MappingEnd => self.end(span)?,
            _ => {}
        }
        Ok(())
    }

    /// Whether this is all of a second document: what a `---` at the very end begins (K-49) is not one.
    fn is_void(&self, style: ScalarStyle, anchor: usize, tag: Option<&Tag>, span: Span) -> bool {
        let absent = style == ScalarStyle::Plain && span.is_empty();
        self.second.is_some() && absent && anchor == 0 && tag.is_none()
    }

    fn scalar(
        &mut self,
        text: Cow<'_, str>,
        style: ScalarStyle,
        anchor: usize,
        tag: Option<&Tag>,
        span: Span,
    ) -> Result<(), TreeError> {
        // The parser writes `~` for a node that is not there.
        let absent = style == ScalarStyle::Plain && span.is_empty();
        let text = if absent { Cow::Borrowed("") } else { text };
        if style == ScalarStyle::DoubleQuoted {
            self.refuse_surrogates(span)?;
        }
        let kind = match tag {
            Some(tag) => scalar::tagged(tag, &text, self.source, span)
                .ok_or_else(|| self.misfit(tag, span))?,
            None if style == ScalarStyle::Plain => scalar::plain(&text),
            None => Scalar::Text,
        };
        let expansion = Expansion {
            nodes: 1,
            text: text.len(),
            height: 0,
        };
        let blank_lines = match style {
            // The parser begins a block scalar with the first line that is not blank.
            ScalarStyle::Literal | ScalarStyle::Folded => {
                text.bytes().take_while(|byte| *byte == b'\n').count()
            }
            _ => 0,
        };
        let text = self.keep(text, span);
        self.leaf(Kind::Scalar(kind, text), expansion, anchor, span)?;
        if let Some(node) = self.nodes.last_mut() {
            node.line = node.line.saturating_sub(number(blank_lines));
        }
        Ok(())
    }

    /// A text, by its place in the source where it stands there as it is.
    fn keep(&mut self, text: Cow<'_, str>, span: Span) -> Text {
        let start = span.byte_range().map_or(0, |range| range.start);
        // A quoted text stands behind its quote.
        for start in [start, start.saturating_add(1)] {
            let end = start.saturating_add(text.len());
            if self.source.get(start..end) == Some(&*text) {
                return Text::Source {
                    start: number(start),
                    end: number(end),
                };
            }
        }
        self.texts.push(text.into_owned().into_boxed_str());
        Text::Own(number(self.texts.len().saturating_sub(1)))
    }

    /// The parser reads `\uD834\uDD1E` as one character, as JSON does; neither half is a character of YAML.
    fn refuse_surrogates(&self, span: Span) -> Result<(), TreeError> {
        let mut rest = span.slice(self.source).unwrap_or_default();
        while let Some((_, escape)) = rest.split_once('\\') {
            let digits = escape.strip_prefix('u').and_then(|digits| digits.get(..4));
            let code = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok());
            if code.is_some_and(|code| char::from_u32(code).is_none()) {
                return Err(TreeError::Syntax {
                    language: "YAML",
                    reason: "an escape in a string is no character".to_owned(),
                    line: self.line(span),
                });
            }
            let mut characters = escape.chars();
            characters.next();
            rest = characters.as_str();
        }
        Ok(())
    }

    fn alias(&mut self, anchor: usize, span: Span) -> Result<(), TreeError> {
        let line = self.line(span);
        let target = self.anchors.get(&anchor).copied();
        let target = target.ok_or_else(|| TreeError::Syntax {
            language: "YAML",
            reason: "an alias names nothing".to_owned(),
            line,
        })?;
        // A node that is still open contains this alias.
        if self.open.contains(&target) {
            return Err(TreeError::Cycle { line });
        }
        let expansion = self.expansions.get(target).copied().unwrap_or(Expansion {
            nodes: 1,
            text: 0,
            height: 0,
        });
        self.leaf(Kind::Alias(number(target)), expansion, 0, span)
    }

    /// Adds a node without children.
    fn leaf(
        &mut self,
        kind: Kind,
        expansion: Expansion,
        anchor: usize,
        span: Span,
    ) -> Result<(), TreeError> {
        // K-05: an alias may nest deeper than what is written.
        let height = self.open.len().saturating_add(expansion.height);
        if height > DATA_NESTING {
            return Err(self.too_deep(span));
        }
        self.push(kind, expansion, anchor, span)?;
        self.add_to_parent(expansion, span)
    }

    fn begin(
        &mut self,
        kind: Kind,
        name: &str,
        anchor: usize,
        tag: Option<&Tag>,
        span: Span,
    ) -> Result<(), TreeError> {
        if let Some(tag) = tag
            && !scalar::fits_collection(tag, name, self.source, span)
        {
            return Err(self.misfit(tag, span));
        }
        if self.open.len() >= DATA_NESTING {
            return Err(self.too_deep(span));
        }
        let expansion = Expansion {
            nodes: 1,
            text: 0,
            height: 1,
        };
        let position = self.push(kind, expansion, anchor, span)?;
        self.open.push(position);
        Ok(())
    }

    fn end(&mut self, span: Span) -> Result<(), TreeError> {
        let Some(position) = self.open.pop() else {
            return Ok(());
        };
        let next = number(self.nodes.len());
        if let Some(node) = self.nodes.get_mut(position) {
            node.next = next;
        }
        match self.expansions.get(position).copied() {
            Some(expansion) => self.add_to_parent(expansion, span),
            None => Ok(()),
        }
    }

    fn push(
        &mut self,
        kind: Kind,
        expansion: Expansion,
        anchor: usize,
        span: Span,
    ) -> Result<usize, TreeError> {
        // K-50: a second document has content.
        if let Some(line) = self.second {
            return Err(TreeError::SecondDocument { line });
        }
        let position = self.nodes.len();
        if position >= self.most_nodes() {
            return Err(self.too_many_nodes(span));
        }
        self.nodes.push(Stored {
            kind,
            line: self.line(span),
            next: number(position.saturating_add(1)),
        });
        self.expansions.push(expansion);
        if anchor != 0 {
            // An anchor may be set again; the parser numbers each setting.
            self.anchors.insert(anchor, position);
        }
        Ok(position)
    }

    /// K-05: what a child expands to counts for its parent.
    fn add_to_parent(&mut self, child: Expansion, span: Span) -> Result<(), TreeError> {
        let parent = self.open.last().copied();
        let Some(parent) = parent.and_then(|parent| self.expansions.get_mut(parent)) else {
            return Ok(());
        };
        parent.nodes = parent.nodes.saturating_add(child.nodes);
        parent.text = parent.text.saturating_add(child.text);
        parent.height = parent.height.max(child.height.saturating_add(1));
        let Expansion { nodes, text, .. } = *parent;
        if nodes > self.most_nodes() {
            return Err(self.too_many_nodes(span));
        }
        if text > MAX_YAML_TEXT.max(self.source.len().saturating_mul(2)) {
            return Err(TreeError::Limit {
                what: "bytes of text with aliases followed",
                most: MAX_YAML_TEXT,
                line: self.line(span),
            });
        }
        Ok(())
    }

    /// How many nodes there may be with aliases followed: a long text has many without any alias.
    fn most_nodes(&self) -> usize {
        YAML_NODES.max(self.source.len() / 8)
    }

    fn line(&self, span: Span) -> u32 {
        number(span.start.line()).saturating_add(self.lines_before)
    }

    fn syntax(&self, error: &ScanError) -> TreeError {
        let line = number(error.marker().line()).saturating_add(self.lines_before);
        if *error.kind() == ErrorKind::RecursionLimitExceeded {
            return TreeError::Limit {
                what: "lists and maps within each other",
                most: DATA_NESTING,
                line,
            };
        }
        TreeError::Syntax {
            language: "YAML",
            reason: format!(
                "{} (column {})",
                cut(&error.kind().to_string()),
                error.marker().col().saturating_add(1)
            ),
            line,
        }
    }

    fn misfit(&self, tag: &Tag, span: Span) -> TreeError {
        TreeError::Tag {
            tag: cut(&tag.original()),
            line: self.line(span),
        }
    }

    fn too_deep(&self, span: Span) -> TreeError {
        TreeError::Limit {
            what: "lists and maps within each other",
            most: DATA_NESTING,
            line: self.line(span),
        }
    }

    fn too_many_nodes(&self, span: Span) -> TreeError {
        TreeError::Limit {
            what: "YAML nodes with aliases followed",
            most: self.most_nodes(),
            line: self.line(span),
        }
    }
}
