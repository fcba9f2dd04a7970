//! The store of secrets (section 17): `<state>/secrets.toml`.
//!
//! It keeps values and nothing else: which skill may use which of them is a binding, in the registry. The file is read anew
//! for each question, so that what an operator changes holds at once; a file that others could have read or written serves
//! nothing. Values are `SecretString`s, wiped when they are dropped, and no type here shows one.
//!
//! | file | subject |
//! |---|---|
//! | `content` | what the file says, and how it is written |
//! | `file` | reading it only if it is the operator's alone; replacing it |

mod content;
mod file;

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use secrecy::ExposeSecret;
use serde::Serialize;

pub use secrecy::SecretString;

use crate::failure::{Code, Failure};
use content::{Content, Kept};

/// Characters of a name.
const NAME_CHARACTERS: usize = 128;
/// Bytes of a value: no header takes more.
const VALUE_BYTES: usize = 65_536;

/// Which part of the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Place {
    /// Under `[skills.<id>]`.
    Skill,
    /// Under `[secrets]`.
    Global,
    /// A variable that `env_secrets` names.
    Environment,
}

/// A secret of the store, without its value (K-277).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Listed {
    /// Its name in the store.
    pub name: String,
    /// Which part.
    pub place: Place,
    /// Of [`Place::Skill`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skill_id: Option<String>,
    /// Whether there is a value that may be used.
    pub usable: bool,
    /// K-285: whether a value waits for an approval.
    pub pending: bool,
}

/// Whether a skill has a secret of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SecretState {
    /// No value is there.
    Missing,
    /// A value waits to be granted, and none is in use (K-285).
    Waiting,
    /// One that a service or a person gave was granted.
    Granted,
    /// An operator set it.
    Set,
}

/// A value that came with a request (K-285).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Held {
    /// As stored.
    pub name: String,
    /// Folded.
    pub skill: String,
    /// The request; none where it is not known any more.
    pub request: Option<String>,
    /// Whether it waits; else it is in use.
    pub waits: bool,
}

/// The store of secrets of one state directory.
#[derive(Debug, Clone)]
pub struct SecretStore {
    path: PathBuf,
    env_secrets: Vec<String>,
}

impl SecretStore {
    /// The store in this directory; nothing is read yet. `env_secrets` are the operator's (K-278).
    ///
    /// From here on the process leaves no core dump (K-283).
    #[must_use]
    pub fn new(state: &Path, env_secrets: &[String]) -> Self {
        file::forbid_core_dumps();
        Self {
            path: state.join("secrets.toml"),
            env_secrets: env_secrets.to_vec(),
        }
    }

    /// Sets a value: of a skill, or a global one.
    ///
    /// # Errors
    ///
    /// `invalid-request` for a name or value that none can have; `secret-store-permissions`, `store-unavailable`.
    pub fn set(&self, name: &str, skill: Option<&str>, value: SecretString) -> Result<(), Failure> {
        fits(name, &value)?;
        self.change(|content| {
            let kept = content.table(skill).entry(name.to_owned()).or_default();
            kept.value = Some(value);
            kept.of = None;
        })
    }

    /// Removes a value, and one that waits with it; whether there was one.
    ///
    /// # Errors
    ///
    /// `secret-store-permissions`, `store-unavailable`.
    pub fn remove(&self, name: &str, skill: Option<&str>) -> Result<bool, Failure> {
        self.change(|content| content.table(skill).remove(name).is_some())
    }

    /// All of them, by place and name; those of the environment that are set.
    ///
    /// # Errors
    ///
    /// `secret-store-permissions`, `store-unavailable`.
    pub fn list(&self) -> Result<Vec<Listed>, Failure> {
        let content = file::read(&self.path)?;
        let listed = |place, skill_id: Option<&String>, (name, kept): (&String, &Kept)| Listed {
            name: name.clone(),
            place,
            skill_id: skill_id.cloned(),
            usable: kept.value.is_some(),
            pending: kept.pending.is_some(),
        };
        let mut list: Vec<Listed> = content
            .global
            .iter()
            .map(|entry| listed(Place::Global, None, entry))
            .collect();
        for (skill, table) in &content.skills {
            list.extend(
                table
                    .iter()
                    .map(|entry| listed(Place::Skill, Some(skill), entry)),
            );
        }
        list.extend(self.env_secrets.iter().filter_map(|name| {
            environment(name).map(|_| Listed {
                name: name.clone(),
                place: Place::Environment,
                skill_id: None,
                usable: true,
                pending: false,
            })
        }));
        Ok(list)
    }

