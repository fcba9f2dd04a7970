//! The tree of values, and its bounded construction from a flat stream of events.

use std::collections::HashSet;

use super::Located;
use crate::error::DocumentFault;

/// Collections nest at most this deep; a policy needs 7.
const MAXIMUM_DEPTH: usize = 32;
/// Values of a document at most; bounds the memory that 1 MiB of `[1,1,…` can claim.
const MAXIMUM_NODES: usize = 100_000;

/// A value and the line it begins on, from 1.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) line: u64,
    pub(crate) value: Value,
}

/// The value of a node, typed by the YAML 1.2 core schema or by JSON.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Null,
    Boolean(bool),
    /// A whole number from 0 to 2^64 - 1.
    Integer(u64),
    /// Any other number, as written: no member of a policy takes one.
    Number(String),
    Text(String),
    List(Vec<Node>),
    /// Members in the order written, names unique.
    Map(Vec<Member>),
}

/// A member of a mapping.
#[derive(Clone, Debug)]
pub(crate) struct Member {
    pub(crate) name: String,
    /// The line of the name, from 1.
    pub(crate) line: u64,
    pub(crate) value: Node,
}

// Equality of values; lines do not count.
impl PartialEq for Node {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

impl PartialEq for Member {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name && self.value == other.value
    }
}

/// A collection that is still open.
enum Open {
    List {
        line: u64,
        items: Vec<Node>,
    },
    Map {
        line: u64,
        members: Vec<Member>,
        names: HashSet<String>,
        pending: Option<(String, u64)>,
    },
}

/// Builds a [`Node`] from events. Depth is held in a vector, not on the stack.
#[derive(Default)]
pub(super) struct TreeBuilder {
    open: Vec<Open>,
    root: Option<Node>,
    nodes: usize,
}

impl TreeBuilder {
    /// Whether the next event is a member's name.
    pub(super) fn expects_name(&self) -> bool {
        matches!(self.open.last(), Some(Open::Map { pending: None, .. }))
    }

    /// The name of the next member.
    pub(super) fn name(&mut self, line: u64, name: String) -> Result<(), Located> {
        match self.open.last_mut() {
            Some(Open::Map { names, pending, .. }) => {
                if !names.insert(name.clone()) {
                    return Err(Located {
                        line,
                        fault: DocumentFault::Duplicate(name),
                    });
                }
                *pending = Some((name, line));
                Ok(())
            }
            _ => Err(Located::syntax(line, "a member outside a mapping")),
        }
    }

    /// A value that is no collection.
    pub(super) fn scalar(&mut self, line: u64, value: Value) -> Result<(), Located> {
        self.count(line)?;
        self.place(Node { line, value })
    }

    /// A list begins.
    pub(super) fn open_list(&mut self, line: u64) -> Result<(), Located> {
        self.begin(
            line,
            Open::List {
                line,
                items: Vec::new(),
            },
        )
    }

    /// A mapping begins.
    pub(super) fn open_map(&mut self, line: u64) -> Result<(), Located> {
        self.begin(
            line,
            Open::Map {
                line,
                members: Vec::new(),
                names: HashSet::new(),
                pending: None,
            },
        )
    }

    /// The innermost collection ends.
    pub(super) fn close(&mut self, at: u64) -> Result<(), Located> {
        match self.open.pop() {
            Some(Open::List { line, items }) => self.place(Node {
                line,
                value: Value::List(items),
            }),
            Some(Open::Map { line, members, .. }) => self.place(Node {
                line,
                value: Value::Map(members),
            }),
            None => Err(Located::syntax(at, "a collection ends that never began")),
        }
    }

    /// The root, if there was one and everything is closed.
    pub(super) fn finish(self) -> Option<Node> {
        self.root.filter(|_| self.open.is_empty())
    }

    fn begin(&mut self, line: u64, open: Open) -> Result<(), Located> {
        self.count(line)?;
        if self.expects_name() {
            return Err(Located::syntax(line, "the name of a member must be text"));
        }
        if self.open.len() >= MAXIMUM_DEPTH {
            return Err(Located {
                line,
                fault: DocumentFault::TooMuch("collections nest more than 32 deep"),
            });
        }
        self.open.push(open);
        Ok(())
    }

    fn count(&mut self, line: u64) -> Result<(), Located> {
        self.nodes += 1;
        if self.nodes > MAXIMUM_NODES {
            return Err(Located {
                line,
                fault: DocumentFault::TooMuch("more than 100000 values"),
            });
        }
        Ok(())
    }

    fn place(&mut self, node: Node) -> Result<(), Located> {
        let line = node.line;
        match self.open.last_mut() {
            Some(Open::List { items, .. }) => items.push(node),
            Some(Open::Map {
                members, pending, ..
            }) => match pending.take() {
                Some((name, line)) => members.push(Member {
                    name,
                    line,
                    value: node,
                }),
                None => return Err(Located::syntax(line, "the name of a member must be text")),
            },
            None if self.root.is_none() => self.root = Some(node),
            None => return Err(Located::syntax(line, "more than one value")),
        }
        Ok(())
    }
}
