//! Entries of the chain about capabilities and approvals.

use super::Who;
use super::approvals::Approval;
use super::find::{Registered, SkillHead};
use crate::chain::{Entry, Event};

/// An entry with who caused it.
pub(crate) fn by(event: Event, who: &Who) -> Entry {
    let mut entry = Entry::new(event);
    entry.client = who.client;
    entry.session.clone_from(&who.session);
    entry.run.clone_from(&who.run);
    entry
}

/// About a skill.
pub(crate) fn of_skill(event: Event, who: &Who, skill: &SkillHead) -> Entry {
    let mut entry = by(event, who);
    entry.capability = Some(skill.skill.id.clone());
    entry.derived_from = Some(skill.source.clone());
    entry.skill_digest = Some(skill.digest.clone());
    entry
}

/// About an operation.
pub(crate) fn of_operation(event: Event, who: &Who, found: &Registered) -> Entry {
    let mut entry = by(event, who);
    entry.capability = Some(found.capability.clone());
    entry.operation = Some(found.operation.id.clone());
    entry.derived_from = Some(found.skill.source.clone());
    entry.line = Some(found.operation.line);
    entry.skill_digest = Some(found.skill.digest.clone());
    entry.op_digest = Some(found.operation.digest.clone());
    entry.policy_digest = Some(found.policy_digest.clone());
    entry.delegated_to = found.delegates();
    entry
}

/// About a request or a grant.
pub(crate) fn of_approval(event: Event, who: &Who, approval: &Approval) -> Entry {
    let subject = &approval.subject;
    let mut entry = by(event, who);
    entry.capability.clone_from(&subject.capability);
    entry.operation.clone_from(&subject.operation);
    entry.derived_from.clone_from(&subject.source);
    entry.line = subject.line;
    entry.skill_digest.clone_from(&subject.skill_digest);
    entry.op_digest.clone_from(&subject.op_digest);
    entry.policy_digest.clone_from(&subject.policy_digest);
    entry.delegated_to.clone_from(&subject.delegates);
    entry.approval = Some(approval.id.clone());
    entry.subject = approval.about();
    entry
}
