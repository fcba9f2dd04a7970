//! Files of `/output`, brought back: regular files only, whatever else is there.
//!
//! The directory is as a hostile program left it; nobody is left in the jail who could change it while it is read.
//! Nothing is followed, what is no regular file is not opened for reading, and lengths are bounded: a file in memory can
//! say that it is long and take no room.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use rustix::fs::{
    AtFlags, Dir, FileType, Mode, OFlags, fstat, fstatvfs, mkdirat, openat, unlinkat,
};
use rustix::io::Errno;
use sha2::{Digest, Sha256};

use super::resources::{Allowed, OUTPUT_FILES};
use super::{ReturnedFile, SandboxEnd, SandboxRun};
use crate::budget::Dimension;
use crate::digest;

/// Directories in each other.
const DEPTH: usize = 16;

/// What is searched for secrets.
const SCANNED_BYTES: u64 = 1024 * 1024;

/// Warnings of one run; the rest is counted.
const WARNINGS: usize = 20;

/// Brings everything back that can be.
///
/// # Errors
///
/// The output directory of the host cannot be written.
pub(super) fn bring(
    directory: Option<OwnedFd>,
    run: &SandboxRun<'_>,
    allowed: &Allowed,
    end: &mut SandboxEnd,
) -> io::Result<()> {
    let Some(directory) = directory else {
        end.warnings.push("files of /output are lost".to_owned());
        return Ok(());
    };
    let mut bringing = Bringing {
        run,
        left: allowed.output_bytes,
        found: 0,
        host: None,
        files: Vec::new(),
        warnings: Vec::new(),
        skipped: 0,
        full: false,
    };
    // The program itself was told that there is no room.
    bringing.full = fstatvfs(&directory).is_ok_and(|room| room.f_bavail == 0);
    bringing.directory(&directory, &mut Vec::new())?;
    let mut files = bringing.files;
    files.sort_by(|one, other| one.name.cmp(&other.name));
    end.used.storage_bytes = files
        .iter()
        .fold(0, |sum: u64, file| sum.saturating_add(file.bytes));
    end.files = files;
    end.warnings.extend(bringing.warnings);
    if bringing.skipped > 0 {
        let more = format!("{} more are not brought back", bringing.skipped);
        end.warnings.push(more);
    }
    if bringing.full {
        end.exhausted = end
            .exhausted
            .or_else(|| allowed.by_budget(Dimension::StorageBytes));
    }
    Ok(())
}

struct Bringing<'a> {
    run: &'a SandboxRun<'a>,
    /// Bytes that may still be written.
    left: u64,
    /// Entries seen.
    found: u64,
    /// The output directory, once there is something for it.
    host: Option<OwnedFd>,
    files: Vec<ReturnedFile>,
    warnings: Vec<String>,
    skipped: u64,
    /// Whether something was left for want of room.
    full: bool,
}

