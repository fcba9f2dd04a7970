//! A tool that a document declares, asked for its description.
//!
//! First the policy decides, by the text of the path and of the declaring document; then the tool is
//! looked up or fetched; then it is described if it is a component, and started if it is anything else.

use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use cap_std::fs::{OpenOptions, OpenOptionsExt};
use rustix::io::Errno;
use url::Url;

use super::child::{NotStarted, Start, Stderr};
use super::confined::{self, Confined, Shared};
use super::executable::{Format, format_of, is_known, is_known_file};
use super::kept::{Kept, Source};
use super::output::Disguise;
use super::scratch::Scratch;
use super::{Bounds, Ending, Exit, ProcessError, SCRATCH, Tool, environment, exit_of};
use crate::fetch::{self, FetchError};
use crate::fs::{self, Found, FsError, Overflow, Symlinks};
use crate::stop::Stop;
use crate::{Call, DescribeError};
use hydrant_policy::{AllowedPath, Denial, Location, MountHandle, ToolLeave, VirtualPath};

/// Bytes of a tool that is a component or comes over https.
const MAX_TOOL_BYTES: u32 = 4 * 1024 * 1024;

/// The endings that a policy may name a runner for.
const RUNNER_ENDINGS: [&str; 4] = [".ts", ".js", ".py", ".sh"];

/// Asks `tool` for its description.
///
/// # Errors
/// See [`ProcessError`].
pub(super) fn run(
    call: &Call,
    shared: &Shared,
    tool: &Tool,
    arguments: &[String],
    bounds: Bounds,
) -> Result<Exit, Stop<ProcessError>> {
    // Exactly these two executions are possible.
    let [flag] = arguments else {
        return Err(ProcessError::ArgumentsDenied.into());
    };
    if !matches!(flag.as_str(), "--description" | "--help") {
        return Err(ProcessError::ArgumentsDenied.into());
    }
    let (place, leave) = leave(call, tool)?;
    match (place, leave) {
        (Place::Local(path), Leave::Describe) => {
            let component = read_component(call, path, &tool.path)?;
            describe(call, &component, bounds)
        }
        (Place::Remote(url), Leave::Describe) => describe(call, &fetch_tool(call, &url)?, bounds),
        // Without a jail nothing is looked up, fetched or started.
        (_, Leave::Start(leave)) if leave.is_confined() && call.jail.is_none() => {
            Err(ProcessError::Unconfined.into())
        }
        (Place::Local(allowed), Leave::Start(leave)) => {
            let found = Found::of(&allowed).map_err(|error| {
                if error == FsError::LeavesMount {
                    call.journal
                        .denied_capability(format!("exec.safe:{}", tool.path));
                }
                missing(error)
            })?;
            call.check_own(&allowed, found.reference())
                .map_err(missing)?;
            if !found.is_file() {
                return Err(ProcessError::NotFound.into());
            }
            let (mount, relative) = (allowed.mount().clone(), allowed.relative());
            let place = confined::below(&mount, &found)
                .map(|below| Path::new(mount.at().as_str()).join(below));
            // Also in the jail: `/proc/self/mountinfo` shows where a mount comes from.
            let mut disguise = Disguise::default();
            disguise.add(mount.real(), mount.at().as_str());
            let real = mount.real().join(relative);
            let path = if leave.is_confined() {
                Path::new(mount.at().as_str()).join(relative)
            } else {
                real.clone()
            };
            let found = &found;
            Asked {
                call,
                shared,
                path,
                mount: Some(mount),
                kept: None,
                source: place.map(|place| Source::File { found, real, place }),
                flag,
                leave: &leave,
                bounds,
                disguise,
            }
            .start_local(found)
        }
        (Place::Remote(url), Leave::Start(leave)) => {
            let tool = fetch_tool(call, &url)?;
            let (kept, path) = keep(&url, &tool).map_err(|_| ProcessError::NotStartable)?;
            let mut disguise = Disguise::default();
            disguise.add(kept.real(), SCRATCH);
            let name = path.file_name().unwrap_or_default();
            let (path, kept) = if leave.is_confined() {
                (Path::new(SCRATCH).join(name), Some(path))
            } else {
                (path, None)
            };
            let source = Source::Fetched {
                bytes: &tool,
                place: path.clone(),
            };
            // Without execute bit, so that only a runner can start it.
            Asked {
                call,
                shared,
                path,
                mount: None,
                kept,
                source: Some(source),
                flag,
                leave: &leave,
                bounds,
                disguise,
            }
            .start_by_runner()
        }
    }
}

