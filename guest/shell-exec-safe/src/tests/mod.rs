//! The component on a host that answers what a test says.

mod describe;
mod errors;
mod requests;

use kit::host::RunCommands;
use kit::host::process::{Command, Ending, Exit, ProcessError};
use serde_json::Value;

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

fn host(answer: Result<Exit, ProcessError>) -> FakeHost {
    FakeHost {
        answer,
        asked: Vec::new(),
    }
}

fn exit(ending: Ending, stdout: &[u8], stderr: &[u8]) -> Exit {
    Exit {
        ending,
        stdout: stdout.to_vec(),
        stdout_truncated: false,
        stderr: stderr.to_vec(),
        stderr_truncated: false,
        duration_ms: 7,
    }
}

fn done() -> FakeHost {
    host(Ok(exit(Ending::Exited(0), b"", b"")))
}

fn member(error: &kit::SkillError) -> String {
    let details: Value = serde_json::from_str(error.details().unwrap()).unwrap();
    details["member"].as_str().unwrap().to_owned()
}
