//! What a value of the policy document may be: one table, from which the reader takes the names of members and
//! `hydrant policy schema` makes the JSON Schema that editors read.
//!
//! The table says less than the reader checks: rules between members, such as `exec: true` for a rule of `process`, and
//! what paths, URLs and programs may be, are the reader's alone. What the reader accepts, the schema accepts.

use serde_json::{Map, Value, json};

/// A member of a mapping.
#[derive(Debug)]
pub(crate) struct Member {
    pub(crate) name: &'static str,
    pub(crate) shape: Shape,
    presence: Presence,
    about: &'static str,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Presence {
    Required,
    Optional,
    /// May also be `null`, which means the same as being absent.
    Nullable,
}

/// What a value may be.
#[derive(Debug)]
pub(crate) enum Shape {
    /// The number 1.
    Version,
    /// `true` or `false`.
    Boolean,
    /// Any string.
    Text,
    /// A string that begins with `/`.
    AbsolutePath,
    /// One string of a closed set.
    Word(fn() -> Vec<&'static str>),
    /// A whole number from 1 to a maximum.
    Count { default: u64, maximum: u64 },
    /// A list of such values.
    List(List),
    /// A mapping with these members.
    Map(&'static [Member]),
    /// A mapping with these members, of which exactly one of the groups is there, and that one wholly.
    Either(&'static [Member], &'static [&'static [&'static str]]),
    /// A mapping from names of environment variables to strings.
    Environment,
}

/// A list.
#[derive(Debug)]
pub(crate) struct List {
    pub(crate) items: &'static Shape,
    /// Whether it has at least one item.
    filled: bool,
    /// Whether no item stands in it twice.
    unique: bool,
}

impl Member {
    pub(crate) const fn required(name: &'static str, shape: Shape, about: &'static str) -> Self {
        Self {
            name,
            shape,
            presence: Presence::Required,
            about,
        }
    }

    pub(crate) const fn optional(name: &'static str, shape: Shape, about: &'static str) -> Self {
        Self {
            presence: Presence::Optional,
            ..Self::required(name, shape, about)
        }
    }

    pub(crate) const fn nullable(name: &'static str, shape: Shape, about: &'static str) -> Self {
        Self {
            presence: Presence::Nullable,
            ..Self::required(name, shape, about)
        }
    }

    /// Whether `null` means that the member is absent.
    pub(crate) fn is_nullable(&self) -> bool {
        self.presence == Presence::Nullable
    }

    fn schema(&self) -> Value {
        let mut schema = self.shape.schema();
        if let Some(members) = schema.as_object_mut() {
            if self.is_nullable()
                && let Some(kind) = members.get_mut("type")
            {
                *kind = json!([kind.take(), "null"]);
            }
            members.insert("description".to_owned(), self.about.into());
        }
        schema
    }
}

impl List {
    pub(crate) const fn of(items: &'static Shape) -> Self {
        Self {
            items,
            filled: false,
            unique: false,
        }
    }

    pub(crate) const fn filled(self) -> Self {
        Self {
            filled: true,
            ..self
        }
    }

    pub(crate) const fn unique(self) -> Self {
        Self {
            unique: true,
            ..self
        }
    }
}

impl Shape {
    /// The members of a mapping; none of anything else.
    pub(crate) fn members(&self) -> &'static [Member] {
        match self {
            Self::Map(members) | Self::Either(members, _) => members,
            _ => &[],
        }
    }

    /// As JSON Schema.
    pub(crate) fn schema(&self) -> Value {
        match self {
            // Without a type, so that editors offer the one value.
            Self::Version => json!({"const": 1}),
            Self::Boolean => json!({"type": "boolean"}),
            Self::Text => json!({"type": "string"}),
            Self::AbsolutePath => json!({"type": "string", "pattern": "^/"}),
            Self::Word(words) => json!({"enum": words()}),
            Self::Count { default, maximum } => {
                json!({"type": "integer", "minimum": 1, "maximum": maximum, "default": default})
            }
            Self::List(list) => {
                let mut schema = json!({"type": "array", "items": list.items.schema()});
                if let Some(members) = schema.as_object_mut() {
                    if list.filled {
                        members.insert("minItems".to_owned(), 1.into());
                    }
                    if list.unique {
                        members.insert("uniqueItems".to_owned(), true.into());
                    }
                }
                schema
            }
            Self::Map(members) => mapping(members),
            Self::Either(members, groups) => {
                let mut schema = mapping(members);
                let one = |group: &&[&str]| {
                    let others = groups.iter().filter(|other| *other != group);
                    let absent: Map<_, _> = others
                        .flat_map(|other| other.iter())
                        .map(|name| ((*name).to_owned(), false.into()))
                        .collect();
                    json!({"required": group, "properties": absent})
                };
                if let Some(members) = schema.as_object_mut() {
                    members.insert("oneOf".to_owned(), groups.iter().map(one).collect());
                }
                schema
            }
            Self::Environment => json!({
                "type": "object",
                "patternProperties": {"^[A-Z_][A-Z0-9_]*$": {"type": "string"}},
                "additionalProperties": false,
            }),
        }
    }
}

fn mapping(members: &[Member]) -> Value {
    let properties: Map<_, _> = members
        .iter()
        .map(|member| (member.name.to_owned(), member.schema()))
        .collect();
    let required: Vec<_> = members
        .iter()
        .filter(|member| member.presence == Presence::Required)
        .map(|member| member.name)
        .collect();
    let mut schema = json!({
        "type": "object",
        "properties": properties,
        "additionalProperties": false,
    });
    if let Some(members) = schema.as_object_mut()
        && !required.is_empty()
    {
        members.insert("required".to_owned(), required.into());
    }
    schema
}