/// Where a tool comes from.
enum Place {
    Local(AllowedPath),
    Remote(Url),
}

/// What the policy allows.
enum Leave {
    /// A component is instantiated with nothing; no process starts.
    Describe,
    Start(ToolLeave),
}

/// Whether the policy allows it at all, and where the tool lies; touches nothing.
fn leave(call: &Call, tool: &Tool) -> Result<(Place, Leave), ProcessError> {
    let grant = &call.grant;
    let denied = |denial: Denial| {
        call.journal.denied(&denial);
        ProcessError::Denied
    };
    let (place, own, is_component) = if tool.path.starts_with('/') {
        let path = VirtualPath::parse(&tool.path).map_err(|_| ProcessError::Denied)?;
        let (own, location) = grant.tool(&path).map_err(denied)?;
        let place = match location {
            Location::Directory(path) => Place::Local(path),
            Location::Https { url } => Place::Remote(url),
        };
        let name = path.file_name().unwrap_or_default();
        (place, Some(own), name.ends_with(".wasm"))
    } else {
        let url = Url::parse(&tool.path).map_err(|_| ProcessError::Denied)?;
        let is_component = url.path().ends_with(".wasm");
        (Place::Remote(url), None, is_component)
    };
    let is_remote = matches!(place, Place::Remote(_)) || is_declared_remotely(call, tool);
    let leave = match (is_component, is_remote, own) {
        (true, true, _) => grant.remote_components().map(|()| Leave::Describe),
        (true, false, _) => Ok(Leave::Describe),
        (false, false, Some(own)) => Ok(Leave::Start(own)),
        (false, _, _) => grant.remote_tools().map(Leave::Start),
    };
    let leave = leave.map_err(denied)?;
    // What a component on the disk says of itself is as its bytes are; what a process or a server says is of the moment.
    if !matches!((&place, &leave), (Place::Local { .. }, Leave::Describe)) {
        call.journal.not_repeatable();
    }
    if let Leave::Start(_) = leave {
        call.journal.used("exec.safe");
    }
    Ok((place, leave))
}

/// Whether the declaring document came over https: by its URL, or by the mount that it lies on.
///
/// What is no local `os://` URI counts as remote. Mounts have no characters that an `os://` URI would
/// escape, so its escapes do not matter here.
fn is_declared_remotely(call: &Call, tool: &Tool) -> bool {
    tool.declared_by
        .strip_prefix("os://")
        .and_then(|rest| VirtualPath::parse(&format!("/os/{rest}")).ok())
        .is_none_or(|path| call.grant.is_remote(&path))
}

/// What a failed lookup is called.
fn missing(error: FsError) -> ProcessError {
    match error {
        FsError::LeavesMount | FsError::NotAccessible => ProcessError::NotPermitted,
        FsError::Denied => ProcessError::Denied,
        FsError::Io | FsError::TooLarge => ProcessError::NotStartable,
        _ => ProcessError::NotFound,
    }
}

fn read_component(
    call: &Call,
    path: AllowedPath,
    name: &str,
) -> Result<Vec<u8>, Stop<ProcessError>> {
    let file = (path, Symlinks::Follow);
    let read = fs::read_allowed(call, file, name, MAX_TOOL_BYTES, Overflow::Refuse)?;
    Ok(read.map_err(missing)?.bytes)
}

/// Returns the bytes of a remote tool.
fn fetch_tool(call: &Call, url: &Url) -> Result<Vec<u8>, Stop<ProcessError>> {
    match fetch::resource(call, url, MAX_TOOL_BYTES, Overflow::Refuse)? {
        Ok(response) if (200..300).contains(&response.status) => Ok(response.body),
        Err(FetchError::Denied) => Err(ProcessError::Denied.into()),
        Ok(_) | Err(_) => Err(ProcessError::FetchFailed.into()),
    }
}

