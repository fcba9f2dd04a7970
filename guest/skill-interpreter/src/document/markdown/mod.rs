//! Markdown skills.
//!
//! The document is read once into an `outline`: sections and blocks with their lines. What it says of its skill comes
//! first, because names of secrets and the base URL decide how commands are read; then `body` goes through the blocks in
//! order and makes candidates for operations. [`naming`] joins duplicates and gives ids when the candidates are assembled.

mod addresses;
mod annotation;
mod body;
mod bounds;
mod front;
mod info;
mod lines;
mod listed;
pub mod naming;
pub(crate) mod numbering;
pub mod onboarding;
mod outline;
mod prompt;
mod result;
mod section;
mod wording;

#[cfg(test)]
mod tests;

use super::Document;
use crate::assemble::is_base_name;
use crate::assemble::secrets::looks_secret;
use crate::context::Context;
use crate::diagnostic::{Diagnostics, excerpt};
use crate::failure::{Code, Failure};
use crate::identifier::slug;
use crate::limits;
use crate::request::LoadRequest;
use body::Body;
use front::FrontMatter;
use lines::Lines;
use outline::Outline;

/// A body of fewer bytes is a stub.
const STUB_BYTES: usize = 200;

/// Candidates of a document: twice the operations of a skill, because some turn out to be the same.
const CANDIDATES: usize = 2 * limits::OPERATIONS;

/// Reads a Markdown skill. The text has no byte order mark.
///
/// # Errors
///
/// `name-missing`, `no-operations`, `limit`, and `schema` and `unknown-op-key` for keys of front
/// matter.
pub fn read(
    text: &str,
    request: &LoadRequest,
    diagnostics: &mut Diagnostics,
) -> Result<Document, Failure> {
    let split = kit::front_matter::split(text);
    let content = text.get(split.content..).unwrap_or_default();
    let lines = Lines::new(text);
    let first_line = lines.number(split.content);
    bounds::check(
        content,
        (first_line..=lines.count()).filter_map(|number| lines.get(number)),
    )?;
    let outline = Outline::read(content, split.content, &lines);

    let front_matter = split.front_matter.and_then(|range| text.get(range));
    let front = FrontMatter::read(front_matter, diagnostics)?;
    let mut skill = front.skill.clone();
    section::identify(&mut skill, &outline);
    if slug(&skill.name).is_none() && skill.id.is_none() && request.as_id.is_none() {
        return Err(Failure::new(
            Code::NameMissing,
            "neither front matter nor a first-level heading names the skill",
        ));
    }
    content.clone_into(&mut skill.instructions);
    let asked = section::secrets(&outline);
    for name in &asked {
        skill.settings.remove(name);
    }
    let hosts = addresses::hosts(&lines);
    skill.settings.retain(|name| {
        let is_host = hosts.contains(name.as_str()) || is_base_name(name, false);
        is_host && !looks_secret(name)
    });
    // What the request says of a setting is no secret any more.
    let is_given =
        |name: &String| skill.settings.contains(name) && request.constants.contains_key(name);
    skill.secrets.retain(|name| !is_given(name));
    add_new(&mut skill.secrets, asked);
    if skill.base_url.is_none() {
        skill.base_url = section::base_url(&outline, &lines);
    }
    skill.addresses = addresses::read(&outline, &lines);
    if skill.base_url.is_none()
        && let Some(base) = addresses::only_base(&skill.addresses)
    {
        let message = format!("the document says no base URL; {} is taken", excerpt(base));
        diagnostics.info(Code::BaseAssumed, first_line, message);
        skill.base_url = Some(base.to_owned());
    }
    if skill.onboarding.is_none() {
        skill.onboarding = onboarding::read(&outline, &lines);
    }

    let context = Context::of_load(request, &skill)?;
    let mut candidates = front.operations(&context, diagnostics)?;
    let body = Body::new(&outline, &lines, &context, front.code_fences);
    candidates.extend(body.read(diagnostics)?);
    if candidates.len() > CANDIDATES {
        return Err(Failure::exceeded("operations", limits::OPERATIONS));
    }
    if candidates.is_empty() {
        if content.len() < STUB_BYTES {
            diagnostics.info(Code::Stub, 1, "the document says almost nothing");
        }
        // Without operations, a skill that describes itself is informational.
        let described = front.says_name_and_description;
        if !described && !onboarding::has_steps(skill.onboarding.as_ref()) {
            return Err(Failure::new(Code::NoOperations, "no operations found"));
        }
    }
    Ok(Document {
        skill,
        context,
        candidates,
    })
}

/// Adds the names that are not there yet, in order.
fn add_new(names: &mut Vec<String>, more: impl IntoIterator<Item = String>) {
    let mut known: std::collections::BTreeSet<String> = names.iter().cloned().collect();
    for name in more {
        if known.insert(name.clone()) {
            names.push(name);
        }
    }
}
