//! Reading a tree member by member: types, unknown members, and errors that name file, line, member and rule.

use std::collections::HashSet;

use super::DOCUMENT;
use super::nearest::nearest;
use super::shape::{Member, Shape};
use crate::error::{DocumentFault, Place, PolicyError};
use crate::text::{Node, Value};

/// A value of the document, with the path that leads to it.
#[derive(Clone, Debug)]
pub(super) struct Field<'a> {
    file: &'a str,
    /// From the top: `policy.host.mounts[0]`.
    path: String,
    /// The line of the member's name; of a list's item, the line it begins on.
    pub(super) line: u64,
    node: &'a Node,
    shape: &'static Shape,
}

/// The members of a mapping, all of them known.
#[derive(Debug)]
pub(super) struct Members<'a> {
    whole: Field<'a>,
    found: Vec<(&'a str, Field<'a>)>,
    known: &'static [Member],
}

impl<'a> Field<'a> {
    pub(super) fn root(file: &'a str, node: &'a Node) -> Self {
        Self {
            file,
            path: "policy".to_owned(),
            line: node.line,
            node,
            shape: &DOCUMENT,
        }
    }

    /// The members of a mapping. A name that its shape does not have is an error.
    pub(super) fn members(&self) -> Result<Members<'a>, PolicyError> {
        let known = self.shape.members();
        let mut found = self.entries()?;
        for (name, field) in &mut found {
            let Some(member) = known.iter().find(|member| member.name == *name) else {
                let names: Vec<_> = known.iter().map(|member| member.name).collect();
                return Err(field.document(DocumentFault::UnknownMember {
                    member: shown(name),
                    line: field.line,
                    suggestion: nearest(name, &names),
                }));
            };
            field.shape = &member.shape;
        }
        Ok(Members {
            whole: self.clone(),
            found,
            known,
        })
    }

    /// The members of a mapping whose names are free.
    pub(super) fn entries(&self) -> Result<Vec<(&'a str, Self)>, PolicyError> {
        let Value::Map(members) = &self.node.value else {
            return Err(self.wrong_type("a mapping"));
        };
        let field = |name: &str, line, node| Self {
            file: self.file,
            path: format!("{}.{}", self.path, shown(name)),
            line,
            node,
            shape: &Shape::Text,
        };
        Ok(members
            .iter()
            .map(|member| {
                (
                    member.name.as_str(),
                    field(&member.name, member.line, &member.value),
                )
            })
            .collect())
    }

    /// The source text of a version, for the message that it is not supported.
    pub(super) fn version(&self) -> Result<(), PolicyError> {
        let found = match &self.node.value {
            Value::Integer(1) => return Ok(()),
            Value::Integer(number) => number.to_string(),
            Value::Number(text) | Value::Text(text) => shown(text),
            Value::Boolean(value) => value.to_string(),
            _ => return Err(self.wrong_type("the number 1")),
        };
        Err(PolicyError::Version {
            place: self.place(),
            found,
        })
    }

    pub(super) fn boolean(&self) -> Result<bool, PolicyError> {
        match self.node.value {
            Value::Boolean(value) => Ok(value),
            _ => Err(self.wrong_type("true or false")),
        }
    }

    pub(super) fn text(&self) -> Result<&'a str, PolicyError> {
        match &self.node.value {
            Value::Text(text) => Ok(text),
            Value::Boolean(_) | Value::Integer(_) | Value::Number(_) => {
                Err(self.wrong_type("a string; write it in quotes"))
            }
            _ => Err(self.wrong_type("a string")),
        }
    }

    /// One of the words of a closed set.
    pub(super) fn word<T: Copy>(&self, words: &[(&'static str, T)]) -> Result<T, PolicyError> {
        let text = self.text()?;
        words
            .iter()
            .find(|(word, _)| *word == text)
            .map(|(_, value)| *value)
            .ok_or_else(|| {
                let words: Vec<_> = words.iter().map(|(word, _)| format!("`{word}`")).collect();
                self.constraint(format!("must be {}, not {text:?}", words.join(" or ")))
            })
    }

    /// A whole number from 1 to `maximum`.
    pub(super) fn positive(&self, maximum: u64) -> Result<u64, PolicyError> {
        match &self.node.value {
            Value::Integer(number) if (1..=maximum).contains(number) => Ok(*number),
            Value::Integer(number) => {
                Err(self.constraint(format!("must be from 1 to {maximum}, not {number}")))
            }
            Value::Number(number) => Err(self.constraint(format!(
                "must be a whole number from 1 to {maximum}, not {number}"
            ))),
            _ => Err(self.wrong_type("a whole number")),
        }
    }

    pub(super) fn list(&self) -> Result<Vec<Self>, PolicyError> {
        let Value::List(items) = &self.node.value else {
            return Err(self.wrong_type("a list"));
        };
        let field = |(index, node): (usize, &'a Node)| Self {
            file: self.file,
            path: format!("{}[{index}]", self.path),
            line: node.line,
            node,
            shape: match self.shape {
                Shape::List(list) => list.items,
                other => other,
            },
        };
        Ok(items.iter().enumerate().map(field).collect())
    }

    /// A list with at least one item.
    pub(super) fn filled_list(&self) -> Result<Vec<Self>, PolicyError> {
        let items = self.list()?;
        if items.is_empty() {
            return Err(self.constraint("must be non-empty"));
        }
        Ok(items)
    }

    /// A list of strings, none twice.
    pub(super) fn unique_texts(&self) -> Result<Vec<(&'a str, Self)>, PolicyError> {
        let mut seen = HashSet::new();
        let mut texts = Vec::new();
        for item in self.list()? {
            let text = item.text()?;
            if !seen.insert(text) {
                return Err(item.constraint(format!("repeats {text:?}; each value stands once")));
            }
            texts.push((text, item));
        }
        Ok(texts)
    }

    pub(super) fn wrong_type(&self, expected: &'static str) -> PolicyError {
        self.document(DocumentFault::WrongType {
            member: self.path.clone(),
            expected,
        })
    }

    /// A rule that the value breaks; `rule` continues the sentence that the member begins.
    pub(super) fn constraint(&self, rule: impl Into<String>) -> PolicyError {
        PolicyError::Constraint {
            place: self.place(),
            member: self.path.clone(),
            rule: rule.into(),
        }
    }

    fn document(&self, fault: DocumentFault) -> PolicyError {
        PolicyError::Document {
            place: self.place(),
            fault,
        }
    }

    fn place(&self) -> Place {
        Place {
            file: self.file.to_owned(),
            line: self.line,
        }
    }
}

impl<'a> Members<'a> {
    /// The member, unless it is absent, or `null` where that means the same.
    pub(super) fn get(&self, name: &str) -> Option<&Field<'a>> {
        let member = self.known.iter().find(|member| member.name == name);
        debug_assert!(member.is_some(), "{name} is in no table of members");
        let (_, field) = self.found.iter().find(|(found, _)| *found == name)?;
        let absent = field.node.value == Value::Null && member.is_some_and(Member::is_nullable);
        (!absent).then_some(field)
    }

    /// The member, which must be there.
    pub(super) fn required(&self, name: &'static str) -> Result<&Field<'a>, PolicyError> {
        self.get(name).ok_or_else(|| {
            let path = format!("{}.{name}", self.whole.path);
            self.whole.document(DocumentFault::MissingMember(path))
        })
    }
}

/// A name for a message: without control characters and of bounded length.
fn shown(name: &str) -> String {
    name.chars().take(64).flat_map(char::escape_debug).collect()
}
