//! Secrets that came with an answer of a service or a person. Each has a request for approval of its own: once that is granted
//! the secret can be used; when it is denied, expires or is revoked the secret is erased.
//!
//! Each use looks at the request. The store follows the request afterwards; what a crash or a failure left undone is done by the
//! next call that settles secrets.

use std::collections::BTreeMap;

use rusqlite::Connection;
use secrecy::SecretString;

use super::{Caller, Governor};
use crate::failure::{Code, Failure};
use crate::registry::approvals::{self, SecretWrite};
use crate::registry::{Registered, SkillHead, Who};
use crate::secrets::{self, ListedSecret, Owned, SecretState};
use crate::time::Time;

impl Governor {
    /// Keeps a value that waits for a request of its own.
    pub(super) fn stage_secret(
        &self,
        caller: &Caller,
        skill: &SkillHead,
        name: &str,
        value: SecretString,
    ) -> Result<(), Failure> {
        secrets::fits(name, &value)?;
        let who = caller.who();
        let replaces = self.owned_secret(&skill.folded, name)?.in_use;
        let asked = self.state.write(|change| {
            approvals::ask_secret_write(change, skill, name, replaces, &who, self)
        })?;
        if let Err(failure) = self.secrets.stage(name, &skill.skill.id, value, &asked.id) {
            let ended = self
                .state
                .write(|change| approvals::supersede_this(change, &asked, &who));
            warn_of(ended);
            return Err(failure);
        }
        // Earlier values are superseded only now that this one is kept.
        let owned = self.owned_secret(&skill.folded, name);
        warn_of(owned.and_then(|owned| self.settle(&skill.folded, name, &owned, &who)));
        Ok(())
    }

    /// Has every value in the store follow its request. What cannot be done now is left for the next call.
    pub(super) fn settle_secrets(&self) {
        // The database may be an older one, with grants that have ended since.
        if self.state.damage().is_some() {
            return;
        }
        warn_of(approvals::expire(&self.state).map(drop));
        let owned = match self.secrets.owned() {
            Ok(owned) => owned,
            Err(failure) => return warn_of(Err(failure)),
        };
        for (skill, table) in &owned {
            for (name, owned) in table {
                warn_of(self.settle(skill, name, owned, &Who::default()));
            }
        }
    }

    /// Has the values of one name follow their requests: the newest granted one comes into use, those whose requests ended are
    /// erased, and of those that wait only the newest stays.
    fn settle(&self, skill: &str, name: &str, owned: &Owned, who: &Who) -> Result<(), Failure> {
        if owned.of.is_none() && owned.waiting.is_empty() {
            return Ok(());
        }
        let decided =
            |ids: &[&str]| self.look(|database, now| approvals::secret_writes(database, ids, now));
        let waiting: Vec<&str> = owned.waiting.iter().map(String::as_str).collect();
        let mut requests = decided(&waiting)?;
        let is_open = |(_, decided): &&(String, SecretWrite)| {
            matches!(decided, SecretWrite::Waiting | SecretWrite::Granted)
        };
        if requests.iter().filter(is_open).count() > 1
            && let Some((newest, _)) = requests.iter().rfind(is_open)
        {
            self.state
                .write(|change| approvals::supersede_earlier(change, newest, who))?;
            requests = decided(&waiting)?;
        }
        for (request, decided) in &requests {
            match decided {
                SecretWrite::Granted => drop(self.secrets.accept(name, skill, request)?),
                SecretWrite::Ended => drop(self.secrets.discard(name, skill, request)?),
                // Without a request it can never be granted.
                SecretWrite::Unknown if request.is_empty() => {
                    self.secrets.discard(name, skill, request)?;
                }
                SecretWrite::Waiting | SecretWrite::Unknown => {}
            }
        }
        if let Some(request) = &owned.of
            && decided(&[request])?
                .iter()
                .any(|(_, decided)| *decided == SecretWrite::Ended)
        {
            self.secrets.withdraw(name, skill, request)?;
        }
        Ok(())
    }

    /// Returns the state of each secret that a skill (folded) has of its own, by name.
    pub(super) fn secret_states(
        &self,
        database: &Connection,
        skill: &str,
        now: Time,
    ) -> Result<BTreeMap<String, SecretState>, Failure> {
        let owned = self.secrets.owned()?.remove(skill).unwrap_or_default();
        let state = |(name, owned)| Ok((name, state_of(database, &owned, now)?));
        owned.into_iter().map(state).collect()
    }

    /// Marks which of the skills' own secrets may be used, by their requests.
    pub(super) fn usable(
        &self,
        database: &Connection,
        secrets: &mut [ListedSecret],
        now: Time,
    ) -> Result<(), Failure> {
        let owned = self.secrets.owned()?;
        for listed in secrets {
            let table = listed.skill_id.as_ref().and_then(|id| owned.get(id));
            if let Some(owned) = table.and_then(|table| table.get(&listed.name)) {
                let state = state_of(database, owned, now)?;
                listed.usable = matches!(state, SecretState::Granted | SecretState::Set);
            }
        }
        Ok(())
    }

    /// Makes a secret of a skill's own ready for use, or refuses it.
    pub(super) fn ready_secret(&self, name: &str, found: &Registered) -> Result<(), Failure> {
        let skill = &found.skill.folded;
        let owned = self.owned_secret(skill, name)?;
        if owned.of.is_none() && owned.waiting.is_empty() {
            return Ok(());
        }
        let settled = self.settle(skill, name, &owned, &Who::default());
        // Only the value in use is looked at now.
        let owned = Owned {
            waiting: Vec::new(),
            ..self.owned_secret(skill, name)?
        };
        let state = self.look(|database, now| state_of(database, &owned, now))?;
        match state {
            SecretState::Granted | SecretState::Set => Ok(()),
            SecretState::Missing | SecretState::Waiting => {
                settled?;
                Err(Failure::new(
                    Code::SecretMissing,
                    format!("the secret {name} is not granted, or not any more"),
                )
                .with_hint("`hydrant approvals list`"))
            }
        }
    }

    fn owned_secret(&self, skill: &str, name: &str) -> Result<Owned, Failure> {
        let mut owned = self.secrets.owned()?;
        let table = owned.remove(skill);
        Ok(table
            .and_then(|mut table| table.remove(name))
            .unwrap_or_default())
    }
}

fn state_of(database: &Connection, owned: &Owned, now: Time) -> Result<SecretState, Failure> {
    let in_use = owned.of.as_deref().filter(|_| owned.in_use);
    if owned.in_use && in_use.is_none() {
        return Ok(SecretState::Set);
    }
    let requests: Vec<&str> = in_use
        .into_iter()
        .chain(owned.waiting.iter().map(String::as_str))
        .collect();
    let decided = approvals::secret_writes(database, &requests, now)?;
    let has = |state| decided.iter().any(|(_, decided)| *decided == state);
    Ok(if has(SecretWrite::Granted) {
        SecretState::Granted
    } else if has(SecretWrite::Waiting) {
        SecretState::Waiting
    } else {
        SecretState::Missing
    })
}

fn warn_of(settled: Result<(), Failure>) {
    if let Err(failure) = settled {
        tracing::warn!(%failure, "secrets that came with answers are not in order yet");
    }
}
