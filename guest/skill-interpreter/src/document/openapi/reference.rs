//! A description as a whole: its version, and what `$ref` names in it.

use crate::diagnostic::excerpt;
use crate::failure::{Code, Failure};
use crate::limits::REFERENCE_DEPTH;
use kit::yaml::Node;

/// How far into a list a reference may point: counting there is a walk.
const LIST_ITEMS: usize = 4_096;

/// Which dialect it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Version {
    /// 2.0
    Two,
    /// 3.0.x
    Three,
    /// 3.1.x, and 3.2.x read as such
    ThreeOne,
}

/// A description.
#[derive(Debug, Clone, Copy)]
pub(super) struct Api<'t> {
    pub(super) root: Node<'t>,
    pub(super) version: Version,
}

/// What a reference names.
#[derive(Debug, Clone, Copy)]
pub(super) struct Target<'t> {
    pub(super) node: Node<'t>,
    /// The reference without its `#`.
    pub(super) pointer: &'t str,
}

impl<'t> Api<'t> {
    /// The value, or what it refers to, through references to references.
    ///
    /// # Errors
    ///
    /// `openapi-ref`, `openapi-remote-ref`, `limit`.
    pub(super) fn resolve(&self, node: Node<'t>) -> Result<Node<'t>, Failure> {
        let mut node = node;
        for _ in 0..=REFERENCE_DEPTH {
            match self.target(node)? {
                Some(target) => node = target.node,
                None => return Ok(node),
            }
        }
        Err(Failure::exceeded("$ref within $ref", REFERENCE_DEPTH).at_line(node.line()))
    }

    /// What a value refers to, one step; none if it is no reference.
    ///
    /// # Errors
    ///
    /// `openapi-ref`, `openapi-remote-ref`.
    pub(super) fn target(&self, node: Node<'t>) -> Result<Option<Target<'t>>, Failure> {
        let Some(reference) = node.get("$ref") else {
            return Ok(None);
        };
        // A property may be named so; a reference is a string.
        let Some(text) = reference.as_text() else {
            return Ok(None);
        };
        let line = reference.line();
        let Some(pointer) = text.strip_prefix('#') else {
            let message = format!("$ref to another document: {}", excerpt(text));
            return Err(Failure::new(Code::OpenapiRemoteRef, message).at_line(line));
        };
        let target = self.point(pointer).ok_or_else(|| {
            let message = format!("$ref names nothing: {}", excerpt(text));
            Failure::new(Code::OpenapiRef, message).at_line(line)
        })?;
        Ok(Some(Target {
            node: target,
            pointer,
        }))
    }

    /// RFC 6901 in a fragment.
    fn point(&self, pointer: &str) -> Option<Node<'t>> {
        if pointer.is_empty() {
            return Some(self.root);
        }
        let mut node = self.root;
        for step in pointer.strip_prefix('/')?.split('/') {
            let step = percent_decoded(step)?.replace("~1", "/").replace("~0", "~");
            node = if node.is_list() {
                let index = step.parse::<usize>().ok().filter(|at| *at < LIST_ITEMS)?;
                node.items().nth(index)?
            } else {
                node.get(&step)?
            };
        }
        Some(node)
    }
}

/// RFC 3986, 2.1; what is no escape stands for itself.
fn percent_decoded(text: &str) -> Option<String> {
    if !text.contains('%') {
        return Some(text.to_owned());
    }
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let escape = after.get(..2).filter(|_| *first == b'%');
        let escape = escape.and_then(|digits| std::str::from_utf8(digits).ok());
        match escape.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = after.get(2..).unwrap_or_default();
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8(bytes).ok()
}
