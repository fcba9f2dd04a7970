//! Writing: a declared directory, every ceiling and a writable mount must hold the path.
//!
//! Two places are never written, whatever a ceiling says: what lies in a `.git`, and what lies in the directory
//! of a read-only mount, by whichever mount it is reached.

use super::{Grant, Location, WriteLeave};
use crate::mount::Mounted;
use crate::{Denial, Policy, Rule, VirtualPath};

const KIND: &str = "fs.write";

impl Grant {
    /// Whether `path` may be written, and where it lies. Lexical only: that no component is a symbolic link is for the
    /// write itself to ensure.
    ///
    /// # Errors
    /// The denial, the same whether or not the path exists.
    pub fn write(&self, path: &VirtualPath) -> Result<WriteLeave, Denial> {
        let capability = || format!("{KIND}:{path}");
        let factors = self.factors(capability)?;
        if !factors.declared.writes(path) {
            return Err(factors.undeclared(KIND, path.as_str()));
        }
        for layer in factors.layers.all() {
            if layer.document.ceiling.fs.write.over(path).is_none() {
                return Err(layer.outside_writing(path));
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
        let mounted = factors.mount(KIND, path)?;
        let Some(Location::Directory(place)) = mounted.locate(path, Vec::new()) else {
            let policy = factors.layers.policy();
            let line = policy.mounts.at(&mounted.at).and_then(|mount| mount.line);
            return Err(policy.not_a_directory(line, path, mounted));
        };
        // Nothing below the directory of a read-only mount is written, by whichever mount it is reached. Each layer counts with
        // the mounts that it states: this holds for the mount itself, too. Real paths have no links, and a write follows none,
        // so the text decides.
        let (mount, relative) = (place.mount().clone(), place.relative().to_owned());
        let target = mount.real().join(&relative);
        for layer in factors.layers.all() {
            if let Some(read_only) = layer.mounts.read_only_over(&target) {
                return Err(layer.read_only(path, read_only));
            }
        }
        Ok(WriteLeave { mount, relative })
    }

    /// Whether there is anything that may be written.
    pub fn writes(&self) -> bool {
        self.factors.as_ref().is_some_and(|factors| {
            !factors.declared.values(KIND).is_empty()
                && factors
                    .layers
                    .all()
                    .all(|layer| !layer.document.ceiling.fs.write.items.is_empty())
        })
    }

    /// The rule that allows writing `path`, and what would forbid it. For a path that [`Grant::write`] allows.
    pub(crate) fn why_write(&self, path: &VirtualPath) -> Option<(Rule, String)> {
        let factors = self.factors.as_ref()?;
        let entry = |layer: &Policy| Some(layer.document.ceiling.fs.write.over(path)?.line);
        let policy = factors.layers.policy();
        let value = policy
            .document
            .ceiling
            .fs
            .write
            .over(path)?
            .value
            .0
            .as_ref()?;
        let at = &factors.layers.mounts().holding(path)?.at;
        let reason =
            format!("capability_ceiling.fs.write holds it with {value}, the mount {at} maps it");
        let remedy = policy.remedy(&format!(
            "take \"{value}\" out of capability_ceiling.fs.write"
        ));
        Some((factors.agreed(entry, reason)?, remedy))
    }
}

impl Policy {
    fn outside_writing(&self, path: &VirtualPath) -> Denial {
        let rule = self.rule(
            self.document.ceiling.fs.write.line,
            "capability_ceiling.fs.write does not cover it",
        );
        let remedy = self.remedy(&format!("add \"{path}\" to capability_ceiling.fs.write"));
        Denial::new(format!("{KIND}:{path}"), rule, remedy)
    }

    fn read_only(&self, path: &VirtualPath, mount: &Mounted) -> Denial {
        let reason = format!("it lies in what {} mounts with mode: ro", mount.at);
        let rule = match mount.line {
            Some(line) => self.rule(line, reason),
            None => Rule::of("--mount", reason),
        };
        let remedy = self.remedy(&format!("set mode: rw for {}", mount.at));
        Denial::new(format!("{KIND}:{path}"), rule, remedy)
    }

    fn not_a_directory(&self, line: Option<u64>, path: &VirtualPath, mount: &Mounted) -> Denial {
        let reason = format!("the mount {} is a URL, which is only read", mount.at);
        let rule = match line {
            Some(line) => self.rule(line, reason),
            None => Rule::of("--mount", reason),
        };
        let remedy = self.remedy(&format!("mount a directory at {} with mode: rw", mount.at));
        Denial::new(format!("{KIND}:{path}"), rule, remedy)
    }
}
