//! Labelled groups (K-98): `**Endpoint**`, `**Method**` and alike under one heading.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use super::info::is_target;
use super::outline::{Block, Kind, Outline, Span, plain};
use super::wording::is_constant_name;
use crate::document::tree;
use crate::http_command::verb::VERBS;

/// What a label is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Label {
    Endpoint,
    Method,
    InputSchema,
    OutputSchema,
    Auth,
    Runtime,
}

/// The groups of a document.
#[derive(Debug, Default)]
pub(crate) struct Groups {
    /// By the position of the block with the label `Endpoint`; one block may hold several.
    groups: BTreeMap<usize, Vec<Group>>,
    /// Positions of the blocks that are labels of a group or their values.
    taken: BTreeSet<usize>,
}

/// A group.
#[derive(Debug, Default, Clone)]
pub(crate) struct Group {
    pub(crate) line: u32,
    values: BTreeMap<Label, Labelled>,
}

/// What follows a label.
#[derive(Debug, Default, Clone)]
struct Labelled {
    /// The first code span, else the text.
    text: String,
    /// The whole text.
    words: String,
    /// A fence that belongs to it.
    fence: Option<String>,
}

/// A label that was met, before it is known whether its section has an endpoint.
struct Met {
    position: usize,
    line: u32,
    label: Label,
    labelled: Labelled,
    /// The fence among its values.
    fence: Option<usize>,
}

impl Groups {
    /// Finds all groups.
    pub(crate) fn read(outline: &Outline) -> Self {
        let mut sections: BTreeMap<usize, Vec<Met>> = BTreeMap::new();
        for (position, block) in outline.blocks.iter().enumerate() {
            match &block.kind {
                Kind::Text(spans) => {
                    for (label, labelled) in labels(spans) {
                        sections.entry(block.section).or_default().push(Met {
                            position,
                            line: block.line,
                            label,
                            labelled,
                            fence: None,
                        });
                    }
                }
                Kind::Fence(fence) => {
                    let last = sections
                        .get_mut(&block.section)
                        .and_then(|met| met.last_mut());
                    if let Some(last) = last
                        && last.fence.is_none()
                        && outline.blocks.get(last.position).is_some_and(|label| {
                            is_value(
                                outline,
                                label,
                                &last.labelled,
                                last.position,
                                block,
                                position,
                            )
                        })
                    {
                        last.labelled.fence = Some(fence.text.clone());
                        last.fence = Some(position);
                    }
                }
                _ => {}
            }
        }
        let mut groups = Self::default();
        for met in sections.into_values() {
            groups.section(met);
        }
        groups
    }

    /// The groups whose endpoint stands in the block at a position.
    pub(crate) fn at(&self, position: usize) -> &[Group] {
        self.groups.get(&position).map_or(&[], Vec::as_slice)
    }

    /// Whether the block at a position is a part of a group.
    pub(crate) fn has(&self, position: usize) -> bool {
        self.taken.contains(&position)
    }

    /// The labels of one section: a group begins with each endpoint but the first, which takes what stands before it.
    fn section(&mut self, met: Vec<Met>) {
        let is_endpoint =
            |met: &Met| met.label == Label::Endpoint && met.labelled.endpoint().is_some();
        if !met.iter().any(is_endpoint) {
            return;
        }
        let mut group = Group::default();
        let mut endpoint = None;
        for label in met {
            let begins = is_endpoint(&label);
            if begins && let Some(position) = endpoint {
                let complete = std::mem::take(&mut group);
                self.groups.entry(position).or_default().push(complete);
            }
            if begins {
                endpoint = Some(label.position);
                group.line = label.line;
            }
            self.taken.insert(label.position);
            self.taken.extend(label.fence);
            group.values.entry(label.label).or_insert(label.labelled);
        }
        if let Some(position) = endpoint {
            self.groups.entry(position).or_default().push(group);
        }
    }
}

/// Whether a fence is a label's value: it is in the label's item, or it follows a label without one.
fn is_value(
    outline: &Outline,
    label: &Block,
    labelled: &Labelled,
    label_position: usize,
    fence: &Block,
    position: usize,
) -> bool {
    match label.item {
        Some(item) => outline
            .items_around(fence.item)
            .any(|(around, _)| around == item),
        None => labelled.text.is_empty() && label_position.saturating_add(1) == position,
    }
}

/// The labels of a text, each at the beginning of a line or after another one.
fn labels(spans: &[Span]) -> Vec<(Label, Labelled)> {
    let mut found: Vec<(Label, Vec<Span>)> = Vec::new();
    let mut begins = true;
    let mut open = false;
    for span in spans {
        match span {
            Span::Break => {
                begins = true;
                open = false;
            }
            Span::Bold(text) if (begins || open) && label(text).is_some() => {
                found.extend(label(text).map(|label| (label, Vec::new())));
                begins = false;
                open = true;
            }
            Span::Text(text) if begins && text.trim().is_empty() => {}
            span => {
                begins = false;
                if open && let Some((_, value)) = found.last_mut() {
                    value.push(span.clone());
                }
            }
        }
    }
    found
        .into_iter()
        .map(|(label, value)| (label, Labelled::of(&value)))
        .collect()
}

