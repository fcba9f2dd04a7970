//! The table of mounts of a policy: built once, from the document and the flags, then only asked (M-01, M-02).

use std::path::Path;
use std::sync::Arc;

use url::Url;

use super::base::below;
use super::open::open_directory;
use super::{CliMount, MountHandle, MountTarget, MountedDirectory};
use crate::policy::VirtualPath;
use crate::policy::document::{Lined, Mode, MountRule, MountSource};
use crate::policy::error::{Place, PolicyError};
use crate::policy::grant::Location;

/// All mounts, the longest mount point first.
#[derive(Debug)]
pub(in crate::policy) struct MountTable {
    mounts: Vec<Mounted>,
}

/// One mount.
#[derive(Debug)]
pub(in crate::policy) struct Mounted {
    pub(in crate::policy) at: VirtualPath,
    /// The line of the policy that maps it; none for a flag.
    pub(in crate::policy) line: Option<u64>,
    pub(in crate::policy) mode: Mode,
    pub(in crate::policy) mapped: Mapped,
}

/// What a mount maps to.
#[derive(Debug)]
pub(in crate::policy) enum Mapped {
    Directory(MountHandle),
    Https(Url),
}

/// What the names of directories are relative to, and what the flags add.
#[derive(Clone, Copy, Debug)]
pub(in crate::policy) struct Origins<'a> {
    /// The policy file as the operator named it.
    pub(in crate::policy) file: &'a str,
    /// Its directory, absolute and without links.
    pub(in crate::policy) directory: &'a Path,
    /// The working directory, absolute and without links.
    pub(in crate::policy) working_directory: &'a Path,
    pub(in crate::policy) flags: &'a [CliMount],
}

impl MountTable {
    /// Opens every mount. What the document maps no flag maps again, unless it says `@cli`; what it does not map, a
    /// flag may add at or below `/os` (M-01, TP-22).
    pub(in crate::policy) fn open(
        rules: &[Lined<MountRule>],
        origins: Origins<'_>,
    ) -> Result<Self, PolicyError> {
        let mut mounts = Vec::with_capacity(rules.len() + origins.flags.len());
        for (index, flag) in origins.flags.iter().enumerate() {
            let fault = |rule: &str| {
                Err(PolicyError::Flag {
                    flag: flag.flag(),
                    rule: rule.to_owned(),
                })
            };
            if origins
                .flags
                .iter()
                .skip(index + 1)
                .any(|other| other.at == flag.at)
            {
                return fault("the same place is mapped twice");
            }
            match rules.iter().find(|rule| rule.value.at == flag.at) {
                Some(rule) if rule.value.source == MountSource::CommandLine => {}
                Some(rule) => {
                    return fault(&format!(
                        "{}:{} maps it already, and not with dir: \"@cli\"",
                        origins.file, rule.line
                    ));
                }
                None if flag.at.starts_with(&VirtualPath::os()) => {
                    mounts.push(Mounted::from_flag(flag, None, Mode::ReadOnly, origins)?);
                }
                None => return fault("no mount of the policy is there with dir: \"@cli\""),
            }
        }
        for rule in rules {
            mounts.push(Mounted::from_rule(rule, origins)?);
        }
        mounts.sort_by_key(|mount| std::cmp::Reverse(mount.at.as_str().len()));
        Ok(Self { mounts })
    }

    /// The mount that holds `path`: the longest by whole segments (M-02). An https mount holds what is below its mount
    /// point and not the mount point itself, because its prefix ends with `/` (M-15).
    pub(in crate::policy) fn holding(&self, path: &VirtualPath) -> Option<&Mounted> {
        self.mounts
            .iter()
            .find(|mount| match path.strip_prefix(&mount.at) {
                Some("") => matches!(mount.mapped, Mapped::Directory(_)),
                Some(_) => true,
                None => false,
            })
    }

    /// Whether exactly this real directory is mounted at exactly this place.
    #[cfg(test)]
    pub(in crate::policy) fn mounts_at(&self, at: &VirtualPath, real: &Path) -> bool {
        self.mounts.iter().any(|mount| match &mount.mapped {
            Mapped::Directory(handle) => mount.at == *at && handle.real() == real,
            Mapped::Https(_) => false,
        })
    }

