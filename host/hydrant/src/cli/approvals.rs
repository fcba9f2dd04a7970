//! `hydrant approvals`: what waits for a person, and what a person decided.

use std::time::Duration;

use anyhow::Context;
use clap::{Args, Subcommand, ValueEnum};
use hydrant::base::escaped;
use hydrant::govern::failure::{Code, Failure};
use hydrant::govern::governor::{Approve, Governor};
use hydrant::govern::registry::approvals::Scope;
use hydrant::serve::operations::{
    Deny, ListApprovals, Request, RequestApproval, Revoke, ShowApproval,
};
use serde_json::{Value, json};

use super::approval_text::{decided, subject, summary, table, text, tier};
use super::approve::{ask, is_at_terminal, tell};
use super::govern::{Options, caller, given};
use super::inside::Transport;
use super::output::{Exit, print, print_line};

/// See and decide what operations of loaded skills may do
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  hydrant approvals list --status pending
  hydrant approvals show ap-0123…
  hydrant approvals approve ap-0123… --ttl 8h --reason 'reviewed'
  hydrant approvals approve library.search --scope once
  hydrant approvals approve library --all
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
    /// `ap-…`, or the name of a pending operation, or of a skill; at a terminal a name is shown and asked about first
    #[arg(value_name = "ID|NAME")]
    id: String,

    /// Grant all that a name stands for
    #[arg(long, conflicts_with = "response")]
    all: bool,

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
        Command::List { status, options } => list(status.as_deref(), options),
        Command::Show { id, options } => ask_for::<ShowApproval>(options, json!({ "id": id })),
        Command::Request {
            capability,
            reason,
            options,
        } => {
            let members = json!({ "capability": capability, "reason": reason });
            ask_for::<RequestApproval>(options, members)
        }
        Command::Approve(arguments) => {
            let response = match arguments.options.read(arguments.response()) {
                Ok(response) => response,
                Err(exit) => return Ok(exit),
            };
            approve(arguments, response)
        }
        Command::Deny {
            id,
            reason,
            options,
        } => ask_for::<Deny>(options, json!({ "id": id, "reason": reason })),
        Command::Revoke {
            id,
            reason,
            options,
        } => ask_for::<Revoke>(options, json!({ "id": id, "reason": reason })),
    }
}

/// Asks for an operation in this process: in a jail there are no approvals.
fn ask_for<R: Request>(options: &Options, members: Value) -> anyhow::Result<Exit> {
    options.ask::<R>(&Transport::Process, None, members)
}

fn list(status: Option<&str>, options: &Options) -> anyhow::Result<Exit> {
    if !options.is_text() {
        return ask_for::<ListApprovals>(options, json!({ "status": status }));
    }
    match options
        .tenant()?
        .governor()
        .and_then(|governor| governor.approvals(status))
    {
        Ok(Value::Array(list)) if !list.is_empty() => print(table(&list).as_bytes())?,
        Ok(_) => print_line("none")?,
        Err(failure) => return Ok(options.refuse(&failure)),
    }
    Ok(Exit::Done)
}

/// Whether it is the id of a request, which no name is taken for.
fn is_id(text: &str) -> bool {
    let digits = text.strip_prefix("ap-");
    digits.is_some_and(|digits| digits.len() == 32 && digits.bytes().all(|b| b.is_ascii_hexdigit()))
}

fn approve(arguments: &ApproveArguments, response: Option<Value>) -> anyhow::Result<Exit> {
    let options = &arguments.options;
    let tenant = options.tenant()?;
    let governor = match tenant.governor() {
        Ok(governor) => governor,
        Err(failure) => return Ok(options.refuse(&failure)),
    };
    let ids = if is_id(&arguments.id) {
        vec![arguments.id.clone()]
    } else {
        match named(governor, arguments) {
            Ok(ids) => ids,
            Err(failure) => return Ok(options.refuse(&failure)),
        }
    };
    if !is_id(&arguments.id) && !is_confirmed(governor, &ids)? {
        return Ok(Exit::Error);
    }
    let mut granted = Vec::new();
    let mut refused = None;
    for id in &ids {
        let approve = Approve {
            scope: arguments.scope.map(Scope::from),
            ttl: arguments.ttl,
            reason: arguments.reason.clone(),
            response: response.clone(),
        };
        match caller(None).and_then(|caller| governor.approve(&caller, id, approve)) {
            Ok(approval) => granted.push(approval),
            Err(failure) => {
                refused = Some(failure);
                break;
            }
        }
    }
    if options.is_text() {
        for approval in &granted {
            print(decided(approval).as_bytes())?;
        }
    } else if arguments.all {
        print_line(&Value::Array(granted).to_string())?;
    } else if let Some(approval) = granted.first() {
        print_line(&approval.to_string())?;
    }
    Ok(refused.map_or(Exit::Done, |failure| options.refuse(&failure)))
}

/// The ids of the requests that a name stands for: of one, or of several with `--all`.
fn named(governor: &Governor, arguments: &ApproveArguments) -> Result<Vec<String>, Failure> {
    let pending = governor.pending_named(&arguments.id)?;
    let pending = pending.as_array().map(Vec::as_slice).unwrap_or_default();
    let ids: Vec<String> = pending
        .iter()
        .map(|one| text(one, "id").to_owned())
        .collect();
    let each = pending
        .iter()
        .map(|one| format!("{} {}", text(one, "id"), subject(one)));
    let each = each.collect::<Vec<_>>().join(", ");
    if ids.len() > 1 && !arguments.all {
        let name = escaped(&arguments.id);
        let message = format!("{name} stands for {} pending requests", ids.len());
        let hint = format!("name one of them, or all with --all: {each}");
        return Err(Failure::new(Code::InvalidRequest, message).with_hint(hint));
    }
    if ids.len() > 1 && arguments.scope.is_none() && pending.iter().any(|one| tier(one) >= 3) {
        let message = "an operation of Tier 3 is among them, whose approval needs a scope";
        let hint = format!("say --scope, or approve them one by one: {each}");
        return Err(Failure::new(Code::InvalidRequest, message).with_hint(hint));
    }
    Ok(ids)
}

/// What a name stands for may have changed since somebody looked: at a terminal it is shown, and asked about.
fn is_confirmed(governor: &Governor, ids: &[String]) -> anyhow::Result<bool> {
    if !is_at_terminal() {
        return Ok(true);
    }
    for id in ids {
        let shown = governor.approval(id).map_err(anyhow::Error::new)?;
        tell(&format!("{}\n", summary(&shown)))?;
    }
    let answer = ask("approve? [y/N] ")?;
    Ok(matches!(answer.as_deref(), Some("y" | "yes")))
}