    /// Whether a skill has a secret of this name under its own.
    ///
    /// # Errors
    ///
    /// `secret-store-permissions`, `store-unavailable`.
    pub fn state(&self, name: &str, skill: &str) -> Result<SecretState, Failure> {
        let content = file::read(&self.path)?;
        let kept = content.of_skill(skill).and_then(|table| table.get(name));
        Ok(match kept {
            Some(kept) if kept.value.is_some() && kept.of.is_some() => SecretState::Granted,
            Some(kept) if kept.value.is_some() => SecretState::Set,
            Some(kept) if kept.pending.is_some() => SecretState::Waiting,
            _ => SecretState::Missing,
        })
    }

    /// Every value that came with a request, and the request that decides about it.
    ///
    /// # Errors
    ///
    /// `secret-store-permissions`, `store-unavailable`.
    pub fn held(&self) -> Result<Vec<Held>, Failure> {
        let content = file::read(&self.path)?;
        let mut held = Vec::new();
        for (skill, table) in &content.skills {
            for (name, kept) in table {
                let mut hold = |request: &Option<String>, waits| {
                    held.push(Held {
                        name: name.clone(),
                        skill: skill.clone(),
                        request: request.clone(),
                        waits,
                    });
                };
                if kept.pending.is_some() {
                    hold(&kept.pending_of, true);
                }
                if kept.value.is_some() && kept.of.is_some() {
                    hold(&kept.of, false);
                }
            }
        }
        Ok(held)
    }

    /// K-280: where a name is found for a skill: under `[skills.<id>]`, then `[secrets]`, then `env_secrets`. Never under
    /// another skill.
    ///
    /// # Errors
    ///
    /// `secret-missing` where there is no value; `secret-store-permissions`, `store-unavailable`.
    pub fn locate(&self, name: &str, skill: &str) -> Result<Place, Failure> {
        let content = file::read(&self.path)?;
        let has = |table: Option<&content::Table>| {
            table
                .and_then(|table| table.get(name))
                .is_some_and(|kept| kept.value.is_some())
        };
        if has(content.of_skill(skill)) {
            Ok(Place::Skill)
        } else if has(Some(&content.global)) {
            Ok(Place::Global)
        } else if self.is_environment(name) && environment(name).is_some() {
            Ok(Place::Environment)
        } else {
            Err(missing(name))
        }
    }

    /// K-280: the name that skills know a stored one by: the key that `[mappings]` maps to it, else its own.
    ///
    /// # Errors
    ///
    /// `secret-store-permissions`, `store-unavailable`.
    pub fn expected_of(&self, stored: &str) -> Result<String, Failure> {
        let content = file::read(&self.path)?;
        let mapped = content.mappings.iter().find(|(_, name)| *name == stored);
        Ok(mapped.map_or_else(|| stored.to_owned(), |(expected, _)| expected.clone()))
    }

    /// A value. To be asked with what a binding says and nothing else (K-279); `skill` counts for [`Place::Skill`].
    ///
    /// # Errors
    ///
    /// `secret-missing`; `secret-store-permissions`, `store-unavailable`.
    pub fn value(&self, name: &str, place: Place, skill: &str) -> Result<SecretString, Failure> {
        let found = match place {
            Place::Environment if !self.is_environment(name) => None,
            Place::Environment => environment(name),
            Place::Global => file::read(&self.path)?
                .global
                .remove(name)
                .and_then(|kept| kept.value),
            Place::Skill => file::read(&self.path)?
                .table(Some(skill))
                .remove(name)
                .and_then(|kept| kept.value),
        };
        found.ok_or_else(|| missing(name))
    }

    /// K-285: keeps a value that a response held until [`Self::accept`] for the same request; until then nobody can use it. One
    /// that waited under the same name is replaced, one that is in use stays.
    ///
    /// # Errors
    ///
    /// `invalid-request`, `secret-store-permissions`, `store-unavailable`.
    pub fn stage(
        &self,
        name: &str,
        skill: &str,
        value: SecretString,
        request: &str,
    ) -> Result<(), Failure> {
        fits(name, &value)?;
        self.change(|content| {
            let kept = content
                .table(Some(skill))
                .entry(name.to_owned())
                .or_default();
            kept.pending = Some(value);
            kept.pending_of = Some(request.to_owned());
        })
    }

