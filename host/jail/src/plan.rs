//! What a jailed program may do. Whatever a plan does not name is not there.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::path::InsidePath;

/// The Landlock ABI that every jail needs at least; the namespaces carry what older ones lack.
pub const LANDLOCK_MIN_ABI: u8 = 1;

/// Where programs look for a proxy.
const PROXY_VARIABLES: [&str; 4] = ["HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"];

/// Directories of the system, which every jail with [`Plan::system`] shows.
const SYSTEM: [&str; 9] = [
    "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/nix",
];

/// Returns whether a path lies in a directory of the system, by its name.
pub fn is_of_the_system(path: &Path) -> bool {
    SYSTEM.iter().any(|directory| path.starts_with(directory))
}

/// Returns the environment that every child begins with, in a jail or not: nothing is inherited.
pub fn base_environment(
    path: impl AsRef<OsStr>,
    home: impl AsRef<OsStr>,
) -> Vec<(OsString, OsString)> {
    let (path, home) = (path.as_ref(), home.as_ref());
    let variables = [
        ("PATH", path),
        ("HOME", home),
        ("TMPDIR", home),
        ("LANG", OsStr::new("C.UTF-8")),
        ("TZ", OsStr::new("UTC")),
    ];
    variables
        .map(|(name, value)| (name.into(), value.to_owned()))
        .into()
}

/// The program, and all that it can see, write, start and use.
#[derive(Debug)]
pub struct Plan {
    /// What is executed.
    pub program: Program,
    /// `argv`, with `argv[0]`.
    pub arguments: Vec<OsString>,
    /// The whole environment: nothing is inherited.
    pub environment: Vec<(OsString, OsString)>,
    /// Working directory.
    pub directory: InsidePath,
    /// Files and directories of the host.
    pub mounts: Vec<Mount>,
    /// `/usr`, `/bin`, `/sbin`, `/lib*`, `/opt`, `/nix` read-only as on the host, and a small `/etc` that the host makes. With
    /// hydrant's user: where that is root, files in them that only root may read are readable.
    pub system: bool,
    /// Empty directories in memory, gone afterwards.
    pub scratch: Vec<Scratch>,
    /// Files that the host writes before the program starts.
    pub files: Vec<File>,
    /// Symbolic links that the host makes before the program starts.
    pub links: Vec<Link>,
    /// What may be executed: files, or directories with all below them; the program always may. Paths that do not
    /// exist allow nothing. Of `/usr` nothing else but libraries can be mapped for execution either; an executable that
    /// lies among these (`/usr/lib/git-core`) the loader could start. Empty: the system directories (if `system`), and
    /// what is `executable` below.
    pub execute: Vec<InsidePath>,
    /// The network.
    pub network: Network,
    /// Unix sockets of the host. Without any the program can make no Unix socket at all, but for connected pairs. With
    /// one it can connect to these, and to sockets that its own processes have made in `scratch`; not to others that lie
    /// in `mounts`.
    pub sockets: Vec<Socket>,
    /// Limits.
    pub limits: Limits,
    /// The least ABI of Landlock with which the program is started.
    pub landlock_min_abi: u8,
    /// Layers that are left away, to show in tests what each one is there for.
    #[cfg(feature = "jail-weakening")]
    pub without: Vec<super::weakening::Removed>,
}

impl Plan {
    /// A plan that shows a program the system and nothing else: no environment, no file of the host, no directory to
    /// write, no network and no limits. Its working directory is `/`.
    pub fn new(program: Program, arguments: Vec<OsString>) -> Self {
        Self {
            program,
            arguments,
            environment: Vec::new(),
            directory: InsidePath::root(),
            mounts: Vec::new(),
            system: true,
            scratch: Vec::new(),
            files: Vec::new(),
            links: Vec::new(),
            execute: Vec::new(),
            network: Network::None,
            sockets: Vec::new(),
            limits: Limits::default(),
            landlock_min_abi: LANDLOCK_MIN_ABI,
            #[cfg(feature = "jail-weakening")]
            without: Vec::new(),
        }
    }

