//! Onboarding: goes through the steps that a document wants done first, as far as that is possible now.
//!
//! A step has no rights of its own: its operation is called as any caller calls it, with its approval, secrets, budget and
//! record. A call that was made before a crash, and not written down as done, is made again.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use hydrant_jail::Cancellation;
use serde_json::{Map, Value, json};

use super::{Caller, Governor};
use crate::execute::reference;
use crate::failure::{Code, Failure};
use crate::onboarding::{Given, Kept, Onboarding, Path, Step, StepKind, fit};
use crate::registry::approvals::{self, Approval, HumanAction, Status};
use crate::registry::onboarding::{
    self, Brought, OnboardingState, Plan, Progress, StepStatus, question,
};
use crate::registry::{self, Registered, SkillHead, fold, memory};
use crate::secrets::SecretState;

/// What came of trying a step: what its operation put out, or why it is not done.
type Tried = Result<Option<Value>, Failure>;

/// How long one call goes on with steps; what is left is for the next.
const GOES_ON: Duration = Duration::from_secs(60);

/// How long one call waits for another to do a step.
const SOON: Duration = Duration::from_secs(5);

/// Between two steps, for whoever waits: longer than between two looks at the lock.
const TURN: Duration = Duration::from_millis(30);

impl Governor {
    /// Does what can be done now of a skill's onboarding, and tells where it stands: `state`, and each of the `steps` with its
    /// `status`; of those that were tried now their `output`, or the `error`. Begins no step after 60 s.
    ///
    /// `user_input` is what `{{user_input}}` stands for; of a step without params it is the params, where it is an object.
    ///
    /// # Errors
    ///
    /// `unknown-skill`; `invalid-request` where it has no onboarding; `schema` where it has to be loaded again first; `limit`
    /// where another call is at it; `store-unavailable`. What keeps a step from being done is not among them.
    pub fn onboard(
        &self,
        caller: &Caller,
        skill: &str,
        user_input: Option<&Value>,
    ) -> Result<Value, Failure> {
        let begun = Instant::now();
        self.settle_secrets();
        let plan = self
            .state
            .read(|database| onboarding::plan(database, skill))?
            .ok_or_else(|| {
                Failure::new(
                    Code::InvalidRequest,
                    "the document of this skill has no onboarding",
                )
            })?;
        let keeps_secrets = plan
            .onboarding
            .steps
            .iter()
            .any(|step| step.secrets().next().is_some());
        let mut tried: BTreeMap<String, Tried> = BTreeMap::new();
        loop {
            // For one step each: an operator's answer waits no longer than that.
            let alone = match self.state.onboarding(&fold(skill), SOON) {
                Ok(alone) => alone,
                // What was done is told, whoever goes on.
                Err(failure) if failure.code == Code::Limit && !tried.is_empty() => {
                    return Ok(shown(&plan, &self.progress(&plan)?, tried));
                }
                Err(failure) => return Err(failure),
            };
            if keeps_secrets {
                // Where nobody knows which are there, steps would be done again.
                self.secrets.owned()?;
            }
            let progress = self.progress(&plan)?;
            let is_over = begun.elapsed() >= GOES_ON || Cancellation::current().is_cancelled();
            let next = progress
                .steps
                .iter()
                .filter(|_| !is_over)
                .find(|step| step.status == StepStatus::Ready && !tried.contains_key(&step.id));
            let Some(step) = next.and_then(|next| plan.onboarding.step(&next.id)) else {
                return Ok(shown(&plan, &progress, tried));
            };
            let outcome = self.attempt(caller, &plan, step, user_input);
            if let Err(failure) = &outcome {
                let who = caller.who();
                self.state.write(|change| {
                    onboarding::failed_step(change, &plan, step, failure, &who);
                    Ok(())
                })?;
            }
            tried.insert(step.id.clone(), outcome);
            drop(alone);
            std::thread::sleep(TURN);
        }
    }

