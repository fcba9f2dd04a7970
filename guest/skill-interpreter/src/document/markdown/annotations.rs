//! Which annotation stands at which fence (K-109, K-110), its schemas read.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::annotation::{self, Annotation};
use super::info;
use super::outline::{Block, Fence, Kind, Outline};
use crate::diagnostic::Diagnostics;
use crate::document::structured::field::Field;
use crate::document::structured::schema;
use crate::draft::InputDeclaration;
use crate::failure::{Code, Failure};
use crate::identifier::is_id;
use kit::yaml;

/// The annotations of a document, by the position of the block that each is about.
#[derive(Debug, Default)]
pub(crate) struct Annotations {
    of: BTreeMap<usize, Said>,
}

/// What is said about a fence.
#[derive(Debug, Clone)]
pub(crate) enum Said {
    /// K-113: something that cannot be read; the fence yields no operation.
    Invalid,
    Given(Box<Given>),
}

/// An annotation with its schemas.
#[derive(Debug, Clone, Default)]
pub(crate) struct Given {
    pub(crate) annotation: Annotation,
    pub(crate) input: Option<InputDeclaration>,
    pub(crate) output: Option<Value>,
}

impl Annotations {
    /// Reads all of them.
    pub(crate) fn read(outline: &Outline, diagnostics: &mut Diagnostics) -> Self {
        let mut annotations = Self::default();
        let mut before: Option<&Block> = None;
        for (position, block) in outline.blocks.iter().enumerate() {
            let comment = before.take();
            match &block.kind {
                Kind::Fence(fence) => {
                    // K-110: directly before the fence, and within what the fence is in.
                    let near = comment.filter(|comment| comment.item == block.item);
                    if let Some(said) = said(near, fence, block.line, diagnostics) {
                        annotations.of.insert(position, said);
                    }
                }
                Kind::Comment(_) => before = Some(block),
                _ => {}
            }
            // Whoever wrote it meant something by it.
            if let Some(comment) = comment.filter(|_| !annotations.of.contains_key(&position))
                && let Kind::Comment(text) = &comment.kind
                && !matches!(annotation::of_comment(text), Ok(None))
            {
                diagnostics.warn(
                    Code::AnnotationInvalid,
                    comment.line,
                    "the annotation stands before no fence",
                );
            }
        }
        annotations
    }

    /// What is said about the fence at a position.
    pub(crate) fn of(&self, position: usize) -> Option<&Said> {
        self.of.get(&position)
    }

    /// The secrets that annotations ask for (K-190).
    pub(crate) fn secrets(&self) -> impl Iterator<Item = String> {
        self.of.values().flat_map(|said| match said {
            Said::Given(given) => given.annotation.secrets.clone(),
            Said::Invalid => Vec::new(),
        })
    }
}

fn said(
    comment: Option<&Block>,
    fence: &Fence,
    line: u32,
    diagnostics: &mut Diagnostics,
) -> Option<Said> {
    let (_, words) = info::split(&fence.info);
    let info = annotation::of_info(words);
    let (comment, comment_line) = match comment.map(|block| (&block.kind, block.line)) {
        Some((Kind::Comment(text), line)) => (annotation::of_comment(text), line),
        _ => (Ok(None), line),
    };
    let (annotation, line) = match (info, comment) {
        (Ok(None), Ok(None)) => return None,
        (Ok(Some(info)), Ok(None)) => (info, line),
        (Ok(None), Ok(Some(comment))) => (comment, comment_line),
        (Ok(Some(info)), Ok(Some(comment))) => {
            diagnostics.warn(
                Code::AnnotationBoth,
                line,
                "the fence is annotated in its info string and in a comment; the comment wins",
            );
            (Annotation::merged(info, comment), comment_line)
        }
        (Err(invalid), _) => {
            diagnostics.error(Code::AnnotationInvalid, line, invalid.to_string());
            return Some(Said::Invalid);
        }
        (_, Err(invalid)) => {
            diagnostics.error(Code::AnnotationInvalid, comment_line, invalid.to_string());
            return Some(Said::Invalid);
        }
    };
    Some(match given(annotation, line) {
        Ok(given) => Said::Given(Box::new(given)),
        Err(message) => {
            diagnostics.error(Code::AnnotationInvalid, line, message);
            Said::Invalid
        }
    })
}

fn given(annotation: Annotation, line: u32) -> Result<Given, String> {
    // K-08
    if annotation.op.as_deref().is_some_and(|op| !is_id(op)) {
        return Err("op of the annotation is not an id".to_owned());
    }
    let wrong = |failure: Failure| failure.message;
    Ok(Given {
        input: match &annotation.input {
            Some(value) => declared("input", value, line, schema::input).map_err(wrong)?,
            None => None,
        },
        output: match &annotation.output {
            Some(value) => Some(declared("output", value, line, schema::output).map_err(wrong)?),
            None => None,
        },
        annotation,
    })
}

/// Reads a schema in any form of K-84, as if it stood under `key`.
fn declared<T>(
    key: &str,
    value: &Value,
    line: u32,
    read: impl Fn(Field<'_, '_>) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let invalid = || Failure::new(Code::Schema, format!("{key}: expected map"));
    let text = json!({ key: value }).to_string();
    let tree = yaml::read_json(&text, line).map_err(|_| invalid())?;
    let root = Field::root(tree.root().ok_or_else(invalid)?);
    let field = root.get(key).ok_or_else(invalid)?;
    read(field)
}
