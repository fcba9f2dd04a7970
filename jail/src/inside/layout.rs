//! The system part of a jail's root: system directories, `/etc`, `/dev`, `/proc` (K-330).

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use rustix::mount::MountAttrFlags;

use super::root::{Content, Entry};
use super::tree::{self, ALWAYS, NO_EXECUTION, READ_ONLY};
use crate::order::Order;
use crate::outcome::{InStep, Refused, Step};
use crate::path::InsidePath;

/// Directories of the system, but for the library ones.
const DIRECTORIES: [&str; 5] = ["bin", "sbin", "usr", "opt", "nix"];

/// Those of them in which libraries have their own places: where what may be executed is listed, nothing else of these
/// can be mapped for execution. In `/opt` and `/nix` each program has its libraries beside it.
const PROGRAMS: [&str; 3] = ["/bin", "/sbin", "/usr"];

/// What is taken from the host's `/etc`: public, and without anything that only root's user could read beside it.
const ETC: [&str; 9] = [
    "alternatives",
    "ca-certificates/extracted",
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "pki/ca-trust/extracted",
    "pki/tls/certs",
    "ssl/cert.pem",
    "ssl/certs",
];

const PASSWD: &str = "nobody:x:65534:65534:nobody:/tmp:/usr/sbin/nologin\n";
const GROUP: &str = "nogroup:x:65534:\n";
const HOSTS: &str = "127.0.0.1 localhost\n::1 localhost\n";

/// The only devices (K-330).
const DEVICES: [&str; 5] = ["null", "zero", "full", "random", "urandom"];

/// Links that shells and git expect; they lead to the process's own descriptors.
const DEVICE_LINKS: [(&str, &str); 4] = [
    ("fd", "/proc/self/fd"),
    ("stdin", "/proc/self/fd/0"),
    ("stdout", "/proc/self/fd/1"),
    ("stderr", "/proc/self/fd/2"),
];

/// Names below `/` that are system directories, or links to such.
pub(super) fn system_names() -> io::Result<Vec<PathBuf>> {
    let mut names: Vec<PathBuf> = DIRECTORIES.iter().map(PathBuf::from).collect();
    for entry in fs::read_dir("/")? {
        let name = entry?.file_name();
        if name.as_encoded_bytes().starts_with(b"lib") {
            names.push(name.into());
        }
    }
    Ok(names
        .into_iter()
        .map(|name| Path::new("/").join(name))
        .collect())
}

/// Where shared libraries are, so that mapping for execution must be possible in any case.
const LIBRARIES: [&str; 5] = [
    "/usr/lib",
    "/usr/lib32",
    "/usr/lib64",
    "/usr/libx32",
    "/usr/local/lib",
];

/// System directories and `/etc`.
pub(super) fn system(order: &Order) -> Result<Vec<Entry>, Refused> {
    let mut entries = Vec::new();
    let listed = !order.execute.is_empty();
    for path in system_names().step(Step::Mount, "list /")? {
        let Ok(metadata) = fs::symlink_metadata(&path) else {
            continue;
        };
        let content = if metadata.is_symlink() {
            Content::Link(fs::read_link(&path).step(
                Step::Mount,
                format_args!("read the link {}", path.display()),
            )?)
        } else if metadata.is_dir() {
            let programs_only = PROGRAMS.iter().any(|programs| path == Path::new(programs));
            shared(
                &path,
                if listed && programs_only {
                    NO_EXECUTION
                } else {
                    MountAttrFlags::empty()
                },
            )?
        } else {
            continue;
        };
        entries.push(Entry {
            at: inside(path)?,
            content,
        });
    }
    if listed {
        entries.extend(executables(order)?);
    }
    for (name, text) in [
        ("/etc/passwd", PASSWD),
        ("/etc/group", GROUP),
        ("/etc/hosts", HOSTS),
    ] {
        entries.push(Entry {
            at: inside(name)?,
            content: Content::File {
                bytes: text.into(),
                mode: 0o444,
            },
        });
    }
    for name in ETC {
        let path = Path::new("/etc").join(name);
        if path.exists() {
            entries.push(Entry {
                content: shared(&path, MountAttrFlags::empty())?,
                at: inside(path)?,
            });
        }
    }
    Ok(entries)
}

/// `/dev` and `/proc`.
pub(super) fn kernel(order: &Order) -> Result<Vec<Entry>, Refused> {
    let mut entries = Vec::new();
    for name in DEVICES {
        // Where memory is limited the device that reads as zeros is `full`, which cannot be mapped: a shared mapping of
        // `zero` is memory that nobody's count shows.
        let device = if name == "zero" && order.limits.memory_bytes.is_some() {
            "full"
        } else {
            name
        };
        let path = Path::new("/dev").join(device);
        // Devices are the exception to `nodev`. Read-only does not keep anybody from writing to a device; it keeps
        // root's user, who owns them, from changing their modes and times for the whole host.
        let attributes = MountAttrFlags::MOUNT_ATTR_NOSUID | READ_ONLY | NO_EXECUTION;
        let tree = tree::open(&path).and_then(|source| tree::clone(source, attributes));
        let tree = tree.step(Step::Mount, format_args!("mount {}", path.display()))?;
        entries.push(Entry {
            at: inside(Path::new("/dev").join(name))?,
            content: Content::Tree(tree),
        });
    }
    for (name, to) in DEVICE_LINKS {
        entries.push(Entry {
            at: inside(Path::new("/dev").join(name))?,
            content: Content::Link(to.into()),
        });
    }
    // K-330: an empty directory where the kernel refuses this mount (in a container that covers parts of its `/proc`),
    // never the host's.
    let content = tree::processes().map_or(Content::Directory, Content::Tree);
    entries.push(Entry {
        at: inside("/proc")?,
        content,
    });
    Ok(entries)
}

/// Mounts for execution what is listed. Landlock says the same of `execve`; but it does not ask who maps a file, and the
/// loader, which must be listed with any program, executes whatever it is given by mapping it.
fn executables(order: &Order) -> Result<Vec<Entry>, Refused> {
    let listed = order
        .execute
        .iter()
        .chain([&order.program])
        .map(InsidePath::as_path);
    let places: BTreeSet<PathBuf> = listed
        .chain(LIBRARIES.iter().map(Path::new))
        // The place itself, since nothing is put in place through a link.
        .filter_map(|path| fs::canonicalize(path).ok())
        .filter(|path| PROGRAMS.iter().any(|programs| path.starts_with(programs)))
        .collect();
    places
        .into_iter()
        .map(|path| {
            Ok(Entry {
                content: shared(&path, MountAttrFlags::empty())?,
                at: inside(path)?,
            })
        })
        .collect()
}

fn shared(path: &Path, more: MountAttrFlags) -> Result<Content, Refused> {
    let tree = tree::open(path).and_then(|source| tree::clone(source, ALWAYS | READ_ONLY | more));
    Ok(Content::Tree(tree.step(
        Step::Mount,
        format_args!("mount {}", path.display()),
    )?))
}

pub(super) fn inside(path: impl Into<PathBuf>) -> Result<InsidePath, Refused> {
    InsidePath::new(path).map_err(|error| Refused::new(Step::Mount, error))
}
