//! The guardrails of a plan.

use super::expand::holds;
use crate::catalogue::{Workflow, is_skill};
use crate::route::Route;

/// Returns the workflow's list, then each list whose condition holds, without repeats. All are registered: others are
/// taken out of a catalogue when it loads.
pub(super) fn selected(workflow: &Workflow, route: &Route) -> Vec<String> {
    let skill = route.skill.as_ref().map(|(name, _)| name.as_str());
    let conditional = workflow.guardrails_when.iter();
    let conditional = conditional.filter(|(condition, _)| holds(*condition, route));
    let lists = std::iter::once(&workflow.guardrails).chain(conditional.map(|(_, names)| names));
    let mut all: Vec<String> = Vec::new();
    for name in lists.flatten() {
        let name = with_parameter(name, skill);
        if !all.contains(&name) {
            all.push(name);
        }
    }
    all
}

/// `require_skill:{skill}` or `require_skill:<name>` with the skill of the route; the bare name where there is none.
fn with_parameter(guardrail: &str, skill: Option<&str>) -> String {
    match guardrail.split_once(':') {
        Some((name, parameter)) if !is_skill(parameter) => {
            match skill.filter(|skill| is_skill(skill)) {
                Some(skill) => format!("{name}:{skill}"),
                None => name.to_owned(),
            }
        }
        _ => guardrail.to_owned(),
    }
}
