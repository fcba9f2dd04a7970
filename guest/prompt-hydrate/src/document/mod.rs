//! What is written for the agent: the file and the short instruction.
//!
//! Inserted text is never scanned again, and text of others stands in fences that it cannot end.

mod file;
mod instruction;
mod model_request;
mod section;
mod template;

pub use file::{Parts, file_text};
pub use instruction::{instruction, preview};
pub use model_request::{ModelRequest, model_request};
pub(crate) use section::is_printable;
pub use section::{Rendered, codebase_section, memory_section, session_section};
