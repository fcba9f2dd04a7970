//! What a stage needs, as failures; a version that cannot be seen is asked for, in a jail.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::tools::{
    find, fits, missing, needs_runtime, required, runtime, version_in, visible_version, wanted_name,
};
use crate::failure::{Code, Failure};
use hydrant_plan::SandboxStage;

/// What runtimes have answered, as long as their file is the same.
pub(super) type Versions = HashMap<(PathBuf, Option<SystemTime>), Option<String>>;

/// What a stage needs and this system does not have, as a failure.
pub(super) fn require(stage: &SandboxStage) -> Result<(), Failure> {
    let missing = missing(stage);
    if missing.is_empty() {
        return Ok(());
    }
    Err(unavailable(missing))
}

pub(super) fn unavailable(missing: Vec<String>) -> Failure {
    let message = format!("not available in the sandbox: {}", missing.join(", "));
    Failure::new(Code::ToolUnavailable, message)
        .with_hint(
            "install it in a directory of the system, as /usr; nothing is installed by hydrant",
        )
        .with_missing(missing)
}

/// Compares the version, asking for it if need be.
pub(super) fn require_version(
    stage: &SandboxStage,
    known: &mut Versions,
    ask: impl FnOnce(&Path) -> Result<String, Failure>,
) -> Result<(), Failure> {
    let Some(wanted) = required(stage).filter(|_| needs_runtime(stage)) else {
        return Ok(());
    };
    let wrong = || unavailable(vec![format!("sandbox:{}", wanted_name(stage))]);
    let path = find(runtime(stage.runtime)).ok_or_else(wrong)?;
    // What the file's name says may be only the beginning of it.
    let visible = visible_version(stage.runtime, &path)
        .filter(|found| fits(found, wanted) || !fits(wanted, found));
    let found = match visible {
        Some(version) => Some(version),
        None => {
            let written = std::fs::metadata(&path)
                .and_then(|file| file.modified())
                .ok();
            let key = (path.clone(), written);
            match known.get(&key) {
                Some(version) => version.clone(),
                None => {
                    let version = version_in(&ask(&path)?);
                    known.insert(key, version.clone());
                    version
                }
            }
        }
    };
    if found.is_some_and(|found| fits(&found, wanted)) {
        Ok(())
    } else {
        Err(wrong())
    }
}
