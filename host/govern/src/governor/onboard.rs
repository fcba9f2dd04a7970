//! Onboarding: does the steps that a document wants done first, as far as that is possible now.
//!
//! A step has no rights of its own: its operation is called as any caller calls it, with its approval, secrets, budget and
//! record. A call that was made before a crash, and not written down as done, is made again.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use hydrant_jail::Cancellation;
use serde_json::{Value, json};

use super::{Caller, Governor};
use crate::execute::reference;
use crate::failure::{Code, Failure};
use crate::onboarding::{Given, Onboarding, Path, Step, StepKind, Store, StoreTarget, fit};
use crate::registry::approvals::{self, Approval, Status};
use crate::registry::onboarding::{
    self, OnboardingState, Plan, Progress, StepResult, StepStatus, question,
};
use crate::registry::{self, Registered, SkillHead, View, fold, memory};
use crate::secrets::SecretState;

/// The outcome of trying a step: the output of its operation, or why it is not done.
type Attempt = Result<Option<Value>, Failure>;

/// How long one call begins further steps; what is left is for the next call.
const LONGEST_CALL: Duration = Duration::from_secs(60);

/// How long one call waits for a step of another.
const LOCK_PATIENCE: Duration = Duration::from_secs(5);

/// The pause between two steps, longer than a waiting call sleeps between two tries to get the lock.
const PAUSE: Duration = Duration::from_millis(30);

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
        let run = OnboardingRun::new(self, caller, &plan, user_input);
        let mut tried: BTreeMap<String, Attempt> = BTreeMap::new();
        loop {
            // The lock is taken for each step, so that an operator's answer waits for one step at most.
            let lock = match self.state.onboarding(&fold(skill), LOCK_PATIENCE) {
                Ok(lock) => lock,
                // Another call goes on; this one tells what it has done.
                Err(failure) if failure.code == Code::Limit && !tried.is_empty() => {
                    return Ok(shown(&plan, &run.progress()?, tried));
                }
                Err(failure) => return Err(failure),
            };
            if keeps_secrets {
                // If the store cannot be read, steps would be done again for secrets that are there.
                self.secrets.owned()?;
            }
            let progress = run.progress()?;
            let is_over = begun.elapsed() >= LONGEST_CALL || Cancellation::current().is_cancelled();
            let next = progress
                .steps
                .iter()
                .filter(|_| !is_over)
                .find(|step| step.status == StepStatus::Ready && !tried.contains_key(&step.id));
            let Some(step) = next.and_then(|next| plan.onboarding.step(&next.id)) else {
                return Ok(shown(&plan, &progress, tried));
            };
            let outcome = run.attempt(step);
            if let Err(failure) = &outcome {
                let who = caller.who();
                self.state.write(|change| {
                    onboarding::failed_step(change, &plan, step, failure, &who);
                    Ok(())
                })?;
            }
            tried.insert(step.id.clone(), outcome);
            drop(lock);
            std::thread::sleep(PAUSE);
        }
    }

    /// Refuses an operation that has to wait for the onboarding of its skill.
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
        let state = self.look(|database, now| {
            let plan = onboarding::plan_of(database, head)?;
            plan.map(|plan| plan.progress(View::new(database, None, self, now)))
                .transpose()
        })?;
        let state = state.map(|progress| progress.state);
        if state == Some(OnboardingState::Operational) {
            return Ok(());
        }
        let state = json!(state);
        Err(waits(head, state.as_str().unwrap_or("not there")))
    }
}

/// What goes on with the steps of one onboarding.
pub(super) struct OnboardingRun<'a> {
    governor: &'a Governor,
    caller: &'a Caller,
    plan: &'a Plan,
    user_input: Option<&'a Value>,
}

impl<'a> OnboardingRun<'a> {
    pub(super) fn new(
        governor: &'a Governor,
        caller: &'a Caller,
        plan: &'a Plan,
        user_input: Option<&'a Value>,
    ) -> Self {
        Self {
            governor,
            caller,
            plan,
            user_input,
        }
    }

    fn progress(&self) -> Result<Progress, Failure> {
        let governor = self.governor;
        governor.look(|database, now| self.plan.progress(View::new(database, None, governor, now)))
    }

    fn is_called(&self, step: &Step) -> Result<bool, Failure> {
        let governor = self.governor;
        governor.look(|database, now| {
            let view = View::new(database, None, governor, now);
            self.plan.is_called(view, step)
        })
    }

    /// Does as much of a step as is possible now: its call or its question, then the call that verifies it.
    fn attempt(&self, step: &Step) -> Attempt {
        let mut output = None;
        if !self.is_called(step)? {
            output = self.call_or_ask(step)?;
        }
        if let Some(verify) = &step.verify
            && self.is_called(step)?
        {
            self.succeed(verify, json!({}))?;
            let who = self.caller.who();
            self.governor
                .state
                .write(|change| onboarding::verified_step(change, self.plan, step, &who))?;
        }
        Ok(output)
    }

    fn call_or_ask(&self, step: &Step) -> Attempt {
        match (step.kind, &step.operation) {
            (StepKind::HumanAction, _) => self.ask_person(step).map(|()| None),
            (StepKind::ApiCall, _) if self.is_set_by_hand(step)? => {
                self.called(step, StepResult::default()).map(|()| None)
            }
            (_, Some(operation)) => self.call_step(step, operation).map(Some),
            (_, None) => self.check_condition(step).map(|()| None),
        }
    }

