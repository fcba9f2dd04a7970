//! `hydrant mcp`: the Model Context Protocol over standard input and output.

use anyhow::{Context, anyhow};
use clap::Args;
use hydrant::serve::mcp::{Selection, StdioError, serve_stdio};
use hydrant::serve::service::Service;
use hydrant::serve::tenants::LocalUser;
use hydrant::{Host, home};

use super::config;
use super::hydration::Hydration;
use super::output::{Exit, fail, in_one_line};

/// Serve skills, agents and workflows to an MCP client, over standard input and output
///
/// Pinned skills, hydration, plans and foreign skills are tools; agents and skills below os:// are resources; workflows
/// are prompts. Calls run under the policy of this command, and are recorded as those of other commands. Approvals are
/// not offered: a client never grants what it asks for.
#[derive(Args)]
#[command(
    mut_args(|argument| match argument.get_id().as_str() {
        "depth" | "checksums" | "lenient" => argument.hide(true),
        _ => argument,
    }),
    after_long_help = "\
Examples:
  hydrant mcp --root examples/os
  hydrant mcp --read-only --no-exec
  hydrant mcp --tools 'hydrate,plan,fs.*'

In a client's configuration:
  { \"mcpServers\": { \"hydrant\": { \"command\": \"hydrant\", \"args\": [\"mcp\", \"--root\", \"/path/to/os\"] } } }"
)]
pub(super) struct Arguments {
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
    let user = local_user(hydration)?;
    let selection = Selection {
        read_only: arguments.read_only,
        tools: arguments.tools,
    };
    let (service, identity) = Service::of_local_user(user)?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .context("cannot start threads")?;
    let served = runtime.block_on(serve_stdio(service, identity, selection));
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

fn local_user(hydration: &Hydration) -> anyhow::Result<LocalUser> {
    let home = home::folder().ok_or_else(|| {
        anyhow!("there is no home folder for approvals and receipts; set HYDRANT_HOME")
    })?;
    let mut host = hydration.builder(config::lasting_host())?.home(&home);
    if hydration.request(String::new()).no_exec {
        host = host.without_processes();
    }
    let (hydrate, problems) = hydration.settings()?;
    for problem in problems {
        fail(&in_one_line(&anyhow!(problem.message)));
    }
    let (_, govern) = hydration.governed()?.unwrap_or_default();
    Ok(LocalUser {
        host,
        planner: hydration.builder(Host::builder())?,
        workspace: std::env::current_dir().ok(),
        home,
        govern,
        hydrate,
    })
}
