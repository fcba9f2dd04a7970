//! Parsing as the WHATWG parser does, in time about linear in the input.
//!
//! html5ever itself is quadratic in three places: it compares each attribute of a tag with all before it, walks
//! the stack of open elements for many tags, and compares the attributes of formatting elements. So a tag has a
//! bound of attributes, the tree has bounds of depth and nodes, and attributes that neither the tree builder nor
//! the text needs are dropped before they reach it.

use std::cell::Cell;

use html5ever::TokenizerResult;
use html5ever::buffer_queue::BufferQueue;
use html5ever::interface::TreeSink;
use html5ever::tendril::StrTendril;
use html5ever::tokenizer::{Token, TokenSink, TokenSinkResult, Tokenizer};
use html5ever::tree_builder::TreeBuilder;
use html5ever::{Attribute, local_name};

use super::sink::{Handle, Sink};
use super::tree::Tree;
use super::{Bound, MAX_ATTRIBUTES};

/// Bytes that are parsed between two looks at the bounds.
const CHUNK: usize = 4_096;

/// Stands between tokenizer and tree builder.
struct Guard {
    builder: TreeBuilder<Handle, Sink>,
    tokens: Cell<u64>,
}

impl TokenSink for Guard {
    type Handle = Handle;

    fn process_token(&self, token: Token, line_number: u64) -> TokenSinkResult<Handle> {
        let token = match token {
            Token::ParseError(_) => return TokenSinkResult::Continue,
            Token::TagToken(mut tag) => {
                tag.attrs.retain_mut(is_needed);
                tag.attrs.shrink_to_fit();
                self.builder.sink.count_tag();
                Token::TagToken(tag)
            }
            token => token,
        };
        self.tokens.set(self.tokens.get().wrapping_add(1));
        self.builder.process_token(token, line_number)
    }

    fn end(&self) {
        self.builder.end();
    }

    fn adjusted_current_node_present_but_not_in_html_namespace(&self) -> bool {
        self.builder
            .adjusted_current_node_present_but_not_in_html_namespace()
    }
}

/// Whether the tree builder or the text depends on an attribute; of `font` only that it is there.
fn is_needed(attribute: &mut Attribute) -> bool {
    match attribute.name.local {
        local_name!("alt") | local_name!("type") | local_name!("encoding") => true,
        local_name!("hidden")
        | local_name!("color")
        | local_name!("face")
        | local_name!("size") => {
            attribute.value = StrTendril::new();
            true
        }
        _ => false,
    }
}

/// Parses a document.
///
/// # Errors
/// The bound that the document passes.
pub(super) fn parse(text: &str) -> Result<Tree, Bound> {
    let guard = Guard {
        builder: TreeBuilder::new(Sink::new(), Default::default()),
        tokens: Cell::new(0),
    };
    let tokenizer = Tokenizer::new(guard, Default::default());
    let input = BufferQueue::default();
    let mut tag = Attributes::default();
    for piece in pieces(text) {
        let tokens = tokenizer.sink.tokens.get();
        input.push_back(StrTendril::from_slice(piece));
        // A script is not run: its end is passed over.
        while !matches!(tokenizer.feed(&input), TokenizerResult::Done) {}
        // A tag begins where a piece begins and gives its token when it ends.
        if tokenizer.sink.tokens.get() != tokens {
            tag = Attributes::default();
        } else {
            tag.read(piece);
        }
        if tag.count > MAX_ATTRIBUTES {
            return Err(Bound::Attributes);
        }
        if let Some(bound) = tokenizer.sink.builder.sink.exceeded() {
            return Err(bound);
        }
    }
    tokenizer.end();
    match tokenizer.sink.builder.sink.exceeded() {
        Some(bound) => Err(bound),
        None => Ok(tokenizer.sink.builder.sink.finish()),
    }
}

/// The text in pieces of at most [`CHUNK`] bytes; each `<` begins one.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let chunk = kit::cut::at_bytes(rest, CHUNK);
        let bytes = chunk.as_bytes().get(1..)?;
        let length = match bytes.iter().position(|byte| *byte == b'<') {
            Some(position) => position.saturating_add(1),
            None => chunk.len(),
        };
        let (piece, after) = rest.split_at_checked(length)?;
        rest = after;
        Some(piece)
    })
}

/// Counts the attributes of the tag that is being read, as the tokenizer does.
#[derive(Debug, Default)]
struct Attributes {
    count: usize,
    state: State,
}

/// Where in a tag.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum State {
    #[default]
    Outside,
    /// Behind the `<` that begins a piece.
    Open,
    TagName,
    BeforeName,
    Name,
    AfterName,
    BeforeValue,
    Quoted(u8),
    Unquoted,
    /// A comment, a document type or text: there are no attributes.
    NoTag,
}

impl Attributes {
    fn read(&mut self, piece: &str) {
        for byte in piece.bytes() {
            let state = self.state.after(byte);
            let begins = state == State::Name && self.state != State::Name;
            self.count = self.count.saturating_add(usize::from(begins));
            self.state = state;
        }
    }
}

impl State {
    fn after(self, byte: u8) -> Self {
        let space = matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | b'\x0c');
        match (self, byte) {
            (Self::Outside, b'<') => Self::Open,
            (Self::Outside | Self::NoTag, _) => Self::NoTag,
            (Self::Open, b'/') => Self::Open,
            (Self::Open, _) if byte.is_ascii_alphabetic() => Self::TagName,
            (Self::Open, _) => Self::NoTag,
            (Self::Quoted(quote), _) if byte == quote => Self::BeforeName,
            (Self::Quoted(_), _) => self,
            (Self::BeforeValue, b'"' | b'\'') => Self::Quoted(byte),
            (Self::BeforeValue, _) if space => Self::BeforeValue,
            (_, b'>') => Self::NoTag,
            (Self::BeforeValue, _) => Self::Unquoted,
            (Self::Name | Self::AfterName, b'=') => Self::BeforeValue,
            (Self::Name | Self::AfterName, _) if space => Self::AfterName,
            (Self::TagName | Self::BeforeName | Self::Unquoted, _) if space => Self::BeforeName,
            (Self::Unquoted | Self::TagName, _) if self == Self::Unquoted || byte != b'/' => self,
            (_, b'/') => Self::BeforeName,
            _ => Self::Name,
        }
    }
}
