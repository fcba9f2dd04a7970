//! The home folder: configuration, state and the store of one user.
//!
//! It is made when it is first needed, for its owner alone. Where there is none, all that needs no state still works.

use std::path::PathBuf;

/// `$HYDRANT_HOME`, else `$HOME/.hydrant`; none if neither is set to an absolute path.
#[must_use]
pub fn folder() -> Option<PathBuf> {
    absolute("HYDRANT_HOME").or_else(of_the_user)
}

/// TA-30: the home of the commands that provenact has too, where `$PROVENACT_HOME` counts before `$HOME/.hydrant`.
#[must_use]
pub fn compatible_folder() -> Option<PathBuf> {
    absolute("HYDRANT_HOME")
        .or_else(|| absolute("PROVENACT_HOME"))
        .or_else(of_the_user)
}

fn of_the_user() -> Option<PathBuf> {
    absolute("HOME").map(|home| home.join(".hydrant"))
}

fn absolute(variable: &str) -> Option<PathBuf> {
    std::env::var_os(variable)
        .map(PathBuf::from)
        .filter(|path| path.is_absolute())
}
