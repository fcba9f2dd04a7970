//! YAML and JSON skills.
//!
//! Both are one tree ([`kit::yaml`]), so that a JSON skill is its YAML twin. Front matter of Markdown is read by
//! [`skill_keys`] and [`operations`] as well.

mod auth;
pub mod field;
mod http;
pub mod onboarding;
mod operation;
mod program;
mod sandbox;
pub mod schema;
mod skill;

pub use operation::operations;
pub use skill::skill_keys;

use self::field::Field;
use super::{Document, SkillDeclaration};
use crate::context::{AssumedAuth, Context};
use crate::diagnostic::Diagnostics;
use crate::failure::{Code, Failure};
use crate::model::Format;
use crate::request::LoadRequest;
use kit::yaml::{self, Node, Tree};

/// Reads a YAML or JSON skill.
///
/// # Errors
///
/// Those of a skill that is none, `json`, `yaml` and `limit`.
pub fn read(
    text: &str,
    format: Format,
    request: &LoadRequest,
    diagnostics: &mut Diagnostics,
) -> Result<Document, Failure> {
    let tree = match format {
        Format::Json => parse(text, true),
        _ => parse(text, false),
    }?;
    let not_a_skill = || {
        Failure::new(
            Code::NotASkill,
            "the document is no mapping with a name or id and operations, capabilities, instructions or onboarding",
        )
    };
    let map = tree
        .root()
        .and_then(|root| unwrap(root, diagnostics))
        .ok_or_else(not_a_skill)?;
    let field = Field::root(map);
    let has = |keys: &[&str]| keys.iter().any(|key| field.get(key).is_some());
    if !has(&["operations", "capabilities", "instructions", "onboarding"]) {
        return Err(not_a_skill().at_line(map.line()));
    }
    if !has(&["id", "name"]) {
        return Err(
            Failure::new(Code::NameMissing, "the skill has neither id nor name")
                .at_line(map.line()),
        );
    }
    let mut skill = SkillDeclaration::new(format);
    skill.assumed_auth = AssumedAuth::FromSecrets;
    skill_keys(map, &[], &mut skill, diagnostics)?;
    let context = Context::of_load(request, &skill)?;
    let Some(_) = context.skill_id else {
        return Err(Failure::new(Code::NameMissing, "name: makes no id").at_line(map.line()));
    };
    let candidates = match map.get("operations") {
        Some(node) => operations(node, &context, diagnostics)?,
        None => Vec::new(),
    };
    if candidates.is_empty()
        && skill.declared_capabilities.is_empty()
        && !skill::has_steps(skill.onboarding.as_ref())
    {
        return Err(Failure::new(
            Code::NoOperations,
            "no operations and no capabilities",
        ));
    }
    Ok(Document {
        skill,
        context,
        candidates,
    })
}

/// Reads the text of a document as a tree.
///
/// # Errors
///
/// `json` or `yaml` with line, `limit`.
pub fn parse(text: &str, is_json: bool) -> Result<Tree<'_>, Failure> {
    let tree = if is_json {
        yaml::read_json(text, 1)
    } else {
        yaml::read_yaml(text, 1)
    };
    tree.map_err(|error| {
        let code = match is_json {
            _ if error.is_limit() => Code::Limit,
            true => Code::Json,
            false => Code::Yaml,
        };
        Failure::new(code, error.to_string()).at_line(error.line())
    })
}

/// `{skill: {…}}` and the bare mapping are equal; what stands beside `skill` is not read.
fn unwrap<'t>(root: Node<'t>, diagnostics: &mut Diagnostics) -> Option<Node<'t>> {
    let Some(skill) = root.get("skill").filter(Node::is_map) else {
        return root.is_map().then_some(root);
    };
    for (key, _) in root.entries().filter(|(key, _)| key.text != "skill") {
        let name = crate::diagnostic::excerpt(key.text);
        diagnostics.warn(
            Code::UnknownKey,
            key.line,
            format!("{name}: unknown key beside skill"),
        );
    }
    Some(skill)
}
