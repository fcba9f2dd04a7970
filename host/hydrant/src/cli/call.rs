//! `hydrant call`: any operation of the service, by its name in the table.

use std::sync::Arc;

use anyhow::Context;
use clap::Args;
use hydrant::govern::client::Frontend;
use hydrant::serve::operations::{Operation, find, listed, table};
use hydrant::serve::service::{Answer, Identity, JSON, Problem};
use hydrant::serve::tenants::Tenant;
use hydrant_canonical::Json;
use serde_json::Value;

use super::config;
use super::govern::{given, refuse_call, refuse_problem};
use super::hydration::Source;
use super::inside::{Transport, operator_only};
use super::output::{Exit, Format, print, print_json, print_line};
use super::prompt::usage_error;

/// Ask for an operation of the service by its name; without a name, list the operations
///
/// These are the operations that `serve` has routes and `mcp` has tools for. Each is asked for with one JSON object, and its
/// answer is printed as the service sends it. The list says what each does, its effect (`reads`, `fetches`: reads, also from
/// other machines; `changes`; `acts`: changes something, here or on other machines) and the schema of its request.
#[derive(Args)]
#[command(
    mut_args(|argument| match argument.get_id().as_str() {
        "lenient" => argument.hide(true),
        _ => argument,
    }),
    after_long_help = "\
Examples:
  hydrant call
  hydrant call graph '{\"uri\":\"os://agents/release-captain.md\"}' --root examples/os
  hydrant call approvals '{\"status\":\"pending\"}'

Exit status: 0 done, 1 refused or failed, 2 usage."
)]
pub(super) struct Arguments {
    /// Name of the operation
    name: Option<String>,

    /// One JSON object, @FILE, or - for stdin
    #[arg(default_value = "{}")]
    request: String,

    /// Join a session, whose budget and grants for a session count
    #[arg(long, value_name = "ID")]
    session: Option<String>,

    #[command(flatten)]
    source: Source,

    /// [default: text on a terminal, else json]
    #[arg(long, value_enum)]
    format: Option<Format>,
}

pub(super) fn run(arguments: &Arguments, transport: &Transport) -> anyhow::Result<Exit> {
    let operators = [
        arguments.session.as_ref().map(|_| "--session"),
        arguments.source.given(),
    ];
    let socket = transport.socket(operators)?;
    let format = Format::or_default(arguments.format);
    let Some(name) = &arguments.name else {
        return list(&listed(table()), format);
    };
    let operation = find(table(), name).ok_or_else(|| {
        usage_error(format!(
            "there is no operation {name}; `hydrant call` lists them"
        ))
    })?;
    let request = given(&arguments.request).context("the request")?;
    let request = Json::parse(&request).context("the request")?;
    if let Some(socket) = socket {
        let capability = operation.declaration.capability;
        let capability = capability.ok_or_else(|| operator_only(name))?;
        return match socket.try_call(capability, request)? {
            Ok(answer) => {
                print_json(answer.to_string().as_bytes(), format)?;
                Ok(Exit::Done)
            }
            Err(refusal) => Ok(refuse_call(refusal, format)),
        };
    }
    match answer(arguments, operation, request)? {
        Ok(answer) if answer.content_type == JSON => print_json(&answer.body, format)?,
        Ok(answer) => print(&answer.body)?,
        Err(problem) => return Ok(refuse_problem(&problem, format)),
    }
    Ok(Exit::Done)
}

fn list(operations: &Value, format: Format) -> anyhow::Result<Exit> {
    let text = |operation: &Value, name: &str| {
        let text = operation.get(name).and_then(Value::as_str);
        text.unwrap_or_default().to_owned()
    };
    match format {
        Format::Json => print_line(&operations.to_string())?,
        Format::Text => {
            for operation in operations.as_array().into_iter().flatten() {
                let [name, effect, description] =
                    ["name", "effect", "description"].map(|name| text(operation, name));
                print_line(&format!("{name:<17} {effect:<8} {description}"))?;
            }
        }
    }
    Ok(Exit::Done)
}

/// Asks for the operation as the user of this machine, with every right.
fn answer(
    arguments: &Arguments,
    operation: &Operation,
    request: Json,
) -> anyhow::Result<Result<Answer, Problem>> {
    let call = match operation.read_object(request) {
        Ok(call) => call,
        Err(error) => return Ok(Err(Problem::invalid(format!("the request: {error}")))),
    };
    // As every command: without a mount, /workspace is the working directory.
    let workspace = match arguments.source.mounted_workspace()? {
        None => std::env::current_dir().ok(),
        mounted => mounted,
    };
    let user = arguments.source.local_user(config::host(), workspace)?;
    let identity = Identity {
        session: arguments.session.clone(),
        ..Identity::of_local_user(Arc::new(Tenant::local(user)?), Frontend::Cli)
    };
    Ok(call.answer(&identity))
}
