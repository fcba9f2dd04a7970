//! Real paths in a repository's own files: linked work trees, alternates and `core.worktree` name directories by
//! where they really are. In the jail a mount lies at its virtual path, and such a name leads nowhere. Where the
//! directory lies in the mount, git is told of it by a variable; where it does not, the repository is denied, as outside
//! of a jail.
//!
//! Nothing here decides what is allowed: what git makes of all this it is asked next (module `repository`).

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::Read;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

use super::{Clock, Place, ProcessError, contents};

/// Bytes of one of these files.
const MAX_BYTES: u64 = 64 * 1024;

/// Alternates, and those of alternates: as deep as git follows them.
const MAX_DEPTH: u32 = 5;

/// What git is told of the repository of `directory`, a path of the child's.
///
/// # Errors
/// [`ProcessError::DirectoryDenied`] when a name leads out of the mount, or a file of the repository does ([`contents`]).
pub(super) fn variables(
    place: Place<'_>,
    directory: &Path,
    clock: Clock,
) -> Result<BTreeMap<OsString, OsString>, ProcessError> {
    let mut told = BTreeMap::new();
    let Some(found) = Found::above(place, directory)? else {
        return Ok(told);
    };
    let mut tell = |name: &str, path: &Path| told.insert(name.into(), path.as_os_str().to_owned());
    let named_by_file = found.named.is_some();
    if let Some(named) = &found.named {
        tell("GIT_DIR", named);
        tell("GIT_WORK_TREE", &place.shown(&found.top)?);
    }
    let mut common = found.git_directory.clone();
    if let Some(line) = first_line(&found.git_directory.join("commondir")) {
        let absolute = place.absolute(&line)?;
        if let Some(named) = &absolute {
            tell("GIT_COMMON_DIR", named);
        }
        common = match absolute {
            Some(named) => place.real(&named),
            None => place
                .real(&line)
                .or_else(|| place.within(&found.git_directory.join(&line))),
        }
        .ok_or(ProcessError::DirectoryDenied)?;
    } else if !named_by_file
        && let Some(tree) = configured_work_tree(&common.join("config"))
        && let Some(named) = place.absolute(&tree)?
    {
        tell("GIT_DIR", &place.shown(&found.git_directory)?);
        tell("GIT_WORK_TREE", &named);
    }
    contents::check(place, [&found.git_directory, &common], clock)?;
    let mut alternates = Vec::new();
    let objects = common.join("objects");
    collect_alternates(place, &objects, MAX_DEPTH, clock, &mut alternates)?;
    if !alternates.is_empty() {
        let joined = alternates.join(OsStr::new(":"));
        told.insert("GIT_ALTERNATE_OBJECT_DIRECTORIES".into(), joined);
    }
    Ok(told)
}

/// Looks at all of the repository that git itself found: it reads the files that name one in its own way.
///
/// # Errors
/// [`ProcessError::DirectoryDenied`] when a part of it leads out of the mount.
pub(super) fn check(
    place: Place<'_>,
    git_directory: &Path,
    common: &Path,
    clock: Clock,
) -> Result<(), ProcessError> {
    contents::check(place, [git_directory, common], clock)?;
    collect_alternates(
        place,
        &common.join("objects"),
        MAX_DEPTH,
        clock,
        &mut Vec::new(),
    )
}

/// A repository, by its real paths.
struct Found {
    /// The directory with `.git` in it.
    top: PathBuf,
    git_directory: PathBuf,
    /// The git directory as the child names it, if a file names it by where it really is.
    named: Option<PathBuf>,
}

impl Found {
    /// Looks upwards, as git does. None: there is none, or one that git finds its own way to.
    fn above(place: Place<'_>, directory: &Path) -> Result<Option<Self>, ProcessError> {
        let Some(directory) = place.real(directory) else {
            return Ok(None);
        };
        let within = |top: &&Path| top.starts_with(place.real);
        for top in directory.ancestors().take_while(within) {
            let git = top.join(".git");
            let kind = git.symlink_metadata().map(|metadata| metadata.file_type());
            let found = |git_directory, named| Self {
                top: top.to_owned(),
                git_directory,
                named,
            };
            match kind {
                Ok(kind) if kind.is_dir() && is_git_directory(&git) => {
                    return Ok(Some(found(git, None)));
                }
                Ok(kind) if kind.is_file() => {
                    let line = first_line(&git);
                    let named = line.and_then(|line| {
                        let rest = line.as_os_str().as_bytes().strip_prefix(b"gitdir:")?;
                        Some(PathBuf::from(OsStr::from_bytes(rest.trim_ascii_start())))
                    });
                    let Some(line) = named else { return Ok(None) };
                    return Ok(match place.absolute(&line)? {
                        Some(named) => {
                            let real = place.real(&named);
                            real.map(|real| found(real, Some(named)))
                        }
                        // Relative, or a path of the child's.
                        None => {
                            let real = place.real(&line);
                            let real = real.or_else(|| place.within(&top.join(&line)));
                            real.map(|real| found(real, None))
                        }
                    });
                }
                // What git makes of one that leads elsewhere is looked at then.
                Ok(kind) if kind.is_symlink() => {
                    let real = place.within(&git).filter(|real| is_git_directory(real));
                    return Ok(real.map(|real| found(real, None)));
                }
                _ => {}
            }
            if is_git_directory(top) {
                return Ok(Some(found(top.to_owned(), None)));
            }
        }
        Ok(None)
    }
}

