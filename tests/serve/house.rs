//! A folder with tenants, and a server that serves them.
//!
//! The compiled components are kept in one home for all tests; the tenants' states are not.

use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::net::SocketAddr;
use std::ops::Deref;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};
use std::time::{Duration, Instant};

use hydrant::serve::tenants::token_digest;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::client::Client;

/// Tenants `alpha` and `beta`, each with an agent, a file in `/workspace`, and three tokens.
pub(crate) struct House {
    folder: TempDir,
    /// Further lines of `[serve]`.
    serve: String,
    govern: String,
}

/// A running server; it is killed when this is dropped.
pub(crate) struct Server {
    child: Child,
    pub(crate) address: SocketAddr,
    log: Arc<Mutex<String>>,
}

/// The token of a role of a tenant.
pub(crate) fn token(tenant: &str, role: &str) -> String {
    format!("hyd_test_{tenant}_{role}_0123456789abcdef0123456789abcdef")
}

/// What only one tenant has: its agent says it, and its workspace.
pub(crate) fn secret_of(tenant: &str) -> String {
    format!("the-secret-of-{tenant}")
}

/// A token that reads metrics.
pub(crate) const MONITOR: &str = "hyd_test_monitor_0123456789abcdef0123456789abcdef";

impl House {
    pub(crate) fn new() -> Self {
        Self::with("")
    }

    /// With these lines of `[serve]`.
    pub(crate) fn with(serve: &str) -> Self {
        let house = Self {
            folder: TempDir::new().unwrap(),
            serve: serve.to_owned(),
            govern: String::new(),
        };
        for tenant in ["alpha", "beta"] {
            house.write(
                &format!("{tenant}/os/agents/own.md"),
                &format!(
                    "---\nname: Own\ndescription: {}\nskills:\n  - ../skills/one.md\n---\n{}\n",
                    secret_of(tenant),
                    secret_of(tenant)
                ),
            );
            house.write(
                &format!("{tenant}/os/skills/one.md"),
                "---\nname: One\ndescription: One skill\n---\nDo one thing.\n",
            );
            house.write(&format!("{tenant}/work/own.txt"), &secret_of(tenant));
        }
        house.tenants(&[("alpha", ""), ("beta", "")]);
        house
    }

    /// With these lines of `[govern]`.
    pub(crate) fn governed(mut self, govern: &str) -> Self {
        govern.clone_into(&mut self.govern);
        self
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(path)
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Writes the tenants file: names, with further lines of each table.
    pub(crate) fn tenants(&self, tenants: &[(&str, &str)]) {
        let mut text = String::new();
        for (name, lines) in tenants {
            let digest = |role: &str| token_digest(&token(name, role));
            writeln!(
                text,
                "[[tenant]]\nname = {name:?}\nhome = \"states/{name}\""
            )
            .unwrap();
            if Path::new(&self.path(&format!("{name}/os"))).is_dir() {
                writeln!(text, "os_root = \"{name}/os\"").unwrap();
            }
            if !lines.contains("mounts") && self.path(&format!("{name}/work")).is_dir() {
                writeln!(text, "mounts = {{ \"/workspace\" = \"{name}/work\" }}").unwrap();
            }
            if !lines.contains("rate") {
                writeln!(text, "rate = {{ per_second = 10000.0, burst = 10000 }}").unwrap();
            }
            writeln!(text, "{lines}").unwrap();
            writeln!(text, "token_digests = [\"{}\"]", digest("caller")).unwrap();
            for role in ["approver", "operator"] {
                writeln!(
                    text,
                    "[[tenant.token]]\ndigest = \"{}\"\nrole = {role:?}",
                    digest(role)
                )
                .unwrap();
            }
        }
        self.write("tenants.toml", &text);
        let file = self.path("tenants.toml");
        fs::set_permissions(file, fs::Permissions::from_mode(0o600)).unwrap();
    }

    /// A command in this house.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let kept = Path::new(env!("CARGO_TARGET_TMPDIR")).join("serve");
        let home = kept.join("home");
        fs::create_dir_all(&home).unwrap();
        fs::set_permissions(&home, fs::Permissions::from_mode(0o700)).unwrap();
        self.write(
            "hydrant.toml",
            &format!(
                "[govern]\n{}\n[serve]\nmetrics_token_digests = [\"{}\"]\n{}\n",
                self.govern,
                token_digest(MONITOR),
                self.serve
            ),
        );
        let mut command = Command::new(env!("CARGO_BIN_EXE_hydrant"));
        command
            .env_clear()
            .env("HYDRANT_HOME", &home)
            .env("XDG_CACHE_HOME", kept.join("cache"))
            .env("PATH", "/usr/bin:/bin")
            .current_dir(self.path(""))
            .args(arguments)
            .arg("--config")
            .arg(self.path("hydrant.toml"));
        command
    }

    pub(crate) fn serve(&self) -> Server {
        self.serve_with(&[])
    }

    /// With further arguments.
    pub(crate) fn serve_with(&self, arguments: &[&str]) -> Server {
        // Once for all tests, and not by each of their servers at the same time.
        static COMPILED: OnceLock<()> = OnceLock::new();
        COMPILED.get_or_init(|| {
            let all = Self::new();
            let said = all.command(&["serve", "--compile"]).output().unwrap();
            assert!(said.status.success(), "{said:?}");
            let text = String::from_utf8(said.stdout).unwrap();
            assert!(text.ends_with(" skills are compiled\n"), "{text}");
        });
        let mut all = vec!["serve", "--listen", "127.0.0.1:0"];
        all.extend(arguments);
        let server = Self::started(self.command(&all));
        let until = Instant::now() + Duration::from_secs(120);
        while server.with_token(None).get("/readyz").status != 200 {
            assert!(Instant::now() < until, "never ready: {}", server.log());
            std::thread::sleep(Duration::from_millis(10));
        }
        server
    }

