//! JSON (RFC 8259) as a tree.
//!
//! serde_json says first, without recursion and without building anything, whether the text is JSON at all. What is
//! left then is to find the tokens of a text that is known to be right.

use serde::de::IgnoredAny;

use super::{Error, Index, Kind, MAX_DEPTH, Scalar, Text, Tree, number};

/// Reads one JSON value; `first_line` is the line of the document on which the text begins.
///
/// # Errors
///
/// See [`Error`].
pub fn read(source: &str, first_line: u32) -> Result<Tree<'_>, Error> {
    serde_json::from_str::<IgnoredAny>(source).map_err(|error| Error::Syntax {
        language: "JSON",
        reason: error.to_string(),
        line: number(error.line().max(1)).saturating_add(first_line.saturating_sub(1)),
    })?;
    let mut reader = Reader {
        tree: Tree::new(source),
        open: Vec::new(),
        line: first_line.max(1),
    };
    let mut at = 0;
    while let Some(byte) = source.as_bytes().get(at) {
        at = reader.take(*byte, at)?;
    }
    let mut tree = reader.tree;
    tree.index = Index::new(&tree, true)?;
    Ok(tree)
}

struct Reader<'a> {
    tree: Tree<'a>,
    /// The positions of the collections that have begun and not ended, outermost first.
    open: Vec<usize>,
    line: u32,
}

impl Reader<'_> {
    /// Takes the token that begins with a byte, and says where the next one begins.
    fn take(&mut self, byte: u8, at: usize) -> Result<usize, Error> {
        let after = at.saturating_add(1);
        match byte {
            b'{' => self.begin(Kind::Map)?,
            b'[' => self.begin(Kind::List)?,
            b'}' | b']' => self.end(),
            b'\n' => self.line = self.line.saturating_add(1),
            b'"' => return self.string(after),
            b' ' | b'\t' | b'\r' | b',' | b':' => {}
            _ => return Ok(self.word(at)),
        }
        Ok(after)
    }

    fn begin(&mut self, kind: Kind) -> Result<(), Error> {
        if self.open.len() >= MAX_DEPTH {
            return Err(Error::too_deep(MAX_DEPTH, self.line));
        }
        self.open.push(self.tree.nodes.len());
        self.tree.push(kind, self.line);
        Ok(())
    }

    fn end(&mut self) {
        if let Some(node) = self.open.pop() {
            self.tree.end(node);
        }
    }

    /// A string whose first byte after the quote is at `start`.
    fn string(&mut self, start: usize) -> Result<usize, Error> {
        let bytes = self.tree.source.as_bytes();
        let mut end = start;
        let mut escaped = false;
        loop {
            match bytes.get(end) {
                None | Some(b'"') => break,
                Some(b'\\') => {
                    escaped = true;
                    end = end.saturating_add(2);
                }
                Some(_) => end = end.saturating_add(1),
            }
        }
        let text = if escaped {
            let quoted = start.saturating_sub(1)..end.saturating_add(1);
            let quoted = self.tree.source.get(quoted).unwrap_or_default();
            // What is left to be wrong is half of a surrogate pair.
            let text: Box<str> = serde_json::from_str(quoted).map_err(|_| Error::Syntax {
                language: "JSON",
                reason: "an escape in a string is no character".to_owned(),
                line: self.line,
            })?;
            self.tree.keep(text)
        } else {
            source(start, end)
        };
        self.tree.push(Kind::Scalar(Scalar::Text, text), self.line);
        Ok(end.saturating_add(1))
    }

    /// A number, `true`, `false` or `null`.
    fn word(&mut self, start: usize) -> usize {
        let rest = self.tree.source.get(start..).unwrap_or_default();
        let ends = |byte: u8| matches!(byte, b',' | b'}' | b']' | b' ' | b'\t' | b'\r' | b'\n');
        let length = rest.bytes().position(ends).unwrap_or(rest.len());
        let word = rest.get(..length).unwrap_or_default();
        let scalar = match word {
            "null" => Scalar::Null,
            "true" => Scalar::Bool(true),
            "false" => Scalar::Bool(false),
            _ if word.contains(['.', 'e', 'E']) => Scalar::Number,
            _ => Scalar::Integer,
        };
        // At least one byte, so that it goes on in any case.
        let end = start.saturating_add(length.max(1));
        let kind = Kind::Scalar(scalar, source(start, end));
        self.tree.push(kind, self.line);
        end
    }
}

fn source(start: usize, end: usize) -> Text {
    Text::Source {
        start: number(start),
        end: number(end),
    }
}
