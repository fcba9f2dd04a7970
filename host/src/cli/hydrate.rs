//! `hydrant hydrate`: one resource, hydrated to stdout.

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, ValueEnum};
use hydrant::engine::CallError;
use hydrant::{HostError, HydrateRequest};

use super::hydration::Hydration;
use super::output::{Exit, fail, print};

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

pub(super) fn run(arguments: Arguments) -> anyhow::Result<Exit> {
    let host = arguments.hydration.host()?;
    let format = match arguments.format {
        Format::Json => hydrant::Format::Json,
        Format::Link => hydrant::Format::Link,
        Format::V2 => hydrant::Format::V2,
    };
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
