//! `hydrant describe`: what the pinned skills say of themselves (TK-43).

use anyhow::Context;
use clap::Args;
use hydrant::{Host, trust};
use serde_json::Value;

use super::output::{Exit, Format, WithExit, print_line, skill_exit};

/// Show what the pinned skills do, and the schemas of their requests and responses
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  hydrant describe
  hydrant describe content.hydrate --format json")]
pub(super) struct Arguments {
    /// One skill [default: all pinned skills]
    id: Option<String>,

    /// [default: text on a terminal, else json]
    #[arg(long, value_enum)]
    format: Option<Format>,
}

pub(super) fn run(arguments: Arguments) -> anyhow::Result<Exit> {
    let host = Host::builder().build()?;
    let lock = trust::embedded_lock()?;
    let described = |id: &str| -> anyhow::Result<Value> {
        let text = host.describe(id).map_err(|error| {
            let exit = skill_exit(&error);
            anyhow::Error::new(error).context(WithExit(exit))
        })?;
        let mut description: Value = serde_json::from_str(&text)
            .with_context(|| format!("{id} does not describe itself in JSON"))?;
        if let (Value::Object(members), Some(entry)) = (&mut description, lock.newest(id)) {
            members.insert("version".into(), entry.version.clone().into());
        }
        Ok(description)
    };
    let result = match &arguments.id {
        Some(id) => described(id)?,
        None => Value::Array(lock.ids().map(described).collect::<anyhow::Result<_>>()?),
    };
    match Format::or_default(arguments.format) {
        Format::Json => print_line(&result.to_string())?,
        Format::Text => print_line(&text(&result))?,
    }
    Ok(Exit::Done)
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
