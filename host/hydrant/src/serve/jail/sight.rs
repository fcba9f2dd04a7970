//! What a jailed agent sees of the host's files, and what is refused.
//!
//! A directory that holds hydrant's home folder, or lies in it, is shown to nobody: keys, secrets, state and the audit log
//! are there. What else is hydrant's own, as a policy in the workspace, is mounted read-only over the directory that may
//! be written, and so is what another mount has for reading; the directories above become mount points, which cannot be
//! renamed.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::{FileType, Mode, OFlags, ResolveFlags, fstat, openat2};

use super::{AgentError, Directories, TEMPORARY};
use crate::capability::aliases::Mounts;
use crate::capability::real;
use crate::host::Host;
use crate::jail::{Access, InsidePath};

/// Where the workspace is.
pub(super) const WORKSPACE: &str = "/workspace";

/// Directories of the kernel, which nobody works in.
const KERNEL: [&str; 3] = ["/proc", "/sys", "/dev"];

/// A file or directory of the host, inside.
pub(super) struct Shown {
    pub(super) source: OwnedFd,
    pub(super) at: InsidePath,
    pub(super) access: Access,
}

/// Everything that is shown.
pub(super) struct Sight {
    shown: Vec<Shown>,
}

/// A directory that is asked for.
struct Asked {
    /// As the operator knows it.
    name: String,
    directory: OwnedFd,
    real: PathBuf,
    at: PathBuf,
    access: Access,
}

impl Sight {
    /// The workspace, by its name and its real path, and the mounts of the policy.
    ///
    /// # Errors
    /// [`AgentError::Directory`] for one that must not be shown, or not for writing.
    pub(super) fn of(
        host: &Host,
        workspace: Option<(&Path, &Path)>,
        directories: Directories,
    ) -> Result<Self, AgentError> {
        let asked = asked(host, workspace, directories)?;
        let mounted = Mounts::now()?;
        for one in &asked {
            one.check(host)?;
        }
        let mut shown = Vec::new();
        for one in &asked {
            shown.push(Shown {
                source: one.directory.try_clone()?,
                at: InsidePath::new(&one.at)?,
                access: one.access,
            });
            if one.access == Access::ReadWrite {
                let covered = |inside: &Path| {
                    asked.iter().any(|other| {
                        other.at != one.at
                            && other.at.starts_with(&one.at)
                            && inside.starts_with(&other.at)
                    })
                };
                // What another mount has for reading is not written by way of this one.
                let read_only = asked
                    .iter()
                    .filter(|other| other.access == Access::ReadOnly && other.real != one.real)
                    .map(|other| other.real.as_path());
                let kept: Vec<&Path> = host.own().places().chain(read_only).collect();
                let linked = host.own().linked_in(&one.real);
                if let Some(kept) = kept.iter().find(|kept| mounted.lead_to(kept, &one.real)) {
                    let (name, real, kept) = (&one.name, one.real.display(), kept.display());
                    let message = format!("{name} ({real}) contains {kept} by another mount");
                    return Err(AgentError::Directory(message));
                }
                let linked = linked.iter().map(PathBuf::as_path);
                one.keep(kept.into_iter().chain(linked), covered, &mut shown)?;
            }
        }
        Ok(Self { shown })
    }

    /// Where the program starts.
    pub(super) fn directory(&self) -> Result<InsidePath, AgentError> {
        let workspace = InsidePath::new(WORKSPACE)?;
        if self.shown.iter().any(|shown| shown.at == workspace) {
            Ok(workspace)
        } else {
            Ok(InsidePath::new(TEMPORARY)?)
        }
    }

    pub(super) fn shown(self) -> Vec<Shown> {
        self.shown
    }
}