/// Keeps a fetched tool in a private directory, as a file named like the last segment of its URL.
fn keep(url: &Url, tool: &[u8]) -> std::io::Result<(Scratch, PathBuf)> {
    let name = url
        .path_segments()
        .and_then(|mut segments| segments.next_back())
        .filter(|name| !name.is_empty())
        .unwrap_or("tool");
    let scratch = Scratch::create()?;
    let mut options = OpenOptions::new();
    options.write(true).create_new(true).mode(0o600);
    let mut file = scratch.directory().open_with(name, &options)?;
    file.write_all(tool)?;
    let path = scratch.real().join(name);
    Ok((scratch, path))
}

/// What a component says of itself is its standard output.
fn describe(call: &Call, component: &[u8], bounds: Bounds) -> Result<Exit, Stop<ProcessError>> {
    let started = Instant::now();
    let patience = call.meter.remaining()?;
    // `--no-exec` forbids even that process.
    let jail = call
        .jail
        .as_ref()
        .filter(|_| !call.grant.is_without_processes());
    let described = call
        .components
        .describe(component, bounds.time, patience, jail);
    if described.is_err() {
        // An error is never kept.
        call.journal.not_repeatable();
    }
    let (ending, description) = match described {
        Ok(description) => (Ending::Exited(0), description),
        Err(DescribeError::Timeout) => (Ending::TimedOut, String::new()),
        Err(DescribeError::NotDescribable) => return Err(ProcessError::NotStartable.into()),
    };
    let mut stdout = description.into_bytes();
    let stdout_truncated = stdout.len() > bounds.keep;
    stdout.truncate(bounds.keep);
    Ok(Exit {
        ending,
        stdout,
        stdout_truncated,
        stderr: Vec::new(),
        stderr_truncated: false,
        duration_ms: u32::try_from(started.elapsed().as_millis()).unwrap_or(u32::MAX),
    })
}

/// What is started.
enum Started<'found> {
    /// The file that was found itself, in the jail.
    Found(&'found Found),
    /// What lies at this real path.
    At(PathBuf),
}

/// A tool that was found, and how it is asked.
struct Asked<'call> {
    call: &'call Call,
    /// The jails of its list.
    shared: &'call Shared,
    /// Its path: `argv[0]`, as its own usage text shows it. In the jail a virtual one, else the real one.
    path: PathBuf,
    /// The mount of a local one.
    mount: Option<MountHandle>,
    /// Where a fetched one really is, of which the jail shows this file alone.
    kept: Option<PathBuf>,
    /// Its bytes; none if nobody knows any more where they lie.
    source: Option<Source<'call>>,
    flag: &'call str,
    leave: &'call ToolLeave,
    bounds: Bounds,
    disguise: Disguise,
}

