//! A program that the policy names: arguments as given, in a directory of a mount.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::child::{Ended, Start, Stderr};
use super::confined::{self, Confined};
use super::output::Disguise;
use super::scratch::Scratch;
use super::{
    Bounds, Exit, ProcessError, Program, TEMPORARY, environment, executable, exit_of, git,
};
use crate::Call;
use crate::fs::{Found, FsError};
use crate::stop::Stop;
use hydrant_policy::{AllowedPath, Confinement, ProgramDenial, ProgramLeave, VirtualPath};

/// Time of a program to end by itself when its time was up: not a part of that time, and of the call's neither.
const GRACE: Duration = Duration::from_secs(2);

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
    if leave.confinement == Confinement::Required && call.jail.is_none() {
        // It never runs with less.
        return Err(ProcessError::Unconfined.into());
    }
    let mount = leave.directory.mount();
    let found =
        Found::of(&leave.directory).map_err(|error| noted(call, program, missing(error)))?;
    call.check_own(&leave.directory, found.reference())
        .map_err(missing)?;
    if found.is_file() {
        return Err(ProcessError::NotDirectory.into());
    }
    if !executable::is_known(&leave.executable) {
        return Err(ProcessError::NotStartable.into());
    }
    let arguments = arguments.iter().map(OsString::from).collect();
    let mut disguise = Disguise::default();
    if guarded.is_some() {
        // Git complains of paths that stand in a repository's files, and these may be real ones.
        disguise.add(mount.real(), mount.at().as_str());
    }
    let keep = bounds.keep;
    let bounds = Bounds {
        keep: keep.saturating_add(disguise.look_ahead()),
        ..bounds
    };
    let ended = match leave.confinement {
        Confinement::Required => jailed(call, program, arguments, &leave, &found, guarded, bounds),
        Confinement::Unjailed => {
            call.journal.used("exec.unjailed");
            unjailed(program, arguments, &leave, &found, guarded, bounds)
        }
    };
    let ended = ended.map_err(|error| noted(call, program, error))?;
    // What a program prints is data, byte for byte: a diff may well hold a path. Only in complaints one is replaced.
    Ok(exit_of(&ended, [&Disguise::default(), &disguise], keep))
}

/// Inside, its working directory has its virtual path.
fn jailed(
    call: &Call,
    program: &Program,
    arguments: Vec<OsString>,
    leave: &ProgramLeave,
    found: &Found,
    guarded: Option<git::Checked>,
    bounds: Bounds,
) -> Result<Ended, ProcessError> {
    let (name, real) = (&program.name, &leave.executable);
    let mount = leave.directory.mount();
    // Git starts nothing but itself.
    let others: &[PathBuf] = if guarded.is_some() {
        &[]
    } else {
        &leave.others
    };
    let mut confined = Confined::of_program(call, name, real, others, mount)?;
    if guarded.is_some() {
        // Git has nothing to write: what is left of its commands only reads. The guard's questions and the command share
        // a jail, which costs more than any of them.
        confined.share_one_jail();
    } else {
        confined.open_for_writing(&leave.writable)?;
        confined.open_network(&leave.egress);
    }
    let inside = Path::new(mount.at().as_str());
    // Where it really is: inside nothing is entered through a link.
    let below = confined::below(mount, found).ok_or(ProcessError::NoDirectory)?;
    let directory = inside.join(below);
    let start = Start {
        executable: real.clone(),
        name: name.into(),
        arguments,
        directory: directory.components().collect(),
        environment: environment::of(Path::new(TEMPORARY), &leave.env),
        stderr: Stderr::Kept,
        grace: Some(GRACE),
        confined: Some(Arc::new(confined)),
    };
    let place = git::Place {
        inside,
        real: mount.real(),
    };
    run_there(start, guarded, place, None, bounds)
}

fn unjailed(
    program: &Program,
    arguments: Vec<OsString>,
    leave: &ProgramLeave,
    found: &Found,
    guarded: Option<git::Checked>,
    bounds: Bounds,
) -> Result<Ended, ProcessError> {
    let scratch = Scratch::create().map_err(|_| ProcessError::NotStartable)?;
    let start = Start {
        executable: leave.executable.clone(),
        // `argv[0]` is the program's name.
        name: OsString::from(&program.name),
        arguments,
        directory: working_directory(found, &leave.directory),
        environment: environment::of(scratch.real(), &leave.env),
        stderr: Stderr::Kept,
        grace: Some(GRACE),
        confined: None,
    };
    let real = leave.directory.mount().real();
    let place = git::Place { inside: real, real };
    run_there(start, guarded, place, Some(scratch.real()), bounds)
}

fn run_there(
    start: Start<'_>,
    guarded: Option<git::Checked>,
    place: git::Place<'_>,
    scratch: Option<&Path>,
    bounds: Bounds,
) -> Result<Ended, ProcessError> {
    match guarded {
        Some(checked) => git::Guarded {
            start,
            checked,
            place,
            scratch,
        }
        .run(bounds),
        None => Ok(start.run(bounds.time, bounds.keep)?),
    }
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

/// Notes what the git guard refuses, and a working directory behind a link: the policy allowed the text, so that no other
/// denial stands in the journal.
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
        FsError::LeavesMount => ProcessError::DirectoryDenied,
        _ => ProcessError::NoDirectory,
    }
}

/// The directory that was found, and no other that has its name by now.
#[cfg(target_os = "linux")]
fn working_directory(found: &Found, _: &AllowedPath) -> PathBuf {
    crate::fs::descriptor_path(found.reference()).into()
}

/// Elsewhere a directory has to be entered by name.
#[cfg(not(target_os = "linux"))]
fn working_directory(_: &Found, directory: &AllowedPath) -> PathBuf {
    directory.mount().real().join(directory.relative())
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
