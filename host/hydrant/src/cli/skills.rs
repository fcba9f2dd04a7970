//! `hydrant skills`: the pinned skills.

use clap::Args;
use hydrant::{Host, PinnedSkillInfo};
use serde_json::Value;

use super::config::{PinOptions, PolicyOptions};
use super::inside::Transport;
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

pub(super) fn run(arguments: &Arguments, transport: &Transport) -> anyhow::Result<Exit> {
    let operators = [arguments.pins.given(), arguments.policy.given()];
    let skills = match transport.socket(operators)? {
        Some(socket) => socket.call("hydrant.skills", Value::Null)?,
        None => summaries(arguments)?,
    };
    match Format::or_default(arguments.format) {
        Format::Json => print_line(&skills.to_string())?,
        Format::Text => print_line(&text(skills.as_array().map_or(&[], Vec::as_slice)))?,
    }
    Ok(Exit::Done)
}

/// What is told of each skill.
fn summaries(arguments: &Arguments) -> anyhow::Result<Value> {
    let builder = arguments
        .policy
        .apply(arguments.pins.apply(Host::builder())?)?;
    let host = builder.without_mounts().build().map_err(skill_error)?;
    let skills = host.skills().map_err(skill_error)?;
    Ok(skills.iter().map(PinnedSkillInfo::summary).collect())
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
