//! Asking `prompt.hydrate`: requests and responses as JSON.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::memory::Passage;
use super::message::Warning;
use super::mounts::PlannerMounts;
use super::settings::{Mode, Settings};
use crate::engine::Budgets;
use crate::engine::CallError;
use crate::policy::Limits;
use crate::{Failure, Host, HostError, SkillCall};

/// The skill that plans.
const PLANNER: &str = "prompt.hydrate";
/// A hook's input of 8 MiB, as a JSON string in a JSON string, twice.
const REQUEST_BYTES: u64 = 64 * 1024 * 1024;
/// A file of 16 MiB as a JSON string.
const RESPONSE_BYTES: u64 = 64 * 1024 * 1024;

const REQUEST: &str = "hydrant.hydrate.request/1";
const RESPONSE: &str = "hydrant.hydrate.response/1";

/// What a plan goes on without; its word stands in `degraded`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Missing {
    /// The named catalogue.
    Catalog,
    /// The working tree.
    Codebase,
    /// The language model.
    Llm,
    /// The memory source.
    Memory,
    /// The transcript.
    Session,
    /// Time.
    Time,
}

/// Asks the planner, under the settings of a run.
#[derive(Clone)]
pub struct Planner {
    host: Arc<Host>,
    mounts: PlannerMounts,
}

/// Why the planner has no answer.
#[derive(Debug, thiserror::Error)]
pub enum PlannerError {
    /// It is not what was pinned, or what was pinned is not trusted.
    #[error("{0}")]
    Untrusted(String),
    /// It trapped, ran out of fuel or time, or could not be started.
    #[error("{0}")]
    Failed(String),
    /// The clock of the call ended it.
    #[error("out of time")]
    TooSlow,
    /// It says why itself.
    #[error("{detail}")]
    Refused {
        /// `stdin`, `template`, `catalog`, …
        code: String,
        /// In words.
        detail: String,
    },
}

/// Everything that a plan is made of, beside settings.
#[derive(Debug, Default)]
pub struct Material {
    /// What the user typed.
    pub prompt: String,
    /// The last whole lines of the transcript, at most 1 MiB.
    pub transcript_tail: Option<String>,
    /// The session, the oldest first, `{role, text}`; in place of a transcript.
    pub turns: Vec<Value>,
    /// What `codebase` answered.
    pub codebase: Option<Value>,
    /// Best first.
    pub memory: Vec<Passage>,
    /// Texts of templates that replace the embedded ones.
    pub templates: Templates,
    /// What could not be gathered.
    pub missing: BTreeSet<Missing>,
    /// `--workflow`
    pub workflow: Option<String>,
    /// Only outside the hook `/name` is a skill.
    pub slash_is_skill: bool,
    /// Whether temp files go to the default directory, which bounds the length of the instruction.
    pub directory_is_default: bool,
}

/// Templates in place of the embedded ones.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Templates {
    /// The file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
    /// The short instruction.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instruction: Option<String>,
}

/// What the planner answers; which members there are depends on what it was asked.
#[derive(Debug, Default, Deserialize)]
pub struct Answer {
    schema: String,
    ok: bool,
    /// `parse`
    #[serde(default)]
    pub parsed: Option<Parsed>,
    /// `parse`
    #[serde(default)]
    pub skip: Option<Skip>,
    /// `codebase`
    #[serde(default)]
    pub codebase: Option<Value>,
    /// The plan as JSON.
    #[serde(default)]
    pub plan: Option<Value>,
    /// The plan as text.
    #[serde(default)]
    pub markdown: Option<String>,
    /// The file.
    #[serde(default)]
    pub file_text: Option<String>,
    /// The short instruction.
    #[serde(default)]
    pub instruction: Option<String>,
    /// The texts for a language model.
    #[serde(default)]
    pub llm: Option<Value>,
    /// The rendered sections.
    #[serde(default)]
    pub context: Option<Value>,
    /// `route`
    #[serde(default)]
    pub explain: Option<Value>,
    /// `catalog-check`
    #[serde(default)]
    pub findings: Option<Vec<Finding>>,
    /// `validate`: the checks that do not hold.
    #[serde(default)]
    pub failed: Option<Vec<String>>,
    /// What it stumbled over.
    #[serde(default)]
    pub warnings: Vec<PlannerWarning>,
    #[serde(default)]
    error: Option<Refusal>,
}

/// The fields of the hook's input.
#[derive(Debug, Deserialize)]
pub struct Parsed {
    /// Empty where there is none.
    pub session_id: String,
    /// The transcript of the session.
    pub transcript_path: Option<String>,
    /// Where the code is.
    pub cwd: Option<String>,
    /// What memory is searched for: the main text of the prompt, without secrets.
    pub query: String,
    /// What the user typed.
    pub prompt: String,
    /// What is said of an event name that is not known.
    #[serde(default)]
    pub event_warning: Option<String>,
}

/// The rule by which a prompt is skipped.
#[derive(Debug, Deserialize)]
pub struct Skip {
    /// Its name.
    pub rule: String,
}

