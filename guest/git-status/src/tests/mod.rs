//! The component on git as it is installed, and on a host that answers what a test says.

mod describe;
mod hostile;
mod repositories;
mod requests;
mod site;

use kit::host::RunCommands;
use kit::host::process::{Command, Ending, Exit, ProcessError};
use serde_json::Value;

use site::Site;

/// A host with one answer, which keeps what it was asked.
struct FakeHost {
    answer: Result<Exit, ProcessError>,
    asked: Vec<Command>,
}

impl RunCommands for FakeHost {
    fn run(&mut self, commands: &[Command]) -> Vec<Result<Exit, ProcessError>> {
        self.asked.extend_from_slice(commands);
        vec![self.answer.clone()]
    }
}

fn answering(stdout: &[u8], stdout_truncated: bool) -> FakeHost {
    FakeHost {
        answer: Ok(Exit {
            ending: Ending::Exited(0),
            stdout: stdout.to_vec(),
            stdout_truncated,
            stderr: Vec::new(),
            stderr_truncated: false,
            duration_ms: 1,
        }),
        asked: Vec::new(),
    }
}

fn status_of(stdout: &[u8], stdout_truncated: bool) -> Value {
    let answer = crate::run(&mut answering(stdout, stdout_truncated), b"{}").unwrap();
    serde_json::from_slice(&answer).unwrap()
}
