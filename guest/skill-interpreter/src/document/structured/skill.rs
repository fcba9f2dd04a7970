//! What a document says of its skill. Front matter is read by the same code.

use serde_json::Value;

use super::field::Field;
use super::onboarding;
use crate::diagnostic::{Diagnostics, excerpt};
use crate::document::SkillDeclaration;
use crate::draft::ApprovalWish;
use crate::failure::{Code, Failure};
use kit::yaml::{self, Node};

/// Reads the keys of a skill into its declaration; `operations` are left to [`super::operations`], and the keys of
/// `passed_over` to the caller. Whether it is a skill at all is not asked here.
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
        // `null` equals absent.
        if value.node.is_null() || passed_over.contains(&key) {
            continue;
        }
        match key {
            "operations" => {}
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
            "examples" | "display" | "metadata" | "license" | "homepage" => {
                skill.recorded.insert(key.to_owned(), value.node.to_json());
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

/// A string, or a bare number as it is written.
fn version(value: Field<'_, '_>) -> Result<String, Failure> {
    match value.node.value() {
        yaml::Value::Text(text) | yaml::Value::Integer(text) | yaml::Value::Number(text) => {
            Ok(text.to_owned())
        }
        _ => Err(value.wrong("string")),
    }
}

/// A document may ask for approval, and never for less of it.
fn approval(
    value: Field<'_, '_>,
    skill: &mut SkillDeclaration,
    diagnostics: &mut Diagnostics,
) -> Result<(), Failure> {
    let value = value.map()?;
    if value.read("required", Field::boolean)? == Some(true) {
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
    value.read("sensitive_domains", Field::strings)?;
    skill.approval = Some(value.node.to_json());
    Ok(())
}

/// Names of hosts, no patterns, as the URL standard writes them.
fn domains(value: Field<'_, '_>) -> Result<Vec<String>, Failure> {
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

/// Whether onboarding has steps.
pub(super) fn has_steps(onboarding: Option<&Value>) -> bool {
    onboarding
        .and_then(|onboarding| onboarding.get("steps"))
        .and_then(Value::as_array)
        .is_some_and(|steps| !steps.is_empty())
}