/// A line of `catalog check`.
#[derive(Debug, Clone, Deserialize, Serialize)]
pub struct Finding {
    /// `error` or `warning`.
    pub level: String,
    /// Below the catalogue.
    pub file: String,
    /// From 1 on.
    pub line: u64,
    /// The manual has the list.
    pub code: String,
    /// In words.
    pub message: String,
}

/// What went wrong without ending the call.
#[derive(Debug, Deserialize)]
pub struct PlannerWarning {
    code: String,
    message: String,
}

#[derive(Debug, Deserialize)]
struct Refusal {
    code: String,
    detail: String,
}

impl From<PlannerWarning> for Warning {
    fn from(warning: PlannerWarning) -> Self {
        Self {
            code: warning.code,
            message: warning.message,
        }
    }
}

impl Planner {
    /// Asks the planner of `host`, which sees nothing.
    #[must_use]
    pub fn new(host: Arc<Host>) -> Self {
        Self {
            host,
            mounts: PlannerMounts::default(),
        }
    }

    /// The same with what it may read.
    #[must_use]
    pub fn seeing(self, mounts: PlannerMounts) -> Self {
        Self { mounts, ..self }
    }

    /// Whether it may read a working tree.
    pub(super) fn sees_workspace(&self) -> bool {
        self.mounts.workspace.is_some()
    }

    /// Verifies and compiles the component, or finds it compiled.
    ///
    /// # Errors
    /// [`PlannerError`]
    pub fn load(&self) -> Result<(), PlannerError> {
        self.host
            .compile(PLANNER, None)
            .map_err(PlannerError::of_host)
    }

    /// Reads the hook's input.
    ///
    /// # Errors
    /// [`PlannerError`]
    pub fn parse(
        &self,
        input: &str,
        enabled: bool,
        time: Duration,
    ) -> Result<Answer, PlannerError> {
        let request = json!({
            "schema": REQUEST, "op": "parse", "hook_stdin": input,
            "options": { "enabled": enabled },
        });
        self.ask(&request, time)
    }

    /// What a memory source is asked for a prompt, as the hook asks it.
    ///
    /// # Errors
    /// [`PlannerError`]
    pub fn query(&self, prompt: &str, time: Duration) -> Result<String, PlannerError> {
        let input = json!({ "prompt": prompt, "session_id": "plan" }).to_string();
        let parsed = self.parse(&input, true, time)?.parsed;
        Ok(parsed.map(|parsed| parsed.query).unwrap_or_default())
    }

    /// Looks for files that have to do with the prompt.
    ///
    /// # Errors
    /// [`PlannerError`]
    pub fn codebase(&self, prompt: &str, time: Duration) -> Result<Answer, PlannerError> {
        let request = json!({
            "schema": REQUEST, "op": "codebase", "prompt": prompt,
            "workspace": { "mount": "/workspace" },
        });
        self.ask(&request, time)
    }

    /// Plans, and renders the file and the instruction.
    ///
    /// # Errors
    /// [`PlannerError`]
    pub fn hook(
        &self,
        material: &Material,
        settings: &Settings,
        file_path: &str,
        time: Duration,
    ) -> Result<Answer, PlannerError> {
        let mut members = self.members("hook", material, settings);
        members.insert("file_path".into(), file_path.into());
        self.ask(&Value::Object(members), time)
    }

    /// Plans.
    ///
    /// # Errors
    /// [`PlannerError`]
    pub fn plan(
        &self,
        material: &Material,
        settings: &Settings,
        time: Duration,
    ) -> Result<Answer, PlannerError> {
        let members = self.members("plan", material, settings);
        self.ask(&Value::Object(members), time)
    }

    /// Checks what a language model replied, and takes it as the plan if it passes.
    ///
    /// # Errors
    /// [`PlannerError`]. A reply that fails checks is an answer with those.
    pub fn validate(
        &self,
        material: &Material,
        settings: &Settings,
        file_path: Option<&str>,
        reply: &str,
        time: Duration,
    ) -> Result<Answer, PlannerError> {
        let mut members = self.members("validate", material, settings);
        members.insert("plan".into(), reply.into());
        if let Some(path) = file_path {
            members.insert("file_path".into(), path.into());
        }
        self.ask(&Value::Object(members), time)
    }

    /// Explains where a prompt goes.
    ///
    /// # Errors
    /// [`PlannerError`]
    pub fn route(
        &self,
        material: &Material,
        settings: &Settings,
        time: Duration,
    ) -> Result<Answer, PlannerError> {
        let mut members = self.routing(material, settings);
        members.insert("prompt".into(), material.prompt.clone().into());
        if let Some(tail) = &material.transcript_tail {
            members.insert("transcript_tail".into(), tail.clone().into());
        } else if !material.turns.is_empty() {
            members.insert("turns".into(), json!(material.turns));
        }
        self.ask(&Value::Object(members), time)
    }

    /// Checks the catalogue.
    ///
    /// # Errors
    /// [`PlannerError`]
    pub fn check_catalog(
        &self,
        settings: &Settings,
        time: Duration,
    ) -> Result<Vec<Finding>, PlannerError> {
        let mut members = Map::new();
        members.insert("schema".into(), REQUEST.into());
        members.insert("op".into(), "catalog-check".into());
        self.add_catalog(&mut members);
        members.insert("options".into(), json!({ "packs": settings.packs }));
        let findings = self.ask(&Value::Object(members), time)?.findings;
        findings.ok_or_else(|| PlannerError::Failed("it answers no findings".to_owned()))
    }

