//! Onboarding that is written as text, as the data that structured documents give.
//!
//! A section whose slug starts `onboarding` is kept as text, and its numbered items become steps. Which of them name an
//! operation is known only when operations have their ids: [`link`] says so then.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::lines::Lines;
use super::numbering::Taken;
use super::outline::{Kind, Outline, Span, plain};
use super::wording::is_required_line;
use crate::identifier::{fold, is_id, slug};
use crate::model::Operation;

/// Reads the sections about onboarding; none if there is none.
pub(crate) fn read(outline: &Outline, lines: &Lines<'_>) -> Option<Value> {
    let inside = sections(outline);
    let text = text(outline, &inside, lines)?;
    let steps = steps(outline, &inside);
    Some(json!({
        // Only if the document says so.
        "required": text.lines().any(is_required_line),
        "text": text,
        "steps": steps,
    }))
}

/// Whether onboarding, in either form, has a step.
pub(crate) fn has_steps(onboarding: Option<&Value>) -> bool {
    let steps = onboarding.and_then(|onboarding| onboarding.get("steps"));
    steps
        .and_then(Value::as_array)
        .is_some_and(|steps| !steps.is_empty())
}

/// Makes `api_call` of the steps that name an operation of the skill, by id or alias. Onboarding that was given as data is
/// left as it is: it says so itself.
pub fn link(onboarding: Option<&mut Value>, operations: &[Operation]) {
    let Some(onboarding) = onboarding.filter(|onboarding| onboarding.get("text").is_some()) else {
        return;
    };
    let mut ids: BTreeMap<String, &str> = BTreeMap::new();
    for operation in operations {
        for name in std::iter::once(&operation.id).chain(&operation.aliases) {
            ids.entry(fold(name)).or_insert(&operation.id);
            // An id that is verbatim may hold what a slug does not.
            if let Some(slug) = slug(name) {
                ids.entry(slug).or_insert(&operation.id);
            }
        }
    }
    let steps = onboarding.get_mut("steps").and_then(Value::as_array_mut);
    for step in steps.into_iter().flatten() {
        let title = step.pointer("/action/title").and_then(Value::as_str);
        let name = title.and_then(slug);
        let Some(id) = name.and_then(|name| ids.get(&name)) else {
            continue;
        };
        if let Some(step) = step.as_object_mut() {
            step.insert("type".to_owned(), json!("api_call"));
            step.insert("operation".to_owned(), json!(id));
            step.shift_remove("action");
        }
    }
}

/// For each section, the outermost section about onboarding that it is in or is.
fn sections(outline: &Outline) -> Vec<Option<usize>> {
    let mut inside: Vec<Option<usize>> = Vec::with_capacity(outline.sections.len());
    for (index, section) in outline.sections.iter().enumerate() {
        let inherited = section
            .parent
            .and_then(|parent| inside.get(parent).copied());
        let own = slug(&section.title)
            .is_some_and(|slug| slug.starts_with("onboarding"))
            .then_some(index);
        inside.push(inherited.flatten().or(own));
    }
    inside
}

/// The source of the sections, without their first heading.
fn text(outline: &Outline, inside: &[Option<usize>], lines: &Lines<'_>) -> Option<String> {
    let mut texts: Vec<String> = Vec::new();
    for (index, section) in outline.sections.iter().enumerate() {
        if inside.get(index).copied().flatten() != Some(index) {
            continue;
        }
        let after = outline
            .sections
            .iter()
            .enumerate()
            .skip(index.saturating_add(1));
        let end = after
            .filter(|(next, _)| inside.get(*next).copied().flatten() != Some(index))
            .map(|(_, next)| next.line)
            .next()
            .unwrap_or(u32::MAX);
        let first = section.line.saturating_add(1);
        let numbers = first..end.min(lines.count().saturating_add(1));
        let source: Vec<&str> = numbers.filter_map(|number| lines.get(number)).collect();
        texts.push(source.join("\n").trim().to_owned());
    }
    (!texts.is_empty()).then(|| texts.join("\n\n"))
}

/// Numbered items whose first bold or code span is a name.
fn steps(outline: &Outline, inside: &[Option<usize>]) -> Vec<Value> {
    let mut steps = Vec::new();
    let mut taken = Taken::default();
    let mut seen = BTreeSet::new();
    for block in &outline.blocks {
        let (Kind::Text(spans), Some(item)) = (&block.kind, block.item) else {
            continue;
        };
        if inside.get(block.section).copied().flatten().is_none() || !is_step(outline, item) {
            continue;
        }
        // The item's first text is what it is about.
        if !seen.insert(item) {
            continue;
        }
        let first = spans
            .iter()
            .find(|span| matches!(span, Span::Bold(_) | Span::Code(_)));
        let Some((title, id)) = first.and_then(name) else {
            continue;
        };
        steps.push(json!({
            "id": taken.numbered(&id),
            "type": "human_action",
            "action": { "title": title, "instructions": plain(spans) },
        }));
    }
    steps
}

/// Whether an item is numbered and in no other numbered item.
fn is_step(outline: &Outline, item: usize) -> bool {
    let mut around = outline.items_around(Some(item));
    around.next().is_some_and(|(_, item)| item.numbered) && !around.any(|(_, item)| item.numbered)
}

/// A name and its slug: bold text, or code that could be an id.
fn name(span: &Span) -> Option<(String, String)> {
    let title = span.text().trim().trim_end_matches([':', '.']).trim();
    let named = match span {
        Span::Code(_) => is_id(title),
        _ => true,
    };
    let id = slug(title).filter(|_| named)?;
    Some((title.to_owned(), id))
}
