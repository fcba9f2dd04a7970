//! Output directories with personal data: they are removed when their session ends.

use std::path::Path;

use serde_json::Value;

use super::caller::Lifetime;
use super::{Caller, Governor};
use crate::execute::Output;
use crate::locked;
use crate::registry::Registered;
use hydrant_plan::judge::is_pii;

impl Governor {
    /// Removes the output of an operation with personal data, or notes that the end of the session does.
    pub(super) fn keep_personal(
        &self,
        caller: &Caller,
        found: &Registered,
        output: &Path,
        end: Option<&Output>,
    ) {
        let mut classes = found.operation.data_classifications.iter();
        if !classes.any(|class| is_pii(class)) {
            return;
        }
        match caller.lifetime {
            Lifetime::Command => remove_folder(output),
            Lifetime::Connection => {
                let mut personal = locked(&self.personal);
                personal.insert(caller.session().to_owned());
            }
            // Such a session never ends, and other calls may have files there.
            Lifetime::Named => end.into_iter().for_each(|end| remove_files(end, output)),
        }
    }

    /// Removes the output of a connection that ended, if it holds personal data.
    pub(super) fn forget_personal(&self, caller: &Caller) {
        let mut personal = locked(&self.personal);
        if personal.remove(caller.session()) {
            remove_folder(&self.outputs.join(caller.run()));
        }
    }
}

/// Removes the files that a call put out below the directory of its run.
fn remove_files(end: &Output, output: &Path) {
    let files = end.value.get("files").and_then(Value::as_array);
    let paths = files
        .into_iter()
        .flatten()
        .filter_map(|file| file.get("path").and_then(Value::as_str))
        .map(Path::new)
        .filter(|path| path.starts_with(output));
    for path in paths {
        if let Err(error) = std::fs::remove_file(path) {
            tracing::warn!(%error, "a file of a run is left behind");
        }
    }
}

fn remove_folder(output: &Path) {
    if let Err(error) = std::fs::remove_dir_all(output)
        && error.kind() != std::io::ErrorKind::NotFound
    {
        tracing::warn!(%error, "the output of a run is left behind");
    }
}
