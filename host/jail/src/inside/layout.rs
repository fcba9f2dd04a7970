//! The system part of a jail's root: system directories, `/etc`, `/dev`, `/proc`.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::mount::MountAttrFlags;

use super::root::{Content, Entry};
use super::tree::{self, ALWAYS, NO_EXECUTION, READ_ONLY, Shown};
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

/// The only devices, but for `zero`.
const DEVICES: [&str; 4] = ["null", "full", "random", "urandom"];

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

/// Of system directories and `/etc`, whether a place holds what was mounted from there, as long as it is the same.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Seen(Vec<SeenAt>);

/// One place.
#[derive(Debug, PartialEq, Eq)]
struct SeenAt {
    place: PathBuf,
    /// Device and number of the file or directory.
    identity: Option<(u64, u64)>,
    /// The text of a link.
    link: Option<PathBuf>,
}

impl Seen {
    /// As it is now.
    pub(super) fn now() -> Result<Self, Refused> {
        let mut places = system_names().step(Step::Mount, "list /")?;
        places.extend(ETC.iter().map(|name| Path::new("/etc").join(name)));
        let seen = places.into_iter().map(|place| {
            let file = fs::metadata(&place).ok();
            let identity = file.map(|file| (file.dev(), file.ino()));
            let link = fs::read_link(&place).ok();
            SeenAt {
                place,
                identity,
                link,
            }
        });
        Ok(Self(seen.collect()))
    }
}

/// System directories and `/etc`.
pub(super) fn system() -> Result<Vec<Entry>, Refused> {
    let mut entries = Vec::new();
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
            shared(&path)?
        } else {
            continue;
        };
        entries.push(Entry {
            at: inside(path)?,
            content,
        });
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
                content: shared(&path)?,
                at: inside(path)?,
            });
        }
    }
    Ok(entries)
}

/// `/dev`, but for what depends on the plan.
pub(super) fn devices() -> Result<Vec<Entry>, Refused> {
    // Where memory is limited, as it mostly is, the device that reads as zeros is `full`, which cannot be mapped: a shared
    // mapping of `zero` is memory that nobody's count shows.
    let mut entries = vec![device("zero", "full")?];
    for name in DEVICES {
        entries.push(device(name, name)?);
    }
    for (name, to) in DEVICE_LINKS {
        entries.push(Entry {
            at: inside(Path::new("/dev").join(name))?,
            content: Content::Link(to.into()),
        });
    }
    Ok(entries)
}

fn device(name: &str, host: &str) -> Result<Entry, Refused> {
    let path = Path::new("/dev").join(host);
    // Devices are the exception to `nodev`. Read-only does not keep anybody from writing to a device; it keeps
    // root's user, who owns them, from changing their modes and times for the whole host.
    let attributes = MountAttrFlags::MOUNT_ATTR_NOSUID | READ_ONLY | NO_EXECUTION;
    let tree = tree::open(&path).and_then(|source| tree::clone(source, attributes));
    let tree = tree.step(Step::Mount, format_args!("mount {}", path.display()))?;
    Ok(Entry {
        at: inside(Path::new("/dev").join(name))?,
        content: Content::Tree(tree),
    })
}

/// What of `/dev` and `/proc` depends on the plan, and what of the system may be executed.
pub(super) fn of_plan(order: &Order) -> Result<Vec<Entry>, Refused> {
    let mut entries = Vec::new();
    if order.limits.memory_bytes.is_none() {
        entries.push(device("zero", "zero")?);
    }
    // An empty directory where the kernel refuses this mount (in a container that covers parts of its `/proc`),
    // never the host's.
    let shown = if order.renewed {
        Shown::OwnOnly
    } else {
        Shown::All
    };
    let content = tree::processes(shown).map_or(Content::Directory, Content::Tree);
    entries.push(Entry {
        at: inside("/proc")?,
        content,
    });
    if order.system && !order.execute.is_empty() {
        entries.extend(executables(order)?);
    }
    Ok(entries)
}

/// Whether nothing there may be executed that is not listed, where something is.
pub(super) fn is_of_programs(at: &Path) -> bool {
    PROGRAMS.iter().any(|programs| at == Path::new(programs))
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
                content: shared(&path)?,
                at: inside(path)?,
            })
        })
        .collect()
}

fn shared(path: &Path) -> Result<Content, Refused> {
    let tree = tree::open(path).and_then(|source| tree::clone(source, ALWAYS | READ_ONLY));
    Ok(Content::Tree(tree.step(
        Step::Mount,
        format_args!("mount {}", path.display()),
    )?))
}

pub(super) fn inside(path: impl Into<PathBuf>) -> Result<InsidePath, Refused> {
    InsidePath::new(path).map_err(|error| Refused::new(Step::Mount, error))
}
