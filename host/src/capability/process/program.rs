//! A program that the policy names: arguments as given, in a directory of a mount (TC-40 to TC-44).

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use super::child::{Start, Stderr};
use super::output::Disguise;
use super::scratch::Scratch;
use super::{Bounds, Exit, ProcessError, Program, environment, executable, exit_of, git};
use crate::capability::Call;
use crate::capability::fs::{Found, FsError};
use crate::capability::stop::Stop;
use crate::policy::{Confinement, MountHandle, ProgramDenial, VirtualPath};

/// Runs `program` with `arguments`.
///
/// # Errors
/// See [`ProcessError`].
pub(super) fn run(
    call: &Call,
    program: &Program,
    arguments: &[String],
    bounds: Bounds,
) -> Result<Exit, Stop<ProcessError>> {
    let directory =
        VirtualPath::parse(&program.directory).map_err(|_| ProcessError::NoDirectory)?;
    let leave = call
        .grant
        .program(&program.name, arguments, &directory)
        .map_err(|denial| refused(call, &denial))?;
    let guarded = guarded(&program.name, &leave.executable, arguments)
        .map_err(|error| noted(call, program, error))?;
    call.journal.used("exec.safe");
    if leave.confinement == Confinement::Required {
        // TC-44: it never runs with less.
        return Err(ProcessError::Unconfined.into());
    }
    let found = Found::beneath(leave.mount.dir(), &leave.relative).map_err(missing)?;
    if found.is_file() {
        return Err(ProcessError::NotDirectory.into());
    }
    if !executable::is_known(&leave.executable) {
        return Err(ProcessError::NotStartable.into());
    }
    let scratch = Scratch::create().map_err(|_| ProcessError::NotStartable)?;
    let start = Start {
        executable: leave.executable,
        // TC-41: `argv[0]` is the program's name.
        name: OsString::from(&program.name),
        arguments: arguments.iter().map(OsString::from).collect(),
        directory: working_directory(&found, &leave.mount, &leave.relative),
        environment: environment::of(scratch.real(), &leave.env),
        stderr: Stderr::Kept,
    };
    call.journal.used("exec.unjailed");
    let ended = match guarded {
        Some(checked) => git::Guarded {
            start,
            checked,
            mount: &leave.mount,
            scratch: scratch.real(),
        }
        .run(bounds)
        .map_err(|error| noted(call, program, error))?,
        None => start.run(bounds.time, bounds.keep).map_err(|error| {
            tracing::debug!(%error, program = program.name, "a program could not be started");
            ProcessError::NotStartable
        })?,
    };
    // What a program prints is data, byte for byte: a diff may well hold a path. Nothing is replaced.
    Ok(exit_of(ended, &Disguise::default(), bounds.keep))
}

/// What the git guard says of the arguments; none if the program is another one, under whatever name the policy knows
/// it.
fn guarded(
    program: &str,
    executable: &Path,
    arguments: &[String],
) -> Result<Option<git::Checked>, ProcessError> {
    let is_git = program == git::PROGRAM
        || std::fs::canonicalize(executable)
            .is_ok_and(|real| real.file_name() == Some(OsStr::new(git::PROGRAM)));
    if !is_git {
        return Ok(None);
    }
    let checked = git::Checked::of(arguments).ok_or(ProcessError::ArgumentsDenied)?;
    Ok(Some(checked))
}

/// Notes what the git guard refuses: the policy allowed it, so that no other denial stands in the journal.
fn noted(call: &Call, program: &Program, error: ProcessError) -> ProcessError {
    if matches!(
        error,
        ProcessError::ArgumentsDenied | ProcessError::DirectoryDenied
    ) {
        call.journal
            .denied_capability(format!("exec.safe:{}", program.name));
    }
    error
}

/// What a failed lookup of the working directory is called.
fn missing(error: FsError) -> ProcessError {
    match error {
        FsError::NotDirectory | FsError::Special => ProcessError::NotDirectory,
        _ => ProcessError::NoDirectory,
    }
}

/// The directory that was found, and no other that has its name by now.
#[cfg(target_os = "linux")]
fn working_directory(found: &Found, _: &MountHandle, _: &str) -> PathBuf {
    crate::capability::fs::descriptor_path(found.reference()).into()
}

/// Elsewhere a directory has to be entered by name.
#[cfg(not(target_os = "linux"))]
fn working_directory(_: &Found, mount: &MountHandle, relative: &str) -> PathBuf {
    mount.real().join(relative)
}

fn refused(call: &Call, denial: &ProgramDenial) -> ProcessError {
    if let Some(denial) = denial.denial() {
        call.journal.denied(denial);
    }
    match denial {
        ProgramDenial::Program(_) => ProcessError::Denied,
        ProgramDenial::Arguments(_) => ProcessError::ArgumentsDenied,
        ProgramDenial::Directory(_) => ProcessError::DirectoryDenied,
        ProgramDenial::NotFound => ProcessError::NotFound,
    }
}
