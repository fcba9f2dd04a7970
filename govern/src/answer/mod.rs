//! What the interpreter answers: the JSON of section 2.1, read.
//!
//! It is derived from hostile input: nothing here was checked. [`crate::check`] recomputes digests, hosts and tiers (K-04).

mod body;
mod operation;
mod segment;
mod skill;
mod stage;

pub use body::{Body, FileUse, JsonMember, JsonNode, Media, MultipartPart, PartValue, PieceOut};
pub use operation::{
    Example, Files, Operation, OperationSecret, Policy, PolicySource, SecretKind, Status,
};
pub use segment::{Encoding, Segment, Segments, Style};
pub use skill::{Diagnostic, Format, Severity, Skill};
pub use stage::{
    AuthOut, Basic, ExcerptOut, HeaderOut, HttpLimits, HttpStage, OutputFile, Package, Pair,
    ProgramOut, ReadFileStage, Runtime, SandboxStage, Stage,
};
