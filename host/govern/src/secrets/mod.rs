//! The store of secrets: `<state>/secrets.toml`.
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

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use hydrant_base::FileStamp;
use rustix::process::{Resource, Rlimit};
use secrecy::ExposeSecret;
use serde::Serialize;

pub use secrecy::SecretString;

use crate::failure::{Code, Failure};
use crate::registry::sql::words;
use content::{Content, StoredSecret};

/// Characters of a name.
const NAME_CHARACTERS: usize = 128;
/// Bytes of a value: no header takes more.
const VALUE_BYTES: usize = 65_536;
/// Bytes of all that waits for a skill: what a service sends must not fill the store.
const WAITING_BYTES: usize = 1024 * 1024;

/// Tells one state of the store's file from another.
pub type Stamp = Option<FileStamp>;

words! {
    /// Which part of the store.
    pub Place {
        /// Under `[skills.<id>]`.
        Skill => "skill",
        /// Under `[secrets]`.
        Global => "global",
        /// A variable that `env_secrets` names.
        Environment => "environment",
    }
}

/// A secret of the store, without its value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct ListedSecret {
    /// Its name in the store.
    pub name: String,
    /// Which part.
    pub place: Place,
    /// Of [`Place::Skill`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skill_id: Option<String>,
    /// Whether there is a value in use.
    pub usable: bool,
    /// Whether a value waits for an approval.
    pub pending: bool,
}

/// Whether a skill has a secret of its own, given what was decided about the requests that values came with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SecretState {
    /// No value is there.
    Missing,
    /// A value waits to be granted, and none is in use.
    Waiting,
    /// One that a service or a person gave was granted.
    Granted,
    /// An operator set it.
    Set,
}

/// What there is of a skill's own secret.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Owned {
    /// Whether a value is in use.
    pub in_use: bool,
    /// The request that the value in use came with; none: an operator set it.
    pub of: Option<String>,
    /// The requests that values wait for.
    pub waiting: Vec<String>,
}

/// The store of secrets of one state directory.
#[derive(Debug, Clone)]
pub struct SecretStore {
    path: PathBuf,
    env_secrets: Vec<String>,
}

/// Limits the core dumps of this process, and of what it starts, to nothing of use: values of secrets that are in memory must
/// not reach a disk. A program that opens a governor calls it when it begins; a library that embeds one decides for itself.
///
/// The limit is one byte, because a host that hands dumps to a program of its own takes zero for no limit (`core(5)`). An
/// inherited limit of zero stays zero, for no process can raise it.
pub fn forbid_core_dumps() {
    let inherited = rustix::process::getrlimit(Resource::Core).maximum;
    let least = Some(inherited.map_or(1, |inherited| inherited.min(1)));
    let limit = Rlimit {
        current: least,
        maximum: least,
    };
    if let Err(error) = rustix::process::setrlimit(Resource::Core, limit) {
        tracing::warn!(%error, "core dumps cannot be forbidden");
    }
}

