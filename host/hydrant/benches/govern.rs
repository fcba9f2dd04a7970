//! Governed execution against its floors, side by side in one run: the interpreter's own code compiled natively, and the
//! same request sent by the same client without a governor.
//!
//! `cargo bench --bench govern` prints one table; the arguments are explained in `harness`. Both operations end on the
//! disk, chain and database synced, so the figures are those of the file system that holds the temporary folder.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    clippy::indexing_slicing,
    reason = "a benchmark that cannot run has nothing to tell"
)]

#[path = "govern/document.rs"]
mod document;
#[path = "harness/mod.rs"]
mod harness;
#[path = "govern/server.rs"]
mod server;

use std::hint::black_box;
use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use harness::{Measured, Target, alternate};
use hydrant::Host;
use hydrant::govern::Ports;
use hydrant::govern::client::{Client, Frontend};
use hydrant::govern::config::Config;
use hydrant::govern::governor::{Approve, Caller, Governor, LoadRequest};
use hydrant::govern::ports::{Wire, WireLimits, WireRequest, WireValue};
use hydrant::govern::secrets::SecretString;
use serde_json::{Value, json};
use server::Server;
use tempfile::TempDir;

/// Operations of the document that is loaded.
const OPERATIONS: usize = 40;
/// The length of that document, in bytes.
const DOCUMENT: usize = 74 * 1024;
/// What a bearer is worth here.
const TOKEN: &str = "t-0123456789abcdef";

fn main() -> ExitCode {
    harness::run(&[
        ("load 74 KiB with 40 operations, in process", load),
        ("approved HTTP operation, in process", call),
    ])
}

/// A state that was never used, and its governor.
struct House {
    folder: TempDir,
    governor: Governor,
}

impl House {
    /// Skills are loaded from the folder; these pairs may be on the loopback.
    fn new(ports: &Ports, private: &[String]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("skills");
        std::fs::create_dir(&root).unwrap();
        let config = format!("[govern]\nskill_roots = [{root:?}]\nallow_private = {private:?}\n");
        let config = Config::from_toml(&config).unwrap();
        let state = folder.path().join("home/state");
        Self {
            governor: ports.clone().governor(&state, config).unwrap(),
            folder,
        }
    }

    fn load(&self, document: &Path) -> Value {
        let request = LoadRequest {
            source: document.to_str().unwrap().to_owned(),
            ..LoadRequest::default()
        };
        self.governor.load(&caller(), &request).unwrap()
    }

    fn put(&self, name: &str, text: &str) -> std::path::PathBuf {
        let path = self.folder.path().join("skills").join(name);
        std::fs::write(&path, text).unwrap();
        path
    }
}

/// One command, in a session of its own.
fn caller() -> Caller {
    Caller::new(Client {
        frontend: Frontend::Cli,
        jailed: false,
    })
    .unwrap()
}

fn ports() -> Ports {
    Ports::new(Arc::new(Host::builder().build().unwrap()))
}

/// From the file to capabilities in the database, their approvals asked for and all of it in the chain; the component was
/// compiled and called before.
fn load(samples: usize) -> Measured {
    let text = document::skill(OPERATIONS, DOCUMENT);
    let ports = ports();
    let samples = (samples / 10).max(5);
    // What was loaded before would not be loaded again.
    let mut unused: Vec<(House, std::path::PathBuf)> = (0..samples + samples / 10 + 1)
        .map(|_| {
            let house = House::new(&ports, &[]);
            let path = house.put("skill.md", &text);
            (house, path)
        })
        .collect();
    let mut used = Vec::new();
    let mut once = || {
        let (house, path) = unused.pop().unwrap();
        let loaded = house.load(&path);
        used.push(house);
        loaded
    };
    let loaded = once();
    let capabilities = loaded["capabilities"].as_array().unwrap();
    assert_eq!(capabilities.len(), OPERATIONS);
    assert_eq!(loaded["pending-approvals"], OPERATIONS);
    let request = json!({"op": "load", "source-url": "https://api.example.org/skill.md",
        "content-b64": STANDARD.encode(&text)});
    let request = serde_json::to_vec(&request).unwrap();
    let native = || skill_interpreter::run(&request).unwrap();
    let read: Value = serde_json::from_slice(&native()).unwrap();
    let operations = read["skill"]["operations"].as_array().unwrap();
    assert_eq!(operations.len(), OPERATIONS, "both sides do the same work");
    let (hydrant, floor) = alternate(
        samples,
        || drop(black_box(once())),
        || drop(black_box(native())),
    );
    Measured::new(hydrant, floor, Target::Ratio(2.5))
}

/// All steps of a call with a secret and a JSON body, all of it durable; the floor is the exchange alone, and one synced write.
fn call(samples: usize) -> Measured {
    let server = Server::start();
    let ports = ports();
    let house = House::new(&ports, &[server.pair()]);
    let text = format!(
        "name: one\noperations:\n- name: search\n  method: POST\n  endpoint: {}\n  auth: {{type: bearer, env_var: TOKEN}}\n  \
         input: {{query: {{type: string, required: true}}, limit: {{type: integer, default: 10}}}}\n",
        server.url()
    );
    let path = house.put("one.yaml", &text);
    let loaded = house.load(&path);
    let governor = &house.governor;
    let secret = SecretString::from(TOKEN);
    governor.set_secret("TOKEN", Some("one"), secret).unwrap();
    let approval = loaded["capabilities"][0]["approval-id"].as_str().unwrap();
    governor
        .approve(&caller(), approval, Approve::default())
        .unwrap();
    let execute = || {
        let params = json!({"query": "machine learning"});
        governor
            .execute(&caller(), "one", "search", params)
            .unwrap()
    };
    assert_eq!(execute()["output"]["json"], json!({"ok": true}));
    let governed = server.last();
    let header = |name: &str, value: &str| (name.to_owned(), WireValue(value.as_bytes().to_vec()));
    let request = WireRequest {
        method: "POST".to_owned(),
        url: server.url().parse().unwrap(),
        headers: vec![
            header("Authorization", &format!("Bearer {TOKEN}")),
            header("Content-Type", "application/json"),
            header("Accept", "*/*"),
            header("User-Agent", concat!("hydrant/", env!("CARGO_PKG_VERSION"))),
        ],
        body: Some(br#"{"query":"machine learning","limit":10}"#.to_vec()),
    };
    let limits = WireLimits {
        connect: Duration::from_secs(10),
        total: Duration::from_secs(30),
        response_bytes: 10 << 20,
        private: true,
    };
    let direct = || ports.exchange(&request, &limits).unwrap();
    assert_eq!(direct().status, 200);
    assert_eq!(
        server.last().body,
        governed.body,
        "both sides send the same"
    );
    assert_eq!(server.last().head.len(), governed.head.len());
    let mut synced = std::fs::File::create(house.put("synced", "")).unwrap();
    let (hydrant, floor) = alternate(
        samples,
        || drop(black_box(execute())),
        || {
            drop(black_box(direct()));
            synced.write_all(&[b'x'; 512]).unwrap();
            synced.sync_data().unwrap();
        },
    );
    Measured::new(hydrant, floor, Target::Ratio(1.5))
}
