//! `experimental-validate-manifest-v1`: the draft of the next manifest, which nothing else reads.

use std::path::PathBuf;

use clap::Args;
use hydrant::audit::Event;
use hydrant::base::read_bounded_as;
use hydrant::trust::{ManifestV1, limits};

use super::line::Line;
use super::observed;

/// Validate a manifest of the v1 draft
#[derive(Args)]
pub(in crate::cli) struct Arguments {
    /// The manifest
    #[arg(long, value_name = "FILE")]
    manifest: PathBuf,
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    observed(Event::ExperimentalValidateManifestV1, |observation| {
        let bytes = read_bounded_as(&arguments.manifest, limits::MAX_JSON_BYTES, "manifest.json")?;
        let manifest = ManifestV1::parse(&bytes)?;
        Line::ok("experimental-validate-manifest-v1")
            .fact("id", &manifest.id)
            .fact("version", &manifest.version)
            .print()?;
        observation.note("manifest_id", manifest.id);
        Ok(())
    })
}
