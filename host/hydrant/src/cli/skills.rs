//! `hydrant skills`: the pinned skills.

use clap::Args;
use hydrant::{Host, PinnedSkillInfo};
use serde_json::Value;

use super::config::{PinOptions, PolicyOptions};
use super::inside::Inside;
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
    show(
        skills.iter().map(PinnedSkillInfo::summary),
        arguments.format,
    )
}

/// Prints what is told of each skill.
fn show(summaries: impl Iterator<Item = Value>, format: Option<Format>) -> anyhow::Result<Exit> {
    match Format::or_default(format) {
        Format::Json => print_line(&Value::from_iter(summaries).to_string())?,
        Format::Text => print_line(&text(&summaries.collect::<Vec<_>>()))?,
    }
    Ok(Exit::Done)
}

/// What a jailed agent gets, by way of its socket.
pub(super) fn inside(arguments: &Arguments, hydrant: &mut Inside) -> anyhow::Result<Exit> {
    hydrant.refuse(arguments.pins.given())?;
    hydrant.refuse(arguments.policy.given())?;
    match hydrant.call("hydrant.skills", Value::Null)? {
        Value::Array(summaries) => show(summaries.into_iter(), arguments.format),
        other => show(std::iter::once(other), arguments.format),
    }
}

fn text(skills: &[Value]) -> String {
    let member = |skill: &Value, name: &str| {
        let text = skill.get(name).and_then(Value::as_str);
        text.map(str::to_owned)
    };
    let name = |skill: &Value| {
        let part = |name| member(skill, name).unwrap_or_default();
        format!("{}@{}", part("id"), part("version"))
    };
    let width = skills
        .iter()
        .map(|skill| name(skill).len())
        .max()
        .unwrap_or(0);
    let line = |skill: &Value| {
        let what = member(skill, "description")
            .unwrap_or_else(|| "(not asked: the policy says `tools: skip`)".into());
        let capabilities = skill.get("capabilities").and_then(Value::as_array);
        let capabilities: Vec<_> = capabilities
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        let may = match capabilities.join(" ") {
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
