//! The host of one test: files, sockets, processes and objects that a jail must not reach, made when a word asks for
//! them and gone with the value.

use std::cell::RefCell;
use std::fs;
use std::net::{TcpListener, UdpSocket};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tempfile::TempDir;

use crate::objects::{self, Queue, Segment};

/// From which side a path is seen.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Inside,
    Outside,
}

/// The text of the file that is to be read, and of those that are not to be written.
const TEXT: &str = "of the host\n";

/// What is to be found out about the things a test made.
#[derive(Default)]
struct Things {
    tcp: Option<TcpListener>,
    udp: Option<UdpSocket>,
    streams: Vec<UnixListener>,
    datagrams: Vec<UnixDatagram>,
    victim: Option<Child>,
    leaked: Option<OwnedFd>,
    segment: Option<Segment>,
    queue: Option<Queue>,
}

pub(crate) struct Host {
    directory: TempDir,
    things: RefCell<Things>,
    /// Datagrams that came to the echo.
    echoed: Arc<AtomicUsize>,
}

impl Host {
    pub(crate) fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        for name in ["", "outside", "ro", "rw", "tmp", "ro/directory"] {
            let path = directory.path().join(name);
            fs::create_dir_all(&path).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        }
        for name in ["outside/secret", "ro/file"] {
            fs::write(directory.path().join(name), TEXT).unwrap();
        }
        Self {
            directory,
            things: RefCell::default(),
            echoed: Arc::default(),
        }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// The words of an attempt: `{name}` is a thing of this host, as `side` sees it.
    pub(crate) fn words(&self, template: &str, side: Side) -> Vec<String> {
        let filled = template.split(' ').flat_map(|word| {
            let Some((before, rest)) = word.split_once('{') else {
                return vec![word.to_owned()];
            };
            let (name, after) = rest.split_once('}').unwrap();
            let value = format!("{before}{}{after}", self.value(name, side));
            value.split(' ').map(str::to_owned).collect()
        });
        filled.filter(|word| !word.is_empty()).collect()
    }

    fn value(&self, name: &str, side: Side) -> String {
        let text = |path: PathBuf| path.to_str().unwrap().to_owned();
        let by_side = |inside: &str, outside: String| match side {
            Side::Inside => inside.to_owned(),
            Side::Outside => outside,
        };
        match name {
            "host" => text(self.path("outside")),
            "secret" => text(self.path("outside/secret")),
            "ro" => by_side("/input", text(self.path("ro"))),
            "rw" => by_side("/output", text(self.path("rw"))),
            "tmp" => by_side("/tmp", text(self.path("tmp"))),
            "self" => by_side("/run/attempt", env!("CARGO_BIN_EXE_attempt").to_owned()),
            "home" => std::env::var("HOME").unwrap_or_else(|_| "/root".to_owned()),
            "own" => by_side("jail", "own".to_owned()),
            "init" => by_side("1", "child".to_owned()),
            "process" => by_side("1", "self".to_owned()),
            "process_id" => by_side("1", std::process::id().to_string()),
            "others" => by_side("2 3 4 5 6 7 8", self.victim().to_string()),
            "test" => std::process::id().to_string(),
            "name" => objects::host_name(),
            "variable" => long_variable(),
            "loader" => loader().to_owned(),
            "tcp" | "port" => self.tcp(name),
            "udp" => self.udp(),
            "abstract" => self.abstract_stream(),
            "abstract_datagram" => self.abstract_datagram(),
            "stream" => text(self.stream("outside/stream")),
            "stream_in_mount" => self.in_mount("stream", side, self.stream("ro/stream")),
            "datagram" => text(self.datagram("outside/datagram")),
            "datagram_in_mount" => self.in_mount("datagram", side, self.datagram("ro/datagram")),
            "giver" => text(self.giver("outside/giver")),
            "giver_in_mount" => self.in_mount("giver", side, self.giver("ro/giver")),
            "victim" => self.victim().to_string(),
            "leak" => self.leak(),
            "segment" => self
                .things
                .borrow_mut()
                .segment
                .get_or_insert_with(Segment::new)
                .key()
                .to_string(),
            "queue" => self
                .things
                .borrow_mut()
                .queue
                .get_or_insert_with(Queue::new)
                .name()
                .to_owned(),
            "handle" => objects::handle(&self.path("outside/secret")),
            "setuid" => self.in_mount("setuid", side, self.setuid()),
            "capable" => self.in_mount("capable", side, self.capable()),
            other => {
                let kind = other
                    .strip_suffix("_namespace")
                    .unwrap_or_else(|| panic!("no such thing: {other}"));
                text(fs::read_link(format!("/proc/self/ns/{kind}")).unwrap())
            }
        }
    }

    /// Whether anything happened to it. Not for controls, which are meant to.
    pub(crate) fn assert_unharmed(&self) {
        for name in ["outside/secret", "ro/file"] {
            let path = self.path(name);
            let metadata = fs::metadata(&path).unwrap_or_else(|_| panic!("{name} is gone"));
            assert_eq!(
                fs::read_to_string(&path).unwrap(),
                TEXT,
                "{name} was written"
            );
            assert_eq!(metadata.mode() & 0o7777, 0o644, "mode of {name}");
            assert_eq!(metadata.nlink(), 1, "links of {name}");
        }
        assert!(
            !self.path("ro/remounted").exists(),
            "a read-only mount was written"
        );
        let mut things = self.things.borrow_mut();
        if let Some(victim) = &mut things.victim {
            assert!(
                victim.try_wait().unwrap().is_none(),
                "a process of the host was killed"
            );
        }
        if let Some(listener) = &things.tcp {
            listener.set_nonblocking(true).unwrap();
            assert!(listener.accept().is_err(), "a connection came");
        }
        for listener in &things.streams {
            listener.set_nonblocking(true).unwrap();
            assert!(listener.accept().is_err(), "a connection came");
        }
        for socket in &things.datagrams {
            socket.set_nonblocking(true).unwrap();
            assert!(socket.recv(&mut [0; 64]).is_err(), "a datagram came");
        }
        assert_eq!(self.echoed.load(Ordering::SeqCst), 0, "a datagram came");
    }

