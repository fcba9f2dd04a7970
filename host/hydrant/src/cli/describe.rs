//! `hydrant describe`: what the pinned skills say of themselves.

use anyhow::Context;
use clap::Args;
use hydrant::{Host, PinnedSkillInfo};
use serde_json::{Value, json};

use super::config::{PinOptions, PolicyOptions};
use super::inside::Transport;
use super::output::{Exit, Format, print_line, skill_error};

/// Show what the pinned skills do, and the schemas of their requests and responses
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  hydrant describe
  hydrant describe content.hydrate --format json
  hydrant describe content.hydrate@0.1.0 --root .

Exit status: 0 done; 1 usage or other; 2 not the pinned bytes; 3 not trusted; 4 more imported than declared; 5 the
skill failed.")]
pub(super) struct Arguments {
    /// One skill, ID or ID@VERSION [default: all pinned skills]
    id: Option<String>,

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
    let described = match transport.socket(operators)? {
        Some(socket) => socket.call("hydrant.describe", json!({ "skill": arguments.id }))?,
        None => descriptions(arguments)?,
    };
    match Format::or_default(arguments.format) {
        Format::Json => print_line(&described.to_string())?,
        Format::Text => print_line(&text(&described))?,
    }
    Ok(Exit::Done)
}

/// What the skill says of itself, or what each does.
fn descriptions(arguments: &Arguments) -> anyhow::Result<Value> {
    let builder = arguments
        .policy
        .apply(arguments.pins.apply(Host::builder())?)?;
    let host = builder.without_mounts().build().map_err(skill_error)?;
    match &arguments.id {
        Some(skill) => {
            let (id, version) = match skill.split_once('@') {
                Some((id, version)) => (id, Some(version)),
                None => (skill.as_str(), None),
            };
            described(&host.describe(id, version).map_err(skill_error)?)
        }
        None => {
            let skills = host.skills().map_err(skill_error)?;
            skills.iter().map(described).collect()
        }
    }
}

fn described(skill: &PinnedSkillInfo) -> anyhow::Result<Value> {
    skill
        .described()
        .with_context(|| format!("{} does not describe itself in JSON", skill.id))
}

fn text(result: &Value) -> String {
    let skills = match result {
        Value::Array(skills) => skills.as_slice(),
        one => std::slice::from_ref(one),
    };
    let member = |skill: &Value, name: &str| match skill.get(name) {
        Some(Value::String(text)) => text.clone(),
        Some(schema) => serde_json::to_string_pretty(schema).unwrap_or_default(),
        None => String::new(),
    };
    let one = |skill: &Value| {
        format!(
            "{}@{}\n  {}\n\nrequest {}\n\nresponse {}",
            member(skill, "name"),
            member(skill, "version"),
            member(skill, "description"),
            member(skill, "input_schema"),
            member(skill, "output_schema"),
        )
    };
    skills.iter().map(one).collect::<Vec<_>>().join("\n\n")
}