    /// Refuses what has to wait.
    pub(super) fn check_onboarded(&self, found: &Registered) -> Result<(), Failure> {
        let head = &found.skill;
        let Some(data) = &head.skill.onboarding else {
            return Ok(());
        };
        let onboarding = Onboarding::read(data, head.skill.format)
            .map_err(|_| waits(head, "one that has to be loaded again"))?;
        if !onboarding.required || onboarding.uses(&found.operation) {
            return Ok(());
        }
        let now = self.state.now();
        let state = self.state.read(|database| {
            let plan = onboarding::plan_of(database, head)?;
            plan.map(|plan| plan.progress(database, self, now))
                .transpose()
        })?;
        let state = state.map(|progress| progress.state);
        if state == Some(OnboardingState::Operational) {
            return Ok(());
        }
        let state = json!(state);
        Err(waits(head, state.as_str().unwrap_or("not there")))
    }

    fn progress(&self, plan: &Plan) -> Result<Progress, Failure> {
        let now = self.state.now();
        self.state
            .read(|database| plan.progress(database, self, now))
    }

    /// Makes a step go on as far as it can: its call or its question, then what verifies it.
    fn attempt(
        &self,
        caller: &Caller,
        plan: &Plan,
        step: &Step,
        user_input: Option<&Value>,
    ) -> Tried {
        let is_called = || {
            self.state
                .read(|database| plan.is_called(database, step, self, self.state.now()))
        };
        let mut output = None;
        if !is_called()? {
            output = self.call_or_ask(caller, plan, step, user_input)?;
        }
        if let Some(verify) = &step.verify
            && is_called()?
        {
            self.succeed(caller, plan, verify, json!({}))?;
            let who = caller.who();
            self.state
                .write(|change| onboarding::verified_step(change, plan, step, &who))?;
        }
        Ok(output)
    }

    fn call_or_ask(
        &self,
        caller: &Caller,
        plan: &Plan,
        step: &Step,
        user_input: Option<&Value>,
    ) -> Tried {
        match (step.kind, &step.operation) {
            (StepKind::HumanAction, _) => self.ask_person(caller, plan, step).map(|()| None),
            (StepKind::ApiCall, _) if self.is_set_by_hand(plan, step)? => self
                .called(caller, plan, step, Brought::default())
                .map(|()| None),
            (_, Some(operation)) => self
                .call_step(caller, plan, step, operation, user_input)
                .map(Some),
            (_, None) => self.look(caller, plan, step, user_input).map(|()| None),
        }
    }

    /// Asks a person, or takes the answer that is there.
    fn ask_person(&self, caller: &Caller, plan: &Plan, step: &Step) -> Result<(), Failure> {
        let action = HumanAction {
            step: &step.id,
            action: question(step),
        };
        let ask = || approvals::ask_human(&self.state, &plan.head, &action, &caller.who(), self);
        let asked = ask()?;
        if asked.status != Status::Approved {
            return Ok(());
        }
        if step.secrets().next().is_some() {
            // Whoever was to keep what it held of secrets came to an end before that was done.
            self.state
                .write(|change| approvals::use_up(change, asked, &caller.who()))?;
            return ask().map(drop);
        }
        let brought = brought_by(step, asked)?;
        self.called(caller, plan, step, brought)
    }

    /// An operator who has the credentials already sets them: then nobody needs to ask the service for others.
    fn is_set_by_hand(&self, plan: &Plan, step: &Step) -> Result<bool, Failure> {
        let brings_secrets_only = !step.store.is_empty()
            && step
                .store
                .iter()
                .all(|store| matches!(store.to, Kept::Secret(_)));
        if !brings_secrets_only {
            return Ok(false);
        }
        let now = self.state.now();
        let skill = &plan.head.folded;
        let states = self
            .state
            .read(|database| self.secret_states(database, skill, now))?;
        Ok(step
            .secrets()
            .all(|(_, name)| states.get(name) == Some(&SecretState::Set)))
    }