impl Asked<'_> {
    /// Starts a file that is executable by its format or its `#!` line, any other by the runner for its ending.
    fn start_local(self, found: &Found) -> Result<Exit, Stop<ProcessError>> {
        if !found.is_executable() {
            return self.start_by_runner();
        }
        let executable = if self.leave.is_confined() {
            if !is_known_file(found) {
                return self.start_unknown();
            }
            Started::Found(found)
        } else {
            match format_of(found, &self.path) {
                Format::Known(path) => Started::At(path),
                #[cfg(target_os = "linux")]
                Format::Unknown => return self.start_unknown(),
                Format::Moved => return Err(ProcessError::NotStartable.into()),
            }
        };
        let ended = self.start(executable, self.path.clone().into(), vec![self.flag.into()])?;
        match ended {
            Ok(exit) => Ok(exit),
            Err(Errno::NOEXEC) => self.start_unknown(),
            Err(Errno::ACCESS) => Err(ProcessError::NotPermitted.into()),
            Err(_) => Err(ProcessError::NotStartable.into()),
        }
    }

    /// Executable, but in no format that the system knows.
    fn start_unknown(self) -> Result<Exit, Stop<ProcessError>> {
        match self.start_by_runner() {
            Err(Stop::Item(ProcessError::NotPermitted)) => Err(ProcessError::NotStartable.into()),
            other => other,
        }
    }

    /// Starts the runner that the policy names for the file's ending, with the file's path and the flag.
    fn start_by_runner(self) -> Result<Exit, Stop<ProcessError>> {
        let name = self.path.as_os_str().as_encoded_bytes();
        let runner = RUNNER_ENDINGS
            .iter()
            .find(|ending| name.ends_with(ending.as_bytes()))
            .and_then(|ending| self.leave.runners.get(*ending))
            .ok_or(ProcessError::NotPermitted)?;
        let executable = runner
            .executable
            .clone()
            .filter(|executable| is_known(executable))
            .ok_or(ProcessError::NotStartable)?;
        let mut arguments: Vec<OsString> = runner.arguments.iter().map(OsString::from).collect();
        arguments.push(self.path.clone().into());
        arguments.push(self.flag.into());
        let name = executable.clone().into();
        self.start(Started::At(executable), name, arguments)?
            .map_err(|_| ProcessError::NotStartable.into())
    }

    /// Starts a child in an empty scratch directory. Inside: why it did not start.
    fn start(
        &self,
        executable: Started<'_>,
        name: OsString,
        arguments: Vec<OsString>,
    ) -> Result<Result<Exit, Errno>, ProcessError> {
        if self.leave.is_confined() {
            let mount = self.mount.as_ref();
            let mut confined = match executable {
                Started::Found(found) => {
                    let source = self.source.as_ref().ok_or(ProcessError::NotStartable)?;
                    Confined::of_tool(self.call, found, source.place(), mount)?
                }
                Started::At(runner) => {
                    let mut confined = Confined::of_runner(self.call, &runner, mount)?;
                    if let Some(Source::File { found, place, .. }) = &self.source {
                        // The runner, too, gets the file that was found.
                        confined.add_opened(found.reference(), place)?;
                    }
                    confined
                }
            };
            if let Some(kept) = &self.kept {
                // It lies in its own scratch directory.
                confined.add_file(kept, &self.path)?;
            } else {
                confined.share(self.shared);
            }
            let home = PathBuf::from(SCRATCH);
            return self.start_at(home, PathBuf::new(), name, arguments, Some(confined));
        }
        let Started::At(path) = executable else {
            return Err(ProcessError::NotStartable);
        };
        let scratch = Scratch::create().map_err(|_| ProcessError::NotStartable)?;
        self.call.journal.used("exec.unjailed");
        self.start_at(scratch.real().to_owned(), path, name, arguments, None)
    }

    fn start_at(
        &self,
        home: PathBuf,
        executable: PathBuf,
        name: OsString,
        arguments: Vec<OsString>,
        confined: Option<Confined<'_>>,
    ) -> Result<Result<Exit, Errno>, ProcessError> {
        let mut disguise = self.disguise.clone();
        disguise.add(&home, SCRATCH);
        let start = Start {
            executable,
            name,
            arguments,
            environment: environment::of(&home, &self.leave.env),
            directory: home,
            stderr: Stderr::Dropped,
            grace: None,
            confined: confined.map(Arc::new),
        };
        let source = self.source.as_ref();
        let kept = source.and_then(|source| Kept::of(self.call, source, &start, self.bounds.keep));
        if let Some(exit) = kept.as_ref().and_then(Kept::find) {
            return Ok(Ok(exit));
        }
        let keep = self.bounds.keep.saturating_add(disguise.look_ahead());
        match start.run(self.bounds.time, keep) {
            Ok(ended) => {
                let exit = exit_of(&ended, [&disguise, &disguise], self.bounds.keep);
                if let Some(kept) = kept {
                    kept.keep(&exit);
                }
                Ok(Ok(exit))
            }
            Err(NotStarted::Unconfined) => Err(ProcessError::Unconfined),
            Err(NotStarted::System(error)) => {
                tracing::debug!(%error, "a tool could not be started");
                Ok(Err(Errno::from_io_error(&error).unwrap_or(Errno::IO)))
            }
        }
    }
}
