//! Reading: a declared directory, every ceiling and a mount must hold the path.

use super::{Factors, Grant, Location};
use crate::document::{Directory, Lined, Listed};
use crate::mount::{Mapped, Mounted};
use crate::{Denial, OwnMount, Policy, Rule, VirtualPath};

const KIND: &str = "fs.read";

impl Grant {
    /// Whether `path` may be read, and where it lies. Lexical only; the longest mount prefix by whole segments wins.
    ///
    /// # Errors
    /// The denial, the same whether or not the path exists.
    pub fn read(&self, path: &VirtualPath) -> Result<Location, Denial> {
        let factors = self.factors(|| format!("{KIND}:{path}"))?;
        let Some(declared) = factors.declared.reads(path) else {
            return Err(factors.undeclared(KIND, path.as_str()));
        };
        let mut rules = vec![declared];
        let own = self.own.iter().find(|own| path.starts_with(own.at()));
        if own.is_none_or(OwnMount::is_under_ceilings) {
            for layer in factors.layers.all() {
                let held = path.widest_of(layer.document.ceiling.fs.read.values());
                rules.push(held.ok_or_else(|| layer.outside_reading(path))?);
            }
        }
        let located = match own {
            Some(own) => own.locate(path),
            None => {
                let mount = factors.mount(KIND, path)?;
                self.check_scheme(mount, path, factors)?;
                mount.locate(path, self.covered(mount))
            }
        };
        let located = located.ok_or_else(|| factors.layers.policy().unmounted(KIND, path))?;
        Ok(rules.into_iter().fold(located, Location::under))
    }

    /// Whether `path` lies on an https mount.
    pub fn is_remote(&self, path: &VirtualPath) -> bool {
        if self.own.iter().any(|own| path.starts_with(own.at())) {
            return false;
        }
        let mount = self
            .factors
            .as_ref()
            .and_then(|factors| factors.layers.mounts().holding(path));
        mount.is_some_and(|mount| matches!(mount.mapped, Mapped::Https(_)))
    }

    /// The rule that allows reading `path`, and what would forbid it. For a path that [`Grant::read`] allows.
    pub(crate) fn why_read(&self, path: &VirtualPath) -> Option<(Rule, String)> {
        let factors = self.factors.as_ref()?;
        let entry = |layer: &Policy| Some(layer.document.ceiling.fs.read.over(path)?.line);
        let policy = factors.layers.policy();
        let value = policy
            .document
            .ceiling
            .fs
            .read
            .over(path)?
            .value
            .0
            .as_ref()?;
        let at = &factors.layers.mounts().holding(path)?.at;
        let reason =
            format!("capability_ceiling.fs.read holds it with {value}, the mount {at} maps it");
        let remedy = policy.remedy(&format!(
            "take \"{value}\" out of capability_ceiling.fs.read"
        ));
        Some((factors.agreed(entry, reason)?, remedy))
    }

    /// A base of plain http counts only by the development flag.
    fn check_scheme(
        &self,
        mount: &Mounted,
        path: &VirtualPath,
        factors: &Factors,
    ) -> Result<(), Denial> {
        match &mount.mapped {
            Mapped::Https(base) if base.scheme() != "https" && !self.http_loopback => {
                let reason = format!("the mount {} is plain http", mount.at);
                // Layers only repeat what the policy mounts.
                let policy = factors.layers.policy();
                let line = policy.mounts.at(&mount.at).and_then(|mount| mount.line);
                let rule = match line {
                    Some(line) => policy.rule(line, reason),
                    None => Rule::of("--mount", reason),
                };
                let remedy = "give --allow-http-loopback".to_owned();
                Err(Denial::new(format!("{KIND}:{path}"), rule, remedy))
            }
            _ => Ok(()),
        }
    }
}

impl Listed<Directory> {
    /// The entries that are paths.
    pub(super) fn values(&self) -> impl Iterator<Item = &VirtualPath> {
        self.items.iter().filter_map(|entry| entry.value.0.as_ref())
    }

    /// The entry that holds `path`; of several the one that says most about it.
    pub(crate) fn over(&self, path: &VirtualPath) -> Option<&Lined<Directory>> {
        let held = |entry: &&Lined<Directory>| {
            let held = entry.value.0.as_ref();
            held.is_some_and(|held| path.starts_with(held))
        };
        let entries = self.items.iter().filter(held);
        entries.max_by_key(|entry| entry.value.0.as_ref().map(|held| held.as_str().len()))
    }
}

impl Policy {
    fn outside_reading(&self, path: &VirtualPath) -> Denial {
        let rule = self.rule(
            self.document.ceiling.fs.read.line,
            "capability_ceiling.fs.read does not cover it",
        );
        let remedy = self.remedy(&format!("add \"{path}\" to capability_ceiling.fs.read"));
        Denial::new(format!("{KIND}:{path}"), rule, remedy)
    }
}
