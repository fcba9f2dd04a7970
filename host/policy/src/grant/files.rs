//! Files: a declared directory, every ceiling and a mount must hold the path; to be written, a writable mount.
//!
//! Two places are never written, whatever a ceiling says: what lies in a `.git`, and what lies in the directory
//! of a read-only mount, by whichever mount it is reached.

use super::{Factors, Grant, Location, WriteLeave};
use crate::document::{Directory, Lined, Listed};
use crate::mount::{Mapped, Mounted};
use crate::{Denial, OwnMount, Policy, Rule, VirtualPath};

pub(crate) const READ: &str = "fs.read";
pub(crate) const WRITE: &str = "fs.write";

impl Grant {
    /// Whether `path` may be read, and where it lies. Lexical only; the longest mount prefix by whole segments wins.
    ///
    /// # Errors
    /// The denial, the same whether or not the path exists.
    pub fn read(&self, path: &VirtualPath) -> Result<Location, Denial> {
        let factors = self.factors(|| format!("{READ}:{path}"))?;
        let Some(declared) = factors.declared.reads(path) else {
            return Err(factors.undeclared(READ, path.as_str()));
        };
        let mut rules = vec![declared];
        let own = self.own.iter().find(|own| path.starts_with(own.at()));
        if own.is_none_or(OwnMount::is_under_ceilings) {
            for layer in factors.layers.all() {
                let held = path.widest_of(layer.document.ceiling.fs.read.values());
                rules.push(held.ok_or_else(|| layer.outside_ceiling(READ, path))?);
            }
        }
        let located = match own {
            Some(own) => own.locate(path),
            None => {
                let mount = factors.mount(READ, path)?;
                self.check_scheme(mount, path, factors)?;
                mount.locate(path, self.covered(mount))
            }
        };
        let located = located.ok_or_else(|| factors.layers.policy().unmounted(READ, path))?;
        Ok(rules.into_iter().fold(located, Location::under))
    }

    /// Whether `path` may be written, and where it lies. Lexical only: that no component is a symbolic link is for the
    /// write itself to ensure.
    ///
    /// # Errors
    /// The denial, the same whether or not the path exists.
    pub fn write(&self, path: &VirtualPath) -> Result<WriteLeave, Denial> {
        let capability = || format!("{WRITE}:{path}");
        let factors = self.factors(capability)?;
        if !factors.declared.writes(path) {
            return Err(factors.undeclared(WRITE, path.as_str()));
        }
        for layer in factors.layers.all() {
            if layer.document.ceiling.fs.write.over(path).is_none() {
                return Err(layer.outside_ceiling(WRITE, path));
            }
        }
        if path
            .segments()
            .any(|name| name.eq_ignore_ascii_case(".git"))
        {
            let rule = Rule::of("the rule on repositories", "nothing in a .git is written");
            let remedy = "write elsewhere, or let git itself write there".to_owned();
            return Err(Denial::new(capability(), rule, remedy));
        }
        let mounted = factors.mount(WRITE, path)?;
        let Some(Location::Directory(place)) = mounted.locate(path, Vec::new()) else {
            let policy = factors.layers.policy();
            let reason = format!("the mount {} is a URL, which is only read", mounted.at);
            let rule = policy.rule_of_mount(policy.line_of_mount(mounted), reason);
            let at = &mounted.at;
            let remedy = policy.remedy(&format!("mount a directory at {at} with mode: rw"));
            return Err(Denial::new(capability(), rule, remedy));
        };
        // Nothing below the directory of a read-only mount is written, by whichever mount it is reached. Each layer counts with
        // the mounts that it states: this holds for the mount itself, too. Real paths have no links, and a write follows none,
        // so the text decides.
        let (mount, relative) = (place.mount().clone(), place.relative().to_owned());
        let target = mount.real().join(&relative);
        for layer in factors.layers.all() {
            if let Some(Mounted { at, line, .. }) = layer.mounts.read_only_over(&target) {
                let reason = format!("it lies in what {at} mounts with mode: ro");
                let remedy = layer.remedy(&format!("set mode: rw for {at}"));
                let rule = layer.rule_of_mount(*line, reason);
                return Err(Denial::new(capability(), rule, remedy));
            }
        }
        Ok(WriteLeave { mount, relative })
    }

