//! What the main agent is told (section 8): a short text that names the file, or the plan itself.
//!
//! It tells of the user's own hook in a neutral voice, and holds of the prompt no more than its preview.

use super::template::{Template, failure};
use crate::plan::Plan;
use crate::redact::is_invisible;
use crate::request::{Mode, Options};
use crate::respond::Failure;

const DEFAULT: &str = include_str!("templates/instruction.md");
const INLINE: &str = include_str!("templates/inline.md");

///
const NAMES: &[&str] = &["path", "preview", "model"];

///
const PREVIEW_CHARS: usize = 80;

/// with everything as it is by default, and otherwise.
const DEFAULT_CHARS: usize = 400;
const MAX_CHARS: usize = 500;

///
const INLINE_CHARS: usize = 8_000;

/// What an instruction is made of.
#[derive(Debug, Clone, Copy)]
pub struct Addressed<'a> {
    /// What the user typed.
    pub prompt: &'a str,
    /// Of the file.
    pub path: &'a str,
    /// The plan, for inline mode.
    pub plan: &'a Plan,
    /// Mode, model, and whether the directory is the default one.
    pub options: &'a Options,
}

/// The instruction.
///
/// # Errors
/// `template` for a template that Q-48 refuses, and where even without a preview the text is too long.
pub fn instruction(template: Option<&str>, addressed: Addressed<'_>) -> Result<String, Failure> {
    let compiled = Template::parse(template.unwrap_or(DEFAULT), NAMES, "path")?;
    let Addressed {
        prompt,
        path,
        plan,
        options,
    } = addressed;
    if options.mode == Mode::Inline {
        return inline(path, plan);
    }
    let defaults = Options::default();
    let is_default =
        template.is_none() && options.directory_is_default && options.model == defaults.model;
    let most = if is_default { DEFAULT_CHARS } else { MAX_CHARS };
    // the preview gives way first.
    (0..=PREVIEW_CHARS)
        .rev()
        .map(|length| {
            let preview = preview(prompt, length);
            let text = compiled.fill(|name| match name {
                "path" => path,
                "preview" => &preview,
                _ => &options.model,
            });
            text.trim().to_owned()
        })
        .find(|text| text.chars().count() <= most)
        .ok_or_else(|| failure("the instruction is longer than 500 characters"))
}

///
fn inline(path: &str, plan: &Plan) -> Result<String, Failure> {
    let sentence = Template::parse(INLINE, NAMES, "path")?;
    let sentence = sentence.fill(|name| if name == "path" { path } else { "" });
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
