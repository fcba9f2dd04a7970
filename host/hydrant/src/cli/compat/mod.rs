//! The commands of provenact, for programs that start hydrant in its place.
//!
//! They keep its flags, its success lines and its two exit statuses. Their command lines are held against the same
//! clap definitions as everything else, so that help, manual and completions know them, but first against the
//! original's stricter grammar. What a command means is in the library.

mod archive;
mod arguments;
pub(super) mod cosign;
mod export;
mod inspect;
mod install;
mod line;
mod pack;
mod registry_entry;
mod run_bundle;
mod sign;
mod validate_manifest;
mod validate_receipt;
pub(super) mod verify_bundle;
mod verify_receipt;

use std::ffi::OsString;
use std::io::{self, Write};
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{CommandFactory, Parser, Subcommand};
use hydrant::audit::{Event, Observation, observations_wanted};
use hydrant::trust::Experimental;

use self::arguments::Usage;
use super::lazy::Lazy;
use super::output::{Exit, in_one_line, is_broken_pipe, tell};

/// The commands that hydrant has only for the sake of provenact.
#[derive(Subcommand)]
pub(super) enum Command {
    Inspect(Lazy<inspect::Arguments>),
    Pack(Lazy<pack::Arguments>),
    Sign(Lazy<sign::Arguments>),
    Archive(Lazy<archive::Arguments>),
    Install(Lazy<install::Arguments>),
    Export(Lazy<export::Arguments>),
    VerifyReceipt(Lazy<verify_receipt::Arguments>),
    VerifyRegistryEntry(Lazy<registry_entry::Arguments>),
    ExperimentalValidateManifestV1(Lazy<validate_manifest::Arguments>),
    ExperimentalValidateReceiptV1(Lazy<validate_receipt::Arguments>),
}

/// All compatible command lines, those among them whose command has another form of hydrant's own.
#[derive(Parser)]
#[command(
    name = "hydrant",
    version,
    propagate_version = true,
    max_term_width = 100
)]
struct Compatible {
    #[command(subcommand)]
    form: Form,
}

#[derive(Subcommand)]
enum Form {
    Verify(Lazy<verify_bundle::Arguments>),
    Run(Lazy<Box<run_bundle::Arguments>>),
    #[command(flatten)]
    Other(Command),
}

/// A command needs a home folder and there is none.
const NO_HOME: &str =
    "there is no home folder: set HYDRANT_HOME, PROVENACT_HOME or HOME to an absolute path";

/// The flags that make a command with two forms the compatible one.
const FORMS: [(&str, &[&str]); 2] = [("verify", verify_bundle::FLAGS), ("run", &["--bundle"])];

/// Runs the program if its command line is a compatible one; the first argument is the program's name.
pub(super) fn run(arguments: &[OsString]) -> Option<ExitCode> {
    let line = arguments.get(1..)?;
    let command = Compatible::command();
    let name = compatible_name(&command, line)?;
    let mut observation = Observation::begin(Event::Command);
    observation.note("command", name);
    let result = dispatch(command, line);
    observe(observation, &result);
    Some(exit(&result))
}

/// The command's name, if this is the compatible form of it.
fn compatible_name(command: &clap::Command, line: &[OsString]) -> Option<String> {
    let name = line.first()?.to_str()?;
    command.find_subcommand(name)?;
    let given = |flag: &&str| {
        line.iter().filter_map(|word| word.to_str()).any(|word| {
            word.strip_prefix(flag)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
        })
    };
    match FORMS.iter().find(|(own, _)| *own == name) {
        Some((_, flags)) if !flags.iter().any(given) => None,
        _ => Some(name.to_owned()),
    }
}

fn dispatch(command: clap::Command, line: &[OsString]) -> anyhow::Result<()> {
    let words = arguments::normalize(command, line)?;
    match Compatible::try_parse_from(words) {
        Ok(Compatible { form }) => match form {
            Form::Verify(Lazy(arguments)) => verify_bundle::run(&arguments),
            Form::Run(Lazy(arguments)) => run_bundle::run(&arguments),
            Form::Other(command) => execute(command),
        },
        // Not errors, and on stdout.
        Err(error)
            if matches!(
                error.kind(),
                ErrorKind::DisplayHelp | ErrorKind::DisplayVersion
            ) =>
        {
            Ok(error.print()?)
        }
        Err(error) => Err(Usage::of(&error, Compatible::command(), line).into()),
    }
}