    /// Asks a person, or takes the answer that is there.
    fn ask_person(&self, step: &Step) -> Result<(), Failure> {
        let action = question(step);
        let state = &self.governor.state;
        let who = self.caller.who();
        let (head, around) = (&self.plan.head, self.governor);
        let ask = || approvals::ask_human(state, head, &step.id, &action, &who, around);
        let asked = ask()?;
        if asked.status != Status::Approved {
            return Ok(());
        }
        if step.secrets().next().is_some() {
            // The process that was to keep the secrets of the answer ended before it did.
            state.write(|change| approvals::use_up(change, asked, &who))?;
            return ask().map(drop);
        }
        self.called(step, result_of_approval(step, asked)?)
    }

    /// Whether an operator has set the credentials that the step would ask the service for.
    fn is_set_by_hand(&self, step: &Step) -> Result<bool, Failure> {
        let stores = &step.store;
        let is_secret = |store: &Store| matches!(store.to, StoreTarget::Secret(_));
        if stores.is_empty() || !stores.iter().all(is_secret) {
            return Ok(false);
        }
        let governor = self.governor;
        let states = governor
            .look(|database, now| governor.secret_states(database, &self.plan.head.folded, now))?;
        Ok(step
            .secrets()
            .all(|(_, name)| states.get(name) == Some(&SecretState::Set)))
    }

    /// A condition without an operation is met when everything that it looks at is there.
    fn check_condition(&self, step: &Step) -> Result<(), Failure> {
        let params = self.params(step)?;
        let unmet = params
            .as_object()
            .into_iter()
            .flatten()
            .find(|(_, value)| matches!(value, Value::Null | Value::Bool(false)));
        if let Some((name, _)) = unmet {
            let path = format!("{}.params.{name}", place(self.plan, step));
            return Err(
                Failure::new(Code::MissingInput, "the condition is not met yet").at_path(path),
            );
        }
        self.called(step, StepResult::default())
    }

    fn call_step(&self, step: &Step, operation: &str) -> Result<Value, Failure> {
        let params = self.params(step)?;
        self.check_returned_secrets(step, operation)?;
        let output = self.succeed(operation, params)?;
        let answer = output.get("json").unwrap_or(&Value::Null);
        self.called(step, result_of_answer(step, answer)?)?;
        Ok(output)
    }

    /// Refuses an operation that is not registered as one that returns what the step keeps as a secret. One that was
    /// registered before onboarding was supported is not.
    fn check_returned_secrets(&self, step: &Step, operation: &str) -> Result<(), Failure> {
        let skill = &self.plan.head.skill.id;
        let found = self
            .governor
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

    /// Returns the output of a call that has to succeed.
    fn succeed(&self, operation: &str, mut params: Value) -> Result<Value, Failure> {
        let head = &self.plan.head;
        let found = self.governor.state.read(|database| {
            let found = registry::find(database, &head.skill.id, operation)?;
            registry::still_registered(database, head).map(|()| found)
        });
        if let Ok(found) = &found {
            fit(&mut params, &found.operation.input_schema);
        }
        let name = format!("{}.{operation}", head.skill.id);
        let mut result = self
            .governor
            .execute_found(self.caller, &name, found, params.into())?;
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
    fn params(&self, step: &Step) -> Result<Value, Failure> {
        let Some(params) = &step.params else {
            let given = self.user_input.filter(|input| input.is_object());
            return Ok(given.cloned().unwrap_or_else(|| json!({})));
        };
        let run = self.caller.run();
        let memory = |key: &str| {
            self.governor
                .state
                .read(|database| memory::get(database, &self.plan.head.folded, key))
        };
        let given = Given::new(&memory, self.user_input, &run);
        given.fill(params, &format!("{}.params", place(self.plan, step)))
    }

    /// Writes down that a step was called or answered, and what that result.
    pub(super) fn called(&self, step: &Step, result: StepResult) -> Result<(), Failure> {
        let who = self.caller.who();
        self.governor
            .state
            .write(|change| onboarding::called_step(change, self.plan, step, result, &who))
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

pub(super) fn result_of_approval(step: &Step, asked: Approval) -> Result<StepResult, Failure> {
    let mut result = result_of_answer(step, asked.response.as_ref().unwrap_or(&Value::Null))?;
    result.approval = Some(asked);
    Ok(result)
}

/// Returns what is kept of an answer, from which the secrets were taken already.
pub(super) fn result_of_answer(step: &Step, answer: &Value) -> Result<StepResult, Failure> {
    let mut result = StepResult::default();
    for store in &step.store {
        let value = store.from.get(answer);
        match &store.to {
            StoreTarget::Memory(key) => {
                let value = value.ok_or_else(|| lacks(&store.from, "answer"))?;
                memory::fits(value)?;
                result.memory.push((key.clone(), value.clone()));
            }
            StoreTarget::Secret(name) => {
                if value != Some(&reference(name)) {
                    return Err(lacks(&store.from, "answer"));
                }
            }
        }
    }
    Ok(result)
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

/// Returns the path of a step in the document.
fn place(plan: &Plan, step: &Step) -> String {
    let mut steps = plan.onboarding.steps.iter();
    let index = steps.position(|other| other.id == step.id).unwrap_or(0);
    format!("onboarding.steps[{index}]")
}

fn shown(plan: &Plan, progress: &Progress, mut tried: BTreeMap<String, Attempt>) -> Value {
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
    let mut shown = json!({
        "skill-id": plan.head.skill.id,
        "state": progress.state,
        "required": progress.required,
        "steps": steps,
    });
    let hint = match progress.state {
        OnboardingState::PendingHumanAction => {
            Some("an operator answers with `hydrant approvals approve ID --response JSON`")
        }
        OnboardingState::PendingSecretApproval => {
            Some("an operator decides about the secrets: `hydrant approvals list --status pending`")
        }
        OnboardingState::NeedsSetup | OnboardingState::Operational => None,
    };
    if let (Some(hint), Value::Object(members)) = (hint, &mut shown) {
        members.insert("hint".to_owned(), hint.into());
    }
    shown
}
