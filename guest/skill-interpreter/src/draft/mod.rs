//! What a source says, before variables are told apart into inputs and secrets.
//!
//! A reader of commands or documents makes drafts; [`crate::assemble`] makes operations of them. A draft keeps texts as they
//! are written: which part is literal, which a variable, and how both were quoted.

mod declaration;
mod http;
mod sandbox;
mod stage;
mod template;

pub use declaration::{
    ApprovalWish, Declaration, Identity, Importance, InputDeclaration, InputPlace,
    SandboxDeclaration, TextIdentity, WirePlace,
};
pub use http::{
    AuthDraft, BodyDraft, HeaderDraft, HeaderValue, HttpDraft, JsonDraft, MultipartDraft,
    OutputDraft, PartContent, Piece, QueryDraft, Schemeless, WrittenAs,
};
pub use sandbox::SandboxDraft;
pub use stage::{DraftStage, FilterDraft};
pub use template::{Literal, Origin, Part, Quoting, Spelling, Template, Variable};

use crate::failure::Failure;
pub use crate::model::{Example, Excerpt, FileUse, HttpLimits, Media, Package, Program};

/// A word of a command line: a template whose literals know how they were quoted.
pub type Word = Template;

/// One thing that could become an operation.
#[derive(Debug, Clone, PartialEq)]
pub struct Draft {
    /// Where it begins, counted from 1 in the document or the command.
    pub line: u32,
    /// The comment on the line directly above its statement, without its mark.
    pub comment: Option<String>,
    /// As it was written, for examples; not for deciding anything.
    pub text: String,
    /// Its stages in order, at least one; or why it is unusable.
    pub plan: Result<Vec<DraftStage>, Failure>,
}