    fn in_mount(&self, name: &str, side: Side, outside: PathBuf) -> String {
        match side {
            Side::Inside => format!("/input/{name}"),
            Side::Outside => outside.to_str().unwrap().to_owned(),
        }
    }

    fn tcp(&self, name: &str) -> String {
        let mut things = self.things.borrow_mut();
        let listener = things
            .tcp
            .get_or_insert_with(|| TcpListener::bind("127.0.0.1:0").unwrap());
        let address = listener.local_addr().unwrap();
        if name == "port" {
            address.port().to_string()
        } else {
            address.to_string()
        }
    }

    fn udp(&self) -> String {
        let mut things = self.things.borrow_mut();
        let socket = things.udp.get_or_insert_with(|| {
            let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
            let (echo, count) = (socket.try_clone().unwrap(), Arc::clone(&self.echoed));
            echo.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
            std::thread::spawn(move || {
                let mut datagram = [0; 512];
                while let Ok((length, from)) = echo.recv_from(&mut datagram) {
                    count.fetch_add(1, Ordering::SeqCst);
                    let _ = echo.send_to(&datagram[..length], from);
                }
            });
            socket
        });
        socket.local_addr().unwrap().to_string()
    }

    fn unique(&self, kind: &str) -> String {
        format!("hydrant-{kind}{}", self.directory.path().display()).replace('/', "-")
    }

    fn abstract_stream(&self) -> String {
        let name = self.unique("stream");
        let address = SocketAddr::from_abstract_name(&name).unwrap();
        if let Ok(listener) = UnixListener::bind_addr(&address) {
            self.things.borrow_mut().streams.push(listener);
        }
        name
    }

    fn abstract_datagram(&self) -> String {
        let name = self.unique("datagram");
        let address = SocketAddr::from_abstract_name(&name).unwrap();
        if let Ok(socket) = UnixDatagram::bind_addr(&address) {
            self.things.borrow_mut().datagrams.push(socket);
        }
        name
    }

    pub(crate) fn stream(&self, name: &str) -> PathBuf {
        let path = self.path(name);
        if !path.exists() {
            self.things
                .borrow_mut()
                .streams
                .push(UnixListener::bind(&path).unwrap());
        }
        path
    }

    fn datagram(&self, name: &str) -> PathBuf {
        let path = self.path(name);
        if !path.exists() {
            self.things
                .borrow_mut()
                .datagrams
                .push(UnixDatagram::bind(&path).unwrap());
        }
        path
    }

    fn giver(&self, name: &str) -> PathBuf {
        let path = self.path(name);
        if !path.exists() {
            objects::give(
                UnixListener::bind(&path).unwrap(),
                fs::File::open(self.path("outside/secret")).unwrap(),
            );
        }
        path
    }

    fn victim(&self) -> u32 {
        let mut things = self.things.borrow_mut();
        let child = things.victim.get_or_insert_with(|| {
            Command::new("sleep")
                .arg("60")
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .spawn()
                .unwrap()
        });
        child.id()
    }

    /// A descriptor that a careless host leaves open over `execve`.
    fn leak(&self) -> String {
        let file: OwnedFd = fs::File::open(self.path("outside/secret")).unwrap().into();
        rustix::io::fcntl_setfd(&file, rustix::io::FdFlags::empty()).unwrap();
        let number = file.as_raw_fd().to_string();
        self.things.borrow_mut().leaked = Some(file);
        number
    }

    fn copy(&self, name: &str) -> PathBuf {
        let path = self.path(name);
        fs::copy(env!("CARGO_BIN_EXE_attempt"), &path).unwrap();
        path
    }

    /// Setuid and setgid to another user, as root; else only to oneself, which changes nothing.
    fn setuid(&self) -> PathBuf {
        let path = self.copy("ro/setuid");
        let _ = chown(&path, Some(12345), Some(12345));
        fs::set_permissions(&path, fs::Permissions::from_mode(0o6755)).unwrap();
        path
    }

    fn capable(&self) -> PathBuf {
        let path = self.copy("ro/capable");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        objects::give_capability(&path);
        path
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        if let Some(victim) = &mut self.things.borrow_mut().victim {
            let _ = victim.kill();
            let _ = victim.wait();
        }
    }
}

/// A value that the environment of tests has and that of a jail has not.
fn long_variable() -> String {
    let values = [
        "CARGO_MANIFEST_DIR",
        "CARGO_BIN_EXE_attempt",
        "CARGO",
        "PATH",
    ]
    .map(std::env::var);
    values
        .into_iter()
        .flatten()
        .find(|value| !value.contains(' '))
        .expect("some variable of cargo's")
}

/// The ELF interpreter that dynamic programs name.
pub(crate) fn loader() -> &'static str {
    ["/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux-aarch64.so.1"]
        .into_iter()
        .find(|path| Path::new(path).exists())
        .expect("a loader of glibc")
}
