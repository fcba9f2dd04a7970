//! What a document says of its skill (K-67 to K-76). Front matter is read by the same code (K-91).

use serde_json::Value;

use super::field::Field;
use super::onboarding;
use crate::diagnostic::{Diagnostics, excerpt};
use crate::document::SkillDeclaration;
use crate::document::tree::{self, Node};
use crate::draft::ApprovalWish;
use crate::failure::{Code, Failure};

/// Reads the keys of a skill into its declaration; `operations` are left to [`super::operations`], and the keys of
/// `passed_over` to the caller. Whether it is a skill at all (K-62, K-64, K-66) is not asked here.
///
/// # Errors
///
/// `schema`, with path.
pub fn skill_keys(
    map: Node<'_>,
    passed_over: &[&str],
    skill: &mut SkillDeclaration,
    diagnostics: &mut Diagnostics,
) -> Result<(), Failure> {
    let field = Field::root(map).map()?;
    for (key, value) in field.entries() {
        let is_null = value.node.is_null();
        match key {
            _ if passed_over.contains(&key) => {}
            "operations" => {}
            "id"
            | "name"
            | "version"
            | "description"
            | "instructions"
            | "data_classifications"
            | "data_class"
            | "capabilities"
            | "effects"
            | "secrets"
            | "approval"
            | "domains"
            | "base_url"
            | "api_base"
            | "examples"
            | "onboarding"
            | "display"
            | "metadata"
            | "license"
            | "homepage" => {
                // K-65
                if !is_null {
                    key_of_skill(key, &value, skill, diagnostics)?;
                }
            }
            _ => diagnostics.warn(
                Code::UnknownKey,
                value.node.line(),
                format!("{}: unknown key", excerpt(key)),
            ),
        }
    }
    Ok(())
}

fn key_of_skill(
    key: &str,
    value: &Field<'_, '_>,
    skill: &mut SkillDeclaration,
    diagnostics: &mut Diagnostics,
) -> Result<(), Failure> {
    match key {
        "id" => skill.id = Some(value.name()?.to_owned()),
        "name" => value.name()?.clone_into(&mut skill.name),
        "version" => skill.version = version(value)?,
        "description" => value.text()?.clone_into(&mut skill.description),
        "instructions" => value.text()?.clone_into(&mut skill.instructions),
        "data_classifications" => skill.data_classifications.extend(value.strings()?),
        "data_class" => skill.data_classifications.push(value.text()?.to_owned()),
        "capabilities" => skill.declared_capabilities.extend(value.strings()?),
        "effects" => skill.effects.extend(value.strings()?),
        "secrets" => {
            for name in value.strings()? {
                if !skill.secrets.contains(&name) {
                    skill.secrets.push(name);
                }
            }
        }
        "approval" => approval(value, skill, diagnostics)?,
        "domains" => skill.domains = domains(value)?,
        // `base_url` goes before its other name, whichever stands first.
        "base_url" => skill.base_url = Some(value.text()?.to_owned()),
        "api_base" => {
            let base = value.text()?.to_owned();
            skill.base_url.get_or_insert(base);
        }
        "onboarding" => skill.onboarding = Some(onboarding::read(value)?),
        _ => {
            skill.recorded.insert(key.to_owned(), value.node.to_json());
        }
    }
    Ok(())
}

/// K-68: a string, or a bare number as it is written.
fn version(value: &Field<'_, '_>) -> Result<String, Failure> {
    match value.node.value() {
        tree::Value::Text(text) | tree::Value::Integer(text) | tree::Value::Number(text) => {
            Ok(text.to_owned())
        }
        _ => Err(value.wrong("string")),
    }
}

/// K-73
fn approval(
    value: &Field<'_, '_>,
    skill: &mut SkillDeclaration,
    diagnostics: &mut Diagnostics,
) -> Result<(), Failure> {
    let value = value.map()?;
    if let Some(required) = value.get("required")
        && required.boolean()?
    {
        skill.approval_wish = ApprovalWish::Required;
    }
    if let Some(mode) = value.get("mode") {
        match mode.text()? {
            "Once" | "PerSession" | "PerCall" => {}
            "Never" => diagnostics.warn(
                Code::ApprovalModeIgnored,
                mode.node.line(),
                "approval.mode: Never cannot lower what needs approval",
            ),
            _ => return Err(mode.wrong("Once, PerSession, PerCall or Never")),
        }
    }
    if let Some(domains) = value.get("sensitive_domains") {
        domains.strings()?;
    }
    skill.approval = Some(value.node.to_json());
    Ok(())
}

/// K-74: names of hosts, no patterns, as the URL standard writes them.
fn domains(value: &Field<'_, '_>) -> Result<Vec<String>, Failure> {
    let value = value.list()?;
    let mut domains = Vec::new();
    for item in value.items() {
        let host = match url::Host::parse(item.text()?) {
            Ok(host @ (url::Host::Domain(_) | url::Host::Ipv4(_) | url::Host::Ipv6(_))) => {
                host.to_string()
            }
            Err(_) => return Err(item.wrong("host name")),
        };
        // The URL standard lets a star pass.
        if host.contains('*') {
            return Err(item.wrong("host name without a pattern"));
        }
        if !domains.contains(&host) {
            domains.push(host);
        }
    }
    Ok(domains)
}

/// K-66: whether onboarding has steps.
pub(super) fn has_steps(onboarding: Option<&Value>) -> bool {
    onboarding
        .and_then(|onboarding| onboarding.get("steps"))
        .and_then(Value::as_array)
        .is_some_and(|steps| !steps.is_empty())
}
