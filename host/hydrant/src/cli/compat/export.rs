//! `export agentskills`: the installed skills as folders for coding agents.

use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::{Args, Subcommand};
use hydrant::home;
use hydrant::trust::export::{Agent, Scope, export, target};

use super::line::Line;

/// Export the installed skills
#[derive(Args)]
#[command(disable_help_subcommand = true)]
pub(in crate::cli) struct Arguments {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    Agentskills(AgentskillsArguments),
}

/// Write a folder for each installed skill to where an agent looks for skills
#[derive(Args)]
struct AgentskillsArguments {
    /// claude, codex or cursor
    #[arg(long, value_name = "AGENT")]
    agent: String,

    /// user, repo or, for codex, admin
    #[arg(long, value_name = "SCOPE")]
    scope: String,
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let What::Agentskills(arguments) = &arguments.what;
    // Not clap's list of values, because the original's error is another one.
    let agent: Agent = arguments.agent.parse()?;
    let scope: Scope = arguments.scope.parse()?;
    let user_home = std::env::var_os("HOME")
        .filter(|home| !home.is_empty())
        .map(PathBuf::from);
    let working = match scope {
        Scope::Repo => std::env::current_dir().context("the working directory cannot be read")?,
        Scope::User | Scope::Admin => PathBuf::new(),
    };
    let target = target(agent, scope, user_home.as_deref(), &working)?;
    let skills = export(&home()?, &target)?;
    line(agent, scope, &target, skills).print()
}

fn line(agent: Agent, scope: Scope, target: &Path, skills: usize) -> Line {
    Line::ok("export agentskills")
        .fact("agent", agent)
        .fact("scope", scope)
        .given("target", target)
        .fact("skills", skills)
        .fact("profile", "ide-safe")
}

/// Returns the home folder, which `PROVENACT_HOME` may name as well.
fn home() -> anyhow::Result<PathBuf> {
    home::compatible_folder().context(super::NO_HOME)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_success_line() {
        let line = line(Agent::Codex, Scope::Repo, Path::new("/r/.agents/skills"), 2);
        assert_eq!(
            String::from_utf8(line.into_bytes()).unwrap(),
            "OK export agentskills agent=codex scope=repo target=/r/.agents/skills skills=2 profile=ide-safe\n"
        );
    }
}
