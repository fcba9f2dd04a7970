//! `hydrant graph`: what an agent depends on, as a picture or data.

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, ValueEnum};
use hydrant::HostError;
use hydrant::engine::CallError;
use hydrant::graph::{GraphError, GraphFormat};

use super::hydration::Hydration;
use super::output::{Exit, fail, print};

/// Print what an agent or skill depends on, and what that depends on, as a graph
///
/// Follows the skills that are declared, level by level, and names the tools of each. What cannot be read is a node
/// with its `ERROR: <CODE>`.
#[derive(Args)]
#[command(
    mut_arg("depth", |depth| depth.default_value("16")),
    after_long_help = "\
Examples:
  hydrant graph os://agents/release-captain.md --root examples/os
  hydrant graph agents/release-captain.md --root examples/os --format svg > release-captain.svg
  hydrant graph agents/release-captain.md --root examples/os --format dot | dot -Tpdf > release-captain.pdf"
)]
pub(super) struct Arguments {
    /// os://…, https://…, or a path relative to os://
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    uri: String,

    /// Form of the result
    #[arg(long, value_enum, default_value_t = Format::Mermaid)]
    format: Format,

    #[command(flatten)]
    hydration: Hydration,
}

#[derive(Clone, Copy, ValueEnum)]
enum Format {
    /// A flowchart for Markdown
    Mermaid,
    /// The language of Graphviz
    Dot,
    /// A picture
    Svg,
    /// Nodes, edges and cycles, one line
    Json,
}

impl From<Format> for GraphFormat {
    fn from(format: Format) -> Self {
        match format {
            Format::Mermaid => Self::Mermaid,
            Format::Dot => Self::Dot,
            Format::Svg => Self::Svg,
            Format::Json => Self::Json,
        }
    }
}

pub(super) fn run(arguments: Arguments) -> anyhow::Result<Exit> {
    let host = arguments.hydration.host()?;
    let request = arguments.hydration.request(arguments.uri);
    let graph = match host.graph(&request) {
        Ok(graph) => graph,
        // As `hydrate` says it.
        Err(GraphError::Hydration(HostError::Call(CallError::Skill { message, .. }))) => {
            fail(&message);
            return Ok(Exit::Error);
        }
        Err(GraphError::Hydration(error)) => return Err(error.into()),
        Err(error) => return Err(anyhow::anyhow!(error.to_string())),
    };
    let mut text = graph.render(arguments.format.into());
    if let Format::Json = arguments.format {
        text.push('\n');
    }
    print(text.as_bytes())?;
    Ok(Exit::Done)
}
