//! `hydrant run ID`: a pinned skill, called once. The form with `--bundle` is in [`super::compat`].

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use clap::Args;
use hydrant::audit::{AuditedCall, Denial, Reason, ReceiptFormat, Slots, check_log};
use hydrant::base::read_bounded;
use hydrant::policy::CliMount;
use hydrant::serve::syscall::Refusal;
use hydrant::trust::Experimental;
use hydrant::trust::limits::MAX_INPUT_BYTES;
use hydrant::{HostBuilder, HostError, Run, SkillCall, home};
use hydrant_canonical::Json;

use super::config::{self, AuditOptions, LayerOptions, PinOptions, PolicyOptions};
use super::inside::{Socket, Transport};
use super::output::{Exit, Format, fail, print_json, skill_error, tell_json};
use super::pins::refuse_in_root;

/// Run a pinned skill
///
/// The bundle is verified first: key ring, lock signature, digests, signatures, imports. Its response goes to stdout;
/// an error of the skill goes to stderr as JSON. `hydrant run --bundle … --help` explains the other form, which runs a
/// bundle that is not pinned.
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  hydrant run content.hydrate '{\"uri\":\"os://agents/release-captain.md\"}' --mount /os=examples/os
  hydrant run content.hydrate@0.1.0 @request.json --root . --receipt receipt.json

Exit status: 0 done; 1 usage or other; 2 not the pinned bytes; 3 not trusted; 4 more imported than declared; 5 the
skill failed.")]
pub(super) struct Arguments {
    /// ID or ID@VERSION [default version: the highest]
    skill: String,

    /// JSON, `-` for stdin, or @FILE
    #[arg(default_value = "{}", hide_default_value = false)]
    request: String,

    #[command(flatten)]
    pins: PinOptions,

    #[command(flatten)]
    policy: PolicyOptions,

    #[command(flatten)]
    layers: LayerOptions,

    /// Map a mount of the policy to a directory; may be given more than once
    #[arg(long = "mount", value_name = "AT=DIR")]
    mounts: Vec<String>,

    /// Write the response to FILE
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Write a receipt to FILE
    #[arg(long, value_name = "FILE")]
    receipt: Option<PathBuf>,

    /// v0: of a run that succeeds; v1-draft: of a failed one too
    #[arg(long, value_name = "v0|v1-draft", default_value = "v0")]
    receipt_format: ReceiptFormat,

    /// Accept the draft form of receipts
    #[arg(long)]
    allow_experimental: bool,

    #[command(flatten)]
    audit: AuditOptions,

    /// [default: text on a terminal, else json]
    #[arg(long, value_enum)]
    format: Option<Format>,
}

pub(super) fn run(arguments: &Arguments, transport: &Transport) -> anyhow::Result<Exit> {
    let operators = [
        arguments.pins.given(),
        arguments.policy.given(),
        arguments.layers.given(),
        arguments.audit.given(),
        (!arguments.mounts.is_empty()).then_some("--mount"),
        arguments.receipt.as_ref().map(|_| "--receipt"),
        arguments
            .allow_experimental
            .then_some("--allow-experimental"),
    ];
    if let Some(socket) = transport.socket(operators)? {
        return ask(arguments, socket);
    }
    let file = arguments.request.strip_prefix('@').map(Path::new);
    let read = files_read(arguments, file)?;
    let mut read: Vec<&Path> = read.iter().map(PathBuf::as_path).collect();
    let target = arguments.audit.target(&arguments.policy)?;
    let log = target.clone().into_path();
    if let Some(log) = &log {
        if let Some(root) = arguments.pins.root() {
            refuse_in_root(log, root)?;
        }
        check_log(log, &read)?;
        read.push(log);
    }
    let mut slots = Slots::take(
        arguments.output.as_deref(),
        arguments.receipt.as_deref(),
        &read,
    )?;
    let experimental = if arguments.allow_experimental {
        Experimental::Allowed
    } else {
        Experimental::Refused
    };
    arguments.receipt_format.check(experimental)?;
    let request = request(&arguments.request, file)?;
    let host = match host(arguments)?.build() {
        Ok(host) => host,
        Err(error) => {
            if let HostError::Policy(_) = error {
                let call = AuditedCall::begin(&target, arguments.audit.context())?;
                call.denied(Denial::default(), Reason::PolicyInvalid)?;
            }
            return Err(skill_error(error));
        }
    };
    let mut deliver = |run: &Run| {
        if let Ok(response) = &run.result {
            slots.write_output(response)?;
        }
        let receipt = run.receipt(arguments.receipt_format);
        if let Some(receipt) = &receipt {
            slots.write_receipt(&receipt.to_bytes())?;
        }
        Ok(receipt.map(|receipt| receipt.hash().clone()))
    };
    let call = SkillCall::new(&arguments.skill, &request).delivering(&mut deliver);
    let run = host.call(call).map_err(skill_error)?;
    match run.result {
        Ok(response) => {
            if arguments.output.is_none() {
                // Where nobody can be told, nothing was done.
                print_json(&response, Format::or_default(arguments.format))?;
            }
            slots.keep();
            Ok(Exit::Done)
        }
        Err(failure) => {
            slots.keep();
            tell_json(&failure.to_json());
            Ok(Exit::SkillFailed)
        }
    }
}

