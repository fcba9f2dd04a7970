//! `run --bundle`: one bundle, verified against the keys and run under the policy that the caller names.

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::anyhow;
use clap::Args;
use hydrant::audit::{
    AuditTarget, AuditedCall, ContextId, Denial, Event, Observation, Reason, ReceiptFormat, Slots,
    TargetSources, check_log,
};
use hydrant::base::{Digest, read_bounded_as};
use hydrant::policy::CliMount;
use hydrant::trust::{
    BUNDLE_FILES, Bundle, BundleError, BundleFiles, Step, VerifiedBundle, limits,
};
use hydrant::{Host, HostError, Run, SkillCall, home};

use super::super::{config, output::print};
use super::line::Line;
use super::{cosign, experimental, observed};

/// Run one bundle that is verified against a key ring
#[derive(Args)]
pub(super) struct Arguments {
    /// Directory of the bundle
    #[arg(long, value_name = "DIR")]
    bundle: PathBuf,

    /// Key ring: signer names and public keys
    #[arg(long, value_name = "FILE")]
    keys: PathBuf,

    /// Digest that the key ring must have
    #[arg(long, value_name = "DIGEST")]
    keys_digest: String,

    /// Policy that must allow every capability of the bundle and trust a signer
    #[arg(long, value_name = "FILE")]
    policy: PathBuf,

    /// Input: JSON for a component, anything for a core module
    #[arg(long, value_name = "FILE")]
    input: PathBuf,

    /// Where the receipt goes; an earlier one is removed at the start
    #[arg(long, value_name = "FILE")]
    receipt: PathBuf,

    /// v0: of a run that succeeds; v1-draft: of a failed one too
    #[arg(long, value_name = "v0|v1-draft", default_value = "v0")]
    receipt_format: String,

    /// Accept the draft forms of manifest and receipt
    #[arg(long)]
    allow_experimental: bool,

    /// Write the output to FILE
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Print the output, and nothing else, to stdout
    #[arg(long)]
    print_output: bool,

    /// Map a mount of the policy to a directory; may be given more than once
    #[arg(long = "mount", value_name = "AT=DIR")]
    mounts: Vec<String>,

    /// Policy of the tenant, which can only narrow --policy
    #[arg(long, value_name = "FILE")]
    tenant: Option<PathBuf>,

    /// Policy of this run, which can only narrow --policy and --tenant
    #[arg(long, value_name = "FILE")]
    grant: Option<PathBuf>,

    /// Append the audit record to FILE, or `off` [default: $HYDRANT_AUDIT, else off]
    #[arg(long, value_name = "FILE")]
    audit: Option<OsString>,

    /// Name of the tenant, for the audit record
    #[arg(long, value_name = "ID")]
    context: Option<ContextId>,

    #[command(flatten)]
    cosign: cosign::Flags,
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    observed(Event::Run, |observation| {
        run_observed(arguments, observation)
    })
}

fn run_observed(arguments: &Arguments, observation: &mut Observation) -> anyhow::Result<()> {
    // Before anything that can fail, so that no earlier receipt survives.
    let read = arguments.files_read();
    let mut read: Vec<&Path> = read.iter().map(PathBuf::as_path).collect();
    let log = arguments.audit_target().into_path();
    if let Some(log) = &log {
        check_log(log, &read)?;
        read.push(log);
    }
    let mut slots = Slots::take(arguments.output.as_deref(), Some(&arguments.receipt), &read)?;
    let format: ReceiptFormat = arguments.receipt_format.parse()?;
    format.check(experimental(arguments.allow_experimental))?;
    let call = AuditedCall::begin(&arguments.audit_target(), arguments.context.clone())?;

    let started = Instant::now();
    let (bundle, host) = match prepare(arguments) {
        Ok(prepared) => prepared,
        Err(refused) => {
            call.denied(refused.denial, refused.reason)?;
            return Err(refused.error);
        }
    };
    let input = match read_bounded_as(&arguments.input, limits::MAX_INPUT_BYTES, "input") {
        Ok(input) => input,
        Err(error) => {
            let denial = Denial {
                policy_hash: Some(host.policy_hash()),
                ..Denial::of_bundle(&bundle)
            };
            call.denied(denial, Reason::VerificationFailed(Step::Read))?;
            return Err(error.into());
        }
    };
    note_milliseconds(observation, "verify_ms", started);

    let started = Instant::now();
    let mut executed = started;
    let mut deliver = |run: &Run| {
        executed = Instant::now();
        if let Ok(output) = &run.result {
            slots.write_output(output)?;
        }
        let receipt = run.receipt(format);
        if let Some(receipt) = &receipt {
            receipt.verify()?;
            slots.write_receipt(&receipt.to_bytes())?;
        }
        Ok(receipt.map(|receipt| receipt.hash().clone()))
    };
    let run = host.call(
        SkillCall::bundle(&bundle, &input)
            .recorded_as(call)
            .delivering(&mut deliver),
    )?;
    let output = match run.result {
        Ok(output) => output,
        Err(failure) => {
            // A receipt of the failure, if the format has one.
            slots.keep();
            return Err(failure.into());
        }
    };
    observation.note("artifact", bundle.artifact().as_str());
    observation.note("capability_count", bundle.manifest().capabilities.len());
    let execute = executed.saturating_duration_since(started).as_millis();
    observation.note("execute_ms", u64::try_from(execute).unwrap_or(u64::MAX));
    note_milliseconds(observation, "receipt_ms", executed);
    // Where nobody can be told, nothing was done; also where the reader of the line is gone.
    print_result(arguments, bundle.artifact(), &output)
        .map_err(|error| anyhow!("the result cannot be printed: {error}"))?;
    slots.keep();
    Ok(())
}