    /// A condition without an operation: everything that it looks at is there.
    fn look(
        &self,
        caller: &Caller,
        plan: &Plan,
        step: &Step,
        user_input: Option<&Value>,
    ) -> Result<(), Failure> {
        let params = self.params(caller, plan, step, user_input)?;
        let unmet = params
            .as_object()
            .into_iter()
            .flatten()
            .find(|(_, value)| matches!(value, Value::Null | Value::Bool(false)));
        if let Some((name, _)) = unmet {
            let path = format!("{}.params.{name}", place(plan, step));
            return Err(
                Failure::new(Code::MissingInput, "the condition is not met yet").at_path(path),
            );
        }
        self.called(caller, plan, step, Brought::default())
    }

    fn call_step(
        &self,
        caller: &Caller,
        plan: &Plan,
        step: &Step,
        operation: &str,
        user_input: Option<&Value>,
    ) -> Result<Value, Failure> {
        let params = self.params(caller, plan, step, user_input)?;
        self.hides_secrets(plan, step, operation)?;
        let output = self.succeed(caller, plan, operation, params)?;
        let answer = output.get("json").unwrap_or(&Value::Null);
        let brought = brought_with(step, answer)?;
        self.called(caller, plan, step, brought)?;
        Ok(output)
    }

    /// Whether the operation is registered as one that returns what the step keeps as a secret. One that was registered
    /// before onboarding was gone through is not.
    fn hides_secrets(&self, plan: &Plan, step: &Step, operation: &str) -> Result<(), Failure> {
        let skill = &plan.head.skill.id;
        let found = self
            .state
            .read(|database| registry::find(database, skill, operation))?;
        let names = &found.operation.secret_names;
        let mut secrets = step.secrets();
        if secrets.all(|(path, name)| {
            names
                .get(&path.pointer())
                .is_some_and(|known| known == name)
        }) {
            return Ok(());
        }
        Err(Failure::new(
            Code::Schema,
            format!("{operation} is not known to return a secret"),
        )
        .with_hint("load the skill again"))
    }

    /// The output of a call that did what it should.
    fn succeed(
        &self,
        caller: &Caller,
        plan: &Plan,
        operation: &str,
        mut params: Value,
    ) -> Result<Value, Failure> {
        let skill = &plan.head.skill.id;
        let found = self.state.read(|database| {
            let found = registry::find(database, skill, operation)?;
            registry::still_registered(database, &plan.head).map(|()| found)
        });
        if let Ok(found) = &found {
            fit(&mut params, &found.operation.input_schema);
        }
        let name = format!("{skill}.{operation}");
        let mut result = self.execute_found(caller, &name, found, params.into())?;
        let output = result
            .get_mut("output")
            .map(Value::take)
            .unwrap_or_default();
        if result.get("http-error") == Some(&json!(true)) {
            let status = output.get("status").cloned().unwrap_or_default();
            return Err(Failure::new(
                Code::FetchFailed,
                format!("{operation}: the service answered {status}"),
            ));
        }
        if result.get("status") != Some(&json!("ok")) {
            return Err(Failure::new(
                Code::ToolUnavailable,
                format!("{operation}: the program did not succeed"),
            ));
        }
        Ok(output)
    }

    /// Returns the params of a step's call, with what the host fills in for `{{memory:K}}`, `{{user_input}}` and `{{run_id}}`.
    fn params(
        &self,
        caller: &Caller,
        plan: &Plan,
        step: &Step,
        user_input: Option<&Value>,
    ) -> Result<Value, Failure> {
        let Some(params) = &step.params else {
            let given = user_input.filter(|input| input.is_object());
            return Ok(given.cloned().unwrap_or_else(|| json!({})));
        };
        let run = caller.run();
        let memory = |key: &str| {
            self.state
                .read(|database| memory::get(database, &plan.head.folded, key))
        };
        let given = Given::new(&memory, user_input, &run);
        given.fill(params, &format!("{}.params", place(plan, step)))
    }

