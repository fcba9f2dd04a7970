//! A home, an operator and skills for tests.

use std::collections::BTreeMap;
use std::time::Duration;

use rusqlite::Connection;
use serde_json::{Value, json};

use crate::check::{CheckedOperation, CheckedSkill, Judge};
use crate::config::Config;
use crate::failure::Failure;
use crate::manifest;
use crate::registry::approvals::{self, Approval, Permit, Scope, Verdict};
use crate::registry::{self, Loaded, NewSkill, Registered, Surroundings, Who};
use crate::secrets::SecretState;
use crate::state::State;
use crate::time::Time;
use hydrant_plan::{JudgedOperation, Operation, Skill, judge};

pub(super) const SOURCE: &str = "https://moltbook.com/skill.yaml";
pub(super) const HOST: &str = "api.moltbook.com:443";
pub(super) const KEY: &str = "MOLTBOOK_API_KEY";

/// What an operator configured, and this machine.
pub(super) struct Setting {
    pub(super) config: Config,
    pub(super) ttl: Duration,
    pub(super) missing: Vec<String>,
    pub(super) installed: Vec<String>,
}

impl Default for Setting {
    fn default() -> Self {
        Self {
            config: Config::default(),
            ttl: Duration::from_secs(3600),
            missing: Vec::new(),
            installed: Vec::new(),
        }
    }
}

impl Setting {
    /// No approval for the host of the tests.
    pub(super) fn safe() -> Self {
        let text = format!("[govern]\nsafe_hosts = [{HOST:?}]");
        Self {
            config: Config::from_toml(&text).unwrap(),
            ..Self::default()
        }
    }

    /// Requests expire at once.
    pub(super) fn hasty() -> Self {
        Self {
            ttl: Duration::ZERO,
            ..Self::default()
        }
    }

    fn judge(&self) -> Judge<'_> {
        Judge {
            config: &self.config,
            lacks_sandbox: &|_| false,
        }
    }
}

impl Surroundings for Setting {
    fn reasons(
        &self,
        operation: &JudgedOperation,
        bound: &dyn Fn(&str, &[String]) -> bool,
    ) -> Vec<String> {
        judge::reasons(operation, &self.judge(), bound)
    }

    fn missing(&self, _operation: &JudgedOperation) -> Vec<String> {
        self.missing.clone()
    }

    fn installed(&self, folded: &str) -> bool {
        self.installed.iter().any(|id| id == folded)
    }

    fn secrets(
        &self,
        _: &Connection,
        _: &str,
        _: Time,
    ) -> Result<BTreeMap<String, SecretState>, Failure> {
        Ok(BTreeMap::new())
    }

    fn pending_ttl(&self) -> Duration {
        self.ttl
    }
}

/// A home.
pub(super) struct Home {
    pub(super) folder: tempfile::TempDir,
    pub(super) state: State,
}

impl Home {
    pub(super) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let state = State::open(&folder.path().join("state")).unwrap();
        Self { folder, state }
    }

    /// As after the end of the process.
    pub(super) fn reopen(self) -> Self {
        let Self { folder, state } = self;
        drop(state);
        let state = State::open(&folder.path().join("state")).unwrap();
        Self { folder, state }
    }

    pub(super) fn load(&self, checked: &CheckedSkill, around: &Setting) -> Loaded {
        self.try_load(checked, around).unwrap()
    }

    pub(super) fn try_load(
        &self,
        checked: &CheckedSkill,
        around: &Setting,
    ) -> Result<Loaded, Failure> {
        self.state.write(|change| {
            let new = NewSkill {
                checked: checked.clone(),
                document: b"name: moltbook\n",
                files: &BTreeMap::new(),
            };
            registry::load(change, new, &Who::default(), around)
        })
    }

    pub(super) fn find(&self, skill: &str, operation: &str) -> Result<Registered, Failure> {
        self.state
            .read(|database| registry::find(database, skill, operation))
    }

    /// A call of `moltbook.<operation>` in this session.
    pub(super) fn call(
        &self,
        operation: &str,
        session: &str,
        around: &Setting,
    ) -> Result<Permit, Failure> {
        let found = self.find("moltbook", operation)?;
        approvals::permit(&self.state, &found, &session_of(session), around)
    }

    pub(super) fn approve(&self, id: &str, scope: Option<Scope>) -> Result<Approval, Failure> {
        let verdict = Verdict {
            by: "ada".to_owned(),
            scope,
            ..Verdict::default()
        };
        approvals::approve(&self.state, id, &verdict, &Who::default())
    }

    pub(super) fn show(&self, id: &str) -> approvals::ApprovalDetails {
        let now = self.state.now();
        self.state
            .read(|database| approvals::show(database, id, now))
            .unwrap()
    }

    /// The events of the chain with what they are about, from the record after `seq`.
    pub(super) fn events(&self, seq: u64) -> Vec<String> {
        self.records()
            .iter()
            .filter(|record| record["seq"].as_u64().unwrap() > seq)
            .map(|record| record["event"].as_str().unwrap().to_owned())
            .collect()
    }

    pub(super) fn head(&self) -> u64 {
        self.records()
            .last()
            .map_or(0, |record| record["seq"].as_u64().unwrap())
    }

    pub(super) fn records(&self) -> Vec<Value> {
        let file = self.folder.path().join("state/chain/000001.jsonl");
        std::fs::read_to_string(file)
            .unwrap_or_default()
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }
}