impl Place<'_> {
    /// The child's name for what a file names by an absolute path. None: it is relative, or the child's name already.
    fn absolute(self, named: &Path) -> Result<Option<PathBuf>, ProcessError> {
        if !named.is_absolute() || self.real(named).is_some() {
            return Ok(None);
        }
        let real = named.canonicalize();
        let real = real.map_err(|_| ProcessError::DirectoryDenied)?;
        self.shown(&real).map(Some)
    }

    /// Where a path of this process's really is, if that is in the mount.
    fn within(self, path: &Path) -> Option<PathBuf> {
        let real = path.canonicalize().ok()?;
        real.starts_with(self.real).then_some(real)
    }

    /// The child's name for a real path.
    fn shown(self, real: &Path) -> Result<PathBuf, ProcessError> {
        let below = real.strip_prefix(self.real);
        let below = below.map_err(|_| ProcessError::DirectoryDenied)?;
        // Joining an empty path would end it with a slash.
        Ok(self.inside.join(below).components().collect())
    }
}

/// As git tells one: what else has a `.git` beside it is looked for further up.
fn is_git_directory(directory: &Path) -> bool {
    let there = |name: &str| directory.join(name).symlink_metadata().is_ok();
    there("HEAD") && (there("commondir") || there("objects") && there("refs"))
}

/// Alternates that are named by where they really are, and those of all alternates. Git finds the others itself; none leads
/// out of the mount.
fn collect_alternates(
    place: Place<'_>,
    objects: &Path,
    depth: u32,
    clock: Clock,
    told: &mut Vec<OsString>,
) -> Result<(), ProcessError> {
    let file = objects.join("info/alternates");
    let Some(text) = text_of(&file) else {
        // Git reads one that is too large for us.
        let large = file
            .metadata()
            .is_ok_and(|metadata| metadata.len() > MAX_BYTES);
        return if large {
            Err(ProcessError::DirectoryDenied)
        } else {
            Ok(())
        };
    };
    // Git goes one deeper than this.
    let depth = depth.checked_sub(1).ok_or(ProcessError::DirectoryDenied)?;
    let lines = text.split(|byte| *byte == b'\n');
    for line in lines.filter(|line| !line.is_empty() && !line.starts_with(b"#")) {
        // Git takes the quotes off.
        if line.starts_with(b"\"") {
            return Err(ProcessError::DirectoryDenied);
        }
        let line = Path::new(OsStr::from_bytes(line));
        let next = match place.absolute(line)? {
            Some(named) => {
                let name = named.clone().into_os_string();
                // The variable separates directories by colons, and has quotes.
                if name.as_bytes().iter().any(|byte| b":\"\\".contains(byte)) {
                    return Err(ProcessError::DirectoryDenied);
                }
                if !told.contains(&name) {
                    told.push(name);
                }
                place.real(&named)
            }
            None => place
                .real(line)
                .or_else(|| place.within(&objects.join(line))),
        };
        let next = next.ok_or(ProcessError::DirectoryDenied)?;
        contents::check(place, [&next, &next], clock)?;
        collect_alternates(place, &next, depth, clock, told)?;
    }
    Ok(())
}

/// `core.worktree`, if it stands in the file in the usual form.
fn configured_work_tree(config: &Path) -> Option<PathBuf> {
    let text = text_of(config)?;
    let mut in_core = false;
    let mut tree = None;
    for line in text.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii) {
        if line.starts_with(b"[") {
            in_core = line.eq_ignore_ascii_case(b"[core]");
        } else if in_core && let Some(equals) = line.iter().position(|byte| *byte == b'=') {
            let (name, value) = line.split_at(equals);
            if name.trim_ascii().eq_ignore_ascii_case(b"worktree") {
                let value = value.get(1..).unwrap_or_default().trim_ascii();
                let plain = value
                    .strip_prefix(b"\"")
                    .and_then(|value| value.strip_suffix(b"\""));
                tree = Some(OsString::from_vec(plain.unwrap_or(value).to_vec()).into());
            }
        }
    }
    tree
}

fn first_line(file: &Path) -> Option<PathBuf> {
    let text = text_of(file)?;
    let line = text.split(|byte| *byte == b'\n').next()?;
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    Some(OsString::from_vec(line.to_vec()).into())
}

/// A small regular file.
fn text_of(file: &Path) -> Option<Vec<u8>> {
    let opened = File::options()
        .read(true)
        // Not waiting for the other end of a FIFO.
        .custom_flags(OFlags::NONBLOCK.bits().cast_signed())
        .open(file)
        .ok()?;
    if !opened.metadata().ok()?.is_file() {
        return None;
    }
    let mut text = Vec::new();
    let read = opened
        .take(MAX_BYTES.saturating_add(1))
        .read_to_end(&mut text)
        .ok()?;
    (u64::try_from(read).ok()? <= MAX_BYTES).then_some(text)
}
