//! What operators do, and what every caller may look at.

use std::ops::ControlFlow;
use std::path::Path;
use std::time::Duration;

use secrecy::{ExposeSecret, SecretString};
use serde_json::{Value, json};

use super::{Caller, Governor};
use crate::chain::{self, Filter, Stop};
use crate::config::HostPort;
use crate::failure::{Code, Failure};
use crate::locked;
use crate::redact::SHORTEST;
use crate::registry::approvals::{self, Approval, Kind, Scope, Status, Verdict};
use crate::registry::bindings;
use crate::registry::{self, SkillHead};
use crate::secrets::Place;
use crate::state::glance;
use crate::time::Time;

/// How a request is granted.
#[derive(Clone, Default)]
pub struct Approve {
    /// None: as the document says; Tier 3 needs it said.
    pub scope: Option<Scope>,
    /// Limits any scope.
    pub ttl: Option<Duration>,
    /// For the record.
    pub reason: Option<String>,
    /// The answer to a human action. May hold secrets.
    pub response: Option<Value>,
}

impl std::fmt::Debug for Approve {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Approve")
            .field("scope", &self.scope)
            .field("ttl", &self.ttl)
            .field("reason", &self.reason)
            .finish_non_exhaustive()
    }
}

/// A binding.
#[derive(Debug, Clone, Copy)]
pub struct Bind<'a> {
    /// The stored name.
    pub name: &'a str,
    /// The skill that may use it.
    pub skill: &'a str,
    /// `host` or `host:port`; 443 without a port.
    pub host: &'a str,
    /// The name that the skill calls it by.
    pub expected: Option<&'a str>,
}

/// Which records are shown.
#[derive(Debug, Clone, Copy, Default)]
pub struct Shown<'a> {
    /// After this `seq`.
    pub since: Option<u64>,
    /// Of this capability or skill, and what led to them.
    pub capability: Option<&'a str>,
    /// At most this many, the first ones; none: all. Only these are held in memory.
    pub most: Option<usize>,
}

/// Verifies the chain of a state directory from its files. It needs no governor, because a damaged chain opens none.
///
/// # Errors
///
/// `invalid-request` for an anchor that is none; `audit-unavailable` where the files cannot be read. A damaged chain is an
/// answer with `ok` false.
pub fn verify(state: &Path, anchor: Option<&str>) -> Result<Value, Failure> {
    verify_until(state, anchor, &|| false)
}

/// As [`verify`], for a caller that may stop waiting.
///
/// # Errors
///
/// As [`verify`], and `timeout` once `stop` says so.
pub fn verify_until(state: &Path, anchor: Option<&str>, stop: Stop<'_>) -> Result<Value, Failure> {
    let anchor = anchor.map(str::parse).transpose()?;
    chain::verify(state, anchor.as_ref(), stop).map(|report| json!(report))
}

/// Returns the requests and grants of a state directory, for a prompt that completes their ids; none where there is no state
/// yet. It changes nothing and waits for no writer.
///
/// # Errors
///
/// `store-unavailable`, `approval-store`.
pub fn glance_at_approvals(state: &Path) -> Result<Vec<Approval>, Failure> {
    let found = glance(state, |database| {
        approvals::list(database, None, Time::now())
    })?;
    Ok(found.unwrap_or_default())
}

impl Governor {
    /// `hydrant skill list`.
    ///
    /// # Errors
    ///
    /// `store-unavailable`.
    pub fn list(&self, caller: &Caller, since: Option<u64>) -> Result<Value, Failure> {
        let session = Some(caller.session());
        self.redacted(self.look(|database, now| match since {
            Some(since) => registry::list_since(database, since).map(|list| json!(list)),
            None => registry::list(database, session, self, now).map(|list| json!(list)),
        }))
    }

    /// `hydrant skill show`.
    ///
    /// # Errors
    ///
    /// `unknown-skill`, `store-unavailable`.
    pub fn show(&self, caller: &Caller, skill: &str) -> Result<Value, Failure> {
        let session = Some(caller.session());
        let shown = self.look(|database, now| registry::show(database, skill, session, self, now));
        self.redacted(shown.map(|shown| json!(shown)))
    }

    /// `hydrant skill unload`.
    ///
    /// # Errors
    ///
    /// `unknown-skill`, `store-unavailable`, `audit-unavailable`.
    pub fn unload(
        &self,
        caller: &Caller,
        skill: &str,
        keep_approvals: bool,
    ) -> Result<Value, Failure> {
        let who = caller.who();
        let unloaded = self
            .state
            .write(|change| registry::unload(change, skill, keep_approvals, &who))?;
        self.settle_secrets();
        Ok(json!(unloaded))
    }

