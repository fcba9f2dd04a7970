//! The environment of a child: nothing is inherited.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;

/// Where a child finds programs.
pub(super) const PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// Name and value of every variable of a child whose home is `scratch`; what the policy adds by name
/// comes last and wins.
pub(super) fn of(scratch: &Path, added: &BTreeMap<String, String>) -> BTreeMap<OsString, OsString> {
    let mut variables = BTreeMap::from(
        [("PATH", PATH), ("LANG", "C.UTF-8"), ("TZ", "UTC")]
            .map(|(name, value)| (OsString::from(name), OsString::from(value))),
    );
    for name in ["HOME", "TMPDIR"] {
        variables.insert(name.into(), scratch.into());
    }
    variables.extend(
        added
            .iter()
            .map(|(name, value)| (name.into(), value.into())),
    );
    variables
}
