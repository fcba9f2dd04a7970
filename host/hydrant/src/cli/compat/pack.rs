//! `pack`: a component and its manifest become a bundle without signatures.

use std::path::PathBuf;

use anyhow::bail;
use clap::Args;
use hydrant::base::read_bounded_as;
use hydrant::pins::check_component;
use hydrant::trust::{self, Manifest, limits};

use super::experimental;
use super::line::Line;

/// Make a bundle of a component and its manifest
#[derive(Args)]
pub(in crate::cli) struct Arguments {
    /// Directory of the bundle; made if it is missing
    #[arg(long, value_name = "DIR")]
    bundle: PathBuf,

    /// The component
    #[arg(long, value_name = "FILE")]
    wasm: PathBuf,

    /// Its manifest
    #[arg(long, value_name = "FILE")]
    manifest: PathBuf,

    /// Accept the draft of the next manifest
    #[arg(long)]
    allow_experimental: bool,
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let wasm = read_bounded_as(&arguments.wasm, limits::MAX_WASM_BYTES, "skill.wasm")?;
    let manifest = read_bounded_as(&arguments.manifest, limits::MAX_JSON_BYTES, "manifest.json")?;
    let experimental = experimental(arguments.allow_experimental);
    // A manifest that does not parse is refused below, with its reason.
    if let Ok(manifest) = Manifest::parse(&manifest) {
        let findings = check_component(&wasm, &manifest);
        let rules = findings.found().iter().map(|found| found.message.as_str());
        let rules: Vec<_> = rules.collect();
        if !rules.is_empty() {
            bail!("{}", rules.join("; "));
        }
    }
    trust::pack(&arguments.bundle, &wasm, &manifest, experimental)?;
    Line::ok("pack").given("bundle", &arguments.bundle).print()
}
