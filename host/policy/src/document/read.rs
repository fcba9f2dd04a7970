//! The deserializer that reads the types of a document from a tree with lines: its errors name member, line and rule.
//!
//! It is stricter than serde asks: a member that no type has, and `null` in place of a value, are errors of their own.

use std::fmt;
use std::slice;

use schemars::JsonSchema;
use serde::de::value::{BorrowedStrDeserializer, StrDeserializer, U64Deserializer};
use serde::de::{DeserializeSeed, IntoDeserializer, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, forward_to_deserialize_any};

use super::nearest::nearest;
use crate::error::{DocumentFault, Place, PolicyError};
use crate::text::{Member, Node, Value};

/// What [`Lined`] is called here.
const LINED: &str = "with its line";

// A value and the line it stands on: that of a member's name, or the one on which an item of a list begins. An omitted
// value has the line of what would hold it. (Not for the schema, which is that of the value.)
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename = "with its line")]
#[schemars(transparent)]
pub(crate) struct Lined<T> {
    /// 0 if the document omits the value, until that is known.
    #[schemars(skip)]
    pub(crate) line: u64,
    pub(crate) value: T,
}

/// The items of a list, each with its line, and the line of the list's name.
pub(crate) type Listed<T> = Lined<Vec<Lined<T>>>;

/// Functions that read a list of which more is asked, by the name under which [`Field`] knows what.
macro_rules! lists {
    ($($(#[$about:meta])* $function:ident: $name:literal;)*) => {$(
        $(#[$about])*
        pub(super) fn $function<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
            deserializer: D,
        ) -> Result<T, D::Error> {
            #[derive(Deserialize)]
            #[serde(rename = $name)]
            struct List<T>(T);
            List::deserialize(deserializer).map(|list| list.0)
        }
    )*};
}

lists! {
    /// Reads a list with at least one item.
    filled: "filled";
    /// Reads a list of strings, none twice.
    unique: "unique";
    /// Reads a list of at least one string, none twice.
    filled_and_unique: "filled and unique";
}

/// What is wrong with a document.
#[derive(Debug, thiserror::Error)]
pub(super) enum Error {
    /// With its place.
    #[error("{0}")]
    Placed(PolicyError),
    /// A rule that the value breaks which was just read.
    #[error("{0}")]
    Rule(String),
    /// A member of the mapping that was just read.
    #[error("{0}")]
    Missing(&'static str),
}

impl Error {
    /// The error in this field, unless it is placed already.
    pub(super) fn or_in(self, field: &Field<'_>) -> PolicyError {
        match self {
            Self::Placed(error) => error,
            Self::Rule(rule) => field.rule(rule),
            Self::Missing(name) => {
                PolicyError::missing(field.file, field.line, &format!("{}.{name}", field.path))
            }
        }
    }
}

impl From<PolicyError> for Error {
    fn from(error: PolicyError) -> Self {
        Self::Placed(error)
    }
}

impl serde::de::Error for Error {
    fn custom<T: fmt::Display>(rule: T) -> Self {
        Self::Rule(rule.to_string())
    }

    fn missing_field(name: &'static str) -> Self {
        Self::Missing(name)
    }
}

/// A value of the document.
#[derive(Clone, Debug)]
pub(super) struct Field<'a> {
    file: &'a str,
    node: &'a Node,
    /// From the top: `policy.host.mounts[0]`.
    path: String,
    line: u64,
}

impl<'a> Field<'a> {
    pub(super) fn root(file: &'a str, node: &'a Node) -> Self {
        Self {
            file,
            node,
            path: "policy".to_owned(),
            line: node.line,
        }
    }

    fn member(&self, member: &'a Member) -> Self {
        Self {
            file: self.file,
            node: &member.value,
            path: format!("{}.{}", self.path, shown(&member.name)),
            line: member.line,
        }
    }

    fn place(&self) -> Place {
        Place {
            file: self.file.to_owned(),
            line: self.line,
        }
    }

    fn fault(&self, fault: DocumentFault) -> PolicyError {
        let place = self.place();
        PolicyError::Document { place, fault }
    }

    fn rule(&self, rule: impl Into<String>) -> PolicyError {
        PolicyError::constraint(self.file, self.line, &self.path, rule)
    }

    fn wrong_type(&self, expected: &'static str) -> PolicyError {
        let member = self.path.clone();
        self.fault(DocumentFault::WrongType { member, expected })
    }

    fn text(&self) -> Result<&'a str, PolicyError> {
        match &self.node.value {
            Value::Text(text) => Ok(text),
            Value::Boolean(_) | Value::Integer(_) | Value::Number(_) => {
                Err(self.wrong_type("a string; write it in quotes"))
            }
            _ => Err(self.wrong_type("a string")),
        }
    }

    fn items(&self) -> Result<Items<'a>, PolicyError> {
        match &self.node.value {
            Value::List(items) => Ok(Items {
                list: self.clone(),
                items: items.iter().enumerate(),
            }),
            _ => Err(self.wrong_type("a list")),
        }
    }

    fn members(&self) -> Result<&'a [Member], PolicyError> {
        match &self.node.value {
            Value::Map(members) => Ok(members),
            _ => Err(self.wrong_type("a mapping")),
        }
    }

    fn visit_members<V: Visitor<'a>>(
        self,
        members: &'a [Member],
        skips_null: bool,
        visitor: V,
    ) -> Result<V::Value, Error> {
        let found = visitor.visit_map(Members {
            mapping: self.clone(),
            members: members.iter(),
            skips_null,
            next: None,
        });
        found.map_err(|error| error.or_in(&self).into())
    }
}