/// Runs a command that was parsed.
pub(super) fn execute(command: Command) -> anyhow::Result<()> {
    match command {
        Command::Inspect(Lazy(arguments)) => inspect::run(&arguments),
        Command::Pack(Lazy(arguments)) => pack::run(&arguments),
        Command::Sign(Lazy(arguments)) => sign::run(&arguments),
        Command::Archive(Lazy(arguments)) => archive::run(&arguments),
        Command::Install(Lazy(arguments)) => install::run(arguments),
        Command::Export(Lazy(arguments)) => export::run(&arguments),
        Command::VerifyReceipt(Lazy(arguments)) => verify_receipt::run(&arguments),
        Command::VerifyRegistryEntry(Lazy(arguments)) => registry_entry::run(&arguments),
        Command::ExperimentalValidateManifestV1(Lazy(arguments)) => {
            validate_manifest::run(&arguments)
        }
        Command::ExperimentalValidateReceiptV1(Lazy(arguments)) => {
            validate_receipt::run(&arguments)
        }
    }
}

/// 0 or 1, and why on stderr.
fn exit(result: &anyhow::Result<()>) -> ExitCode {
    match result {
        Ok(()) => Exit::Done.into(),
        Err(error) if is_broken_pipe(error) => Exit::Done.into(),
        Err(error) => {
            tell(&format!("command failed: {}", in_one_line(error)));
            Exit::Error.into()
        }
    }
}

/// Runs a part of a command that the original observes by itself.
pub(super) fn observed(
    event: Event,
    work: impl FnOnce(&mut Observation) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let mut observation = Observation::begin(event);
    let result = work(&mut observation);
    observe(observation, &result);
    result
}

/// Prints an observation line on stderr, if `PROVENACT_OBS_JSON` asks for them.
fn observe(observation: Observation, result: &anyhow::Result<()>) {
    if !observations_wanted(std::env::var_os("PROVENACT_OBS_JSON").as_deref()) {
        return;
    }
    let error = result.as_ref().err().map(in_one_line);
    let line = observation.line(error.as_deref().map_or(Ok(()), Err));
    let _ = writeln!(io::stderr(), "{line}");
}

/// Whether `--allow-experimental` was given, as a type.
pub(super) fn experimental(allowed: bool) -> Experimental {
    if allowed {
        Experimental::Allowed
    } else {
        Experimental::Refused
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(line: &[&str]) -> Option<String> {
        let line: Vec<OsString> = line.iter().map(OsString::from).collect();
        compatible_name(&Compatible::command(), &line)
    }

    #[test]
    fn verify_is_the_compatible_form_with_any_of_its_flags() {
        for flag in [
            "--bundle",
            "--keys",
            "--allow-experimental",
            "--require-cosign",
            "--oci-ref",
            "--cosign-key",
            "--cosign-cert-identity",
            "--cosign-cert-oidc-issuer",
            "--keys=x",
        ] {
            assert_eq!(name(&["verify", flag]).as_deref(), Some("verify"), "{flag}");
        }
        for own in ["--keys-digest", "--root", "--bundles", "--format"] {
            assert_eq!(name(&["verify", own]), None, "{own}");
        }
        assert_eq!(name(&["verify"]), None);
    }

    #[test]
    fn the_commands_of_provenact_are_known_by_their_names() {
        for known in [
            "inspect",
            "pack",
            "sign",
            "archive",
            "install",
            "export",
            "verify-receipt",
            "verify-registry-entry",
            "experimental-validate-manifest-v1",
            "experimental-validate-receipt-v1",
        ] {
            assert_eq!(name(&[known]).as_deref(), Some(known));
        }
        for other in ["hydrate", "lock", "Pack", "", "verify-pins"] {
            assert_eq!(name(&[other]), None, "{other}");
        }
        assert_eq!(name(&[]), None);
    }
}
