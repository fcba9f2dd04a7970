//! `hydrant lock`: pin the bundles on disk, check that they are pinned, sign the lock.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use clap::{ArgGroup, Args};
use hydrant::base::read_bounded_as;
use hydrant::pins::sign;
use hydrant::pins::update::{self, Change, Present, Update};
use hydrant::pins::{Anchor, report::Report};
use hydrant::trust::{KeyError, KeyRing, limits};

use super::output::{Exit, WithExit};
use super::pins::{BuiltIn, ReportOptions, ReportUnderWay, RootOptions, signing_keys, variable};

/// Pin the bundles below `skills`, check that they are pinned, or sign the lock
#[derive(Args)]
#[command(group = ArgGroup::new("action").required(true), after_long_help = "\
Examples:
  hydrant lock --check
  hydrant lock --update
  hydrant lock --update --allow-widen
  HYDRANT_SIGNING_KEYS=~/keys hydrant lock --sign --signer hydrant.build

A new capability, or another signer or key, is shown line by line and refused without its flag; nothing is then
written.

Exit status: 0 done, 1 usage or other, 2 drift, 3 a signature, key or signer, 4 a wider capability.")]
pub(super) struct Arguments {
    /// Verify every bundle on disk and pin it
    #[arg(long, group = "action")]
    update: bool,

    /// Build the lock in memory and compare
    #[arg(long, group = "action")]
    check: bool,

    /// Sign the lock as it is
    #[arg(long, group = "action", requires = "signer")]
    sign: bool,

    #[command(flatten)]
    root: RootOptions,

    /// Make the first lock of a root
    // clap passes over `requires` when the required flag conflicts with a given one.
    #[arg(long, conflicts_with_all = ["check", "sign"])]
    init: bool,

    /// Pin bundles that declare more than before
    #[arg(long, conflicts_with_all = ["check", "sign"])]
    allow_widen: bool,

    /// Pin bundles with other signers, or with other keys of the same signers
    #[arg(long, conflicts_with_all = ["check", "sign"])]
    allow_signer_change: bool,

    /// The key ring that signed the present lock, after a change of the ring
    #[arg(
        long,
        value_name = "FILE",
        requires = "old_keys_digest",
        conflicts_with_all = ["check", "sign", "init"]
    )]
    old_keys: Option<PathBuf>,

    /// Its digest
    #[arg(long, value_name = "DIGEST", requires = "old_keys")]
    old_keys_digest: Option<String>,

    /// Who signs; the key is read from $HYDRANT_SIGNING_KEYS/NAME.key
    #[arg(long, value_name = "NAME", conflicts_with_all = ["update", "check"])]
    signer: Option<String>,

    #[command(flatten)]
    report: ReportOptions,
}

pub(super) fn run(arguments: &Arguments, built_in: &BuiltIn<'_>) -> anyhow::Result<Exit> {
    let anchor = arguments.root.anchor(built_in)?;
    let under_way = arguments.report.begin()?;
    let report = if arguments.update {
        updated(arguments, &anchor, built_in, &under_way)?
    } else if arguments.check {
        let directory = arguments.root.directory()?;
        refuse_keys_inside(&directory)?;
        update::check(&directory, &anchor, built_in.probe, Some(&under_way))?
    } else {
        signed(arguments, &anchor)?
    };
    under_way.finish(&report)
}

fn updated(
    arguments: &Arguments,
    anchor: &Anchor,
    built_in: &BuiltIn<'_>,
    under_way: &ReportUnderWay<'_>,
) -> anyhow::Result<Report> {
    let (directory, present) = if arguments.init {
        (arguments.root.new_directory()?, Present::Nothing)
    } else {
        (arguments.root.directory()?, Present::Locked)
    };
    let old_ring = match (&arguments.old_keys, &arguments.old_keys_digest) {
        (Some(file), Some(digest)) => Some(old_ring(file, digest, anchor)?),
        _ => None,
    };
    let change = |allowed| {
        if allowed {
            Change::Allowed
        } else {
            Change::Refused
        }
    };
    let keys = signing_keys();
    Ok(update::update(
        &directory,
        &Update {
            anchor,
            probe: built_in.probe,
            progress: Some(under_way),
            present,
            old_ring: old_ring.as_ref(),
            widening: change(arguments.allow_widen),
            signer_change: change(arguments.allow_signer_change),
            signing_keys: keys.as_deref(),
            now: update::now(variable("SOURCE_DATE_EPOCH")?.as_deref())?,
        },
    )?)
}

/// Held against its digest before it is parsed, and fit for pins as the present ring must be.
fn old_ring(file: &Path, digest: &str, anchor: &Anchor) -> anyhow::Result<KeyRing> {
    let open = || {
        let bytes = read_bounded_as(file, limits::MAX_JSON_BYTES, "public-keys.json")?;
        let ring = KeyRing::open(&bytes, digest)?;
        ring.check_pins_form(anchor.min_signers.count())?;
        Ok(ring)
    };
    open()
        .map_err(|error: KeyError| match error {
            KeyError::File(_) | KeyError::DigestFormat(_) => anyhow::Error::new(error),
            _ => anyhow::Error::new(error).context(WithExit(Exit::Trust)),
        })
        .context("--old-keys")
}

fn signed(arguments: &Arguments, anchor: &Anchor) -> anyhow::Result<Report> {
    let Some(signer) = &arguments.signer else {
        bail!("--sign needs --signer");
    };
    let keys = signing_keys()
        .context("--sign needs HYDRANT_SIGNING_KEYS, a directory with <signer>.key files")?;
    let directory = arguments.root.directory()?;
    Ok(sign::sign(&directory, anchor, signer, &keys)?)
}

/// Also where the keys are not used.
fn refuse_keys_inside(root: &Path) -> anyhow::Result<()> {
    if let Some(keys) = signing_keys() {
        hydrant::trust::refuse_inside(root, &keys)?;
    }
    Ok(())
}
