//! Governed execution with ever more capabilities registered.

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use hydrant::Host;
use hydrant::govern::Ports;
use hydrant::govern::client::{Client, Frontend};
use hydrant::govern::config::Config;
use hydrant::govern::failure::Code;
use hydrant::govern::governor::{Approve, Caller, Governor, LoadRequest};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::document;
use crate::series::{Growth, Series, Subject, cost, median};
use crate::server::Server;

/// Operations of a document, at most.
const OPERATIONS: usize = 40;
/// Bytes of a document for each of its operations.
const BYTES: usize = 1_850;
/// Operations of the document that is loaded and unloaded.
const MORE: usize = 10;

struct House {
    folder: TempDir,
    ports: Ports,
    config: Config,
    governor: Governor,
    documents: usize,
}

fn caller() -> Caller {
    Caller::new(Client {
        frontend: Frontend::Cli,
        jailed: false,
    })
    .unwrap()
}

impl House {
    fn new(private: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("skills");
        std::fs::create_dir(&root).unwrap();
        let config =
            format!("[govern]\nskill_roots = [{root:?}]\nallow_private = [\"{private}\"]\n");
        let config = Config::from_toml(&config).unwrap();
        let ports = Ports::new(Arc::new(Host::builder().build().unwrap()));
        let state = folder.path().join("home/state");
        let governor = ports.clone().governor(&state, config.clone()).unwrap();
        Self {
            folder,
            ports,
            config,
            governor,
            documents: 0,
        }
    }

    /// Another governor of the same state.
    fn open(&self) -> Governor {
        let state = self.folder.path().join("home/state");
        let ports = self.ports.clone();
        ports.governor(&state, self.config.clone()).unwrap()
    }

    /// Loads a document with so many operations under an id that it answers.
    fn load(&mut self, operations: usize) -> String {
        let id = format!("library-{}", self.documents);
        self.documents += 1;
        let text = document::skill(operations, 200 + operations * BYTES);
        let loaded = self.load_text("skill.md", &text, Some(id.clone()));
        let capabilities = loaded["capabilities"].as_array().unwrap();
        assert_eq!(capabilities.len(), operations);
        id
    }

    fn load_text(&self, name: &str, text: &str, id: Option<String>) -> Value {
        let path = self.folder.path().join("skills").join(name);
        std::fs::write(&path, text).unwrap();
        let request = LoadRequest {
            source: path.to_str().unwrap().to_owned(),
            as_id: id,
            ..LoadRequest::default()
        };
        self.governor.load(&caller(), &request).unwrap()
    }
}

pub(crate) fn capabilities(quick: bool) -> Subject {
    let sizes: &[usize] = if quick {
        &[10, 100, 400]
    } else {
        &[1, 10, 100, 1_000, 10_000]
    };
    let server = Server::start();
    let mut house = House::new(&server.pair());
    let text = format!(
        "name: one\noperations:\n- name: search\n  method: POST\n  endpoint: {}\n  \
         input: {{query: {{type: string, required: true}}}}\n",
        server.url()
    );
    let loaded = house.load_text("one.yaml", &text, None);
    let approval = loaded["capabilities"][0]["approval-id"].as_str().unwrap();
    house
        .governor
        .approve(&caller(), approval, Approve::default())
        .unwrap();
    let mut registered = 1;
    let names = [
        ("call one", Growth::Not),
        ("map a command", Growth::Not),
        ("refuse an unknown name", Growth::Not),
        ("list what changed", Growth::Not),
        ("load a document of 10", Growth::Not),
        ("unload it", Growth::Not),
        ("list all", Growth::Linear),
        ("open the state", Growth::Linear),
    ];
    let mut series = names.map(|(name, grows)| Series::new(name, grows));
    for size in sizes {
        while registered < *size {
            let more = OPERATIONS.min(size - registered);
            house.load(more);
            registered += more;
        }
        let costs = costs(&mut house);
        for (series, cost) in series.iter_mut().zip(costs) {
            series.add(*size as u64, cost);
        }
    }
    Subject {
        title: "Registered capabilities",
        items: "capabilities",
        series: series.into(),
    }
}

/// In the order of the names.
fn costs(house: &mut House) -> [Duration; 8] {
    let governor = &house.governor;
    let list = governor.list(&caller(), None).unwrap();
    let generation = list["generation"].as_u64().unwrap();
    let call = cost(|| {
        let params = json!({"query": "machine learning"});
        let answer = governor.execute(&caller(), "one", "search", params);
        assert_eq!(answer.unwrap()["output"]["json"], json!({"ok": true}));
    });
    let map = cost(|| {
        let mapped = governor.map("curl -s https://api.example.org/v1/books");
        drop(black_box(mapped.unwrap()));
    });
    let unknown = cost(|| {
        let refused = governor.call(&caller(), "nobody.at-home", json!({}));
        assert_eq!(refused.unwrap_err().code, Code::UnknownSkill);
    });
    let since = cost(|| {
        let changed = governor.list(&caller(), Some(generation)).unwrap();
        assert_eq!(changed["added"], json!([]));
    });
    let all = cost(|| drop(black_box(governor.list(&caller(), None).unwrap())));
    let open = cost(|| drop(black_box(house.open())));
    let (mut loads, mut unloads) = (Vec::new(), Vec::new());
    for _ in 0..11 {
        let started = Instant::now();
        let id = house.load(MORE);
        loads.push(started.elapsed());
        let started = Instant::now();
        house.governor.unload(&caller(), &id, false).unwrap();
        unloads.push(started.elapsed());
    }
    let (load, unload) = (median(loads), median(unloads));
    [call, map, unknown, since, load, unload, all, open]
}
