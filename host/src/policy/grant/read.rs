//! Reading: a declared directory, the ceiling and a mount must hold the path (TC-01, TC-21, M-02).

use super::{Factors, Grant, Location};
use crate::policy::document::Lined;
use crate::policy::mount::{Mapped, Mounted};
use crate::policy::{Denial, Policy, Rule, VirtualPath};

const KIND: &str = "fs.read";

impl Grant {
    /// Whether `path` may be read, and where it lies. Lexical only; the longest mount prefix by whole segments wins.
    ///
    /// # Errors
    /// The denial, the same whether or not the path exists.
    pub fn read(&self, path: &VirtualPath) -> Result<Location, Denial> {
        let factors = self.factors(|| format!("{KIND}:{path}"))?;
        if !factors.declared.reads(path) {
            return Err(factors.undeclared(KIND, path.as_str()));
        }
        let policy = &factors.policy;
        if policy.ceiling_over(path).is_none() {
            return Err(policy.outside_reading(path));
        }
        let mount = policy
            .mounts
            .holding(path)
            .ok_or_else(|| policy.unmounted(path))?;
        self.check_scheme(mount, path, factors)?;
        mount.locate(path).ok_or_else(|| policy.unmounted(path))
    }

    /// Whether `path` lies on an https mount.
    pub fn is_remote(&self, path: &VirtualPath) -> bool {
        let mount = self
            .factors
            .as_ref()
            .and_then(|factors| factors.policy.mounts.holding(path));
        mount.is_some_and(|mount| matches!(mount.mapped, Mapped::Https(_)))
    }

    /// The rule that allows reading `path`, and what would forbid it. For a path that [`Grant::read`] allows.
    pub(in crate::policy) fn why_read(&self, path: &VirtualPath) -> Option<(Rule, String)> {
        let policy = &self.factors.as_ref()?.policy;
        let entry = policy.ceiling_over(path)?;
        let value = entry.value.as_ref()?;
        let at = &policy.mounts.holding(path)?.at;
        let reason =
            format!("capability_ceiling.fs.read holds it with {value}, the mount {at} maps it");
        let remedy = policy.remedy(&format!(
            "take \"{value}\" out of capability_ceiling.fs.read"
        ));
        Some((policy.rule(entry.line, reason), remedy))
    }

    /// N-09: a base of plain http counts only by the development flag.
    fn check_scheme(
        &self,
        mount: &Mounted,
        path: &VirtualPath,
        factors: &Factors,
    ) -> Result<(), Denial> {
        match &mount.mapped {
            Mapped::Https(base) if base.scheme() != "https" && !self.http_loopback => {
                let reason = format!("the mount {} is plain http", mount.at);
                let rule = match mount.line {
                    Some(line) => factors.policy.rule(line, reason),
                    None => Rule::of("--mount", reason),
                };
                let remedy = "give --allow-http-loopback".to_owned();
                Err(Denial::new(format!("{KIND}:{path}"), rule, remedy))
            }
            _ => Ok(()),
        }
    }
}

impl Policy {
    /// The entry of `capability_ceiling.fs.read` that holds `path`; of several the one that says most about it.
    fn ceiling_over(&self, path: &VirtualPath) -> Option<&Lined<Option<VirtualPath>>> {
        let entries = self.document.ceiling.read.items.iter();
        entries
            .filter(|entry| {
                entry
                    .value
                    .as_ref()
                    .is_some_and(|value| path.starts_with(value))
            })
            .max_by_key(|entry| entry.value.as_ref().map(|value| value.as_str().len()))
    }

    fn outside_reading(&self, path: &VirtualPath) -> Denial {
        let rule = self.rule(
            self.document.ceiling.read.line,
            "capability_ceiling.fs.read does not cover it",
        );
        let remedy = self.remedy(&format!("add \"{path}\" to capability_ceiling.fs.read"));
        Denial::new(format!("{KIND}:{path}"), rule, remedy)
    }

    fn unmounted(&self, path: &VirtualPath) -> Denial {
        let rule = self.rule(
            self.document.host.mounts.line,
            "no mount of host.mounts holds it",
        );
        let remedy = if path.starts_with(&VirtualPath::os()) {
            "give --root DIR".to_owned()
        } else {
            let at = path.segments().next().unwrap_or("NAME");
            self.remedy(&format!(
                "add {{at: /{at}, dir: DIR, mode: ro}} to host.mounts"
            ))
        };
        Denial::new(format!("{KIND}:{path}"), rule, remedy)
    }
}
