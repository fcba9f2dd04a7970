//! What an operation of a foreign skill does, as data.
//!
//! The interpreter makes these types of a document, and the governor executes them. Nothing here parses what a stranger
//! wrote, and nothing that is read into these types was checked: it is derived from hostile input.

/// Moves whenever the same document becomes other operations, and with it the digest of each. The host believes no
/// interpreter with another one: what it does not say would be taken for unsaid.
pub const MAPPING_VERSION: &str = "2";

mod body;
pub mod digest;
pub mod failure;
pub mod header;
pub mod judge;
mod judged;
mod operation;
pub mod show;
mod skill;
mod stage;
mod steering;
mod text;

pub use body::{Body, FileUse, JsonMember, JsonNode, Media, MultipartPart, PartValue, PieceOut};
pub use failure::{Code, Failure};
pub use judged::{JudgedOperation, Policy, PolicySource};
pub use operation::{
    Asks, EgressWish, Example, Files, Operation, OperationSecret, SecretKind, Status,
};
pub use skill::{Diagnostic, Format, Severity, Skill};
pub use stage::{
    AuthOut, Basic, Excerpt, FILTER_OPTIONS, Fetches, HeaderOut, HttpLimits, HttpStage, OutputFile,
    Package, Pair, Program, ReadFileStage, Runtime, SandboxStage, Stage,
};
pub use steering::steers;
pub use text::{Encoding, Segment, Segments, Style};
