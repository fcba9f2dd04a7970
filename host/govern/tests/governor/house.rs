//! A governor of its own state, a wire that remembers what it was asked, and what an operator does with them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use hydrant_govern::client::{Client, Frontend};
use hydrant_govern::config::Config;
use hydrant_govern::failure::{Code, Failure};
use hydrant_govern::governor::{Approve, Caller, Governor, LoadRequest, Ports, Shown, verify};
use hydrant_govern::ports::{
    Component, Components, Egress, EgressReport, Wire, WireFailure, WireLimits, WireRequest,
    WireResponse,
};
use hydrant_govern::secrets::SecretString;
use serde_json::{Value, json};
use tempfile::TempDir;

/// Where documents are loaded from.
pub(crate) const SOURCE: &str = "https://e.org/skill.yaml";
/// Where their operations go.
pub(crate) const API: &str = "https://api.example.org/x";

/// What happens at the moment of a request.
type Moment = Box<dyn Fn(&WireRequest) + Send + Sync>;

/// What the ports share with the test.
#[derive(Default)]
struct Outside {
    documents: Mutex<BTreeMap<String, String>>,
    /// Of requests that fetch no document.
    sent: Mutex<Vec<WireRequest>>,
    body: Mutex<Option<Value>>,
    moment: Mutex<Option<Moment>>,
    /// In place of the interpreter's own answers to `load`.
    answer: Mutex<Option<Result<Value, Failure>>>,
    asked: Mutex<Vec<Value>>,
}

#[derive(Clone, Default)]
struct Shared(Arc<Outside>);

impl Components for Shared {
    fn ask(&self, component: Component, request: &Value) -> Result<Vec<u8>, Failure> {
        self.0.asked.lock().unwrap().push(request.clone());
        if request["op"] == "load"
            && let Some(answer) = self.0.answer.lock().unwrap().clone()
        {
            return answer.map(|answer| answer.to_string().into_bytes());
        }
        let request = request.to_string();
        let answer = match component {
            Component::Interpreter => skill_interpreter::run(request.as_bytes()),
            Component::Filter => data_filter::run(request.as_bytes()),
        };
        match answer {
            Ok(answer) => Ok(answer),
            Err(error) => {
                let code = match error.code() {
                    "too_large" => Code::TooLarge,
                    "invalid_request" => Code::InvalidRequest,
                    other => panic!("{other}: {}", error.message()),
                };
                Err(Failure::new(code, error.message()))
            }
        }
    }
}

impl Wire for Shared {
    fn exchange(&self, request: &WireRequest, _: &WireLimits) -> Result<WireResponse, WireFailure> {
        let document = self
            .0
            .documents
            .lock()
            .unwrap()
            .get(request.url.as_str())
            .cloned();
        if let Some(text) = document {
            return Ok(response("text/plain", text.into_bytes()));
        }
        self.0.sent.lock().unwrap().push(request.clone());
        if let Some(moment) = &*self.0.moment.lock().unwrap() {
            moment(request);
        }
        let body = self
            .0
            .body
            .lock()
            .unwrap()
            .clone()
            .unwrap_or_else(|| json!({"ok": true}));
        Ok(response("application/json", body.to_string().into_bytes()))
    }
}

fn response(media: &str, body: Vec<u8>) -> WireResponse {
    WireResponse {
        status: 200,
        headers: vec![("content-type".to_owned(), media.as_bytes().to_vec())],
        body,
        network_bytes: 1000,
    }
}

impl Egress for Shared {
    fn during(
        &self,
        _: &[String],
        _: &[String],
        _: u64,
        _: &mut dyn FnMut(&Path),
    ) -> Result<EgressReport, Failure> {
        Err(Failure::new(Code::JailUnavailable, "no jail is made here"))
    }
}

pub(crate) struct House {
    folder: TempDir,
    outside: Shared,
    pub(crate) governor: Governor,
}

impl House {
    /// With these lines of `[govern]`.
    pub(crate) fn with(lines: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let outside = Shared::default();
        let governor = open(folder.path(), &outside, lines).unwrap();
        Self {
            folder,
            outside,
            governor,
        }
    }

    pub(crate) fn new() -> Self {
        Self::with("")
    }

    /// The same state with other lines of `[govern]`, as after a restart.
    pub(crate) fn again(self, lines: &str) -> Self {
        let Self {
            folder,
            outside,
            governor,
        } = self;
        drop(governor);
        let governor = open(folder.path(), &outside, lines).unwrap();
        Self {
            folder,
            outside,
            governor,
        }
    }

    /// Another governor of the same state, as of another process.
    pub(crate) fn beside(&self) -> Governor {
        open(self.folder.path(), &self.outside, "").unwrap()
    }

