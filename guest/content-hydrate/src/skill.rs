//! What a skill's front matter says.

use kit::yaml::{self, Node};
use kit::{SkillError, text};

use serde::{Serialize, Serializer};

use crate::{budget::Budget, checksum, code::Code, lenient, reason, request::Request, uri::Uri};

/// Items of a raw array.
const MAX_ITEMS: usize = 1_000;

/// The keys that are read; what stands under others is only checked.
const USED_KEYS: [&str; 4] = ["name", "description", "skills", "tools"];

/// An entry of `skills`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Skill {
    pub(crate) uri: String,
    /// What its declarations are resolved against; none if `uri` is no canonical URI.
    #[serde(skip)]
    pub(crate) base: Option<Uri>,
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) skills: Raw,
    pub(crate) tools: Raw,
    /// Of its file, if asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) checksum: Option<String>,
}

/// A skill's own declarations.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Raw {
    /// Neither an array nor null.
    NotAnArray,
    /// In order, duplicates kept.
    Array {
        /// Scalars by their source text; none for what is no scalar.
        items: Vec<Option<String>>,
        /// There were more than [`MAX_ITEMS`].
        cut: bool,
    },
}

impl Serialize for Raw {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.strings())
    }
}

impl Raw {
    const EMPTY: Self = Self::Array {
        items: Vec::new(),
        cut: false,
    };

    /// The strings of the payload.
    fn strings(&self) -> impl Iterator<Item = &str> {
        let (items, last): (&[Option<String>], _) = match self {
            Self::NotAnArray => (&[], Some(Code::ParseError)),
            Self::Array { items, cut } => (items, cut.then_some(Code::LimitExceeded)),
        };
        items
            .iter()
            .map(|item| item.as_deref().unwrap_or(Code::ParseError.as_str()))
            .chain(last.map(Code::as_str))
    }

    /// The declarations that deeper levels follow; none for one that is no scalar.
    pub(crate) fn declared(&self) -> impl Iterator<Item = Option<&str>> {
        let items: &[Option<String>] = match self {
            Self::NotAnArray => &[None],
            Self::Array { items, .. } => items,
        };
        items.iter().map(Option::as_deref)
    }
}

impl Skill {
    /// The code stands for name and description.
    pub(crate) fn failed(uri: String, code: Code, checksum: Option<String>) -> Self {
        Self {
            uri,
            base: None,
            name: code.text(),
            description: code.text(),
            skills: Raw::EMPTY,
            tools: Raw::EMPTY,
            checksum,
        }
    }

    /// Reads a skill from the bytes of its file.
    pub(crate) fn read(
        uri: String,
        bytes: &[u8],
        request: &Request,
        budget: &mut Budget,
    ) -> Result<Self, SkillError> {
        let checksum = request.checksums.then(|| checksum::of(bytes));
        let failed = |uri, checksum| Ok(Self::failed(uri, Code::ParseError, checksum));
        // The whole file, not its front matter alone.
        let Ok(text) = std::str::from_utf8(bytes) else {
            return failed(uri, checksum);
        };
        let skill = lenient::read(text, request.lenient, |front_matter| {
            let yaml = yaml::read_front_matter(front_matter, &USED_KEYS)?;
            Ok::<_, yaml::Error>(Self::from_front_matter(yaml.root(), budget))
        });
        let error = match skill {
            Ok(skill) => {
                return Ok(Self {
                    uri,
                    checksum,
                    ..skill?
                });
            }
            Err(error) => error,
        };
        reason::log(&uri, &error.to_string());
        if !request.lenient {
            return failed(uri, checksum);
        }
        let mut recovered = |key| match lenient::recover(text, key) {
            Some(value) => budget.keep(value),
            None => Ok(Code::ParseError.text()),
        };
        Ok(Self {
            name: recovered("name")?,
            description: recovered("description")?,
            ..Self::failed(uri, Code::ParseError, checksum)
        })
    }

    /// A skill without URI and checksum.
    fn from_front_matter(root: Option<Node<'_>>, budget: &mut Budget) -> Result<Self, SkillError> {
        let get = |key| root.and_then(|root| root.get(key));
        Ok(Self {
            uri: String::new(),
            base: None,
            name: string(get("name"), Code::MissingName, budget)?,
            description: string(get("description"), Code::MissingDescription, budget)?,
            skills: raw(get("skills"), budget)?,
            tools: raw(get("tools"), budget)?,
            checksum: None,
        })
    }
}

/// A scalar's text, unless it is blank.
fn string(
    value: Option<Node<'_>>,
    missing: Code,
    budget: &mut Budget,
) -> Result<String, SkillError> {
    match value.and_then(|value| value.scalar()) {
        Some(value) if !text::is_blank(value) => budget.keep(value),
        _ => Ok(missing.text()),
    }
}

fn raw(value: Option<Node<'_>>, budget: &mut Budget) -> Result<Raw, SkillError> {
    match value {
        Some(list) if list.is_list() => raw_array(list, budget),
        Some(value) if !value.is_null() => Ok(Raw::NotAnArray),
        _ => Ok(Raw::EMPTY),
    }
}

fn raw_array(list: Node<'_>, budget: &mut Budget) -> Result<Raw, SkillError> {
    let mut items = list.items();
    let kept = items
        .by_ref()
        .take(MAX_ITEMS)
        .map(|item| item.scalar().map(|text| budget.keep(text)).transpose())
        .collect::<Result<_, _>>()?;
    Ok(Raw::Array {
        items: kept,
        cut: items.next().is_some(),
    })
}
