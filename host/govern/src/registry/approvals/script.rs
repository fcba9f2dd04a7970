//! The code that an approver reads (`script` of a request).

use rusqlite::Connection;

use crate::failure::{Code, Failure};
use crate::registry::{Registered, code_file};
use hydrant_plan::{Program, Stage};

/// The code of the sandbox stages, one after another; none where there is no code, only an argument vector.
pub(super) fn script_of(
    database: &Connection,
    found: &Registered,
) -> Result<Option<String>, Failure> {
    let mut texts = Vec::new();
    for stage in &found.operation.stages {
        let Stage::Sandbox(stage) = stage else {
            continue;
        };
        match &stage.program {
            Program::Code(text) | Program::Script(text) => texts.push(text.clone()),
            Program::File {
                digest: Some(digest),
                ..
            } => match code_file(database, digest) {
                Ok(bytes) => texts.push(String::from_utf8_lossy(&bytes).into_owned()),
                Err(failure) if failure.code == Code::ScriptMissing => {}
                Err(failure) => return Err(failure),
            },
            Program::File { digest: None, .. } | Program::Argv(_) | Program::Module(_) => {}
        }
    }
    Ok((!texts.is_empty()).then(|| texts.join("\n")))
}
