//! What the tests of the effects share, and what concerns all of them.

mod files;
mod http;
mod links;
mod state;

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::*;
use crate::MeterBudgets;
use crate::testing::{AMPLE, meter};

/// A directory with `in/` to be declared and `out/` beside it, and state of its own.
struct Site {
    _directory: tempfile::TempDir,
    root: PathBuf,
}

impl Site {
    fn new() -> Site {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().canonicalize().unwrap();
        fs::create_dir(root.join("in")).unwrap();
        fs::create_dir(root.join("out")).unwrap();
        fs::write(root.join("in/a.txt"), "inside").unwrap();
        fs::write(root.join("out/secret"), "secret").unwrap();
        Site {
            _directory: directory,
            root,
        }
    }

    fn at(&self, name: &str) -> String {
        self.root.join(name).to_str().unwrap().to_owned()
    }

    fn call(&self, capabilities: &[(&str, &str)]) -> CoreCall {
        self.call_for(capabilities, AMPLE.wall_clock)
    }

    fn call_for(&self, capabilities: &[(&str, &str)], wall_clock: Duration) -> CoreCall {
        let capabilities: Vec<_> = capabilities
            .iter()
            .map(|(kind, value)| Capability {
                kind: (*kind).to_owned(),
                value: (*value).to_owned(),
            })
            .collect();
        let state = StateDirectories::from_environment(Some(&self.root.join("home")));
        let fetcher = Arc::new(Fetcher::new(&[]).unwrap());
        let budgets = MeterBudgets {
            wall_clock,
            ..AMPLE
        };
        CoreCall::new(
            &capabilities,
            state,
            Arc::default(),
            fetcher,
            meter(budgets),
        )
    }

    fn reader(&self) -> CoreCall {
        self.call(&[("fs.read", &self.at("in"))])
    }

    fn writer(&self) -> CoreCall {
        self.call(&[("fs.write", &self.at("in"))])
    }
}

const ROOM: usize = 100_000;

fn read(call: &CoreCall, path: &str) -> Result<Option<String>, String> {
    let answer = call.read_file(path.as_bytes(), ROOM);
    let text = |bytes: Option<Vec<u8>>| bytes.map(|bytes| String::from_utf8(bytes).unwrap());
    answer.map(text).map_err(|ended| ended.to_string())
}

fn write(call: &CoreCall, path: &str) -> Result<Option<()>, String> {
    let answer = call.write_file(path.as_bytes(), b"new");
    answer.map_err(|ended| ended.to_string())
}

fn denied_read(path: &str) -> Result<Option<String>, String> {
    Err(format!("capability denied: fs.read:{path}"))
}

fn denied_write(path: &str) -> Result<Option<()>, String> {
    Err(format!("capability denied: fs.write:{path}"))
}

fn mode(path: impl AsRef<Path>) -> u32 {
    fs::symlink_metadata(path).unwrap().permissions().mode() & 0o7777
}

#[test]
fn the_walk_of_a_tree_ends_with_the_time() {
    let site = Site::new();
    let inside = site.at("in");
    let call = site.call_for(&[("fs.read", &inside)], Duration::ZERO);
    assert!(matches!(
        call.read_tree(inside.as_bytes(), ROOM),
        Err(Ended::Budget(_))
    ));
    let file = site.at("in/a.txt");
    assert!(matches!(
        call.read_file(file.as_bytes(), ROOM),
        Err(Ended::Budget(_))
    ));
}

#[test]
fn a_kind_is_used_once_its_check_has_passed() {
    let site = Site::new();
    let inside = site.at("in");
    let call = site.call(&[
        ("fs.read", &inside),
        ("fs.write", &inside),
        ("time.now", "true"),
        ("kv.read", "*"),
    ]);
    assert_eq!(read(&call, &site.at("in/none")), Ok(None));
    assert!(read(&call, &site.at("out/secret")).is_err());
    assert!(call.publish(b"t", b"m").is_err());
    assert!(call.random(&mut [0; 4]).is_err());
    assert_eq!(call.caps_used(), BTreeSet::from(["fs.read".to_owned()]));
    assert_eq!(call.get(b"k", ROOM).unwrap(), None);
    assert_eq!(write(&call, &inside), Ok(None));
    call.time_now().unwrap();
    let used: Vec<_> = call.caps_used().into_iter().collect();
    assert_eq!(used, ["fs.read", "fs.write", "kv.read", "time.now"]);
}

#[test]
fn time_and_random_bytes_need_their_capability() {
    let site = Site::new();
    let nothing = site.call(&[("time.now", ""), ("random.bytes", "")]);
    let text = |ended: Ended| ended.to_string();
    assert_eq!(
        nothing.time_now().map_err(text),
        Err("capability denied: time.now:*".into())
    );
    let refused = nothing.random(&mut [0; 4]).map_err(text);
    assert_eq!(refused, Err("capability denied: random.bytes:*".into()));
    let call = site.call(&[("time.now", "utc"), ("random.bytes", "os")]);
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap()
        .as_secs();
    let told = u64::try_from(call.time_now().unwrap()).unwrap();
    assert!(told.abs_diff(now) <= 1, "{told} {now}");
    let mut bytes = [0; 64];
    assert_eq!(call.random(&mut bytes).unwrap(), Some(()));
    assert_ne!(bytes, [0; 64]);
}
