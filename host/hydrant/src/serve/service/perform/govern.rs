//! Governed execution: foreign skills, what they may do, and who decides that.

use serde_json::Value;

use super::caller;
use crate::govern::failure::Failure;
use crate::govern::governor::{Approve, Governor, LoadRequest};
use crate::govern::registry::approvals::Scope;
use crate::serve::service::{
    Answer, ApproveOptions, Event, Identity, LoadOptions, Operation, Problem,
};

pub(super) fn perform(who: &Identity, operation: Operation) -> Result<Answer, Problem> {
    let governor = who.tenant.governor()?;
    let caller = caller(who)?;
    let value = match operation {
        Operation::SkillLoad(options) => load(who, governor, options)?,
        Operation::SkillUnload {
            skill,
            keep_approvals,
        } => {
            let unloaded = governor.unload(&caller, &skill, keep_approvals)?;
            tell(who, [Event::Capabilities { skill }, Event::Chain]);
            unloaded
        }
        Operation::SkillList => governor.list(&caller, None)?,
        Operation::SkillShow { skill } => governor.show(&caller, &skill)?,
        Operation::SkillExecute {
            skill,
            operation,
            params,
        } => {
            let executed = governor.execute(&caller, &skill, &operation, params);
            let pending = executed.as_ref().err().and_then(|failure| {
                let id = failure.approval_id.as_ref()?;
                Some(Event::ApprovalPending { id: id.to_string() })
            });
            tell(who, pending.into_iter().chain([Event::Chain]));
            executed?
        }
        Operation::SkillOnboard { skill, user_input } => {
            let told = governor.onboard(&caller, &skill, user_input.as_ref())?;
            let steps = told.get("steps").and_then(Value::as_array);
            // What a person has to do, and what a step's operation waits for.
            let asked = |step: &Value| {
                let own = step
                    .get("approval-id")
                    .filter(|_| step.get("status").is_some_and(|status| status == "pending"));
                let id = own.or_else(|| step.pointer("/error/approval-id"))?;
                Some(Event::ApprovalPending {
                    id: id.as_str()?.to_owned(),
                })
            };
            let pending = steps.into_iter().flatten().filter_map(asked);
            tell(who, pending.chain([Event::Chain]));
            told
        }
        Operation::Map { command } => governor.map(&command)?,
        Operation::Approvals { status } => governor.approvals(status.as_deref())?,
        Operation::Approval { id } => governor.approval(&id)?,
        Operation::Approve { id, options } => {
            let approve = approve(options)?;
            let decided = governor.approve(&caller, &id, approve);
            settled(who, id, decided)?
        }
        Operation::Deny { id, reason } => {
            let decided = governor.deny(&caller, &id, reason.as_deref());
            settled(who, id, decided)?
        }
        Operation::Revoke { id, reason } => {
            let decided = governor.revoke(&caller, &id, reason.as_deref());
            settled(who, id, decided)?
        }
        other => {
            return Err(Problem::internal(&format!(
                "{} is not governed",
                other.name()
            )));
        }
    };
    Ok(Answer::json(&value))
}

fn load(who: &Identity, governor: &Governor, options: LoadOptions) -> Result<Value, Problem> {
    let (source, text) = match (options.source, options.text) {
        (Some(source), None) => (source, None),
        (None, Some(text)) => (String::new(), Some(text)),
        _ => return Err(Problem::invalid("either `source` or `text` is needed")),
    };
    let request = LoadRequest {
        source,
        text,
        force: options.force,
        base_url: options.base_url,
        constants: options.constants,
        as_id: options.id,
        expect_digest: options.expect_digest,
        ..LoadRequest::default()
    };
    let loaded = governor.load(&caller(who)?, &request);
    match &loaded {
        Ok(shown) => {
            let skill = shown.get("skill-id").and_then(Value::as_str);
            let skill = skill.unwrap_or_default().to_owned();
            tell(who, [Event::Capabilities { skill }, Event::Chain]);
        }
        Err(failure) => {
            if let Some(id) = &failure.approval_id {
                tell(
                    who,
                    [Event::ApprovalPending { id: id.to_string() }, Event::Chain],
                );
            }
        }
    }
    Ok(loaded?)
}

fn approve(options: ApproveOptions) -> Result<Approve, Problem> {
    let scope =
        match options.scope.as_deref() {
            None => None,
            Some(text) => Some(Scope::parse(text).ok_or_else(|| {
                Problem::invalid("scope: it must be once, session or until-changed")
            })?),
        };
    let ttl = match options.ttl.as_deref() {
        None => None,
        Some(text) => Some(
            humantime::parse_duration(text)
                .map_err(|error| Problem::invalid(format!("ttl: {error}")))?,
        ),
    };
    Ok(Approve {
        scope,
        ttl,
        reason: options.reason,
        response: options.response,
    })
}

/// What a decision answers; whoever watches hears of it.
fn settled(who: &Identity, id: String, decided: Result<Value, Failure>) -> Result<Value, Problem> {
    let approval = decided?;
    let status = approval.get("status").and_then(Value::as_str);
    let status = status.unwrap_or_default().to_owned();
    tell(who, [Event::ApprovalDecided { id, status }, Event::Chain]);
    Ok(approval)
}

/// Nobody need watch.
fn tell(who: &Identity, events: impl IntoIterator<Item = Event>) {
    for event in events {
        let _ = who.tenant.events.send(event);
    }
}