/// The files that neither output nor receipt may replace. Below a root that is all of `pins` and `skills`.
fn files_read(arguments: &Arguments, request: Option<&Path>) -> anyhow::Result<Vec<PathBuf>> {
    let mut files = arguments.policy.files_read()?;
    files.extend(arguments.layers.files_read());
    files.extend(request.map(Path::to_owned));
    if let Some(root) = arguments.pins.root() {
        for path in arguments.output.iter().chain(&arguments.receipt) {
            refuse_in_root(path, root)?;
        }
    }
    Ok(files)
}

fn host(arguments: &Arguments) -> anyhow::Result<HostBuilder> {
    let mut builder = arguments.pins.apply(config::host())?;
    builder = arguments.policy.apply(builder)?;
    builder = arguments.layers.apply(builder);
    for mount in &arguments.mounts {
        builder = builder.mount(CliMount::of_policy(mount)?);
    }
    if let Some(home) = home::folder() {
        builder = builder.home(home);
    }
    arguments.audit.apply(&arguments.policy, builder)
}

fn request(text: &str, file: Option<&Path>) -> anyhow::Result<Vec<u8>> {
    if let Some(file) = file {
        return Ok(read_bounded(file, MAX_INPUT_BYTES)?);
    }
    if text != "-" {
        return Ok(text.as_bytes().to_vec());
    }
    let mut bytes = Vec::new();
    io::stdin()
        .lock()
        .take(MAX_INPUT_BYTES.saturating_add(1))
        .read_to_end(&mut bytes)
        .context("standard input")?;
    if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > MAX_INPUT_BYTES {
        bail!("the request on standard input is over {MAX_INPUT_BYTES} bytes");
    }
    Ok(bytes)
}

/// The same over the socket of a jail.
fn ask(arguments: &Arguments, socket: &Socket) -> anyhow::Result<Exit> {
    let file = arguments.request.strip_prefix('@').map(Path::new);
    let read: Vec<&Path> = file.into_iter().collect();
    let mut slots = Slots::take(arguments.output.as_deref(), None, &read)?;
    let request = request(&arguments.request, file)?;
    let Ok(input) = Json::parse(&request) else {
        // Over the socket a request is a value: the skill, which would have said this, never sees another one.
        let error =
            serde_json::json!({ "code": "invalid_request", "message": "the request is not JSON" });
        tell_json(&error);
        return Ok(Exit::SkillFailed);
    };
    match socket.try_call(&arguments.skill, input)? {
        Ok(response) => {
            let response = response.to_string();
            if arguments.output.is_none() {
                print_json(response.as_bytes(), Format::or_default(arguments.format))?;
            } else {
                slots.write_output(response.as_bytes())?;
            }
            slots.keep();
            Ok(Exit::Done)
        }
        Err(refusal) => {
            slots.keep();
            refused(&refusal)
        }
    }
}

/// As it would have ended outside: with what the skill says, or who refused it.
fn refused(refusal: &Refusal) -> anyhow::Result<Exit> {
    let details = refusal.details.as_ref();
    let by = details.and_then(|details| details.get("refused")?.as_str());
    let exit = match (details, by) {
        (Some(error), None) => {
            tell_json(error);
            return Ok(Exit::SkillFailed);
        }
        (_, Some("drift")) => Exit::Drift,
        (_, Some("trust")) => Exit::Trust,
        (_, Some("policy")) => Exit::Denied,
        (_, Some("skill")) => Exit::SkillFailed,
        _ => Exit::Error,
    };
    fail(&refusal.message);
    Ok(exit)
}
