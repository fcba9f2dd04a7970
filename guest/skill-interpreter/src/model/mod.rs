//! What comes out: the JSON of section 2.1, with kebab-case keys (K-06).
//!
//! The host recomputes digests, hosts and tiers from it (K-04), so what it says is complete: nothing that is done is left to
//! be read out of a text again.

mod body;
mod operation;
mod segment;
mod skill;
mod stage;

pub use body::{Body, JsonMember, JsonNode, MultipartPart, PartValue, PieceOut};
pub use operation::{
    Endpoint, Files, LoadSubject, Operation, OperationSecret, Policy, PolicySource, SecretKind,
    Status,
};
pub use segment::{Encoding, Segment, Segments, Style};
pub use skill::{Format, Skill};
pub use stage::{
    AuthOut, Basic, ExcerptOut, HeaderOut, HttpStage, OutputFile, Pair, ProgramOut, ReadFileStage,
    Runtime, SandboxStage, Stage,
};