    /// The mounted directory that holds a real file, if one does (TP-27).
    pub(in crate::policy) fn containing(&self, file: &Path) -> Option<&Mounted> {
        self.mounts.iter().find(|mount| match &mount.mapped {
            Mapped::Directory(handle) => file.starts_with(handle.real()),
            Mapped::Https(_) => false,
        })
    }
}

/// The flag that maps `at`, as the commands that know it take it (M-01, TP-22).
fn command_line_form(at: &VirtualPath) -> String {
    match at.strip_prefix(&VirtualPath::os()) {
        Some("") => "--root DIR".to_owned(),
        Some(below) => format!("--mount /{below}/=TARGET"),
        None => format!("--mount {at}=DIR"),
    }
}

impl Mounted {
    fn from_rule(rule: &Lined<MountRule>, origins: Origins<'_>) -> Result<Self, PolicyError> {
        let constraint = |text: String| PolicyError::Constraint {
            place: Place {
                file: origins.file.to_owned(),
                line: rule.line,
            },
            member: format!("the mount {}", rule.value.at),
            rule: text,
        };
        let mapped = match &rule.value.source {
            MountSource::Https(base) => Mapped::Https(base.clone()),
            MountSource::Directory(directory) => {
                Mapped::directory(&rule.value.at, origins.directory, Path::new(directory))
                    .map_err(constraint)?
            }
            MountSource::CommandLine => {
                let flag = origins
                    .flags
                    .iter()
                    .find(|flag| flag.at == rule.value.at)
                    .ok_or_else(|| {
                        constraint(format!(
                            "must be given by {}",
                            command_line_form(&rule.value.at)
                        ))
                    })?;
                return Self::from_flag(flag, Some(rule.line), rule.value.mode, origins);
            }
        };
        Ok(Self {
            at: rule.value.at.clone(),
            line: Some(rule.line),
            mode: rule.value.mode,
            mapped,
        })
    }

    fn from_flag(
        flag: &CliMount,
        line: Option<u64>,
        mode: Mode,
        origins: Origins<'_>,
    ) -> Result<Self, PolicyError> {
        let mapped = match &flag.target {
            MountTarget::Https(base) => Mapped::Https(base.clone()),
            MountTarget::Directory(directory) => {
                Mapped::directory(&flag.at, origins.working_directory, directory).map_err(
                    |rule| PolicyError::Flag {
                        flag: flag.flag(),
                        rule: format!("the target {rule}"),
                    },
                )?
            }
        };
        Ok(Self {
            at: flag.at.clone(),
            line,
            mode,
            mapped,
        })
    }

    /// Where `path`, which this mount holds, is read from; none if its URL cannot be built.
    pub(in crate::policy) fn locate(&self, path: &VirtualPath) -> Option<Location> {
        let relative = path.strip_prefix(&self.at)?;
        match &self.mapped {
            Mapped::Directory(mount) => Some(Location::Directory {
                mount: mount.clone(),
                relative: relative.to_owned(),
            }),
            Mapped::Https(base) => below(base, relative).map(|url| Location::Https { url }),
        }
    }
}