    /// Lets the program reach the host's proxy, whose Unix socket this is, opened with `O_PATH`, and nothing else. The
    /// variables that name a proxy replace others of their names.
    pub fn connect_to_proxy(&mut self, socket: OwnedFd) {
        let proxy = OsString::from(format!("http://127.0.0.1:{EGRESS_PORT}"));
        self.environment
            .retain(|(name, _)| !PROXY_VARIABLES.iter().any(|proxy| name == proxy));
        self.environment
            .extend(PROXY_VARIABLES.map(|name| (name.into(), proxy.clone())));
        self.network = Network::Relay { socket };
    }
}

/// What another program of the same jail is told ([`Launcher::start_several`](super::Launcher::start_several)): its
/// working directory and all that it may do are the plan's.
#[derive(Debug)]
pub struct Turn {
    /// What is executed in place of the plan's program: a path inside.
    pub program: Option<InsidePath>,
    /// As in the plan.
    pub arguments: Vec<OsString>,
    /// As in the plan.
    pub environment: Vec<(OsString, OsString)>,
    /// In place of the plan's.
    pub wall: Option<Duration>,
    /// What is pinned while this program runs.
    pub pins: Vec<Pin>,
}

/// A file that the program sees below one of the plan's `mounts`, and that must be this very one: it is mounted
/// over itself, read-only, while the program runs. If another file lies there by then the program does not start.
#[derive(Debug)]
pub struct Pin {
    /// The file; opened with `O_PATH` or for reading.
    pub file: OwnedFd,
    /// Where it lies inside, without links on the way.
    pub at: InsidePath,
    /// Whether it can be executed, as far as its mount lets it.
    pub executable: bool,
}

/// What is executed.
#[derive(Debug)]
pub enum Program {
    /// A path inside.
    Path(InsidePath),
    /// This very file, which is mounted at `at`.
    Descriptor {
        /// The file; opened with `O_PATH` or for reading.
        file: OwnedFd,
        /// Where the program finds itself.
        at: InsidePath,
    },
}

impl Program {
    /// Returns where it lies inside.
    pub fn at(&self) -> &InsidePath {
        match self {
            Self::Path(at) | Self::Descriptor { at, .. } => at,
        }
    }

    /// Returns the same program once more.
    ///
    /// # Errors
    /// There are no more descriptors.
    pub fn try_clone(&self) -> io::Result<Self> {
        Ok(match self {
            Self::Path(path) => Self::Path(path.clone()),
            Self::Descriptor { file, at } => Self::Descriptor {
                file: file.try_clone()?,
                at: at.clone(),
            },
        })
    }
}

/// Whether a mount can be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Access {
    /// Only read.
    ReadOnly,
    /// Read and written.
    ReadWrite,
}

/// A file or directory of the host, with whatever is mounted below it.
#[derive(Debug)]
pub struct Mount {
    /// What is mounted, opened by the host with `O_PATH`: exactly this file or directory, or nothing.
    pub source: OwnedFd,
    /// Where. Inside another mount of the host the mount point must exist: nothing is created in the host's files.
    pub at: InsidePath,
    /// Whether it can be written.
    pub access: Access,
    /// Whether files of it can be executed, or mapped for execution, at all.
    pub executable: bool,
}

impl Mount {
    /// Returns the same mount once more.
    ///
    /// # Errors
    /// There are no more descriptors.
    pub fn try_clone(&self) -> io::Result<Self> {
        Ok(Self {
            source: self.source.try_clone()?,
            at: self.at.clone(),
            access: self.access,
            executable: self.executable,
        })
    }
}

/// An empty directory in memory.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Scratch {
    /// Where.
    pub at: InsidePath,
    /// Size limit. It does not count as memory of the jail.
    pub bytes: u64,
    /// Limit for the number of files.
    pub inodes: u64,
    /// Whether files of it can be executed (`go run` builds its program there).
    pub executable: bool,
}