    /// `hydrant approvals list`.
    ///
    /// # Errors
    ///
    /// `invalid-request` for a status that is none; `approval-store`.
    pub fn approvals(&self, status: Option<&str>) -> Result<Value, Failure> {
        let status = match status {
            None => None,
            Some(text) => Some(Status::parse(text).ok_or_else(|| {
                Failure::new(Code::InvalidRequest, "no such status").with_hint(
                    "pending, approved, denied, expired, revoked, superseded or consumed",
                )
            })?),
        };
        self.settle_secrets();
        let list = self.look(|database, now| approvals::list(database, status, now));
        self.redacted(list.map(|list| json!(list)))
    }

    /// `hydrant approvals show`.
    ///
    /// # Errors
    ///
    /// `invalid-request` where there is no such request; `approval-store`.
    pub fn approval(&self, id: &str) -> Result<Value, Failure> {
        let shown = self.look(|database, now| approvals::show(database, id, now));
        self.redacted(shown.map(|shown| json!(shown)))
    }

    /// Returns the pending requests for a name: of the operation `<skill>.<operation>`, or of all operations of a skill.
    /// Documents choose these names, so a name that could be taken for another is refused.
    ///
    /// # Errors
    ///
    /// `invalid-request` where nothing of that name is pending, where it has other letters than ASCII, and where it is an
    /// operation's as well as a skill's; `approval-store`.
    pub fn pending_named(&self, name: &str) -> Result<Value, Failure> {
        let refused = |message: &str| {
            Err(Failure::new(Code::InvalidRequest, message).with_hint(
                "`hydrant approvals list --status pending` shows what waits, each with its id",
            ))
        };
        if !name.bytes().all(|byte| byte.is_ascii_graphic()) {
            return refused(
                "a name with other letters than ASCII may look like another one: use the id of the request",
            );
        }
        let pending = Some(Status::Pending);
        let mut list = self.look(|database, now| approvals::list(database, pending, now))?;
        list.retain(|approval| approval.kind == Kind::Capability);
        let name = registry::fold(name);
        let is_named =
            |text: &Option<String>| text.as_deref().map(registry::fold).as_ref() == Some(&name);
        let of_skill = |approval: &Approval| is_named(&approval.subject.skill_id);
        let of_operation = |approval: &Approval| is_named(&approval.subject.capability);
        match (list.iter().any(of_skill), list.iter().any(of_operation)) {
            (false, false) => refused("nothing of this name is pending"),
            (true, true) => refused(
                "this is the name of a skill and of an operation of another one: use the id of the request",
            ),
            _ => {
                list.retain(|approval| of_skill(approval) || of_operation(approval));
                self.redacted(Ok(json!(list)))
            }
        }
    }

    /// `hydrant approvals approve`.
    ///
    /// # Errors
    ///
    /// As [`approvals::approve`]; `invalid-request` for a `ttl` of no time.
    pub fn approve(&self, caller: &Caller, id: &str, approve: Approve) -> Result<Value, Failure> {
        if approve.ttl.is_some_and(|ttl| ttl.is_zero()) {
            let message = "a grant for no time would be over at once";
            return Err(Failure::new(Code::InvalidRequest, message).at_path("ttl"));
        }
        // Holds the lock of the onboarding, so that no other call ends the step between the grant and the use of the answer.
        let answered = match approve.response {
            Some(response) => Some(self.answered(id, response)?),
            None => None,
        };
        let verdict = Verdict {
            by: caller.name.clone(),
            scope: approve.scope,
            ttl: approve.ttl,
            reason: approve.reason,
            response: answered.as_ref().map(|answered| answered.answer.clone()),
        };
        let approved = approvals::approve(&self.state, id, &verdict, &caller.who());
        let done = match (&approved, answered) {
            (Ok(approval), Some(answered)) => self.human_done(caller, approval, answered),
            _ => Ok(()),
        };
        let settled = self.settled(approved);
        done.and(settled)
    }

    /// `hydrant approvals deny`.
    ///
    /// # Errors
    ///
    /// As [`approvals::deny`].
    pub fn deny(&self, caller: &Caller, id: &str, reason: Option<&str>) -> Result<Value, Failure> {
        let verdict = Verdict::new(&caller.name, reason);
        self.settled(approvals::deny(&self.state, id, &verdict, &caller.who()))
    }

    /// `hydrant approvals revoke`.
    ///
    /// # Errors
    ///
    /// As [`approvals::revoke`].
    pub fn revoke(
        &self,
        caller: &Caller,
        id: &str,
        reason: Option<&str>,
    ) -> Result<Value, Failure> {
        let verdict = Verdict::new(&caller.name, reason);
        self.settled(approvals::revoke(&self.state, id, &verdict, &caller.who()))
    }

    /// Settles secrets also where the decision came too late, because its request has ended then.
    fn settled(&self, decided: Result<Approval, Failure>) -> Result<Value, Failure> {
        self.settle_secrets();
        decided.map(|decided| json!(decided))
    }