impl Mapped {
    fn directory(at: &VirtualPath, base: &Path, directory: &Path) -> Result<Self, String> {
        let (directory, real) =
            open_directory(base, directory).map_err(|error| error.to_string())?;
        Ok(Self::Directory(MountHandle(Arc::new(MountedDirectory {
            at: at.clone(),
            directory,
            real,
        }))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    fn path(text: &str) -> VirtualPath {
        VirtualPath::parse(text).unwrap()
    }

    struct Scratch {
        _directory: tempfile::TempDir,
        root: PathBuf,
    }

    fn scratch() -> Scratch {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().canonicalize().unwrap();
        for name in ["os/lib", "ours"] {
            std::fs::create_dir_all(root.join(name)).unwrap();
        }
        Scratch {
            _directory: directory,
            root,
        }
    }

    fn open(
        scratch: &Scratch,
        rules: &[MountRule],
        flags: &[CliMount],
    ) -> Result<MountTable, PolicyError> {
        let rules: Vec<_> = rules
            .iter()
            .map(|rule| Lined {
                line: 7,
                value: rule.clone(),
            })
            .collect();
        let (root, file) = (scratch.root.as_path(), "policy.yaml");
        MountTable::open(
            &rules,
            Origins {
                file,
                directory: root,
                working_directory: root,
                flags,
            },
        )
    }

    fn rule(at: &str, source: MountSource) -> MountRule {
        MountRule {
            at: path(at),
            source,
            mode: Mode::ReadOnly,
        }
    }

    fn flag(flag: &str) -> CliMount {
        CliMount::os_prefix(flag, false).unwrap()
    }

    #[test]
    fn m_10_to_m_15_the_longest_prefix_by_whole_segments_wins() {
        let scratch = scratch();
        let flags = [
            flag("/=./os"),
            flag("/lib/=https://cdn.example/v3/"),
            flag("/lib/ours/=ours"),
        ];
        let table = open(&scratch, &[], &flags).unwrap();
        for (virtual_path, source) in [
            ("/os/crew/pilot.md", "os:crew/pilot.md"),
            (
                "/os/lib/rope ladder.md",
                "https://cdn.example/v3/rope%20ladder.md",
            ),
            ("/os/lib/ours/rope.md", "ours:rope.md"),
            ("/os/library/rope.md", "os:library/rope.md"),
            ("/os/lib/rope.md", "https://cdn.example/v3/rope.md"),
            ("/os/lib", "os:lib"),
            ("/os", "os:"),
            ("/os/lib/ours", "ours:"),
        ] {
            let virtual_path = path(virtual_path);
            let found = match table
                .holding(&virtual_path)
                .unwrap()
                .locate(&virtual_path)
                .unwrap()
            {
                Location::Https { url } => url.to_string(),
                Location::Directory { mount, relative } => {
                    let name = mount
                        .real()
                        .strip_prefix(&scratch.root)
                        .unwrap()
                        .to_str()
                        .unwrap();
                    format!("{name}:{relative}")
                }
            };
            assert_eq!(found, source, "{virtual_path}");
        }
        assert!(table.holding(&path("/workspace/x")).is_none());
        assert!(table.holding(&path("/osx")).is_none());
        assert!(table.holding(&path("/")).is_none());
    }

    #[test]
    fn m_01_what_the_policy_maps_no_flag_maps_again() {
        let scratch = scratch();
        let mapped = rule("/os", MountSource::Directory("os".to_owned()));
        let error = open(&scratch, std::slice::from_ref(&mapped), &[flag("/=ours")]).unwrap_err();
        assert!(
            error.is_usage() && error.to_string().contains("policy.yaml:7 maps it already"),
            "{error}"
        );
        assert!(
            open(
                &scratch,
                std::slice::from_ref(&mapped),
                &[flag("/lib/=ours")]
            )
            .is_ok()
        );
        let mapped = rule("/os", MountSource::CommandLine);
        assert!(open(&scratch, std::slice::from_ref(&mapped), &[flag("/=ours")]).is_ok());
        let error = open(&scratch, &[mapped], &[]).unwrap_err();
        assert!(
            error.to_string().contains("must be given by --root DIR"),
            "{error}"
        );
    }

    #[test]
    fn tp_22_flags_fill_cli_mounts_and_add_below_os_only() {
        let scratch = scratch();
        let data = CliMount {
            at: path("/data"),
            target: MountTarget::Directory("ours".into()),
        };
        assert!(
            open(&scratch, &[], std::slice::from_ref(&data))
                .unwrap_err()
                .is_usage()
        );
        assert!(
            open(
                &scratch,
                &[rule("/data", MountSource::CommandLine)],
                &[data]
            )
            .is_ok()
        );
        assert!(
            open(&scratch, &[], &[flag("/a/=os"), flag("/a/=ours")])
                .unwrap_err()
                .is_usage()
        );
        assert!(
            open(&scratch, &[], &[flag("/a/=none")])
                .unwrap_err()
                .is_usage()
        );
    }

    #[test]
    fn tp_27_a_file_inside_a_mount_is_found() {
        let scratch = scratch();
        let table = open(&scratch, &[], &[flag("/=os")]).unwrap();
        assert!(table.containing(&scratch.root.join("os/lib/git")).is_some());
        assert!(table.containing(&scratch.root.join("ours/git")).is_none());
    }
}
