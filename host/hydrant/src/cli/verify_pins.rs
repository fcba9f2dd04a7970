//! `hydrant verify` of pins: everything below a root is what its signers pinned.
//!
//! No network, no compiler, no other program. The form with `--bundle`, which is provenact's, is another command.

use std::path::PathBuf;

use anyhow::anyhow;
use clap::Args;
use hydrant::pins::report::{Command, Report};
use hydrant::pins::{self, Baseline, Options, Root};
use hydrant::policy::Policy;

use super::output::Exit;
use super::pins::{BuiltIn, ReportOptions, RootOptions};

/// Check every pinned skill: signatures, digests, imports, capabilities, descriptions
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  hydrant verify
  hydrant verify --root vendor/skills --keys-digest sha256:...
  hydrant verify --policy policy.yaml --format sarif --report verify.sarif
  hydrant verify --baseline ../main

Exit status: 0 all is as pinned, 1 usage or other, 2 drift, 3 a signature, key or signer, 4 a capability.")]
pub(super) struct Arguments {
    #[command(flatten)]
    root: RootOptions,

    /// Also ask whether this policy trusts the signers and allows every capability
    #[arg(long, value_name = "FILE")]
    policy: Option<PathBuf>,

    /// A root as it was: also ask whether a capability is wider, or a signer or key another one
    #[arg(long, value_name = "DIR")]
    baseline: Option<PathBuf>,

    /// Rebuilt components, DIR/<id>-<version>.wasm: also ask whether they have the pinned digests
    #[arg(long, value_name = "DIR")]
    rebuilt: Option<PathBuf>,

    #[command(flatten)]
    report: ReportOptions,
}

pub(super) fn run(arguments: &Arguments, built_in: &BuiltIn<'_>) -> anyhow::Result<Exit> {
    let anchor = arguments.root.anchor(built_in)?;
    let root = Root::open(&arguments.root.directory()?)?.carrying(built_in.probe.carried());
    let policy = arguments.policy.as_deref();
    let policy = policy.map(Policy::load_unmounted).transpose();
    // A policy that cannot be read is 1 here, whatever kind of error it is elsewhere.
    let policy = policy.map_err(|error| anyhow!("{error}"))?;
    let baseline = arguments.baseline.as_deref().map(Baseline::open);
    let baseline = baseline.transpose()?;
    let rebuilt = arguments.rebuilt.as_deref().map(Root::open).transpose()?;
    let under_way = arguments.report.begin()?;
    let options = Options {
        policy: policy.as_ref(),
        baseline: baseline.as_ref(),
        rebuilt: rebuilt.as_ref(),
        progress: Some(&under_way),
    };
    let verification = pins::verify(&root, &anchor, &options, built_in.probe);
    let mut report = Report::new(Command::Verify, verification.findings);
    let count = verification.entries.len();
    report.lock_digest = verification.lock_digest;
    report.keys_digest = verification.keys_digest;
    report.entries = verification.entries;
    // Whom this root was held against, and who said so.
    report.notes.push(format!(
        "anchor keys-digest={} from={}",
        anchor.keys_digest,
        arguments.root.anchor_source()
    ));
    if verification.min_signers.is_lowered() {
        report
            .notes
            .push(format!("min-signers={}", verification.min_signers.count()));
    }
    report.summary.push(format!("OK verify-pins count={count}"));
    under_way.finish(&report)
}
