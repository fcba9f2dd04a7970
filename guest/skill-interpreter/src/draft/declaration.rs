//! What a document says about an operation besides what it does: names, schemas, requests for secrets and egress.

use serde_json::{Map, Value};

use crate::model::Example;

/// Where an operation's id comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Identity {
    /// Given by a structured document: kept verbatim, and checked.
    Verbatim(String),
    /// Made from a document's text, in the order of its fields.
    Text(TextIdentity),
    /// A command without a document (`map`).
    Nameless,
}

/// What an id may be made of.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TextIdentity {
    /// The annotation `op`, or the slug of a list item.
    pub annotated: Option<String>,
    /// The comment line directly above the statement.
    pub comment: Option<String>,
    /// The nearest heading of level 2 to 6.
    pub heading: Option<String>,
    /// Whether its fence yields two or more operations.
    pub one_of_several: bool,
    /// Which of two duplicates is the operation.
    pub importance: Importance,
}

/// A fence goes before a list item or labelled group, whatever their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Importance {
    /// A structured operation of the frontmatter.
    Frontmatter,
    /// A fence.
    #[default]
    Fence,
    /// A list item, a table cell, a labelled group.
    Listed,
}

/// What a document says about an operation.
#[derive(Debug, Clone, PartialEq)]
pub struct Declaration {
    /// Where its id comes from.
    pub identity: Identity,
    /// Other names, as given; those that collide are dropped later.
    pub aliases: Vec<String>,
    /// Empty if nothing is said.
    pub title: String,
    /// Empty if nothing is said.
    pub description: String,
    /// Declared inputs.
    pub input: Option<InputDeclaration>,
    /// JSON Schema 2020-12.
    pub output_schema: Option<Value>,
    /// Names of secrets that the annotation or the operation asks for.
    pub secrets: Vec<String>,
    /// `skill:egress`, as written.
    pub egress: Vec<String>,
    /// Raises only.
    pub tier: Option<u8>,
    /// Added to the derived ones.
    pub effects: Vec<String>,
    /// Classes of data that it handles.
    pub data_classifications: Vec<String>,
    /// JSON Pointers into the output.
    pub returns_secret: Vec<String>,
    /// What it asks of its sandbox.
    pub sandbox: Option<SandboxDeclaration>,
    /// Recorded and shown, never installed.
    pub packages: Vec<String>,
    /// Of the operation; the skill's stands in the context.
    pub approval: ApprovalWish,
    /// What the approver is shown besides, one line each.
    pub notes: Vec<String>,
    /// What was seen of it in use.
    pub examples: Vec<Example>,
}

impl Declaration {
    /// A declaration that says nothing but the name.
    #[must_use]
    pub fn new(identity: Identity) -> Self {
        Self {
            identity,
            aliases: Vec::new(),
            title: String::new(),
            description: String::new(),
            input: None,
            output_schema: None,
            secrets: Vec::new(),
            egress: Vec::new(),
            tier: None,
            effects: Vec::new(),
            data_classifications: Vec::new(),
            returns_secret: Vec::new(),
            sandbox: None,
            packages: Vec::new(),
            approval: ApprovalWish::default(),
            notes: Vec::new(),
            examples: Vec::new(),
        }
    }
}

/// Whether a document asks for approval, whatever its tier and reasons say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ApprovalWish {
    /// It says nothing.
    #[default]
    Unsaid,
    /// `required: true`: reason `skill-requested`.
    Required,
}

/// Declared inputs.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct InputDeclaration {
    /// JSON Schema 2020-12: an object schema with `properties`; `additionalProperties: false` is set by `assemble`.
    pub schema: Map<String, Value>,
    /// Where inputs go that say so (`in:`, OpenAPI parameters). Others go into the query or the body.
    pub places: Vec<InputPlace>,
}

/// Where an input goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InputPlace {
    /// The property of the schema.
    pub input: String,
    /// Its name in the request.
    pub wire_name: String,
    /// Where it goes.
    pub place: WirePlace,
    /// How an array or object is written.
    pub style: Option<crate::model::Style>,
}

/// A place in a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WirePlace {
    /// A segment of the path, or part of one.
    Path,
    /// The query.
    Query,
    /// A header.
    Header,
    /// A cookie.
    Cookie,
    /// A member of a JSON body, a pair of a form body, a part of a multipart body.
    Body,
}

/// What an operation asks of its sandbox; not checked.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SandboxDeclaration {
    /// `network.egress`: hosts as written; `none` is empty.
    pub egress: Vec<String>,
    /// `filesystem.read`
    pub read: Vec<String>,
    /// `filesystem.write`
    pub write: Vec<String>,
    /// `resources`, kebab-case keys, in order.
    pub resources: Vec<(String, u64)>,
    /// Its line, for the derivation.
    pub line: u32,
}
