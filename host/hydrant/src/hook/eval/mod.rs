//! Measuring the planner on labelled prompts.

mod measure;
mod report;
mod row;

pub use measure::{Confusion, Measured, Outcome, Proportion, Recall, Routed, Wrong, measure};
pub use report::{report_json, report_text};
pub use row::{MAX_FILE_BYTES, MalformedRow, Row, Turn, read_rows};