fn label(text: &str) -> Option<Label> {
    let text = text.trim().trim_end_matches(':').trim_end();
    [
        ("endpoint", Label::Endpoint),
        ("method", Label::Method),
        ("input schema", Label::InputSchema),
        ("output schema", Label::OutputSchema),
        ("auth", Label::Auth),
        ("runtime", Label::Runtime),
    ]
    .into_iter()
    .find(|(name, _)| text.eq_ignore_ascii_case(name))
    .map(|(_, label)| label)
}

impl Labelled {
    fn of(spans: &[Span]) -> Self {
        let code = super::listed::first_code(spans).map(|(code, _)| code.trim().to_owned());
        let text = plain(spans).trim_start_matches([':', ' ']).to_owned();
        Self {
            text: code.unwrap_or_else(|| text.clone()),
            words: text,
            fence: None,
        }
    }

    /// The method, if it stands there, and the address of an endpoint.
    fn endpoint(&self) -> Option<(Option<&str>, &str)> {
        let text = self
            .fence
            .as_deref()
            .filter(|_| self.text.is_empty())
            .unwrap_or(&self.text)
            .trim();
        let (method, target) = match text.split_once(char::is_whitespace) {
            Some((verb, target)) if VERBS.contains(&verb) => (Some(verb), target.trim()),
            _ => (None, text),
        };
        let target = target.trim_end_matches(['.', ',', ';']);
        (is_target(target) && !target.contains(char::is_whitespace)).then_some((method, target))
    }

    /// The value as data; none if there is none.
    fn data(&self) -> Option<Value> {
        let text = self.fence.as_ref().unwrap_or(&self.text);
        let tree = tree::read_yaml(text, 1).ok()?;
        Some(tree.root()?.to_json())
    }
}

impl Group {
    /// The group as an operation of section 5; the value of a label that is not readable is left out, but that of a schema,
    /// which is kept for the reader of section 5 to refuse.
    ///
    /// `default_secret` is what a credential is called that the document does not name (K-192).
    pub(crate) fn operation(&self, default_secret: &str) -> Value {
        let mut operation = Map::new();
        let labelled = |label: Label| self.values.get(&label);
        let endpoint = labelled(Label::Endpoint).and_then(Labelled::endpoint);
        if let Some((method, target)) = endpoint {
            operation.insert("endpoint".to_owned(), json!(target));
            let named =
                labelled(Label::Method).map(|method| method.text.trim().to_ascii_uppercase());
            let named = named.filter(|method| VERBS.contains(&method.as_str()));
            if let Some(method) = method.map(str::to_owned).or(named) {
                operation.insert("method".to_owned(), json!(method));
            }
        }
        for (label, key) in [
            (Label::InputSchema, "input_schema"),
            (Label::OutputSchema, "output_schema"),
        ] {
            if let Some(labelled) = labelled(label) {
                let data = labelled.data();
                let shown = labelled.fence.is_some();
                if let Some(schema) = data.filter(|data| data.is_object() || shown) {
                    operation.insert(key.to_owned(), schema);
                } else if shown {
                    operation.insert(key.to_owned(), json!(""));
                }
            }
        }
        if let Some(auth) = labelled(Label::Auth).and_then(|label| auth(label, default_secret)) {
            operation.insert("auth".to_owned(), auth);
        }
        Value::Object(operation)
    }
}

/// K-83 from words: `Bearer token (`API_KEY`)`, or data in a fence.
fn auth(labelled: &Labelled, default_secret: &str) -> Option<Value> {
    if labelled.fence.is_some() {
        return labelled.data().filter(Value::is_object);
    }
    let words = labelled.words.to_lowercase();
    let has = |word: &str| words.contains(word);
    let tokens = || {
        let separates =
            |character: char| !(character.is_alphanumeric() || matches!(character, '_' | '-'));
        labelled.words.split(separates)
    };
    let names: Vec<&str> = tokens()
        .filter(|token| token.contains('_') && is_constant_name(token))
        .collect();
    let kind = if has("bearer") || has("oauth") {
        "bearer"
    } else if has("basic") {
        "basic"
    } else if has("none") || has("not required") {
        "none"
    } else if has("key") || has("header") {
        "api_key"
    } else if names.is_empty() {
        return None;
    } else {
        "bearer"
    };
    let mut auth = Map::new();
    auth.insert("type".to_owned(), json!(kind));
    match (kind, names.as_slice()) {
        ("none", _) | ("basic", []) => {}
        ("basic", names) => {
            auth.insert("env_vars".to_owned(), json!(names));
        }
        (_, names) => {
            let name = names.first().copied().unwrap_or(default_secret);
            auth.insert("env_var".to_owned(), json!(name));
        }
    }
    if kind == "api_key"
        && let Some(header) =
            tokens().find(|token| token.starts_with("X-") || token.starts_with("x-"))
    {
        auth.insert("name".to_owned(), json!(header));
    }
    Some(Value::Object(auth))
}