/// Why nothing was executed, and what the audit line says of it.
struct Refused {
    error: anyhow::Error,
    denial: Denial,
    reason: Reason,
}

/// The bundle first, then the policy.
fn prepare(arguments: &Arguments) -> Result<(VerifiedBundle, Host), Box<Refused>> {
    let refused = |error: anyhow::Error, denial, reason| {
        Box::new(Refused {
            error,
            denial,
            reason,
        })
    };
    let unopened = |error: BundleError| {
        let reason = Reason::VerificationFailed(error.step());
        refused(error.into(), arguments.denial(), reason)
    };
    let files = BundleFiles::read(&arguments.bundle).map_err(unopened)?;
    let bundle =
        Bundle::open(files, experimental(arguments.allow_experimental)).map_err(unopened)?;
    // Nobody vouches yet for what the bundle says of itself.
    let denial = Denial {
        artifact: Some(bundle.artifact().clone()),
        ..Denial::default()
    };
    let unverified = |error, step| refused(error, denial.clone(), Reason::VerificationFailed(step));
    let ring = read_bounded_as(&arguments.keys, limits::MAX_JSON_BYTES, "public-keys.json")
        .map_err(|error| unverified(error.into(), Step::Read))?;
    let bundle = bundle
        .verify_with(&ring, &arguments.keys_digest)
        .map_err(|error| {
            let step = error.step();
            unverified(error.into(), step)
        })?;
    arguments
        .cosign
        .verify()
        .map_err(|error| unverified(error, Step::Cosign))?;
    match host(arguments) {
        Ok(host) => Ok((bundle, host)),
        Err(error) => {
            let denial = Denial::of_bundle(&bundle);
            Err(refused(error.into(), denial, Reason::PolicyInvalid))
        }
    }
}

fn host(arguments: &Arguments) -> Result<Host, HostError> {
    let mut builder = config::host()
        .policy(&arguments.policy)
        .audit(arguments.audit_target())
        .own_file(&arguments.keys);
    for mount in &arguments.mounts {
        builder = builder.mount(CliMount::of_policy(mount)?);
    }
    if let Some(tenant) = &arguments.tenant {
        builder = builder.tenant(tenant);
    }
    if let Some(grant) = &arguments.grant {
        builder = builder.grant(grant);
    }
    if let Some(home) = home::compatible_folder() {
        builder = builder.home(home);
    }
    builder.build()
}

fn print_result(arguments: &Arguments, artifact: &Digest, output: &[u8]) -> anyhow::Result<()> {
    let line = Line::ok("run")
        .fact("artifact", artifact)
        .given("receipt", &arguments.receipt);
    if arguments.print_output {
        print(output)?;
        Ok(io::stderr().write_all(&line.into_bytes())?)
    } else {
        line.print()
    }
}

fn note_milliseconds(observation: &mut Observation, name: &'static str, since: Instant) {
    let milliseconds = u64::try_from(since.elapsed().as_millis()).unwrap_or(u64::MAX);
    observation.note(name, milliseconds);
}

impl Arguments {
    /// The files that neither output nor receipt may replace.
    fn files_read(&self) -> Vec<PathBuf> {
        let flags = [&self.keys, &self.policy, &self.input];
        let flags = flags.into_iter().chain(&self.tenant).chain(&self.grant);
        let bundle = BUNDLE_FILES.iter().map(|name| self.bundle.join(name));
        flags.cloned().chain(bundle).collect()
    }

    /// Compatible commands have no default target.
    fn audit_target(&self) -> AuditTarget {
        AuditTarget::of(TargetSources {
            flag: self.audit.as_deref(),
            variable: std::env::var_os("HYDRANT_AUDIT").as_deref(),
            configuration: None,
            home: None,
        })
    }

    /// What is known of a bundle that cannot be opened: the digest of its artifact, if that can be read.
    fn denial(&self) -> Denial {
        let file = self.bundle.join("skill.wasm");
        let wasm = read_bounded_as(&file, limits::MAX_WASM_BYTES, "skill.wasm").ok();
        Denial {
            artifact: wasm.map(|wasm| Digest::of(&wasm)),
            ..Denial::default()
        }
    }
}