impl Bringing<'_> {
    /// Everything below `directory`, which has these names in `/output`.
    fn directory(&mut self, directory: &OwnedFd, names: &mut Vec<String>) -> io::Result<()> {
        let mut entries = Vec::new();
        // What the program made unreadable it did not want to return.
        for entry in Dir::read_from(directory).into_iter().flatten().flatten() {
            let name = entry.file_name().to_bytes();
            if name != b"." && name != b".." {
                entries.push(String::from_utf8(name.to_vec()));
            }
        }
        // In an order that does not depend on the file system, so that the same is kept each time.
        entries.sort_by(|one, other| name_bytes(one).cmp(name_bytes(other)));
        for name in entries {
            self.found = self.found.saturating_add(1);
            if self.found > OUTPUT_FILES {
                self.skipped = self.skipped.saturating_add(1);
                continue;
            }
            match name {
                Ok(name) if !name.contains(char::is_control) => {
                    names.push(name);
                    self.entry(directory, names)?;
                    names.pop();
                }
                _ => self.skip(names, "has a name that is no plain text"),
            }
        }
        Ok(())
    }

    fn entry(&mut self, directory: &OwnedFd, names: &mut Vec<String>) -> io::Result<()> {
        let Some(name) = names.last().cloned() else {
            return Ok(());
        };
        // Never waits (a pipe), never follows (a link); a device cannot be opened on such a mount at all.
        let flags =
            OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let opened = match openat(directory, &name, OFlags::PATH | flags, Mode::empty()) {
            Ok(reference) => fstat(&reference).map(|found| FileType::from_raw_mode(found.st_mode)),
            Err(error) => Err(error),
        };
        match opened {
            Ok(FileType::RegularFile) => match openat(directory, &name, flags, Mode::empty()) {
                Ok(file) => self.file(File::from(file), names),
                Err(_) => {
                    self.skip(names, "cannot be read");
                    Ok(())
                }
            },
            Ok(FileType::Directory) if names.len() >= DEPTH => {
                self.skip(names, "lies too deep");
                Ok(())
            }
            Ok(FileType::Directory) => match openat(directory, &name, flags, Mode::empty()) {
                Ok(inner) => self.directory(&inner, names),
                Err(_) => {
                    self.skip(names, "cannot be read");
                    Ok(())
                }
            },
            // Links, devices and sockets do not come back. Links are usual: those of the inputs are there.
            _ => Ok(()),
        }
    }

    fn file(&mut self, mut file: File, names: &[String]) -> io::Result<()> {
        let length = file.metadata()?.len();
        if length > self.left {
            self.full = true;
            self.skip(names, "is one too many bytes");
            return Ok(());
        }
        let (target, path) = self.target(names)?;
        let mut unscanned = false;
        let (bytes, digest) = if length <= SCANNED_BYTES {
            let mut bytes = Vec::new();
            (&mut file).take(length).read_to_end(&mut bytes)?;
            if let Some(redacted) = (self.run.redact)(&bytes) {
                bytes = redacted;
            }
            (&target).write_all(&bytes)?;
            let length = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
            (length, digest::of_bytes(&bytes))
        } else {
            unscanned = !self.run.secrets.is_empty();
            copy(&mut file.take(length), &target)?
        };
        self.left = self.left.saturating_sub(bytes);
        self.files.push(ReturnedFile {
            name: names.join("/"),
            bytes,
            digest,
            path,
            unscanned,
        });
        Ok(())
    }

    /// A new file of the host; what an earlier call of the same run left under this name is replaced.
    fn target(&mut self, names: &[String]) -> io::Result<(File, std::path::PathBuf)> {
        let root = match &self.host {
            Some(host) => host.try_clone()?,
            None => {
                let host = output(self.run.output)?;
                self.host.insert(host).try_clone()?
            }
        };
        let mut parent = root;
        let (name, above) = names
            .split_last()
            .ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
        for directory in above {
            parent = below(&parent, directory)?;
        }
        match unlinkat(&parent, name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => {}
            Err(error) => return Err(error.into()),
        }
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let file = openat(&parent, name, flags, Mode::RUSR | Mode::WUSR)?;
        let path = names
            .iter()
            .fold(self.run.output.to_owned(), |path, name| path.join(name));
        Ok((File::from(file), path))
    }

    fn skip(&mut self, names: &[String], why: &str) {
        if self.warnings.len() < WARNINGS {
            let name: String = names.join("/").chars().take(120).collect();
            self.warnings
                .push(format!("/output/{name} is not brought back: it {why}"));
        } else {
            self.skipped = self.skipped.saturating_add(1);
        }
    }
}

fn name_bytes(name: &Result<String, std::string::FromUtf8Error>) -> &[u8] {
    match name {
        Ok(name) => name.as_bytes(),
        Err(error) => error.as_bytes(),
    }
}

/// The output directory; made for its owner alone.
fn output(path: &Path) -> io::Result<OwnedFd> {
    use std::os::unix::fs::DirBuilderExt;
    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(path)?;
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(rustix::fs::open(path, flags, Mode::empty())?)
}

fn below(parent: impl AsFd, name: &str) -> io::Result<OwnedFd> {
    match mkdirat(&parent, name, Mode::RWXU) {
        Ok(()) | Err(Errno::EXIST) => {}
        Err(error) => return Err(error.into()),
    }
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(openat(parent, name, flags, Mode::empty())?)
}

/// Copies, with length and digest of what was.
fn copy(from: &mut impl Read, mut to: &File) -> io::Result<(u64, String)> {
    let mut hasher = Sha256::new();
    let mut length = 0_u64;
    let mut buffer = vec![0; 65_536];
    loop {
        let read = match from.read(&mut buffer) {
            Ok(0) => break,
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        let part = buffer.get(..read).unwrap_or_default();
        to.write_all(part)?;
        hasher.update(part);
        length = length.saturating_add(u64::try_from(read).unwrap_or(0));
    }
    let hex = digest::hex(hasher.finalize().as_slice());
    Ok((length, format!("sha256:{hex}")))
}
