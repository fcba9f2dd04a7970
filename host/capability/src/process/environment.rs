//! The environment of a child: nothing is inherited.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;

use hydrant_jail::base_environment;

/// Where a child finds programs.
pub(super) const PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// Name and value of every variable of a child whose home is `scratch`; what the policy adds by name
/// comes last and wins.
pub(super) fn of(scratch: &Path, added: &BTreeMap<String, String>) -> BTreeMap<OsString, OsString> {
    let added = added
        .iter()
        .map(|(name, value)| (name.into(), value.into()));
    base_environment(PATH, scratch)
        .into_iter()
        .chain(added)
        .collect()
}
