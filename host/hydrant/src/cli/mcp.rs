//! `hydrant mcp`: the Model Context Protocol over standard input and output.

use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Args;
use hydrant::home;
use hydrant::policy::{CliMount, VirtualPath};
use hydrant::serve::mcp::{Selection, StdioError, serve_stdio};
use hydrant::serve::service::Service;

use super::config;
use super::hydration::Hydration;
use super::output::{Exit, fail};

/// Serve skills, agents and workflows to an MCP client, over standard input and output
///
/// Pinned skills, hydration, plans and foreign skills are tools; agents and skills below os:// are resources; workflows
/// are prompts. Calls run under the policy of this command, and are recorded as those of other commands. Approvals are
/// not offered: a client never grants what it asks for.
///
/// /workspace is the directory of --workspace, else the first root that the client declares, else empty. It is never merely
/// the directory that the server was started in, because clients start it anywhere.
#[derive(Args)]
#[command(
    mut_args(|argument| match argument.get_id().as_str() {
        "depth" | "checksums" | "lenient" => argument.hide(true),
        _ => argument,
    }),
    after_long_help = "\
Examples:
  hydrant mcp --root examples/os --workspace .
  hydrant mcp --read-only --no-exec
  hydrant mcp --tools 'hydrate,plan,fs.*'

In a client's configuration:
  { \"mcpServers\": { \"hydrant\": { \"command\": \"hydrant\", \"args\": [\"mcp\", \"--workspace\", \"/path/to/project\"] } } }"
)]
pub(super) struct Arguments {
    /// Directory at /workspace [default: the first root that the client declares, else none]
    #[arg(long, value_name = "DIR")]
    workspace: Option<PathBuf>,

    /// Allow a workspace that is your home directory or holds it, as / does
    #[arg(long)]
    force: bool,

    /// Offer only tools that change nothing
    #[arg(long)]
    read_only: bool,

    /// Offer only these: names of tools or ids of skills, with `*` at the end for all that begin so
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    tools: Option<Vec<String>>,

    #[command(flatten)]
    hydration: Hydration,
}

pub(super) fn run(arguments: Arguments) -> anyhow::Result<Exit> {
    let hydration = &arguments.hydration;
    if let Some(option) = hydration.changes_requests() {
        fail(&format!("{option} is the client's to say, with each call"));
        return Ok(Exit::Usage);
    }
    hydration.warn_of_empty_root()?;
    let workspace = match &arguments.workspace {
        Some(directory) => Some(directory.clone()),
        None => hydration.mounted_workspace()?,
    };
    if let Some(directory) = &workspace
        && !arguments.force
        && home::holds_home(directory)
    {
        fail(&format!(
            "{} as workspace: it is your home directory, or holds it; name the directory of a project, or add --force",
            directory.display()
        ));
        return Ok(Exit::Usage);
    }
    let mut user = hydration.local_user(config::lasting_host(), workspace)?;
    if let Some(directory) = &arguments.workspace {
        user.host = user.host.mount(named(directory)?);
    }
    let selection = Selection {
        read_only: arguments.read_only,
        tools: arguments.tools,
    };
    let (service, identity) = Service::of_local_user(user)?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .context("cannot start threads")?;
    let served = runtime.block_on(serve_stdio(service, identity, selection, arguments.force));
    // A read of standard input may still wait, and a call that was cancelled ends by itself.
    runtime.shutdown_background();
    match served {
        Ok(()) => Ok(Exit::Done),
        Err(error @ StdioError::UnknownTool(_)) => {
            fail(&format!("--tools: {error}"));
            Ok(Exit::Usage)
        }
        Err(error) => Err(error.into()),
    }
}

/// `--workspace DIR`, which may be or contain a link: its user named it.
fn named(directory: &Path) -> anyhow::Result<CliMount> {
    let real = directory
        .canonicalize()
        .with_context(|| format!("--workspace {}", directory.display()))?;
    Ok(CliMount::named(VirtualPath::workspace(), real))
}