    /// With an empty cache, and without the machine code in the program.
    pub(crate) fn serve_cold(&self, cache: &Path) -> Server {
        let mut command = self.command(&["serve", "--listen", "127.0.0.1:0"]);
        command
            .env("XDG_CACHE_HOME", cache)
            .env("HYDRANT_PRECOMPILED", "off");
        Self::started(command)
    }

    fn started(mut command: Command) -> Server {
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let log = Arc::new(Mutex::new(String::new()));
        let (kept, mut stderr) = (Arc::clone(&log), child.stderr.take().unwrap());
        std::thread::spawn(move || {
            let mut chunk = [0_u8; 4096];
            while let Ok(amount) = stderr.read(&mut chunk) {
                if amount == 0 {
                    return;
                }
                let text = String::from_utf8_lossy(&chunk[..amount]).into_owned();
                kept.lock().unwrap().push_str(&text);
            }
        });
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap())
            .read_line(&mut line)
            .unwrap();
        let address = line.trim().strip_prefix("listening on http://");
        let Some(address) = address else {
            std::thread::sleep(Duration::from_millis(200));
            panic!("not served: {line}{}", log.lock().unwrap());
        };
        Server {
            address: address.parse().unwrap(),
            child,
            log,
        }
    }
}

impl Server {
    /// Asks with the token of a role of a tenant.
    pub(crate) fn client(&self, tenant: &str, role: &str) -> Client {
        Client::new(self.address, Some(&token(tenant, role)))
    }

    /// Asks with this token, or none.
    pub(crate) fn with_token(&self, token: Option<&str>) -> Client {
        Client::new(self.address, token)
    }

    /// What it said so far.
    pub(crate) fn log(&self) -> String {
        self.log.lock().unwrap().clone()
    }

    pub(crate) fn signal(&self, signal: rustix::process::Signal) {
        let pid = i32::try_from(self.child.id()).unwrap();
        let pid = rustix::process::Pid::from_raw(pid).unwrap();
        rustix::process::kill_process(pid, signal).unwrap();
    }

    /// Bytes of memory that it holds now.
    pub(crate) fn resident_bytes(&self) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmRSS:"));
        let amount = line.unwrap().split_whitespace().nth(1).unwrap();
        amount.parse::<u64>().unwrap() * 1024
    }

    /// Waits for its end.
    pub(crate) fn ended(&mut self) -> ExitStatus {
        let until = Instant::now() + Duration::from_secs(60);
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            assert!(Instant::now() < until, "it does not end: {}", self.log());
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Waits until it says this.
    pub(crate) fn says(&self, text: &str) {
        let until = Instant::now() + Duration::from_secs(30);
        while !self.log().contains(text) {
            assert!(
                Instant::now() < until,
                "it does not say {text}: {}",
                self.log()
            );
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The house or the server that tests share, as one of them holds it.
pub(crate) struct Part<T: 'static> {
    both: Arc<(House, Server)>,
    part: fn(&(House, Server)) -> &T,
}

impl<T> Deref for Part<T> {
    type Target = T;

    fn deref(&self) -> &T {
        (self.part)(&self.both)
    }
}

/// One server for the tests that change nothing that others look at. It ends with the last test that holds it.
pub(crate) fn shared() -> (Part<House>, Part<Server>) {
    static SHARED: Mutex<Weak<(House, Server)>> = Mutex::new(Weak::new());
    let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
    let both = shared.upgrade().unwrap_or_else(|| {
        let house = House::new();
        let server = house.serve();
        Arc::new((house, server))
    });
    *shared = Arc::downgrade(&both);
    let house = Part {
        both: Arc::clone(&both),
        part: |(house, _)| house,
    };
    let server = Part {
        both,
        part: |(_, server)| server,
    };
    (house, server)
}

/// A foreign skill with one operation, as text.
pub(crate) fn foreign(name: &str) -> Value {
    let text = format!(
        "skill:\n  name: {name}\n  version: \"1.0.0\"\n  description: A skill of {name}.\n  operations:\n    \
         - name: look\n      description: Looks something up.\n      \
         endpoint: https://books.example.org/v1/look\n      method: GET\n"
    );
    json!({ "text": text })
}

/// Loads a foreign skill, and asks for its operation, so that an approval is pending: its id.
pub(crate) fn pending(server: &Server, tenant: &str, name: &str) -> String {
    let caller = server.client(tenant, "caller");
    caller.post("/v1/capabilities", &foreign(name)).ok();
    let approver = server.client(tenant, "approver");
    let listed = approver.get("/v1/approvals?status=pending").ok();
    let all = listed.as_array().cloned();
    let all = all
        .or_else(|| listed["approvals"].as_array().cloned())
        .unwrap();
    let found = all
        .iter()
        .find(|approval| approval.to_string().contains(name))
        .unwrap_or_else(|| panic!("nothing is pending for {name}: {listed}"));
    found["id"].as_str().unwrap().to_owned()
}
