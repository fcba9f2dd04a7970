//! The answer of a tool that was asked the same before: used again instead of starting it.
//!
//! Only what ran in the jail is kept, and of that only what ended with status 0 and wrote something. Used again is it where
//! all is the same that can be compared: the bytes of the tool, its words and its environment, what it sees and where
//! that lies, its limits, the state of the system's programs and libraries, and hydrant itself. That the mounts are
//! compared keeps tenants apart: what one puts beside a tool is never another's answer. What cannot be compared is what
//! the other files of `/os` hold, and the time; so an answer is used for a day at most.
//!
//! The policy has decided before this is asked, and the tool was looked up: an answer is found only for a tool that would
//! be started.

use std::fs::File;
use std::io::{self, Read, Seek};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Instant;

use sha2::{Digest as _, Sha256};

use super::child::{Start, Stderr};
use super::{Ending, Exit};
use crate::fs::Found;
use crate::{Call, KeepDescriptions, KeptDescription};
use hydrant_base::{Digest, FileStamp};

/// Bytes of a tool whose answer is kept: reading more takes longer than to start it.
const MAX_BYTES: u64 = 16 * 1024 * 1024;

/// Bytes that are read at a time.
const BUFFER: usize = 64 * 1024;

/// What changes when programs or libraries of the system do: directories in which files are replaced, the loader's list,
/// and the lists of packages.
const SYSTEM_STATE: [&str; 9] = [
    "/usr/bin",
    "/usr/lib",
    "/usr/local/bin",
    "/usr/local/lib",
    "/opt",
    "/etc/ld.so.cache",
    "/var/lib/dpkg/status",
    "/var/lib/rpm/rpmdb.sqlite",
    "/lib/apk/db/installed",
];

/// Where the bytes of a tool are.
pub(super) enum Source<'call> {
    /// In a file that was looked up.
    File {
        found: &'call Found,
        /// Where it was looked up: links in this real path are followed.
        real: PathBuf,
        /// Where it lies inside.
        place: PathBuf,
    },
    /// They were fetched.
    Fetched {
        bytes: &'call [u8],
        /// Where they lie inside.
        place: PathBuf,
    },
}

/// Everything that is compared, in a form that no two give alike.
pub(super) struct Circumstances(Vec<u8>);

/// A tool that may have been asked before.
pub(super) struct Kept<'call> {
    descriptions: &'call dyn KeepDescriptions,
    circumstances: Digest,
    content: Content<'call>,
    started: Instant,
}

struct Content<'call> {
    source: &'call Source<'call>,
    file: Option<File>,
    digest: [u8; 32],
    stamp: Option<FileStamp>,
}

impl Circumstances {
    fn new() -> Self {
        let mut circumstances = Self(Vec::new());
        circumstances.add("hydrant", env!("CARGO_PKG_VERSION"));
        circumstances.add("machine", std::env::consts::ARCH);
        circumstances
    }

    /// Adds a value; name and value cannot run into each other.
    pub(super) fn add(&mut self, name: &str, value: impl AsRef<[u8]>) {
        for part in [name.as_bytes(), value.as_ref()] {
            let length = u64::try_from(part.len()).unwrap_or(u64::MAX);
            self.0.extend(length.to_le_bytes());
            self.0.extend(part);
        }
    }

    pub(super) fn add_path(&mut self, name: &str, path: &Path) {
        self.add(name, path.as_os_str().as_bytes());
    }

    /// Adds a file of the system without reading it.
    fn add_state(&mut self, path: &Path) {
        self.add_path("system", path);
        let stamp = rustix::fs::stat(path)
            .ok()
            .map(|stat| FileStamp::new(&stat));
        self.add("state", format!("{stamp:?}"));
    }
}

impl<'call> Kept<'call> {
    /// Of the tool that `start` would start, of whose output `keep` bytes are answered. None where nothing is kept: outside
    /// of the jail, without a place for it, and where the tool's bytes cannot be read or are too many.
    pub(super) fn of(
        call: &'call Call,
        source: &'call Source<'call>,
        start: &Start<'_>,
        keep: usize,
    ) -> Option<Self> {
        let started = Instant::now();
        let descriptions = call.descriptions.as_deref()?;
        let content = Content::of(source).ok()??;
        let circumstances = circumstances(source, &content, start, keep)
            .inspect_err(|error| tracing::debug!(%error, "a description cannot be kept"))
            .ok()??;
        Some(Self {
            descriptions,
            circumstances: Digest::of(&circumstances.0),
            content,
            started,
        })
    }