/// A file that the host writes. Read-only, unless it lies in a scratch directory.
#[derive(Clone, Debug)]
pub struct File {
    /// Where.
    pub at: InsidePath,
    /// What is in it.
    pub bytes: Vec<u8>,
    /// Permission bits.
    pub mode: u32,
}

/// A symbolic link.
#[derive(Clone, Debug)]
pub struct Link {
    /// Where.
    pub at: InsidePath,
    /// Its text.
    pub to: PathBuf,
}

/// A Unix socket of the host, for connecting to.
#[derive(Debug)]
pub struct Socket {
    /// The socket's file, opened with `O_PATH`.
    pub source: OwnedFd,
    /// Where: outside of `mounts` and `scratch`, so that nobody can put something else there.
    pub at: InsidePath,
}

/// The network of the jail.
#[derive(Debug)]
pub enum Network {
    /// None, not even loopback.
    None,
    /// A loopback on which [`EGRESS_PORT`] leads to the host's proxy and nowhere else.
    Relay {
        /// The proxy's Unix socket, opened with `O_PATH`.
        socket: OwnedFd,
    },
}

/// Port of 127.0.0.1 where the relay to the host's proxy listens.
pub const EGRESS_PORT: u16 = 3128;

/// Where the proxy's socket is mounted.
pub const EGRESS_SOCKET: &str = "/run/egress.sock";

/// Limits of a jail; `None` is no limit.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Limits {
    /// Time from the start of the program to the end of everything.
    pub wall: Option<Duration>,
    /// Time after that, for programs that end by themselves when they are told to (`TERM`); then all are killed. `None`:
    /// they are killed at once. The other limits hold on; above them, and by [`Jailed::kill`](super::Jailed::kill), they
    /// are killed at any time.
    pub grace: Option<Duration>,
    /// Processor time of each process.
    pub cpu_seconds: Option<u64>,
    /// Memory of all processes together (sampled), and data of each one.
    pub memory_bytes: Option<u64>,
    /// Processes and threads together.
    pub processes: Option<u64>,
    /// Size of each file that is written.
    pub file_bytes: Option<u64>,
    /// Open descriptors of each process.
    pub open_files: Option<u64>,
}

/// The program's standard streams. `None` is the null device *of the jail*: a descriptor of the host's would let a
/// program that runs as the owner of that device change its mode (`fchmod`) for everybody.
#[derive(Debug, Default)]
pub struct Streams {
    /// Descriptor 0. A pipe, socket or terminal; of a regular file the program could change the mode.
    pub stdin: Option<OwnedFd>,
    /// Descriptor 1, as above.
    pub stdout: Option<OwnedFd>,
    /// Descriptor 2, as above.
    pub stderr: Option<OwnedFd>,
    /// Whether a terminal among them becomes the controlling one of the program, as one that was made for it should:
    /// its keys are signals then, and `fchmod` changes nobody else's terminal.
    pub terminal: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_variables_of_the_proxy_replace_those_of_the_caller() {
        let program = Program::Path(InsidePath::new("/bin/true").unwrap());
        let mut plan = Plan {
            environment: vec![
                ("https_proxy".into(), "http://elsewhere:1".into()),
                ("A".into(), "b".into()),
            ],
            ..Plan::new(program, vec!["true".into()])
        };
        assert!(matches!(plan.network, Network::None));
        plan.connect_to_proxy(std::fs::File::open("/dev/null").unwrap().into());
        assert!(matches!(plan.network, Network::Relay { .. }));
        let proxy = "http://127.0.0.1:3128";
        let expected = [
            ("A", "b"),
            ("HTTP_PROXY", proxy),
            ("HTTPS_PROXY", proxy),
            ("http_proxy", proxy),
            ("https_proxy", proxy),
        ];
        let expected = expected.map(|(name, value)| (name.into(), value.into()));
        assert_eq!(plan.environment, expected);
    }
}
