//! Text with variables as it is executed: a list of segments, never spliced text.

use serde::{Deserialize, Serialize};

/// How a value is written into its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Encoding {
    /// A path segment: `/` is encoded, `.` and `..` are refused.
    Path,
    /// The query: a space is `%20`.
    Query,
    /// A header: CR, LF and NUL are refused.
    Header,
    /// A form body: a space is `+`.
    Form,
    /// Within the quotes of a JSON string.
    JsonString,
    /// An element of an argument vector: NUL is refused.
    Argv,
    /// As it is.
    None,
}

/// How an array or object is written. Without one, only a string, number or boolean fits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Style {
    /// `a,b` in path and header; objects as `k,v,k,v`.
    Simple,
    /// `a,b`; objects as `k=v,k=v`.
    SimpleExplode,
    /// `name=a,b`
    Form,
    /// `name=a&name=b`; objects as `k=v&k=v`.
    FormExplode,
    /// `name=a%20b`
    SpaceDelimited,
    /// `name=a|b`
    PipeDelimited,
    /// `name=a\tb`, of OpenAPI 2.0.
    TabDelimited,
    /// `name[k]=v`, one level.
    DeepObject,
}

/// A piece of text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Segment {
    /// Text that is written as it is, already encoded for its place.
    Literal {
        /// The text.
        lit: String,
    },
    /// An input of the operation.
    Input {
        /// Its name in the schema.
        input: String,
        /// How its value is written.
        enc: Encoding,
        /// How an array or object is written.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        style: Option<Style>,
    },
    /// A secret, which only the host ever holds.
    Secret {
        /// Its name.
        secret: String,
        /// How its value is written.
        enc: Encoding,
    },
}

/// A text.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Segments(pub Vec<Segment>);

impl Segments {
    /// A text without variables.
    #[must_use]
    pub fn literal(text: impl Into<String>) -> Self {
        let mut segments = Self::default();
        segments.push_literal(text);
        segments
    }

    /// A text that is one input.
    #[must_use]
    pub fn input(name: impl Into<String>, enc: Encoding) -> Self {
        Self(vec![Segment::Input {
            input: name.into(),
            enc,
            style: None,
        }])
    }

    /// A text that is one secret.
    #[must_use]
    pub fn secret(name: impl Into<String>, enc: Encoding) -> Self {
        Self(vec![Segment::Secret {
            secret: name.into(),
            enc,
        }])
    }

    /// Appends text, joined to literal text before it.
    pub fn push_literal(&mut self, text: impl Into<String>) {
        let text = text.into();
        if text.is_empty() {
            return;
        }
        if let Some(Segment::Literal { lit }) = self.0.last_mut() {
            lit.push_str(&text);
        } else {
            self.0.push(Segment::Literal { lit: text });
        }
    }

    /// Appends a segment, joining literals.
    pub fn push(&mut self, segment: Segment) {
        match segment {
            Segment::Literal { lit } => self.push_literal(lit),
            other => self.0.push(other),
        }
    }

    /// The text, if it has no variable.
    #[must_use]
    pub fn as_literal(&self) -> Option<&str> {
        match self.0.as_slice() {
            [] => Some(""),
            [Segment::Literal { lit }] => Some(lit),
            _ => None,
        }
    }

    /// Whether a secret is in it.
    #[must_use]
    pub fn has_secret(&self) -> bool {
        self.0
            .iter()
            .any(|segment| matches!(segment, Segment::Secret { .. }))
    }

    /// The inputs in it.
    pub fn inputs(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter_map(|segment| match segment {
            Segment::Input { input, .. } => Some(input.as_str()),
            _ => None,
        })
    }

    /// The text with each variable as `{NAME}`.
    #[must_use]
    pub fn display(&self) -> String {
        let mut text = String::new();
        for segment in &self.0 {
            match segment {
                Segment::Literal { lit } => text.push_str(lit),
                Segment::Input { input: name, .. } | Segment::Secret { secret: name, .. } => {
                    text.push('{');
                    text.push_str(name);
                    text.push('}');
                }
            }
        }
        text
    }
}