    /// Whether there is anything that may be written.
    pub fn writes(&self) -> bool {
        let layer_writes = |layer: &Policy| !layer.document.ceiling.fs.write.value.is_empty();
        self.factors.as_ref().is_some_and(|factors| {
            !factors.declared.values(WRITE).is_empty() && factors.layers.all().all(layer_writes)
        })
    }

    /// Whether `path` lies on an https mount.
    pub fn is_remote(&self, path: &VirtualPath) -> bool {
        if self.own.iter().any(|own| path.starts_with(own.at())) {
            return false;
        }
        let factors = self.factors.as_ref();
        let mount = factors.and_then(|factors| factors.layers.mounts().holding(path));
        mount.is_some_and(|mount| matches!(mount.mapped, Mapped::Https(_)))
    }

    /// The rule that allows reading or writing `path`, and what would forbid it. For a path that is allowed.
    pub(crate) fn why_path(&self, kind: &str, path: &VirtualPath) -> Option<(Rule, String)> {
        let factors = self.factors.as_ref()?;
        let policy = factors.layers.policy();
        let value = policy.ceiling_of(kind).over(path)?.value.0.as_ref()?;
        let at = &factors.layers.mounts().holding(path)?.at;
        let reason =
            format!("capability_ceiling.{kind} holds it with {value}, the mount {at} maps it");
        let remedy = policy.remedy(&format!(
            "take \"{value}\" out of capability_ceiling.{kind}"
        ));
        let line = |layer: &Policy| Some(layer.ceiling_of(kind).over(path)?.line);
        Some((factors.agreed(line, reason)?, remedy))
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
                let policy = factors.layers.policy();
                let rule = policy.rule_of_mount(policy.line_of_mount(mount), reason);
                let remedy = "give --allow-http-loopback".to_owned();
                Err(Denial::new(format!("{READ}:{path}"), rule, remedy))
            }
            _ => Ok(()),
        }
    }
}

impl Listed<Directory> {
    /// The entries that are paths.
    pub(super) fn values(&self) -> impl Iterator<Item = &VirtualPath> {
        self.value.iter().filter_map(|entry| entry.value.0.as_ref())
    }

    /// The entry that holds `path`; of several the one that says most about it.
    pub(crate) fn over(&self, path: &VirtualPath) -> Option<&Lined<Directory>> {
        let held = |entry: &&Lined<Directory>| {
            let held = entry.value.0.as_ref();
            held.is_some_and(|held| path.starts_with(held))
        };
        let entries = self.value.iter().filter(held);
        entries.max_by_key(|entry| entry.value.0.as_ref().map(|held| held.as_str().len()))
    }
}

impl Policy {
    fn ceiling_of(&self, kind: &str) -> &Listed<Directory> {
        let fs = &self.document.ceiling.fs;
        if kind == WRITE { &fs.write } else { &fs.read }
    }

    fn outside_ceiling(&self, kind: &str, path: &VirtualPath) -> Denial {
        self.denial(
            format!("{kind}:{path}"),
            self.ceiling_of(kind).line,
            format!("capability_ceiling.{kind} does not cover it"),
            &format!("add \"{path}\" to capability_ceiling.{kind}"),
        )
    }

    /// The line that maps what is mounted there in this layer: layers only repeat what the policy mounts.
    fn line_of_mount(&self, mount: &Mounted) -> Option<u64> {
        self.mounts.at(&mount.at)?.line
    }

    /// The rule that mounts something: a line, or a flag.
    fn rule_of_mount(&self, line: Option<u64>, reason: String) -> Rule {
        match line {
            Some(line) => self.rule(line, reason),
            None => Rule::of("--mount", reason),
        }
    }
}
