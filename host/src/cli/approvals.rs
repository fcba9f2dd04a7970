//! `hydrant approvals`: what waits for a person, and what a person decided (K-25).

use std::time::Duration;

use anyhow::Context;
use clap::{Args, Subcommand, ValueEnum};
use hydrant::govern::governor::Approve;
use hydrant::govern::registry::approvals::Scope;
use serde_json::{Value, json};

use super::govern::{Options, caller, given};
use super::output::Exit;

/// See and decide what operations of loaded skills may do
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  hydrant approvals list --status pending
  hydrant approvals show ap-0123…
  hydrant approvals approve ap-0123… --ttl 8h --reason 'reviewed'
  hydrant approvals revoke ap-0123…
  hydrant approvals request weather.forecast")]
pub(super) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// List requests and grants, the oldest first
    List {
        /// pending, approved, denied, expired, revoked, superseded or consumed
        #[arg(long, value_name = "S")]
        status: Option<String>,

        #[command(flatten)]
        options: Options,
    },
    /// Show what is approved: the operation, where it came from, its stages, hosts, secrets, policy, and what changed
    Show {
        /// `ap-…`
        id: String,

        #[command(flatten)]
        options: Options,
    },
    /// Ask anew for an operation whose grant or request was revoked, denied, or has expired
    Request {
        /// `<skill>.<operation>`
        capability: String,

        /// Why, for who decides
        #[arg(long, value_name = "TEXT")]
        reason: Option<String>,

        #[command(flatten)]
        options: Options,
    },
    Approve(ApproveArguments),
    /// Deny a request; the agent's calls answer `approval-denied`
    Deny {
        /// `ap-…`
        id: String,

        /// Why, for the record
        #[arg(long, value_name = "TEXT")]
        reason: Option<String>,

        #[command(flatten)]
        options: Options,
    },
    /// Take a grant back
    Revoke {
        /// `ap-…`
        id: String,

        /// Why, for the record
        #[arg(long, value_name = "TEXT")]
        reason: Option<String>,

        #[command(flatten)]
        options: Options,
    },
}

/// Grant a request, for exactly the operation that it shows
#[derive(Args)]
struct ApproveArguments {
    /// `ap-…`
    id: String,

    /// For how many calls [default: as the document says, else until-changed; Tier 3 needs it to be said]
    #[arg(long, value_enum, value_name = "S")]
    scope: Option<ScopeName>,

    /// How long, such as 8h or 7days
    #[arg(long, value_name = "T", value_parser = humantime)]
    ttl: Option<Duration>,

    /// Why, for the record
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,

    /// The answer to a human action, one JSON value: the text itself, @FILE, or - for stdin
    #[arg(long, value_name = "JSON")]
    response: Option<String>,

    #[command(flatten)]
    options: Options,
}

impl ApproveArguments {
    fn response(&self) -> anyhow::Result<Option<Value>> {
        let Some(response) = &self.response else {
            return Ok(None);
        };
        let text = given(response).context("--response")?;
        serde_json::from_slice(&text)
            .map(Some)
            .context("--response is not JSON; a text is given as '\"text\"'")
    }
}

fn humantime(text: &str) -> Result<Duration, humantime::DurationError> {
    humantime::parse_duration(text)
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum ScopeName {
    /// One call
    Once,
    /// The calls of one session
    Session,
    /// Until the operation changes
    UntilChanged,
}

impl From<ScopeName> for Scope {
    fn from(name: ScopeName) -> Self {
        match name {
            ScopeName::Once => Self::Once,
            ScopeName::Session => Self::Session,
            ScopeName::UntilChanged => Self::UntilChanged,
        }
    }
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<Exit> {
    match &arguments.command {
        Command::List { status, options } => {
            options.answer(|governor| governor.approvals(status.as_deref()))
        }
        Command::Show { id, options } => options.answer(|governor| governor.approval(id)),
        Command::Request {
            capability,
            reason,
            options,
        } => {
            let input = json!({"capability": capability, "reason": reason});
            options.answer(|governor| governor.call(&caller(None)?, "ccos.approval.request", input))
        }
        Command::Approve(arguments) => {
            let response = match arguments.options.read(arguments.response()) {
                Ok(response) => response,
                Err(exit) => return Ok(exit),
            };
            let approve = Approve {
                scope: arguments.scope.map(Scope::from),
                ttl: arguments.ttl,
                reason: arguments.reason.clone(),
                response,
            };
            arguments
                .options
                .answer(|governor| governor.approve(&caller(None)?, &arguments.id, approve))
        }
        Command::Deny {
            id,
            reason,
            options,
        } => options.answer(|governor| governor.deny(&caller(None)?, id, reason.as_deref())),
        Command::Revoke {
            id,
            reason,
            options,
        } => options.answer(|governor| governor.revoke(&caller(None)?, id, reason.as_deref())),
    }
}