    /// What it answered.
    pub(super) fn find(&self) -> Option<Exit> {
        let found = self.descriptions.find(&self.circumstances)?;
        tracing::debug!("a tool that was asked before is not started");
        Some(Exit {
            ending: Ending::Exited(0),
            stdout: found.stdout,
            stdout_truncated: found.truncated,
            stderr: Vec::new(),
            stderr_truncated: false,
            duration_ms: u32::try_from(self.started.elapsed().as_millis()).unwrap_or(u32::MAX),
        })
    }

    /// Keeps what it answers now, unless that is an error or nothing, or somebody changed the tool meanwhile.
    pub(super) fn keep(mut self, exit: &Exit) {
        let answered = exit.ending == Ending::Exited(0) && !exit.stdout.trim_ascii().is_empty();
        if answered && self.content.is_unchanged() {
            let description = KeptDescription {
                stdout: exit.stdout.clone(),
                truncated: exit.stdout_truncated,
            };
            self.descriptions.keep(&self.circumstances, &description);
        }
    }
}

fn circumstances(
    source: &Source<'_>,
    content: &Content<'_>,
    start: &Start<'_>,
    keep: usize,
) -> io::Result<Option<Circumstances>> {
    // Every field is looked at, so that none that is added is forgotten.
    let Start {
        // Where it really lies: the jail says what is started.
        executable: _,
        name,
        arguments,
        directory,
        environment,
        stderr,
        // Whose time was up has not answered.
        grace: _,
        confined: Some(confined),
    } = start
    else {
        return Ok(None);
    };
    if *stderr != Stderr::Dropped {
        return Ok(None);
    }
    let mut circumstances = Circumstances::new();
    circumstances.add("content", content.digest);
    circumstances.add("name", name.as_bytes());
    for argument in arguments {
        circumstances.add("argument", argument.as_bytes());
    }
    circumstances.add_path("directory", directory);
    for (name, value) in environment {
        circumstances.add("variable", name.as_bytes());
        circumstances.add("value", value.as_bytes());
    }
    circumstances.add("keep", keep.to_le_bytes());
    let Some(programs) = confined.add_to(&mut circumstances, source.place())? else {
        return Ok(None);
    };
    for program in programs {
        circumstances.add_state(&program);
    }
    for path in SYSTEM_STATE {
        circumstances.add_state(Path::new(path));
    }
    // What `uname` tells, and whose files those of the system are read as.
    circumstances.add("kernel", std::fs::read("/proc/sys/kernel/osrelease")?);
    let user = rustix::process::geteuid().as_raw();
    circumstances.add("user", user.to_le_bytes());
    Ok(Some(circumstances))
}

impl Source<'_> {
    /// Where the tool lies inside.
    pub(super) fn place(&self) -> &Path {
        match self {
            Self::File { place, .. } | Self::Fetched { place, .. } => place,
        }
    }
}

impl<'call> Content<'call> {
    fn of(source: &'call Source<'call>) -> io::Result<Option<Self>> {
        let (file, digest, stamp) = match source {
            Source::Fetched { bytes, .. } => (None, Some(Sha256::digest(bytes).into()), None),
            Source::File { found, .. } => {
                // The file that was found, and is to be started, whatever its path leads to by now.
                let mut file = found.contents()?;
                let stamp = FileStamp::new(&rustix::fs::fstat(&file)?);
                let digest = digest(&mut file)?;
                (Some(file), digest, Some(stamp))
            }
        };
        Ok(digest.map(|digest| Self {
            source,
            file,
            digest,
            stamp,
        }))
    }

    /// Whether the bytes that were read are still those that are started under the tool's name. Somebody who changes them
    /// and back again within one tick of the clock is not noticed, but who may do that decides what the tool is.
    fn is_unchanged(&mut self) -> bool {
        let (Source::File { found, real, .. }, Some(file)) = (self.source, &mut self.file) else {
            return true;
        };
        let stamp = rustix::fs::fstat(&*file)
            .ok()
            .map(|stat| FileStamp::new(&stat));
        stamp == self.stamp
            && found.is_still_at(real)
            && file.rewind().is_ok()
            && digest(file).is_ok_and(|digest| digest == Some(self.digest))
    }
}

/// The digest of a file from where it is read to its end; none if that is too far.
fn digest(file: &mut File) -> io::Result<Option<[u8; 32]>> {
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; BUFFER];
    let mut total = 0_u64;
    let mut reader = file.take(MAX_BYTES.saturating_add(1));
    loop {
        match reader.read(&mut buffer) {
            Ok(0) => break,
            Ok(count) => {
                total = total.saturating_add(u64::try_from(count).unwrap_or(u64::MAX));
                hasher.update(buffer.get(..count).unwrap_or_default());
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok((total <= MAX_BYTES).then(|| hasher.finalize().into()))
}
