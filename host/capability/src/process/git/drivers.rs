//! Drivers: programs under a name that the repository chooses.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;

use super::environment::NO_PROGRAM;
use super::repository::Repository;
use super::{Clock, Ending, Guarded, ProcessError, plain};

/// Names of settings that are read at most, in bytes.
const MAX_NAMES_BYTES: usize = 1024 * 1024;

/// Settings that are emptied at most, so that they fit into an environment.
const MAX_DRIVERS: usize = 1_000;

/// Bytes of these settings' names.
const MAX_DRIVER_BYTES: usize = 64 * 1024;

impl Guarded<'_> {
    /// A harmless value for every driver that the repository configures; none if the time is up.
    ///
    /// # Errors
    /// [`ProcessError::DirectoryDenied`] when not all of its settings can be read, or there are too many.
    pub(super) fn list_drivers(
        &self,
        repository: &Repository,
        clock: Clock,
    ) -> Result<Option<Vec<(OsString, &'static str)>>, ProcessError> {
        if plain::configures_no_driver(&repository.common_directory) {
            return Ok(Some(Vec::new()));
        }
        let list = ["--no-pager", "config", "--list", "--name-only", "-z"];
        let Some(ended) = self.ask(&list, clock, MAX_NAMES_BYTES)? else {
            return Ok(None);
        };
        if ended.ending != Ending::Exited(0) {
            return Err(ProcessError::DirectoryDenied);
        }
        let names = ended.stdout;
        let drivers = if names.truncated {
            None
        } else {
            drivers(&names.bytes)
        };
        drivers.map(Some).ok_or(ProcessError::DirectoryDenied)
    }
}

/// The settings to add because of these `names`, each ended by NUL; none if there are too many, or one cannot be set.
fn drivers(names: &[u8]) -> Option<Vec<(OsString, &'static str)>> {
    let mut drivers = BTreeSet::new();
    for name in names.split(|byte| *byte == 0) {
        if let Some(value) = harmless(name) {
            drivers.insert((name.to_owned(), value));
        }
        if let Some(filter) = filter(name) {
            drivers.insert(([filter, b".required"].concat(), "false"));
        }
    }
    let bytes: usize = drivers.iter().map(|(name, _)| name.len()).sum();
    let settable = drivers.iter().all(|(name, _)| !name.contains(&b'\n'));
    let fits = drivers.len() <= MAX_DRIVERS && bytes <= MAX_DRIVER_BYTES;
    let drivers = drivers
        .into_iter()
        .map(|(name, value)| (OsString::from_vec(name), value));
    (settable && fits).then(|| drivers.collect())
}

/// What a setting is overridden with, if it names a program. Git writes sections and variables in lower case.
fn harmless(name: &[u8]) -> Option<&'static str> {
    let (section, variable) = ends(name)?;
    match (section, variable) {
        // Without a program a file is taken as it is.
        (b"filter", b"clean" | b"smudge" | b"process") => Some(""),
        // Not used by what the arguments allow; where it were, git would fail.
        (b"diff", b"command" | b"external" | b"textconv") | (b"merge", b"driver") => {
            Some(NO_PROGRAM)
        }
        _ => None,
    }
}

/// `filter.<n>` of a setting of that filter.
fn filter(name: &[u8]) -> Option<&[u8]> {
    let dot = name.iter().rposition(|byte| *byte == b'.')?;
    let filter = name.get(..dot)?;
    filter.starts_with(b"filter.").then_some(filter)
}

/// What stands before the first dot and behind the last one.
fn ends(name: &[u8]) -> Option<(&[u8], &[u8])> {
    let first = name.iter().position(|byte| *byte == b'.')?;
    let last = name.iter().rposition(|byte| *byte == b'.')?;
    Some((name.get(..first)?, name.get(last.checked_add(1)?..)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_driver_gets_a_harmless_value() {
        let names = b"core.bare\0filter.a.clean\0filter.a.process\0filter.b.c=d. \xff.smudge\0\
                      filter.only.required\0filter.a.clean\0diff.external\0diff.x.textconv\0\
                      diff.x.command\0merge.x.driver\0merge.x.name\0remote.filter.url\0filter\0\0";
        let expected: Vec<(&[u8], &str)> = vec![
            (b"diff.external", NO_PROGRAM),
            (b"diff.x.command", NO_PROGRAM),
            (b"diff.x.textconv", NO_PROGRAM),
            (b"filter.a.clean", ""),
            (b"filter.a.process", ""),
            (b"filter.a.required", "false"),
            (b"filter.b.c=d. \xff.required", "false"),
            (b"filter.b.c=d. \xff.smudge", ""),
            (b"filter.only.required", "false"),
            (b"merge.x.driver", NO_PROGRAM),
        ];
        let drivers = drivers(names).unwrap();
        let shown: Vec<_> = drivers
            .iter()
            .map(|(name, value)| (name.as_encoded_bytes(), *value))
            .collect();
        assert_eq!(shown, expected);
    }

    #[test]
    fn what_cannot_be_overridden_is_refused() {
        assert_eq!(drivers(b"filter.a\nb.clean\0"), None);
        let many: Vec<u8> = (0..600)
            .flat_map(|number| format!("filter.{number}.clean\0").into_bytes())
            .collect();
        assert_eq!(drivers(&many), None);
        let long = format!("filter.{}.clean\0", "x".repeat(MAX_DRIVER_BYTES));
        assert_eq!(drivers(long.as_bytes()), None);
        assert_eq!(drivers(b""), Some(Vec::new()));
    }
}