    pub(crate) fn state(&self) -> PathBuf {
        self.folder.path().join("home/state")
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn try_load(&self, text: &str) -> Result<Value, Failure> {
        self.try_load_from(SOURCE, text)
    }

    /// A document at this address.
    pub(crate) fn try_load_from(&self, source: &str, text: &str) -> Result<Value, Failure> {
        self.outside
            .0
            .documents
            .lock()
            .unwrap()
            .insert(source.to_owned(), text.to_owned());
        let request = LoadRequest {
            source: source.to_owned(),
            ..LoadRequest::default()
        };
        self.governor.load(&agent(), &request)
    }

    pub(crate) fn load(&self, text: &str) -> Value {
        self.try_load(text).unwrap()
    }

    /// What the interpreter says of every document from now on.
    pub(crate) fn interpreter_says(&self, answer: Result<Value, Failure>) {
        *self.outside.0.answer.lock().unwrap() = Some(answer);
    }

    /// What the interpreter was asked.
    pub(crate) fn asked(&self) -> Vec<Value> {
        self.outside.0.asked.lock().unwrap().clone()
    }

    /// What servers answer from now on.
    pub(crate) fn servers_say(&self, body: Value) {
        *self.outside.0.body.lock().unwrap() = Some(body);
    }

    /// What happens when a server is asked, from now on.
    pub(crate) fn meanwhile(&self, moment: impl Fn(&WireRequest) + Send + Sync + 'static) {
        *self.outside.0.moment.lock().unwrap() = Some(Box::new(moment));
    }

    /// What was sent to servers.
    pub(crate) fn sent(&self) -> Vec<WireRequest> {
        self.outside.0.sent.lock().unwrap().clone()
    }

    pub(crate) fn pending(&self) -> Vec<Value> {
        self.governor
            .approvals(Some("pending"))
            .unwrap()
            .as_array()
            .unwrap()
            .clone()
    }

    /// Approves every operation that is pending, until it changes.
    pub(crate) fn approve_all(&self) {
        for one in self.pending() {
            if one["kind"] != "capability" {
                continue;
            }
            let approve = Approve {
                scope: Some(serde_json::from_value(json!("until-changed")).unwrap()),
                ..Approve::default()
            };
            self.governor
                .approve(&operator(), one["id"].as_str().unwrap(), approve)
                .unwrap();
        }
    }

    pub(crate) fn secret(&self, name: &str, skill: &str, value: &str) {
        let value = SecretString::from(value.to_owned());
        self.governor.set_secret(name, Some(skill), value).unwrap();
    }

    pub(crate) fn execute(
        &self,
        skill: &str,
        operation: &str,
        params: Value,
    ) -> Result<Value, Failure> {
        self.governor.execute(&operator(), skill, operation, params)
    }

    /// The code of a call that must be refused.
    pub(crate) fn code(&self, skill: &str, operation: &str, params: Value) -> Code {
        self.execute(skill, operation, params).unwrap_err().code
    }

    pub(crate) fn chain(&self) -> Vec<Value> {
        let shown = self.governor.chain(&Shown::default(), &|| false).unwrap();
        shown["records"].as_array().unwrap().clone()
    }

    pub(crate) fn events(&self, event: &str) -> Vec<Value> {
        let mut chain = self.chain();
        chain.retain(|record| record["event"] == event);
        chain
    }

    pub(crate) fn is_whole(&self) -> bool {
        verify(&self.state(), None).unwrap()["ok"] == true
    }
}

fn open(folder: &Path, outside: &Shared, lines: &str) -> Result<Governor, Failure> {
    let config =
        Config::from_toml(&format!("[govern]\nsource_hosts = ['e.org']\n{lines}\n")).unwrap();
    Governor::open(
        &folder.join("home/state"),
        config,
        Ports {
            components: Box::new(outside.clone()),
            wire: Box::new(outside.clone()),
            egress: Box::new(outside.clone()),
            launcher: None,
            installed: vec!["content.hydrate".to_owned()],
        },
    )
}

/// An agent's connection that is not jailed.
pub(crate) fn agent() -> Caller {
    Caller::lasting(Client {
        frontend: Frontend::Syscall,
        jailed: false,
    })
    .unwrap()
}

/// A command of the operator.
pub(crate) fn operator() -> Caller {
    Caller::new(Client {
        frontend: Frontend::Cli,
        jailed: false,
    })
    .unwrap()
}

/// `read` with a required input and a bearer, `open` with neither.
pub(crate) fn document() -> String {
    format!(
        "name: one\noperations:\n- name: read\n  endpoint: {API}/read\n  input: {{q: {{type: string, required: true}}}}\n  auth: \
         {{type: bearer, env_var: TOKEN}}\n- name: open\n  endpoint: {API}/open\n"
    )
}

/// [`document`] is loaded and approved, its secret stored.
pub(crate) fn ready(lines: &str) -> House {
    let house = House::with(lines);
    house.load(&document());
    house.secret("TOKEN", "one", "t-112233445566");
    house.approve_all();
    house
}