    pub(super) fn called(
        &self,
        caller: &Caller,
        plan: &Plan,
        step: &Step,
        brought: Brought,
    ) -> Result<(), Failure> {
        let who = caller.who();
        self.state
            .write(|change| onboarding::called_step(change, plan, step, brought, &who))
    }
}

fn waits(head: &SkillHead, state: &str) -> Failure {
    Failure::new(
        Code::OnboardingRequired,
        format!(
            "the onboarding of {} is {state}, and its operations wait for that",
            head.skill.id
        ),
    )
    .with_hint(format!(
        "`hydrant skill onboard {}` (ccos.skill.onboard) goes on with it, and says what it waits for",
        head.skill.id
    ))
}

pub(super) fn brought_by(step: &Step, asked: Approval) -> Result<Brought, Failure> {
    let mut brought = brought_with(step, asked.response.as_ref().unwrap_or(&Value::Null))?;
    brought.approval = Some(asked);
    Ok(brought)
}

/// What is kept of an answer, from which the secrets were taken already.
pub(super) fn brought_with(step: &Step, answer: &Value) -> Result<Brought, Failure> {
    let mut brought = Brought::default();
    for store in &step.store {
        let value = store.from.get(answer);
        match &store.to {
            Kept::Memory(key) => {
                let value = value.ok_or_else(|| lacks(&store.from, "answer"))?;
                memory::fits(value)?;
                brought.memory.push((key.clone(), value.clone()));
            }
            Kept::Secret(name) => {
                if value != Some(&reference(name)) {
                    return Err(lacks(&store.from, "answer"));
                }
            }
        }
    }
    Ok(brought)
}

pub(super) fn lacks(path: &Path, what: &str) -> Failure {
    let pointer = path.pointer();
    let failure = Failure::new(
        Code::InvalidInput,
        format!("the {what} has nothing at {pointer:?} that could be kept"),
    );
    if pointer.is_empty() {
        failure
    } else {
        failure.at_path(pointer.trim_start_matches('/').replace('/', "."))
    }
}

/// Where a step stands in the document.
fn place(plan: &Plan, step: &Step) -> String {
    let mut steps = plan.onboarding.steps.iter();
    let index = steps.position(|other| other.id == step.id).unwrap_or(0);
    format!("onboarding.steps[{index}]")
}

fn shown(plan: &Plan, progress: &Progress, mut tried: BTreeMap<String, Tried>) -> Value {
    let steps: Vec<Value> = progress
        .steps
        .iter()
        .map(|step| {
            let mut shown = json!(step);
            let (name, value) = match tried.remove(&step.id) {
                Some(Ok(Some(output))) => ("output", output),
                Some(Err(failure)) => ("error", json!(failure)),
                Some(Ok(None)) | None => return shown,
            };
            if let Value::Object(shown) = &mut shown {
                shown.insert(name.to_owned(), value);
            }
            shown
        })
        .collect();
    let mut members = Map::new();
    members.insert("skill-id".to_owned(), json!(plan.head.skill.id));
    members.insert("state".to_owned(), json!(progress.state));
    members.insert("required".to_owned(), json!(progress.required));
    members.insert("steps".to_owned(), json!(steps));
    let hint = match progress.state {
        OnboardingState::PendingHumanAction => {
            Some("an operator answers with `hydrant approvals approve ID --response JSON`")
        }
        OnboardingState::PendingSecretApproval => {
            Some("an operator decides about the secrets: `hydrant approvals list --status pending`")
        }
        OnboardingState::NeedsSetup | OnboardingState::Operational => None,
    };
    if let Some(hint) = hint {
        members.insert("hint".to_owned(), json!(hint));
    }
    Value::Object(members)
}
