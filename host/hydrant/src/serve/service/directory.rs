//! The tenants at one moment, and their tokens.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use super::ServeError;
use crate::engine::Engine;
use crate::serve::config::ServeConfig;
use crate::serve::tenants::{Definition, Reserved, Role, Tenant, TenantsFile, Tokens};
use crate::trust::limits;
use hydrant_base::{Digest, read_bounded};

/// See the module. It never changes; a reload makes another one.
#[derive(Default)]
pub(super) struct Directory {
    tenants: BTreeMap<String, Known>,
    tokens: Tokens,
    /// By the numbers of `tokens`.
    holders: Vec<(Arc<Tenant>, Role)>,
}

#[derive(Clone)]
struct Known {
    tenant: Arc<Tenant>,
    /// The bytes of the policies it was made with.
    policies: Vec<Option<Digest>>,
}

impl Directory {
    /// A directory without tokens: somebody else knows who its tenant is.
    pub(super) fn of_one(tenant: Arc<Tenant>) -> Self {
        let known = Known {
            tenant: Arc::clone(&tenant),
            policies: Vec::new(),
        };
        Self {
            tenants: BTreeMap::from([(tenant.name().to_owned(), known)]),
            ..Self::default()
        }
    }

    /// The directory that this file describes, and the tenants that it leaves out because they cannot be served: their
    /// tokens hold no longer, and nobody else waits for them to be mended. A tenant that is as it was stays the one it was,
    /// with its open state and what it has used of its rate.
    pub(super) fn next(
        &self,
        file: TenantsFile,
        config: &Arc<ServeConfig>,
        engine: &Engine,
    ) -> (Self, Vec<ServeError>) {
        let mut next = Self::default();
        let mut left_out = Vec::new();
        let mut homes: BTreeMap<PathBuf, String> = BTreeMap::new();
        let reserved = Arc::new(Reserved::of(&file.tenants, config));
        for definition in file.tenants {
            let name = definition.name.clone();
            let tokens: Vec<_> = definition.all_tokens().collect();
            let opened = reserved
                .check(&definition)
                .map_err(ServeError::from)
                .and_then(|()| self.tenant(definition, config, &reserved, engine))
                .and_then(|known| {
                    let home = known.tenant.state().canonicalize().unwrap_or_default();
                    match homes.insert(home, name.clone()) {
                        Some(other) => Err(ServeError::SameHome(other, name.clone())),
                        None => Ok(known),
                    }
                });
            let known = match opened {
                Ok(known) => known,
                Err(error) => {
                    left_out.push(error);
                    continue;
                }
            };
            for token in tokens {
                let number = u32::try_from(next.holders.len()).unwrap_or(u32::MAX);
                next.tokens.add(&token.digest, number);
                next.holders.push((Arc::clone(&known.tenant), token.role));
            }
            next.tenants.insert(name, known);
        }
        (next, left_out)
    }

    /// The tenant that it was, or another one.
    fn tenant(
        &self,
        definition: Definition,
        config: &Arc<ServeConfig>,
        reserved: &Arc<Reserved>,
        engine: &Engine,
    ) -> Result<Known, ServeError> {
        let policies = policies(&definition, config);
        let known = self
            .tenants
            .get(&definition.name)
            .filter(|known| *known.tenant.definition() == definition && known.policies == policies);
        Ok(match known {
            Some(known) => known.clone(),
            None => Known {
                tenant: Arc::new(Tenant::open(definition, config, reserved, engine)?),
                policies,
            },
        })
    }

    /// Whether nobody is in it.
    pub(super) fn is_empty(&self) -> bool {
        self.tenants.is_empty()
    }

    /// All of them.
    pub(super) fn tenants(&self) -> impl Iterator<Item = &Tenant> {
        self.tenants.values().map(|known| known.tenant.as_ref())
    }

    /// Whose token this is.
    pub(super) fn find(&self, token: &str) -> Option<(Arc<Tenant>, Role)> {
        let number = usize::try_from(self.tokens.find(token)?).ok()?;
        self.holders.get(number).cloned()
    }
}

/// What the policies are by their bytes: a policy that was edited makes another tenant of the same definition.
fn policies(definition: &Definition, config: &ServeConfig) -> Vec<Option<Digest>> {
    [&config.policy, &definition.policy]
        .into_iter()
        .flatten()
        .map(|file| {
            let bytes = read_bounded(file, limits::MAX_JSON_BYTES);
            bytes.ok().map(|bytes| Digest::of(&bytes))
        })
        .collect()
}
