//! The home folder: configuration, state and the store of one user.
//!
//! It is made when it is first needed, for its owner alone. Where there is none, all that needs no state still works.

use std::path::PathBuf;

/// `$HYDRANT_HOME`, from the working directory where it is relative; else `$HOME/.hydrant`. None if neither is set.
#[must_use]
pub fn folder() -> Option<PathBuf> {
    named("HYDRANT_HOME").or_else(of_the_user)
}

/// TA-30: the home of the commands that provenact has too, where `$PROVENACT_HOME` counts before `$HOME/.hydrant`.
#[must_use]
pub fn compatible_folder() -> Option<PathBuf> {
    named("HYDRANT_HOME")
        .or_else(|| named("PROVENACT_HOME"))
        .or_else(of_the_user)
}

fn of_the_user() -> Option<PathBuf> {
    let home = std::env::var_os("HOME").map(PathBuf::from)?;
    home.is_absolute().then(|| home.join(".hydrant"))
}

/// What somebody named is never passed over for another home, with other approvals and secrets. What is empty names none.
fn named(variable: &str) -> Option<PathBuf> {
    let path = std::env::var_os(variable).filter(|path| !path.is_empty())?;
    Some(std::path::absolute(&path).unwrap_or_else(|_| path.into()))
}
