//! `install`: an archive into the local store.

use std::error::Error;
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Args;
use hydrant::base::escaped;
use hydrant::home;
use hydrant::policy::Policy;
use hydrant::trust::install::{InstallOptions, PolicyCheck, SignatureMode, install};
use hydrant::trust::source::InsecureHttp;
use hydrant::trust::{Manifest, Signatures, WasmForm};

use super::experimental;
use super::line::Line;

/// Put an archive into the local store
#[derive(Args)]
pub(in crate::cli) struct Arguments {
    /// A path, or a file: or https: URL
    #[arg(long, value_name = "SOURCE")]
    artifact: String,

    /// Key ring that the signatures are verified with; needed for a URL
    #[arg(long, value_name = "FILE")]
    keys: Option<PathBuf>,

    /// Digest that the key ring must have
    #[arg(long, value_name = "DIGEST")]
    keys_digest: Option<String>,

    /// Policy that must allow the skill's capabilities and trust a signer
    #[arg(long, value_name = "FILE")]
    policy: Option<PathBuf>,

    /// Refuse an archive without signatures
    #[arg(long)]
    require_signatures: bool,

    /// Allow http: URLs, for local development
    #[arg(long)]
    allow_insecure_http: bool,

    /// Accept the draft of the next manifest
    #[arg(long)]
    allow_experimental: bool,
}

pub(super) fn run(arguments: Arguments) -> anyhow::Result<()> {
    let home = home::compatible_folder().context(super::NO_HOME)?;
    // The file is read when its turn has come.
    let check = arguments.policy.map(|file| {
        move |manifest: &Manifest, signatures: &Signatures, form| {
            check_policy(&file, manifest, signatures, form)
        }
    });
    let options = InstallOptions {
        keys: arguments.keys,
        keys_digest: arguments.keys_digest,
        policy: check.as_ref().map(|check| {
            let check: &PolicyCheck<'_> = check;
            check
        }),
        signatures: if arguments.require_signatures {
            SignatureMode::Required
        } else {
            SignatureMode::Optional
        },
        insecure_http: if arguments.allow_insecure_http {
            InsecureHttp::Allowed
        } else {
            InsecureHttp::Refused
        },
        experimental: experimental(arguments.allow_experimental),
    };
    let installed = install(&arguments.artifact, &options, &home)?;
    Line::ok("install")
        .fact("skill", &installed.skill)
        .given("store", &installed.store)
        .given("source", &installed.source)
        .print()
}

fn check_policy(
    file: &Path,
    manifest: &Manifest,
    signatures: &Signatures,
    form: WasmForm,
) -> Result<(), Box<dyn Error + Send + Sync>> {
    let policy = Policy::load_unmounted(file)?;
    let denied = policy.denied_by_ceiling(&manifest.capabilities, form);
    if let Some(denied) = denied.first() {
        let denied = escaped(&denied.to_string());
        return Err(format!("capability denied: {denied}").into());
    }
    Ok(policy.check_signers(&manifest.signers, &signatures.signers())?)
}
