//! The environment of git.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::Path;

/// A program that cannot be executed.
pub(super) const NO_PROGRAM: &str = "/dev/null";

/// What the names of git's variables begin with.
const PREFIX: &[u8] = b"GIT_";

/// What keeps git from all configuration but the repository's own, from fetching, asking and replacing; and from the
/// attributes of the system, which are not the repository's either.
const VARIABLES: [(&str, &str); 11] = [
    ("GIT_ALLOW_PROTOCOL", "none"),
    ("GIT_ATTR_NOSYSTEM", "1"),
    ("GIT_CONFIG_GLOBAL", "/dev/null"),
    ("GIT_CONFIG_NOSYSTEM", "1"),
    ("GIT_EDITOR", "false"),
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_NO_REPLACE_OBJECTS", "1"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_PAGER", "cat"),
    ("GIT_SEQUENCE_EDITOR", "false"),
    ("GIT_TERMINAL_PROMPT", "0"),
];

/// Settings that hold whatever the repository says: nothing starts a program, and a diff has one form.
const SETTINGS: [(&str, &str); 28] = [
    ("core.fsmonitor", "false"),
    ("core.hooksPath", "/dev/null"),
    ("core.untrackedCache", "false"),
    ("core.quotePath", "true"),
    ("core.attributesFile", "/dev/null"),
    ("core.alternateRefsCommand", ""),
    ("diff.orderFile", "/dev/null"),
    ("diff.suppressBlankEmpty", "false"),
    ("protocol.allow", "never"),
    ("safe.directory", "*"),
    // Signatures are not verified.
    ("gpg.program", NO_PROGRAM),
    ("gpg.openpgp.program", NO_PROGRAM),
    ("gpg.x509.program", NO_PROGRAM),
    ("gpg.ssh.program", NO_PROGRAM),
    ("log.showSignature", "false"),
    // Submodules are not entered, not even by `git status -v`, which has no option for that.
    ("diff.submodule", "short"),
    ("diff.ignoreSubmodules", "dirty"),
    ("status.submoduleSummary", "false"),
    ("submodule.recurse", "false"),
    // The list of revisions to ignore may be any file, whose first line git's complaint would quote.
    ("blame.ignoreRevsFile", ""),
    // A shared index would be written next to the real one.
    ("core.splitIndex", "false"),
    // The form of a diff.
    ("diff.indentHeuristic", "true"),
    ("diff.renameLimit", "1000"),
    ("status.renameLimit", "1000"),
    ("core.bigFileThreshold", "512m"),
    // `-m` does not merge again.
    ("log.diffMerges", "separate"),
    // A list of what to exclude that is not the repository's.
    ("core.excludesFile", "/dev/null"),
    // Nor are names that it does not have.
    ("mailmap.file", "/dev/null"),
];

/// Takes out what a rule of the policy has added for git, and puts in what the guard says. Repositories are not
/// looked for above `mount`.
pub(super) fn guard(variables: &mut BTreeMap<OsString, OsString>, mount: &Path) {
    variables.retain(|name, _| !name.as_encoded_bytes().starts_with(PREFIX));
    let fixed = VARIABLES.map(|(name, value)| (OsString::from(name), OsString::from(value)));
    variables.extend(fixed);
    if let Some(above) = mount.parent() {
        // A colon would separate directories. Then the search goes on, and what it finds is refused by its place.
        variables.insert("GIT_CEILING_DIRECTORIES".into(), above.into());
    }
    configure(variables, &[]);
}

/// Sets all settings: the fixed ones and those of the `drivers`.
pub(super) fn configure(
    variables: &mut BTreeMap<OsString, OsString>,
    drivers: &[(OsString, &'static str)],
) {
    let fixed = SETTINGS
        .iter()
        .map(|(key, value)| (OsStr::new(*key), *value));
    let drivers = drivers.iter().map(|(key, value)| (key.as_os_str(), *value));
    let mut count = 0_usize;
    for (key, value) in fixed.chain(drivers) {
        variables.insert(format!("GIT_CONFIG_KEY_{count}").into(), key.into());
        variables.insert(format!("GIT_CONFIG_VALUE_{count}").into(), value.into());
        count = count.saturating_add(1);
    }
    variables.insert("GIT_CONFIG_COUNT".into(), count.to_string().into());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_changes_nothing_about_git() {
        let added = [
            "GIT_DIR",
            "GIT_PAGER",
            "GIT_CONFIG_PARAMETERS",
            "GIT_EXTERNAL_DIFF",
            "CI",
        ];
        let mut variables: BTreeMap<OsString, OsString> = added
            .map(|name| (OsString::from(name), OsString::from("evil")))
            .into();
        guard(&mut variables, Path::new("/home/ann/work"));
        let get = |name: &str| {
            variables
                .get(OsStr::new(name))
                .and_then(|value| value.to_str())
        };
        assert_eq!(get("CI"), Some("evil"));
        assert_eq!(get("GIT_PAGER"), Some("cat"));
        assert_eq!(get("GIT_CEILING_DIRECTORIES"), Some("/home/ann"));
        let evil = variables.values().filter(|value| *value == "evil").count();
        assert_eq!(evil, 1);
    }

    #[test]
    fn settings_are_numbered_and_counted() {
        let mut variables = BTreeMap::new();
        guard(&mut variables, Path::new("/"));
        assert!(!variables.contains_key(OsStr::new("GIT_CEILING_DIRECTORIES")));
        configure(&mut variables, &[("filter.x.clean".into(), "")]);
        let get = |name: &str| {
            variables
                .get(OsStr::new(name))
                .and_then(|value| value.to_str())
        };
        assert_eq!(get("GIT_CONFIG_COUNT"), Some("29"));
        assert_eq!(get("GIT_CONFIG_KEY_0"), Some("core.fsmonitor"));
        assert_eq!(get("GIT_CONFIG_KEY_28"), Some("filter.x.clean"));
        assert_eq!(get("GIT_CONFIG_VALUE_28"), Some(""));
    }
}
