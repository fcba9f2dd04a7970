//! `hydrant keys`: the digest that a key ring is known by, and keys for a team's own root.

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::Context;
use clap::{Args, Subcommand};
use hydrant::base::{Digest, read_bounded_as};
use hydrant::pins::Root;
use hydrant::trust::{SecretKey, limits, refuse_inside, signing_key_path};

use super::output::{Exit, print_line};
use super::pins::signing_keys;

/// Work with keys and key rings
#[derive(Args)]
pub(super) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Digest(DigestArguments),
    Generate(SignerArguments),
    Public(SignersArguments),
}

/// Print the digest of a key ring, for --keys-digest
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  hydrant keys digest pins/public-keys.json")]
struct DigestArguments {
    /// The key ring
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

/// Make the key of a signer in $HYDRANT_SIGNING_KEYS, and print its public half
///
/// A key that is there is never replaced. The secret half is never printed.
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  HYDRANT_SIGNING_KEYS=~/keys hydrant keys generate team.build")]
struct SignerArguments {
    /// Name of the signer; the key is <SIGNER>.key
    #[arg(value_name = "SIGNER")]
    signer: String,
}

/// Print a key ring of the public halves of keys in $HYDRANT_SIGNING_KEYS
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  HYDRANT_SIGNING_KEYS=~/keys hydrant keys public team.build team.release > pins/public-keys.json")]
struct SignersArguments {
    /// Names of the signers; the keys are <SIGNER>.key
    #[arg(value_name = "SIGNER", required = true)]
    signers: Vec<String>,
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<Exit> {
    match &arguments.command {
        Command::Digest(DigestArguments { file }) => {
            // Of the raw bytes: white space counts.
            let bytes = read_bounded_as(file, limits::MAX_JSON_BYTES, "public-keys.json")?;
            print_line(Digest::of(&bytes).as_str())?;
        }
        Command::Generate(SignerArguments { signer }) => {
            let key = SecretKey::generate(&key_file(signer)?)?;
            print_ring(&BTreeMap::from([(signer, key)]))?;
        }
        Command::Public(SignersArguments { signers }) => {
            let mut keys = BTreeMap::new();
            for signer in signers {
                keys.insert(signer, SecretKey::read(&key_file(signer)?)?);
            }
            print_ring(&keys)?;
        }
    }
    Ok(Exit::Done)
}

fn key_file(signer: &str) -> anyhow::Result<PathBuf> {
    let directory = signing_keys().context(
        "HYDRANT_SIGNING_KEYS names the directory of the <signer>.key files; it is not set",
    )?;
    // Not where a commit could take it.
    let here = std::env::current_dir().context("the working directory cannot be read")?;
    for place in [directory.canonicalize().ok(), Some(here)].iter().flatten() {
        if let Some(root) = Root::find(place) {
            refuse_inside(&root, &directory)?;
        }
    }
    Ok(signing_key_path(&directory, signer)?)
}

/// In the form of pins/public-keys.json.
fn print_ring(keys: &BTreeMap<&String, SecretKey>) -> anyhow::Result<()> {
    let public = keys
        .iter()
        .map(|(signer, key)| (*signer, key.public().to_base64()));
    let ring: BTreeMap<&String, String> = public.collect();
    print_line(&serde_json::to_string_pretty(&ring)?)
}
