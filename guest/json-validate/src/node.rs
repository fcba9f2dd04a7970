//! How `jsonschema` sees an instance.

use std::borrow::Cow;

use jsonschema::JsonType;
use jsonschema::json::{Array, Json, Node, NodeIdentity, Object};
use serde_json::Value;

use crate::compare;
use crate::document::{Document, Entry, Kind};
use crate::finding;
use crate::number::Number;

/// The representation: values of a [`Document`].
pub(crate) struct Table;

/// A value of an instance, or a name of one of its members, for `propertyNames`.
#[derive(Clone)]
pub(crate) struct TableNode<'a> {
    place: Place<'a>,
    /// Bytes of its path, without escapes.
    path: usize,
}

#[derive(Clone, Copy)]
enum Place<'a> {
    Value(&'a Document, usize, Entry),
    Name(&'a str),
}

/// The members of an object.
pub(crate) struct TableObject<'a>(Container<'a>);

/// The items of an array.
pub(crate) struct TableArray<'a>(Container<'a>);

struct Container<'a> {
    document: &'a Document,
    at: usize,
    entry: Entry,
    path: usize,
}

impl<'a> TableNode<'a> {
    /// The whole instance.
    pub(crate) fn root(document: &'a Document) -> Option<Self> {
        Self::new(document, 0, 0)
    }

    fn new(document: &'a Document, at: usize, path: usize) -> Option<Self> {
        let entry = document.entry(at)?;
        Some(Self {
            place: Place::Value(document, at, entry),
            path,
        })
    }

    fn kind(&self) -> Kind {
        match self.place {
            Place::Value(_, _, entry) => entry.kind(),
            Place::Name(_) => Kind::Name,
        }
    }

    fn container(&self, kind: Kind) -> Option<Container<'a>> {
        match self.place {
            Place::Value(document, at, entry) if entry.kind() == kind => Some(Container {
                document,
                at,
                entry,
                path: self.path,
            }),
            _ => None,
        }
    }
}

impl Json for Table {
    type Node<'a> = TableNode<'a>;
    type PreparedKey = String;
    type StringBuffer = ();

    fn prepare_key(key: &str) -> String {
        key.to_owned()
    }

    fn with_string_node<T>((): &mut (), string: &str, f: impl FnOnce(TableNode<'_>) -> T) -> T {
        f(TableNode {
            place: Place::Name(string),
            path: 0,
        })
    }
}

impl<'a> Node<'a, Table> for TableNode<'a> {
    type Object = TableObject<'a>;
    type Array = TableArray<'a>;
    type Number = Number<'a>;

    fn as_object(&self) -> Option<TableObject<'a>> {
        self.container(Kind::Object).map(TableObject)
    }

    fn as_array(&self) -> Option<TableArray<'a>> {
        self.container(Kind::Array).map(TableArray)
    }

    fn as_string(&self) -> Option<Cow<'a, str>> {
        match self.place {
            Place::Name(name) => Some(Cow::Borrowed(name)),
            Place::Value(document, _, entry) => {
                (entry.kind() == Kind::String).then(|| document.string(entry))
            }
        }
    }

    fn as_number(&self) -> Option<Number<'a>> {
        match self.place {
            Place::Value(document, _, entry) if entry.kind() == Kind::Number => {
                Some(Number(document.source(entry)))
            }
            _ => None,
        }
    }

    fn as_boolean(&self) -> Option<bool> {
        match self.kind() {
            Kind::True => Some(true),
            Kind::False => Some(false),
            _ => None,
        }
    }

    fn is_null(&self) -> bool {
        self.kind() == Kind::Null
    }

    fn json_type(&self) -> JsonType {
        match self.kind() {
            Kind::Null => JsonType::Null,
            Kind::True | Kind::False => JsonType::Boolean,
            Kind::Number => JsonType::Number,
            Kind::String | Kind::Name => JsonType::String,
            Kind::Array => JsonType::Array,
            Kind::Object => JsonType::Object,
        }
    }

    fn equals_value(&self, expected: &Value) -> bool {
        match self.place {
            Place::Value(document, at, _) => compare::equals(document, at, expected),
            Place::Name(name) => expected.as_str() == Some(name),
        }
    }

    /// For errors alone: not the value, but how a message shows it.
    fn to_value(&self) -> Cow<'a, Value> {
        let shown = match self.place {
            Place::Value(document, _, entry) => {
                let shown = finding::preview(document.source(entry));
                // The path is held twice: of the instance, and as long as the schema's may be.
                let bytes = self.path.saturating_mul(2).saturating_add(shown.len());
                if document.charge(bytes) {
                    shown
                } else {
                    finding::UNREPORTED.to_owned()
                }
            }
            Place::Name(name) => finding::preview_string(name),
        };
        Cow::Owned(Value::String(shown))
    }

    fn identity(&self) -> Option<NodeIdentity> {
        Some(match self.place {
            Place::Value(document, at, _) => NodeIdentity::tagged(
                std::ptr::from_ref(document).addr(),
                u32::try_from(at).unwrap_or(u32::MAX),
            ),
            Place::Name(name) => NodeIdentity::tagged(name.as_ptr().addr(), u32::MAX),
        })
    }
}

impl<'a> Object<'a, Table> for TableObject<'a> {
    type Node = TableNode<'a>;
    type MemberName = Cow<'a, str>;
    type MembersIter = Box<dyn Iterator<Item = (Cow<'a, str>, TableNode<'a>)> + 'a>;

    fn len(&self) -> usize {
        self.0.entry.count()
    }

    fn get(&self, key: &String) -> Option<TableNode<'a>> {
        let at = self.0.document.member(self.0.at, key)?;
        let path = self.0.path.saturating_add(key.len()).saturating_add(1);
        TableNode::new(self.0.document, at, path)
    }

    fn members(&self) -> Self::MembersIter {
        let (document, path) = (self.0.document, self.0.path);
        let names = document.names(self.0.at);
        let members = names.map_while(move |at| {
            let name = document.name(at);
            let path = path.saturating_add(name.len()).saturating_add(1);
            let value = TableNode::new(document, at.saturating_add(1), path)?;
            (!document.is_exhausted()).then_some((name, value))
        });
        Box::new(members)
    }
}

impl<'a> Array<'a, Table> for TableArray<'a> {
    type Node = TableNode<'a>;
    type ElementsIter = Box<dyn Iterator<Item = TableNode<'a>> + 'a>;

    fn len(&self) -> usize {
        self.0.entry.count()
    }

    fn elements(&self) -> Self::ElementsIter {
        let (document, path) = (self.0.document, self.0.path);
        let items = document.items(self.0.at);
        // A slash and the digits of a position.
        let path = path.saturating_add(8);
        let nodes = items.map_while(move |at| {
            TableNode::new(document, at, path).filter(|_| !document.is_exhausted())
        });
        Box::new(nodes)
    }

    fn is_unique(&self) -> bool {
        compare::is_unique(self.0.document, self.0.at)
    }
}
