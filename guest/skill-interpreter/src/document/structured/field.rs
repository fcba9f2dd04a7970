//! Values of a document with their paths, and the messages about them.
//!
//! A path is a chain on the stack and becomes text only for a message, so that reading takes no time for it.

use crate::failure::{Code, Failure};
use kit::yaml::{Node, Value};

/// Characters of one key in a path: what a stranger wrote is not repeated at length.
const KEY_CHARACTERS: usize = 60;

/// Where a value stands (`operations[1].endpoint`).
#[derive(Debug, Clone, Copy)]
pub struct Path<'p> {
    above: Option<&'p Path<'p>>,
    step: Step<'p>,
}

#[derive(Debug, Clone, Copy)]
enum Step<'p> {
    Root,
    Key(&'p str),
    Index(usize),
}

impl<'p> Path<'p> {
    /// The whole document.
    pub const ROOT: Path<'static> = Path {
        above: None,
        step: Step::Root,
    };

    /// The value of a key.
    #[must_use]
    pub fn key(&'p self, key: &'p str) -> Self {
        Self {
            above: Some(self),
            step: Step::Key(key),
        }
    }

    /// An item of a list, counted from 0.
    #[must_use]
    pub fn index(&'p self, index: usize) -> Self {
        Self {
            above: Some(self),
            step: Step::Index(index),
        }
    }
}

impl std::fmt::Display for Path<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut steps = vec![self.step];
        let mut above = self.above;
        while let Some(path) = above {
            steps.push(path.step);
            above = path.above;
        }
        for (position, step) in steps.into_iter().rev().enumerate() {
            match step {
                Step::Root => {}
                Step::Index(index) => write!(formatter, "[{index}]")?,
                Step::Key(key) => {
                    // Step 0 is the root.
                    let dot = if position > 1 { "." } else { "" };
                    let key: String = key.chars().take(KEY_CHARACTERS).collect();
                    write!(formatter, "{dot}{key}")?;
                }
            }
        }
        Ok(())
    }
}

/// A value and where it stands.
#[derive(Debug, Clone, Copy)]
pub struct Field<'p, 't> {
    /// The value.
    pub node: Node<'t>,
    /// Where it stands.
    pub path: Path<'p>,
}

impl<'p, 't> Field<'p, 't> {
    /// A value at the root of what messages tell paths in.
    #[must_use]
    pub fn root(node: Node<'t>) -> Field<'static, 't> {
        Field {
            node,
            path: Path::ROOT,
        }
    }

    /// The value of a key; `null` equals absent.
    #[must_use]
    pub fn get(&'p self, key: &'p str) -> Option<Field<'p, 't>> {
        let node = self.node.get(key).filter(|node| !node.is_null())?;
        Some(Field {
            node,
            path: self.path.key(key),
        })
    }

    /// The value of a key as a function reads it; none where it is absent.
    ///
    /// # Errors
    ///
    /// Those of the function.
    pub fn read<T>(
        &'p self,
        key: &'p str,
        read: impl FnOnce(Self) -> Result<T, Failure>,
    ) -> Result<Option<T>, Failure> {
        self.get(key).map(read).transpose()
    }

    /// The value of a key that has to be there.
    ///
    /// # Errors
    ///
    /// `schema`
    pub fn required(&'p self, key: &'p str) -> Result<Self, Failure> {
        self.get(key).ok_or_else(|| {
            let path = self.path.key(key).to_string();
            Failure::new(Code::Schema, format!("{path}: expected string, got null"))
                .at_path(path)
                .at_line(self.node.line())
        })
    }

    /// A map that has no other keys than these: one that nobody reads could be a restriction.
    ///
    /// # Errors
    ///
    /// `schema`, `unknown-op-key`
    pub fn known_keys(self, keys: &[&str], of: &str) -> Result<Self, Failure> {
        let field = self.map()?;
        match field.entries().find(|(key, _)| !keys.contains(key)) {
            Some((_, value)) => {
                Err(value.failure(Code::UnknownOpKey, &format!("unknown key of {of}")))
            }
            None => Ok(self),
        }
    }

