//! The guardrails of a plan.

use super::expand::Expansion;
use crate::catalogue::{Catalogue, Workflow, is_skill};
use crate::route::Route;

/// The workflow's list, then each list whose condition holds, without repeats.
pub(super) fn selected(catalogue: &Catalogue, workflow: &Workflow, route: &Route) -> Vec<String> {
    let expansion = Expansion {
        catalogue,
        cues: &route.cues,
        refusal: route.refusal,
        collapsed: false,
    };
    let skill = route.skill.as_ref().map(|(name, _)| name.as_str());
    let conditional = workflow
        .guardrails_when
        .iter()
        .filter(|(condition, _)| expansion.holds(*condition))
        .map(|(_, names)| names);
    let mut all: Vec<String> = Vec::new();
    for name in std::iter::once(&workflow.guardrails)
        .chain(conditional)
        .flatten()
    {
        let name = with_parameter(name, skill);
        if is_name(&name) && !all.contains(&name) {
            all.push(name);
        }
    }
    all
}

/// `require_skill:{skill}` or `require_skill:<name>` with the skill of the route; the bare name where there is none.
fn with_parameter(guardrail: &str, skill: Option<&str>) -> String {
    let Some((name, parameter)) = guardrail.split_once(':') else {
        return guardrail.to_owned();
    };
    if is_skill(parameter) {
        return guardrail.to_owned();
    }
    match skill.filter(|skill| is_skill(skill)) {
        Some(skill) => format!("{name}:{skill}"),
        None => name.to_owned(),
    }
}

/// `[a-z_]+(:[A-Za-z0-9._:-]+)?`
pub(super) fn is_name(text: &str) -> bool {
    let (name, parameter) = match text.split_once(':') {
        Some((name, parameter)) => (name, Some(parameter)),
        None => (text, None),
    };
    !name.is_empty()
        && name.bytes().all(|b| b.is_ascii_lowercase() || b == b'_')
        && parameter.is_none_or(is_skill)
}
