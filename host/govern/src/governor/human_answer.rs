//! What a person answers to a step of an onboarding: its secrets are taken out before anything is kept of it.

use std::time::Duration;

use secrecy::{ExposeSecret as _, SecretString};
use serde_json::Value;

use super::onboard::{brought_by, brought_with, lacks};
use super::{Caller, Governor};
use crate::execute::reference;
use crate::failure::{Code, Failure};
use crate::onboarding::Step;
use crate::registry::approvals::{self, Answer, Approval, Kind};
use crate::registry::fold;
use crate::registry::onboarding::{self, Plan, question};
use crate::secrets;
use crate::state::Lock;

/// How long an answer waits for a step: that has two calls at most, of a minute each if nobody set another limit.
const PATIENT: Duration = Duration::from_secs(130);

/// An operator's answer to a human action, taken apart.
pub(super) struct Answered {
    pub(super) answer: Answer,
    /// Whose step it is; none where there is no such step any more, and the answer comes too late.
    of: Option<(Plan, Step)>,
    /// By name.
    secrets: Vec<(String, SecretString)>,
    _alone: Lock,
}

impl Governor {
    /// Takes the secrets out of an answer before anything is kept of it, and looks whether all of it can be kept.
    pub(super) fn answered(&self, id: &str, given: Value) -> Result<Answered, Failure> {
        let asked = self.state.read(|database| approvals::by_id(database, id))?;
        let Some((skill, step)) = step_of(&asked) else {
            return Err(Failure::new(
                Code::InvalidRequest,
                "only a human action takes a response",
            ));
        };
        let alone = self.state.onboarding(&fold(skill), PATIENT)?;
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
        let of = plan.and_then(|plan| {
            let step = plan.onboarding.step(step)?.clone();
            Some((plan, step))
        });
        let mut kept = given.clone();
        let mut secrets = Vec::new();
        if of.is_none() {
            // Comes too late; what of it is a secret nobody knows.
            kept = Value::Null;
        }
        if let Some((_, step)) = &of {
            // What does not fit is said by its schema first.
            approvals::fits_question(&asked, &given)?;
            secrets = taken_out(step, &mut kept)?;
            if !secrets.is_empty() {
                // A person should not have to look for them again.
                self.secrets.has_room(&fold(skill))?;
            }
            brought_with(step, &kept)?;
        }
        Ok(Answered {
            answer: Answer {
                given,
                kept,
                question: of.as_ref().map(|(_, step)| question(step)),
            },
            of,
            secrets,
            _alone: alone,
        })
    }

    /// An operator answered: what the answer held of secrets is staged, and the step is done but for what verifies it.
    pub(super) fn human_done(
        &self,
        caller: &Caller,
        approval: &Approval,
        answered: Answered,
    ) -> Result<(), Failure> {
        let Some((plan, step)) = answered.of else {
            return Ok(());
        };
        let mut staged = Ok(());
        for (name, value) in answered.secrets {
            staged = staged.and(self.stage_secret(caller, &plan.head, &name, value));
        }
        if let Err(failure) = staged {
            // The answer is not whole: whoever goes on with the onboarding asks again.
            return Err(failure.with_hint("`hydrant skill onboard` asks for it again"));
        }
        self.called(caller, &plan, &step, brought_by(&step, approval.clone())?)
    }
}

/// Takes the secrets of a step out of an answer.
fn taken_out(step: &Step, answer: &mut Value) -> Result<Vec<(String, SecretString)>, Failure> {
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

/// Whether a text or a name within it holds this; of short ones, whether it is this.
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

/// The skill and the step that a human action is about.
fn step_of(asked: &Approval) -> Option<(&str, &str)> {
    let subject = &asked.subject;
    let step = subject.reasons.first()?.strip_prefix("human-action:")?;
    (asked.kind == Kind::HumanAction).then_some((subject.skill_id.as_deref()?, step))
}
