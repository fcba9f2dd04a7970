//! `hydrant hydrate`: one resource, hydrated to stdout.

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, ValueEnum};
use hydrant::engine::CallError;
use hydrant::{HostError, HydrateRequest};

use super::hydration::Hydration;
use super::inside::Inside;
use super::output::{Exit, fail, print, print_line};

/// Turn an agent or skill into context: its content, and what each dependency is for
///
/// Reads a Markdown file with front matter, fetches the metadata of its skills, asks its tools for their
/// descriptions where the policy allows that, and prints the result. What cannot be read is shown as
/// `ERROR: <CODE>` in its place.
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  hydrant hydrate os://agents/release-captain.md --root examples/os
  hydrant hydrate agents/release-captain.md --root examples/os --format link
  hydrant hydrate os://agents/release-captain.md --root examples/os --depth 3 --checksums")]
pub(super) struct Arguments {
    /// os://…, https://…, or a path relative to os://
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    uri: String,

    /// Form of the result
    #[arg(long, value_enum, default_value_t = Format::Json)]
    format: Format,

    #[command(flatten)]
    hydration: Hydration,
}

#[derive(Clone, Copy, ValueEnum)]
enum Format {
    /// The payload of RFC 0020 v1.1.0, one line
    Json,
    /// The document, its lists replaced by hydrated objects
    Link,
    /// The document, its lists replaced by mappings keyed by URI
    V2,
}

impl From<Format> for hydrant::Format {
    fn from(format: Format) -> Self {
        match format {
            Format::Json => Self::Json,
            Format::Link => Self::Link,
            Format::V2 => Self::V2,
        }
    }
}

pub(super) fn run(arguments: Arguments) -> anyhow::Result<Exit> {
    let host = arguments.hydration.host()?;
    let format = arguments.format.into();
    let request = HydrateRequest {
        format,
        ..arguments.hydration.request(arguments.uri)
    };
    let mut result = match host.hydrate(&request) {
        Ok(result) => result,
        // LF-09: the skill's own message is `ERROR: <CODE>` and the URI.
        Err(HostError::Call(CallError::Skill { message, .. })) => {
            fail(&message);
            return Ok(Exit::Error);
        }
        Err(error) => return Err(error.into()),
    };
    if let Format::Json = arguments.format {
        result.push(b'\n'); // CLI-03
    }
    print(&result)?;
    Ok(Exit::Done)
}

/// What a jailed agent gets, by way of its socket (K-351).
pub(super) fn inside(arguments: Arguments, hydrant: &mut Inside) -> anyhow::Result<Exit> {
    hydrant.refuse(arguments.hydration.given())?;
    let request = HydrateRequest {
        format: arguments.format.into(),
        ..arguments.hydration.request(arguments.uri)
    };
    let mut input = serde_json::to_value(request)?;
    if let Some(members) = input.as_object_mut() {
        // The operator's alone. What was not asked for is as the operator said.
        members.remove("allow_http_loopback");
        members.retain(|_, value| *value != serde_json::Value::Bool(false) && *value != 1);
    }
    let result = match hydrant.try_call("content.hydrate", &input)? {
        Ok(result) => result,
        // LF-09
        Err(refusal) => {
            fail(&refusal.message);
            return Ok(Exit::Error);
        }
    };
    match (arguments.format, result) {
        (Format::Json, payload) => print_line(&payload.to_string())?,
        (_, serde_json::Value::String(document)) => print(document.as_bytes())?,
        (_, other) => print_line(&other.to_string())?,
    }
    Ok(Exit::Done)
}