    fn routing(&self, material: &Material, settings: &Settings) -> Map<String, Value> {
        let mut members = Map::new();
        members.insert("schema".into(), REQUEST.into());
        members.insert("op".into(), "route".into());
        self.add_catalog(&mut members);
        members.insert("options".into(), options(material, settings));
        members
    }

    fn members(&self, op: &str, material: &Material, settings: &Settings) -> Map<String, Value> {
        let mut members = Map::new();
        members.insert("schema".into(), REQUEST.into());
        members.insert("op".into(), op.into());
        members.insert("prompt".into(), material.prompt.clone().into());
        if let Some(tail) = &material.transcript_tail {
            members.insert("transcript_tail".into(), tail.clone().into());
        } else if !material.turns.is_empty() {
            members.insert("turns".into(), json!(material.turns));
        }
        if let Some(codebase) = &material.codebase {
            members.insert("codebase".into(), codebase.clone());
        }
        self.add_catalog(&mut members);
        members.insert("memory".into(), json!(material.memory));
        members.insert("templates".into(), json!(material.templates));
        members.insert("options".into(), options(material, settings));
        members
    }

    fn add_catalog(&self, members: &mut Map<String, Value>) {
        if self.mounts.catalog.is_some() {
            members.insert("catalog".into(), json!({ "mount": "/catalog" }));
        }
    }

    fn ask(&self, request: &Value, time: Duration) -> Result<Answer, PlannerError> {
        let bytes = request.to_string().into_bytes();
        let response = self
            .host
            .answer(planning(&bytes, &self.mounts, time))
            .map_err(PlannerError::of_host)?
            .map_err(|failure| PlannerError::of_failure(&failure))?;
        let answer: Answer = serde_json::from_slice(&response).map_err(|error| {
            PlannerError::Failed(format!("its answer is not readable: {error}"))
        })?;
        match answer.error {
            _ if answer.schema != RESPONSE => Err(PlannerError::Failed(
                "it answers in another schema".to_owned(),
            )),
            None if answer.ok => Ok(answer),
            None => Err(PlannerError::Failed("it gives no reason".to_owned())),
            Some(Refusal { code, detail }) => Err(PlannerError::Refused { code, detail }),
        }
    }
}

/// A call of the planner, which may read `mounts` and nothing else, and has at most `time`. A policy can only give it less.
fn planning<'a>(request: &'a [u8], mounts: &PlannerMounts, time: Duration) -> SkillCall<'a> {
    // What others have for a call of two seconds, for every two seconds: a check of a catalogue or of a file of prompts takes
    // longer than a hook waits.
    let shares = time.as_secs().div_ceil(2).clamp(1, 30);
    let usual = Limits::default();
    // A limit of this skill's own, unless the policy has lowered that of all skills.
    let own_or_less =
        |own: u64, policy: u64, default: u64| if policy < default { policy } else { own };
    SkillCall::new(PLANNER, request)
        .without_processes(true)
        .with_mounts(mounts.all())
        .within(time)
        .limited(move |budgets| Budgets {
            request_bytes: REQUEST_BYTES,
            fuel: own_or_less(usual.fuel.saturating_mul(shares), budgets.fuel, usual.fuel),
            response_bytes: own_or_less(RESPONSE_BYTES, budgets.response_bytes, usual.output_bytes),
            ..budgets
        })
}

impl PlannerError {
    fn of_host(error: HostError) -> Self {
        match error {
            HostError::Pin(_) | HostError::Untrusted(_) | HostError::Root(_) => {
                Self::Untrusted(error.to_string())
            }
            error => Self::Failed(error.to_string()),
        }
    }

    fn of_failure(failure: &Failure) -> Self {
        match failure {
            Failure::Component(CallError::Budget(exceeded))
                if exceeded.budget == crate::capability::Budget::WallClock =>
            {
                Self::TooSlow
            }
            failure => Self::Failed(failure.to_string()),
        }
    }
}

fn options(material: &Material, settings: &Settings) -> Value {
    let mut options = json!({
        "mode": match settings.mode {
            Mode::Subagent => "subagent",
            Mode::Inline => "inline",
        },
        "model": settings.model,
        "tracker": settings.tracker,
        "task_tool": settings.task_tool,
        "budgets": {
            "memory": settings.budgets.memory,
            "codebase": settings.budgets.codebase,
            "session": settings.budgets.session,
        },
        "max_todos": settings.max_todos,
        "packs": settings.packs,
        "degraded": material.missing,
        "llm": settings.llm.as_ref().is_some_and(|llm| llm.enabled),
        "slash_is_skill": material.slash_is_skill,
        "directory_is_default": material.directory_is_default,
    });
    if let (Some(workflow), Some(members)) = (&material.workflow, options.as_object_mut()) {
        members.insert("workflow".into(), workflow.clone().into());
    }
    options
}
