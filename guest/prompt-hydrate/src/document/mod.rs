//! What is written for the agent: the file (sections 6 and 7) and the short instruction (section 8).
//!
//! Inserted text is never scanned again, and text of others stands in fences that it cannot end.

mod file;
mod instruction;
mod model_request;
mod section;
mod template;

pub use file::{Parts, file_text};
pub use instruction::{Addressed, instruction, preview};
pub use model_request::{ModelRequest, model_request};
pub(crate) use section::is_printable;
pub use section::{Rendered, codebase_section, memory_section, session_section};