    /// The items of a list with their paths; of anything else, none.
    pub fn items(&'p self) -> impl Iterator<Item = Field<'p, 't>> {
        self.node.items().enumerate().map(|(index, node)| Field {
            node,
            path: self.path.index(index),
        })
    }

    /// The keys and values of a map with their paths, those that are `null` too; of anything else, none.
    pub fn entries(&'p self) -> impl Iterator<Item = (&'t str, Field<'p, 't>)>
    where
        't: 'p,
    {
        self.node.entries().map(|(key, node)| {
            let path = self.path.key(key.text);
            (key.text, Field { node, path })
        })
    }

    /// `<path>: expected <what>, got <type>`.
    #[must_use]
    pub fn wrong(&self, expected: &str) -> Failure {
        let got = self.node.type_name();
        self.failure(Code::Schema, &format!("expected {expected}, got {got}"))
    }

    /// A failure of this value; its message begins with the path.
    #[must_use]
    pub fn failure(&self, code: Code, what: &str) -> Failure {
        let path = self.path.to_string();
        // The whole document has no name.
        let message = if path.is_empty() {
            format!("document: {what}")
        } else {
            format!("{path}: {what}")
        };
        let failure = Failure::new(code, message).at_line(self.node.line());
        if path.is_empty() {
            failure
        } else {
            failure.at_path(path)
        }
    }

    /// A string.
    ///
    /// # Errors
    ///
    /// `schema`; so have all that follow.
    pub fn text(self) -> Result<&'t str, Failure> {
        self.node.as_text().ok_or_else(|| self.wrong("string"))
    }

    /// A string with something in it.
    ///
    /// # Errors
    ///
    /// `schema`
    pub fn name(self) -> Result<&'t str, Failure> {
        let text = self.text()?;
        if text.trim().is_empty() {
            return Err(self.failure(Code::Schema, "must not be empty"));
        }
        Ok(text)
    }

    /// A boolean.
    ///
    /// # Errors
    ///
    /// `schema`
    pub fn boolean(self) -> Result<bool, Failure> {
        match self.node.value() {
            Value::Bool(value) => Ok(value),
            _ => Err(self.wrong("boolean")),
        }
    }

    /// A whole number that is not negative.
    ///
    /// # Errors
    ///
    /// `schema`
    pub fn count(self) -> Result<u64, Failure> {
        match self.node.value() {
            Value::Integer(_) => self
                .node
                .to_json()
                .as_u64()
                .ok_or_else(|| self.wrong("integer from 0 to 18446744073709551615")),
            _ => Err(self.wrong("integer")),
        }
    }

    /// A map.
    ///
    /// # Errors
    ///
    /// `schema`
    pub fn map(self) -> Result<Self, Failure> {
        if self.node.is_map() {
            Ok(self)
        } else {
            Err(self.wrong("map"))
        }
    }

    /// A list.
    ///
    /// # Errors
    ///
    /// `schema`
    pub fn list(self) -> Result<Self, Failure> {
        if self.node.is_list() {
            Ok(self)
        } else {
            Err(self.wrong("list"))
        }
    }

    /// A list of strings.
    ///
    /// # Errors
    ///
    /// `schema`
    pub fn strings(self) -> Result<Vec<String>, Failure> {
        let list = self.list()?;
        list.items()
            .map(|item| item.text().map(str::to_owned))
            .collect()
    }

    /// A map of strings, in the order of the document; a value that is `null` is absent.
    ///
    /// # Errors
    ///
    /// `schema`
    pub fn string_map(self) -> Result<Vec<(String, &'t str)>, Failure> {
        let map = self.map()?;
        map.entries()
            .filter(|(_, value)| !value.node.is_null())
            .map(|(key, value)| Ok((key.to_owned(), value.text()?)))
            .collect()
    }
}
