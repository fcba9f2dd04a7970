//! `hydrant skills`: the pinned skills (TK-46).

use clap::Args;
use hydrant::{Host, PinnedSkillInfo};
use serde_json::{Value, json};

use super::config::{PinOptions, PolicyOptions};
use super::output::{Exit, Format, print_line, skill_error};

/// List the pinned skills: id, version, what each is for, and the most it may do
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  hydrant skills
  hydrant skills --root . --format json")]
pub(super) struct Arguments {
    #[command(flatten)]
    pins: PinOptions,

    #[command(flatten)]
    policy: PolicyOptions,

    /// [default: text on a terminal, else json]
    #[arg(long, value_enum)]
    format: Option<Format>,
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<Exit> {
    let builder = arguments
        .policy
        .apply(arguments.pins.apply(Host::builder())?)?;
    let host = builder.without_mounts().build().map_err(skill_error)?;
    let skills = host.skills().map_err(skill_error)?;
    match Format::or_default(arguments.format) {
        Format::Json => print_line(&Value::from_iter(skills.iter().map(json)).to_string())?,
        Format::Text => print_line(&text(&skills))?,
    }
    Ok(Exit::Done)
}

/// The skill's own words; none where it may not be asked (TP-35).
fn description(skill: &PinnedSkillInfo) -> Option<String> {
    let described: Value = serde_json::from_str(skill.description.as_deref()?).ok()?;
    Some(described.get("description")?.as_str()?.to_owned())
}

fn capabilities(skill: &PinnedSkillInfo) -> Vec<String> {
    skill.capabilities.iter().map(ToString::to_string).collect()
}

fn json(skill: &PinnedSkillInfo) -> Value {
    json!({
        "id": skill.id,
        "version": skill.version,
        "description": description(skill),
        "capabilities": capabilities(skill),
    })
}

fn text(skills: &[PinnedSkillInfo]) -> String {
    let name = |skill: &PinnedSkillInfo| format!("{}@{}", skill.id, skill.version);
    let width = skills
        .iter()
        .map(|skill| name(skill).len())
        .max()
        .unwrap_or(0);
    let line = |skill: &PinnedSkillInfo| {
        let what = description(skill)
            .unwrap_or_else(|| "(not asked: the policy says `tools: skip`)".into());
        let may = match capabilities(skill).join(" ") {
            none if none.is_empty() => "nothing".to_owned(),
            some => some,
        };
        format!(
            "{:width$}  {what}\n{:width$}  may use {may}",
            name(skill),
            ""
        )
    };
    skills.iter().map(line).collect::<Vec<_>>().join("\n")
}
