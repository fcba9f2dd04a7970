//! What the main agent is told: a short text that names the file, or the plan itself.
//!
//! It tells of the user's own hook in a neutral voice, and holds of the prompt no more than its preview.

use super::Parts;
use super::template::{failure, fill};
use crate::plan::Plan;
use crate::redact::is_invisible;
use crate::request::{Mode, Options};
use crate::respond::Failure;

const DEFAULT: &str = include_str!("templates/instruction.md");
const INLINE: &str = include_str!("templates/inline.md");

/// Characters of the preview.
const PREVIEW_CHARS: usize = 80;

/// Characters with everything as it is by default, and otherwise.
const DEFAULT_CHARS: usize = 400;
const MAX_CHARS: usize = 500;

/// Characters of an instruction that holds the plan.
const INLINE_CHARS: usize = 8_000;

/// Returns the instruction that names the file at `path`.
///
/// # Errors
/// `template` for a template that does not load, and where even without a preview the text is too long.
pub fn instruction(
    template: Option<&str>,
    path: &str,
    parts: Parts<'_>,
) -> Result<String, Failure> {
    let Parts {
        prompt,
        plan,
        options,
        ..
    } = parts;
    if options.mode == Mode::Inline {
        return inline(path, plan);
    }
    let is_default = template.is_none()
        && options.directory_is_default
        && options.model == Options::default().model;
    let most = if is_default { DEFAULT_CHARS } else { MAX_CHARS };
    // The preview gives way first.
    for length in (0..=PREVIEW_CHARS).rev() {
        let preview = preview(prompt, length);
        let text = fill(template.unwrap_or(DEFAULT), "path", |name| match name {
            "path" => Some(path),
            "preview" => Some(&preview),
            "model" => Some(&options.model),
            _ => None,
        })?;
        if text.trim().chars().count() <= most {
            return Ok(text.trim().to_owned());
        }
    }
    Err(failure("the instruction is longer than 500 characters"))
}

fn inline(path: &str, plan: &Plan) -> Result<String, Failure> {
    let sentence = fill(INLINE, "path", |_| Some(path))?;
    let text = format!("{}\n\n{}", sentence.trim(), plan.markdown());
    let text = text.trim_end();
    if text.chars().count() > INLINE_CHARS {
        return Err(Failure::new(
            "planner",
            "the plan is longer than 8000 characters",
        ));
    }
    Ok(text.to_owned())
}

/// The beginning of a prompt in one line that ends no quotation and opens no tag.
#[must_use]
pub fn preview(prompt: &str, most: usize) -> String {
    let mut preview = String::new();
    let mut length = 0_usize;
    let mut space = false;
    for c in prompt.chars() {
        if c.is_whitespace() {
            space = !preview.is_empty();
            continue;
        }
        if is_invisible(c) || matches!(c, '\\' | '<' | '>') {
            continue;
        }
        let c = if matches!(c, '"' | '`') { '\'' } else { c };
        for c in std::mem::take(&mut space)
            .then_some(' ')
            .into_iter()
            .chain([c])
        {
            if length == most {
                preview.push_str("...");
                return preview;
            }
            preview.push(c);
            length = length.saturating_add(1);
        }
    }
    preview
}