    /// K-285: granted; the value that waited for this request can be used from now on. Whether one waited.
    ///
    /// # Errors
    ///
    /// `secret-store-permissions`, `store-unavailable`.
    pub fn accept(&self, name: &str, skill: &str, request: &str) -> Result<bool, Failure> {
        self.change(|content| {
            let Some(kept) = content.table(Some(skill)).get_mut(name) else {
                return false;
            };
            if kept.pending.is_none() || kept.pending_of.as_deref() != Some(request) {
                return false;
            }
            kept.value = kept.pending.take();
            kept.of = kept.pending_of.take();
            true
        })
    }

    /// K-285: denied or expired; the value that waited for this request is erased. Whether one waited.
    ///
    /// # Errors
    ///
    /// `secret-store-permissions`, `store-unavailable`.
    pub fn discard(&self, name: &str, skill: &str, request: Option<&str>) -> Result<bool, Failure> {
        self.erase(name, skill, |kept| {
            let waited = kept.pending_of.as_deref() == request;
            waited && {
                kept.pending_of = None;
                kept.pending.take().is_some()
            }
        })
    }

    /// The grant of this request has ended; the value that it brought is erased, if it is still the one in use. Whether it was.
    ///
    /// # Errors
    ///
    /// `secret-store-permissions`, `store-unavailable`.
    pub fn withdraw(&self, name: &str, skill: &str, request: &str) -> Result<bool, Failure> {
        self.erase(name, skill, |kept| {
            let granted = kept.of.as_deref() == Some(request);
            granted && {
                kept.of = None;
                kept.value.take().is_some()
            }
        })
    }

    fn erase(
        &self,
        name: &str,
        skill: &str,
        erase: impl FnOnce(&mut Kept) -> bool,
    ) -> Result<bool, Failure> {
        self.change(|content| {
            let table = content.table(Some(skill));
            let erased = table.get_mut(name).is_some_and(erase);
            table.retain(|_, kept| kept.value.is_some() || kept.pending.is_some());
            erased
        })
    }

    /// K-378: every value that is held, for [`crate::redact::Redactor`].
    ///
    /// # Errors
    ///
    /// `secret-store-permissions`, `store-unavailable`.
    pub fn values(&self) -> Result<Vec<SecretString>, Failure> {
        let content = file::read(&self.path)?;
        let mut values: Vec<SecretString> = content
            .global
            .into_values()
            .chain(
                content
                    .skills
                    .into_values()
                    .flat_map(content::Table::into_values),
            )
            .flat_map(|kept| kept.value.into_iter().chain(kept.pending))
            .collect();
        values.extend(self.env_secrets.iter().filter_map(|name| environment(name)));
        Ok(values)
    }

    fn is_environment(&self, name: &str) -> bool {
        self.env_secrets.iter().any(|listed| listed == name)
    }

    fn change<T>(&self, make: impl FnOnce(&mut Content) -> T) -> Result<T, Failure> {
        let _lock = file::lock(&self.path)?;
        let mut content = file::read(&self.path)?;
        let made = make(&mut content);
        file::replace(&self.path, &content.written())?;
        Ok(made)
    }
}

fn missing(name: &str) -> Failure {
    Failure::new(
        Code::SecretMissing,
        format!("no value for the secret {name}"),
    )
    .with_hint(format!("hydrant secrets set {name}"))
}

/// K-278: of the host's environment; one that is empty or not text counts as none.
fn environment(name: &str) -> Option<SecretString> {
    std::env::var(name)
        .ok()
        .filter(|value| !value.is_empty())
        .map(SecretString::from)
}

/// Whether a secret can have this name.
#[must_use]
pub fn is_name(name: &str) -> bool {
    (1..=NAME_CHARACTERS).contains(&name.chars().count())
        && !name.chars().any(|c| c.is_control() || c.is_whitespace())
}

/// Whether it can be kept.
///
/// # Errors
///
/// `invalid-request` for a name or value that none can have.
pub fn fits(name: &str, value: &SecretString) -> Result<(), Failure> {
    if !is_name(name) {
        return Err(Failure::new(
            Code::InvalidRequest,
            format!("a secret's name has 1 to {NAME_CHARACTERS} characters and no blank"),
        ));
    }
    let bytes = value.expose_secret().len();
    if bytes == 0 || bytes > VALUE_BYTES {
        return Err(Failure::new(
            Code::InvalidRequest,
            format!("a secret's value has 1 to {VALUE_BYTES} bytes"),
        ));
    }
    Ok(())
}
