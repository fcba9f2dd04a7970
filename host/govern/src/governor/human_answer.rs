//! The answer of a person to a step of an onboarding. Its secrets are taken out before anything of it is kept.

use std::time::Duration;

use secrecy::{ExposeSecret as _, SecretString};
use serde_json::Value;

use super::onboard::{OnboardingRun, lacks, result_of_answer, result_of_approval};
use super::{Caller, Governor};
use crate::execute::reference;
use crate::failure::{Code, Failure};
use crate::onboarding::Step;
use crate::registry::approvals::{self, Answer, Approval, Kind};
use crate::registry::fold;
use crate::registry::onboarding::{self, Plan, question};
use crate::secrets;
use crate::state::Lock;

/// How long an answer waits for a step, which makes at most two calls of a minute each by default.
const LOCK_PATIENCE: Duration = Duration::from_secs(130);

/// An operator's answer to a human action, with its secrets taken out.
pub(super) struct HumanAnswer {
    pub(super) answer: Answer,
    /// The step that it answers; none where there is no such step any more, and the answer comes too late.
    step: Option<(Plan, Step)>,
    /// By name.
    secrets: Vec<(String, SecretString)>,
    _lock: Lock,
}

impl Governor {
    /// Takes the secrets out of an answer and checks that all of it can be kept.
    pub(super) fn answered(&self, id: &str, given: Value) -> Result<HumanAnswer, Failure> {
        let asked = self.state.read(|database| approvals::by_id(database, id))?;
        let Some((skill, step)) = step_of(&asked) else {
            return Err(Failure::new(
                Code::InvalidRequest,
                "only a human action takes a response",
            ));
        };
        let lock = self.state.onboarding(&fold(skill), LOCK_PATIENCE)?;
        let plan = self
            .state
            .read(|database| onboarding::plan(database, skill));
        let plan = match plan {
            Ok(plan) => {
                plan.filter(|plan| asked.subject.source.as_ref() == Some(&plan.head.source))
            }
            Err(failure) if matches!(failure.code, Code::UnknownSkill | Code::Schema) => None,
            Err(failure) => return Err(failure),
        };
        let answered_step = plan.and_then(|plan| {
            let step = plan.onboarding.step(step)?.clone();
            Some((plan, step))
        });
        let mut kept = given.clone();
        let mut secrets = Vec::new();
        if answered_step.is_none() {
            // It comes too late, and which parts of it are secrets is not known.
            kept = Value::Null;
        }
        if let Some((_, step)) = &answered_step {
            // The schema comes first: its message says what does not fit.
            approvals::fits_question(&asked, &given)?;
            secrets = take_secrets(step, &mut kept)?;
            if !secrets.is_empty() {
                // Before the answer is taken: a person should not have to look for the secrets again.
                self.secrets.has_room(&fold(skill))?;
            }
            result_of_answer(step, &kept)?;
        }
        Ok(HumanAnswer {
            answer: Answer {
                given,
                kept,
                question: answered_step.as_ref().map(|(_, step)| question(step)),
            },
            step: answered_step,
            secrets,
            _lock: lock,
        })
    }

    /// Stages the secrets of an answer that was approved. The step is done then, but for the call that verifies it.
    pub(super) fn human_done(
        &self,
        caller: &Caller,
        approval: &Approval,
        answered: HumanAnswer,
    ) -> Result<(), Failure> {
        let Some((plan, step)) = answered.step else {
            return Ok(());
        };
        let mut staged = Ok(());
        for (name, value) in answered.secrets {
            staged = staged.and(self.stage_secret(caller, &plan.head, &name, value));
        }
        if let Err(failure) = staged {
            // The answer is not whole: the onboarding asks again when it goes on.
            return Err(failure.with_hint("`hydrant skill onboard` asks for it again"));
        }
        let result = result_of_approval(&step, approval.clone())?;
        OnboardingRun::new(self, caller, &plan, None).called(&step, result)
    }
}

/// Takes the secrets of a step out of an answer, with references in their places.
fn take_secrets(step: &Step, answer: &mut Value) -> Result<Vec<(String, SecretString)>, Failure> {
    let mut secrets = Vec::new();
    for (path, name) in step.secrets() {
        let value = path
            .get_mut(answer)
            .ok_or_else(|| lacks(path, "response"))?;
        let text = match value.take() {
            Value::String(text) => text,
            number @ Value::Number(_) => number.to_string(),
            _ => return Err(lacks(path, "response")),
        };
        let text = SecretString::from(text);
        secrets::fits(name, &text)?;
        secrets.push((name.to_owned(), text));
    }
    if secrets
        .iter()
        .any(|(_, value)| holds(answer, value.expose_secret()))
    {
        return Err(Failure::new(
            Code::InvalidInput,
            "a secret stands in the response a second time, where it would be shown",
        ));
    }
    for (path, name) in step.secrets() {
        if let Some(value) = path.get_mut(answer) {
            *value = reference(name);
        }
    }
    Ok(secrets)
}

/// Whether a text or a name in `value` contains the secret; for a short secret, whether it equals it.
fn holds(value: &Value, secret: &str) -> bool {
    let is_it = |text: &str| match secret.len() {
        0..6 => text == secret,
        _ => text.contains(secret),
    };
    match value {
        Value::String(text) => is_it(text),
        Value::Number(number) => is_it(&number.to_string()),
        Value::Array(items) => items.iter().any(|item| holds(item, secret)),
        Value::Object(members) => members
            .iter()
            .any(|(name, member)| is_it(name) || holds(member, secret)),
        Value::Null | Value::Bool(_) => false,
    }
}

/// Returns the skill and the step that a human action is about.
fn step_of(asked: &Approval) -> Option<(&str, &str)> {
    let subject = &asked.subject;
    let step = subject.reasons.first()?.strip_prefix("human-action:")?;
    (asked.kind == Kind::HumanAction).then_some((subject.skill_id.as_deref()?, step))
}