impl<'de> Deserializer<'de> for Field<'de> {
    type Error = Error;

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.node.value {
            Value::Boolean(value) => visitor.visit_bool(value),
            _ => Err(self.wrong_type("true or false").into()),
        }
    }

    fn deserialize_u64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match &self.node.value {
            Value::Integer(number) => visitor.visit_u64(*number),
            Value::Number(number) => visitor.visit_str(number),
            _ => Err(self.wrong_type("a whole number").into()),
        }
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_str(self.text()?)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_seq(self.items()?)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let members = self.members()?;
        self.visit_members(members, false, visitor)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        if name == LINED {
            let line = Some(self.line);
            let field = Some(self);
            return visitor.visit_seq(WithLine { line, field });
        }
        let members = self.members()?;
        for member in members {
            if !fields.contains(&member.name.as_str()) {
                let fault = DocumentFault::UnknownMember {
                    member: shown(&member.name),
                    line: member.line,
                    suggestion: nearest(&member.name, fields),
                };
                return Err(self.member(member).fault(fault).into());
            }
        }
        self.visit_members(members, super::ceiling::NULLABLE.contains(&name), visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        words: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        let text = self.text()?;
        if !words.contains(&text) {
            let words: Vec<_> = words.iter().map(|word| format!("`{word}`")).collect();
            let rule = format!("must be {}, not {text:?}", words.join(" or "));
            return Err(self.rule(rule).into());
        }
        let word: StrDeserializer<'_, Error> = text.into_deserializer();
        visitor.visit_enum(word)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        if name.starts_with("filled") && self.items()?.items.len() == 0 {
            return Err(self.rule("must be non-empty").into());
        }
        if name.ends_with("unique") {
            let mut found = std::collections::HashSet::new();
            for item in self.items()? {
                let text = item.text()?;
                if !found.insert(text) {
                    let rule = format!("repeats {text:?}; each value stands once");
                    return Err(item.rule(rule).into());
                }
            }
        }
        visitor.visit_newtype_struct(self)
    }

    /// The one unit there is: the version.
    fn deserialize_unit_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        let found = match &self.node.value {
            Value::Integer(1) => return visitor.visit_unit(),
            Value::Integer(number) => number.to_string(),
            Value::Number(text) | Value::Text(text) => shown(text),
            Value::Boolean(value) => value.to_string(),
            _ => return Err(self.wrong_type("the number 1").into()),
        };
        let place = self.place();
        Err(PolicyError::Version { place, found }.into())
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_string(visitor)
    }

    /// No type of the document asks for anything else.
    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Error> {
        Err(self.rule("is of a type that is not read").into())
    }

    forward_to_deserialize_any! {
        i8 i16 i32 i64 u8 u16 u32 f32 f64 char bytes byte_buf unit tuple tuple_struct identifier ignored_any
    }
}

/// The items of a list.
struct Items<'a> {
    list: Field<'a>,
    items: std::iter::Enumerate<slice::Iter<'a, Node>>,
}

impl<'a> Iterator for Items<'a> {
    type Item = Field<'a>;

    fn next(&mut self) -> Option<Field<'a>> {
        let (index, node) = self.items.next()?;
        Some(Field {
            file: self.list.file,
            node,
            path: format!("{}[{index}]", self.list.path),
            line: node.line,
        })
    }
}

impl<'de> SeqAccess<'de> for Items<'de> {
    type Error = Error;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Error> {
        let item = self.next().map(|item| {
            let found = seed.deserialize(item.clone());
            found.map_err(|error| error.or_in(&item).into())
        });
        item.transpose()
    }
}

/// The line of a field, then the field.
struct WithLine<'a> {
    line: Option<u64>,
    field: Option<Field<'a>>,
}

impl<'de> SeqAccess<'de> for WithLine<'de> {
    type Error = Error;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Error> {
        if let Some(line) = self.line.take() {
            return seed.deserialize(U64Deserializer::new(line)).map(Some);
        }
        let field = self.field.take().map(|field| seed.deserialize(field));
        field.transpose()
    }
}

struct Members<'a> {
    mapping: Field<'a>,
    members: slice::Iter<'a, Member>,
    /// Whether a member that is `null` is as if it were absent.
    skips_null: bool,
    next: Option<&'a Member>,
}

impl<'de> MapAccess<'de> for Members<'de> {
    type Error = Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Error> {
        let skips_null = self.skips_null;
        self.next = self
            .members
            .find(|member| !skips_null || member.value.value != Value::Null);
        let name = self.next.map(|member| {
            let found = seed.deserialize(BorrowedStrDeserializer::new(&member.name));
            found.map_err(|error: Error| error.or_in(&self.mapping.member(member)).into())
        });
        name.transpose()
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Error> {
        let Some(member) = self.next.take() else {
            return Err(serde::de::Error::custom("has no value"));
        };
        let field = self.mapping.member(member);
        let found = seed.deserialize(field.clone());
        found.map_err(|error| error.or_in(&field).into())
    }
}

/// A name for a message: without control characters and of bounded length.
fn shown(name: &str) -> String {
    name.chars().take(64).flat_map(char::escape_debug).collect()
}