pub(super) fn session_of(session: &str) -> Who {
    Who {
        session: Some(session.to_owned()),
        lasting: true,
        ..Who::default()
    }
}

/// An operation that posts to the host of the tests; `path` makes another digest.
pub(super) fn post(id: &str, path: &str) -> Value {
    json!({
        "id": id, "aliases": [], "title": id, "description": "", "line": 11,
        "stages": [{"kind": "http", "method": "POST", "url": [{"lit": format!("https://api.moltbook.com/v1/{path}")}],
            "headers": [{"name": "Authorization", "value": [{"lit": "Bearer "}, {"secret": KEY, "enc": "header"}]}],
            "follow": false}],
        "input-schema": {"type": "object", "properties": {}, "additionalProperties": false},
        "secrets": [{"name": KEY, "kind": "bearer"}], "files": {"read": [], "write": []},
        "data-classifications": [], "confidence": 1.0, "examples": [], "status": "ok"
    })
}

/// An operation without secrets: nothing but the host needs approval.
pub(super) fn get(id: &str) -> Value {
    let mut operation = post(id, id);
    operation["stages"][0]["method"] = "GET".into();
    operation["stages"][0]["headers"] = json!([]);
    operation["secrets"] = json!([]);
    operation
}

/// Python in the jail, Tier 2.
pub(super) fn python(id: &str, code: &str) -> Value {
    let mut operation = get(id);
    operation["stages"] = json!([{"kind": "sandbox", "runtime": "python", "program": {"code": code}, "args": [],
        "packages": [], "tools": []}]);
    operation["asks"] =
        json!({"egress": [{"host": HOST, "line": 37}], "resources": {"cpu-seconds": 60}});
    operation
}

/// A tool nobody knows, Tier 3.
pub(super) fn unknown_tool(id: &str, tool: &str) -> Value {
    let mut operation = python(id, "");
    operation["stages"] = json!([{"kind": "sandbox", "runtime": "shell", "program": {"argv": [[{"lit": tool}]]}, "args": [],
        "packages": [], "tools": [tool]}]);
    operation
}

/// An operation that cannot be called.
pub(super) fn unusable(id: &str) -> Value {
    let mut operation = get(id);
    operation["stages"] = json!([]);
    operation["status"] = "unusable".into();
    operation["code"] = "curl-option-refused".into();
    operation["error"] = json!({"code": "curl-option-refused", "message": "curl --insecure"});
    operation
}

pub(super) fn moltbook(operations: Vec<Value>) -> CheckedSkill {
    checked("moltbook", SOURCE, operations)
}

/// A skill as `check` gives it.
pub(super) fn checked(id: &str, source: &str, operations: Vec<Value>) -> CheckedSkill {
    checked_by("", id, source, operations)
}

/// The same of an interpreter with this mapping; the oldest did not say it.
pub(super) fn checked_by(
    mapping_version: &str,
    id: &str,
    source: &str,
    operations: Vec<Value>,
) -> CheckedSkill {
    let document = serde_json::to_vec(&operations).unwrap();
    let digest = crate::digest::of_bytes(&document);
    let skill: Skill = serde_json::from_value(json!({
        "id": id, "name": id, "version": "1.0.0", "description": "", "instructions": "", "format": "yaml",
        "data-classifications": [], "declared-capabilities": [], "secrets": [KEY], "operations": [], "diagnostics": [], "mapping-version": mapping_version
    }))
    .unwrap();
    let setting = Setting::default();
    let none = BTreeMap::new();
    let load = judge::Load {
        base_url: None,
        constants: &none,
        files: &none,
        mapping_version,
        is_command: false,
    };
    let operations = operations
        .into_iter()
        .map(|operation| {
            let operation: Operation = serde_json::from_value(operation).unwrap();
            let operation = judge::judge(operation, load, &setting.judge());
            let policy_digest = judge::policy_digest(&operation).unwrap();
            CheckedOperation {
                manifest: matches!(operation.status, hydrant_plan::Status::Ok)
                    .then(|| manifest::make(&skill, &operation, source, &digest, &policy_digest)),
                policy_digest,
                operation,
            }
        })
        .collect();
    CheckedSkill {
        skill,
        source: source.to_owned(),
        digest,
        operations,
    }
}
