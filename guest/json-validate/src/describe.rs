//! What the component says of itself (TS-07).

/// One JSON object with `name`, `description`, `input_schema` and `output_schema`.
#[must_use]
pub fn describe() -> &'static str {
    include_str!("describe.json").trim_ascii_end()
}