    /// `hydrant secrets set`.
    ///
    /// # Errors
    ///
    /// `invalid-request` for a name or value that none can have; `secret-store-permissions`, `store-unavailable`.
    pub fn set_secret(
        &self,
        name: &str,
        skill: Option<&str>,
        value: SecretString,
    ) -> Result<Value, Failure> {
        // A value that was granted before must not replace this one later.
        self.settle_secrets();
        let mut warnings = Vec::new();
        if value.expose_secret().len() < SHORTEST {
            warnings.push(format!(
                "the value has fewer than {SHORTEST} bytes: it is not taken out of answers and logs"
            ));
        }
        if let Some(skill) = skill {
            let found = self
                .state
                .read(|database| SkillHead::named(database, skill));
            if found.is_err_and(|failure| failure.code == Code::UnknownSkill) {
                warnings.push(format!("no skill {skill} is loaded"));
            }
        }
        self.secrets.set(name, skill, value)?;
        let mut answer = json!({ "name": name, "skill-id": skill, "set": true });
        if let (Value::Object(members), false) = (&mut answer, warnings.is_empty()) {
            members.insert("warnings".to_owned(), json!(warnings));
        }
        Ok(answer)
    }

    /// `hydrant secrets list`: names, scopes and bindings.
    ///
    /// # Errors
    ///
    /// `secret-store-permissions`, `store-unavailable`.
    pub fn list_secrets(&self) -> Result<Value, Failure> {
        self.settle_secrets();
        let mut secrets = self.secrets.list()?;
        let bindings = self.look(|database, now| {
            self.usable(database, &mut secrets, now)?;
            bindings::list(database, now)
        })?;
        Ok(json!({ "secrets": secrets, "bindings": bindings }))
    }

    /// `hydrant secrets bind`.
    ///
    /// # Errors
    ///
    /// `unknown-skill`; `invalid-request` for a host that is none; `secret-missing`, `secret-store-permissions`,
    /// `store-unavailable`.
    pub fn bind_secret(&self, bind: &Bind<'_>) -> Result<Value, Failure> {
        let pair = HostPort::parse(bind.host)
            .or_else(|_| HostPort::parse(&format!("{}:443", bind.host)))
            .map_err(|error| Failure::new(Code::InvalidRequest, error.to_string()))?
            .to_string();
        // A binding made before the skill is loaded would serve whichever document is loaded under this id first.
        self.state
            .read(|database| SkillHead::named(database, bind.skill))
            .map_err(|failure| failure.with_hint("load the skill first"))?;
        let place = self.secrets.locate(bind.name, bind.skill)?;
        let expected = match bind.expected {
            Some(expected) => expected.to_owned(),
            None => self.secrets.expected_of(bind.name)?,
        };
        self.state.write(|change| {
            bindings::bind(change, bind.skill, &expected, bind.name, place, &pair)
        })?;
        Ok(json!({
            "name": bind.name,
            "skill-id": bind.skill,
            "as": expected,
            "host": pair,
            "place": place,
        }))
    }

    /// `hydrant secrets remove`.
    ///
    /// # Errors
    ///
    /// `secret-missing`, `secret-store-permissions`, `store-unavailable`.
    pub fn remove_secret(&self, name: &str, skill: Option<&str>) -> Result<Value, Failure> {
        // The bindings first: if the second step fails, the value that is left is bound to no skill.
        let place = if skill.is_some() {
            Place::Skill
        } else {
            Place::Global
        };
        let unbound = self
            .state
            .write(|change| bindings::unbind(change, name, place, skill))?;
        if !self.secrets.remove(name, skill)? {
            return Err(Failure::new(
                Code::SecretMissing,
                format!("there is no secret {name}"),
            ));
        }
        Ok(json!({ "name": name, "skill-id": skill, "removed": true, "bindings-removed": unbound }))
    }

    /// `hydrant audit show`.
    ///
    /// # Errors
    ///
    /// `audit-unavailable`; `timeout` once `stop` says so.
    pub fn chain(&self, shown: &Shown<'_>, stop: Stop<'_>) -> Result<Value, Failure> {
        let filter = Filter {
            since: shown.since.unwrap_or(0),
            capability: shown.capability.map(str::to_owned),
        };
        // Records hold no value.
        let mut records = Vec::new();
        let most = shown.most.unwrap_or(usize::MAX);
        let anchor = chain::show(self.state.folder(), &filter, stop, &mut |record| {
            if records.len() < most {
                records.push(record.clone());
            }
            if records.len() < most {
                ControlFlow::Continue(())
            } else {
                ControlFlow::Break(())
            }
        })?;
        let anchor = anchor.map(|anchor| anchor.to_string());
        Ok(json!({ "anchor": anchor, "records": records }))
    }

    /// Ends a session, with the grants that were for it.
    pub fn end_session(&self, caller: &Caller) {
        locked(&self.connections).remove(caller.session());
        self.forget_personal(caller);
        let ended = approvals::end_session(&self.state, caller.session(), &caller.who());
        if let Err(failure) = ended {
            tracing::warn!(%failure, "the end of a session is not recorded");
        }
        self.settle_secrets();
    }
}
