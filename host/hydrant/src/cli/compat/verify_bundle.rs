//! `verify --bundle`: one bundle, against the keys that the caller names.

use std::path::PathBuf;
use std::time::Instant;

use clap::Args;
use hydrant::audit::Event;
use hydrant::base::read_bounded_as;
use hydrant::trust::{Bundle, BundleFiles, limits};

use super::line::Line;
use super::{cosign, experimental, observed};

/// Any of these makes `verify` the command of this file.
pub(super) const FLAGS: &[&str] = &[
    "--bundle",
    "--keys",
    "--allow-experimental",
    "--require-cosign",
    "--oci-ref",
    "--cosign-key",
    "--cosign-cert-identity",
    "--cosign-cert-oidc-issuer",
];

/// Verify one bundle against a key ring
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

    /// Accept the draft of the next manifest
    #[arg(long)]
    allow_experimental: bool,

    #[command(flatten)]
    cosign: cosign::Flags,
}

// The same flags for the help of `verify`, whose other form is hydrant's own. Never read: lines with one of them are
// taken before. No doc comment, which clap would print.
#[derive(Args)]
#[command(next_help_heading = "Verification of one bundle, with --keys-digest")]
pub(in crate::cli) struct Documented {
    /// Directory of the bundle
    #[arg(long, value_name = "DIR")]
    bundle: Option<PathBuf>,

    /// Key ring: signer names and public keys
    #[arg(long, value_name = "FILE")]
    keys: Option<PathBuf>,

    /// Accept the draft of the next manifest
    #[arg(long)]
    allow_experimental: bool,

    #[command(flatten)]
    cosign: cosign::Flags,
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    observed(Event::Verify, |observation| {
        let started = Instant::now();
        let files = BundleFiles::read(&arguments.bundle)?;
        let bundle = Bundle::open(files, experimental(arguments.allow_experimental))?;
        let preflight = milliseconds(started);

        let started = Instant::now();
        let ring = read_bounded_as(&arguments.keys, limits::MAX_JSON_BYTES, "public-keys.json")?;
        let verified = bundle.verify_with(&ring, &arguments.keys_digest)?;
        arguments.cosign.verify()?;
        let trust = milliseconds(started);

        let signers = verified.signatures().signatures.len();
        Line::ok("verify")
            .fact("artifact", verified.artifact())
            .fact("signers", signers)
            .print()?;
        observation.note("artifact", verified.artifact().as_str());
        observation.note("signer_count", signers);
        observation.note("preflight_ms", preflight);
        observation.note("trust_ms", trust);
        Ok(())
    })
}

fn milliseconds(since: Instant) -> u64 {
    u64::try_from(since.elapsed().as_millis()).unwrap_or(u64::MAX)
}
