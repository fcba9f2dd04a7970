//! `sign`: one signer's signature into a bundle.

use std::path::PathBuf;

use clap::{Args, CommandFactory};
use hydrant::pins::Root;
use hydrant::trust::{self, SecretKey, refuse_inside, signing_key_path};

use super::super::pins::signing_keys;
use super::arguments::Usage;
use super::line::Line;
use super::{Compatible, experimental};

/// Sign a bundle, or replace a signer's signature
#[derive(Args)]
pub(in crate::cli) struct Arguments {
    /// Directory of the bundle
    #[arg(long, value_name = "DIR")]
    bundle: PathBuf,

    /// Who signs; the manifest must name them
    #[arg(long, value_name = "ID")]
    signer: String,

    /// File with the secret key [default: $HYDRANT_SIGNING_KEYS/ID.key]
    #[arg(long, value_name = "FILE")]
    secret_key: Option<PathBuf>,

    /// Accept the draft of the next manifest
    #[arg(long)]
    allow_experimental: bool,
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let key = SecretKey::read(&key_file(arguments)?)?;
    let experimental = experimental(arguments.allow_experimental);
    let signatures = trust::sign(&arguments.bundle, &arguments.signer, &key, experimental)?;
    Line::ok("sign")
        .given("bundle", &arguments.bundle)
        .fact("signer", &arguments.signer)
        .fact("signatures", signatures)
        .print()
}

/// Returns the file of the secret key: the one of the flag, else one in the directory that `HYDRANT_SIGNING_KEYS` names.
/// A directory inside a root is refused: no key lies where it could be committed.
fn key_file(arguments: &Arguments) -> anyhow::Result<PathBuf> {
    if let Some(file) = &arguments.secret_key {
        return Ok(file.clone());
    }
    let Some(directory) = signing_keys() else {
        let reason = "neither --secret-key nor HYDRANT_SIGNING_KEYS names a secret key";
        return Err(Usage::new(reason, Compatible::command(), &["sign"]).into());
    };
    // The root of the bundle, of the working directory, and any that the keys themselves lie in.
    let places = [
        arguments.bundle.canonicalize().ok(),
        directory.canonicalize().ok(),
        Some(std::env::current_dir()?),
    ];
    for root in places
        .iter()
        .flatten()
        .filter_map(|place| Root::find(place))
    {
        refuse_inside(&root, &directory)?;
    }
    Ok(signing_key_path(&directory, &arguments.signer)?)
}