fn asked(
    host: &Host,
    workspace: Option<(&Path, &Path)>,
    directories: Directories,
) -> Result<Vec<Asked>, AgentError> {
    let mut asked = Vec::new();
    for (mount, writable) in host.layers().directories() {
        if let Some((named, workspace)) = workspace
            && mount.at().as_str() == WORKSPACE
        {
            if mount.real() != workspace {
                return Err(AgentError::Directory(format!(
                    "the policy mounts {} at {WORKSPACE}, and --workspace is {}",
                    mount.real().display(),
                    named.display()
                )));
            }
            continue;
        }
        if directories == Directories::OfPolicy {
            asked.push(Asked {
                name: format!("the mount {}", mount.at()),
                directory: mount.dir().as_fd().try_clone_to_owned()?,
                real: mount.real().to_owned(),
                at: mount.at().as_str().into(),
                access: if writable {
                    Access::ReadWrite
                } else {
                    Access::ReadOnly
                },
            });
        }
    }
    if let Some((named, real)) = workspace {
        let name = format!("--workspace {}", named.display());
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let directory = rustix::fs::open(real, flags, Mode::empty())
            .map_err(|error| AgentError::Directory(format!("{name}: {error}")))?;
        asked.push(Asked {
            name,
            directory,
            real: real.to_owned(),
            at: WORKSPACE.into(),
            access: Access::ReadWrite,
        });
    }
    Ok(asked)
}

impl Asked {
    fn check(&self, host: &Host) -> Result<(), AgentError> {
        let refused = |why: String| {
            let message = format!("{} ({}) {why}", self.name, self.real.display());
            Err(AgentError::Directory(message))
        };
        if self.real == Path::new("/") || KERNEL.iter().any(|one| self.real.starts_with(one)) {
            return refused("is no directory to show to a jail".to_owned());
        }
        // Signing keys, too, are neither shown nor only kept from being changed.
        let homes = host.home().map(Path::to_owned).into_iter();
        for home in homes.chain(crate::home::own_folders()) {
            let home = real(&home);
            if home.starts_with(&self.real) || is_above(&self.real, &home) {
                return refused(format!("contains hydrant's home folder {}", home.display()));
            }
            if self.real.starts_with(&home) || is_above(&home, &self.real) {
                return refused(format!("lies in hydrant's home folder {}", home.display()));
            }
        }
        if self.access == Access::ReadWrite
            && let Some(own) = host.own().places().find(|own| self.real.starts_with(own))
        {
            return refused(format!("lies in hydrant's own {}", own.display()));
        }
        Ok(())
    }

    /// Keeps these real files and directories, as far as they lie in this one, as they are, and where they are.
    fn keep<'a>(
        &self,
        kept: impl Iterator<Item = &'a Path>,
        covered: impl Fn(&Path) -> bool,
        shown: &mut Vec<Shown>,
    ) -> Result<(), AgentError> {
        let mut own: Vec<&Path> = kept
            .filter_map(|own| own.strip_prefix(&self.real).ok())
            .collect();
        own.sort();
        // What lies in another one is kept with it.
        own.dedup_by(|inner, outer| inner.starts_with(*outer));
        for own in own {
            if covered(&self.at.join(own)) {
                continue;
            }
            let above = own.ancestors().skip(1);
            for above in above.take_while(|above| !above.as_os_str().is_empty()) {
                shown.push(self.below(above, Access::ReadWrite)?);
            }
            shown.push(self.below(own, Access::ReadOnly)?);
        }
        Ok(())
    }

    /// Something in this directory, which is there, and no link on the way to it.
    fn below(&self, path: &Path, access: Access) -> Result<Shown, AgentError> {
        let source = openat2(
            &self.directory,
            path,
            OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC,
            Mode::empty(),
            ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS,
        )
        .map_err(io::Error::from)
        .and_then(
            |source| match FileType::from_raw_mode(fstat(&source)?.st_mode) {
                FileType::Symlink => Err(io::Error::other("it is a link")),
                _ => Ok(source),
            },
        )
        .map_err(|error| {
            AgentError::Directory(format!(
                "{} ({}) holds {}, which must stay as it is and could be replaced there: {error}",
                self.name,
                self.real.display(),
                self.real.join(path).display()
            ))
        })?;
        Ok(Shown {
            source,
            at: InsidePath::new(self.at.join(path))?,
            access,
        })
    }
}

/// Whether `directory` is `other` or one of the directories above it under another name, as by a bind mount.
fn is_above(directory: &Path, other: &Path) -> bool {
    let identity = |path: &Path| {
        let metadata = path.metadata().ok()?;
        Some((metadata.dev(), metadata.ino()))
    };
    let Some(directory) = identity(directory) else {
        return false;
    };
    other
        .ancestors()
        .any(|above| identity(above) == Some(directory))
}