impl SecretStore {
    /// The store in this directory; nothing is read yet. `env_secrets` are the operator's.
    #[must_use]
    pub fn new(state: &Path, env_secrets: &[String]) -> Self {
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
    pub fn list(&self) -> Result<Vec<ListedSecret>, Failure> {
        let content = file::read(&self.path)?;
        let listed = |place, skill_id: Option<&String>, (name, kept): (&String, &StoredSecret)| {
            ListedSecret {
                name: name.clone(),
                place,
                skill_id: skill_id.cloned(),
                usable: kept.value.is_some(),
                pending: !kept.pending.is_empty(),
            }
        };
        let mut list: Vec<ListedSecret> = content
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
            environment(name).map(|_| ListedSecret {
                name: name.clone(),
                place: Place::Environment,
                skill_id: None,
                usable: true,
                pending: false,
            })
        }));
        Ok(list)
    }

    /// What skills have of their own: by folded id, then by name.
    ///
    /// # Errors
    ///
    /// `secret-store-permissions`, `store-unavailable`.
    pub fn owned(&self) -> Result<BTreeMap<String, BTreeMap<String, Owned>>, Failure> {
        let owned = |(name, kept): (String, StoredSecret)| {
            let owned = Owned {
                in_use: kept.value.is_some(),
                of: kept.of,
                waiting: kept.pending.into_keys().collect(),
            };
            (name, owned)
        };
        let skills = file::read(&self.path)?.skills.into_iter();
        Ok(skills
            .map(|(skill, table)| (skill, table.into_iter().map(owned).collect()))
            .collect())
    }

    /// Where a name is found for a skill: under `[skills.<id>]`, then `[secrets]`, then `env_secrets`. Never under
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
            Err(missing(name, Place::Skill, skill))
        }
    }

    /// What the file of the store is like now: another one where it was written since.
    #[must_use]
    pub fn stamp(&self) -> Stamp {
        let stat = rustix::fs::lstat(&self.path).ok()?;
        Some(FileStamp::new(&stat))
    }

    /// The name that skills know a stored one by: the key that `[mappings]` maps to it, else its own.
    ///
    /// # Errors
    ///
    /// `secret-store-permissions`, `store-unavailable`.
    pub fn expected_of(&self, stored: &str) -> Result<String, Failure> {
        let content = file::read(&self.path)?;
        let mapped = content.mappings.iter().find(|(_, name)| *name == stored);
        Ok(mapped.map_or_else(|| stored.to_owned(), |(expected, _)| expected.clone()))
    }

    /// A value. To be asked with what a binding says and nothing else; `skill` counts for [`Place::Skill`].
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
        found.ok_or_else(|| missing(name, place, skill))
    }

    /// Keeps a value that a response held until [`Self::accept`] for the same request; until then nobody can use it.
    /// Others under the same name stay: the one in use, and those that wait for other requests.
    ///
    /// # Errors
    ///
    /// `limit` where more than 1 MiB of a skill would wait; `invalid-request`, `secret-store-permissions`,
    /// `store-unavailable`.
    pub fn stage(
        &self,
        name: &str,
        skill: &str,
        value: SecretString,
        request: &str,
    ) -> Result<(), Failure> {
        fits(name, &value)?;
        self.try_change(|content| {
            let table = content.table(Some(skill));
            let bytes = value.expose_secret().len();
            if waiting_bytes(table).saturating_add(bytes) > WAITING_BYTES {
                return Err(too_many_wait());
            }
            let kept = table.entry(name.to_owned()).or_default();
            kept.pending.insert(request.to_owned(), value);
            Ok(())
        })
    }

    /// Whether one more value can wait for an approval.
    ///
    /// # Errors
    ///
    /// `limit`; `secret-store-permissions`, `store-unavailable`.
    pub fn has_room(&self, skill: &str) -> Result<(), Failure> {
        let content = file::read(&self.path)?;
        let waiting = content.of_skill(skill).map_or(0, waiting_bytes);
        if waiting.saturating_add(VALUE_BYTES) > WAITING_BYTES {
            return Err(too_many_wait());
        }
        file::has_room(&self.path, VALUE_BYTES)
    }

    /// Granted; the value that waited for this request can be used from now on. Whether one waited.
    ///
    /// # Errors
    ///
    /// `secret-store-permissions`, `store-unavailable`.
    pub fn accept(&self, name: &str, skill: &str, request: &str) -> Result<bool, Failure> {
        self.change(|content| {
            let kept = content.table(Some(skill)).get_mut(name);
            let Some((kept, value)) = kept.and_then(|kept| {
                let value = kept.pending.remove(request)?;
                Some((kept, value))
            }) else {
                return false;
            };
            kept.value = Some(value);
            kept.of = Some(request.to_owned());
            true
        })
    }

    /// Denied or expired; the value that waited for this request is erased. Whether one waited.
    ///
    /// # Errors
    ///
    /// `secret-store-permissions`, `store-unavailable`.
    pub fn discard(&self, name: &str, skill: &str, request: &str) -> Result<bool, Failure> {
        self.erase(name, skill, |kept| kept.pending.remove(request).is_some())
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
        erase: impl FnOnce(&mut StoredSecret) -> bool,
    ) -> Result<bool, Failure> {
        self.change(|content| {
            let table = content.table(Some(skill));
            let erased = table.get_mut(name).is_some_and(erase);
            table.retain(|_, kept| !kept.is_empty());
            erased
        })
    }

    /// Every value that is held, for [`crate::redact::Redactor`].
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
            .flat_map(|kept| kept.value.into_iter().chain(kept.pending.into_values()))
            .collect();
        values.extend(self.env_secrets.iter().filter_map(|name| environment(name)));
        Ok(values)
    }

    fn is_environment(&self, name: &str) -> bool {
        self.env_secrets.iter().any(|listed| listed == name)
    }

    fn change<T>(&self, make: impl FnOnce(&mut Content) -> T) -> Result<T, Failure> {
        self.try_change(|content| Ok(make(content)))
    }

    fn try_change<T>(
        &self,
        make: impl FnOnce(&mut Content) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let _lock = file::lock(&self.path)?;
        let mut content = file::read(&self.path)?;
        let made = make(&mut content)?;
        file::replace(&self.path, &content.written())?;
        Ok(made)
    }
}

fn waiting_bytes(table: &content::Table) -> usize {
    table.values().map(StoredSecret::waiting_bytes).sum()
}

fn too_many_wait() -> Failure {
    Failure::new(
        Code::Limit,
        format!("{WAITING_BYTES} bytes of secrets of a skill may wait for approvals"),
    )
    .with_hint("`hydrant approvals list --status pending`")
}

fn missing(name: &str, place: Place, skill: &str) -> Failure {
    let hint = match place {
        Place::Skill => format!(
            "`hydrant secrets set {name} --skill {skill}`, or `hydrant secrets bind` for a value that is there under another name"
        ),
        Place::Global => format!("`hydrant secrets set {name}`"),
        Place::Environment => {
            format!(
                "set the variable {name} where hydrant is started, and name it in `env_secrets` of [govern]"
            )
        }
    };
    Failure::new(
        Code::SecretMissing,
        format!("no value for the secret {name}"),
    )
    .with_hint(hint)
}

/// Of the host's environment; one that is empty or not text counts as none.
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
