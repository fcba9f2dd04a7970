//! `verify-registry-entry`: whether a file has the two digests of a registry.

use std::path::PathBuf;

use clap::Args;
use hydrant::audit::Event;
use hydrant::base::read_bounded_as;
use hydrant::trust::{limits, verify_registry_entry};

use super::line::Line;
use super::observed;

/// Compare a file with the digests of a registry entry
#[derive(Args)]
pub(in crate::cli) struct Arguments {
    /// The file
    #[arg(long, value_name = "FILE")]
    artifact: PathBuf,

    /// `sha256:` and 64 lower-case hex digits
    #[arg(long, value_name = "DIGEST")]
    sha256: String,

    /// 32 lower-case hex digits
    #[arg(long, value_name = "MD5")]
    md5: String,
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    observed(Event::VerifyRegistryEntry, |observation| {
        observation.note("sha256", arguments.sha256.as_str());
        observation.note("md5", arguments.md5.as_str());
        let artifact = read_bounded_as(&arguments.artifact, limits::MAX_WASM_BYTES, "artifact")?;
        verify_registry_entry(&artifact, &arguments.sha256, &arguments.md5)?;
        Line::ok("verify-registry-entry")
            .fact("sha256", &arguments.sha256)
            .fact("md5", &arguments.md5)
            .given("artifact", &arguments.artifact)
            .print()
    })
}
